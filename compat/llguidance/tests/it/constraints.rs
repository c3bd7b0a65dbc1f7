//! Texts in steps.

use std::sync::Arc;

use fastrand::Rng;
use toktrie::{InferenceCapabilities, TokEnv, TokTrie, TokenId, TokenizerEnv};

use crate::support::{END, TURN, environment, lark, ours, schema};

/// A step of a constraint: the mask, and the outcome of committing a token of the mask.
#[derive(Debug, PartialEq)]
enum Step {
    /// The mask's tokens, the temperature that it asks for and the one that holds, and the tokens that were committed.
    Token(Vec<TokenId>, Option<f32>, f32, Vec<TokenId>),
    /// The end, the outcome of committing a token after it, and whether another mask is an error.
    End(bool, Vec<TokenId>, bool),
}

/// Takes steps with tokens that a random number chooses. `None` at an error.
macro_rules! walk {
    ($library:ident, $environment:expr, $request:expr, $capabilities:expr, $seed:expr) => {{
        let mut factory = ::$library::ParserFactory::new($environment, $capabilities, &[]).unwrap();
        factory.quiet();
        let grammar = ::$library::api::TopLevelGrammar::from_tagged_str("guidance", $request).unwrap();
        let mut constraint = ::$library::Constraint::new(factory.create_parser(grammar).unwrap());
        constraint.start_without_prompt();
        let (mut rng, mut steps) = (Rng::with_seed($seed), Vec::new());
        for _ in 0..30 {
            let step = constraint.compute_mask().unwrap();
            let Some(mask) = &step.sample_mask else {
                assert!(step.is_stop());
                let after = constraint.commit_token(Some(END)).unwrap();
                steps.push(Step::End(after.stop, after.ff_tokens, constraint.compute_mask().is_err()));
                break;
            };
            let (allowed, asked) = (mask.to_list(), step.temperature);
            let token = allowed[rng.usize(..allowed.len())];
            assert_eq!(constraint.validate_tokens_raw(&[token]).unwrap(), 1);
            constraint = constraint.deep_clone();
            let outcome = constraint.commit_token(Some(token)).unwrap();
            assert_eq!((outcome.stop, outcome.backtrack), (false, 0));
            steps.push(Step::Token(allowed, asked, constraint.temperature, outcome.ff_tokens));
        }
        steps
    }};
}

fn requests() -> Vec<String> {
    vec![
        lark("start: /[ab]{2,4}/"),
        lark(
            r#"start: "<" NAME ("," NAME)* ">"
NAME: /[a-z]{1,4}/"#,
        ),
        lark(
            r#"start: cool+ "." hot
cool[temperature=0.25]: /[0-9]/
hot[temperature=1.5]: /[a-f]{3}/"#,
        ),
        schema(&serde_json::json!({
            "type": "object", "additionalProperties": false, "required": ["name", "arguments"],
            "properties": {"name": {"enum": ["ab", "true"]}, "arguments": {"type": "array", "items": {"type": "boolean"}}},
            "x-guidance": {"whitespace_flexible": false},
        })),
    ]
}

#[test]
fn steps_are_those_of_llguidance() {
    let environment = environment();
    let (mut ends, mut warm) = (0, 0);
    for request in requests() {
        for seed in 0..50 {
            let none = InferenceCapabilities::default;
            let ours = walk!(llguidance, &environment, &request, none(), seed);
            let theirs = walk!(reference, &environment, &request, none(), seed);
            assert_eq!(ours, theirs, "seed {seed}\n{request}");
            ends += ours.iter().filter(|step| matches!(step, Step::End(..))).count();
            warm += ours.iter().filter(|step| matches!(step, Step::Token(_, _, t, _) if *t > 0.0)).count();
        }
    }
    assert!(ends > 100 && warm > 100, "{ends} ends, {warm} steps with a temperature");
}

/// A tokenizer that says of itself that it has one way to cut a text: the longest tokens.
struct Canonical(TokEnv);

impl TokenizerEnv for Canonical {
    fn tok_trie(&self) -> &TokTrie {
        self.0.tok_trie()
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.0.tokenize_bytes(bytes)
    }

    fn tokenize_is_canonical(&self) -> bool {
        true
    }
}

#[test]
fn forced_tokens_come_with_the_token_before_them() {
    let environment: TokEnv = Arc::new(Canonical(environment()));
    let welcome = || InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
    let object = serde_json::json!({"const": {"name": true}, "x-guidance": {"whitespace_flexible": false}});
    let mut most = 0;
    for request in [schema(&object), lark(r#"start: "a" "bcd" /[ef]/"#)] {
        for seed in 0..20 {
            let (mut text, mut tokens) = (Vec::new(), Vec::new());
            for step in walk!(llguidance, &environment, &request, welcome(), seed) {
                if let Step::Token(_, _, _, committed) = step {
                    most = most.max(committed.len());
                    text.extend(environment.tok_trie().decode(&committed));
                    tokens.extend(committed);
                }
            }
            // The text is one that the grammar allows, and no token of it was left to chance where it had to come.
            let mut matcher = ours(&environment, &request);
            assert_eq!(matcher.try_consume_tokens(&tokens).unwrap(), tokens.len());
            assert!(text.starts_with(b"{\"name\":true}") || text.starts_with(b"abcd"), "{text:?}");
        }
    }
    assert!(most > 2, "at most {most} tokens at once");
}

#[test]
fn a_token_needs_a_mask_first() {
    let factory = llguidance::ParserFactory::new_simple(&environment()).unwrap();
    let grammar = llguidance::api::TopLevelGrammar::from_regex("[ab]*");
    let mut constraint = llguidance::Constraint::new(factory.create_parser(grammar).unwrap());
    assert!(constraint.commit_token(Some(97)).is_err());
    constraint.compute_mask().unwrap();
    assert!(constraint.commit_token(None).is_err());
    constraint.compute_mask().unwrap();
    assert!(constraint.commit_token(Some(99)).is_err());
    constraint.compute_mask().unwrap();
    assert_eq!(constraint.commit_token(Some(TURN)).unwrap().ff_tokens, [TURN]);
    assert!(constraint.step_result().is_none());
    assert!(constraint.compute_mask().unwrap().is_stop());
}
