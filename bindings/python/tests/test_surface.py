"""Names, modules and messages that programs written for xgrammar know."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import typing

import numpy as np
import pytest
from conftest import VOCAB_SIZE

import grammask
from grammask import testing
from grammask.testing import _is_grammar_accept_string as accepts

pydantic = pytest.importorskip("pydantic")

FAMILIES = (
    "cohere deepseek_r1 deepseek_v3_1 deepseek_v3_2 deepseek_v4 deepseek_v4_1 exaone glm_4_7 harmony kimi kimi_k3 llama "
    "mimo minimax minimax_m3 qwen_3 qwen_3_5 qwen_3_coder"
).split()
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
MODULES = (
    "_version base builtin_structural_tag compiler config contrib exception grammar kernels load_binding matcher "
    "openai_tool_call_schema structural_tag testing tokenizer_info"
).split()
KERNELS = ("cpu", "cuda", "torch", "torch_compile", "triton")


def test_modules_are_there_and_dir_names_them():
    names = dir(grammask)
    for module in MODULES:
        assert getattr(grammask, module) is importlib.import_module(f"grammask.{module}") and module in names
    assert set(grammask.__all__) <= set(names)
    for module in ("bitmask", "matcher"):
        module = importlib.import_module(f"grammask.{module}")
        assert set(module.__all__) <= set(dir(module))
    assert grammask._version.version == grammask._version.__version__ == "0.2.8" != grammask.__version__
    assert grammask._version.commit_id is grammask._version.__commit_id__ is None
    assert grammask.load_binding.LIB.Grammar is grammask.Grammar


def test_the_base_class(compiler, info):
    compiled = compiler.compile_regex("a")
    for value in (compiler, info, compiled, compiled.grammar, grammask.GrammarMatcher(compiled)):
        assert isinstance(value, grammask.base.XGRObject)
    assert not isinstance("a", grammask.base.XGRObject)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    function = f"apply_token_bitmask_inplace_{name}"
    module = importlib.import_module(f"grammask.kernels.{function}")
    apply = getattr(module, function)
    assert apply is getattr(grammask.kernels, function)
    assert list(inspect.signature(apply).parameters) == ["logits", "bitmask", "vocab_size", "indices"]
    logits, mask = np.ones((2, 33), np.float32), np.array([[5, 0], [-1, 1]], np.int32)
    apply(logits, mask, 32, [0])
    assert np.isfinite(logits[0]).tolist() == [True, False, True] + [False] * 29 + [True]
    assert np.isfinite(logits[1]).all()


class Named(grammask.GrammarMatcher):
    """A matcher with a name, as engines write it."""

    def __new__(cls, compiled, name, **options):
        return super().__new__(cls, compiled, **options)

    def __init__(self, compiled, name, **options):
        super().__init__(compiled, **options)
        self.name = name


def test_classes_can_be_subclassed(compiler, info):
    matcher = Named(compiler.compile_regex("ab"), "first", terminate_without_stop_token=True)
    assert matcher.name == "first" and matcher.accept_string("ab") and matcher.is_terminated()
    rows = grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy")
    grammask.BatchGrammarMatcher(1).batch_fill_next_token_bitmask([Named(compiler.compile_regex("a"), "x")], rows)

    class Compiler(grammask.GrammarCompiler):
        def compile_regex(self, regex, **options):
            self.asked = regex
            return super().compile_regex(regex, **options)

    own = Compiler(info, max_threads=1)
    assert own.compile_regex("a") == compiler.compile_regex("a") and own.asked == "a"

    class Info(grammask.TokenizerInfo):
        pass

    same = Info([b"a", b"</s>"])
    assert same == grammask.TokenizerInfo([b"a", b"</s>"]) and grammask.GrammarCompiler(same).tokenizer_info is same
    for cls in (grammask.Grammar, grammask.CompiledGrammar, grammask.BatchGrammarMatcher):
        type("Sub", (cls,), {})


def test_subclasses_may_have_only_an_init(info):
    """Programs written for xgrammar, whose classes are made by ``__init__``, have no ``__new__``."""

    class Info(grammask.TokenizerInfo):
        def __init__(self, name, tokens):
            self.name = name
            super().__init__(tokens, stop_token_ids=[1], vocab_size=40)

    class Compiler(grammask.GrammarCompiler):
        def __init__(self, *, info):
            super().__init__(info, max_threads=1, cache_limit_bytes=1 << 20)
            self.made = True

    class Matcher(grammask.GrammarMatcher):
        def __init__(self, compiled, name, ends):
            super().__init__(compiled, terminate_without_stop_token=ends, default_temperature=0.5)
            self.name = name

    class Batch(grammask.BatchGrammarMatcher):
        def __init__(self, name):
            super().__init__(2)
            self.name = name

    class Other(Matcher):
        pass

    own = Info("first", [b"a", b"</s>"])
    assert (own.name, own.vocab_size, own.stop_token_ids, own.decoded_vocab[0]) == ("first", 40, [1], b"a")
    assert own == grammask.TokenizerInfo([b"a", b"</s>"], stop_token_ids=[1], vocab_size=40)
    compiler = Compiler(info=own)
    assert compiler.made and compiler.tokenizer_info is own and compiler.cache_limit_bytes == 1 << 20
    compiled = compiler.compile_regex("aa")
    for cls in (Matcher, Other):
        matcher = cls(compiled, "second", True)
        assert matcher.name == "second" and matcher.temperature == 0.5 and isinstance(matcher, cls)
        rows = grammask.allocate_token_bitmask(1, own.vocab_size, backend="numpy")
        Batch("third").batch_fill_next_token_bitmask([matcher], rows)
        assert rows[0].tolist() == [1, 0]
        assert matcher.accept_token(0) and not matcher.is_terminated()
        assert matcher.accept_token(0) and matcher.is_terminated() and not cls(compiled, "", False).is_terminated()
    with pytest.raises(ValueError):
        Matcher("no grammar", "", True)
    with pytest.raises(ValueError):
        grammask.GrammarMatcher(...)


class OwnInfo(grammask.TokenizerInfo):
    def __init__(self, name):
        super().__init__([b"a", b"</s>"], stop_token_ids=[1], vocab_size=40)
        self.name = name


class OwnCompiler(grammask.GrammarCompiler):
    def __init__(self, name):
        super().__init__(OwnInfo(name), max_threads=1, cache_limit_bytes=9)
        self.name = name


class PlainInfo(grammask.TokenizerInfo):
    pass


def test_subclasses_travel():
    for made in (OwnInfo("first"), OwnCompiler("second")):
        again = pickle.loads(pickle.dumps(made))
        assert type(again) is type(made) and again.name == made.name
    assert again.cache_limit_bytes == 9 and type(again.tokenizer_info) is OwnInfo
    assert again.tokenizer_info.name == "second" and again.tokenizer_info == OwnInfo("")
    again = pickle.loads(pickle.dumps(PlainInfo([b"a", b"</s>"])))
    assert type(again) is PlainInfo and again == grammask.TokenizerInfo([b"a", b"</s>"])
    plain = grammask.TokenizerInfo([b"a", b"</s>"])
    plain.name = "third"
    assert pickle.loads(pickle.dumps(plain)).name == "third"


def test_an_init_that_is_not_called(info):
    def nothing(self, *_):
        pass

    unfilled = {cls: type("Own", (cls,), {"__init__": nothing}) for cls in (grammask.TokenizerInfo, grammask.GrammarCompiler)}
    with pytest.raises(RuntimeError, match=r"TokenizerInfo.__init__"):
        grammask.GrammarCompiler(unfilled[grammask.TokenizerInfo]())
    with pytest.raises(RuntimeError, match=r"GrammarCompiler.__init__"):
        unfilled[grammask.GrammarCompiler](info).compile_regex("a")
    matcher = type("Own", (grammask.GrammarMatcher,), {"__init__": nothing})()
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    calls = [
        lambda: matcher.accept_token(0),
        lambda: matcher.accept_string("a"),
        lambda: matcher.fill_next_token_bitmask(mask),
        matcher.is_terminated,
        matcher.is_completed,
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=r"GrammarMatcher.__init__. was not called"):
            call()


def test_instances_take_attributes(compiler, info):
    compiled = compiler.compile_regex("a")
    values = (compiler, info, compiled, compiled.grammar, grammask.GrammarMatcher(compiled), grammask.BatchGrammarMatcher(1))
    for value in values:
        value.request = 7
        assert value.request == 7


@pytest.mark.parametrize("family", FAMILIES)
def test_functions_of_families(family):
    make = getattr(grammask.builtin_structural_tag, f"get_{family}_structural_tag")
    assert make.__name__ == f"get_{family}_structural_tag"
    usual = {"minimax_m3": "auto"}.get(family, "enabled")
    parameters = inspect.signature(make).parameters
    assert list(parameters)[:3] == ["tools", "builtin_tools", "tool_choice"]
    assert parameters["reasoning"].default == usual
    of_model = grammask.get_model_structural_tag
    assert make([TOOL]) == of_model(family, [TOOL], reasoning=usual)
    forced = {"type": "function", "function": {"name": "f"}}
    assert make([TOOL], tool_choice="forced", any_order=True) == of_model(
        family, [TOOL], tool_choice=forced, reasoning=usual, any_order=True
    )
    assert make([TOOL], tool_choice="required") == of_model(family, [TOOL], "required", reasoning=usual)
    for wrong in ({"tool_choice": "none"}, {"tool_choice": "forced", "tools": []}):
        with pytest.raises(ValueError):
            make(**wrong)


def test_styles_are_checked_and_are_those_of_the_reader():
    from grammask.structural_tag import JSONSchemaFormat, Style

    with pytest.raises(pydantic.ValidationError, match="style"):
        JSONSchemaFormat(json_schema={}, style="odd")
    styles = typing.get_args(Style)
    wrong = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {}, "style": "odd"}}
    with pytest.raises(grammask.InvalidStructuralTagError) as caught:
        grammask.Grammar.from_structural_tag(wrong)
    named = str(caught.value).split("style must be ")[1]
    assert all(f'"{style}"' in named for style in styles) and named.count('"') == 2 * len(styles)


def test_schemas_in_other_notations():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    to_ebnf = testing._json_schema_to_ebnf
    assert accepts(to_ebnf(schema), '{"a": "x"}')
    xml = to_ebnf(schema, json_format="qwen_xml")
    assert accepts(xml, "<parameter=a>x</parameter>") and not accepts(xml, '{"a": "x"}')
    with pytest.raises(RuntimeError, match="^Invalid json_format: nope"):
        to_ebnf(schema, json_format="nope")
    assert accepts(to_ebnf(schema, json_format="minimax_xml", strict_mode=False), '<parameter name="a">x</parameter>')


class Tensor(np.ndarray):
    """An array whose type says that it is torch's."""


