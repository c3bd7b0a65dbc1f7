"""Grammars and compiled grammars as JSON."""

from __future__ import annotations

import base64
import contextlib
import json
from typing import Any

from ._native import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo, default_limits
from ._tokenizers import dump_metadata, malformed, read_serialized
from .config import get_serialization_version
from .exception import InvalidGrammarError


def serialize_grammar(grammar: Grammar) -> str:
    """See ``Grammar.serialize_json``."""
    return json.dumps({"ebnf": str(grammar), "__VERSION__": get_serialization_version()}, separators=(",", ":"))


def deserialize_grammar(text: str) -> Grammar:
    """See ``Grammar.deserialize_json``."""
    return _grammar(read_serialized(text))


def serialize_compiled(compiled: CompiledGrammar) -> str:
    """See ``CompiledGrammar.serialize_json``."""
    text = str(compiled.grammar)
    read = {
        "ebnf": text,
        "automata": base64.b64encode(compiled._to_bytes(text)).decode(),
        "backend": compiled.backend,
        "limits": dict(compiled._limits().items() - default_limits().items()),
        "tokenizer_metadata": json.loads(dump_metadata(compiled.tokenizer_info)),
        "__VERSION__": get_serialization_version(),
    }
    return json.dumps(read, separators=(",", ":"))


def deserialize_compiled(text: str, info: TokenizerInfo, *, is_own: bool = False) -> CompiledGrammar:
    """See ``CompiledGrammar.deserialize_json``. Automata that belong to another grammar are refused."""
    read = read_serialized(text)
    if read.get("tokenizer_metadata") != json.loads(dump_metadata(info)):
        raise malformed("the compiled grammar belongs to another tokenizer")
    compiler = _compiler(read, info, is_own)
    automata, ebnf = read.get("automata"), read.get("ebnf")
    if isinstance(automata, str) and isinstance(ebnf, str):
        with contextlib.suppress(ValueError):
            compiled = compiler._load(base64.b64decode(automata, validate=True), ebnf)
            if compiled is not None:
                return compiled
    # Those of another version, or damaged ones, are made anew.
    return compiler.compile_grammar(_grammar(read))


def _compiler(read: Any, info: TokenizerInfo, is_own: bool) -> GrammarCompiler:
    """A compiler with the backend and the limits of a serialized grammar."""
    backend, limits, usual = read.get("backend", "earley"), read.get("limits", {}), default_limits()
    if backend not in ("earley", "pda"):
        raise malformed("the backend of a compiled grammar is `earley` or `pda`")
    if not isinstance(limits, dict) or not limits.keys() <= usual.keys():
        raise malformed(f"the limits of a compiled grammar are an object with the names {', '.join(usual)}")
    if not all(type(limit) is int and 0 <= limit < 1 << 63 for limit in limits.values()):
        raise malformed("the limits of a compiled grammar are numbers")
    if not is_own:
        # A text from elsewhere may not take more memory or time than one that says nothing.
        limits = {name: min(limit, usual[name]) for name, limit in limits.items()}
    return GrammarCompiler(info, cache_enabled=False, backend=backend, limits=limits)


def reduce_compiled(compiled: CompiledGrammar) -> Any:
    """What pickle keeps of a compiled grammar: its automata, and the grammar for those who ask for it."""
    return (_own, (serialize_compiled(compiled), compiled.tokenizer_info))


def _own(text: str, info: TokenizerInfo) -> CompiledGrammar:
    return deserialize_compiled(text, info, is_own=True)


def _grammar(read: Any) -> Grammar:
    source = read.get("ebnf")
    if not isinstance(source, str):
        raise malformed("a grammar has the key `ebnf`")
    try:
        return Grammar.from_ebnf(source)
    except InvalidGrammarError as error:
        raise malformed(f"a grammar: {error}") from error
