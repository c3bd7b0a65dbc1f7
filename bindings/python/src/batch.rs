//! `BatchGrammarMatcher`: many texts with one call.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use grammask::{BatchMatcher, BatchRow, MaskKind, MatchError, StoredMask, Threads};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::arguments::Items;
use crate::engines::{Either, each};
use crate::errors::{match_error, raise, warn};
use crate::forks::detach;
use crate::matcher::{GrammarMatcher, kind_name};
use crate::metrics::BATCH;
use crate::rows::{KnownType, MaskRows};
use crate::subclass::{announce, filling, is_to_be_empty};
use crate::turns::turn;

/// Fills and advances many matchers at once. Keep one for a process; its threads start with the first batch.
///
/// Parameters
/// ----------
/// max_threads : int or "auto"
///     Most threads, and never more than processors; "auto" is half of them.
#[pyclass(frozen, subclass, module = "grammask", weakref, dict)]
pub(crate) struct BatchGrammarMatcher {
    /// Empty until [`__init__`](Self::__init__) of the base class, if a subclass has an own one.
    content: OnceLock<BatchMatcher>,
}

fn with_threads(threads: usize) -> BatchMatcher {
    // More threads than processors take turns. The caller's thread is one of them.
    BatchMatcher::new(Arc::new(Threads::new(threads.min(processors()).saturating_sub(1))))
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn half_of_the_machine() -> usize {
    (processors() / 2).max(1)
}

type Borrowed<'py> = PyRefMut<'py, GrammarMatcher>;

/// Masks one after the other, and whether each was computed.
type Computed = (Vec<u32>, Vec<Result<(), MatchError>>);

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

impl BatchGrammarMatcher {
    fn batch(&self) -> &BatchMatcher {
        self.content.get_or_init(|| with_threads(half_of_the_machine()))
    }

    /// Computes the masks that are not known, into memory of this call: nobody keeps that of the rows meanwhile.
    fn compute(
        &self,
        py: Python<'_>,
        matchers: &mut [Borrowed<'_>],
        known: &[Option<Arc<StoredMask>>],
    ) -> PyResult<Computed> {
        let missing = || known.iter().map(Option::is_none);
        let words = matchers.iter().zip(missing()).filter(|(_, missing)| *missing);
        let mut masks = vec![0; words.map(|(matcher, _)| matcher.words()).sum()];
        if masks.is_empty() {
            return Ok((masks, Vec::new()));
        }
        let missing = matchers.iter_mut().zip(missing()).filter(|(_, missing)| *missing);
        let outcomes = self.fill(py, missing.map(|(matcher, _)| matcher), &mut masks);
        // Only masks of `fill_mask_kind` and `batch_fill_mask_kinds` are compared with the next.
        matchers.iter_mut().for_each(|matcher| matcher.forget_mask());
        Ok((masks, outcomes?.into_iter().map(|outcome| outcome.map(drop)).collect()))
    }

    /// Fills the masks of matchers, one after the other. One answer each, in their order.
    fn fill<'m, 'py: 'm>(
        &self,
        py: Python<'_>,
        matchers: impl Iterator<Item = &'m mut Borrowed<'py>>,
        masks: &mut [u32],
    ) -> PyResult<Vec<Result<MaskKind, MatchError>>> {
        let (mut earley, mut pda) = (Vec::new(), Vec::new());
        let (mut left, mut is_pda) = (masks, Vec::new());
        for matcher in matchers {
            let (words, rest) = left.split_at_mut(matcher.words());
            left = rest;
            is_pda.push(matches!(matcher.matcher, Either::Pda(_)));
            match &mut matcher.matcher {
                Either::Earley(matcher) => earley.push(BatchRow { matcher, words }),
                Either::Pda(matcher) => pda.push(BatchRow { matcher, words }),
            }
        }
        let start = Instant::now();
        let (earley, pda) = detach(py, || (self.batch().fill(&mut earley), self.batch().fill(&mut pda)));
        BATCH.observe(py, start.elapsed())?;
        let (mut earley, mut pda) = (earley.into_iter(), pda.into_iter());
        let next = |is_pda| if is_pda { pda.next() } else { earley.next() };
        Ok(is_pda.into_iter().filter_map(next).collect())
    }
}

/// The rows of a batch: `indices`, or as many as there are matchers.
fn row_numbers(py: Python<'_>, matchers: usize, indices: Option<Items<i64>>) -> PyResult<Vec<i64>> {
    let count = i64::try_from(matchers).unwrap_or(i64::MAX);
    let indices = indices.map_or_else(|| (0..count).collect(), |Items(indices)| indices);
    same_length(py, matchers, indices.len(), "indices")?;
    let mut sorted = indices.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(raise(py, "BitmaskError", "two matchers cannot fill the same row"));
    }
    Ok(indices)
}

