"""Tools and tool choices of OpenAI-style requests, as pydantic models. Needs pydantic 2."""

from __future__ import annotations

from typing import Any, Literal

try:
    from pydantic import BaseModel
except ImportError as error:
    raise ImportError("grammask.openai_tool_call_schema needs pydantic: pip install 'grammask[tool-calls]'") from error

__all__ = [
    "AllowedToolChoiceParam",
    "AllowedToolRef",
    "AllowedToolsParam",
    "BuiltinToolChoiceParam",
    "BuiltinToolParam",
    "FunctionDefinition",
    "FunctionToolParam",
    "NamedToolChoiceFunction",
    "NamedToolChoiceParam",
    "ToolChoiceOptionParam",
    "ToolParam",
]


class FunctionDefinition(BaseModel):
    """A function that the model may call."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | bool | None = None
    strict: bool | None = None


class FunctionToolParam(BaseModel):
    """A tool that is a function."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class BuiltinToolParam(BaseModel):
    """A tool that the server brings."""

    type: str
    name: str | None = None
    parameters: dict[str, Any] | bool | None = None


class NamedToolChoiceFunction(BaseModel):
    """The name of a function."""

    name: str


class NamedToolChoiceParam(BaseModel):
    """This function."""

    type: Literal["function"] = "function"
    function: NamedToolChoiceFunction


class BuiltinToolChoiceParam(BaseModel):
    """The tool of this type."""

    type: str
    name: str | None = None


class AllowedToolRef(BaseModel):
    """A tool among those that are allowed."""

    type: str
    function: NamedToolChoiceFunction | None = None
    name: str | None = None


class AllowedToolsParam(BaseModel):
    """Some of the tools."""

    mode: Literal["auto", "required"]
    tools: list[AllowedToolRef]


class AllowedToolChoiceParam(BaseModel):
    """A choice among some of the tools."""

    type: Literal["allowed_tools"] = "allowed_tools"
    allowed_tools: AllowedToolsParam


ToolParam = FunctionToolParam | BuiltinToolParam
ToolChoiceOptionParam = (
    Literal["none", "auto", "required"] | NamedToolChoiceParam | AllowedToolChoiceParam | BuiltinToolChoiceParam | None
)
