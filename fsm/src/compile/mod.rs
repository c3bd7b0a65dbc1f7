//! The order of the passes, on one page.
//!
//! A grammar and options come in, a program goes out ([`pipeline::compile`]). Here it is decided which passes run, in
//! which order, and which rules are taken from those that the options keep. A new pass is a file in
//! `passes` and a line in [`pipeline`]. This folder imports `build` and `passes`.

pub(crate) mod find_shared_rules;
pub(crate) mod pipeline;
