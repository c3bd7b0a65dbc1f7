//! Tool formats: for every family what its answers look like, for every `tool_choice`, with and without reasoning
//! and parallel calls.

use std::collections::HashSet;
use std::sync::LazyLock;

use grammask::tool_formats::{ParallelCalls, Reasoning};
use grammask::{
    CompiledGrammar, Compiler, StructuralTag, StructuralTagOptions, ToolFormat, ToolRequest, Vocabulary,
    VocabularyOptions,
};
use serde_json::{Value, json};

use crate::tool_families::{Around, CASES, Case};

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
    let request =
        ToolRequest::from_value(&request.clone().into()).unwrap().reasoning(reasoning).parallel(parallel);
    compiled(family, &request)
}

fn compiled(family: &str, request: &ToolRequest) -> CompiledGrammar {
    let tag = ToolFormat::named(family).unwrap().structure(request).unwrap();
    let options = StructuralTagOptions::default();
    let read = StructuralTag::from_value(&tag.to_value(), &options);
    assert_eq!(read.unwrap().to_value(), tag.to_value(), "{family}: what is made can be read");
    compiler().tag(&tag, &options).unwrap_or_else(|error| panic!("{family}: {error}"))
}

/// Whether a text is a whole answer.
fn accepts(grammar: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_completed()
}

#[track_caller]
fn check(family: &str, compiled: &CompiledGrammar, accepted: &[&str], rejected: &[&str]) {
    let refused = accepted.iter().filter(|text| !accepts(compiled, text));
    let taken = rejected.iter().filter(|text| accepts(compiled, text));
    let (refused, taken): (Vec<&&str>, Vec<&&str>) = (refused.collect(), taken.collect());
    assert!(refused.is_empty() && taken.is_empty(), "{family}: refused {refused:#?}, taken {taken:#?}");
}

/// Calls in their section.
fn calls(case: &Case, calls: &[&str]) -> String {
    let (open, separator, close) = case.section;
    format!("{open}{}{close}", calls.join(separator))
}

#[test]
fn every_family_has_its_case() {
    let tested: HashSet<&str> = CASES
        .iter()
        .map(|case| case.family)
        .chain(["harmony", "kimi_k3", "muse", "solar_open", "functionary_3_2"])
        .collect();
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
        check(family, &auto, &["", "Hello.", &one, &other, &two], &broken);
        check(family, &auto, case.also, case.never);
        let single = choice(family, json!("auto"), off, Off);
        check(family, &single, &["Hello.", &one], &[&two, &format!("{one} ok")]);
        match case.around {
            Around::Text => {
                check(family, &auto, &[&with_text, &format!("{one} ok")], &[]);
                check(family, &single, &[&with_text], &[]);
            }
            Around::Nothing => check(family, &auto, &[], &[&format!("{one} ok")]),
        }
        let none = choice(family, json!("none"), off, Allowed);
        check(family, &none, &["Hello."], &[&one]);
        if case.around == Around::Text {
            check(family, &none, &[], &[&with_text]);
        }
        let required = choice(family, json!("required"), off, Allowed);
        check(family, &required, &[&one, &other, &two], &["", "Hello.", &with_text]);
        check(family, &required, &[], &broken);
        check(family, &required, &[], case.never);
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
        let request = ToolRequest::from_value(&tools().into()).unwrap().reasoning_chars(Some(3));
        let bounded = compiled(family, &request);
        let long = both.replacen("Hm.", "Hmm.", 1);
        check(family, &bounded, &[&both, &empty], &[&long]);
        let response =
            json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "null"}}}});
        let request = ToolRequest::from_value(&response.clone().into()).unwrap();
        let answer = format!("{thoughts}null");
        check(family, &compiled(family, &request), &[&answer], &["null", &both, thoughts]);
        let either = json!({"tools": tools(), "response_format": {"type": "json_object"}});
        let request = ToolRequest::from_value(&either.clone().into()).unwrap();
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
    let builtin = compiled(family, &ToolRequest::from_value(&builtin.clone().into()).unwrap());
    let search = call("<|channel|>analysis to=browser.search code", r#"{"query": "weather"}"#);
    check(family, &builtin, &[&search], &[&one]);
    let typed = json!({"response_format": {"type": "json_object"}});
    let typed = compiled(family, &ToolRequest::from_value(&typed.clone().into()).unwrap());
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
    // Without reasoning the prompt ends with the mark that opens the response.
    let opened = "<|open|>response<|sep|>";
    check(family, &auto, &[&plain[opened.len()..], &both[opened.len()..]], &[&one[opened.len()..]]);
    check(family, &choice(family, json!("auto"), off, Off), &[&plain, &one, &both], &[&two]);
    check(family, &choice(family, json!("none"), off, Allowed), &[&plain], &[&one, &both]);
    check(family, &choice(family, json!("required"), off, Allowed), &[&one, &two, &both], &[&plain]);
    check(family, &choice(family, json!("required"), off, Off), &[&one, &both], &[&plain, &two]);
    let named = choice(family, json!({"type": "function", "function": {"name": "now"}}), off, Allowed);
    check(family, &named, &[&section(now)], &[&one, &plain]);
    let thinking = choice(family, json!("auto"), Reasoning::Enabled, Allowed);
    let thoughts = "Hm.<|close|>think<|sep|>";
    let headless = format!("{thoughts}{}", &plain[opened.len()..]);
    check(
        family,
        &thinking,
        &[&format!("{thoughts}{one}"), &format!("{thoughts}{plain}")],
        &[&one, &headless],
    );
    let maybe = choice(family, json!("auto"), Reasoning::Auto, Allowed);
    check(family, &maybe, &[&format!("<|open|>think<|sep|>Hm.<|close|>think<|sep|>{one}"), &one], &[]);
}

