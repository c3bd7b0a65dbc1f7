import json

import grammask
import pytest
from grammask.testing import _is_grammar_accept_string as accepts

pydantic = pytest.importorskip("pydantic")

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("on", "off")
]
CALL = '<tool_call>\n{"name": "on", "arguments": {}}\n</tool_call>'


def test_formats_are_models():
    from grammask.structural_tag import AnyTextFormat, ConstStringFormat, SequenceFormat, TagFormat

    tag = grammask.StructuralTag(
        format=SequenceFormat(
            elements=[TagFormat(begin="<a>", content=AnyTextFormat(), end="</a>"), ConstStringFormat(value="!")]
        )
    )
    grammar = grammask.Grammar.from_structural_tag(tag)
    for form in (tag.model_dump(), tag.model_dump_json(), json.loads(tag.model_dump_json())):
        assert grammask.Grammar.from_structural_tag(form) == grammar
    assert grammask.StructuralTag.from_json(tag.model_dump_json()) == tag
    assert accepts(grammar, "<a>x</a>!")
    assert not accepts(grammar, "<a>x!")


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ({"type": "x" * 1_000_000}, "Input tag 'xxx"),
        ({"type": "const_string", "value": ["x" * 1_000_000]}, "valid string"),
        ({"type": "sequence", "elements": [{"type": "no_type"}] * 10_000}, "format.sequence.elements.1\n"),
        ({"type": "json_schema", "json_schema": {}, "style": "y" * 1_000_000}, "style"),
    ],
)
def test_an_error_does_not_repeat_its_input(format, said):
    text = json.dumps({"type": "structural_tag", "format": format})
    for make in (
        lambda: grammask.StructuralTag.from_json(text),
        lambda: grammask.StructuralTag.from_json(json.loads(text)),
        lambda: grammask.StructuralTag(format=format),
    ):
        with pytest.raises(pydantic.ValidationError) as caught:
            make()
        assert said in str(caught.value)
        assert len(str(caught.value)) < 8_000


def test_the_older_form(compiler):
    item = grammask.StructuralTagItem(begin="<f>", schema=json.dumps({"type": "null"}), end="</f>")
    tag = grammask.StructuralTag.from_legacy_structural_tag([item], ["<f>"])
    new = grammask.Grammar.from_structural_tag(tag)
    old = grammask.Grammar.from_structural_tag([item], ["<f>"])
    for grammar in (new, old, compiler.compile_structural_tag(tag).grammar):
        assert accepts(grammar, "a<f>null</f>b")
        assert not accepts(grammar, "a<f>1</f>")


def test_models():
    auto = grammask.Grammar.from_structural_tag(grammask.get_model_structural_tag("qwen_3", TOOLS, reasoning="disabled"))
    assert accepts(auto, "Hello.") and accepts(auto, "Hello." + CALL)
    forced = {"type": "function", "function": {"name": "off"}}
    tag = grammask.get_model_structural_tag("qwen_3", TOOLS, tool_choice=forced, reasoning=False)
    grammar = grammask.Grammar.from_structural_tag(tag)
    assert accepts(grammar, CALL.replace("on", "off", 1)) and not accepts(grammar, CALL)
    thinking = grammask.Grammar.from_structural_tag(grammask.get_builtin_structural_tag("qwen_3", TOOLS))
    assert accepts(thinking, "Hm.</think>\n\nHello.") and not accepts(thinking, "Hello.")


NOW = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(
    ("family", "right", "wrong"),
    [
        ("llama", '{"type": "function", "name": "now", "parameters": {}}', '{"type": "function", "name": "later"}'),
        ("llama", '{"name":"now","parameters":{}}', '{"name":"now","parameters":{"a":1}}'),
        ("mistral", '[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "a1B2c3D4e"}]', "[TOOL_CALLS][{}]"),
        ("mistral_v11", "[TOOL_CALLS]now[CALL_ID]a1B2c3D4e[ARGS]{}", "[TOOL_CALLS]now[CALL_ID]a1[ARGS]{}"),
        (
            "kimi",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}"
            "<|tool_call_end|><|tool_calls_section_end|>",
            "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        ),
        (
            "kimi_k3",
            "It is noon.<|close|>response<|sep|><|close|>message<|sep|>",
            "It is noon.<|close|>message<|sep|>",
        ),
        ("minimax", "\n</think>\n\nIt is noon.", "Hm.\n</think>\n\nIt is noon."),
        ("minimax_m3", "</mm:think>It is noon.", "It is noon.</mm:think>"),
    ],
)
def test_forms_of_templates(family, right, wrong, compat):
    grammask.config.set_compat(compat)
    grammar = grammask.Grammar.from_structural_tag(
        grammask.get_model_structural_tag(family, NOW, reasoning="disabled")
    )
    assert accepts(grammar, right) and not accepts(grammar, wrong)


