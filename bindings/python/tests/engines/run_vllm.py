"""The calls that vLLM 0.33 makes, in its order, on a module that it believes to be xgrammar.

Run by `test_engines.py`, in a process of its own. With torch its own types are used.
"""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import json
import sys
import warnings
from dataclasses import dataclass, field

import numpy as np
from tokens import CALL, DONE, END, VOCAB_SIZE, Tokenizer

# Parsers of tool calls are imported before plugins are loaded.
import xgrammar as xgr
from xgrammar import Grammar as EarlyGrammar
from xgrammar import StructuralTag

for plugin in importlib.metadata.entry_points(group="vllm.general_plugins"):
    plugin.load()()

import grammask  # noqa: E402

assert xgr is grammask and EarlyGrammar is grammask.Grammar and StructuralTag is grammask.StructuralTag


@dataclass
class Grammar:
    """A request's grammar; the annotations are evaluated with the class."""

    matcher: xgr.GrammarMatcher = field(hash=False)
    ctx: xgr.CompiledGrammar = field(hash=False)
    is_done: bool = False

    def accept_tokens(self, tokens):
        for token in tokens if not self.is_done else []:
            if not self.matcher.accept_token(token):
                return False
            self.is_done = self.matcher.is_terminated()
            if self.is_done:
                break
        return True

    def validate_tokens(self, tokens):
        accepted = []
        for token in tokens if not self.is_done else []:
            if not self.matcher.accept_token(token):
                break
            accepted.append(token)
            if self.matcher.is_terminated():
                break
        if accepted:
            self.matcher.rollback(len(accepted))
        return accepted

    def rollback(self, count):
        self.matcher.rollback(count)
        self.is_done = self.matcher.is_terminated()


tokenizer = Tokenizer()
full = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=VOCAB_SIZE)
special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
blanked = [""] * full.vocab_size
for text, number in tokenizer.get_vocab().items():
    if number not in special:
        blanked[number] = text
plain = xgr.TokenizerInfo.from_vocab_and_metadata(blanked, full.dump_metadata())
assert plain.vocab_size == VOCAB_SIZE and plain.stop_token_ids == [END]


def new_compiler(info):
    return xgr.GrammarCompiler(info, max_threads=8, cache_enabled=True, cache_limit_bytes=512 << 20)


compiler, full_compiler = new_compiler(plain), new_compiler(full)
SPECULATIVE, REQUESTS = 3, 8


def start(ctx, stop_token_ids=None):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        stop = list(stop_token_ids) if stop_token_ids else None
        matcher = xgr.GrammarMatcher(ctx, override_stop_tokens=stop, max_rollback_tokens=SPECULATIVE)
    assert [warning.category for warning in seen] == [DeprecationWarning]
    return Grammar(matcher, ctx)


def is_allowed(row, token):
    return bool(np.asarray(bitmask[row])[token // 32] >> (token % 32) & 1)


bitmask = xgr.allocate_token_bitmask(REQUESTS * (1 + SPECULATIVE), VOCAB_SIZE)


def follow(grammar, text, end=END):
    """All of a text, as a request would sample it."""
    for token in [*tokenizer.encode(text), end]:
        grammar.matcher.fill_next_token_bitmask(bitmask, 5)
        assert is_allowed(5, token), (text, token)
        assert grammar.accept_tokens([token])
    assert grammar.is_done
    try:
        grammar.matcher.fill_next_token_bitmask(bitmask, 5)
    except RuntimeError:
        pass
    else:
        raise AssertionError("nothing may be filled after the end")
    assert grammar.accept_tokens([0]), "tokens behind the end are not looked at"
    assert not grammar.matcher.accept_token(0)
    grammar.matcher.reset()
    grammar.is_done = False
    grammar.matcher.fill_next_token_bitmask(bitmask, 5)


def refused(call, *arguments, **options):
    """Requests are refused by `RuntimeError`; everything else ends the engine."""
    try:
        call(*arguments, **options)
    except RuntimeError:
        return True
    return False


warnings.simplefilter("ignore", xgr.GrammaskWarning)
schema = json.dumps({"type": "object", "properties": {"tool": {"type": "boolean"}}, "required": ["tool"]})
executor = concurrent.futures.ThreadPoolExecutor(2)

# The kinds of requests. Compilation happens in threads, and is polled.
spaced = executor.submit(compiler.compile_json_schema, schema, any_whitespace=True, separators=None)
tight = executor.submit(compiler.compile_json_schema, schema, any_whitespace=False, separators=(",", ":"))
follow(start(spaced.result()), '{ "tool" : true }')
follow(start(tight.result()), '{"tool":true}')
follow(start(compiler.compile_json_schema('{"type": "object"}', any_whitespace=True, separators=None)), '{"a": [1]}')
follow(start(compiler.compile_grammar('root ::= "a\\n" | "\\"b\\"" | "\\u007f"')), '"b"')
follow(start(compiler.compile_regex(r"\d{3}-[a-z]+")), "123-ab")
follow(start(full_compiler.compile_lark('start: "x" NUMBER\nNUMBER: /[0-9]+/\n')), "x12")
follow(start(compiler.compile_regex("a+"), {ord("!"), DONE}), "aa", ord("!"))
tag = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<|call|>"],
        "tags": [
            {
                "type": "tag",
                "begin": "<|call|>f",
                "content": {"type": "json_schema", "json_schema": json.loads(schema)},
                "end": "<|done|>",
            }
        ],
    },
}
call = full_compiler.compile_structural_tag(json.dumps(tag))
follow(start(call), 'some text, then <|call|>f{"tool": false}<|done|> and more')
items = [xgr.StructuralTagItem(begin="<f>", schema=schema, end="</f>")]
legacy = full_compiler.compile_structural_tag(items, ["<f>"])
follow(start(legacy), 'text <f>{"tool": true}</f>')
assert CALL in special, "the tag begins with a special token"

