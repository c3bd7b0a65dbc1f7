"""Compilers and compiled grammars, under xgrammar's module name."""

from __future__ import annotations

from ._native import CompiledGrammar, GrammarCompiler

__all__ = ["CompiledGrammar", "GrammarCompiler"]