Tensor.__module__ = "torch"


def test_masks_of_tensors_are_tensors(monkeypatch):
    torch = type("torch", (), {"from_numpy": staticmethod(lambda array: array.view(Tensor))})
    monkeypatch.setitem(__import__("sys").modules, "torch", torch)
    bools = np.array([[True] * 33, [False] * 33])
    mask = testing.bool_mask_to_bitmask(bools.view(Tensor))
    assert type(mask) is Tensor and mask.dtype == np.int32 and type(testing.bitmask_to_bool_mask(mask)) is Tensor
    assert (testing.bitmask_to_bool_mask(mask, 33) == bools).all()
    # The bits past the last column are as xgrammar has them.
    assert mask.tolist() == [[-1, -1], [0, -2]]
    assert testing.bool_mask_to_bitmask(np.array([True, False, True])).tolist() == [-3]
    assert testing.bool_mask_to_bitmask(np.zeros((1, 32), bool)).tolist() == [[0]]
    assert type(testing.bool_mask_to_bitmask(bools)) is np.ndarray


MESSAGES = [
    ("from_ebnf", "root ::= missing", "EBNF parser error at line 1, column 10: "),
    ("from_ebnf", 'root ::= "a', "EBNF lexer error at line 1, column "),
    ("from_ebnf", "root ::= [a", "EBNF lexer error at line 1, column "),
    ("from_ebnf", 'root ::= "\\q"', "EBNF lexer error at line 1, column 11: "),
    ("from_ebnf", "root ::= [\\q]", "EBNF lexer error at line 1, column 11: "),
    ("from_ebnf", "@", "EBNF lexer error at line 1, column 1: "),
    ("from_ebnf", 'root ::= "a" root ::= "b"', "EBNF lexer error at line 1, column 14: "),
    ("from_ebnf", "root ::= [z-a]", "EBNF parser error at line 1, column 11: "),
    ("from_ebnf", "root ::= [\\d]", "EBNF parser error at line 1, column 11: "),
    ("from_lark", "start: missing", "Lark error at line 1, column 8: "),
    ("from_regex", "(", "Regex parsing error at position "),
    ("from_regex", "a[z-a]", "EBNF parser error at line 1, column 12: "),
    ("from_regex", "*", "EBNF parser error at line 1, column 10: "),
    ("from_regex", "a{3,1}", "EBNF parser error at line 1, column "),
    ("from_json_schema", "{", "Check failed: (error.empty()) is false: Failed to parse JSON: "),
    ("from_structural_tag", "{", "Invalid JSON error: Failed to parse JSON: "),
    ("from_structural_tag", "{}", "Invalid structural tag error: "),
]


