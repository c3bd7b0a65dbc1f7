"""Structural tags: free text, reasoning and tool calls in one structure, as pydantic models. Needs pydantic 2.

``get_model_structural_tag`` makes the structural tag of what a model may answer to a request with tools.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

try:
    from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator
    from pydantic_core import InitErrorDetails, PydanticCustomError
except ImportError as error:
    raise ImportError("grammask.structural_tag needs pydantic: pip install 'grammask[tool-calls]'") from error

from ._native import model_structural_tag
from ._support import json_text, schema_value
from .exception import spell
from .tool_choice import normalize_tool_choice


Style = Literal[
    "json",
    "qwen_xml",
    "seed_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "glm_xml",
    "hy_3_xml",
    "kimi_k3_xml",
    "cohere_xml",
    "step_3_xml",
    "atem_xml",
    "minicpm_xml",
    "pythonic",
    "olmo_3",
    "gemma_3",
    "gemma_4",
]
"""How a value is written: as JSON, or in the notation of a model family."""


class AnyTextFormat(BaseModel):
    """Free text."""

    type: Literal["any_text"] = "any_text"
    excludes: list[str] = []
    max_tokens: int | None = None
    max_chars: int | None = None


class AnyTokensFormat(BaseModel):
    """Any tokens."""

    type: Literal["any_tokens"] = "any_tokens"
    exclude_tokens: list[int | str] = []
    max_tokens: int | None = None


class ConstStringFormat(BaseModel):
    """One text."""

    type: Literal["const_string"] = "const_string"
    value: str


class ExcludeTokenFormat(BaseModel):
    """Any token but some."""

    type: Literal["exclude_token"] = "exclude_token"
    exclude_tokens: list[int | str] = []


class GrammarFormat(BaseModel):
    """A text of an EBNF grammar."""

    type: Literal["grammar"] = "grammar"
    grammar: str


class JSONSchemaFormat(BaseModel):
    """A value of a schema."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: bool | dict[str, Any]
    style: Style = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: list[str] = []
    spelling: str | None = None


class QwenXMLParameterFormat(BaseModel):
    """Arguments of a tool call between XML-like marks."""

    type: Literal["qwen_xml_parameter"] = "qwen_xml_parameter"
    json_schema: bool | dict[str, Any]


class RegexFormat(BaseModel):
    """A text that a regular expression matches as a whole."""

    type: Literal["regex"] = "regex"
    pattern: str


class TokenFormat(BaseModel):
    """One token."""

    type: Literal["token"] = "token"
    token: int | str


class SequenceFormat(BaseModel):
    """Parts, one after the other."""

    type: Literal["sequence"] = "sequence"
    elements: list[Format]


class OrFormat(BaseModel):
    """One of several parts."""

    type: Literal["or"] = "or"
    elements: list[Format]


class OptionalFormat(BaseModel):
    """A part or nothing."""

    type: Literal["optional"] = "optional"
    content: Format


class PlusFormat(BaseModel):
    """A part, once or more often."""

    type: Literal["plus"] = "plus"
    content: Format


class StarFormat(BaseModel):
    """A part, any number of times."""

    type: Literal["star"] = "star"
    content: Format


class RepeatFormat(BaseModel):
    """A part, so many times; a ``max`` of -1 is any number."""

    type: Literal["repeat"] = "repeat"
    min: int
    max: int
    content: Format


class TagFormat(BaseModel):
    """A part between a beginning and an end."""

    type: Literal["tag"] = "tag"
    begin: str | TokenFormat
    content: Format
    end: str | list[str] | TokenFormat


