"""Which tokens end a model's thoughts."""

import types


class ReasoningParser:
    def __init__(self, model_type, stream_reasoning, tokenizer):
        assert not stream_reasoning
        ids = [tokenizer.eos_token_id] if model_type == "thinks" else []
        self.detector = types.SimpleNamespace(get_think_end_token_ids=lambda _tokenizer: ids)
