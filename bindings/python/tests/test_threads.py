"""Many threads on one compiler. `benches/threads.py` runs for longer, and says how throughput grows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import grammask

BENCH = Path(__file__).parent.parent / "benches" / "threads.py"


def test_masks_of_sixteen_threads_are_those_of_one():
    package = str(Path(grammask.__file__).parent.parent)
    program = [sys.executable, str(BENCH), "--seconds", "1.5", "--threads", "16"]
    done = subprocess.run(program, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": package})
    assert done.returncode == 0 and "wrong 0" in done.stdout, done.stdout + done.stderr


def test_a_batch_and_single_calls_at_once(info):
    """Engines fill in one thread what they compile and begin in others."""
    compiler = grammask.GrammarCompiler(info, max_threads=4)
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}, "required": ["a"]}
    text = b'{"a": "xyz", "n": 12}'
    single = grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy")
    alone = grammask.GrammarMatcher(grammask.GrammarCompiler(info).compile_json_schema(schema))
    expected = []
    for token in text:
        alone.fill_next_token_bitmask(single)
        expected.append(single[0].copy())
        assert alone.accept_token(token)

    def follow(number):
        batch = grammask.BatchGrammarMatcher(max_threads=2)
        compiled = compiler.compile_json_schema_async(schema).result(timeout=60)
        if number % 4 == 0:
            compiler.clear_cache()
        texts = [grammask.GrammarMatcher(compiled) for _ in range(5)]
        mask = grammask.allocate_token_bitmask(5, info.vocab_size, backend="numpy")
        for token, row in zip(text, expected, strict=True):
            batch.batch_fill_next_token_bitmask(texts, mask)
            assert (mask == row).all()
            assert all(batch.batch_accept_token(texts, [token] * 5))

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(follow, range(64)))


def test_a_matcher_is_one_threads_at_a_time(compiler, info):
    """Two threads that use one matcher get an exception or a turn, and never a broken matcher."""
    matcher = grammask.GrammarMatcher(compiler.compile_regex("(a|b|c)*"))
    outcomes = []

    def use():
        mask = np.zeros((1, (info.vocab_size + 31) // 32), np.int32)
        for _ in range(300):
            try:
                matcher.accept_token(ord("a"))
                matcher.fill_next_token_bitmask(mask)
                matcher.rollback(1)
            except RuntimeError as error:
                outcomes.append(str(error))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another call is using this matcher" in outcome for outcome in outcomes)
    matcher.reset()
    assert matcher.accept_string("abc") and matcher.num_steps == 1


def test_a_call_within_a_call_is_told_whose_turn_it_is(compiler, info):
    """PyO3's own words for it (`Already borrowed`) say neither what is in use nor what to do."""
    matcher = grammask.GrammarMatcher(compiler.compile_regex("(abc|abd)*"))
    mask = grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy")
    batch = grammask.BatchGrammarMatcher
    calls = [
        lambda: matcher.accept_token(ord("a")),
        lambda: matcher.fill_next_token_bitmask(mask),
        lambda: matcher.rollback(0),
        lambda: matcher.reset(),
        lambda: matcher.fork(),
        lambda: matcher.is_completed(),
        lambda: matcher.stop_token_ids,
        lambda: matcher.temperature,
        lambda: repr(matcher),
        lambda: batch.batch_accept_token([matcher], [ord("a")]),
        lambda: batch.batch_rollback([matcher], 0),
    ]
    told = []

    def encode(text):
        for call in calls:
            with pytest.raises(grammask.MatcherError) as raised:
                call()
            told.append(str(raised.value))
        return [ord(character) for character in text]

    assert matcher.accept_token(ord("a"))
    matcher.find_jump_forward_tokens(encode, [ord("a")])
    assert len(told) >= len(calls)
    assert all("another call is using this matcher" in message and "fork()" in message for message in told)
    # It is as it was.
    assert matcher.accept_token(ord("b")) and matcher.num_steps == 2


def test_ctrl_c_stops_a_long_compilation(info):
    """Handlers of signals run while a structure compiles, and what one raises ends the compilation."""

    def stop(*_):
        raise KeyboardInterrupt

    names = [f"member {number} of the object" for number in range(60_000)]
    schema = json.dumps({"properties": {name: {"type": "string", "pattern": f"^[a-z]*{name}"} for name in names}})
    compiler = grammask.GrammarCompiler(info)
    before = signal.signal(signal.SIGPROF, stop)
    # In the time of the processor: machines that run tests are shared.
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            compiler.compile_json_schema(schema)
        took = time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert took < 0.1 + 0.1, took
    assert compiler.compile_regex("a*").memory_size_bytes > 0


NAMES = [f"member_{number}_of_the_object" for number in range(60_000)]


def lark(compiler):
    rules = [f"{name}: /[a-z]*{name}/" for name in NAMES]
    return lambda source="\n".join([f"start: {' | '.join(NAMES)}", *rules]): compiler.compile_lark(source)


def ebnf(compiler):
    rules = [f'{name} ::= [a-z]* "{name}"' for name in NAMES]
    return lambda source="\n".join([f"root ::= {' | '.join(NAMES)}", *rules]): compiler.compile_grammar(source)


@pytest.mark.parametrize("long", [lark, ebnf])
def test_ctrl_c_stops_the_reading_of_a_grammar(info, long):
    """As above, where the source is what takes long to read. The bound depends on how fast the machine is."""

    def stop(*_):
        raise KeyboardInterrupt

    work = long(grammask.GrammarCompiler(info, cache_enabled=False))
    start = time.process_time()
    work()
    whole = time.process_time() - start
    before = signal.signal(signal.SIGPROF, stop)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, whole / 8)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        took = time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert took < whole / 8 + whole / 3 + 0.1, (took, whole)
