//! The tool formats of model families. A new family is a new entry here, and a line in the tests.

use super::family::Part::{self, Arguments, OneOf, Pattern, Text};
use super::family::{Family, Layout, ReasoningMarks, ToolNames};
use super::llama;
use crate::structural_tag::format::{MemberOrder, Style};

/// The number of a call.
const NUMBER: Part = Pattern("[0-9]+");

/// The name that Mistral's models give to a call.
const CALL_NAME: Part = Pattern("[a-zA-Z0-9]{9}");

/// A line break, or none.
const LINE: Part = OneOf(&[&[Text("\n")], &[]]);

const THINK: ReasoningMarks =
    ReasoningMarks { open: "<think>", close: "</think>", begins: &[""], after: &[""], skipped: &[] };
const THINK_AND_LINES: ReasoningMarks = ReasoningMarks { after: &["\n\n"], ..THINK };
const WRITTEN_THINK: ReasoningMarks = ReasoningMarks { begins: &["<think>"], ..THINK };

/// For families in which some prompts end with the mark and others do not.
const EITHER_THINK: ReasoningMarks = ReasoningMarks { begins: &["", "<think>"], ..THINK };

const COHERE_THINK: ReasoningMarks = ReasoningMarks {
    open: "<|START_THINKING|>",
    close: "<|END_THINKING|>",
    begins: &["", "<|START_THINKING|>"],
    ..THINK
};

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

const MISTRAL_CALL: &[Part] = &[
    Text("[TOOL_CALLS]$NAME"),
    OneOf(&[&[Text("[ARGS]")], &[], &[Text("[CALL_ID]"), CALL_NAME, Text("[ARGS]")]]),
    Arguments(Style::Json),
    Text(""),
];

const QWEN_CODER_CALL: &[Part] = &[
    Text("<tool_call>\n<function=$NAME>\n"),
    Arguments(Style::QwenXml),
    LINE,
    Text("</function>\n</tool_call>"),
];

const DSML_CALL: &[Part] =
    &[Text("<｜DSML｜invoke name=\"$NAME\">\n"), Arguments(Style::DeepseekXml), Text("</｜DSML｜invoke>\n")];

/// Calls in Python's syntax.
const PYTHON_CALL: &[Part] = &[Text("$NAME"), Arguments(Style::Pythonic), Text("")];

const GLM_MARKS: &[&str] = &["</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"];

const COHERE_ANSWERS: &[(&str, &str)] =
    &[("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>")];

/// The properties of most families.
const FAMILY: Family = Family {
    keys: &[],
    models: "",
    reasoning: None,
    triggers: &[],
    layout: Layout::Blocks,
    calls: &[],
    leads: &[],
    excluded: &[],
    unwritten: &[],
    answer: &[],
    names: ToolNames::Any,
    order: MemberOrder::Declared,
};

const HERMES: Family = Family { triggers: &["<tool_call>"], calls: &[HERMES_CALL, TIGHT_CALL], ..FAMILY };

const QWEN_CODER: Family = Family {
    reasoning: Some(THINK_AND_LINES),
    triggers: &["<tool_call>"],
    calls: &[QWEN_CODER_CALL],
    ..FAMILY
};

const MISTRAL: Family = Family { triggers: &["[TOOL_CALLS]"], calls: &[MISTRAL_CALL], ..FAMILY };

const FUNCTOOLS: Family = Family {
    triggers: &["functools["],
    layout: Layout::Section { rows: &[(&["functools["], ", ", "]")] },
    calls: &[JSON_CALL],
    ..FAMILY
};

