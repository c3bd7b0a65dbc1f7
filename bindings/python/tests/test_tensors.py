"""Bitmasks onto tensors: torch's where torch is installed, and stand-ins for those that live on a device."""

from __future__ import annotations

import ctypes
import types

import numpy as np
import pytest

import grammask
from grammask import _native, testing

ROWS, TOKENS = 4, 70


def random_mask(rows=ROWS, seed=1):
    keep = np.random.default_rng(seed).random((rows, TOKENS)) < 0.5
    return keep, testing.bool_mask_to_bitmask(keep)


def masked(torch, logits, keep):
    return logits.masked_fill(torch.from_numpy(~keep), float("-inf"))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_tensors_in_cpu_memory(dtype):
    torch = pytest.importorskip("torch")
    keep, bits = random_mask()
    bits = torch.from_numpy(bits)
    logits = torch.randn(ROWS, TOKENS).to(getattr(torch, dtype))
    want = masked(torch, logits, keep)

    def apply(tensor, mask=bits, **arguments):
        grammask.apply_token_bitmask_inplace(tensor, mask, **arguments)
        return tensor

    for backend in ("auto", "cpu", "torch_native", "torch_compile"):
        assert torch.equal(apply(logits.clone(), backend=backend), want)
    assert torch.equal(apply(logits.clone(), bits.numpy()), want)
    for rows in ([2, 0], torch.tensor([2, 0, 2]), np.array([0, 2])):
        applied = apply(logits.clone(), indices=rows)
        assert torch.equal(applied[[0, 2]], want[[0, 2]]) and torch.equal(applied[[1, 3]], logits[[1, 3]])
    narrow = apply(logits.clone(), vocab_size=40)
    assert torch.equal(narrow[:, :40], want[:, :40]) and torch.equal(narrow[:, 40:], logits[:, 40:])
    wide = torch.zeros(ROWS, 2 * TOKENS, dtype=logits.dtype)
    wide[:, ::2] = logits
    assert torch.equal(apply(wide[:, ::2]), want) and not wide[:, 1::2].any(), "columns with a stride"
    turned = logits.t().contiguous().t()
    assert torch.equal(apply(turned), want) and turned.stride(1) == ROWS
    for number in (bits[:1, :1], torch.tensor([[2]], dtype=torch.int32)):
        few = apply(logits[:1, :20].clone(), number.clone())
        keep_few = [int(number) >> token & 1 == 1 for token in range(20)]
        assert torch.equal(few, masked(torch, logits[:1, :20], np.array([keep_few]))), "a bitmask of one word"
    padded = torch.zeros(ROWS, TOKENS + 5, dtype=logits.dtype)
    padded[:, :TOKENS] = logits
    assert torch.equal(apply(padded[:, :TOKENS]), want) and not padded[:, TOKENS:].any(), "rows with a stride"
    every_other = torch.stack([bits, torch.zeros_like(bits)], dim=2).flatten(1)[:, ::2]
    assert torch.equal(apply(logits.clone(), every_other), want), "a bitmask with a stride"
    assert torch.equal(apply(logits[1].clone(), bits[1]), want[1])
    assert torch.equal(apply(logits.clone(), indices=[]), logits)


def test_words_without_a_sign():
    torch = pytest.importorskip("torch")
    words = torch.tensor([[-2, 5], [1, 0]], dtype=torch.int32)
    logits = [torch.zeros(2, 40) for _ in range(2)]
    grammask.apply_token_bitmask_inplace(logits[0], words)
    grammask.apply_token_bitmask_inplace(logits[1], words.view(torch.uint32))
    assert torch.equal(*logits) and logits[0].isinf().any()


def test_tensors_that_do_not_fit():
    torch = pytest.importorskip("torch")
    _, bits = random_mask()
    bits, logits = torch.from_numpy(bits), torch.zeros(ROWS, TOKENS)
    wrong = [
        (logits, bits.long(), {}),
        (logits, bits[:2], {}),
        (logits.unsqueeze(0), bits, {}),
        (torch.zeros(TOKENS).expand(ROWS, TOKENS), bits, {}),
        (logits, bits, {"backend": "cuda"}),
        (logits, bits.to("meta"), {}),
        (logits.to("meta"), bits.to("meta"), {"backend": "cpu"}),
    ]
    for tensor, mask, arguments in wrong:
        with pytest.raises(ValueError):
            grammask.apply_token_bitmask_inplace(tensor, mask, **arguments)
    for rows in ([0.5], torch.tensor([False, True]), "0", torch.tensor([0.9])):
        with pytest.raises(TypeError):
            grammask.apply_token_bitmask_inplace(logits, bits, indices=rows)
    with pytest.raises(ValueError, match="vocab_size"):
        grammask.apply_token_bitmask_inplace(logits, bits, vocab_size=-1)
    for rows in ([ROWS], [-1], torch.tensor([0, ROWS])):
        with pytest.raises(IndexError):
            grammask.apply_token_bitmask_inplace(logits, bits, indices=rows)
    assert not logits.any()


