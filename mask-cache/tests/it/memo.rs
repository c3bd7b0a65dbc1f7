//! Masks that are kept: which go first, and that they are whole while others come and go.

use std::sync::{Arc, Weak};

use grammask_mask_cache::parser_backend::{Fuel, MaskKey};
use grammask_mask_cache::{LocalPool, MaskCounters, MaskMemo, Scratch, StoredMask, TokenSets};

use crate::automaton::{Automaton, Place, class};
use crate::support::{id, vocabulary};

/// Each place reads a letter of its own, or all read one.
fn automaton(places: u32, letters: u32) -> Automaton {
    let place =
        |at: u32| Place::new(&[(class(&char::from_u32(at % letters + 0x21).unwrap().to_string()), at)]);
    Automaton::new((0..places).map(place).collect())
}

fn memo(max_bytes: usize) -> MaskMemo {
    let vocabulary = Arc::new(vocabulary(&(0x21..0x7F).map(|byte| Some(vec![byte])).collect::<Vec<_>>()));
    MaskMemo::new(TokenSets::shared(&vocabulary), Arc::new(LocalPool::new(0)), max_bytes)
}

fn mask(memo: &MaskMemo, automaton: &Automaton, place: u32) -> Arc<StoredMask> {
    memo.mask(automaton, (place, 0), &mut Scratch::default(), &mut Fuel::unlimited()).unwrap()
}

fn knows(memo: &MaskMemo, place: u32) -> bool {
    memo.known(&MaskKey { set: place, detail: 0 }).is_some()
}

/// Bytes of a mask, and of what finds masks of equal content.
fn sizes() -> (usize, usize) {
    let (memo, automaton) = (memo(1 << 20), automaton(2, 1));
    let [one, both] = [0, 1].map(|place| {
        mask(&memo, &automaton, place);
        memo.memory_usage()
    });
    (both - one, 2 * one - both)
}

#[test]
fn masks_that_are_used_stay_and_the_oldest_go() {
    // Three quarters are for masks: ten of them.
    let counters = Arc::new(MaskCounters::default());
    let memo = memo((40 * sizes().0).div_ceil(3)).with_counters(Arc::clone(&counters));
    let automaton = automaton(11, 1);
    for place in 0..10 {
        mask(&memo, &automaton, place);
        assert!(knows(&memo, 0), "used all the time");
    }
    assert_eq!((memo.len(), counters.read().evicted), (10, 0));
    mask(&memo, &automaton, 10);
    assert_eq!((memo.len(), counters.read().evicted), (8, 3));
    assert!(knows(&memo, 0) && knows(&memo, 10));
    assert!((1..3).all(|place| !knows(&memo, place)));
    assert!(knows(&memo, 3) != knows(&memo, 4), "one of the two of an age");
    assert!((5..11).all(|place| knows(&memo, place)));
}

/// Readers find the mask of their place while others add masks and the budget makes masks go.
#[test]
fn readers_see_whole_masks_while_masks_come_and_go() {
    const PLACES: u32 = 97;
    let (of_mask, of_content) = sizes();
    let max_bytes = 54 * of_mask;
    let (memo, automaton) = (memo(max_bytes), automaton(PLACES, 94));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (memo, automaton) = (&memo, &automaton);
            scope.spawn(move || {
                for step in 0..4_000 {
                    let place = (step * 31 + thread * 7) % PLACES;
                    assert_eq!(mask(memo, automaton, place).single(), Some(id(place % 94)));
                    assert!(memo.memory_usage() <= max_bytes + max_bytes / 16);
                }
            });
        }
    });
    assert_eq!((memo.memory_usage() - of_mask * memo.len()) % of_content, 0);
}

#[test]
fn masks_that_go_are_freed() {
    let (memo, automaton) = (memo(100 * sizes().0), automaton(94, 94));
    let masks: Vec<Weak<StoredMask>> =
        (0..94).map(|place| Arc::downgrade(&mask(&memo, &automaton, place))).collect();
    let held = || masks.iter().filter(|mask| mask.strong_count() > 0).count();
    assert!(memo.len() < 94);
    assert_eq!(held(), memo.len());
    drop(memo);
    assert_eq!(held(), 0);
}
