//! Grammars that are kept by their sources, and budgets that many grammars share.

use std::sync::{Arc, Barrier};

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, Objects, Retriever};
use grammask_grammar_frontends::lark::{self, LarkOptions, NamedGrammar};
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{Clock, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{Budget, CompiledGrammar, Compiler, Limits, Matcher};

fn vocabulary() -> Vocabulary {
    let pairs = (b'a'..=b'z').flat_map(|one| (b'a'..=b'z').map(move |other| vec![one, other]));
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain(pairs).map(Some).chain([None]);
    Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256 + 26 * 26])).unwrap()
}

fn compiler(limits: Limits) -> Compiler {
    Compiler::builder(vocabulary()).limits(limits).build()
}

fn regex(compiler: &Compiler, pattern: &str) -> CompiledGrammar {
    compiler.regex(pattern, &RegexOptions::default()).unwrap()
}

/// A grammar whose tables grow with every byte.
fn list(number: usize) -> String {
    format!(r#"root ::= "{number}" ("(" root ")" | [a-z]{{2,5}} ("," root)?)"#)
}

fn follow(matcher: &mut Matcher, text: &[u8]) -> Vec<TokenMask> {
    let mut masks = Vec::new();
    for &byte in text {
        masks.push(matcher.mask().unwrap().to_mask());
        matcher.accept_bytes(&[byte]).unwrap();
    }
    masks
}

#[test]
fn equal_sources_are_compiled_once() {
    const THREADS: usize = 8;
    let compiler = compiler(Limits::default());
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                follow(&mut regex(&compiler, "(ab|cd)*").matcher(), b"abcd");
            });
        }
    });
    let stats = compiler.stats();
    assert_eq!((stats.cache_hits, stats.cache_misses, stats.cache_entries), (THREADS as u64 - 1, 1, 1));
    assert_eq!(regex(&compiler, "(ab|cd)*").stats().texts.steps, 4 * THREADS as u64, "tables are shared");
    compiler.clear_cache();
    assert_eq!(regex(&compiler, "(ab|cd)*").stats().texts.steps, 0);
}

#[test]
fn other_options_and_other_syntaxes_are_other_sources() {
    let compiler = compiler(Limits::default());
    let options = JsonSchemaOptions::default();
    let compile = |options: &JsonSchemaOptions| compiler.json_schema("{}", options).map(drop).unwrap();
    compile(&options);
    compile(&options.clone().objects(Objects::Closed));
    compile(&options);
    assert_eq!((compiler.stats().cache_entries, compiler.stats().cache_hits), (2, 1));
    // The printed options do not spell the answers of a function.
    let retriever = Retriever::new(|_: &str| Err("none".to_owned()));
    for options in [options.clone().retriever(retriever), options.interrupt(Interrupt::new())] {
        compile(&options);
        compile(&options);
    }
    assert_eq!((compiler.stats().cache_entries, compiler.stats().cache_hits), (2, 1));
    assert!(compiler.ebnf("{}", &EbnfOptions::default()).is_err());
    assert_eq!(compiler.stats().cache_entries, 2, "failures are not kept");
}

#[test]
fn grammars_that_a_source_names_are_part_of_it() {
    let compiler = compiler(Limits::default());
    let compile = |named: NamedGrammar| {
        let options = LarkOptions::default().named([("a".to_owned(), named)].into());
        compiler.lark("start: @a", &options).unwrap()
    };
    let text = |source: &str| NamedGrammar::Lark(source.to_owned());
    for byte in [b'1', b'2', b'1'] {
        let source = format!("start: \"{}\"", char::from(byte));
        assert!(compile(text(&source)).matcher().accept_bytes(&[byte]).is_ok());
    }
    assert_eq!((compiler.stats().cache_entries, compiler.stats().cache_hits), (2, 1));
    // Data has no printed form that says everything.
    let data = lark::parse("start: \"1\"", &LarkOptions::default()).unwrap();
    compile(NamedGrammar::Grammar(data));
    assert_eq!(compiler.stats().cache_entries, 2);
}

