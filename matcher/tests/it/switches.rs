//! Parts that may be switched off change costs and no mask.

use grammask_fsm::{CompileOptions, Toggle};
use grammask_mask_cache::{MaskOptions, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::Compiler;
use grammask_oracle::random::{self, GrammarOptions};

/// Every combination of the ways to a mask.
fn ways() -> impl Iterator<Item = MaskOptions> {
    let part = |number: u32, bit: u32| if number >> bit & 1 == 0 { Toggle::On } else { Toggle::Off };
    // Context expansion narrows local parts, which are made where slices apply.
    let matters = move |number: &u32| part(*number, 5) == Toggle::Off || *number & 0b110 == 0;
    (0..64_u32).filter(matters).map(move |number| {
        let part = |bit: u32| part(number, bit);
        let mut options = MaskOptions::default();
        options.memo = part(0);
        options.slices = part(1);
        options.local_parts = part(2);
        options.differences = part(3);
        options.cross_grammar = part(4);
        options.context_expansion = part(5);
        options
    })
}

/// Each pass left out alone, all left out, and repeats written out or counted however short.
fn automata() -> Vec<CompileOptions> {
    let on = CompileOptions::default();
    let off = Toggle::Off;
    vec![
        on.clone().literal_tries(off),
        on.clone().inlining(off),
        on.clone().epsilon_removal(off),
        on.clone().prefix_merging(off),
        on.clone().suffix_merging(off),
        on.clone().determinization(off),
        on.clone().shared_rules(off),
        on.clone().deferred_min_states(0),
        on.clone().expand_states(0),
        on.clone().expand_states(100_000),
        on.clone().min_counted_pairs(0),
        on.clone().min_joined_rules(0),
        on.literal_tries(off)
            .inlining(off)
            .epsilon_removal(off)
            .prefix_merging(off)
            .suffix_merging(off)
            .determinization(off)
            .shared_rules(off)
            .expand_states(0),
    ]
}

/// The masks along a text, as words; how a walk that fails ends is part of it.
fn masks(compiler: &Compiler, case: &random::Case) -> Vec<Result<Vec<u32>, String>> {
    let grammar = compiler.grammar(&case.grammar).unwrap();
    let mut matcher = grammar.matcher();
    let mut mask = TokenMask::new(compiler.vocabulary().len());
    let mut all = Vec::new();
    // Twice, so that what was kept the first time is used.
    for _ in 0..2 {
        for byte in case.text.iter().map(Some).chain([None]) {
            let filled = matcher.fill_mask(&mut mask);
            all.push(filled.map(|_| mask.as_words().to_vec()).map_err(|error| error.to_string()));
            if byte.is_none_or(|byte| matcher.accept_bytes(&[*byte]).is_err()) {
                break;
            }
        }
        matcher = grammar.matcher();
    }
    all
}

fn check(case: &random::Case, seed: u64) -> usize {
    let tokens = case.vocabulary.iter().map(Some).chain([None]);
    let options = VocabularyOptions::default().stop_ids([case.vocabulary.len() as u32]);
    let vocabulary = std::sync::Arc::new(Vocabulary::from_tokens(tokens, &options).unwrap());
    let expected = masks(&Compiler::new(std::sync::Arc::clone(&vocabulary)), case);
    for options in ways() {
        let compiler = Compiler::builder(std::sync::Arc::clone(&vocabulary)).masks(options).build();
        assert_eq!(masks(&compiler, case), expected, "seed {seed}, {options:?}");
    }
    for options in automata() {
        for ways in [MaskOptions::default(), MaskOptions::none()] {
            let builder = Compiler::builder(std::sync::Arc::clone(&vocabulary));
            let compiler = builder.automata(options.clone()).masks(ways).build();
            assert_eq!(masks(&compiler, case), expected, "seed {seed}, {options:?}, {ways:?}");
        }
    }
    expected.len()
}

#[test]
fn no_switch_changes_a_mask() {
    let mut compared = 0;
    for seed in 0..120 {
        compared += check(&random::case(seed), seed);
        let options = GrammarOptions::context_free();
        compared += check(&random::case_with(seed, &options, &random::VocabularyOptions::default()), seed);
    }
    assert!(compared > 1_000, "{compared} masks");
}

/// Strings of a format are compiled once for a compiler: a second schema has copies of their automata.
#[test]
fn formats_that_schemas_share_change_no_mask() {
    let tokens: Vec<Option<Vec<u8>>> = (0..=u8::MAX).map(|byte| Some(vec![byte])).chain([None]).collect();
    let options = VocabularyOptions::default().stop_ids([256]);
    let vocabulary = std::sync::Arc::new(Vocabulary::from_tokens(tokens, &options).unwrap());
    let shared = Compiler::new(std::sync::Arc::clone(&vocabulary));
    let alone = Compiler::builder(std::sync::Arc::clone(&vocabulary))
        .automata(CompileOptions::default().shared_rules(Toggle::Off))
        .build();
    let texts = [
        ("email", "\"a.b@my-host.example.org\""),
        ("hostname", "\"my-very-long-bucket-name.s3.eu-west-1.amazonaws.com\""),
        ("regex", "\"^(?:a|[b-d]{2,3})+$\""),
        ("date-time", "\"2026-11-25T23:59:59.5+01:00\""),
        ("uri", "\"https://example.org/a?b#c\""),
        ("ipv6", "\"::ffff:1.2.3.4\""),
    ];
    for (format, text) in texts {
        for (name, bounds) in [("a", ""), ("b", r#","minLength":1"#), ("c", "")] {
            let schema =
                format!(r#"{{"properties":{{"{name}":{{"type":"string","format":"{format}"{bounds}}}}}}}"#);
            let text = format!("{{\"{name}\": {text}}}").into_bytes();
            let masks = [&shared, &alone].map(|compiler| {
                let grammar = compiler.json_schema(&schema, &Default::default()).unwrap();
                let (mut matcher, mut mask) =
                    (grammar.matcher(), TokenMask::new(compiler.vocabulary().len()));
                let mut masks = Vec::new();
                for byte in &text {
                    matcher.fill_mask(&mut mask).unwrap();
                    masks.push((mask.as_words().to_vec(), matcher.accept_bytes(&[*byte]).is_ok()));
                }
                (masks, matcher.is_completed())
            });
            assert_eq!(masks[0], masks[1], "{format}{bounds}");
        }
    }
}
