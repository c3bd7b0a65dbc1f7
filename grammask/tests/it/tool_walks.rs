//! Masks of tool formats against the naive recogniser, with the marks of the families as special tokens.
//!
//! Each walk follows an answer, cut into tokens at random, and strays from it near its end. Masks are
//! compared bit by bit with the recogniser's answers for every token. It reads the grammar in one piece; the
//! engine reads one that was linked from the grammars of the tools.

use std::collections::BTreeSet;

use grammask::tool_formats::{ParallelCalls, Reasoning};
use grammask::{
    CompiledGrammar, Compiler, StructuralTagOptions, TokenId, TokenMask, ToolFormat, ToolRequest, Vocabulary,
    VocabularyOptions,
};
use grammask_grammar_ir::passes::resolve_tokens;
use grammask_oracle::{Derivations, Recogniser};
use serde_json::{Value, json};

use crate::tool_families::{Around, CASES};
use crate::tool_formats::{notation_tools, tools};

/// A vocabulary: the bytes of all answers and some more, pieces of them, and their marks as special tokens.
struct Words {
    compiler: Compiler,
    bytes: Vec<Vec<u8>>,
    /// Special tokens are these and all that follow.
    first_special: usize,
}

const PIECES: &[&str] = &[
    "weather",
    "wea",
    "ther",
    "\"weather\"",
    "Paris",
    "Par",
    "is\"",
    "\": ",
    "\", \"",
    "{\"",
    "\"}",
    "}}",
    "city",
    "days",
    " 3",
    "3}",
    "}\n",
    ">{",
    "name",
    "\"name\": \"",
    "parameters",
    "arguments",
    "<function=",
    "=weather>",
    "</",
    "</function>",
    "</parameter>\n",
    "<parameter=",
    "key",
    "value",
    "\n",
    "Hm.",
    "Hello",
    ". ",
    "call",
    "<",
    ">",
    "]",
    "[{\"",
    "}]",
    "now",
    "<tool",
    "_call>",
    "<|",
    "|>",
    "functions.",
    "to=",
    " json",
    "commentary",
    "final",
    "analysis",
    "\u{e9}",
    "\u{4e2d}",
];

impl Words {
    fn new(texts: &[String]) -> Self {
        let used: BTreeSet<u8> =
            texts.iter().flat_map(|text| text.bytes()).chain(*b"q07~'\\\xc3\xa9").collect();
        let mut bytes: Vec<Vec<u8>> = used.into_iter().map(|byte| vec![byte]).collect();
        bytes.extend(PIECES.iter().filter(|piece| piece.len() > 1).map(|piece| piece.as_bytes().to_vec()));
        let first_special = bytes.len();
        let marks: BTreeSet<&str> = texts.iter().flat_map(|text| marks(text)).collect();
        bytes.extend(marks.into_iter().map(|mark| mark.as_bytes().to_vec()));
        bytes.push(b"<stop>".to_vec());
        let count = u32::try_from(bytes.len()).unwrap();
        let special = u32::try_from(first_special).unwrap()..count;
        let options = VocabularyOptions::default().special_ids(special).stop_ids([count - 1]);
        let vocabulary = Vocabulary::from_tokens(bytes.iter().map(Some), &options).unwrap();
        Self { compiler: Compiler::new(vocabulary), bytes, first_special }
    }

    fn ids(&self) -> impl Iterator<Item = TokenId> + '_ {
        (0..self.bytes.len() as u32).filter_map(|id| self.compiler.vocabulary().id(id))
    }

    fn is_special(&self, id: TokenId) -> bool {
        id.get() as usize >= self.first_special
    }

    /// The bytes of a text token.
    fn text(&self, id: TokenId) -> &[u8] {
        if self.is_special(id) { &[] } else { &self.bytes[id.get() as usize] }
    }

    fn stop(&self) -> TokenId {
        self.compiler.vocabulary().stop_tokens()[0]
    }

    /// A text as tokens: marks as themselves, the rest cut at random.
    fn cut(&self, text: &str, random: &mut fastrand::Rng) -> Vec<TokenId> {
        let mut rest = text.as_bytes();
        let mut tokens = Vec::new();
        // The length of the text before the next mark.
        let mut free = 0;
        while !rest.is_empty() {
            let spelled = |id: &TokenId| rest.starts_with(&self.bytes[id.get() as usize]);
            if free == 0 {
                free = (0..rest.len()).find(|&at| self.starts_with_mark(&rest[at..])).unwrap_or(rest.len());
            }
            let id = match free {
                0 => {
                    let special = self.ids().filter(|&id| self.is_special(id)).filter(spelled);
                    special.max_by_key(|id| self.bytes[id.get() as usize].len()).unwrap()
                }
                // A piece must not swallow the beginning of a mark.
                _ => {
                    let pieces = self.ids().filter(|&id| !self.is_special(id)).filter(spelled);
                    let pieces: Vec<TokenId> = pieces.filter(|&id| self.text(id).len() <= free).collect();
                    pieces[random.usize(..pieces.len())]
                }
            };
            tokens.push(id);
            let length = self.bytes[id.get() as usize].len();
            free = free.saturating_sub(length);
            rest = &rest[length..];
        }
        tokens
    }

    fn starts_with_mark(&self, text: &[u8]) -> bool {
        self.bytes[self.first_special..].iter().any(|mark| text.starts_with(mark))
    }
}

