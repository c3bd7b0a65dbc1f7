//! How much work one call may do.

use std::fmt;
use std::sync::Arc;

use crate::error::StepError;

/// The work left to one call. A unit is about one item of one parse set built, some 50 ns; steps that only
/// look a table up burn none.
#[derive(Clone)]
pub struct Fuel {
    /// Units until the next look at the interrupt, and units after that look.
    left: u64,
    reserve: u64,
    full: u64,
    must_stop: Option<MustStop>,
}

type MustStop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Units between two questions whether to go on: a fraction of a millisecond.
const UNITS_BETWEEN_QUESTIONS: u64 = 4096;

impl Fuel {
    /// Fuel for `units` of work.
    pub fn new(units: u64) -> Self {
        Self { left: units, reserve: 0, full: units, must_stop: None }
    }

    /// Fuel without end, for callers that bound their work otherwise.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Fuel for `units` of work that can be stopped: `must_stop` is asked before the first unit and every some thousand
    /// units, and where it says so burning fails with [`StepError::Interrupted`].
    pub fn stopped_by(units: u64, must_stop: Arc<dyn Fn() -> bool + Send + Sync>) -> Self {
        Self { left: 0, reserve: units, full: units, must_stop: Some(must_stop) }
    }

    /// Burns `units`, or fails and leaves the tank empty.
    ///
    /// # Errors
    ///
    /// Where there are not as many left, or the work is to stop.
    #[inline]
    pub fn burn(&mut self, units: u64) -> Result<(), StepError> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.burn_reserve(units),
        }
    }

    #[cold]
    #[inline(never)]
    fn burn_reserve(&mut self, units: u64) -> Result<(), StepError> {
        let all = self.left();
        (self.left, self.reserve) = (0, 0);
        if self.must_stop.as_ref().is_some_and(|must_stop| must_stop()) {
            return Err(StepError::Interrupted);
        }
        let all = all.checked_sub(units).ok_or(StepError::OutOfWork { limit: self.full })?;
        self.left = all.min(UNITS_BETWEEN_QUESTIONS);
        self.reserve = all - self.left;
        Ok(())
    }

    /// The units that are left.
    pub fn left(&self) -> u64 {
        self.left + self.reserve
    }

    /// The units that were burnt so far.
    pub fn burnt(&self) -> u64 {
        self.full - self.left()
    }
}

impl fmt::Debug for Fuel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Fuel").field("left", &self.left()).field("full", &self.full).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn work_is_counted_and_stopped() {
        let mut fuel = Fuel::new(10);
        fuel.burn(4).unwrap();
        assert_eq!((fuel.left(), fuel.burnt()), (6, 4));
        assert_eq!(fuel.burn(7), Err(StepError::OutOfWork { limit: 10 }));
        assert_eq!((fuel.left(), fuel.burnt()), (0, 10));

        let asked = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&asked);
        let must_stop = move || count.fetch_add(1, Ordering::Relaxed) == 10;
        let mut fuel = Fuel::stopped_by(1_000_000, Arc::new(must_stop));
        for burnt in 0..10 * UNITS_BETWEEN_QUESTIONS {
            assert_eq!(fuel.burnt(), burnt);
            fuel.burn(1).unwrap();
        }
        assert_eq!(asked.load(Ordering::Relaxed), 10);
        while fuel.burn(1).is_ok() {}
        assert_eq!((fuel.burn(1), fuel.left()), (Err(StepError::OutOfWork { limit: 1_000_000 }), 0));
        assert_eq!(Fuel::stopped_by(5, Arc::new(|| true)).burn(1), Err(StepError::Interrupted));
        assert!(Fuel::stopped_by(5, Arc::new(|| false)).burn(5).is_ok());
        assert!(Fuel::stopped_by(5, Arc::new(|| false)).burn(6).is_err());
    }
}
