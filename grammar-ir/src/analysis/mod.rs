//! Facts about a grammar that need no parsing.
//!
//! A finished grammar comes in and facts about it go out. Each analysis can be changed alone. Imports the grammar and what
//! is below it, and no pass.
//!
//! Every analysis takes time in proportion to the grammar and looks at shared expressions once.
//!
//! | analysis | says | below regular operators |
//! |---|---|---|
//! | [`nullable`] | which expressions derive the empty string | exact |
//! | [`productive`] | which expressions derive anything | *may*: an intersection or complement whose operands derive something may still be empty |
//! | [`reachable`] | which rules the root mentions, directly or not | exact |

mod facts;
mod horn;
mod nullable;
mod productive;
mod reachable;

pub use facts::Facts;
pub use nullable::nullable;
pub use productive::productive;
pub use reachable::reachable;
