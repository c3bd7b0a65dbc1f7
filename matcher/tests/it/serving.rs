//! Services for servers beside masks: stop tokens of a request, drafts, batches.

use std::sync::Arc;

use grammask_grammar_frontends::regex::RegexOptions;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions, words_for};
use grammask_matcher::{
    BatchMatcher, BatchRow, CompiledGrammar, Compiler, Explanation, MatchError, Matcher, StopTokens, Threads,
};

const STOP: u32 = 4;
const LEN: usize = 6;

/// A compiled pattern over the tokens `a`, `b`, `ab`, `c`, stop, another special one.
fn compile(pattern: &str) -> CompiledGrammar {
    let tokens = ["a", "b", "ab", "c", "</s>", "<user>"].map(Some);
    let options = VocabularyOptions::default().special_ids([5]).stop_ids([STOP]);
    let vocabulary = Vocabulary::from_tokens(tokens, &options).unwrap();
    Compiler::new(vocabulary).regex(pattern, &RegexOptions::default()).unwrap()
}

fn token(id: u32) -> TokenId {
    TokenId::new(id).unwrap()
}

fn allowed(matcher: &mut Matcher) -> Vec<u32> {
    let mut mask = TokenMask::new(LEN);
    matcher.fill_mask(&mut mask).unwrap();
    let mask: Vec<u32> = mask.iter().map(TokenId::get).collect();
    let accepted = (0..6).filter(|&id| matcher.fork().accept_token(token(id)).is_ok());
    assert_eq!(mask, accepted.collect::<Vec<_>>(), "mask and accept agree");
    let explained = (0..6).filter(|&id| matcher.explain(token(id)).unwrap() == Explanation::Allowed);
    assert_eq!(mask, explained.collect::<Vec<_>>(), "mask and explanation agree");
    mask
}

fn own(ids: &[u32]) -> StopTokens {
    StopTokens::Own(ids.iter().map(|&id| token(id)).collect())
}

#[test]
fn a_request_brings_its_own_stop_tokens() {
    let grammar = compile("(ab)*c?");
    let mut matcher = grammar.matcher().with_stop_tokens(own(&[3, 5]));
    assert_eq!(allowed(&mut matcher), [0, 2, 3, 5]);
    matcher.accept_token(token(0)).unwrap();
    assert_eq!(allowed(&mut matcher), [1]);
    matcher.accept_token(token(1)).unwrap();
    assert_eq!(allowed(&mut matcher.fork()), [0, 2, 3, 5], "forks keep them");
    matcher.accept_token(token(3)).unwrap();
    assert!(matcher.is_terminated());
    matcher.reset();
    assert_eq!(allowed(&mut matcher), [0, 2, 3, 5], "and so does a reset");
}

#[test]
fn own_stop_tokens_are_all_that_is_left_at_the_end() {
    let grammar = compile("c");
    let mut matcher = grammar.matcher().with_stop_tokens(own(&[5]));
    matcher.accept_bytes(b"c").unwrap();
    assert_eq!(allowed(&mut matcher), [5]);
    let mut endless = grammar.matcher().with_stop_tokens(StopTokens::None);
    endless.accept_bytes(b"c").unwrap();
    assert_eq!(endless.fill_mask(&mut TokenMask::new(LEN)), Err(MatchError::Terminated));
    assert_eq!(endless.accept_token(token(STOP)), Err(MatchError::TokenRefused(token(STOP))));
}

#[test]
fn stop_tokens_that_end_no_text_are_no_text() {
    let grammar = compile("(ab)*c?");
    let mut matcher = grammar.matcher().with_stop_tokens(StopTokens::Never([token(0), token(5)].into()));
    let ids = |matcher: &mut Matcher| allowed(&mut matcher.fork());
    assert!(ids(&mut matcher).iter().all(|id| ![0, 5, STOP].contains(id)));
    matcher.accept_bytes(b"a").unwrap();
    assert_eq!(ids(&mut matcher), [1]);
    matcher.accept_bytes(b"bc").unwrap();
    assert_eq!(matcher.fill_mask(&mut TokenMask::new(LEN)), Err(MatchError::Terminated));
    assert!(!matcher.is_terminated() && matcher.accept_token(token(5)).is_err());
}

#[test]
fn known_masks_are_those_that_were_computed() {
    let grammar = compile("a*");
    let mut matcher = grammar.matcher();
    assert!(matcher.cached_mask().is_none());
    let mask = matcher.mask().unwrap().to_mask();
    let known = grammar.matcher().cached_mask().unwrap();
    assert_eq!(known.to_mask(), mask);
}

#[test]
fn drafts_are_counted_and_not_accepted() {
    let mut matcher = compile("(ab)*").matcher();
    let count = |matcher: &mut Matcher, ids: &[u32]| {
        let ids: Vec<TokenId> = ids.iter().map(|&id| token(id)).collect();
        matcher.validate_tokens(&ids).unwrap()
    };
    assert_eq!(count(&mut matcher, &[0, 1, 2, 3, 0]), 3);
    assert_eq!(count(&mut matcher, &[STOP, 0]), 1);
    assert_eq!(count(&mut matcher, &[]), 0);
    assert_eq!((matcher.steps(), matcher.is_terminated()), (0, false));
}

