//! Sets of tokens that pay in JSON texts: the one place of this crate that knows a concrete syntax.
//!
//! A vocabulary comes in. Out go the lists of whitespace and of digits, the tokens that open a string or begin a number,
//! and the tokens that may hold more than one value. For grammars of other languages these sets apply seldom, and masks
//! are the same without them. The files here may import the other token sets.

pub(crate) mod multi_value;
pub(crate) mod lists;
