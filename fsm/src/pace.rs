//! How passes over large grammars and automata are interrupted.

use grammask_grammar_ir::{Interrupt, Interrupted};

use crate::error::{AutomataError, Failure};
use crate::ids::Id;

/// Looks at an interrupt along the passes.
///
/// A pass that is to stop ends early, and its result is of no use. So every pass is followed by a
/// [check](Self::check), which fails if the pass has ended early.
pub(crate) struct Pace<'o> {
    interrupt: &'o Interrupt,
    stopped: Option<Interrupted>,
}

/// One of this many items is a place to look, some 0.1 ms.
const ITEMS_BETWEEN_LOOKS: usize = 1 << 12;

impl<'o> Pace<'o> {
    pub(crate) fn new(interrupt: &'o Interrupt) -> Self {
        Self { interrupt, stopped: None }
    }

    /// Whether a pass goes on with a state, an edge, or another item. No step is counted: a pass comes to each of them
    /// once or so, in any order.
    #[inline]
    pub(crate) fn goes_on_at(&mut self, item: impl Id) -> bool {
        !item.index().is_multiple_of(ITEMS_BETWEEN_LOOKS) || self.goes_on()
    }

    /// Calls a function with each item of a table, as long as the pass goes on.
    pub(crate) fn for_each<T>(&mut self, table: &mut [T], each: impl FnMut(&mut T)) {
        let parts = table.chunks_mut(ITEMS_BETWEEN_LOOKS).take_while(|_| self.goes_on());
        parts.flatten().for_each(each);
    }

    /// Whether a pass has ended early.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    fn goes_on(&mut self) -> bool {
        self.stopped = self.stopped.or_else(|| self.interrupt.check().err());
        self.stopped.is_none()
    }

    /// Fails if the work is to stop.
    pub(crate) fn check(&mut self) -> Result<(), AutomataError> {
        self.goes_on();
        self.stopped.map_or(Ok(()), |reason| Err(Failure::from(reason).alone()))
    }
}
