//! Every mask of the bracket counter equals that of the Earley backend for the grammar that says the same.

use std::sync::Arc;

use bracket_backend::BracketCounter;
use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler};
use grammask_parser_backend::Backend;

const INSIDE: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// All texts of up to four letters of `ab()`, some longer ones, and one token for each byte; the last id stops.
fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..4 {
        let longer =
            tokens.iter().flat_map(|token| b"ab()".iter().map(|&byte| [&token[..], &[byte]].concat()));
        tokens = [tokens.clone(), longer.collect()].concat();
        tokens.sort();
        tokens.dedup();
    }
    tokens.extend((0..=255).map(|byte| vec![byte]));
    tokens.extend([&b"((((((((("[..], b")))))))))", b"hello(world)", b"))a((b))c"].map(<[u8]>::to_vec));
    tokens.retain(|token| !token.is_empty());
    let stop = tokens.len() as u32;
    let options = VocabularyOptions::default().stop_ids([stop]);
    Arc::new(
        Vocabulary::from_tokens(tokens.into_iter().map(Some).chain([None]), &options).expect("ids are few"),
    )
}

fn mask<B: Backend>(grammar: &CompiledGrammar<B>, text: &[u8]) -> TokenMask {
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(text).expect("the text begins a sentence");
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    matcher.fill_mask(&mut mask).expect("far from every limit");
    mask
}

#[test]
fn masks_equal_those_of_earley() {
    let vocabulary = vocabulary();
    let counter = BracketCounter::compile(INSIDE, Arc::clone(&vocabulary)).expect("letters are no brackets");
    let compiler = Compiler::new(Arc::clone(&vocabulary));
    let grammar = r#"root ::= ([a-z] | "(" root ")")*"#;
    let earley = compiler.ebnf(grammar, &EbnfOptions::default()).expect("it is a grammar");
    // A linear congruential generator (Knuth's MMIX constants): texts at random, and the same ones every time.
    let mut random: u64 = 1;
    let mut text = Vec::new();
    for _ in 0..400 {
        let mask = mask(&counter, &text);
        assert_eq!(mask, self::mask(&earley, &text), "after {:?}", String::from_utf8_lossy(&text));
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let allowed: Vec<TokenId> = mask.iter().collect();
        let token = allowed[(random >> 33) as usize % allowed.len()];
        if vocabulary.stop_tokens().contains(&token) {
            text.clear();
        }
        text.extend_from_slice(vocabulary.token_bytes(token));
    }
}

#[test]
fn endings_are_the_shortest() {
    let counter = BracketCounter::compile(INSIDE, vocabulary()).expect("letters are no brackets");
    let mut matcher = counter.matcher();
    matcher.accept_bytes(b"a((b)(").expect("brackets may open");
    assert_eq!(matcher.shortest_ending(10), Ok(Some(b"))".to_vec())));
    assert!(!matcher.is_completed());
}

#[test]
fn what_it_cannot_read_is_declined() {
    let error = BracketCounter::new(b"ab(", 8).expect_err("a bracket is no letter");
    assert!(error.to_string().contains("brackets"), "{error}");
    assert!(BracketCounter::new("é".as_bytes(), 8).is_err());
}
