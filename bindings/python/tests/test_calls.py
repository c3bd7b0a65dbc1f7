"""Calls that users of xgrammar make."""

import copy
import itertools
import json
import math
import pickle

import numpy as np
import pytest

import grammask
from grammask.testing import _is_grammar_accept_string as accepts


def matcher(compiler, **options):
    return grammask.GrammarMatcher(compiler.compile_regex("(ab)*c?"), **options)


def test_an_older_tag_with_a_model_as_its_schema(compiler):
    pydantic = pytest.importorskip("pydantic")

    class Arguments(pydantic.BaseModel):
        a: int

    item = grammask.StructuralTagItem(begin="<f>", schema=Arguments, end="</f>")
    made = grammask.StructuralTagItem(begin="<f>", schema=Arguments(a=1), end="</f>")
    for tag in (item, made, {"begin": "<f>", "schema": Arguments, "end": "</f>"}):
        text = grammask.GrammarMatcher(compiler.compile_structural_tag([tag], ["<f"]))
        assert text.accept_string('x<f>{"a":1}</f>y')
        assert not grammask.GrammarMatcher(compiler.compile_structural_tag([tag], ["<f"])).accept_string('<f>{"a":t')
    for wrong in (None, 5):
        with pytest.raises(ValueError):
            compiler.compile_structural_tag([{"begin": "<f>", "schema": wrong, "end": "</f>"}], ["<f"])
    grammar = grammask.Grammar.from_structural_tag([item], ["<f"])
    assert grammar == grammask.Grammar.from_structural_tag(
        [grammask.StructuralTagItem(begin="<f>", schema=Arguments.model_json_schema(), end="</f>")], ["<f"]
    )


def test_a_vocabulary_whose_texts_no_token_ends():
    info = grammask.TokenizerInfo([b"a", b"</s>"], stop_token_ids=[])
    assert info.stop_token_ids == [] and grammask.TokenizerInfo([b"a", b"</s>"]).stop_token_ids == [1]
    again = grammask.TokenizerInfo.from_vocab_and_metadata([b"a", b"</s>"], info.dump_metadata())
    assert again == info and again.stop_token_ids == []
    text = grammask.GrammarMatcher(
        grammask.GrammarCompiler(info).compile_regex("a</s>"), terminate_without_stop_token=True
    )
    assert text.accept_token(0) and text.accept_token(1) and text.is_terminated()


def test_temperatures(compiler):
    temperatures = np.full(3, 7.0, np.float32)
    warm = matcher(compiler, default_temperature=0.5)
    grammask.BatchGrammarMatcher.batch_fill_temperature([warm, matcher(compiler)], temperatures, [2, 0])
    assert temperatures.tolist() == [-1.0, 7.0, 0.5]
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="default_temperature"):
            matcher(compiler, default_temperature=wrong)


def test_rows_of_refused_drafts(compiler):
    tree = ([1, -1], [-1, -1], [0, ord("x")])
    for compat, word in ((False, 7), (True, 0)):
        rows = np.full(grammask.get_bitmask_shape(2, compiler.tokenizer_info.vocab_size), 7, np.int32)
        grammask.config.set_compat(compat)
        try:
            assert matcher(compiler).traverse_draft_tree(*tree, rows)
        finally:
            grammask.config.set_compat(False)
        assert (rows[0] != 7).any() and (rows[1] == word).all()


def test_stop_ids_that_the_vocabulary_lacks():
    tokens = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    for wrong in ([256, 999], [-1]):
        with pytest.raises(grammask.exception.TokenizerError, match="id"):
            grammask.TokenizerInfo(tokens, stop_token_ids=wrong)
        grammask.config.set_compat(True)
        with pytest.warns(grammask.GrammaskWarning, match="is no id of the vocabulary, which has 257"):
            known = grammask.TokenizerInfo(tokens, stop_token_ids=wrong)
        grammask.config.set_compat(False)
        assert known.stop_token_ids == [number for number in wrong if number == 256]


class Small:
    """A tokenizer of transformers with an id past the model's logits."""

    eos_token_id = 1

    def get_vocab(self):
        return {"a": 0, "</s>": 1, "beyond": 2}

    @property
    def backend_tokenizer(self):
        return self

    def to_str(self):
        return '{"model": {"type": "BPE", "vocab": {}, "merges": []}}'


