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


@pytest.mark.parametrize(
    ("decoder", "tokens", "want"),
    [
        (METASPACE, [f"{SPACE}the", SPACE], [b" the", b" "]),
        (METASPACE | {"replacement": "_"}, ["_the", SPACE], [b" the", SPACE.encode()]),
        (METASPACE, [*BYTES, f"{SPACE}a"], [*(token.encode() for token in BYTES), b" a"]),
        (sequence(replace(SPACE, " "), {"type": "Fuse"}), [f"{SPACE}a"], [b" a"]),
        (sequence(replace(SPACE, " "), replace("q", "y"), {"type": "ByteFallback"}), ["<0x0A>", f"{SPACE}q"], [b"\n", b" y"]),
        (sequence(STRIP, {"type": "Fuse"}), ["_a", "__b"], [b"a", b"_b"]),
        (sequence({"type": "Fuse"}, STRIP), ["_a"], [b"_a"]),
        ({"type": "ByteLevel"}, ["\u0120a", "\u65e5"], [b" a", "\u65e5".encode()]),
    ],
)
def test_bytes_are_those_of_the_decoder(decoder, tokens, want, tmp_path):
    fast = Fast(tokens, decoder)
    info = TokenizerInfo.from_huggingface(fast)
    assert info.decoded_vocab == [*want, b"</s>"]
    assert info.stop_token_ids == [len(tokens)]
    file = tmp_path / "tokenizer.json"
    file.write_text(fast.to_str(), encoding="utf-8")
    assert TokenizerInfo.from_file(file).fingerprint == info.fingerprint
    assert TokenizerInfo.from_huggingface(Raw(fast)) == info


def test_metadata_is_that_of_the_compatible_mode():
    for decoder in (METASPACE, {"type": "ByteLevel"}, sequence({"type": "ByteFallback"}, replace(SPACE, " "))):
        for tokens in (["a"], [*BYTES, "a"]):
            exact = TokenizerInfo.from_huggingface(Fast(tokens, decoder))
            grammask.config.set_compat(True)
            compatible = TokenizerInfo.from_huggingface(Fast(tokens, decoder))
            grammask.config.set_compat(False)
            assert exact.dump_metadata() == compatible.dump_metadata()
            assert exact.vocab_type == compatible.vocab_type


@pytest.mark.parametrize(
    ("decoder", "model", "message"),
    [
        ({"type": "WordPiece", "prefix": "##"}, {"type": "WordPiece"}, "/model/type: of a WordPiece model"),
        (None, {"type": "WordLevel"}, "/model/type: of a WordLevel model"),
        ({"type": "BPEDecoder", "suffix": "</w>"}, {"end_of_word_suffix": "</w>"}, "/model/end_of_word_suffix"),
        ({"type": "CTC"}, {}, "/decoder/type: with the decoder CTC"),
        (sequence({"type": "ByteLevel"}, replace("ab", "")), {}, "/decoder/decoders/1/pattern"),
    ],
)
def test_tokens_without_bytes_of_their_own(decoder, model, message):
    fast = Fast(["a", "##b"], decoder, **model)
    with pytest.raises(grammask.TokenizerError, match=message) as raised:
        TokenizerInfo.from_huggingface(fast)
    # The way out has its name in Python.
    assert "`TokenizerInfo`" in str(raised.value) and "from_tokens" not in str(raised.value)
    grammask.config.set_compat(True)
    assert TokenizerInfo.from_huggingface(fast).decoded_vocab[1] == b"##b"


def test_added_tokens_are_as_the_tokenizer_writes_them():
    added = [(2, f"{SPACE}tool", False), (3, f"<{SPACE}>", True), (0, "instead", False)]
    info = TokenizerInfo.from_huggingface(Fast(["a"], METASPACE, added=added), vocab_size=6)
    assert info.decoded_vocab == [b"instead", b"</s>", b" tool", f"<{SPACE}>".encode(), b"", b""]
    assert info.special_token_ids == [3, 4, 5]
    # In byte-level files they are text as it is.
    info = TokenizerInfo.from_huggingface(Fast(["a"], {"type": "ByteLevel"}, added=[(2, "\u0120\u00e9", False)]))
    assert info.decoded_vocab[2] == "\u0120\u00e9".encode()
    with pytest.warns(grammask.GrammaskWarning, match="ids up to 2"):
        info = TokenizerInfo.from_huggingface(Fast(["a"], METASPACE, added=added[:1]), vocab_size=2)
    assert info.decoded_vocab == [b"a", b"</s>"]


