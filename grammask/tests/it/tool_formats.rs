//! Tool formats: for every family what its answers look like, for every `tool_choice`, with and without reasoning
//! and parallel calls. The calls are written out here from the formats' descriptions.

use std::collections::HashSet;
use std::sync::LazyLock;

use grammask::tool_formats::{ParallelCalls, Reasoning};
use grammask::{
    CompiledGrammar, Compiler, StructuralTag, StructuralTagOptions, ToolFormat, ToolRequest, Vocabulary,
    VocabularyOptions,
};
use serde_json::{Value, json};

/// A compiler whose tokens are single bytes. Marks of the families are text to it: it has no special token of such a
/// name, which would take their place.
fn compiler() -> &'static Compiler {
    static COMPILER: LazyLock<Compiler> = LazyLock::new(|| {
        let bytes = (0..=255_u8).map(|byte| Some(vec![byte])).chain([None]);
        let options = VocabularyOptions::default().stop_ids([256]);
        Compiler::new(Vocabulary::from_tokens(bytes, &options).unwrap())
    });
    &COMPILER
}

/// How one family writes a call of `weather` with the city Paris and 3 days, and one of `now` without arguments.
pub(crate) struct Case {
    pub(crate) family: &'static str,
    pub(crate) weather: &'static str,
    pub(crate) now: &'static str,
    /// Around a row of calls, and between them.
    pub(crate) section: (&'static str, &'static str, &'static str),
    /// Reasoning, from the end of the prompt to the answer; the opening mark where the prompt has it.
    pub(crate) thoughts: Option<(&'static str, &'static str)>,
}

const NO_SECTION: (&str, &str, &str) = ("", "\n", "");
const THINK: Option<(&str, &str)> = Some(("Hm.</think>", "<think>"));
const THINK_LINES: Option<(&str, &str)> = Some(("Hm.</think>\n\n", "<think>"));
const WRITTEN: Option<(&str, &str)> = Some(("<think>Hm.</think>", ""));

pub(crate) const CASES: &[Case] = &[
    Case {
        family: "llama",
        weather: r#"{"name": "weather", "parameters": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "parameters": {}}"#,
        section: NO_SECTION,
        thoughts: None,
    },
    Case {
        family: "llama_custom",
        weather: r#"<function=weather>{"city": "Paris", "days": 3}</function>"#,
        now: "<function=now>{}</function>",
        section: NO_SECTION,
        thoughts: None,
    },
    Case {
        family: "qwen_3",
        weather: "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>",
        now: "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
        section: NO_SECTION,
        thoughts: THINK_LINES,
    },
    Case {
        family: "qwen_3_coder",
        weather: "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        now: "<tool_call>\n<function=now>\n\n</function>\n</tool_call>",
        section: NO_SECTION,
        thoughts: THINK_LINES,
    },
    Case {
        family: "mimo",
        weather: "<tool_call><function=weather><parameter=city>Paris</parameter><parameter=days>3</parameter></function></tool_call>",
        now: "<tool_call><function=now></function></tool_call>",
        section: NO_SECTION,
        thoughts: WRITTEN,
    },
    Case {
        family: "seed_oss",
        weather: "<seed:tool_call>\n<function=weather>\n<parameter=city>Paris</parameter>\n<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
        now: "<seed:tool_call>\n<function=now>\n\n</function>\n</seed:tool_call>",
        section: NO_SECTION,
        thoughts: Some(("<seed:think>Hm.</seed:think>", "")),
    },
    Case {
        family: "deepseek_r1",
        weather: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": \"Paris\", \"days\": 3}\n```<｜tool▁call▁end｜>",
        now: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜>",
        section: ("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
        thoughts: THINK,
    },
    Case {
        family: "deepseek_v3_1",
        weather: "<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"Paris\", \"days\": 3}<｜tool▁call▁end｜>",
        now: "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        section: ("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
        thoughts: THINK,
    },
    Case {
        family: "deepseek_v3_2",
        weather: "<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n",
        now: "<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n",
        section: ("<｜DSML｜function_calls>\n", "", "</｜DSML｜function_calls>"),
        thoughts: THINK,
    },
    Case {
        family: "deepseek_v4",
        weather: "<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n",
        now: "<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n",
        section: ("<｜DSML｜tool_calls>\n", "", "</｜DSML｜tool_calls>"),
        thoughts: THINK,
    },
    Case {
        family: "deepseek_v4_1",
        weather: "<｜DSML｜ invoke name=\"weather\">\n<｜DSML｜ parameter name=\"city\" string=\"true\">Paris</｜DSML｜ parameter>\n<｜DSML｜ parameter name=\"days\" string=\"false\">3</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n",
        now: "<｜DSML｜ invoke name=\"now\">\n</｜DSML｜ invoke>\n",
        section: ("<｜DSML｜ calls>\n", "", "</｜DSML｜ calls>"),
        thoughts: THINK,
    },
    Case {
        family: "kimi",
        weather: "<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{\"city\": \"Paris\", \"days\": 3}<|tool_call_end|>",
        now: "<|tool_call_begin|>functions.now:12<|tool_call_argument_begin|>{}<|tool_call_end|>",
        section: ("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
        thoughts: THINK,
    },
    Case {
        family: "glm_4_5",
        weather: "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        now: "<tool_call>now\n</tool_call>",
        section: NO_SECTION,
        thoughts: WRITTEN,
    },
    Case {
        family: "glm_4_7",
        weather: "<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
        now: "<tool_call>now</tool_call>",
        section: NO_SECTION,
        thoughts: THINK,
    },
    Case {
        family: "mistral",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("[TOOL_CALLS] [", ", ", "]"),
        thoughts: None,
    },
    Case {
        family: "mistral_v11",
        weather: r#"[TOOL_CALLS]weather[ARGS]{"city": "Paris", "days": 3}"#,
        now: "[TOOL_CALLS]now[ARGS]{}",
        section: ("", "", ""),
        thoughts: None,
    },
    Case {
        family: "magistral",
        weather: r#"[TOOL_CALLS]weather[ARGS]{"city": "Paris", "days": 3}"#,
        now: "[TOOL_CALLS]now[ARGS]{}",
        section: ("", "", ""),
        thoughts: Some(("[THINK]Hm.[/THINK]", "")),
    },
    Case {
        family: "minimax",
        weather: "<invoke name=\"weather\">\n<parameter name=\"city\">Paris</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>\n",
        now: "<invoke name=\"now\">\n</invoke>\n",
        section: ("<minimax:tool_call>\n", "", "</minimax:tool_call>"),
        thoughts: THINK,
    },
    Case {
        family: "minimax_m3",
        weather: "]<]minimax[>[<invoke name=\"weather\">]<]minimax[>[<city>Paris]<]minimax[>[</city>]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n",
        now: "]<]minimax[>[<invoke name=\"now\">]<]minimax[>[</invoke>\n",
        section: ("]<]minimax[>[<tool_call>\n", "", "]<]minimax[>[</tool_call>"),
        thoughts: Some(("<mm:think>Hm.</mm:think>", "")),
    },
    Case {
        family: "phi_4_mini",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("functools[", ", ", "]"),
        thoughts: None,
    },
    Case {
        family: "granite_3_0",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<|tool_call|> [", ", ", "]"),
        thoughts: None,
    },
    Case {
        family: "granite_3_1",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<tool_call> [", ", ", "]"),
        thoughts: None,
    },
    Case {
        family: "granite_4",
        weather: r#"<tool_call>{"name": "weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>"#,
        now: r#"<tool_call>{"name": "now", "arguments": {}}</tool_call>"#,
        section: NO_SECTION,
        thoughts: None,
    },
    Case {
        family: "granite_20b",
        weather: r#"<function_call> {"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"<function_call> {"name": "now", "arguments": {}}"#,
        section: NO_SECTION,
        thoughts: None,
    },
    Case {
        family: "cohere_command_a",
        weather: r#"{"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Paris", "days": 3}}"#,
        now: r#"{"tool_call_id": "1", "tool_name": "now", "parameters": {}}"#,
        section: ("<|START_ACTION|>[", ", ", "]<|END_ACTION|>"),
        thoughts: Some(("<|START_THINKING|>Hm.<|END_THINKING|>", "")),
    },
    Case {
        family: "cohere",
        weather: "<cofl:tool_call id=\"0\" name=\"weather\"><cofl:value name=\"city\" type=\"raw\">Paris</cofl:value><cofl:value name=\"days\" type=\"json\">3</cofl:value></cofl:tool_call>",
        now: "<cofl:tool_call id=\"1\" name=\"now\"></cofl:tool_call>",
        section: ("<cofl:tool_calls>", "", "</cofl:tool_calls>"),
        thoughts: Some(("Hm.<|END_THINKING|>", "<|START_THINKING|>")),
    },
    Case {
        family: "exaone",
        weather: r#"<tool_call>{"name": "weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>"#,
        now: r#"<tool_call>{"name": "now", "arguments": {}}</tool_call>"#,
        section: NO_SECTION,
        thoughts: THINK_LINES,
    },
    Case {
        family: "hunyuan_a13b",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<tool_calls>[", ", ", "]</tool_calls>"),
        thoughts: None,
    },
    Case {
        family: "hunyuan_v3",
        weather: "<tool_call>weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        now: "<tool_call>now<tool_sep>\n</tool_call>",
        section: ("<tool_calls>\n", "\n", "\n</tool_calls>"),
        thoughts: WRITTEN,
    },
    Case {
        family: "hunyuan_v4",
        weather: "<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
        now: "<tool_call>now</tool_call>",
        section: ("<tool_calls>", "", "</tool_calls>"),
        thoughts: WRITTEN,
    },
    Case {
        family: "internlm_2",
        weather: "<|action_start|><|plugin|>\n{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\", \"days\": 3}}<|action_end|>",
        now: "<|action_start|><|plugin|>\n{\"name\": \"now\", \"parameters\": {}}<|action_end|>",
        section: NO_SECTION,
        thoughts: None,
    },
    Case {
        family: "step_3",
        weather: "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"weather\"><steptml:parameter name=\"city\">Paris</steptml:parameter><steptml:parameter name=\"days\">3</steptml:parameter></steptml:invoke><｜tool_call_end｜>",
        now: "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"now\"></steptml:invoke><｜tool_call_end｜>",
        section: ("<｜tool_calls_begin｜>", "", "<｜tool_calls_end｜>"),
        thoughts: WRITTEN,
    },
    Case {
        family: "ernie_4_5",
        weather: "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>",
        now: "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
        section: NO_SECTION,
        thoughts: THINK,
    },
    Case {
        family: "apertus",
        weather: r#"{"weather": {"city": "Paris", "days": 3}}"#,
        now: r#"{"now": {}}"#,
        section: ("<|tools_prefix|>[", ", ", "]<|tools_suffix|>"),
        thoughts: None,
    },
    Case {
        family: "longcat",
        weather: "<longcat_tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</longcat_tool_call>",
        now: "<longcat_tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</longcat_tool_call>",
        section: NO_SECTION,
        thoughts: None,
    },
];

pub(crate) fn tools() -> Value {
    let weather = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    });
    let now = json!({"type": "object", "properties": {}});
    json!([
        {"type": "function", "function": {"name": "weather", "parameters": weather}},
        {"type": "function", "function": {"name": "now", "parameters": now}},
    ])
}

fn choice(family: &str, choice: Value, reasoning: Reasoning, parallel: ParallelCalls) -> CompiledGrammar {
    let request = json!({"tools": tools(), "tool_choice": choice});
    let request = ToolRequest::from_value(&request).unwrap().reasoning(reasoning).parallel(parallel);
    compiled(family, &request)
}

fn compiled(family: &str, request: &ToolRequest) -> CompiledGrammar {
    let tag = ToolFormat::named(family).unwrap().structure(request).unwrap();
    let options = StructuralTagOptions::default();
    let read = StructuralTag::from_value(&tag.to_value(), &options);
    assert_eq!(read.unwrap().to_value(), tag.to_value(), "{family}: what is made can be read");
    compiler().structure(&tag, &options).unwrap_or_else(|error| panic!("{family}: {error}"))
}

/// Whether a text is a whole answer.
fn accepts(grammar: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_completed()
}

#[track_caller]
fn check(family: &str, compiled: &CompiledGrammar, accepted: &[&str], rejected: &[&str]) {
    for text in accepted {
        assert!(accepts(compiled, text), "{family}: {text:?} is an answer");
    }
    for text in rejected {
        assert!(!accepts(compiled, text), "{family}: {text:?} is no answer");
    }
}

/// Calls in their section.
fn calls(case: &Case, calls: &[&str]) -> String {
    let (open, separator, close) = case.section;
    format!("{open}{}{close}", calls.join(separator))
}

#[test]
fn every_family_has_its_case() {
    let tested: HashSet<&str> = CASES.iter().map(|case| case.family).chain(["harmony", "kimi_k3"]).collect();
    let all: HashSet<&str> = ToolFormat::all().map(|format| format.name()).collect();
    assert_eq!(tested, all);
    for format in ToolFormat::all() {
        for alias in format.aliases() {
            assert_eq!(ToolFormat::named(alias).unwrap().name(), format.name());
        }
    }
}

#[test]
fn every_choice() {
    use ParallelCalls::{Allowed, Off};
    for case in CASES {
        let family = case.family;
        let one = calls(case, &[case.weather]);
        let other = calls(case, &[case.now]);
        let two = calls(case, &[case.weather, case.now]);
        let with_text = format!("It is sunny.{one}");
        let cut = &one[..one.len() - 1];
        let unknown = one.replacen("weather", "whether", 1);
        let wrong_type = one.replacen('3', "x", 1);
        let closed = one.replacen("days", "nights", usize::MAX);
        let broken = [cut, &unknown, &wrong_type, &closed];
        // Arguments and names that are text of the answer are no calls where no trigger stands before.
        let off = Reasoning::Disabled;
        let auto = choice(family, json!("auto"), off, Allowed);
        check(family, &auto, &["", "Hello.", &one, &other, &two, &with_text, &format!("{one} ok")], &broken);
        let single = choice(family, json!("auto"), off, Off);
        check(family, &single, &["Hello.", &one, &with_text], &[&two, &format!("{one} ok")]);
        let none = choice(family, json!("none"), off, Allowed);
        check(family, &none, &["Hello."], &[&one, &with_text]);
        let required = choice(family, json!("required"), off, Allowed);
        check(family, &required, &[&one, &other, &two], &["", "Hello.", &with_text]);
        check(family, &required, &[], &broken);
        let required = choice(family, json!("required"), off, Off);
        check(family, &required, &[&one, &other], &["", &two, &format!("{one} ok")]);
        let named = json!({"type": "function", "function": {"name": "weather"}});
        let named = choice(family, named, off, Allowed);
        check(family, &named, &[&one], &["", &other, &two, &with_text]);
        let allowed =
            json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "now"}]});
        let allowed = choice(family, allowed, off, Allowed);
        check(family, &allowed, &["Hello.", &other], &[&one, &two]);
    }
}