def test_a_tokenizer_larger_than_the_logits():
    with pytest.warns(grammask.GrammaskWarning, match="ids up to 2"):
        info = grammask.TokenizerInfo.from_huggingface(Small(), vocab_size=2)
    assert info.vocab_size == 2 and info.stop_token_ids == [1] and info.decoded_vocab == [b"a", b"</s>"]
    whole = grammask.TokenizerInfo.from_huggingface(Small(), vocab_size=0)
    assert whole == grammask.TokenizerInfo.from_huggingface(Small()) and whole.vocab_size == 3


def test_equal_grammars_have_equal_hashes(compiler, info):
    compiled = compiler.compile_json_schema({"type": "object", "properties": {"a": {"type": "integer"}}})
    again = grammask.CompiledGrammar.deserialize_json(compiled.serialize_json(), info)
    for other in (again, copy.deepcopy(compiled)):
        assert other == compiled and hash(other) == hash(compiled)


def test_equal_grammars_have_equal_fingerprints(compiler, info):
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": {}}, "end": "</a>"}
    for compiled in (
        compiler.compile_json_schema({"type": "object", "properties": {"a": {"type": "string", "maxLength": 300}}}),
        compiler.compile_builtin_json_grammar(),
        compiler.compile_structural_tag({"type": "structural_tag", "format": tag}),
    ):
        text = compiled.serialize_json()
        again = grammask.CompiledGrammar.deserialize_json(text, info)
        assert again == compiled and hash(again) == hash(compiled) and again.fingerprint == compiled.fingerprint
        # Without its automata, or with damaged ones, the same grammar is compiled anew.
        for automata in ("", "AAAA", "no base64", 3, None):
            made = json.loads(text) | {"automata": automata}
            assert grammask.CompiledGrammar.deserialize_json(json.dumps(made), info) == compiled


def test_serialized_grammars_keep_their_backend_and_limits(info):
    limits = {"max_work_per_call": 300_000, "max_items_per_set": 1 << 20}
    compiler = grammask.GrammarCompiler(info, backend="pda", limits=limits)
    compiled = compiler.compile_regex("(a|b)*c")
    read, text = grammask.CompiledGrammar.deserialize_json, compiled.serialize_json()
    again = read(text, info)
    made = json.loads(text)
    anew = read(json.dumps(made | {"automata": ""}), info)
    for other, items in ((pickle.loads(pickle.dumps(compiled)), 1 << 20), (again, 100_000), (anew, 100_000)):
        assert other == compiled and other.backend == "pda" and accepts_text(other, "abc")
        assert other._limits() == compiled._limits() | {"max_items_per_set": items}
    # Texts of before say neither.
    old = {name: value for name, value in made.items() if name not in ("backend", "limits")}
    assert read(json.dumps(old), info).backend == "earley"
    tight = grammask.GrammarCompiler(info, limits={"max_work_per_call": 10}).compile_regex("(a|b)*c")
    for other in (tight, read(tight.serialize_json(), info)):
        with pytest.raises(grammask.IndeterminateError):
            grammask.GrammarMatcher(other).allowed_token_ids()
    wrongs = [{"backend": "ll"}, {"backend": 3}, {"limits": []}, {"limits": {"max_nothing": 1}}]
    for wrong in (*wrongs, {"limits": {"max_work_per_call": True}}, {"limits": {"max_work_per_call": -1}}):
        with pytest.raises(grammask.DeserializeFormatError, match="compiled grammar"):
            read(json.dumps(made | wrong), info)


