//! The tool formats of model families. A new family is a new entry here, and a line in the tests.

use crate::structural_tag::format::Style;

/// How one model family writes reasoning and tool calls.
#[derive(Debug)]
pub(super) struct Family {
    /// Names under which it is asked for; the first is the one that is shown.
    pub(super) keys: &'static [&'static str],
    /// The models, for people.
    pub(super) models: &'static str,
    pub(super) reasoning: Option<ReasoningMarks>,
    pub(super) layout: Layout,
    /// One call, from its first to its last mark.
    pub(super) call: &'static [Part],
    /// Other spellings of it.
    pub(super) other_calls: &'static [&'static [Part]],
    /// The text that may precede a call that is required.
    pub(super) lead: &'static str,
    /// Pairs of marks around answers that are no calls; the second one is empty if a mark has no partner.
    /// They may occur anywhere in free text.
    pub(super) answer: &'static [(&'static str, &'static str)],
    pub(super) names: ToolNames,
}

/// Names that a family can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolNames {
    Any,
    /// Identifiers of Python with dots between them.
    Dotted,
}

/// The marks around reasoning.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReasoningMarks {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// The model's text after the closing mark.
    pub(super) after: &'static str,
    /// Whether the prompt ends with the opening mark, so that the model's text begins after it.
    pub(super) opener: Opener,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opener {
    InPrompt,
    Written,
}

/// A piece of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A literal in which `$NAME` is the tool's name.
    Text(&'static str),
    /// A decimal number, such as the number of the call.
    Number,
    /// The arguments.
    Arguments(Style),
}

/// The layout of calls in the answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Each by itself, with free text around them. The triggers are how all of them begin.
    Blocks { triggers: &'static [&'static str] },
    /// In a row between marks, with free text around the row.
    Section { open: &'static str, separator: &'static str, close: &'static str },
    /// In a row that is the whole answer, between one of the pairs of marks. An answer that begins as the pattern says
    /// is calls and no text.
    Whole { marks: &'static [(&'static str, &'static str)], separator: &'static str, opener: &'static str },
    /// Kimi K3's message: a response, then calls between marks, then the end of the message.
    Message {
        response: (&'static str, &'static str),
        open: &'static str,
        close: &'static str,
        end: &'static str,
    },
    /// OpenAI's Harmony: messages with channels and recipients.
    Harmony,
}

use Part::{Arguments, Number, Text};

const THINK: ReasoningMarks =
    ReasoningMarks { open: "<think>", close: "</think>", after: "", opener: Opener::InPrompt };
const THINK_AND_LINES: ReasoningMarks = ReasoningMarks { after: "\n\n", ..THINK };
const WRITTEN_THINK: ReasoningMarks = ReasoningMarks { opener: Opener::Written, ..THINK };

/// A list of calls in JSON, `{"name": ..., "arguments": ...}` each.
const JSON_CALL: &[Part] =
    &[Text("{\"name\": \"$NAME\", \"arguments\": "), Arguments(Style::Json), Text("}")];

/// Calls on lines of their own between `<tool_call>` marks.
const HERMES_CALL: &[Part] = &[
    Text("<tool_call>\n{\"name\": \"$NAME\", \"arguments\": "),
    Arguments(Style::Json),
    Text("}\n</tool_call>"),
];

const TIGHT_CALL: &[Part] = &[
    Text("<tool_call>{\"name\": \"$NAME\", \"arguments\": "),
    Arguments(Style::Json),
    Text("}</tool_call>"),
];

const MISTRAL_CALL: &[Part] = &[Text("[TOOL_CALLS]$NAME[ARGS]"), Arguments(Style::Json), Text("")];

const MISTRAL_SHORT_CALL: &[Part] = &[Text("[TOOL_CALLS]$NAME"), Arguments(Style::Json), Text("")];

const DSML_CALL: &[Part] =
    &[Text("<｜DSML｜invoke name=\"$NAME\">\n"), Arguments(Style::DeepseekXml), Text("</｜DSML｜invoke>\n")];

const fn blocks(triggers: &'static [&'static str]) -> Layout {
    Layout::Blocks { triggers }
}

const fn section(open: &'static str, separator: &'static str, close: &'static str) -> Layout {
    Layout::Section { open, separator, close }
}

