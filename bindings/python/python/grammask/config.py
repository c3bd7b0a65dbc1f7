"""Settings of the process.

``compat`` chooses between two manners. The *exact* one, the default, enforces every keyword or refuses the schema.
The *compatible* one follows xgrammar 0.2.8 where code written for it depends on its gaps: keywords that cannot be
enforced are ignored with a ``GrammaskWarning``, and messages of errors begin with the words of xgrammar's: those of
EBNF, Lark, regular expressions, JSON, schemas and structural tags. Special tokens of Hugging Face tokenizers are text there. The mask of a
draft token that is refused is set to zero, and so is a mask that allows no token, with a warning. A bitmask that covers
fewer tokens than there are logits masks those alone, with a warning.
Everything that can be enforced is enforced in both manners.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from . import _native
from .exception import spell

__all__ = [
    "get_compat",
    "get_max_recursion_depth",
    "get_serialization_version",
    "max_recursion_depth",
    "set_compat",
    "set_max_recursion_depth",
]

_MOST = 1_000_000
_compat = False


def set_compat(on: bool) -> None:
    """Follows xgrammar's gaps (``True``) or not (``False``, the default), in the whole process."""
    global _compat
    _compat = bool(on)
    _native.set_compat(_compat)


def get_compat() -> bool:
    """Whether xgrammar's gaps are followed."""
    return _compat


def _checked(depth: int) -> int:
    if not isinstance(depth, int) or isinstance(depth, bool) or not 0 < depth <= _MOST:
        raise ValueError(f"the recursion depth must be a number from 1 to {_MOST}, not {spell(depth)}")
    return depth


_depth = _checked(int(os.environ.get("XGRAMMAR_MAX_RECURSION_DEPTH", "10000")))


def get_max_recursion_depth() -> int:
    """The number that ``set_max_recursion_depth`` set; 10000 to begin with.

    It has no effect: grammask walks deep input without recursion. It is here for programs that set it.
    """
    return _depth


def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Sets a number without effect; see ``get_max_recursion_depth``."""
    global _depth
    _depth = _checked(max_recursion_depth)


@contextlib.contextmanager
def max_recursion_depth(temp_depth: int) -> Iterator[None]:
    """``set_max_recursion_depth`` for a block."""
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version() -> str:
    """The version that serialized objects carry."""
    return "grammask-1"
