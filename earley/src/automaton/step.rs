//! Steps by bytes: looked up where they are known, computed and recorded where they are not.

use std::sync::atomic::{AtomicU32, Ordering};

use grammask_parser_backend::{Fuel, StepError};

use super::byte_equivalence::ByteEquivalence;
use super::lazy::{Automaton, Builder};
use crate::closure::set_closure::SlotConflict;
use crate::tables::guards::CountRanges;
use crate::tables::ids::{SLOTS, units};
use crate::tables::items::Item;
use crate::tables::slots::apply;
use crate::tables::state::State;
use crate::tables::transitions::{
    DEAD, FIRST_SET, GUARDED, GuardedTransition, NEEDS_EXACT_COUNTS, UNKNOWN, decode_guarded,
    decode_unguarded, encode_guarded, encode_unguarded, unchanged,
};

/// Byte edges that are read in the time of a unit of work.
const EDGES_READ: usize = 8;

/// Guarded transitions of a list that are read in that time.
const TRANSITIONS_READ: usize = 8;

impl Automaton {
    #[inline]
    pub(crate) fn row(&self, state: State) -> &[AtomicU32] {
        self.sets.rows.row(state.set.index())
    }

    pub(crate) fn step(&self, state: State, byte: u8, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        self.step_in(self.row(state), state, byte, fuel)
    }

    #[inline]
    pub(crate) fn step_in(
        &self,
        row: &[AtomicU32],
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        // Acquire pairs with the Release store in `compute`. A thread that sees an entry also sees the set,
        // the row and the guarded transition that the entry names, because they were written before it.
        // Entries change only from unknown to known, and lists only grow, so an old value costs a look-up and
        // no answer.
        let entry = row[usize::from(self.classes.class(byte))].load(Ordering::Acquire);
        if entry == DEAD {
            return Ok(None);
        }
        if (FIRST_SET..GUARDED).contains(&entry) {
            let (set, counts) = decode_unguarded(entry, state.counts);
            return Ok(Some(State { set, counts }));
        }
        // A guarded entry may lack the transition for these counts. Then the step is computed and joins the
        // list.
        if entry & GUARDED != 0
            && let Some(next) = self.step_guarded(state, entry, fuel)?
        {
            return Ok(Some(next));
        }
        self.step_slowly(state, byte, fuel)
    }

    // Inlined, so that the state stays in registers: written in parts and read as a whole, it would wait for the writes.
    #[inline]
    pub(crate) fn read_known(&self, state: State, text: &[u8]) -> Option<State> {
        let State { mut set, mut counts } = state;
        let mut row = self.sets.rows.row(set.index());
        for &byte in text {
            // The same ordering as in `step_in`: the id is used at once to find the next row.
            let entry = row[usize::from(self.classes.class(byte))].load(Ordering::Acquire);
            // Within a string every byte leads back to its set: a branch that is foreseen does not wait for the row.
            if entry == unchanged(set) {
                continue;
            }
            if (FIRST_SET..GUARDED).contains(&entry) {
                (set, counts) = decode_unguarded(entry, counts);
            } else if entry & GUARDED != 0 {
                let transition = self.sets.guarded.get(decode_guarded(entry).index());
                match transition.apply(&counts) {
                    Some(after) => (set, counts) = (transition.target, after),
                    None => {
                        // A look-up of known states has no fuel, so a state after a long list counts as
                        // unknown.
                        let mut fuel = Fuel::new(0);
                        State { set, counts } =
                            self.step_guarded(State { set, counts }, entry, &mut fuel).ok()??;
                    }
                }
            } else {
                return None;
            }
            row = self.sets.rows.row(set.index());
        }
        Some(State { set, counts })
    }

