//! The same calls to this crate and to llguidance itself, over one tokenizer of the library `toktrie`.

mod calls;
mod clients;
mod constraints;
mod grammars;
mod support;
mod tokenizer;
