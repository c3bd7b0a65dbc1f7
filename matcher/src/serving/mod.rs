//! Help for servers: many texts with one call, compiling while the prompt is read, masks computed ahead of time.
//!
//! Compilers, grammars and matchers come in; the same answers go out as without this folder, only sooner. So
//! its scheduling, its thresholds and its guesses may be changed freely. This folder imports `base`,
//! `compile`, `grammar` and `matcher`, and only the crate's root imports it.

pub(crate) mod background;
pub(crate) mod batch;
pub(crate) mod warm;