    /// Every step that is not a plain table look-up.
    #[cold]
    fn step_slowly(&self, state: State, byte: u8, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        let class = self.classes.class(byte);
        let word = &self.row(state)[usize::from(class)];
        // One thread computes at a time. Readers never take this lock.
        let mut builder = self.lock();
        let builder = &mut *builder;
        // Another thread may have taken the step before the lock was free.
        if let Some(known) = self.step_known(state, word, fuel)? {
            return Ok(known);
        }
        if word.load(Ordering::Acquire) != NEEDS_EXACT_COUNTS {
            match self.compute(builder, state, byte, fuel)? {
                Ok(next) => return Ok(next),
                Err(SlotConflict) => word.store(NEEDS_EXACT_COUNTS, Ordering::Release),
            }
        }
        // Two items of the target would count differently in one slot. The same configuration with its counts
        // in the contexts has no slots, so its step has no such conflict. The word of this set remembers
        // this, and the step is taken from the other set from now on.
        let exact = self.with_exact_counts(builder, state, fuel)?;
        if let Some(known) = self.step_known(exact, &self.row(exact)[usize::from(class)], fuel)? {
            return Ok(known);
        }
        match self.compute(builder, exact, byte, fuel)? {
            Ok(next) => Ok(next),
            // Nothing in an exact set counts in a slot, so whatever begins can only agree.
            Err(SlotConflict) => Err(StepError::OutOfWork { limit: 0 }),
        }
    }

    /// The step, if it was computed before. `None`: not known.
    fn step_known(
        &self,
        state: State,
        word: &AtomicU32,
        fuel: &mut Fuel,
    ) -> Result<Option<Option<State>>, StepError> {
        Ok(match word.load(Ordering::Acquire) {
            UNKNOWN | NEEDS_EXACT_COUNTS => None,
            DEAD => Some(None),
            entry if entry & GUARDED == 0 => {
                let (set, counts) = decode_unguarded(entry, state.counts);
                Some(Some(State { set, counts }))
            }
            entry => self.step_guarded(state, entry, fuel)?.map(Some),
        })
    }

    /// A step whose target depends on counts. `None`: not known for these. Reading a long list costs fuel.
    #[inline(never)]
    fn step_guarded(&self, state: State, entry: u32, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        // Each transition is right for all counts in its ranges, so the first one that applies will do.
        let mut next = Some(decode_guarded(entry));
        let mut read = 0;
        while let Some(id) = next {
            let transition = self.sets.guarded.get(id.index());
            if let Some(counts) = transition.apply(&state.counts) {
                fuel.burn(units(read / TRANSITIONS_READ))?;
                return Ok(Some(State { set: transition.target, counts }));
            }
            read += 1;
            next = transition.next.get().copied();
        }
        fuel.burn(units(read / TRANSITIONS_READ))?;
        Ok(None)
    }

    /// Lowers `max_counts` to the counts up to which a table entry gives the same answer for all counts in
    /// between. The entry is the one that was just used for a step from the state.
    pub(crate) fn cap_counts(
        &self,
        max_counts: &mut [u32; SLOTS],
        state: State,
        entry: u32,
        fuel: &mut Fuel,
    ) -> Result<(), StepError> {
        if entry & GUARDED == 0 {
            return Ok(());
        }
        let mut read = 0;
        let mut next = Some(decode_guarded(entry));
        while let Some(id) = next {
            let transition = self.sets.guarded.get(id.index());
            if transition.apply(&state.counts).is_some() {
                for (max, &own) in max_counts.iter_mut().zip(transition.max_counts()) {
                    *max = own.min(*max);
                }
                return fuel.burn(units(read / TRANSITIONS_READ));
            }
            read += 1;
            next = transition.next.get().copied();
        }
        // The entry does not know these counts.
        *max_counts = state.counts;
        fuel.burn(units(read / TRANSITIONS_READ))
    }

