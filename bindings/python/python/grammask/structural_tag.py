"""Structural tags: free text with structured parts.

They are not available yet. The names are here so that programs that mention them can be imported; using one
raises ``UnsupportedError``. ``normalize_tool_choice`` works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .exception import UnsupportedError

_INSTEAD = (
    "structural tags are not supported yet; describe the whole text as EBNF (`compile_grammar`), or begin to "
    "constrain where the tag begins, with `compile_json_schema` of its content"
)


def _refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise UnsupportedError(_INSTEAD)


class _Format:
    """A part of a structural tag. Making one raises ``UnsupportedError``."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        _refuse()

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        # Lets models of other packages have fields of this type. A ValueError lets a union try its other members.
        from pydantic_core import core_schema

        def refuse(_value: Any) -> NoReturn:
            raise ValueError(_INSTEAD)

        return core_schema.no_info_plain_validator_function(refuse)


class AnyTextFormat(_Format):
    """Any text."""


class AnyTokensFormat(_Format):
    """Any tokens."""


class ConstStringFormat(_Format):
    """One text."""


class ExcludeTokenFormat(_Format):
    """Any token but some."""


class GrammarFormat(_Format):
    """A text of an EBNF grammar."""


class JSONSchemaFormat(_Format):
    """JSON that obeys a schema."""


class OptionalFormat(_Format):
    """A part or nothing."""


class OrFormat(_Format):
    """One of several parts."""


class PlusFormat(_Format):
    """A part, once or more often."""


class QwenXMLParameterFormat(_Format):
    """Parameters of a tool call as XML."""


class RegexFormat(_Format):
    """A text that a regular expression matches."""


class RepeatFormat(_Format):
    """A part, so many times."""


class SequenceFormat(_Format):
    """Parts, one after the other."""


class StarFormat(_Format):
    """A part, any number of times."""


class TagFormat(_Format):
    """A part between a beginning and an end."""


class TagsWithSeparatorFormat(_Format):
    """Tags with a separator between them."""


class TokenFormat(_Format):
    """One token."""


class TokenTriggeredTagsFormat(_Format):
    """Free text in which tokens begin tags."""


class TriggeredTagsFormat(_Format):
    """Free text in which triggers begin tags."""


Format = _Format


class StructuralTagItem(_Format):
    """A tag of the old form: ``begin``, ``schema``, ``end``."""


class StructuralTag(_Format):
    """A whole structural tag."""

    @staticmethod
    def from_legacy_structural_tag(tags: Any, triggers: Any) -> NoReturn:
        """Raises ``UnsupportedError``."""
        _refuse(tags, triggers)

    @staticmethod
    def from_json(json_str: Any) -> NoReturn:
        """Raises ``UnsupportedError``."""
        _refuse(json_str)


def get_model_structural_tag(model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises ``UnsupportedError``."""
    _refuse(model, args, kwargs)


def get_builtin_structural_tag(model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises ``UnsupportedError``."""
    _refuse(model, args, kwargs)


def register_model_structural_tag(name: str) -> Callable[[Any], Any]:
    """Raises ``UnsupportedError``."""
    _refuse(name)


def _field(value: Any, name: str, default: Any = None) -> Any:
    """A field of a dict or of an object."""
    return value.get(name, default) if isinstance(value, dict) else getattr(value, name, default)


def _function_name(tool: Any) -> str | None:
    function = _field(tool, "function")
    return _field(function, "name") if function is not None else None


def _is_function(tool: Any) -> bool:
    return bool(_field(tool, "type", "function") == "function")


def normalize_tool_choice(tools: Any, tool_choice: Any) -> tuple[list[Any], list[Any], str]:
    """Tools and a ``tool_choice`` of a request as ``(function_tools, builtin_tools, mode)``.

    ``mode`` is ``"auto"``, ``"required"`` or ``"forced"``; forced leaves just the tool that was named. Raises
    ``ValueError`` where the choice names a tool that is not there, or requires one and there is none.
    """
    if tools is not None and not isinstance(tools, list):
        raise ValueError("`tools` must be a list")
    functions = [tool for tool in tools or [] if _is_function(tool)]
    builtins = [tool for tool in tools or [] if not _is_function(tool)]
    if tool_choice is None or tool_choice == "auto":
        return functions, builtins, "auto"
    if tool_choice == "none":
        return [], [], "auto"
    if tool_choice == "required":
        return _required(functions, builtins)
    kind = _field(tool_choice, "type")
    if kind == "function":
        name = _function_name(tool_choice) or _field(tool_choice, "name")
        named = [tool for tool in functions if _function_name(tool) == name]
        if not named:
            raise ValueError(f"`tool_choice` names the function {name!r}, which is not one of the tools")
        return named[:1], [], "forced"
    if kind == "allowed_tools":
        return _allowed(functions, builtins, _field(tool_choice, "allowed_tools") or tool_choice)
    of_type = [tool for tool in builtins if _field(tool, "type") == kind]
    if len(of_type) != 1:
        raise ValueError(f"`tool_choice` names the tool type {kind!r}, which {len(of_type)} of the tools have")
    return [], of_type, "forced"


def _required(functions: list[Any], builtins: list[Any]) -> tuple[list[Any], list[Any], str]:
    if not functions and not builtins:
        raise ValueError("`tool_choice` requires a tool, and there is none")
    return functions, builtins, "required"


def _allowed(functions: list[Any], builtins: list[Any], allowed: Any) -> tuple[list[Any], list[Any], str]:
    references = _field(allowed, "tools") or []
    names = {_function_name(tool) or _field(tool, "name") for tool in references if _is_function(tool)}
    types = {_field(tool, "type") for tool in references if not _is_function(tool)}
    unknown = names - {_function_name(tool) for tool in functions}
    unknown |= types - {_field(tool, "type") for tool in builtins}
    if unknown:
        raise ValueError(f"`tool_choice` allows tools that are not there: {sorted(map(str, unknown))}")
    functions = [tool for tool in functions if _function_name(tool) in names]
    builtins = [tool for tool in builtins if _field(tool, "type") in types]
    if _field(allowed, "mode", "auto") == "required":
        return _required(functions, builtins)
    return functions, builtins, "auto"