/// The properties of most families.
const FAMILY: Family = Family {
    keys: &[],
    models: "",
    reasoning: None,
    layout: blocks(&[]),
    call: &[],
    other_calls: &[],
    lead: "",
    answer: &[],
    names: ToolNames::Any,
};

/// Calls in Python's syntax.
const PYTHON_CALL: &[Part] = &[Text("$NAME"), Arguments(Style::Pythonic), Text("")];

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        keys: &["llama", "llama_3"],
        models: "Llama 3, 3.1, 3.2",
        layout: blocks(&["{\"name\": "]),
        call: &[Text("{\"name\": \"$NAME\", \"parameters\": "), Arguments(Style::Json), Text("}")],
        lead: "<|python_tag|>",
        answer: &[("<|python_tag|>", "")],
        ..FAMILY
    },
    Family {
        keys: &["llama_custom"],
        models: "Llama 3.1 with custom tools",
        layout: blocks(&["<function="]),
        call: &[Text("<function=$NAME>"), Arguments(Style::Json), Text("</function>")],
        ..FAMILY
    },
    Family {
        keys: &["qwen_3", "qwen_2_5"],
        models: "Qwen2.5, Qwen3",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks(&["<tool_call>"]),
        call: HERMES_CALL,
        ..FAMILY
    },
    Family {
        keys: &["hermes"],
        models: "Hermes",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks(&["<tool_call>"]),
        call: HERMES_CALL,
        other_calls: &[TIGHT_CALL],
        ..FAMILY
    },
    Family {
        keys: &["qwen_3_coder", "qwen_3_5", "step_3_5", "nemotron_3", "granite_4_2"],
        models: "Qwen3-Coder, Qwen3.5, Qwen3.6, Step3.5, Nemotron 3, Granite 4.2",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks(&["<tool_call>"]),
        call: &[
            Text("<tool_call>\n<function=$NAME>\n"),
            Arguments(Style::QwenXml),
            Text("\n</function>\n</tool_call>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["mimo"],
        models: "MiMo-V2.6",
        reasoning: Some(WRITTEN_THINK),
        layout: blocks(&["<tool_call>"]),
        call: &[
            Text("<tool_call><function=$NAME>"),
            Arguments(Style::QwenXml),
            Text("</function></tool_call>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["seed_oss"],
        models: "Seed-OSS",
        reasoning: Some(ReasoningMarks {
            open: "<seed:think>",
            close: "</seed:think>",
            after: "",
            opener: Opener::Written,
        }),
        layout: blocks(&["<seed:tool_call>"]),
        call: &[
            Text("<seed:tool_call>\n<function=$NAME>\n"),
            Arguments(Style::QwenXml),
            Text("\n</function>\n</seed:tool_call>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_r1", "deepseek_v3"],
        models: "DeepSeek-R1, DeepSeek-V3",
        reasoning: Some(THINK),
        layout: section("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
        call: &[
            Text("<｜tool▁call▁begin｜>function<｜tool▁sep｜>$NAME\n```json\n"),
            Arguments(Style::Json),
            Text("\n```<｜tool▁call▁end｜>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v3_1"],
        models: "DeepSeek-V3.1, DeepSeek-V3.2-Exp",
        reasoning: Some(THINK),
        layout: section("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
        call: &[
            Text("<｜tool▁call▁begin｜>$NAME<｜tool▁sep｜>"),
            Arguments(Style::Json),
            Text("<｜tool▁call▁end｜>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v3_2"],
        models: "DeepSeek-V3.2",
        reasoning: Some(THINK),
        layout: section("<｜DSML｜function_calls>\n", "", "</｜DSML｜function_calls>"),
        call: DSML_CALL,
        lead: "\n\n",
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v4"],
        models: "DeepSeek-V4",
        reasoning: Some(THINK),
        layout: section("<｜DSML｜tool_calls>\n", "", "</｜DSML｜tool_calls>"),
        call: DSML_CALL,
        lead: "\n\n",
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v4_1"],
        models: "DeepSeek-V4.1",
        reasoning: Some(THINK),
        layout: section("<｜DSML｜ calls>\n", "", "</｜DSML｜ calls>"),
        call: &[
            Text("<｜DSML｜ invoke name=\"$NAME\">\n"),
            Arguments(Style::DeepseekV41Xml),
            Text("</｜DSML｜ invoke>\n"),
        ],
        lead: "\n\n",
        ..FAMILY
    },
    Family {
        keys: &["kimi"],
        models: "Kimi K2, Kimi K2.5",
        reasoning: Some(THINK),
        layout: section("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
        call: &[
            Text("<|tool_call_begin|>functions.$NAME:"),
            Number,
            Text("<|tool_call_argument_begin|>"),
            Arguments(Style::Json),
            Text("<|tool_call_end|>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["kimi_k3"],
        models: "Kimi K3",
        reasoning: Some(ReasoningMarks {
            open: "<|open|>think<|sep|>",
            close: "<|close|>think<|sep|>",
            after: "",
            opener: Opener::InPrompt,
        }),
        layout: Layout::Message {
            response: ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
            open: "<|open|>tools<|sep|>",
            close: "<|close|>tools<|sep|>",
            end: "<|close|>message<|sep|>",
        },
        call: &[
            Text("<|open|>call tool=\"$NAME\" index=\""),
            Number,
            Text("\"<|sep|>"),
            Arguments(Style::KimiK3Xml),
            Text("<|close|>call<|sep|>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["glm_4_5"],
        models: "GLM-4.5, GLM-4.6",
        reasoning: Some(WRITTEN_THINK),
        layout: blocks(&["<tool_call>"]),
        call: &[Text("<tool_call>$NAME\n"), Arguments(Style::GlmXml), Text("</tool_call>")],
        ..FAMILY
    },
    Family {
        keys: &["glm_4_7", "glm_5", "ling_3"],
        models: "GLM-4.7, GLM-5, Ling 3",
        reasoning: Some(THINK),
        layout: blocks(&["<tool_call>"]),
        call: &[Text("<tool_call>$NAME"), Arguments(Style::GlmXml), Text("</tool_call>")],
        ..FAMILY
    },
    Family {
        keys: &["mistral"],
        models: "Mistral up to tokenizer v7, Nemo",
        layout: section("[TOOL_CALLS] [", ", ", "]"),
        call: JSON_CALL,
        ..FAMILY
    },
    Family {
        keys: &["mistral_v11"],
        models: "Mistral from tokenizer v11 on",
        layout: blocks(&["[TOOL_CALLS]"]),
        call: MISTRAL_CALL,
        other_calls: &[MISTRAL_SHORT_CALL],
        ..FAMILY
    },
    Family {
        keys: &["magistral"],
        models: "Mistral from tokenizer v13 on, with reasoning",
        reasoning: Some(ReasoningMarks {
            open: "[THINK]",
            close: "[/THINK]",
            after: "",
            opener: Opener::Written,
        }),
        layout: blocks(&["[TOOL_CALLS]"]),
        call: MISTRAL_CALL,
        other_calls: &[MISTRAL_SHORT_CALL],
        ..FAMILY
    },
    Family {
        keys: &["magistral_v11"],
        models: "Mistral with tokenizer v11, with reasoning",
        reasoning: Some(WRITTEN_THINK),
        layout: blocks(&["[TOOL_CALLS]"]),
        call: MISTRAL_CALL,
        other_calls: &[MISTRAL_SHORT_CALL],
        ..FAMILY
    },
    Family {
        keys: &["minimax"],
        models: "MiniMax M2, M2.5, M2.7",
        reasoning: Some(THINK),
        layout: section("<minimax:tool_call>\n", "", "</minimax:tool_call>"),
        call: &[Text("<invoke name=\"$NAME\">\n"), Arguments(Style::MinimaxXml), Text("</invoke>\n")],
        ..FAMILY
    },
    Family {
        keys: &["minimax_m3"],
        models: "MiniMax M3",
        reasoning: Some(ReasoningMarks {
            open: "<mm:think>",
            close: "</mm:think>",
            after: "",
            opener: Opener::Written,
        }),
        layout: section("]<]minimax[>[<tool_call>\n", "", "]<]minimax[>[</tool_call>"),
        call: &[
            Text("]<]minimax[>[<invoke name=\"$NAME\">"),
            Arguments(Style::MinimaxM3Xml),
            Text("]<]minimax[>[</invoke>\n"),
        ],
        ..FAMILY
    },
    Family { keys: &["harmony", "gpt_oss"], models: "gpt-oss", layout: Layout::Harmony, call: &[], ..FAMILY },
    Family {
        keys: &["phi_4_mini"],
        models: "Phi-4-mini",
        layout: section("functools[", ", ", "]"),
        call: JSON_CALL,
        ..FAMILY
    },
    Family {
        keys: &["granite_3_0"],
        models: "Granite 3.0",
        layout: section("<|tool_call|> [", ", ", "]"),
        call: JSON_CALL,
        ..FAMILY
    },
    Family {
        keys: &["granite_3_1"],
        models: "Granite 3.1",
        layout: section("<tool_call> [", ", ", "]"),
        call: JSON_CALL,
        ..FAMILY
    },
    Family {
        keys: &["granite_4"],
        models: "Granite 4",
        layout: blocks(&["<tool_call>"]),
        call: TIGHT_CALL,
        ..FAMILY
    },
    Family {
        keys: &["granite_20b"],
        models: "Granite 20B FunctionCalling",
        layout: blocks(&["<function_call>"]),
        call: &[
            Text("<function_call> {\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["cohere_command_a"],
        models: "Cohere Command A",
        reasoning: Some(ReasoningMarks {
            open: "<|START_THINKING|>",
            close: "<|END_THINKING|>",
            after: "",
            opener: Opener::Written,
        }),
        layout: section("<|START_ACTION|>[", ", ", "]<|END_ACTION|>"),
        call: &[
            Text("{\"tool_call_id\": \""),
            Number,
            Text("\", \"tool_name\": \"$NAME\", \"parameters\": "),
            Arguments(Style::Json),
            Text("}"),
        ],
        answer: &[("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>")],
        ..FAMILY
    },
    Family {
        keys: &["cohere"],
        models: "Cohere Command with XML arguments",
        reasoning: Some(ReasoningMarks {
            open: "<|START_THINKING|>",
            close: "<|END_THINKING|>",
            after: "",
            opener: Opener::InPrompt,
        }),
        layout: section("<cofl:tool_calls>", "", "</cofl:tool_calls>"),
        call: &[
            Text("<cofl:tool_call id=\""),
            Number,
            Text("\" name=\"$NAME\">"),
            Arguments(Style::CohereXml),
            Text("</cofl:tool_call>"),
        ],
        answer: &[("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>")],
        ..FAMILY
    },
    Family {
        keys: &["exaone"],
        models: "EXAONE 4.0",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks(&["<tool_call>"]),
        call: TIGHT_CALL,
        ..FAMILY
    },
    Family {
        keys: &["hunyuan_a13b", "jamba"],
        models: "Hunyuan A13B, Jamba",
        layout: section("<tool_calls>[", ", ", "]</tool_calls>"),
        call: JSON_CALL,
        ..FAMILY
    },
    Family {
        keys: &["hunyuan_v3"],
        models: "HY V3",
        reasoning: Some(WRITTEN_THINK),
        layout: section("<tool_calls>\n", "\n", "\n</tool_calls>"),
        call: &[Text("<tool_call>$NAME<tool_sep>\n"), Arguments(Style::GlmXml), Text("</tool_call>")],
        ..FAMILY
    },
    Family {
        keys: &["hunyuan_v4"],
        models: "HY V4",
        reasoning: Some(WRITTEN_THINK),
        layout: section("<tool_calls>", "", "</tool_calls>"),
        call: &[Text("<tool_call>$NAME"), Arguments(Style::GlmXml), Text("</tool_call>")],
        ..FAMILY
    },
    Family {
        keys: &["internlm_2", "intern_s1"],
        models: "InternLM2, Intern-S1",
        layout: blocks(&["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"]),
        call: &[
            Text("<|action_start|><|plugin|>\n{\"name\": \"$NAME\", \"parameters\": "),
            Arguments(Style::Json),
            Text("}<|action_end|>"),
        ],
        other_calls: &[&[
            Text("<|action_start|> <|plugin|>\n{\"name\": \"$NAME\", \"parameters\": "),
            Arguments(Style::Json),
            Text("}<|action_end|>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["step_3"],
        models: "Step3",
        reasoning: Some(WRITTEN_THINK),
        layout: section("<｜tool_calls_begin｜>", "", "<｜tool_calls_end｜>"),
        call: &[
            Text("<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"$NAME\">"),
            Arguments(Style::Step3Xml),
            Text("</steptml:invoke><｜tool_call_end｜>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["ernie_4_5"],
        models: "ERNIE 4.5",
        reasoning: Some(THINK),
        layout: blocks(&["<tool_call>"]),
        call: HERMES_CALL,
        answer: &[("<response>", "</response>")],
        ..FAMILY
    },
    Family {
        keys: &["apertus"],
        models: "Apertus",
        layout: section("<|tools_prefix|>[", ", ", "]<|tools_suffix|>"),
        call: &[Text("{\"$NAME\": "), Arguments(Style::Json), Text("}")],
        ..FAMILY
    },
    Family {
        keys: &["longcat"],
        models: "LongCat",
        layout: blocks(&["<longcat_tool_call>"]),
        call: &[
            Text("<longcat_tool_call>\n{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}\n</longcat_tool_call>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["llama_4", "pythonic"],
        models: "Llama 4 and others with calls in Python's syntax",
        layout: Layout::Whole {
            marks: &[("[", "]"), ("<|python_start|>[", "]<|python_end|>")],
            separator: ", ",
            opener: r"\s*(<\|python_start\|>)?\s*\[\s*[A-Za-z_][\w.]*\(",
        },
        call: PYTHON_CALL,
        names: ToolNames::Dotted,
        ..FAMILY
    },
    Family {
        keys: &["olmo_3"],
        models: "OLMo 3",
        reasoning: Some(WRITTEN_THINK),
        layout: Layout::Whole { marks: &[("", "")], separator: "\n", opener: r"\s*[A-Za-z_][\w.]*\(" },
        call: &[Text("$NAME"), Arguments(Style::Olmo3), Text("")],
        names: ToolNames::Dotted,
        ..FAMILY
    },
    Family {
        keys: &["lfm_2"],
        models: "LFM2",
        layout: section("<|tool_call_start|>[", ", ", "]<|tool_call_end|>"),
        call: PYTHON_CALL,
        names: ToolNames::Dotted,
        ..FAMILY
    },
    Family {
        keys: &["gemma_3", "functiongemma"],
        models: "FunctionGemma",
        layout: blocks(&["<start_function_call>"]),
        call: &[
            Text("<start_function_call>call:$NAME"),
            Arguments(Style::Gemma3),
            Text("<end_function_call>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["gemma_4"],
        models: "Gemma 4",
        reasoning: Some(ReasoningMarks {
            open: "<|channel>thought\n",
            close: "<channel|>",
            after: "",
            opener: Opener::Written,
        }),
        layout: blocks(&["<|tool_call>"]),
        call: &[Text("<|tool_call>call:$NAME"), Arguments(Style::Gemma4), Text("<tool_call|>")],
        ..FAMILY
    },
    Family {
        keys: &["xlam"],
        models: "xLAM",
        layout: Layout::Whole {
            marks: &[("[", "]"), ("```json\n[", "]\n```")],
            separator: ", ",
            opener: r"\s*(```json\s*)?\[\s*\{",
        },
        call: JSON_CALL,
        ..FAMILY
    },
    Family {
        keys: &["inkling"],
        models: "Inkling",
        layout: blocks(&["<|message_model|>"]),
        call: &[
            Text("<|message_model|>$NAME<|content_invoke_tool_json|>{\"name\":\"$NAME\",\"args\":"),
            Arguments(Style::Json),
            Text("}<|end_message|>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["k2_horizon"],
        models: "K2 Horizon",
        reasoning: Some(ReasoningMarks {
            open: "<ifm|think>",
            close: "</ifm|think>",
            after: "",
            opener: Opener::Written,
        }),
        layout: section("<ifm|tool_calls>\n", "\n", "\n</ifm|tool_calls>"),
        call: &[
            Text("<ifm|tool_call>{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}</ifm|tool_call>"),
        ],
        ..FAMILY
    },
    Family {
        keys: &["muse"],
        models: "Muse",
        layout: section("<atem:function_calls>\n", "", "</atem:function_calls>"),
        call: &[Text("<atem:invoke name=\"$NAME\">\n"), Arguments(Style::AtemXml), Text("</atem:invoke>\n")],
        answer: &[("<|message|>", "<|eom|>"), ("<|start|>", "<|eot|>")],
        ..FAMILY
    },
    Family {
        keys: &["gigachat_3"],
        models: "GigaChat 3",
        layout: blocks(&["<|function_call|>"]),
        call: &[
            Text("<|function_call|>{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}"),
        ],
        ..FAMILY
    },
];
