"""Forked processes: servers with workers, and pools of `multiprocessing`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import VOCAB_SIZE

import grammask

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")

SECONDS = 60
"""A child that takes longer hangs."""


def in_child(work):
    """Whether work that is done in a child is done, and said to be right."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(SECONDS)
            status = 0 if work() else 1
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def hard_schema(number):
    """Takes a tenth of a second, and may be compiled once."""
    patterns = (f"^[a-{'xyz'[part % 3]}]*b.{{0,{30 + number}}}$" for part in range(60))
    return {"type": "object", "properties": {f"p{part}": {"pattern": pattern} for part, pattern in enumerate(patterns)}}


def follows(compiled):
    text = grammask.GrammarMatcher(compiled)
    mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    text.fill_next_token_bitmask(mask)
    return text.accept_string('{"p1') and mask.any()


def test_what_the_parent_is_compiling(info):
    compiler = grammask.GrammarCompiler(info)
    for number in range(5):
        schema = hard_schema(number)
        thread = threading.Thread(target=compiler.compile_json_schema, args=(schema,))
        thread.start()
        # Long enough to have begun, and short enough not to be done.
        time.sleep(0.005)
        assert in_child(lambda schema=schema: follows(compiler.compile_json_schema(schema)))
        thread.join()


def test_threads_that_the_parent_started(info):
    compiler = grammask.GrammarCompiler(info, max_threads=2)
    batch = grammask.BatchGrammarMatcher(max_threads=2)
    assert compiler.compile_regex_async("ab*").result(timeout=SECONDS)

    def texts(number):
        patterns = [f"[a-z]{{{number}}}x?", f"(a|b){{{number}}}"]
        futures = [compiler.compile_regex_async(pattern) for pattern in patterns]
        return [grammask.GrammarMatcher(future.result(timeout=SECONDS)) for future in futures]

    def fill(number):
        mask = grammask.allocate_token_bitmask(2, VOCAB_SIZE, backend="numpy")
        batch.batch_fill_next_token_bitmask(texts(number), mask)
        return mask.any(axis=1).all() and not (mask == -1).all()

    assert fill(3)
    assert in_child(lambda: fill(4))
    # A child of the child has threads of its own, too.
    assert in_child(lambda: fill(5) and in_child(lambda: fill(6)))
    assert fill(7)


def test_large_logits_after_the_parent(info):
    logits = np.ones((64, 128 << 10), np.float32)
    mask = np.full((64, 4 << 10), 0x55555555, np.int32)

    def apply():
        grammask.apply_token_bitmask_inplace(logits, mask)
        return (logits[:, ::2] == 1).all() and np.isneginf(logits[:, 1::2]).all()

    assert apply()
    logits.fill(1)
    assert in_child(apply)


def test_tables_that_the_parent_is_writing(info):
    """A fork waits until no thread is in the middle of a mask."""
    compiled = grammask.GrammarCompiler(info).compile_grammar('root ::= "a" root "a" | "b" root "b" | [a-z] | ""')
    done = threading.Event()

    def write():
        mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
        number = 0
        while not done.is_set():
            number += 1
            text = grammask.GrammarMatcher(compiled)
            for bit in f"{number:b}":
                text.fill_next_token_bitmask(mask)
                assert text.accept_string("ab"[int(bit)])

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()

    def read():
        text = grammask.GrammarMatcher(compiled)
        mask = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
        for letter in "aabbabbbaaab":
            text.fill_next_token_bitmask(mask)
            assert text.accept_string(letter)
        return True

    try:
        assert all(in_child(read) for _ in range(40))
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_a_child_that_ends_as_programs_do(info):
    """Whatever the parent's threads were delivering, nobody in the child waits for it at the end."""
    compiler = grammask.GrammarCompiler(info, max_threads=4)
    for number in range(10):
        futures = [compiler.compile_regex_async(f"[a-z]{{{number}}}y{{{count}}}") for count in range(1, 20)]
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            grammask._support.finish_background()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert all(future.result(timeout=SECONDS) for future in futures)


@pytest.mark.skipif(sys.platform == "darwin", reason="the system's own libraries do not survive it there")
def test_a_pool_of_multiprocessing(info):
    import multiprocessing

    compiler = grammask.GrammarCompiler(info, max_threads=2)
    compiler.compile_regex_async("ab*").result(timeout=SECONDS)
    global POOL_COMPILER
    POOL_COMPILER = compiler
    with multiprocessing.get_context("fork").Pool(3) as pool:
        answers = pool.map_async(_in_pool, range(12)).get(timeout=SECONDS)
    assert answers == [True] * 12


POOL_COMPILER = None


def _in_pool(number):
    compiled = POOL_COMPILER.compile_regex_async(f"a{{{number}}}b").result(timeout=SECONDS)
    return grammask.GrammarMatcher(compiled).accept_string("a" * number + "b")


def test_what_is_compiled_in_the_background_during_a_fork(info):
    compiler = grammask.GrammarCompiler(info, max_threads=1)
    futures = [compiler.compile_json_schema_async(hard_schema(20 + number)) for number in range(20)]

    def ends():
        outcomes = [future.exception(SECONDS) for future in futures]
        assert all(error is None or "forked" in str(error) for error in outcomes)
        # The one thread cannot have come to the last one.
        assert isinstance(outcomes[-1], grammask.IndeterminateError)
        return follows(compiler.compile_json_schema_async(hard_schema(20)).result(SECONDS))

    assert in_child(ends)
    assert follows(futures[0].result(SECONDS))
    for future in futures[1:]:
        future.cancel()
