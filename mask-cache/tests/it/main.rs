//! Vocabularies, tries, slices and masks against their definitions.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod automaton;
mod memo;
mod pool;
mod slices;
mod support;
mod token_mask;
mod tokenizer_json;
mod tokenizer_json_errors;
mod trie;
mod vocabulary;
mod ways;
