"""A logits processor for ``transformers``.

Importing it needs nothing; making one needs torch.
"""

from __future__ import annotations

import importlib
from typing import Any

from .._native import CompiledGrammar, GrammarMatcher
from ..bitmask import allocate_token_bitmask, apply_token_bitmask_inplace

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Keeps every row of a ``generate()`` call within a grammar.

    Pass it in ``logits_processor=[...]``. One instance serves one call.

    Parameters
    ----------
    compiled_grammar : CompiledGrammar or list of them
        One for all rows, or one a row.
    """

    # What transformers asks of processors: this one follows the rows of one call.
    supports_continuous_batching = False

    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar]) -> None:
        importlib.import_module("torch")
        grammars = compiled_grammar if isinstance(compiled_grammar, list) else [compiled_grammar]
        if not grammars:
            raise ValueError("there must be at least one grammar")
        self.compiled_grammars = grammars
        self.matchers: list[GrammarMatcher] = []
        self.full_vocab_size = grammars[0].tokenizer_info.vocab_size
        self.token_bitmask: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``input_ids`` of shape (batch, length), ``scores`` of shape (batch, vocab); returns the scores."""
        rows = int(input_ids.shape[0])
        if not self.matchers:
            self._start(rows)
        else:
            if rows != len(self.matchers):
                raise RuntimeError(f"the batch had {len(self.matchers)} rows and now has {rows}; use a new processor")
            self._accept(input_ids[:, -1].tolist())
        for row, matcher in enumerate(self.matchers):
            if not matcher.is_terminated():
                matcher.fill_next_token_bitmask(self.token_bitmask, row)
        on_device = self.token_bitmask.to(scores.device) if scores.device.type != "cpu" else self.token_bitmask
        apply_token_bitmask_inplace(scores, on_device)
        return scores

    def _start(self, rows: int) -> None:
        grammars = self.compiled_grammars * rows if len(self.compiled_grammars) == 1 else self.compiled_grammars
        if len(grammars) != rows:
            raise RuntimeError(f"there are {len(grammars)} grammars for {rows} rows")
        self.matchers = [GrammarMatcher(grammar) for grammar in grammars]
        self.token_bitmask = allocate_token_bitmask(rows, self.full_vocab_size, backend="torch")

    def _accept(self, tokens: list[int]) -> None:
        for row, (matcher, token) in enumerate(zip(self.matchers, tokens, strict=True)):
            if matcher.is_terminated():
                # Rows that are done are padded with whatever the caller pads with.
                self.token_bitmask[row] = -1
            elif not matcher.accept_token(token):
                raise RuntimeError(f"row {row}: token {token} was sampled though the mask forbids it")
