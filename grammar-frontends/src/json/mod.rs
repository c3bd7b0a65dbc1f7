//! JSON values: in the order of the text, with numbers as they are written.
//!
//! The number `1.0` of a schema is written `1.0`, however long a number is, and members are written in the order
//! in which the schema names them. `serde_json` keeps both only with features, and a feature changes its behaviour
//! for the whole program. So the values here are the crate's own. `serde_json` still names the fault of a broken
//! text, and its values can be turned into [`JsonValue`].

// In the order in which they build on one another.
mod error;
pub(crate) mod borrowed;
mod parse;
pub(crate) mod scan;
mod value;

pub use error::JsonError;
pub(crate) use parse::{parse, parse_prefix};
pub use value::{JsonObject, JsonValue};
