"""The package around the engine: bitmasks, names, installation in xgrammar's place."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import grammask
from grammask import testing


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_name_is_there():
    for name in grammask.__all__:
        assert getattr(grammask, name) is not None
    with pytest.raises(AttributeError):
        grammask.nothing  # noqa: B018


# Name, parameters that may be given by place, and defaults of the others, as code written for xgrammar counts on them.
SIGNATURES = {
    "GrammarMatcher": "(compiled_grammar, *, override_stop_tokens=None, terminate_without_stop_token=False, "
    "max_rollback_tokens=-1, default_temperature=None)",
    "GrammarMatcher.accept_token": "(self, /, token_id, *, debug_print=False)",
    "GrammarMatcher.fill_next_token_bitmask": "(self, /, bitmask, index=0, *, debug_print=False)",
    "GrammarMatcher.traverse_draft_tree": "(self, /, retrieve_next_token, retrieve_next_sibling, draft_tokens, "
    "token_bitmask, time_threshold=-1.0, temperatures=None)",
    "BatchGrammarMatcher": "(max_threads='auto')",
    "BatchGrammarMatcher.batch_fill_next_token_bitmask": "(self, /, matchers, bitmask, indices=None, debug_print=False)",
    "BatchGrammarMatcher.batch_rollback": "(matchers, num_tokens=1)",
    "GrammarCompiler": "(tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1, cache_dir=None, "
    "cache_dir_limit_bytes=1073741824)",
    "GrammarCompiler.compile_json_schema": "(self, /, schema, *, any_whitespace=True, indent=None, separators=None, "
    "strict_mode=True, max_whitespace_cnt=None, any_order=False, spelling=None, around_root=0)",
    "Grammar.from_json_schema": "(schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, "
    "max_whitespace_cnt=None, print_converted_ebnf=False, any_order=False, spelling=None, around_root=0)",
    "CompiledGrammar.deserialize_json": "(json_str, tokenizer_info)",
}


def test_signatures():
    for path, signature in SIGNATURES.items():
        value = grammask
        for name in path.split("."):
            value = getattr(value, name)
        # Further keyword arguments may follow, which code written for xgrammar does not know.
        assert str(inspect.signature(value)).startswith(signature.removesuffix(")")), path


def test_importing_it_imports_no_framework():
    program = """
        import grammask, sys
        print([name for name in ("torch", "transformers", "tvm_ffi", "pydantic") if name in sys.modules])
    """
    assert run(program) == "[]"


def test_importing_it_imports_little_beside_numpy():
    program = """
        import sys
        import numpy
        before = set(sys.modules)
        import grammask
        slow = ("asyncio", "importlib.abc", "importlib.resources", "tempfile", "inspect", "typing_extensions")
        print([name for name in slow if name in sys.modules and name not in before])
    """
    assert run(program) == "[]"


def test_it_can_be_xgrammar():
    program = """
        import grammask
        grammask.install_as_xgrammar()
        grammask.install_as_xgrammar()
        import xgrammar as xgr
        import xgrammar.structural_tag
        from xgrammar.matcher import GrammarMatcher, bitmask_dtype
        assert set(dir(xgr.contrib)) >= {"hf", "llama_cpp", "mlxlm"}
        processor = xgr.contrib.hf.LogitsProcessor
        from xgrammar.contrib.hf import LogitsProcessor
        assert processor is LogitsProcessor
        from xgrammar.testing import _is_grammar_accept_string
        assert xgr.GrammarMatcher is GrammarMatcher is grammask.GrammarMatcher
        assert xgrammar.testing is grammask.testing
        assert grammask.config.get_compat()
        import os
        assert (os.environ["GRAMMASK_AS_XGRAMMAR"], os.environ["GRAMMASK_COMPAT"]) == ("1", "1"), "for processes"
        try:
            import xgrammar.nothing
        except ModuleNotFoundError:
            print("ok")
    """
    assert run(program) == "ok"
    late = """
        import sys, types
        sys.modules["xgrammar"] = types.ModuleType("xgrammar")
        import grammask
        try:
            grammask.install_as_xgrammar()
        except RuntimeError as error:
            print(error)
    """
    assert "imported before" in run(late)


def test_plugins_act_when_asked_to(monkeypatch):
    program = "import sys; from grammask._plugins import vllm; vllm(); print('xgrammar' in sys.modules)"
    assert run(program) == "False"
    monkeypatch.setenv("GRAMMASK_AS_XGRAMMAR", "1")
    assert run(program) == "True"


def test_allocating():
    mask = grammask.allocate_token_bitmask(2, 33, backend="numpy")
    assert mask.shape == grammask.get_bitmask_shape(2, 33) == (2, 2)
    assert mask.dtype == np.int32 and (mask == -1).all()
    mask[:] = 0
    grammask.reset_token_bitmask(mask)
    assert (mask == -1).all()
    with pytest.raises(ValueError):
        grammask.allocate_token_bitmask(1, 1, backend="none")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_applying(dtype):
    rng = np.random.default_rng(1)
    keep = rng.random((3, 70)) < 0.5
    mask = testing.bool_mask_to_bitmask(keep)
    assert (testing.bitmask_to_bool_mask(mask, 70) == keep).all()
    logits = rng.random((3, 70)).astype(dtype)
    want = np.where(keep, logits, -np.inf).astype(dtype)
    applied = logits.copy()
    grammask.apply_token_bitmask_inplace(applied, mask)
    assert (applied == want).all()
    applied = logits.copy()
    grammask.apply_token_bitmask_inplace(applied, mask, indices=[2, 0])
    assert (applied[[0, 2]] == want[[0, 2]]).all() and (applied[1] == logits[1]).all()
    applied = logits.copy()
    grammask.apply_token_bitmask_inplace(applied, mask, vocab_size=40)
    assert (applied[:, :40] == want[:, :40]).all() and (applied[:, 40:] == logits[:, 40:]).all()
    wide = np.zeros((3, 140), dtype)
    wide[:, ::2] = logits
    grammask.apply_token_bitmask_inplace(wide[::-1, ::2], mask[::-1], indices=[0, 0, 1, 2])
    assert (wide[:, ::2] == want).all() and (wide[:, 1::2] == 0).all(), "strides of any kind"
    row = logits[0].copy()
    grammask.apply_token_bitmask_inplace(row, mask[0], backend="cpu")
    assert (row == want[0]).all()
    foreign = logits.astype(np.dtype(dtype).newbyteorder(">"))
    grammask.apply_token_bitmask_inplace(foreign, mask.view(np.uint32), indices=[0, 1, 2])
    assert (foreign == want).all(), "bytes in the other order"
    memory = np.zeros(logits.nbytes + 1, np.uint8)
    unaligned = memory[1:].view(dtype).reshape(logits.shape)
    unaligned[:] = logits
    grammask.apply_token_bitmask_inplace(unaligned, mask)
    assert (unaligned == want).all()
    wide_mask = np.zeros((3, 6), np.int32)
    wide_mask[:, ::2] = mask
    applied = logits.copy()
    grammask.apply_token_bitmask_inplace(applied, wide_mask[:, ::2])
    assert (applied == want).all(), "a bitmask with strides"
    read_only = logits.copy()
    read_only.flags.writeable = False
    with pytest.raises(ValueError):
        grammask.apply_token_bitmask_inplace(read_only, mask)


def test_applying_what_does_not_fit():
    logits, mask = np.zeros((2, 70), np.float32), np.zeros((2, 3), np.int32)
    with pytest.raises(ValueError, match="backend"):
        grammask.apply_token_bitmask_inplace(logits, mask, backend="abacus")
    with pytest.raises(ValueError):
        grammask.apply_token_bitmask_inplace(logits, mask.astype(np.int64))
    with pytest.raises(ValueError):
        grammask.apply_token_bitmask_inplace(logits, mask[:1])
    with pytest.raises(IndexError):
        grammask.apply_token_bitmask_inplace(logits, mask, indices=[2])
    with pytest.raises(ValueError, match="vocab_size=64"):
        grammask.apply_token_bitmask_inplace(logits, mask[:, :2])
    assert (logits == 0).all()
    grammask.apply_token_bitmask_inplace(logits, mask[:, :2], vocab_size=64)
    assert (logits[:, :64] == -np.inf).all() and (logits[:, 64:] == 0).all()
    grammask.config.set_compat(True)
    logits = np.zeros((2, 70), np.float32)
    with pytest.warns(UserWarning, match="left unmasked"):
        grammask.apply_token_bitmask_inplace(logits, mask[:, :2])
    assert (logits[:, :64] == -np.inf).all() and (logits[:, 64:] == 0).all()


def test_looking_at_bitmasks():
    mask = testing.bool_mask_to_bitmask(np.array([[False] * 40, [False] * 39 + [True]]))
    assert testing._get_masked_tokens_from_bitmask(mask, 40, 1) == list(range(39))
    assert testing._is_single_token_bitmask(mask, 40, 1) == (True, 39)
    assert testing._is_single_token_bitmask(mask, 40, 0) == (False, -1)


def test_passes_by_name_keep_the_texts():
    grammar = grammask.Grammar.from_ebnf('root ::= ("a" | b)+\nb ::= "c"\nunused ::= "d"')
    names = [name for name in vars(testing.GrammarFunctor) if not name.startswith("_")]
    assert len(names) == 8
    for name in names:
        grammar = getattr(testing.GrammarFunctor, name)(grammar)
    assert testing._is_grammar_accept_string(grammar, "acca")
    assert not testing._is_grammar_accept_string(grammar, "d")
    text = testing._get_matcher_from_grammar(grammar)
    assert text.accept_string("acca") and text.is_terminated()


def test_settings():
    assert grammask.get_max_recursion_depth() == 10000
    with grammask.max_recursion_depth(5):
        assert grammask.get_max_recursion_depth() == 5
    assert grammask.get_max_recursion_depth() == 10000
    for wrong in (0, -1, 10**7, "many"):
        with pytest.raises(ValueError):
            grammask.set_max_recursion_depth(wrong)
    assert grammask.get_serialization_version() == "grammask-1"


def function(name):
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def test_tool_choices():
    models = pytest.importorskip("grammask.openai_tool_call_schema")
    tools = [models.FunctionToolParam.model_validate(function(name)) for name in "fg"]
    tools.append(models.BuiltinToolParam(type="web_search"))
    normal = grammask.normalize_tool_choice
    assert normal([function("f"), function("g"), {"type": "web_search"}], "auto") == normal(tools, "auto")
    assert normal(tools, None) == normal(tools, "auto") == (tools[:2], tools[2:], "auto")
    assert normal(tools, "none") == ([], [], "auto") == normal(None, "auto")
    assert normal(tools, "required") == (tools[:2], tools[2:], "required")
    assert normal(tools, {"type": "function", "function": {"name": "g"}}) == ([tools[1]], [], "forced")
    assert normal(tools, {"type": "web_search"}) == ([], [tools[2]], "forced")
    allowed = {"mode": "required", "tools": [function("f")]}
    assert normal(tools, {"type": "allowed_tools", "allowed_tools": allowed}) == ([tools[0]], [], "required")
    wrong = [
        ([], "required"),
        (tools, {"type": "function", "function": {"name": "h"}}),
        (tools, {"type": "code"}),
        ("f", "auto"),
    ]
    for choice in wrong:
        with pytest.raises(ValueError):
            normal(*choice)


def test_requests_as_pydantic_models():
    pydantic = pytest.importorskip("pydantic")
    from grammask.openai_tool_call_schema import FunctionToolParam, ToolChoiceOptionParam

    class Request(pydantic.BaseModel):
        response_format: dict | grammask.StructuralTag | None = None
        tools: list[FunctionToolParam] = []
        tool_choice: ToolChoiceOptionParam = None

    choice = {"type": "function", "function": {"name": "g"}}
    request = Request(response_format={"type": "json"}, tools=[function("f"), function("g")], tool_choice=choice)
    functions, _, mode = grammask.normalize_tool_choice(request.tools, request.tool_choice)
    assert ([tool.function.name for tool in functions], mode) == (["g"], "forced")
    with pytest.raises(pydantic.ValidationError, match="structural_tag|valid dictionary|StructuralTag"):
        Request(response_format="tag")