def accepts_text(compiled, text):
    matcher = grammask.GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def test_text_that_ends_where_something_is_excluded():
    any_text = {"type": "any_text", "excludes": ["x"]}
    call = {"type": "tag", "begin": "<b>", "content": {"type": "const_string", "value": "1"}, "end": "</b>"}
    tags = {"type": "triggered_tags", "triggers": ["<b"], "tags": [call], "excludes": ["x"]}
    for content, more in ((any_text, "<b"), (tags, "<b>1</b>")):
        for end in ("", [""]):
            tag = {"type": "tag", "begin": "<a>", "content": content, "end": end}
            after = {"type": "const_string", "value": "xy"}
            whole = {"type": "sequence", "elements": [tag, after]}
            alone = grammask.Grammar.from_structural_tag({"type": "structural_tag", "format": tag})
            assert accepts(alone, f"<a>z{more}z") and not accepts(alone, "<a>zxz")
            followed = grammask.Grammar.from_structural_tag({"type": "structural_tag", "format": whole})
            assert accepts(followed, f"<a>z{more}xy") and not accepts(followed, "<a>zx")
    endless = {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": ""}
    with pytest.raises(grammask.InvalidStructuralTagError, match="unlimited"):
        grammask.Grammar.from_structural_tag({"type": "structural_tag", "format": endless})


def test_special_tokens_in_reasoning():
    pytest.importorskip("pydantic")
    text = "a<think>b</think>\n\nc"
    for excluded in (True, False):
        tag = grammask.get_model_structural_tag("qwen_3", [], exclude_special_tokens=excluded)
        assert accepts(grammask.Grammar.from_structural_tag(tag), text) != excluded
        # Llama writes no reasoning, and no marks of it.
        tag = grammask.get_model_structural_tag("llama", [], exclude_special_tokens=excluded)
        assert accepts(grammask.Grammar.from_structural_tag(tag), text) != excluded


def test_masks_without_any_token():
    info = grammask.TokenizerInfo([b"a", b"b", b"</s>"])
    compiled = grammask.GrammarCompiler(info).compile_grammar('root ::= "ac"')
    text = grammask.GrammarMatcher(compiled)
    assert text.accept_token(0)
    rows = grammask.allocate_token_bitmask(2, 3, backend="numpy")
    calls = [
        lambda: text.fill_next_token_bitmask(rows, 1),
        lambda: grammask.BatchGrammarMatcher(1).batch_fill_next_token_bitmask([text], rows, [1]),
        lambda: grammask.GrammarMatcher(compiled).traverse_draft_tree([1, -1], [-1, -1], [0, 0], rows),
    ]
    for call in calls:
        rows[:] = 7
        with pytest.raises(grammask.IndeterminateError, match="cannot spell"):
            call()
        assert rows[1, 0] == 7
        grammask.config.set_compat(True)
        with pytest.warns(grammask.GrammaskWarning, match="cannot spell"):
            call()
        grammask.config.set_compat(False)
        assert rows[1, 0] == 0


def whole(compiled, text):
    """Whether a text is one of a compiled grammar."""
    matcher = grammask.GrammarMatcher(compiled, terminate_without_stop_token=True)
    return matcher.accept_string(text) and matcher.is_terminated()


@pytest.mark.parametrize("any_order", [False, True])
def test_members_between_marks_are_counted(any_order):
    def marked(names):
        return "".join(f"<parameter={name}>x</parameter>" for name in names)

    names, string = "abcd", {"type": "string"}
    for low, high, required in itertools.product(range(4), [None, 0, 1, 2, 4], ["", "b"]):
        schema = {
            "type": "object",
            "properties": dict.fromkeys(names, string),
            "required": list(required),
            "additionalProperties": False,
            "minProperties": low,
        } | ({} if high is None else {"maxProperties": high})
        content = {"type": "json_schema", "style": "qwen_xml", "json_schema": schema, "any_order": any_order}
        tag = {"type": "structural_tag", "format": content}
        most = len(names) if high is None else high
        if max(low, len(required)) > most:
            with pytest.raises(grammask.GrammaskError):
                grammask.GrammarCompiler(BYTES).compile_structural_tag(tag)
            continue
        compiled = grammask.GrammarCompiler(BYTES).compile_structural_tag(tag)
        for size in range(len(names) + 1):
            for chosen in itertools.permutations(names, size):
                fits = low <= size <= most and set(required) <= set(chosen)
                fits = fits and (any_order or list(chosen) == sorted(chosen))
                assert whole(compiled, marked(chosen)) == fits, (schema, chosen)


@pytest.mark.parametrize("any_order", [False, True])
def test_members_of_free_names_between_marks_are_counted(any_order):
    def marked(names):
        return "".join(f"<parameter={name}>x</parameter>" for name in names)

    def compiled_of(**more):
        schema = {"type": "object", "additionalProperties": {"type": "string"}, **more}
        content = {"type": "json_schema", "style": "qwen_xml", "json_schema": schema, "any_order": any_order}
        tag = {"type": "structural_tag", "format": content}
        return grammask.GrammarCompiler(BYTES).compile_structural_tag(tag)

    some = [chosen for size in range(5) for chosen in itertools.product("abx", repeat=size)]
    for low, high, declared, required in itertools.product(range(4), [None, 0, 1, 2, 3], ["", "a", "ab"], ["", "a"]):
        bounds = {"minProperties": low} | ({} if high is None else {"maxProperties": high})
        names = {"properties": {name: {"type": "string"} for name in declared}, "required": list(required)}
        if max(low, len(required)) > (4 if high is None else high):
            continue
        # A required name that is not declared is one of its own; so is another member than it.
        if low > len(required) + 1:
            with pytest.raises(grammask.UnsupportedError, match="not told apart"):
                compiled_of(**names, **bounds)
            grammask.config.set_compat(True)
            with pytest.warns(grammask.GrammaskWarning, match="not told apart"):
                compiled = compiled_of(**names, **bounds)
            grammask.config.set_compat(False)
        else:
            compiled = compiled_of(**names, **bounds)
        known = sorted({*declared, *required})
        for chosen in some:
            own = [name for name in chosen if name in known]
            fits = low <= len(chosen) <= (len(chosen) if high is None else high)
            fits = fits and len(set(own)) == len(own) and set(required) <= set(own)
            if not any_order:
                fits = fits and list(chosen[: len(own)]) == own == sorted(own)
            assert whole(compiled, marked(chosen)) == fits, (low, high, declared, required, chosen)


BYTES = grammask.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"])


def test_batches_of_any_iterable(compiler):
    batch, mask = grammask.BatchGrammarMatcher(max_threads=1), grammask.allocate_token_bitmask(2, 259, backend="numpy")
    texts = [matcher(compiler), matcher(compiler)]
    batch.batch_fill_next_token_bitmask(iter(texts), mask, (row for row in (1, 0)))
    assert (mask[0] == mask[1]).all() and mask.any()
    assert batch.batch_accept_token((text for text in texts), iter([ord("a"), ord("b")])) == [True, False]
    assert batch.batch_accept_string(tuple(texts), iter([b"b", bytearray(b"ab")])) == [True, True]
    batch.batch_rollback(iter(texts), (1 for _ in texts))
    for wrong in ("ab", None, 5):
        with pytest.raises(TypeError):
            batch.batch_accept_string(texts, wrong)


def test_what_is_no_structure(compiler):
    for wrong in (None, 5, b"x"):
        with pytest.raises(TypeError, match="a structural tag is"):
            compiler.compile_structural_tag(wrong)
        with pytest.raises(ValueError, match="must be a Grammar or its text"):
            compiler.compile_grammar(wrong)
        with pytest.raises(ValueError, match="must be a CompiledGrammar"):
            grammask.GrammarMatcher(wrong)


def test_required_names_of_closed_objects(compiler):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}
    closed = {"any_whitespace": False, "separators": (",", ":")}
    for text, is_valid in [('{"a":"x","b":[1]}', True), ('{"b":null}', True), ('{"a":"x"}', False), ('{"b":1,"c":2}', False)]:
        read = grammask.GrammarMatcher(compiler.compile_json_schema(schema, **closed))
        assert (read.accept_string(text) and read.is_completed()) == is_valid, text
    with pytest.raises(grammask.InvalidSchemaError):
        compiler.compile_json_schema(schema | {"additionalProperties": False})


