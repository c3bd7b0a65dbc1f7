//! Sizes of tables.

/// How much the tables of an engine hold now, in entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Sets of parses: the states without their counts.
    pub sets: usize,
    /// Objects that sets share: contexts, nodes of stacks.
    pub contexts: usize,
}
