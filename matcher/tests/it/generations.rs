//! Texts whose tables are begun anew again and again: nothing but the time that calls take may show it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler, Limits, MatchError, Matcher, Replay};
use grammask_parser_backend::StepError;

use crate::random::Random;

/// Each letter, and each pair of the first ones.
fn vocabulary() -> Vocabulary {
    let pairs = (b'a'..=b'h').flat_map(|one| (b'a'..=b'h').map(move |other| vec![one, other]));
    let tokens = (b'a'..=b'z').map(|byte| vec![byte]).chain(pairs).map(Some).chain([None]);
    Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([26 + 64])).unwrap()
}

fn compile(source: &str, max_table_bytes: usize) -> CompiledGrammar {
    let limits = Limits::default().max_table_bytes(max_table_bytes);
    Compiler::builder(vocabulary()).limits(limits).build().ebnf(source, &EbnfOptions::default()).unwrap()
}

/// Palindromes: each byte of a text leads to a set that no other text leads to.
fn palindromes(options: &str) -> String {
    let pairs: Vec<String> = ('a'..='h').map(|byte| format!(r#""{byte}" half "{byte}""#)).collect();
    format!("root{options} ::= half\nhalf ::= {} | [a-h] | \"\"", pairs.join(" | "))
}

fn mask(matcher: &mut Matcher) -> TokenMask {
    matcher.mask().unwrap().to_mask()
}

/// Some token that is allowed, but not the end if there are others.
fn token(random: &mut Random, mask: &TokenMask) -> TokenId {
    let allowed: Vec<TokenId> = mask.iter().collect();
    allowed[random.below((allowed.len() - 1).max(1))]
}

/// Steps, rollbacks, forks and drafts with tables that hold a few steps answer as with tables that hold all.
#[test]
fn answers_do_not_depend_on_the_size_of_tables() {
    for (source, max_table_bytes) in
        [(palindromes(""), 60_000), (palindromes(""), 300_000), (palindromes("[max_tokens=60]"), 200_000)]
    {
        let (small, large) = (compile(&source, max_table_bytes), compile(&source, usize::MAX));
        let mut random = Random::new(17);
        let (mut one, mut other) = (small.matcher(), large.matcher());
        for round in 0..400 {
            assert_eq!((one.steps(), one.is_terminated()), (other.steps(), other.is_terminated()));
            if one.is_terminated() {
                one.rollback(2).unwrap();
                other.rollback(2).unwrap();
            }
            let expected = mask(&mut other);
            assert_eq!(mask(&mut one), expected, "{source}, round {round}");
            match random.below(20) {
                0 | 1 => {
                    let steps = random.below(one.steps() + 1) >> (3 * random.below(2));
                    one.rollback(steps).unwrap();
                    other.rollback(steps).unwrap();
                }
                2 => one = one.fork(),
                3 => {
                    let tokens: Vec<TokenId> = (0..8).map(|_| token(&mut random, &expected)).collect();
                    assert_eq!(one.validate_tokens(&tokens), other.validate_tokens(&tokens));
                }
                4 => {
                    let next = token(&mut random, &expected);
                    let bytes = small.vocabulary().token_bytes(next);
                    assert_eq!(one.accept_bytes(bytes), other.accept_bytes(bytes));
                }
                _ => {
                    let next = token(&mut random, &expected);
                    assert_eq!(one.accept_token(next), other.accept_token(next));
                }
            }
        }
        drop(one);
        let stats = small.stats().texts;
        assert!(stats.moves > 3, "{source}: {stats:?}");
    }
}

/// A matcher whose text has 6,000 steps and whose tables have just been begun anew.
fn long_text(grammar: &CompiledGrammar) -> Matcher {
    let mut random = Random::new(5);
    let mut matcher = grammar.matcher();
    while matcher.steps() < 6_000 {
        matcher.accept_token(TokenId::new(u32::try_from(random.below(8)).unwrap()).unwrap()).unwrap();
    }
    let moves = matcher.stats().moves;
    while matcher.stats().moves == moves {
        matcher.accept_token(TokenId::new(u32::try_from(random.below(8)).unwrap()).unwrap()).unwrap();
        mask(&mut matcher);
    }
    matcher
}

const ROOM_FOR_THOUSANDS: usize = 12 << 20;

#[test]
fn a_rollback_of_4096_steps_reads_nothing_again() {
    let grammar = compile(&palindromes(""), ROOM_FOR_THOUSANDS);
    let mut matcher = long_text(&grammar);
    matcher.rollback(4_096).unwrap();
    assert_eq!(matcher.stats().read_again, 0);
    let steps = matcher.steps();
    mask(&mut matcher);
    matcher.rollback(steps - 10).unwrap();
    assert_eq!((matcher.stats().read_again, matcher.steps()), (10, 10));
    let mut fresh = compile(&palindromes(""), usize::MAX).matcher();
    let mut random = Random::new(5);
    for _ in 0..10 {
        fresh.accept_token(TokenId::new(u32::try_from(random.below(8)).unwrap()).unwrap()).unwrap();
    }
    assert_eq!(mask(&mut matcher), mask(&mut fresh));
}

/// Back and forth over the place where the tables were begun anew stays in the new ones.
#[test]
fn the_edge_of_a_generation_costs_nothing() {
    let grammar = compile(&palindromes(""), ROOM_FOR_THOUSANDS);
    let mut matcher = long_text(&grammar);
    let next = TokenId::new(0).unwrap();
    matcher.accept_token(next).unwrap();
    let moves = matcher.stats().moves;
    for _ in 0..1_000 {
        matcher.rollback(3).unwrap();
        for _ in 0..3 {
            mask(&mut matcher);
            matcher.accept_token(next).unwrap();
        }
    }
    assert!(matcher.stats().moves <= moves + 1, "{:?}, {moves} moves before", matcher.stats());
}

/// Reading again is one call, and does no more work than one may. Then the matcher stays where it is.
#[test]
fn reading_again_is_bounded() {
    let limits = Limits::default().max_table_bytes(5 << 20).max_work_per_call(40_000);
    let compiler = Compiler::builder(vocabulary()).limits(limits).build();
    let grammar = compiler.ebnf(&palindromes(""), &EbnfOptions::default()).unwrap();
    let mut matcher = grammar.matcher();
    let mut random = Random::new(5);
    while matcher.steps() < 15_000 {
        matcher.accept_token(TokenId::new(u32::try_from(random.below(8)).unwrap()).unwrap()).unwrap();
    }
    let before = matcher.next_bytes();
    let error = matcher.rollback(5_000).expect_err("10,000 steps take more than the work of a call");
    assert!(matches!(error, MatchError::Limit(_)), "{error}");
    assert!(error.to_string().contains("40000"), "{error}");
    let error = matcher.switch_to(&grammar, Replay::All).unwrap_err();
    assert!(matches!(error, MatchError::Limit(_)), "{error}");
    let draft: Vec<TokenId> =
        (0..15_000).map(|_| TokenId::new(u32::try_from(random.below(8)).unwrap()).unwrap()).collect();
    let error = matcher.validate_tokens(&draft).unwrap_err();
    assert!(error.to_string().contains("40000"), "{error}");
    assert_eq!(matcher.validate_tokens(&draft[..100]), Ok(100));
    assert_eq!((matcher.steps(), matcher.next_bytes()), (15_000, before));
    matcher.rollback(1).unwrap();
    matcher.rollback(14_990).unwrap();
    assert_eq!((matcher.steps(), matcher.stats().read_again), (9, 9));
}

/// Long work is stopped in its middle, and the matcher stays where it is.
#[test]
fn a_running_call_can_be_cancelled() {
    let grammar = compile(&palindromes(""), usize::MAX);
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(b"abc").unwrap();
    let text = b"cbahgfedb".repeat(3_000);
    let asked = Arc::new(AtomicU64::new(0));
    let interrupt = |last: u64| {
        let asked = Arc::clone(&asked);
        Interrupt::when(move || asked.fetch_add(1, Ordering::Relaxed) >= last)
    };
    matcher.set_interrupt(interrupt(5));
    assert_eq!(matcher.accept_bytes(&text), Err(MatchError::Interrupted));
    assert_eq!(asked.load(Ordering::Relaxed), 6, "it was in the middle");
    assert_eq!(matcher.steps(), 1);
    let mut fork = matcher.fork();
    assert_eq!(fork.mask().unwrap_err(), MatchError::Interrupted);
    assert_eq!(fork.rollback(1), Ok(()), "what is known needs no work");
    matcher.set_interrupt(Interrupt::never());
    matcher.accept_bytes(&text).unwrap();
    matcher.rollback(1).unwrap();
    assert_eq!(mask(&mut matcher), {
        let mut other = grammar.matcher();
        other.accept_bytes(b"abc").unwrap();
        mask(&mut other)
    });
}

/// Many texts share the tables that are begun anew: not each has some of its own as soon as all are full.
#[test]
fn texts_in_turn_move_to_the_same_tables() {
    const TABLES: usize = 1 << 20;
    let grammar = compile(&palindromes(""), TABLES);
    let empty = grammar.budget().memory_usage();
    let mut random = Random::new(3);
    let mut matchers: Vec<Matcher> = (0..32).map(|_| grammar.matcher()).collect();
    let mut most = 0;
    for _ in 0..60 {
        for matcher in &mut matchers {
            let allowed = mask(matcher);
            matcher.accept_token(token(&mut random, &allowed)).unwrap();
            most = most.max(grammar.budget().memory_usage() - empty);
        }
    }
    assert!(grammar.stats().generations > 10, "{:?}", grammar.stats());
    assert!(most < 8 * TABLES, "{most} bytes");
}

/// A short way to the end is followed, not searched for among all bytes.
#[test]
fn an_ending_takes_about_a_step_for_each_byte() {
    let grammar = compile(&palindromes(""), usize::MAX);
    let mut matcher = grammar.matcher();
    let mut random = Random::new(8);
    while matcher.steps() < 1_000 {
        matcher.accept_token(TokenId::new(u32::try_from(random.below(8)).unwrap()).unwrap()).unwrap();
    }
    let before = grammar.stats().tables.sets;
    let ending = matcher.shortest_ending(2_000).unwrap().unwrap();
    assert!((900..1_001).contains(&ending.len()), "{} bytes", ending.len());
    let new_sets = grammar.stats().tables.sets - before;
    assert!(new_sets <= ending.len() + 100, "{new_sets} sets for {} bytes", ending.len());
}

/// Text whose nesting alone fills the tables ends in an error, before the tables are begun anew for ever fewer steps.
#[test]
fn a_nesting_that_fills_the_tables_moves_few_times() {
    let grammar = compile(r#"root ::= "a" root "b" | "c" root "d" | "e""#, 2_000_000);
    let mut matcher = grammar.matcher();
    let error = (0..1_000_000).find_map(|step| matcher.accept_bytes(&b"ac"[step % 2..][..1]).err()).unwrap();
    assert!(matches!(error, MatchError::Limit(StepError::OutOfMemory { .. })), "{error}");
    let (steps, moves) = (matcher.steps(), matcher.stats().moves);
    assert!(steps > 10_000 && moves < 16, "{steps} steps, {moves} moves");
}
