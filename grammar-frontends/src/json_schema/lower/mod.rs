//! From normal forms to rules. The goal of the root comes in; a grammar goes out, with one rule for each value, array
//! and object that the root reaches. One file writes one kind of value. How a set is written may change here alone. Imports
//! `document`, `sets` and `normalize`.

pub(super) mod containers;
pub(super) mod contains;
pub(super) mod digits;
pub(super) mod distinct_marks;
pub(super) mod enumerated;
pub(super) mod escapes;
pub(super) mod exponents;
pub(super) mod lowering;
pub(super) mod markup;
pub(super) mod multiples;
mod nonempty;
pub(super) mod notation;
pub(super) mod numbers;
pub(super) mod objects;
pub(super) mod obligations;
pub(super) mod productive;
pub(super) mod punctuation;
mod readings;
mod remainders;
pub(super) mod strings;
mod whole_numbers;
pub(super) mod unique_enumerated;
pub(super) mod unique_items;
pub(super) mod value_counts;
