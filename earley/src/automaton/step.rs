//! Steps by bytes: looked up where they are known, computed and recorded where they are not.

use std::sync::atomic::{AtomicU32, Ordering};

use grammask_parser_backend::{Fuel, StepError};

use super::byte_equivalence::ByteEquivalence;
use super::lazy::{Automaton, Builder};
use crate::closure::set_closure::SlotConflict;
use crate::tables::ids::{SLOTS, units};
use crate::tables::items::Item;
use crate::tables::slots::apply;
use crate::tables::state::State;
use crate::tables::transitions::{
    DEAD, FIRST_SET, GUARDED, GuardedTransition, NEEDS_EXACT_COUNTS, UNKNOWN, decode_guarded,
    decode_unguarded, encode_guarded, encode_unguarded, unchanged,
};

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
        let entry = row[usize::from(self.classes.class(byte))].load(Ordering::Acquire);
        if entry == DEAD {
            return Ok(None);
        }
        if (FIRST_SET..GUARDED).contains(&entry) {
            let (set, counts) = decode_unguarded(entry, state.counts);
            return Ok(Some(State { set, counts }));
        }
        if entry & GUARDED != 0
            && let Some(next) = self.step_guarded(state, entry)
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
                    None => State { set, counts } = self.step_guarded(State { set, counts }, entry)?,
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
        let mut builder = self.lock();
        let builder = &mut *builder;
        // Another thread may have taken the step before the lock was free.
        if let Some(known) = self.step_known(state, word) {
            return Ok(known);
        }
        if word.load(Ordering::Acquire) != NEEDS_EXACT_COUNTS {
            match self.compute(builder, state, byte, fuel)? {
                Ok(next) => return Ok(next),
                Err(SlotConflict) => word.store(NEEDS_EXACT_COUNTS, Ordering::Release),
            }
        }
        let exact = self.with_exact_counts(builder, state, fuel)?;
        if let Some(known) = self.step_known(exact, &self.row(exact)[usize::from(class)]) {
            return Ok(known);
        }
        match self.compute(builder, exact, byte, fuel)? {
            Ok(next) => Ok(next),
            // Nothing in an exact set counts in a slot, so whatever begins can only agree.
            Err(SlotConflict) => Err(StepError::OutOfWork { limit: 0 }),
        }
    }

    /// The step, if it was computed before. `None`: not known.
    fn step_known(&self, state: State, word: &AtomicU32) -> Option<Option<State>> {
        match word.load(Ordering::Acquire) {
            UNKNOWN | NEEDS_EXACT_COUNTS => None,
            DEAD => Some(None),
            entry if entry & GUARDED == 0 => {
                let (set, counts) = decode_unguarded(entry, state.counts);
                Some(Some(State { set, counts }))
            }
            entry => self.step_guarded(state, entry).map(Some),
        }
    }

    /// A step whose target depends on counts. `None`: not known for these.
    #[inline(never)]
    fn step_guarded(&self, state: State, entry: u32) -> Option<State> {
        let mut transition = self.sets.guarded.get(decode_guarded(entry).index());
        loop {
            if let Some(counts) = transition.apply(&state.counts) {
                return Some(State { set: transition.target, counts });
            }
            transition = self.sets.guarded.get(transition.next.get()?.index());
        }
    }

    /// Lowers the counts to the greatest ones for which an entry of the table that was just used, for a step from a state,
    /// says the same of all counts in between.
    pub(crate) fn cap_counts(&self, max_counts: &mut [u32; SLOTS], state: State, entry: u32) {
        if entry & GUARDED == 0 {
            return;
        }
        let mut next = Some(decode_guarded(entry));
        while let Some(id) = next {
            let transition = self.sets.guarded.get(id.index());
            if transition.apply(&state.counts).is_some() {
                for (max, &own) in max_counts.iter_mut().zip(transition.max_counts()) {
                    *max = own.min(*max);
                }
                return;
            }
            next = transition.next.get().copied();
        }
        // The entry does not know these counts.
        *max_counts = state.counts;
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
        builder.closure.begin();
        let mut equivalence = ByteEquivalence::new();
        for &item in &set.items {
            // Edges are sorted by their start.
            let edges = self.program.byte_edges(item.state).iter().take_while(|edge| edge.start <= byte);
            for edge in edges.filter(|edge| byte <= edge.end) {
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
            for edge in edges.filter(|edge| first <= edge.end && (byte < edge.start || edge.end < byte)) {
                equivalence.add_mismatch((self.classes.class(edge.start), self.classes.class(edge.end)));
            }
        }
        fuel.burn(units(set.items.len()))?;
        let is_plain = builder.closure.is_plain(&self.program);
        let Builder { closures, closure, .. } = builder;
        let known = if is_plain { None } else { closures.get(closure.kernel(), &state.counts) };
        let (target, changes) = match known {
            Some((target, changes, guards)) => {
                closure.guards.extend_from_slice(guards);
                (target, changes)
            }
            None => match self.close(builder, &state.counts, fuel)? {
                Ok((target, changes)) => {
                    if !is_plain {
                        builder.closures.insert(target, changes, &builder.closure.guards);
                    }
                    (target, changes)
                }
                Err(conflict) => return Ok(Err(conflict)),
            },
        };
        let class = self.classes.class(byte);
        let row = self.row(state);
        let word = &row[usize::from(class)];
        let guards = &builder.closure.guards;
        let plain = if guards.is_empty() { encode_unguarded(set.slots, &changes, target) } else { None };
        let counts = apply(&changes, &state.counts);
        let entry = plain.unwrap_or_else(|| {
            let head = Some(word.load(Ordering::Acquire)).filter(|entry| entry & GUARDED != 0);
            let transition = GuardedTransition::new(guards, &changes, target);
            let head = builder.index.add_guarded(&self.sets, head.map(decode_guarded), transition);
            encode_guarded(head)
        });
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
                if word.load(Ordering::Relaxed) == UNKNOWN {
                    word.store(entry, Ordering::Release);
                }
            }
        }
    }
}
