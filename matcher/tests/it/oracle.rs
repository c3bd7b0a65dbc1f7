//! Masks against the naive recogniser, bit by bit.

use std::fmt::Write;

use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_ir::{ExprId, GrammarBuilder, Occurrence};
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{BuildBackend, CompileError, CompiledGrammar, Compiler, Limits, MatchError, Matcher};
use grammask_oracle::random::{self, GrammarOptions};
use grammask_oracle::{Chart, Recogniser};
use grammask_parser_backend::{Backend, StepError};

/// The vocabulary of a case, with a stop token behind its tokens.
fn vocabulary(case: &random::Case) -> Vocabulary {
    let tokens = case.vocabulary.iter().map(Some).chain([None]);
    let options = VocabularyOptions::default().stop_ids([case.vocabulary.len() as u32]);
    Vocabulary::from_tokens(tokens, &options).unwrap()
}

/// Few parses at once: a backend that needs more finds out soon. Every other grammar is compiled late, as far as it can.
fn compile<B: BuildBackend>(seed: u64, case: &random::Case) -> Result<CompiledGrammar<B>, CompileError> {
    let limits = Limits::default().max_items_per_set(2_000);
    let mut automata = CompileOptions::default();
    if seed % 2 == 1 {
        automata.deferred_min_states = 0;
    }
    let builder = Compiler::builder(vocabulary(case)).limits(limits).automata(automata);
    builder.backend::<B>().build().grammar(&case.grammar)
}

/// Compares every mask along a text with the oracle's. Returns how many masks were compared; none where the
/// backend declines the grammar with a message that begins with `declines`.
fn check<B: BuildBackend>(seed: u64, case: &random::Case, declines: Option<&str>) -> usize {
    let stop = case.vocabulary.len();
    let recogniser = Recogniser::new(&case.grammar);
    let grammar = match compile::<B>(seed, case) {
        Ok(grammar) => grammar,
        Err(error) if declines.is_some_and(|declines| error.to_string().starts_with(declines)) => return 0,
        Err(error) => panic!("seed {seed}: {error}\n{:?}", case.grammar),
    };
    let mut matcher = grammar.matcher();
    let mut chart = recogniser.begin();
    let mut compared = 0;
    // One mask for the whole text: filling it builds on what it held.
    let mut mask = TokenMask::new(stop + 1);
    for at in 0..=case.text.len() {
        if !compare(seed, case, &mut matcher, &chart, &mut mask, declines) {
            break;
        }
        compared += 1;
        let Some(&byte) = case.text.get(at) else { break };
        let accepted = match matcher.accept_bytes(&[byte]) {
            Err(MatchError::Limit(StepError::TooManyItems { .. })) if declines.is_some() => break,
            accepted => accepted.is_ok(),
        };
        assert_eq!(accepted, chart.push(byte), "seed {seed}: byte {byte:#04x} at {at}\n{}", show(case));
        if !accepted {
            break;
        }
    }
    compared
}

/// Whether masks could be compared: a backend that keeps parses apart may reach its limit where `declines` is given.
fn compare<B: Backend>(
    seed: u64,
    case: &random::Case,
    matcher: &mut Matcher<B>,
    chart: &Chart<'_>,
    mask: &mut TokenMask,
    declines: Option<&str>,
) -> bool {
    let stop = case.vocabulary.len();
    let mut expected = grammask_oracle::mask(chart, &case.vocabulary);
    expected.push(chart.is_complete());
    match matcher.fill_mask(mask) {
        Ok(_) => {
            let found: Vec<bool> = (0..=stop)
                .map(|id| {
                    let vocabulary = matcher.grammar().vocabulary();
                    vocabulary.id(id as u32).is_some_and(|id| mask.contains(id))
                })
                .collect();
            assert_eq!(found, expected, "seed {seed} after {} steps\n{}", matcher.steps(), show(case));
        }
        Err(MatchError::Limit(StepError::Unspellable { .. })) => {
            assert!(!expected.contains(&true), "seed {seed}: a token is allowed\n{}", show(case));
        }
        Err(MatchError::Limit(StepError::TooManyItems { .. })) if declines.is_some() => return false,
        Err(error) => panic!("seed {seed}: {error}\n{}", show(case)),
    }
    for (id, allowed) in expected.iter().enumerate() {
        let id = matcher.grammar().vocabulary().id(id as u32).unwrap();
        let mut fork = matcher.fork();
        assert_eq!(fork.accept_token(id).is_ok(), *allowed, "seed {seed}: token {id:?}\n{}", show(case));
    }
    true
}

