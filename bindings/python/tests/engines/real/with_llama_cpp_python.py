"""llama-cpp-python over grammask: masks in its `logits_processor`, over the vocabulary of the model's own file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from common import REQUESTS, Report, arguments, chat, compiled, offline_settings

import grammask


def main() -> None:
    chosen = arguments().parse_args()
    offline_settings()
    import llama_cpp

    report = Report("llama-cpp-python", ["llama-cpp-python"])
    model = llama_cpp.Llama(str(chosen.model / "model.gguf"), n_ctx=1024, n_threads=1, verbose=False)
    size, end = model.n_vocab(), model.token_eos()
    vocabulary = llama_cpp.llama_model_get_vocab(model.model)

    def spelled(token: int) -> bytes:
        special = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
        if llama_cpp.llama_vocab_get_attr(vocabulary, token) & special:
            return b""
        return model.detokenize([token])

    info = grammask.TokenizerInfo([spelled(token) for token in range(size)], stop_token_ids=[end])
    compiler = grammask.GrammarCompiler(info)

    def processor(matcher: grammask.GrammarMatcher, prompt: int) -> Any:
        bitmask = grammask.allocate_token_bitmask(1, size, backend="numpy")
        read = prompt

        def mask(ids: Any, scores: Any) -> Any:
            nonlocal read
            for token in ids[read:]:
                assert matcher.accept_token(int(token))
            read = len(ids)
            matcher.fill_next_token_bitmask(bitmask)
            grammask.apply_token_bitmask_inplace(np.atleast_2d(scores), bitmask)
            return scores

        return mask

    def answers() -> str:
        for question, kind, structure, obeys in REQUESTS:
            matcher = grammask.GrammarMatcher(compiled(compiler, kind, structure))
            prompt = model.tokenize(chat(question).encode(), special=True)
            masks = llama_cpp.LogitsProcessorList([processor(matcher, len(prompt))])
            done = model.create_completion(prompt, max_tokens=96, temperature=0.0, logits_processor=masks)
            text = done["choices"][0]["text"]
            assert done["choices"][0]["finish_reason"] == "stop" and obeys(text), (kind, done)
        return f"{len(REQUESTS)} answers"

    with warnings.catch_warnings():
        warnings.simplefilter("error", grammask.GrammaskWarning)
        report.check("create_completion", "16 structures, one after the other", answers)
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
