//! The whole, from outside: what a hostile or careless user meets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "what was measured is shown with `--nocapture`")]

mod bounds;
mod broken;
mod common;
mod exact;
mod memory;
mod rust_types;
mod structural_tags;
mod threads;
mod tool_families;
mod tool_formats;
mod tool_walks;
