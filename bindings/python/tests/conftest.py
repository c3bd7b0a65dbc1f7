"""A small vocabulary, and tensors that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import grammask

STOP = 260
VOCAB_SIZE = 270


def small_tokenizer() -> grammask.TokenizerInfo:
    """Every byte, some longer tokens, a stop token, a special name, padding."""
    tokens = [bytes([byte]) for byte in range(256)] + [b'{"', b'": ', b"true", b"false", b"</s>", b"", b'"}']
    assert tokens[STOP] == b"</s>"
    return grammask.TokenizerInfo(tokens, vocab_size=VOCAB_SIZE)


@pytest.fixture(scope="session")
def info() -> grammask.TokenizerInfo:
    return small_tokenizer()


@pytest.fixture(scope="session")
def compiler(info: grammask.TokenizerInfo) -> grammask.GrammarCompiler:
    return grammask.GrammarCompiler(info)


@pytest.fixture(autouse=True)
def exact() -> Iterator[None]:
    yield
    grammask.config.set_compat(False)


class FakeDevice:
    def __init__(self, kind: str) -> None:
        self.type = kind

    def __str__(self) -> str:
        return self.type


class FakeTensor:
    """As much of a torch tensor as a bitmask needs."""

    def __init__(self, array: Any, dtype: str = "torch.int32", device: str = "cpu") -> None:
        self.array = array
        self.dtype = dtype
        self.device = FakeDevice(device)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)


@pytest.fixture
def fake_tensor() -> type[FakeTensor]:
    return FakeTensor


def allowed(bitmask: Any, row: int = 0) -> set[int]:
    """The ids that a row allows."""
    bits = np.unpackbits(np.atleast_2d(bitmask)[row].view(np.uint8), bitorder="little")
    return {int(token) for token in np.flatnonzero(bits)}
