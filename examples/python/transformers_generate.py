"""`generate` of transformers with a tiny model of random weights, made on the spot."""

import importlib.util
import json
import sys

if not all(importlib.util.find_spec(name) for name in ("torch", "transformers")):
    print("skipped: needs torch and transformers")
    sys.exit()

import grammask  # noqa: E402
import torch  # noqa: E402
from grammask.contrib.hf import LogitsProcessor  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402

tokens = [bytes([byte]) for byte in range(256)] + [b"</s>"]
info = grammask.TokenizerInfo(tokens)
schema = {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 4}
compiled = grammask.GrammarCompiler(info).compile_json_schema(schema, any_whitespace=False)

torch.manual_seed(0)
stop = info.stop_token_ids[0]
config = GPT2Config(vocab_size=info.vocab_size, n_positions=128, n_embd=32, n_layer=2, n_head=2)
config.bos_token_id = config.eos_token_id = stop
model = GPT2LMHeadModel(config).eval()
prompt = torch.tensor([list(b"flags: "), list(b"answer:")])
written = model.generate(
    prompt,
    attention_mask=torch.ones_like(prompt),
    max_new_tokens=64,
    do_sample=True,
    pad_token_id=stop,
    logits_processor=[LogitsProcessor(compiled)],
)
for row in written[:, prompt.shape[1] :].tolist():
    text = bytes(token for token in row if token < 256)
    print(json.loads(text))