/// The marks in a text: `<|..|>`, the same with full-width bars, `[UPPER]`, and some tags.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    const TAGS: &[&str] = &[
        "<tool_call>",
        "</tool_call>",
        "<tool_calls>",
        "</tool_calls>",
        "<think>",
        "</think>",
        "<function_call>",
        "<longcat_tool_call>",
        "</longcat_tool_call>",
        "<minimax:tool_call>",
        "</minimax:tool_call>",
        "<mm:think>",
        "</mm:think>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<|tool_call>",
        "<tool_call|>",
        "<escape>",
        "<start_function_call>",
        "<end_function_call>",
        "<ifm|tool_calls>",
        "</ifm|tool_calls>",
        "<ifm|tool_call>",
        "</ifm|tool_call>",
    ];
    let starts = text.char_indices().map(|(at, _)| &text[at..]);
    starts.filter_map(|rest| {
        for (open, close) in [("<|", "|>"), ("<\u{ff5c}", "\u{ff5c}>"), ("[", "]")] {
            let Some(inside) = rest.strip_prefix(open) else { continue };
            let Some((inside, _)) = inside.split_once(close) else { continue };
            let is_name = match open {
                "[" => inside.len() > 3 && inside.chars().all(|c| c.is_ascii_uppercase() || "_/".contains(c)),
                _ => !inside.contains(['<', '>', '|', '\u{ff5c}']),
            };
            if is_name {
                return Some(&rest[..open.len() + inside.len() + close.len()]);
            }
        }
        TAGS.iter().find(|tag| rest.starts_with(**tag)).map(|tag| &rest[..tag.len()])
    })
}

/// An answer in several settings.
struct Answer {
    family: &'static str,
    tools: Value,
    choice: Value,
    reasoning: Reasoning,
    parallel: ParallelCalls,
    text: String,
}

fn answers() -> Vec<Answer> {
    let mut answers = Vec::new();
    for case in CASES {
        let (open, separator, close) = case.section;
        let one = format!("{open}{}{close}", case.weather);
        let two = format!("{open}{}{separator}{}{close}", case.weather, case.now);
        let named = json!({"type": "function", "function": {"name": "weather"}});
        for (choice, says, calls) in [
            (json!("auto"), "Hello. <", true),
            (json!("none"), "Hello.", false),
            (json!("required"), "", true),
            (named, "", true),
        ] {
            let says = if calls && case.around == Around::Nothing { "" } else { says };
            for parallel in [ParallelCalls::Allowed, ParallelCalls::Off] {
                for reasoning in [Reasoning::Enabled, Reasoning::Disabled] {
                    let thoughts = match (reasoning, case.thoughts) {
                        (Reasoning::Enabled, Some((thoughts, _))) => thoughts,
                        (Reasoning::Enabled, None) => continue,
                        _ => "",
                    };
                    let is_single = parallel == ParallelCalls::Off || choice.is_object();
                    let calls = match (calls, is_single) {
                        (false, _) => "",
                        (true, true) => &one,
                        (true, false) => &two,
                    };
                    let text = format!("{thoughts}{says}{calls}");
                    let (family, tools, choice) = (case.family, tools(), choice.clone());
                    answers.push(Answer { family, tools, choice, reasoning, parallel, text });
                }
            }
        }
    }
    let call = "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\": \"Paris\", \"days\": 3}<|call|>";
    let thoughts = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant";
    let says = "<|channel|>final<|message|>Hello.<|return|>";
    let tools = "<|open|>tools<|sep|><|open|>call tool=\"now\" index=\"1\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>";
    let muse = " to=self<|message|>Hm.<|eom|><|start|>assistant to=now<|message|><atem:function_calls>\n<atem:invoke name=\"now\">\n</atem:invoke>\n</atem:function_calls>";
    let (on, off) = (Reasoning::Enabled, Reasoning::Disabled);
    for (family, choice, reasoning, text) in [
        ("harmony", "auto", on, format!("{thoughts}{call}<|start|>assistant{says}")),
        ("harmony", "auto", off, says.to_owned()),
        ("harmony", "none", on, format!("{thoughts}{says}")),
        ("harmony", "required", on, format!("{thoughts}{call}")),
        ("harmony", "required", off, call.to_owned()),
        ("kimi_k3", "auto", on, format!("Hm.<|close|>think<|sep|>{tools}")),
        ("kimi_k3", "required", off, tools.to_owned()),
        ("muse", "auto", on, muse.to_owned()),
    ] {
        let (tools, parallel) = (self::tools(), ParallelCalls::Allowed);
        answers.push(Answer { family, tools, choice: json!(choice), reasoning, parallel, text });
    }
    answers.extend(nested_answers());
    answers
}

