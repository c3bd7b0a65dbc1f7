//! Masks of local parts, shared by grammars and saved for other processes.

use std::sync::Arc;

use grammask_mask_cache::parser_backend::Fuel;
use grammask_mask_cache::{LocalPool, MaskCounters, MaskMemo, SavedPool, Scratch, TokenSets, Vocabulary};
use serde_json::{Value, json};

use crate::automaton::{Automaton, Place, class};
use crate::support::vocabulary;

/// A word of letters inside of a rule, and a stroke after it, by the greatest number of letters.
fn word(most: Option<u32>) -> Automaton {
    let (letters, stroke) = (class("abcdefghijklmnopqrstuvwxyz"), class("/"));
    let mut places = vec![
        Place { split: Some((2, 1)), ..Place::new(&[(letters, 0)]) },
        Place::new(&[(stroke, 1)]),
        Place { form: Some(7), ends_rule: true, ..Place::new(&[(letters, most.map_or(2, |_| 3))]) },
    ];
    if let Some(most) = most {
        places[0].edges[0].1 = 3;
        places.extend((4..=most + 2).map(|next| Place::new(&[(letters, next)])));
        places.push(Place::default());
    }
    Automaton::new(places)
}

/// A pool with one mask, which stands for the inside of a word.
fn saved(runs: &[u32], suffixes: &[(&str, Vec<u32>)]) -> Value {
    let follow = [0, 1 << (b'/' - 32), 0, 0, 0, 0, 0, 0];
    let suffixes = suffixes.iter().map(|(bytes, ids)| json!({"bytes": bytes.as_bytes(), "ids": ids}));
    let structure: Vec<u32> = std::iter::once(7).chain(follow).collect();
    json!({"masks": [{"structure": structure, "runs": runs, "suffixes": suffixes.collect::<Vec<_>>()}]})
}

fn read(saved: &Value) -> SavedPool {
    serde_json::from_value(saved.clone()).expect("the form of a saved pool")
}

fn tokens() -> Vocabulary {
    let tokens = ["a", "b", "ab", "b", "cab", "c"].into_iter().chain(std::iter::repeat_n("x", 70));
    vocabulary(&tokens.map(|token| Some(token.into())).collect::<Vec<_>>())
}

/// The words of the mask that is restored, where it is used for a text.
fn check(runs: &[u32], suffixes: &[(&str, Vec<u32>)]) -> Result<Vec<u32>, String> {
    let (pool, saved) = (Arc::new(LocalPool::new(1 << 20)), saved(runs, suffixes));
    let vocabulary = Arc::new(tokens());
    pool.restore(&read(&saved), &vocabulary).map_err(|error| error.to_string())?;
    assert_eq!(serde_json::to_value(pool.save()).unwrap(), saved);
    let memo = MaskMemo::new(TokenSets::shared(&vocabulary), pool, 1 << 20);
    let mask = memo.mask(&word(None), (0, 0), &mut Scratch::default(), &mut Fuel::unlimited()).unwrap();
    Ok(mask.to_mask().as_words().to_vec())
}

#[test]
fn masks_that_are_saved_are_restored() {
    assert_eq!(check(&[], &[]).map(|_| ()), Ok(()));
    assert_eq!(check(&[0, 1], &[("ab", vec![4]), ("b", vec![2, 4])]), Ok(vec![1, 0, 0]));
    assert_eq!(check(&[6, 70], &[]), Ok(vec![!0 << 6, !0, 0xFFF]));
    assert_eq!(check(&[1, 1, 1, 1], &[]), Ok(vec![0b1010, 0, 0]));
}

#[test]
fn masks_that_cannot_be_are_refused() {
    for (runs, suffixes, expected) in [
        (&[77][..], &[][..], "more tokens than there are"),
        (&[u32::MAX, u32::MAX], &[], "more tokens than there are"),
        (&[1, 1], &[], "tokens with equal bytes"),
        (&[], &[("b", vec![1])], "the token of a suffix"),
        (&[], &[("a", vec![2])], "the token of a suffix"),
        (&[0, 1, 1, 1], &[("b", vec![2])], "the token of a suffix"),
        (&[], &[("b", vec![76])], "a token"),
        (&[], &[("b", vec![4, 2])], "the order of tokens"),
        (&[], &[("b", vec![2]), ("ab", vec![4])], "the order of suffixes"),
        (&[], &[("", vec![2])], "the order of suffixes"),
    ] {
        let expected = format!("the saved masks do not fit the vocabulary ({expected}); save them anew");
        assert_eq!(check(runs, suffixes), Err(expected), "{runs:?} {suffixes:?}");
    }
}

