//! Items and names that must differ from one another, compared outside of the parser.
//!
//! Bytes of a text and the backend's states come in, and for each byte a verdict goes out: it was read, or with it
//! a value would occur twice. This folder is the only one of this crate that knows JSON: it lexes strings, numbers
//! and words, decodes them, and brings them into one form. Everything here may be changed, as long as a value is
//! refused at the first byte after which only repeated values remain. This folder imports `base`.

mod json_lexer;
mod value;
pub(crate) mod scopes;
mod read_json;
mod completions;
mod refused_tokens;
mod endings;