fn show(case: &random::Case) -> String {
    let mut shown = String::new();
    let _ = writeln!(shown, "{}", case.grammar);
    let _ = writeln!(shown, "text: {:?}", String::from_utf8_lossy(&case.text));
    for (id, token) in case.vocabulary.iter().enumerate() {
        let _ = writeln!(shown, "{id}: {:?}", String::from_utf8_lossy(token));
    }
    shown
}

/// Number of random cases; `GRAMMASK_CASES` asks for more.
fn cases() -> u64 {
    std::env::var("GRAMMASK_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000)
}

const LEFT_RECURSION: Option<&str> = Some("left recursion");

#[test]
fn masks_equal_the_oracle_on_random_grammars() {
    let compared: usize =
        (0..cases()).map(|seed| check::<grammask_earley::Engine>(seed, &random::case(seed), None)).sum();
    assert!(compared as u64 >= cases() * 3, "{compared} masks in {} cases", cases());
}

#[test]
fn masks_equal_the_oracle_with_parts_in_any_order() {
    let mut declines = 0;
    for seed in 0..cases() / 2 {
        let options = GrammarOptions::permutation();
        let case = random::case_with(seed, &options, &random::VocabularyOptions::default());
        check::<grammask_earley::Engine>(seed, &case, None);
        let declined = compile::<grammask_pda::Engine>(seed, &case).err().map(|error| error.to_string());
        declines += usize::from(declined.is_some_and(|error| error.starts_with("parts in any order")));
    }
    assert!(declines > 100, "stacks declined {declines} grammars");
}

#[test]
fn masks_equal_the_oracle_on_context_free_grammars() {
    for seed in 0..cases() / 2 {
        let options = GrammarOptions::context_free();
        let case = random::case_with(seed, &options, &random::VocabularyOptions::default());
        check::<grammask_earley::Engine>(seed, &case, None);
    }
}

#[test]
fn masks_equal_the_oracle_on_grammars_with_tags() {
    let options = GrammarOptions::with_tags();
    let mut compared = 0;
    for seed in 0..cases() / 4 {
        let case = random::case_with(seed, &options, &random::VocabularyOptions::default());
        compared += check::<grammask_earley::Engine>(seed, &case, None);
        check::<grammask_pda::Engine>(seed, &case, LEFT_RECURSION);
    }
    assert!(compared as u64 >= cases() / 2, "{compared} masks in {} cases", cases() / 4);
}

#[test]
fn masks_of_stacks_equal_the_oracle_on_random_grammars() {
    let check = |seed| check::<grammask_pda::Engine>(seed, &random::case(seed), LEFT_RECURSION);
    let compared: usize = (0..cases()).map(check).sum();
    assert!(compared as u64 >= cases() * 2, "{compared} masks in {} cases", cases());
}

#[test]
fn masks_of_stacks_equal_the_oracle_on_context_free_grammars() {
    let options = GrammarOptions { left_recursion_percent: 0, ..GrammarOptions::context_free() };
    let mut compared = 0;
    for seed in 0..cases() / 2 {
        let case = random::case_with(seed, &options, &random::VocabularyOptions::default());
        compared += check::<grammask_pda::Engine>(seed, &case, LEFT_RECURSION);
    }
    assert!(compared as u64 >= cases(), "{compared} masks in {} cases", cases() / 2);
}

/// Whether too many stacks were alive at once, which decides nothing.
fn is_limit<T>(answer: &Result<T, MatchError>) -> bool {
    matches!(answer, Err(MatchError::Limit(StepError::TooManyItems { .. })))
}

/// Whether a text brings a matcher to the end, as far as its limits let it tell.
fn ends<B: Backend>(mut matcher: Matcher<B>, text: &[u8]) -> bool {
    match matcher.accept_bytes(text) {
        Ok(()) => matcher.is_completed(),
        read => is_limit(&read),
    }
}

#[test]
fn backends_agree_bit_by_bit() {
    let mut compared = 0;
    for seed in (0..cases() / 2).map(|seed| seed + 500_000) {
        let case = random::case(seed);
        let Ok(stacks) = compile::<grammask_pda::Engine>(seed, &case) else { continue };
        let earley = compile::<grammask_earley::Engine>(seed, &case).unwrap();
        let (mut left, mut right) = (earley.matcher(), stacks.matcher());
        let mut masks = [(); 2].map(|()| TokenMask::new(case.vocabulary.len() + 1));
        for byte in case.text.iter().map(Some).chain([None]) {
            let filled = (left.fill_mask(&mut masks[0]), right.fill_mask(&mut masks[1]));
            if is_limit(&filled.1) {
                break;
            }
            let filled = (filled.0.map(|_| ()), filled.1.map(|_| ()));
            assert_eq!(filled.0, filled.1, "seed {seed}\n{}", show(&case));
            if filled.0.is_ok() {
                assert_eq!(masks[0].as_words(), masks[1].as_words(), "seed {seed}\n{}", show(&case));
                compared += 1;
            }
            let endings = (left.shortest_ending(1 << 10), right.shortest_ending(1 << 10));
            if is_limit(&endings.1) {
                break;
            }
            let (ending, other) = (endings.0.unwrap(), endings.1.unwrap());
            assert_eq!(ending.as_ref().map(Vec::len), other.as_ref().map(Vec::len), "seed {seed}");
            // Of several that are as short each may write its own.
            for text in [ending, other].iter().flatten() {
                assert!(ends(left.fork(), text) && ends(right.fork(), text), "seed {seed}: {text:?}");
            }
            let Some(&byte) = byte else { break };
            let read = (left.accept_bytes(&[byte]), right.accept_bytes(&[byte]));
            if is_limit(&read.1) {
                break;
            }
            assert_eq!(read.0, read.1, "seed {seed}\n{}", show(&case));
            if read.0.is_err() {
                break;
            }
        }
    }
    assert!(compared >= cases() / 2, "{compared} masks");
}

/// The callers that are completed with `z` are more than the bound on items, though no item of theirs reads.
#[test]
fn what_is_not_whole_is_no_set() {
    let source = r#"
        root ::= "a" root t t t t t t t t t t | "z"
        t ::= "" | "(" t ")""#;
    let grammar = ebnf::parse(source, &EbnfOptions::default()).unwrap();
    let mut completed = 0;
    for (limit, letters) in (2..40).flat_map(|limit| (0..30).map(move |letters| (limit, letters))) {
        let options = VocabularyOptions::default().stop_ids([2]);
        let vocabulary = Vocabulary::from_tokens([Some("a"), Some("z"), None], &options);
        let limits = Limits::default().max_items_per_set(limit);
        let compiler = Compiler::builder(vocabulary.unwrap()).limits(limits).build();
        let Ok(compiled) = compiler.grammar(&grammar) else { continue };
        let mut matcher = compiled.matcher();
        let read = matcher.accept_bytes(format!("{}z", "a".repeat(letters)).as_bytes());
        if is_limit(&read) {
            continue;
        }
        assert_eq!((read, matcher.is_completed()), (Ok(()), true), "{letters} letters, limit {limit}");
        completed += 1;
    }
    assert!(completed > 100, "{completed}");
}

/// With few parses at once a byte is a limit, or as the oracle says.
#[test]
fn few_items_are_right_or_a_limit() {
    let mut read = 0;
    for seed in 0..cases() {
        let options = [GrammarOptions::permutation(), GrammarOptions::context_free()];
        let options = &options[seed as usize % 2];
        let case = random::case_with(seed, options, &random::VocabularyOptions::default());
        let limits = Limits::default().max_items_per_set(2 + seed as usize % 7);
        let compiler = Compiler::builder(vocabulary(&case)).limits(limits).build();
        let Ok(compiled) = compiler.grammar(&case.grammar) else { continue };
        let (mut matcher, recogniser) = (compiled.matcher(), Recogniser::new(&case.grammar));
        let mut chart = recogniser.begin();
        for &byte in &case.text {
            let answer = matcher.accept_bytes(&[byte]);
            if is_limit(&answer) {
                break;
            }
            assert_eq!(answer.is_ok(), chart.push(byte), "seed {seed}\n{}", show(&case));
            if answer.is_err() {
                break;
            }
            assert_eq!(matcher.is_completed(), chart.is_complete(), "seed {seed}\n{}", show(&case));
            read += 1;
        }
    }
    assert!(read > cases(), "{read}");
}

/// Each `a` may be the one that the end is counted from, so there are as many parses as letters. From eight on each has a
/// mask of its own.
#[test]
fn masks_of_many_counts_are_merged() {
    let source = r#"root ::= "<" [ab]* "a" [ab]{40} (">" | "é" root)"#;
    let tokens =
        ["a", "b", "<", ">", "é", "ab", "ba", "aa", "aaaaaaaa", "b>", "a>", "aé<", ">>", "baé<ab", "<a"];
    let case = random::Case {
        grammar: ebnf::parse(source, &EbnfOptions::default()).unwrap(),
        vocabulary: tokens.map(|token| token.as_bytes().to_vec()).to_vec(),
        prefix: Vec::new(),
        text: format!("<{}é<{}{}>", "ab".repeat(20) + &"a".repeat(41), "a".repeat(42), "aabb".repeat(8))
            .into_bytes(),
    };
    for seed in 0..2 {
        assert_eq!(check::<grammask_pda::Engine>(seed, &case, LEFT_RECURSION), case.text.len() + 1);
    }
}

/// After `"!a` another `a` leads back to where the text is, and all other characters end a repeat.
#[test]
fn a_run_that_a_repeat_counts_in_part_has_no_bound() {
    let source = r#"root ::= word (("/\"a"?){3,} ("\n" | [\x00-~]) | word{4,}) word
word ::= ["] [^éê] [ab]+"#;
    let grammar = ebnf::parse(source, &EbnfOptions::default()).unwrap();
    let tokens = ["bb", "ab", "bab", "\"", "a", "b", "\"a", "a\"", "0b", "0", "0\"\\b", "é"];
    let case = random::Case {
        grammar,
        vocabulary: tokens.map(|token| token.as_bytes().to_vec()).to_vec(),
        prefix: Vec::new(),
        text: br#""!abb"xaa"#.to_vec(),
    };
    // Compiled at once and late.
    for seed in 0..2 {
        assert_eq!(check::<grammask_earley::Engine>(seed, &case, None), case.text.len() + 1);
        check::<grammask_pda::Engine>(seed, &case, LEFT_RECURSION);
    }
}

/// After `1` a letter leaves the repeat, and so it does after more digits: with no count does it leave room for another.
#[test]
fn a_repeat_that_is_left_at_every_count_bounds_no_run() {
    for (source, text) in [
        (r#"root ::= [0-9]{0,400} [^0-9] "!""#, "123b!"),
        (r#"root ::= ([0-9] | "é"){2,500} [?-~] "!" [0-9a-z]{0,300}"#, "123b!a1"),
        (r#"root ::= ("x"? [0-9]){0,300} [^0-9] "!""#, "1x23b!"),
    ] {
        let tokens =
            ["b", "u", "bu", "0", "00", "0000", "0b", "00b", "b!", "0b!", "é", "!", "!0", "!0a0", "!0a0a"];
        let case = random::Case {
            grammar: ebnf::parse(source, &EbnfOptions::default()).unwrap(),
            vocabulary: tokens.map(|token| token.as_bytes().to_vec()).to_vec(),
            prefix: Vec::new(),
            text: text.as_bytes().to_vec(),
        };
        for seed in 0..2 {
            check::<grammask_earley::Engine>(seed, &case, None);
            check::<grammask_pda::Engine>(seed, &case, LEFT_RECURSION);
        }
    }
    // A case that the long run of random grammars found.
    let seed = 193_951;
    assert!(check::<grammask_earley::Engine>(seed, &random::case(seed), None) > 1);
}

/// Parts that must be separated by something that matches nothing, or must occur more often than they may,
/// are refused at once.
#[test]
fn parts_in_any_order_that_derive_nothing_are_no_way_on() {
    let cases: [fn(&mut GrammarBuilder) -> ExprId; 3] = [
        |builder| {
            let parts = ["x", "y"].map(|text| (builder.literal(text), Occurrence::Required));
            let never = builder.never();
            builder.permutation(never, parts, 0, None)
        },
        |builder| {
            let parts =
                [(builder.literal("x"), Occurrence::Optional), (builder.never(), Occurrence::Optional)];
            let comma = builder.literal(",");
            builder.permutation(comma, parts, 2, None)
        },
        |builder| {
            let parts = [(builder.literal("x"), Occurrence::Repeatable)];
            let never = builder.never();
            builder.permutation(never, parts, 2, None)
        },
    ];
    for parts in cases {
        let mut builder = GrammarBuilder::new();
        let parts = parts(&mut builder);
        let rule = builder.add_rule("parts", parts).unwrap();
        let ways = [builder.literal("xz"), builder.rule(rule)];
        let body = builder.choice(ways);
        let root = builder.add_rule("root", body).unwrap();
        let case = random::Case {
            grammar: builder.finish(root).unwrap(),
            vocabulary: ["x", "y", "z", ",", "xz"].map(|token| token.as_bytes().to_vec()).to_vec(),
            prefix: Vec::new(),
            text: b"xz".to_vec(),
        };
        for seed in 0..2 {
            assert_eq!(check::<grammask_earley::Engine>(seed, &case, None), 3);
        }
    }
}
