//! Random grammars, vocabularies and texts, the same for the same seed on every machine.
//!
//! They are small on purpose: few letters and short rules make overlaps, ambiguity and dead ends frequent, and
//! ten thousand cases cheap. Every knob is a plain field with a documented default.
//!
//! ```
//! use grammask_oracle::{Recogniser, mask, random};
//!
//! for seed in 0..20 {
//!     let case = random::case(seed);
//!     let recogniser = Recogniser::new(&case.grammar);
//!     let chart = recogniser.read(&case.prefix).expect("prefixes are viable");
//!     let expected = mask(&chart, &case.vocabulary);
//!     assert_eq!(expected.len(), case.vocabulary.len());
//! }
//! ```

mod grammar;
mod rng;
mod text;
mod vocabulary;

pub use grammar::{GrammarOptions, any_grammar, grammar};
pub use rng::Rng;
pub use text::{mutate, sentence, walk};
pub use vocabulary::{VocabularyOptions, vocabulary};

use grammask_grammar_ir::Grammar;

use crate::Recogniser;

/// What a property test of an engine needs.
#[derive(Clone, Debug)]
pub struct Case {
    /// A grammar whose language is not empty.
    pub grammar: Grammar,
    /// Tokens, by id. Some have no bytes, some have equal bytes.
    pub vocabulary: Vec<Vec<u8>>,
    /// A text that begins some sentence.
    pub prefix: Vec<u8>,
    /// Any text; often a sentence with a small mistake.
    pub text: Vec<u8>,
}

/// A case with the default knobs.
pub fn case(seed: u64) -> Case {
    case_with(seed, &GrammarOptions::default(), &VocabularyOptions::default())
}

/// A case.
pub fn case_with(seed: u64, grammar_options: &GrammarOptions, options: &VocabularyOptions) -> Case {
    let mut rng = Rng::new(seed);
    let grammar = grammar(&mut rng, grammar_options);
    let recogniser = Recogniser::new(&grammar);
    let vocabulary = vocabulary(&mut rng, &recogniser, options);
    let prefix_length = rng.below(12);
    let prefix = walk(&mut rng, &recogniser, prefix_length);
    let text = match sentence(&mut rng, &recogniser, 12) {
        Some(text) if rng.percent(50) => text,
        Some(text) => mutate(&mut rng, &text),
        None => mutate(&mut rng, &prefix),
    };
    Case { grammar, vocabulary, prefix, text }
}
