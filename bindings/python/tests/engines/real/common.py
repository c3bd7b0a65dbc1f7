"""Requests that every engine answers, checks of the answers, and the file of results."""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.metadata
import json
import os
import platform
import re
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "member": {"type": "boolean"},
    },
    "required": ["name", "age", "member"],
    "additionalProperties": False,
}
ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        "day": {"type": "string", "format": "date"},
        "items": {"type": "array", "items": {"enum": ["tea", "coffee", "water"]}, "minItems": 1, "maxItems": 3},
    },
    "required": ["id", "day", "items"],
    "additionalProperties": False,
}
# Nothing that a text can obey, and a reference to nowhere.
BAD_SCHEMAS = [
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
    {"type": "nothing"},
]
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 16},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "unit", "days"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": about, "parameters": schema, "strict": True}}
    for name, about, schema in [
        ("get_weather", "The weather of a city.", WEATHER),
        ("find_person", "Looks a person up.", PERSON),
    ]
]
EBNF = 'root ::= "SELECT " column ("," column){0,3} " FROM users"\ncolumn ::= "name" | "age" | "id"\n'
LARK = 'start: "MOVE " DIRECTION " " STEPS\nDIRECTION: "north" | "south"\nSTEPS: /[1-9][0-9]?/\n'
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<call>",
        "content": {"type": "json_schema", "json_schema": WEATHER},
        "end": "</call>",
    },
}


def fits(schema: Any, text: str) -> bool:
    import jsonschema

    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    try:
        return bool(jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(json.loads(text)))
    except ValueError:
        return False


def matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def tag_fits(text: str) -> bool:
    found = re.fullmatch("<call>(.*)</call>", text, re.DOTALL)
    return found is not None and fits(WEATHER, found[1])


COLUMNS = "(name|age|id)"
# A prompt, the kind of the structure, the structure, and whether an answer obeys it. Every text of theirs is short.
REQUESTS: list[tuple[str, str, Any, Callable[[str], bool]]] = [
    ("Describe Ann, a member of 31 years, as JSON.", "json", PERSON, lambda text: fits(PERSON, text)),
    ("Describe Bob, who is 60, as JSON.", "json", PERSON, lambda text: fits(PERSON, text)),
    ("Write an order of tea as JSON.", "json", ORDER, lambda text: fits(ORDER, text)),
    ("Write an order of water and coffee as JSON.", "json", ORDER, lambda text: fits(ORDER, text)),
    ("Which weather is it in Paris? Answer as JSON.", "json", WEATHER, lambda text: fits(WEATHER, text)),
    ("Give an IPv4 address.", "regex", r"(\d{1,3}\.){3}\d{1,3}", matches(r"(\d{1,3}\.){3}\d{1,3}")),
    ("Give a time of the day.", "regex", r"([01]\d|2[0-3]):[0-5]\d", matches(r"([01]\d|2[0-3]):[0-5]\d")),
    ("Give a colour in hexadecimal.", "regex", "#[0-9a-f]{6}", matches("#[0-9a-f]{6}")),
    ("Is the sky blue?", "choice", ["yes", "no"], lambda text: text in ("yes", "no")),
    ("Is the film good?", "choice", ["positive", "negative"], lambda text: text in ("positive", "negative")),
    ("Say it with marks.", "choice", ['"a"', "b\\c", "d\ne"], lambda text: text in ('"a"', "b\\c", "d\ne")),
    ("Ask for all names of users in SQL.", "grammar", EBNF, matches(f"SELECT {COLUMNS}(,{COLUMNS}){{0,3}} FROM users")),
    ("Ask for all ages of users in SQL.", "grammar", EBNF, matches(f"SELECT {COLUMNS}(,{COLUMNS}){{0,3}} FROM users")),
    ("Go five steps to the north.", "grammar", LARK, matches("MOVE (north|south) [1-9][0-9]?")),
    ("Call the weather of Rome.", "structural_tag", json.dumps(TAG), tag_fits),
    ("Call the weather of Oslo for three days.", "structural_tag", json.dumps(TAG), tag_fits),
]


def chat(question: str) -> str:
    """The prompt of a question, in the notation of the model."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


def compiled(compiler: Any, kind: str, structure: Any) -> Any:
    """A structure of a request, over grammask."""
    if kind == "json":
        return compiler.compile_json_schema(structure, any_whitespace=False, separators=(",", ":"))
    if kind == "grammar":
        return compiler.compile_grammar(structure) if "::=" in structure else compiler.compile_lark(structure)
    if kind == "structural_tag":
        return compiler.compile_structural_tag(structure)
    return compiler.compile_regex(structure) if kind == "regex" else compiler.compile_choices(structure)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--record", type=Path, help="the folder for the file of results")
    parser.add_argument("--only", action="append", help="only these parts")
    return parser


class Report:
    """Records checks and measurements. They are printed at once, and written to a dated file at the end."""

    def __init__(self, engine: str, packages: list[str]) -> None:
        self.engine = engine
        versions = {name: importlib.metadata.version(name) for name in ["grammask", *packages]}
        self.versions = " ".join(f"{name} {version}" for name, version in versions.items())
        self.rows: list[dict[str, str]] = []
        self.failed = False

    def add(self, part: str, check: str, result: str, detail: str = "") -> None:
        detail = " ".join(detail.split())[:400]
        print(f"{part}: {check}: {result} {detail}".rstrip(), flush=True)
        self.rows.append({"part": part, "check": check, "result": result, "detail": detail})
        self.failed |= result == "failed"

    def check(self, part: str, check: str, function: Callable[[], str | None]) -> None:
        """Runs a check. It fails by an exception, and may return what to say of it."""
        start = time.perf_counter()
        try:
            detail = function() or ""
            result = "ok"
        except Exception as error:
            traceback.print_exc()
            result, detail = "failed", f"{type(error).__name__}: {error}"
        self.add(part, check, result, f"{detail} ({time.perf_counter() - start:.1f} s)".strip())

    def finish(self, record: Path | None) -> None:
        if record is not None:
            date = datetime.date.today().isoformat()
            names = (f"{date}-engine-{self.engine}{'' if at == 1 else f'-{at}'}.csv" for at in range(1, 1000))
            path = next(record / name for name in names if not (record / name).exists())
            head = {"date": date, "processor": processor(), "python": platform.python_version()}
            head |= {"engine": self.engine, "versions": self.versions}
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, [*head, "part", "check", "result", "detail"], lineterminator="\n")
                writer.writeheader()
                writer.writerows(head | row for row in self.rows)
            print(f"written: {path}")
        sys.exit(1 if self.failed else 0)


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name")).strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def loaded(process: int) -> set[str]:
    """Which of the libraries a process has loaded. Linux only."""
    maps = Path(f"/proc/{process}/maps").read_text()
    names = {"grammask": "grammask/_native", "xgrammar": "/xgrammar/", "llguidance": "/llguidance/"}
    return {name for name, path in names.items() if path in maps}


def descendants(process: int) -> list[int]:
    """A process and all that it started and that are alive. Linux only."""
    found, at = [process], 0
    while at < len(found):
        for task in Path(f"/proc/{found[at]}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
        at += 1
    return found


def offline_settings() -> None:
    """Nothing is fetched or reported while an engine runs."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_NO_USAGE_STATS": "1"}
