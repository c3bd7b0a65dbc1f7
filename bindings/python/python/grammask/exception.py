"""Exceptions and warnings.

Everything that grammask raises because of a grammar, a schema, a tokenizer or a matcher is a ``RuntimeError``,
because that is what serving engines catch. An option with a value that it cannot have is a ``ValueError``, too.
Arguments of a wrong type raise ``TypeError``.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BitmaskError",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "GrammaskError",
    "GrammaskWarning",
    "IndeterminateError",
    "InvalidGrammarError",
    "InvalidJSONError",
    "InvalidOptionError",
    "InvalidSchemaError",
    "InvalidStructuralTagError",
    "MatcherError",
    "TokenizerError",
    "UnsupportedError",
]


class GrammaskError(RuntimeError):
    """Base of all exceptions of grammask.

    Where they are known, the attributes say what the message says, for programs:

    * ``line``, ``column``: place in the source, both from 1, in characters;
    * ``pointer``: JSON pointer of the place in a schema;
    * ``code``: the cause as a fixed name, such as ``"ebnf/undefined-rule"``;
    * ``hint``: what to write instead;
    * ``diagnostics``: all findings, a list of dicts with the keys above.
    """

    def __init__(
        self,
        message: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        pointer: str | None = None,
        code: str | None = None,
        hint: str | None = None,
        diagnostics: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.pointer = pointer
        self.code = code
        self.hint = hint
        self.diagnostics: list[dict[str, Any]] = diagnostics or []

    def __reduce__(self) -> Any:
        return (_rebuild, (type(self), self.args, self.__dict__.copy()))


def _rebuild(cls: type[GrammaskError], args: tuple[Any, ...], state: dict[str, Any]) -> GrammaskError:
    error = cls(*args)
    error.__dict__.update(state)
    return error


class InvalidGrammarError(GrammaskError):
    """A grammar or regular expression that cannot be read, or that derives no text."""


class InvalidSchemaError(GrammaskError):
    """A JSON Schema that is malformed, or that no value obeys."""


class UnsupportedError(GrammaskError, NotImplementedError):
    """Something that grammask does not do. The message says what to use instead."""


class InvalidJSONError(GrammaskError):
    """A text that should be JSON and is not."""


class InvalidOptionError(GrammaskError, ValueError):
    """An option has a value that it cannot have, or a dict of options has a name that none of them has."""


class InvalidStructuralTagError(GrammaskError):
    """A structural tag that is malformed."""


class DeserializeFormatError(GrammaskError):
    """A serialized object that lacks something, or belongs to another tokenizer."""


class DeserializeVersionError(GrammaskError):
    """A serialized object of another version."""


class TokenizerError(GrammaskError):
    """A vocabulary that cannot be used."""


class MatcherError(GrammaskError):
    """A call that a matcher cannot serve: after the end of the text, or too far back."""


class IndeterminateError(MatcherError):
    """A limit was reached before a question was decided. The matcher is as it was."""


class BitmaskError(GrammaskError):
    """A bitmask of a wrong shape, type or place."""


class GrammaskWarning(UserWarning):
    """Base of the warnings of grammask."""


def spell(value: object) -> str:
    """``repr``, of something long the beginning and the end: messages do not repeat their input."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"


_LONGEST = 200