/// Values of all kinds in the notations that are not JSON.
fn nested_answers() -> impl Iterator<Item = Answer> {
    let texts = [
        (
            "llama_4",
            r#"[f(on=True, kind='it\'s', zip="a'", list=['a', "\u00e9"], map={'a-b': -1.5, "c": ''})]"#,
        ),
        ("llama_4", r#"[f(kind=None, short="\n\"", list=[]), f()]"#),
        ("olmo_3", "f(on=false, kind=2, map={'c': \"\"})\nf()"),
        (
            "gemma_3",
            "<start_function_call>call:f{kind:<escape>b\\c<escape>,list:[<escape>a<escape>]}<end_function_call>",
        ),
        (
            "gemma_4",
            "<|tool_call>call:f{on:true,zip:<|\"|>a'<|\"|>,map:{a-b:1e30,c:<|\"|><|\"|>}}<tool_call|>",
        ),
    ];
    texts.into_iter().map(|(family, text)| Answer {
        family,
        tools: notation_tools(),
        choice: json!("required"),
        reasoning: Reasoning::Disabled,
        parallel: ParallelCalls::Allowed,
        text: text.to_owned(),
    })
}

#[test]
fn masks_of_all_families_equal_the_oracle() {
    let answers = answers();
    let texts: Vec<String> = answers.iter().map(|answer| answer.text.clone()).collect();
    let words = Words::new(&texts);
    let mut compared = 0;
    for (seed, answer) in answers.iter().enumerate() {
        let request = json!({"tools": answer.tools, "tool_choice": answer.choice});
        let request = ToolRequest::from_value(&request.clone().into()).unwrap();
        let request = request.reasoning(answer.reasoning).parallel(answer.parallel);
        let options = StructuralTagOptions::default();
        let tag = ToolFormat::named(answer.family).unwrap().structure(&request).unwrap();
        let compiled = words.compiler.tag(&tag, &options).unwrap();
        let recogniser = Recogniser::new(
            &resolve_tokens(&tag.grammar(&options).unwrap(), &**words.compiler.vocabulary()).unwrap(),
        );
        for round in 0..rounds() {
            let mut random = fastrand::Rng::with_seed(seed as u64 + 1_000 * round);
            let context = format!("{} {} {:?}, round {round}", answer.family, answer.choice, answer.text);
            compared += walk(&context, &words, &compiled, &recogniser, &answer.text, &mut random);
        }
    }
    assert!(compared > 2_000, "{compared}");
}

/// How many walks there are of each answer: one for each 2,000 cases that `GRAMMASK_CASES` asks for.
fn rounds() -> u64 {
    let cases = std::env::var("GRAMMASK_CASES").ok().and_then(|count| count.parse::<u64>().ok());
    cases.map_or(1, |cases| cases.div_ceil(2_000))
}

/// Follows the text to its end, comparing masks now and then, and strays from it at the end of another walk.
fn walk(
    context: &str,
    words: &Words,
    compiled: &CompiledGrammar,
    recogniser: &Recogniser,
    text: &str,
    random: &mut fastrand::Rng,
) -> usize {
    let mut compared = 0;
    let tokens = words.cut(text, random);
    let strays = random.usize(..=tokens.len());
    for length in [strays, tokens.len()] {
        let mut matcher = compiled.matcher();
        let mut readings = Derivations::new(recogniser);
        for &token in &tokens[..length] {
            if random.u8(..) < 30 {
                check(context, words, &matcher, &readings);
                compared += 1;
            }
            assert!(
                readings.push(token.get(), words.text(token)),
                "{context}: {token:?} is read by the oracle"
            );
            matcher.accept_token(token).unwrap_or_else(|error| panic!("{context}: {token:?}, {error}"));
        }
        let mut allowed = check(context, words, &matcher, &readings);
        if length == tokens.len() {
            assert!(readings.is_complete() && allowed.contains(&words.stop()), "{context}");
        }
        for _ in 0..3 {
            allowed.retain(|&id| id != words.stop());
            if allowed.is_empty() {
                break;
            }
            let token = allowed[random.usize(..allowed.len())];
            assert!(readings.push(token.get(), words.text(token)), "{context}");
            matcher.accept_token(token).unwrap();
            allowed = check(context, words, &matcher, &readings);
        }
        compared += 4;
    }
    compared
}

/// Compares the mask, and returns what it allows.
fn check(
    context: &str,
    words: &Words,
    matcher: &grammask::Matcher,
    readings: &Derivations<'_>,
) -> Vec<TokenId> {
    let mut matcher = matcher.fork();
    let mut mask = TokenMask::new(words.bytes.len());
    matcher.fill_mask(&mut mask).unwrap_or_else(|error| panic!("{context}: {error}"));
    let found: Vec<TokenId> = words.ids().filter(|&id| mask.contains(id)).collect();
    let is_allowed = |id: TokenId| match id == words.stop() {
        true => readings.allows_as_itself(id.get()) || readings.is_complete(),
        false => readings.allows(id.get(), words.text(id)),
    };
    for id in words.ids() {
        let spelled = words.bytes[id.get() as usize].escape_ascii();
        assert_eq!(mask.contains(id), is_allowed(id), "{context}: token \"{spelled}\"");
    }
    found
}
