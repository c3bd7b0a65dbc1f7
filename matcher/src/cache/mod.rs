//! The caches between compilations, and the memory that they may hold.
//!
//! Keys come in (a syntax, options, a source text), and compiled values go out: grammars, and the parts of structural
//! tags. The budget counts the bytes of all tables and drops the least recently used ones. The
//! search, the counting and the eviction of entries may be changed here alone, because a miss only costs
//! time. This folder imports `base`; the budget sees grammars and caches through two traits, so that it need
//! not know them.

pub(crate) mod budget;
pub(crate) mod compile_cache;
#[cfg(feature = "json-schema")]
pub(crate) mod options_key;
