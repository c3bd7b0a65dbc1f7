//! Runs of characters: the state after a number of characters of a class is the one that each of them leads
//! to, one after the other. Statements about all texts of some length hold for texts that are tried.

use grammask_earley::State;
use grammask_parser_backend::{Backend, CharClass, Fuel, Run};

use crate::{engine, read};

/// The answers of `step_class`, one character after the other.
fn one_by_one(
    engine: &grammask_earley::Engine,
    state: State,
    class: &CharClass,
    most: u32,
) -> Option<Vec<State>> {
    let mut states = vec![state];
    for _ in 0..most {
        let last = *states.last()?;
        let next = engine.step_class(last, class, &mut Fuel::unlimited()).unwrap()?;
        if next == last {
            break;
        }
        states.push(next);
    }
    states.remove(0);
    Some(states)
}

/// Compares the runs from all places of a text; returns the length of the longest one.
#[track_caller]
fn check(source: &str, text: &[u8]) -> usize {
    let lower = 0x7FF_FFFE << 96;
    let classes = [
        CharClass { ascii: lower, non_ascii: false },
        CharClass { ascii: lower, non_ascii: true },
        CharClass {
            ascii: u128::MAX >> 1 & !(u128::MAX >> 96) & !(1 << b'"') & !(1 << b'\\'),
            non_ascii: true,
        },
    ];
    let mut longest = 0;
    for at in 0..=text.len() {
        for class in &classes {
            for most in [0, 1, 3, 9, 20, 120, 200] {
                // Tables of their own, so that no run finds what another one has left.
                let (engine, other) = (engine(source), engine(source));
                let state = read(&engine, engine.start(), &text[..at]).unwrap();
                let again = read(&other, other.start(), &text[..at]).unwrap();
                let run = engine.step_class_n(state, class, most, &mut Fuel::unlimited()).unwrap();
                let expected = one_by_one(&other, again, class, most);
                let told = |engine: &grammask_earley::Engine, states: Option<Vec<State>>| {
                    let facts = |&state: &State| (engine.mask_key(state).detail, engine.next_bytes(state));
                    states.map(|states| states.iter().map(facts).collect::<Vec<_>>())
                };
                assert_eq!(told(&engine, run.clone()), told(&other, expected), "{most} from {at}");
                // In the same tables the states are the same ones.
                assert_eq!(run, one_by_one(&engine, state, class, most), "{most} from {at}");
                longest = longest.max(run.map_or(0, |run| run.len()));
            }
        }
    }
    longest
}

#[test]
fn a_run_of_characters_is_what_its_characters_are() {
    let cases: [(&str, &[u8], usize); 6] = [
        (r#"root ::= "\"" [^"\\]{0,150} "\"""#, b"\"abcdefgh", 120),
        (r#"root ::= "\"" [^"\\]{7,30} "\"" [a-z]*"#, b"\"abcdefghij\"ab", 20),
        (r#"root ::= ("x" [^"\\;]{2,40} ";"){1,30}"#, b"xabcde;xabcdefg", 0),
        (r#"root ::= [a-z]{3,20} ([a-z]{2,9} "-"){0,3} [^-]{0,90}"#, b"abcdefgh", 0),
        (r#"root ::= ([a-z] | [^a-z"]){0,60} | [a-z]{5,70} "!""#, b"abcdefghi", 0),
        ("root ::= ([a-y]{2,5} \"z\"?){0,60} [^\"]{4,8}", b"abcd", 0),
    ];
    for (source, text, least) in cases {
        let longest = check(source, text);
        assert!(longest >= least, "{longest} of {least}: {source}");
    }
}

/// Characters of a string, with the spaces that `\s` means among them.
const CHARS: [char; 12] = [
    'a',
    'Z',
    '~',
    ' ',
    '\u{a0}',
    '\u{85}',
    '\u{a1}',
    '\u{3000}',
    '\u{3001}',
    '\u{2028}',
    '\u{feff}',
    '\u{1f600}',
];

#[test]
fn words_that_are_counted_may_go_on_for_long() {
    let word = "[^ \u{85}\u{a0}\u{2028}\u{3000}\"\\\\\\u0000-\\u001f]";
    let space = "[ \u{85}\u{a0}\u{2028}\u{3000}]";
    let class = CharClass { ascii: u128::MAX << 32 & !(1 << b'"') & !(1 << b'\\'), non_ascii: true };
    for max in [20_u32, 99] {
        let engine = engine(&format!(r#"root ::= "\"" ({word}+ {space}+){{0,{max}}} {word}+ "\"""#));
        let mut state = read(&engine, engine.start(), b"\"a").unwrap();
        for done in 0..max {
            if let Run::AtLeast(chars) = engine.run_over(state, &class, &mut Fuel::unlimited()) {
                assert!(chars < max - done, "{chars} characters behind {done} words");
                let mut seed = done;
                for _ in 0..50 {
                    let text: String = (0..chars)
                        .map(|_| {
                            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                            CHARS[(seed >> 16) as usize % CHARS.len()]
                        })
                        .collect();
                    assert!(read(&engine, state, text.as_bytes()).is_ok(), "{text:?} behind {done} words");
                }
            } else {
                assert!(max - done <= 18, "nothing is said behind {done} words of {max}");
            }
            state = read(&engine, state, " a".as_bytes()).unwrap();
        }
    }
}
