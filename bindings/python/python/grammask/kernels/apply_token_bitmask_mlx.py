"""Masks onto the logits of ``mlx``. Importing it needs nothing; it is called with the arrays of ``mlx``."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

__all__ = ["apply_token_bitmask_mlx"]


def apply_token_bitmask_mlx(bitmask: Any, logits: Any, vocab_size: int) -> Any:
    """``logits`` of shape (..., vocab) in which forbidden tokens are minus infinity, cut to ``vocab_size`` columns.

    ``bitmask`` is of shape (..., words), int32, one bit a token, the lowest first. Columns that the bitmask has no
    bits for are forbidden: a model's last layer is often wider than its vocabulary.
    """
    mx = importlib.import_module("mlx.core")
    words = np.ascontiguousarray(np.asarray(bitmask)).view(np.uint8)
    allowed = np.unpackbits(words, axis=-1, bitorder="little")
    width = min(vocab_size, int(logits.shape[-1]))
    missing = max(0, width - allowed.shape[-1])
    allowed = np.pad(allowed, [(0, 0)] * (allowed.ndim - 1) + [(0, missing)])[..., :width]
    return mx.where(mx.array(allowed.astype(bool)), logits[..., :width], float("-inf"))