/// Messages to oneself, to the user and to tools.
#[test]
fn muse() {
    use ParallelCalls::{Allowed, Off};
    let family = "muse";
    let weather = " to=weather<|message|><atem:function_calls>\n<atem:invoke name=\"weather\">\n\
                   <atem:parameter name=\"city\">Paris</atem:parameter>\n\
                   <atem:parameter name=\"days\">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls>";
    let now = " to=now<|message|><atem:function_calls>\n<atem:invoke name=\"now\">\n</atem:invoke>\n</atem:function_calls>";
    let next = "<|eom|><|start|>assistant";
    let (says, thoughts) = (" to=user<|message|>It is sunny.", " to=self<|message|>Hm.");
    let two = [weather, next, now].concat();
    let both = [says, next, weather].concat();
    let other = weather.replacen("weather", "now", 1);
    let off = Reasoning::Disabled;
    let auto = choice(family, json!("auto"), off, Allowed);
    check(
        family,
        &auto,
        &["", "Hello.", says, weather, &two, &both],
        &[&other, &weather[..weather.len() - 1], &[weather, now].concat()],
    );
    check(family, &choice(family, json!("auto"), off, Off), &[says, weather, &both], &[&two]);
    check(family, &choice(family, json!("none"), off, Allowed), &[says], &[weather, &both]);
    check(family, &choice(family, json!("required"), off, Allowed), &[weather, &two, &both], &[says]);
    check(family, &choice(family, json!("required"), off, Off), &[weather, &both], &[says, &two]);
    let named = choice(family, json!({"type": "function", "function": {"name": "now"}}), off, Allowed);
    check(family, &named, &[now], &[weather, says]);
    let thinking = choice(family, json!("auto"), Reasoning::Enabled, Allowed);
    check(
        family,
        &thinking,
        &[&[thoughts, next, weather].concat(), &[thoughts, next, says].concat()],
        &[weather],
    );
    let maybe = choice(family, json!("auto"), Reasoning::Auto, Allowed);
    check(family, &maybe, &[&[thoughts, next, weather].concat(), weather, says], &["Hello."]);
}

