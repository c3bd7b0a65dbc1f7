"""Batch inference over a file of prompts and schemas, on the engine workers of a Ray cluster.

    python batch_inference.py --model FOLDER [--address ADDRESS] [--workers 2] INPUT OUTPUT

A line of INPUT is `{"id": ..., "prompt": ..., "schema": {...}}`. OUTPUT has a line for each, in the same order:
`{"id": ..., "text": ...}`, where the text is a JSON document that obeys the schema, or `{"id": ..., "error": ...}`.

A worker has a model and a compiler of its own, and shares nothing with the others. A batch whose worker is lost goes to
another one, and a new worker is asked for. Answers are greedy, so that a batch that is repeated has the same answers.
OUTPUT appears when it is complete.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, deque
from pathlib import Path
from typing import Any

import ray

# A batch that has lost so many workers is answered with an error.
ATTEMPTS = 3


class Worker:
    """One engine: transformers over grammask. The packages and the model have to be on each machine."""

    def __init__(self, model: str, max_tokens: int) -> None:
        import grammask
        import torch
        import transformers

        self.max_tokens = max_tokens
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model, padding_side="left")
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype="auto").eval().to(self.device)
        info = grammask.TokenizerInfo.from_huggingface(self.tokenizer, vocab_size=self.model.config.vocab_size)
        self.compiler = grammask.GrammarCompiler(info)

    def process(self) -> int:
        return os.getpid()

    def answer(self, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Answers lines of INPUT. A schema that is refused costs no line but its own."""
        import grammask
        from grammask.contrib.hf import LogitsProcessor

        answers: list[dict[str, Any]] = [{"id": line["id"]} for line in batch]
        rows, grammars = [], []
        for row, line in enumerate(batch):
            try:
                grammars.append(self.compiler.compile_json_schema(line["schema"], spelling="printed"))
                rows.append(row)
            except grammask.GrammaskError as error:
                answers[row]["error"] = str(error)
        if not rows:
            return answers
        texts = [
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": batch[row]["prompt"]}], tokenize=False, add_generation_prompt=True
            )
            for row in rows
        ]
        prompts = self.tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(self.device)
        written = self.model.generate(
            **prompts,
            logits_processor=[LogitsProcessor(grammars)],
            do_sample=False,
            max_new_tokens=self.max_tokens,
            pad_token_id=self.tokenizer.eos_token_id,
        )
        for row, tokens in zip(rows, written[:, prompts.input_ids.shape[1] :].tolist(), strict=True):
            if self.tokenizer.eos_token_id in tokens:
                text = tokens[: tokens.index(self.tokenizer.eos_token_id)]
                answers[row]["text"] = self.tokenizer.decode(text, clean_up_tokenization_spaces=False)
            else:
                answers[row]["error"] = f"the text did not end within {self.max_tokens} tokens"
        return answers


class Batches:
    """Hands batches to workers until each has been answered once."""

    def __init__(self, batches: list[list[dict[str, Any]]], new_worker: Any, workers: int) -> None:
        self.batches, self.new_worker = batches, new_worker
        self.waiting = deque(range(len(batches)))
        self.lost: Counter[int] = Counter()
        self.idle: list[Any] = []
        # What is under way: a worker, and the number of its batch, or none while it starts.
        self.running: dict[Any, tuple[Any, int | None]] = {}
        self.losses = self.losses_in_a_row = 0
        self.most_losses_in_a_row = ATTEMPTS * workers
        for _ in range(workers):
            self.start()

    def start(self) -> None:
        worker = self.new_worker()
        self.running[worker.process.remote()] = (worker, None)

    def next(self) -> tuple[int, list[dict[str, Any]]]:
        """Waits for the next batch that is done: its number and its answers."""
        while True:
            while self.waiting and self.idle:
                worker, number = self.idle.pop(), self.waiting.popleft()
                self.running[worker.answer.remote(self.batches[number])] = (worker, number)
            (done,), _ = ray.wait(list(self.running), num_returns=1)
            worker, number = self.running.pop(done)
            try:
                answer = ray.get(done)
            except ray.exceptions.RayActorError as error:
                self.start()
                self.losses += 1
                self.losses_in_a_row += 1
                print(f"a worker was lost: {str(error).splitlines()[0]}", flush=True)
                if self.losses_in_a_row >= self.most_losses_in_a_row:
                    raise
                if number is None:
                    continue
                self.lost[number] += 1
                if self.lost[number] < ATTEMPTS:
                    self.waiting.appendleft(number)
                    continue
                reason = f"{ATTEMPTS} workers were lost with this batch"
                return number, [{"id": line["id"], "error": reason} for line in self.batches[number]]
            self.losses_in_a_row = 0
            self.idle.append(worker)
            if number is None:
                print(f"a worker has started: process {answer}", flush=True)
            else:
                return number, answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--model", required=True, help="a folder that each machine has, or a name that it can fetch")
    parser.add_argument("--address", help="of the cluster; without one, this machine is the cluster")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cpus", type=float, default=1, help="of one worker")
    parser.add_argument("--gpus", type=float, default=0, help="of one worker")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--max-tokens", type=int, default=256)
    chosen = parser.parse_args()
    lines = [json.loads(line) for line in chosen.input.read_text(encoding="utf-8").splitlines() if line.strip()]
    batches = [lines[at : at + chosen.batch] for at in range(0, len(lines), chosen.batch)]
    ray.init(address=chosen.address, log_to_driver=False)
    kind = ray.remote(num_cpus=chosen.cpus, num_gpus=chosen.gpus, scheduling_strategy="SPREAD")(Worker)
    work = Batches(batches, lambda: kind.remote(chosen.model, chosen.max_tokens), chosen.workers)
    partial = chosen.output.with_name(chosen.output.name + ".part")
    answered: dict[int, list[dict[str, Any]]] = {}
    written = 0
    with partial.open("w", encoding="utf-8") as file:
        for count in range(1, len(batches) + 1):
            number, answers = work.next()
            answered[number] = answers
            print(f"{count} of {len(batches)} batches", flush=True)
            while written in answered:
                file.writelines(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answered.pop(written))
                written += 1
    partial.replace(chosen.output)
    print(f"{len(lines)} lines, {work.losses} workers lost", flush=True)


if __name__ == "__main__":
    main()
