"""Which tools a request offers and demands."""

from __future__ import annotations

import importlib
from typing import Any

from .exception import spell


def _field(value: Any, name: str, default: Any = None) -> Any:
    """A field of a dict or of an object."""
    return value.get(name, default) if isinstance(value, dict) else getattr(value, name, default)


def _function_name(tool: Any) -> str | None:
    function = _field(tool, "function")
    return _field(function, "name") if function is not None else None


def _is_function(tool: Any) -> bool:
    return bool(_field(tool, "type", "function") == "function")


def _as_model(tool: Any) -> Any:
    """A tool that is a ``dict`` as a model of ``openai_tool_call_schema``; as it is where there is no pydantic."""
    if not isinstance(tool, dict):
        return tool
    try:
        schema = importlib.import_module("grammask.openai_tool_call_schema")
    except ImportError:
        return tool
    return (schema.FunctionToolParam if _is_function(tool) else schema.BuiltinToolParam).model_validate(tool)


def normalize_tool_choice(tools: Any = None, tool_choice: Any = "auto") -> tuple[list[Any], list[Any], str]:
    """Tools and a ``tool_choice`` of a request as ``(function_tools, builtin_tools, mode)``.

    Tools that are dicts are given back as models of ``grammask.openai_tool_call_schema``. ``mode`` is ``"auto"``,
    ``"required"`` or ``"forced"``; forced leaves just the tool that was named. Raises
    ``ValueError`` where the choice names a tool that is not there, or requires one and there is none.
    """
    if tools is not None and not isinstance(tools, list):
        raise ValueError("`tools` must be a list")
    tools = [_as_model(tool) for tool in tools or []]
    functions = [tool for tool in tools if _is_function(tool)]
    builtins = [tool for tool in tools if not _is_function(tool)]
    if tool_choice is None or tool_choice == "auto":
        return functions, builtins, "auto"
    if tool_choice == "none":
        return [], [], "auto"
    if tool_choice == "required":
        return _required(functions, builtins)
    kind = _field(tool_choice, "type")
    if not isinstance(kind, str):
        wanted = '"auto", "none", "required", or an object with a `type`'
        raise ValueError(f"`tool_choice` is {wanted}, not {spell(tool_choice)}")
    if kind == "function":
        name = _function_name(tool_choice) or _field(tool_choice, "name")
        named = [tool for tool in functions if _function_name(tool) == name]
        if not named:
            raise ValueError(f"`tool_choice` names the function {spell(name)}, which is not one of the tools")
        return named[:1], [], "forced"
    if kind == "allowed_tools":
        return _allowed(functions, builtins, _field(tool_choice, "allowed_tools") or tool_choice)
    of_type = [tool for tool in builtins if _field(tool, "type") == kind]
    if len(of_type) != 1:
        raise ValueError(f"`tool_choice` names the tool type {spell(kind)}, which {len(of_type)} of the tools have")
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
