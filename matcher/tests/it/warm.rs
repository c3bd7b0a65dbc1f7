//! Masks that are computed in idle time.

use std::sync::Arc;

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler, Limits, Matcher, Threads};

fn compiler(limits: Limits, threads: usize) -> Compiler {
    let words =
        ["name", "age", "\": \"", "\", \"", "abc", "xyz", "12", "}, {"].map(|word| word.as_bytes().to_vec());
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain(words).map(Some).chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([264])).unwrap();
    Compiler::builder(vocabulary).limits(limits).threads(Arc::new(Threads::new(threads))).build()
}

fn schema(compiler: &Compiler) -> CompiledGrammar {
    let schema = r#"{"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"}, "kind": {"enum": ["abc", "xyz"]}}}}"#;
    compiler.json_schema(schema, &JsonSchemaOptions::default()).unwrap()
}

const TEXT: &[u8] = br#"[{"name": "abc", "age": 12, "kind": "xyz"}, {"name": "", "kind": "abc"}]"#;

fn follow(matcher: &mut Matcher) -> Vec<TokenMask> {
    let mut masks = Vec::new();
    for &byte in TEXT {
        masks.push(matcher.mask().unwrap().to_mask());
        matcher.accept_bytes(&[byte]).unwrap();
    }
    masks
}

#[test]
fn warming_up_changes_no_mask_and_saves_some() {
    let cold = schema(&compiler(Limits::default(), 0));
    let expected = follow(&mut cold.matcher());
    let mut misses = vec![cold.stats().texts.misses];
    for masks in [1, 16, 500] {
        let warm = schema(&compiler(Limits::default(), 0));
        let computed = warm.warm_up(masks, &Interrupt::never());
        assert!((1..=masks).contains(&computed), "{computed} of {masks}");
        // A mask that is near to another one brings that one along.
        let is_kept = |kept: usize, computed: usize| (computed..=2 * computed).contains(&kept);
        assert!(is_kept(warm.usage().masks, computed), "{} of {computed}", warm.usage().masks);
        assert!(warm.matcher().cached_mask().is_some(), "the first mask comes first");
        let mut matcher = warm.matcher();
        assert_eq!(follow(&mut matcher), expected, "{masks}");
        misses.push(matcher.stats().misses);
        let known = warm.usage().masks;
        let more = warm.warm_up(masks, &Interrupt::never());
        assert!(is_kept(warm.usage().masks - known, more), "what is known is not computed again");
    }
    assert!(misses.is_sorted_by(|more, fewer| more > fewer), "{misses:?}");
}

#[test]
fn an_interrupt_ends_it() {
    let grammar = schema(&compiler(Limits::default(), 0));
    let interrupt = Interrupt::new();
    interrupt.cancel();
    assert_eq!((grammar.warm_up(100, &interrupt), grammar.usage().masks), (0, 0));
    assert_eq!(grammar.warm_up(0, &Interrupt::never()), 0);
}

#[test]
fn a_guess_begins_no_tables_anew() {
    let limits = Limits::default().max_table_bytes(30_000).max_mask_bytes(2_000);
    let grammar = compiler(limits, 0)
        .ebnf(r#"root ::= "(" root ")" | [a-z]{1,9} ("," root)?"#, &EbnfOptions::default())
        .unwrap();
    grammar.warm_up(10_000, &Interrupt::never());
    let usage = grammar.usage();
    assert!(usage.mask_bytes <= 2_000, "{usage:?}");
    assert_eq!(grammar.stats().generations, 1);
    let mut matcher = grammar.matcher();
    for _ in 0..50 {
        matcher.accept_bytes(b"(").unwrap();
        matcher.warm_next(100);
    }
    assert_eq!(matcher.shortest_ending(1_000).unwrap().unwrap().len(), 51);
}

#[test]
fn next_masks_are_those_of_the_next_token() {
    let grammar = schema(&compiler(Limits::default(), 0));
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(br#"[{""#).unwrap();
    assert!(matcher.warm_next(1) == 1 && matcher.cached_mask().is_some());
    while matcher.warm_next(2) > 0 {}
    let vocabulary = grammar.vocabulary();
    let mask = matcher.mask().unwrap().to_mask();
    let steps = matcher.steps();
    for id in mask.iter() {
        let mut fork = matcher.fork();
        fork.accept_token(id).unwrap();
        // Not every state has a mask: a beginning of a character that no token goes on with has none.
        assert!(fork.cached_mask().is_some() || fork.mask().is_err(), "{:?}", vocabulary.token_name(id));
    }
    assert_eq!(matcher.steps(), steps);
    let end = TokenId::new(264).unwrap();
    let mut done =
        compiler(Limits::default(), 0).ebnf(r#"root ::= "a""#, &EbnfOptions::default()).unwrap().matcher();
    done.accept_bytes(b"a").unwrap();
    done.accept_token(end).unwrap();
    assert_eq!(done.warm_next(5), 0, "nothing follows the end");
}

#[test]
fn in_the_background() {
    let alone = compiler(Limits::default(), 0);
    assert!(!alone.warm_up_in_background(&schema(&alone), 10));
    let compiler = compiler(Limits::default(), 2);
    let grammar = schema(&compiler);
    assert!(compiler.warm_up_in_background(&grammar, 10));
    while grammar.usage().masks < 10 {
        std::thread::yield_now();
    }
    assert!(grammar.matcher().cached_mask().is_some());
}
