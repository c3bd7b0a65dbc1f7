"""A logits processor for ``transformers``.

Importing it needs nothing; making one needs torch. Where transformers is installed, the class is one of its
``LogitsProcessor``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .._native import CompiledGrammar, GrammarMatcher
from ..bitmask import allocate_token_bitmask, apply_token_bitmask_inplace

if TYPE_CHECKING:
    _Base = object
else:
    try:
        from transformers import LogitsProcessor as _Base
    except ImportError:
        _Base = object

__all__ = ["LogitsProcessor"]


def _bit(token: int) -> int:
    """The bit of a token in its word, as an int32 has it."""
    return 1 << token % 32 if token % 32 < 31 else -(1 << 31)


class LogitsProcessor(_Base):
    """Keeps every row of a ``generate()`` call within a grammar.

    Pass it in ``logits_processor=[...]``. One instance serves one call. Rows are recognised by their ids, so beam
    search may reorder, drop and repeat them. Assisted generation and continuous batching are refused.

    Parameters
    ----------
    compiled_grammar : CompiledGrammar or list of them
        One for all rows, or one a prompt; rows that belong to one prompt, as in beam search, follow one another.
    """

    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar]) -> None:
        importlib.import_module("torch")
        grammars = list(compiled_grammar) if isinstance(compiled_grammar, list | tuple) else [compiled_grammar]
        if not grammars:
            raise ValueError("there must be at least one grammar")
        for grammar in grammars:
            if not isinstance(grammar, CompiledGrammar):
                raise TypeError(f"a processor is made of CompiledGrammar, not of {type(grammar).__name__}")
        self.compiled_grammars = grammars
        self.matchers: list[GrammarMatcher] = []
        self.full_vocab_size = grammars[0].tokenizer_info.vocab_size
        self.token_bitmask: Any = None
        self.prefilled = False
        self.batch_size = 0
        self._ids: Any = None
        # Rows that beam search filled with a forbidden token, for want of allowed ones.
        self._lost: set[int] = set()

    @property
    def supports_continuous_batching(self) -> bool:
        # A mere False lets transformers go on without the processor.
        raise RuntimeError("continuous batching does not show whole rows to processors; use generate()")

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``input_ids`` of shape (batch, length), ``scores`` of shape (batch, vocab); returns the scores."""
        if self.prefilled:
            self._follow(input_ids)
        else:
            self._start(int(input_ids.shape[0]))
        self._ids = input_ids.clone()
        for row, matcher in enumerate(self.matchers):
            if row in self._lost:
                self.token_bitmask[row] = 0
            elif matcher.is_terminated():
                # Such rows are padded, or go on where `generate` waits for another token: by stop tokens alone.
                self.token_bitmask[row] = 0
                for token in matcher.stop_token_ids:
                    self.token_bitmask[row, token // 32] |= _bit(token)
            else:
                matcher.fill_next_token_bitmask(self.token_bitmask, row)
        on_device = self.token_bitmask.to(scores.device) if scores.device.type != "cpu" else self.token_bitmask
        # Models often have more logits than their tokenizers have tokens.
        width = min(self.full_vocab_size, int(scores.shape[-1]))
        apply_token_bitmask_inplace(scores, on_device, vocab_size=width)
        scores[:, width:] = float("-inf")
        return scores

    def _start(self, rows: int) -> None:
        if rows % len(self.compiled_grammars) != 0:
            raise RuntimeError(f"there are {len(self.compiled_grammars)} grammars for {rows} rows")
        self.prefilled, self.batch_size = True, rows
        self.matchers = [GrammarMatcher(self.compiled_grammars[self._prompt(row)]) for row in range(rows)]
        self.token_bitmask = allocate_token_bitmask(rows, self.full_vocab_size, backend="torch")

    def _prompt(self, row: int) -> int:
        """The number of the grammar that a row obeys."""
        return row * len(self.compiled_grammars) // self.batch_size

    def _follow(self, input_ids: Any) -> None:
        rows = int(input_ids.shape[0])
        if rows != self.batch_size:
            raise RuntimeError(f"the batch had {self.batch_size} rows and now has {rows}; use a new processor")
        before = input_ids[:, :-1]
        if before.shape != self._ids.shape or not bool((before == self._ids).all()):
            self._reorder(before)
        for row, token in enumerate(input_ids[:, -1].tolist()):
            matcher = self.matchers[row]
            if row in self._lost or matcher.is_terminated():
                continue
            if not self._was_allowed(row, token) or not matcher.accept_token(token):
                self._lost.add(row)
        for row in self._lost:
            # In beam search a row of the same prompt goes on; elsewhere nothing is left of the text.
            prompt = self._prompt(row)
            if all(other in self._lost for other in range(rows) if self._prompt(other) == prompt):
                token = int(input_ids[row, -1])
                raise RuntimeError(f"row {row}: token {token} was sampled though the mask forbids it")

    def _was_allowed(self, row: int, token: int) -> bool:
        return token < self.full_vocab_size and bool(int(self.token_bitmask[row, token // 32]) >> (token % 32) & 1)

    def _reorder(self, before: Any) -> None:
        """Gives each row the matcher of the row that it continues."""
        known = {self._key(row, ids): row for row, ids in enumerate(self._ids.cpu().numpy())}
        matchers, lost, taken, order = [], set(), set(), []
        for row, ids in enumerate(before.cpu().numpy()):
            found = known.get(self._key(row, ids))
            if found is None:
                raise RuntimeError(
                    f"row {row} continues no row of the call before; use a new processor for each generate(), and "
                    "no assisted generation"
                )
            if found in self._lost:
                lost.add(row)
            matchers.append(self.matchers[found].fork() if found in taken else self.matchers[found])
            taken.add(found)
            order.append(found)
        self.token_bitmask = self.token_bitmask[order]
        self.matchers, self._lost = matchers, lost

    def _key(self, row: int, ids: Any) -> tuple[int, bytes]:
        return self._prompt(row), ids.tobytes()
