//! Drafts and forced text: what speculating engines ask of a matcher.

use std::time::Instant;

use grammask::{Backend, DraftError, DraftRow, DraftTree, Interrupt, Matcher, OtherRows, TokenId};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{is_compat, is_empty_mask, match_error, raise, warn};
use crate::forks::detach;
use crate::interrupt::deadline;
use crate::metrics::DRAFT;
use crate::rows::MaskRows;

/// A tree of draft tokens as engines encode it.
pub(crate) struct Tree {
    child: Vec<i64>,
    sibling: Vec<i64>,
    token: Vec<i64>,
}

impl Tree {
    pub(crate) fn of(
        child: &Bound<'_, PyAny>,
        sibling: &Bound<'_, PyAny>,
        token: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self { child: numbers(child)?, sibling: numbers(sibling)?, token: numbers(token)? })
    }

    /// Fills the rows of the nodes that can be accepted. Says what became of each node, and whether the time was
    /// enough. The masks are computed into memory of this call, since nobody keeps that of the rows meanwhile.
    pub(crate) fn fill<'py, B: Backend>(
        &self,
        py: Python<'py>,
        matcher: &mut Matcher<B>,
        mut rows: impl FnMut() -> PyResult<MaskRows<'py>>,
        words: usize,
        seconds: f64,
    ) -> PyResult<(Vec<DraftRow>, bool)> {
        let wrong = |error: DraftError| {
            let name =
                if matches!(error, DraftError::BufferTooSmall(_)) { "BitmaskError" } else { "MatcherError" };
            raise(py, name, error.to_string())
        };
        let tree = DraftTree::from_arrays(&self.child, &self.sibling, &self.token).map_err(wrong)?;
        // xgrammar takes 0 for no limit, too.
        let limit = (seconds != 0.0).then(|| deadline(seconds)).flatten();
        let interrupt = limit.unwrap_or_else(Interrupt::never);
        // As many rows as there is room for: a tree with more nodes is refused for it.
        let count = rows()?.count_of(py, words)?.min(self.token.len());
        let mut masks = vec![0; count * words];
        let start = Instant::now();
        let filled =
            detach(py, || matcher.fill_draft_masks(&tree, &mut masks, words, OtherRows::Keep, &interrupt));
        let filled = filled.map_err(wrong)?;
        DRAFT.observe(py, start.elapsed())?;
        let mut rows = rows()?;
        if rows.count_of(py, words)? < filled.len() {
            return Err(raise(py, "BitmaskError", "the bitmask has lost rows during the call"));
        }
        // xgrammar clears the rows of tokens that are refused, and of texts that have ended.
        let is_written = |row: &DraftRow| match row {
            DraftRow::Filled(_) => true,
            DraftRow::Refused | DraftRow::Ended => is_compat(),
            DraftRow::Failed(error) => is_empty_mask(error),
            _ => false,
        };
        for (place, _) in filled.iter().enumerate().filter(|(_, row)| is_written(row)) {
            #[expect(unsafe_code, reason = "the rows lie in memory that Python owns")]
            // SAFETY: no Python code is called in this loop.
            let row = unsafe { rows.row(place) };
            row.copy_from_slice(&masks[place * words..][..words]);
        }
        for row in &filled {
            match row {
                DraftRow::Failed(error) if is_empty_mask(error) => warn(py, &error.to_string())?,
                DraftRow::Failed(error) => return Err(match_error(py, error)),
                _ => {}
            }
        }
        let is_whole = interrupt.check().is_ok() || !filled.contains(&DraftRow::Skipped);
        Ok((filled, is_whole))
    }

    /// The temperatures of rules behind each node.
    pub(crate) fn temperatures<B: Backend>(
        &self,
        py: Python<'_>,
        matcher: &mut Matcher<B>,
    ) -> PyResult<Vec<Option<f32>>> {
        let tree = DraftTree::from_arrays(&self.child, &self.sibling, &self.token)
            .map_err(|error| raise(py, "MatcherError", error.to_string()))?;
        matcher.draft_temperatures(&tree).map_err(|error| match_error(py, &error))
    }
}

/// The numbers of a list, an array or a tensor.
fn numbers(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match values.call_method0("tolist") {
        Ok(list) => list.extract(),
        Err(_) => values.extract(),
    }
}

/// The tokens of the forced text that the model would write in any case, as a `ForcedTokens`.
pub(crate) fn forced_tokens<'py, B: Backend>(
    matcher: &mut Matcher<B>,
    encode: &Bound<'py, PyAny>,
    context: &[i64],
) -> PyResult<Bound<'py, PyAny>> {
    let py = encode.py();
    let vocabulary = std::sync::Arc::clone(matcher.grammar().vocabulary());
    let known = |id: i64| u32::try_from(id).ok().and_then(|id| vocabulary.id(id));
    let read = |&id: &i64| {
        known(id).ok_or_else(|| raise(py, "MatcherError", format!("token {id} is not in the vocabulary")))
    };
    let context = context.iter().map(read).collect::<PyResult<Vec<TokenId>>>()?;
    let mut failure = None;
    let forced = matcher.forced_tokens(&context, |bytes| {
        // Tokenizers encode text; bytes that end inside a character are none.
        let text = std::str::from_utf8(bytes).ok().filter(|_| failure.is_none())?;
        match encode.call1((text,)).and_then(|tokens| numbers(&tokens)) {
            Ok(tokens) => tokens.into_iter().map(known).collect(),
            Err(error) => {
                failure = Some(error);
                None
            }
        }
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let forced = forced.map_err(|error| match_error(py, &error))?;
    let details = PyDict::new(py);
    details.set_item("tokens", forced.tokens.iter().map(|id| id.get()).collect::<Vec<u32>>())?;
    details.set_item("rollback", forced.rollback)?;
    py.import("grammask._support")?.getattr("ForcedTokens")?.call((), Some(&details))
}
