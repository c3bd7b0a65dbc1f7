//! Masks of all ways and forms against the tokens that are read one by one.

use std::collections::BTreeSet;
use std::sync::Arc;

use grammask_mask_cache::parser_backend::{CharClass, Fuel};
use grammask_mask_cache::{
    LocalPool, MaskMemo, MaskOptions, Scratch, StoredMask, Toggle, TokenId, TokenMask, TokenSets, Vocabulary,
    read_token,
};
use proptest::prelude::*;

use crate::automaton::{Automaton, Place, class, string};
use crate::support::{ids, token_lists, vocabulary};

/// Characters of the bounded string.
const BOUND: u32 = 135;
const START: u32 = 0;
const NUMBER: u32 = 4;
const OPENINGS: u32 = 8;
const WORD: u32 = 14;
const STRINGS: u32 = 18;
const BOUNDED: u32 = 27;

/// A value after at most three characters of whitespace, and places of other kinds.
fn automaton() -> Automaton {
    let (quote, digits, space) = (class("\""), class("0123456789"), class(" \t\n\r"));
    let lower = class("abcdefghijklmnopqrstuvwxyz");
    let ascii_but = |removed: &str| CharClass { ascii: string().ascii & !class(removed).ascii, ..string() };
    let mut places = Vec::new();
    for at in START..START + 4 {
        let value = [(quote, STRINGS), (class("123456789"), NUMBER + 1), (class("[0"), BOUNDED)];
        let before = (at < START + 3).then_some((space, at + 1));
        places.push(Place::new(&value.into_iter().chain(before).collect::<Vec<_>>()));
    }
    for at in NUMBER..NUMBER + 4 {
        let more = (at < NUMBER + 3).then_some((digits, at + 1));
        places.push(Place::new(&more.into_iter().chain([(class(","), START)]).collect::<Vec<_>>()));
    }
    // A string of at most so many characters.
    for most in 0..4 {
        places.push(Place::new(&[
            (space, OPENINGS + most),
            (quote, BOUNDED + BOUND - most),
            (digits, NUMBER),
        ]));
    }
    // Both differ from a string in some first characters.
    let with_backslash = CharClass { ascii: string().ascii | class("\\").ascii, ..string() };
    places.push(Place::new(&[(with_backslash, STRINGS)]));
    places.push(Place::new(&[(ascii_but("a"), STRINGS), (quote, START)]));
    // Two letters or digits, and then one of two alone.
    let start = CharClass { ascii: lower.ascii | digits.ascii, ..lower };
    places.extend(
        [(start, WORD + 1), (start, WORD + 2), (class("a1"), WORD + 2)].map(|edge| Place::new(&[edge])),
    );
    // Letters, until there is another character.
    let above = CharClass { ascii: 0, non_ascii: true };
    places.push(Place::new(&[(lower, WORD + 3), (quote, START), (above, START)]));
    // The insides of these strings are equal, the texts after them differ.
    for (number, after) in (0..).zip([",", ";}", "]"]) {
        let at = STRINGS + 3 * number;
        places
            .push(Place { split: Some((at + 2, at + 1)), ..Place::new(&[(string(), at), (quote, at + 1)]) });
        places.push(Place::new(&[(class(after), START)]));
        places
            .push(Place { form: Some(1), ..Place::new(&[(string(), at + 2), (quote, BOUNDED + BOUND + 1)]) });
    }
    for at in BOUNDED..=BOUNDED + BOUND {
        let more = (at < BOUNDED + BOUND).then_some((string(), at + 1));
        places.push(Place::new(&more.into_iter().chain([(quote, NUMBER)]).collect::<Vec<_>>()));
    }
    places.push(Place { ends_rule: true, ..Place::default() });
    Automaton::new(places)
}

/// Tokens at the bounds of what is listed, counted and shared.
fn tokens() -> Vec<Option<Vec<u8>>> {
    let texts = [
        "\"", "\"a", "\"ab", "\"ab", "\"é", "\"abc", "\"a\"", "\"\\", " \"", " \"b", " \"\\", " \"bé", " b",
        "b", "0", "01", "1", "10", "10", "1st", "9", "123", "991", "1234", "12 ", " ", " ", "  ", "\n",
        " \n\t", "    ", "  \"a", ",", "\",", "\";", "\"}", "\"]", "\",\"", "a\",", "aé\",", "aé1", "é\"]",
        "ab\\", "a\\b", "éa\\", "b\";", "[", "[a", "\\", "\\a", "zz", "zzz", "zza", "zzb", "1,", "12,",
        "12,\"", " 1", "a\n", "日本", "日\"", "Q", "7", "~",
    ];
    let cut = [&b"\"a\xC3"[..], b"\"a\xA9", b"a\xC3", b"\xA4a", b"\xC3", b"a\xA4\"", b"\xA4\"", b"\xE0\x80"];
    let long = [1, 2, 31, 32, 33, 34, 40, 124, 126, 127, 128, 129, 134, 135, 136, 255, 256]
        .map(|len| vec![b'a'; len]);
    let closed = long.iter().map(|text| [text, &b"\","[..]].concat());
    let texts = texts.iter().map(|text| text.as_bytes().to_vec()).chain(cut.map(<[u8]>::to_vec));
    texts.chain(closed).chain(long.clone()).map(Some).collect()
}

