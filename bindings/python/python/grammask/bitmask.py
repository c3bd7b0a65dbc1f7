"""Bitmasks: which tokens may come next, one bit each.

A bitmask has dtype int32 and shape ``(batch, ceil(vocab_size / 32))``. Token ``id`` is bit ``id % 32`` of word
``id // 32``; 1 means allowed. Every function takes numpy arrays and torch tensors alike.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from typing import Any

import numpy as np

from ._native import apply_bitmask

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

_BACKENDS = ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native", "numpy")

bitmask_dtype: Any


def __getattr__(name: str) -> Any:
    if name == "bitmask_dtype":
        # torch.int32 where there is torch, since it is passed to torch's functions.
        if importlib.util.find_spec("torch") is not None:
            return importlib.import_module("torch").int32
        return np.dtype(np.int32)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """``(batch_size, ceil(vocab_size / 32))``."""
    return (batch_size, (vocab_size + 31) // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int, *, backend: str = "auto") -> Any:
    """A bitmask that allows everything, in CPU memory.

    A ``torch.Tensor`` if the program has imported torch, else a numpy array; ``backend="torch"`` or
    ``backend="numpy"`` chooses.
    """
    shape = get_bitmask_shape(batch_size, vocab_size)
    if backend not in ("auto", "torch", "numpy"):
        raise ValueError(f"unknown backend {backend!r}; use 'auto', 'torch' or 'numpy'")
    if backend == "torch" or (backend == "auto" and "torch" in sys.modules):
        torch = importlib.import_module("torch")
        return torch.full(shape, -1, dtype=torch.int32)
    return np.full(shape, -1, dtype=np.int32)


def reset_token_bitmask(bitmask: Any) -> None:
    """Allows everything in all rows."""
    if isinstance(bitmask, np.ndarray):
        bitmask.fill(-1)
    else:
        bitmask.fill_(-1)


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Any = None,
    backend: str = "auto",
) -> None:
    """Sets the logits of forbidden tokens to minus infinity.

    Parameters
    ----------
    logits : array or tensor of floats, shape (batch, vocab) or (vocab,)
        numpy arrays of float16, float32 or float64; torch tensors of any float type on any device.
    bitmask : array or tensor of int32, shape (rows, words) or (words,)
        On the same device as the logits.
    vocab_size : int, optional
        Number of logits to look at. Default: as many as both have.
    indices : list or tensor of int, optional
        Rows to apply: row ``i`` of the bitmask to row ``i`` of the logits. Default: all.
    backend : str
        ``auto``, or one of xgrammar's names. In CPU memory all lead to the native kernel (but for dtypes that it
        does not know), elsewhere to torch's own operations.
    """
    if backend not in _BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; use one of {', '.join(_BACKENDS)}")
    if isinstance(logits, np.ndarray):
        _apply_numpy(logits, np.asarray(bitmask), vocab_size, indices)
        return
    if isinstance(bitmask, np.ndarray):
        bitmask = importlib.import_module("torch").from_numpy(bitmask)
    if logits.device.type != bitmask.device.type:
        raise ValueError(f"the logits are on {logits.device} and the bitmask is on {bitmask.device}")
    if backend == "cpu" and logits.device.type != "cpu":
        raise ValueError(f"backend 'cpu' cannot reach logits on {logits.device}")
    if backend in ("cuda", "triton") and logits.device.type != "cuda":
        raise ValueError(f"backend {backend!r} needs logits on a CUDA device, not on {logits.device}")
    _apply_torch(logits, bitmask, vocab_size, indices)


def _width(logits: int, words: int, vocab_size: int | None) -> int:
    """How many logits to look at."""
    width = min(logits, words * 32)
    if vocab_size is not None:
        width = min(width, vocab_size)
    if width < (logits if vocab_size is None else min(vocab_size, logits)):
        message = f"the bitmask covers {words * 32} tokens and there are {logits} logits: the others are left unmasked"
        warnings.warn(message, UserWarning, stacklevel=4)
    return width


def _check_rows(rows: list[int], logits: int, bitmask: int) -> None:
    most = min(logits, bitmask)
    for row in rows:
        if not 0 <= row < most:
            raise IndexError(f"row {row} is not in both the logits ({logits} rows) and the bitmask ({bitmask} rows)")


def _apply_numpy(logits: Any, bitmask: Any, vocab_size: int | None, indices: Any) -> None:
    if logits.ndim not in (1, 2) or bitmask.ndim not in (1, 2):
        raise ValueError("logits and bitmask must have one dimension or two")
    if bitmask.dtype not in (np.int32, np.uint32):
        raise ValueError(f"the bitmask must be of dtype int32, not {bitmask.dtype}")
    logits2, bitmask2 = np.atleast_2d(logits), np.ascontiguousarray(np.atleast_2d(bitmask))
    width = _width(logits2.shape[1], bitmask2.shape[1], vocab_size)
    if indices is None:
        if logits2.shape[0] != bitmask2.shape[0]:
            raise ValueError(f"{logits2.shape[0]} rows of logits and {bitmask2.shape[0]} rows of bitmask")
        rows = list(range(logits2.shape[0]))
    else:
        rows = [int(row) for row in indices]
        _check_rows(rows, logits2.shape[0], bitmask2.shape[0])
    if logits2.dtype in (np.float32, np.float16) and logits2.flags.writeable and logits2.flags.aligned:
        size = logits2.itemsize
        address = logits2.__array_interface__["data"][0]
        strides = (logits2.strides[0] // size, logits2.strides[1] // size)
        masks = (bitmask2.__array_interface__["data"][0], bitmask2.shape[1])
        apply_bitmask(str(logits2.dtype), (address, *logits2.shape, *strides), masks, width, _unique(rows, indices))
        return
    for row in rows:
        allowed = np.unpackbits(bitmask2[row].view(np.uint8), bitorder="little", count=width)
        logits2[row, :width][allowed == 0] = -np.inf


def _unique(rows: list[int], indices: Any) -> list[int] | None:
    """The rows, each once, as the kernel wants them; ``None`` for all."""
    return None if indices is None else list(dict.fromkeys(rows))


def _apply_torch(logits: Any, bitmask: Any, vocab_size: int | None, indices: Any) -> None:
    torch = importlib.import_module("torch")
    if bitmask.dtype != torch.int32:
        raise ValueError(f"the bitmask must be of dtype int32, not {bitmask.dtype}")
    logits2 = logits if logits.dim() == 2 else logits.unsqueeze(0)
    bitmask2 = bitmask if bitmask.dim() == 2 else bitmask.unsqueeze(0)
    width = _width(logits2.shape[1], bitmask2.shape[1], vocab_size)
    if logits2.device.type == "cpu" and logits2.dtype in (torch.float32, torch.float16, torch.bfloat16):
        rows = None if indices is None else [int(row) for row in indices]
        if rows is not None:
            _check_rows(rows, logits2.shape[0], bitmask2.shape[0])
        elif logits2.shape[0] != bitmask2.shape[0]:
            raise ValueError(f"{logits2.shape[0]} rows of logits and {bitmask2.shape[0]} rows of bitmask")
        bitmask2 = bitmask2.contiguous()
        place = (logits2.data_ptr(), *logits2.shape, *logits2.stride())
        masks = (bitmask2.data_ptr(), bitmask2.shape[1])
        apply_bitmask(str(logits2.dtype).removeprefix("torch."), place, masks, width, _unique(rows or [], rows))
        return
    shifts = torch.arange(32, device=bitmask2.device, dtype=torch.int32)
    if indices is None:
        if logits2.shape[0] != bitmask2.shape[0]:
            raise ValueError(f"{logits2.shape[0]} rows of logits and {bitmask2.shape[0]} rows of bitmask")
        forbidden = ((bitmask2.unsqueeze(-1) >> shifts) & 1 == 0).flatten(1)[:, :width]
        logits2[:, :width].masked_fill_(forbidden, float("-inf"))
        return
    if not isinstance(indices, torch.Tensor):
        _check_rows([int(row) for row in indices], logits2.shape[0], bitmask2.shape[0])
        indices = torch.as_tensor(indices, dtype=torch.long)
    rows = indices.to(device=logits2.device, dtype=torch.long)
    forbidden = ((bitmask2[rows].unsqueeze(-1) >> shifts) & 1 == 0).flatten(1)[:, :width]
    logits2[rows, :width] = logits2[rows, :width].masked_fill(forbidden, float("-inf"))
