"""Masks onto logits in CPU memory, under xgrammar's module name."""

from __future__ import annotations

from typing import Any

from ..bitmask import apply_token_bitmask_inplace

__all__ = ["apply_token_bitmask_inplace_cpu"]


def apply_token_bitmask_inplace_cpu(logits: Any, bitmask: Any, vocab_size: int | None = None, indices: Any = None) -> None:
    """``grammask.apply_token_bitmask_inplace`` with ``backend="cpu"``."""
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices, backend="cpu")
