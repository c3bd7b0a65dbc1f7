//! Whether many masks fit into one piece of memory.

/// There is too little room for the masks of many rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{rows} masks of {row_words} words each do not fit into {given} words at a stride of {stride}; \
     give a stride of at least {row_words} and room for every row"
)]
pub struct BufferTooSmall {
    rows: usize,
    row_words: usize,
    stride: usize,
    given: usize,
}

impl BufferTooSmall {
    /// Row `i` has `row_words` words from word `i * stride` on.
    pub(crate) fn check(
        rows: usize,
        stride: usize,
        row_words: usize,
        given: usize,
    ) -> Result<(), BufferTooSmall> {
        let before_last = rows.saturating_sub(1).checked_mul(stride);
        let needed = before_last.and_then(|words| words.checked_add(row_words));
        let overlap = rows > 1 && stride < row_words;
        if rows > 0 && (overlap || needed.is_none_or(|needed| needed > given)) {
            return Err(Self { rows, row_words, stride, given });
        }
        Ok(())
    }
}
