//! The frontends from outside: languages against independent judges, texts back and forth, and reports.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod ebnf;
mod gbnf;
mod json_schema;
mod json_schema_docs;
mod json_schema_drafts;
mod json_schema_errors;
mod json_schema_multiples;
mod json_schema_obligations;
mod json_schema_order;
mod json_schema_refusals;
mod json_schema_scale;
mod json_schema_spelling;
mod json_schema_unevaluated;
mod json_schema_whitespace;
mod json_values;
mod lark;
mod lark_commit;
mod regex_ecma;
mod regex_language;
mod reports;
mod reports_json;
mod reports_regex;
mod robustness;
mod schema_texts;
mod structural_tag;
mod structural_tag_ends;
mod structural_tag_pieces;
mod structural_tag_triggers;
mod substrings;

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The time that this thread has run. Other processes cannot make a test fail then.
fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}
