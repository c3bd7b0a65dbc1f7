"""Function calls by a trained model: without structure, and over grammask, xgrammar and llguidance.

The answers of all settings to one question are decoded together. An answer is a path in a tree of tokens, and the model
reads each place of the tree once, whichever answers share it: equal texts have equal logits, so that answers differ by
masks and draws alone. The draws of one seed are the same for all settings.
"""

from __future__ import annotations

import argparse
import decimal
import gzip
import json
import math
import os
import re
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import Report, arguments, offline_settings

TEMPERATURE = 0.7
INSTRUCTION = (
    "You choose one of the given functions and call it. The answer is one JSON object with the members `name` and "
    "`arguments`, and nothing else."
)
EXAMPLE_TOOL = {
    "name": "find_train",
    "description": "Finds a train between two cities.",
    "parameters": {
        "type": "object",
        "properties": {
            "start": {"type": "string", "description": "Where the journey begins."},
            "end": {"type": "string", "description": "Where it ends."},
            "changes": {"type": "integer", "description": "How many changes there may be. Default is 2."},
        },
        "required": ["start", "end"],
    },
}
EXAMPLE_QUESTION = "I need a train from Lyon to Nice without any change."
EXAMPLE_CALL = {"name": "find_train", "arguments": {"start": "Lyon", "end": "Nice", "changes": 0}}

COMMA_SPACE = {"any_whitespace": False}
# What `compile_json_schema` is given. The first row compares libraries, the others ways to write one document.
SPELLINGS: dict[str, dict[str, Any]] = {
    "whitespace free, the default of the package": {},
    "whitespace free, at most 2 characters": {"max_whitespace_cnt": 2},
    "`, ` and `: `": COMMA_SPACE,
    "`,` and `:`": {"any_whitespace": False, "separators": (",", ":")},
    "lines, indented by 2": {"any_whitespace": False, "indent": 2},
    'spelling="printed"': {"spelling": "printed"},
    'spelling="any"': {"spelling": "any"},
    'spelling="compact"': {"spelling": "compact"},
    'spelling="canonical"': {"spelling": "canonical"},
}
ORDERS: dict[str, dict[str, Any]] = {
    'members in any order, spelling="printed"': {"spelling": "printed", "any_order": True},
    "members in any order, `, ` and `: `": {"any_order": True} | COMMA_SPACE,
}
REVERSED = {
    "members in the reverse of the prompt's order, `, ` and `: `": COMMA_SPACE,
    "arguments before the name, `, ` and `: `": COMMA_SPACE,
}


