"""The backend around a backend, for models that think first."""


class ReasonerGrammarBackend:
    def __init__(self, inner, parser, tokenizer, enable_strict_thinking):
        self.arguments = (inner, parser, tokenizer, enable_strict_thinking)
