//! Stopping long work from outside.
//!
//! Most grammars compile in less than a millisecond, but some take seconds, and the caller may have gone by
//! then or have no more time. The naive way, a thread that is killed, leaves locks taken; a clock read in
//! every loop would tie libraries to an operating system. So the caller passes an [`Interrupt`]: a flag that
//! another thread sets, and a question (is it too late?) that only the caller's own code answers. Loops whose
//! length the input decides [check](Interrupt::check) it every few microseconds; a check reads one flag, and
//! asks the question.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The reason why work was stopped before its end. Nothing is known of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Interrupted {
    /// [`Interrupt::cancel`] was called.
    #[error("cancelled before it was done; ask again if the answer is still wanted")]
    Cancelled,
    /// The interrupt's own question was answered with yes.
    #[error("the deadline passed before it was done; allow more time or simplify the grammar")]
    Deadline,
}

impl Interrupted {
    /// The reason as a fixed name, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Cancelled => "interrupted/cancelled",
            Self::Deadline => "interrupted/deadline",
        }
    }
}

/// A request to stop, shared between the workers and the threads that may stop them. Clones are the same
/// interrupt. The default, [`never`](Self::never), costs nothing.
///
/// ```
/// use grammask_grammar_ir::{Interrupt, Interrupted};
///
/// let interrupt = Interrupt::new();
/// assert_eq!(interrupt.check(), Ok(()));
/// interrupt.clone().cancel();
/// assert_eq!(interrupt.check(), Err(Interrupted::Cancelled));
/// ```
#[derive(Clone, Default)]
pub struct Interrupt {
    shared: Option<Arc<Shared>>,
}

struct Shared {
    cancelled: AtomicBool,
    /// `is_late` has said yes.
    late: AtomicBool,
    is_late: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    /// Another interrupt that stops the work too.
    outer: Interrupt,
}

impl Interrupt {
    /// An interrupt that never comes.
    pub const fn never() -> Self {
        Self { shared: None }
    }

    /// An interrupt that comes when it is [cancelled](Self::cancel).
    pub fn new() -> Self {
        Self::from_parts(None, Self::never())
    }

    /// An interrupt that also comes when `is_late` says so. It is asked often, from any thread, until it says yes; it
    /// should take well below a microsecond.
    pub fn when(is_late: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self::from_parts(Some(Box::new(is_late)), Self::never())
    }

    /// An interrupt that also comes when a clock has run on by more than `limit` from now. `clock` is the time
    /// since any fixed moment; this crate reads none itself.
    pub fn after(limit: Duration, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let end = clock().saturating_add(limit);
        Self::when(move || clock() > end)
    }

    /// An interrupt that comes with this one, and can be cancelled without it.
    #[must_use]
    pub fn child(&self) -> Self {
        Self::from_parts(None, self.clone())
    }

    /// Asks all work under this interrupt to stop. Does nothing to [`never`](Self::never).
    pub fn cancel(&self) {
        if let Some(shared) = &self.shared {
            shared.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Whether to go on.
    ///
    /// # Errors
    ///
    /// Where the work is to stop, with the reason.
    pub fn check(&self) -> Result<(), Interrupted> {
        let mut interrupt = self;
        while let Some(shared) = &interrupt.shared {
            if shared.cancelled.load(Ordering::Relaxed) {
                return Err(Interrupted::Cancelled);
            }
            let was_late = shared.late.load(Ordering::Relaxed);
            if was_late || shared.is_late.as_ref().is_some_and(|is_late| is_late()) {
                shared.late.store(true, Ordering::Relaxed);
                return Err(Interrupted::Deadline);
            }
            interrupt = &shared.outer;
        }
        Ok(())
    }

    fn from_parts(is_late: Option<Box<dyn Fn() -> bool + Send + Sync>>, outer: Self) -> Self {
        let (cancelled, late) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { shared: Some(Arc::new(Shared { cancelled, late, is_late, outer })) }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match (&self.shared, self.check()) {
            (None, _) => "never",
            (Some(_), Ok(())) => "waiting",
            (Some(_), Err(_)) => "stopped",
        };
        formatter.debug_tuple("Interrupt").field(&state).finish()
    }
}

/// Two interrupts are equal if they are the same one.
impl PartialEq for Interrupt {
    fn eq(&self, other: &Self) -> bool {
        match (&self.shared, &other.shared) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Interrupt {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn a_clock_that_runs_on_stops_the_work() {
        let now = Arc::new(AtomicU64::new(5));
        let clock = Arc::clone(&now);
        let interrupt = Interrupt::after(Duration::from_millis(10), move || {
            Duration::from_millis(clock.load(Ordering::Relaxed))
        });
        let child = interrupt.child();
        now.store(15, Ordering::Relaxed);
        assert_eq!(child.check(), Ok(()));
        now.store(16, Ordering::Relaxed);
        assert_eq!(child.check(), Err(Interrupted::Deadline));
        assert_eq!(interrupt.check(), Err(Interrupted::Deadline));
    }

    #[test]
    fn a_child_can_be_stopped_alone() {
        let interrupt = Interrupt::new();
        let (one, other) = (interrupt.child(), interrupt.child());
        one.cancel();
        assert_eq!((one.check(), other.check()), (Err(Interrupted::Cancelled), Ok(())));
        interrupt.cancel();
        assert_eq!(other.check(), Err(Interrupted::Cancelled));
    }

    #[test]
    fn never_cannot_be_cancelled() {
        let interrupt = Interrupt::never();
        interrupt.cancel();
        assert_eq!(interrupt.check(), Ok(()));
    }
}