class Case:
    """A question of the pack."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.id, self.category = row["id"], row["category"]
        self.question = row["question"][-1]["content"]
        self.functions = [tool["function"] for tool in row["tools"]]
        # The pack has no call for a question whose call it could not match with a function.
        self.call = {name: row["calls"][0][name] for name in ("name", "arguments")} if row["calls"] else None

    def schema(self, *, reverse: bool = False, name_last: bool = False) -> dict[str, Any]:
        """The schema of an answer. Objects that list members are closed, for every library alike."""
        branches = []
        for function in self.functions:
            members = {"name": {"const": function["name"]}, "arguments": closed(function["parameters"], reverse)}
            if name_last:
                members = dict(reversed(members.items()))
            branches.append({"type": "object", "properties": members, "required": ["name", "arguments"],
                             "additionalProperties": False})
        return branches[0] if len(branches) == 1 else {"anyOf": branches}


def closed(schema: Any, reverse: bool) -> Any:
    if isinstance(schema, list):
        return [closed(each, reverse) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for keyword, value in schema.items():
        if keyword == "properties":
            members = reversed(value.items()) if reverse else value.items()
            result[keyword] = {name: closed(member, reverse) for name, member in members}
        else:
            result[keyword] = value if keyword in ("enum", "const", "default") else closed(value, reverse)
    if result.get("type") == "object" and "properties" in result:
        result.setdefault("additionalProperties", False)
    return result


def prices() -> list[dict[str, Any]]:
    """Questions with prices that end with a zero, as prices do and as no serialiser prints them."""
    members = {"item": {"type": "string", "description": "What is sold."},
               "price": {"type": "number", "description": "The price in dollars."}}
    tool = {"name": "record_price", "description": "Records the price of an item.",
            "parameters": {"type": "object", "properties": members, "required": ["item", "price"]}}
    rows = []
    for at, item in enumerate(["tea", "bread", "soap", "paint", "rope", "a lamp", "a chair", "a map", "salt", "wool"] * 6):
        price = f"{1 + 37 * at % 120}.{1 + at % 9}0"
        call = {"name": "record_price", "arguments": {"item": item.removeprefix("a "), "price": float(price)}}
        question = f"Record the price of {item}: {price} dollars."
        rows.append({"id": f"price-{at}", "category": "prices", "question": [{"content": question}],
                     "tools": [{"function": tool}], "calls": [call]})
    return rows


def read_cases(pack: Path | None, count: int | None) -> list[Case]:
    if pack is None:
        rows = prices()
    else:
        with gzip.open(pack, "rt", encoding="utf-8") as lines:
            rows = [row for row in map(json.loads, lines) if row["category"] in ("simple", "multiple")]
    if count is not None:
        # Evenly from the whole, so that a part of the pack is like the whole.
        rows = [rows[at * len(rows) // count] for at in range(count)]
    return [Case(row) for row in rows]


class Library:
    """Masks of one library. `spent` counts seconds, `tokens` those that were accepted."""

    def __init__(self, name: str, prepare: Callable[[Any, dict[str, Any]], Any]) -> None:
        self.name, self.prepare = name, prepare
        self.spent = {"compile": 0.0, "fill": 0.0, "accept": 0.0}
        self.compiled = self.tokens = 0

    def timed(self, part: str, function: Callable[..., Any], *values: Any) -> Any:
        start = time.perf_counter()
        result = function(*values)
        self.spent[part] += time.perf_counter() - start
        return result

    def matcher(self, schema: dict[str, Any], options: dict[str, Any]) -> Any:
        self.compiled += 1
        return self.timed("compile", self.prepare, schema, options)

    def fill(self, matcher: Any, bitmask: Any) -> None:
        self.timed("fill", matcher.fill_next_token_bitmask, bitmask, 0)

    def accept(self, matcher: Any, token: int) -> None:
        self.tokens += 1
        if not self.timed("accept", matcher.accept_token, token):
            raise AssertionError(f"{self.name} refuses token {token}, which its mask allows")


class Guidance(Library):
    """llguidance's own names for the same."""

    def fill(self, matcher: Any, bitmask: Any) -> None:
        import llguidance.torch

        self.timed("fill", llguidance.torch.fill_next_token_bitmask, matcher, bitmask, 0)

    def accept(self, matcher: Any, token: int) -> None:
        self.tokens += 1
        if not self.timed("accept", matcher.consume_token, token):
            raise AssertionError(f"{self.name} refuses token {token}: {matcher.get_error()}")


def libraries(tokenizer: Any, vocab_size: int, names: list[str]) -> dict[str, Library]:
    made: dict[str, Library] = {}
    for name in set(names) & {"grammask", "xgrammar"}:
        module = __import__(name)
        info = module.TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size)
        compiler = module.GrammarCompiler(info)

        def prepare(schema: Any, options: Any, module: Any = module, compiler: Any = compiler) -> Any:
            return module.GrammarMatcher(compiler.compile_json_schema(json.dumps(schema), **options))

        made[name] = Library(name, prepare)
    if "llguidance" in names:
        import llguidance
        import llguidance.hf

        tokens = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocab_size)

        def guidance(schema: Any, options: Any) -> Any:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema), defaults=options)
            matcher = llguidance.LLMatcher(tokens, grammar)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
            return matcher

        made["llguidance"] = Guidance("llguidance", guidance)
    return made


