"""The calls that SGLang 0.5.23 makes, through what its plugin loading finds.

Run by `test_engines.py`, in a process of its own. The first argument is what the command line chooses.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import types
import warnings

import numpy as np

# A server's processes have imported xgrammar before they load plugins.
import xgrammar as original
from sglang.srt import server_args
from sglang.srt.constrained import base_grammar_backend as base
from tokens import CALL, DONE, END, VOCAB_SIZE, Tokenizer

for plugin in importlib.metadata.entry_points(group="sglang.srt.plugins"):
    plugin.load()()

import grammask  # noqa: E402

name = sys.argv[1]
assert "grammask" in server_args.CHOICES
assert sys.modules["xgrammar"] is original, "other parts keep what they have"
assert (original is grammask) == (name == "xgrammar")

tokenizer = Tokenizer()
arguments = types.SimpleNamespace(
    constrained_json_disable_any_whitespace=False, constrained_json_max_whitespace_cnt=1, reasoning_parser=None
)
backend = base.create_grammar_backend(name, arguments, tokenizer, VOCAB_SIZE, {END})
assert isinstance(backend.info, grammask.TokenizerInfo) and backend.info.stop_token_ids == [END]
shape, dtype = backend.mask
assert str(dtype).endswith("int32")
mask = np.full(shape(4, VOCAB_SIZE), -1, np.int32)
warnings.simplefilter("ignore")


def is_allowed(row, token):
    return bool(mask[row, token // 32] >> (token % 32) & 1)


def follow(grammar, tokens):
    """A request: a matcher of its own on the grammar that is kept."""
    matcher = grammar.copy().matcher
    for token in [*(tokenizer.encode(tokens) if isinstance(tokens, str) else tokens), END]:
        matcher.fill_next_token_bitmask(mask, 2)
        assert is_allowed(2, token), (tokens, token)
        assert matcher.accept_token(token)
    assert matcher.is_terminated()
    matcher.rollback(1)
    assert not matcher.is_terminated() and matcher.accept_token(END)


schema = json.dumps({"type": "object", "properties": {"tool": {"type": "boolean"}}, "required": ["tool"]})
follow(backend.dispatch_json("$$ANY$$"), '[1, {"a": null}]')
follow(backend.dispatch_json(schema), '{"tool": true}')
follow(backend.dispatch_ebnf('root ::= "a" root | "b"'), "aab")
follow(backend.dispatch_regex("(hello|bye) [a-z]+"), "bye you")
content = {"type": "json_schema", "json_schema": json.loads(schema)}
tag = {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}
triggered = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [tag]}
text = json.dumps({"type": "structural_tag", "format": triggered})
follow(backend.dispatch_structural_tag(text), 'so <f>{"tool": true}</f>')
legacy = {"structures": [{"begin": "<f>", "schema": json.loads(schema), "end": "</f>"}], "triggers": ["<f>"]}
follow(backend.dispatch_structural_tag(json.dumps(legacy)), "nothing to call")
forced = backend.dispatch_structural_tag(json.dumps({**legacy, "at_least_one": True}))
follow(forced, '<f>{"tool": false}</f>')
matcher = forced.copy().matcher
matcher.fill_next_token_bitmask(mask, 2)
assert not is_allowed(2, END), "a call is demanded"
for invalid in (
    backend.dispatch_json('{"type": "nothing"}'),
    backend.dispatch_json("{"),
    backend.dispatch_ebnf("root ::= missing"),
    backend.dispatch_regex("("),
    backend.dispatch_structural_tag('{"format": {"type": "nothing"}}'),
):
    assert invalid.message

# An answer between special tokens, which its own text must not spell.
backend.reserve_framing_tokens([CALL, DONE])
token = lambda number: {"type": "token", "token": number}  # noqa: E731
frame = lambda inner: {"type": "sequence", "elements": [token(CALL), inner, token(DONE)]}  # noqa: E731
framed = backend.compile_framed_grammar(
    backend.dispatch_regex("[a-z<|>]+"), lambda inner: {"type": "structural_tag", "format": frame(inner)}
)
follow(framed, [CALL, *b"abc", DONE])
follow(framed, [CALL, *b"<|done|>", DONE])

# A draft tree, walked node by node: 0 - a(1) - b(2), and x(3) beside a.
matcher = backend.dispatch_regex("ab|ac").copy().matcher
child, sibling, draft = [1, 2, -1, -1], [-1, 3, -1, -1], [0, ord("a"), ord("b"), ord("x")]
mask[:] = 0


def walk(node, parent):
    while node >= 0:
        if parent is None or is_allowed(parent, draft[node]):
            is_taken = parent is not None and matcher.accept_token(draft[node])
            assert parent is None or is_taken
            if not matcher.is_terminated():
                matcher.fill_next_token_bitmask(mask, node)
                walk(child[node], node)
            if is_taken:
                matcher.rollback(1)
        node = sibling[node] if parent is not None else -1


walk(0, None)
assert [is_allowed(0, token) for token in (97, 98)] == [True, False] and is_allowed(1, ord("c"))
assert is_allowed(2, END) and not mask[3].any()
native = np.zeros_like(mask)
assert matcher.traverse_draft_tree(child, sibling, draft, native) and (native == mask).all()
assert matcher.find_jump_forward_string() == "a" and matcher.num_steps == 0
assert backend.info.special_token_ids == list(range(DONE + 1, VOCAB_SIZE)), "as in xgrammar: padding alone"
backend.reset()

if name == "grammask":
    arguments.reasoning_parser, arguments.enable_strict_thinking = "thinks", True
    around = base.create_grammar_backend(name, arguments, tokenizer, VOCAB_SIZE, None).arguments
    assert type(around[0]).__name__ == "XGrammarGrammarBackend" and around[3] is True
    arguments.reasoning_parser = "answers"
    assert base.create_grammar_backend(name, arguments, tokenizer, VOCAB_SIZE, None).info == backend.info
print("ok")
