//! Many texts at once.
//!
//! The naive way to fill the masks of a batch in parallel hands each thread a share of the rows. Most rows are
//! copies of masks that are known, some 0.3 us each, and waking a thread costs ten times as much; a few have to be
//! computed, for up to milliseconds; and rows that are at the same place of the same grammar would compute the same
//! mask side by side. So the rows are told apart first:
//!
//! 1. rows whose mask is known are copied by the caller's thread (by all threads where there are very many);
//! 2. of the others, rows of equal state form a group, and one row of each group is computed. Where there is more
//!    than one group, threads of the pool and the caller's own take them from one queue, so that a slow row keeps
//!    no other waiting;
//! 3. the rest of each group finds its mask known, and is copied.

use std::borrow::BorrowMut;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use grammask_earley::Engine;
use grammask_mask_cache::{TokenId, words_for};
use grammask_parser_backend::Backend;

use crate::base::buffer_size::BufferTooSmall;
use crate::base::error::MatchError;
use crate::base::threads::Threads;
use crate::matcher::mask_kind::{MaskKind, MaskLookup};
use crate::matcher::matcher::Matcher;

/// A matcher and the words that its mask goes to.
#[derive(Debug)]
pub struct BatchRow<'r, B: Backend = Engine> {
    /// The text.
    pub matcher: &'r mut Matcher<B>,
    /// Room for its mask; see [`Matcher::fill_mask_words`].
    pub words: &'r mut [u32],
}

/// Serves many matchers with one call, on several threads where that pays. Answers are the same with any number of
/// threads. Make one for a process, and keep it.
#[derive(Clone, Debug)]
pub struct BatchMatcher {
    threads: Arc<Threads>,
    copies_per_thread: NonZeroUsize,
}

impl BatchMatcher {
    /// How many known masks there are by default for each thread that is woken to copy some of them.
    ///
    /// `cargo xtask bench threads` on two cores of an AMD EPYC: copying a mask of 128,000 tokens takes 0.39 us, and a
    /// second thread 6 us at best and 14 us in the median before it helps, as much as 15 to 35 copies. It would
    /// pay from twice that on; four times the median is on the safe side where cores are busy.
    pub const COPIES_PER_THREAD: NonZeroUsize = NonZeroUsize::new(128).expect("it is not 0");

    /// Uses threads that others may use too. They start with the first batch that needs them.
    pub fn new(threads: Arc<Threads>) -> Self {
        Self { threads, copies_per_thread: Self::COPIES_PER_THREAD }
    }

    /// How many known masks there must be for each thread that is woken to copy some of them, in place of
    /// [`COPIES_PER_THREAD`](Self::COPIES_PER_THREAD). Answers do not depend on it.
    #[must_use]
    pub fn copies_per_thread(mut self, copies: NonZeroUsize) -> Self {
        self.copies_per_thread = copies;
        self
    }

    /// The threads in use.
    pub fn threads(&self) -> &Arc<Threads> {
        &self.threads
    }

    /// Fills every row. One answer a row, in their order; rows that fail leave the others alone.
    ///
    /// [`MaskKind::Unchanged`] marks the rows whose mask is the one that their matcher filled last: what was
    /// transferred to a device then needs no second transfer. The words are written in any case.
    pub fn fill<B: Backend>(&self, rows: &mut [BatchRow<'_, B>]) -> Vec<Result<MaskKind, MatchError>> {
        let mut answers: Vec<Option<Result<MaskKind, MatchError>>> = Vec::new();
        answers.resize_with(rows.len(), || None);
        let (mut cached, mut first, mut later) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::with_hasher(ahash::RandomState::new());
        // So few that all are copied by this thread, on the spot.
        let copies = self.copies_per_thread.get();
        let few = self.threads.count() == 0 || rows.len() < copies;
        for (row, answer) in rows.iter_mut().zip(&mut answers) {
            match if few { row.matcher.fill_if_cached(row.words) } else { row.matcher.look_up_mask() } {
                MaskLookup::Filled(kind) => *answer = Some(Ok(kind)),
                MaskLookup::Cached => cached.push(FillTask { row, answer }),
                MaskLookup::Missing(name) if seen.insert(name) => first.push(FillTask { row, answer }),
                MaskLookup::Missing(_) => later.push(FillTask { row, answer }),
            }
        }
        match first.len() {
            0 | 1 => first.into_iter().for_each(FillTask::run),
            groups => self.run(first, groups, 1),
        }
        cached.append(&mut later);
        let helpers = cached.len() / copies;
        self.run(cached, helpers, (copies / 4).max(1));
        answers.into_iter().map(|answer| answer.unwrap_or(Err(MatchError::Terminated))).collect()
    }

    /// As [`fill`](Self::fill), into one piece of memory: the mask of matcher `i` goes to words `i * stride` on.
    ///
    /// # Errors
    ///
    /// Where there is too little room; nothing is written then.
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

    /// Runs tasks on the calling thread and at most `helpers` others, each of which takes some at a time.
    fn run<B: Backend>(&self, tasks: Vec<FillTask<'_, '_, B>>, helpers: usize, at_a_time: usize) {
        let helpers = helpers.min(self.threads.count());
        let pool = if helpers == 0 { None } else { self.threads.pool() };
        let Some(pool) = pool else { return tasks.into_iter().for_each(FillTask::run) };
        let queue = Mutex::new(tasks.into_iter());
        let work = || {
            loop {
                let some: Vec<_> =
                    queue.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(at_a_time).collect();
                if some.is_empty() {
                    break;
                }
                some.into_iter().for_each(FillTask::run);
            }
        };
        pool.in_place_scope(|scope| {
            (0..helpers).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    }
}

/// A batch has more or fewer tokens than matchers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{matchers} matchers and {tokens} tokens; give each matcher one token")]
pub struct TokenCountError {
    matchers: usize,
    tokens: usize,
}

/// One row to fill, and the place of its answer.
struct FillTask<'t, 'r, B: Backend> {
    row: &'t mut BatchRow<'r, B>,
    answer: &'t mut Option<Result<MaskKind, MatchError>>,
}

impl<B: Backend> FillTask<'_, '_, B> {
    fn run(self) {
        *self.answer = Some(self.row.matcher.fill_mask_words(self.row.words));
    }
}
