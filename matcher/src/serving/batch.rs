//! Many texts at once.
//!
//! The naive way to fill the masks of a batch in parallel hands each thread a share of the rows. Most rows
//! are copies of masks that are known, some 0.3 us each, and waking a thread costs ten times as much. A few
//! have to be computed, for up to milliseconds. Rows at the same place of the same grammar would compute the
//! same mask side by side. So the rows are sorted first:
//!
//! 1. rows whose mask is known are copied by the caller's thread;
//! 2. of the others, rows of equal state form a group, and one mask is computed for each. Where there is more than one
//!    group, threads of the pool help ([`parallel_map`]). They compute from tables that all share and touch no row, so
//!    the caller needs none of them: it never waits for a thread that the system does not run;
//! 3. the rest of each group finds its mask known, and is copied.

use std::borrow::BorrowMut;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use grammask_earley::Engine;
use grammask_mask_cache::{TokenId, words_for};
use grammask_parser_backend::Backend;

use crate::base::buffer_size::BufferTooSmall;
use crate::base::error::MatchError;
use crate::base::parallel_map::parallel_map;
use crate::base::threads::Threads;
use crate::matcher::fill::MaskJob;
use crate::matcher::mask_kind::{MaskKind, MaskLookup};
use crate::matcher::matcher::Matcher;

/// A matcher and the words that its mask goes to.
pub struct BatchRow<'r, B: Backend = Engine> {
    /// The text.
    pub matcher: &'r mut Matcher<B>,
    /// Room for its mask; see [`Matcher::fill_mask_words`].
    pub words: &'r mut [u32],
}

impl<B: Backend> fmt::Debug for BatchRow<'_, B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("BatchRow");
        fields.field("matcher", self.matcher).field("words", &self.words.len()).finish()
    }
}

/// Serves many matchers with one call, on several threads where that pays. Answers are the same with any number of
/// threads. Make one for a process, and keep it.
#[derive(Clone, Debug)]
pub struct BatchMatcher {
    threads: Arc<Threads>,
}

impl BatchMatcher {
    /// Uses threads that others may use too. They start with the first batch that needs them.
    pub fn new(threads: Arc<Threads>) -> Self {
        Self { threads }
    }

    /// The threads in use.
    pub fn threads(&self) -> &Arc<Threads> {
        &self.threads
    }

    /// Fills every row. One answer a row, in their order; rows that fail leave the others alone.
    ///
    /// [`MaskKind::Unchanged`] marks the rows whose mask is the one that their matcher filled last: a copy on
    /// a device needs no second transfer then. The words are written in any case.
    pub fn fill<B: Backend>(&self, rows: &mut [BatchRow<'_, B>]) -> Vec<Result<MaskKind, MatchError>> {
        let mut answers: Vec<Option<Result<MaskKind, MatchError>>> = Vec::new();
        answers.resize_with(rows.len(), || None);
        let (mut first, mut later) = (Vec::new(), Vec::new());
        let mut seen = HashSet::with_hasher(ahash::RandomState::new());
        for (row, answer) in rows.iter_mut().zip(&mut answers) {
            match row.matcher.fill_if_cached(row.words) {
                MaskLookup::Filled(kind) => *answer = Some(Ok(kind)),
                // One row for each missing mask. Other rows of the same state wait, and find the mask in the
                // memo.
                MaskLookup::Missing(name) if seen.insert(name) => first.push((row, answer)),
                MaskLookup::Other | MaskLookup::Missing(_) => later.push((row, answer)),
            }
        }
        // One mask is computed by the caller itself; waking a thread for it would only take longer.
        if self.threads.count() > 0 && first.len() > 1 {
            let jobs = first.iter().map(|(row, _)| row.matcher.mask_job()).collect();
            let computed = parallel_map(&self.threads, jobs, 1, MaskJob::run);
            for ((row, answer), mask) in first.drain(..).zip(computed) {
                *answer = Some(row.matcher.fill_computed(mask, row.words));
            }
        }
        // First the rows that compute, then those that copy from them.
        for (row, answer) in first.into_iter().chain(later) {
            *answer = Some(row.matcher.fill_mask_words(row.words));
        }
        answers.into_iter().map(|answer| answer.unwrap_or(Err(MatchError::Terminated))).collect()
    }

    /// As [`fill`](Self::fill), into one piece of memory: the mask of matcher `i` goes to words `i * stride` on.
    ///
    /// # Errors
    ///
    /// Fails if there is too little room; nothing is written then.
    pub fn fill_rows<B: Backend, M: BorrowMut<Matcher<B>>>(
        &self,
        matchers: &mut [M],
        words: &mut [u32],
        stride: usize,
    ) -> Result<Vec<Result<MaskKind, MatchError>>, BufferTooSmall> {
        let row_words =
            matchers.iter().map(|matcher| words_for(matcher.borrow().grammar().vocabulary().len())).max();
        let row_words = row_words.unwrap_or(0);
        BufferTooSmall::check(matchers.len(), stride, row_words, words.len())?;
        let mut left = words;
        let mut rows = Vec::with_capacity(matchers.len());
        for matcher in matchers {
            let (row, rest) = left.split_at_mut(stride.min(left.len()));
            left = rest;
            let filled = row_words.min(row.len());
            rows.push(BatchRow { matcher: matcher.borrow_mut(), words: &mut row[..filled] });
        }
        Ok(self.fill(&mut rows))
    }

    /// Accepts one token for each matcher. One answer a row, in their order. Always on the calling thread: reading
    /// a token takes some tens of nanoseconds.
    ///
    /// # Errors
    ///
    /// Where there are more or fewer tokens than matchers; none is accepted then.
    pub fn accept<B: Backend, M: BorrowMut<Matcher<B>>>(
        &self,
        matchers: &mut [M],
        tokens: &[TokenId],
    ) -> Result<Vec<Result<(), MatchError>>, TokenCountError> {
        if matchers.len() != tokens.len() {
            return Err(TokenCountError { matchers: matchers.len(), tokens: tokens.len() });
        }
        let accept = |(matcher, &token): (&mut M, &TokenId)| matcher.borrow_mut().accept_token(token);
        Ok(matchers.iter_mut().zip(tokens).map(accept).collect())
    }
}

/// A batch has more or fewer tokens than matchers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{matchers} matchers and {tokens} tokens; give each matcher one token")]
pub struct TokenCountError {
    matchers: usize,
    tokens: usize,
}