#[test]
fn solar_open() {
    use ParallelCalls::{Allowed, Off};
    let family = "solar_open";
    let call = |id: &str, name: &str, arguments: &str| {
        format!(
            "<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{arguments}<|tool_call:end|>"
        )
    };
    let weather = call("a1b2c3d4e5", "weather", "{\"city\": \"Paris\"}");
    let row = |calls: &[&str]| format!("<|tool_calls|>{}<|calls|>", calls.concat());
    let now = call("0123456789", "now", "{}");
    let (one, two) = (row(&[&weather]), row(&[&weather, &now]));
    let (says, next) = ("<|content|>It is sunny.", "<|end|><|begin|>assistant");
    let both = [says, next, &one].concat();
    let broken = [
        row(&[&call("0123456789", "later", "{}")]),
        row(&[&call("012345678", "now", "{}")]),
        row(&[&call("0123456789", "now", "{\"a\": 1}")]),
        row(&[&weather, "\n", &now]),
        row(&[]),
        now.clone(),
        format!("{says}{now}"),
    ];
    let broken: Vec<&str> = broken.iter().map(String::as_str).collect();
    let off = Reasoning::Disabled;
    check(
        family,
        &choice(family, json!("auto"), off, Allowed),
        &["", "Hello.", says, &one, &two, &both],
        &broken,
    );
    check(family, &choice(family, json!("auto"), off, Off), &[says, &one, &both], &[&two]);
    check(family, &choice(family, json!("none"), off, Allowed), &[says], &[&one, &both]);
    check(family, &choice(family, json!("required"), off, Allowed), &[&one, &two, &both], &[says, ""]);
    let thinking = choice(family, json!("auto"), Reasoning::Enabled, Allowed);
    let thoughts = ["<|think|>Hm.", next].concat();
    check(family, &thinking, &[&[&*thoughts, &one].concat(), &[&*thoughts, says].concat()], &[&one, says]);
}

/// Every message has its recipient, so that nothing is text unless it says so.
#[test]
fn functionary() {
    use ParallelCalls::{Allowed, Off};
    let family = "functionary_3_2";
    let (weather, now, says) =
        ("weather\n{\"city\": \"Paris\", \"days\": 3}", "now\n{}", "all\nIt is sunny.");
    let two = [weather, ">>>", now].concat();
    let both = [says, ">>>", &two].concat();
    let broken = [
        "",
        "Hello.",
        "now{}",
        "now\n{\"a\": 1}",
        "later\n{}",
        "weather\n{}",
        "now\n{}>>>all\nIt is sunny.",
        "all\nIt is.>>>later\n{}",
        "all\nIt is.>>>all\nIt is.",
    ];
    let off = Reasoning::Disabled;
    check(family, &choice(family, json!("auto"), off, Allowed), &[says, weather, &two, &both], &broken);
    check(family, &choice(family, json!("auto"), off, Off), &[says, weather], &[&two, &both]);
    check(family, &choice(family, json!("none"), off, Allowed), &[says], &[weather, &both, "Hello."]);
    check(family, &choice(family, json!("required"), off, Allowed), &[weather, &two, &both], &[says]);
    let named = choice(family, json!({"type": "function", "function": {"name": "now"}}), off, Allowed);
    check(family, &named, &[now], &[weather, says]);
}

/// Turns of models that do not think, and begin with what closes their thoughts.
#[test]
fn thoughts_that_are_skipped() {
    for (family, skipped) in [("minimax", "\n</think>\n\n"), ("minimax_m3", "</mm:think>")] {
        let case = CASES.iter().find(|case| case.family == family).unwrap();
        let text = format!("{skipped}{}", calls(case, &[case.weather]));
        for mode in ["auto", "required"] {
            for reasoning in [Reasoning::Disabled, Reasoning::Auto] {
                let compiled = choice(family, json!(mode), reasoning, ParallelCalls::Allowed);
                assert!(accepts(&compiled, &text), "{family} {mode} {reasoning:?}");
                assert!(!accepts(&compiled, &format!("{skipped}{text}")), "{family} {mode}");
            }
        }
    }
}

