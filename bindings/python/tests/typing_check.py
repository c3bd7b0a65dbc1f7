"""Not run: what mypy must be able to follow in programs of users."""

from __future__ import annotations

from concurrent.futures import Future

import grammask


def loop(info: grammask.TokenizerInfo, schema: dict[str, object]) -> str:
    compiler = grammask.GrammarCompiler(info, max_threads=2)
    compiled: grammask.CompiledGrammar = compiler.compile_json_schema(schema, any_whitespace=False)
    later: Future[grammask.CompiledGrammar] = compiler.compile_regex_async("a")
    matcher = grammask.GrammarMatcher(later.result() if schema else compiled, override_stop_tokens=[1])
    bitmask = grammask.allocate_token_bitmask(1, info.vocab_size)
    need: bool = matcher.fill_next_token_bitmask(bitmask)
    accepted: bool = matcher.accept_token(3)
    rejection = matcher.explain_rejection(3)
    place: int | None = rejection.offset if rejection is not None else None
    tokens: list[int] = matcher.find_jump_forward_tokens(lambda text: [len(text)]).tokens
    return f"{need} {accepted} {place} {tokens} {grammask.Grammar.from_regex('a')}"
