"""llama-cpp-python over grammask's logits processor, with the vocabulary read from the model's file."""

from __future__ import annotations

import ctypes

from common import REQUESTS, Report, arguments, chat, compiled, offline_settings

import grammask
from grammask.contrib.llama_cpp import LogitsProcessor


def main() -> None:
    chosen = arguments().parse_args()
    offline_settings()
    import llama_cpp

    report = Report("llama", ["llama-cpp-python", "numpy"])
    file = str(chosen.model / "model.gguf")
    model = llama_cpp.Llama(file, n_ctx=1024, n_threads=1, verbose=False, seed=1)
    info = grammask.TokenizerInfo.from_file(file)
    compiler = grammask.GrammarCompiler(info)

    def answers(temperature: float) -> str:
        ended = 0
        for question, kind, structure, obeys in REQUESTS:
            processor = LogitsProcessor(compiled(compiler, kind, structure))
            # The second text shows that a processor can be used again.
            for _ in range(2):
                done = model.create_completion(
                    chat(question),
                    max_tokens=96,
                    temperature=temperature,
                    logits_processor=llama_cpp.LogitsProcessorList([processor]),
                )["choices"][0]
                if done["finish_reason"] == "stop":
                    assert obeys(done["text"]), (kind, done["text"])
                    assert processor.matcher.is_completed()
                    ended += 1
                else:
                    begun = grammask.GrammarMatcher(compiled(compiler, kind, structure)).accept_string(done["text"])
                    assert begun and temperature > 0, (kind, done["text"])
                processor.reset()
        return f"{ended} of {2 * len(REQUESTS)} answers ended, and obey"

    def same_vocabulary() -> str:
        vocabulary = info.decoded_vocab
        assert len(vocabulary) == model.n_vocab()
        compared = 0
        # `model.detokenize` has room for 32 bytes of a token.
        room = ctypes.create_string_buffer(1024)
        tokens = llama_cpp.llama_model_get_vocab(model.model)
        for token, expected in enumerate(vocabulary):
            if token not in info.special_token_ids and token not in info.stop_token_ids and expected:
                size = llama_cpp.llama_token_to_piece(tokens, token, room, len(room), 0, False)
                assert room.raw[:size] == expected, (token, expected, room.raw[:size])
                compared += 1
        return f"{compared} tokens have the bytes that llama.cpp gives them"

    report.check("vocabulary", "read from the GGUF file", same_vocabulary)
    report.check("generate", "16 structures, one after the other, greedy", lambda: answers(0.0))
    report.check("generate", "16 structures, one after the other, sampled", lambda: answers(1.0))
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
