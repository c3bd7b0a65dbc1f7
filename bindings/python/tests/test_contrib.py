"""Logits processors, over arrays that only look like those of their frameworks."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import grammask
from grammask.contrib import llama_cpp
from grammask.contrib.mlxlm import XGrammarLogitsProcessor

from conftest import STOP, VOCAB_SIZE


@pytest.fixture
def mlx(monkeypatch: pytest.MonkeyPatch) -> None:
    core = types.ModuleType("mlx.core")
    core.array = np.asarray  # type: ignore[attr-defined]
    core.where = np.where  # type: ignore[attr-defined]
    package = types.ModuleType("mlx")
    package.core = core  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlx", package)
    monkeypatch.setitem(sys.modules, "mlx.core", core)


def allowed(logits: np.ndarray) -> list[int]:
    return [int(token) for token in np.flatnonzero(np.isfinite(logits[0]))]


@pytest.mark.usefixtures("mlx")
def test_mlx_texts_obey_their_grammar(compiler: grammask.GrammarCompiler):
    processor = XGrammarLogitsProcessor(compiler.compile_grammar('root ::= "a" ("b" | "c")'))
    # Wider than the vocabulary, as last layers are.
    logits = np.zeros((1, VOCAB_SIZE + 2), dtype=np.float32)
    for _ in range(2):
        prompt = [ord("x"), ord("y")]
        assert allowed(processor(np.array(prompt), logits)) == [ord("a")]
        assert allowed(processor(np.array([*prompt, ord("a")]), logits)) == [ord("b"), ord("c")]
        text = np.array([*prompt, ord("a"), ord("b")])
        assert allowed(processor(text, logits)) == [STOP]
        # Asked again without a new token it says the same.
        assert allowed(processor(text, logits)) == [STOP]
        assert processor(np.array([*text, STOP]), logits) is logits
        processor.reset()
    assert (logits == 0).all()


@pytest.mark.usefixtures("mlx")
def test_mlx_rows_under_the_name_of_the_kernel():
    from grammask.kernels.apply_token_bitmask_mlx import apply_token_bitmask_mlx

    keep = np.zeros((2, 64), bool)
    keep[0, 3] = keep[1, [0, 40]] = True
    mask = grammask.testing.bool_mask_to_bitmask(keep)
    logits = np.ones((2, 70), np.float32)
    for size, width in ((70, 70), (64, 64), (41, 41), (99, 70)):
        masked = apply_token_bitmask_mlx(mask, logits, size)
        assert masked.shape == (2, width)
        assert [list(np.flatnonzero(np.isfinite(row))) for row in masked] == [[3], [0, 40]]
    assert (logits == 1).all()


@pytest.mark.usefixtures("mlx")
def test_mlx_tokens_that_were_forbidden_are_an_error(compiler: grammask.GrammarCompiler):
    processor = XGrammarLogitsProcessor(compiler.compile_grammar('root ::= "a"'), max_rollback_tokens=4)
    logits = np.zeros((1, VOCAB_SIZE), dtype=np.float32)
    processor(np.array([ord("x")]), logits)
    with pytest.raises(RuntimeError, match="forbids"):
        processor(np.array([ord("x"), ord("b")]), logits)


class Rows:
    """As much of a torch tensor as the processor for transformers needs, over an array."""

    def __init__(self, array) -> None:
        self.array = np.asarray(array)
        self.device = types.SimpleNamespace(type="cpu")

    @property
    def shape(self):
        return self.array.shape

    def __getitem__(self, key):
        return Rows(self.array[key])

    def __setitem__(self, key, value):
        self.array[key] = value

    def __eq__(self, other):
        return Rows(self.array == other.array)

    def __int__(self):
        return int(self.array)

    def __bool__(self):
        return bool(self.array)

    def all(self):
        return Rows(self.array.all())

    def clone(self):
        return Rows(self.array.copy())

    def cpu(self):
        return self

    def numpy(self):
        return self.array

    def tolist(self):
        return self.array.tolist()


@pytest.fixture
def hf(monkeypatch: pytest.MonkeyPatch):
    """The processor's module, with numpy's arrays in the place of torch's."""
    from grammask.contrib import hf

    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))

    def allocate(rows, size, *, backend):
        return grammask.allocate_token_bitmask(rows, size, backend="numpy")

    def apply(scores, bitmask, *, vocab_size):
        grammask.apply_token_bitmask_inplace(scores.array, bitmask, vocab_size=vocab_size)

    monkeypatch.setattr(hf, "allocate_token_bitmask", allocate)
    monkeypatch.setattr(hf, "apply_token_bitmask_inplace", apply)
    return hf


def rows_of(texts: list[str]) -> Rows:
    return Rows([[ord(letter) for letter in text] for text in texts])


def next_of(processor, texts: list[str]) -> list[str]:
    scores = processor(rows_of(texts), Rows(np.zeros((len(texts), VOCAB_SIZE), np.float32)))
    return ["".join(chr(token) for token in np.flatnonzero(np.isfinite(row)) if token < 256) for row in scores.array]


