"""What users of Python expect to be taken, and mistakes that are told plainly."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import io
import json
import subprocess
import sys
import time
import typing

import numpy as np
import pytest

import grammask

pydantic = pytest.importorskip("pydantic")
typing_extensions = pytest.importorskip("typing_extensions")


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Row(typing_extensions.TypedDict):
    name: str


class Model(pydantic.BaseModel):
    n: int


class Callback(pydantic.BaseModel):
    call: typing.Callable[[], int]


TYPES = [
    (list[int], "[1, 2]", '["a"]'),
    (typing.Literal["yes", "no"], '"yes"', '"maybe"'),
    (Color, '"red"', '"blue"'),
    (Point, '{"x": 1, "y": 2}', '{"x": 1}'),
    (Row, '{"name": "a"}', '{"name": 1}'),
    (int | None, "null", '"a"'),
    (int, "12", "true"),
    (Model, '{"n": 1}', '{"n": "a"}'),
    (pydantic.TypeAdapter(list[Model]), '[{"n": 1}]', '{"n": 1}'),
    (typing.NewType("Count", int), "1", '"a"'),
    (typing_extensions.TypeAliasType("Counts", list[int]), "[1]", "1"),
    (pydantic.HttpUrl, '"https://example.com/a?b=c"', f'"https://example.com/{"a" * 2083}"'),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), TYPES, ids=lambda value: str(value)[:30])
def test_schemas_of_types(compiler, schema, right, wrong):
    for compiled in (
        compiler.compile_json_schema(schema),
        compiler.compile_grammar(grammask.Grammar.from_json_schema(schema)),
    ):
        text = grammask.GrammarMatcher(compiled)
        assert text.accept_string(right) and text.is_completed()
        text.reset()
        assert not (text.accept_string(wrong) and text.is_completed())


def test_what_is_no_schema(compiler):
    for wrong in (3, [1], {"a"}, b"{}", object()):
        with pytest.raises(ValueError, match=f"not {type(wrong).__name__}"):
            compiler.compile_json_schema(wrong)
    for wrong in (io.StringIO, pydantic.BaseModel, Callback, pydantic.TypeAdapter(Callback)):
        with pytest.raises(ValueError, match="pydantic makes no schema"):
            compiler.compile_json_schema(wrong)
    deep: dict = {}
    for _ in range(100_000):
        deep = {"not": deep}
    with pytest.raises(ValueError, match="nests too deeply"):
        compiler.compile_json_schema(deep)
    with pytest.raises(TypeError, match=r"a set at `/properties/a~1b/enum`"):
        compiler.compile_json_schema({"properties": {"a/b": {"enum": {1}}}})
    with pytest.raises(TypeError, match=r"a tuple at `/properties`"):
        compiler.compile_json_schema({"properties": {(1, 2): {}}})
    with pytest.raises(grammask.InvalidSchemaError, match="the schema is no JSON"):
        compiler.compile_json_schema({"const": "\ud800"})
    schema = {"enum": {1}}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    for wrong in (tag, [grammask.StructuralTagItem(begin="<a>", schema=schema, end="</a>")]):
        with pytest.raises(TypeError, match=r"the structural tag holds a set at `/.*/enum`"):
            compiler.compile_structural_tag(*([wrong] if wrong is tag else [wrong, ["<a>"]]))
    content = grammask.structural_tag.JSONSchemaFormat(json_schema=schema)
    with pytest.raises(TypeError, match=r"the structural tag holds a set at `/format/json_schema/enum`"):
        compiler.compile_structural_tag(grammask.StructuralTag(format=content))
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    for offered in (tool, grammask.openai_tool_call_schema.FunctionToolParam.model_validate(tool)):
        with pytest.raises(TypeError, match=r"the request holds a set at `/tools/0/function/parameters/enum`"):
            grammask.structural_tag.get_model_structural_tag("qwen_3", [offered])
    endless = {}
    endless["not"] = endless
    with pytest.raises(TypeError):
        compiler.compile_json_schema(endless)


def test_mistakes_are_told_plainly(compiler, info):
    with pytest.raises(ValueError, match=r"compile_grammar\(grammar\).*not Grammar"):
        grammask.GrammarMatcher(grammask.Grammar.from_regex("a"))
    for make in (compiler.compile_choices, grammask.Grammar.from_choices):
        with pytest.raises(TypeError, match="list of strings, not str"):
            make("abc")
        with pytest.raises(TypeError, match="must be a str, not int"):
            make([1])
    for name in ("max_threads", "cache_limit_bytes"):
        with pytest.raises(grammask.GrammaskError, match=f"`{name}` must be a number (from 0 to|of 64 bits)"):
            grammask.GrammarCompiler(info, **{name: 1 << 64})
    with pytest.raises(ValueError, match=r"from_huggingface\(tokenizer\).*not dict"):
        grammask.GrammarCompiler({})
    mask = grammask.allocate_token_bitmask(1, 64, backend="numpy")
    with pytest.raises(TypeError, match="floats.*int64"):
        grammask.apply_token_bitmask_inplace(np.zeros((1, 64), np.int64), mask)
    with pytest.raises(grammask.BitmaskError, match="must have 9 words .*, not 2"):
        grammask.GrammarMatcher(compiler.compile_regex("a")).fill_next_token_bitmask(mask)


def test_waiting_for_a_compilation(compiler):
    async def serve():
        one, two = await asyncio.gather(
            compiler.compile_json_schema_async({"type": "integer"}), compiler.compile_regex_async("a+")
        )
        with pytest.raises(grammask.InvalidGrammarError):
            await compiler.compile_regex_async("(")
        return one, two

    one, two = asyncio.run(serve())
    assert one == compiler.compile_json_schema({"type": "integer"}) and two == compiler.compile_regex("a+")


def test_what_asyncio_has_for_several_futures(compiler):
    names = {f"name{i}": {"type": "string", "pattern": f"^([a-z]{{{i % 7 + 2},40}}-)+$"} for i in range(20000)}
    slow_schema = json.dumps({"type": "object", "properties": names, "required": list(names)})
    pattern = f"waited{time.monotonic_ns()}"

    async def answer(future):
        return await future

    async def work():
        futures = [compiler.compile_regex_async(f"{pattern}{number}") for number in range(20)]
        done, pending = await asyncio.wait(futures, timeout=60)
        assert done == set(futures) and not pending
        # Those that are done have been called back before.
        assert (await asyncio.wait(futures, timeout=60))[0] == done
        slow = compiler.compile_json_schema_async(slow_schema)
        quick = compiler.compile_regex_async(f"{pattern}quick")
        done, pending = await asyncio.wait([slow, quick], timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert done == {quick} and pending == {slow}
        done, pending = await asyncio.wait([slow], timeout=0.01)
        assert not done and pending == {slow} and slow.remove_done_callback(print) == 0
        assert slow.cancel() and (await asyncio.wait([slow], timeout=60))[0] == {slow}
        wrong = compiler.compile_regex_async("(")
        assert (await asyncio.wait([wrong], return_when=asyncio.FIRST_EXCEPTION, timeout=60))[0] == {wrong}
        assert isinstance((await asyncio.gather(wrong, quick, return_exceptions=True))[0], grammask.InvalidGrammarError)
        assert await asyncio.wait_for(quick, 60) == await asyncio.shield(quick)
        assert [await one for one in asyncio.as_completed([quick], timeout=60)] == [quick.result()]
        async with asyncio.TaskGroup() as group:
            task = group.create_task(answer(quick))
        assert task.result() == quick.result()

    asyncio.run(asyncio.wait_for(work(), 120))


def test_a_cancelled_task_ends_its_compilation(info):
    compiler = grammask.GrammarCompiler(info, max_threads=1)
    names = {f"name{i}": {"type": "string", "pattern": f"^([a-z]{{{i % 7 + 2},40}}-)+$"} for i in range(20000)}
    schema = json.dumps({"type": "object", "properties": names, "required": list(names)})

    async def serve():
        future = compiler.compile_json_schema_async(schema)
        with pytest.raises((asyncio.TimeoutError, TimeoutError)):
            await asyncio.wait_for(asyncio.ensure_future(_wait(future)), 0.001)
        return future

    async def _wait(future):
        return await future

    start = time.monotonic()
    assert asyncio.run(serve()).cancelled()
    # The one thread is free again for the next.
    compiler.compile_regex_async("b").result(timeout=20)
    assert time.monotonic() - start < 20


def test_vocabularies_of_tiktoken():
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257}
    special = {"<|endoftext|>": 260, "<|call|>": 262}
    encoding = tiktoken.Encoding("small", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=special)
    info = grammask.TokenizerInfo.from_tiktoken(encoding, vocab_size=300)
    assert info.vocab_size == 300 and info.stop_token_ids == [260]
    assert info.decoded_vocab[255:263] == [b"\xff", b"ab", b"abc", b"", b"", b"<|endoftext|>", b"", b"<|call|>"]
    assert 262 in info.special_token_ids
    compiled = grammask.GrammarCompiler(info).compile_choices(["abcab"])
    text = grammask.GrammarMatcher(compiled)
    assert all(text.accept_token(token) for token in encoding.encode("abcab"))
    assert text.accept_token(260)
    assert grammask.TokenizerInfo.from_tiktoken(encoding, stop_token_ids=[262]).stop_token_ids == [262]
    endless = tiktoken.Encoding("endless", pat_str=r"\S+", mergeable_ranks=ranks, special_tokens={})
    with pytest.warns(grammask.GrammaskWarning, match="no end token"):
        grammask.TokenizerInfo.from_tiktoken(endless)
    with pytest.raises(TypeError, match="tiktoken.Encoding, not int"):
        grammask.TokenizerInfo.from_tiktoken(3)


@pytest.mark.parametrize("bytes_too", [False, True])
def test_vocabularies_of_sentencepiece(bytes_too):
    sentencepiece = pytest.importorskip("sentencepiece")
    words = io.BytesIO()
    size = 256 + 40 if bytes_too else 40
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "the dog ate the cat"] * 20),
        model_writer=words,
        vocab_size=size,
        model_type="bpe",
        byte_fallback=bytes_too,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=words.getvalue())
    info = grammask.TokenizerInfo.from_sentencepiece(processor)
    assert info.vocab_size == processor.get_piece_size() and info.stop_token_ids == [processor.eos_id()]
    assert {processor.unk_id(), processor.bos_id()} <= set(info.special_token_ids)
    compiled = grammask.GrammarCompiler(info).compile_choices([" the cat sat"])
    text = grammask.GrammarMatcher(compiled)
    assert all(text.accept_token(token) for token in processor.encode("the cat sat"))
    assert text.accept_token(processor.eos_id())
    assert (b"\n" in info.decoded_vocab) == bytes_too
    with pytest.raises(TypeError, match="SentencePieceProcessor, not int"):
        grammask.TokenizerInfo.from_sentencepiece(3)


class Endless:
    """A tokenizer of transformers without an end token."""

    eos_token_id = None

    def get_vocab(self):
        return {"a": 0, "b": 1}

    @property
    def backend_tokenizer(self):
        return self

    def to_str(self):
        return '{"model": {"type": "BPE", "vocab": {}, "merges": []}}'


@pytest.mark.parametrize("tokens", [{"a": 1, "</s>": 0}, {b"a", b"</s>"}, frozenset([b"a"]), "abc"])
def test_vocabularies_without_the_order_of_ids(tokens):
    with pytest.raises(TypeError, match="in the order of their ids"):
        grammask.TokenizerInfo(tokens, stop_token_ids=[0])


def test_a_tokenizer_without_an_end():
    with pytest.warns(grammask.GrammaskWarning, match="no end token"):
        grammask.TokenizerInfo.from_huggingface(Endless())
    assert grammask.TokenizerInfo.from_huggingface(Endless(), stop_token_ids=[]).stop_token_ids == []
    assert grammask.TokenizerInfo.from_huggingface(Endless(), stop_token_ids=[1]).stop_token_ids == [1]


def test_free_threaded_builds_are_refused():
    program = "import sys; sys.abiflags = 't'\ntry:\n import grammask\nexcept ImportError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "free-threaded" in done.stdout, done.stderr


def test_indentation_is_a_number_of_spaces(compiler):
    for free in ({"any_whitespace": False}, {}):
        for wrong in (-1, 65, 1 << 70):
            with pytest.raises(grammask.GrammaskError, match="`indent` must be a number"):
                compiler.compile_json_schema({}, indent=wrong, **free)
        for wrong in (True, "2", 1.5):
            with pytest.raises(TypeError, match="`indent` must be a whole number, not"):
                compiler.compile_json_schema({}, indent=wrong, **free)
    with pytest.raises(TypeError, match="`max_threads` must be a whole number, not bool"):
        grammask.GrammarCompiler(compiler.tokenizer_info, max_threads=True)


def test_hot_texts_are_drawn():
    """A temperature that is a number of Python's, and more than one of 32 bits, draws all tokens alike."""
    logits, mask = np.array([[3e38, -3e38, 0.0, 1.0]], np.float32), np.array([[0b1101]], np.int32)
    drawn = {int(grammask.choose_tokens(logits, mask, temperature=1e300, seed=seed)[0]) for seed in range(100)}
    assert len(drawn) > 1 and drawn <= {0, 2, 3}
    for wrong in (float("inf"), float("nan"), -1e300):
        with pytest.raises(ValueError, match="finite number of at least 0"):
            grammask.choose_tokens(logits, mask, temperature=wrong)


@pytest.mark.parametrize(
    ("given", "what"), [([[]], "tags"), ([[], ["<a"]], "tags"), ([[{"begin": "<a>", "schema": {}, "end": "</a>"}], []], "triggers")]
)
def test_structural_tags_without_tags_or_triggers(compiler, given, what):
    for read in (compiler.compile_structural_tag, grammask.Grammar.from_structural_tag):
        grammask.config.set_compat(False)
        with pytest.raises(grammask.InvalidStructuralTagError, match=f"^Triggered tags format's {what} must be non-empty; give"):
            read(*given)
        grammask.config.set_compat(True)
        with pytest.raises(grammask.InvalidStructuralTagError, match="^Invalid structural tag error: Triggered tags format's"):
            read(*given)
