//! The JSON lexer: the states between two bytes, and the one form of numbers.
//!
//! Bytes come in one by one ([`read_json`](super::read_json) steps the states); strings decoded, numbers in one form,
//! and the places of brackets, commas and colons go out. The parser has judged each byte before, so nothing is refused
//! here for being malformed. The form of a scalar can change here alone, as long as two scalars that JSON Schema calls
//! equal have equal forms. This folder imports nothing of the crate.

pub(super) mod number;
pub(super) mod state;
