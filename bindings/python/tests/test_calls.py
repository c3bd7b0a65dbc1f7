"""Calls that users of xgrammar make."""

import copy
import math

import numpy as np
import pytest

import grammask


def matcher(compiler, **options):
    return grammask.GrammarMatcher(compiler.compile_regex("(ab)*c?"), **options)


def test_an_older_tag_with_a_model_as_its_schema(compiler):
    pydantic = pytest.importorskip("pydantic")

    class Arguments(pydantic.BaseModel):
        a: int

    item = grammask.StructuralTagItem(begin="<f>", schema=Arguments, end="</f>")
    for tag in (item, {"begin": "<f>", "schema": Arguments, "end": "</f>"}):
        text = grammask.GrammarMatcher(compiler.compile_structural_tag([tag], ["<f"]))
        assert text.accept_string('x<f>{"a":1}</f>y')
        assert not grammask.GrammarMatcher(compiler.compile_structural_tag([tag], ["<f"])).accept_string('<f>{"a":t')
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


class Small:
    """A tokenizer of transformers with an id past the model's logits."""

    eos_token_id = 1

    def get_vocab(self):
        return {"a": 0, "</s>": 1, "beyond": 2}

    @property
    def backend_tokenizer(self):
        return self

    def to_str(self):
        return "{}"


def test_a_tokenizer_larger_than_the_logits():
    with pytest.warns(grammask.GrammaskWarning, match="ids up to 2"):
        info = grammask.TokenizerInfo.from_huggingface(Small(), vocab_size=2)
    assert info.vocab_size == 2 and info.stop_token_ids == [1] and info.decoded_vocab == [b"a", b"</s>"]


def test_equal_grammars_have_equal_hashes(compiler, info):
    compiled = compiler.compile_json_schema({"type": "object", "properties": {"a": {"type": "integer"}}})
    again = grammask.CompiledGrammar.deserialize_json(compiled.serialize_json(), info)
    for other in (again, copy.deepcopy(compiled)):
        assert other == compiled and hash(other) == hash(compiled)
