//! The one type for switches that change speed or size, never an answer.

/// Whether an optional pass or shortcut is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Toggle {
    /// It is used.
    #[default]
    On,
    /// It is left out, for example to measure its worth.
    Off,
}
