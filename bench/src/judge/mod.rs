//! Judges of what engines answer: the naive recogniser, and validators of documents.
//!
//! A vocabulary and a chart, or a schema and a document come in; a verdict goes out. Imports nothing of this program.

pub(crate) mod documents;
mod masks;

pub(crate) use masks::{SortedVocabulary, differences};