@pytest.mark.parametrize(("method", "source", "beginning"), MESSAGES)
def test_messages_begin_as_programs_expect(method, source, beginning):
    read = getattr(grammask.Grammar, method)
    with pytest.raises(RuntimeError) as exact:
        read(source)
    assert not str(exact.value).startswith(beginning)
    grammask.config.set_compat(True)
    with pytest.raises(RuntimeError) as caught:
        read(source)
    assert str(caught.value).startswith(beginning), str(caught.value)


INNER = [
    ({"type": "regex", "pattern": "("}, "Regex parsing error at position 1: "),
    ({"type": "regex", "pattern": "[z-a]"}, "EBNF parser error at line 1, column 11: "),
    ({"type": "grammar", "grammar": "root ::= ("}, "EBNF parser error at line 1, column 10: "),
    ({"type": "grammar", "grammar": 'root ::= "a"\nb ::= ('}, "Invalid structural tag error: "),
    ({"type": "grammar", "grammar": 'root ::= "\\q"'}, "EBNF lexer error at line 1, column 11: "),
    ({"type": "regex", "pattern": 5}, "Invalid structural tag error: "),
    ({"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": -1}, "max_whitespace_cnt must be positive."),
    ({"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 0}, "max_whitespace_cnt must be positive."),
    ({"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": "a"}, "Invalid structural tag error: "),
]


@pytest.mark.parametrize(("inner", "beginning"), INNER)
def test_messages_about_what_a_tag_contains(inner, beginning):
    grammask.config.set_compat(True)
    with pytest.raises(grammask.InvalidStructuralTagError) as caught:
        grammask.Grammar.from_structural_tag({"type": "structural_tag", "format": inner})
    assert str(caught.value).startswith(beginning), str(caught.value)


def test_messages_of_compiled_tags_begin_as_programs_expect(compiler):
    tag = {"type": "structural_tag", "format": {"type": "token", "token": "<nope>"}}
    beginning = "Check failed: (std::holds_alternative<Grammar>(result)) is false: Invalid structural tag error: "
    with pytest.raises(RuntimeError) as exact:
        compiler.compile_structural_tag(tag)
    assert not str(exact.value).startswith(beginning)
    grammask.config.set_compat(True)
    with pytest.raises(RuntimeError) as caught:
        compiler.compile_structural_tag(tag)
    assert str(caught.value).startswith(beginning) and "<nope>" in str(caught.value)
    with pytest.raises(RuntimeError) as caught:
        compiler.compile_structural_tag("{")
    assert str(caught.value).startswith(beginning.replace("structural tag error", "JSON error: Failed to parse JSON"))
    with pytest.raises(RuntimeError) as caught:
        compiler.compile_lark('start: <nope> "a"')
    assert str(caught.value).startswith("Lark error at line 1, column 1: ") and "<nope>" in str(caught.value)


def test_messages_about_tokens_that_do_not_exist(compiler):
    grammask.config.set_compat(True)
    beginning = "Check failed: (info.TokenIds()[i] >= 0 && info.TokenIds()[i] < vocab_size) is false: Token id 99999 "
    tag = {"type": "structural_tag", "format": {"type": "token", "token": 99999}}
    for call in (
        lambda: compiler.compile_structural_tag(tag),
        lambda: compiler.compile_lark("start: <[99999]>"),
        lambda: compiler.compile_grammar(grammask.Grammar.from_lark("start: <[99999]>")),
        lambda: compiler.compile_grammar(grammask.Grammar.from_ebnf("root ::= Token(99999)")),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert str(caught.value).startswith(beginning), str(caught.value)


SCHEMA_FAULTS = {
    "Schema should be an object or bool": ["3", '{"properties": {"a": 3}}', '{"anyOf": [3]}', '{"properties": {"items": 3}}'],
    "Schema 'false' cannot accept any value": ["false", '{"type": "object", "properties": {"a": false}, "required": ["a"]}', '{"anyOf": [false]}'],
    "Unsupported type": ['{"type": ["string", "x"]}', '{"properties": {"a": {"type": "x"}}}'],
    'Unsupported type "strin": ': ['{"type": "strin"}'],
    "Type should be a string: ": ['{"type": 3}', '{"anyOf": [{"type": null}]}', '{"type": {}}', '{"type": true}'],
    "type must be a string or an array of strings: ": ['{"type": [3]}', '{"type": ["string", 3]}'],
    "Schema should be an object or bool, but got 3: ": ["3", '{"additionalProperties": 3}', '{"allOf": [3]}'],
    "$ref must be a string": ['{"$ref": 3}'],
    "Cannot find field": ['{"$ref": "#/$defs/a"}'],
    "minLength 3 is greater than maxLength 1: ": ['{"type": "string", "minLength": 3, "maxLength": 1}'],
    "minLength must be an integer not exceeding 2147483647: ": ['{"type": "string", "minLength": "a"}'],
    "Check failed: (lower >= 0 && (upper == -1 || upper >= lower)) is false: ": ['{"type": "string", "minLength": -1}'],
    "maxLength must be an integer": ['{"type": "string", "maxLength": "a"}'],
    "Invalid range: minimum greater than maximum: ": ['{"type": "integer", "minimum": 3, "maximum": 1}'],
    "Invalid range: empty range: ": ['{"type": "number", "minimum": 3.5, "maximum": 1}'],
    "Integer constraint must be a whole number: ": ['{"type": "integer", "minimum": 1.5, "maximum": 1.7}'],
    "Invalid range: ": ['{"type": "integer", "minimum": 3, "maximum": 1}', '{"type": "number", "exclusiveMinimum": 1, "maximum": 1}'],
    "Value must be a number": [f'{{"{name}": "3"}}' for name in ("minimum", "maximum", "multipleOf")],
    "multipleOf must be greater than 0": ['{"multipleOf": 0}'],
    '"type mismatch! call is<type>() before get<type>()" && is<std::string>()': [
        '{"type": "string", "pattern": 5}', '{"type": "string", "format": 5}', '{"required": [5]}'
    ],
    "EBNF parser error at line 1, column 11: ": ['{"type": "string", "pattern": "[z-a]"}'],
    "Regex parsing error at position 1: ": ['{"type": "string", "pattern": "("}', '{"patternProperties": {"(": {}}}'],
    "properties must be an object": ['{"properties": []}'],
    "patternProperties must be an object": ['{"patternProperties": []}'],
    "propertyNames must be an object": ['{"propertyNames": 3}'],
    "required must be an array": ['{"required": "a"}'],
    "minProperties must be an integer: ": ['{"minProperties": "a"}', '{"minProperties": -1.5}'],
    "minProperties must be a non-negative integer: ": ['{"type": "object", "minProperties": -1}'],
    "maxProperties must be a non-negative integer: ": ['{"type": "object", "maxProperties": -1}'],
    "minContains must be an integer: ": ['{"type": "array", "contains": {}, "minContains": "a"}'],
    "minProperties is greater than maxProperties: 3 > 1: ": ['{"type": "object", "minProperties": 3, "maxProperties": 1}'],
    "maxProperties is less than the number of required properties: 1 < 2: ": [
        '{"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"], "maxProperties": 1}'
    ],
    "minProperties is greater than the number of properties, but additional properties aren't allowed: 3 > 1: ": [
        '{"type": "object", "properties": {"a": {}}, "minProperties": 3, "additionalProperties": false}'
    ],
    "items must be a boolean or an object": ['{"type": "array", "items": 3}'],
    "unevaluatedItems must be a boolean or an object": ['{"type": "array", "unevaluatedItems": 3}'],
    "prefixItems must be an array": ['{"prefixItems": {}}'],
    "prefixItems must be an array of objects or booleans": ['{"prefixItems": [{}, 3]}'],
    "prefixItems contains false": ['{"type": "array", "prefixItems": [false], "minItems": 1}'],
    "minItems must be an integer": ['{"minItems": "a"}'],
    "maxItems must be a non-negative integer": ['{"maxItems": "a"}'],
    "minItems is greater than maxItems: 3 > 1: ": ['{"type": "array", "minItems": 3, "maxItems": 1}'],
    "minItems is greater than the number of prefixItems, but additional items are not allowed: 3 > 1: ": [
        '{"type": "array", "prefixItems": [{}], "items": false, "minItems": 3}'
    ],
    "enum must be an array": ['{"enum": {}}'],
    "enum array must not be empty": ['{"enum": []}'],
    **{f"{name} must be an array": [f'{{"{name}": {{}}}}'] for name in ("anyOf", "oneOf", "allOf")},
}


@pytest.mark.parametrize("beginning", SCHEMA_FAULTS)
def test_messages_about_schemas_begin_as_programs_expect(beginning):
    for schema in SCHEMA_FAULTS[beginning]:
        grammask.config.set_compat(False)
        with pytest.raises(grammask.InvalidSchemaError) as exact:
            grammask.Grammar.from_json_schema(schema)
        grammask.config.set_compat(True)
        with pytest.raises(grammask.InvalidSchemaError) as caught:
            grammask.Grammar.from_json_schema(schema)
        assert str(caught.value).startswith(beginning) and str(caught.value).endswith(": " + str(exact.value))
        tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": json.loads(schema)}}
        if schema != "3":
            with pytest.raises(grammask.InvalidStructuralTagError) as caught:
                grammask.Grammar.from_structural_tag(tag)
            assert str(caught.value).startswith(beginning), str(caught.value)
