"""Running grammask in a server: numbers to export, spans, a health call, a check at the start, log records.

Records go to the logger ``grammask``:

* at ``INFO`` a structure that is refused, with the attributes ``code`` and ``pointer``: the client's mistake;
* at ``WARNING`` a limit or a deadline that was reached, with the attribute ``code``;
* at ``INFO`` work that was cancelled, and grammars that were dropped to keep a compiler's budget.

Messages do not repeat the structure, but may name its keywords and rules.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from . import _native
from ._native import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from ._support import logger
from .bitmask import allocate_token_bitmask
from .exception import GrammaskError, IndeterminateError

__all__ = ["check_vocabulary", "health", "logger", "metrics", "on_span"]


def metrics(*compilers: GrammarCompiler) -> dict[str, Any]:
    """Numbers of this process, and of compilers.

    Counters, which only grow: ``compile_refused`` (structures), ``compile_stopped`` (by an interrupt), ``masks_known``,
    ``tokens_accepted``, ``tokens_refused``, ``limits_reached``. Histograms: ``compile_seconds`` of calls that compile, those
    that found their structure kept included; ``mask_seconds`` of masks that had to be computed; ``batch_seconds`` of calls
    that had masks of batches to compute; ``draft_seconds`` of draft trees. Each has ``buckets`` (an upper bound as a string to
    the number of values up to it), ``count`` and ``sum``. Single masks of batches are counted in ``CompiledGrammar.stats()``.

    With compilers also the sums of what their ``stats()`` say: ``cache_hits``, ``cache_misses``, ``cache_entries``,
    ``memory_bytes`` and ``evicted``. Compilers that share a budget each count all of it.
    """
    numbers: dict[str, Any] = _native.process_metrics()
    if compilers:
        stats = [compiler.stats() for compiler in compilers]
        numbers |= {
            "cache_hits": sum(one["cache"]["hits"] for one in stats),
            "cache_misses": sum(one["cache"]["misses"] for one in stats),
            "cache_entries": sum(one["cache"]["entries"] for one in stats),
            "memory_bytes": sum(one["budget"]["bytes"] for one in stats),
            "evicted": sum(one["cache"]["evicted"] + one["budget"]["evicted"] for one in stats),
        }
    return numbers


def on_span(function: Callable[[str, int, int], object] | None) -> None:
    """Has a function hear of the work that ``metrics`` times: its name, and when it began and ended.

    Names are ``"compile"``, ``"mask"``, ``"batch"`` and ``"draft"``.

    Times are nanoseconds since 1970, as OpenTelemetry takes them::

        def export(name, start, end):
            tracer.start_span(f"grammask.{name}", start_time=start).end(end_time=end)

        operation.on_span(export)

    The function is called when the work is done, in the thread that asked for it, so that its context is the caller's;
    for ``compile_*_async`` in the compiler's own. The function must not use the matchers whose masks it is told of. Its exceptions go
    to ``sys.unraisablehook``. There is one function in a process, for all compilers; ``None`` ends it, and costs nothing.
    """
    if function is None:
        _native.set_listener(None)
        return
    if not callable(function):
        raise TypeError(f"`function` must be callable or None, not {type(function).__name__}")

    def listener(name: str, seconds: float) -> None:
        end = time.time_ns()
        function(name, end - round(seconds * 1e9), end)

    _native.set_listener(listener)


def check_vocabulary(compiled: CompiledGrammar) -> list[str]:
    """What stands in the way of texts of the grammar over its vocabulary, as sentences.

    Empty where tokens spell every text of the grammar, and a token may end it. Names the bytes that texts of the grammar
    may have and no token has: no text with one of them can be written. Also names those that are no token by themselves
    and stand in longer ones, because some texts with these may have no spelling. It tells where the shortest text has none.

    For the start of a server, before the first request: it takes some tens of milliseconds, and compiles all parts of the
    grammar where the vocabulary has not every byte.
    """
    info, problems = compiled.tokenizer_info, []
    if not info.stop_token_ids:
        problems.append("the tokenizer has no stop token, so that no text could end")
    text = GrammarMatcher(compiled, terminate_without_stop_token=True).find_shortest_ending()
    if text is None:
        problems.append("the shortest text of the grammar has more than a megabyte, or a token that spells nothing")
    in_no_token, in_longer = compiled._spelling_gaps()
    if in_no_token:
        problems.append(f"no token has the bytes {in_no_token}, and texts of the grammar may have them")
    if in_longer:
        problems.append(f"texts of the grammar may have no tokens, because the bytes {in_longer} are in longer ones alone")
    if text is not None and not _is_spelled(text, info):
        problems.append(f"no tokens spell {text[:64]!r}, the shortest text of the grammar")
    return problems


def _is_spelled(text: bytes, info: TokenizerInfo) -> bool:
    if not info.missing_bytes:
        return True
    # A grammar may name special tokens, which spell nothing.
    special = {*info.special_token_ids, *info.stop_token_ids}
    tokens = {token for id, token in enumerate(info.decoded_vocab) if id not in special}
    longest = max(map(len, tokens), default=0)
    ends = {0}
    for place in range(len(text)):
        if place in ends:
            ends |= {place + size for size in range(1, longest + 1) if text[place : place + size] in tokens}
    return len(text) in ends


def health(compiler: GrammarCompiler) -> dict[str, Any]:
    """Compiles a small structure and follows a text through it, past every cache.

    Returns ``ok``, the ``seconds`` that it took, and ``error``: ``None``, or why it is not well. Never raises because of the
    engine.
    """
    if not isinstance(compiler, GrammarCompiler):
        raise TypeError(f"`compiler` must be a GrammarCompiler, not {type(compiler).__name__}")
    start, error = time.perf_counter(), None
    try:
        schema = json.dumps({"enum": [time.monotonic_ns()]})
        compiled = compiler.compile_json_schema(schema)
        mask = allocate_token_bitmask(1, compiler.tokenizer_info.vocab_size, backend="numpy")
        matcher = GrammarMatcher(compiled, terminate_without_stop_token=True)
        matcher.fill_next_token_bitmask(mask)
        text = matcher.find_shortest_ending()
        if not compiler.tokenizer_info.stop_token_ids:
            error = "the tokenizer has no stop token, so that no text could end"
        elif text is not None and not _is_spelled(text, compiler.tokenizer_info):
            error = f"no tokens spell {text!r}"
        elif not mask.any() or text is None or not matcher.accept_string(text) or not matcher.is_terminated():
            error = "a text of a schema is not accepted"
    except (GrammaskError, IndeterminateError) as raised:
        error = str(raised)
    return {"ok": error is None, "seconds": time.perf_counter() - start, "error": error}
