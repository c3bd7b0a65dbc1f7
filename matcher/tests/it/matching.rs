//! Accepting, rolling back, forking, ending.

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder, Spelling};
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{
    ByteSet, CompiledGrammar, Compiler, Explanation, Limits, MaskKind, MatchError, SpellingGaps, StopTokens,
};

const STOP: u32 = 6;

/// A compiled pattern over the tokens `a`, `b`, `ab`, `ba`, ` `, none, stop.
fn compile(pattern: &str) -> CompiledGrammar {
    let tokens = [Some("a"), Some("b"), Some("ab"), Some("ba"), Some(" "), None, Some("</s>")];
    let options = VocabularyOptions::default().stop_ids([STOP]);
    let vocabulary = Vocabulary::from_tokens(tokens, &options).unwrap();
    Compiler::new(vocabulary).regex(pattern, &RegexOptions::default()).unwrap()
}

fn token(id: u32) -> TokenId {
    TokenId::new(id).unwrap()
}

fn mask(grammar: &CompiledGrammar, matcher: &mut grammask_matcher::Matcher) -> Vec<u32> {
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    matcher.fill_mask(&mut mask).unwrap();
    mask.iter().map(TokenId::get).collect()
}

#[test]
fn a_failed_call_changes_nothing() {
    let grammar = compile("abab");
    let mut matcher = grammar.matcher();
    matcher.accept_token(token(2)).unwrap();
    for id in [1, 3, 4, 5, STOP] {
        assert_eq!(matcher.accept_token(token(id)), Err(MatchError::TokenRefused(token(id))));
    }
    assert_eq!(matcher.accept_bytes(b"aa"), Err(MatchError::ByteRefused { offset: 1, byte: b'a' }));
    assert_eq!(matcher.steps(), 1);
    assert_eq!(mask(&grammar, &mut matcher), [0, 2]);
}

#[test]
fn the_stop_token_ends_and_is_rolled_back() {
    let grammar = compile("a+");
    let mut matcher = grammar.matcher();
    assert_eq!(mask(&grammar, &mut matcher), [0]);
    matcher.accept_token(token(0)).unwrap();
    assert_eq!(mask(&grammar, &mut matcher), [0, STOP]);
    matcher.accept_token(token(STOP)).unwrap();
    assert!(matcher.is_terminated());
    assert_eq!(matcher.accept_token(token(0)), Err(MatchError::Terminated));
    assert_eq!(matcher.fill_mask(&mut TokenMask::new(7)), Err(MatchError::Terminated));
    assert_eq!(matcher.rollback(3), Err(MatchError::RollbackTooFar { asked: 3, taken: 2 }));
    matcher.rollback(1).unwrap();
    assert!(!matcher.is_terminated() && matcher.is_completed());
    matcher.reset();
    assert_eq!((matcher.steps(), matcher.is_completed()), (0, false));
}

#[test]
fn forks_go_their_own_ways() {
    let grammar = compile("(a|b){3}");
    let mut first = grammar.matcher();
    first.accept_token(token(2)).unwrap();
    let mut second = first.fork();
    first.accept_token(token(0)).unwrap();
    assert_eq!(mask(&grammar, &mut first), [STOP]);
    assert_eq!(mask(&grammar, &mut second), [0, 1]);
}

#[test]
fn mask_kinds_say_what_the_mask_is() {
    let grammar = compile("b[ab]*");
    let mut matcher = grammar.matcher();
    let mut buffer = TokenMask::new(7);
    assert_eq!(matcher.fill_mask(&mut buffer), Ok(MaskKind::Some));
    matcher.accept_token(token(1)).unwrap();
    assert_eq!(matcher.fill_mask(&mut buffer), Ok(MaskKind::Some));
    matcher.accept_token(token(1)).unwrap();
    assert_eq!(matcher.fill_mask(&mut buffer), Ok(MaskKind::Unchanged));
    assert_eq!(matcher.fork().fill_mask(&mut buffer), Ok(MaskKind::Some), "a fork has filled none");
    matcher.forget_last_mask();
    assert_eq!(matcher.fill_mask(&mut buffer), Ok(MaskKind::Some));
    let mut single = compile("a ").matcher();
    single.accept_token(token(0)).unwrap();
    assert_eq!(single.fill_mask(&mut buffer), Ok(MaskKind::Single(token(4))));
    let mut own = compile("a ").matcher().with_stop_tokens(StopTokens::Own([token(5)].into()));
    own.accept_bytes(b"a ").unwrap();
    assert_eq!(own.fill_mask(&mut buffer), Ok(MaskKind::Single(token(5))));
    assert_eq!(own.fill_mask(&mut buffer), Ok(MaskKind::Unchanged));
}

