"""Structural tags of models, under xgrammar's module name.

Each ``get_<family>_structural_tag`` is what ``get_model_structural_tag`` calls once it is known which tools are offered:
``tools`` and ``builtin_tools`` are those, and ``tool_choice`` is ``"auto"``, ``"required"`` or ``"forced"``, with just one tool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .structural_tag import (
    StructuralTag,
    get_builtin_structural_tag,
    get_model_structural_tag,
    register_model_structural_tag,
    structural_tag_of,
)
from .tool_choice import normalize_tool_choice

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "get_cohere_structural_tag",
    "get_deepseek_r1_structural_tag",
    "get_deepseek_v3_1_structural_tag",
    "get_deepseek_v3_2_structural_tag",
    "get_deepseek_v4_structural_tag",
    "get_deepseek_v4_1_structural_tag",
    "get_exaone_structural_tag",
    "get_glm_4_7_structural_tag",
    "get_harmony_structural_tag",
    "get_kimi_structural_tag",
    "get_kimi_k3_structural_tag",
    "get_llama_structural_tag",
    "get_mimo_structural_tag",
    "get_minimax_structural_tag",
    "get_minimax_m3_structural_tag",
    "get_qwen_3_structural_tag",
    "get_qwen_3_5_structural_tag",
    "get_qwen_3_coder_structural_tag",
]


def _of(family: str, usual_reasoning: str = "enabled") -> Callable[..., StructuralTag]:
    """The function of one family."""

    def make(
        tools: list[Any] | None = None,
        builtin_tools: list[Any] | None = None,
        tool_choice: str = "auto",
        reasoning: str = usual_reasoning,
        any_order: bool = False,
        exclude_special_tokens: bool = True,
        max_whitespace_cnt: int | None = None,
        parallel_tool_calls: bool = True,
        **kwargs: Any,
    ) -> StructuralTag:
        if tool_choice not in ("auto", "required", "forced"):
            raise ValueError('`tool_choice` must be "auto", "required" or "forced"')
        functions, builtins = tools or [], builtin_tools or []
        if tool_choice == "forced" and len(functions) + len(builtins) != 1:
            raise ValueError("a forced choice leaves one tool")
        return structural_tag_of(
            family,
            functions,
            builtins,
            tool_choice,
            reasoning=reasoning,
            any_order=any_order,
            exclude_special_tokens=exclude_special_tokens,
            max_whitespace_cnt=max_whitespace_cnt,
            parallel_tool_calls=parallel_tool_calls,
            **kwargs,
        )

    make.__name__ = make.__qualname__ = f"get_{family}_structural_tag"
    make.__doc__ = f"What a model of the family ``{family}`` may answer."
    return make


get_cohere_structural_tag = _of("cohere")
get_deepseek_r1_structural_tag = _of("deepseek_r1")
get_deepseek_v3_1_structural_tag = _of("deepseek_v3_1")
get_deepseek_v3_2_structural_tag = _of("deepseek_v3_2")
get_deepseek_v4_structural_tag = _of("deepseek_v4")
get_deepseek_v4_1_structural_tag = _of("deepseek_v4_1")
get_exaone_structural_tag = _of("exaone")
get_glm_4_7_structural_tag = _of("glm_4_7")
get_harmony_structural_tag = _of("harmony")
get_kimi_structural_tag = _of("kimi")
get_kimi_k3_structural_tag = _of("kimi_k3")
get_llama_structural_tag = _of("llama")
get_mimo_structural_tag = _of("mimo")
get_minimax_structural_tag = _of("minimax")
get_minimax_m3_structural_tag = _of("minimax_m3", "auto")
get_qwen_3_structural_tag = _of("qwen_3")
get_qwen_3_5_structural_tag = _of("qwen_3_5")
get_qwen_3_coder_structural_tag = _of("qwen_3_coder")
