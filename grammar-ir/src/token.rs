//! Tokens of a vocabulary, as a grammar names them.

use std::fmt;

/// A token of the vocabulary that a text is written with: by its id, or by its name as long as no vocabulary is
/// known. [`resolve_tokens`](crate::passes::resolve_tokens) turns names into ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenRef {
    /// The token with this id.
    Id(u32),
    /// The special token with this name, or else the text token with exactly these bytes.
    Name(Box<str>),
    /// The special token with this name. A vocabulary where it is a text token is refused, because the rest of the grammar
    /// was made for a token that no text can be.
    Special(Box<str>),
}

impl TokenRef {
    /// The id of no token: a symbol that is read after a value that has occurred twice. Rules name it as an option
    /// alone. See [`RuleOptions`](crate::RuleOptions).
    pub const REPEATED: u32 = u32::MAX;
}

impl From<u32> for TokenRef {
    fn from(id: u32) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for TokenRef {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

/// The id, or the name in double quotes.
impl fmt::Display for TokenRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::Name(name) | Self::Special(name) => write!(formatter, "\"{}\"", name.escape_debug()),
        }
    }
}
