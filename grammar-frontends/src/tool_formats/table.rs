//! The tool formats of model families. A new family is a new entry here, and a line in the tests.

use crate::structural_tag::format::Style;

/// How one model family writes reasoning and tool calls.
#[derive(Debug)]
pub(super) struct Family {
    /// Names under which it is asked for; the first is the one that is shown.
    pub(super) names: &'static [&'static str],
    /// The models, for people.
    pub(super) models: &'static str,
    pub(super) reasoning: Option<Reasoning>,
    pub(super) layout: Layout,
    /// One call, from its first to its last mark.
    pub(super) call: &'static [Part],
}

/// The marks around reasoning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reasoning {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// What the model writes after the closing mark.
    pub(super) after: &'static str,
    /// Whether the prompt ends with the opening mark, so that the model's text begins behind it.
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

/// How calls stand in the answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Each by itself, with free text around them. The trigger is how all of them begin.
    Blocks { trigger: &'static str },
    /// In a row between marks, with free text around the row.
    Section { open: &'static str, separator: &'static str, close: &'static str },
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

const THINK: Reasoning =
    Reasoning { open: "<think>", close: "</think>", after: "", opener: Opener::InPrompt };
const THINK_AND_LINES: Reasoning = Reasoning { after: "\n\n", ..THINK };
const WRITTEN_THINK: Reasoning = Reasoning { opener: Opener::Written, ..THINK };

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

const DSML_CALL: &[Part] =
    &[Text("<｜DSML｜invoke name=\"$NAME\">\n"), Arguments(Style::DeepseekXml), Text("</｜DSML｜invoke>\n")];

const fn blocks(trigger: &'static str) -> Layout {
    Layout::Blocks { trigger }
}

const fn section(open: &'static str, separator: &'static str, close: &'static str) -> Layout {
    Layout::Section { open, separator, close }
}

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        names: &["llama", "llama_3"],
        models: "Llama 3, 3.1, 3.2",
        reasoning: None,
        layout: blocks("{\"name\": "),
        call: &[Text("{\"name\": \"$NAME\", \"parameters\": "), Arguments(Style::Json), Text("}")],
    },
    Family {
        names: &["llama_custom"],
        models: "Llama 3.1 with custom tools",
        reasoning: None,
        layout: blocks("<function="),
        call: &[Text("<function=$NAME>"), Arguments(Style::Json), Text("</function>")],
    },
    Family {
        names: &["qwen_3", "hermes", "qwen_2_5"],
        models: "Qwen2.5, Qwen3, Hermes",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks("<tool_call>"),
        call: HERMES_CALL,
    },
    Family {
        names: &["qwen_3_coder", "qwen_3_5", "step_3_5", "nemotron_3", "granite_4_2"],
        models: "Qwen3-Coder, Qwen3.5, Qwen3.6, Step3.5, Nemotron 3, Granite 4.2",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks("<tool_call>"),
        call: &[
            Text("<tool_call>\n<function=$NAME>\n"),
            Arguments(Style::QwenXml),
            Text("\n</function>\n</tool_call>"),
        ],
    },
    Family {
        names: &["mimo"],
        models: "MiMo-V2.6",
        reasoning: Some(WRITTEN_THINK),
        layout: blocks("<tool_call>"),
        call: &[
            Text("<tool_call><function=$NAME>"),
            Arguments(Style::QwenXml),
            Text("</function></tool_call>"),
        ],
    },
    Family {
        names: &["seed_oss"],
        models: "Seed-OSS",
        reasoning: Some(Reasoning {
            open: "<seed:think>",
            close: "</seed:think>",
            after: "",
            opener: Opener::Written,
        }),
        layout: blocks("<seed:tool_call>"),
        call: &[
            Text("<seed:tool_call>\n<function=$NAME>\n"),
            Arguments(Style::QwenXml),
            Text("\n</function>\n</seed:tool_call>"),
        ],
    },
    Family {
        names: &["deepseek_r1", "deepseek_v3"],
        models: "DeepSeek-R1, DeepSeek-V3",
        reasoning: Some(THINK),
        layout: section("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
        call: &[
            Text("<｜tool▁call▁begin｜>function<｜tool▁sep｜>$NAME\n```json\n"),
            Arguments(Style::Json),
            Text("\n```<｜tool▁call▁end｜>"),
        ],
    },
    Family {
        names: &["deepseek_v3_1"],
        models: "DeepSeek-V3.1, DeepSeek-V3.2-Exp",
        reasoning: Some(THINK),
        layout: section("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
        call: &[
            Text("<｜tool▁call▁begin｜>$NAME<｜tool▁sep｜>"),
            Arguments(Style::Json),
            Text("<｜tool▁call▁end｜>"),
        ],
    },
    Family {
        names: &["deepseek_v3_2"],
        models: "DeepSeek-V3.2",
        reasoning: Some(THINK),
        layout: section("<｜DSML｜function_calls>\n", "", "</｜DSML｜function_calls>"),
        call: DSML_CALL,
    },
    Family {
        names: &["deepseek_v4"],
        models: "DeepSeek-V4",
        reasoning: Some(THINK),
        layout: section("<｜DSML｜tool_calls>\n", "", "</｜DSML｜tool_calls>"),
        call: DSML_CALL,
    },
    Family {
        names: &["deepseek_v4_1"],
        models: "DeepSeek-V4.1",
        reasoning: Some(THINK),
        layout: section("<｜DSML｜ calls>\n", "", "</｜DSML｜ calls>"),
        call: &[
            Text("<｜DSML｜ invoke name=\"$NAME\">\n"),
            Arguments(Style::DeepseekV41Xml),
            Text("</｜DSML｜ invoke>\n"),
        ],
    },
    Family {
        names: &["kimi"],
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
    },
    Family {
        names: &["kimi_k3"],
        models: "Kimi K3",
        reasoning: Some(Reasoning {
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
    },
    Family {
        names: &["glm_4_5"],
        models: "GLM-4.5, GLM-4.6",
        reasoning: Some(WRITTEN_THINK),
        layout: blocks("<tool_call>"),
        call: &[Text("<tool_call>$NAME\n"), Arguments(Style::GlmXml), Text("</tool_call>")],
    },
    Family {
        names: &["glm_4_7", "glm_5", "ling_3"],
        models: "GLM-4.7, GLM-5, Ling 3",
        reasoning: Some(THINK),
        layout: blocks("<tool_call>"),
        call: &[Text("<tool_call>$NAME"), Arguments(Style::GlmXml), Text("</tool_call>")],
    },
    Family {
        names: &["mistral"],
        models: "Mistral up to tokenizer v7, Nemo",
        reasoning: None,
        layout: section("[TOOL_CALLS] [", ", ", "]"),
        call: JSON_CALL,
    },
    Family {
        names: &["mistral_v11"],
        models: "Mistral from tokenizer v11 on",
        reasoning: None,
        layout: blocks("[TOOL_CALLS]"),
        call: &[Text("[TOOL_CALLS]$NAME[ARGS]"), Arguments(Style::Json), Text("")],
    },
    Family {
        names: &["magistral"],
        models: "Mistral from tokenizer v13 on, with reasoning",
        reasoning: Some(Reasoning { open: "[THINK]", close: "[/THINK]", after: "", opener: Opener::Written }),
        layout: blocks("[TOOL_CALLS]"),
        call: &[Text("[TOOL_CALLS]$NAME[ARGS]"), Arguments(Style::Json), Text("")],
    },
    Family {
        names: &["minimax"],
        models: "MiniMax M2, M2.5, M2.7",
        reasoning: Some(THINK),
        layout: section("<minimax:tool_call>\n", "", "</minimax:tool_call>"),
        call: &[Text("<invoke name=\"$NAME\">\n"), Arguments(Style::MinimaxXml), Text("</invoke>\n")],
    },
    Family {
        names: &["minimax_m3"],
        models: "MiniMax M3",
        reasoning: Some(Reasoning {
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
    },
    Family {
        names: &["harmony", "gpt_oss"],
        models: "gpt-oss",
        reasoning: None,
        layout: Layout::Harmony,
        call: &[],
    },
    Family {
        names: &["phi_4_mini"],
        models: "Phi-4-mini",
        reasoning: None,
        layout: section("functools[", ", ", "]"),
        call: JSON_CALL,
    },
    Family {
        names: &["granite_3_0"],
        models: "Granite 3.0",
        reasoning: None,
        layout: section("<|tool_call|> [", ", ", "]"),
        call: JSON_CALL,
    },
    Family {
        names: &["granite_3_1"],
        models: "Granite 3.1",
        reasoning: None,
        layout: section("<tool_call> [", ", ", "]"),
        call: JSON_CALL,
    },
    Family {
        names: &["granite_4"],
        models: "Granite 4",
        reasoning: None,
        layout: blocks("<tool_call>"),
        call: TIGHT_CALL,
    },
    Family {
        names: &["granite_20b"],
        models: "Granite 20B FunctionCalling",
        reasoning: None,
        layout: blocks("<function_call>"),
        call: &[
            Text("<function_call> {\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}"),
        ],
    },
    Family {
        names: &["cohere_command_a"],
        models: "Cohere Command A",
        reasoning: Some(Reasoning {
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
    },
    Family {
        names: &["cohere"],
        models: "Cohere Command with XML arguments",
        reasoning: Some(Reasoning {
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
    },
    Family {
        names: &["exaone"],
        models: "EXAONE 4.0",
        reasoning: Some(THINK_AND_LINES),
        layout: blocks("<tool_call>"),
        call: TIGHT_CALL,
    },
    Family {
        names: &["hunyuan_a13b", "jamba"],
        models: "Hunyuan A13B, Jamba",
        reasoning: None,
        layout: section("<tool_calls>[", ", ", "]</tool_calls>"),
        call: JSON_CALL,
    },
    Family {
        names: &["hunyuan_v3"],
        models: "HY V3",
        reasoning: Some(WRITTEN_THINK),
        layout: section("<tool_calls>\n", "\n", "\n</tool_calls>"),
        call: &[Text("<tool_call>$NAME<tool_sep>\n"), Arguments(Style::GlmXml), Text("</tool_call>")],
    },
    Family {
        names: &["hunyuan_v4"],
        models: "HY V4",
        reasoning: Some(WRITTEN_THINK),
        layout: section("<tool_calls>", "", "</tool_calls>"),
        call: &[Text("<tool_call>$NAME"), Arguments(Style::GlmXml), Text("</tool_call>")],
    },
    Family {
        names: &["internlm_2", "intern_s1"],
        models: "InternLM2, Intern-S1",
        reasoning: None,
        layout: blocks("<|action_start|><|plugin|>"),
        call: &[
            Text("<|action_start|><|plugin|>\n{\"name\": \"$NAME\", \"parameters\": "),
            Arguments(Style::Json),
            Text("}<|action_end|>"),
        ],
    },
    Family {
        names: &["step_3"],
        models: "Step3",
        reasoning: Some(WRITTEN_THINK),
        layout: section("<｜tool_calls_begin｜>", "", "<｜tool_calls_end｜>"),
        call: &[
            Text("<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"$NAME\">"),
            Arguments(Style::Step3Xml),
            Text("</steptml:invoke><｜tool_call_end｜>"),
        ],
    },
    Family {
        names: &["ernie_4_5"],
        models: "ERNIE 4.5",
        reasoning: Some(THINK),
        layout: blocks("<tool_call>"),
        call: HERMES_CALL,
    },
    Family {
        names: &["apertus"],
        models: "Apertus",
        reasoning: None,
        layout: section("<|tools_prefix|>[", ", ", "]<|tools_suffix|>"),
        call: &[Text("{\"$NAME\": "), Arguments(Style::Json), Text("}")],
    },
    Family {
        names: &["longcat"],
        models: "LongCat",
        reasoning: None,
        layout: blocks("<longcat_tool_call>"),
        call: &[
            Text("<longcat_tool_call>\n{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}\n</longcat_tool_call>"),
        ],
    },
];