#[test]
fn a_cache_has_its_own_budget() {
    let none = compiler(Limits::default().max_cache_bytes(0));
    regex(&none, "a*");
    assert_eq!(none.stats().cache_entries, 0);
    let small = compiler(Limits::default().max_cache_bytes(100_000));
    let kept = regex(&small, "z*");
    for number in 0..200 {
        regex(&small, &format!("a{number}b*"));
    }
    let stats = small.stats();
    assert!((1..100).contains(&stats.cache_entries), "{stats:?}");
    assert_eq!(follow(&mut kept.matcher(), b"zz").len(), 2, "what was dropped stays valid for its holders");
}

#[test]
fn waiting_for_another_ends_with_the_interrupt() {
    let compiler = compiler(Limits::default());
    let schema = serde_json::json!({"enum": (0..20_000).collect::<Vec<u32>>()}).to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| compiler.json_schema(&schema, &JsonSchemaOptions::default()).map(drop).unwrap());
        while compiler.stats().cache_entries == 0 {
            std::thread::yield_now();
        }
        let interrupt = Interrupt::new();
        interrupt.cancel();
        let waited = compiler.with_interrupt(interrupt).json_schema(&schema, &JsonSchemaOptions::default());
        // The other may have been done by then; but then it was found, and not compiled.
        assert!(waited.map_or_else(|error| error.interrupted().is_some(), |_| true));
    });
    assert_eq!(compiler.stats().cache_misses, 1);
}

#[test]
fn grammars_share_a_budget_and_texts_survive_it() {
    let text = |number: usize| {
        let text = format!("{}(", number).repeat(30) + &format!("{number}ab,{number}xyz,{number}abc");
        text.into_bytes()
    };
    let free = compiler(Limits::default());
    let expected: Vec<Vec<TokenMask>> = (0..12)
        .map(|number| {
            let grammar = free.ebnf(&list(number), &EbnfOptions::default()).unwrap();
            follow(&mut grammar.matcher(), &text(number))
        })
        .collect();
    let whole = free.budget().memory_usage();
    assert_eq!((free.budget().evicted(), free.budget().max_bytes()), (0, 1 << 30));

    let budget = Arc::new(Budget::new(whole / 3));
    let limits = Limits::default().max_cache_bytes(whole / 4);
    // Two compilers of one process.
    let compilers =
        [(); 2].map(|()| Compiler::builder(vocabulary()).limits(limits).budget(Arc::clone(&budget)).build());
    let grammars: Vec<CompiledGrammar> = (0..12)
        .map(|number| compilers[number % 2].ebnf(&list(number), &EbnfOptions::default()).unwrap())
        .collect();
    let mut begun = grammars[0].matcher();
    let half = text(0).len() / 2;
    assert_eq!(follow(&mut begun, &text(0)[..half]), expected[0][..half]);
    for round in 0..3 {
        for (number, grammar) in grammars.iter().enumerate() {
            let masks = follow(&mut grammar.matcher(), &text(number));
            assert_eq!(masks, expected[number], "grammar {number}, round {round}");
            // A text in progress and the one just followed are never taken from.
            assert!(budget.memory_usage() < whole * 2 / 3, "{budget:?}");
        }
    }
    assert_eq!(follow(&mut begun, &text(0)[half..]), expected[0][half..]);
    begun.rollback(text(0).len()).unwrap();
    assert_eq!(follow(&mut begun, &text(0)), expected[0]);
    assert!(budget.evicted() > 10, "{budget:?}");
    drop((begun, grammars, compilers));
    assert_eq!(budget.memory_usage(), 0, "all that was counted was given back");
}

