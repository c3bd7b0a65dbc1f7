//! `BatchGrammarMatcher`: many texts with one call.

use std::sync::Arc;

use grammask::{BatchMatcher, BatchRow, Threads};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{match_error, raise};
use crate::matcher::GrammarMatcher;
use crate::rows::{LastTensor, MaskRows};

/// Fills and advances many matchers at once. Keep one for a process; its threads start with the first batch.
///
/// Parameters
/// ----------
/// max_threads : int or "auto"
///     Most threads; "auto" is half of the machine's.
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct BatchGrammarMatcher {
    /// Its threads are started late, because they do not survive a fork of the process.
    batch: BatchMatcher,
}

type Borrowed<'py> = PyRefMut<'py, GrammarMatcher>;

/// Borrows every matcher for the time of a call.
fn borrow<'py>(matchers: &[Bound<'py, GrammarMatcher>]) -> PyResult<Vec<Borrowed<'py>>> {
    let borrow = |matcher: &Bound<'py, GrammarMatcher>| {
        matcher.try_borrow_mut().map_err(|_| {
            let message = "a matcher stands in the batch twice, or another thread is using it";
            raise(matcher.py(), "MatcherError", message)
        })
    };
    matchers.iter().map(borrow).collect()
}

fn same_length(py: Python<'_>, matchers: usize, others: usize, what: &str) -> PyResult<()> {
    if matchers == others {
        return Ok(());
    }
    let message = format!("{matchers} matchers and {others} {what}; there must be as many");
    Err(raise(py, "MatcherError", message))
}

#[pymethods]
impl BatchGrammarMatcher {
    #[new]
    #[pyo3(signature = (max_threads=None), text_signature = "(max_threads='auto')")]
    fn new(max_threads: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let auto = || std::thread::available_parallelism().map_or(1, |threads| threads.get() / 2).max(1);
        let threads = match max_threads {
            None => auto(),
            Some(value) if value.cast::<PyString>().is_ok_and(|text| text == "auto") => auto(),
            Some(value) => {
                value.extract::<usize>().ok().filter(|threads| (1..=1024).contains(threads)).ok_or_else(
                    || {
                        raise(
                            value.py(),
                            "GrammaskError",
                            "`max_threads` must be \"auto\" or a number from 1 to 1024",
                        )
                    },
                )?
            }
        };
        // The caller's thread is one of them.
        Ok(Self { batch: BatchMatcher::new(Arc::new(Threads::new(threads - 1))) })
    }

    /// Writes the mask of every matcher into its row of `bitmask`: row `indices[i]`, or row `i`.
    ///
    /// `bitmask` as for `GrammarMatcher.fill_next_token_bitmask`; other rows are not touched. The interpreter's
    /// lock is given up meanwhile. If a matcher fails, the rows of the others are filled all the same before the
    /// exception is raised.
    #[pyo3(signature = (matchers, bitmask, indices=None, debug_print=false))]
    fn batch_fill_next_token_bitmask(
        &self,
        matchers: Vec<Bound<'_, GrammarMatcher>>,
        bitmask: &Bound<'_, PyAny>,
        indices: Option<Vec<i64>>,
        debug_print: bool,
    ) -> PyResult<()> {
        let _ = debug_print;
        let py = bitmask.py();
        let count = i64::try_from(matchers.len()).unwrap_or(i64::MAX);
        let indices = indices.unwrap_or_else(|| (0..count).collect());
        same_length(py, matchers.len(), indices.len(), "indices")?;
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(raise(py, "BitmaskError", "two matchers cannot fill the same row"));
        }
        let rows = MaskRows::of(bitmask, &mut LastTensor::default())?;
        let mut borrowed = borrow(&matchers)?;
        let mut batch = Vec::with_capacity(borrowed.len());
        for (matcher, index) in borrowed.iter_mut().zip(indices) {
            let words = matcher.words();
            #[expect(unsafe_code, reason = "the rows lie in memory that Python owns")]
            // SAFETY: the rows are different ones, and the arguments keep the object alive during the call. Whoever
            // writes to the same rows from another thread meanwhile gets a mask of no meaning.
            let words = unsafe { rows.row(py, index, words)? };
            batch.push(BatchRow { matcher: &mut matcher.matcher, words });
        }
        let outcomes = py.detach(|| self.batch.fill(&mut batch));
        outcomes
            .into_iter()
            .try_for_each(|outcome| outcome.map(drop))
            .map_err(|error| match_error(py, &error))
    }

    /// Writes the temperature of every matcher that has one into `temperatures`: at `indices[i]`, or at `i`.
    #[staticmethod]
    #[pyo3(signature = (matchers, temperatures, indices=None))]
    fn batch_fill_temperature(
        matchers: Vec<Bound<'_, GrammarMatcher>>,
        temperatures: &Bound<'_, PyAny>,
        indices: Option<Vec<i64>>,
    ) -> PyResult<()> {
        let count = i64::try_from(matchers.len()).unwrap_or(i64::MAX);
        let indices = indices.unwrap_or_else(|| (0..count).collect());
        same_length(temperatures.py(), matchers.len(), indices.len(), "indices")?;
        for (matcher, index) in matchers.iter().zip(indices) {
            if let Some(temperature) = matcher.try_borrow_mut()?.temperature(matcher.py())? {
                temperatures.set_item(index, temperature)?;
            }
        }
        Ok(())
    }

    /// `accept_token` of every matcher.
    #[staticmethod]
    #[pyo3(signature = (matchers, tokens, debug_print=false))]
    fn batch_accept_token(
        py: Python<'_>,
        matchers: Vec<Bound<'_, GrammarMatcher>>,
        tokens: Vec<i64>,
        debug_print: bool,
    ) -> PyResult<Vec<bool>> {
        let _ = debug_print;
        same_length(py, matchers.len(), tokens.len(), "tokens")?;
        matchers
            .iter()
            .zip(tokens)
            .map(|(matcher, token)| matcher.try_borrow_mut()?.accept(py, token))
            .collect()
    }

    /// `accept_string` of every matcher.
    #[staticmethod]
    #[pyo3(signature = (matchers, strings, debug_print=false))]
    fn batch_accept_string(
        py: Python<'_>,
        matchers: Vec<Bound<'_, GrammarMatcher>>,
        strings: Vec<Bound<'_, PyAny>>,
        debug_print: bool,
    ) -> PyResult<Vec<bool>> {
        let _ = debug_print;
        same_length(py, matchers.len(), strings.len(), "strings")?;
        let accept = |(matcher, text): (&Bound<'_, GrammarMatcher>, &Bound<'_, PyAny>)| {
            matcher.try_borrow_mut()?.accept_text(py, text)
        };
        matchers.iter().zip(&strings).map(accept).collect()
    }

    /// `rollback` of every matcher, by one number for all or a list.
    #[staticmethod]
    #[pyo3(signature = (matchers, num_tokens=None), text_signature = "(matchers, num_tokens=1)")]
    fn batch_rollback(
        py: Python<'_>,
        matchers: Vec<Bound<'_, GrammarMatcher>>,
        num_tokens: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let steps: Vec<i64> = match num_tokens {
            None => vec![1; matchers.len()],
            Some(number) => match number.extract::<i64>() {
                Ok(number) => vec![number; matchers.len()],
                Err(_) => number.extract()?,
            },
        };
        same_length(py, matchers.len(), steps.len(), "numbers of steps")?;
        matchers
            .iter()
            .zip(steps)
            .try_for_each(|(matcher, steps)| matcher.try_borrow_mut()?.roll_back(py, steps))
    }
}