#[test]
fn reasoning() {
    use ParallelCalls::Allowed;
    for case in CASES {
        let Some((thoughts, opener)) = case.thoughts else { continue };
        let family = case.family;
        let one = calls(case, &[case.weather]);
        let both = format!("{thoughts}{one}");
        let opened = format!("{opener}{thoughts}{one}");
        let empty = both.replacen("Hm.", "", 1);
        for mode in ["auto", "required"] {
            let on = choice(family, json!(mode), Reasoning::Enabled, Allowed);
            check(family, &on, &[&both, &empty], &[&one, "Hm.", &format!("{both}{thoughts}")]);
            let free = choice(family, json!(mode), Reasoning::Auto, Allowed);
            check(family, &free, &[&one, &opened], &[]);
            let (mark, _) = opened.split_once("Hm.").unwrap();
            check(family, &free, &[], &[&format!("{mark}{one}"), mark]);
            let no_thought = choice(family, json!(mode), Reasoning::Empty, Allowed);
            check(family, &no_thought, &[&empty], &[&both, &one]);
        }
        let request = ToolRequest::from_value(&tools()).unwrap().reasoning_chars(Some(3));
        let bounded = compiled(family, &request);
        let long = both.replacen("Hm.", "Hmm.", 1);
        check(family, &bounded, &[&both, &empty], &[&long]);
        let response =
            json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "null"}}}});
        let request = ToolRequest::from_value(&response).unwrap();
        let answer = format!("{thoughts}null");
        check(family, &compiled(family, &request), &[&answer], &["null", &both, thoughts]);
        let either = json!({"tools": tools(), "response_format": {"type": "json_object"}});
        let request = ToolRequest::from_value(&either).unwrap();
        let answer = format!("{thoughts}{{\"a\": 1}}");
        check(family, &compiled(family, &request), &[&answer, &both], &["{}", &format!("{thoughts}Hello.")]);
    }
}

