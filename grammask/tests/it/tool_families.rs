//! How each family of models writes calls, as data. The calls are written out here from the formats' descriptions.

/// How calls stand in an answer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Around {
    /// With free text around them.
    Text,
    /// Alone: an answer that has text holds no calls.
    Nothing,
}

/// How one family writes a call of `weather` with the city Paris and 3 days, and one of `now` without arguments.
pub(crate) struct Case {
    pub(crate) family: &'static str,
    pub(crate) weather: &'static str,
    pub(crate) now: &'static str,
    /// Around a row of calls, and between them.
    pub(crate) section: (&'static str, &'static str, &'static str),
    pub(crate) around: Around,
    /// Reasoning, from the end of the prompt to the answer; the opening mark where the prompt has it.
    pub(crate) thoughts: Option<(&'static str, &'static str)>,
    /// Whole answers that are right too, with both tools offered and any choice of them, without reasoning.
    pub(crate) also: &'static [&'static str],
    /// Whole answers that are wrong.
    pub(crate) never: &'static [&'static str],
}

const CASE: Case = Case {
    family: "",
    weather: "",
    now: "",
    section: ("", "\n", ""),
    around: Around::Text,
    thoughts: None,
    also: &[],
    never: &[],
};

const THINK: Option<(&str, &str)> = Some(("Hm.</think>", "<think>"));
const THINK_LINES: Option<(&str, &str)> = Some(("Hm.</think>\n\n", "<think>"));
const WRITTEN: Option<(&str, &str)> = Some(("<think>Hm.</think>", ""));

