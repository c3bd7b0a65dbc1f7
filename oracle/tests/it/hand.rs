//! Cases worked out by hand.

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder};
use grammask_oracle::{Recogniser, mask};

use crate::grammar;

/// `accepted` texts are sentences, `open` ones begin some sentence and are none, and `dead` ones are viable up
/// to the byte given and no further.
#[track_caller]
fn check<T: AsRef<[u8]> + ?Sized>(grammar: &Grammar, accepted: &[&T], open: &[&T], dead: &[(&T, usize)]) {
    let recogniser = Recogniser::new(grammar);
    let shown = |text: &T| text.as_ref().escape_ascii().to_string();
    for text in accepted {
        assert!(recogniser.accepts(text.as_ref()), "accepts {}", shown(text));
    }
    for text in open {
        assert!(recogniser.is_prefix(text.as_ref()), "allows {}", shown(text));
        assert!(!recogniser.accepts(text.as_ref()), "does not accept {}", shown(text));
    }
    for (text, at) in dead {
        let text = text.as_ref();
        let read =
            text.iter().scan(recogniser.begin(), |chart, &byte| chart.push(byte).then_some(())).count();
        assert_eq!(read, *at, "{}", text.escape_ascii());
    }
}

fn one_of(builder: &mut GrammarBuilder, texts: &[&str]) -> ExprId {
    let literals: Vec<_> = texts.iter().map(|text| builder.literal(text)).collect();
    builder.choice(literals)
}

#[test]
fn left_recursion() {
    // root ::= root "+" root | root "!" | "1"
    let grammar = grammar(|builder, root| {
        let [plus, bang, one] = ["+", "!", "1"].map(|text| builder.literal(text));
        let sum = builder.sequence([root, plus, root]);
        let factorial = builder.sequence([root, bang]);
        builder.choice([sum, factorial, one])
    });
    check(&grammar, &["1", "1!", "1+1!+1", "1!!!+1"], &["", "1+", "1!+"], &[("1++", 2), ("11", 1), ("!", 0)]);
}

#[test]
fn left_recursion_behind_what_is_nullable() {
    // root ::= "x"? root "a" | ""
    let grammar = grammar(|builder, root| {
        let [x, a, empty] = ["x", "a", ""].map(|text| builder.literal(text));
        let maybe = builder.optional(x);
        let nested = builder.sequence([maybe, root, a]);
        builder.choice([nested, empty])
    });
    check(&grammar, &["", "a", "aa", "xa", "xxaa", "xxaaa"], &["x", "xx", "xxa"], &[("ax", 1), ("xax", 2)]);
}

#[test]
fn rules_that_are_themselves() {
    // root ::= root | root root | "" | "ab"
    let grammar = grammar(|builder, root| {
        let (empty, ab) = (builder.empty(), builder.literal("ab"));
        let twice = builder.sequence([root, root]);
        builder.choice([root, twice, empty, ab])
    });
    check(&grammar, &["", "ab", "ababab"], &["a", "aba"], &[("aa", 1), ("abb", 2)]);
}

#[test]
fn palindromes() {
    // root ::= "a" root "a" | "b" root "b" | ""
    let grammar = grammar(|builder, root| {
        let [a, b, empty] = ["a", "b", ""].map(|text| builder.literal(text));
        let around_a = builder.sequence([a, root, a]);
        let around_b = builder.sequence([b, root, b]);
        builder.choice([around_a, around_b, empty])
    });
    check(&grammar, &["", "aa", "abba", "bbabbabb"], &["a", "ab", "abb"], &[]);
}

#[test]
fn what_cannot_end_is_dead_from_the_start() {
    // root ::= "a" endless | "a" [] | "b" | ("c" []){0,3} "d",  endless ::= "x" endless
    let mut builder = GrammarBuilder::new();
    let (root, endless) = (builder.declare("root").unwrap(), builder.declare("endless").unwrap());
    let [a, b, c, d, x] = ["a", "b", "c", "d", "x"].map(|text| builder.literal(text));
    let (never, again) = (builder.never(), builder.rule(endless));
    let loops = builder.sequence([x, again]);
    builder.define(endless, loops).unwrap();
    let alternatives = [[a, again], [a, never]].map(|parts| builder.sequence(parts));
    let dead = builder.sequence([c, never]);
    let maybe = builder.repeat(dead, 0, Some(3));
    let last = builder.sequence([maybe, d]);
    let body = builder.choice([alternatives[0], alternatives[1], b, last]);
    builder.define(root, body).unwrap();
    check(&builder.finish(root).unwrap(), &["b", "d"], &[""], &[("a", 0), ("c", 0), ("x", 0)]);

    let nothing = Recogniser::new(&grammar(|_, root| root));
    assert!(nothing.is_language_empty());
    assert!(!nothing.is_prefix(b"") && !nothing.accepts(b""));
    assert!(nothing.begin().next_bytes().is_empty());
}

