"""Masks onto logits by torch's own operations, under xgrammar's module name."""

from __future__ import annotations

from typing import Any

from ..bitmask import apply_token_bitmask_inplace

__all__ = ["apply_token_bitmask_inplace_torch_compile"]


def apply_token_bitmask_inplace_torch_compile(logits: Any, bitmask: Any, vocab_size: int | None = None, indices: Any = None) -> None:
    """``grammask.apply_token_bitmask_inplace`` with ``backend="torch_compile"``."""
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices, backend="torch_compile")
