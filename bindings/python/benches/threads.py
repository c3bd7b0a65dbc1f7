"""Threads on one compiler: every mask compared with that of one thread alone, and how throughput grows with cores.

    python benches/threads.py [--seconds 60] [--threads 16] [--cores 1 2] [--tokenizer tokenizer.json]

Each thread takes a schema of `examples/schemas`, compiles it (from an emptied cache now and then), and walks a text
with it, mask by mask. Without a tokenizer the vocabulary is single bytes and some words. Ends with status 1 if any
mask or answer was wrong. *cpu* is how many cores the process used on average: on a machine that is busy with other
things that is less than it was given.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import threading
import time
from pathlib import Path

import grammask
import numpy as np

SCHEMAS = Path(__file__).resolve().parents[3] / "examples" / "schemas"
WORDS = b'{" ": ", "} true false null name type value 10 2024 the and'.split()
CLOSING = frozenset(b'"}],')


def tokenizer_info(path: str | None) -> grammask.TokenizerInfo:
    if path is None:
        return grammask.TokenizerInfo([bytes([byte]) for byte in range(256)] + WORDS + [b"</s>"])
    tokenizer = json.loads(Path(path).read_text())
    vocab = dict(tokenizer["model"]["vocab"])
    vocab |= {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    tokens = [""] * (max(vocab.values()) + 1)
    for token, number in vocab.items():
        tokens[number] = token
    return grammask.TokenizerInfo(tokens, grammask.VocabType.BYTE_LEVEL)


class Text:
    """A text that a schema allows, and the mask before each of its tokens."""

    def __init__(self, schema: str, tokens: list[int], masks: list[bytes]) -> None:
        self.schema, self.tokens, self.masks = schema, tokens, masks


def walk(compiled: grammask.CompiledGrammar, schema: str, rng: random.Random, most: int = 120) -> Text:
    """Tokens at random, those that bring the end nearer a little sooner."""
    info = compiled.tokenizer_info
    decoded, bitmask = info.decoded_vocab, grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy")
    matcher, tokens, masks = grammask.GrammarMatcher(compiled), [], []
    kept: dict[bytes, bytes] = {}
    while not matcher.is_terminated() and len(tokens) < most:
        matcher.fill_next_token_bitmask(bitmask)
        allowed = np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little"))
        choice = [int(token) for token in rng.choices(allowed, k=20)]
        closing = [token for token in choice if CLOSING.intersection(decoded[token]) or token in info.stop_token_ids]
        token = (closing or choice)[0]
        mask = bitmask.tobytes()
        masks.append(kept.setdefault(mask, mask))
        tokens.append(token)
        assert matcher.accept_token(token)
    return Text(schema, tokens, masks)


def prepare(info: grammask.TokenizerInfo) -> list[Text]:
    compiler, rng, texts = grammask.GrammarCompiler(info), random.Random(1), []
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = path.read_text()
        try:
            compiled = compiler.compile_json_schema(schema)
        except grammask.UnsupportedError:
            continue
        texts += [walk(compiled, schema, rng) for _ in range(3)]
    return texts


def run(info: grammask.TokenizerInfo, texts: list[Text], threads: int, seconds: float) -> dict[str, float]:
    compiler = grammask.GrammarCompiler(info, cache_limit_bytes=64 << 20)
    end = time.monotonic() + seconds
    masks, compiled, wrong = [0] * threads, [0] * threads, []

    def work(number: int) -> None:
        rng = random.Random(number)
        bitmask = grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy")
        while time.monotonic() < end:
            text = rng.choice(texts)
            if rng.random() < 0.3:
                compiler.clear_cache()
            matcher = grammask.GrammarMatcher(compiler.compile_json_schema(text.schema))
            compiled[number] += 1
            for token, expected in zip(text.tokens, text.masks, strict=True):
                matcher.fill_next_token_bitmask(bitmask)
                if bitmask.tobytes() != expected or not matcher.accept_token(token):
                    wrong.append((number, text.schema))
                    return
                masks[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    start, used = time.monotonic(), time.process_time()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    elapsed = time.monotonic() - start
    return {
        "masks/s": sum(masks) / elapsed,
        "texts/s": sum(compiled) / elapsed,
        "cpu": (time.process_time() - used) / elapsed,
        "wrong": len(wrong),
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--cores", type=int, nargs="*", default=[])
    parser.add_argument("--tokenizer")
    options = parser.parse_args()
    info = tokenizer_info(options.tokenizer)
    texts = prepare(info)
    print(f"{len(texts)} texts of {sum(len(text.tokens) for text in texts)} tokens, {info.vocab_size} token ids")
    wrong = 0.0
    for cores in options.cores or [0]:
        if cores:
            os.sched_setaffinity(0, range(cores))
        figures = run(info, texts, options.threads, options.seconds)
        wrong += figures["wrong"]
        shown = ", ".join(f"{name} {value:.6g}" for name, value in figures.items())
        print(f"{options.threads} threads, {cores or 'all'} core(s), {options.seconds:g} s: {shown}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
