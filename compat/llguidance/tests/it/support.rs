//! A tokenizer, and one interface to both libraries.

use std::sync::Arc;

use toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};

pub(crate) const END: u32 = 256;
pub(crate) const CALL: u32 = 257;
pub(crate) const TURN: u32 = 258;

/// Words of more than one byte.
const WORDS: [&str; 14] =
    ["ab", "tr", "ue", "true", "{\"", "\":", ", ", "\": ", "12", "name", "argum", "ents", "é", "\"}"];

/// A tokenizer of all bytes, some words, and special tokens, two of which end a text.
pub(crate) fn environment() -> TokEnv {
    let mut words: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    words.extend([&b"\xff<|end|>"[..], b"\xff<|call|>", b"\xff<|turn|>"].map(<[u8]>::to_vec));
    words.extend(WORDS.map(|word| word.as_bytes().to_vec()));
    // An id without bytes.
    words.push(Vec::new());
    let info = TokRxInfo::new(u32::try_from(words.len()).unwrap(), END);
    let trie = TokTrie::from(&info, &words).with_eos_tokens(&[END, TURN]);
    Arc::new(ApproximateTokEnv::new(trie))
}

/// A call to a matcher.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Consume(Vec<u32>),
    TryConsume(Vec<u32>),
    Validate(Vec<u32>),
    Mask,
    MaskOrEnd,
    Rollback(usize),
    Reset,
    Clone,
}

/// The answer to a call, and the state after it. Messages are each library's own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// `None` for an error.
    pub(crate) value: Option<Vec<u32>>,
    pub(crate) stop: String,
    pub(crate) is_stopped: bool,
    pub(crate) is_accepting: Option<bool>,
    pub(crate) is_error: bool,
}

/// A matcher of one of the libraries.
pub(crate) trait Subject: Clone {
    fn call(&mut self, call: &Call) -> Option<Vec<u32>>;
    fn state(&mut self, value: Option<Vec<u32>>) -> Answer;
    fn mask_or_end(&mut self) -> Option<SimpleVob>;
    fn is_stopped(&self) -> bool;

    fn answer(&mut self, call: &Call) -> Answer {
        let value = self.call(call);
        self.state(value)
    }
}

macro_rules! subject {
    ($library:ident, $make:ident) => {
        impl Subject for ::$library::Matcher {
            fn call(&mut self, call: &Call) -> Option<Vec<u32>> {
                let count = |count: usize| vec![u32::try_from(count).unwrap()];
                match call {
                    Call::Consume(tokens) => self.consume_tokens(tokens).ok().map(|()| Vec::new()),
                    Call::TryConsume(tokens) => self.try_consume_tokens(tokens).ok().map(count),
                    Call::Validate(tokens) => self.validate_tokens(tokens).ok().map(count),
                    Call::Mask => self.compute_mask().ok().map(|mask| mask.to_list()),
                    Call::MaskOrEnd => self.compute_mask_or_eos().ok().map(|mask| mask.to_list()),
                    Call::Rollback(count) => self.rollback(*count).ok().map(|()| Vec::new()),
                    Call::Reset => self.reset().ok().map(|()| Vec::new()),
                    Call::Clone => {
                        *self = self.deep_clone();
                        Some(Vec::new())
                    }
                }
            }

            fn state(&mut self, value: Option<Vec<u32>>) -> Answer {
                Answer {
                    value,
                    stop: self.stop_reason().to_string(),
                    is_stopped: self.is_stopped(),
                    is_accepting: self.is_accepting().ok(),
                    is_error: self.is_error(),
                }
            }

            fn mask_or_end(&mut self) -> Option<SimpleVob> {
                self.compute_mask_or_eos().ok()
            }

            fn is_stopped(&self) -> bool {
                ::$library::Matcher::is_stopped(self)
            }
        }

        /// A matcher for the JSON of a list of grammars, as a request carries it.
        pub(crate) fn $make(environment: &TokEnv, request: &str) -> ::$library::Matcher {
            let mut factory = ::$library::ParserFactory::new_simple(environment).unwrap();
            factory.quiet();
            let grammar = ::$library::api::TopLevelGrammar::from_tagged_str("guidance", request);
            ::$library::Matcher::new(grammar.and_then(|grammar| factory.create_parser(grammar)))
        }
    };
}

subject!(llguidance, ours);
subject!(reference, theirs);

/// The request for a grammar in Lark's notation.
pub(crate) fn lark(source: &str) -> String {
    serde_json::json!({"grammars": [{"lark_grammar": source}]}).to_string()
}

/// The request for a JSON Schema.
pub(crate) fn schema(schema: &serde_json::Value) -> String {
    serde_json::json!({"grammars": [{"json_schema": schema}]}).to_string()
}

/// Ids of single bytes.
pub(crate) fn bytes(text: &str) -> Vec<u32> {
    text.bytes().map(u32::from).collect()
}
