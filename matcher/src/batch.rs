//! The masks of many texts at once.

use grammask_earley::Engine;
use grammask_parser_backend::Backend;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::{MaskKind, MatchError, Matcher};

/// A matcher and the words that its mask goes to.
#[derive(Debug)]
pub struct BatchRow<'r, B: Backend = Engine> {
    /// The text.
    pub matcher: &'r mut Matcher<B>,
    /// Room for its mask; see [`Matcher::fill_mask_words`].
    pub words: &'r mut [u32],
}

/// Threads that fill the masks of a batch. Make one for a process, and keep it.
#[derive(Debug)]
pub struct BatchFiller {
    /// `None` where one thread is enough: the caller's own.
    pool: Option<rayon::ThreadPool>,
}

/// The threads could not be started.
#[derive(Debug, thiserror::Error)]
#[error("could not start {threads} threads; ask for fewer")]
pub struct BatchError {
    threads: usize,
    #[source]
    source: rayon::ThreadPoolBuildError,
}

/// Waking another thread costs as much as some tens of masks that are known already.
const FEWEST_ROWS_PER_THREAD: usize = 8;

impl BatchFiller {
    /// A filler with so many threads; with at most one, the calling thread does all.
    ///
    /// # Errors
    ///
    /// Where the system refuses to start them.
    pub fn new(threads: usize) -> Result<Self, BatchError> {
        if threads <= 1 {
            return Ok(Self { pool: None });
        }
        let build = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        build.map(|pool| Self { pool: Some(pool) }).map_err(|source| BatchError { threads, source })
    }

    /// Fills every row. One answer a row, in their order; rows that fail leave the others alone.
    pub fn fill<B: Backend>(&self, rows: &mut [BatchRow<'_, B>]) -> Vec<Result<MaskKind, MatchError>> {
        let fill = |row: &mut BatchRow<'_, B>| row.matcher.fill_mask_words(row.words);
        match &self.pool {
            Some(pool) if rows.len() > FEWEST_ROWS_PER_THREAD => {
                pool.install(|| rows.par_iter_mut().with_min_len(FEWEST_ROWS_PER_THREAD).map(fill).collect())
            }
            _ => rows.iter_mut().map(fill).collect(),
        }
    }
}
