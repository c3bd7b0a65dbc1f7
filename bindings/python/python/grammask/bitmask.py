"""Bitmasks: which tokens may come next, one bit each.

A bitmask has dtype int32 and shape ``(batch, ceil(vocab_size / 32))``. Token ``id`` is bit ``id % 32`` of word
``id // 32``; 1 means allowed. Every function takes numpy arrays and torch tensors alike.
"""

from __future__ import annotations

import importlib.util
import operator
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _native
from ._native import apply_bitmask, apply_bitmask_array, apply_bitmask_cuda
from .config import get_compat
from .exception import GrammaskWarning, spell

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "choose_tokens",
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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})



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
        raise ValueError(f"unknown backend {spell(backend)}; use 'auto', 'torch' or 'numpy'")
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
        Number of logits to look at. Default: all. A bitmask that covers fewer tokens raises `ValueError`; in compatible
        mode it masks those alone, with a warning.
    indices : list or tensor of int, optional
        Rows to apply: row ``i`` of the bitmask to row ``i`` of the logits. Default: all. Those in a tensor
        that is not in CPU memory are not checked, which would wait for the device: each must be a row of both.
    backend : str
        ``auto``, or one of xgrammar's names. In CPU memory all lead to the native kernel. On a CUDA device ``auto``,
        ``cuda`` and ``triton`` put the native kernel on torch's current stream and return at once; where the driver
        cannot take it, ``cuda`` raises ``RuntimeError`` and the others fall back. Everything else, and dtypes other
        than float32, float16 and bfloat16, is done by torch's own operations.
    """
    if backend not in _BACKENDS:
        raise ValueError(f"unknown backend {spell(backend)}; use one of {', '.join(_BACKENDS)}")
    if isinstance(logits, np.ndarray):
        _apply_numpy(logits, np.asarray(bitmask), vocab_size, indices)
        return
    if not hasattr(logits, "data_ptr") or not (hasattr(bitmask, "data_ptr") or isinstance(bitmask, np.ndarray)):
        kinds = f"{type(logits).__name__} and {type(bitmask).__name__}"
        raise TypeError(f"logits and bitmask must be numpy arrays or torch tensors, not {kinds}")
    if isinstance(bitmask, np.ndarray):
        bitmask = importlib.import_module("torch").from_numpy(bitmask)
    device = logits.device
    kind = device.type
    if device != bitmask.device:
        raise ValueError(f"the logits are on {device} and the bitmask is on {bitmask.device}")
    if backend == "cpu" and kind != "cpu":
        raise ValueError(f"backend 'cpu' cannot reach logits on {device}")
    if backend in ("cuda", "triton") and kind != "cuda":
        raise ValueError(f"backend {backend!r} needs logits on a CUDA device, not on {device}")
    _apply_torch(logits, bitmask, vocab_size, indices, backend, kind)


def choose_tokens(
    logits: Any,
    bitmask: Any,
    *,
    temperature: float | Sequence[float] = 1.0,
    top_k: int | Sequence[int] = 0,
    top_p: float | Sequence[float] = 1.0,
    seed: int | Sequence[int] = 0,
    step: int | Sequence[int] = 0,
    vocab_size: int | None = None,
    indices: Any = None,
) -> Any:
    """Chooses one allowed token for each row, from logits and masks at once. Neither is written.

    Parameters
    ----------
    logits : array or tensor of float32, float16 or bfloat16 in CPU memory, shape (batch, vocab) or (vocab,)
    bitmask : array or tensor of int32, shape (rows, words) or (words,)
    temperature : float or one a row
        Logits are divided by it; 0 takes the best token.
    top_k : int or one a row
        The number of best tokens to keep; 0 keeps all.
    top_p : float or one a row
        Of those, the best whose probabilities just reach this share; above 0.
    seed, step : int or one a row
        The same seed and step draw the same: give each request a seed, and count its steps.
    vocab_size, indices
        As for ``apply_token_bitmask_inplace``.

    Returns a numpy array of int64 with as many ids as rows. Raises ``ValueError`` where a mask allows nothing, all that it
    allows is minus infinity or NaN, a setting is out of its range, or ``indices`` name a row twice.
    """
    # All that may run code of the caller's comes before the logits and the bitmask are looked at.
    given = [
        _setting(temperature, float),
        _setting(top_k, lambda value: _whole("top_k", value, 32)),
        _setting(top_p, float),
        _setting(seed, lambda value: _whole("seed", value, 64)),
        _setting(step, lambda value: _whole("step", value, 64)),
    ]
    listed = None if indices is None else _row_numbers(indices)
    logits, bitmask = (_own(value) for value in (logits, bitmask))
    dtype, shape = str(logits.dtype).removeprefix("torch."), tuple(logits.shape)
    is_array = isinstance(logits, np.ndarray)
    if not is_array and logits.device.type != "cpu":
        raise ValueError(f"logits on {logits.device} are not taken; apply the bitmask and use the framework's sampler")
    if str(bitmask.dtype).removeprefix("torch.") not in ("int32", "uint32"):
        raise ValueError(f"the bitmask must be of dtype int32, not {bitmask.dtype}")
    if len(shape) not in (1, 2) or len(bitmask.shape) not in (1, 2):
        raise ValueError("logits and bitmask must have one dimension or two")
    logits = np.ascontiguousarray(logits) if is_array else logits.contiguous()
    if isinstance(bitmask, np.ndarray):
        bitmask = np.ascontiguousarray(bitmask)
    else:
        bitmask = bitmask.contiguous()
    count, columns = shape if len(shape) == 2 else (1, *shape)
    masks, words = tuple(bitmask.shape) if len(bitmask.shape) == 2 else (1, *bitmask.shape)
    width = _width(columns, words, vocab_size)
    rows = _row_list(listed, count, masks)
    if listed is not None and rows is not None and len(rows) < len(listed):
        raise ValueError("a row is listed twice under `indices`; each row has one token")
    drawn = count if rows is None else len(rows)
    settings = [value if isinstance(value, list) else [value] * drawn for value in given]
    for values in settings:
        if len(values) != drawn:
            raise ValueError(f"there are settings for {len(values)} rows, and {drawn} rows to choose for")
    if drawn == 0:
        return np.zeros(0, np.int64)
    draws = list(zip(*settings, strict=True))
    chosen = _native.choose_tokens(dtype, (logits, count, columns, columns), (bitmask, masks, words), width, rows, draws)
    return np.array(chosen, np.int64)


def _own(value: Any) -> Any:
    """A tensor of this call's own, whose memory holds what its elements are; arrays as they are."""
    if not (hasattr(value, "dtype") and hasattr(value, "shape")):
        raise TypeError(f"logits and bitmask must be numpy arrays or torch tensors, not {type(value).__name__}")
    if hasattr(value, "detach"):
        value = value.detach()
    return value.resolve_neg() if hasattr(value, "resolve_neg") else value


