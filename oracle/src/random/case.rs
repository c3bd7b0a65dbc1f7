//! The entry: a grammar with a vocabulary and texts, of a seed.

use grammask_grammar_ir::Grammar;

use super::grammar::{GrammarOptions, grammar};
use super::rng::Rng;
use super::text::{mutate, sentence, walk};
use super::vocabulary::{VocabularyOptions, vocabulary};
use crate::recogniser::Recogniser;

/// The input of a property test of an engine.
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