class Setting:
    """A way to answer: a library with its options, or none, and a schema with an order of members."""

    def __init__(self, part: str, library: str, name: str, options: Any = None, **schema: bool) -> None:
        self.part, self.library, self.name, self.options, self.schema = part, library, name, options, schema
        self.key = f"{part}: {library}, {name}" if library != "none" else "libraries: none"


def settings() -> list[Setting]:
    fixed = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    found = [Setting("libraries", "none", "")]
    for library, separated in (("grammask", COMMA_SPACE), ("xgrammar", COMMA_SPACE), ("llguidance", fixed)):
        found.append(Setting("libraries", library, "defaults", {}))
        found.append(Setting("libraries", library, "`, ` and `: `", separated))
    found += [Setting("spellings", "grammask", name, options) for name, options in (SPELLINGS | ORDERS).items()]
    first, second = REVERSED
    found.append(Setting("spellings", "grammask", first, REVERSED[first], reverse=True))
    found.append(Setting("spellings", "grammask", second, REVERSED[second], name_last=True))
    return found


class Answer:
    """One text that is being written."""

    def __init__(self, setting: Setting, seed: int | None, matcher: Any) -> None:
        self.setting, self.seed, self.matcher = setting, seed, matcher
        self.tokens: list[int] = []
        # Where it is in the tree: the place of its last token, and those before.
        self.path: list[int] = []
        self.ended = False


class Question:
    """A case with its answers, and what the model keeps of the places that it has read: a prompt, then a tree."""

    def __init__(self, case: Case, prompt: list[int], answers: list[Answer], draws: Callable[[int], list[Any]]) -> None:
        self.case, self.answers, self.draws = case, answers, draws
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self.size = 0
        # The next input of the model: tokens, their places in the text, and the places that each token sees.
        self.tokens, self.positions = prompt, list(range(len(prompt)))
        self.paths: list[list[int]] | None = None
        self.prompt, self.depth = len(prompt), 0
        # The place, among those that are read next, that an answer goes on from.
        self.at = dict.fromkeys(range(len(answers)), 0)

    def after(self, head: Question) -> None:
        """Takes over what was read of the tokens that all prompts begin with."""
        # Without room after them, so that the first new place moves them into a tensor of this question's own.
        self.keys, self.values = ([kept[:, : head.size] for kept in each] for each in (head.keys, head.values))
        self.size = head.size
        self.tokens, self.positions = self.tokens[head.size :], self.positions[head.size :]

    def keep(self, layer: int, keys: Any, values: Any) -> tuple[Any, Any]:
        """Keeps a layer's keys and values of the new places, of shape (heads, places, width); returns those of all."""
        end = self.size + keys.shape[1]
        for kept, new in ((self.keys, keys), (self.values, values)):
            if layer == len(kept):
                kept.append(new[:, :0])
            if kept[layer].shape[1] < end:
                larger = new.new_empty(new.shape[0], end + 256, new.shape[2])
                larger[:, : self.size] = kept[layer][:, : self.size]
                kept[layer] = larger
            kept[layer][:, self.size : end] = new
        return self.keys[layer][:, :end], self.values[layer][:, :end]

    def seen(self) -> Any:
        """Which places each new one sees, of shape (new places, places)."""
        import torch

        count = len(self.tokens)
        if self.paths is None:
            return torch.ones(count, self.size + count, dtype=torch.bool).tril(self.size)
        seen = torch.zeros(count, self.size + count, dtype=torch.bool)
        seen[:, : self.prompt] = True
        for row, path in enumerate(self.paths):
            seen[row, path] = True
        return seen


