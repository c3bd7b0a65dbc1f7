"""Putting grammask in the place of xgrammar."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

from . import config

_NAME = "xgrammar"


def install_as_xgrammar(*, compat: bool = True) -> None:
    """Makes ``import xgrammar`` (and every module below it) import grammask, in this process and those it starts.

    Call it before anything imports xgrammar. A module that imported xgrammar keeps its classes, so a late call is
    refused. The call sets ``GRAMMASK_AS_XGRAMMAR`` and ``GRAMMASK_COMPAT`` in the environment, so that processes which
    this one starts do the same, if grammask is installed there. By default xgrammar's gaps are followed, because its users' code
    depends on them; ``compat=False`` keeps the exact manner (see ``grammask.config``). Calling it again changes
    nothing but that.
    """
    _become_findable(compat)
    importlib.import_module(_NAME)


def first_import() -> importlib.machinery.ModuleSpec:
    """Answers the first import of xgrammar, for ``grammask_as_xgrammar``."""
    from ._finder import Finder

    _become_findable(_wants_compat())
    return importlib.machinery.ModuleSpec(_NAME, Finder())


def _become_findable(compat: bool) -> None:
    from ._finder import Finder

    if sys.modules.get(_NAME) not in (None, sys.modules["grammask"]):
        raise RuntimeError(
            "xgrammar was imported before, and its classes are in use. Set GRAMMASK_AS_XGRAMMAR=1 before Python "
            "starts (grammask has to be installed in its environment), or call grammask.install_as_xgrammar() before "
            "anything imports xgrammar"
        )
    config.set_compat(compat)
    os.environ.update({_ASKED: "1", _COMPAT: "1" if compat else "0"})
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


_ASKED = "GRAMMASK_AS_XGRAMMAR"
_COMPAT = "GRAMMASK_COMPAT"


def _is_asked_for() -> bool:
    return os.environ.get(_ASKED, "0") not in ("", "0")


def _wants_compat() -> bool:
    return os.environ.get(_COMPAT, "1") != "0"


def vllm() -> None:
    """What vLLM's plugin loading calls, in each of its processes.

    Only acts where the environment asks for it, ``GRAMMASK_AS_XGRAMMAR=1``: being installed is no reason to
    change what another package does. vLLM has imported xgrammar by then, and grammask was there first:
    ``grammask_as_xgrammar`` saw to it while Python started. Where it could not, this stops vLLM with the reason, so
    that it never serves half of each. ``GRAMMASK_COMPAT=0`` keeps the exact manner.
    """
    if _is_asked_for():
        install_as_xgrammar(compat=_wants_compat())


_SGLANG = "sglang.srt.constrained"


def sglang(name: str = "grammask") -> None:
    """What SGLang's plugin loading calls, in each of its processes: registers ``--grammar-backend grammask``.

    Where the environment asks for it (``GRAMMASK_AS_XGRAMMAR=1``), grammask also serves ``--grammar-backend xgrammar``.
    ``GRAMMASK_COMPAT=0`` keeps the exact manner.
    """
    is_asked_for = _is_asked_for()
    if is_asked_for and _NAME not in sys.modules:
        install_as_xgrammar(compat=_wants_compat())
    base = importlib.import_module(f"{_SGLANG}.base_grammar_backend")
    base.register_grammar_backend(name, _sglang_backend)
    # The command line takes known names only.
    arguments = importlib.import_module("sglang.srt.server_args")
    extend = getattr(arguments, "add_grammar_backend_choices", None)
    if extend is not None:
        extend([name])
    if is_asked_for:
        sys.modules[f"{_SGLANG}.xgrammar_backend"] = _sglang_module()


def _sglang_module() -> types.ModuleType:
    """SGLang's own backend for xgrammar, over grammask.

    The processes of a server import xgrammar before they load plugins, and other parts of it keep what they
    imported. So the module is executed once more, with grammask in xgrammar's place meanwhile.
    """
    from ._finder import Finder

    config.set_compat(_wants_compat())
    path = f"{_SGLANG}.xgrammar_backend"
    if sys.modules.get(_NAME) is sys.modules["grammask"]:
        return importlib.import_module(path)
    spec = importlib.util.find_spec(path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"this version of SGLang has no {path}", name=path)
    module = importlib.util.module_from_spec(spec)
    theirs = {key: value for key, value in sys.modules.items() if key == _NAME or key.startswith(_NAME + ".")}
    for key in theirs:
        del sys.modules[key]
    # Dataclasses look their module up while it is executed.
    before = sys.modules.get(path)
    sys.modules[path] = module
    finder = Finder()
    sys.meta_path.insert(0, finder)
    sys.modules[_NAME] = sys.modules["grammask"]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.meta_path.remove(finder)
        for key in [key for key in sys.modules if key == _NAME or key.startswith(_NAME + ".")]:
            del sys.modules[key]
        sys.modules.update(theirs)
        del sys.modules[path]
        if before is not None:
            sys.modules[path] = before
    return module


def _sglang_backend(
    server_args: object, tokenizer: object, vocab_size: int, eos_token_ids: Iterable[int] | None = None
) -> Any:
    """Makes the backend that the command line names."""
    backend = _sglang_module().XGrammarGrammarBackend(
        tokenizer,
        vocab_size=vocab_size,
        model_eos_token_ids=list(eos_token_ids) if eos_token_ids else None,
        any_whitespace=not getattr(server_args, "constrained_json_disable_any_whitespace", False),
        max_whitespace_cnt=getattr(server_args, "constrained_json_max_whitespace_cnt", None),
    )
    reasoning = getattr(server_args, "reasoning_parser", None)
    if not reasoning:
        return backend
    # SGLang does so for the backends that it knows.
    parser = importlib.import_module("sglang.srt.parser.reasoning_parser").ReasoningParser(
        model_type=reasoning, stream_reasoning=False, tokenizer=tokenizer
    )
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return importlib.import_module(f"{_SGLANG}.reasoner_grammar_backend").ReasonerGrammarBackend(
        backend, parser, tokenizer, enable_strict_thinking=getattr(server_args, "enable_strict_thinking", False)
    )