def test_views_that_negate():
    torch = pytest.importorskip("torch")
    keep, bits = random_mask()
    bits = torch.from_numpy(bits)
    numbers = torch.randn(ROWS, TOKENS, dtype=torch.complex64).conj()
    want = masked(torch, numbers.imag.clone(), keep)
    chosen = grammask.choose_tokens(numbers.imag, bits, temperature=0)
    assert chosen.tolist() == want.argmax(dim=1).tolist()
    grammask.apply_token_bitmask_inplace(numbers.imag, bits)
    assert numbers.imag.is_neg() and torch.equal(numbers.imag, want)
    logits = torch.randn(ROWS, TOKENS)
    want = masked(torch, logits.clone(), keep)
    grammask.apply_token_bitmask_inplace(logits, torch._neg_view(-bits))
    assert torch.equal(logits, want)
    # No rows at all are no work.
    grammask.apply_token_bitmask_inplace(logits, bits[:0], indices=[])
    assert torch.equal(logits, want)


def test_logits_of_a_graph_are_known_to_be_overwritten():
    torch = pytest.importorskip("torch")
    _, bits = random_mask()
    leaf = torch.randn(ROWS, TOKENS, requires_grad=True)
    logits = leaf.sigmoid()
    grammask.apply_token_bitmask_inplace(logits, torch.from_numpy(bits))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        logits.clamp(min=-1e9).sum().backward()


def test_bitmasks_without_memory(info, compiler):
    torch = pytest.importorskip("torch")
    text = grammask.GrammarMatcher(compiler.compile_regex("ab*"))
    gone = grammask.allocate_token_bitmask(2, info.vocab_size, backend="torch")
    gone.untyped_storage().resize_(0)
    zeros = torch._efficientzerotensor(gone.shape, dtype=torch.int32)
    batch = grammask.BatchGrammarMatcher(1)
    for mask in (gone, zeros):
        for call in (
            lambda mask=mask: text.fill_next_token_bitmask(mask),
            lambda mask=mask: text.fill_mask_kind(mask),
            lambda mask=mask: batch.batch_fill_next_token_bitmask([text], mask),
            lambda mask=mask: batch.batch_fill_mask_kinds([text], mask),
            lambda mask=mask: text.traverse_draft_tree([-1], [-1], [0], mask),
        ):
            with pytest.raises(grammask.BitmaskError, match="memory"):
                call()


def test_bitmasks_are_filled_in_tensors(info, compiler):
    torch = pytest.importorskip("torch")
    text = grammask.GrammarMatcher(compiler.compile_regex("ab*"))
    mask = grammask.allocate_token_bitmask(2, info.vocab_size, backend="torch")
    text.fill_next_token_bitmask(mask, 1)
    assert (mask[0] == -1).all()
    assert testing.bitmask_to_bool_mask(mask, info.vocab_size)[1].nonzero()[0].tolist() == [ord("a")]
    for wrong in (mask.long(), mask.to("meta"), mask[:, ::2], mask[:, :-1], mask.unsqueeze(0)):
        with pytest.raises(RuntimeError):
            text.fill_next_token_bitmask(wrong)
    grammask.reset_token_bitmask(mask)
    assert (mask == -1).all() and mask.dtype == grammask.bitmask_dtype == torch.int32


class OneNumber:
    """A tensor of one number, which Python converts to that number: here, to what is no address."""

    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.ctypes.data

    def __index__(self):
        return 8

    __int__ = __index__


def test_a_tensor_of_one_number_is_no_address():
    logits, bits = np.zeros(3, np.float32), np.array([0b101], np.int32)
    _native.apply_bitmask("float32", (OneNumber(logits), 1, 3, 3, 1), (OneNumber(bits), 1), 3, None)
    assert logits.tolist() == [0, -np.inf, 0]
    logits[:] = [0, 9, 1]
    settings = [(0.0, 0, 1.0, 0, 0)]
    chosen = _native.choose_tokens("float32", (OneNumber(logits), 1, 3, 3), (OneNumber(bits), 1, 1), 3, None, settings)
    assert chosen == [2]


class Tensor:
    """As much of a tensor on a CUDA device as is asked of it; its memory is an array's."""

    requires_grad = False

    def __init__(self, array, dtype):
        self.array, self.dtype, self.shape = array, dtype, array.shape
        self.device = DEVICE

    def dim(self):
        return self.array.ndim

    def is_neg(self):
        return False

    def resolve_neg(self):
        return self

    def unsqueeze(self, _axis):
        return Tensor(self.array[None], self.dtype)

    def contiguous(self):
        return Tensor(np.ascontiguousarray(self.array), self.dtype)

    def to(self, device, dtype):
        assert device is DEVICE
        return Tensor(self.array.astype(dtype.removeprefix("torch.")), dtype)

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def data_ptr(self):
        return self.array.ctypes.data

    def numel(self):
        return self.array.size


