"""An OpenAI-style request that forces a tool: the arguments obey the tool's schema."""

import json

import grammask
import numpy as np

request = {
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"},
                        "unit": {"enum": ["celsius", "fahrenheit"]},
                        "days": {"type": "integer", "minimum": 1, "maximum": 14},
                    },
                    "required": ["city", "unit", "days"],
                    "additionalProperties": False,
                },
            },
        },
        {"type": "function", "function": {"name": "send_mail", "parameters": {"type": "object"}}},
    ],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
}

functions, _, mode = grammask.normalize_tool_choice(request["tools"], request["tool_choice"])
assert mode == "forced"
# The tools are models of `grammask.openai_tool_call_schema` now, or dicts as they came where there is no pydantic.
chosen = functions[0]
function = chosen["function"] if isinstance(chosen, dict) else chosen.function.model_dump()

info = grammask.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"])
compiler = grammask.GrammarCompiler(info)
# The server compiles while the prompt is being read.
future = compiler.compile_json_schema_async(function["parameters"], any_whitespace=False)
matcher = grammask.GrammarMatcher(future.result())

rng = np.random.default_rng(5)
bitmask = grammask.allocate_token_bitmask(1, info.vocab_size)
arguments = bytearray()
while not matcher.is_terminated():
    if forced := matcher.find_jump_forward_string():  # no need to ask the model
        matcher.accept_string(forced)
        arguments += forced.encode()
        continue
    logits = rng.normal(size=(1, info.vocab_size))
    matcher.fill_next_token_bitmask(bitmask)
    grammask.apply_token_bitmask_inplace(logits, bitmask)
    token = int(logits[0].argmax())
    matcher.accept_token(token)
    arguments += info.decoded_vocab[token] if token not in info.stop_token_ids else b""

print(json.dumps({"name": function["name"], "arguments": json.loads(arguments)}))
