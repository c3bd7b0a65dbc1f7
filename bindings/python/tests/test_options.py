"""Every option of Rust has a name in Python, and makes a difference there."""

from __future__ import annotations

import inspect
import json
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import STOP, VOCAB_SIZE, allowed

import grammask
from grammask.testing import _is_grammar_accept_string as accepts

ROOT = Path(__file__).parents[3]

# The names in Python of the fields of Rust's options. Nested dicts are written with a dot.
PYTHON = {
    "JsonSchemaOptions": {
        "whitespace": "any_whitespace indent separators max_whitespace_cnt indent_depth spelling",
        "around_root": "around_root",
        "key_order": "key_order any_order",
        "objects": "strict_mode",
        "free_names": "free_names",
        "escapes": "escapes",
        "numbers": "numbers",
        "formats": "formats",
        "unsupported": "unsupported",
        # Only a schema says so, by `x-guidance`.
        "one_of": "",
        "retriever": "retriever",
        "limits": "limits",
        "interrupt": "interrupt",
    },
    "EbnfOptions": {"root": "root_rule_name", "limits": "limits", "interrupt": "interrupt"},
    "RegexOptions": {
        "dialect": "dialect",
        "matching": "matching",
        "letter_case": "letter_case",
        "groups": "groups",
        "limits": "limits",
    },
    "LarkOptions": {
        "start": "start_rule_name",
        "named": "named_grammars",
        "json_schema": "json_options",
        "regex": "regex_limits",
        "limits": "limits",
    },
    "StructuralTagOptions": {"json_schema": "json_options", "ebnf": "ebnf_options", "limits": "limits"},
    "VocabularyOptions": {
        "special_ids": "special_token_ids",
        "special_tokens": "special_tokens",
        "stop_ids": "stop_token_ids",
        "size": "vocab_size",
        "coding": "vocab_type",
        "max_tokens": "max_tokens",
        "max_bytes": "max_bytes",
    },
    "ToolRequest": {
        "functions": "tools",
        "builtins": "tools",
        "choice": "tool_choice",
        "parallel": "parallel_tool_calls",
        "reasoning": "reasoning",
        "reasoning_chars": "max_reasoning_chars",
        "markers": "exclude_special_tokens",
        "response": "response_format",
        "member_order": "any_order",
        "spelling": "spelling",
        "max_whitespace": "max_whitespace_cnt",
    },
    "Sampling": {name: name for name in ("temperature", "top_k", "top_p", "seed", "step")},
}
# Dicts whose names are those of Rust, with the method that takes the dict, and what it calls it.
SAME = {
    "JsonSchemaLimits": "limits",
    "EbnfLimits": "limits",
    "RegexLimits": "limits",
    "LarkLimits": "limits",
    "StructuralTagLimits": "limits",
    "Limits": "limits",
    "CompileOptions": "automata",
    "TextLimits": "automata",
    "MaskOptions": "masks",
}
# Options that nobody above a compiled grammar can set, and why.
ABSENT = {
    "RuleOptions": "attributes of rules are written in the grammar",
    "Options": "attributes of rules are written in the grammar",
    "PrintOptions": "str(grammar) prints what fits",
    "BackendSettings": "a compiler sets them by its limits and its vocabulary",
}
METHODS = {
    "JsonSchemaOptions": grammask.GrammarCompiler.compile_json_schema,
    "EbnfOptions": grammask.GrammarCompiler.compile_grammar,
    "RegexOptions": grammask.GrammarCompiler.compile_regex,
    "LarkOptions": grammask.GrammarCompiler.compile_lark,
    "VocabularyOptions": grammask.TokenizerInfo.from_file,
    "ToolRequest": grammask.get_model_structural_tag,
    "Sampling": grammask.choose_tokens,
}


def rust_options():
    """The option structs of the crates, each with its fields."""
    found = {}
    struct = re.compile(r"^pub struct (\w*(?:Options|Limits|Settings|Request)|Sampling) \{\n(.*?)^\}", re.M | re.S)
    backends = ("parser-backend", "earley", "pda")
    others = ("grammar-ir", "fsm", "grammar-frontends", "mask-cache", "matcher", "gpu-apply", "vocabularies")
    for crate in backends + others:
        for path in sorted((ROOT / crate / "src").rglob("*.rs")):
            for name, body in struct.findall(path.read_text()):
                assert name not in found, name
                found[name] = re.findall(r"^    (?:pub(?:\([a-z ]+\))? )(\w+):", body, re.M)
    return found


def test_every_option_of_rust_has_a_name_here():
    found = rust_options()
    assert set(found) == PYTHON.keys() | SAME.keys() | ABSENT.keys()
    for name, fields in PYTHON.items():
        assert set(fields) == set(found[name]), name
        # The methods of structural tags take arguments of any name, and refuse other ones themselves.
        names = inspect.signature(METHODS[name]).parameters if name in METHODS else TAG_OPTIONS
        assert {python for fields in fields.values() for python in fields.split()} <= set(names), name


# The variants of Rust's enums, with the argument that chooses one by its name in small letters.
ENUMS = {
    "Spelling": "spelling",
    "KeyOrder": "key_order",
    "FreeNames": "free_names",
    "JsonEscapes": "escapes",
    "Numbers": "numbers",
    "Formats": "formats",
    "Unsupported": "unsupported",
    "Dialect": "dialect",
    "Matching": "matching",
    "LetterCase": "letter_case",
    "Groups": "groups",
}