/// The words of the tokens that are read one by one from a place.
fn expected(automaton: &Automaton, place: u32, vocabulary: &Vocabulary) -> TokenMask {
    let mut mask = TokenMask::new(vocabulary.len());
    let reads = |&id: &TokenId| {
        read_token(automaton, (place, 0), vocabulary, id, &mut Fuel::unlimited())
            .is_ok_and(|read| read.is_ok())
    };
    ids(vocabulary).filter(reads).for_each(|id| mask.set(id));
    mask
}

/// The masks of all places, each with its words: by two memos that share a pool, and by some without a way.
fn check(vocabulary: Vocabulary) -> Vec<(Arc<StoredMask>, TokenMask)> {
    let sets = TokenSets::shared(&Arc::new(vocabulary));
    let mut options = [MaskOptions::default(); 4];
    options[2].differences = Toggle::Off;
    options[3].local_parts = Toggle::Off;
    let (pool, mut scratch) = (Arc::new(LocalPool::new(1 << 20)), Scratch::default());
    let mut masks = Vec::new();
    let mut automaton = automaton();
    let places = 0..automaton.places.len() as u32;
    let expected: Vec<TokenMask> =
        places.map(|place| expected(&automaton, place, sets.vocabulary())).collect();
    for options in options {
        for hides_runs in [false, true] {
            automaton.hides_runs = hides_runs;
            let memo = MaskMemo::new(Arc::clone(&sets), Arc::clone(&pool), 1 << 20).with_options(options);
            for (place, expected) in (0..).zip(&expected) {
                match memo.mask(&automaton, (place, 0), &mut scratch, &mut Fuel::unlimited()) {
                    Ok(mask) => {
                        let mut words = vec![u32::MAX; expected.as_words().len()];
                        mask.write(&mut words);
                        assert_eq!(words, expected.as_words(), "place {place}: {mask:?}");
                        assert!(mask.single().is_none_or(|id| expected.iter().eq([id])), "{mask:?}");
                        masks.push((mask, expected.clone()));
                    }
                    Err(error) => assert!(expected.is_empty(), "place {place}: {error}"),
                }
            }
        }
    }
    masks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn masks_hold_the_tokens_that_are_read(
        listed in prop::sample::subsequence(tokens(), 0..tokens().len()),
        others in token_lists(),
        holes in prop::sample::select(vec![0, 2_000]),
    ) {
        let holes = std::iter::repeat_n(None, holes);
        check(vocabulary(&others.into_iter().chain(listed).chain(holes).collect::<Vec<_>>()));
    }
}

/// No token is made of letters and characters above ASCII alone.
#[test]
fn characters_above_ascii_end_a_run_of_letters() {
    check(vocabulary(&["a", "1", "\"", "aé1", "é1", "aé\"", "aé\"a"].map(|token| Some(token.into()))));
}

/// Masks of every form, over vocabularies with holes and without. Some share a part.
fn masks(holes: usize) -> (Vocabulary, Vec<(Arc<StoredMask>, TokenMask)>) {
    let listed =
        || vocabulary(&tokens().into_iter().chain(std::iter::repeat_n(None, holes)).collect::<Vec<_>>());
    let mut masks = check(listed());
    masks.dedup_by(|(one, _), (other, _)| Arc::ptr_eq(one, other));
    (listed(), masks)
}

#[test]
fn a_buffer_that_held_a_mask_becomes_any_other() {
    let mut forms = BTreeSet::new();
    for holes in [0, 2_000] {
        let (vocabulary, masks) = masks(holes);
        let form = |mask: &StoredMask| format!("{mask:?}").split(['(', '{']).nth(1).map(str::to_owned);
        forms.extend(masks.iter().filter_map(|(mask, _)| form(mask)));
        let mut loaded = TokenMask::new(vocabulary.len());
        for (first, _) in &masks {
            for (second, expected) in masks.iter().step_by(5) {
                loaded.load(first);
                loaded.load(second);
                assert_eq!(&loaded, expected, "{first:?} then {second:?}");
            }
        }
        // Masks come and go, and now and then the caller writes the words that it sees.
        let mut seed = 1u64;
        for step in 0..5_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (mask, expected) = &masks[(seed >> 33) as usize % masks.len()];
            loaded.load(mask);
            assert_eq!(&loaded, expected, "at step {step}: {mask:?}");
            if seed >> 60 == 0 {
                loaded.set(vocabulary.id(99).unwrap());
            }
        }
    }
    assert_eq!(forms.len(), 5, "{forms:?}");
}

#[test]
fn a_mask_that_was_written_to_is_loaded_anew() {
    let (vocabulary, masks) = masks(0);
    let (stored, expected) = &masks[0];
    let len = vocabulary.len();
    let changes: [fn(&mut TokenMask); 6] = [
        |mask| (0..mask.len() as u32).filter_map(TokenId::new).for_each(|id| mask.set(id)),
        TokenMask::fill,
        TokenMask::clear_all,
        |mask| mask.as_mut_words()[0] = 1,
        |mask| {
            let mut other = TokenMask::new(mask.len());
            other.fill();
            mask.or_with(&other);
        },
        |mask| mask.copy_from(&TokenMask::new(mask.len())),
    ];
    for change in changes {
        let mut mask = stored.to_mask();
        change(&mut mask);
        assert!(&mask != expected && mask.len() == len);
        mask.load(stored);
        assert_eq!(&mask, expected);
    }
}