/// The places of rows in a bitmask.
fn places(
    py: Python<'_>,
    rows: &MaskRows<'_>,
    borrowed: &[Borrowed<'_>],
    indices: &[i64],
) -> PyResult<Vec<usize>> {
    let places = borrowed.iter().zip(indices);
    places.map(|(matcher, &row)| rows.check(py, row, matcher.words())).collect()
}

#[pymethods]
impl BatchGrammarMatcher {
    #[new]
    #[classmethod]
    #[pyo3(signature = (max_threads=None), text_signature = "(max_threads='auto')")]
    fn new(class: &Bound<'_, PyType>, max_threads: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let threads = match max_threads {
            Some(first) if is_to_be_empty::<Self>(class, first) => {
                return Ok(Self { content: OnceLock::new() });
            }
            None => half_of_the_machine(),
            Some(value) if value.cast::<PyString>().is_ok_and(|text| text == "auto") => half_of_the_machine(),
            Some(value) => {
                value.extract::<usize>().ok().filter(|threads| (1..=1024).contains(threads)).ok_or_else(
                    || {
                        raise(
                            value.py(),
                            "InvalidOptionError",
                            "`max_threads` must be \"auto\" or a number from 1 to 1024",
                        )
                    },
                )?
            }
        };
        Ok(Self { content: with_threads(threads).into() })
    }

    /// Fills an object that `__new__` left empty.
    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        if self.content.get().is_none() {
            let filling = filling::<Self>(args, kwargs)?;
            self.content.get_or_init(|| filling.get().batch().clone());
        }
        Ok(())
    }

    #[classmethod]
    #[pyo3(signature = (**_options))]
    fn __init_subclass__(class: &Bound<'_, PyType>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        announce::<Self>(class)
    }

    /// Writes the mask of every matcher into its row of `bitmask`: row `indices[i]`, or row `i`.
    ///
    /// `bitmask` as for `GrammarMatcher.fill_next_token_bitmask`; other rows are not touched. The interpreter's
    /// lock is given up while masks are computed. If a matcher fails, the rows of the others are filled all the same before the
    /// exception is raised; its own row may hold anything.
    #[pyo3(signature = (matchers, bitmask, indices=None, debug_print=false))]
    fn batch_fill_next_token_bitmask(
        &self,
        matchers: Items<Bound<'_, GrammarMatcher>>,
        bitmask: &Bound<'_, PyAny>,
        indices: Option<Items<i64>>,
        debug_print: bool,
    ) -> PyResult<()> {
        let Items(matchers) = matchers;
        let _ = debug_print;
        let py = bitmask.py();
        let indices = row_numbers(py, matchers.len(), indices)?;
        let mut borrowed = borrow(&matchers)?;
        let known =
            |matcher: &mut Borrowed<'_>| each!(&mut matcher.matcher, matcher => matcher.cached_mask());
        let known: Vec<_> = borrowed.iter_mut().map(known).collect();
        let (masks, computed) = self.compute(py, &mut borrowed, &known)?;
        let (mut masks, mut computed) = (&*masks, computed.into_iter());
        let mut rows = MaskRows::of(bitmask, &mut KnownType::default())?;
        let places = places(py, &rows, &borrowed, &indices)?;
        let (mut failure, mut empty) = (None, None);
        for ((matcher, known), place) in borrowed.iter_mut().zip(known).zip(places) {
            #[expect(unsafe_code, reason = "the rows lie in memory that Python owns")]
            // SAFETY: no Python code is called in this loop; the first failure is told after it.
            let row = unsafe { rows.row(place) };
            let written = match known {
                Some(known) => matcher.write(Ok(known), row).map(drop),
                None => {
                    let (mask, rest) = masks.split_at(row.len());
                    masks = rest;
                    computed.next().unwrap_or(Err(MatchError::Terminated)).map(|()| row.copy_from_slice(mask))
                }
            };
            match written {
                Err(error) if matcher.is_empty_mask(&error) => {
                    row.fill(0);
                    empty = Some(error);
                }
                written => failure = failure.or(written.err()),
            }
        }
        failure.map_or(Ok(()), |error| Err(match_error(py, &error)))?;
        empty.map_or(Ok(()), |error| warn(py, &error.to_string()))
    }

    /// As `batch_fill_next_token_bitmask`, with what `GrammarMatcher.fill_mask_kind` says of each mask. Rows of the answer
    /// `"unchanged"` need no second transfer to a device.
    #[pyo3(signature = (matchers, bitmask, indices=None))]
    fn batch_fill_mask_kinds(
        &self,
        matchers: Items<Bound<'_, GrammarMatcher>>,
        bitmask: &Bound<'_, PyAny>,
        indices: Option<Items<i64>>,
    ) -> PyResult<Vec<&'static str>> {
        let Items(matchers) = matchers;
        let py = bitmask.py();
        let indices = row_numbers(py, matchers.len(), indices)?;
        let mut borrowed = borrow(&matchers)?;
        let mut masks = vec![0; borrowed.iter().map(|matcher| matcher.words()).sum()];
        let kinds = self.fill(py, borrowed.iter_mut(), &mut masks);
        let kinds = kinds.inspect_err(|_| borrowed.iter_mut().for_each(|matcher| matcher.forget_mask()))?;
        let rows = MaskRows::of(bitmask, &mut KnownType::default());
        let places =
            rows.and_then(|rows| places(py, &rows, &borrowed, &indices).map(|places| (rows, places)));
        // Where this raises, the caller need not have copied any row: all are new the next time.
        if places.is_err() || kinds.iter().any(Result::is_err) {
            borrowed.iter_mut().for_each(|matcher| matcher.forget_mask());
        }
        let (mut rows, places) = places?;
        let mut left = &*masks;
        for ((matcher, place), kind) in borrowed.iter().zip(places).zip(&kinds) {
            let (mask, rest) = left.split_at(matcher.words());
            left = rest;
            if kind.is_ok() {
                #[expect(unsafe_code, reason = "the rows lie in memory that Python owns")]
                // SAFETY: no Python code is called in this loop.
                let row = unsafe { rows.row(place) };
                row.copy_from_slice(mask);
            }
        }
        let kinds = kinds.into_iter().map(|kind| kind.map(kind_name));
        kinds.collect::<Result<_, _>>().map_err(|error| match_error(py, &error))
    }

    /// Writes the temperature of every matcher into `temperatures`, at `indices[i]` or at `i`; -1 for one that has none.
    ///
    /// `temperatures` is a list, or an array or tensor of floats.
    #[staticmethod]
    #[pyo3(signature = (matchers, temperatures, indices=None))]
    fn batch_fill_temperature(
        matchers: Items<Bound<'_, GrammarMatcher>>,
        temperatures: &Bound<'_, PyAny>,
        indices: Option<Items<i64>>,
    ) -> PyResult<()> {
        let Items(matchers) = matchers;
        let count = i64::try_from(matchers.len()).unwrap_or(i64::MAX);
        let indices = indices.map_or_else(|| (0..count).collect(), |Items(indices)| indices);
        same_length(temperatures.py(), matchers.len(), indices.len(), "indices")?;
        if let Ok(dtype) = temperatures.getattr("dtype") {
            let of_torch = dtype.getattr("is_floating_point").and_then(|is| is.is_truthy());
            let of_numpy = || dtype.getattr("kind").and_then(|kind| kind.eq("f"));
            if matches!(of_torch.or_else(|_| of_numpy()), Ok(false)) {
                return Err(PyTypeError::new_err(format!("`temperatures` must hold floats, not {dtype}")));
            }
        }
        for (matcher, index) in matchers.iter().zip(indices) {
            let temperature = turn(matcher)?.temperature(matcher.py())?;
            temperatures.set_item(index, temperature.unwrap_or(-1.0))?;
        }
        Ok(())
    }

    /// `accept_token` of every matcher, one after the other: where one raises, those before it have moved.
    #[staticmethod]
    #[pyo3(signature = (matchers, tokens, debug_print=false))]
    fn batch_accept_token(
        py: Python<'_>,
        matchers: Items<Bound<'_, GrammarMatcher>>,
        tokens: Items<i64>,
        debug_print: bool,
    ) -> PyResult<Vec<bool>> {
        let (Items(matchers), Items(tokens)) = (matchers, tokens);
        let _ = debug_print;
        same_length(py, matchers.len(), tokens.len(), "tokens")?;
        matchers.iter().zip(tokens).map(|(matcher, token)| turn(matcher)?.accept(py, token)).collect()
    }

    /// `accept_string` of every matcher, one after the other: where one raises, those before it have moved.
    #[staticmethod]
    #[pyo3(signature = (matchers, strings, debug_print=false))]
    fn batch_accept_string(
        py: Python<'_>,
        matchers: Items<Bound<'_, GrammarMatcher>>,
        strings: Items<Bound<'_, PyAny>>,
        debug_print: bool,
    ) -> PyResult<Vec<bool>> {
        let (Items(matchers), Items(strings)) = (matchers, strings);
        let _ = debug_print;
        same_length(py, matchers.len(), strings.len(), "strings")?;
        let accept = |(matcher, text): (&Bound<'_, GrammarMatcher>, &Bound<'_, PyAny>)| {
            turn(matcher)?.accept_text(py, text)
        };
        matchers.iter().zip(&strings).map(accept).collect()
    }

    /// `rollback` of every matcher, by one number for all or a list; one after the other, as `batch_accept_token`.
    #[staticmethod]
    #[pyo3(signature = (matchers, num_tokens=None), text_signature = "(matchers, num_tokens=1)")]
    fn batch_rollback(
        py: Python<'_>,
        matchers: Items<Bound<'_, GrammarMatcher>>,
        num_tokens: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let Items(matchers) = matchers;
        let steps: Vec<i64> = match num_tokens {
            None => vec![1; matchers.len()],
            Some(number) => match number.extract::<i64>() {
                Ok(number) => vec![number; matchers.len()],
                Err(error) if number.hasattr("__index__")? => return Err(error),
                Err(_) => number.extract::<Items<i64>>()?.0,
            },
        };
        same_length(py, matchers.len(), steps.len(), "numbers of steps")?;
        matchers.iter().zip(steps).try_for_each(|(matcher, steps)| turn(matcher)?.roll_back(py, steps))
    }
}
