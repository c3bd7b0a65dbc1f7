//! From a schema to its normal form. A node of the document comes in; the normal form of its assertions and applicators
//! goes out, each computed once. One file reads one group of keywords, so that the meaning of a keyword may change in
//! its file alone. The order in which keywords are read decides which error is reported and how rules are numbered.
//! Imports `document` and `sets`.

pub(super) mod applicators;
pub(super) mod arrays;
pub(super) mod closing;
pub(super) mod difference;
pub(super) mod evaluated;
pub(super) mod members_beside;
pub(super) mod normalizer;
pub(super) mod numbers;
pub(super) mod objects;
pub(super) mod one_of;
pub(super) mod proofs;
pub(super) mod rule_origins;
pub(super) mod schema;
pub(super) mod strings;
pub(super) mod types;
pub(super) mod unevaluated;