class Decoder:
    """The model over several questions at once. Its linear layers read all new places together."""

    def __init__(self, model: Any, end: int, limit: int, used: dict[str, Library]) -> None:
        self.model, self.end, self.limit, self.used = model, end, limit, used
        self.seconds = 0.0
        self.places = self.steps = 0
        self.bitmask: Any = None
        self.reading: list[tuple[Question, slice, Any]] = []

    def attend(self, module: Any, query: Any, key: Any, value: Any, _mask: Any, scaling: float, **_: Any) -> Any:
        """Attention within each question: what transformers calls in place of its own."""
        import torch

        parts = []
        for question, part, seen in self.reading:
            keys, values = question.keep(module.layer_idx, key[0, :, part], value[0, :, part])
            heads, count, width = query.shape[1], part.stop - part.start, query.shape[3]
            groups = heads // keys.shape[0]
            # Heads that share keys are rows of one product.
            asked = query[0, :, part].reshape(keys.shape[0], groups * count, width)
            found = torch.nn.functional.scaled_dot_product_attention(
                asked[None], keys[None], values[None], attn_mask=seen, scale=scaling
            )
            parts.append(found.reshape(heads, count, width))
        return torch.cat(parts, dim=1).transpose(0, 1)[None].contiguous(), None

    def read(self, questions: list[Question]) -> list[Any]:
        """Logits after the new places of each question; after the last one of a prompt."""
        import torch

        start = time.perf_counter()
        device = self.model.device
        self.reading, at, wanted = [], 0, []
        for question in questions:
            count = len(question.tokens)
            groups = self.model.config.num_attention_heads // self.model.config.num_key_value_heads
            self.reading.append((question, slice(at, at + count), question.seen().repeat(groups, 1).to(device)))
            wanted.append(range(at + count - 1 if question.paths is None else at, at + count))
            at += count
        with torch.inference_mode():
            hidden = self.model.model(
                input_ids=torch.tensor([[token for question in questions for token in question.tokens]], device=device),
                position_ids=torch.tensor(
                    [[place for question in questions for place in question.positions]], device=device
                ),
                use_cache=False,
            ).last_hidden_state[0]
            logits = self.model.lm_head(hidden[[place for places in wanted for place in places]]).float().cpu()
        for question in questions:
            question.size += len(question.tokens)
        self.seconds += time.perf_counter() - start
        self.places += at
        self.steps += 1
        return list(logits.split([len(places) for places in wanted]))

    def go_on(self, question: Question, logits: Any) -> None:
        """Chooses a token for each answer, and lists the places that the model has to read next."""
        children: dict[tuple[int, int], int] = {}
        paths: list[list[int]] = []
        draws = question.draws(logits.shape[-1])
        for number in list(question.at):
            answer = question.answers[number]
            token = self.choose(answer, logits[question.at[number]], draws)
            if token == self.end:
                answer.ended = True
            else:
                answer.tokens.append(token)
            if answer.ended or len(answer.tokens) == self.limit:
                del question.at[number]
                continue
            step = (answer.path[-1] if answer.path else -1, token)
            if step not in children:
                children[step] = len(paths)
                paths.append([*answer.path, question.size + len(paths)])
            question.at[number] = children[step]
            answer.path = paths[children[step]]
        question.tokens, question.paths = [token for _, token in children], paths
        question.positions = [question.prompt + question.depth] * len(paths)
        question.depth += 1

    def choose(self, answer: Answer, logits: Any, draws: Any) -> int:
        import torch

        scores = logits if answer.seed is None else logits / TEMPERATURE + draws[answer.seed]
        if answer.matcher is None:
            return int(scores.argmax())
        if self.bitmask is None:
            self.bitmask = torch.full((1, (len(scores) + 31) // 32), -1, dtype=torch.int32)
        library = self.used[answer.setting.library]
        library.fill(answer.matcher, self.bitmask)
        token = int(scores.masked_fill(~unpacked(self.bitmask, len(scores)), -math.inf).argmax())
        library.accept(answer.matcher, token)
        return token


def unpacked(bitmask: Any, size: int) -> Any:
    """Which tokens a bitmask allows, as booleans. No library's own function applies masks here."""
    import numpy
    import torch

    return torch.from_numpy(numpy.unpackbits(bitmask[0].numpy().view(numpy.uint8), bitorder="little")[:size]).bool()


def noise_of(case: str, seeds: int) -> Callable[[int], list[Any]]:
    """Gumbel's noise: the largest of logits with it is drawn as the softmax says. A step has the same for all answers."""
    import torch

    sources = [torch.Generator().manual_seed(zlib.crc32(f"{case} {seed}".encode())) for seed in range(seeds)]

    def draw(size: int) -> list[Any]:
        return [-torch.rand(size, generator=source).clamp_min(1e-20).log().neg().log() for source in sources]

    return draw


def prompts(tokenizer: Any, cases: list[Case]) -> list[list[int]]:
    def asked(functions: list[Any], question: str) -> dict[str, str]:
        listed = "\n".join(json.dumps(function) for function in functions)
        return {"role": "user", "content": f"Functions:\n{listed}\nQuestion: {question}"}

    head = [
        {"role": "system", "content": INSTRUCTION},
        asked([EXAMPLE_TOOL], EXAMPLE_QUESTION),
        {"role": "assistant", "content": json.dumps(EXAMPLE_CALL)},
    ]
    texts = [
        tokenizer.apply_chat_template(
            [*head, asked(case.functions, case.question)], tokenize=False, add_generation_prompt=True
        )
        for case in cases
    ]
    return [tokenizer(text, add_special_tokens=False).input_ids for text in texts]


def number(text: str) -> int | float:
    """A number with a fraction or an exponent. `1e400` is an integer, and infinite as a float."""
    exact = decimal.Decimal(text)
    is_whole = exact == 0 or exact.normalize().as_tuple().exponent >= 0
    return int(exact) if is_whole and exact.adjusted() < 4000 else float(text)


def judge(case: Case, text: str, ended: bool) -> dict[str, bool]:
    import jsonschema

    found = dict.fromkeys(("ends", "parses", "fits", "tool", "exact", "odd"), False) | {"ends": ended}
    numbers: list[str] = []

    def seen(text: str) -> int | float:
        numbers.append(text)
        return number(text)

    try:
        value = json.loads(text, parse_float=seen, parse_int=seen)
    except ValueError:
        return found
    # Nobody asks for numbers of so many digits, nor writes so large ones in questions.
    found["odd"] = any(re.search("[eE]|[0-9]{16}", text.replace(".", "")) is not None for text in numbers)
    found["parses"] = True
    found["fits"] = jsonschema.Draft202012Validator(case.schema()).is_valid(value)
    if case.call is not None and isinstance(value, dict):
        found["tool"] = value.get("name") == case.call["name"]
        found["exact"] = value == case.call
    return found


def first_value(text: str) -> str:
    """The first JSON object in a text, for answers that say more than they were asked for."""
    try:
        start = text.index("{")
        return text[start : start + json.JSONDecoder().raw_decode(text[start:])[1]]
    except ValueError:
        return ""


def wilson(right: int, count: int) -> str:
    """A share with Wilson's 95% interval, in percent."""
    z, share = 1.959964, right / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return f"{100 * share:.1f}% ({100 * max(0, middle - half):.1f} to {100 * min(1, middle + half):.1f})"


def write_answers(chosen: argparse.Namespace, report: Report) -> None:
    """Asks all questions that the file has no answers of, and adds theirs."""
    import torch
    import transformers

    torch.set_num_threads(chosen.threads)
    tokenizer = transformers.AutoTokenizer.from_pretrained(chosen.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(chosen.model, dtype=getattr(torch, chosen.dtype)).eval()
    model.to(chosen.device)
    cases = read_cases(chosen.pack, chosen.count)
    asked = prompts(tokenizer, cases)
    done = set()
    if chosen.answers.exists():
        done = {json.loads(line)["id"] for line in chosen.answers.read_text().splitlines()}
    wanted = settings()
    used = libraries(tokenizer, model.config.vocab_size, [setting.library for setting in wanted])
    expected = [generated(model, tokenizer, case, prompt, chosen.limit) for case, prompt in zip(cases[:2], asked[:2], strict=True)]
    decoder = Decoder(model, tokenizer.eos_token_id, chosen.limit, used)
    transformers.AttentionInterface.register("trees", decoder.attend)
    model.set_attn_implementation("trees")
    head = Question(cases[0], os.path.commonprefix(asked), [], lambda _: [])
    decoder.read([head])

    def answers_to(case: Case) -> list[Answer]:
        found = []
        for setting in wanted:
            for seed in [None, *(range(chosen.seeds) if setting.part == "libraries" else [])]:
                matcher = None
                if setting.library != "none":
                    matcher = used[setting.library].matcher(case.schema(**setting.schema), setting.options)
                found.append(Answer(setting, seed, matcher))
        return found

    def begin(case: Case, prompt: list[int]) -> Question:
        question = Question(case, prompt, answers_to(case), noise_of(case.id, chosen.seeds))
        question.after(head)
        return question

    def same() -> str:
        for case, prompt, texts in zip(cases, asked, expected, strict=False):
            question = begin(case, prompt)
            while question.at:
                decoder.go_on(question, decoder.read([question])[0])
            for library, text in texts.items():
                key = Setting("libraries", library, "defaults").key
                written = [each.tokens for each in question.answers if each.setting.key == key and each.seed is None]
                assert written == [text], (library, written, text)
        return f"{len(expected)} questions"

    report.check("the program", "it writes what generate() of transformers does, without structure and with", same)
    waiting = [pair for pair in zip(cases, asked, strict=True) if pair[0].id not in done]
    waiting.reverse()
    live: list[Question] = []
    started, decoder.seconds, decoder.places, decoder.steps = time.perf_counter(), 0.0, 0, 0
    with chosen.answers.open("a") as file:
        while waiting or live:
            if waiting and len(live) < chosen.together:
                live.append(begin(*waiting.pop()))
            for question, logits in zip(live, decoder.read(live), strict=True):
                decoder.go_on(question, logits)
            for question in [question for question in live if not question.at]:
                live.remove(question)
                rows = [
                    {"setting": answer.setting.key, "seed": answer.seed, "ended": answer.ended,
                     "tokens": len(answer.tokens), "text": tokenizer.decode(answer.tokens)}
                    for answer in question.answers
                ]
                print(json.dumps({"id": question.case.id, "answers": rows}), file=file, flush=True)
                print(f"{len(waiting)} wait, {time.perf_counter() - started:.0f} s, {decoder.steps} steps, "
                      f"{decoder.places} places, {decoder.seconds:.0f} s", flush=True)
    for name, library in used.items():
        if library.tokens:
            each = ", ".join(f"{part} {1e6 * library.spent[part] / library.tokens:.1f}" for part in ("fill", "accept"))
            report.add("time", name, "measured", f"microseconds a token: {each}; a schema: "
                       f"{1e6 * library.spent['compile'] / library.compiled:.0f}; {library.tokens} tokens")
    if decoder.steps:
        report.add("time", "the model", "measured", f"milliseconds a place: {1e3 * decoder.seconds / decoder.places:.2f}, "
                   f"{decoder.places / decoder.steps:.1f} at a time; {chosen.threads} threads, {chosen.dtype}")


def generated(model: Any, tokenizer: Any, case: Case, prompt: list[int], limit: int) -> dict[str, list[int]]:
    """What transformers itself makes of a prompt, without structure and over grammask."""
    import grammask
    import torch
    from grammask.contrib.hf import LogitsProcessor

    info = grammask.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = grammask.GrammarCompiler(info).compile_json_schema(case.schema())
    ids, end, found = torch.tensor([prompt], device=model.device), tokenizer.eos_token_id, {}
    for library, processors in (("none", []), ("grammask", [LogitsProcessor(compiled)])):
        written = model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=limit, pad_token_id=end,
            logits_processor=processors,
        )[0, len(prompt) :].tolist()
        found[library] = written[: written.index(end)] if end in written else written
    return found


def tabulate(chosen: argparse.Namespace, report: Report) -> None:
    """Judges the answers, and writes a table in Markdown beside them."""
    cases = {case.id: case for case in read_cases(chosen.pack, chosen.count)}
    found: dict[tuple[str, str], list[tuple[Case, dict[str, bool], int]]] = {}
    wrong, answered = [], set()
    for line in map(json.loads, chosen.answers.read_text().splitlines()):
        case = cases.get(line["id"])
        answered.add(line["id"])
        for row in line["answers"] if case is not None else []:
            manner = "greedy" if row["seed"] is None else "sampled"
            judged = judge(case, row["text"], row["ended"])
            found.setdefault((row["setting"], manner), []).append((case, judged, row["tokens"]))
            if row["setting"] == "libraries: none":
                lenient = judge(case, first_value(row["text"]), row["ended"])
                found.setdefault(("libraries: none, its first JSON object", manner), []).append(
                    (case, lenient, row["tokens"])
                )
            if "grammask" in row["setting"] and row["ended"] and not judged["fits"]:
                wrong.append(f"{row['setting']}, {case.id}: {row['text']}")
    names = ("ends", "parses", "fits", "tool", "exact")
    table = ["| setting | answers | ends | parses | fits | right tool | exactly right | odd numbers | tokens |",
             "|" + "---|" * 9]
    for (setting, manner), rows in found.items():
        kinds = list(dict.fromkeys(row[0].category for row in rows))
        for category in [*kinds, "all"] if len(kinds) > 1 else kinds:
            part = [row for row in rows if category in (row[0].category, "all")]
            shares = {}
            for name in names:
                # A question without a call in the pack has no right answer.
                counted = [row for row in part if row[0].call is not None or name in ("ends", "parses", "fits")]
                shares[name] = wilson(sum(judged[name] for _, judged, _ in counted), len(counted))
            tokens = sum(tokens for *_, tokens in part) / len(part)
            odd = sum(judged["odd"] for _, judged, _ in part)
            report.add(f"{manner}, {category}", setting, "measured", f"{len(part)} answers: "
                       + ", ".join(f"{name} {share}" for name, share in shares.items())
                       + f", {odd} with a number of 16 digits or an exponent, {tokens:.1f} tokens")
            cells = [f"{setting}; {manner}, {category}", str(len(part)), *shares.values(), str(odd), f"{tokens:.1f}"]
            table.append(f"| {' | '.join(cells)} |")
    chosen.answers.with_suffix(".md").write_text("\n".join(table) + "\n")

    right = {key: {case.id for case, judged, _ in rows if judged["exact"]} for key, rows in found.items()}
    for setting, manner in found:
        usual = right[("libraries: grammask, defaults", manner)]
        here = right[(setting, manner)]
        report.add("paired", f"{setting}; {manner}", "measured", f"exactly right here alone {len(here - usual)}, "
                   f"with the defaults of grammask alone {len(usual - here)}")

    def valid() -> str:
        assert not wrong, wrong[:3]
        return f"{len(answered)} of {len(cases)} questions"

    report.check("grammask", "each answer that ends fits its schema", valid)


def main() -> None:
    parser = arguments()
    parser.add_argument("--pack", type=Path, help="function calls of BFCL, one a line, compressed; else own questions")
    parser.add_argument("--answers", type=Path, required=True, help="the file of answers; it is gone on with")
    parser.add_argument("--count", type=int, help="only so many questions")
    parser.add_argument("--seeds", type=int, default=1, help="how many answers are sampled beside the greedy one")
    parser.add_argument("--limit", type=int, default=128, help="the most tokens of an answer")
    parser.add_argument("--together", type=int, default=8, help="how many questions at once")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    offline_settings()
    report = Report("quality", ["xgrammar", "llguidance", "torch", "transformers"])
    report.add("settings", "questions", "measured", f"{'the pack' if chosen.pack else 'own, about prices'}, "
               f"{chosen.seeds} sampled at temperature {TEMPERATURE}, at most {chosen.limit} tokens")
    if chosen.only != ["table"]:
        write_answers(chosen, report)
    tabulate(chosen, report)
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