# The validation of requests, in the process of the server.
xgr.Grammar.from_regex(r"\d+")
xgr.Grammar.from_ebnf('root ::= "a"')
xgr.Grammar.from_lark('start: "a"')
xgr.Grammar.from_json_schema(json.loads(schema))
xgr.Grammar.from_structural_tag(json.dumps(tag))
xgr.Grammar.from_structural_tag(items, ["<f>"])
assert refused(xgr.Grammar.from_regex, "(")
assert refused(xgr.Grammar.from_ebnf, "root ::= missing")
assert refused(xgr.Grammar.from_json_schema, '{"type": "nothing"}')
assert refused(full_compiler.compile_structural_tag, '{"format": {"type": "nothing"}}')
assert refused(full_compiler.compile_lark, "start: missing")
assert refused(compiler.compile_json_schema, "{", any_whitespace=True, separators=None)

# Speculation: drafts are validated, and the rows along them are filled.
grammar = start(compiler.compile_regex("abc|abd"))
assert grammar.validate_tokens([ord("a"), ord("b"), ord("x")]) == [ord("a"), ord("b")]
assert grammar.validate_tokens([ord("a"), ord("b"), ord("c"), END, ord("a")]) == [97, 98, 99, END]
assert not grammar.matcher.is_terminated() and grammar.validate_tokens([]) == []
for row, token in enumerate([ord("a"), ord("b"), ord("d")]):
    grammar.matcher.fill_next_token_bitmask(bitmask, row)
    assert is_allowed(row, token) and grammar.accept_tokens([token])
grammar.matcher.fill_next_token_bitmask(bitmask, 3)
assert is_allowed(3, END) and grammar.accept_tokens([END]) and grammar.is_done
grammar.rollback(2)
assert not grammar.is_done and grammar.accept_tokens([ord("c"), END]) and grammar.is_done
grammar.rollback(0)
assert grammar.is_done

# Many rows at once are filled by threads, each with rows of its own.
grammars = [start(compiler.compile_regex(f"{letter}+")) for letter in "abcdefgh"]
bitmask[:] = 0


def fill(rows):
    for row in rows:
        grammars[row].matcher.fill_next_token_bitmask(bitmask, row)


list(executor.map(fill, [range(0, 4), range(4, 8)]))
assert all(is_allowed(row, ord("a") + row) and not is_allowed(row, ord("a") + 7 - row) for row in range(8))

# The mask crosses to the workers as an array, and goes onto some rows of the logits.
array = bitmask.numpy() if hasattr(bitmask, "numpy") else bitmask
assert array.dtype == np.int32 and array.flags.c_contiguous
logits = np.zeros((REQUESTS + 2, VOCAB_SIZE), np.float32)
rows = [6, 1]
if "torch" in sys.modules:
    import torch

    tensor = torch.from_numpy(logits)
    xgr.apply_token_bitmask_inplace(tensor, torch.from_numpy(array[:10]), indices=torch.tensor(rows, dtype=torch.int32))
else:
    xgr.apply_token_bitmask_inplace(logits, array[:10], indices=rows)
for row in range(REQUESTS):
    allowed = np.flatnonzero(np.isfinite(logits[row]))
    assert allowed.tolist() == ([ord("a") + row] if row in rows else list(range(VOCAB_SIZE)))

# What the server builds for tools.
from xgrammar import StructuralTag, get_model_structural_tag, normalize_tool_choice  # noqa: E402
from xgrammar.openai_tool_call_schema import BuiltinToolParam, FunctionToolParam  # noqa: E402
from xgrammar.structural_tag import (  # noqa: E402
    AnyTextFormat,
    ConstStringFormat,
    JSONSchemaFormat,
    OrFormat,
    SequenceFormat,
    TagFormat,
    TriggeredTagsFormat,
)

tools = [{"type": "function", "function": {"name": "f", "parameters": json.loads(schema)}}]
functions, builtin, mode = normalize_tool_choice([FunctionToolParam.model_validate(tool) for tool in tools], "required")
assert len(functions) == 1 and builtin == [] and mode == "required" and BuiltinToolParam is not None
made = get_model_structural_tag("qwen_3", tools=tools, tool_choice="required", reasoning="disabled")
again = StructuralTag.model_validate(made.model_dump())
assert again.model_dump() == made.model_dump()
made = full_compiler.compile_structural_tag(made.model_dump_json(by_alias=True))
follow(start(made), '<tool_call>\n{"name": "f", "arguments": {"tool": true}}\n</tool_call>')
answer = OrFormat(
    elements=[
        TagFormat(begin="<a>", content=JSONSchemaFormat(json_schema=json.loads(schema)), end=["</a>", ""]),
        SequenceFormat(elements=[ConstStringFormat(value="no "), AnyTextFormat(excludes=["<a>"])]),
    ]
)
assert "elements" in type(answer).model_fields and TriggeredTagsFormat is not None
own = StructuralTag(format=answer)
follow(start(full_compiler.compile_structural_tag(own.model_dump_json(by_alias=True))), "no answer")
follow(start(full_compiler.compile_structural_tag(own.model_dump_json(by_alias=True))), '<a>{"tool": true}')
printed = str(xgr.Grammar.from_json_schema(schema))
assert "root ::=" in printed and xgr.Grammar.from_ebnf(printed) is not None
executor.shutdown()
print("ok")