def test_every_choice_of_rust_is_one_here(compiler):
    enum = re.compile(r"^pub enum (\w+) \{\n(.*?)^\}", re.M | re.S)
    for syntax, compile, source in (
        ("json_schema", compiler.compile_json_schema, {}),
        ("regex", compiler.compile_regex, "a"),
    ):
        text = (ROOT / "grammar-frontends/src" / syntax / "options.rs").read_text()
        if syntax == "json_schema":
            text += (ROOT / "grammar-ir/src/json_escapes.rs").read_text()
        for name, body in enum.findall(text):
            if name in ("Whitespace", "Objects"):
                continue
            variants = re.findall(r"^    ([A-Z]\w*)", body, re.M)
            assert len(variants) > 1, name
            for variant in variants:
                choice = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", variant).lower()
                assert compile(source, **{ENUMS[name]: choice}), choice


def test_values_that_options_cannot_have(info, compiler):
    for wrong in (
        lambda: compiler.compile_json_schema({}, spelling="nothing"),
        lambda: grammask.GrammarCompiler(info, backend="nothing"),
        lambda: grammask.GrammarCompiler(info, max_threads=0),
        lambda: grammask.GrammarCompiler(info, cache_limit_bytes=-2),
        lambda: grammask.BatchGrammarMatcher(0),
        lambda: grammask.Budget(-1),
    ):
        with pytest.raises(grammask.InvalidOptionError, match="`[a-z_]+` (is|must be) ") as caught:
            wrong()
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, grammask.GrammaskError)


TAG_OPTIONS = ("json_options", "ebnf_options", "limits")
REFUSING = {
    "JsonSchemaLimits": lambda compiler, names: compiler.compile_json_schema({}, limits=names),
    "EbnfLimits": lambda compiler, names: compiler.compile_grammar('root ::= "a"', limits=names),
    "RegexLimits": lambda compiler, names: compiler.compile_regex("a", limits=names),
    "LarkLimits": lambda compiler, names: compiler.compile_lark("start: /a/", limits=names),
    "StructuralTagLimits": lambda compiler, names: compiler.compile_structural_tag(
        {"type": "structural_tag", "format": {"type": "any_text"}}, limits=names
    ),
    "Limits": lambda compiler, names: grammask.GrammarCompiler(compiler.tokenizer_info, limits=names),
    "CompileOptions": lambda compiler, names: grammask.GrammarCompiler(compiler.tokenizer_info, automata=names),
    "TextLimits": lambda compiler, names: grammask.GrammarCompiler(compiler.tokenizer_info, automata=names),
    "MaskOptions": lambda compiler, names: grammask.GrammarCompiler(compiler.tokenizer_info, masks=names),
}


def test_names_in_dicts_are_those_of_rust(compiler):
    found = rust_options()
    for struct, argument in SAME.items():
        with pytest.raises(ValueError, match=f"`{argument}` has no `nothing`") as caught:
            REFUSING[struct](compiler, {"nothing": 1})
        known = set(re.findall(r"`(\w+)`", str(caught.value).split("names are")[1]))
        prefix = "text_" if struct == "TextLimits" else ""
        names = {prefix + field for field in found[struct] if field not in ("interrupt", "text")}
        assert names <= known, struct
        rest = known - names
        assert not rest or argument == "automata" and all(
            name.removeprefix("text_") in found["TextLimits"] + found["CompileOptions"] for name in rest
        )


OBJECT = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "required": ["a"]}
OPEN = {"type": "object", "additionalProperties": {"type": "integer"}}
NUMBER = {"type": "number"}
# Options, a schema, a text that it allows only by default, and one only with the options.
SCHEMAS = [
    ({"any_whitespace": False}, OBJECT, '{"a":""}', None),
    ({"any_whitespace": False, "indent": 1}, OBJECT, '{"a":""}', None),
    ({"any_whitespace": False, "separators": (",", ":")}, OBJECT, '{ "a":""}', None),
    ({"max_whitespace_cnt": 1}, OBJECT, '{  "a":""}', None),
    ({"any_whitespace": False, "indent": 1, "indent_depth": 1}, {"type": "array"}, "[\n [\n  1\n ]\n]", None),
    ({"spelling": "any"}, OBJECT, None, '{"\\u0061":""}'),
    ({"spelling": "any", "any_whitespace": False}, OBJECT, '{"a":""}', '{"\\u0061": ""}'),
    ({"spelling": "compact", "max_whitespace_cnt": 2}, OBJECT, '{"a":\n   ""}', None),
    ({"spelling": "any", "max_whitespace_cnt": 2}, OBJECT, '{"a":   ""}', '{"\\u0061":  ""}'),
    ({"around_root": 1}, OBJECT, None, ' {"a":""}'),
    ({"strict_mode": False}, OBJECT, None, '{"a":"","c":1}'),
    ({"key_order": "required_first"}, OBJECT, '{"b":1,"a":""}', '{"a":"","b":1}'),
    ({"key_order": "any"}, OBJECT, None, '{"a":"","b":1}'),
    ({"any_order": True}, OBJECT, None, '{"a":"","b":1}'),
    ({"free_names": "unique"}, OPEN, '{"x":1,"x":2}', None),
    ({"escapes": "ascii"}, {"type": "string"}, '"é"', None),
    ({"escapes": "needed"}, {"type": "string"}, '"\\u00e9"', None),
    ({"escapes": "any"}, {"type": "string"}, None, '"\\u0061"'),
    ({"numbers": "any"}, NUMBER, None, "1e5"),
    ({"numbers": "canonical"}, NUMBER, "1.0", None),
    ({"numbers": 2}, NUMBER, "123", None),
    ({"formats": "annotation"}, {"type": "string", "format": "date"}, None, '"x"'),
]


