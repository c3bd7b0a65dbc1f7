"""The base class of xgrammar's objects, for programs that ask whether something is one."""

from __future__ import annotations

from abc import ABC

from ._native import (
    BatchGrammarMatcher,
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
)

__all__ = ["XGRObject"]


class XGRObject(ABC):
    """What every object of the native half is an instance of."""


for _class in (BatchGrammarMatcher, CompiledGrammar, Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo):
    XGRObject.register(_class)
