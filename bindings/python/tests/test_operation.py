"""Numbers, log records and checks for servers."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time

import pytest
from conftest import STOP, VOCAB_SIZE, small_tokenizer

import grammask
from grammask import operation


def difference(before, after):
    return {name: after[name] - before[name] for name in after if isinstance(after[name], int)}


def test_numbers_of_a_process():
    """In a process of its own, because threads of other tests count, too."""
    program = "import test_operation; test_operation.count_in_this_process()"
    paths = os.pathsep.join([os.path.dirname(__file__), *filter(None, sys.path)])
    done = subprocess.run([sys.executable, "-c", program], text=True, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr


def count_in_this_process():
    before = operation.metrics()
    compiler = grammask.GrammarCompiler(small_tokenizer())
    text = grammask.GrammarMatcher(compiler.compile_regex("ab"))
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    for _ in range(2):
        text.fill_next_token_bitmask(mask)
    assert text.accept_token(ord("a")) and not text.accept_token(ord("x"))
    with pytest.raises(grammask.InvalidGrammarError):
        compiler.compile_regex("(")
    stop = grammask.Interrupt()
    stop.cancel()
    with pytest.raises(grammask.IndeterminateError):
        compiler.compile_json_schema({"type": "object"}, interrupt=stop)
    text.set_interrupt(stop)
    with pytest.raises(grammask.IndeterminateError):
        text.fill_next_token_bitmask(mask)
    compiler.compile_regex("ab")
    compiler.compile_regex_async("ab").result(timeout=30)
    after = operation.metrics(compiler)
    assert difference(before, operation.metrics()) == {
        "compile_refused": 1,
        "compile_stopped": 1,
        "masks_known": 1,
        "tokens_accepted": 1,
        "tokens_refused": 1,
        "limits_reached": 1,
    }
    assert after["compile_seconds"]["count"] - before["compile_seconds"]["count"] == 5
    assert after["mask_seconds"]["count"] - before["mask_seconds"]["count"] == 2
    for name in ("compile_seconds", "mask_seconds"):
        counts = list(after[name]["buckets"].values())
        assert counts == sorted(counts) and counts[-1] == after[name]["count"] and after[name]["sum"] > 0
        assert [float(bound) for bound in after[name]["buckets"]][-1] == float("inf")
    assert (after["cache_hits"], after["cache_entries"]) == (2, 1) and after["evicted"] == 0
    assert operation.metrics(compiler, compiler)["cache_hits"] == 4


def test_spans(info):
    heard = []
    operation.on_span(lambda *span: heard.append(span))
    try:
        before = time.time_ns()
        compiler = grammask.GrammarCompiler(info)
        text = grammask.GrammarMatcher(compiler.compile_regex("ab"))
        mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
        for _ in range(2):
            text.fill_next_token_bitmask(mask)
        with pytest.raises(grammask.InvalidGrammarError):
            compiler.compile_regex("(")
        compiler.compile_regex_async("cd").result(timeout=30)
        # The mask is computed once.
        assert [name for name, _, _ in heard] == ["compile", "mask", "compile", "compile"]
        assert all(before - 10**9 < start <= end <= time.time_ns() for _, start, end in heard)
        # Each piece of work is also in the numbers.
        numbers = operation.metrics()
        compiler.compile_regex("ef")
        assert operation.metrics()["compile_seconds"]["count"] == numbers["compile_seconds"]["count"] + 1
        assert len(heard) == 5
    finally:
        operation.on_span(None)
    compiler.compile_regex("gh")
    assert len(heard) == 5


def test_a_listener_that_fails_fails_nothing_else(info, monkeypatch):
    faults = []
    monkeypatch.setattr(sys, "unraisablehook", lambda fault: faults.append(fault.exc_type))
    with pytest.raises(TypeError, match="`function` must be callable or None, not int"):
        operation.on_span(5)
    operation.on_span(lambda name, start, end: 1 // 0)
    try:
        assert grammask.GrammarCompiler(info).compile_regex("ab")
    finally:
        operation.on_span(None)
    assert faults == [ZeroDivisionError]


def test_log_records(info, caplog):
    compiler = grammask.GrammarCompiler(info)
    with caplog.at_level(logging.INFO, "grammask"):
        with pytest.raises(grammask.InvalidSchemaError):
            compiler.compile_json_schema({"properties": {"a": {"type": "no type"}}})
        with pytest.raises(grammask.IndeterminateError):
            compiler.compile_json_schema({}, interrupt=grammask.Interrupt(timeout=0))
        cancelled = grammask.Interrupt()
        cancelled.cancel()
        with pytest.raises(grammask.IndeterminateError):
            compiler.compile_json_schema({"type": "null"}, interrupt=cancelled)
    refused, stopped, given_up = caplog.records
    assert (given_up.levelname, given_up.code) == ("INFO", "interrupted/cancelled")
    assert (refused.levelname, refused.code, refused.pointer) == (
        "INFO",
        "json-schema/malformed",
        "/properties/a/type",
    )
    assert (stopped.levelname, stopped.code) == ("WARNING", "interrupted/deadline")
    caplog.clear()
    before = operation.metrics()["limits_reached"]
    with caplog.at_level(logging.INFO, "grammask"), pytest.raises(grammask.InvalidSchemaError):
        compiler.compile_json_schema({"anyOf": [{}] * 9}, limits={"values": 1})
    assert [(record.levelname, record.code) for record in caplog.records] == [("WARNING", "json-schema/limit")]
    assert operation.metrics()["limits_reached"] == before + 1
    caplog.clear()
    small = grammask.GrammarCompiler(info, limits={"max_total_bytes": 20_000})
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    with caplog.at_level(logging.INFO, "grammask"):
        for number in range(20):
            compiled = small.compile_json_schema({"type": "object", "properties": {f"name{number}": {}}})
            text = grammask.GrammarMatcher(compiled)
            for byte in b'{"name':
                text.fill_next_token_bitmask(mask)
                text.accept_token(byte)
    assert any("dropped" in record.getMessage() for record in caplog.records)
    assert operation.metrics(small)["evicted"] > 0


def test_kept_grammars_that_go(info, caplog):
    budget = grammask.Budget(100_000)
    for bounded in (
        grammask.GrammarCompiler(info, cache_limit_bytes=50_000),
        grammask.GrammarCompiler(info, limits={"max_total_bytes": 100_000}),
        grammask.GrammarCompiler(info, budget=budget),
    ):
        caplog.clear()
        with caplog.at_level(logging.INFO, "grammask"):
            for number in range(300):
                bounded.compile_regex(f"a{{{number}}}b+[c-z]{{3,{number + 4}}}")
        cache = bounded.stats()["cache"]
        assert cache["misses"] == 300 and cache["entries"] < 150
        assert cache["evicted"] in (0, 300 - cache["entries"])
        assert operation.metrics(bounded)["evicted"] >= 300 - cache["entries"]
        assert any("dropped" in record.getMessage() for record in caplog.records)
    assert budget.used_bytes < 150_000


def test_whether_a_vocabulary_can_spell_a_grammar(info):
    assert info.missing_bytes == [] and info.fingerprint == grammask.TokenizerInfo(
        info.decoded_vocab, stop_token_ids=[STOP]
    ).fingerprint
    assert operation.check_vocabulary(grammask.GrammarCompiler(info).compile_regex("ab")) == []
    poor = grammask.TokenizerInfo([b"a", b"bc", b"</s>"], stop_token_ids=[])
    assert ord("b") in poor.missing_bytes and ord("a") not in poor.missing_bytes
    compiler = grammask.GrammarCompiler(poor)
    longer, shortest = "the bytes 'b' are in longer ones alone", "no tokens spell b'ab', the shortest text"
    # The shortest text of the last ones is spelled, and longer ones are not.
    for pattern, others in (
        ("a*", []),
        ("ab", [longer, shortest]),
        ("abca?", ["the bytes 'b', 'c' are in longer ones alone"]),
        ("a[d-f]?", ["no token has the bytes 'd'..='f'"]),
        ("(ad|a)b?c{0}", ["no token has the bytes 'd'", longer]),
    ):
        problems = operation.check_vocabulary(compiler.compile_regex(pattern))
        assert "stop token" in problems[0] and len(problems) == 1 + len(others), problems
        assert all(expected in problem for expected, problem in zip(others, problems[1:], strict=True)), problems
    assert poor.fingerprint != info.fingerprint
    # A special token spells nothing, whatever its name.
    named = grammask.TokenizerInfo([b"a", b"b", b"</s>"], special_token_ids=[1], stop_token_ids=[2])
    problems = operation.check_vocabulary(grammask.GrammarCompiler(named).compile_regex("ab"))
    assert len(problems) == 2 and "no token has the bytes 'b'" in problems[0] and shortest in problems[1]


def test_a_tool_that_few_texts_call_is_looked_at(info):
    """Schemas of tools are compiled when a text reaches them."""
    pytest.importorskip("pydantic")
    parameters = {"type": "object", "properties": {"a": {"enum": ["\u00e9"]}}, "required": ["a"]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    tag = grammask.get_model_structural_tag("qwen_3", tools)
    ascii_only = grammask.TokenizerInfo([*(bytes([byte]) for byte in range(128)), b"</s>"])
    problems = operation.check_vocabulary(grammask.GrammarCompiler(ascii_only).compile_structural_tag(tag))
    assert len(problems) == 1 and "0xc2..=0xf4" in problems[0]
    only = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": parameters}}
    problems = operation.check_vocabulary(grammask.GrammarCompiler(ascii_only).compile_structural_tag(only))
    assert "no token has the bytes 0xa9, 0xc3, and" in problems[0]
    assert operation.check_vocabulary(grammask.GrammarCompiler(info).compile_structural_tag(tag)) == []


def test_health(info):
    with pytest.raises(TypeError, match="GrammarCompiler"):
        operation.health(info)
    report = operation.health(grammask.GrammarCompiler(info))
    assert report["ok"] and report["error"] is None and 0 < report["seconds"] < 30
    poor = grammask.GrammarCompiler(grammask.TokenizerInfo([b"a", b"</s>"]))
    report = operation.health(poor)
    assert not report["ok"] and report["error"]


def test_what_can_follow(compiler):
    text = grammask.GrammarMatcher(compiler.compile_regex("a(bc|d)e*"))
    assert text.next_bytes() == [ord("a")] and text.find_shortest_ending() == b"ad"
    assert text.find_shortest_ending(max_bytes=1) is None
    assert text.accept_string("ab") and text.next_bytes() == [ord("c")] and text.find_shortest_ending() == b"c"


def test_spans_of_batches_and_drafts(info):
    heard, rows = [], grammask.allocate_token_bitmask(3, VOCAB_SIZE, backend="numpy")
    compiled = grammask.GrammarCompiler(info).compile_regex("(ab|cd)*")
    texts, batch = [grammask.GrammarMatcher(compiled) for _ in range(2)], grammask.BatchGrammarMatcher(2)
    work = (
        ("batch", lambda: batch.batch_fill_next_token_bitmask(texts, rows)),
        ("batch", lambda: batch.batch_fill_mask_kinds(texts, rows)),
        ("mask", lambda: texts[0].fill_mask_kind(rows)),
        ("draft", lambda: texts[1].traverse_draft_tree([1, -1], [-1, -1], [0, ord("a")], rows)),
    )
    before = operation.metrics()
    operation.on_span(lambda name, start, end: heard.append((name, start <= end)))
    try:
        for _, call in work:
            call()
        assert heard == [(name, True) for name, _ in work]
        # Known masks of a batch take no time.
        batch.batch_fill_next_token_bitmask(texts, rows)
        assert len(heard) == len(work)
    finally:
        operation.on_span(None)
    after = operation.metrics()
    for name, count in (("batch_seconds", 2), ("draft_seconds", 1), ("mask_seconds", 1)):
        assert after[name]["count"] - before[name]["count"] == count

    def end(*_):
        raise SystemExit(3)

    # A mask that nobody got is no mask of before.
    for call in (texts[0].fill_mask_kind, lambda rows: batch.batch_fill_mask_kinds(texts[:1], rows)[0]):
        assert call(rows) in ("some", "unchanged") and call(rows) == "unchanged"
        operation.on_span(end)
        try:
            with pytest.raises(SystemExit):
                call(rows)
        finally:
            operation.on_span(None)
        assert call(rows) == "some"


def test_exceptions_that_end_the_program_are_passed_on(compiler):
    """Those of Ctrl-C and of ``sys.exit``, while a log record is written or a span is told."""

    class Ending(logging.Handler):
        def emit(self, record):
            raise KeyboardInterrupt

    logger, handler = logging.getLogger("grammask"), Ending()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with pytest.raises(KeyboardInterrupt):
            compiler.compile_regex("(")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)

    def end(*_):
        raise SystemExit(3)

    operation.on_span(end)
    try:
        with pytest.raises(SystemExit):
            compiler.compile_regex("spans that end the program")
    finally:
        operation.on_span(None)


def test_ctrl_c_while_an_error_is_made(compiler, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    refused = operation.metrics()["compile_refused"]
    monkeypatch.setattr(grammask.exception, "InvalidGrammarError", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiler.compile_regex("(")
    assert operation.metrics()["compile_refused"] == refused


def test_refusals_are_silent_where_nobody_logs():
    script = """
import grammask
compiler = grammask.GrammarCompiler(grammask.TokenizerInfo(["a", "b", "</s>"], stop_token_ids=[2]))
try:
    compiler.compile_json_schema('{"anyOf": [true, false, true]}', limits={"values": 2})
except grammask.GrammaskError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("json-schema/limit\n", "")
