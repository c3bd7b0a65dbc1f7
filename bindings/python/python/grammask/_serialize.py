"""Grammars and compiled grammars as JSON."""

from __future__ import annotations

import json
from typing import Any

from ._native import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo
from ._tokenizers import check_version, dump_metadata
from .config import get_serialization_version
from .exception import DeserializeFormatError, InvalidGrammarError, InvalidJSONError


def serialize_grammar(grammar: Grammar) -> str:
    """See ``Grammar.serialize_json``."""
    return json.dumps({"ebnf": str(grammar), "__VERSION__": get_serialization_version()}, separators=(",", ":"))


def deserialize_grammar(text: str) -> Grammar:
    """See ``Grammar.deserialize_json``."""
    return _grammar(_json(text))


def serialize_compiled(compiled: CompiledGrammar) -> str:
    """See ``CompiledGrammar.serialize_json``."""
    read = {
        "ebnf": str(compiled.grammar),
        "tokenizer_metadata": json.loads(dump_metadata(compiled.tokenizer_info)),
        "__VERSION__": get_serialization_version(),
    }
    return json.dumps(read, separators=(",", ":"))


def deserialize_compiled(text: str, info: TokenizerInfo) -> CompiledGrammar:
    """See ``CompiledGrammar.deserialize_json``."""
    read = _json(text)
    grammar = _grammar(read)
    if read.get("tokenizer_metadata") != json.loads(dump_metadata(info)):
        raise DeserializeFormatError("the compiled grammar belongs to another tokenizer")
    return GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar)


def reduce_compiled(compiled: CompiledGrammar) -> Any:
    """What pickle keeps of a compiled grammar: its automata, and the grammar for those who ask for it."""
    text = serialize_compiled(compiled)
    automata = compiled._to_bytes(_json(text)["ebnf"])
    return (load_compiled, (automata, text, compiled.tokenizer_info))


def load_compiled(automata: bytes, text: str, info: TokenizerInfo) -> CompiledGrammar:
    """What ``reduce_compiled`` kept. Automata of another version are compiled anew; those of another grammar are refused."""
    ebnf = _json(text).get("ebnf")
    if isinstance(ebnf, str):
        compiled = CompiledGrammar._from_bytes(automata, ebnf, info)
        if compiled is not None:
            return compiled
    return deserialize_compiled(text, info)


def _json(text: str) -> Any:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise InvalidJSONError(f"the text is no JSON: {error}") from error
    check_version(read)
    return read


def _grammar(read: Any) -> Grammar:
    source = read.get("ebnf")
    if not isinstance(source, str):
        raise DeserializeFormatError("a serialized grammar has the key `ebnf`")
    try:
        return Grammar.from_ebnf(source)
    except InvalidGrammarError as error:
        raise DeserializeFormatError(f"the serialized grammar is malformed: {error}") from error
