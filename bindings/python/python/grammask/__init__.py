"""Structured generation: the exact set of tokens that may come next, at every step of a language model.

The names, signatures and defaults are those of xgrammar 0.2.8::

    import grammask

    info = grammask.TokenizerInfo.from_huggingface(tokenizer, vocab_size=config.vocab_size)
    compiler = grammask.GrammarCompiler(info)              # one a process
    compiled = compiler.compile_json_schema(schema)        # one a schema, kept by the compiler
    matcher = grammask.GrammarMatcher(compiled)            # one a text
    bitmask = grammask.allocate_token_bitmask(1, info.vocab_size)

    matcher.fill_next_token_bitmask(bitmask)               # int32, shape (1, ceil(vocab_size / 32))
    grammask.apply_token_bitmask_inplace(logits, bitmask)  # forbidden logits become -inf
    matcher.accept_token(token_id)

Importing it imports numpy, and neither torch nor transformers. Bitmasks are numpy arrays or torch tensors.

Masks are exact, and what cannot be enforced is refused: see ``grammask.config`` for a mode that follows xgrammar's
gaps instead. ``grammask.install_as_xgrammar()`` puts the package in the place of ``xgrammar``.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if "t" in getattr(sys, "abiflags", "") or "free-threading" in sys.version:
    raise ImportError(
        "grammask is not tested on free-threaded builds of Python, and would switch the lock on again for the whole "
        "process; use a build with the lock"
    )

from . import config, exception
from ._native import (
    BatchGrammarMatcher,
    Budget,
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    Interrupt,
    TokenizerInfo,
    schema_report,
)
from ._plugins import install_as_xgrammar
from ._support import CompileFuture, ForcedTokens, Rejection, VocabType
from .bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    choose_tokens,
    get_bitmask_shape,
    reset_token_bitmask,
)
from .config import get_max_recursion_depth, get_serialization_version, max_recursion_depth, set_max_recursion_depth
from .exception import (
    BitmaskError,
    DeserializeFormatError,
    DeserializeVersionError,
    GrammaskError,
    GrammaskWarning,
    IndeterminateError,
    InvalidGrammarError,
    InvalidJSONError,
    InvalidOptionError,
    InvalidSchemaError,
    InvalidStructuralTagError,
    MatcherError,
    TokenizerError,
    UnsupportedError,
)
from .tool_choice import normalize_tool_choice

if TYPE_CHECKING:
    from . import structural_tag, testing
    from .bitmask import bitmask_dtype
    from .contrib import hf
    from .structural_tag import (
        StructuralTag,
        StructuralTagItem,
        get_builtin_structural_tag,
        get_model_structural_tag,
        register_model_structural_tag,
    )

# They need pydantic, which takes its time to import.
_TAGS = (
    "StructuralTag",
    "StructuralTagItem",
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "register_model_structural_tag",
)

_MODULES = (
    "_version",
    "base",
    "builtin_structural_tag",
    "compiler",
    "contrib",
    "grammar",
    "kernels",
    "load_binding",
    "matcher",
    "openai_tool_call_schema",
    "operation",
    "structural_tag",
    "testing",
    "tokenizer_info",
)

__version__ = "0.1.0"

__all__ = [
    "BatchGrammarMatcher",
    "BitmaskError",
    "Budget",
    "CompileFuture",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "ForcedTokens",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "GrammaskError",
    "GrammaskWarning",
    "IndeterminateError",
    "Interrupt",
    "InvalidGrammarError",
    "InvalidJSONError",
    "InvalidOptionError",
    "InvalidSchemaError",
    "InvalidStructuralTagError",
    "MatcherError",
    "Rejection",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerError",
    "TokenizerInfo",
    "UnsupportedError",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "choose_tokens",
    "config",
    "exception",
    "get_bitmask_shape",
    "get_builtin_structural_tag",
    "get_max_recursion_depth",
    "get_model_structural_tag",
    "get_serialization_version",
    "hf",
    "install_as_xgrammar",
    "max_recursion_depth",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "reset_token_bitmask",
    "schema_report",
    "set_max_recursion_depth",
    "structural_tag",
    "testing",
]


def __getattr__(name: str) -> Any:
    # Looked up late: the first asks whether torch is there, the others are for few programs.
    if name == "bitmask_dtype":
        from . import bitmask

        return bitmask.bitmask_dtype
    if name in _TAGS:
        return getattr(importlib.import_module(f"{__name__}.structural_tag"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "hf":
        return importlib.import_module(f"{__name__}.contrib.hf")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
