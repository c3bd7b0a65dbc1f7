"""The modules of xgrammar in those of grammask.

By itself, because ``importlib.abc`` takes as long to import as all else that grammask imports.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import types
from collections.abc import Sequence

_NAME = "xgrammar"


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``xgrammar.x.y`` in ``grammask.x.y``: the same module object under both names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        ours = "grammask" + fullname[len(_NAME) :]
        try:
            found = importlib.util.find_spec(ours)
        except ModuleNotFoundError:
            found = None
        return importlib.machinery.ModuleSpec(fullname, self) if found else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module("grammask" + spec.name[len(_NAME) :])
        self._own = (module, module.__spec__)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        # The import system has just described the module by its other name.
        own, spec = self._own
        own.__spec__ = spec
