//! Forced tokens against every way on: what is called certain must begin the tokenizer's encoding of each.

use std::collections::HashMap;

use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_mask_cache::{TokenId, Vocabulary, VocabularyOptions};
use grammask_matcher::{Compiler, ForcedTokens};

use crate::random::Random;

/// An encoding by merges over a few letters, the earliest merge first. Ids are places in `tokens`.
struct Merges {
    tokens: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, usize>,
}

impl Merges {
    /// The letters, and tokens that each join two earlier ones.
    fn random(random: &mut Random, letters: &[u8], merges: usize) -> Self {
        let mut this = Self { tokens: Vec::new(), ids: HashMap::new() };
        letters.iter().for_each(|&letter| this.push(vec![letter]));
        for _ in 0..merges {
            let (one, other) = (random.below(this.tokens.len()), random.below(this.tokens.len()));
            let joined = [&*this.tokens[one], &*this.tokens[other]].concat();
            if joined.len() <= 6 && !this.ids.contains_key(&joined) {
                this.push(joined);
            }
        }
        this
    }

    fn push(&mut self, token: Vec<u8>) {
        self.ids.insert(token.clone(), self.tokens.len());
        self.tokens.push(token);
    }

    /// Joins the pair whose token is the earliest, the leftmost such pair first, until no pair is a token.
    fn encode(&self, text: &[u8]) -> Vec<TokenId> {
        let mut parts: Vec<usize> = text.iter().map(|byte| self.ids[&vec![*byte]]).collect();
        loop {
            let join = |pair: &[usize]| {
                self.ids.get(&[&*self.tokens[pair[0]], &*self.tokens[pair[1]]].concat()).copied()
            };
            let pairs = parts.windows(2).enumerate();
            let Some((token, at)) = pairs.filter_map(|(at, pair)| Some((join(pair)?, at))).min() else {
                break;
            };
            parts.splice(at..at + 2, [token]);
        }
        parts.into_iter().map(|id| TokenId::new(u32::try_from(id).unwrap()).unwrap()).collect()
    }
}

/// All texts of a length.
fn texts(letters: &[u8], length: usize) -> Vec<Vec<u8>> {
    let mut texts = vec![Vec::new()];
    for _ in 0..length {
        texts = texts
            .iter()
            .flat_map(|text| letters.iter().map(|&letter| [text, &[letter][..]].concat()))
            .collect();
    }
    texts
}

#[test]
fn what_is_certain_begins_the_encoding_of_every_way_on() {
    let letters = b"abc";
    let mut appended = 0;
    let mut taken_back = 0;
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let merges = Merges::random(&mut random, letters, 14);
        let options = VocabularyOptions::default().stop_ids([u32::try_from(merges.tokens.len()).unwrap()]);
        let tokens = merges.tokens.iter().cloned().map(Some).chain([None]);
        let compiler = Compiler::new(Vocabulary::from_tokens(tokens, &options).unwrap());
        let text =
            |random: &mut Random, length| (0..length).map(|_| letters[random.below(3)]).collect::<Vec<u8>>();
        let head = text(&mut random, 3);
        let forced = text(&mut random, 1 + (seed as usize % 7));
        // The possible continuations: anything, only some letters, or nothing.
        let (class, most) = [("abc", 6), ("ab", 6), ("c", 6), ("abc", 0)][random.below(4)];
        let pattern = format!(
            "(?:{}|b[abc]{{0,40}}){}[{class}]{{0,{most}}}",
            String::from_utf8(head.clone()).unwrap(),
            String::from_utf8(forced.clone()).unwrap()
        );
        let Ok(grammar) = compiler.regex(&pattern, &RegexOptions::default()) else { continue };
        let mut matcher = grammar.matcher();
        let context = merges.encode(&head);
        if !context.iter().all(|&id| matcher.accept_token(id).is_ok()) {
            continue;
        }
        let result = matcher.forced_tokens(&context, |text| Some(merges.encode(text))).unwrap();
        assert_eq!(matcher.steps(), context.len());
        let ForcedTokens { rollback, tokens } = result;
        let kept = &context[..context.len() - rollback];
        let certain = [kept, &tokens].concat();
        let really_forced = matcher.jump_forward().unwrap();
        for length in 0..=most.min(5) {
            for way_on in texts(class.as_bytes(), length) {
                let whole = [&*head, &*really_forced, &*way_on].concat();
                let encoding = merges.encode(&whole);
                assert!(
                    tokens.is_empty() || encoding.starts_with(&certain),
                    "seed {seed}: {pattern}: {certain:?} and then {way_on:?}: {encoding:?}"
                );
            }
        }
        appended += tokens.len();
        taken_back += rollback;
        // And they can be appended.
        let consumed = matcher.consume_forced_tokens(&context, |text| Some(merges.encode(text))).unwrap();
        assert_eq!((consumed.rollback, &consumed.tokens), (rollback, &tokens));
        assert_eq!(matcher.steps(), certain.len());
    }
    assert!(appended > 60 && taken_back > 5, "{appended} tokens, {taken_back} taken back");
}

