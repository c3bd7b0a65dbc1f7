//! Vocabularies, tries, slices and masks against their definitions.

mod slices;
mod support;
mod tokenizer_json;
mod tokenizer_json_errors;
mod trie;
mod vocabulary;
