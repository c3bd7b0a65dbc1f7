"""The bytes of tokens and the special ids, from the tokenizers of other libraries, pickles and files."""

from __future__ import annotations

import io
import json
import pickle
import types

import pytest

import grammask
from grammask import TokenizerInfo, VocabType

SPACE = "\u2581"


class Fast:
    """A fast tokenizer of transformers, as far as it is looked at: a `tokenizer.json`, and the name of the end token."""

    def __init__(self, tokens, decoder, end="</s>", added=(), **model):
        self.tokens = {token: number for number, token in enumerate(tokens)}
        added = [(len(tokens), "</s>", True), *added]
        self.added_tokens_decoder = {number: types.SimpleNamespace(special=special) for number, _, special in added}
        self.tokens |= {token: number for number, token, _ in added}
        self.eos_token_id = self.tokens.get(end)
        self.file = {
            "added_tokens": [{"id": number, "content": token, "special": special} for number, token, special in added],
            "normalizer": None,
            "pre_tokenizer": None,
            "decoder": decoder,
            "model": {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": []} | model,
        }

    def get_vocab(self):
        return self.tokens

    @property
    def backend_tokenizer(self):
        return self

    def to_str(self):
        return json.dumps(self.file, ensure_ascii=False)


class Raw:
    """One of the package `tokenizers`, whose names are others."""

    def __init__(self, fast):
        self.get_vocab = lambda with_added_tokens=True: fast.get_vocab()
        self.get_added_tokens_decoder = lambda: fast.added_tokens_decoder
        self.to_str = fast.to_str


def sequence(*decoders):
    return {"type": "Sequence", "decoders": list(decoders)}


def replace(pattern, by):
    return {"type": "Replace", "pattern": {"String": pattern}, "content": by}


METASPACE = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always"}
STRIP = {"type": "Strip", "content": "_", "start": 1, "stop": 0}
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def test_text_is_no_stop_token_where_special_ones_are_known():
    fast = Fast(["</s>", "a"], {"type": "ByteLevel"}, end=None, added=[(2, "<|eot_id|>", True), (3, "<pad>", True)])
    fast.tokens["</s>"] = 0
    assert TokenizerInfo.from_huggingface(fast).stop_token_ids == [2]
    tokens = ["</s>", "a", "<eos>", "<pad>"]
    assert TokenizerInfo(tokens).stop_token_ids == [0, 2]
    assert TokenizerInfo(tokens, special_token_ids=[2, 3]).stop_token_ids == [2]
    assert TokenizerInfo(tokens, special_token_ids=[3]).stop_token_ids == []
    grammask.config.set_compat(True)
    assert 0 in TokenizerInfo.from_huggingface(fast).stop_token_ids


def test_special_ids_without_a_name_are_kept():
    info = TokenizerInfo([b"a", b"b", b"</s>"], vocab_size=6, stop_token_ids=[2], special_token_ids=[1, 3, 4])
    for again in (pickle.loads(pickle.dumps(info)), TokenizerInfo.deserialize_json(info.serialize_json())):
        assert again == info and again.fingerprint == info.fingerprint
        assert again.special_token_ids == [1, 3, 4, 5]


def test_pickles_of_large_vocabularies():
    many = TokenizerInfo([b"a"], vocab_size=(1 << 22) + 1, max_tokens=1 << 23, stop_token_ids=[])
    assert pickle.loads(pickle.dumps(many)) == many
    long = TokenizerInfo([b"a" * ((64 << 20) + 1)], max_bytes=1 << 30, stop_token_ids=[])
    assert pickle.loads(pickle.dumps(long)) == long


def trained(**options):
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "the dog ate the cat"] * 20),
        model_writer=model,
        model_type="bpe",
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def test_messages_name_the_options_of_python(tmp_path):
    file = tmp_path / "tokenizer.json"
    fast = Fast(["a"], {"type": "Telepathy"})
    file.write_text(fast.to_str())
    with pytest.raises(grammask.TokenizerError, match="option `vocab_type`, or use `TokenizerInfo`"):
        TokenizerInfo.from_file(file)
    file.write_text(json.dumps({"model": fast.file["model"]}))
    with pytest.raises(grammask.TokenizerError, match="as `stop_token_ids`"):
        TokenizerInfo.from_file(file)
    with pytest.raises(grammask.TokenizerError, match="`vocab_size` is 0"):
        TokenizerInfo.from_file(file, vocab_size=0, stop_token_ids=[])
