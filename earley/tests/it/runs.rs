//! Runs of characters: the state after a number of characters of a class is the one that each of them leads
//! to, one after the other. Statements about all texts of some length hold for texts that are tried.

use grammask_earley::{Config, Engine, State};
use grammask_oracle::random;
use grammask_parser_backend::{Backend, CharClass, ClassRuns, Fuel, Run};

use crate::{compile, engine, read};

/// The steps of single characters, one after the other.
fn one_by_one(engine: &Engine, state: State, class: &CharClass, most: u32) -> Option<Vec<State>> {
    let mut states = vec![state];
    for _ in 0..most {
        let last = *states.last()?;
        let steps = engine.step_class_n(last, class, 1, &mut Fuel::unlimited()).unwrap()?;
        let [next] = steps[..] else { break };
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
                let told = |engine: &Engine, states: Option<Vec<State>>| {
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

/// The bytes of characters beyond ASCII, by their places: the ranges of "Well-Formed UTF-8 Byte Sequences" in the Unicode
/// standard.
const NON_ASCII: [&[(u8, u8)]; 8] = [
    &[(0xC2, 0xDF), (0x80, 0xBF)],
    &[(0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)],
    &[(0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)],
    &[(0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    &[(0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)],
];

/// Which characters of a class are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// Each, from each state.
    All,
    /// No byte of any, from any state.
    None,
    Some,
}

/// Reads each character of a class from each state, byte by byte. `after` gets the states between characters.
fn read_each(engine: &Engine, states: &[State], class: &CharClass, after: &mut Vec<State>) -> Fate {
    let (mut is_any_read, mut is_any_refused) = (false, false);
    let mut step_all = |from: &[State], (start, end): (u8, u8), to: &mut Vec<State>| {
        for &state in from {
            for byte in start..=end {
                match engine.step(state, byte, &mut Fuel::unlimited()).unwrap() {
                    Some(target) if to.contains(&target) => is_any_read = true,
                    Some(target) => {
                        is_any_read = true;
                        to.push(target);
                    }
                    None => is_any_refused = true,
                }
            }
        }
    };
    for byte in (0..128).filter(|&byte| class.contains_ascii(byte)) {
        step_all(states, (byte, byte), after);
    }
    for sequence in NON_ASCII.iter().filter(|_| class.non_ascii) {
        let mut from = states.to_vec();
        for (place, &bytes) in sequence.iter().enumerate() {
            let mut to = Vec::new();
            let is_last = place + 1 == sequence.len();
            step_all(&from, bytes, if is_last { after } else { &mut to });
            from = to;
        }
    }
    match (is_any_read, is_any_refused) {
        (_, false) => Fate::All,
        (false, true) => Fate::None,
        (true, true) => Fate::Some,
    }
}

/// Compares an answer with all texts over the class: the states after 1, 2, ... characters. Whether there was an answer.
#[track_caller]
fn check_run(engine: &Engine, state: State, class: &CharClass, place: &str) -> bool {
    /// More characters than distances are told in.
    const MAX_CHARS: u32 = 140;
    /// Texts that lead to more states are not followed any further.
    const MAX_STATES: usize = 60;
    let run = engine.run_over(state, class, &mut Fuel::unlimited());
    let mut states = vec![state];
    for read in 0..MAX_CHARS {
        let mut after = Vec::new();
        let fate = read_each(engine, &states, class, &mut after);
        let is_right = match run {
            Run::Unbounded => fate == Fate::All,
            Run::AtMost(chars) if read == chars => fate == Fate::None,
            Run::AtMost(_) => fate == Fate::All,
            Run::AtLeast(chars) if read >= chars => break,
            Run::AtLeast(_) => fate == Fate::All,
            _ => return false,
        };
        assert!(is_right, "{run:?}, but {fate:?} after {read} characters of {class:?}: {place}");
        if after == states || after.is_empty() || after.len() > MAX_STATES {
            break;
        }
        states = after;
    }
    true
}

#[test]
fn runs_are_those_of_a_naive_explorer() {
    let letters = |text: &str| text.bytes().fold(0, |bits, byte| bits | 1u128 << byte);
    let classes = [
        CharClass { ascii: letters("ab"), non_ascii: false },
        CharClass { ascii: letters("ab"), non_ascii: true },
        CharClass { ascii: u128::MAX << 32 & !letters("\"\\"), non_ascii: true },
        CharClass { ascii: u128::MAX, non_ascii: true },
    ];
    let grammars = [
        r#"root ::= "<" ([^"\\] | "\\" [ab]){0,40} ">" "#,
        r#"root ::= ([ab] [^"]{3} | [ab]){0,30} "x""#,
        r#"root ::= ([^ ]+ " "+){0,40} [^ ]+ "x""#,
        r#"root ::= ([^ é]+ [ é]+){3,40} [^ é]{1,9} "x""#,
        r#"root ::= [^]* | [ab]{3,9} "x""#,
        r#"root ::= ([ab]* | [^ab]{2,60}){1,3} "x""#,
        r#"root ::= TagDispatch(("<aé", "b"), ("ab", [^]{4,30}), excludes=("bbb",))"#,
        r#"root ::= [^]{20,60} | ([ab] | "ab"){5,20}"#,
        r#"root ::= (~("ab" [^]{0,30}) & [^"]{0,50}) "x""#,
    ];
    let mut known = 0;
    for source in grammars {
        let engine = engine(source);
        for prefix in ["", "a", "<", "<a", "b a", "ab", "é", "aaaa", "abcab é"] {
            let Ok(state) = read(&engine, engine.start(), prefix.as_bytes()) else { continue };
            for class in &classes {
                known += usize::from(check_run(&engine, state, class, &format!("{prefix:?} of {source}")));
            }
        }
    }
    assert!(known > 50, "{known} runs were known");
    for seed in 0..600 {
        let case = random::case(seed);
        let engine = compile(&case.grammar, Config::default());
        let mut state = engine.start();
        for at in 0..=case.text.len() {
            if std::str::from_utf8(&case.text[..at]).is_ok() {
                for class in &classes {
                    let place = || format!("seed {seed} at {at} of {:?}\n{}", case.text, case.grammar);
                    check_run(&engine, state, class, &place());
                }
            }
            let next = case.text.get(at).map(|&byte| engine.step(state, byte, &mut Fuel::unlimited()));
            let Some(Ok(Some(next))) = next else { break };
            state = next;
        }
    }
}