/// A tool with arguments of every kind, nested.
pub(crate) fn notation_tools() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "on": {"type": "boolean"},
            "kind": {"enum": ["it's", "b\\c", null, 2]},
            "zip": {"type": "string", "pattern": "^[0-9a'\"]{2}$"},
            "short": {"type": "string", "maxLength": 2},
            "list": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "properties": {"a-b": {"type": "number"}}, "additionalProperties": {"const": ""}},
        },
    });
    json!([{"type": "function", "function": {"name": "f", "parameters": schema}}])
}

/// Arguments in the notations that are not JSON.
#[test]
fn values_in_other_notations() {
    let request = json!({"tools": notation_tools(), "tool_choice": "required"});
    let request = ToolRequest::from_value(&request.clone().into()).unwrap().reasoning(Reasoning::Disabled);
    let mut compared = 0;
    let mut check_values = |family: &str, (open, close): (&str, &str), right: &[&str], wrong: &[&str]| {
        let compiled = compiled(family, &request);
        for (texts, expected) in [(right, true), (wrong, false)] {
            for text in texts {
                let text = format!("{open}{text}{close}");
                assert_eq!(accepts(&compiled, &text), expected, "{family}: {text:?}");
                compared += 1;
            }
        }
    };
    let python: &[&str] = &[
        "",
        "on=True",
        "on=False, kind=None",
        "kind=2",
        r#"kind="it's""#,
        r"kind='it\'s'",
        r#"kind="it\u0027s""#,
        r"kind='b\\c'",
        r#"zip="a'""#,
        r#"zip='a"'"#,
        r#"zip="a\"""#,
        r#"short="\u00e9\n""#,
        r#"short="\xa0\U0001f600""#,
        r"short='\x1b\U0010FFFF'",
        "short='\u{1F600}x'",
        "list=[]",
        "list=['a', \"b\"]",
        "map={}",
        "map={'a-b': -1.5, \"c\": ''}",
        "map={'c' : \"\" }",
        "on=True,list=[ 'a' ]",
    ];
    let no_python: &[&str] = &[
        "kind=true",
        "on=1",
        "on = True",
        r"kind='it's'",
        r"zip='a\''",
        "zip='abc'",
        "short='abc'",
        r#"short="\n\n\n""#,
        r#"short="\x4""#,
        r#"short="\x41\x41\x41""#,
        r#"short="\U00110000""#,
        r#"short="\U0000d800""#,
        "list=['a' 'b']",
        "list=[\n]",
        "map={a: ''}",
        "map={'a-b': ''}",
        "map={'a-b\": 1}",
        "on=True,",
        "on=True on=True",
    ];
    for (family, marks) in [
        ("llama_4", ("[f(", ")]")),
        ("olmo_3", ("f(", ")")),
        ("lfm_2", ("<|tool_call_start|>[f(", ")]<|tool_call_end|>")),
    ] {
        check_values(family, marks, python, no_python);
        let json_words = ["on=true", "kind=null"];
        let (right, wrong): (&[&str], &[&str]) =
            if family == "llama_4" { (&[], &json_words) } else { (&json_words, &[]) };
        check_values(family, marks, right, wrong);
    }
    for (family, open, close, quote) in [
        ("gemma_3", "<start_function_call>call:f{", "}<end_function_call>", "<escape>"),
        ("gemma_4", "<|tool_call>call:f{", "}<tool_call|>", "<|\"|>"),
    ] {
        let right = [
            "",
            "on:true,kind:null",
            "kind:2",
            "kind:'it's'",
            r"kind:'b\c'",
            "zip:'a\"'",
            "short:'\n\"'",
            "list:[]",
            "list:['','a]}']",
            "map:{}",
            "map:{a-b:1e30,c:''}",
        ];
        let wrong = [
            "on:True",
            "kind:'c'",
            "zip:'abc'",
            "short:'abc'",
            "list:[ ]",
            "list:['a', 'b']",
            "map:{'c':''}",
            "map:{a-b:''}",
            "on:true,",
        ];
        let quoted = |texts: &[&str]| -> Vec<String> {
            texts
                .iter()
                .map(|text| text.replace("it's", "it#s").replace('\'', quote).replace('#', "'"))
                .collect()
        };
        let (right, wrong) = (quoted(&right), quoted(&wrong));
        let (right, wrong): (Vec<&str>, Vec<&str>) =
            (right.iter().map(|text| &**text).collect(), wrong.iter().map(|text| &**text).collect());
        check_values(family, (open, close), &right, &wrong);
    }
    assert!(compared > 140, "{compared}");
}

