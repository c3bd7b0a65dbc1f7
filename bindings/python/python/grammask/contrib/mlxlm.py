"""A logits processor for ``mlx_lm``.

Importing and making one needs nothing; it is called with the arrays of ``mlx``.
"""

from __future__ import annotations

from typing import Any

from .._native import CompiledGrammar, GrammarMatcher
from ..bitmask import allocate_token_bitmask
from ..kernels.apply_token_bitmask_mlx import apply_token_bitmask_mlx

__all__ = ["XGrammarLogitsProcessor"]


class XGrammarLogitsProcessor:
    """Keeps one text of ``mlx_lm.generate`` within a grammar.

    Pass it in ``logits_processors=[...]``. One instance serves one text; :meth:`reset` makes it ready for the next.

    Parameters
    ----------
    grammar : CompiledGrammar
        What the text has to obey.
    max_rollback_tokens : int
        Taken for the sake of xgrammar's signature; any number of tokens can be rolled back.
    """

    def __init__(self, grammar: CompiledGrammar, max_rollback_tokens: int = 16) -> None:
        self.max_rollback_tokens = max_rollback_tokens
        self.matcher = GrammarMatcher(grammar)
        self.vocab_size = grammar.tokenizer_info.vocab_size
        self._bitmask: Any = allocate_token_bitmask(1, self.vocab_size, backend="numpy")
        self._read: int | None = None

    def reset(self) -> None:
        """Begins a new text."""
        self.matcher.reset()
        self._read = None

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``tokens`` of shape (length,), the prompt among them, and ``logits`` of shape (..., vocab); returns logits
        in which what the grammar forbids is minus infinity. What was there at the first call is the prompt.
        """
        length = int(tokens.shape[-1])
        if self._read is None:
            self._read = length
        for token in tokens[self._read :].tolist():
            if not self.matcher.is_terminated() and not self.matcher.accept_token(token):
                raise RuntimeError(f"token {token} was sampled though the mask forbids it")
        self._read = length
        if self.matcher.is_terminated() or not self.matcher.fill_next_token_bitmask(self._bitmask):
            return logits
        return apply_token_bitmask_mlx(self._bitmask, logits, int(logits.shape[-1]))
