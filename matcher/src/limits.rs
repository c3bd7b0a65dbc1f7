//! What one grammar and one call may cost.

/// Bounds on memory and work. Each leads to an error that names it, never to a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]

pub struct Limits {
    /// Bytes that the parser tables of one grammar may hold before they are begun anew. Default 64 MiB.
    pub max_table_bytes: usize,
    /// Bytes that the masks of one grammar may hold before they are dropped. Default 64 MiB.
    pub max_mask_bytes: usize,
    /// Bytes that the masks shared by the grammars of one compiler may hold. Default 64 MiB.
    pub max_pool_bytes: usize,
    /// Parses that may be alive at once. Default 50,000.
    pub max_items_per_set: usize,
    /// Units of work of one call, about 50 ns each. Default 20,000,000.
    pub max_work_per_call: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_table_bytes: 64 << 20,
            max_mask_bytes: 64 << 20,
            max_pool_bytes: 64 << 20,
            max_items_per_set: 50_000,
            max_work_per_call: 20_000_000,
        }
    }
}
