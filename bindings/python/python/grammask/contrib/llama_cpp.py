"""A logits processor for ``llama-cpp-python``. It needs numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import CompiledGrammar, GrammarMatcher
from ..bitmask import allocate_token_bitmask, apply_token_bitmask_inplace

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Keeps one text of ``llama_cpp.Llama`` within a grammar.

    Pass it in ``logits_processor=LogitsProcessorList([...])``. One instance serves one text; :meth:`reset` makes it
    ready for the next.

    Parameters
    ----------
    grammar : CompiledGrammar
        The grammar of the text. ``TokenizerInfo.from_file`` reads the vocabulary from the model's GGUF file.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self.matcher = GrammarMatcher(grammar)
        self._vocab_size = grammar.tokenizer_info.vocab_size
        self._bitmask: Any = allocate_token_bitmask(1, self._vocab_size, backend="numpy")
        self._read: int | None = None

    def reset(self) -> None:
        """Begins a new text."""
        self.matcher.reset()
        self._read = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``input_ids`` of shape (length,), the prompt among them, and ``scores`` of shape (vocab,); returns float32
        scores in which what the grammar forbids is minus infinity. The ids of the first call are the prompt.
        """
        length = len(input_ids)
        if self._read is None:
            self._read = length
        for token in input_ids[self._read :].tolist():
            if not self.matcher.is_terminated() and not self.matcher.accept_token(token):
                raise RuntimeError(f"token {token} was sampled though the mask forbids it")
        self._read = length
        if self.matcher.is_terminated() or not self.matcher.fill_next_token_bitmask(self._bitmask):
            return scores
        # The scores are a field of an array of records.
        allowed = np.array(scores, dtype=np.float32)[None]
        # Models often have more logits than their vocabularies have tokens.
        width = min(self._vocab_size, allowed.shape[1])
        apply_token_bitmask_inplace(allowed, self._bitmask, vocab_size=width)
        allowed[:, width:] = -np.inf
        return allowed[0]
