"""Tokenizers of other libraries, and tokenizers as JSON."""

from __future__ import annotations

import json
import warnings
from typing import Any

from ._native import TokenizerInfo
from ._support import VocabType, attributes, in_class
from .config import get_compat, get_serialization_version
from .exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    GrammaskWarning,
    InvalidJSONError,
    TokenizerError,
    spell,
)

#: From that many tokens on a spelling is no accident.
_MANY = 128


def _byte_level_alphabet() -> frozenset[str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return frozenset(map(chr, [*printable, *range(0x100, 0x100 + 256 - len(printable))]))


_ALPHABET = _byte_level_alphabet()


def _decoders(part: Any) -> list[dict[str, Any]]:
    """A decoder and those inside it, in order."""
    found: list[dict[str, Any]] = []
    stack = [part]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            found.append(part)
            stack.extend(reversed(part.get("decoders") or []))
    return found


def detect_metadata(backend_str: str) -> dict[str, Any]:
    """``vocab_type`` and ``add_prefix_space`` of the text of a ``tokenizer.json``."""
    try:
        tokenizer = json.loads(backend_str)
    except (ValueError, RecursionError) as error:
        raise InvalidJSONError(f"the tokenizer is no JSON: {error}") from error
    return _detected(tokenizer, _model_tokens(tokenizer))


def _backend(tokenizer: Any) -> Any:
    """The object that writes the text of a ``tokenizer.json``, if there is one."""
    inner = getattr(tokenizer, "backend_tokenizer", None) or getattr(tokenizer, "_tokenizer", None)
    return next((holder for holder in (inner, tokenizer) if hasattr(holder, "to_str")), None)


def _backend_metadata(backend: Any, text: str) -> dict[str, Any]:
    """The same of an object that wrote the text. Nearly all of it is the model, which takes Python a while to read."""
    try:
        tokens = list(backend.get_vocab(with_added_tokens=False))
        before = _before_model(text)
    except (AttributeError, TypeError, ValueError, IndexError):
        return detect_metadata(text)
    is_whole = {"normalizer", "pre_tokenizer", "decoder"} <= before.keys()
    return _detected(before, tokens) if is_whole else detect_metadata(text)


def _before_model(text: str) -> dict[str, Any]:
    """The members of an object up to the one with the name ``model``, which is the last one that is written."""
    read: dict[str, Any] = {}
    reader = json.JSONDecoder()
    place = text.index("{")
    while True:
        # After the brace or a comma a name follows, and after a colon its value.
        name, place = reader.raw_decode(text, _past_blanks(text, place + 1))
        place = _past_blanks(text, place)
        if name == "model":
            return read
        read[name], place = reader.raw_decode(text, _past_blanks(text, place + 1))
        place = _past_blanks(text, place)


def _past_blanks(text: str, place: int) -> int:
    while text[place] in " \t\n\r":
        place += 1
    return place


def _detected(tokenizer: dict[str, Any], tokens: list[str]) -> dict[str, Any]:
    decoders = _decoders(tokenizer.get("decoder"))
    kinds = [decoder.get("type") for decoder in decoders]
    vocab_type = VocabType.RAW
    if "ByteFallback" in kinds:
        vocab_type = VocabType.BYTE_FALLBACK
    elif "ByteLevel" in kinds:
        vocab_type = VocabType.BYTE_LEVEL
    vocab_type = _by_vocabulary(tokens) or vocab_type
    return {"vocab_type": vocab_type, "add_prefix_space": _has_prefix_space(tokenizer)}


def _model_tokens(tokenizer: dict[str, Any]) -> list[str]:
    vocab = (tokenizer.get("model") or {}).get("vocab") or {}
    return list(vocab) if isinstance(vocab, dict) else [token for token, *_ in vocab]


def _by_vocabulary(tokens: list[str]) -> VocabType | None:
    """What the tokens themselves say, where they leave no doubt."""
    fallback = sum(len(token) == 6 and token.startswith("<0x") and token.endswith(">") for token in tokens)
    if fallback >= _MANY:
        return VocabType.BYTE_FALLBACK
    single = sum(len(token) == 1 and token in _ALPHABET for token in tokens)
    if single >= _MANY and sum(_ALPHABET.issuperset(token) for token in tokens) >= 0.99 * len(tokens):
        return VocabType.BYTE_LEVEL
    return None


def _has_prefix_space(tokenizer: dict[str, Any]) -> bool:
    parts = [tokenizer.get("normalizer"), tokenizer.get("pre_tokenizer")]
    while parts:
        part = parts.pop()
        if not isinstance(part, dict):
            continue
        if part.get("add_prefix_space") is True or part.get("prepend_scheme") in ("always", "first"):
            return True
        if part.get("type") == "Prepend":
            return True
        parts += part.get("normalizers") or part.get("pretokenizers") or []
    return False


def from_huggingface(tokenizer: Any, vocab_size: int | None, stop_token_ids: int | list[int] | None) -> TokenizerInfo:
    """See ``TokenizerInfo.from_huggingface``."""
    vocab = _vocabulary(tokenizer)
    backend = _backend(tokenizer)
    text = None if backend is None else backend.to_str()
    metadata = _metadata(tokenizer, vocab) if text is None else _backend_metadata(backend, text)
    size = max(vocab.values(), default=-1) + 1
    # 0 is none, as in xgrammar.
    if vocab_size:
        if vocab_size < size:
            message = f"the tokenizer has ids up to {size - 1}; those from `vocab_size`, {vocab_size}, on are left out"
            warnings.warn(message, GrammaskWarning, stacklevel=3)
        size = vocab_size
    asked = stop_token_ids is not None
    if stop_token_ids is None:
        end = getattr(tokenizer, "eos_token_id", None)
        stop_token_ids = end if isinstance(end, int) and end < size else None
    special = [] if get_compat() else _special_ids(tokenizer, size)
    spelling, prefix = metadata["vocab_type"], metadata["add_prefix_space"]
    if text is None or get_compat():
        # It warns by itself where nothing is an end.
        return TokenizerInfo(
            _by_id(vocab, size),
            spelling,
            vocab_size=size,
            stop_token_ids=stop_token_ids,
            add_prefix_space=prefix,
            special_token_ids=special,
        )
    shown = _shown(backend)
    info = TokenizerInfo._from_backend(text, vocab, size, spelling, stop_token_ids, prefix, special, shown)
    return info if asked else _with_end(info)


def _shown(backend: Any) -> dict[int, str]:
    """The texts of added tokens that are decoded as another text than theirs: from 0.23 on `tokenizers` normalizes them."""
    added, text_of = (getattr(backend, name, None) for name in ("get_added_tokens_decoder", "id_to_token"))
    if added is None or text_of is None:
        return {}
    own = {number: token.content for number, token in added().items() if not token.special}
    shown = {number: text_of(number) for number in own}
    return {number: text for number, text in shown.items() if text not in (None, own[number])}


def _by_id(vocab: dict[Any, int], size: int) -> list[str | bytes]:
    """The tokens in the order of their ids."""
    tokens: list[str | bytes] = [""] * size
    for token, number in vocab.items():
        if number < size:
            tokens[number] = token
    return tokens


def _with_end(info: TokenizerInfo) -> TokenizerInfo:
    """Warns of a tokenizer that does not say which token ends a text."""
    if not info.stop_token_ids:
        message = "the tokenizer has no end token, so that no text could end; give `stop_token_ids`, or `[]` for none"
        warnings.warn(message, GrammaskWarning, stacklevel=3)
    return info


def from_tiktoken(encoding: Any, vocab_size: int | None, stop_token_ids: int | list[int] | None) -> TokenizerInfo:
    """See ``TokenizerInfo.from_tiktoken``."""
    try:
        special = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
        size = max(encoding.n_vocab, vocab_size or 0)
        tokens = [_tiktoken_bytes(encoding, number) for number in range(size)]
    except AttributeError as error:
        raise TypeError(f"`encoding` must be a tiktoken.Encoding, not {type(encoding).__name__}") from error
    asked = stop_token_ids is not None
    if stop_token_ids is None:
        stop_token_ids = special.get("<|endoftext|>", [])
    info = TokenizerInfo(
        tokens,
        VocabType.RAW,
        vocab_size=size,
        stop_token_ids=stop_token_ids,
        special_token_ids=sorted(special.values()),
    )
    return info if asked else _with_end(info)


def _tiktoken_bytes(encoding: Any, number: int) -> bytes:
    try:
        return bytes(encoding.decode_single_token_bytes(number))
    except KeyError:
        # Encodings have gaps between their ranks and their special tokens.
        return b""


def from_sentencepiece(processor: Any, vocab_size: int | None, stop_token_ids: int | list[int] | None) -> TokenizerInfo:
    """See ``TokenizerInfo.from_sentencepiece``."""
    try:
        size = processor.get_piece_size()
        has_bytes = any(processor.is_byte(number) for number in range(size))
        model = processor.serialized_model_proto()
    except AttributeError as error:
        kind = type(processor).__name__
        raise TypeError(f"`processor` must be a sentencepiece.SentencePieceProcessor, not {kind}") from error
    asked = stop_token_ids is not None
    if stop_token_ids is None:
        end = processor.eos_id()
        stop_token_ids = end if end >= 0 else []
    vocab_type = VocabType.BYTE_FALLBACK if has_bytes else VocabType.RAW
    info = TokenizerInfo._from_sentencepiece(model, max(size, vocab_size or 0), vocab_type, stop_token_ids)
    return info if asked else _with_end(info)


def _vocabulary(tokenizer: Any) -> dict[Any, int]:
    try:
        return dict(tokenizer.get_vocab())
    except AttributeError as error:
        raise ValueError(f"Unsupported tokenizer type: {type(tokenizer).__name__} has no get_vocab()") from error


def _special_ids(tokenizer: Any, size: int) -> list[int]:
    # As transformers has them, and as the package `tokenizers` does.
    added = getattr(tokenizer, "added_tokens_decoder", None) or getattr(tokenizer, "get_added_tokens_decoder", None) or {}
    if callable(added):
        added = added()
    special = {int(number) for number, token in added.items() if getattr(token, "special", False)}
    special.update(number for number in getattr(tokenizer, "all_special_ids", ()) if isinstance(number, int))
    return sorted(number for number in special if 0 <= number < size)


def _metadata(tokenizer: Any, vocab: dict[Any, int]) -> dict[str, Any]:
    text = [token for token in vocab if isinstance(token, str)]
    if _sentencepiece(tokenizer):
        vocab_type = VocabType.BYTE_FALLBACK if "<0x0A>" in vocab else VocabType.RAW
        return {"vocab_type": vocab_type, "add_prefix_space": True}
    names = getattr(tokenizer, "vocab_files_names", None) or {}
    if any("tiktoken" in str(name) for name in names.values()) or len(text) < len(vocab):
        vocab_type = VocabType.BYTE_LEVEL if "\u0120" in vocab else VocabType.RAW
        return {"vocab_type": vocab_type, "add_prefix_space": False}
    found = _by_vocabulary(text)
    if found is None:
        raise ValueError(f"Unsupported tokenizer type: {type(tokenizer).__name__}")
    return {"vocab_type": found, "add_prefix_space": False}


def _sentencepiece(tokenizer: Any) -> bool:
    for holder in (tokenizer, getattr(tokenizer, "tokenizer", None), getattr(tokenizer, "tok", None)):
        if hasattr(holder, "sp_model") or type(holder).__name__ == "SentencePieceProcessor":
            return True
    return False


def dump_metadata(info: TokenizerInfo) -> str:
    """See ``TokenizerInfo.dump_metadata``."""
    return json.dumps(
        {
            "vocab_type": info.vocab_type.value,
            "vocab_size": info.vocab_size,
            "add_prefix_space": info.add_prefix_space,
            "stop_token_ids": info.stop_token_ids,
        },
        separators=(",", ":"),
    )


def from_vocab_and_metadata(encoded_vocab: list[str] | list[bytes], metadata: str) -> TokenizerInfo:
    """See ``TokenizerInfo.from_vocab_and_metadata``."""
    read = read_json(metadata)
    try:
        return TokenizerInfo(
            encoded_vocab,
            VocabType(read["vocab_type"]),
            vocab_size=read["vocab_size"],
            stop_token_ids=read["stop_token_ids"],
            add_prefix_space=read["add_prefix_space"],
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise malformed(f"the metadata of a tokenizer: {spell(error)}") from error


def serialize(info: TokenizerInfo) -> str:
    """See ``TokenizerInfo.serialize_json``."""
    read: dict[str, Any] = json.loads(dump_metadata(info))
    read["special_token_ids"] = info.special_token_ids
    read["declared_special_token_ids"] = info._declared_special_token_ids
    # One character a byte, as xgrammar writes them.
    read["decoded_vocab"] = [token.decode("latin-1") for token in info.decoded_vocab]
    read["__VERSION__"] = get_serialization_version()
    return json.dumps(read, separators=(",", ":"))


def deserialize(text: str) -> TokenizerInfo:
    """See ``TokenizerInfo.deserialize_json``."""
    read = read_serialized(text)
    try:
        return TokenizerInfo._from_decoded(
            [token.encode("latin-1") for token in read["decoded_vocab"]],
            read["vocab_type"],
            read["stop_token_ids"],
            read["add_prefix_space"],
            read["declared_special_token_ids"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, TokenizerError) as error:
        raise malformed(f"a tokenizer: {spell(error)}") from error


def read_json(text: str) -> dict[str, Any]:
    """The JSON object that a serialized object is."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidJSONError(f"Invalid JSON error: {error}") from error
    if not isinstance(read, dict):
        raise malformed("it must be a JSON object")
    return read


def read_serialized(text: str) -> dict[str, Any]:
    """What ``serialize_json`` of this version wrote."""
    read = read_json(text)
    if "__VERSION__" not in read:
        raise DeserializeVersionError("Deserialize version error: the key `__VERSION__` is missing")
    found, known = read["__VERSION__"], get_serialization_version()
    if found != known:
        message = f"version {spell(found)} cannot be read; it is {known!r} here"
        raise DeserializeVersionError(f"Deserialize version error: {message}")
    return read


def malformed(reason: str) -> DeserializeFormatError:
    """The error of a serialized object that lacks something. It begins as that of xgrammar."""
    return DeserializeFormatError(f"Deserialize format error: {reason}")


def rebuild(
    decoded: list[bytes], vocab_type: int, stop: list[int], prefix: bool, special: list[int], cls: type[Any]
) -> TokenizerInfo:
    """A tokenizer from its decoded tokens."""
    return in_class(cls, TokenizerInfo._from_decoded(decoded, vocab_type, stop, prefix, special))


def reduce(info: TokenizerInfo) -> Any:
    """What pickle keeps of a tokenizer."""
    arguments = (
        info.decoded_vocab,
        info.vocab_type.value,
        info.stop_token_ids,
        info.add_prefix_space,
        info._declared_special_token_ids,
        type(info),
    )
    return (rebuild, arguments, attributes(info))
