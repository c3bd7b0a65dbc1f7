"""Calls that make no sense: each an ordinary exception, and everything as it was."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from conftest import STOP, VOCAB_SIZE

import grammask

EXPECTED = (TypeError, ValueError, RuntimeError, OverflowError, IndexError, AttributeError, ImportError, OSError)


class Liar:
    """Claims to be what it is not."""

    shape = (1, 1 << 40)
    dtype = "torch.int32"

    def __init__(self, address=0):
        self.address = address

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return True

    def tolist(self):
        return ["a"]

    def __index__(self):
        raise KeyError("no index")


JUNK = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    2**80,
    -(2**80),
    1.5,
    float("nan"),
    "",
    "text",
    "\ud800",
    "\0",
    b"",
    b"\xff",
    [],
    [[]],
    [None],
    [-1],
    [2**40],
    {},
    {"type": 3},
    (),
    object(),
    Liar(),
    int,
    range(3),
    np.zeros(0),
    np.zeros((1, 9), np.int32),
    np.zeros((2, 9), np.float64),
    np.array(3),
    np.int64(-5),
]


def objects(info, compiler):
    """One of everything, fresh."""
    compiled = compiler.compile_grammar('root ::= "ab"* "c"?')
    return [
        grammask.GrammarMatcher(compiled),
        grammask.BatchGrammarMatcher(1),
        compiled,
        grammask.Grammar.from_regex("a"),
        compiler,
        info,
    ]


def methods(value):
    hidden = {"__class__", "__new__", "__init_subclass__", "__subclasshook__", "__dir__", "__getstate__", "__sizeof__"}
    names = [name for name in dir(value) if name not in hidden and not name.startswith("_")]
    return [name for name in names if callable(getattr(value, name)) and name != "fill_next_token_bitmask_ptr"]


@pytest.mark.parametrize("seed", range(6))
def test_arguments_of_any_kind(info, compiler, seed):
    rng = random.Random(seed)
    warnings.simplefilter("ignore")
    for value in objects(info, compiler):
        for name in methods(value):
            for _ in range(25):
                arguments = [rng.choice(JUNK) for _ in range(rng.randrange(5))]
                try:
                    getattr(value, name)(*arguments)
                except (*EXPECTED, KeyError) as error:
                    assert not isinstance(error, KeyError) or "no index" in str(error)
    for function in (
        grammask.TokenizerInfo,
        grammask.GrammarCompiler,
        grammask.GrammarMatcher,
        grammask.BatchGrammarMatcher,
        grammask.apply_token_bitmask_inplace,
        grammask.get_bitmask_shape,
        grammask.reset_token_bitmask,
        grammask.normalize_tool_choice,
        grammask.set_max_recursion_depth,
    ):
        for _ in range(60):
            arguments = [rng.choice(JUNK) for _ in range(rng.randrange(4))]
            try:
                function(*arguments)
            except EXPECTED:
                pass
    grammask.set_max_recursion_depth(10000)


def test_a_matcher_after_its_end(compiler):
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE)
    text = grammask.GrammarMatcher(compiler.compile_grammar('root ::= "a"'))
    assert text.accept_token(ord("a")) and text.accept_token(STOP) and text.is_terminated()
    for call in (
        lambda: text.fill_next_token_bitmask(mask),
        text.find_jump_forward_string,
        lambda: text.rollback(3),
        lambda: grammask.BatchGrammarMatcher(1).batch_fill_next_token_bitmask([text], mask),
    ):
        with pytest.raises(RuntimeError):
            call()
    for call in (lambda: text.accept_token(ord("a")), lambda: text.accept_token(STOP), lambda: text.accept_string("a")):
        with pytest.warns(grammask.GrammaskWarning):
            assert not call()
    assert text.validate_tokens([ord("a")]) == 0 and text.explain_rejection(ord("a")).reason == "terminated"
    assert (np.asarray(mask) == -1).all() and text.is_terminated()
    text.rollback()
    assert text.is_completed() and not text.is_terminated()


def test_tokenizers_with_holes():
    """Ids that no token has, twins, and stop tokens among them."""
    tokens = ["a", "", "b", "", "a", "", "</s>", ""]
    info = grammask.TokenizerInfo(tokens, vocab_size=70)
    assert info.special_token_ids == [1, 3, 5, *range(7, 70)] and info.decoded_vocab[69] == b""
    compiled = grammask.GrammarCompiler(info).compile_regex("ab|b")
    text = grammask.GrammarMatcher(compiled)
    mask = grammask.allocate_token_bitmask(1, 70, backend="numpy")
    text.fill_next_token_bitmask(mask)
    assert mask[0].tolist() == [0b10101, 0, 0], "twins are allowed together, holes never"
    for hole in (1, 7, 69):
        with pytest.warns(grammask.GrammaskWarning):
            assert not text.accept_token(hole)
    assert text.accept_token(4) and text.accept_token(2) and text.accept_token(6) and text.is_terminated()
    own = grammask.GrammarMatcher(compiled, override_stop_tokens=[3])
    assert own.accept_string("b") and own.accept_token(3), "a hole may end a text if the request says so"
    for wrong in (1.5, None, "a", [1], np.zeros(2, np.int64), 2**70):
        with pytest.raises((TypeError, OverflowError)):
            text.accept_token(wrong)


def test_failed_batches_leave_the_rest(compiler):
    good = grammask.GrammarMatcher(compiler.compile_regex("ab"))
    ended = grammask.GrammarMatcher(compiler.compile_regex("a"))
    assert ended.accept_token(ord("a")) and ended.accept_token(STOP)
    mask = grammask.allocate_token_bitmask(3, VOCAB_SIZE, backend="numpy")
    batch = grammask.BatchGrammarMatcher(2)
    with pytest.raises(RuntimeError):
        batch.batch_fill_next_token_bitmask([ended, good], mask)
    single = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    good.fill_next_token_bitmask(single)
    assert (mask[1] == single[0]).all() and (mask[2] == -1).all()
    for matchers, rows in (([good], [3]), ([good], [-1]), ([good, ended], [0]), (["x"], None), ([None], [0]), (3, None)):
        with pytest.raises((RuntimeError, TypeError)):
            batch.batch_fill_next_token_bitmask(matchers, mask, rows)
    for shape in ((3, 8), (3, 10), (27,)):
        with pytest.raises(RuntimeError):
            batch.batch_fill_next_token_bitmask([good], np.zeros(shape, np.int32))
    with pytest.raises(RuntimeError):
        batch.batch_fill_next_token_bitmask([good], mask.astype(np.int64))


def test_addresses_that_no_memory_has(compiler):
    text = grammask.GrammarMatcher(compiler.compile_regex("a"))
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    words = mask.shape[1]
    for index in (2**62, 2**63 - 1, 2**62 // words):
        with pytest.raises(grammask.BitmaskError, match=f"no memory has a row {index}"):
            text.fill_next_token_bitmask_ptr(mask.ctypes.data, words, index)
    assert text.fill_next_token_bitmask_ptr(mask.ctypes.data, words, 0) and mask.any()


def test_messages_name_the_mistake(compiler, tmp_path):
    for choices, kind in (([1], "int"), (["a", b"b"], "bytes")):
        with pytest.raises(TypeError, match=rf"`choices\[{len(choices) - 1}\]` must be a str, not {kind}"):
            compiler.compile_choices(choices)
    with pytest.raises(grammask.GrammaskError, match=r"`choices\[0\]` holds half of a surrogate pair"):
        compiler.compile_choices(["\ud800"])
    with pytest.raises(grammask.GrammaskError, match="`root_rule_name` holds half of a surrogate pair"):
        compiler.compile_grammar('root ::= "a"', root_rule_name="\ud800")
    with pytest.raises(ValueError, match="logits of dtype float64 are not supported"):
        grammask.choose_tokens(np.zeros((1, 3)), np.full((1, 1), -1, np.int32))
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    for choice in ("bogus", 5, []):
        with pytest.raises(ValueError, match='is "auto", "none", "required", or an object'):
            grammask.normalize_tool_choice(tools, choice)
    with pytest.raises(FileNotFoundError) as raised:
        grammask.TokenizerInfo.from_file(str(tmp_path / "none"))
    assert raised.value.filename == str(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file") as raised:
        grammask.GrammarCompiler(compiler.tokenizer_info, cache_dir=str(tmp_path / "file" / "inner"))
    assert raised.value.filename == str(tmp_path / "file" / "inner")
    with pytest.raises(ValueError, match="recursion depth"):
        grammask.config.set_max_recursion_depth(True)


def test_a_tokenizer_is_no_vocabulary(compiler):
    class Tokenizer:
        pass

    with pytest.raises(TypeError, match="from_huggingface"):
        grammask.TokenizerInfo(Tokenizer())
    text = compiler.compile_regex("a").serialize_json()
    with pytest.raises(ValueError, match="from_huggingface"):
        grammask.CompiledGrammar.deserialize_json(text, Tokenizer())


def test_whitespace_around_a_part_is_refused(compiler):
    for compile in (
        lambda: compiler.compile_lark('start: %json {"type": "integer"}', json_options={"around_root": 1}),
        lambda: compiler.compile_structural_tag(
            {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {}}},
            json_options={"around_root": 1},
        ),
    ):
        with pytest.raises(grammask.InvalidOptionError, match="around_root"):
            compile()
    inner = {"around_root": 0}
    assert compiler.compile_lark('start: %json {"type": "integer"}', json_options=inner)
