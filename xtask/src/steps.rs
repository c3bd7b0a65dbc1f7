//! The steps of `cargo xtask ci` and `cargo xtask check`, some of them beside each other, and how they went.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

pub(crate) enum Outcome {
    Done,
    Skipped(&'static str),
}

pub(crate) fn done(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Done)
}

/// A step that was taken: its name, its time, and the word for how it went.
type Row = (&'static str, Duration, String);

const FAILED: &str = "FAILED";

/// How the steps went.
pub(crate) struct Report<'a> {
    start: Instant,
    only: &'a [String],
    keep_going: bool,
    rows: Mutex<Vec<Row>>,
}

impl<'a> Report<'a> {
    /// Of the steps with these names, or of all. `keep_going` takes steps after a failed one.
    pub(crate) fn new(only: &'a [String], keep_going: bool) -> Self {
        Self { start: Instant::now(), only, keep_going, rows: Mutex::default() }
    }

    /// Takes a step if it was asked for and if nothing failed before.
    pub(crate) fn take(&self, name: &'static str, step: impl FnOnce() -> Result<Outcome>) {
        let is_asked_for = self.only.is_empty() || self.only.iter().any(|only| only == name);
        if !is_asked_for || !self.keep_going && !self.failures().is_empty() {
            return;
        }
        eprintln!("\n== {name}");
        let start = Instant::now();
        let word = match step() {
            Ok(Outcome::Done) => "ok".to_owned(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(error) => {
                eprintln!("error: in step `{name}`: {error:#}");
                FAILED.to_owned()
            }
        };
        self.rows().push((name, start.elapsed(), word));
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> Vec<&'static str> {
        self.rows().iter().filter(|(_, _, word)| word == FAILED).map(|(name, _, _)| *name).collect()
    }

    /// Prints the table of all steps, and fails where one of them did.
    pub(crate) fn end(&self) -> Result<()> {
        println!("\n{:<10} {:>8}  result", "step", "seconds");
        for (name, time, word) in self.rows().iter() {
            println!("{name:<10} {:>8.1}  {word}", time.as_secs_f64());
        }
        let total = self.start.elapsed().as_secs_f64();
        println!("{:<10} {total:>8.1}  some steps run beside others", "total");
        let failures = self.failures();
        ensure!(failures.is_empty(), "failed: {}", failures.join(", "));
        Ok(())
    }
}
