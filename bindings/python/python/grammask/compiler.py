"""Compilers and compiled grammars, under xgrammar's module name."""

from __future__ import annotations

from ._native import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo

__all__ = ["CompiledGrammar", "Grammar", "GrammarCompiler", "TokenizerInfo"]
