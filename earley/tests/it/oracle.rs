//! Steps, endings and runs against the naive recogniser on random grammars.

use grammask_earley::Config;
use grammask_oracle::random::{Case, GrammarOptions, VocabularyOptions};
use grammask_oracle::{Recogniser, random};
use grammask_parser_backend::{Backend, CharClass, ClassRuns, Fuel, Run};

use super::{compile, read};

const CASES: u64 = 3_000;

/// Every second grammar has parts in any order.
fn case(seed: u64) -> Case {
    match seed % 2 {
        0 => random::case(seed),
        _ => random::case_with(seed, &GrammarOptions::permutation(), &VocabularyOptions::default()),
    }
}

#[test]
fn steps_equal_the_oracle() {
    for seed in 0..CASES {
        let case = case(seed);
        let engine = compile(&case.grammar, Config::default());
        let recogniser = Recogniser::new(&case.grammar);
        let mut chart = recogniser.begin();
        let mut state = engine.start();
        for at in 0..=case.text.len() {
            let place = || format!("seed {seed} at {at} of {:?}\n{}", case.text, case.grammar);
            assert_eq!(engine.is_complete(state), chart.is_complete(), "{}", place());
            let next = engine.next_bytes(state);
            let found: Vec<u8> =
                (0..=255).filter(|byte| next[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1).collect();
            assert_eq!(found, chart.next_bytes(), "{}", place());
            let Some(&byte) = case.text.get(at) else { break };
            let after = engine.step(state, byte, &mut Fuel::unlimited()).unwrap();
            assert_eq!(after.is_some(), chart.push(byte), "{}", place());
            let Some(after) = after else { break };
            state = after;
        }
    }
}

#[test]
fn endings_are_reached() {
    for seed in 0..CASES {
        let case = case(seed);
        let engine = compile(&case.grammar, Config::default());
        let mut state = read(&engine, engine.start(), &case.prefix).unwrap();
        let length = |state| engine.shortest_completion(state, &mut Fuel::unlimited()).unwrap().0;
        let ending = |most| engine.shortest_ending(state, most, &mut Fuel::unlimited()).unwrap();
        let text = ending(1_000).unwrap_or_else(|| panic!("seed {seed}: no short ending"));
        assert!(text.is_empty() || ending(text.len() - 1).is_none(), "seed {seed}");
        for left in (0..=text.len()).rev() {
            assert_eq!(length(state), left as u64, "seed {seed}: {left} bytes before the end");
            let after = |byte| engine.step(state, byte, &mut Fuel::unlimited()).unwrap();
            let nearer = (0..=255).filter_map(after).find(|&next| length(next) + 1 < left as u64);
            assert!(nearer.is_none(), "seed {seed}: an ending was not the shortest");
            let Some(place) = text.len().checked_sub(left).filter(|_| left > 0) else { break };
            state =
                after(text[place]).unwrap_or_else(|| panic!("seed {seed}: {text:?} is refused at {place}"));
        }
        assert!(engine.is_complete(state), "seed {seed}");
    }
}

#[test]
fn runs_tell_the_truth() {
    let letters = |text: &str| text.bytes().fold(0, |bits, byte| bits | 1u128 << byte);
    let classes = [
        CharClass { ascii: letters("ab"), non_ascii: false },
        CharClass { ascii: letters("abc"), non_ascii: false },
        CharClass { ascii: u128::MAX, non_ascii: true },
    ];
    let mut known = 0;
    let grammars = [
        r#"root ::= [abc]* "x""#,
        r#"root ::= "<" [abc]{3,9} "x""#,
        r#"root ::= ([ab]{2,5} | [ab]{4,7}) "x""#,
        r#"root ::= [a-c]{0,4} [a-c]{0,4}"#,
        r#"root ::= ("<" [^]{20,30} "x"){2,40}"#,
        r#"root ::= [^]*"#,
        r#"root ::= ([ab] | "ab"){5,20} "x""#,
        r#"root ::= [ab]{7,} "x""#,
        r#"root ::= [abc]{20} "x""#,
        r#"root ::= ([ab]+ "c"+){0,18} [ab]+ "x""#,
        r#"root ::= ([^ab]+ [ab]+){0,40} [^ab]+"#,
    ];
    let mut at_least = 0;
    for source in grammars {
        let engine = super::engine(source);
        for prefix in ["", "a", "<", "<a", "<aa", "aa", "ab", "aaaa", "abcab"] {
            let Ok(state) = read(&engine, engine.start(), prefix.as_bytes()) else { continue };
            for class in &classes {
                let run = engine.run_over(state, class, &mut Fuel::unlimited());
                known += usize::from(run != Run::Unknown);
                at_least += usize::from(matches!(run, Run::AtLeast(_)));
                for length in 0..45usize {
                    for text in texts(class, length) {
                        let allowed = read(&engine, state, text.as_bytes()).is_ok();
                        let claimed = match run {
                            Run::AtLeast(chars) if length > chars as usize => continue,
                            Run::AtLeast(_) => true,
                            Run::Unbounded => true,
                            Run::AtMost(chars) => length <= chars as usize,
                            _ => continue,
                        };
                        assert_eq!(allowed, claimed, "{source} after {prefix:?}: {run:?}, {text:?}");
                    }
                }
            }
        }
    }
    assert!(known > 30 && at_least > 5, "{known} runs were known, {at_least} as far as it goes");
}

/// Some texts of this many characters over a class.
fn texts(class: &CharClass, length: usize) -> Vec<String> {
    let mut letters = vec!["a", "b", "ab"];
    if class.contains_ascii(b'c') {
        letters.extend(["c", "cab"]);
    }
    if class.non_ascii {
        letters.extend(["é", "水", "😀a", "\n"]);
    }
    letters.into_iter().map(|letters| letters.chars().cycle().take(length).collect()).collect()
}
