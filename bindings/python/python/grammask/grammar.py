"""Grammars, under xgrammar's module name."""

from __future__ import annotations

from ._native import Grammar
from .structural_tag import StructuralTag, StructuralTagItem

__all__ = ["Grammar", "StructuralTag", "StructuralTagItem"]
