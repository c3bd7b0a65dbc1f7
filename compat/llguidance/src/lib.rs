//! The items of llguidance that mistral.rs and llama-cpp-2 use, over grammask.
//!
//! A program takes this crate in place of llguidance with one entry of its manifest:
//!
//! ```toml
//! [patch.crates-io]
//! llguidance = { path = "grammask/compat/llguidance" }
//! ```
//!
//! The program and its engine stay as they are: names, signatures and the meaning of calls are those of llguidance
//! 1.9.1, over the library [`toktrie`] itself.
//!
//! ```
//! use llguidance::api::TopLevelGrammar;
//! use llguidance::toktrie::ApproximateTokEnv;
//! use llguidance::{Matcher, ParserFactory};
//!
//! let factory = ParserFactory::new_simple(&ApproximateTokEnv::single_byte_env())?;
//! let mut matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_regex("[0-9]{2}")));
//! let mask = matcher.compute_mask_or_eos()?;
//! assert_eq!(mask.to_list(), (b'0'..=b'9').map(u32::from).collect::<Vec<_>>());
//! matcher.consume_tokens(&[b'4'.into(), b'2'.into()])?;
//! assert!(matcher.is_stopped());
//! # anyhow::Ok(())
//! ```
//!
//! # When not to use it
//!
//! A new program uses `grammask`, which has more to offer: batches, drafts, captures, structural tags.
//!
//! # What differs
//!
//! - A mask is exact. llguidance allows a single token where its tokenizer would write that one; here every token is
//!   allowed that [`Matcher::consume_token`] would accept. [`Matcher::compute_ff_tokens`] names forced tokens.
//! - A grammar is no sequence of terminals: a text is allowed if the grammar can read it in some way.
//! - Numbers of JSON are spelled as serialisers print them, with zeros at the end of a fraction. `2.50` is
//!   allowed; `3e4` is not.
//! - Where a text can only end, its end-of-text token is accepted.
//! - A text of `max_tokens` tokens is stopped, and its mask allows the end alone. llguidance fails at the next token.
//! - A grammar of a list that no other grammar refers to is not read.
//! - Grammars that are refused, and the reasons, are grammask's.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod api;
mod factory;
mod mask;
mod matcher;
mod token_parser;
mod constraint;

pub use constraint::{CommitResult, Constraint};
pub use factory::ParserFactory;
pub use matcher::Matcher;
pub use token_parser::TokenParser;
pub use toktrie;
