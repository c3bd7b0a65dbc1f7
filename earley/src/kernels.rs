//! Closures that were run before, by the items that they began with.
//!
//! The naive way completes and predicts for every transition that is new. But what a closure comes to depends on the
//! items that a byte led to, its *kernel*, and on nothing else, unless it asks for counts; and few kernels make most
//! transitions. Any letter that begins none of the declared names leads to the one item "some other name", from
//! hundreds of sets and by dozens of ranges of bytes. So the sets that small kernels lead to are kept: a look-up in
//! place of a closure, a twentieth of the time.

use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use crate::closure::Item;
use crate::sets::SlotChanges;

/// Most items of a kernel that is kept. Larger ones are seldom met again.
const MAX_ITEMS: usize = 8;

/// What kernels led to.
#[derive(Default)]
pub(crate) struct Kernels {
    known: HashTable<Known>,
    items: Vec<Item>,
    /// The kernel that was asked for last, and its hash.
    asked: Vec<Item>,
    hash: u64,
}

struct Known {
    hash: u64,
    /// Where the items begin, and how many there are.
    first: u32,
    len: u32,
    set: u32,
    changes: SlotChanges,
}

impl Kernels {
    /// The set that a kernel leads to and what happens to the slots, if it was kept.
    pub(crate) fn get(&mut self, kernel: impl Iterator<Item = Item>) -> Option<(u32, SlotChanges)> {
        self.asked.clear();
        self.asked.extend(kernel.take(MAX_ITEMS + 1));
        if self.asked.len() > MAX_ITEMS {
            return None;
        }
        self.hash = hash_of(&self.asked);
        let found = self.known.find(self.hash, |known| {
            known.hash == self.hash && self.items[known.first as usize..][..known.len as usize] == self.asked
        });
        found.map(|known| (known.set, known.changes))
    }

    /// Keeps what the kernel led to that was asked for last and not found. It must not have asked for counts.
    pub(crate) fn keep(&mut self, set: u32, changes: SlotChanges) {
        let (Ok(first), Ok(len)) = (u32::try_from(self.items.len()), u32::try_from(self.asked.len())) else {
            return;
        };
        if self.asked.len() > MAX_ITEMS {
            return;
        }
        self.items.extend_from_slice(&self.asked);
        let known = Known { hash: self.hash, first, len, set, changes };
        self.known.insert_unique(self.hash, known, |known| known.hash);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.known.capacity() * (size_of::<Known>() + 1) + self.items.capacity() * size_of::<Item>()
    }
}

#[cfg(test)]
mod tests {
    use grammask_fsm::StateId;

    use super::*;
    use crate::context::{LOCAL, ROOT};
    use crate::slots::{SLOTS, SlotChange};

    const NO_CHANGES: SlotChanges = [None; SLOTS];

    /// Items in so many states, of a text or of a local part.
    fn kernel(states: std::ops::Range<usize>, is_local: bool) -> Vec<Item> {
        let context = if is_local { LOCAL } else { ROOT };
        states.filter_map(StateId::new).map(|state| Item { state, context }).collect()
    }

    fn get(kernels: &mut Kernels, items: &[Item]) -> Option<(u32, SlotChanges)> {
        kernels.get(items.iter().copied())
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
                    kernels.keep(100 * set + len as u32, changes);
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
            kernels.keep(1, NO_CHANGES);
        }
        assert_eq!(kernels.bytes() - kernels.items.capacity() * size_of::<Item>(), 0, "nothing was kept");
        // What was asked for last counts, and not what begins alike.
        assert_eq!(get(&mut kernels, &items[..MAX_ITEMS]), None);
    }
}
