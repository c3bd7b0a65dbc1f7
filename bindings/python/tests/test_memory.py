"""Memory that changes hands while a mask is written to it."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import VOCAB_SIZE, FakeTensor

import grammask

WORDS = (VOCAB_SIZE + 31) // 32


def test_a_tensor_whose_shape_changed(compiler, fake_tensor):
    """Its address is that of before."""
    memory = np.zeros((4, WORDS), np.int32)
    tensor = fake_tensor(memory)
    text = grammask.GrammarMatcher(compiler.compile_regex("ab*"))
    text.fill_next_token_bitmask(tensor, 3)
    assert memory[3].any()
    memory.fill(0)
    for array in (memory[:2], memory[:, : WORDS - 1], memory.reshape(-1)[:WORDS], memory.T, memory.reshape(2, -1)):
        tensor.array = array
        with pytest.raises(grammask.BitmaskError):
            text.fill_next_token_bitmask(tensor, 3)
        assert not memory.any()
    tensor.array, tensor.dtype = memory, "torch.int64"
    with pytest.raises(grammask.BitmaskError):
        text.fill_next_token_bitmask(tensor, 3)
    assert not memory.any()


def test_a_tensor_of_torch_whose_shape_changed(compiler):
    torch = pytest.importorskip("torch")
    text = grammask.GrammarMatcher(compiler.compile_regex("ab*"))

    def fill(tensor):
        with pytest.raises(grammask.BitmaskError):
            text.fill_next_token_bitmask(tensor, 3)

    for change in (
        lambda tensor: tensor.resize_(2, WORDS),
        lambda tensor: tensor.set_(torch.zeros(2, WORDS, dtype=torch.int32)),
        lambda tensor: tensor.t_(),
        lambda tensor: tensor.as_strided_((2, WORDS), (WORDS, 1)),
    ):
        tensor = torch.zeros(4, WORDS, dtype=torch.int32)
        text.fill_next_token_bitmask(tensor, 3)
        change(tensor)
        fill(tensor)


def unaligned(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    array = np.zeros(size + 8, np.uint8)[1 : size + 1].view(dtype).reshape(shape)
    assert not array.flags.aligned and array.flags.c_contiguous
    return array


def test_unaligned_arrays(compiler, fake_tensor):
    text = grammask.GrammarMatcher(compiler.compile_regex("ab*"))
    for dtype in (np.int32, np.uint32):
        array = unaligned((2, WORDS), dtype)
        tree = [np.array([-1]), np.array([-1]), np.array([0])]
        for mask in (array, fake_tensor(array)):
            for call in (
                lambda mask=mask: text.fill_next_token_bitmask(mask),
                lambda mask=mask: grammask.BatchGrammarMatcher(1).batch_fill_next_token_bitmask([text], mask),
                lambda mask=mask: text.traverse_draft_tree(*tree, mask),
            ):
                with pytest.raises(grammask.BitmaskError):
                    call()
        assert not array.any()
    address = array.ctypes.data
    with pytest.raises(grammask.BitmaskError):
        text.fill_next_token_bitmask_ptr(address, WORDS)


def test_unaligned_arrays_are_applied_all_the_same():
    """Numpy reads them."""
    mask = unaligned((2, 2), np.int32)
    mask[:] = 0x55555555
    for logits in (np.ones((2, 64), np.float32), unaligned((2, 64), np.float32)):
        logits[:] = 1
        grammask.apply_token_bitmask_inplace(logits, mask)
        assert (logits[:, ::2] == 1).all() and np.isneginf(logits[:, 1::2]).all()


class Changing:
    """A row number that, where it is asked for, takes an array its rows."""

    def __init__(self, array, rows):
        self.array, self.rows = array, rows

    def __index__(self):
        self.array.resize(self.rows, self.array.shape[1], refcheck=False)
        return 3


def test_arrays_that_change_while_they_are_looked_at():
    for changed in (0, 1):
        arrays = (np.ones((4, 64), np.float32), np.zeros((4, 2), np.int32))
        with pytest.raises(ValueError, match="changed its shape"):
            grammask.apply_token_bitmask_inplace(*arrays, indices=[Changing(arrays[changed], 1)])
        assert (arrays[0] == 1).all()


class Moving(FakeTensor):
    """A tensor whose memory others replace; what it had before is given back, and must not be written any more."""

    def __init__(self, rows, words):
        super().__init__(np.zeros((rows, words), np.int32))
        self.address = self.array.ctypes.data
        self.given_back = []

    def data_ptr(self):
        # As with a tensor, nobody else has a turn between this and its caller's going on.
        return self.address

    def move(self):
        before = self.array
        self.array = np.zeros_like(before)
        self.address = self.array.ctypes.data
        self.given_back.append((before, before.copy()))

    def is_unhurt(self):
        return all((array == copy).all() for array, copy in self.given_back)


def test_memory_that_is_given_back_is_not_written():
    """Masks that take a while, which are computed without the interpreter's lock."""
    tokens = ["".join(letters) for letters in itertools.product("ab", repeat=12)] + ["a", "b", "</s>"]
    compiler = grammask.GrammarCompiler(grammask.TokenizerInfo(tokens), cache_enabled=False)
    batch = grammask.BatchGrammarMatcher(2)
    tensor = Moving(4, (len(tokens) + 31) // 32)
    tree = [np.array([1, 2, 3, -1]), np.array([-1] * 4), np.array([0, 1, 2, 3])]

    def texts(count, length):
        compiled = compiler.compile_regex(f"(a|b)*a(a|b){{{length}}}")
        return [grammask.GrammarMatcher(compiled) for _ in range(count)]

    def fill(call):
        tensor.given_back.clear()
        done = threading.Event()

        def move():
            while not done.is_set():
                tensor.move()

        thread = threading.Thread(target=move)
        thread.start()
        try:
            call()
        finally:
            done.set()
            thread.join()
        assert tensor.is_unhurt()

    for length in range(8, 20):
        (text,) = texts(1, length)
        fill(lambda text=text: text.fill_next_token_bitmask(tensor, 2))
        four = texts(4, length)
        fill(lambda four=four: batch.batch_fill_next_token_bitmask(four, tensor))
        (text,) = texts(1, length)
        fill(lambda text=text: text.traverse_draft_tree(*tree, tensor))


def test_words_in_the_other_byte_order_are_refused(compiler):
    text = grammask.GrammarMatcher(compiler.compile_regex("ab*"))
    other = np.dtype(np.int32).newbyteorder()
    integer = ctypes.c_int32.__ctype_be__ if sys.byteorder == "little" else ctypes.c_int32.__ctype_le__
    for memory in (np.zeros((1, WORDS), other), (integer * WORDS)()):
        with pytest.raises(grammask.BitmaskError, match="int32"):
            text.fill_next_token_bitmask(memory)
    assert text.fill_next_token_bitmask((ctypes.c_int32 * WORDS)())


AT_THE_END = """
import grammask

info = grammask.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["<eos>"], stop_token_ids=[256])
matcher = grammask.GrammarMatcher(grammask.GrammarCompiler(info).compile_regex("[a-z]+"))


class Late:
    def __del__(self):
        try:
            matcher.fill_next_token_bitmask(memoryview(bytearray(36)).cast("i"))
        except ImportError:
            print("ImportError")


kept = Late()
"""


def test_a_first_mask_when_the_process_ends_is_an_error():
    """Modules cannot be imported there, and numpy's functions are only looked for with the first array."""
    found = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=True)
    assert (found.stdout.split(), found.stderr) == (["ImportError"], "")
