//! Where the rows of logits and of masks lie in memory, and which belong together.

use crate::error::ApplyError;

/// Shape and strides of a batch of logits and of their masks.
///
/// Logits are `rows` by `columns` elements; strides are counted in elements. Masks are rows of 32-bit words,
/// one bit a token, least significant bit first, 1 for allowed. By default everything is contiguous, each row
/// of logits has the mask row of its own number, and the vocabulary is as large as a row of logits.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    rows: usize,
    columns: usize,
    row_stride: isize,
    column_stride: isize,
    vocabulary: usize,
    mask_stride: Option<usize>,
    selection: Rows<'a>,
    padding: Padding,
}

/// Which rows take part, and which mask row belongs to which row of logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows<'a> {
    /// All of them, each with the mask row of the same number.
    #[default]
    All,
    /// These rows of logits, each with the mask row of the same number. No row twice.
    Same(&'a [u32]),
    /// Mask row `i` belongs to row `list[i]` of the logits. No row twice.
    Packed(&'a [u32]),
}

/// The treatment of logits at and past the end of the vocabulary, which most models have for alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Padding {
    /// They are no tokens, so they are never allowed.
    #[default]
    Forbid,
    /// They stay as they are, and choosing may choose them. This is what most other libraries do.
    Keep,
}

impl<'a> Layout<'a> {
    /// Contiguous rows, one mask row for each.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            row_stride: isize::try_from(columns).unwrap_or(isize::MAX),
            column_stride: 1,
            vocabulary: columns,
            mask_stride: None,
            selection: Rows::All,
            padding: Padding::Forbid,
        }
    }

    /// Elements from the start of one row of logits to the next.
    #[must_use]
    pub fn row_stride(self, elements: isize) -> Self {
        Self { row_stride: elements, ..self }
    }

    /// Elements from one logit of a row to the next. Anything but 1 is applied one by one.
    #[must_use]
    pub fn column_stride(self, elements: isize) -> Self {
        Self { column_stride: elements, ..self }
    }

    /// Tokens that the masks speak of. May be smaller than a row of logits (see [`Padding`]) or larger; bits
    /// past the last logit are not read.
    #[must_use]
    pub fn vocabulary(self, tokens: usize) -> Self {
        Self { vocabulary: tokens, ..self }
    }

    /// Words from the start of one mask row to the next; 0 for one mask for all rows. By default the
    /// vocabulary divided by 32, rounded up.
    #[must_use]
    pub fn mask_stride(self, words: usize) -> Self {
        Self { mask_stride: Some(words), ..self }
    }

    /// Which rows take part.
    #[must_use]
    pub fn select(self, selection: Rows<'a>) -> Self {
        Self { selection, ..self }
    }

    /// Sets the treatment of logits past the end of the vocabulary.
    #[must_use]
    pub fn padding(self, padding: Padding) -> Self {
        Self { padding, ..self }
    }

    /// Logits in a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many rows take part, which is how many results choosing gives.
    #[must_use]
    pub fn selected(&self) -> usize {
        match self.selection {
            Rows::All => self.rows,
            Rows::Same(list) | Rows::Packed(list) => list.len(),
        }
    }
}

/// A layout that was checked: every offset that it names exists, and no two rows of logits share an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) columns: usize,
    /// Logits that a mask bit speaks of.
    pub(crate) masked: usize,
    pub(crate) row_stride: isize,
    pub(crate) column_stride: isize,
    pub(crate) mask_stride: usize,
    pub(crate) count: usize,
    pub(crate) selection: Rows<'a>,
    pub(crate) padding: Padding,
}

/// One row of logits with its mask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) row: usize,
    /// Elements from the base of the logits; an `isize` by the checks of [`Plan::new`].
    pub(crate) logits: isize,
    /// Words from the base of the masks.
    pub(crate) mask: usize,
}

