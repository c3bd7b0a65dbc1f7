"""Times a decoding loop on a device, free and under masks of grammask and xgrammar, and appends it to the newest table.

Usage: python_loop.py FOLDER TOKENIZER. Needs torch with a CUDA device, transformers, and one of the packages; without a
device it runs a tiny model, to be tried out. The model has the shape of Llama 3.1 8B (without rotations) and random
weights; its step is one CUDA graph. Each row of a batch writes documents of its own schema: the document's next token
gets the largest logit, and is still chosen from the masked logits. A choice that is another token is an error.
"""

import csv
import glob
import importlib
import itertools
import json
import os
import random
import sys
import time

import torch
import transformers

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HIDDEN, HEADS, GROUPS, WIDE, LAYERS = (4096, 32, 8, 14336, 32) if DEVICE == "cuda" else (64, 4, 2, 128, 2)
WINDOW = 512
BATCHES = [1, 16, 64, 256] if DEVICE == "cuda" else [1, 4]
STEPS = 128
TURNS = 3

NAME, DATE = {"type": "string"}, {"type": "string", "format": "date"}
SCHEMAS = [
    {"name": NAME, "age": {"type": "integer"}, "married": {"type": "boolean"}, "tags": {"type": "array", "items": NAME}},
    {"city": NAME, "unit": {"enum": ["celsius", "fahrenheit"]}, "days": {"type": "integer"}, "from": DATE},
    {"items": {"type": "array", "items": {"enum": ["north", "south", "east", "west"]}}, "price": {"type": "number"}},
    {"query": NAME, "filter": {"year": {"type": "integer"}, "author": NAME, "open": {"type": "boolean"}}, "limit": {"type": "integer"}},
    {"to": {"type": "array", "items": NAME}, "subject": NAME, "body": NAME, "sent": DATE},
]


def whole(members):
    """The JSON Schema of an object: a dictionary without a type or values of its own is an object too."""
    inner = {name: one if "type" in one or "enum" in one else whole(one) for name, one in members.items()}
    return {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}


def sentence(rng):
    words = ["tokyo", "weather", "Anna", "böse", "report", "the", "of", "42nd", "new", "flights", "und", "meeting", "東京"]
    return " ".join(rng.choices(words, k=rng.randint(1, 12)))


def value(schema, rng):
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema["type"]:
        case "object":
            return {name: value(one, rng) for name, one in schema["properties"].items()}
        case "array":
            return [value(schema["items"], rng) for _ in range(rng.randint(0, 5))]
        case "string" if "format" in schema:
            return f"20{rng.randint(10, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        case "string":
            return sentence(rng)
        case "integer":
            return rng.randint(0, 5000)
        case "number":
            return rng.randint(1, 100000) / 100
        case "boolean":
            return rng.random() < 0.5
    raise ValueError(schema)


