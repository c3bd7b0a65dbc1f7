//! The work that one schema takes, against its limit.
//!
//! A limit on work is a limit on time only where a unit takes about the same time wherever it is charged. So
//! each walk over a list charges for its length, at the place where it walks: goals that are conjoined, names
//! that are put to tests, shapes that are compared. All of them share one count.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::options::JsonSchemaLimits;
use crate::diagnostic::{Diagnostic, Result};

/// Units of some 50 nanoseconds. Copies share one count.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    spent: Rc<Cell<u64>>,
    most: u64,
}

impl Work {
    pub(crate) fn up_to(most: u64) -> Self {
        Self { spent: Rc::new(Cell::new(0)), most }
    }

    /// Adds units that were, or are about to be, worked off.
    pub(crate) fn charge(&self, units: usize) {
        self.spent.set(self.spent.get().saturating_add(units as u64));
    }

    pub(crate) fn spent(&self) -> usize {
        usize::try_from(self.spent.get()).unwrap_or(usize::MAX)
    }

    /// Whether the limit is passed. Callers may then cut their work short: the schema is refused, so no result is used.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get() > self.most
    }
}

/// Work for each byte of a source.
pub(crate) const WORK_PER_BYTE: usize = 2;

/// The [work](JsonSchemaLimits::work) that the schemas of one source take together, against its limit. The largest of them
/// does not count, because it may take as much as a schema alone.
#[derive(Debug)]
pub struct SharedWork {
    limit: usize,
    /// The JSON pointer of a schema to name in errors.
    place: Option<Box<str>>,
    allowed: AtomicUsize,
    largest: AtomicUsize,
    taken: AtomicUsize,
}

impl SharedWork {
    /// Nothing was taken so far; the source has so many bytes.
    pub fn new(limits: &JsonSchemaLimits, bytes: usize) -> Self {
        let allowed = limits.work.saturating_add(WORK_PER_BYTE.saturating_mul(bytes));
        Self { limit: limits.work, place: None, allowed: allowed.into(), largest: 0.into(), taken: 0.into() }
    }

    /// The same, with the JSON pointer of the schema that errors name.
    pub fn at(self, pointer: &str) -> Self {
        Self { place: Some(pointer.into()), ..self }
    }

    /// Adds the work that a schema took. `bytes` are those of its text, where the source was not known before.
    ///
    /// # Errors
    ///
    /// Where they take more than the limit, in whichever order they come.
    pub fn take(&self, work: usize, bytes: usize) -> Result<()> {
        self.allowed.fetch_add(WORK_PER_BYTE.saturating_mul(bytes), Ordering::Relaxed);
        self.largest.fetch_max(work, Ordering::Relaxed);
        // A thread that sees this sum sees the largest, too; without that the sum could look too large.
        self.taken.fetch_add(work, Ordering::AcqRel);
        if !self.is_spent() {
            return Ok(());
        }
        let message = format!("the schemas need more than {} `work` together", self.limit);
        let mut error = Diagnostic::error("json-schema/limit", message);
        if let Some(place) = &self.place {
            error = error.with_pointer(&**place);
        }
        Err(Box::new(error.with_hint("make them fewer or smaller, or raise the limit `work`")))
    }

    /// Whether the limit is passed.
    pub fn is_spent(&self) -> bool {
        let taken = self.taken.load(Ordering::Acquire);
        taken.saturating_sub(self.largest.load(Ordering::Relaxed)) > self.allowed.load(Ordering::Relaxed)
    }
}