    /// Computes a transition and records it.
    fn compute(
        &self,
        builder: &mut Builder,
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Result<Option<State>, SlotConflict>, StepError> {
        let set = self.set(state);
        // First the kernel: the targets of all edges that contain the byte. The edges that match and those
        // that do not also tell which other bytes behave alike.
        builder.closure.begin();
        let mut equivalence = ByteEquivalence::new();
        let mut read = 0;
        for &item in &set.items {
            // Edges are sorted by their start.
            let edges = self.program.byte_edges(item.state).iter().take_while(|edge| edge.start <= byte);
            for edge in edges.inspect(|_| read += 1).filter(|edge| byte <= edge.end) {
                builder.closure.push_kernel(Item { state: edge.target, ..item });
                equivalence.add_match(edge.start, edge.end);
            }
        }
        // Most bytes that are stepped by are letters of names, and alike to no other.
        let (first, last) = equivalence.bytes();
        if self.classes.class(first) != self.classes.class(last) {
            let edges = set.items.iter().flat_map(|item| {
                self.program.byte_edges(item.state).iter().take_while(|edge| edge.start <= last)
            });
            let edges = edges.inspect(|_| read += 1);
            for edge in edges.filter(|edge| first <= edge.end && (byte < edge.start || edge.end < byte)) {
                equivalence.add_mismatch((self.classes.class(edge.start), self.classes.class(edge.end)));
            }
        }
        // Work is paid for before the closure runs. A call that runs out of fuel here has changed no table.
        fuel.burn(units(2 * set.items.len() + read / EDGES_READ) + self.far_units(&set.items))?;
        // A plain kernel is its own closure, and computing it is as fast as a look-up. For others the cache
        // knows the closure, if the counts give the same answers as those for which it was computed.
        let is_plain = builder.closure.is_plain(&self.program);
        let Builder { closures, closure, .. } = builder;
        let known = if is_plain { None } else { closures.get(closure.kernel(), &state.counts) };
        let (target, changes) = match known {
            Some((target, changes, asked)) => {
                closure.asked = asked;
                (target, changes)
            }
            None => match self.close(builder, &state.counts, fuel)? {
                Ok((target, changes)) => {
                    if !is_plain {
                        builder.closures.insert(target, changes, builder.closure.asked);
                    }
                    (target, changes)
                }
                Err(conflict) => return Ok(Err(conflict)),
            },
        };
        let class = self.classes.class(byte);
        let row = self.row(state);
        let word = &row[usize::from(class)];
        // A closure that asked nothing about counts holds for all counts: its entry is a set with one change
        // of counts. Otherwise the entry is the head of a list of transitions, each with the range of counts
        // for which it holds.
        let asked = builder.closure.asked;
        let is_plain = asked == CountRanges::ALL;
        let plain = if is_plain { encode_unguarded(set.slots, &changes, target) } else { None };
        let counts = apply(&changes, &state.counts);
        let entry = match plain {
            Some(entry) => entry,
            None => {
                // A list keeps its head: the new transition is appended, and readers that are in the list now
                // may find it.
                let head = Some(word.load(Ordering::Acquire)).filter(|entry| entry & GUARDED != 0);
                let transition = GuardedTransition::new(asked, &changes, target);
                let (head, read) =
                    builder.index.add_guarded(&self.sets, head.map(decode_guarded), transition);
                fuel.burn(units(read / TRANSITIONS_READ))?;
                encode_guarded(head)
            }
        };
        // Publication: everything that the entry names was written above. Only the holder of the lock stores
        // entries.
        word.store(entry, Ordering::Release);
        self.share_transition(row, &equivalence, entry);
        Ok(Ok(Some(State { set: target, counts })))
    }

    /// Gives a transition that was just computed to the other classes of bytes that match the same edges. "Any
    /// other character" covers half of all classes; to compute each of them costs more than to walk the trie.
    fn share_transition(&self, row: &[AtomicU32], equivalence: &ByteEquivalence, entry: u32) {
        for classes in equivalence.classes(&self.classes) {
            let end = classes.end.min(row.len());
            for word in row.get(classes.start..end).unwrap_or_default() {
                // Relaxed is enough for the test, because only this thread writes rows while it holds the
                // lock. The store is a publication like that in `compute`.
                if word.load(Ordering::Relaxed) == UNKNOWN {
                    word.store(entry, Ordering::Release);
                }
            }
        }
    }
}
