"""Logits processors, over arrays that only look like those of their frameworks."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import grammask
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
def test_mlx_tokens_that_were_forbidden_are_an_error(compiler: grammask.GrammarCompiler):
    processor = XGrammarLogitsProcessor(compiler.compile_grammar('root ::= "a"'), max_rollback_tokens=4)
    logits = np.zeros((1, VOCAB_SIZE), dtype=np.float32)
    processor(np.array([ord("x")]), logits)
    with pytest.raises(RuntimeError, match="forbids"):
        processor(np.array([ord("x"), ord("b")]), logits)
