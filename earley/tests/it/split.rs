//! States taken apart at a rule: together the parts read what the whole reads.

use grammask_earley::{Config, Engine, State};
use grammask_oracle::random;
use grammask_parser_backend::{Backend, Ended, Fuel, LocalParts, Split};

use crate::{compile, engine, read};

/// How often states were split in which way.
#[derive(Default)]
struct SplitCounts {
    splits: usize,
    /// Those whose rule may just have ended.
    maybe: usize,
    /// Texts that no place lets follow.
    cannot_follow: usize,
}

impl SplitCounts {
    fn add(&mut self, other: &Self) {
        self.splits += other.splits;
        self.maybe += other.maybe;
        self.cannot_follow += other.cannot_follow;
    }
}

fn reads(engine: &Engine, state: State, text: &[u8]) -> bool {
    read(engine, state, text).is_ok()
}

/// Whether the parts read a text: the local part alone, or a beginning of it, after which its rule may have ended, and
/// the rest what is left.
fn parts_read(engine: &Engine, split: &Split<State>, text: &[u8]) -> bool {
    let goes_over_at = |cut: usize| {
        let may_end = match cut {
            0 => split.ended == Ended::Maybe,
            _ => read(engine, split.local, &text[..cut]).is_ok_and(|state| engine.may_complete(state)),
        };
        may_end && reads(engine, split.continuation, &text[cut..])
    };
    reads(engine, split.local, text) || (0..=text.len()).any(goes_over_at)
}

/// All texts over an alphabet up to a length, sorted.
fn texts(alphabet: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut texts = vec![Vec::new()];
    let mut last = texts.clone();
    for _ in 0..longest {
        last = last
            .iter()
            .flat_map(|text| alphabet.iter().map(|&byte| [text.as_slice(), &[byte]].concat()))
            .collect();
        texts.extend_from_slice(&last);
    }
    texts.sort();
    texts
}

/// Checks the states along a text.
#[track_caller]
fn check(engine: &Engine, text: &[u8], continuations: &[Vec<u8>]) -> SplitCounts {
    let mut counts = SplitCounts::default();
    let mut state = engine.start();
    for at in 0..=text.len() {
        let fuel = &mut Fuel::unlimited();
        if let Some(split) = engine.split(state, fuel).unwrap() {
            counts.splits += 1;
            counts.maybe += usize::from(split.ended == Ended::Maybe);
            let asked: Vec<&[u8]> = continuations.iter().map(Vec::as_slice).collect();
            let may_follow = engine.may_follow(split.local, &asked, fuel);
            assert_eq!(may_follow.len(), asked.len());
            for (&continuation, may_follow) in asked.iter().zip(may_follow) {
                let place =
                    || format!("{:?} after {:?}", continuation.escape_ascii(), text[..at].escape_ascii());
                let whole = reads(engine, state, continuation);
                assert_eq!(parts_read(engine, &split, continuation), whole, "{}", place());
                let follows = reads(engine, split.continuation, continuation);
                assert!(may_follow || !follows, "{} follows, and cannot", place());
                counts.cannot_follow += usize::from(!may_follow);
            }
        }
        let Some(&byte) = text.get(at) else { break };
        let Some(next) = engine.step(state, byte, fuel).unwrap() else { break };
        state = next;
    }
    counts
}

/// After a name that no other name begins with there may come another letter, or what ends the name.
#[test]
fn a_name_that_may_have_ended() {
    let source = "root ::= \"{\" (name \":\" value (\",\" name \":\" value)*)? \"}\"
        name ::= \"a\" | \"ab\" | [c-e]+
        value ::= name | root | [0-9]{1,40}";
    let engine = engine(source);
    let continuations = texts(b"abc1:,}", 3);
    let mut counts = SplitCounts::default();
    for text in ["{a:ab,cde:{ab:a}}", "{ab:{a:c,cc:17},a:111}", "{}"] {
        counts.add(&check(&engine, text.as_bytes(), &continuations));
    }
    assert!(counts.maybe > 0, "no rule may have ended in {} states", counts.splits);
    assert!(counts.cannot_follow > 0 && counts.splits > counts.maybe);
}

#[test]
fn rules_that_end_in_other_rules() {
    // The caller of `tail` is at its end too, and a counted repeat may end or go on.
    let source = "root ::= \"(\" list \")\" | \"<\" tail \">\"
        list ::= (word \",\"){2,30} tail
        tail ::= \"-\" word | word \"!\"?
        word ::= [a-c] [a-c]*";
    let engine = engine(source);
    let continuations = texts(b"ac,-!)>", 3);
    let mut counts = SplitCounts::default();
    for text in ["(ab,c,-abc)", "<-ab>", "<cc!>", "(a,b,c,a!)"] {
        counts.add(&check(&engine, text.as_bytes(), &continuations));
    }
    assert!(counts.splits > 0 && counts.cannot_follow > 0);
}

#[test]
fn parts_read_what_the_whole_reads_on_random_grammars() {
    let mut counts = SplitCounts::default();
    for seed in 0..300 {
        let case = random::case(seed);
        let engine = compile(&case.grammar, Config::default());
        let mut alphabet: Vec<u8> = case.vocabulary.iter().flatten().copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let continuations = texts(&alphabet, if alphabet.len() > 8 { 1 } else { 2 });
        counts.add(&check(&engine, &case.text, &continuations));
    }
    assert!(counts.splits > 200, "{} states came apart", counts.splits);
    assert!(counts.maybe > 10, "of {} states {} may have ended a rule", counts.splits, counts.maybe);
    assert!(counts.cannot_follow > 100, "{} texts cannot follow", counts.cannot_follow);
}