const TOOL_CALLS: Family = Family {
    triggers: &["<tool_calls>"],
    layout: Layout::Section { rows: &[(&["<tool_calls>["], ", ", "]</tool_calls>")] },
    calls: &[JSON_CALL],
    ..FAMILY
};

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        keys: &["llama", "llama_3"],
        models: "Llama 3, 3.1, 3.2, 3.3",
        triggers: llama::TRIGGERS,
        calls: llama::CALLS,
        leads: &["<|python_tag|>"],
        unwritten: &["<think>", "</think>"],
        answer: &[("<|python_tag|>", "")],
        ..FAMILY
    },
    Family {
        keys: &["llama_custom", "functionary_3_1"],
        models: "Llama 3.1 with custom tools, Functionary 3.1",
        triggers: &["<function="],
        calls: &[&[Text("<function=$NAME>"), Arguments(Style::Json), Text("</function>")]],
        ..FAMILY
    },
    Family {
        keys: &["qwen_3", "qwen_2_5"],
        models: "Qwen2.5, Qwen3, QwQ",
        reasoning: Some(ReasoningMarks { after: &["\n\n"], ..EITHER_THINK }),
        triggers: &["<tool_call>"],
        calls: &[HERMES_CALL],
        ..FAMILY
    },
    Family {
        keys: &["hermes"],
        models: "Hermes 2 Pro, Hermes 3, MiMo-VL",
        reasoning: Some(ReasoningMarks { after: &["\n\n"], ..EITHER_THINK }),
        ..HERMES
    },
    Family {
        keys: &["bielik_3", "reka_edge"],
        models: "Bielik 3, Reka Edge",
        reasoning: Some(ReasoningMarks { after: &["\n\n", "\n"], ..EITHER_THINK }),
        leads: &["\n", " "],
        ..HERMES
    },
    Family {
        keys: &["qwen_3_coder", "qwen_3_5", "granite_4_2"],
        models: "Qwen3-Coder, Qwen3.5, Qwen3.6, Granite 4.2",
        ..QWEN_CODER
    },
    Family {
        keys: &["nemotron_3", "step_3_5"],
        models: "Nemotron 3, Step3.5",
        reasoning: Some(ReasoningMarks { after: &["\n", ""], ..THINK }),
        leads: &["\n"],
        ..QWEN_CODER
    },
    Family {
        keys: &["nemotron_nano_2"],
        models: "Nemotron Nano 2",
        reasoning: Some(THINK),
        triggers: &["<TOOLCALL>"],
        layout: Layout::Section { rows: &[(&["<TOOLCALL>["], ", ", "]</TOOLCALL>")] },
        calls: &[JSON_CALL],
        leads: &["\n", "\n\n"],
        ..FAMILY
    },
    Family {
        keys: &["mimo"],
        models: "MiMo-V2.6",
        reasoning: Some(WRITTEN_THINK),
        triggers: &["<tool_call>"],
        calls: &[&[
            Text("<tool_call><function=$NAME>"),
            Arguments(Style::QwenXml),
            Text("</function></tool_call>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["seed_oss"],
        models: "Seed-OSS",
        reasoning: Some(ReasoningMarks {
            open: "<seed:think>",
            close: "</seed:think>",
            begins: &["<seed:think>"],
            after: &["\n", ""],
            skipped: &[],
        }),
        triggers: &["<seed:tool_call>"],
        calls: &[&[
            Text("<seed:tool_call>\n<function=$NAME>\n"),
            Arguments(Style::SeedXml),
            LINE,
            Text("</function>\n</seed:tool_call>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_r1", "deepseek_v3"],
        models: "DeepSeek-R1, DeepSeek-V3",
        reasoning: Some(EITHER_THINK),
        triggers: &["<｜tool▁calls▁begin｜>"],
        layout: Layout::Section {
            rows: &[(&["<｜tool▁calls▁begin｜>"], "\n", "<｜tool▁calls▁end｜>")]
        },
        calls: &[&[
            Text("<｜tool▁call▁begin｜>function<｜tool▁sep｜>$NAME\n```json\n"),
            Arguments(Style::Json),
            Text("\n```<｜tool▁call▁end｜>"),
        ]],
        excluded: &["<｜tool▁call▁begin｜>"],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v3_1"],
        models: "DeepSeek-V3.1, DeepSeek-V3.2-Exp",
        reasoning: Some(THINK),
        triggers: &["<｜tool▁calls▁begin｜>"],
        layout: Layout::Section {
            rows: &[(&["<｜tool▁calls▁begin｜>"], "", "<｜tool▁calls▁end｜>")]
        },
        calls: &[&[
            Text("<｜tool▁call▁begin｜>$NAME<｜tool▁sep｜>"),
            Arguments(Style::Json),
            Text("<｜tool▁call▁end｜>"),
        ]],
        excluded: &["<｜tool▁call▁begin｜>"],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v3_2"],
        models: "DeepSeek-V3.2",
        reasoning: Some(THINK),
        triggers: &["<｜DSML｜function_calls>"],
        layout: Layout::Section {
            rows: &[(&["<｜DSML｜function_calls>\n"], "", "</｜DSML｜function_calls>")],
        },
        calls: &[DSML_CALL],
        leads: &["\n\n"],
        excluded: &["<｜DSML｜invoke"],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v4"],
        models: "DeepSeek-V4",
        reasoning: Some(THINK),
        triggers: &["<｜DSML｜tool_calls>"],
        layout: Layout::Section { rows: &[(&["<｜DSML｜tool_calls>\n"], "", "</｜DSML｜tool_calls>")] },
        calls: &[DSML_CALL],
        leads: &["\n\n"],
        excluded: &["<｜DSML｜invoke"],
        ..FAMILY
    },
    Family {
        keys: &["deepseek_v4_1"],
        models: "DeepSeek-V4.1",
        reasoning: Some(THINK),
        triggers: &["<｜DSML｜ calls>"],
        layout: Layout::Section { rows: &[(&["<｜DSML｜ calls>\n"], "", "</｜DSML｜ calls>")] },
        calls: &[&[
            Text("<｜DSML｜ invoke name=\"$NAME\">\n"),
            Arguments(Style::DeepseekV41Xml),
            Text("</｜DSML｜ invoke>\n"),
        ]],
        leads: &["\n\n"],
        excluded: &["<｜DSML｜ invoke"],
        ..FAMILY
    },
    Family {
        keys: &["kimi"],
        models: "Kimi K2, Kimi K2.5",
        reasoning: Some(EITHER_THINK),
        triggers: &["<|tool_calls_section_begin|>"],
        layout: Layout::Section {
            rows: &[(&["<|tool_calls_section_begin|>"], "", "<|tool_calls_section_end|>")],
        },
        calls: &[&[
            Text("<|tool_call_begin|>functions.$NAME:"),
            NUMBER,
            Text("<|tool_call_argument_begin|>"),
            Arguments(Style::Json),
            Text("<|tool_call_end|>"),
        ]],
        excluded: &["<|tool_call_begin|>"],
        ..FAMILY
    },
    Family {
        keys: &["kimi_k3"],
        models: "Kimi K3",
        reasoning: Some(ReasoningMarks {
            open: "<|open|>think<|sep|>",
            close: "<|close|>think<|sep|>",
            ..THINK
        }),
        layout: Layout::Message {
            response: ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
            joint: "",
            row: (&["<|open|>tools<|sep|>"], "", "<|close|>tools<|sep|>"),
            end: "<|close|>message<|sep|>",
        },
        calls: &[&[
            Text("<|open|>call tool=\"$NAME\" index=\""),
            NUMBER,
            Text("\"<|sep|>"),
            Arguments(Style::KimiK3Xml),
            Text("<|close|>call<|sep|>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["glm_4_5"],
        models: "GLM-4.5, GLM-4.6, Laguna XS.2, XS 2.1",
        reasoning: Some(ReasoningMarks { begins: &["<think>", "\n<think>"], after: &["\n", ""], ..THINK }),
        triggers: &["<tool_call>"],
        calls: &[&[Text("<tool_call>$NAME\n"), Arguments(Style::GlmXml), Text("</tool_call>")]],
        leads: &["\n"],
        excluded: GLM_MARKS,
        ..FAMILY
    },
    Family {
        keys: &["glm_4_7", "glm_5", "ling_3"],
        models: "GLM-4.7, GLM-5, Ling 3, Spark 2.5, Laguna S 2.1",
        reasoning: Some(THINK),
        triggers: &["<tool_call>"],
        calls: &[&[Text("<tool_call>$NAME"), LINE, Arguments(Style::GlmXml), Text("</tool_call>")]],
        excluded: GLM_MARKS,
        ..FAMILY
    },
    Family {
        keys: &["mistral"],
        models: "Mistral up to tokenizer v7, Nemo",
        triggers: &["[TOOL_CALLS]"],
        layout: Layout::Section { rows: &[(&["[TOOL_CALLS] [", "[TOOL_CALLS]["], ", ", "]")] },
        calls: &[&[
            Text("{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            OneOf(&[&[], &[Text(", \"id\": \""), CALL_NAME, Text("\"")]]),
            Text("}"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["mistral_v11"],
        models: "Mistral from tokenizer v11 on, Mistral Small 3.2, Devstral",
        ..MISTRAL
    },
    Family {
        keys: &["magistral"],
        models: "Mistral from tokenizer v13 on, with reasoning; Ministral 3",
        reasoning: Some(ReasoningMarks { open: "[THINK]", close: "[/THINK]", begins: &["[THINK]"], ..THINK }),
        ..MISTRAL
    },
    Family {
        keys: &["magistral_v11"],
        models: "Mistral with tokenizer v11, with reasoning",
        reasoning: Some(WRITTEN_THINK),
        ..MISTRAL
    },
    Family {
        keys: &["minimax"],
        models: "MiniMax M2, M2.5, M2.7",
        reasoning: Some(ReasoningMarks { after: &["\n\n", ""], skipped: &["\n</think>\n\n"], ..THINK }),
        triggers: &["<minimax:tool_call>"],
        layout: Layout::Section { rows: &[(&["<minimax:tool_call>\n"], "", "</minimax:tool_call>")] },
        calls: &[&[Text("<invoke name=\"$NAME\">\n"), Arguments(Style::MinimaxXml), Text("</invoke>\n")]],
        leads: &["\n", "\n\n", "\n\n\n"],
        ..FAMILY
    },
    Family {
        keys: &["minimax_m1"],
        models: "MiniMax M1",
        triggers: &["<tool_calls>"],
        layout: Layout::Section { rows: &[(&["<tool_calls>\n"], "\n", "\n</tool_calls>")] },
        calls: &[JSON_CALL],
        ..FAMILY
    },
    Family {
        keys: &["minimax_m3"],
        models: "MiniMax M3",
        reasoning: Some(ReasoningMarks {
            open: "<mm:think>",
            close: "</mm:think>",
            begins: &["", "<mm:think>"],
            skipped: &["</mm:think>"],
            ..THINK
        }),
        triggers: &["]<]minimax[>[<tool_call>"],
        layout: Layout::Section {
            rows: &[(&["]<]minimax[>[<tool_call>\n"], "", "]<]minimax[>[</tool_call>")],
        },
        calls: &[&[
            Text("]<]minimax[>[<invoke name=\"$NAME\">"),
            Arguments(Style::MinimaxM3Xml),
            Text("]<]minimax[>[</invoke>\n"),
        ]],
        excluded: &["]<]minimax[>[</tool_call>", "]<]minimax[>[<invoke", "]<]minimax[>[</invoke>"],
        ..FAMILY
    },
    Family { keys: &["harmony", "gpt_oss"], models: "gpt-oss", layout: Layout::Harmony, ..FAMILY },
    Family { keys: &["phi_4_mini"], models: "Phi-4-mini", ..FUNCTOOLS },
    Family { keys: &["firefunction_2"], models: "FireFunction 2", leads: &[" "], ..FUNCTOOLS },
    Family {
        keys: &["granite_3_0"],
        models: "Granite 3.0",
        triggers: &["<|tool_call|>"],
        layout: Layout::Section { rows: &[(&["<|tool_call|> ["], ", ", "]")] },
        calls: &[JSON_CALL],
        ..FAMILY
    },
    Family {
        keys: &["granite_3_1"],
        models: "Granite 3.1",
        triggers: &["<tool_call>"],
        layout: Layout::Section { rows: &[(&["<tool_call> ["], ", ", "]")] },
        calls: &[JSON_CALL],
        ..FAMILY
    },
    Family { keys: &["granite_4", "granite_4_1"], models: "Granite 4.0, 4.1", ..HERMES },
    Family {
        keys: &["granite_20b"],
        models: "Granite 20B FunctionCalling",
        triggers: &["<function_call>"],
        calls: &[&[
            Text("<function_call> {\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["cohere_command_a", "cohere_command_r7b"],
        models: "Cohere Command A, Command R7B",
        reasoning: Some(COHERE_THINK),
        triggers: &["<|START_ACTION|>"],
        layout: Layout::Section {
            rows: &[
                (&["<|START_ACTION|>["], ", ", "]<|END_ACTION|>"),
                (&["<|START_ACTION|>[\n    "], ",\n    ", "\n]<|END_ACTION|>"),
            ],
        },
        calls: &[&[
            Text("{\"tool_call_id\": \""),
            NUMBER,
            Text("\", \"tool_name\": \"$NAME\", \"parameters\": "),
            Arguments(Style::Json),
            Text("}"),
        ]],
        answer: COHERE_ANSWERS,
        ..FAMILY
    },
    Family {
        keys: &["cohere"],
        models: "Cohere Command with XML arguments",
        reasoning: Some(ReasoningMarks { begins: &[""], ..COHERE_THINK }),
        triggers: &["<cofl:tool_calls>"],
        layout: Layout::Section { rows: &[(&["<cofl:tool_calls>"], "", "</cofl:tool_calls>")] },
        calls: &[&[
            Text("<cofl:tool_call id=\""),
            NUMBER,
            Text("\" name=\"$NAME\">"),
            Arguments(Style::CohereXml),
            Text("</cofl:tool_call>"),
        ]],
        answer: COHERE_ANSWERS,
        ..FAMILY
    },
    Family {
        keys: &["exaone"],
        models: "EXAONE 4.0",
        reasoning: Some(THINK_AND_LINES),
        triggers: &["<tool_call>"],
        calls: &[TIGHT_CALL],
        ..FAMILY
    },
    Family { keys: &["hunyuan_a13b", "jamba"], models: "Hunyuan A13B, Jamba", ..TOOL_CALLS },
    Family { keys: &["apriel"], models: "Apriel 1.5, 1.6", leads: &["\n"], ..TOOL_CALLS },
    Family {
        keys: &["hunyuan_v3"],
        models: "HY V3",
        reasoning: Some(WRITTEN_THINK),
        triggers: &["<tool_calls>"],
        layout: Layout::Section { rows: &[(&["<tool_calls>\n"], "\n", "\n</tool_calls>")] },
        calls: &[&[Text("<tool_call>$NAME<tool_sep>\n"), Arguments(Style::GlmXml), Text("</tool_call>")]],
        excluded: &["<tool_call>"],
        ..FAMILY
    },
    Family {
        keys: &["hy_3", "hunyuan_v3_opensource"],
        models: "HY V3 as published, with a suffix of its marks",
        reasoning: Some(ReasoningMarks {
            open: "<think:opensource>",
            close: "</think:opensource>",
            begins: &["", "<think:opensource>"],
            ..THINK
        }),
        triggers: &["<tool_calls:opensource>"],
        layout: Layout::Section {
            rows: &[(&["<tool_calls:opensource>\n"], "\n", "\n</tool_calls:opensource>")],
        },
        calls: &[&[
            Text("<tool_call:opensource>$NAME<tool_sep:opensource>\n"),
            Arguments(Style::Hy3Xml),
            Text("</tool_call:opensource>"),
        ]],
        excluded: &["<tool_call:opensource>"],
        ..FAMILY
    },
    Family {
        keys: &["hunyuan_v4"],
        models: "HY V4",
        reasoning: Some(WRITTEN_THINK),
        triggers: &["<tool_calls>"],
        layout: Layout::Section { rows: &[(&["<tool_calls>"], "", "</tool_calls>")] },
        calls: &[&[Text("<tool_call>$NAME"), Arguments(Style::GlmXml), Text("</tool_call>")]],
        excluded: &["<tool_call>"],
        ..FAMILY
    },
    Family {
        keys: &["internlm_2", "intern_s1"],
        models: "InternLM2, Intern-S1",
        triggers: &["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"],
        calls: &[
            &[
                Text("<|action_start|><|plugin|>\n{\"name\": \"$NAME\", \"parameters\": "),
                Arguments(Style::Json),
                Text("}<|action_end|>"),
            ],
            &[
                Text("<|action_start|> <|plugin|>\n{\"name\": \"$NAME\", \"parameters\": "),
                Arguments(Style::Json),
                Text("}<|action_end|>"),
            ],
        ],
        ..FAMILY
    },
    Family {
        keys: &["step_3"],
        models: "Step3",
        reasoning: Some(WRITTEN_THINK),
        triggers: &["<｜tool_calls_begin｜>"],
        layout: Layout::Section { rows: &[(&["<｜tool_calls_begin｜>"], "", "<｜tool_calls_end｜>")] },
        calls: &[&[
            Text("<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"$NAME\">"),
            Arguments(Style::Step3Xml),
            Text("</steptml:invoke><｜tool_call_end｜>"),
        ]],
        excluded: &["<｜tool_call_begin｜>"],
        ..FAMILY
    },
    Family {
        keys: &["ernie_4_5"],
        models: "ERNIE 4.5",
        reasoning: Some(THINK),
        triggers: &["<tool_call>"],
        calls: &[HERMES_CALL],
        answer: &[("<response>", "</response>")],
        ..FAMILY
    },
    Family {
        keys: &["apertus"],
        models: "Apertus",
        triggers: &["<|tools_prefix|>"],
        layout: Layout::Section { rows: &[(&["<|tools_prefix|>["], ", ", "]<|tools_suffix|>")] },
        calls: &[&[Text("{\"$NAME\": "), Arguments(Style::Json), Text("}")]],
        ..FAMILY
    },
    Family {
        keys: &["longcat"],
        models: "LongCat",
        triggers: &["<longcat_tool_call>"],
        calls: &[&[
            Text("<longcat_tool_call>\n{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}\n</longcat_tool_call>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["llama_4", "pythonic"],
        models: "Llama 4 and others with calls in Python's syntax",
        layout: Layout::Whole {
            rows: &[(&["["], ", ", "]"), (&["<|python_start|>["], ", ", "]<|python_end|>")],
            opener: r"\s*(<\|python_start\|>)?\s*\[\s*[A-Za-z_][\w.]*\(",
        },
        calls: &[PYTHON_CALL],
        names: ToolNames::Dotted,
        ..FAMILY
    },
    Family {
        keys: &["olmo_3"],
        models: "OLMo 3",
        reasoning: Some(WRITTEN_THINK),
        layout: Layout::Whole { rows: &[(&[""], "\n", "")], opener: r"\s*[A-Za-z_][\w.]*\(" },
        calls: &[&[Text("$NAME"), Arguments(Style::Olmo3), Text("")]],
        names: ToolNames::Dotted,
        ..FAMILY
    },
    Family {
        keys: &["lfm_2"],
        models: "LFM2, LFM2.5",
        reasoning: Some(EITHER_THINK),
        triggers: &["<|tool_call_start|>"],
        layout: Layout::Section { rows: &[(&["<|tool_call_start|>["], ", ", "]<|tool_call_end|>")] },
        // Templates write objects in JSON and everything else as Python does.
        calls: &[&[Text("$NAME"), Arguments(Style::Olmo3), Text("")]],
        names: ToolNames::Dotted,
        ..FAMILY
    },
    Family {
        keys: &["gemma_3", "functiongemma"],
        models: "FunctionGemma",
        triggers: &["<start_function_call>"],
        calls: &[&[
            Text("<start_function_call>call:$NAME"),
            Arguments(Style::Gemma3),
            Text("<end_function_call>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["gemma_4"],
        models: "Gemma 4",
        reasoning: Some(ReasoningMarks {
            open: "<|channel>thought\n",
            close: "<channel|>",
            begins: &["<|channel>thought\n"],
            ..THINK
        }),
        triggers: &["<|tool_call>"],
        calls: &[&[Text("<|tool_call>call:$NAME"), Arguments(Style::Gemma4), Text("<tool_call|>")]],
        // Templates sort members by their names.
        order: MemberOrder::Any,
        ..FAMILY
    },
    Family {
        keys: &["xlam"],
        models: "xLAM",
        layout: Layout::Whole {
            rows: &[(&["["], ", ", "]"), (&["```json\n["], ", ", "]\n```")],
            opener: r"\s*(```json\s*)?\[\s*\{",
        },
        calls: &[JSON_CALL],
        ..FAMILY
    },
    Family {
        keys: &["inkling"],
        models: "Inkling",
        triggers: &["<|message_model|>"],
        calls: &[&[
            Text("<|message_model|>$NAME<|content_invoke_tool_json|>{\"name\":\"$NAME\",\"args\":"),
            Arguments(Style::Json),
            Text("}<|end_message|>"),
        ]],
        ..FAMILY
    },
    Family {
        keys: &["k2_horizon"],
        models: "K2 Horizon",
        reasoning: Some(ReasoningMarks {
            open: "<ifm|think>",
            close: "</ifm|think>",
            begins: &["<ifm|think>"],
            ..THINK
        }),
        triggers: &["<ifm|tool_calls>"],
        layout: Layout::Section { rows: &[(&["<ifm|tool_calls>\n"], "\n", "\n</ifm|tool_calls>")] },
        calls: &[&[
            Text("<ifm|tool_call>{\"name\": \"$NAME\", \"arguments\": "),
            Arguments(Style::Json),
            Text("}</ifm|tool_call>"),
        ]],
        excluded: &["<ifm|tool_call>"],
        ..FAMILY
    },
    Family {
        keys: &["muse"],
        models: "Muse",
        // Messages to oneself, to the user and to tools.
        reasoning: Some(ReasoningMarks {
            open: " to=self<|message|>",
            close: "<|eom|><|start|>assistant",
            begins: &[" to=self<|message|>"],
            ..THINK
        }),
        layout: Layout::Message {
            response: (" to=user<|message|>", ""),
            joint: "<|eom|><|start|>assistant",
            row: (&[""], "<|eom|><|start|>assistant", ""),
            end: "",
        },
        calls: &[&[
            Text(" to=$NAME<|message|><atem:function_calls>\n<atem:invoke name=\"$NAME\">\n"),
            Arguments(Style::AtemXml),
            Text("</atem:invoke>\n</atem:function_calls>"),
        ]],
        excluded: &["<|message|>", "<atem:function_calls>"],
        ..FAMILY
    },
    Family {
        keys: &["gigachat_3"],
        models: "GigaChat 3, 3.1",
        triggers: &["<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>"],
        calls: &[
            &[
                Text("<|function_call|>{\"name\": \"$NAME\", \"arguments\": "),
                Arguments(Style::Json),
                Text("}"),
            ],
            &[
                Text("<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"$NAME\", \"arguments\": "),
                Arguments(Style::Json),
                Text("}"),
            ],
        ],
        ..FAMILY
    },
    Family {
        keys: &["solar_open"],
        models: "Solar Open",
        reasoning: Some(ReasoningMarks {
            open: "<|think|>",
            close: "<|end|><|begin|>assistant",
            begins: &["<|think|>"],
            ..THINK
        }),
        layout: Layout::Message {
            response: ("<|content|>", ""),
            joint: "<|end|><|begin|>assistant",
            row: (&["<|tool_calls|>"], "", "<|calls|>"),
            end: "",
        },
        calls: &[&[
            Text("<|tool_call:begin|>"),
            Pattern("[a-z0-9]{10}"),
            Text("<|tool_call:name|>$NAME<|tool_call:args|>"),
            Arguments(Style::Json),
            Text("<|tool_call:end|>"),
        ]],
        excluded: &["<|tool_call:begin|>"],
        ..FAMILY
    },
    Family {
        keys: &["minicpm_5"],
        models: "MiniCPM5",
        reasoning: Some(ReasoningMarks { after: &["\n\n"], ..EITHER_THINK }),
        triggers: &["<function name=\""],
        calls: &[&[Text("<function name=\"$NAME\">"), Arguments(Style::MinicpmXml), Text("</function>")]],
        ..FAMILY
    },
    Family {
        keys: &["functionary_3_2"],
        models: "Functionary 3.2",
        // Prompts end with the mark before the first recipient.
        layout: Layout::Message { response: ("all\n", ""), joint: ">>>", row: (&[""], ">>>", ""), end: "" },
        calls: &[&[Text("$NAME\n"), Arguments(Style::Json), Text("")]],
        ..FAMILY
    },
    Family {
        keys: &["cohere_command_r_plus"],
        models: "Cohere Command R, Command R+",
        triggers: &["Action:\n```json\n["],
        layout: Layout::Section { rows: &[(&["Action:\n```json\n[\n    {\n"], ",\n    {\n", "\n]```")] },
        calls: &[&[
            Text("        \"tool_name\": \"$NAME\",\n        \"parameters\": "),
            Arguments(Style::Json),
            Text("\n    }"),
        ]],
        leads: &["\n"],
        ..FAMILY
    },
];