class Model:
    """A step of a Llama-shaped transformer for one token of each row, with a cache of WINDOW positions."""

    def __init__(self, columns):
        head = HIDDEN // HEADS
        torch.manual_seed(5)

        def weight(*shape):
            return torch.randn(*shape, device=DEVICE, dtype=torch.bfloat16) * shape[-1] ** -0.5

        self.embedding, self.last = weight(columns, HIDDEN), weight(columns, HIDDEN)
        self.layers = [
            (weight(HIDDEN + 2 * GROUPS * head, HIDDEN), weight(HIDDEN, HIDDEN), weight(2 * WIDE, HIDDEN), weight(HIDDEN, WIDE))
            for _ in range(LAYERS)
        ]
        self.norm = torch.ones(HIDDEN, device=DEVICE, dtype=torch.bfloat16)

    def prepare(self, batch):
        """Memory for a batch, and its step as a graph."""
        head = HIDDEN // HEADS
        shape = (LAYERS, 2, batch, GROUPS, WINDOW, head)
        self.cache = torch.zeros(shape, device=DEVICE, dtype=torch.bfloat16)
        self.position = torch.zeros(1, device=DEVICE, dtype=torch.int64)
        self.given = torch.zeros(batch, device=DEVICE, dtype=torch.int64)
        self.wanted = torch.zeros(batch, device=DEVICE, dtype=torch.int64)
        self.graph = None
        if DEVICE == "cuda":
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(2):
                    self.compute()
            torch.cuda.current_stream().wait_stream(stream)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.logits = self.compute()

    def compute(self):
        batch, head = len(self.given), HIDDEN // HEADS
        functional = torch.nn.functional
        seen = (torch.arange(WINDOW, device=DEVICE) <= self.position)[None, None, None]
        state = self.embedding[self.given]
        for number, (into, out, wide, narrow) in enumerate(self.layers):
            every = functional.rms_norm(state, (HIDDEN,), self.norm) @ into.T
            queries, keys, values = every.split([HIDDEN, GROUPS * head, GROUPS * head], dim=-1)
            for place, new in enumerate((keys, values)):
                self.cache[number, place].index_copy_(2, self.position, new.view(batch, GROUPS, 1, head))
            found = functional.scaled_dot_product_attention(
                queries.view(batch, GROUPS, HEADS // GROUPS, head), *self.cache[number], attn_mask=seen
            )
            state = state + found.reshape(batch, HIDDEN) @ out.T
            gate, up = (functional.rms_norm(state, (HIDDEN,), self.norm) @ wide.T).chunk(2, dim=-1)
            state = state + (functional.silu(gate) * up) @ narrow.T
        logits = (functional.rms_norm(state, (HIDDEN,), self.norm) @ self.last.T).float()
        self.position.copy_((self.position + 1) % WINDOW)
        return logits.scatter_add(1, self.wanted[:, None], torch.full((batch, 1), 1e4, device=DEVICE))

    def step(self):
        if self.graph is None:
            return self.compute()
        self.graph.replay()
        return self.logits


class Free:
    """No structure: tokens are chosen from all."""

    def __init__(self, rows, _batch):
        self.rows = rows

    def fill(self):
        pass

    def apply(self, logits):
        pass

    def accept(self, _tokens):
        pass


class Masked:
    """Masks of one package, which both have the same names."""

    def __init__(self, package, compiled, rows, columns):
        self.package, self.compiled, self.rows, self.columns = package, compiled, rows, columns
        self.matchers = [package.GrammarMatcher(compiled[row.schema]) for row in rows]
        self.batch = package.BatchGrammarMatcher(max_threads="auto")
        self.mask = package.allocate_token_bitmask(len(rows), columns)
        if DEVICE == "cuda":
            self.mask = self.mask.pin_memory()
        self.there = self.mask.to(DEVICE)

    def fill(self):
        self.batch.batch_fill_next_token_bitmask(self.matchers, self.mask)

    def apply(self, logits):
        self.there.copy_(self.mask, non_blocking=True)
        self.package.apply_token_bitmask_inplace(logits, self.there, vocab_size=self.columns)

    def accept(self, tokens):
        if not all(self.batch.batch_accept_token(self.matchers, tokens)):
            raise ValueError("a token of a document is refused")
        for number, row in enumerate(self.rows):
            if self.matchers[number].is_terminated():
                self.matchers[number] = self.package.GrammarMatcher(self.compiled[row.schema])


class Row:
    """The documents of one row of a batch, one after the other."""

    def __init__(self, number, encode, stop):
        self.schema = number % len(SCHEMAS)
        rng = random.Random(number)
        self.tokens = itertools.chain.from_iterable(
            [*encode(json.dumps(value(whole(SCHEMAS[self.schema]), rng), ensure_ascii=False)), stop] for _ in itertools.count()
        )


def run(model, structure, wanted):
    """Microseconds of one step, and the part of it that masks and matchers took of the thread."""
    busy, start = 0.0, time.perf_counter()
    for tokens in wanted:
        model.wanted.copy_(tokens)
        logits = model.step()
        begin = time.perf_counter()
        structure.fill()
        busy += time.perf_counter() - begin
        structure.apply(logits)
        chosen = logits.argmax(-1)
        model.given.copy_(chosen)
        host = chosen.tolist()
        if host != tokens.tolist():
            raise ValueError("a token that its mask allows was not chosen")
        begin = time.perf_counter()
        structure.accept(host)
        busy += time.perf_counter() - begin
    return (time.perf_counter() - start) * 1e6 / len(wanted), busy * 1e6 / len(wanted)


def main():
    folder, tokenizer = sys.argv[1], transformers.AutoTokenizer.from_pretrained(sys.argv[2])
    columns, stop = len(tokenizer), tokenizer.eos_token_id

    def encode(text):
        return tokenizer.encode(text, add_special_tokens=False)

    packages = {}
    for name in ("grammask", "xgrammar"):
        try:
            package = importlib.import_module(name)
        except ImportError as error:
            print(f"skipped: {name}: {error}")
            continue
        compiler = package.GrammarCompiler(package.TokenizerInfo.from_huggingface(tokenizer))
        texts = [json.dumps(whole(schema)) for schema in SCHEMAS]
        packages[name] = package, [compiler.compile_json_schema(text, any_whitespace=False) for text in texts]

    model, table = Model(columns), []
    for batch in BATCHES:
        model.prepare(batch)
        rows = [Row(number, encode, stop) for number in range(batch)]
        wanted = torch.tensor([list(itertools.islice(row.tokens, STEPS)) for row in rows]).T.contiguous()
        if DEVICE == "cuda":
            wanted = wanted.pin_memory()
        times = {}
        for turn in range(TURNS + 1):
            structures = {"free": Free(rows, batch)}
            for name, (package, compiled) in packages.items():
                structures[name] = Masked(package, compiled, rows, columns)
            for name, structure in structures.items():
                found = run(model, structure, wanted)
                if turn > 0:  # the first turn warms up
                    times.setdefault(name, []).append(found)
        for name, found in times.items():
            step, busy = min(found)
            for place, microseconds in ((f"loop: {name}", step), (f"loop: {name}: thread", busy)):
                table.append([place, "bf16", columns, batch, "", f"{microseconds:.1f}", ""])
            every = ", ".join(f"{step:.0f}" for step, _ in found)
            print(f"{batch:3} rows, {name:10} {step:8.0f} us a step ({every}), {busy:6.0f} of the thread's", flush=True)

    tables = sorted(glob.glob(os.path.join(folder, "*-gpu-apply.csv")))
    if tables and DEVICE == "cuda":
        with open(tables[-1], "a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
