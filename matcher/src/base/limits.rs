//! Bounds on the cost of one grammar and of one call.

use grammask_grammar_ir::setters;

/// Bounds on memory and work. Each leads to an error that names it, never to a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes that the parser tables of one grammar may hold before they are begun anew. Default 48 MiB.
    pub max_table_bytes: usize,
    /// Bytes that the masks of one grammar may hold before those that were not used for longest go. Default 64 MiB.
    pub max_mask_bytes: usize,
    /// Bytes that the masks shared by the grammars of one compiler may hold before those that were not used for
    /// longest go. Default 64 MiB.
    pub max_pool_bytes: usize,
    /// Bytes that all grammars of one compiler may hold together, tables and masks, before those that were not used
    /// for longest go; see [`Budget`](crate::Budget). Default 1 GiB.
    pub max_total_bytes: usize,
    /// Bytes of all that a compiler keeps by the content of its source, grammars and the parts of structural tags; 0 to
    /// keep nothing. Default 48 MiB. Sizes are summed up whenever a sixteenth of it was added.
    pub max_cache_bytes: usize,
    /// Parses that may be alive at once. Default 100,000.
    pub max_items_per_set: usize,
    /// Bytes for the items and names of one text that must differ from one another, while their arrays and
    /// objects are open. Each takes 48 bytes beside its own. Default 16 MiB.
    pub max_distinct_bytes: usize,
    /// Units of work of one call, about 50 ns each. Default 16,000,000.
    pub max_work_per_call: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_table_bytes: 48 << 20,
            max_mask_bytes: 64 << 20,
            max_pool_bytes: 64 << 20,
            max_total_bytes: 1 << 30,
            max_cache_bytes: 48 << 20,
            max_items_per_set: 100_000,
            max_distinct_bytes: 16 << 20,
            max_work_per_call: 16_000_000,
        }
    }
}

setters! { Limits {
    max_table_bytes: usize,
    max_mask_bytes: usize,
    max_pool_bytes: usize,
    max_total_bytes: usize,
    max_cache_bytes: usize,
    max_items_per_set: usize,
    max_distinct_bytes: usize,
    max_work_per_call: u64,
} }
