"""mlx-lm over grammask's logits processor."""

from __future__ import annotations

from common import REQUESTS, Report, arguments, chat, compiled, offline_settings

import grammask
from grammask.contrib.mlxlm import XGrammarLogitsProcessor


def main() -> None:
    chosen = arguments().parse_args()
    offline_settings()
    import mlx_lm

    report = Report("mlx", ["mlx", "mlx-lm"])
    model, tokenizer = mlx_lm.load(str(chosen.model))
    info = grammask.TokenizerInfo.from_huggingface(tokenizer._tokenizer, vocab_size=model.args.vocab_size)
    compiler = grammask.GrammarCompiler(info)

    def answers() -> str:
        for question, kind, structure, obeys in REQUESTS:
            processor = XGrammarLogitsProcessor(compiled(compiler, kind, structure))
            # The second text shows that a processor can be used again.
            for _ in range(2):
                options = {"max_tokens": 96, "logits_processors": [processor]}
                text = mlx_lm.generate(model, tokenizer, chat(question), **options)
                assert obeys(text), (kind, text)
                assert processor.matcher.is_completed()
                processor.reset()
        return f"{2 * len(REQUESTS)} answers"

    report.check("generate", "16 structures, one after the other", answers)
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