DEVICE = types.SimpleNamespace(type="cuda", index=1)
STREAM = 0x5EED


@pytest.fixture
def torch(monkeypatch):
    """A module that says it is torch, and kernels that say they ran on a device."""

    def current_stream(device):
        assert device == DEVICE.index
        return types.SimpleNamespace(cuda_stream=STREAM)

    module = types.SimpleNamespace(
        **{name: f"torch.{name}" for name in ("int32", "float32", "float16", "bfloat16", "float64")},
        Tensor=Tensor,
        tensor=lambda values, dtype, device: Tensor(np.array(values, np.int32), dtype),
        cuda=types.SimpleNamespace(current_stream=current_stream),
        _C=types.SimpleNamespace(),
        version=types.SimpleNamespace(hip=None),
    )
    monkeypatch.setitem(__import__("sys").modules, "torch", module)
    calls = []

    def kernel(dtype, place, logits, masks, width, rows):
        calls.append((dtype, place))
        if module.obstacle is not None:
            return module.obstacle
        if rows is not None:
            address, count = rows
            rows = list((ctypes.c_int32 * count).from_address(address))
        return _native.apply_bitmask(dtype, logits, masks, width, rows)

    monkeypatch.setattr("grammask.bitmask.apply_bitmask_cuda", kernel)
    operations = []
    monkeypatch.setattr("grammask.bitmask._apply_operations", lambda *arguments: operations.append(arguments))
    module.obstacle, module.calls, module.operations = None, calls, operations
    return module


def test_tensors_on_a_device_go_to_the_kernel(torch):
    keep, bits = random_mask()
    mask = Tensor(bits, torch.int32)
    for dtype in ("float32", "float16"):
        logits = np.random.default_rng(2).random((ROWS, TOKENS)).astype(dtype)
        want = np.where(keep, logits, -np.inf).astype(dtype)

        def apply(array, mask=mask, dtype=dtype, **arguments):
            grammask.apply_token_bitmask_inplace(Tensor(array, f"torch.{dtype}"), mask, **arguments)
            assert torch.calls.pop() == (dtype, (1, STREAM)) and not torch.calls
            return array

        for backend in ("auto", "cuda", "triton"):
            assert (apply(logits.copy(), backend=backend) == want).all()
        for rows in ([2, 0, 2], Tensor(np.array([0, 2]), "torch.int64")):
            applied = apply(logits.copy(), indices=rows)
            assert (applied[[0, 2]] == want[[0, 2]]).all() and (applied[[1, 3]] == logits[[1, 3]]).all()
        wide = np.zeros((ROWS, 2 * TOKENS), dtype)
        wide[:, ::2] = logits
        assert (apply(wide[:, ::2]) == want).all() and not wide[:, 1::2].any()
        assert (apply(logits[1].copy(), Tensor(bits[1], torch.int32)) == want[1]).all()
        torch._C._cuda_getCurrentRawStream = lambda device: STREAM * device
        assert (apply(logits.copy()) == want).all(), "the stream, without an object for it"
        with pytest.raises(IndexError):
            apply(logits, indices=[ROWS])
        with pytest.raises(ValueError):
            apply(logits, Tensor(bits[:2], torch.int32))
        # The kernel is told of no row that only the logits have.
        with pytest.raises(ValueError, match="row"):
            apply(logits, Tensor(bits[:2], torch.int32), indices=Tensor(np.array([3]), torch.int32))
        torch.calls.clear()
    assert not torch.operations


def test_tensors_that_the_kernel_cannot_take(torch):
    _, bits = random_mask()
    mask = Tensor(bits, torch.int32)

    def apply(dtype="float32", **arguments):
        logits = Tensor(np.zeros((ROWS, TOKENS), np.float64), f"torch.{dtype}")
        grammask.apply_token_bitmask_inplace(logits, mask, **arguments)

    apply("float64")
    apply(backend="torch_native")
    apply(backend="torch_compile")
    assert len(torch.operations) == 3 and not torch.calls
    torch.obstacle = "no driver"
    with pytest.warns(grammask.GrammaskWarning, match="no driver"):
        apply()
    assert len(torch.operations) == 4
    with pytest.raises(RuntimeError, match="no driver"):
        apply(backend="cuda")
    torch.version.hip = "7.0"
    apply()
    assert len(torch.operations) == 5


def test_devices_that_are_not_there():
    word = np.zeros(1, np.int32)
    address = word.ctypes.data
    shape = (address, 1, 1, 1, 1)
    for _ in range(2):
        why = _native.apply_bitmask_cuda("float32", (1_000_000, 0), shape, (address, 1), 1, None)
        assert isinstance(why, str) and why and word[0] == 0
    with pytest.raises(ValueError, match="float64"):
        _native.apply_bitmask_cuda("float64", (0, 0), shape, (address, 1), 1, None)
