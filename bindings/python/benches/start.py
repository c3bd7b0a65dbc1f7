"""Start-up beside the peers, in one run: import, tokenizer, first mask, many schemas, memory.

    python benches/start.py --tokenizer FOLDER --pack PACK.jsonl.gz [--processes 5] [--turns 3] [--schemas 500]

`FOLDER` holds a `tokenizer.json` that `transformers` reads. A line of the pack has a `schema` and `tests`, those that are
`valid` with `data`. Packages that are not installed are left out. All times are milliseconds of processor time.

- *start* is a process of each package in turns: the import of grammask after numpy's, the package's own reading of a
  tokenizer that `transformers` has loaded, and from there the first mask of a schema and that of a second one. Each
  package is called with its defaults.
- *schemas* is a process of each package in turns without `transformers`: each schema, as text, is compiled once and gives
  its first mask. Both packages take open objects and free whitespace here. The least of the turns counts for each schema.
  xgrammar is left out, because it needs minutes for some of them. A mask has to allow how each valid document begins.
- *peak* is the most memory that the process of the schemas held. `cache_limit_bytes` is the default once (compiled grammars
  are kept), and 16 MiB once.

Ends with status 1 if a mask of grammask was wrong.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile
from time import process_time_ns

PACKAGES = ("grammask", "llguidance", "xgrammar")
FIRST = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}
SECOND = {"type": "object", "properties": {"city": {"type": "string"}, "at": {"type": "number"}}, "required": ["city"]}

Mask = Callable[[str], "object"]


def from_transformers(package: str, tokenizer: object) -> object:
    if package == "llguidance":
        import llguidance.hf

        return llguidance.hf.from_tokenizer(tokenizer)
    return import_module(package).TokenizerInfo.from_huggingface(tokenizer)


def from_folder(package: str, folder: str) -> object:
    path = Path(folder) / "tokenizer.json"
    if package == "llguidance":
        import llguidance

        return llguidance.LLTokenizer(path.read_text())
    return import_module(package).TokenizerInfo.from_file(path)


def engine(package: str, known: object, compile_options: dict, **options: int) -> Mask:
    """What gives the first mask of a schema, as users of the package do it."""
    if package == "llguidance":
        import llguidance
        from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

        row = allocate_token_bitmask(1, known.vocab_size)

        def first(schema: str) -> object:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
            matcher = llguidance.LLMatcher(known, grammar, log_level=0)
            if matcher.is_error():
                raise RuntimeError(matcher.get_error())
            fill_next_token_bitmask(matcher, row)
            return row[0]

        return first
    peer = import_module(package)
    compiler = peer.GrammarCompiler(known, max_threads=1, **options)
    row = peer.allocate_token_bitmask(1, known.vocab_size)

    def first(schema: str) -> object:
        matcher = peer.GrammarMatcher(compiler.compile_json_schema(schema, **compile_options))
        matcher.fill_next_token_bitmask(row)
        return row[0]

    return first


def taken(since: int) -> float:
    return (process_time_ns() - since) / 1e6


def peak() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def start(package: str, folder: str) -> dict[str, float]:
    """One process, from the import to the first mask of a second schema."""
    import numpy as np  # noqa: F401

    figures = {}
    begin = process_time_ns()
    if package == "grammask":
        import_module(package)
        figures["import after numpy"] = taken(begin)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    # All that is imported late is not part of what is measured.
    for module in ("llguidance.hf", "llguidance.numpy") if package == "llguidance" else (package,):
        import_module(module)
    begin = process_time_ns()
    known = from_transformers(package, tokenizer)
    figures["tokenizer"] = taken(begin)
    begin = process_time_ns()
    first = engine(package, known, {})
    first(json.dumps(FIRST))
    figures["first mask"] = taken(begin)
    begin = process_time_ns()
    first(json.dumps(SECOND))
    figures["second schema"] = taken(begin)
    return figures


def numpy_alone() -> float:
    begin = process_time_ns()
    import numpy as np  # noqa: F401

    return taken(begin)


def allows(row: object, tokens: dict[int, int], document: object) -> bool:
    token = tokens[json.dumps(document).encode()[0]]
    return bool(int(row[token // 32]) >> (token % 32) & 1)  # type: ignore[index]


def single_bytes(folder: str) -> dict[int, int]:
    """The tokens of the characters that a JSON document begins with."""
    vocab = json.loads((Path(folder) / "tokenizer.json").read_text())["model"]["vocab"]
    return {byte: vocab[chr(byte)] for byte in b'{["-0123456789tfnN'}


def schemas(package: str, folder: str, given: dict, cache: int | None) -> dict[str, object]:
    """Each schema once: milliseconds to its first mask, None where it was refused; and the peak of memory."""
    tokens = {int(byte): token for byte, token in given["tokens"].items()}
    options = {} if cache is None else {"cache_limit_bytes": cache}
    first = engine(package, from_folder(package, folder), {"strict_mode": False}, **options)
    first(json.dumps(FIRST))
    before = peak()
    times: list[float | None] = []
    wrong = 0
    for line in given["pack"]:
        text = json.dumps(line["schema"])
        begin = process_time_ns()
        try:
            row = first(text)
        except (RuntimeError, ValueError):
            times.append(None)
            continue
        times.append(taken(begin))
        wrong += not all(allows(row, tokens, test["data"]) for test in line["tests"] if test["valid"])
    return {"times": times, "wrong": wrong, "peak": peak(), "before": before}


def read_pack(path: str, count: int, seed: int) -> list[dict]:
    with gzip.open(path, "rt") as file:
        lines = file.readlines()
    return [json.loads(line) for line in random.Random(seed).sample(lines, min(count, len(lines)))]


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def child(part: str, package: str, options: argparse.Namespace) -> dict:
    command = [sys.executable, "-W", "ignore", __file__, "--part", part, "--package", package]
    command += ["--tokenizer", options.tokenizer, "--pack", options.pack]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def compare(options: argparse.Namespace, packages: list[str]) -> bool:
    """Prints every figure of the module's head. False if a mask of grammask was wrong."""
    alone = [child("numpy", "numpy", options)["import"] for _ in range(options.processes)]
    print(f"import numpy: {median(alone):.1f} (least {min(alone):.1f}, largest {max(alone):.1f})")
    runs: dict[str, list[dict[str, float]]] = {package: [] for package in packages}
    for _, package in product(range(options.processes), packages):
        runs[package].append(child("start", package, options))
    for package, figures in runs.items():
        for name in figures[0]:
            values = [run[name] for run in figures]
            print(f"{package}: {name}: {median(values):.2f} (least {min(values):.2f}, largest {max(values):.2f})")
    turns: dict[str, list[dict]] = {package: [] for package in packages if package != "xgrammar"}
    for _, package in product(range(options.turns), turns):
        turns[package].append(child("kept", package, options))
    for package, answers in turns.items():
        peaks = [answer["peak"] for answer in answers]
        print(f"{package}: peak {median(peaks):.0f} MiB, {answers[0]['before']:.0f} of them before the schemas")
        print(f"{package}: {sum(time is None for time in answers[0]['times'])} refused, {answers[0]['wrong']} wrong")
    print(f"grammask: peak {child('dropped', 'grammask', options)['peak']:.0f} MiB with a cache of 16 MiB")
    # The machine may be busy with other things, therefore the least of the turns.
    least: dict[str, list[float | None]] = {
        package: [None if None in times else min(times) for times in zip(*(answer["times"] for answer in answers))]
        for package, answers in turns.items()
    }
    for package in list(turns)[1:]:
        both = [pair for pair in zip(least["grammask"], least[package], strict=True) if None not in pair]
        print(f"first masks of the {len(both)} schemas that grammask and {package} take")
        for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("largest", 1.0)):
            ours, theirs = (percentile(list(values), part) for values in zip(*both))
            print(f"  {name}: {ours:.2f} and {theirs:.2f}, {ours / theirs:.2f}")
    return not any(answer["wrong"] for answer in turns["grammask"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--pack", required=True)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--schemas", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--package", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is None:
        packages = [package for package in PACKAGES if find_spec(package)]
        pack = read_pack(options.pack, options.schemas, options.seed)
        given = {"tokens": single_bytes(options.tokenizer), "pack": pack}
        with NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(given, file)
            file.flush()
            options.pack = file.name
            sys.exit(not compare(options, packages))
    if options.part == "numpy":
        answer: dict = {"import": numpy_alone()}
    elif options.part == "start":
        answer = start(options.package, options.tokenizer)
    else:
        given = json.loads(Path(options.pack).read_text())
        cache = 16 << 20 if options.part == "dropped" else None
        answer = schemas(options.package, options.tokenizer, given, cache)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
