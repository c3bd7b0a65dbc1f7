"""Two decoding loops over one small model, timed side by side.

The plain one asks the model, then computes the mask, then chooses. The overlapped one computes the mask while the model
works, and does not ask the model at all for tokens that are forced.
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import grammask
import numpy as np

HIDDEN = 1024
SCHEMA = {
    "type": "object",
    "properties": {
        "temperature_celsius": {"type": "integer", "minimum": -50, "maximum": 60},
        "weather_condition": {"enum": ["sunny", "cloudy", "raining"]},
        "is_forecast": {"type": "boolean"},
        "observations": {"type": "array", "items": {"enum": ["north", "south"]}, "minItems": 3, "maxItems": 3},
    },
    "required": ["temperature_celsius", "weather_condition", "is_forecast", "observations"],
}

# Single bytes, the pieces of some words, and an end token.
words = b"temperature celsius weather condition forecast observations sunny cloudy raining north south true false".split()
pieces = sorted({word[start : start + size] for word in words for start in range(0, len(word), 3) for size in (2, 3, 4)})
tokens = [bytes([byte]) for byte in range(256)] + [piece for piece in pieces if len(piece) > 1] + [b'", "', b'": ', b"</s>"]
info = grammask.TokenizerInfo(tokens)
ids = {token: number for number, token in enumerate(tokens)}
longest = max(map(len, tokens))


def encode(text):
    """The tokenizer: always the longest token that fits."""
    left, encoded = text.encode(), []
    while left:
        size = next(size for size in range(min(longest, len(left)), 0, -1) if left[:size] in ids)
        encoded.append(ids[left[:size]])
        left = left[size:]
    return encoded


class Model:
    """Two layers whose numbers mean nothing; it computes without the interpreter's lock."""

    def __init__(self):
        rng = np.random.default_rng(5)
        self.embedding = rng.normal(size=(len(tokens), HIDDEN)).astype(np.float32)
        self.layers = [rng.normal(size=(HIDDEN, HIDDEN)).astype(np.float32) / HIDDEN**0.5 for _ in range(2)]
        self.calls = 0

    def __call__(self, token):
        self.calls += 1
        state = self.embedding[token]
        for layer in self.layers:
            state = np.tanh(layer @ state)
        return (self.embedding @ state)[None]


model = Model()
compiled = grammask.GrammarCompiler(info).compile_json_schema(SCHEMA, any_whitespace=False)
bitmask = grammask.allocate_token_bitmask(1, info.vocab_size, backend="numpy")


def plain():
    matcher, written = grammask.GrammarMatcher(compiled), [ids[b"</s>"]]
    while not matcher.is_terminated():
        logits = model(written[-1])
        matcher.fill_next_token_bitmask(bitmask)
        token = int(grammask.choose_tokens(logits, bitmask, temperature=0)[0])
        assert matcher.accept_token(token)
        written.append(token)
    return written[1:-1]


def overlapped(worker):
    matcher, written = grammask.GrammarMatcher(compiled), [ids[b"</s>"]]
    while not matcher.is_terminated():
        forced, back = matcher.find_jump_forward_tokens(encode, written[1:][-4:])
        if forced:
            matcher.rollback(back)
            del written[len(written) - back :]
            assert all(matcher.accept_token(token) for token in forced)
            written += forced
        pending = worker.submit(model, written[-1])
        matcher.fill_next_token_bitmask(bitmask)
        token = int(grammask.choose_tokens(pending.result(), bitmask, temperature=0)[0])
        assert matcher.accept_token(token)
        written.append(token)
    return written[1:-1]


def timed(loop, *arguments):
    loop(*arguments)  # masks are known after the first text
    model.calls, start = 0, time.perf_counter()
    runs = [loop(*arguments) for _ in range(8)]
    seconds = (time.perf_counter() - start) / len(runs)
    text = b"".join(tokens[token] for token in runs[0]).decode()
    value = json.loads(text)
    assert list(value) == SCHEMA["required"] and -50 <= value["temperature_celsius"] <= 60
    calls = model.calls / len(runs)
    print(f"{loop.__name__:10}  {len(runs[0])} tokens, {calls:.0f} model calls, {seconds * 1e3:.2f} ms a text")
    return calls


with ThreadPoolExecutor(1) as worker:
    asked = timed(plain), timed(overlapped, worker)
assert asked[1] < asked[0], "forced tokens need no model"