def test_arguments_that_contradict(compiler):
    for options in ({"separators": (" ; ", " = ")}, {"separators": (",", "")}, {"any_order": True, "key_order": "declared"}):
        with pytest.raises(grammask.GrammaskError):
            compiler.compile_json_schema({"type": "array"}, **options)
    compiler.compile_json_schema({"type": "array"}, any_order=True, key_order="any")
    compiler.compile_json_schema({"type": "array"}, any_order=False, key_order="required_first")


def test_reasons_are_true(compiler, info):
    text = grammask.GrammarMatcher(compiler.compile_grammar('root ::= "a"+'), override_stop_tokens=ord("a"))
    with pytest.raises(grammask.IndeterminateError, match="cannot spell any continuation"):
        text.fill_next_token_bitmask(grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy"))
    ended = grammask.GrammarMatcher(compiler.compile_grammar('root ::= "a"'), terminate_without_stop_token=True)
    assert ended.accept_string("a")
    with pytest.raises(grammask.MatcherError, match="the text has ended;"):
        ended.fill_next_token_bitmask(grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy"))
    nested = {"type": "sequence", "elements": [{"type": "any_text"}]}
    with pytest.raises(grammask.InvalidStructuralTagError, match="deeper than 1"):
        compiler.compile_structural_tag({"type": "structural_tag", "format": nested}, limits={"nesting": 1})
    for kind in (-1, 7, "RAW", 1 << 70):
        with pytest.raises((TypeError, grammask.TokenizerError)):
            grammask.TokenizerInfo(["a"], kind)
        read = json.loads(info.serialize_json()) | {"vocab_type": kind}
        with pytest.raises(grammask.DeserializeFormatError):
            grammask.TokenizerInfo.deserialize_json(json.dumps(read))
    with pytest.raises(TypeError, match="StructuralTagItem"):
        compiler.compile_structural_tag([None], ["<f"])