/// A request may bring any numbers as its stop tokens.
#[test]
fn stop_tokens_that_the_vocabulary_lacks_end_nothing() {
    for unknown in [7, 20, 31, 32, 100_000] {
        let stop = StopTokens::Own([token(unknown), token(5)].into());
        let mut matcher = compile("a*").matcher().with_stop_tokens(stop);
        assert_eq!(matcher.stop_tokens(), &StopTokens::Own([token(5)].into()));
        let mut words = [0; 2];
        matcher.fill_mask_words(&mut words).unwrap();
        assert_eq!((words[0] >> 7, words[1]), (0, 0), "{unknown}");
        assert_eq!(matcher.accept_token(token(unknown)), Err(MatchError::TokenRefused(token(unknown))));
        assert!(!matcher.is_terminated());
        matcher.accept_token(token(5)).unwrap();
        assert!(matcher.is_terminated());
    }
}

#[test]
fn forced_text_stops_where_there_is_a_choice() {
    let mut matcher = compile("ab(ab| a)b?").matcher();
    assert_eq!(matcher.jump_forward().unwrap(), b"ab");
    matcher.accept_bytes(b"ab ").unwrap();
    assert_eq!(matcher.jump_forward().unwrap(), b"a");
    matcher.accept_bytes(b"a").unwrap();
    assert_eq!(matcher.jump_forward().unwrap(), b"");
}

#[test]
fn endings_are_shortest() {
    let check = |pattern: &str, read: &str, ending: Option<&str>| {
        let mut matcher = compile(pattern).matcher();
        matcher.accept_bytes(read.as_bytes()).unwrap();
        let found = matcher.shortest_ending(1_000).unwrap();
        assert_eq!(found.as_deref(), ending.map(str::as_bytes), "{pattern} after {read:?}");
    };
    check("a*", "aa", Some(""));
    check("(aab|ab)(ba){2}", "a", Some("bbaba"));
    check("[ab]{300,500}", "ab", Some(&"a".repeat(298)));
    check("[ab]{3000}", "ab", None);
    check("( [ab]{90,}){90,}", " ab", None);
    check("( [ab]{9,}){40,}", " ab", Some(&format!("aaaaaaa{}", " aaaaaaaaa".repeat(39))));
}

