"""Compares the tokens of `grammask-vocabularies` with those of the libraries whose files it reads.

`cargo xtask vocabularies` runs it, with the Python packages that it needs. For each file, every id's bytes and kind are
compared, and random texts are encoded by the library and put together again from our bytes. A source that is not there
is skipped, with the reason. Exit status 1 means a difference that is not in the list of known ones.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

# A token: its kind (`Text`, `Special`, `Stop`, `Empty`) and its bytes, or its name.
Token = tuple[str, bytes]

failures = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True, help="the example program `tokens`")
    parser.add_argument("--work", type=Path, required=True, help="a folder for files")
    parser.add_argument("--llama", type=Path, help="llama.cpp: its sources, with the folder `models`")
    parser.add_argument("--pieces", type=Path, help="`pieces.cpp`, built and linked with llama.cpp")
    parser.add_argument("--ranks", type=Path, help="a folder of tiktoken's rank files")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    for source in (compare_sentencepiece, compare_tekken, compare_tiktoken, compare_gguf):
        source(arguments)
    sys.exit(1 if failures else 0)


def read(arguments: argparse.Namespace, file: Path) -> list[Token]:
    """What we read of a file."""
    output = subprocess.run([arguments.tokens, file], capture_output=True, check=False, text=True)
    if output.returncode != 0:
        raise RuntimeError(output.stderr)
    lines = (line.split(" ") for line in output.stdout.splitlines())
    return [(kind, bytes.fromhex(spelled)) for _, kind, spelled in lines]


def skip(source: str, reason: str) -> None:
    print(f"{source}: skipped: {reason}")


def report(source: str, ours: list[Token], differences: Counter[str], known: Iterable[str], texts: str) -> None:
    """One line, and what is different."""
    global failures
    unknown = {name: count for name, count in differences.items() if name not in known}
    failures += len(unknown)
    kinds = ", ".join(f"{count} {kind.lower()}" for kind, count in Counter(kind for kind, _ in ours).most_common())
    print(f"{source}: {len(ours)} ids ({kinds}); {texts}")
    for name, count in differences.items():
        print(f"    {'known' if name in known else 'DIFFERENT'}: {count} {name}")


def texts(count: int) -> list[str]:
    """Texts of words, spaces, numbers, marks and characters of all widths."""
    choose = random.Random(25)
    words = ["the", "Hello", "{", '"name"', ": ", "x=1;", "日本語", "привет", "héllo", "\n", "  ", "\t", "😀", "🏳️‍🌈", "a"]

    def part() -> str:
        match choose.randrange(4):
            case 0:
                return choose.choice(words)
            case 1:
                return chr(choose.randrange(0x20, 0x7F))
            case 2:
                return str(choose.randrange(10**6))
            case _:
                # Not a surrogate, and not the character that stands for a space.
                return chr(choose.choice([choose.randrange(0xA1, 0x2580), choose.randrange(0x2590, 0xD800)]))

    return ["".join(part() for _ in range(choose.randrange(1, 40))) for _ in range(count)]


def roundtrips(
    ours: list[Token], encode: Callable[[str], list[int]], expected: Callable[[str], str] = str, count: int = 500
) -> tuple[int, Counter[str]]:
    """Encodes texts, and puts our bytes of their ids together."""
    differences: Counter[str] = Counter()
    for text in texts(count):
        found = b"".join(ours[token][1] for token in encode(text))
        if found != expected(text).encode():
            differences["texts that our bytes do not spell"] += 1
    return count, differences


def compare_sentencepiece(arguments: argparse.Namespace) -> None:
    try:
        import sentencepiece
    except ImportError as error:
        return skip("SentencePiece", str(error))
    models = []
    for name, options in {
        "unigram": {"model_type": "unigram", "byte_fallback": True},
        "bpe": {"model_type": "bpe", "byte_fallback": True, "eos_piece": "<end>", "unk_piece": "<what>"},
        "suffix": {"model_type": "bpe", "byte_fallback": True, "treat_whitespace_as_suffix": True},
    }.items():
        corpus = arguments.work / "corpus.txt"
        # Characters that nobody uses twice would fill the model.
        common = (re.sub(r"[^ -~\u00e0-\u024f\u0400-\u04ff日本語]", " ", text) for text in texts(4_000))
        lines = (text.strip() for text in common)
        corpus.write_text("\n".join(line for line in lines if line), encoding="utf-8")
        model = arguments.work / f"trained-{name}"
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus), model_prefix=str(model), vocab_size=2_000, character_coverage=0.98,
            normalization_rule_name="identity", remove_extra_whitespaces=False, minloglevel=2, hard_vocab_limit=False,
            control_symbols=["<call>"], user_defined_symbols=["<tool>", "▁▁"], **options,
        )  # fmt: skip
        models.append(model.with_suffix(".model"))
    models += mistral_files("*.model*")
    for model in models:
        ours = read(arguments, model)
        library = sentencepiece.SentencePieceProcessor(model_file=str(model))
        assert len(ours) == library.get_piece_size()
        anchor = next(token for token in range(len(ours)) if library.id_to_piece(token) == "a")
        start = library.decode([anchor], out_type=bytes)
        differences: Counter[str] = Counter()
        for token, (kind, spelled) in enumerate(ours):
            piece = library.id_to_piece(token)
            if library.is_control(token) or library.is_unknown(token):
                expected = ("Stop" if token == library.eos_id() else "Special", piece.encode())
            elif library.is_unused(token):
                expected = ("Empty", b"")
            elif library.is_byte(token):
                expected = ("Text", bytes([int(piece[3:5], 16)]))
            else:
                expected = ("Text", library.decode([anchor, token], out_type=bytes).removeprefix(start))
            if (kind, spelled) != expected:
                differences[f"ids, such as {token}: {(kind, spelled)} for {expected}"] += 1
        # It puts a space before a text that it encodes, or after it.
        spaced = "{} " if "suffix" in model.name else " {}"
        count, lost = roundtrips(ours, library.encode, spaced.format)
        report(f"SentencePiece {sentencepiece.__version__} {model.name}", ours, differences + lost, (), f"{count} texts")


def compare_tekken(arguments: argparse.Namespace) -> None:
    try:
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    except ImportError as error:
        return skip("tekken.json", str(error))
    for file in mistral_files("tekken*.json"):
        ours = read(arguments, file)
        library = Tekkenizer.from_file(file)
        assert len(ours) == library.n_words
        differences: Counter[str] = Counter()
        for token, (kind, spelled) in enumerate(ours):
            special = "Stop" if token == library.eos_id else "Special"
            expected_kind = special if token < library.num_special_tokens else "Text"
            expected = (expected_kind, library.id_to_byte_piece(token, SpecialTokenPolicy.KEEP))
            if (kind, spelled) != expected:
                differences[f"ids, such as {token}: {(kind, spelled)} for {expected}"] += 1
        count, lost = roundtrips(ours, lambda text: library.encode(text, bos=False, eos=False))
        report(f"tekken.json {file.name}", ours, differences + lost, (), f"{count} texts")


def mistral_files(pattern: str) -> list[Path]:
    """Files that the package `mistral-common` brings."""
    try:
        import mistral_common
    except ImportError as error:
        skip(f"mistral-common's {pattern}", str(error))
        return []
    return sorted((Path(mistral_common.__file__).parent / "data").glob(pattern))


def compare_tiktoken(arguments: argparse.Namespace) -> None:
    try:
        import tiktoken
        import tiktoken_ext.openai_public as public
    except ImportError as error:
        return skip("tiktoken", str(error))
    if arguments.ranks is None:
        return skip("tiktoken", "its rank files are downloads; `--ranks` names a folder that has them")
    # The package keeps downloads under a hash of their address, and checks what it finds there.
    cache = arguments.work / "ranks"
    cache.mkdir(exist_ok=True)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    for name in ("r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"):
        ranks = arguments.ranks / f"{ {'p50k_edit': 'p50k_base', 'o200k_harmony': 'o200k_base'}.get(name, name) }.tiktoken"
        if not ranks.exists() or not hasattr(public, name):
            skip(f"tiktoken {name}", f"no {ranks.name}, or an old package")
            continue
        address = f"https://openaipublic.blob.core.windows.net/encodings/{ranks.name}"
        (cache / hashlib.sha1(address.encode()).hexdigest()).write_bytes(ranks.read_bytes())
        library = tiktoken.Encoding(**getattr(public, name)())
        file = arguments.work / f"{name}.tiktoken"
        file.write_bytes(ranks.read_bytes())
        ours = read(arguments, file)
        assert len(ours) == library.n_vocab
        special = {token: name for name, token in library._special_tokens.items()}
        differences: Counter[str] = Counter()
        for token, (kind, spelled) in enumerate(ours):
            if token in special:
                expected = (kind if kind == "Stop" else "Special", special[token].encode())
            else:
                try:
                    expected = ("Text", library.decode_single_token_bytes(token))
                except KeyError:
                    expected = ("Empty", b"")
            if (kind, spelled) != expected:
                differences[f"ids, such as {token}: {(kind, spelled)} for {expected}"] += 1
        count, lost = roundtrips(ours, library.encode_ordinary)
        report(f"tiktoken {tiktoken.__version__} {name}", ours, differences + lost, (), f"{count} texts")


# Attributes of llama.cpp's tokens.
UNKNOWN, CONTROL = 1, 8

# Where we mean to differ from llama.cpp.
KNOWN = (
    "ids that a converter made up where the tokenizer has none ([PAD7] for id 7)",
    "ids for which llama.cpp writes a text of its own (characters outside of the alphabet of bytes)",
    "ids that llama.cpp takes for special by their names, and the file for text",
    "ids that end a text in llama.cpp, for filling in the middle or as text",
    "ids that end a text by their names, and not in llama.cpp",
)


def compare_gguf(arguments: argparse.Namespace) -> None:
    if arguments.llama is None or arguments.pieces is None:
        return skip("GGUF", "`--llama` names the sources of llama.cpp, `--pieces` the program built from `pieces.cpp`")
    encoded = texts(500)
    file = arguments.work / "texts.txt"
    file.write_text("\n".join(text.encode().hex() for text in encoded))
    for model in sorted((arguments.llama / "models").glob("*.gguf")) + synthetic_models(arguments.work):
        ours = read(arguments, model)
        output = subprocess.run([arguments.pieces, model, file], capture_output=True, check=True, text=True)
        lines = [line.split(" ") for line in output.stdout.splitlines()]
        theirs = [line for line in lines if line[0] == "T"]
        assert len(ours) == len(theirs)
        differences: Counter[str] = Counter()
        for (kind, spelled), (_, token, attributes, ends, piece) in zip(ours, theirs, strict=True):
            name = bytes.fromhex(piece)
            is_special, is_stop = int(attributes) & (UNKNOWN | CONTROL) != 0, ends == "1"
            if name == f"[PAD{token}]".encode() and kind == "Empty":
                differences[KNOWN[0]] += 1
            elif spelled != name:
                differences[KNOWN[1] if name.startswith(b"[UNK_BYTE_") else f"bytes, such as {spelled} for {name}"] += 1
            elif is_special and kind == "Text":
                differences[KNOWN[2]] += 1
            elif is_special != (kind in ("Special", "Stop")):
                differences[f"kinds, such as {kind} of {name}"] += 1
            elif is_stop and kind != "Stop":
                differences[KNOWN[3]] += 1
            elif kind == "Stop" and not is_stop:
                differences[KNOWN[4]] += 1
        # Words of the tokenizer of BERT are folded and their spaces dropped; others may put one before a text.
        count = 0
        if "bert" not in model.name and "synthetic" not in model.name:
            for line in (line for line in lines if line[0] == "E"):
                count += 1
                text = bytes.fromhex(line[1])
                found = b"".join(ours[int(token)][1] for token in line[2].split(",") if token)
                if found not in (text, b" " + text):
                    differences["texts that our bytes do not spell"] += 1
        report(f"GGUF {model.name}", ours, differences, KNOWN, f"{count} texts")


def synthetic_models(work: Path) -> list[Path]:
    """Files of the tokenizers of which llama.cpp brings no file."""
    try:
        import gguf
    except ImportError as error:
        skip("GGUF of other tokenizers", str(error))
        return []
    normal, unknown, control, byte = 1, 2, 3, 6
    byte_level = [("Ġ", normal), ("a", normal), ("Ċ", normal), ("Ġa", normal), ("<end>", control)]
    models = {
        "hybriddna": [*byte_level, ("<oov>", control), ("ACGT\ue000", normal), ("ACGA\ue000", normal)],
        "plamo2": [("<|plamo:unk|>", unknown), ("<|plamo:bos|>", control), ("<|plamo:eos|>", control)]
        + [(f"<0x{number:02X}>", byte) for number in range(256)]
        + [("abc", normal), ("▁x", normal), (" y", normal), ("\n", normal)],
        "rwkv": [("<s>", control)]
        + [(f"\\x{number:02x}", normal) for number in range(256)]
        + [(r"\n\t", normal), (r"it\'s", normal), (r"\\", normal), ("é", normal), (r"\xe2\x96a", normal)],
        "test": [(f"t{number}", normal) for number in range(40)],
        "whitespace": byte_level,
    }
    files = []
    for model, tokens in models.items():
        files.append(work / f"synthetic-{model}.gguf")
        writer = gguf.GGUFWriter(files[-1], "llama")
        writer.add_context_length(512)
        writer.add_embedding_length(64)
        writer.add_block_count(2)
        writer.add_feed_forward_length(128)
        writer.add_head_count(4)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_vocab_size(len(tokens))
        writer.add_tokenizer_model(model)
        writer.add_tokenizer_pre("whitespace" if model == "whitespace" else "gpt-2")
        writer.add_token_list([text for text, _ in tokens])
        writer.add_token_types([kind for _, kind in tokens])
        writer.add_token_merges(["Ġ a"])
        if tokens[: len(byte_level)] == byte_level:
            writer.add_eos_token_id(4)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
    return files


if __name__ == "__main__":
    main()