@pytest.mark.parametrize(("options", "schema", "before", "after"), SCHEMAS, ids=lambda value: str(value)[:40])
def test_options_of_schemas(compiler, options, schema, before, after):
    usual = {"any_whitespace": False, "indent": 1} if "indent_depth" in options else {}

    def follows(compiled, text):
        matcher = grammask.GrammarMatcher(compiled)
        return matcher.accept_string(text) and matcher.is_completed()

    if "free_names" in options:
        # The matcher compares items while a text is written, so there is no grammar of that.
        plain, other = compiler.compile_json_schema(schema), compiler.compile_json_schema(schema, **options)
    else:
        grammars = [grammask.Grammar.from_json_schema(schema, **given) for given in (usual, options)]
        assert grammars[0] != grammars[1]
        plain, other = (compiler.compile_json_schema(schema, **given) for given in (usual, options))
        assert [plain.grammar, other.grammar] == grammars
    if before is not None:
        assert follows(plain, before) and not follows(other, before)
    if after is not None:
        assert follows(other, after) and not follows(plain, after)


REFUSED = {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": True}


def test_what_cannot_be_enforced(compiler):
    with pytest.raises(grammask.UnsupportedError):
        compiler.compile_json_schema(REFUSED)
    with pytest.warns(grammask.GrammaskWarning, match="uniqueItems"):
        compiler.compile_json_schema(REFUSED, unsupported="ignore")
    report = {entry["keyword"]: entry for entry in grammask.schema_report(REFUSED)}
    assert report["uniqueItems"]["treatment"] == "refused" and report["uniqueItems"]["note"]
    assert report["pattern"] == {"pointer": "/items/pattern", "keyword": "pattern", "treatment": "enforced"}
    ignored = grammask.schema_report(REFUSED, unsupported="ignore")
    assert "ignored" in {entry["treatment"] for entry in ignored}


def test_documents_from_elsewhere(compiler):
    schema = {"$ref": "https://example.com/color"}
    asked = []

    def retrieve(uri):
        asked.append(uri)
        return {"enum": ["red"]} if "color" in uri else None

    with pytest.raises(grammask.GrammaskError):
        compiler.compile_json_schema(schema)
    text = grammask.GrammarMatcher(compiler.compile_json_schema(schema, retriever=retrieve))
    assert text.accept_string('"red"') and asked == ["https://example.com/color"]
    later = compiler.compile_json_schema_async(schema, retriever=lambda uri: '{"const": 1}').result(timeout=30)
    assert grammask.GrammarMatcher(later).accept_string("1")
    for wrong, message in ((lambda uri: None, "no such document"), (lambda uri: 1 // 0, "ZeroDivisionError")):
        with pytest.raises(grammask.GrammaskError, match=message):
            compiler.compile_json_schema(schema, retriever=wrong)
    with pytest.raises(grammask.GrammaskError, match="documents"):
        compiler.compile_json_schema(schema, retriever=retrieve, limits={"documents": 0})
    with pytest.raises(TypeError, match="retriever"):
        compiler.compile_json_schema(schema, retriever=3)
    for raised in (KeyboardInterrupt, SystemExit):

        def stopped(uri, raised=raised):
            raise raised

        with pytest.raises(raised):
            compiler.compile_json_schema(schema, retriever=stopped)
    with pytest.raises(grammask.GrammaskError, match="such document"):
        compiler.compile_json_schema(schema, retriever=lambda uri: None)


def test_gbnf(compiler):
    # A class in GBNF takes `\x`, and a name may have a minus.
    source = 'top ::= the-end+\nthe-end ::= [\\x61]'
    grammar = grammask.Grammar.from_gbnf(source, root_rule_name="top")
    assert accepts(grammar, "aa") and not accepts(grammar, "b")
    for compiled in (
        compiler.compile_gbnf(source, root_rule_name="top"),
        compiler.compile_gbnf_async(source, root_rule_name="top").result(timeout=30),
    ):
        assert compiled.grammar == grammar
    with pytest.raises(grammask.InvalidGrammarError) as caught:
        grammask.Grammar.from_gbnf("root ::= missing")
    assert (caught.value.line, caught.value.column) == (1, 10)


def test_options_of_patterns(compiler):
    def read(pattern, **options):
        grammar = grammask.Grammar.from_regex(pattern, **options)
        assert compiler.compile_regex(pattern, **options).grammar == grammar
        return grammar

    assert accepts(read("b", matching="search"), "abc") and not accepts(read("b"), "abc")
    assert accepts(read("b", letter_case="ignored"), "B") and not accepts(read("b"), "B")
    assert accepts(read("[a-c&&b]", dialect="perl"), "b") and not accepts(read("[a-c&&b]"), "b&")
    assert not accepts(read("[a-c&&b]", dialect="perl"), "&") and accepts(read("[a-c&&b]"), "&")
    for groups, captured in (("captured", [("name", b"ab")]), ("plain", [])):
        matcher = grammask.GrammarMatcher(compiler.compile_regex("<(?<name>[a-z]+)>", groups=groups))
        matcher.accept_string("<ab>")
        assert matcher.get_captures() == captured


def test_options_of_other_syntaxes(compiler):
    lark = 'start: "a"\nother: "b" %json {"type": "string"}'
    read = grammask.Grammar.from_lark
    assert accepts(read(lark), "a") and accepts(read(lark, start_rule_name="other"), 'b"x"')
    inner = {"json_options": {"escapes": "ascii"}, "start_rule_name": "other"}
    assert not accepts(read(lark, **inner), 'b"é"') and accepts(read(lark, start_rule_name="other"), 'b"é"')
    assert compiler.compile_lark(lark, **inner).grammar == read(lark, **inner)
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": OBJECT}}
    open_tag = {"json_options": {"strict_mode": False}}
    text = '{"a":"","c":1}'
    for options, goes in (({}, False), (open_tag, True)):
        assert accepts(grammask.Grammar.from_structural_tag(tag, **options), text) == goes
        compiled = compiler.compile_structural_tag(tag, **options)
        assert grammask.GrammarMatcher(compiled).accept_string(text) == goes
    grammar = {"type": "structural_tag", "format": {"type": "grammar", "grammar": 'top ::= "a"'}}
    assert accepts(grammask.Grammar.from_structural_tag(grammar, ebnf_options={"root_rule_name": "top"}), "a")
    with pytest.raises(grammask.GrammaskError):
        grammask.Grammar.from_structural_tag(grammar)
    with pytest.raises(grammask.GrammaskError, match="json_options"):
        compiler.compile_structural_tag(tag, json_options={"strict": False})


# Bounds that a small source passes when they are this small.
BOUNDS = [
    ("compile_json_schema", {"type": "integer"}, ["schema_bytes", "values", "goals"], 0),
    ("compile_json_schema", {"type": "object", "properties": {"a": {"type": "integer"}}}, ["expressions"], 0),
    (
        "compile_json_schema",
        {"anyOf": [{"type": "object", "properties": {name: {"type": "integer"}}} for name in "ab"]},
        ["alternatives"],
        0,
    ),
    ("compile_json_schema", {"allOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]}, ["depth"], 0),
    ("compile_json_schema", {"anyOf": [{"pattern": "a"}, {"pattern": "b"}, {"pattern": "c"}], "type": "string"}, ["work"], 0),
    ("compile_json_schema", {"type": "integer", "multipleOf": 7}, ["states"], 1),
    ("compile_json_schema", {"enum": [1e30]}, ["digits"], 3),
    ("compile_regex", "((a))", ["pattern_bytes", "nesting", "expressions"], 0),
    ("compile_regex", "(?i)\\p{L}", ["unicode_classes", "folded_characters"], 0),
    ("compile_grammar", "root ::= (((\"a\")))", ["source_bytes", "tokens", "nesting"], 0),
    ("compile_grammar", 'root ::= Substring("a b c", "words")', ["chunks"], 1),
    ("compile_gbnf", "root ::= (((\"a\")))", ["source_bytes", "tokens", "nesting"], 0),
    ("compile_lark", 'start: ((("a")))', ["source_bytes", "tokens", "nesting"], 0),
    ("compile_lark", 'start: %regex {"substring_chunks": ["a","b"]}', ["chunks"], 0),
    ("compile_lark", 'start: a "x"\na[capture,stop=/[xyz]/]: /[a-z]*/', ["ends"], 0),
    (
        "compile_structural_tag",
        {"type": "structural_tag", "format": {"type": "optional", "content": {"type": "any_text"}}},
        ["document_bytes", "nesting"],
        0,
    ),
]


@pytest.mark.parametrize(("method", "source", "names", "bound"), BOUNDS)
def test_bounds_of_one_call(compiler, method, source, names, bound):
    compile = getattr(compiler, method)
    compile(source)
    for name in names:
        with pytest.raises(grammask.GrammaskError):
            compile(source, limits={name: bound})
    with pytest.raises(TypeError, match="limits"):
        compile(source, limits=3)
    with pytest.raises((TypeError, grammask.GrammaskError), match=names[0]):
        compile(source, limits={names[0]: "many"})


def test_how_many_mistakes_are_reported(compiler):
    for method, source in (("grammar", "root ::= a b c d"), ("gbnf", "root ::= a b c d"), ("lark", "start: a\nb: c\nd: e\nf: g")):
        for limits, count in ((None, 4), ({"reports": 2}, 2)):
            with pytest.raises(grammask.InvalidGrammarError) as caught:
                getattr(compiler, f"compile_{method}")(source, limits=limits)
            assert len(caught.value.diagnostics) == count, method


def big_schema(number):
    names = {f"name{i}": {"type": "string", "pattern": f"^([a-z]{{{i % 7 + 2},40}}-)+{number}$"} for i in range(4000)}
    return {"type": "object", "properties": names, "required": list(names)}


def test_deadlines_and_cancellation(info):
    compiler = grammask.GrammarCompiler(info)
    start = time.monotonic()
    with pytest.raises(grammask.IndeterminateError) as caught:
        compiler.compile_json_schema(big_schema(1), interrupt=grammask.Interrupt(timeout=0.0))
    assert caught.value.code == "interrupted/deadline"
    cancelled = grammask.Interrupt()
    assert not cancelled.has_come
    cancelled.cancel()
    assert cancelled.has_come
    with pytest.raises(grammask.IndeterminateError) as caught:
        compiler.compile_json_schema(big_schema(2), interrupt=cancelled)
    assert caught.value.code == "interrupted/cancelled"
    with pytest.raises(grammask.IndeterminateError):
        compiler.compile_json_schema_async(big_schema(3), interrupt=cancelled).result(timeout=30)
    with pytest.raises(grammask.IndeterminateError):
        grammask.Grammar.from_json_schema(big_schema(4), interrupt=cancelled)
    for read in (grammask.Grammar.from_ebnf, grammask.Grammar.from_gbnf):
        with pytest.raises(grammask.IndeterminateError):
            read('root ::= "a"', interrupt=cancelled)
    inline = f"start: %json {json.dumps(big_schema(5))}"
    for read in (grammask.Grammar.from_lark, compiler.compile_lark):
        for named in ({}, {"a": 'start: "a"'}):
            with pytest.raises(grammask.IndeterminateError):
                read(inline, named_grammars=named, interrupt=cancelled)
    with pytest.raises(grammask.IndeterminateError):
        grammask.GrammarCompiler(info).compile_builtin_json_grammar(interrupt=cancelled)
    assert time.monotonic() - start < 20
    later = grammask.Interrupt(timeout=3600)
    assert compiler.compile_json_schema(OBJECT, interrupt=later) == compiler.compile_json_schema(OBJECT)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError):
            grammask.Interrupt(timeout=wrong)
    with pytest.raises(TypeError, match="interrupt"):
        compiler.compile_regex("a", interrupt=1.0)


def test_a_matcher_that_is_stopped(info):
    compiled = grammask.GrammarCompiler(info).compile_json_schema({"type": "object"})
    text = grammask.GrammarMatcher(compiled)
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    stop = grammask.Interrupt()
    stop.cancel()
    text.set_interrupt(stop)
    with pytest.raises(grammask.IndeterminateError) as caught:
        text.fill_next_token_bitmask(mask)
    assert caught.value.code == "interrupted/call"
    text.set_interrupt(None)
    assert text.fill_next_token_bitmask(mask) and ord("{") in allowed(mask)


def test_bounds_of_a_compiler(info):
    def first_mask(**options):
        compiler = grammask.GrammarCompiler(info, **options)
        text = grammask.GrammarMatcher(compiler.compile_json_schema(OBJECT))
        mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
        text.fill_next_token_bitmask(mask)
        texts.append(text)
        return compiler.stats()

    texts = []
    usual = first_mask()
    assert usual["budget"]["max_bytes"] == 1 << 30
    assert first_mask(limits={"max_total_bytes": 1 << 20})["budget"]["max_bytes"] == 1 << 20
    budget = grammask.Budget(5 << 20)
    assert first_mask(budget=budget)["budget"]["max_bytes"] == 5 << 20 == budget.max_bytes
    assert budget.used_bytes > 0 and budget.evicted == 0
    for name in ("max_items_per_set", "max_table_bytes", "max_work_per_call"):
        with pytest.raises(grammask.GrammaskError):
            first_mask(limits={name: 0})
    for name in ("max_mask_bytes", "max_pool_bytes", "max_cache_bytes"):
        first_mask(limits={name: 0})
    compiler = grammask.GrammarCompiler(info, limits={"max_distinct_bytes": 10})
    text = grammask.GrammarMatcher(compiler.compile_json_schema(OPEN, free_names="unique"))
    with pytest.raises(grammask.IndeterminateError) as caught:
        for place in range(1000):
            text.accept_string(("," if place else "{") + f'"name{place}":1')
    assert caught.value.code == "limit/distinct-bytes"


@pytest.mark.parametrize("name", ["max_states", "max_edges", "text_max_states", "text_max_steps", "text_max_total_steps"])
def test_bounds_of_automata(info, name):
    source = 'root ::= ([a-z]{3,9} & ~("abc" .*)) "x"'.replace(".*", "[a-z]*")
    try:
        grammask.GrammarCompiler(info).compile_grammar(source)
    except grammask.InvalidGrammarError:
        pytest.fail("the source is a grammar")
    compiler = grammask.GrammarCompiler(info, automata={name: 0})
    # A text that it reads itself, and a grammar that was made elsewhere.
    for given in (source, grammask.Grammar.from_ebnf(source), grammask.Grammar.concat(grammask.Grammar.from_ebnf(source))):
        before = grammask.operation.metrics()["limits_reached"]
        with pytest.raises(grammask.InvalidGrammarError) as caught:
            compiler.compile_grammar(given)
        assert caught.value.code == "grammar/limit" and f"raise `{name}`" in str(caught.value)
        assert grammask.operation.metrics()["limits_reached"] == before + 1


PASSES = [
    ({"literal_tries": False}, 'root ::= "abcd" | "abce" | "abfg"'),
    ({"inlining": False}, 'root ::= "a" x "b" y\nx ::= "c"\ny ::= "d"'),
    ({"epsilon_removal": False, "determinization": False}, 'root ::= ("a" | "b"?)* "c"'),
    ({"determinization": False}, 'root ::= "a"* "a" "b"'),
    ({"inline_states": 0}, 'root ::= x "a" x\nx ::= "bc"'),
    ({"min_joined_rules": 1}, 'root ::= "a" root | "b"'),
    ({"expand_states": 0}, 'root ::= "ab"{2,5}'),
    ({"determinize_states": 0}, 'root ::= "a"* "a" "b"'),
    ({"min_counted_pairs": 0}, 'root ::= [a-z]* "b" & [^]{0,20}'),
]


@pytest.mark.parametrize(("options", "source"), PASSES, ids=lambda value: str(value)[:30])
def test_passes_change_automata_and_no_text(info, options, source):
    plain = grammask.GrammarCompiler(info).compile_grammar(source)
    other = grammask.GrammarCompiler(info, automata=options).compile_grammar(source)
    assert plain.fingerprint != other.fingerprint and plain.grammar == other.grammar


def test_ways_to_masks(info):
    text = b'{"a": "some words here", "b": 1}'
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}

    def walk(**masks):
        compiled = grammask.GrammarCompiler(info, masks=masks).compile_json_schema(schema)
        rows = []
        for _ in range(2):
            matcher = grammask.GrammarMatcher(compiled)
            for token in text:
                row = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
                matcher.fill_next_token_bitmask(row)
                rows.append(row)
                if not matcher.accept_token(token):
                    pytest.fail(f"{token} is refused")
        # A text adds its numbers to those of the grammar when it goes.
        del matcher
        return np.concatenate(rows), compiled.stats()

    rows, plain = walk()
    assert plain["texts"]["steps"] == 2 * len(text) and plain["texts"]["hits"] > 0 and plain["texts"]["misses"] > 0
    assert plain["masks"]["local_misses"] + plain["masks"]["slices"]["masks"] > 0
    assert sum(way["ns"] for way in plain["masks"].values() if isinstance(way, dict)) > 0
    for name in ("memo", "slices", "local_parts", "differences"):
        others, stats = walk(**{name: False})
        assert (others == rows).all()
        assert stats["masks"] != plain["masks"], name
    others, stats = walk(context_expansion=True, cross_grammar=False)
    assert (others == rows).all()


def test_the_other_backend(info, tmp_path):
    compiler = grammask.GrammarCompiler(info, backend="pda", cache_dir=tmp_path)
    compiled = compiler.compile_json_schema(OBJECT)
    plain = grammask.GrammarCompiler(info).compile_json_schema(OBJECT)
    assert (compiled.backend, plain.backend) == ("pda", "earley") and compiled == plain
    rows = grammask.allocate_token_bitmask(2, VOCAB_SIZE, backend="numpy")
    texts = [grammask.GrammarMatcher(compiled), grammask.GrammarMatcher(plain)]
    batch = grammask.BatchGrammarMatcher(2)
    for token in b'{"b": 12, "a": "x"}':
        batch.batch_fill_next_token_bitmask(texts, rows)
        assert (rows[0] == rows[1]).all() and token in allowed(rows)
        assert batch.batch_accept_token(texts, [token, token]) == [True, True]
    assert [text.accept_token(STOP) for text in texts] == [True, True]
    assert texts[0].fork().is_terminated() and compiler.warm_up_in_background(compiled, 1)
    again = grammask.GrammarCompiler(info, backend="pda", cache_dir=tmp_path)
    assert again.compile_json_schema(OBJECT).backend == "pda" and again.cache_dir_usage()["hits"] == 1
    left = 'root ::= root "a" | "b"'
    assert grammask.GrammarCompiler(info).compile_grammar(left)
    with pytest.raises(grammask.GrammaskError, match="left"):
        compiler.compile_grammar(left)
    with pytest.raises(grammask.GrammaskError, match="backend"):
        compiler.warm_up_in_background(plain, 1)
    with pytest.raises(grammask.MatcherError, match="backend"):
        texts[0].switch_to(plain)
    with pytest.raises(grammask.GrammaskError, match="pda"):
        grammask.GrammarCompiler(info, backend="ll")


def test_masks_before_they_are_needed(info):
    compiler = grammask.GrammarCompiler(info)
    compiled = compiler.compile_json_schema(OBJECT)
    stop = grammask.Interrupt()
    stop.cancel()
    assert compiled.warm_up(8, interrupt=stop) == 0
    assert compiled.warm_up(8) > 0
    text = grammask.GrammarMatcher(compiled)
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    text.fill_next_token_bitmask(mask)
    assert text.stats()["misses"] == 0 and text.stats()["hits"] == 1
    assert text.accept_token(ord("{"))
    while text.warm_next(4) > 0:
        pass
    before = text.stats()["misses"]
    assert text.accept_token(ord('"'))
    text.fill_next_token_bitmask(mask)
    assert text.stats()["misses"] == before
    stats = compiler.stats()
    assert stats["cache"] == {"hits": 0, "misses": 1, "entries": 1, "evicted": 0}
    compiler.compile_json_schema(OBJECT)
    assert compiler.stats()["cache"] == {"hits": 1, "misses": 1, "entries": 1, "evicted": 0}
    assert compiled.stats()["compile_ns"]["automata"] > 0


def test_masks_that_are_as_before(info):
    compiled = grammask.GrammarCompiler(info).compile_regex("(a*b)+")
    texts = [grammask.GrammarMatcher(compiled) for _ in range(2)]
    rows = grammask.allocate_token_bitmask(3, VOCAB_SIZE, backend="numpy")
    assert texts[0].fill_mask_kind(rows, 1) == "some" and allowed(rows, 1) == {ord("a"), ord("b")}
    assert texts[0].accept_token(ord("a")) and texts[0].fill_mask_kind(rows, 1) == "unchanged"
    batch = grammask.BatchGrammarMatcher(1)
    assert batch.batch_fill_mask_kinds(texts, rows, [2, 0]) == ["unchanged", "some"]
    assert (rows[0] == rows[2]).all() and (rows[0] == rows[1]).all()
    assert texts[1].accept_token(ord("b"))
    assert batch.batch_fill_mask_kinds(texts, rows) == ["unchanged", "some"] and STOP in allowed(rows, 1)
    single = grammask.GrammarMatcher(grammask.GrammarCompiler(info).compile_regex("a"))
    assert single.fill_mask_kind(rows) == "single" and allowed(rows) == {ord("a")}
    with pytest.raises(grammask.BitmaskError):
        single.fill_mask_kind(rows, 3)
    with pytest.raises(grammask.BitmaskError):
        batch.batch_fill_mask_kinds(texts, rows, [1, 1])


def test_masks_that_nobody_got_are_no_masks_of_before(info):
    compiler = grammask.GrammarCompiler(info)
    compiled = compiler.compile_regex("(a*b)+")
    own = {"override_stop_tokens": [STOP, ord("z")]}
    row, two = (grammask.allocate_token_bitmask(count, VOCAB_SIZE, backend="numpy") for count in (1, 2))
    batch = grammask.BatchGrammarMatcher(2)

    def after(disturb, **options):
        text = grammask.GrammarMatcher(compiled, **options)
        assert text.fill_mask_kind(row) == "some" and text.fill_mask_kind(row) == "unchanged"
        text.accept_token(ord("b"))
        disturb(text)
        return text.fill_mask_kind(row)

    def failing(call):
        def disturb(text):
            with pytest.raises(grammask.GrammaskError):
                call(text)

        return disturb

    ended = grammask.GrammarMatcher(compiled)
    assert ended.accept_string("b") and ended.accept_token(STOP)
    disturbances = [
        lambda text: text.allowed_token_ids(),
        failing(lambda text: text.fill_mask_kind(row, 5)),
        failing(lambda text: batch.batch_fill_mask_kinds([text], row[:, :1].copy())),
        failing(lambda text: batch.batch_fill_mask_kinds([text, ended], two)),
        lambda text: text.fill_next_token_bitmask(row),
        lambda text: batch.batch_fill_next_token_bitmask([text], row),
    ]
    for disturb in disturbances:
        for options in ({}, own):
            assert after(disturb, **options) == "some"
    text = grammask.GrammarMatcher(compiled)
    assert text.fill_mask_kind(row) == "some" and text.fork().fill_mask_kind(two) == "some"
    assert text.fill_mask_kind(row) == "unchanged"


def test_kinds_of_masks_with_own_stop_tokens(info):
    row = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    text = grammask.GrammarMatcher(grammask.GrammarCompiler(info).compile_regex("x"), override_stop_tokens=[3])
    assert text.fill_mask_kind(row) == "single" and text.allowed_token_ids() == [ord("x")]
    assert text.accept_token(ord("x")) and text.fill_mask_kind(row) == "single" and text.allowed_token_ids() == [3]
    few = grammask.TokenizerInfo([b"</s>", b"a", b"b"], stop_token_ids=[0])
    text = grammask.GrammarMatcher(grammask.GrammarCompiler(few).compile_regex("[ab]*"), override_stop_tokens=[0, 1])
    assert text.fill_mask_kind(row[:, :1].copy()) == "all"
    assert text.fill_next_token_bitmask(row[:, :1].copy()) is False and text.allowed_token_ids() == [0, 1, 2]


def test_a_text_without_stop_tokens_ends(info, compiler):
    text = grammask.GrammarMatcher(compiler.compile_regex("a[bc]"), terminate_without_stop_token=True)
    rows = np.full((3, (VOCAB_SIZE + 31) // 32), 7, np.int32)
    assert text.traverse_draft_tree([1, 2, -1], [-1] * 3, [0, ord("a"), ord("b")], rows)
    assert allowed(rows, 1) == {ord("b"), ord("c")} and (rows[2] == 7).all()
    assert text.accept_string("ab") and text.is_terminated()
    batch = grammask.BatchGrammarMatcher(1)
    for call in (
        lambda: text.fill_next_token_bitmask(rows),
        lambda: text.fill_mask_kind(rows),
        lambda: text.allowed_token_ids(),
        lambda: batch.batch_fill_next_token_bitmask([text], rows),
        lambda: batch.batch_fill_mask_kinds([text], rows),
    ):
        with pytest.raises(grammask.MatcherError, match="ended"):
            call()
    grammask.config.set_compat(True)
    for fill in (text.fill_next_token_bitmask, lambda rows: batch.batch_fill_next_token_bitmask([text], rows)):
        rows[:] = 7
        with pytest.warns(grammask.GrammaskWarning, match="ended"):
            fill(rows)
        assert not rows[0].any() and (rows[1] == 7).all()
    text.reset()
    text.traverse_draft_tree([1, 2, -1], [-1] * 3, [0, ord("a"), ord("b")], rows)
    assert rows[1].any() and not rows[2].any()


def test_choosing_tokens():
    rng = np.random.default_rng(3)
    logits = rng.random((4, 70)).astype(np.float32)
    keep = rng.random((4, 70)) < 0.3
    mask = grammask.testing.bool_mask_to_bitmask(keep)
    best = np.where(keep, logits, -np.inf).argmax(axis=1)
    choose = grammask.choose_tokens
    assert (choose(logits, mask, temperature=0) == best).all()
    assert choose(logits[1], mask[1], temperature=0).tolist() == [best[1]]
    assert choose(logits.astype(np.float16), mask, top_k=1).tolist() == best.tolist()
    drawn = [choose(logits, mask, seed=7, step=step).tolist() for step in range(50)]
    assert all(keep[row, token] for tokens in drawn for row, token in enumerate(tokens))
    assert len({tuple(tokens) for tokens in drawn}) > 10
    assert drawn[3] == choose(logits, mask, seed=[7] * 4, step=[3] * 4).tolist()
    assert choose(logits, mask, temperature=[0, 1, 1, 0], top_p=1e-6).tolist() == best.tolist()
    assert choose(logits, mask, temperature=0, indices=[3, 1]).tolist() == best[[3, 1]].tolist()
    narrow = np.where(keep[:, :40], logits[:, :40], -np.inf).argmax(axis=1)
    assert (choose(logits, mask, temperature=0, vocab_size=40) == narrow).all()
    assert (choose(logits[::2], mask[::2], temperature=0) == best[::2]).all()
    half = np.array(0.5, np.float32)
    assert choose(logits, mask, temperature=half, top_k=np.array(1)).tolist() == best.tolist()
    assert choose(logits[:0], mask[:0]).tolist() == choose(logits, mask, indices=[]).tolist() == []
    wrongs = [
        *({"temperature": -1}, {"top_p": 0}, {"seed": [1, 2]}, {"indices": [2, 0, 2]}),
        *({"top_k": -1}, {"top_k": 1 << 32}, {"seed": -1}, {"step": 1 << 64}, {"vocab_size": -1}),
    ]
    for wrong in wrongs:
        with pytest.raises(ValueError):
            choose(logits, mask, **wrong)
    for wrong in ({"indices": [0.5]}, {"indices": [True]}, {"indices": "0"}, {"top_k": 1.5}):
        with pytest.raises(TypeError):
            choose(logits, mask, **wrong)
    with pytest.raises(TypeError, match="list"):
        choose([[1.0]], mask)
    with pytest.raises(ValueError):
        choose(logits, np.zeros_like(mask))
    with pytest.raises(ValueError):
        choose(logits.astype(np.float64), mask)
    with pytest.raises(IndexError):
        choose(logits, mask, indices=[4])


def test_arrays_that_shrink_while_settings_are_read():
    logits, mask = np.zeros((200, 2000), np.float32), np.full((200, 63), -1, np.int32)

    class Shrinks:
        def __len__(self):
            return 200

        def tolist(self):
            logits.resize((1, 1), refcheck=False)
            return [1.0] * 200

    with pytest.raises(ValueError):
        grammask.choose_tokens(logits, mask, temperature=Shrinks())

    class Late(np.ndarray):
        """Shrinks as soon as somebody has asked for its shape."""

        @property
        def shape(self):
            shape = super().shape
            self.resize((1, 1), refcheck=False)
            return shape

    with pytest.raises(ValueError):
        grammask.choose_tokens(Late((200, 2000), np.float32), mask)


def function(name):
    parameters = {"type": "object", "properties": {"a": {"type": "integer"}}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    ({"max_reasoning_chars": 3}, "abcdefgh"),
    ({"reasoning": "empty"}, "x</think>"),
    ({"reasoning": "disabled"}, None),
    ({"tool_choice": "none"}, None),
    ({"parallel_tool_calls": False}, None),
    ({"response_format": {"type": "json_object"}}, None),
    ({"spelling": "any"}, None),
    ({"any_order": True}, None),
    ({"max_whitespace_cnt": 2}, None),
    ({"exclude_special_tokens": False}, None),
]


@pytest.mark.parametrize(("options", "refused"), TOOLS, ids=lambda value: str(value)[:40])
def test_options_of_tools(compiler, options, refused):
    pytest.importorskip("pydantic")
    plain = grammask.get_model_structural_tag("qwen_3", [function("f")])
    other = grammask.get_model_structural_tag("qwen_3", [function("f")], **options)
    assert other != plain
    if refused is not None:
        assert grammask.GrammarMatcher(compiler.compile_structural_tag(plain)).accept_string(refused)
        assert not grammask.GrammarMatcher(compiler.compile_structural_tag(other)).accept_string(refused)


def test_options_of_vocabularies(tmp_path):
    from_list = grammask.TokenizerInfo([b"a", b"<x>", b"</s>"], special_token_ids=[1, 2])
    assert from_list.special_token_ids == [1] and from_list.stop_token_ids == [2]
    for bound in ({"max_tokens": 2}, {"max_bytes": 3}):
        with pytest.raises(grammask.TokenizerError):
            grammask.TokenizerInfo([b"a", b"<x>", b"</s>"], **bound)
    path = tmp_path / "tokenizer.json"
    vocab = {"\u0120a": 0, "<x>": 1, "</s>": 2}
    path.write_text(json.dumps({"model": {"type": "BPE", "vocab": vocab, "merges": []}, "added_tokens": []}))
    read = grammask.TokenizerInfo.from_file
    plain = read(path, stop_token_ids=[2], vocab_type=grammask.VocabType.RAW)
    assert plain.decoded_vocab[:2] == ["\u0120a".encode(), b"<x>"] and plain.special_token_ids == []
    level = read(path, stop_token_ids=[2], vocab_type=grammask.VocabType.BYTE_LEVEL, vocab_size=5)
    assert level.decoded_vocab[0] == b" a" and level.vocab_size == 5
    special = read(path, stop_token_ids=2, vocab_type=grammask.VocabType.RAW, special_token_ids=[1])
    assert special.special_token_ids == [1]
    named = read(path, stop_token_ids=[2], vocab_type=grammask.VocabType.RAW, special_tokens={"<call>": 3})
    assert named.decoded_vocab[3] == b"<call>"
    for bound in ({"max_tokens": 2}, {"max_bytes": 3}):
        with pytest.raises(grammask.TokenizerError):
            read(path, stop_token_ids=[2], vocab_type=grammask.VocabType.RAW, **bound)
    with pytest.raises(TypeError, match="unexpected keyword"):
        read(path, width=3)


def test_waiting_for_another_thread_ends_at_the_deadline(info):
    compiler = grammask.GrammarCompiler(info)
    entered, release = threading.Event(), threading.Event()
    # The same source at the same time: the second waits for the first, and no longer than it may.
    schema = big_schema(5)

    def first():
        entered.set()
        try:
            compiler.compile_json_schema(schema, interrupt=grammask.Interrupt(timeout=20))
        except grammask.IndeterminateError:
            pass
        release.set()

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait()
    start = time.monotonic()
    try:
        compiler.compile_json_schema(schema, interrupt=grammask.Interrupt(timeout=0.05))
    except grammask.IndeterminateError:
        pass
    assert time.monotonic() - start < 5
    thread.join()
    assert release.is_set()
