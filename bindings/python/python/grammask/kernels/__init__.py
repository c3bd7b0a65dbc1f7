"""Masks onto the logits of one framework, under the names of xgrammar's modules.

All but that of MLX lead to ``grammask.apply_token_bitmask_inplace``. Importing them needs no framework.
"""

from __future__ import annotations

from .apply_token_bitmask_inplace_cpu import apply_token_bitmask_inplace_cpu
from .apply_token_bitmask_inplace_cuda import apply_token_bitmask_inplace_cuda
from .apply_token_bitmask_inplace_torch import apply_token_bitmask_inplace_torch
from .apply_token_bitmask_inplace_torch_compile import apply_token_bitmask_inplace_torch_compile
from .apply_token_bitmask_inplace_triton import apply_token_bitmask_inplace_triton
from .apply_token_bitmask_mlx import apply_token_bitmask_mlx

__all__ = [
    "apply_token_bitmask_inplace_cpu",
    "apply_token_bitmask_inplace_cuda",
    "apply_token_bitmask_inplace_torch",
    "apply_token_bitmask_inplace_torch_compile",
    "apply_token_bitmask_inplace_triton",
    "apply_token_bitmask_mlx",
]
