"""Tokenizers, under xgrammar's module name."""

from __future__ import annotations

from ._native import TokenizerInfo
from ._support import VocabType

__all__ = ["TokenizerInfo", "VocabType"]
