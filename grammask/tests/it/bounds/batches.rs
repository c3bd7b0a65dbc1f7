//! Batches of masks that are not known yet, on one thread and on two.

use std::sync::Arc;
use std::time::{Duration, Instant};

use grammask::json_schema::JsonSchemaOptions;
use grammask::tuning::TokenSets;
use grammask::{BatchMatcher, Compiler, Matcher, Threads, Vocabulary, VocabularyOptions, words_for};

/// How much faster two threads are at least.
const FASTER: f64 = 1.4;
/// A server's requests have schemas of their own. The masks of one grammar grow its tables, one at a time.
const GRAMMARS: usize = 16;
const ROWS_OF_EACH: usize = 4;
const ROWS: usize = GRAMMARS * ROWS_OF_EACH;
const TRIES: usize = 5;

/// Every byte, every word of three letters, and these with a blank, a mark or a vowel: some 120,000 tokens.
fn vocabulary() -> Arc<Vocabulary> {
    let letters = || b'a'..=b'z';
    let words = letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| vec![a, b, c])));
    let words = words.flat_map(|word| {
        let blank = [b" ", &word[..]].concat();
        let others = b"-aeiou".map(|last| [&word[..], &[last]].concat());
        [word, blank].into_iter().chain(others)
    });
    let tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).chain(words).collect();
    let stop = u32::try_from(tokens.len()).unwrap();
    let options = VocabularyOptions::default().stop_ids([stop]);
    Arc::new(Vocabulary::from_tokens(tokens.into_iter().map(Some).chain([None]), &options).unwrap())
}

/// Matchers in the values of one member each, of grammars whose masks nobody has asked for.
fn rows(vocabulary: &Arc<Vocabulary>) -> Vec<Matcher> {
    let compiler = Compiler::builder(Arc::clone(vocabulary)).build();
    let mut rows = Vec::new();
    for number in 0..GRAMMARS {
        let member = |row: usize| {
            let length = 1 + number * ROWS_OF_EACH + row;
            format!(r#""m{row}": {{"type": "string", "pattern": "^[a-z]{{{length},700}}-[a-y]*$"}}"#)
        };
        let members: Vec<String> = (0..ROWS_OF_EACH).map(member).collect();
        let schema = format!(r#"{{"type": "object", "properties": {{{}}}}}"#, members.join(", "));
        let grammar = compiler.json_schema(&schema, &JsonSchemaOptions::default()).unwrap();
        for row in 0..ROWS_OF_EACH {
            let mut matcher = grammar.matcher();
            matcher.accept_bytes(format!(r#"{{"m{row}": "a"#).as_bytes()).unwrap();
            rows.push(matcher);
        }
    }
    rows
}

fn fill(vocabulary: &Arc<Vocabulary>, helpers: usize, words: &mut [u32]) -> Duration {
    let threads = Arc::new(Threads::new(helpers));
    threads.start().unwrap();
    let batch = BatchMatcher::new(threads);
    let mut rows = rows(vocabulary);
    let start = Instant::now();
    let answers = batch.fill_rows(&mut rows, words, words_for(vocabulary.len())).unwrap();
    let time = start.elapsed();
    assert!(answers.into_iter().all(|answer| answer.is_ok()));
    time
}

/// Two threads find the same masks as one. That they are faster can be told where nothing else uses the cores: then
/// `cargo xtask full` sets the variable.
#[test]
fn two_threads_are_faster_than_one() {
    let is_measured = std::env::var_os("GRAMMASK_FREE_CORES").is_some();
    let vocabulary = vocabulary();
    // Those sets that depend on the vocabulary alone are not what is measured.
    let sets = TokenSets::shared(&vocabulary);
    sets.prepare();
    let mut masks = [(); 2].map(|()| vec![0_u32; words_for(vocabulary.len()) * ROWS]);
    let mut best = [Duration::MAX; 2];
    for _ in 0..if is_measured { TRIES } else { 1 } {
        for helpers in 0..2 {
            best[helpers] = best[helpers].min(fill(&vocabulary, helpers, &mut masks[helpers]));
        }
    }
    assert_eq!(masks[0], masks[1]);
    let faster = best[0].as_secs_f64() / best[1].as_secs_f64();
    println!("{ROWS} masks that are not known: {best:?}, {faster:.2} times faster");
    assert!(!is_measured || faster >= FASTER, "{best:?}, {faster:.2} times faster");
}
