//! The work of the package in this process, in numbers that only grow: for servers that export them.
//!
//! Counting happens where the interpreter's lock is held anyway, or where the work counted takes thousands of times as long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use grammask::{JsonObject, JsonValue};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::forks::attach_apart_from_forks;
use crate::json::loads;

/// Upper bounds in seconds, as strings that Prometheus takes.
const BOUNDS: [(&str, Duration); 8] = [
    ("1e-05", Duration::from_micros(10)),
    ("0.0001", Duration::from_micros(100)),
    ("0.001", Duration::from_millis(1)),
    ("0.01", Duration::from_millis(10)),
    ("0.1", Duration::from_millis(100)),
    ("1.0", Duration::from_secs(1)),
    ("10.0", Duration::from_secs(10)),
    ("+Inf", Duration::MAX),
];

/// How long things took.
pub(crate) struct Histogram {
    /// One for each bound, of what is above the bound before it.
    counts: [AtomicU64; BOUNDS.len()],
    nanoseconds: AtomicU64,
}

/// A kind of work that is timed: its name, and how long it took.
pub(crate) struct Work {
    name: &'static str,
    times: Histogram,
}

/// The function that hears of each piece of work. The lock is only taken where the interpreter's lock is held, and given
/// back before Python code runs.
static LISTENER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
/// Whether there is one, so that work without one costs nothing more.
static IS_HEARD: AtomicBool = AtomicBool::new(false);

/// Something that happened.
pub(crate) struct Counter(AtomicU64);

impl Histogram {
    const fn new() -> Self {
        Self { counts: [const { AtomicU64::new(0) }; BOUNDS.len()], nanoseconds: AtomicU64::new(0) }
    }

    fn observe(&self, time: Duration) {
        let place = BOUNDS.iter().position(|(_, bound)| time <= *bound).unwrap_or(BOUNDS.len() - 1);
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Counts up to each bound, as Prometheus has them.
    fn to_json(&self) -> JsonValue {
        let mut count = 0;
        let mut buckets = JsonObject::new();
        for ((name, _), counted) in BOUNDS.iter().zip(&self.counts) {
            count += counted.load(Ordering::Relaxed);
            buckets.insert((*name).to_owned(), count.into());
        }
        let seconds = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        JsonValue::object([
            ("buckets", JsonValue::Object(buckets)),
            ("count", count.into()),
            ("sum", seconds.into()),
        ])
    }
}

impl Work {
    const fn new(name: &'static str) -> Self {
        Self { name, times: Histogram::new() }
    }

    pub(crate) fn observe(&self, py: Python<'_>, time: Duration) -> PyResult<()> {
        self.times.observe(time);
        if IS_HEARD.load(Ordering::Relaxed) { self.tell(py, time) } else { Ok(()) }
    }

    /// The same, on a thread that Python did not start.
    pub(crate) fn observe_apart(&self, time: Duration) {
        self.times.observe(time);
        if IS_HEARD.load(Ordering::Relaxed) {
            attach_apart_from_forks(|py| {
                // There is nobody to pass an exception on to.
                if let Err(error) = self.tell(py, time) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }

    fn tell(&self, py: Python<'_>, time: Duration) -> PyResult<()> {
        let listener =
            LISTENER.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|it| it.clone_ref(py));
        let Some(listener) = listener else { return Ok(()) };
        let heard = listener.call1(py, (self.name, time.as_secs_f64()));
        heard.map(drop).or_else(|error| unless_fault(py, error, Some(listener.bind(py))))
    }
}

/// Passes on the exception of Ctrl-C or of the end of the program. A fault of code that only hears of the work is none of
/// the work, and is written to standard error.
pub(crate) fn unless_fault(py: Python<'_>, error: PyErr, of: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if !error.is_instance_of::<PyException>(py) {
        return Err(error);
    }
    error.write_unraisable(py, of);
    Ok(())
}

impl Counter {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Calls that compile, those that found their structure kept included.
pub(crate) static COMPILE: Work = Work::new("compile");
/// Those that raised because of the structure.
pub(crate) static COMPILE_REFUSED: Counter = Counter::new();
/// Those that were stopped from outside.
pub(crate) static COMPILE_STOPPED: Counter = Counter::new();
/// Masks that single calls computed.
pub(crate) static MASK: Work = Work::new("mask");
/// Calls that computed masks of batches.
pub(crate) static BATCH: Work = Work::new("batch");
/// Calls that computed the masks of a draft tree.
pub(crate) static DRAFT: Work = Work::new("draft");
/// Masks that were known.
pub(crate) static MASKS_KNOWN: Counter = Counter::new();
pub(crate) static TOKENS_ACCEPTED: Counter = Counter::new();
pub(crate) static TOKENS_REFUSED: Counter = Counter::new();
/// Calls that raised `IndeterminateError`, compilations apart.
pub(crate) static LIMITS_REACHED: Counter = Counter::new();

/// The numbers of this process. Use `grammask.operation.metrics`.
#[pyfunction]
pub(crate) fn process_metrics(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let numbers = JsonValue::object([
        ("compile_seconds", COMPILE.times.to_json()),
        ("compile_refused", COMPILE_REFUSED.get().into()),
        ("compile_stopped", COMPILE_STOPPED.get().into()),
        ("mask_seconds", MASK.times.to_json()),
        ("batch_seconds", BATCH.times.to_json()),
        ("draft_seconds", DRAFT.times.to_json()),
        ("masks_known", MASKS_KNOWN.get().into()),
        ("tokens_accepted", TOKENS_ACCEPTED.get().into()),
        ("tokens_refused", TOKENS_REFUSED.get().into()),
        ("limits_reached", LIMITS_REACHED.get().into()),
    ]);
    loads(py, &numbers)
}

/// Names the function that hears of each piece of work. Use `grammask.operation.on_span`.
#[pyfunction]
pub(crate) fn set_listener(listener: Option<Py<PyAny>>) {
    IS_HEARD.store(listener.is_some(), Ordering::Relaxed);
    // The one before is dropped after the lock is given back: dropping it may run Python code.
    let before = std::mem::replace(&mut *LISTENER.lock().unwrap_or_else(PoisonError::into_inner), listener);
    drop(before);
}