pub(crate) const CASES: &[Case] = &[
    Case {
        family: "llama",
        weather: r#"{"name": "weather", "parameters": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "parameters": {}}"#,
        also: &[
            r#"Let me see. <|python_tag|>{"name": "now", "parameters": {}}"#,
            r#"{"type": "function", "name": "now", "parameters": {}}"#,
        ],
        never: &[
            r#"{"type": "function", "name": "later", "parameters": {}}"#,
            r#"{"type": "function", "name": "now", "parameters": {"a": 1}}"#,
            r#"{"name": "now", "arguments": {}}"#,
            r#"{"name":"now"}, {"name": "later", "parameters": {}}"#,
            r#"{"name": "now", "parameters": {}"#,
            r#"<|python_tag|>{"name": "later", "parameters": {}}"#,
        ],
        ..CASE
    },
    Case {
        family: "llama_custom",
        weather: r#"<function=weather>{"city": "Paris", "days": 3}</function>"#,
        now: "<function=now>{}</function>",
        also: &["<function=weather>{\"city\":\"\"}</function><function=now>{ }</function>"],
        never: &[
            "<function=weather></function>",
            "<function=now>{}</function",
            "<function=now>{\"a\": 1}</function>",
        ],
        ..CASE
    },
    Case {
        family: "qwen_3",
        weather: "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>",
        now: "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
        thoughts: THINK_LINES,
        never: &[
            "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>",
            "<tool_call>\n{\"name\": \"now\", \"parameters\": {}}\n</tool_call>",
            "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n",
        ],
        ..CASE
    },
    Case {
        family: "hermes",
        weather: "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>",
        now: "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>",
        thoughts: THINK_LINES,
        never: &[
            "<tool_call>{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
            "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}</tool_call>",
        ],
        ..CASE
    },
    Case {
        family: "bielik_3",
        weather: "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>",
        now: "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
        thoughts: Some(("Hm.</think>\n", "<think>")),
        ..CASE
    },
    Case {
        family: "qwen_3_coder",
        weather: "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        now: "<tool_call>\n<function=now>\n\n</function>\n</tool_call>",
        thoughts: THINK_LINES,
        also: &[
            "<tool_call>\n<function=weather>\n<parameter=city>\n\"<b>\n</parameter>\n</function>\n</tool_call>",
        ],
        never: &[
            "<tool_call>\n<function=weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            "<tool_call>\n<function=now>\n<parameter=a>1</parameter>\n</function>\n</tool_call>",
        ],
        ..CASE
    },
    Case {
        family: "nemotron_3",
        weather: "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        now: "<tool_call>\n<function=now>\n</function>\n</tool_call>",
        thoughts: Some(("Hm.</think>\n", "<think>")),
        ..CASE
    },
    Case {
        family: "nemotron_nano_2",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<TOOLCALL>[", ", ", "]</TOOLCALL>"),
        thoughts: THINK,
        never: &["<TOOLCALL>[]</TOOLCALL>"],
        ..CASE
    },
    Case {
        family: "mimo",
        weather: "<tool_call><function=weather><parameter=city>Paris</parameter><parameter=days>3</parameter></function></tool_call>",
        now: "<tool_call><function=now></function></tool_call>",
        thoughts: WRITTEN,
        never: &["<tool_call>\n<function=now>\n</function></tool_call>"],
        ..CASE
    },
    Case {
        family: "seed_oss",
        weather: "<seed:tool_call>\n<function=weather>\n<parameter=city>Paris</parameter>\n<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
        now: "<seed:tool_call>\n<function=now>\n\n</function>\n</seed:tool_call>",
        thoughts: Some(("<seed:think>Hm.</seed:think>", "")),
        ..CASE
    },
    Case {
        family: "deepseek_r1",
        weather: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": \"Paris\", \"days\": 3}\n```<｜tool▁call▁end｜>",
        now: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜>",
        section: ("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
        thoughts: THINK,
        ..CASE
    },
    Case {
        family: "deepseek_v3_1",
        weather: "<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"Paris\", \"days\": 3}<｜tool▁call▁end｜>",
        now: "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        section: ("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
        thoughts: THINK,
        never: &["<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>"],
        ..CASE
    },
    Case {
        family: "deepseek_v3_2",
        weather: "<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n",
        now: "<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n",
        section: ("<｜DSML｜function_calls>\n", "", "</｜DSML｜function_calls>"),
        thoughts: THINK,
        also: &[
            "\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ],
        never: &[
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"city\" string=\"false\">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ],
        ..CASE
    },
    Case {
        family: "deepseek_v4",
        weather: "<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n",
        now: "<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n",
        section: ("<｜DSML｜tool_calls>\n", "", "</｜DSML｜tool_calls>"),
        thoughts: THINK,
        ..CASE
    },
    Case {
        family: "deepseek_v4_1",
        weather: "<｜DSML｜ invoke name=\"weather\">\n<｜DSML｜ parameter name=\"city\" string=\"true\">Paris</｜DSML｜ parameter>\n<｜DSML｜ parameter name=\"days\" string=\"false\">3</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n",
        now: "<｜DSML｜ invoke name=\"now\">\n</｜DSML｜ invoke>\n",
        section: ("<｜DSML｜ calls>\n", "", "</｜DSML｜ calls>"),
        thoughts: THINK,
        ..CASE
    },
    Case {
        family: "kimi",
        weather: "<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{\"city\": \"Paris\", \"days\": 3}<|tool_call_end|>",
        now: "<|tool_call_begin|>functions.now:12<|tool_call_argument_begin|>{}<|tool_call_end|>",
        section: ("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
        thoughts: THINK,
        never: &[
            // A call outside of its section.
            "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
            "<|tool_calls_section_begin|><|tool_call_begin|>now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        ],
        ..CASE
    },
    Case {
        family: "glm_4_5",
        weather: "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        now: "<tool_call>now\n</tool_call>",
        thoughts: WRITTEN,
        ..CASE
    },
    Case {
        family: "glm_4_7",
        weather: "<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
        now: "<tool_call>now</tool_call>",
        thoughts: THINK,
        also: &["<tool_call>weather<arg_key>city</arg_key>\n<arg_value>New\nYork</arg_value>\n</tool_call>"],
        never: &["<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</tool_call>"],
        ..CASE
    },
    Case {
        family: "mistral",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("[TOOL_CALLS] [", ", ", "]"),
        also: &[
            r#"[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "a1B2c3D4e"}, {"name": "now", "arguments": {}}]"#,
        ],
        never: &[
            r#"[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "a1B2"}]"#,
            r#"[TOOL_CALLS][{"name": "now", "id": "a1B2c3D4e", "arguments": {}}]"#,
            r#"[TOOL_CALLS]{"name": "now", "arguments": {}}"#,
            "[TOOL_CALLS] []",
            "[TOOL_CALLS] [{\"name\": \"now\", \"arguments\": {}},]",
        ],
        ..CASE
    },
    Case {
        family: "mistral_v11",
        weather: r#"[TOOL_CALLS]weather[ARGS]{"city": "Paris", "days": 3}"#,
        now: "[TOOL_CALLS]now[ARGS]{}",
        section: ("", "", ""),
        also: &[
            "[TOOL_CALLS]now{}",
            "[TOOL_CALLS]now{}[TOOL_CALLS]now[ARGS]{}",
            "[TOOL_CALLS]now[CALL_ID]a1B2c3D4e[ARGS]{}",
        ],
        never: &[
            "[TOOL_CALLS]now[ARGS]",
            "[TOOL_CALLS]now[CALL_ID]{}",
            "[TOOL_CALLS]now[CALL_ID]a1B2c3D4e{}",
            "[TOOL_CALLS]now[CALL_ID]a1[ARGS]{}",
        ],
        ..CASE
    },
    Case {
        family: "magistral",
        weather: r#"[TOOL_CALLS]weather[ARGS]{"city": "Paris", "days": 3}"#,
        now: "[TOOL_CALLS]now[ARGS]{}",
        section: ("", "", ""),
        thoughts: Some(("[THINK]Hm.[/THINK]", "")),
        ..CASE
    },
    Case {
        family: "magistral_v11",
        weather: r#"[TOOL_CALLS]weather[ARGS]{"city": "Paris", "days": 3}"#,
        now: "[TOOL_CALLS]now{}",
        section: ("", "", ""),
        thoughts: WRITTEN,
        ..CASE
    },
    Case {
        family: "minimax",
        weather: "<invoke name=\"weather\">\n<parameter name=\"city\">Paris</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>\n",
        now: "<invoke name=\"now\">\n</invoke>\n",
        section: ("<minimax:tool_call>\n", "", "</minimax:tool_call>"),
        thoughts: THINK,
        ..CASE
    },
    Case {
        family: "minimax_m1",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<tool_calls>\n", "\n", "\n</tool_calls>"),
        never: &["<tool_calls>\n</tool_calls>", "<tool_calls>[]</tool_calls>"],
        ..CASE
    },
    Case {
        family: "minimax_m3",
        weather: "]<]minimax[>[<invoke name=\"weather\">]<]minimax[>[<city>Paris]<]minimax[>[</city>]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n",
        now: "]<]minimax[>[<invoke name=\"now\">]<]minimax[>[</invoke>\n",
        section: ("]<]minimax[>[<tool_call>\n", "", "]<]minimax[>[</tool_call>"),
        thoughts: Some(("<mm:think>Hm.</mm:think>", "")),
        ..CASE
    },
    Case {
        family: "phi_4_mini",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("functools[", ", ", "]"),
        ..CASE
    },
    Case {
        family: "firefunction_2",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("functools[", ", ", "]"),
        ..CASE
    },
    Case {
        family: "granite_3_0",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<|tool_call|> [", ", ", "]"),
        ..CASE
    },
    Case {
        family: "granite_3_1",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<tool_call> [", ", ", "]"),
        ..CASE
    },
    Case {
        family: "granite_4",
        weather: r#"<tool_call>{"name": "weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>"#,
        now: r#"<tool_call>{"name": "now", "arguments": {}}</tool_call>"#,
        ..CASE
    },
    Case {
        family: "granite_20b",
        weather: r#"<function_call> {"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"<function_call> {"name": "now", "arguments": {}}"#,
        ..CASE
    },
    Case {
        family: "cohere_command_a",
        weather: r#"{"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Paris", "days": 3}}"#,
        now: r#"{"tool_call_id": "1", "tool_name": "now", "parameters": {}}"#,
        section: ("<|START_ACTION|>[", ", ", "]<|END_ACTION|>"),
        thoughts: Some(("<|START_THINKING|>Hm.<|END_THINKING|>", "")),
        never: &[
            r#"<|START_ACTION|>[{"tool_call_id": "", "tool_name": "now", "parameters": {}}]<|END_ACTION|>"#,
        ],
        ..CASE
    },
    Case {
        family: "cohere",
        weather: "<cofl:tool_call id=\"0\" name=\"weather\"><cofl:value name=\"city\" type=\"raw\">Paris</cofl:value><cofl:value name=\"days\" type=\"json\">3</cofl:value></cofl:tool_call>",
        now: "<cofl:tool_call id=\"1\" name=\"now\"></cofl:tool_call>",
        section: ("<cofl:tool_calls>", "", "</cofl:tool_calls>"),
        thoughts: Some(("Hm.<|END_THINKING|>", "<|START_THINKING|>")),
        never: &[
            "<cofl:tool_calls><cofl:tool_call id=\"0\" name=\"weather\"><cofl:value name=\"city\" type=\"json\">\"Paris\"</cofl:value></cofl:tool_call></cofl:tool_calls>",
        ],
        ..CASE
    },
    Case {
        family: "exaone",
        weather: r#"<tool_call>{"name": "weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>"#,
        now: r#"<tool_call>{"name": "now", "arguments": {}}</tool_call>"#,
        thoughts: THINK_LINES,
        ..CASE
    },
    Case {
        family: "hunyuan_a13b",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<tool_calls>[", ", ", "]</tool_calls>"),
        ..CASE
    },
    Case {
        family: "apriel",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("<tool_calls>[", ", ", "]</tool_calls>"),
        ..CASE
    },
    Case {
        family: "hunyuan_v3",
        weather: "<tool_call>weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        now: "<tool_call>now<tool_sep>\n</tool_call>",
        section: ("<tool_calls>\n", "\n", "\n</tool_calls>"),
        thoughts: WRITTEN,
        ..CASE
    },
    Case {
        family: "hy_3",
        weather: "<tool_call:opensource>weather<tool_sep:opensource>\n<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Paris</arg_value:opensource>\n<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>3</arg_value:opensource>\n</tool_call:opensource>",
        now: "<tool_call:opensource>now<tool_sep:opensource>\n</tool_call:opensource>",
        section: ("<tool_calls:opensource>\n", "\n", "\n</tool_calls:opensource>"),
        thoughts: Some(("Hm.</think:opensource>", "<think:opensource>")),
        never: &["<tool_calls:opensource>\n<tool_call>now<tool_sep>\n</tool_call>\n</tool_calls:opensource>"],
        ..CASE
    },
    Case {
        family: "hunyuan_v4",
        weather: "<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
        now: "<tool_call>now</tool_call>",
        section: ("<tool_calls>", "", "</tool_calls>"),
        thoughts: WRITTEN,
        ..CASE
    },
    Case {
        family: "internlm_2",
        weather: "<|action_start|><|plugin|>\n{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\", \"days\": 3}}<|action_end|>",
        now: "<|action_start|><|plugin|>\n{\"name\": \"now\", \"parameters\": {}}<|action_end|>",
        also: &["<|action_start|> <|plugin|>\n{\"name\": \"now\", \"parameters\": {}}<|action_end|>"],
        ..CASE
    },
    Case {
        family: "step_3",
        weather: "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"weather\"><steptml:parameter name=\"city\">Paris</steptml:parameter><steptml:parameter name=\"days\">3</steptml:parameter></steptml:invoke><｜tool_call_end｜>",
        now: "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"now\"></steptml:invoke><｜tool_call_end｜>",
        section: ("<｜tool_calls_begin｜>", "", "<｜tool_calls_end｜>"),
        thoughts: WRITTEN,
        ..CASE
    },
    Case {
        family: "ernie_4_5",
        weather: "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>",
        now: "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
        thoughts: THINK,
        ..CASE
    },
    Case {
        family: "apertus",
        weather: r#"{"weather": {"city": "Paris", "days": 3}}"#,
        now: r#"{"now": {}}"#,
        section: ("<|tools_prefix|>[", ", ", "]<|tools_suffix|>"),
        never: &["<|tools_prefix|>[{\"now\": {}, \"weather\": {\"city\": \"\"}}]<|tools_suffix|>"],
        ..CASE
    },
    Case {
        family: "longcat",
        weather: "<longcat_tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</longcat_tool_call>",
        now: "<longcat_tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</longcat_tool_call>",
        ..CASE
    },
    Case {
        family: "llama_4",
        weather: "weather(city=\"Paris\", days=3)",
        now: "now()",
        section: ("[", ", ", "]"),
        around: Around::Nothing,
        also: &[
            "[weather(city='Paris')]",
            r#"[weather(city="say \"hi\"")]"#,
            r#"[weather(city='it\'s \u00e9', days=-3), now()]"#,
            "<|python_start|>[now()]<|python_end|>",
        ],
        never: &[
            "[weather(city=\"Paris')]",
            "[weather(city=Paris)]",
            "[weather(\"Paris\")]",
            "[weather(days=3, city=\"Paris\")]",
            "[weather(city=\"a\nb\")]",
            r#"[weather(city="\/")]"#,
            r#"[weather(city="\ud83d\ude00")]"#,
            "[now(), ]",
            "[later()]",
            " [ later()]",
            "<|python_start|>[now()]",
        ],
        ..CASE
    },
    Case {
        family: "olmo_3",
        weather: "weather(city=\"Paris\", days=3)",
        now: "now()",
        around: Around::Nothing,
        thoughts: WRITTEN,
        never: &["weather(city=\"Paris\"), now()", "later()", " now()"],
        ..CASE
    },
    Case {
        family: "lfm_2",
        weather: "weather(city=\"Paris\", days=3)",
        now: "now()",
        section: ("<|tool_call_start|>[", ", ", "]<|tool_call_end|>"),
        also: &["<|tool_call_start|>[weather(city='')]<|tool_call_end|> Done."],
        never: &["<|tool_call_start|>[]<|tool_call_end|>", "<|tool_call_start|>[now]<|tool_call_end|>"],
        ..CASE
    },
    Case {
        family: "gemma_3",
        weather: "<start_function_call>call:weather{city:<escape>Paris<escape>,days:3}<end_function_call>",
        now: "<start_function_call>call:now{}<end_function_call>",
        also: &["<start_function_call>call:weather{city:<escape>\"<b>\n<escape>}<end_function_call>"],
        never: &[
            "<start_function_call>call:weather{city:Paris}<end_function_call>",
            "<start_function_call>call:weather{\"city\":<escape>Paris<escape>}<end_function_call>",
        ],
        ..CASE
    },
    Case {
        family: "gemma_4",
        weather: "<|tool_call>call:weather{city:<|\"|>Paris<|\"|>,days:3}<tool_call|>",
        now: "<|tool_call>call:now{}<tool_call|>",
        thoughts: Some(("<|channel>thought\nHm.<channel|>", "")),
        also: &["<|tool_call>call:weather{city:<|\"|>\"}<tool_call|>\n<|\"|>}<tool_call|>"],
        never: &[
            "<|tool_call>call:weather{city:\"Paris\"}<tool_call|>",
            "<|tool_call>call:weather{city:<|\"|>Paris<|\"|>, days:3}<tool_call|>",
            "<|tool_call>call:now{} <tool_call|>",
        ],
        ..CASE
    },
    Case {
        family: "xlam",
        weather: r#"{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"{"name": "now", "arguments": {}}"#,
        section: ("[", ", ", "]"),
        around: Around::Nothing,
        also: &["```json\n[{\"name\": \"now\", \"arguments\": {}}]\n```"],
        never: &["```json\n[{\"name\": \"later\", \"arguments\": {}}]\n```", "[{\"name\": \"now\"}]"],
        ..CASE
    },
    Case {
        family: "inkling",
        weather: r#"<|message_model|>weather<|content_invoke_tool_json|>{"name":"weather","args":{"city": "Paris", "days": 3}}<|end_message|>"#,
        now: r#"<|message_model|>now<|content_invoke_tool_json|>{"name":"now","args":{}}<|end_message|>"#,
        section: ("", "", ""),
        never: &[
            r#"<|message_model|>now<|content_invoke_tool_json|>{"name":"weather","args":{"city": ""}}<|end_message|>"#,
        ],
        ..CASE
    },
    Case {
        family: "k2_horizon",
        weather: r#"<ifm|tool_call>{"name": "weather", "arguments": {"city": "Paris", "days": 3}}</ifm|tool_call>"#,
        now: r#"<ifm|tool_call>{"name": "now", "arguments": {}}</ifm|tool_call>"#,
        section: ("<ifm|tool_calls>\n", "\n", "\n</ifm|tool_calls>"),
        thoughts: Some(("<ifm|think>Hm.</ifm|think>", "")),
        ..CASE
    },
    Case {
        family: "gigachat_3",
        weather: r#"<|function_call|>{"name": "weather", "arguments": {"city": "Paris", "days": 3}}"#,
        now: r#"<|function_call|>{"name": "now", "arguments": {}}"#,
        section: ("", "", ""),
        never: &[r#"<|function_call|>{"name": "now"}"#],
        ..CASE
    },
    Case {
        family: "minicpm_5",
        weather: r#"<function name="weather"><param name="city">Paris</param><param name="days">3</param></function>"#,
        now: r#"<function name="now"></function>"#,
        thoughts: Some(("Hm.</think>\n\n", "<think>")),
        also: &[r#"<function name="weather"><param name="city"><![CDATA[a < b & c]]></param></function>"#],
        never: &[
            r#"<function name="weather"><param name="days">3</param></function>"#,
            r#"<function name="weather"><param name="city">Paris</param><param name="days">three</param></function>"#,
            r#"<function name="later"></function>"#,
        ],
        ..CASE
    },
    Case {
        family: "cohere_command_r_plus",
        weather: "        \"tool_name\": \"weather\",\n        \"parameters\": {\n            \"city\": \"Paris\",\n            \"days\": 3\n        }\n    }",
        now: "        \"tool_name\": \"now\",\n        \"parameters\": {}\n    }",
        section: ("Action:\n```json\n[\n    {\n", ",\n    {\n", "\n]```"),
        never: &[
            "Action:\n```json\n[]```",
            "Action:\n```json\n[\n    {\n        \"tool_name\": \"later\",\n        \"parameters\": {}\n    }\n]```",
        ],
        ..CASE
    },
];
