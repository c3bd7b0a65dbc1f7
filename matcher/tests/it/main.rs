//! Tests of the matcher as its users see it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod background;
mod by_reference;
mod compile_cache;
mod distinct;
mod distinct_schemas;
mod drafts;
mod forced;
#[cfg(unix)]
mod forks;
mod from_estimate;
mod generations;
mod matching;
mod messages;
mod options;
mod oracle;
mod random;
mod serving;
mod sharing;
#[cfg(feature = "store")]
mod store;
mod strings;
mod switches;
mod switching;
mod tokens;
#[cfg(feature = "schemars")]
mod types;
mod warm;
mod warnings;
