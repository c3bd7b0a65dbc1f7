"""Putting grammask in the place of xgrammar."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence

from . import config

_NAME = "xgrammar"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
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


def install_as_xgrammar(*, compat: bool = True) -> None:
    """Makes ``import xgrammar`` (and every module below it) import grammask, in this process.

    Call it before anything imports xgrammar. By default xgrammar's gaps are followed, because its users' code
    depends on them; ``compat=False`` keeps the exact manner (see ``grammask.config``). Calling it again changes
    nothing but that.
    """
    config.set_compat(compat)
    present = sys.modules.get(_NAME)
    package = sys.modules["grammask"]
    if present is package:
        return
    if present is not None:
        raise RuntimeError("xgrammar was imported before; call install_as_xgrammar() at the start of the program")
    sys.meta_path.insert(0, _Finder())
    sys.modules[_NAME] = package


def vllm() -> None:
    """What vLLM's plugin loading calls, in each of its processes.

    Only acts where the environment asks for it, ``GRAMMASK_AS_XGRAMMAR=1``: being installed is no reason to
    change what another package does. ``GRAMMASK_COMPAT=0`` keeps the exact manner.
    """
    if os.environ.get("GRAMMASK_AS_XGRAMMAR", "0") not in ("", "0"):
        install_as_xgrammar(compat=os.environ.get("GRAMMASK_COMPAT", "1") != "0")


def sglang(name: str = "grammask") -> None:
    """Registers ``--grammar-backend grammask`` with SGLang, in this process."""
    install_as_xgrammar()
    base = importlib.import_module("sglang.srt.constrained.base_grammar_backend")
    backend = importlib.import_module("sglang.srt.constrained.xgrammar_backend")

    def make(server_args: object, tokenizer: object, vocab_size: int, eos_token_ids: object = None) -> object:
        eos = list(eos_token_ids) if isinstance(eos_token_ids, set | list | tuple) else None
        return backend.XGrammarGrammarBackend(tokenizer, vocab_size=vocab_size, model_eos_token_ids=eos)

    base.register_grammar_backend(name, make)
    # The command line takes known names only.
    arguments = importlib.import_module("sglang.srt.server_args")
    extend = getattr(arguments, "add_grammar_backend_choices", None)
    if extend is not None:
        extend([name])
