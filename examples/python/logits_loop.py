"""The loop of a decoder in 30 lines: random logits, and JSON that obeys a schema comes out."""

import json

import grammask
import numpy as np

# A vocabulary of single bytes and an end token. `TokenizerInfo.from_huggingface` reads a real one.
info = grammask.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"])
compiler = grammask.GrammarCompiler(info)
schema = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "ok": {"type": "boolean"}, "n": {"enum": [1, 2, 3]}},
    "required": ["name", "ok", "n"],
}
matcher = grammask.GrammarMatcher(compiler.compile_json_schema(schema, any_whitespace=False))

rng = np.random.default_rng(7)
bitmask = grammask.allocate_token_bitmask(1, info.vocab_size)
text = b""
while True:
    logits = rng.normal(size=(1, info.vocab_size)).astype(np.float32)  # the model
    matcher.fill_next_token_bitmask(bitmask)
    grammask.apply_token_bitmask_inplace(logits, bitmask)
    token = int(logits[0].argmax())  # the sampler
    assert matcher.accept_token(token)
    if matcher.is_terminated():
        break
    text += info.decoded_vocab[token]

print(json.loads(text))
