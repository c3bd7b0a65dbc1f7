//! A text that is no value of a type.

/// A text, or a call of a tool, that is no value of the type. `Display` says what is wrong, and of a text that
/// is no JSON at which line and column.
///
/// A text that a [`TypedGrammar`](crate::TypedGrammar) has let pass can end here if a type asks for more than its
/// schema. Examples are a check in a `Deserialize` of one's own, a float beyond its type, and more than 128 values inside
/// one another.
#[derive(Debug, thiserror::Error)]
#[error("the text is no value of the type: {0}")]
pub struct ReadError(#[from] serde_json::Error);
