"""A tokenizer as far as serving engines look at one: byte-level, with special tokens."""

from __future__ import annotations

import json
import types

PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
SPELLING = {byte: chr(byte) for byte in PRINTABLE} | {byte: chr(256 + at) for at, byte in enumerate(OTHERS)}
LONGER = [b'{"', b'":', b'": ', b'"}', b'",', b"true", b"false", b"null", b"tool"]
SPECIAL = ["<|end|>", "<|user|>", "<|call|>", "<|done|>"]
END, USER, CALL, DONE = range(256 + len(LONGER), 256 + len(LONGER) + len(SPECIAL))
VOCAB_SIZE = 320


class Tokenizer:
    eos_token_id = END
    added_tokens_decoder = {  # noqa: RUF012
        number: types.SimpleNamespace(special=True) for number in (END, USER, CALL, DONE)
    }

    def get_vocab(self):
        tokens = [bytes([byte]) for byte in range(256)] + LONGER
        vocab = {"".join(SPELLING[byte] for byte in token): number for number, token in enumerate(tokens)}
        return vocab | {token: 256 + len(LONGER) + number for number, token in enumerate(SPECIAL)}

    @property
    def backend_tokenizer(self):
        file = {"decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {}, "merges": []}}
        return types.SimpleNamespace(to_str=lambda: json.dumps(file))

    def encode(self, text):
        """The longest token first; names of special tokens are those tokens."""
        pieces = [(token.encode(), number) for number, token in enumerate(SPECIAL, 256 + len(LONGER))]
        pieces += [(token, number) for number, token in enumerate(LONGER, 256)]
        pieces.sort(key=lambda piece: -len(piece[0]))
        left, tokens = text.encode(), []
        while left:
            token, number = next((piece for piece in pieces if left.startswith(piece[0])), (left[:1], left[0]))
            tokens.append(number)
            left = left[len(token) :]
        return tokens
