"""Structural tags of models, under xgrammar's module name."""

from __future__ import annotations

from .structural_tag import (
    get_builtin_structural_tag,
    get_model_structural_tag,
    register_model_structural_tag,
)
from .tool_choice import normalize_tool_choice

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
]
