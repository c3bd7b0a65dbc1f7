"""Matchers and bitmasks, under xgrammar's module name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import BatchGrammarMatcher, CompiledGrammar, GrammarMatcher
from .bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)

if TYPE_CHECKING:
    from .bitmask import bitmask_dtype

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "GrammarMatcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


def __getattr__(name: str) -> Any:
    if name == "bitmask_dtype":
        from . import bitmask

        return bitmask.bitmask_dtype
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