def _setting(value: Any, read: Callable[[Any], Any]) -> Any:
    """One setting for all rows, or a list with one for each."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [read(each) for each in value] if hasattr(value, "__len__") else read(value)


def _whole(name: str, value: Any, bits: int) -> int:
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise ValueError(f"`{name}` must be a whole number from 0 to 2^{bits} - 1, not {spell(number)}")
    return number


def _width(logits: int, words: int, vocab_size: int | None) -> int:
    """How many logits to look at."""
    width = min(logits, words * 32)
    if vocab_size is not None:
        if vocab_size < 0:
            raise ValueError(f"`vocab_size` must not be negative, and is {vocab_size}")
        width = min(width, vocab_size)
    if width < (logits if vocab_size is None else min(vocab_size, logits)):
        message = f"the bitmask covers {words * 32} tokens and there are {logits} logits"
        if not get_compat():
            raise ValueError(f"{message}; `vocab_size={width}` leaves the others unmasked")
        warnings.warn(f"{message}: the others are left unmasked", UserWarning, stacklevel=4)
    return width


def _check_rows(rows: list[int], logits: int, bitmask: int) -> None:
    most = min(logits, bitmask)
    for row in rows:
        if not 0 <= row < most:
            raise IndexError(f"row {row} is not in both the logits ({logits} rows) and the bitmask ({bitmask} rows)")


def _row_numbers(indices: Any) -> list[int]:
    rows = list(indices.tolist() if hasattr(indices, "tolist") else indices)
    if any(isinstance(row, bool | np.bool_) for row in rows):
        raise TypeError("`indices` are numbers of rows, not a bool for each row")
    return [operator.index(row) for row in rows]


def _row_list(indices: Any, logits: int, bitmask: int) -> list[int] | None:
    """The rows, each once, as the kernels want them; ``None`` for all."""
    if indices is None:
        if logits != bitmask:
            raise ValueError(f"{logits} rows of logits and {bitmask} rows of bitmask")
        return None
    rows = _row_numbers(indices)
    _check_rows(rows, logits, bitmask)
    return list(dict.fromkeys(rows))


def _apply_numpy(logits: Any, bitmask: Any, vocab_size: int | None, indices: Any) -> None:
    if logits.dtype.kind != "f":
        raise TypeError(f"logits must be floats, which can be minus infinity, not {logits.dtype}")
    if logits.ndim not in (1, 2) or bitmask.ndim not in (1, 2):
        raise ValueError("logits and bitmask must have one dimension or two")
    width = _width(logits.shape[-1], bitmask.shape[-1], vocab_size)
    count = len(logits) if logits.ndim == 2 else 1
    rows = _row_list(indices, count, len(bitmask) if bitmask.ndim == 2 else 1)
    if apply_bitmask_array(logits, bitmask, width, rows):
        return
    if bitmask.dtype not in (np.int32, np.uint32):
        raise ValueError(f"the bitmask must be of dtype int32, not {bitmask.dtype}")
    logits2, bitmask2 = np.atleast_2d(logits), np.ascontiguousarray(np.atleast_2d(bitmask))
    if bitmask2 is not bitmask and apply_bitmask_array(logits2, bitmask2, width, rows):
        return
    for row in range(count) if rows is None else rows:
        allowed = np.unpackbits(bitmask2[row].view(np.uint8), bitorder="little", count=width)
        logits2[row, :width][allowed == 0] = -np.inf


def _apply_torch(logits: Any, bitmask: Any, vocab_size: int | None, indices: Any, backend: str, device: str) -> None:
    torch = sys.modules.get("torch") or importlib.import_module("torch")
    dtype = str(logits.dtype).removeprefix("torch.")
    if "float" not in dtype:
        raise TypeError(f"logits must be floats, which can be minus infinity, not {logits.dtype}")
    if str(bitmask.dtype) == "torch.uint32":
        bitmask = bitmask.view(torch.int32)  # the same memory
    if bitmask.dtype != torch.int32:
        raise ValueError(f"the bitmask must be of dtype int32, not {bitmask.dtype}")
    if logits.requires_grad:
        # torch then refuses to go back through what needed the old numbers.
        torch.autograd.graph.increment_version(logits)
    if device == "cpu":
        # Tensors of this call's own: whatever others do to theirs meanwhile, these keep their shapes.
        logits, bitmask = logits.detach(), bitmask.detach()
    if logits.dim() not in (1, 2) or bitmask.dim() not in (1, 2):
        raise ValueError("logits and bitmask must have one dimension or two")
    logits2 = logits if logits.dim() == 2 else logits.unsqueeze(0)
    bitmask2 = bitmask if bitmask.dim() == 2 else bitmask.unsqueeze(0)
    (count, columns), (masks, words) = logits2.shape, bitmask2.shape
    width = _width(columns, words, vocab_size)
    # The memory of a view that negates holds other numbers.
    has_kernel = dtype in ("float32", "float16", "bfloat16") and not logits.is_neg()
    if device == "cpu" and has_kernel:
        rows = _row_list(indices, count, masks)
        place = (logits2, count, columns, *logits2.stride())
        if rows is None or rows:
            apply_bitmask(dtype, place, (bitmask2.resolve_neg().contiguous(), words), width, rows)
        return
    rows = _row_tensor(torch, indices, logits2, count, masks)
    bitmask2 = bitmask2.resolve_neg().contiguous()
    # Devices of AMD call themselves `cuda` too.
    if device == "cuda" and has_kernel and backend in ("auto", "cuda", "triton") and torch.version.hip is None:
        index = logits2.device.index or 0
        # A row must be one of both, and of the two only that of the logits is looked at.
        place = (logits2.data_ptr(), min(count, masks), columns, *logits2.stride())
        # Memory that goes after this call is used again on the same stream only, behind the kernel.
        obstacle = apply_bitmask_cuda(
            dtype,
            (index, _current_stream(torch, index)),
            place,
            (bitmask2.data_ptr(), words),
            width,
            None if rows is None else (rows.data_ptr(), rows.numel()),
        )
        if obstacle is None:
            return
        if backend == "cuda":
            raise RuntimeError(obstacle)
        warnings.warn(f"torch's own operations mask logits: {obstacle}", GrammaskWarning, stacklevel=3)
    _apply_operations(torch, logits2, bitmask2, width, rows)


def _current_stream(torch: Any, device: int) -> Any:
    """The handle of the stream that torch puts work on. The public way to it takes longer than the rest of the call."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw(device) if raw is not None else torch.cuda.current_stream(device).cuda_stream