/// Names that a notation cannot write are refused at their places.
#[test]
fn names_that_cannot_be_written() {
    for (family, name, property, place) in [
        ("llama_4", "a-b", "c", "/0/name"),
        ("llama_4", "a.b", "c-d", "/0/parameters"),
        ("gemma_4", "a", "c d", "/0/parameters"),
        ("gemma_4", "a", "c-d", ""),
    ] {
        let schema = json!({"type": "object", "properties": {property: {"type": "string"}}});
        let request = json!([{"type": "function", "name": name, "parameters": schema}]);
        let request = ToolRequest::from_value(&request.clone().into()).unwrap();
        let format = ToolFormat::named(family).unwrap();
        match compiler().tools(format, &request, &StructuralTagOptions::default()) {
            Ok(_) => assert_eq!(place, "", "{family}"),
            Err(error) => {
                assert!(!place.is_empty() && error.to_string().contains(place), "{family}: {error}")
            }
        }
    }
}

/// Marks around answers that are no calls.
#[test]
fn marked_answers() {
    use ParallelCalls::{Allowed, Off};
    for (family, open, close) in [
        ("cohere", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        ("cohere_command_a", "<|START_TEXT|>", "<|END_TEXT|>"),
        ("ernie_4_5", "<response>", "</response>"),
    ] {
        let case = CASES.iter().find(|case| case.family == family).unwrap();
        // The marks are special tokens, which free text does not hold.
        let bytes = (0..=255_u8).map(|byte| vec![byte]);
        let marks = [open, close, "<stop>"].map(|mark| mark.as_bytes().to_vec());
        let options = VocabularyOptions::default().special_ids([256, 257]).stop_ids([258]);
        let vocabulary = Vocabulary::from_tokens(bytes.chain(marks).map(Some), &options).unwrap();
        let compiler = Compiler::new(vocabulary);
        let tokens = |text: &str| -> Vec<u32> {
            let mut tokens = Vec::new();
            let mut rest = text;
            while let Some(first) = rest.bytes().next() {
                let mark = [(open, 256), (close, 257)].into_iter().find(|(mark, _)| rest.starts_with(mark));
                let length = mark.map_or(1, |(mark, _)| mark.len());
                tokens.push(mark.map_or(u32::from(first), |(_, id)| id));
                // Texts here are ASCII.
                rest = &rest[length..];
            }
            tokens
        };
        let reads = |request: &ToolRequest, text: &str| {
            let tag = ToolFormat::named(family).unwrap().structure(request).unwrap();
            let compiled = compiler.tag(&tag, &StructuralTagOptions::default()).unwrap();
            let mut matcher = compiled.matcher();
            let ids: Vec<_> =
                tokens(text).into_iter().map(|id| compiled.vocabulary().id(id).unwrap()).collect();
            ids.into_iter().all(|id| matcher.accept_token(id).is_ok()) && matcher.is_completed()
        };
        let answer = format!("{open}It is sunny.{close}");
        let call = calls(case, &[case.weather]);
        for parallel in [Allowed, Off] {
            let auto = json!({"tools": tools()});
            let auto = ToolRequest::from_value(&auto.clone().into())
                .unwrap()
                .reasoning(Reasoning::Disabled)
                .parallel(parallel);
            for text in [&answer, &call, &format!("{open}Let me see.{close}{call}"), "Hello."] {
                assert!(reads(&auto, text), "{family} {parallel:?} {text}");
            }
            assert_eq!(reads(&auto, &format!("{call}{answer}")), parallel == Allowed);
            let required = json!({"tools": tools(), "tool_choice": "required"});
            let required = ToolRequest::from_value(&required.clone().into())
                .unwrap()
                .reasoning(Reasoning::Disabled)
                .parallel(parallel);
            assert!(reads(&required, &call) && !reads(&required, &answer), "{family}");
            assert_eq!(reads(&required, &format!("{call}{answer}")), parallel == Allowed);
        }
        let none = ToolRequest::new().reasoning(Reasoning::Disabled);
        assert!(reads(&none, &answer) && reads(&none, "Hello.") && !reads(&none, &call));
        let typed = json!({"response_format": {"type": "json_object"}});
        let typed = ToolRequest::from_value(&typed.clone().into()).unwrap().reasoning(Reasoning::Disabled);
        assert!(
            reads(&typed, "{}") && reads(&typed, &format!("{open}{{}}{close}")) && !reads(&typed, &answer)
        );
    }
}

/// The lines that may be before a call that is required, or stands in place of an answer in a response format.
#[test]
fn lines_before_a_required_call() {
    for (family, lead) in [
        ("deepseek_v3_2", "\n\n"),
        ("deepseek_v4", "\n\n"),
        ("deepseek_v4_1", "\n\n"),
        ("glm_4_5", "\n"),
        ("firefunction_2", " "),
        ("apriel", "\n"),
    ] {
        let case = CASES.iter().find(|case| case.family == family).unwrap();
        let one = calls(case, &[case.weather]);
        let named = json!({"type": "function", "function": {"name": "weather"}});
        for request in [
            json!({"tools": tools(), "tool_choice": "required"}),
            json!({"tools": tools(), "tool_choice": named}),
            json!({"tools": tools(), "response_format": {"type": "json_object"}}),
        ] {
            let request = ToolRequest::from_value(&request.clone().into()).unwrap();
            check(
                family,
                &compiled(family, &request.reasoning(Reasoning::Disabled)),
                &[&one, &format!("{lead}{one}")],
                &[&format!("\t{one}"), &format!("{lead} {one}")],
            );
        }
    }
}

/// A response format is for answers without calls. Where a call has to be made, or text precedes one, it changes nothing.
#[test]
fn a_response_format_leaves_calls_as_they_are() {
    let structure = |format: &ToolFormat, choice: &Value, response: Option<Value>, parallel| {
        let mut request = json!({"tools": tools(), "tool_choice": choice});
        if let Some(response) = response {
            request["response_format"] = response;
        }
        let request = ToolRequest::from_value(&request.clone().into()).unwrap().parallel(parallel);
        [Reasoning::Enabled, Reasoning::Disabled]
            .map(|reasoning| format.structure(&request.clone().reasoning(reasoning)).unwrap().to_value())
    };
    let object = json!({"type": "json_object"});
    for format in ToolFormat::all() {
        for choice in [json!("required"), json!({"type": "function", "function": {"name": "now"}})] {
            for parallel in [ParallelCalls::Allowed, ParallelCalls::Off] {
                let without = structure(&format, &choice, None, parallel);
                let with = structure(&format, &choice, Some(object.clone()), parallel);
                assert_eq!(with, without, "{}", format.name());
            }
        }
    }
    let request = json!({"tools": tools(), "response_format": object});
    let request = ToolRequest::from_value(&request.clone().into()).unwrap().reasoning(Reasoning::Disabled);
    let (text, call) = ("all\nHi.", "now\n{}");
    check(
        "functionary_3_2",
        &compiled("functionary_3_2", &request),
        &[call, "all\n{}", &format!("{text}>>>{call}")],
        &[text, &format!("{text}>>>{{}}")],
    );
}

#[test]
fn requests_are_refused_at_their_places() {
    let refusal = |request: Value| ToolRequest::from_value(&request.clone().into()).unwrap_err().to_string();
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
    let builtin = ToolRequest::from_value(&json!([{"type": "web_search"}]).into()).unwrap();
    assert!(ToolFormat::named("llama").unwrap().structure(&builtin).is_err());
    let schema = json!([{"type": "function", "name": "a", "parameters": {"type": "text"}}]);
    let request = ToolRequest::from_value(&schema.clone().into()).unwrap();
    let error =
        compiler().tools(ToolFormat::named("llama").unwrap(), &request, &StructuralTagOptions::default());
    assert!(error.unwrap_err().to_string().contains("/0/parameters/type"));
}
