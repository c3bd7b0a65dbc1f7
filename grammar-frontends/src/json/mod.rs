//! JSON values: in the order of the text, with numbers as they are written.
//!
//! A schema means `1.0` where it says `1.0`, however long a number is, and many writers keep to the order in which it
//! names the members. `serde_json` keeps both only with features that change what it does for everybody in a program, so
//! that this crate does not ask for them. `serde_json` still says what is wrong with a broken text, and its values can be
//! turned into [`JsonValue`].

// In the order in which they build on one another.
mod error;
pub(crate) mod borrowed;
mod parse;
mod value;

pub use error::JsonError;
pub(crate) use parse::{parse, parse_prefix};
pub use value::{JsonObject, JsonValue};
