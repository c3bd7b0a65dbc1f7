"""Renders turns of a model with the vendors' chat templates, and compares them with `turns.toml`, or writes that file.

    python render.py FOLDER [--write]

FOLDER has the templates, as `models/templates` of llama.cpp's sources. Each template renders a conversation up to the turn,
and with it. The difference is the text that the model writes, up to the token that ends its turn.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

import jinja2.ext
import jinja2.sandbox

HERE = Path(__file__).parent
TOOLS = json.loads((HERE / "request.json").read_text())["tools"]

WEATHER = {"city": "Paris", "days": 3, "unit": "celsius"}
JOURNEY = {
    "title": "Trip",
    "stops": [{"at": {"lat": 48.85, "lon": -2.5}, "tags": ["a", "b c"]}, {"at": {"lat": 0, "lon": 1}}],
    "options": {"fast": True, "note": None},
}
# Text, and calls after it.
TURNS = [
    ("It is sunny.", []),
    ("", [("weather", WEATHER)]),
    ("", [("weather", WEATHER), ("now", {})]),
    ("", [("plan", JOURNEY)]),
    ("", [("weather", {"city": 'Z\u00fcrich "\u6771\u4eac" \U0001f30d', "days": 1})]),
    ("", [("now", {})]),
    ("Let me see.", [("weather", WEATHER)]),
]
WITH_THOUGHTS = [TURNS[0], TURNS[1]]
# A tool that is not offered, no city, another type, another value, one argument more.
SPOILT = [
    ("whether", WEATHER),
    ("weather", {"days": 3}),
    ("weather", {"city": "Paris", "days": "three"}),
    ("weather", {"city": "Paris", "unit": "kelvin"}),
    ("weather", {"city": "Paris", "hours": 3}),
]

# Where a turn ends.
ENDS = (
    "<|eot_id|> <|eom_id|> </s> <|im_end|> <|end_of_text|> [e~[ <\uff5cend\u2581of\u2581sentence\uff5c> <|END_OF_TURN_TOKEN|> "
    "<seed:eos> <end_of_sentence> <SPECIAL_12> <|end_of_msg|> <turn|> <|role_end|> <|eot|> <sep> </assistant> <|tool_response> "
    "<\uff5chy_eos:opensource\uff5c> <|user|>"
).split()

NO_THINKING = {"enable_thinking": False}
THINKING = {"enable_thinking": True}

# By template: the family, and how it differs from most. `off` and `on` are arguments of the template without and with reasoning;
# `thoughts`, the member of a message that has them; `header`, a text before the turn, where the prompt is no prefix of the
# conversation; `begun`, whether there is reasoning in either case; `ends` and `suffix`, where a turn ends; `is_text`, whether the template takes
# arguments as JSON.
TEMPLATES = {
    "meta-llama-Llama-3.1-8B-Instruct": ("llama", {}),
    "meta-llama-Llama-3.2-3B-Instruct": ("llama", {}),
    "meta-llama-Llama-3.3-70B-Instruct": ("llama", {}),
    "meetkai-functionary-medium-v3.1": ("llama_custom", {}),
    "Qwen-Qwen2.5-7B-Instruct": ("qwen_3", {}),
    "Qwen-Qwen3-0.6B": ("qwen_3", {"off": NO_THINKING, "on": THINKING}),
    "Qwen-QwQ-32B": ("qwen_3", {"header": "<|im_start|>assistant\n"}),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": ("hermes", {}),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": ("hermes", {}),
    "MiMo-VL": ("hermes", {}),
    "Bielik-11B-v3.0-Instruct": ("bielik_3", {"on": THINKING}),
    "Reka-Edge": ("bielik_3", {"off": NO_THINKING}),
    "Qwen3-Coder": ("qwen_3_coder", {}),
    "Qwen3.5-4B": ("qwen_3_coder", {"off": NO_THINKING, "on": THINKING}),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ("nemotron_3", {"off": NO_THINKING, "on": THINKING}),
    "NVIDIA-Nemotron-Nano-v2": ("nemotron_nano_2", {"header": "<SPECIAL_11>Assistant\n"}),
    "StepFun3.5-Flash": ("nemotron_3", {"on": {}, "begun": True}),
    "ByteDance-Seed-OSS": ("seed_oss", {"on": {}}),
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": ("deepseek_r1", {"header": "<\uff5cAssistant\uff5c>"}),
    "llama-cpp-deepseek-r1": ("deepseek_r1", {"header": "<\uff5cAssistant\uff5c>"}),
    "deepseek-ai-DeepSeek-V3.1": ("deepseek_v3_1", {}),
    "deepseek-ai-DeepSeek-V3.2": (
        "deepseek_v3_2",
        {"header": "<\uff5cAssistant\uff5c></think>", "off": {"thinking": False}, "on": {"thinking": True}},
    ),
    "deepseek-ai-DeepSeek-V4": ("deepseek_v4", {"off": {"thinking": False}, "on": {"thinking": True}}),
    "deepseek-ai-DeepSeek-V4-Flash-0731": ("deepseek_v4", {"off": {"thinking": False}, "on": {"thinking": True}}),
    "Kimi-K2-Instruct": ("kimi", {}),
    "moonshotai-Kimi-K2": ("kimi", {}),
    "Kimi-K2-Thinking": ("kimi", {"on": {}, "begun": True}),
    "Kimi-K3": ("kimi_k3", {"off": {"thinking": False}, "on": {"thinking": True}}),
    "GLM-4.6": ("glm_4_5", {"off": NO_THINKING, "on": THINKING}),
    "poolside-Laguna-XS.2": ("glm_4_5", {"off": NO_THINKING}),
    "poolside-Laguna-XS-2.1": ("glm_4_5", {"off": NO_THINKING}),
    "GLM-4.7-Flash": ("glm_4_7", {"off": NO_THINKING, "on": THINKING}),
    "inclusionai-ling-3.0-flash": ("glm_4_7", {"off": NO_THINKING, "on": THINKING}),
    "Spark2.5": ("glm_4_7", {"off": NO_THINKING, "on": THINKING}),
    "poolside-Laguna-S-2.1": ("glm_4_7", {"off": NO_THINKING, "on": THINKING}),
    "mistralai-Mistral-Nemo-Instruct-2407": ("mistral", {}),
    "Mistral-Small-3.2-24B-Instruct-2506": ("mistral_v11", {}),
    "unsloth-mistral-Devstral-Small-2507": ("mistral_v11", {}),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("magistral", {"on": {}, "thoughts": "content"}),
    "MiniMax-M2": ("minimax", {"header": "]~b]ai\n", "on": {}}),
    "MiniMax-M1": ("minimax_m1", {}),
    "MiniMax-M3": ("minimax_m3", {"on": {"thinking_mode": "enabled"}}),
    "openai-gpt-oss-120b": ("harmony", {"on": {}, "thoughts": "thinking", "begun": True, "ends": []}),
    "fireworks-ai-llama-3-firefunction-v2": ("firefunction_2", {"off": {"functions": "", "datetime": ""}}),
    "ibm-granite-granite-4.0": ("granite_4", {}),
    "ibm-granite-granite-4.1": ("granite_4", {}),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": (
        "cohere_command_a",
        {"header": "Hello.<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "off": NO_THINKING, "on": THINKING},
    ),
    "Cohere2MoE": (
        "cohere_command_a",
        {
            "header": "Hello.<|END_TEXT|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
            "off": {"reasoning": False, "skip_thinking": True},
            "on": {"reasoning": True},
        },
    ),
    "unsloth-Apriel-1.5": ("apriel", {"ends": ["\n<|end|>"]}),
    "Apriel-1.6-15b-Thinker-fixed": ("apriel", {"header": "<|begin_assistant|>\n"}),
    "tencent-Hy3": ("hy_3", {"off": {"reasoning_effort": "no_think"}, "on": {"reasoning_effort": "high"}}),
    "Apertus-8B-Instruct": ("apertus", {}),
    "LFM2.5-8B-A1B": ("lfm_2", {"on": {}, "thoughts": "thinking"}),
    "google-gemma-4-31B-it": ("gemma_4", {"header": "<|turn>model\n", "off": {}, "on": THINKING}),
    "google-gemma-4-31B-it-interleaved": ("gemma_4", {"header": "<|turn>model\n", "off": {}, "on": THINKING}),
    "muse-glimmer": ("muse", {"on": {}}),
    "GigaChat3-10B-A1.8B": ("gigachat_3", {"suffix": "<|message_sep|>\n\n"}),
    "GigaChat3.1-10B-A1.8B": ("gigachat_3", {"ends": ["<|message_sep|>"]}),
    "upstage-Solar-Open-100B": ("solar_open", {"suffix": "<|end|>", "on": {}, "thoughts": "reasoning"}),
    "openbmb-MiniCPM5-1B": ("minicpm_5", {"on": THINKING}),
    "meetkai-functionary-medium-v3.2": ("functionary_3_2", {"is_text": True}),
    # The prompt of this template cannot describe the tools, because their objects have no `additionalProperties`.
    "CohereForAI-c4ai-command-r-plus-tool_use": (
        "cohere_command_r_plus",
        {
            "header": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
            "off": {"tools": []},
            "ends": ["<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"],
        },
    ),
}


def environment():
    def fail(message):
        raise jinja2.TemplateError(message)

    def to_json(value, indent=None, separators=None, sort_keys=False, ensure_ascii=False):
        value = value if isinstance(value, (dict, list, str, int, float, type(None))) else list(value)
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    # Some templates append to lists, which transformers' own environment forbids.
    made = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )
    made.filters |= {"tojson": to_json, "from_json": json.loads}
    made.globals |= {"raise_exception": fail, "strftime_now": lambda form: "2026-01-02"}
    return made


def assistant(family, how, content, calls, thoughts):
    message = {"role": "assistant", "content": content}
    if thoughts and how.get("thoughts") == "content":
        message["content"] = [{"type": "thinking", "thinking": thoughts}, {"type": "text", "text": content}]
    elif thoughts:
        message[how.get("thoughts", "reasoning_content")] = thoughts
    if calls:
        others = "call00000" if family == "solar_open" else "call0000"
        names = [f"functions.{name}:{at}" if family == "kimi" else f"{others}{at}" for at, (name, _) in enumerate(calls)]
        if how.get("is_text"):
            calls = [(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in calls]
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": {"name": call, "arguments": arguments}}
            for name, (call, arguments) in zip(names, calls)
        ]
    return message


def written(template, family, how, content, calls, thoughts=None):
    """The text that the model writes; none where the template has no such turns."""
    ends = how.get("ends", ENDS)
    arguments = {"tools": TOOLS, "bos_token": "<s>", "eos_token": "</s>"} | (
        how["on"] if thoughts else how.get("off", {})
    )
    if "MiniMax" in template.filename:
        arguments |= {"bos_token": "]~b]", "eos_token": "[e~["}
    before = [{"role": "user", "content": "Hello."}]
    turn = assistant(family, how, content, calls, thoughts)
    prompt = template.render(messages=before, add_generation_prompt=True, **arguments)
    try:
        whole = template.render(messages=[*before, turn], add_generation_prompt=False, **arguments)
    except jinja2.TemplateError:
        return None
    if whole.startswith(prompt):
        text = whole[len(prompt) :]
    elif "header" in how:
        text = whole.split(how["header"], 1)[1]
    else:
        raise SystemExit(f"{template.filename}: the prompt is no prefix of the conversation:\n{prompt!r}\n{whole!r}")
    text = text.removesuffix(how.get("suffix", ""))
    for end in ends:
        text = text.split(end, 1)[0]
    # Templates may leave out what they do not know.
    is_whole = all(part in text for part in [content, thoughts or "", *(name for name, _ in calls)])
    return text if is_whole else None


def wrong_mark(text):
    """The text with another last mark."""
    marks = list(re.finditer(r'<[^<>\s="]+>|\[[A-Z_]+\]|"(arguments|parameters)"', text))
    # Where there are none, a line break is one.
    at = marks[-1].start() + 1 if marks else text.index("\n")
    return text[:at] + "x" + text[at:]


def turns_of(folder, name):
    """The cases of a template: without reasoning, and with it."""
    family, how = TEMPLATES[name]
    path = folder / f"{name}.jinja"
    # A mark for training, which changes nothing here.
    source = path.read_text().replace(" endgeneration ", " endif ").replace(" generation ", " if true ")
    template = environment().from_string(source)
    template.filename = str(path)
    render = lambda *turn: written(template, family, how, *turn)
    accepted = [text for turn in TURNS if (text := render(*turn)) is not None]
    spoilt = [render("", [call]) for call in SPOILT]
    one = render("", [("weather", WEATHER)])
    yield family, how.get("begun", False), accepted, [*spoilt, wrong_mark(one)], [one.rstrip()[:-1]]
    if "on" in how:
        accepted = [text for turn in WITH_THOUGHTS if (text := render(*turn, "Hm.")) is not None]
        yield family, True, accepted, [], [accepted[-1].rstrip()[:-1]]


def document(folder, known):
    lines = ["# Turns of models, as the templates of the same name write them. Made by `render.py`."]
    quoted = lambda text: json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    for name in TEMPLATES:
        for at, (family, reasoning, accepted, rejected, incomplete) in enumerate(turns_of(folder, name)):
            title = name if at == 0 else f"{name}, with thoughts"
            lines += ["", "[[case]]", f"name = {quoted(title)}", 'kind = "tools"', f"source = {quoted(family)}"]
            lines += ['options = ["reasoning"]'] if reasoning else []
            lines += ["accepted = [", *(f"    {quoted(text)}," for text in accepted), "]"]
            if rejected:
                places = known.get(title, {})
                parts = [(text[: places.get(text, 0)], text[places.get(text, 0) :]) for text in rejected]
                lines += ["rejected = [", *(f"    [{quoted(one)}, {quoted(other)}]," for one, other in parts), "]"]
            lines += ["incomplete = [", *(f"    {quoted(text)}," for text in incomplete), "]"]
    return "\n".join(lines) + "\n"


def main():
    folder, path = Path(sys.argv[1]), HERE / "turns.toml"
    old = path.read_text() if path.exists() else ""
    # Where spoilt turns die is not known to templates.
    known = {
        case["name"]: {one + other: len(one) for one, other in case.get("rejected", [])}
        for case in tomllib.loads(old).get("case", [])
    }
    new = document(folder, known)
    if "--write" in sys.argv[2:]:
        path.write_text(new)
    elif new != old:
        raise SystemExit("the templates write other turns than `turns.toml` has; write it anew with --write")


main()
