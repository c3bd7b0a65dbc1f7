//! Closures that were run before, by the items that they began with.
//!
//! The naive way completes and predicts for every transition that is new. But what a closure comes to depends on the
//! items that a byte led to, its *kernel*, on the answers where it asks for counts, and on nothing else; and few kernels
//! make most transitions. Any letter that begins none of the declared names leads to the one item "some other name", from
//! hundreds of sets and by dozens of ranges of bytes; and the second blank before a value leads where the first one did,
//! with one more in a count. So the sets that small kernels lead to are kept, with what was asked: a look-up in place of
//! a closure, a twentieth of the time.

use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use crate::closure::{Guard, Item};
use crate::sets::SlotChanges;
use crate::slots::SLOTS;

/// Most items of a kernel that is kept. Larger ones are seldom met again.
const MAX_ITEMS: usize = 8;

/// What kernels led to.
#[derive(Default)]
pub(crate) struct Kernels {
    known: HashTable<Known>,
    items: Vec<Item>,
    guards: Vec<Guard>,
    /// The kernel that was asked for last, and its hash.
    asked: Vec<Item>,
    hash: u64,
}

struct Known {
    hash: u64,
    /// Where the items begin, and how many there are.
    first: u32,
    len: u32,
    /// Where the questions that were asked of counts begin, and how many there are.
    first_guard: u32,
    guard_len: u32,
    set: u32,
    changes: SlotChanges,
}

impl Kernels {
    /// The set that a kernel leads to, what happens to the slots, and what was asked of the counts, if it was kept with
    /// answers that these counts give.
    pub(crate) fn get(
        &mut self,
        kernel: impl Iterator<Item = Item>,
        counts: &[u32; SLOTS],
    ) -> Option<(u32, SlotChanges, &[Guard])> {
        self.asked.clear();
        self.asked.extend(kernel.take(MAX_ITEMS + 1));
        if self.asked.len() > MAX_ITEMS {
            return None;
        }
        self.hash = hash_of(&self.asked);
        let answer = |guard: &Guard| {
            let (least, greatest) = guard.counts();
            (least..=greatest).contains(&counts[usize::from(guard.slot)])
        };
        let found = self.known.find(self.hash, |known| {
            known.hash == self.hash
                && self.items[known.first as usize..][..known.len as usize] == self.asked
                && self.guards_of(known).iter().all(answer)
        });
        found.map(|known| (known.set, known.changes, self.guards_of(known)))
    }

    fn guards_of(&self, known: &Known) -> &[Guard] {
        &self.guards[known.first_guard as usize..][..known.guard_len as usize]
    }

    /// Keeps what the kernel led to that was asked for last and not found, with the questions that it asked of the counts.
    pub(crate) fn keep(&mut self, set: u32, changes: SlotChanges, guards: &[Guard]) {
        let (Ok(first), Ok(len)) = (u32::try_from(self.items.len()), u32::try_from(self.asked.len())) else {
            return;
        };
        let (Ok(first_guard), Ok(guard_len)) =
            (u32::try_from(self.guards.len()), u32::try_from(guards.len()))
        else {
            return;
        };
        if self.asked.len() > MAX_ITEMS {
            return;
        }
        self.items.extend_from_slice(&self.asked);
        self.guards.extend_from_slice(guards);
        let known = Known { hash: self.hash, first, len, first_guard, guard_len, set, changes };
        self.known.insert_unique(self.hash, known, |known| known.hash);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.known.capacity() * (size_of::<Known>() + 1)
            + self.items.capacity() * size_of::<Item>()
            + self.guards.capacity() * size_of::<Guard>()
    }
}

#[cfg(test)]
mod tests {
    use grammask_fsm::StateId;

    use super::*;
    use crate::context::{LOCAL, ROOT};
    use crate::slots::SlotChange;

    const NO_CHANGES: SlotChanges = [None; SLOTS];

    /// Items in so many states, of a text or of a local part.
    fn kernel(states: std::ops::Range<usize>, is_local: bool) -> Vec<Item> {
        let context = if is_local { LOCAL } else { ROOT };
        states.filter_map(StateId::new).map(|state| Item { state, context }).collect()
    }

    fn get(kernels: &mut Kernels, items: &[Item]) -> Option<(u32, SlotChanges)> {
        let found = kernels.get(items.iter().copied(), &[0; SLOTS]);
        found.map(|(set, changes, _)| (set, changes))
    }

    #[test]
    fn what_a_kernel_led_to_is_found_under_that_kernel_alone() {
        let mut kernels = Kernels::default();
        let counted: SlotChanges = [Some(SlotChange::Keep); SLOTS];
        for (set, changes) in [(0, NO_CHANGES), (1, counted)] {
            for len in 0..=MAX_ITEMS {
                let items = kernel(0..len, set == 1);
                if len > 0 || set == 0 {
                    assert_eq!(get(&mut kernels, &items), None);
                    kernels.keep(100 * set + len as u32, changes, &[]);
                }
            }
        }
        for len in 1..=MAX_ITEMS {
            assert_eq!(get(&mut kernels, &kernel(0..len, false)), Some((len as u32, NO_CHANGES)));
            assert_eq!(get(&mut kernels, &kernel(0..len, true)), Some((100 + len as u32, counted)));
            assert_eq!(get(&mut kernels, &kernel(1..len + 1, false)), None);
        }
    }

    #[test]
    fn large_kernels_are_not_kept() {
        let mut kernels = Kernels::default();
        let items = kernel(0..MAX_ITEMS + 1, false);
        for _ in 0..2 {
            assert_eq!(get(&mut kernels, &items), None);
            kernels.keep(1, NO_CHANGES, &[]);
        }
        assert_eq!(kernels.bytes() - kernels.items.capacity() * size_of::<Item>(), 0, "nothing was kept");
        // What was asked for last counts, and not what begins alike.
        assert_eq!(get(&mut kernels, &items[..MAX_ITEMS]), None);
    }

    #[test]
    fn counts_that_answer_otherwise_do_not_find_a_kernel() {
        let mut kernels = Kernels::default();
        let items = kernel(0..2, false);
        // At least 2 and at most 5 iterations: with one more the count is less than 2, in between, and 5.
        let guard = |may_end, may_go_on| Guard { slot: 1, min: 2, max: 5, may_end, may_go_on };
        let cases = [(0, guard(false, true)), (1, guard(true, true)), (4, guard(true, false))];
        for (set, (count, guard)) in (0..).zip(cases) {
            let counts = |count| std::array::from_fn(|slot| if slot == 1 { count } else { 99 });
            assert!(kernels.get(items.iter().copied(), &counts(count)).is_none());
            kernels.keep(set, NO_CHANGES, &[guard]);
            let (found, _, guards) = kernels.get(items.iter().copied(), &counts(count)).unwrap();
            assert_eq!((found, guards), (set, &[guard][..]));
        }
        let found: Vec<u32> =
            (0..6).map(|count| kernels.get(items.iter().copied(), &[0, count, 0]).unwrap().0).collect();
        assert_eq!(found, [0, 1, 1, 1, 2, 2]);
    }
}
