//! Configurations of the parser, as callers keep them.

use super::ids::{SLOTS, SetId};

/// A configuration: a set and the counts of the repeats that it has open. 16 bytes; equal configurations have
/// equal futures. It belongs to the engine that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub(crate) set: SetId,
    /// Slots that the set does not use are 0.
    pub(crate) counts: [u32; SLOTS],
}
