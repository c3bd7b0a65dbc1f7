"""The native half, under xgrammar's module name."""

from __future__ import annotations

from types import ModuleType

from . import _native

__all__ = ["LIB", "load_lib_module"]

LIB = _native


def load_lib_module() -> ModuleType:
    """The native half, which is loaded with the package."""
    return LIB