/// Of 110 required members, 20 optional ones and at least 114 in all, in any order, those that are missing.
#[test]
fn endings_hold_the_missing_members() {
    let member = |number: usize| format!(r#""n{number}":{}"#, "7".repeat(1 + number * number % 23));
    let properties: Vec<String> = (0..130)
        .map(|number| format!(r#""n{number}":{{"const":{}}}"#, "7".repeat(1 + number * number % 23)))
        .collect();
    let required: Vec<String> = (0..110).map(|number| format!(r#""n{number}""#)).collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false,"minProperties":114}}"#,
        properties.join(","),
        required.join(","),
    );
    let options = JsonSchemaOptions::default().key_order(KeyOrder::Any).spelling(Spelling::Canonical);
    let vocabulary =
        Vocabulary::from_tokens([None, Some("</s>")], &VocabularyOptions::default().stop_ids([1]));
    let grammar = Compiler::new(vocabulary.unwrap()).json_schema(&schema, &options).unwrap();
    let mut others: Vec<usize> = (110..130).collect();
    others.sort_by_key(|&number| member(number).len());
    for read in [&[][..], &[5], &[109, 0, 64, 63, 100, 65], &[others[0], others[3], 1, 90, 2]] {
        let text: Vec<String> = read.iter().map(|&number| member(number)).collect();
        let mut matcher = grammar.matcher();
        matcher.accept_bytes(format!("{{{}", text.join(",")).as_bytes()).unwrap();
        let unread = |number: &&usize| !read.contains(number);
        let needed: Vec<usize> = (0..110).filter(|number| unread(&number)).collect();
        let more = 114 - needed.len() - read.len();
        let missing = needed.iter().chain(others.iter().filter(unread).take(more));
        let lengths: Vec<usize> = missing.map(|&number| member(number).len() + 1).collect();
        let ending = matcher.shortest_ending(100_000).unwrap().unwrap();
        assert_eq!(ending.len(), lengths.iter().sum::<usize>() + usize::from(!read.is_empty()), "{read:?}");
        matcher.accept_bytes(&ending).unwrap();
        assert!(matcher.is_completed());
    }
}

/// After each member any of those that are left may come. The ending does not look at them all again.
#[test]
fn endings_of_many_members_take_few_steps() {
    let names: Vec<String> = (0..1_000).map(|number| format!(r#""k{number}""#)).collect();
    let schema = format!(
        r#"{{"type":"object","required":[{}],"additionalProperties":{{"const":7}}}}"#,
        names.join(",")
    );
    let options = JsonSchemaOptions::default().key_order(KeyOrder::Any).spelling(Spelling::Canonical);
    let vocabulary =
        Vocabulary::from_tokens([None, Some("</s>")], &VocabularyOptions::default().stop_ids([1]));
    let limits = Limits::default().max_work_per_call(200_000);
    let compiler = Compiler::builder(vocabulary.unwrap()).limits(limits).build();
    let mut matcher = compiler.json_schema(&schema, &options).unwrap().matcher();
    let ending = matcher.shortest_ending(100_000).unwrap().unwrap();
    let members: Vec<String> = names.iter().map(|name| format!("{name}:7")).collect();
    assert_eq!(String::from_utf8(ending).unwrap(), format!("{{{}}}", members.join(",")));
}

#[test]
fn endings_repeat_the_shortest_part() {
    let options = VocabularyOptions::default().stop_ids([1]);
    let compiler = Compiler::new(Vocabulary::from_tokens([Some("a"), Some("</s>")], &options).unwrap());
    // The parts of the ending, which may come in any order.
    let ending = |parts: &str, read: &str| {
        let source = format!("root ::= Permutation(\"+\", {parts})");
        let mut matcher = compiler.ebnf(&source, &EbnfOptions::default()).unwrap().matcher();
        matcher.accept_bytes(read.as_bytes()).unwrap();
        let ending = matcher.shortest_ending(20).unwrap()?;
        matcher.accept_bytes(&ending).unwrap();
        assert!(matcher.is_completed());
        let mut parts: Vec<String> =
            std::str::from_utf8(&ending).unwrap().split('+').map(str::to_owned).collect();
        parts.sort_unstable();
        Some(parts.join(" "))
    };
    let parts = r#"Required("abc"), Optional("d"), Repeatable("ef")"#;
    assert_eq!(ending(&format!(r#"{parts}, ""{{4,}}"#), "").as_deref(), Some("abc d ef ef"));
    assert_eq!(ending(&format!(r#"{parts}, ""{{4,}}"#), "abc").as_deref(), Some(" d ef ef"));
    assert_eq!(ending(r#"Repeatable("ef"), ""{3,}"#, "").as_deref(), Some("ef ef ef"));
    assert_eq!(ending(r#"Repeatable("ef"), ""{3,}"#, "ef+").as_deref(), Some("ef ef"));
    // As many as there can be: nothing is counted one by one.
    assert_eq!(ending(&format!(r#"{parts}, ""{{4294967295,}}"#), "abc"), None);
}

/// Each part may be the one that was read, and half of them are needed: the limit on work counts them all.
#[test]
fn endings_of_many_ways_are_charged() {
    let options = VocabularyOptions::default().stop_ids([1]);
    let vocabulary = Vocabulary::from_tokens([Some("a"), Some("</s>")], &options).unwrap();
    let compiler = Compiler::builder(vocabulary).limits(Limits::default().max_work_per_call(200_000)).build();
    let ending = |parts: usize| {
        let each: Vec<String> = (0..parts).map(|number| format!(r#"Optional("a" | "b{number};")"#)).collect();
        let source = format!(r#"root ::= Permutation(",", {}, ""{{{},}})"#, each.join(", "), parts / 2);
        let mut matcher = compiler.ebnf(&source, &EbnfOptions::default()).unwrap().matcher();
        matcher.accept_bytes(b"a").unwrap();
        matcher.shortest_ending(100_000)
    };
    assert_eq!(ending(400).unwrap().unwrap(), b",a".repeat(199));
    assert!(matches!(ending(2_000), Err(MatchError::Limit(_))));
}

#[test]
fn no_text_ends_where_a_token_has_to_come() {
    let tokens = [Some("a"), Some("<tool>"), Some("b"), Some("</s>")];
    let options = VocabularyOptions::default().stop_ids([3]);
    let compiler = Compiler::new(Vocabulary::from_tokens(tokens, &options).unwrap());
    let source = r#"root ::= "a" Token(1) "b""#;
    let mut matcher = compiler.ebnf(source, &EbnfOptions::default()).unwrap().matcher();
    for (read, ending) in [(0, None), (1, None), (2, Some(&b"b"[..]))] {
        assert_eq!(matcher.shortest_ending(usize::MAX).unwrap().as_deref(), ending, "before {read}");
        matcher.accept_token(token(read)).unwrap();
    }
    assert_eq!(matcher.shortest_ending(usize::MAX).unwrap().as_deref(), Some(&b""[..]));
}

#[test]
fn explanations_name_the_byte() {
    let mut matcher = compile("ab+").matcher();
    let Explanation::Refused { offset, byte, possible, may_end } = matcher.explain(token(3)).unwrap() else {
        panic!("`ba` is refused");
    };
    assert_eq!((offset, byte, may_end), (0, b'b', false));
    assert_eq!(possible.iter().collect::<Vec<_>>(), b"a");
    assert_eq!(matcher.explain(token(2)).unwrap(), Explanation::Allowed);
    assert_eq!(matcher.explain(token(5)).unwrap(), Explanation::Empty);
    assert_eq!(matcher.explain(token(1_000)).unwrap(), Explanation::OutOfRange);
    assert!(matches!(matcher.explain(token(STOP)).unwrap(), Explanation::TooEarlyToStop { .. }));
}

#[test]
fn sets_of_bytes_are_listed_with_ranges() {
    let show = |bytes: &[u8]| {
        let mut words = [0; 4];
        bytes.iter().for_each(|&byte| words[usize::from(byte >> 6)] |= 1 << (byte & 63));
        ByteSet::from(words).to_string()
    };
    assert_eq!(show(b""), "");
    assert_eq!(show(b"\n"), "0x0a");
    assert_eq!(show(b"0123x' ab"), "' ', '\\'', '0'..='3', 'a', 'b', 'x'");
    assert_eq!(show(&[253, 254, 255]), "0xfd..=0xff");
    assert_eq!(show(&(0..=255).collect::<Vec<u8>>()), "0x00..=0xff");
}

#[test]
fn explanations_are_sentences() {
    let mut matcher = compile("[a-c ]b+").matcher();
    let mut check = |id, sentence: &str| {
        assert_eq!(matcher.explain(token(id)).unwrap().to_string(), sentence);
    };
    check(0, "the token is allowed");
    check(3, "byte 1 of the token, 'a', is not allowed; possible are 'b'");
    check(5, "an id without bytes, which no text needs");
    check(77, "the vocabulary has no token with this id");
    check(STOP, "the text cannot end here; it goes on with ' ', 'a'..='c'");
    matcher.accept_bytes(b"ab").unwrap();
    let explained =
        |matcher: &mut grammask_matcher::Matcher, id| matcher.explain(token(id)).unwrap().to_string();
    assert_eq!(
        explained(&mut matcher, 0),
        "byte 0 of the token, 'a', is not allowed; possible are 'b', and the end of the text"
    );
    // Stop tokens of the vocabulary are special tokens where the text has others.
    let mut other = matcher.fork().with_stop_tokens(StopTokens::Own([token(1)].into()));
    assert_eq!(explained(&mut other, STOP), "a special token, which the structure does not name here");
    matcher.accept_token(token(STOP)).unwrap();
    assert_eq!(explained(&mut matcher, 0), "the text has ended, and nothing can follow");
}

#[test]
fn full_tables_are_begun_anew() {
    let tokens = [Some("a"), Some("("), Some(")"), Some("</s>")];
    let options = VocabularyOptions::default().stop_ids([3]);
    let vocabulary = std::sync::Arc::new(Vocabulary::from_tokens(tokens, &options).unwrap());
    let limits = Limits::default().max_table_bytes(400_000);
    let compiler = Compiler::builder(vocabulary).limits(limits).build();
    let source = r#"root ::= "(" root ")" root | "a""#;
    let grammar = compiler.ebnf(source, &Default::default()).unwrap();
    let mut matcher = grammar.matcher();
    let mut buffer = TokenMask::new(4);
    let depth = 1_000;
    for _ in 0..depth {
        matcher.accept_token(token(1)).unwrap();
        matcher.fill_mask(&mut buffer).unwrap();
    }
    for round in 0..60 {
        matcher.accept_token(token(0)).unwrap();
        for _ in 0..=round {
            matcher.accept_token(token(2)).unwrap();
            matcher.fill_mask(&mut buffer).unwrap();
            assert_eq!(buffer.iter().map(TokenId::get).collect::<Vec<_>>(), [0, 1]);
            matcher.accept_token(token(0)).unwrap();
        }
        matcher.rollback(2 * (round + 1) + 1).unwrap();
        assert_eq!(matcher.steps(), depth);
    }
    for _ in 0..depth {
        matcher.accept_bytes(b"a)").unwrap();
    }
    matcher.accept_bytes(b"a").unwrap();
    assert!(matcher.is_completed());
}

#[test]
fn bytes_without_a_token_are_named() {
    let gaps = |pattern: &str| {
        let gaps = compile(pattern).spelling_gaps().unwrap();
        assert_eq!(gaps.is_empty(), gaps == SpellingGaps::default());
        (gaps.in_no_token.to_string(), gaps.in_longer_tokens.to_string())
    };
    assert_eq!(gaps("(a|b )*"), (String::new(), String::new()));
    // Both parts that no text needs, and those that no text reaches.
    assert_eq!(gaps("a(bc[x-z]?){0,9}d{0}"), ("'c', 'x'..='z'".to_owned(), String::new()));
    let tokens = [Some("a"), Some("bc"), Some("</s>")];
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([2])).unwrap();
    let grammar = Compiler::new(vocabulary).regex("(a|bc|</s>)+", &RegexOptions::default()).unwrap();
    let gaps = grammar.spelling_gaps().unwrap();
    assert_eq!(gaps.in_no_token.to_string(), "'/', '<', '>', 's'");
    assert_eq!(gaps.in_longer_tokens.to_string(), "'b', 'c'");
}

#[test]
fn bytes_of_deferred_parts_are_named() {
    let schema = r#"{"anyOf": [{"const": "a"}, {"type": "object", "patternProperties": {"^x{1,300}$": {"enum": ["é"]}}}]}"#;
    let tokens = (0..128_u8).map(|byte| Some(vec![byte])).chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([128])).unwrap();
    let grammar = Compiler::new(vocabulary).json_schema(schema, &JsonSchemaOptions::default()).unwrap();
    let gaps = grammar.spelling_gaps().unwrap();
    assert_eq!(gaps.in_no_token.to_string(), "0x80..=0xbf, 0xc2..=0xf4");
}