def test_tools_come_and_go_in_a_text(compiler):
    def compiled(*names):
        function = {"parameters": {"type": "object", "properties": {}}}
        tools = [{"type": "function", "function": {"name": name, **function}} for name in names]
        tag = grammask.get_model_structural_tag("qwen_3", tools, reasoning="disabled")
        return compiler.compile_structural_tag(tag)

    def call(name):
        return CALL.replace("on", name, 1)

    matcher = grammask.GrammarMatcher(compiled("on", "off"))
    for text in ("Hello. ", call("on"), " And <tool"):
        assert matcher.accept_string(text)
    assert not matcher.fork().accept_string(call("dim").removeprefix("<tool"))
    assert matcher.switch_to(compiled("on", "off", "dim")) and matcher.num_steps == 3
    assert matcher.fork().accept_string(call("dim").removeprefix("<tool"))
    # A finished call of a tool that goes is in the text.
    assert not matcher.switch_to(compiled("dim")) and matcher.num_steps == 3
    assert matcher.switch_to(compiled("dim"), replay="since_return") and matcher.num_steps == 1
    assert not matcher.accept_string(call("on").removeprefix("<tool"))
    assert matcher.accept_string(call("dim").removeprefix("<tool")) and matcher.is_completed()
    assert matcher.switch_to(compiled("on"), replay=0) and matcher.num_steps == 0
    with pytest.raises(grammask.MatcherError):
        matcher.switch_to(compiled("on"), replay=1)
    with pytest.raises(grammask.MatcherError):
        matcher.switch_to(compiled("on"), replay="some")


def test_refusals():
    with pytest.raises(grammask.InvalidJSONError):
        grammask.Grammar.from_structural_tag("{")
    with pytest.raises(grammask.InvalidStructuralTagError) as caught:
        grammask.Grammar.from_structural_tag({"format": {"type": "or", "elements": []}})
    assert caught.value.pointer == "/format/elements"
    with pytest.raises(ValueError, match=r"^Unknown format type: quen_3; did you mean `qwen_3`"):
        grammask.get_model_structural_tag("quen_3", TOOLS)
    with pytest.raises(ValueError):
        grammask.get_model_structural_tag("qwen_3", [], tool_choice="required")


def test_tools_that_are_dicts_become_models():
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}, {"type": "search"}]
    functions, builtins, mode = grammask.normalize_tool_choice(tools)
    assert (functions[0].function.name, builtins[0].type, mode) == ("f", "search", "auto")
    assert grammask.normalize_tool_choice() == ([], [], "auto")
    with pytest.raises(ValueError):
        grammask.normalize_tool_choice([{"type": "function", "function": {}}])


def test_families_of_the_caller(monkeypatch):
    from grammask import structural_tag

    monkeypatch.setattr(structural_tag, "_registered", {})

    @structural_tag.register_model_structural_tag("ours")
    def build(functions, builtins, mode, reasoning, **options):
        asked = (len(functions), len(builtins), mode, reasoning, options["parallel_tool_calls"])
        assert asked == (1, 0, "required", "disabled", False)
        return grammask.StructuralTag(format={"type": "const_string", "value": "<call>"})

    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    arguments = {"tools": [tool], "tool_choice": "required", "reasoning": False, "parallel_tool_calls": False}
    assert grammask.get_model_structural_tag("ours", **arguments).format.value == "<call>"
    with pytest.raises(ValueError, match="takes no `spelling`"):
        grammask.get_model_structural_tag("ours", spelling="any", **arguments)