#[test]
fn harmony() {
    use ParallelCalls::{Allowed, Off};
    let family = "harmony";
    let call = |header: &str, arguments: &str| format!("{header}<|message|>{arguments}<|call|>");
    let weather = |header: &str| call(header, r#"{"city": "Paris", "days": 3}"#);
    let now = call("<|channel|>commentary to=functions.now <|constrain|>json", "{}");
    let one = weather("<|channel|>commentary to=functions.weather <|constrain|>json");
    let thoughts = "<|channel|>analysis<|message|>Hm.<|end|>";
    let preamble = "<|channel|>commentary<|message|>Let me see.<|end|>";
    let answer = "<|channel|>final<|message|>It is sunny.<|return|>";
    let row = |messages: &[&str]| messages.join("<|start|>assistant");
    let after_thoughts = row(&[thoughts, preamble, &one]);
    let two = row(&[thoughts, &one, &now]);
    let answered = row(&[thoughts, answer]);
    let wrong = one.replacen("Paris\"", "Paris", 1);
    let unknown = one.replacen("weather", "whether", 1);
    let auto = choice(family, json!("auto"), Reasoning::Enabled, Allowed);
    check(
        family,
        &auto,
        &[&one, &after_thoughts, &two, &answered, answer, thoughts],
        &["", "Hello.", &wrong, &unknown],
    );
    for header in [
        "<|channel|>commentary to=functions.weather<|constrain|>json",
        "<|channel|>commentary to=functions.weather json",
        "<|channel|>commentary to=functions.weather",
        " to=functions.weather<|channel|>commentary <|constrain|>json",
        " to=functions.weather<|channel|>commentary json",
        "<|channel|>analysis to=functions.weather <|constrain|>json",
    ] {
        check(family, &auto, &[&weather(header)], &[&weather(&header.replacen("weather", "whether", 1))]);
    }
    let single = choice(family, json!("auto"), Reasoning::Enabled, Off);
    check(family, &single, &[&one, &after_thoughts, &answered], &[&two, &row(&[&one, answer])]);
    let quiet = choice(family, json!("auto"), Reasoning::Disabled, Allowed);
    check(family, &quiet, &[&one, answer], &[&after_thoughts, thoughts]);
    let none = choice(family, json!("none"), Reasoning::Enabled, Allowed);
    check(family, &none, &[&answered, answer], &[&one, &after_thoughts]);
    let required = choice(family, json!("required"), Reasoning::Enabled, Allowed);
    check(family, &required, &[&one, &after_thoughts, &two], &[&answered, thoughts, ""]);
    let required = choice(family, json!("required"), Reasoning::Enabled, Off);
    check(family, &required, &[&one, &after_thoughts], &[&answered, &two]);
    let named =
        choice(family, json!({"type": "function", "function": {"name": "now"}}), Reasoning::Enabled, Allowed);
    check(family, &named, &[&now, &row(&[thoughts, &now])], &[&one, &row(&[&now, &now])]);
    let builtin = json!({"tools": [{"type": "browser", "name": "browser.search"}]});
    let builtin = compiled(family, &ToolRequest::from_value(&builtin).unwrap());
    let search = call("<|channel|>analysis to=browser.search code", r#"{"query": "weather"}"#);
    check(family, &builtin, &[&search], &[&one]);
    let typed = json!({"response_format": {"type": "json_object"}});
    let typed = compiled(family, &ToolRequest::from_value(&typed).unwrap());
    let object = "<|channel|>final <|constrain|>json<|message|>{}<|return|>";
    check(family, &typed, &[object, &row(&[thoughts, object])], &[answer]);
}

#[test]
fn kimi_k3() {
    use ParallelCalls::{Allowed, Off};
    let family = "kimi_k3";
    let weather = "<|open|>call tool=\"weather\" index=\"0\"<|sep|><|open|>argument key=\"city\" type=\"string\"<|sep|>Paris\
                   <|close|>argument<|sep|><|open|>argument key=\"days\" type=\"number\"<|sep|>3<|close|>argument<|sep|>\
                   <|close|>call<|sep|>";
    let now = "<|open|>call tool=\"now\" index=\"1\"<|sep|><|close|>call<|sep|>";
    let section =
        |calls: &str| format!("<|open|>tools<|sep|>{calls}<|close|>tools<|sep|><|close|>message<|sep|>");
    let text = "<|open|>response<|sep|>It is sunny.<|close|>response<|sep|>";
    let plain = format!("{text}<|close|>message<|sep|>");
    let (one, two) = (section(weather), section(&[weather, now].concat()));
    let both = format!("{text}{one}");
    let wrong = one.replacen("type=\"number\"", "type=\"string\"", 1);
    let off = Reasoning::Disabled;
    let auto = choice(family, json!("auto"), off, Allowed);
    check(family, &auto, &[&plain, &one, &two, &both], &["", "Hello.", &wrong, text]);
    check(family, &choice(family, json!("auto"), off, Off), &[&plain, &one, &both], &[&two]);
    check(family, &choice(family, json!("none"), off, Allowed), &[&plain], &[&one, &both]);
    check(family, &choice(family, json!("required"), off, Allowed), &[&one, &two, &both], &[&plain]);
    check(family, &choice(family, json!("required"), off, Off), &[&one, &both], &[&plain, &two]);
    let named = choice(family, json!({"type": "function", "function": {"name": "now"}}), off, Allowed);
    check(family, &named, &[&section(now)], &[&one, &plain]);
    let thinking = choice(family, json!("auto"), Reasoning::Enabled, Allowed);
    check(family, &thinking, &[&format!("Hm.<|close|>think<|sep|>{one}")], &[&one]);
    let maybe = choice(family, json!("auto"), Reasoning::Auto, Allowed);
    check(family, &maybe, &[&format!("<|open|>think<|sep|>Hm.<|close|>think<|sep|>{one}"), &one], &[]);
}

#[test]
fn requests_are_refused_at_their_places() {
    let refusal = |request: Value| ToolRequest::from_value(&request).unwrap_err().to_string();
    let tools = tools();
    for (request, place) in [
        (json!(3), "at the root"),
        (json!({"tools": {}}), "at `/tools`"),
        (json!([{"type": "function", "function": {"name": "a b"}}]), "at `/0/function/name`"),
        (
            json!([{"type": "function", "function": {"name": "a"}}, {"type": "function", "name": "a"}]),
            "at `/1/name`",
        ),
        (json!([{"type": "function", "name": "a", "parameters": 3}]), "at `/0/parameters`"),
        (json!({"tools": tools, "tool_choice": "any"}), "at `/tool_choice`"),
        (
            json!({"tools": tools, "tool_choice": {"type": "function", "function": {"name": "x"}}}),
            "at `/tool_choice`",
        ),
        (json!({"tool_choice": "required"}), "at `/tool_choice`"),
        (json!({"tools": tools, "parallel_tool_calls": 1}), "at `/parallel_tool_calls`"),
        (json!({"response_format": {"type": "xml"}}), "at `/response_format`"),
    ] {
        let refusal = refusal(request);
        assert!(refusal.starts_with(place), "{refusal}");
    }
    assert!(ToolFormat::named("qwen3").unwrap_err().to_string().contains("did you mean `qwen_3`?"));
    let builtin = ToolRequest::from_value(&json!([{"type": "web_search"}])).unwrap();
    assert!(ToolFormat::named("llama").unwrap().structure(&builtin).is_err());
    let schema = json!([{"type": "function", "name": "a", "parameters": {"type": "text"}}]);
    let request = ToolRequest::from_value(&schema).unwrap();
    let error =
        compiler().tools(ToolFormat::named("llama").unwrap(), &request, &StructuralTagOptions::default());
    assert!(error.unwrap_err().to_string().contains("/0/parameters/type"));
}
