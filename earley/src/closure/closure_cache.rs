//! Closures that were run before, by the items that they began with.
//!
//! The naive way completes and predicts for every transition that is new. But the result of a closure depends
//! only on the items that a byte led to, its *kernel*, and on the answers where it asks for counts. And few
//! kernels make most transitions. A letter that begins none of the declared names leads to the one item "some
//! other name", from hundreds of sets and by dozens of ranges of bytes. The second blank before a value leads
//! where the first one did, with one more in a count. We therefore keep the sets that small kernels lead to,
//! with the questions that were asked: a look-up takes a twentieth of the time of a closure.

use grammask_grammar_ir::hash::hash_of;
use hashbrown::HashTable;

use crate::tables::guards::CountRanges;
use crate::tables::ids::{SLOTS, SetId, index};
use crate::tables::items::Item;
use crate::tables::slots::SlotChanges;

/// Most items of a kernel that is kept. Larger ones are seldom met again.
const MAX_KERNEL_ITEMS: usize = 8;

/// The results of closures, by their kernels.
#[derive(Default)]
pub(crate) struct ClosureCache {
    closures: HashTable<CachedClosure>,
    items: Vec<Item>,
    /// The kernel that was asked for last, and its hash.
    last_kernel: Vec<Item>,
    hash: u64,
}

struct CachedClosure {
    hash: u64,
    /// Where the items begin, and how many there are.
    first: u32,
    len: u32,
    asked: CountRanges,
    set: SetId,
    changes: SlotChanges,
}

impl ClosureCache {
    /// The set that a kernel leads to, the changes of the slots, and the counts for which both hold, if the
    /// cache has them for these counts.
    pub(crate) fn get(
        &mut self,
        kernel: impl Iterator<Item = Item>,
        counts: &[u32; SLOTS],
    ) -> Option<(SetId, SlotChanges, CountRanges)> {
        self.last_kernel.clear();
        self.last_kernel.extend(kernel.take(MAX_KERNEL_ITEMS + 1));
        if self.last_kernel.len() > MAX_KERNEL_ITEMS {
            return None;
        }
        self.hash = hash_of(&self.last_kernel);
        let found = self.closures.find(self.hash, |known| {
            known.hash == self.hash
                && known.asked.contain(counts)
                && self.items[index(known.first)..][..index(known.len)] == self.last_kernel
        });
        found.map(|known| (known.set, known.changes, known.asked))
    }

    /// Keeps the result of the kernel that was asked for last and not found, with the counts for which it
    /// holds.
    pub(crate) fn insert(&mut self, set: SetId, changes: SlotChanges, asked: CountRanges) {
        let (Ok(first), Ok(len)) = (u32::try_from(self.items.len()), u32::try_from(self.last_kernel.len()))
        else {
            return;
        };
        if self.last_kernel.len() > MAX_KERNEL_ITEMS {
            return;
        }
        self.items.extend_from_slice(&self.last_kernel);
        let known = CachedClosure { hash: self.hash, first, len, asked, set, changes };
        self.closures.insert_unique(self.hash, known, |known| known.hash);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.closures.capacity() * (size_of::<CachedClosure>() + 1)
            + self.items.capacity() * size_of::<Item>()
    }
}

#[cfg(test)]
mod tests {
    use grammask_fsm::StateId;

    use super::*;
    use crate::tables::guards::Guard;
    use crate::tables::ids::{LOCAL, ROOT, SlotIndex};
    use crate::tables::slots::SlotChange;

    const NO_CHANGES: SlotChanges = [None; SLOTS];

    /// Items in a range of states, of a text or of a local part.
    fn kernel(states: std::ops::Range<usize>, is_local: bool) -> Vec<Item> {
        let context = if is_local { LOCAL } else { ROOT };
        states.filter_map(StateId::new).map(|state| Item { state, context }).collect()
    }

    fn get(cache: &mut ClosureCache, items: &[Item]) -> Option<(SetId, SlotChanges)> {
        let found = cache.get(items.iter().copied(), &[0; SLOTS]);
        found.map(|(set, changes, _)| (set, changes))
    }

    #[test]
    fn what_a_kernel_led_to_is_found_under_that_kernel_alone() {
        let mut cache = ClosureCache::default();
        let counted: SlotChanges = [Some(SlotChange::Keep); SLOTS];
        for (set, changes) in [(0, NO_CHANGES), (1, counted)] {
            for len in 0..=MAX_KERNEL_ITEMS {
                let items = kernel(0..len, set == 1);
                if len > 0 || set == 0 {
                    assert_eq!(get(&mut cache, &items), None);
                    cache.insert(SetId::new(100 * set + len), changes, CountRanges::ALL);
                }
            }
        }
        for len in 1..=MAX_KERNEL_ITEMS {
            assert_eq!(get(&mut cache, &kernel(0..len, false)), Some((SetId::new(len), NO_CHANGES)));
            assert_eq!(get(&mut cache, &kernel(0..len, true)), Some((SetId::new(100 + len), counted)));
            assert_eq!(get(&mut cache, &kernel(1..len + 1, false)), None);
        }
    }

    #[test]
    fn large_kernels_are_not_kept() {
        let mut cache = ClosureCache::default();
        let items = kernel(0..MAX_KERNEL_ITEMS + 1, false);
        for _ in 0..2 {
            assert_eq!(get(&mut cache, &items), None);
            cache.insert(SetId::new(1), NO_CHANGES, CountRanges::ALL);
        }
        assert_eq!(cache.bytes() - cache.items.capacity() * size_of::<Item>(), 0, "nothing was kept");
        // The whole kernel that was asked for last counts, and not a beginning of it.
        assert_eq!(get(&mut cache, &items[..MAX_KERNEL_ITEMS]), None);
    }

    #[test]
    fn counts_that_answer_otherwise_do_not_find_a_kernel() {
        let mut cache = ClosureCache::default();
        let items = kernel(0..2, false);
        // At least 2 and at most 5 iterations: with one more the count is less than 2, in between, and 5.
        let slot = SlotIndex::all().nth(1).unwrap();
        let guard = |may_end, may_continue| {
            let mut asked = CountRanges::ALL;
            asked.add(&Guard { slot, min: 2, max: 5, may_end, may_continue });
            asked
        };
        let cases = [(0, guard(false, true)), (1, guard(true, true)), (4, guard(true, false))];
        for (set, (count, guard)) in (0..).zip(cases) {
            let counts = |count| std::array::from_fn(|slot| if slot == 1 { count } else { 99 });
            assert!(cache.get(items.iter().copied(), &counts(count)).is_none());
            cache.insert(SetId::new(set), NO_CHANGES, guard);
            let (found, _, asked) = cache.get(items.iter().copied(), &counts(count)).unwrap();
            assert_eq!((found.index(), asked), (set, guard));
        }
        let found: Vec<usize> =
            (0..6).map(|count| cache.get(items.iter().copied(), &[0, count, 0]).unwrap().0.index()).collect();
        assert_eq!(found, [0, 1, 1, 1, 2, 2]);
    }
}
