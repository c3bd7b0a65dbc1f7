"""What the native half asks of Python."""

from __future__ import annotations

import atexit
import contextlib
import enum
import importlib
import json
import logging
import os
import threading
import typing
import weakref
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._native import after_fork, before_fork, finish_background, forget_deliveries
from .config import get_compat
from .exception import BitmaskError, IndeterminateError, InvalidStructuralTagError, spell

if TYPE_CHECKING:
    from ._native import CompiledGrammar, GrammarCompiler, PendingCompile, TokenizerInfo


logger = logging.getLogger("grammask")
# Programs without logging of their own are told by exceptions alone.
logger.addHandler(logging.NullHandler())

Made = typing.TypeVar("Made")


def log_refused(error: Any) -> None:
    """Says that a structure is refused."""
    place = {"code": error.code, "pointer": error.pointer}
    level = logging.WARNING if (error.code or "").endswith("/limit") else logging.INFO
    logger.log(level, "structure refused (%s): %s", type(error).__name__, spell(str(error)), extra=place)


def log_limit(error: Any) -> None:
    """Says that work was stopped, by a limit or from outside. Its caller knows of a cancellation."""
    level = logging.INFO if error.code == "interrupted/cancelled" else logging.WARNING
    logger.log(level, "nothing was decided: %s", spell(str(error)), extra={"code": error.code})


def log_evicted(count: int) -> None:
    """Says that something was dropped."""
    logger.info("dropped %d grammars or tables of grammars to stay within the bounds on memory", count)


class VocabType(enum.Enum):
    """How a vocabulary spells bytes."""

    RAW = 0
    """As they are."""
    BYTE_FALLBACK = 1
    """Text, with ``<0x0A>`` for single bytes and U+2581 for a space."""
    BYTE_LEVEL = 2
    """One character of GPT-2's alphabet for each byte."""


class Rejection(NamedTuple):
    """Why a token is refused; see ``GrammarMatcher.explain_rejection``."""

    token_id: int
    token: bytes
    """The bytes of the token."""
    reason: str
    """``terminated``, ``no_bytes``, ``too_early_to_stop`` or ``byte_refused``."""
    offset: int | None = None
    """Place of the byte that is refused."""
    byte: int | None = None
    """That byte."""
    possible: Sequence[int] = ()
    """The bytes that could come in its place."""
    may_end: bool = False
    """Whether the text could end before it."""

    def __str__(self) -> str:
        if self.reason == "terminated":
            return "the text has ended"
        if self.reason == "no_bytes":
            return f"token {self.token_id} is special or padding, and the grammar does not name it"
        expected = _spell(self.possible)
        if self.reason == "too_early_to_stop":
            return f"the text is not whole; expected {expected}"
        found = _spell([self.byte] if self.byte is not None else [])
        return f"byte {self.offset} of {spell(self.token)} is {found}; expected {expected}"


def _spell(possible: Sequence[int]) -> str:
    shown = ", ".join(repr(chr(byte)) if 32 <= byte < 127 else f"0x{byte:02x}" for byte in possible[:16])
    return shown + (", ..." if len(possible) > 16 else "") if possible else "nothing"


def schema_text(schema: Any) -> str:
    """A schema as JSON text: that of a dict, of a pydantic model or ``TypeAdapter``, or of a type."""
    if not isinstance(schema, dict | bool):
        schema = _schema_of(schema)
    return json_text(schema, "schema")


