"""Integrations that need other packages. Each is imported when it is first used."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["hf", "llama_cpp", "mlxlm"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
