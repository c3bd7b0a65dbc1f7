//! The calls that mistral.rs and llama-cpp-2 make, in their order.

use std::sync::Arc;

use toktrie::{SimpleVob, TokEnv};

use crate::support::{CALL, END, TURN, bytes, environment, lark, schema};

/// Numbers that a model could give for a token at some place of a text: always the same.
fn logit(seed: u64, place: usize, token: u32) -> f32 {
    let mut rng = fastrand::Rng::with_seed(seed ^ ((place as u64) << 40) ^ u64::from(token) << 8);
    let liked = matches!(token, 32..=126 | 259..) || [END, TURN, CALL].contains(&token);
    rng.f32() + if liked { 1.0 } else { 0.0 } - if token == 32 { 0.9 } else { 0.0 }
}

fn best(seed: u64, place: usize, size: u32, bias: Option<&SimpleVob>) -> u32 {
    let allowed = (0..size).filter(|&token| bias.is_none_or(|mask| mask.is_allowed(token)));
    allowed.max_by(|&one, &other| logit(seed, place, one).total_cmp(&logit(seed, place, other))).unwrap()
}

macro_rules! clients {
    ($library:ident) => {
        mod $library {
            use super::*;
            use ::$library::api::{GrammarWithLexer, TopLevelGrammar};
            use ::$library::{Matcher, ParserFactory};

            /// As mistral.rs samples: freely first, and under the mask if that token is not allowed.
            pub(super) fn mistral_step(matcher: &mut Matcher, seed: u64, place: usize, size: u32) -> u32 {
                let first = best(seed, place, size, None);
                let is_fine = !matcher.is_stopped() && matcher.validate_tokens(&[first]).unwrap_or(0) == 1;
                let mut token = first;
                if !is_fine {
                    let mask = matcher.compute_mask_or_eos().unwrap();
                    if !mask.is_allowed(first) {
                        token = best(seed, place, size, Some(&mask));
                    }
                }
                if !matcher.is_stopped() {
                    matcher.consume_token(token).unwrap();
                }
                token
            }

            pub(super) fn mistral(environment: &TokEnv, request: &str, seed: u64, most: usize) -> Vec<u32> {
                let factory = Arc::new(ParserFactory::new_simple(environment).unwrap());
                let grammar: TopLevelGrammar = serde_json::from_str(request).unwrap();
                let parser = factory.create_parser(grammar).unwrap();
                let mut matcher = Box::new(Matcher::new(Ok(parser)));
                let size = u32::try_from(factory.tok_env().tok_trie().vocab_size()).unwrap();
                let mut text = Vec::new();
                while text.len() < most && !text.last().is_some_and(|token| [END, TURN].contains(token)) {
                    let place = text.len();
                    text.push(mistral_step(&mut matcher, seed, place, size));
                }
                text
            }

            /// A draft of three tokens at a time, which is taken back and sampled again; a wrong one ends it.
            pub(super) fn mistral_speculative(environment: &TokEnv, request: &str, seed: u64) -> Vec<u32> {
                let factory = ParserFactory::new_simple(environment).unwrap();
                let grammar: TopLevelGrammar = serde_json::from_str(request).unwrap();
                let mut matcher = Matcher::new(factory.create_parser(grammar));
                let size = u32::try_from(environment.tok_trie().vocab_size()).unwrap();
                let mut text: Vec<u32> = Vec::new();
                while text.len() < 40 && !matcher.is_stopped() {
                    let mut draft = Vec::new();
                    while draft.len() < 3 && !matcher.is_stopped() {
                        // The draft model sees some places as the target does.
                        let place = text.len() + draft.len();
                        let seed = if place % 4 == 3 { seed + 1 } else { seed };
                        draft.push(mistral_step(&mut matcher, seed, place, size));
                    }
                    matcher.rollback(draft.len()).unwrap();
                    for guess in draft {
                        let place = text.len();
                        text.push(mistral_step(&mut matcher, seed, place, size));
                        if text.last() != Some(&guess) {
                            break;
                        }
                    }
                }
                text
            }

            /// As the sampler of llama-cpp-2: `apply` on every candidate, `accept` until the matcher has stopped, `reset`
            /// between texts, and a clone that goes its own way.
            pub(super) fn llama(environment: &TokEnv, request: &str, seed: u64) -> Vec<Vec<u32>> {
                let mut factory = ParserFactory::new_simple(environment).unwrap();
                factory.quiet();
                let grammar = TopLevelGrammar::from_lark_or_grammar_list(request).unwrap();
                let mut matcher = Matcher::new(factory.create_parser(grammar));
                let size = u32::try_from(environment.tok_trie().vocab_size()).unwrap();
                let step = |matcher: &mut Matcher, seed, place| {
                    let mask = matcher.compute_mask_or_eos().unwrap();
                    let token = best(seed, place, size, Some(&mask));
                    if !matcher.is_stopped() {
                        matcher.consume_token(token).unwrap();
                    }
                    token
                };
                let mut texts = Vec::new();
                for text_seed in [seed, seed + 100] {
                    let mut text = Vec::new();
                    let mut other = None;
                    while text.len() < 40 && !text.last().is_some_and(|token| [END, TURN].contains(token)) {
                        if text.len() == 4 {
                            other = Some((matcher.deep_clone(), text.clone()));
                        }
                        text.push(step(&mut matcher, text_seed, text.len()));
                    }
                    texts.push(text);
                    if let Some((mut clone, mut text)) = other {
                        for place in text.len()..20 {
                            text.push(step(&mut clone, text_seed + 7, place));
                        }
                        texts.push(text);
                    }
                    matcher.reset().unwrap();
                }
                texts
            }

            /// Grammars as engines build them in Rust, one of them changed as text.
            pub(super) fn tools() -> TopLevelGrammar {
                let schema = serde_json::json!({
                    "type": "object", "properties": {"name": {"const": "ab"}}, "required": ["name"],
                    "additionalProperties": false, "x-guidance": {"whitespace_flexible": false},
                });
                let mut grammar = TopLevelGrammar::from_lark("start: call+\ncall: <|call|> @arguments".to_owned());
                grammar.grammars.push(GrammarWithLexer {
                    name: Some("arguments".to_owned()),
                    json_schema: Some(schema),
                    ..GrammarWithLexer::default()
                });
                if let Some(source) = &mut grammar.grammars[0].lark_grammar {
                    source.push_str(" (<|end|> \"!\")?");
                }
                grammar
            }
        }
    };
}

