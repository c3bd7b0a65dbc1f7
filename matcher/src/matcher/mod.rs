//! Following one text.
//!
//! A compiled grammar comes in, then tokens and bytes; masks, forced text, captures and explanations go out. A
//! matcher is a history of states over shared tables, and every call that fails leaves it as it was: this must hold
//! for each new method. The layout of the type is measured, since each token touches its first three cache lines.
//! This folder imports `base`, `grammar` and `unique`.

pub(crate) mod attributes;
pub(crate) mod draft;
pub(crate) mod explain;
pub(crate) mod fill;
pub(crate) mod forced;
pub(crate) mod mask_kind;
#[allow(clippy::module_inception, reason = "the folder is named after its main type")]
pub(crate) mod matcher;
pub(crate) mod stop_tokens;
pub(crate) mod switch;

mod accept;
mod attribute_tracker;
mod forced_bytes;
mod history;
mod rollback;
mod tables;
mod unique_steps;
