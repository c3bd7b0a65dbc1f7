"""Speculative decoding: a draft model guesses, masks for all guesses, what was wrong is rolled back."""

import grammask
import numpy as np

WORDS = [b'{"', b'":', b'", "', b'"}', b"name", b"city", b"Ada", b"Oslo", b" "]
VOCABULARY = [bytes([byte]) for byte in range(256)] + WORDS + [b"</s>"]
GUESSES = 4

info = grammask.TokenizerInfo(VOCABULARY)
grammar = r"""
root ::= "{\"name\":" string ", \"city\":" string "}"
string ::= " "? "\"" [A-Za-z]{1,8} "\""
"""
compiled = grammask.GrammarCompiler(info).compile_grammar(grammar)
matcher = grammask.GrammarMatcher(compiled)
rng = np.random.default_rng(3)
# One row for each guess, and one for the token behind the last guess.
bitmask = grammask.allocate_token_bitmask(GUESSES + 1, info.vocab_size)


def is_allowed(row: int, token: int) -> bool:
    return bool(bitmask[row, token // 32] >> (token % 32) & 1)


def draft() -> list[int]:
    """The draft model: good at forced text, poor at the rest."""
    forced = matcher.find_jump_forward_string().encode()
    return [*forced, *rng.integers(0, info.vocab_size, GUESSES)][:GUESSES]


text, steps, accepted = b"", 0, 0
while not matcher.is_terminated():
    guesses = [int(token) for token in draft()]
    # Masks along the draft. Behind a guess that the grammar refuses there is nothing to ask.
    taken = 0
    for row, token in enumerate(guesses):
        matcher.fill_next_token_bitmask(bitmask, row)
        if not is_allowed(row, token) or not matcher.accept_token(token):
            break
        taken += 1
        if matcher.is_terminated():
            break
    else:
        matcher.fill_next_token_bitmask(bitmask, len(guesses))
    matcher.rollback(taken)

    # The target model looks at all rows at once; here it agrees with every guess that is left, then samples.
    chosen = guesses[:taken]
    if not (chosen and chosen[-1] in info.stop_token_ids):
        logits = rng.normal(size=(1, info.vocab_size)).astype(np.float32)
        grammask.apply_token_bitmask_inplace(logits, bitmask[taken : taken + 1])
        chosen.append(int(logits[0].argmax()))
    for token in chosen:
        assert matcher.accept_token(token)
    text += b"".join(info.decoded_vocab[token] for token in chosen if token not in info.stop_token_ids)
    steps, accepted = steps + 1, accepted + len(chosen)

print(text.decode(), f"({accepted} tokens in {steps} steps)")
