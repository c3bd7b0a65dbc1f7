//! JSON documents as texts that a grammar reads: spelled at random, with their members in any order, walked out
//! of a grammar, and spoilt.
//!
//! A validator judges values; a grammar has texts. One value has many texts: escapes, spaces, zeros at the end of
//! a fraction, orders of members. [`Spelled`] is a value of which everything is fixed but the orders.
//!
//! Values come in, and texts go out. Imports `subject`.

mod judged;
mod mutate;
mod orders;
mod spelling;
mod walk;

pub use judged::{is_judged_rightly, is_schema_judged_rightly, sorted};
pub(crate) use mutate::{NAMES, number};
pub use mutate::{mutated, random_value};
pub use orders::{accepts, accepts_some_order};
pub use spelling::{Spelled, Spelling};
pub use walk::walk;