#[test]
fn counts() {
    let counted = |min, max| {
        grammar(|builder, _| {
            let a = one_of(builder, &["a", "bc"]);
            let many = builder.repeat(a, min, max);
            let end = builder.literal(".");
            builder.sequence([many, end])
        })
    };
    check(&counted(2, Some(3)), &["aa.", "abc.", "bcbca."], &["", "a", "aab"], &[("a.", 1), ("aaaa", 3)]);
    check(&counted(2, None), &["aa.", "aaaaabcbc."], &["a", "aaaab"], &[(".", 0), ("bc.", 2)]);
    check(&counted(0, Some(u32::MAX)), &[".", "aa.", "bc."], &["b"], &[("ba", 1)]);
    check(&counted(u32::MAX, None), &[], &["", "aaaa", "ab"], &[("aaa.", 3)]);
    let long = "a".repeat(3000);
    check(
        &counted(3000, Some(3001)),
        &[&format!("{long}."), &format!("{long}a.")],
        &[&long],
        &[(&format!("{long}aa"), 3001), (&format!("{}.", &long[1..]), 2999)],
    );
}

#[test]
fn counts_of_what_may_be_empty() {
    // (a?){3,5} and (a? b?){2} and ((a{2})?){1,2}
    let grammar = |times: u32| {
        grammar(|builder, _| {
            let [a, b] = ["a", "b"].map(|text| builder.literal(text));
            let [maybe_a, maybe_b] = [a, b].map(|body| builder.optional(body));
            let body = builder.sequence([maybe_a, maybe_b]);
            builder.repeat(body, times, Some(times))
        })
    };
    check(&grammar(1_000_000_000), &["", "a", "baab"], &[], &[("c", 0)]);
    check(&grammar(2), &["", "a", "aa", "ba", "abab", "bb"], &[], &[("aba", 3), ("baa", 2), ("bab", 3)]);
    check(&grammar(2), &["aba"], &[], &[("abaa", 3), ("ababa", 4)]);
}

#[test]
fn characters_are_cut_anywhere() {
    let grammar = grammar(|builder, _| {
        let class = builder.class([('a', 'a'), ('\u{7FE}', '\u{801}'), ('😀', '😃')]);
        let raw = builder.bytes(b"\xFF\x80");
        let one = builder.choice([class, raw]);
        builder.repeat(one, 1, Some(2))
    });
    check::<[u8]>(
        &grammar,
        &[b"a", "\u{7FE}\u{801}".as_bytes(), "😃a".as_bytes(), b"\xFF\x80"],
        &[b"", b"\xDF", b"\xF0\x9F\x98", b"a\xFF", b"\xE0\xA0"],
        &[
            (b"\xDF\xBD", 1),
            (b"\xE0\xA0\x82", 2),
            (b"\xF0\x9F\x98\x84", 3),
            (b"\xC3", 0),
            (b"\xED\xA0", 0),
            (b"\x80", 0),
            (b"aaa", 2),
        ],
    );
}

#[test]
fn charts_go_back_and_branch() {
    let recogniser = Recogniser::new(&grammar(|builder, _| {
        let text = builder.literal("abc");
        builder.repeat(text, 0, None)
    }));
    let mut chart = recogniser.begin();
    assert!(chart.is_empty() && chart.is_complete());
    assert!(b"abca".iter().all(|&byte| chart.push(byte)));
    let mut branch = chart.clone();
    assert!(!chart.push(b'a') && chart.len() == 4);
    chart.truncate(3);
    assert!(chart.is_complete());
    assert!(branch.push(b'b') && !branch.is_complete());
    assert_eq!(branch.next_bytes(), b"c");
    chart.truncate(17);
    chart.truncate(usize::MAX);
    assert_eq!(chart.len(), 3);
}

#[test]
fn masks_are_over_bytes() {
    let recogniser = Recogniser::new(&grammar(|builder, _| {
        let [e, end] = ["é", "."].map(|text| builder.literal(text));
        let many = builder.repeat(e, 1, Some(2));
        builder.sequence([many, end])
    }));
    let chart = recogniser.read(b"\xC3").unwrap();
    let tokens: &[&[u8]] = &[
        b"",
        b"\xA9",
        b"\xA9",
        b"\xA9\xC3",
        b"\xA9.",
        b"\xA9.\xC3",
        b"\xC3",
        b".",
        b"\xA9\xC3\xA9.",
        b"\xA8",
    ];
    assert_eq!(mask(&chart, tokens), [false, true, true, true, true, false, false, false, true, false]);
    assert_eq!(chart.len(), 1);
    assert!(mask::<&[u8]>(&chart, &[]).is_empty());
}

#[test]
fn depth_is_no_danger() {
    let deep = grammar(|builder, _| {
        let (a, b) = (builder.literal("a"), builder.literal("b"));
        (0..30_000).fold(a, |inner, _| {
            let other = builder.optional(b);
            let both = builder.choice([inner, other]);
            builder.repeat(both, 0, Some(1))
        })
    });
    check(&deep, &["", "a", "b"], &[], &[("ab", 1)]);
    let below_operator = grammar(|builder, _| {
        let a = builder.class([('a', 'b')]);
        let nest = (0..30_000).fold(a, |inner, _| builder.complement(inner));
        let wrapped = (0..30_000).fold(nest, |inner, _| builder.repeat(inner, 0, Some(1)));
        builder.json_escaped(wrapped)
    });
    check(&below_operator, &["a", "b", "", "\\u0061"], &["\\u00"], &[("ab", 1), ("\\u0071", 4)]);
}
