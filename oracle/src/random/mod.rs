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
//!
//! A seed comes in, and grammars, tokens and texts go out. Imports `recogniser` and `chart`. A change here changes the
//! cases of every seed that other tests name.

mod case;
mod grammar;
mod rng;
mod text;
mod vocabulary;

pub use case::{Case, case, case_with};
pub use grammar::{GrammarOptions, any_grammar, grammar};
pub use rng::Rng;
pub use text::{mutate, sentence, walk};
pub use vocabulary::{VocabularyOptions, vocabulary};
