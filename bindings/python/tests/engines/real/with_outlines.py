"""outlines over grammask in xgrammar's place: its own backend named xgrammar, with models of PyTorch and of MLX."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

from common import EBNF, PERSON, REQUESTS, Report, arguments, chat, offline_settings

import grammask


def main() -> None:
    chosen = arguments().parse_args()
    offline_settings()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    grammask.install_as_xgrammar()
    import outlines
    import torch
    import transformers
    from outlines.types import CFG, JsonSchema, Regex

    names = ["outlines", "torch", "transformers"]
    mlx = importlib.util.find_spec("mlx_lm") is not None
    report = Report("outlines", [*names, "mlx", "mlx-lm"] if mlx else names)

    def kind_of_output(kind: str, structure: Any) -> Any:
        if kind == "json":
            return JsonSchema(json.dumps(structure))
        if kind == "choice":
            return Regex("|".join(structure))
        return Regex(structure) if kind == "regex" else CFG(structure)

    def check(model: Any, limit: str) -> str:
        count = 0
        for question, kind, structure, obeys in REQUESTS:
            plain = kind in ("json", "regex") or structure == ["yes", "no"] or structure == EBNF
            # JSON objects may hold blanks without end here, which a small model likes.
            if not plain or structure == PERSON:
                continue
            generator = outlines.Generator(model, kind_of_output(kind, structure), backend="xgrammar")
            processor = generator.logits_processor
            assert type(processor).__module__ == "outlines.backends.xgrammar"
            assert isinstance(processor.compiled_grammar, grammask.CompiledGrammar)
            text = generator(chat(question), **{limit: 128})
            assert obeys(text), (kind, text)
            count += 1
        return f"{count} answers"

    def pytorch() -> str:
        read = transformers.AutoModelForCausalLM.from_pretrained(chosen.model, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(chosen.model)
        return check(outlines.from_transformers(read, tokenizer), "max_new_tokens")

    def apple() -> str:
        import mlx_lm

        return check(outlines.from_mlxlm(*mlx_lm.load(str(chosen.model))), "max_tokens")

    report.check("torch", "the backend named xgrammar", pytorch)
    if mlx:
        report.check("mlx", "the backend named xgrammar", apple)
    else:
        report.add("mlx", "the backend named xgrammar", "skipped", "mlx-lm is not installed")
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