clients!(llguidance);
clients!(reference);

/// Structures over which both libraries have the same masks.
fn requests() -> Vec<String> {
    let fixed = serde_json::json!({"whitespace_flexible": false});
    let calls = serde_json::json!({"grammars": [
        {"lark_grammar": CALLS}, {"name": "arguments", "json_schema": {"type": "boolean"}},
    ]});
    vec![
        calls.to_string(),
        lark(LIST),
        lark("start: /[a-c]{2,5}(é|true)*/"),
        schema(&serde_json::json!({
            "type": "object", "required": ["name", "arguments"], "additionalProperties": false, "x-guidance": fixed,
            "properties": {"name": {"enum": ["ab", "true"]}, "arguments": {"enum": [null, [], true]}},
        })),
        schema(&serde_json::json!({
            "anyOf": [
                {"type": "boolean"},
                {"type": "array", "items": {"type": "string", "pattern": "^[a-d]{1,3}$"}, "maxItems": 2},
            ],
            "x-guidance": fixed,
        })),
    ]
}

const CALLS: &str = r#"
start: (text | call)* tail
text: /[a-z ]{1,6}/ "."
call: <|call|> NAME "(" @arguments ")"
NAME: "ab" | "name"
tail: "!"
"#;

const LIST: &str = r#"
start: <|call|> %json {
    "type": "array", "items": {"enum": ["ab", null, true]}, "maxItems": 3, "x-guidance": {"whitespace_flexible": false}
}
"#;

#[test]
fn mistral_rs_writes_the_same_text() {
    let environment = environment();
    for (request, seed) in requests().iter().flat_map(|request| (0..40).map(move |seed| (request, seed))) {
        let text = llguidance::mistral(&environment, request, seed, 40);
        assert_eq!(text, reference::mistral(&environment, request, seed, 40), "seed {seed}\n{request}");
        let text = llguidance::mistral_speculative(&environment, request, seed);
        assert_eq!(
            text,
            reference::mistral_speculative(&environment, request, seed),
            "seed {seed}\n{request}"
        );
    }
}

#[test]
fn llama_cpp_2_writes_the_same_text() {
    let environment = environment();
    for (request, seed) in requests().iter().flat_map(|request| (0..40).map(move |seed| (request, seed))) {
        let texts = llguidance::llama(&environment, request, seed);
        assert_eq!(texts, reference::llama(&environment, request, seed), "seed {seed}\n{request}");
    }
}

#[test]
fn grammars_that_refer_to_others() {
    let environment = environment();
    let factory = ::llguidance::ParserFactory::new_simple(&environment).unwrap();
    let mut one = ::llguidance::Matcher::new(factory.create_parser(llguidance::tools()));
    let factory = ::reference::ParserFactory::new_simple(&environment).unwrap();
    let mut other = ::reference::Matcher::new(factory.create_parser(reference::tools()));
    let text = [vec![CALL], bytes(r#"{"name":"ab"}"#), vec![CALL], bytes("{")].concat();
    for token in text {
        let mask = one.compute_mask().unwrap();
        assert_eq!(mask.to_list(), other.compute_mask().unwrap().to_list());
        one.consume_token(token).unwrap();
        other.consume_token(token).unwrap();
    }
}

/// Engines keep matchers in sequences that move between threads, and samplers that threads share.
#[test]
fn types_may_be_shared() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<::llguidance::ParserFactory>();
    is_shared::<::llguidance::Matcher>();
    is_shared::<::llguidance::TokenParser>();
}
