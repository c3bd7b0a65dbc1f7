"""Helpers for tests, with the names that xgrammar's have."""

from __future__ import annotations

import importlib
import json
import time
from typing import Any, get_args

import numpy as np

from ._native import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from ._support import schema_text
from .exception import InvalidOptionError
from .structural_tag import Style

__all__ = ["GrammarFunctor", "bitmask_to_bool_mask", "bool_mask_to_bitmask"]


def _json_schema_to_ebnf(
    schema: Any,
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    max_whitespace_cnt: int | None = None,
    strict_mode: bool = True,
    json_format: str = "json",
    any_order: bool = False,
) -> str:
    """The grammar of a JSON Schema as text. ``json_format`` is one of the styles of ``JSONSchemaFormat``."""
    formats = get_args(Style)
    if json_format not in formats:
        raise InvalidOptionError(f"Invalid json_format: {json_format}; it is one of {', '.join(formats)}")
    if json_format != "json":
        # Other notations have no whitespace and no indentation of their own choosing.
        content = {"type": "json_schema", "json_schema": json.loads(_text(schema)), "style": json_format}
        tag = {"type": "structural_tag", "format": content | {"any_order": any_order}}
        return str(Grammar.from_structural_tag(tag, json_options={"strict_mode": strict_mode}))
    grammar = Grammar.from_json_schema(
        schema,
        any_whitespace=any_whitespace,
        indent=indent,
        separators=separators,
        strict_mode=strict_mode,
        max_whitespace_cnt=max_whitespace_cnt,
        any_order=any_order,
    )
    return str(grammar)


def _regex_to_ebnf(regex: str, with_rule_name: bool = True) -> str:
    """The grammar of a regular expression as text, with ``root ::=`` before it or without."""
    text = str(Grammar.from_regex(regex))
    return text if with_rule_name else text.removeprefix("root ::= ")


def _ebnf_to_grammar_no_normalization(ebnf_string: str, root_rule_name: str = "root") -> Grammar:
    """The grammar as it is written; grammars are never rewritten before they are compiled."""
    return Grammar.from_ebnf(ebnf_string, root_rule_name=root_rule_name)


def _grammar(grammar: Grammar | str) -> Grammar:
    return Grammar.from_ebnf(grammar) if isinstance(grammar, str) else grammar


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | str, tokenizer_info: TokenizerInfo | None = None, **kwargs: Any
) -> GrammarMatcher:
    """A matcher of a grammar, over a vocabulary of no text, only with a stop token, if none is given."""
    info = tokenizer_info if tokenizer_info is not None else TokenizerInfo([""], stop_token_ids=0)
    compiler = GrammarCompiler(info, cache_enabled=False)
    return GrammarMatcher(compiler.compile_grammar(_grammar(grammar)), **kwargs)


def _get_matcher_from_grammar(grammar: Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """A matcher of a grammar over a vocabulary of no text, at its end where the text is whole."""
    kwargs.setdefault("terminate_without_stop_token", True)
    return _get_matcher_from_grammar_and_tokenizer_info(grammar, None, **kwargs)


def _is_grammar_accept_string(
    grammar: Grammar | str,
    input_str: str | bytes,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Whether a text belongs to a grammar (or, without ``require_termination``, is the beginning of one)."""
    matcher = _get_matcher_from_grammar(grammar)
    start = time.monotonic_ns()
    accepted = matcher.accept_string(input_str, debug_print=debug_print)
    if print_time:
        print(f"accepting {input_str!r} took {(time.monotonic_ns() - start) / 1000} us")
    return accepted and (matcher.is_terminated() or not require_termination)


def _as_words(bitmask: Any) -> Any:
    array = bitmask if isinstance(bitmask, np.ndarray) else np.asarray(bitmask)
    return np.ascontiguousarray(array).view(np.uint8)


def _text(schema: Any) -> str:
    return schema if isinstance(schema, str) else schema_text(schema)


def _like(result: Any, given: Any) -> Any:
    """A numpy array as what was given: a tensor for a tensor."""
    return importlib.import_module("torch").from_numpy(result) if type(given).__module__ == "torch" else result


def bitmask_to_bool_mask(bit_mask: Any, vocab_size: int | None = None) -> Any:
    """A bitmask as bools, of shape (rows, tokens) or (tokens,): a torch tensor for a torch tensor, else a numpy array."""
    bits = np.unpackbits(_as_words(bit_mask), axis=-1, bitorder="little")
    return _like(bits[..., :vocab_size].astype(bool), bit_mask)


def bool_mask_to_bitmask(bool_mask: Any) -> Any:
    """Bools as a bitmask of int32: a torch tensor for a torch tensor, else a numpy array.

    The bits past the last column are set, as xgrammar sets them.
    """
    mask = np.asarray(bool_mask).astype(bool)
    padding = [(0, 0)] * (mask.ndim - 1) + [(0, -mask.shape[-1] % 32)]
    packed = np.packbits(np.pad(mask, padding, constant_values=True), axis=-1, bitorder="little")
    return _like(np.ascontiguousarray(packed).view(np.int32), bool_mask)


def _get_masked_tokens_from_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> list[int]:
    """The ids that a row forbids."""
    row = np.asarray(bitmask_to_bool_mask(bitmask, vocab_size))
    row = row[index] if row.ndim == 2 else row
    return [int(token) for token in np.flatnonzero(~row)]


def _is_single_token_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Whether a row allows one id, and which; -1 if not."""
    row = np.asarray(bitmask_to_bool_mask(bitmask, vocab_size))
    row = row[index] if row.ndim == 2 else row
    allowed = np.flatnonzero(row)
    return (True, int(allowed[0])) if len(allowed) == 1 else (False, -1)


def _traverse_draft_tree(
    retrieve_next_token: Any,
    retrieve_next_sibling: Any,
    draft_tokens: Any,
    matcher: GrammarMatcher,
    allocate_token_bitmask: Any,
    time_threshold: float = -1.0,
) -> bool:
    """``GrammarMatcher.traverse_draft_tree`` as a function."""
    return matcher.traverse_draft_tree(
        retrieve_next_token, retrieve_next_sibling, draft_tokens, allocate_token_bitmask, time_threshold
    )


def _same(grammar: Grammar) -> Grammar:
    """The grammar. What a pass would make of it is made when it is compiled."""
    return grammar


class GrammarFunctor:
    """The passes that xgrammar's tests call by name.

    Here grammars are rewritten when they are compiled and not before, so that each of them gives back what it was given:
    a grammar of the same texts, which every later step takes.
    """

    structure_normalizer = staticmethod(_same)
    rule_inliner = staticmethod(_same)
    byte_string_fuser = staticmethod(_same)
    dead_code_eliminator = staticmethod(_same)
    lookahead_assertion_analyzer = staticmethod(_same)
    grammar_optimizer = staticmethod(_same)
    fsm_builder = staticmethod(_same)
    repetition_normalizer = staticmethod(_same)
