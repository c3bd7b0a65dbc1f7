//! Programs that were compiled before, inside a new one.
//!
//! Rules with their programs come in ([`LinkedProgram`](scope::LinkedProgram)); build sees each as one fragment
//! without states, and emission copies the tables or refers to them. This folder decides which, and renumbers. It
//! imports `program` only.

pub(crate) mod symbols;
pub(crate) mod scope;