def json_text(value: Any, what: str) -> str:
    """A value as JSON text; ``what`` it is called where it has none."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
        return text
    except UnicodeEncodeError:
        # Half of a surrogate pair is no text; as an escape it is refused with its place.
        return json.dumps(value)
    except RecursionError:
        raise ValueError(f"the {what} nests too deeply for Python's `json`; give it as text") from None
    except (TypeError, ValueError) as error:
        pointer, part = _no_json(value)
        kind = type(part).__name__
        raise TypeError(f"the {what} holds a {kind} at `{pointer}`, which is no JSON: {spell(part)}") from error


def _schema_of(schema: Any) -> Any:
    """What pydantic makes of a type."""
    write = getattr(schema, "model_json_schema", None)
    if write is None and type(schema).__name__ == "TypeAdapter":
        write = getattr(schema, "json_schema", None)
    if write is not None:
        try:
            return write()
        except Exception as error:
            raise ValueError(f"pydantic makes no schema of {spell(schema)}: {error}") from error
    is_alias = type(schema).__name__ in ("NewType", "TypeAliasType")
    if not (is_alias or isinstance(schema, type) or typing.get_origin(schema) is not None):
        wanted = "JSON text, a dict, a pydantic model or TypeAdapter, or a type such as list[int]"
        raise ValueError(f"a schema is {wanted}, not {type(schema).__name__}")
    try:
        adapter = importlib.import_module("pydantic").TypeAdapter
    except ImportError as error:
        raise ImportError("schemas of types need pydantic: pip install 'grammask[tool-calls]'") from error
    try:
        return adapter(schema).json_schema()
    except Exception as error:
        # pydantic has classes of its own for what it cannot do.
        raise ValueError(f"pydantic makes no schema of {spell(schema)}: {error}") from error


def _no_json(value: Any) -> tuple[str, Any]:
    """The place of the first value that JSON does not have."""
    stack: list[tuple[str, Any, int]] = [("", value, 0)]
    while stack:
        pointer, value, depth = stack.pop()
        if isinstance(value, dict) and depth < _DEEPEST:
            for key in value:
                if not isinstance(key, str | int | float | None):
                    return pointer, key
            keys = ((str(key).replace("~", "~0").replace("/", "~1"), inner) for key, inner in value.items())
            stack.extend((f"{pointer}/{key}", inner, depth + 1) for key, inner in reversed(list(keys)))
        elif isinstance(value, list | tuple) and depth < _DEEPEST:
            inner = [(f"{pointer}/{place}", item, depth + 1) for place, item in enumerate(value)]
            stack.extend(reversed(inner))
        elif not isinstance(value, str | int | float | None):
            return pointer, value
    return "", value


_DEEPEST = 100
"""A schema that contains itself has no end."""


def structural_tag_text(structural_tag: Any = None, triggers: Any = None, *, tags: Any = None) -> str:
    """The arguments that describe a structural tag as JSON text."""
    if tags is not None:
        structural_tag = tags
    if triggers is not None or isinstance(structural_tag, list):
        for name, given in (("tags", structural_tag), ("triggers", triggers)):
            if not given:
                beginning = "Invalid structural tag error: " if get_compat() else ""
                rest = "; give StructuralTagItem(begin=..., schema=..., end=...), and the strings that tags begin with"
                message = f"{beginning}Triggered tags format's {name} must be non-empty{rest}"
                raise InvalidStructuralTagError(message)
        items = [_legacy_item(item) for item in structural_tag]
        structural_tag = {"structures": items, "triggers": triggers}
    if isinstance(structural_tag, str):
        return structural_tag
    tag = _as_json(structural_tag)
    if not isinstance(tag, dict):
        kinds = "a StructuralTag, a dict, JSON text, or a list of StructuralTagItem with triggers"
        raise TypeError(f"a structural tag is {kinds}, not {type(tag).__name__}")
    return json_text(tag, "structural tag")


def _legacy_item(item: Any) -> dict[str, Any]:
    """A ``StructuralTagItem`` or its dict, whose schema is a dict, JSON text or a pydantic model."""
    if not isinstance(item, dict) and not hasattr(item, "schema_"):
        raise TypeError(f"an item is a StructuralTagItem or a dict, not {type(item).__name__}")
    if not isinstance(item, dict):
        # Not by `model_dump`, to which a schema that is a class means nothing.
        item = {"begin": item.begin, "schema": item.schema_, "end": item.end}
    schema = schema_value(item.get("schema", item.get("schema_")))
    return {"begin": item.get("begin"), "schema": schema, "end": item.get("end")}


def schema_value(schema: Any) -> Any:
    """A schema as a dict or a ``bool``: that of JSON text, of a pydantic model or ``TypeAdapter``, or of a type."""
    if isinstance(schema, str):
        return json.loads(schema)
    return schema if isinstance(schema, dict | bool) else _schema_of(schema)


def _as_json(value: Any) -> Any:
    if isinstance(value, type) and hasattr(value, "model_json_schema"):
        return value.model_json_schema()
    # Not in the mode "json", which makes a list of a set in silence.
    return value.model_dump(by_alias=True) if hasattr(value, "model_dump") else value


def as_bitmask_array(mask: Any) -> Any:
    """A bitmask that is neither a numpy array nor a tensor as an array over the same memory."""
    try:
        array = np.from_dlpack(mask) if hasattr(mask, "__dlpack__") else np.asarray(memoryview(mask))
    except Exception as error:
        raise BitmaskError(f"{type(mask).__name__} is no bitmask: {spell(error)}") from error
    if array.dtype.itemsize != 4 or array.dtype.kind not in "iu" or not array.dtype.isnative:
        raise BitmaskError(f"the bitmask must be of dtype int32, not {array.dtype}")
    if not array.flags.writeable:
        raise BitmaskError("the bitmask must be writable")
    return array.view(np.int32)


class CompileFuture(Future["CompiledGrammar"]):
    """A grammar that is being compiled.

    ``cancel`` succeeds as long as there is no answer, and ends the work.
    """

    _pending: PendingCompile | None = None

    def __init__(self) -> None:
        super().__init__()
        _unanswered.add(self)

    def cancel(self) -> bool:
        """Ends the work, unless it is done."""
        before = self.cancelled()
        if not super().cancel():
            return False
        if not before:
            with contextlib.suppress(InvalidStateError, RuntimeError):
                # Tells `concurrent.futures.wait` and `as_completed`, as an executor would.
                self.set_running_or_notify_cancel()
        if self._pending is not None:
            self._pending.cancel()
        return True

    def add_done_callback(self, fn: Callable[[Future[CompiledGrammar]], object]) -> None:
        """Calls the function when there is an answer: one of ``asyncio.wait`` in the loop that waits, for which it is made."""
        if getattr(fn, "__module__", None) == "asyncio.tasks":
            fn = _InLoop(fn, importlib.import_module("asyncio").get_running_loop())
        super().add_done_callback(fn)

    def remove_done_callback(self, fn: Callable[[Future[CompiledGrammar]], object]) -> int:
        """Takes a function back, as ``asyncio.wait`` does. Returns how often it was there."""
        with self._condition:
            callbacks: list[Any] = vars(self)["_done_callbacks"]
            before = len(callbacks)
            callbacks[:] = [kept for kept in callbacks if kept != fn and getattr(kept, "function", None) != fn]
            return before - len(callbacks)

    def __await__(self) -> Generator[Any, None, CompiledGrammar]:
        """``await compiler.compile_json_schema_async(schema)``. Cancelling the task ends the work."""
        return importlib.import_module("asyncio").wrap_future(self).__await__()  # type: ignore[no-any-return]

    def deliver(self, compiled: CompiledGrammar | None, error: BaseException | None) -> None:
        """Called by the thread that compiled. Who has cancelled wants no answer."""
        with contextlib.suppress(InvalidStateError):
            if error is not None:
                self.set_exception(error)
            elif compiled is not None:
                self.set_result(compiled)
        # Not before there is an answer: the process may be forked between the two.
        _unanswered.discard(self)


class _InLoop:
    """A function that the thread of an event loop calls."""

    def __init__(self, function: Callable[..., object], loop: Any) -> None:
        self.function = function
        self._loop = loop

    def __call__(self, future: Future[CompiledGrammar]) -> None:
        with contextlib.suppress(RuntimeError):
            # Nobody waits any longer if the loop is closed.
            self._loop.call_soon_threadsafe(self.function, future)


_unanswered: weakref.WeakSet[CompileFuture] = weakref.WeakSet()
"""Futures of this process without an answer."""


def _answer_in_child() -> None:
    """Only the parent has the threads that compile for futures which were made before a fork."""
    for future in list(_unanswered):
        # A thread of the parent may have held the lock.
        future._condition = threading.Condition()
        future.deliver(None, IndeterminateError("the process was forked while this was compiled; compile it again"))


atexit.register(finish_background)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=before_fork, after_in_parent=after_fork, after_in_child=after_fork)
    os.register_at_fork(after_in_child=forget_deliveries)
    os.register_at_fork(after_in_child=_answer_in_child)


class ForcedTokens(NamedTuple):
    """Tokens that the model would write in any case; see ``GrammarMatcher.find_jump_forward_tokens``."""

    tokens: list[int]
    """To be accepted one after the other. Empty where nothing is certain."""
    rollback: int
    """How many of the last tokens of the text to take back first."""


def reduce_compiler(compiler: GrammarCompiler, info: TokenizerInfo, settings: dict[str, Any]) -> Any:
    """What pickle keeps of a compiler: its settings, but for a budget, which is one of this process."""
    kept = {name: value for name, value in settings.items() if name != "budget"}
    return (_compiler, (info, kept, type(compiler)), attributes(compiler))


def _compiler(info: TokenizerInfo, settings: dict[str, Any], cls: type[Any]) -> GrammarCompiler:
    from ._native import GrammarCompiler

    return in_class(cls, GrammarCompiler(info, **settings))


def attributes(value: Any) -> dict[str, Any] | None:
    """What an object of a subclass holds beside the content of its base class."""
    return getattr(value, "__dict__", None) or None


def in_class(cls: type[Any], made: Made) -> Made:
    """An object of a subclass with the content of this one. Its own ``__init__`` may take anything, and is not called."""
    base: Any = type(made)
    if cls is base:
        return made
    own: Made = base.__new__(cls, ...)
    base.__init__(own, made)
    return own


def fill_by_init(cls: type, base: type) -> None:
    """Lets a class with an ``__init__`` of its own take other arguments than its base class."""
    if cls.__init__ is not base.__init__ and cls.__new__ is base.__new__:  # type: ignore[misc]
        # The base class's `__init__` fills what this leaves empty.
        cls.__new__ = lambda own, *args, **kwargs: base.__new__(own, ...)  # type: ignore[method-assign,assignment]