impl<'a> Plan<'a> {
    /// Checks everything that can be checked without knowing how much memory there is.
    pub(crate) fn new(layout: &Layout<'a>) -> Result<Self, ApplyError> {
        let masked = layout.vocabulary.min(layout.columns);
        let words = layout.vocabulary.div_ceil(32);
        let mask_stride = layout.mask_stride.unwrap_or(words);
        if mask_stride != 0 && mask_stride < masked.div_ceil(32) {
            return Err(ApplyError::layout(format!(
                "a mask row has {mask_stride} words and the vocabulary of {} tokens needs {words}; \
                 give a smaller vocabulary or a larger mask stride",
                layout.vocabulary
            )));
        }
        if u32::try_from(layout.columns).is_err() || u32::try_from(layout.rows).is_err() {
            return Err(ApplyError::layout("rows and columns must each be below 2^32"));
        }
        let plan = Self {
            columns: layout.columns,
            masked,
            row_stride: layout.row_stride,
            column_stride: layout.column_stride,
            mask_stride,
            count: layout.selected(),
            selection: layout.selection,
            padding: layout.padding,
        };
        check_selection(layout)?;
        check_strides(layout)?;
        Ok(plan)
    }

    /// Checks in addition that all offsets lie inside slices of these lengths.
    pub(crate) fn for_slices(layout: &Layout<'a>, logits: usize, words: usize) -> Result<Self, ApplyError> {
        let plan = Self::new(layout)?;
        if plan.count == 0 || layout.columns == 0 {
            return Ok(plan);
        }
        if layout.row_stride < 0 || layout.column_stride < 0 {
            return Err(ApplyError::layout("strides below 0 need the functions that take pointers"));
        }
        let rows = plan.jobs().map(|job| job.row).max().map_or(0, |row| row + 1);
        // `check_strides` showed that this does not overflow.
        let needed = (rows - 1) * layout.row_stride.unsigned_abs()
            + (layout.columns - 1) * layout.column_stride.unsigned_abs()
            + 1;
        if needed > logits {
            return Err(ApplyError::layout(format!(
                "the layout reaches over {needed} logits and there are {logits}"
            )));
        }
        let last = plan.jobs().map(|job| job.mask).max().unwrap_or(0);
        let needed = last.saturating_add(plan.masked.div_ceil(32));
        if needed > words {
            return Err(ApplyError::layout(format!(
                "the layout reaches over {needed} words of masks and there are {words}"
            )));
        }
        Ok(plan)
    }

    pub(crate) fn job(&self, index: usize) -> Job {
        let (row, mask) = match self.selection {
            Rows::All => (index, index),
            Rows::Same(list) => (list[index] as usize, list[index] as usize),
            Rows::Packed(list) => (list[index] as usize, index),
        };
        // Rows are below 2^32 and `check_strides` bounds what all of them span.
        Job { row, logits: row as isize * self.row_stride, mask: mask.saturating_mul(self.mask_stride) }
    }

    pub(crate) fn jobs(&self) -> impl Iterator<Item = Job> + '_ {
        (0..self.count).map(|index| self.job(index))
    }
}

/// Every row exists and none is named twice: two threads must never write the same row.
fn check_selection(layout: &Layout<'_>) -> Result<(), ApplyError> {
    let (Rows::Same(list) | Rows::Packed(list)) = layout.selection else { return Ok(()) };
    if let Some(row) = list.iter().find(|&&row| row as usize >= layout.rows) {
        return Err(ApplyError::layout(format!("row {row} is selected and there are {} rows", layout.rows)));
    }
    if list.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ApplyError::layout(format!("row {} is selected twice; name it once", pair[0]))),
        None => Ok(()),
    }
}

/// All offsets fit an `isize`, in bytes too, and no two elements share a place.
fn check_strides(layout: &Layout<'_>) -> Result<(), ApplyError> {
    if layout.rows == 0 || layout.columns == 0 {
        return Ok(());
    }
    let too_far = || ApplyError::layout("rows, columns and strides span more than can be addressed");
    let along = |count: usize, stride: isize| (count - 1).checked_mul(stride.unsigned_abs());
    let down = along(layout.rows, layout.row_stride).ok_or_else(too_far)?;
    let across = along(layout.columns, layout.column_stride).ok_or_else(too_far)?;
    let span = down.checked_add(across).ok_or_else(too_far)?;
    // Four bytes is the largest element.
    if span > isize::MAX as usize / 4 - 1 {
        return Err(too_far());
    }
    let columns_apart = layout.columns == 1 || layout.column_stride != 0;
    let rows_apart = layout.rows == 1
        || layout.row_stride.unsigned_abs() > across
        || (layout.row_stride != 0 && layout.column_stride.unsigned_abs() > down);
    if !columns_apart || !rows_apart {
        return Err(ApplyError::layout(
            "rows of logits overlap; copy broadcast logits before a mask is applied to them",
        ));
    }
    Ok(())
}
