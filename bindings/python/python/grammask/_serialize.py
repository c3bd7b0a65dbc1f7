"""Grammars and compiled grammars as JSON."""

from __future__ import annotations

import base64
import contextlib
import json
from typing import Any

from ._native import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo
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
        "tokenizer_metadata": json.loads(dump_metadata(compiled.tokenizer_info)),
        "__VERSION__": get_serialization_version(),
    }
    return json.dumps(read, separators=(",", ":"))


def deserialize_compiled(text: str, info: TokenizerInfo) -> CompiledGrammar:
    """See ``CompiledGrammar.deserialize_json``. Automata that belong to another grammar are refused."""
    read = read_serialized(text)
    if read.get("tokenizer_metadata") != json.loads(dump_metadata(info)):
        raise malformed("the compiled grammar belongs to another tokenizer")
    automata, ebnf = read.get("automata"), read.get("ebnf")
    if isinstance(automata, str) and isinstance(ebnf, str):
        with contextlib.suppress(ValueError):
            compiled = CompiledGrammar._from_bytes(base64.b64decode(automata, validate=True), ebnf, info)
            if compiled is not None:
                return compiled
    # Those of another version, or damaged ones, are made anew.
    return GrammarCompiler(info, cache_enabled=False).compile_grammar(_grammar(read))


def reduce_compiled(compiled: CompiledGrammar) -> Any:
    """What pickle keeps of a compiled grammar: its automata, and the grammar for those who ask for it."""
    return (deserialize_compiled, (serialize_compiled(compiled), compiled.tokenizer_info))


def _grammar(read: Any) -> Grammar:
    source = read.get("ebnf")
    if not isinstance(source, str):
        raise malformed("a grammar has the key `ebnf`")
    try:
        return Grammar.from_ebnf(source)
    except InvalidGrammarError as error:
        raise malformed(f"a grammar: {error}") from error