class TriggeredTagsFormat(BaseModel):
    """Free text in which triggers begin tags."""

    type: Literal["triggered_tags"] = "triggered_tags"
    triggers: list[str]
    tags: list[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: list[str] = []


class TokenTriggeredTagsFormat(BaseModel):
    """Tokens in which tokens begin tags."""

    type: Literal["token_triggered_tags"] = "token_triggered_tags"
    trigger_tokens: list[int | str]
    tags: list[TagFormat]
    exclude_tokens: list[int | str] = []
    at_least_one: bool = False
    stop_after_first: bool = False


class TagsWithSeparatorFormat(BaseModel):
    """Tags with a separator between them."""

    type: Literal["tags_with_separator"] = "tags_with_separator"
    tags: list[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


class DispatchFormat(BaseModel):
    """Free text in which strings begin formats."""

    type: Literal["dispatch"] = "dispatch"
    rules: list[tuple[str, Format]]
    loop: bool = True
    excludes: list[str] = []


class TokenDispatchFormat(BaseModel):
    """Tokens in which tokens begin formats."""

    type: Literal["token_dispatch"] = "token_dispatch"
    rules: list[tuple[int | str, Format]]
    loop: bool = True
    exclude_tokens: list[int | str] = []


Format = Annotated[
    AnyTextFormat
    | AnyTokensFormat
    | ConstStringFormat
    | ExcludeTokenFormat
    | GrammarFormat
    | JSONSchemaFormat
    | QwenXMLParameterFormat
    | RegexFormat
    | TokenFormat
    | SequenceFormat
    | OrFormat
    | OptionalFormat
    | PlusFormat
    | StarFormat
    | RepeatFormat
    | TagFormat
    | TriggeredTagsFormat
    | TokenTriggeredTagsFormat
    | TagsWithSeparatorFormat
    | DispatchFormat
    | TokenDispatchFormat,
    Field(discriminator="type"),
]


class StructuralTagItem(BaseModel):
    """A tag of the older form: ``begin``, ``schema``, ``end``."""

    model_config = ConfigDict(populate_by_name=True)

    begin: str
    schema_: Any = Field(alias="schema")
    end: str


_MOST_ERRORS = 10
_LONGEST_TEXT = 500


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "..."


def _shortened(error: ValidationError) -> ValidationError:
    """An error without the megabytes of its input: the first errors in it, and the beginnings of their texts."""
    first = error.errors(include_url=False)[:_MOST_ERRORS]
    if len(first) == error.error_count() and len(str(error)) <= _MOST_ERRORS * _LONGEST_TEXT:
        return error
    details = [
        InitErrorDetails(
            type=PydanticCustomError(one["type"], "{text}", {"text": _short(one["msg"])}),
            loc=tuple(_short(key) if isinstance(key, str) else key for key in one["loc"]),
            input=one["input"],
        )
        for one in first
    ]
    return ValidationError.from_exception_data(error.title, details)


class StructuralTag(BaseModel):
    """A whole structural tag."""

    type: Literal["structural_tag"] = "structural_tag"
    format: Format

    @model_validator(mode="wrap")
    @classmethod
    def _validate(cls, data: Any, handler: ModelWrapValidatorHandler[StructuralTag]) -> StructuralTag:
        try:
            return handler(data)
        except ValidationError as error:
            raise _shortened(error) from None

    @staticmethod
    def from_legacy_structural_tag(tags: list[StructuralTagItem], triggers: list[str]) -> StructuralTag:
        """The structural tag of tags and triggers in the older form."""
        formats = []
        for item in tags:
            content = JSONSchemaFormat(json_schema=schema_value(item.schema_))
            formats.append(TagFormat(begin=item.begin, content=content, end=item.end))
        return StructuralTag(format=TriggeredTagsFormat(triggers=triggers, tags=formats))

    @staticmethod
    def from_json(json_str: str | dict[str, Any]) -> StructuralTag:
        """A structural tag from JSON text or a ``dict``."""
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        return StructuralTag.model_validate(json_str)


SequenceFormat.model_rebuild()
OrFormat.model_rebuild()
OptionalFormat.model_rebuild()
PlusFormat.model_rebuild()
StarFormat.model_rebuild()
RepeatFormat.model_rebuild()
TagFormat.model_rebuild()
TriggeredTagsFormat.model_rebuild()
TokenTriggeredTagsFormat.model_rebuild()
TagsWithSeparatorFormat.model_rebuild()
DispatchFormat.model_rebuild()
TokenDispatchFormat.model_rebuild()
StructuralTag.model_rebuild()

_registered: dict[str, Callable[..., StructuralTag]] = {}


def register_model_structural_tag(name: str) -> Callable[[Any], Any]:
    """A decorator that adds a model family: a function of tools, builtin tools, mode and reasoning."""

    def register(builder: Any) -> Any:
        _registered[name] = builder
        return builder

    return register


def get_model_structural_tag(
    model: str,
    tools: Any = None,
    tool_choice: Any = "auto",
    reasoning: Any = "enabled",
    force_reasoning: bool = False,
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
    *,
    max_reasoning_chars: int | None = None,
    response_format: dict[str, Any] | None = None,
    spelling: str | None = None,
) -> StructuralTag:
    """What a model of a family may answer to a request with tools.

    ``reasoning`` is ``"enabled"``, ``"disabled"``, ``"auto"``, ``"empty"`` (its marks, and nothing between them) or a bool;
    ``max_reasoning_chars`` ends it after so many characters. ``response_format`` is that of OpenAI's requests, for the answer
    without a call. ``spelling``, ``any_order`` and ``max_whitespace_cnt`` are those of arguments, as for
    ``compile_json_schema``. Text around calls holds no special token of the family, unless ``exclude_special_tokens`` is
    false. ``force_reasoning`` has no effect, as in xgrammar; ``reasoning="empty"`` is that.

    A function that was registered for ``model`` (``register_model_structural_tag``) takes xgrammar's arguments alone.

    Raises ``ValueError`` where no family has the name or the choice names a tool that is not there, and
    ``InvalidStructuralTagError`` where a tool is refused.
    """
    del force_reasoning
    functions, builtins, mode = normalize_tool_choice(tools, tool_choice)
    if isinstance(reasoning, bool):
        reasoning = "enabled" if reasoning else "disabled"
    if reasoning not in ("enabled", "disabled", "auto", "empty"):
        raise ValueError('`reasoning` must be "enabled", "disabled", "auto", "empty" or a bool')
    if model in _registered:
        ours = {"max_reasoning_chars": max_reasoning_chars, "response_format": response_format, "spelling": spelling}
        given = [name for name, value in ours.items() if value is not None]
        if given:
            raise ValueError(f"the function that is registered for {spell(model)} takes no `{given[0]}`")
        return _registered[model](
            functions,
            builtins,
            mode,
            reasoning,
            any_order=any_order,
            exclude_special_tokens=exclude_special_tokens,
            max_whitespace_cnt=max_whitespace_cnt,
            parallel_tool_calls=parallel_tool_calls,
        )
    return structural_tag_of(
        model,
        functions,
        builtins,
        mode,
        parallel_tool_calls=parallel_tool_calls,
        response_format=response_format,
        reasoning=reasoning,
        max_reasoning_chars=max_reasoning_chars,
        exclude_special_tokens=exclude_special_tokens,
        max_whitespace_cnt=max_whitespace_cnt,
        any_order=any_order,
        spelling=spelling,
    )


def structural_tag_of(
    model: str,
    functions: list[Any],
    builtins: list[Any],
    mode: str,
    *,
    parallel_tool_calls: bool,
    response_format: dict[str, Any] | None = None,
    **options: Any,
) -> StructuralTag:
    """What a model of a built-in family may answer, once it is known which tools are offered: ``normalize_tool_choice``."""
    offered = [_plain(tool) for tool in [*functions, *builtins]]
    choice: Any = mode
    if mode == "forced":
        kind = offered[0].get("type", "function")
        named = {"type": "function", "function": {"name": offered[0].get("function", offered[0]).get("name")}}
        choice = named if kind == "function" else {"type": kind}
    request = {"tools": offered, "tool_choice": choice, "parallel_tool_calls": parallel_tool_calls}
    if response_format is not None:
        request["response_format"] = response_format
    text = model_structural_tag(model, json_text(request, "request"), **options)
    return StructuralTag.model_validate_json(text)


def get_builtin_structural_tag(
    model: str,
    tools: Any = None,
    tool_choice: Any = "auto",
    reasoning: Any = "enabled",
    force_reasoning: bool = False,
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
) -> StructuralTag:
    """The older name of ``get_model_structural_tag``."""
    return get_model_structural_tag(
        model,
        tools,
        tool_choice,
        reasoning,
        force_reasoning,
        any_order,
        exclude_special_tokens,
        max_whitespace_cnt,
        parallel_tool_calls,
    )


def _plain(tool: Any) -> dict[str, Any]:
    # Not in the mode "json", which makes a list of a set in silence.
    plain: dict[str, Any] = tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else tool
    return plain

