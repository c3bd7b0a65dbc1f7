//! The findings of a check.

/// Something to mend.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    /// Relative to the root, with `:line` where a line is meant.
    pub(super) place: String,
    pub(super) message: String,
}

impl Finding {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}
