"""transformers over grammask: greedy, sampled and beam search, in batches of mixed structures."""

from __future__ import annotations

from typing import Any

from common import REQUESTS, Report, arguments, chat, compiled, offline_settings

import grammask
from grammask.contrib.hf import LogitsProcessor


def main() -> None:
    chosen = arguments().parse_args()
    offline_settings()
    import torch
    import transformers

    torch.manual_seed(1)
    report = Report("transformers", ["transformers", "torch"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(chosen.model, padding_side="left")
    model = transformers.AutoModelForCausalLM.from_pretrained(chosen.model, dtype=torch.float32).eval()
    info = grammask.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiler = grammask.GrammarCompiler(info)

    def generate(requests: list[Any], per_prompt: int, **options: Any) -> int:
        grammars = [compiled(compiler, kind, structure) for _, kind, structure, _ in requests]
        processor = LogitsProcessor(grammars)
        prompts = tokenizer([chat(question) for question, *_ in requests], return_tensors="pt", padding=True)
        options |= {"num_return_sequences": per_prompt, "logits_processor": [processor], "max_new_tokens": 96}
        ids = model.generate(**prompts, pad_token_id=tokenizer.pad_token_id, **options)
        new = ids[:, prompts.input_ids.shape[1] :]
        for row, tokens in enumerate(new):
            _, kind, _, obeys = requests[row // per_prompt]
            text = tokenizer.decode(tokens, skip_special_tokens=True)
            if tokenizer.eos_token_id in tokens:
                assert obeys(text), (kind, text)
            else:
                # Blanks between the members of a tag's JSON may go on to the limit where tokens are drawn by lot.
                begun = grammask.GrammarMatcher(grammars[row // per_prompt]).accept_string(text)
                assert begun and options["do_sample"] and kind == "structural_tag", (kind, text)
        assert processor.prefilled and processor.batch_size >= len(requests)
        return len(new)

    def greedy() -> str:
        return f"{generate(REQUESTS, 1, do_sample=False)} answers"

    def sampled() -> str:
        return f"{generate(REQUESTS, 3, do_sample=True, temperature=1.5)} answers"

    def beams() -> str:
        counts = [generate(REQUESTS, 1, do_sample=False, num_beams=4)]
        counts.append(generate(REQUESTS[::2], 3, do_sample=False, num_beams=3))
        counts.append(generate(REQUESTS[::4], 2, do_sample=True, num_beams=4, temperature=1.5))
        return f"{sum(counts)} answers"

    def narrow() -> str:
        # One token at most places, so that three of the four beams have nothing to go on with.
        fixed = [("Say it.", "choice", ["always the same"], lambda text: text == "always the same")] * 2
        return f"{generate(fixed, 1, do_sample=False, num_beams=4)} answers"

    def kind_of_class() -> None:
        class Own(LogitsProcessor):
            calls = 0

            def __call__(self, input_ids: Any, scores: Any) -> Any:
                self.calls += 1
                return super().__call__(input_ids, scores)

        processor = Own(compiled(compiler, "choice", ["yes", "no"]))
        assert isinstance(processor, transformers.LogitsProcessor)
        assert (processor.prefilled, processor.batch_size) == (False, 0)
        prompt = tokenizer(chat("Yes or no?"), return_tensors="pt")
        processors = transformers.LogitsProcessorList([processor])
        ids = model.generate(**prompt, logits_processor=processors, max_new_tokens=8, do_sample=False)
        text = tokenizer.decode(ids[0, prompt.input_ids.shape[1] :], skip_special_tokens=True)
        assert text in ("yes", "no") and processor.calls >= 2, (text, processor.calls)

    def continuous() -> str:
        from transformers.generation.continuous_batching.cb_logits_processors import (
            ContinuousBatchingLogitsProcessorList,
        )

        processors = transformers.LogitsProcessorList([LogitsProcessor(compiled(compiler, "choice", ["yes", "no"]))])
        try:
            ContinuousBatchingLogitsProcessorList(processors)
        except RuntimeError as error:
            return str(error)
        raise AssertionError("the processor was dropped without a word")

    def assisted() -> str:
        try:
            generate(REQUESTS[:1], 1, do_sample=False, prompt_lookup_num_tokens=4)
        except RuntimeError as error:
            return str(error)
        return "the answer obeys"

    report.check("generate", "the class is one of transformers', and can be derived from", kind_of_class)
    report.check("generate", "16 mixed structures, greedy", greedy)
    report.check("generate", "16 mixed structures, three samples each", sampled)
    report.check("generate", "beam search", beams)
    report.check("generate", "beam search with fewer texts than beams", narrow)
    report.check("refused", "continuous batching", continuous)
    report.check("refused or followed", "assisted generation by prompt lookup", assisted)
    report.finish(chosen.record)


if __name__ == "__main__":
    main()
