"""Times of compiling and of masks, beside xgrammar and llguidance where they are installed.

A small table to see that all is well; the measurements that count are in docs/benchmarks.md.
"""

import importlib.util
import json
import statistics
import time

import grammask
import numpy as np

WORDS = "the of and to in is name email street city age true false null items tags id value open closed".split()
PIECES = [b'{"', b'": ', b'", "', b'"}', b", ", b"[", b"]", b": "]
VOCABULARY = [bytes([byte]) for byte in range(256)]
VOCABULARY += [space + word.encode() for word in WORDS for space in (b"", b" ")] + PIECES + [b"</s>"]
STOP = len(VOCABULARY) - 1
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
TEXT = json.dumps({"name": "the name of the city", "age": 37, "tags": ["open", "is true", "value"]})
ROUNDS = 20


def encode(text: bytes) -> list[int]:
    """The longest token first; any way of cutting the text up will do here."""
    ids = {token: number for number, token in enumerate(VOCABULARY) if number != STOP}
    longest, tokens = max(map(len, ids)), []
    while text:
        size = next(size for size in range(longest, 0, -1) if text[:size] in ids)
        tokens.append(ids[text[:size]])
        text = text[size:]
    return tokens


def like_xgrammar(module):
    info = module.TokenizerInfo(VOCABULARY, module.VocabType.RAW, stop_token_ids=[STOP])
    bitmask = module.allocate_token_bitmask(1, len(VOCABULARY))

    def start():
        compiler = module.GrammarCompiler(info)
        matcher = module.GrammarMatcher(compiler.compile_json_schema(json.dumps(SCHEMA)))
        return lambda: matcher.fill_next_token_bitmask(bitmask), matcher.accept_token

    return start


def llguidance():
    import llguidance
    import llguidance.numpy

    class Tokens:
        eos_token_id = bos_token_id = STOP
        tokens = VOCABULARY
        special_token_ids = [STOP]  # noqa: RUF012

        def __call__(self, text):
            return encode(text if isinstance(text, bytes) else text.encode())

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()))
    bitmask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)

    def start():
        matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(SCHEMA))
        return lambda: llguidance.numpy.fill_next_token_bitmask(matcher, bitmask, 0), matcher.consume_token

    return start


def measure(name, start):
    tokens, first, masks = encode(TEXT.encode()), [], []
    for _ in range(ROUNDS):
        began = time.perf_counter_ns()
        fill, accept = start()
        fill()
        first.append(time.perf_counter_ns() - began)
        for token in tokens:
            began = time.perf_counter_ns()
            fill()
            masks.append(time.perf_counter_ns() - began)
            assert accept(token), f"{name} refuses {VOCABULARY[token]!r}"
    middle, worst = statistics.median(masks), np.percentile(masks, 99)
    print(f"{name:<12} {statistics.median(first) / 1000:>14.0f} {middle / 1000:>12.2f} {worst / 1000:>12.2f}")


print(f"{'microseconds':<12} {'to first mask':>14} {'mask p50':>12} {'mask p99':>12}")
measure("grammask", like_xgrammar(grammask))
for peer in ("xgrammar", "llguidance"):
    if importlib.util.find_spec(peer) is None:
        print(f"{peer:<12} is not installed")
        continue
    try:
        measure(peer, like_xgrammar(importlib.import_module(peer)) if peer == "xgrammar" else llguidance())
    except Exception as error:  # another version of a peer is no reason to fail
        print(f"{peer:<12} could not be measured: {error}")