/// A text in progress leaves tables that the budget has no room for, together with most of its own past.
#[test]
fn a_long_text_does_not_raise_the_budget() {
    const BYTES: usize = 100_000;
    let compiler = Compiler::builder(vocabulary()).budget(Arc::new(Budget::new(BYTES))).build();
    let compile = |number| compiler.ebnf(&list(number), &EbnfOptions::default()).unwrap();
    let long = compile(1);
    let mut matcher = long.matcher();
    follow(&mut matcher, &b"1(".repeat(1_000));
    assert!(compiler.budget().memory_usage() < 3 * BYTES, "{:?}", compiler.budget());
    matcher.rollback(1_998).unwrap();
    assert_eq!((matcher.steps(), matcher.stats().read_again), (2, 2));
    drop(matcher);
    let others: Vec<CompiledGrammar> = (2..8).map(compile).collect();
    for number in 2..8 {
        let text = format!("{number}(").repeat(40);
        follow(&mut others[number - 2].matcher(), text.as_bytes());
        assert!(compiler.budget().memory_usage() < 3 * BYTES, "{number}: {:?}", compiler.budget());
    }
}

#[test]
fn a_text_leaves_tables_that_were_dropped() {
    let budget = Arc::new(Budget::new(200_000));
    let compiler = Compiler::builder(vocabulary()).budget(Arc::clone(&budget)).build();
    let grammar = compiler.ebnf(&list(1), &EbnfOptions::default()).unwrap();
    let mut matcher = grammar.matcher();
    follow(&mut matcher, &b"1(".repeat(2_000));
    let stats = matcher.stats();
    assert!(stats.moves > 0 && grammar.stats().generations > 1, "{stats:?}, {budget:?}");
    assert_eq!(follow(&mut matcher, b"1ab").len(), 3);
}

#[test]
fn numbers_say_what_happened() {
    let ticks = std::sync::atomic::AtomicU64::new(0);
    let tick = move || {
        let before = ticks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::time::Duration::from_micros(before)
    };
    let compiler = Compiler::builder(vocabulary()).clock(Clock::new(tick)).build();
    let grammar = regex(&compiler, "[a-y]{3,}z");
    let mut matcher = grammar.matcher();
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    let mut mask = |matcher: &mut Matcher| {
        matcher.fill_mask(&mut mask).unwrap();
    };
    mask(&mut matcher);
    mask(&mut matcher);
    matcher.accept_bytes(b"abcd").unwrap();
    mask(&mut matcher);
    let mut fork = matcher.fork();
    mask(&mut fork);
    let mut other = grammar.matcher();
    mask(&mut other);
    let stats = matcher.stats();
    assert_eq!((stats.steps, stats.misses, stats.unchanged, stats.hits), (1, 2, 1, 0));
    assert_eq!((fork.stats().unchanged, fork.stats().hits, other.stats().hits), (0, 1, 1));
    drop((matcher, fork, other));
    let stats = grammar.stats();
    assert_eq!((stats.texts.steps, stats.texts.misses, stats.masks.computed()), (1, 2, 2));
    assert_eq!((stats.texts.unchanged, stats.texts.hits), (1, 2));
    assert!(stats.tables.sets > 1 && stats.tables.contexts > 0 && stats.usage.masks == 2, "{stats:?}");
    let masks = stats.masks;
    let times = [masks.walks, masks.slices, masks.local_parts, masks.differences].map(|way| way.time);
    assert!(times.iter().sum::<std::time::Duration>() >= std::time::Duration::from_micros(2));
    assert!(stats.compile.frontend > std::time::Duration::ZERO);
    let json = stats.to_json();
    assert_eq!(json["texts"]["hits"].as_u64(), Some(2));
    assert_eq!(json["fingerprint"], format!("{:032x}", grammar.fingerprint().unwrap()).as_str());
    assert_eq!(compiler.stats().to_json()["cache"]["misses"].as_u64(), Some(1));
}

#[test]
fn compilations_are_timed_without_a_clock_of_the_caller() {
    let compiler = Compiler::builder(vocabulary()).build();
    let grammar = regex(&compiler, "[a-y]{3,}z");
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    grammar.matcher().fill_mask(&mut mask).unwrap();
    let stats = grammar.stats();
    assert!(stats.compile.automata > std::time::Duration::ZERO, "{stats:?}");
    let masks = stats.masks;
    assert!([masks.walks, masks.slices].iter().all(|way| way.time.is_zero()) && masks.computed() > 0);
}