def test_logits_that_are_wider_than_the_vocabulary(hf, compiler: grammask.GrammarCompiler):
    grammar = compiler.compile_grammar('root ::= "a" ("b" | "c")')
    scores = Rows(np.zeros((2, VOCAB_SIZE + 100), np.float32))
    assert hf.LogitsProcessor((grammar,))(rows_of(["p", "q"]), scores) is scores
    assert [allowed(row[None]) for row in scores.array] == [[ord("a")]] * 2
    wide = llama_cpp.LogitsProcessor(grammar)(np.array([1]), np.zeros(VOCAB_SIZE + 100, np.float32))
    assert allowed(wide[None]) == [ord("a")]
    narrow = Rows(np.zeros((1, 200), np.float32))
    hf.LogitsProcessor(grammar)(rows_of(["p"]), narrow)
    assert allowed(narrow.array) == [ord("a")]
    for wrong in (None, (grammar, "a")):
        with pytest.raises(TypeError, match="CompiledGrammar"):
            hf.LogitsProcessor(wrong)


def test_rows_of_beam_search_are_known_by_their_ids(hf, compiler: grammask.GrammarCompiler):
    grammars = [compiler.compile_grammar(f'root ::= "a" ("b" "{end}" | "c" "{end}")') for end in "xy"]
    processor = hf.LogitsProcessor(grammars)
    assert (processor.prefilled, processor.batch_size) == (False, 0)
    assert next_of(processor, ["p", "p", "p", "p"]) == ["a"] * 4
    assert (processor.prefilled, processor.batch_size) == (True, 4)
    # Two prompts that are alike, two beams each. The second beam had nothing allowed left.
    assert next_of(processor, ["pa", "pq", "pa", "pq"]) == ["bc", "", "bc", ""]
    assert next_of(processor, ["pac", "pab", "pab", "pac"]) == ["x", "x", "y", "y"]
    assert next_of(processor, ["pabx", "pacx", "pacy", "pacy"]) == [""] * 4
    with pytest.raises(RuntimeError, match="continues no row"):
        next_of(processor, ["pabx?", "qacx?", "pacy?", "pacy?"])


def test_rows_that_have_ended_go_on_by_stop_tokens(hf, compiler: grammask.GrammarCompiler):
    stop = compiler.tokenizer_info.stop_token_ids
    processor = hf.LogitsProcessor(compiler.compile_grammar('root ::= "a"'))
    ids = [ord("p")]
    for token in (ord("a"), stop[0], stop[0], stop[0]):
        scores = processor(Rows([ids]), Rows(np.zeros((1, VOCAB_SIZE), np.float32)))
        assert allowed(scores.array) == ([token] if token == ord("a") else stop)
        ids.append(token)


def test_rows_that_are_not_followed_are_refused(hf, compiler: grammask.GrammarCompiler):
    grammar = compiler.compile_grammar('root ::= "ab"')

    class Own(hf.LogitsProcessor):
        pass

    processor = Own(grammar)
    next_of(processor, ["p"])
    with pytest.raises(RuntimeError, match="forbids"):
        next_of(processor, ["pb"])
    with pytest.raises(RuntimeError, match="continuous batching"):
        processor.supports_continuous_batching  # noqa: B018
    with pytest.raises(RuntimeError, match="2 grammars for 3 rows"):
        next_of(hf.LogitsProcessor([grammar] * 2), ["p"] * 3)
    processor = hf.LogitsProcessor(grammar)
    next_of(processor, ["p"])
    with pytest.raises(RuntimeError, match="now has 2"):
        next_of(processor, ["pa", "pa"])


def test_llama_texts_obey_their_grammar(compiler: grammask.GrammarCompiler):
    processor = llama_cpp.LogitsProcessor(compiler.compile_grammar('root ::= "a" ("b" | "c")'))
    # As llama-cpp-python has them: a field of records, and the ids of all tokens so far.
    records = np.zeros(VOCAB_SIZE, dtype=[("id", np.intc), ("logit", np.single), ("p", np.single)])
    for _ in range(2):
        prompt = [ord("x"), ord("y")]
        for text, expected in [("", [ord("a")]), ("a", [ord("b"), ord("c")]), ("ab", [STOP]), ("ab", [STOP])]:
            ids = np.array([*prompt, *text.encode()], dtype=np.intc)
            scores = processor(ids, records["logit"])
            assert scores.dtype == np.float32 and scores.shape == (VOCAB_SIZE,)
            assert allowed(scores[None]) == expected
        ended = np.array([*prompt, ord("a"), ord("b"), STOP])
        assert processor(ended, records["logit"]) is not None and processor.matcher.is_terminated()
        processor.reset()
    assert (records["logit"] == 0).all()
    processor(np.array([ord("x")]), records["logit"])
    with pytest.raises(RuntimeError, match="forbids"):
        processor(np.array([ord("x"), ord("c")]), records["logit"])