fn ids(numbers: &[u32]) -> Vec<TokenId> {
    numbers.iter().map(|&id| TokenId::new(id).unwrap()).collect()
}

#[test]
fn tokens_that_may_merge_with_what_follows_are_held_back() {
    // 0 `{`, 1 `"`, 2 `a`, 3 `:`, 4 `":`, 5 `1`, 6 `:1`, 7 `{"`, 8 `2`
    let tokens = ["{", "\"", "a", ":", "\":", "1", ":1", "{\"", "2", "\u{e9}"].map(Some);
    let compiler =
        Compiler::new(Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([])).unwrap());
    let longest_match = |text: &[u8]| {
        let tokens: [&[u8]; 9] = [b"{\"", b"\":", b":1", b"{", b"\"", b"a", b":", b"1", b"2"];
        let numbers = [7, 4, 6, 0, 1, 2, 3, 5, 8];
        let mut left = text;
        let mut found = Vec::new();
        while !left.is_empty() {
            let place = tokens.iter().position(|token| left.starts_with(token))?;
            found.push(numbers[place]);
            left = &left[tokens[place].len()..];
        }
        Some(ids(&found))
    };
    let forced = |pattern: &str, before: &[u32]| {
        let grammar = compiler.regex(pattern, &RegexOptions::default()).unwrap();
        let mut matcher = grammar.matcher();
        ids(before).into_iter().for_each(|id| matcher.accept_token(id).unwrap());
        let ForcedTokens { rollback, tokens } = matcher.forced_tokens(&ids(before), longest_match).unwrap();
        (rollback, tokens.into_iter().map(TokenId::get).collect::<Vec<_>>())
    };
    // `:` and `1` are one token.
    assert_eq!(forced(r#"\{"a":[12]"#, &[]), (0, vec![7, 2]));
    assert_eq!(forced(r#"\{"a":[a"]"#, &[]), (0, vec![7, 2, 4]));
    assert_eq!(forced(r#"\{a:[12]"#, &[]), (0, vec![0, 2]));
    assert_eq!(forced(r#"\{a:2[12]"#, &[]), (0, vec![0, 2, 3, 8]));
    // The brace that was written would have been merged with the quote that is forced; the first token stays.
    assert_eq!(forced(r#"[12]\{"a[12]"#, &[5, 0]), (1, vec![7, 2]));
    assert_eq!(forced(r#"[1\{]"a[12]"#, &[0]), (0, vec![]));
    // The encoder's answer is believed only if it spells the text.
    let grammar = compiler.regex("aa[12]", &RegexOptions::default()).unwrap();
    let wrong = grammar.matcher().forced_tokens(&[], |_| Some(ids(&[1, 1]))).unwrap();
    assert_eq!(wrong, ForcedTokens::default());
    let none = grammar.matcher().forced_tokens(&[], |_| None).unwrap();
    assert_eq!(none, ForcedTokens::default());
    assert_eq!(grammar.matcher().forced_tokens(&[], |_| Some(ids(&[77]))).unwrap(), none);
}

/// Tokenizers encode the text after a special token on its own.
#[test]
fn text_after_a_special_token_is_encoded_alone() {
    let tokens = ["a", "b", "ab", "<call>"].map(Some);
    let options = VocabularyOptions::default().special_ids([3]).stop_ids([]);
    let compiler = Compiler::new(Vocabulary::from_tokens(tokens, &options).unwrap());
    let grammar = compiler.lark(r#"start: "a" <call>? "bab" "#, &LarkOptions::default()).unwrap();
    let longest_match = |text: &[u8]| {
        let (mut left, mut found) = (text, Vec::new());
        while let Some((&first, rest)) = left.split_first() {
            let is_pair = left.starts_with(b"ab");
            found.push(if is_pair { 2 } else { u32::from(first == b'b') });
            left = if is_pair { &left[2..] } else { rest };
        }
        Some(ids(&found))
    };
    let mut matcher = grammar.matcher();
    for context in [[0, 3], [3, 3]] {
        ids(&[0, 3]).into_iter().for_each(|id| matcher.accept_token(id).unwrap());
        let forced = matcher.forced_tokens(&ids(&context), longest_match).unwrap();
        assert_eq!(forced, ForcedTokens { rollback: 0, tokens: ids(&[1, 2]) });
        matcher.reset();
    }
    // A token that follows is cut as the tokenizer cuts it.
    ids(&[0, 3, 1]).into_iter().for_each(|id| matcher.accept_token(id).unwrap());
    let forced = matcher.forced_tokens(&ids(&[0, 3, 1]), longest_match).unwrap();
    assert_eq!(forced, ForcedTokens { rollback: 0, tokens: ids(&[2]) });
}

#[test]
fn half_a_character_is_held_back() {
    // `é` and `è` begin with the same byte, which is forced.
    let tokens = (0..=255u8).map(|byte| Some(vec![byte]));
    let compiler =
        Compiler::new(Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([])).unwrap());
    let grammar = compiler.regex("ab(?:é|è)", &RegexOptions::default()).unwrap();
    let mut matcher = grammar.matcher();
    assert_eq!(matcher.jump_forward().unwrap(), b"ab\xc3");
    let encode = |text: &[u8]| {
        std::str::from_utf8(text).ok()?;
        Some(ids(&text.iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>()))
    };
    let forced = matcher.forced_tokens(&[], encode).unwrap();
    assert_eq!(forced.tokens, ids(&[u32::from(b'a'), u32::from(b'b')]));
}

/// Text that is cut another way can take more tokens than a rule has left.
#[test]
fn tokens_that_a_rule_has_no_room_for_are_not_certain() {
    let tokens = ["a", "b", "Q", "ab"].map(|text| Some(text.as_bytes())).into_iter().chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([4])).unwrap();
    let compiler = Compiler::new(vocabulary);
    let letter = |byte: &u8| match byte {
        b'a' => ids(&[0]),
        b'b' => ids(&[1]),
        _ => ids(&[2]),
    };
    let by_letters = |text: &[u8]| Some(text.iter().flat_map(letter).collect());
    let cut_anew = ForcedTokens { rollback: 1, tokens: ids(&[0, 1, 2]) };
    for (rule, expected) in [
        ("t[max_tokens=2]: /[a-z]+/", ForcedTokens::default()),
        ("t[max_tokens=3]: /[a-z]{3}/", cut_anew.clone()),
        ("t: /[a-z]{3}/", cut_anew),
    ] {
        let source = format!("start: t \"Q\"\n{rule}");
        let mut matcher = compiler.lark(&source, &LarkOptions::default()).unwrap().matcher();
        ids(&[0, 3]).into_iter().for_each(|id| matcher.accept_token(id).unwrap());
        assert_eq!(matcher.forced_tokens(&ids(&[0, 3]), by_letters).unwrap(), expected, "{rule}");
        assert_eq!(matcher.consume_forced_tokens(&ids(&[0, 3]), by_letters).unwrap(), expected, "{rule}");
        assert_eq!(matcher.jump_forward().unwrap().is_empty(), expected.rollback == 1, "{rule}");
    }
}
