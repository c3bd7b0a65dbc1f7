"""The calls of SGLang 0.5.23's backend for xgrammar."""

import dataclasses
import json

from xgrammar import (
    CompiledGrammar,
    GrammarCompiler,
    GrammarMatcher,
    StructuralTag,
    StructuralTagItem,
    TokenizerInfo,
    VocabType,
    bitmask_dtype,
    get_bitmask_shape,
)

ROLLBACK = 200


@dataclasses.dataclass
class Grammar:
    matcher: GrammarMatcher
    ctx: CompiledGrammar
    stop: list[int] | None

    def copy(self):
        matcher = GrammarMatcher(self.ctx, max_rollback_tokens=ROLLBACK, override_stop_tokens=self.stop)
        return Grammar(matcher, self.ctx, self.stop)


@dataclasses.dataclass
class InvalidGrammar:
    message: str


class XGrammarGrammarBackend:
    def __init__(
        self, tokenizer, vocab_size, model_eos_token_ids=None, any_whitespace=True, max_whitespace_cnt=None
    ):
        self.info = TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=vocab_size, stop_token_ids=model_eos_token_ids
        )
        self.compiler = GrammarCompiler(tokenizer_info=self.info)
        self.framing = GrammarCompiler(tokenizer_info=self.info, cache_enabled=False)
        self.whitespace = {"any_whitespace": any_whitespace, "max_whitespace_cnt": max_whitespace_cnt}
        self.mask = (get_bitmask_shape, bitmask_dtype)

    def _grammar(self, compile_it, *arguments, **options):
        try:
            ctx = compile_it(*arguments, **options)
        except (RuntimeError, json.JSONDecodeError) as error:
            return InvalidGrammar(str(error))
        return Grammar(GrammarMatcher(ctx, max_rollback_tokens=ROLLBACK, override_stop_tokens=None), ctx, None)

    def dispatch_json(self, text):
        if text == "$$ANY$$":
            return self._grammar(self.compiler.compile_builtin_json_grammar)
        return self._grammar(self.compiler.compile_json_schema, schema=text, **self.whitespace)

    def dispatch_ebnf(self, text):
        return self._grammar(self.compiler.compile_grammar, text)

    def dispatch_regex(self, text):
        return self._grammar(self.compiler.compile_regex, text)

    def dispatch_structural_tag(self, text):
        tag = json.loads(text)
        if "structures" not in tag:
            return self._grammar(self.compiler.compile_structural_tag, text)
        items = [
            StructuralTagItem(begin=part["begin"], schema=json.dumps(part["schema"]), end=part["end"])
            for part in tag["structures"]
        ]
        made = StructuralTag.from_legacy_structural_tag(items, tag["triggers"])
        made.format.at_least_one = tag.get("at_least_one", False)
        return self._grammar(self.compiler.compile_structural_tag, made)

    def reserve_framing_tokens(self, ids):
        vocab = [b"\xff" + token if number in ids else token for number, token in enumerate(self.info.decoded_vocab)]
        info = TokenizerInfo(
            vocab, VocabType.RAW, vocab_size=self.info.vocab_size, stop_token_ids=self.info.stop_token_ids
        )
        self.framing = GrammarCompiler(tokenizer_info=info, cache_enabled=False)

    def compile_framed_grammar(self, grammar, frame):
        inner = {"type": "grammar", "grammar": str(grammar.ctx.grammar)}
        return self._grammar(self.framing.compile_structural_tag, json.dumps(frame(inner)))

    def reset(self):
        self.compiler.clear_cache()
