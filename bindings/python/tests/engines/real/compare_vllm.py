"""One engine of a comparison: vLLM with one backend, asked over standard input for one round at a time.

compare_vllm.py MODEL BACKEND [PACK CALLS]     BACKEND: grammask, xgrammar, guidance or none

A line `SIZE START` runs `SIZE` requests at once, from that place in the list on, and answers with a line of JSON: times
of the round, and seconds spent in compiling, filling and applying masks, as the engine itself calls them; "all
around apply" is the engine's function that sorts masks and applies them. A line `calls AT_ONCE` runs `CALLS` function calls
of the pack, so many at once; a new request comes when one has ended.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from common import REQUESTS, chat, fits, loaded
from with_vllm import engine, parameters, settings

MODEL, BACKEND = Path(sys.argv[1]), sys.argv[2]
PACK, CALLS = (sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 3 else (None, 0)
spent = {"compile": 0.0, "fill": 0.0, "accept": 0.0, "apply": 0.0, "all around apply": 0.0}


def counted(name: str, function: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            spent[name] += time.perf_counter() - start

    return call


def count() -> None:
    from vllm.v1.structured_output import StructuredOutputManager as Manager
    from vllm.v1.structured_output.backend_guidance import GuidanceGrammar
    from vllm.v1.structured_output.backend_xgrammar import XgrammarGrammar
    from vllm.v1.worker import gpu_model_runner

    Manager._create_grammar = counted("compile", Manager._create_grammar)
    for grammar in (GuidanceGrammar, XgrammarGrammar):
        grammar.fill_bitmask = counted("fill", grammar.fill_bitmask)
        grammar.accept_tokens = counted("accept", grammar.accept_tokens)
    import xgrammar

    xgrammar.apply_token_bitmask_inplace = counted("apply", xgrammar.apply_token_bitmask_inplace)
    around = gpu_model_runner.apply_grammar_bitmask
    gpu_model_runner.apply_grammar_bitmask = counted("all around apply", around)
    assert (xgrammar.__name__ == "grammask") == (BACKEND == "grammask")
    assert ("xgrammar" in loaded(os.getpid())) == (BACKEND != "grammask")


def read_calls() -> list[tuple[str, Any]]:
    """Prompts and schemas of the first function calls of the pack."""
    found = []
    with gzip.open(PACK, "rt") as lines:
        for row in map(json.loads, lines):
            if row["category"] == "simple" and row["valid_strict"] and len(found) < CALLS:
                function = row["tools"][0]["function"]
                members = {"additionalProperties": False} | function["parameters"]
                schema = {
                    "type": "object",
                    "properties": {"name": {"const": function["name"]}, "arguments": members},
                    "required": ["name", "arguments"],
                    "additionalProperties": False,
                }
                question = row["question"][-1]["content"][:300]
                question += f"\nCall the function {json.dumps(function['name'])} with JSON."
                found.append((chat(question), schema))
    return found


def run(llm: Any, prompts: list[str], asked: list[Any], at_once: int) -> tuple[dict[str, Any], list[Any]]:
    """Runs requests, so many at once, and says when their tokens came. Times of a request count from when it is added."""
    inner = llm.llm_engine
    spent.update(dict.fromkeys(spent, 0.0))
    start = time.perf_counter()
    added: dict[str, float] = {}
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    done: dict[str, Any] = {}
    waiting = list(enumerate(zip(prompts, asked, strict=True)))[::-1]
    while waiting or inner.has_unfinished_requests():
        while waiting and inner.get_num_unfinished_requests() < at_once:
            number, (prompt, parameter) = waiting.pop()
            name = f"{start}-{number}"
            added[name] = time.perf_counter() - start
            inner.add_request(name, prompt, parameter)
        outputs = inner.step()
        now = time.perf_counter() - start
        for output in outputs:
            first.setdefault(output.request_id, now)
            last[output.request_id] = now
            if output.finished:
                done[output.request_id] = output
    total = time.perf_counter() - start
    tokens = {name: len(output.outputs[0].token_ids) for name, output in done.items()}
    each = [(last[name] - first[name]) / (tokens[name] - 1) for name in done if tokens[name] > 1]
    waits = [first[name] - added[name] for name in done]
    measured = {"seconds": total, "ttft": sum(waits) / len(waits), "tpot": sum(each) / max(1, len(each))}
    measured["latencies"] = sorted(last[name] - added[name] for name in done)
    ordered = sorted(done, key=lambda name: int(name.split("-")[1]))
    return measured | {"tokens": sum(tokens.values())} | spent, [done[name] for name in ordered]


def main() -> None:
    settings()
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR"}
    answers, sys.stdout = sys.stdout, sys.stderr
    llm = engine(MODEL, "guidance" if BACKEND == "guidance" else "xgrammar")
    count()
    calls = read_calls() if PACK else []

    def free(structured: Any) -> Any:
        if BACKEND == "none":
            structured.structured_outputs = None
        return structured

    def say(answer: dict[str, float]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    say({})
    for line in sys.stdin:
        if line.startswith("calls "):
            prompts = [prompt for prompt, _ in calls]
            asked = [free(parameters("json", schema, 64)) for _, schema in calls]
            measured, outputs = run(llm, prompts, asked, int(line.split()[1]))
            texts = [(output.outputs[0].finish_reason, output.outputs[0].text) for output in outputs]
            ended = [reason == "stop" for reason, _ in texts]
            judged = zip(ended, texts, calls, strict=True)
            valid = [end and fits(schema, text) for end, (_, text), (_, schema) in judged]
            say(measured | {"ended": sum(ended), "valid": sum(valid), "requests": len(calls)})
            continue
        size, start = map(int, line.split())
        # Kinds that every backend takes in this notation; each is asked in its turn.
        kinds = [request for request in REQUESTS if request[1] in ("json", "regex", "choice")]
        chosen = [kinds[(start + at) % len(kinds)] for at in range(size)]
        asked = [free(parameters(kind, structure)) for _, kind, structure, _ in chosen]
        if BACKEND == "none":
            # As many tokens as structures need, or the texts would be of other lengths.
            for parameter in asked:
                parameter.max_tokens, parameter.ignore_eos = 24, True
        measured, outputs = run(llm, [chat(question) for question, *_ in chosen], asked, size)
        texts = [output.outputs[0].text for output in outputs]
        valid = [obeys(text) for (_, _, _, obeys), text in zip(chosen, texts, strict=True)]
        say(measured | {"ended": size, "valid": sum(valid), "requests": size})


if __name__ == "__main__":
    main()
