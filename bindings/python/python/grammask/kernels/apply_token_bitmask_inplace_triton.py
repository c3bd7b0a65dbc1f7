"""Masks onto logits on a CUDA device, under xgrammar's module name."""

from __future__ import annotations

from typing import Any

from ..bitmask import apply_token_bitmask_inplace

__all__ = ["apply_token_bitmask_inplace_triton"]


def apply_token_bitmask_inplace_triton(logits: Any, bitmask: Any, vocab_size: int | None = None, indices: Any = None) -> None:
    """``grammask.apply_token_bitmask_inplace`` with ``backend="triton"``."""
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices, backend="triton")