def test_special_ids_of_the_package_tokenizers():
    fast = Fast(["a"], METASPACE, added=[(2, "<pad>", True), (3, "text", False)])
    info = TokenizerInfo.from_huggingface(Raw(fast))
    assert info.special_token_ids == [2] and info.stop_token_ids == [1]
    matcher = grammask.GrammarMatcher(grammask.GrammarCompiler(info).compile_choices(["a<pad>"]))
    with pytest.warns(grammask.GrammaskWarning, match="token 2 is special"):
        assert matcher.accept_token(0) and not matcher.accept_token(2)


def test_text_is_no_stop_token_where_special_ones_are_known():
    fast = Fast(["</s>", "a"], {"type": "ByteLevel"}, end=None, added=[(2, "<|eot_id|>", True), (3, "<pad>", True)])
    fast.tokens["</s>"] = 0
    assert TokenizerInfo.from_huggingface(fast).stop_token_ids == [2]
    tokens = ["</s>", "a", "<eos>", "<pad>"]
    assert TokenizerInfo(tokens).stop_token_ids == [0, 2]
    assert TokenizerInfo(tokens, special_token_ids=[2, 3]).stop_token_ids == [2]
    with pytest.warns(grammask.GrammaskWarning, match="no end token"):
        assert TokenizerInfo(tokens, special_token_ids=[3]).stop_token_ids == []
    grammask.config.set_compat(True)
    assert 0 in TokenizerInfo.from_huggingface(fast).stop_token_ids


def test_a_list_without_an_end_is_warned_of():
    for tokens in ([b"a", b"b"], []):
        with pytest.warns(grammask.GrammaskWarning, match="no end token.*`stop_token_ids`, or `\\[\\]` for none") as warned:
            assert TokenizerInfo(tokens).stop_token_ids == []
        assert len(warned) == 1 and warned[0].filename == __file__
        # An empty list says that none is meant, so there is no warning; nor is there one when a tokenizer is read back.
        meant = TokenizerInfo(tokens, stop_token_ids=[])
        assert pickle.loads(pickle.dumps(meant)) == meant
        assert TokenizerInfo.from_vocab_and_metadata(tokens, meant.dump_metadata()).stop_token_ids == []
    grammask.config.set_compat(True)
    # In compatible mode names alone decide, and it is warned of once, too.
    fast = Fast(["a"], {"type": "ByteLevel"}, end=None)
    del fast.tokens["</s>"]
    with pytest.warns(grammask.GrammaskWarning, match="no end token") as warned:
        TokenizerInfo.from_huggingface(fast)
    assert len(warned) == 1


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


def test_pieces_are_bytes_by_their_type():
    processor = trained(vocab_size=300, byte_fallback=True, user_defined_symbols=["<0x4a>", f"{SPACE}{SPACE}"])
    info = TokenizerInfo.from_sentencepiece(processor)
    assert info.decoded_vocab[processor.piece_to_id("<0x4a>")] == b"<0x4a>"
    assert info.decoded_vocab[processor.piece_to_id("<0x4A>")] == b"J"
    assert info.decoded_vocab[processor.piece_to_id(f"{SPACE}{SPACE}")] == b"  "
    assert info.vocab_type is VocabType.BYTE_FALLBACK and info.add_prefix_space


def test_processors_that_rewrite_their_text(tmp_path):
    rules = tmp_path / "rules.tsv"
    rules.write_text("62\t62 62\n")
    processor = trained(vocab_size=40, denormalization_rule_tsv=str(rules))
    with pytest.raises(grammask.TokenizerError, match="rewrites decoded text.*use `TokenizerInfo`"):
        TokenizerInfo.from_sentencepiece(processor)


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
