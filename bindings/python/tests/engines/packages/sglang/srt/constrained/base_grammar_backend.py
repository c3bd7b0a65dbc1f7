"""How SGLang 0.5.23 finds a backend. It imports xgrammar early, in every process."""

import importlib

from xgrammar import StructuralTag  # noqa: F401

REGISTRY = {}


def register_grammar_backend(name, make):
    REGISTRY[name] = make


def create_grammar_backend(name, server_args, tokenizer, vocab_size, eos_token_ids):
    if name in REGISTRY:
        return REGISTRY[name](server_args, tokenizer, vocab_size, eos_token_ids)
    backend = importlib.import_module("sglang.srt.constrained.xgrammar_backend")
    return backend.XGrammarGrammarBackend(tokenizer, vocab_size=vocab_size, model_eos_token_ids=list(eos_token_ids))