def _row_tensor(torch: Any, indices: Any, logits: Any, count: int, masks: int) -> Any:
    """The rows on the device of the logits. Those that are there already are not read: that would wait for it."""
    if isinstance(indices, torch.Tensor) and indices.device.type != "cpu":
        if "int" not in str(indices.dtype):
            raise TypeError(f"`indices` are numbers of rows, not of dtype {indices.dtype}")
        return indices.to(device=logits.device, dtype=torch.int32).contiguous()
    rows = _row_list(indices, count, masks)
    return None if rows is None else torch.tensor(rows, dtype=torch.int32, device=logits.device)


def _apply_operations(torch: Any, logits: Any, bitmask: Any, width: int, rows: Any) -> None:
    shifts = torch.arange(32, device=bitmask.device, dtype=torch.int32)
    if rows is None:
        forbidden = ((bitmask.unsqueeze(-1) >> shifts) & 1 == 0).flatten(1)[:, :width]
        logits[:, :width].masked_fill_(forbidden, float("-inf"))
        return
    rows = rows.to(dtype=torch.long)
    forbidden = ((bitmask[rows].unsqueeze(-1) >> shifts) & 1 == 0).flatten(1)[:, :width]
    logits[rows, :width] = logits[rows, :width].masked_fill(forbidden, float("-inf"))