#[test]
fn a_part_seen_twice_is_worth_a_mask_unless_it_was_rejected() {
    let sets = TokenSets::shared(&Arc::new(tokens()));
    sets.prepare();
    // Near its bound a word has no mask of its own.
    for (word, kept) in [(word(None), 1), (word(Some(2)), 0)] {
        let pool = Arc::new(LocalPool::new(1 << 20));
        let mut grammars = (0..5).map(|_| {
            let counters = Arc::new(MaskCounters::default());
            let memo = MaskMemo::new(Arc::clone(&sets), Arc::clone(&pool), 1 << 20);
            let memo = memo.with_counters(Arc::clone(&counters));
            memo.mask(&word, (0, 0), &mut Scratch::default(), &mut Fuel::unlimited()).unwrap();
            (
                pool.len(),
                counters.read().local_parts.masks,
                counters.read().cross_grammar_hits,
                word.take_asked(),
            )
        });
        let (first, second) = (grammars.next().unwrap(), grammars.next().unwrap());
        assert_eq!((first.0, first.1, first.2), (0, 0, 0));
        assert_eq!((second.0, second.1, second.2), (kept, kept as u64, 0));
        // A part that was rejected is not looked at again.
        for later in grammars {
            assert_eq!((later.0, later.1, later.2), (kept, kept as u64, kept as u64));
            assert!(kept == 1 || later.3 == first.3 && first.3 < second.3, "{first:?} {second:?} {later:?}");
        }
    }
}

/// A saved pool whose mask has this number of uncertain tokens, and another part for each key.
fn of_size(key: u32, tokens: u32) -> SavedPool {
    let suffixes = [("/", (0..tokens).collect())];
    let mut saved = saved(&[], &suffixes[usize::from(tokens == 0)..]);
    saved["masks"][0]["structure"] = json!([key]);
    read(&saved)
}

/// The tokens of the mask of a key.
fn kept(pool: &LocalPool, key: u32) -> Option<usize> {
    let saved = serde_json::to_value(pool.save()).unwrap();
    let mask = saved["masks"].as_array()?.iter().find(|mask| mask["structure"] == json!([key]))?;
    Some(mask["suffixes"].as_array()?.first().map_or(0, |suffix| suffix["ids"].as_array().unwrap().len()))
}

/// A pool for masks of up to a number of uncertain tokens.
fn sized_pool(tokens: u32) -> (LocalPool, Vocabulary, usize) {
    let texts: Vec<_> = (0..=tokens).map(|number| Some(format!("{number}/").into_bytes())).collect();
    let (vocabulary, pool) = (vocabulary(&texts), LocalPool::new(1 << 20));
    pool.restore(&of_size(0, tokens), &vocabulary).unwrap();
    let max_bytes = pool.memory_usage();
    (LocalPool::new(max_bytes), vocabulary, max_bytes)
}

#[test]
fn the_budget_holds_with_masks_of_any_size() {
    let (pool, vocabulary, max_bytes) = sized_pool(1_000);
    let sizes = [1, 999, 0, 1_000, 7, 500, 501, 1_001, 3, 250];
    for (number, &size) in (0..).zip(sizes.iter().cycle().take(200)) {
        let key = number % 37;
        pool.restore(&of_size(key, size), &vocabulary).unwrap();
        assert!(pool.memory_usage() <= max_bytes);
        assert_eq!(kept(&pool, key) == Some(size as usize), size <= 1_000, "{size}");
    }
    assert!(pool.len() < 37);
}

#[test]
fn a_mask_takes_the_place_of_one_of_its_part() {
    let (pool, vocabulary, max_bytes) = sized_pool(1_000);
    pool.restore(&of_size(1, 60), &vocabulary).unwrap();
    pool.restore(&of_size(1, 40), &vocabulary).unwrap();
    assert_eq!((kept(&pool, 1), pool.len(), pool.save().len()), (Some(40), 1, 1));
    assert_eq!(pool.memory_usage(), max_bytes - 4 * 960);
}