#[test]
fn batches_are_filled_row_by_row() {
    let grammar = compile("a(b|c)*");
    let texts: Vec<&str> = (0..40).map(|row| ["", "a", "ab"][row % 3]).collect();
    for threads in [0, 1, 3] {
        let mut matchers: Vec<Matcher> = texts.iter().map(|_| grammar.matcher()).collect();
        for (matcher, text) in matchers.iter_mut().zip(&texts) {
            matcher.accept_bytes(text.as_bytes()).unwrap();
        }
        matchers[7].accept_token(token(STOP)).unwrap();
        let mut words = vec![u32::MAX; 40 * words_for(LEN)];
        let mut rows: Vec<BatchRow<'_>> = matchers
            .iter_mut()
            .zip(words.chunks_mut(words_for(LEN)))
            .map(|(matcher, words)| BatchRow { matcher, words })
            .collect();
        let outcomes = BatchMatcher::new(Arc::new(Threads::new(threads))).fill(&mut rows);
        for (row, outcome) in outcomes.iter().enumerate() {
            let want = if texts[row].is_empty() { 0b00_0101 } else { 0b01_1010 };
            match row {
                7 => assert_eq!(outcome, &Err(MatchError::Terminated)),
                _ => assert_eq!((outcome.is_ok(), words[row]), (true, want), "row {row}"),
            }
        }
    }
}

/// The only thread is busy for good: what it does not begin it is not waited for.
#[test]
fn batches_do_not_wait_for_busy_threads() {
    let threads = Arc::new(Threads::new(1));
    let (release, gate) = std::sync::mpsc::channel::<()>();
    assert!(threads.spawn(move || {
        let _ = gate.recv();
    }));
    let grammar = compile("a(b|c)*");
    let mut matchers: Vec<Matcher> = ["", "a", "ab"].map(|_| grammar.matcher()).into();
    matchers[1].accept_bytes(b"a").unwrap();
    let mut words = vec![0; 3 * words_for(LEN)];
    let batch = BatchMatcher::new(threads);
    let (send, filled) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let answers = batch.fill_rows(&mut matchers, &mut words, words_for(LEN)).unwrap();
        assert!(answers.iter().all(Result::is_ok));
        send.send((words, matchers[0].stats().misses, matchers[2].stats().hits)).unwrap();
    });
    let (words, misses, hits) = filled.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert_eq!((words, misses, hits), (vec![0b00_0101, 0b01_1010, 0b00_0101], 1, 1));
    drop(release);
}

#[test]
fn equal_structures_have_one_fingerprint() {
    let fingerprint = |pattern| compile(pattern).fingerprint().unwrap();
    assert_eq!(fingerprint("a(b|c)*"), fingerprint("a(?:c|b)*"));
    assert_ne!(fingerprint("a(b|c)*"), fingerprint("a(b|c)+"));
    let other =
        Vocabulary::from_tokens(["a", "b", "c"].map(Some), &VocabularyOptions::default().stop_ids([]))
            .unwrap();
    let other = Compiler::new(other).regex("a(b|c)*", &RegexOptions::default()).unwrap();
    assert_ne!(other.fingerprint(), compile("a(b|c)*").fingerprint(), "the vocabulary is a part of it");
    // Routers of other processes and versions know this number.
    assert_eq!(format!("{:032x}", fingerprint("a(b|c)*")), "a9e3d218c8e3ef74e4358b61f344194a");
}

#[test]
fn masks_that_are_too_small_are_refused() {
    let grammar = compile("a*");
    let mut matcher = grammar.matcher();
    let too_small = MatchError::MaskTooSmall { needed: LEN, given: 0 };
    for _ in 0..2 {
        assert_eq!(matcher.fill_mask_words(&mut []), Err(too_small.clone()));
        let given = LEN - 1;
        let error = Err(MatchError::MaskTooSmall { needed: LEN, given });
        assert_eq!(matcher.fill_mask(&mut TokenMask::new(given)), error);
        let mut rows = [BatchRow { matcher: &mut matcher, words: &mut [] }];
        let answers = BatchMatcher::new(Arc::default()).fill(&mut rows);
        assert_eq!(answers, [Err(too_small.clone())]);
        // The second time the mask is known, and there is a stop token of the matcher's own.
        matcher.mask().unwrap();
        matcher = matcher.with_stop_tokens(StopTokens::Own([token(2)].into()));
    }
}

#[test]
fn masks_fit_or_are_given_room() {
    let stored = compile("a*").matcher().mask().unwrap();
    let mut mask = TokenMask::new(2);
    mask.load(&stored);
    assert_eq!((mask.len(), mask.iter().map(TokenId::get).collect::<Vec<_>>()), (LEN, vec![0, STOP]));
}

#[test]
fn each_matcher_of_a_batch_gets_one_token() {
    let grammar = compile("a*");
    let mut matchers = [grammar.matcher(), grammar.matcher()];
    let batch = BatchMatcher::new(Arc::default());
    for count in [0, 1, 3] {
        let error = batch.accept(&mut matchers, &vec![token(0); count]).unwrap_err();
        assert!(error.to_string().starts_with(&format!("2 matchers and {count} tokens")), "{error}");
        assert!(matchers.iter().all(|matcher| matcher.steps() == 0));
    }
    let refused = Err(MatchError::TokenRefused(token(1)));
    assert_eq!(batch.accept(&mut matchers, &[token(0), token(1)]).unwrap(), [Ok(()), refused]);
}
