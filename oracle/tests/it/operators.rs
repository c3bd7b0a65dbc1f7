//! Regular operators: by hand, against products of automata, and against JSON spelled out.

use std::collections::HashSet;

use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder};
use grammask_oracle::{Recogniser, random};

use crate::grammar;
use crate::regular::{Judge, copy, pattern, plain};

#[test]
fn an_intersection_that_can_no_longer_match_is_dead() {
    // (a | b){3} and b* a b*: exactly one a among three letters.
    let recogniser = Recogniser::new(&grammar(|builder, _| {
        let [a, b] = ["a", "b"].map(|text| builder.literal(text));
        let letter = builder.choice([a, b]);
        let three = builder.repeat(letter, 3, Some(3));
        let many = builder.repeat(b, 0, None);
        let one_a = builder.sequence([many, a, many]);
        builder.intersection([three, one_a])
    }));
    for sentence in ["abb", "bab", "bba"] {
        assert!(recogniser.accepts(sentence.as_bytes()));
    }
    assert_eq!(recogniser.read(b"bb").unwrap().next_bytes(), b"a");
    assert_eq!(recogniser.read(b"a").unwrap().next_bytes(), b"b");
    assert!(!recogniser.is_prefix(b"aa"));
}

#[test]
fn an_empty_intersection_takes_its_alternative_with_it() {
    let recogniser = Recogniser::new(&grammar(|builder, _| {
        let [even, odd] = [0, 1].map(|first| {
            let pair = builder.literal("aa");
            let pairs = builder.repeat(pair, 0, None);
            let head = builder.literal(["", "a"][first]);
            builder.sequence([head, pairs])
        });
        let neither = builder.intersection([even, odd]);
        let [a, b] = ["a", "b"].map(|text| builder.literal(text));
        let dead = builder.sequence([a, neither]);
        builder.choice([dead, b])
    }));
    assert_eq!(recogniser.begin().next_bytes(), b"b");
}

#[test]
fn a_complement_is_text_and_whole() {
    let recogniser = Recogniser::new(&grammar(|builder, _| {
        let (any, ab) = (builder.any_char(), builder.literal("ab"));
        let many = builder.repeat(any, 0, None);
        let contains = builder.sequence([many, ab, many]);
        let without = builder.complement(contains);
        let end = builder.literal(";");
        builder.sequence([without, end])
    }));
    for sentence in ["ba;", ";", ";;", "é😀a;b;", "aa;"] {
        assert!(recogniser.accepts(sentence.as_bytes()), "{sentence}");
    }
    for (dead, at) in [(&b"ab"[..], 1), (b"\xFF", 0), (b"a\xC3;", 2), (b"\xED\xA0", 1), (b"\xF4\x90", 1)] {
        assert!(recogniser.is_prefix(&dead[..at]) && !recogniser.is_prefix(dead), "{dead:?}");
    }
    // All texts but the empty one and those that begin with a character below U+10FFFF.
    let last = Recogniser::new(&grammar(|builder, _| {
        let (any, empty) = (builder.any_char(), builder.empty());
        let others = builder.negated_class([('\u{10FFFF}', '\u{10FFFF}')]);
        let many = builder.repeat(any, 0, None);
        let tail = builder.sequence([others, many]);
        let all = builder.choice([tail, empty]);
        builder.complement(all)
    }));
    assert_eq!(last.begin().next_bytes(), b"\xF4");
    assert_eq!(last.read(b"\xF4\x8F\xBF").unwrap().next_bytes(), b"\xBF");
}

#[test]
fn json_spellings() {
    let recogniser = Recogniser::new(&grammar(|builder, _| {
        let text = builder.literal("\"/\n\u{1}\u{7F}é😀");
        builder.json_escaped(text)
    }));
    for sentence in [
        r#"\"/\n\u0001éÃ"#.replace("éÃ", "\u{7F}é😀"),
        r"\u0022\/\u000a\u0001\u007f\u00e9\ud83d\ude00".to_owned(),
        r"\u0022\u002F\u000A\u0001\u007F\u00E9\uD83D\uDE00".to_owned(),
    ] {
        assert!(recogniser.accepts(sentence.as_bytes()), "{sentence}");
    }
    let begins = |text: &str| recogniser.is_prefix(text.as_bytes());
    assert!(!begins("\"") && !begins(r"\'") && !begins(r"\u0023"));
    let before_newline = recogniser.read(br#"\"/"#).unwrap();
    assert_eq!(before_newline.next_bytes(), b"\\", "no raw control characters");
    let last = recogniser.read(r#"\"/\n\u0001"#.as_bytes()).unwrap();
    assert_eq!(last.next_bytes(), b"\\\x7F");
    let surrogate = recogniser.read("\\\"/\\n\\u0001\u{7F}é\\u".as_bytes()).unwrap();
    assert_eq!(surrogate.next_bytes(), b"Dd");
    assert!(!begins("\\\"/\\n\\u0001\u{7F}é\\ude00"), "no lone surrogates");
}

#[test]
fn json_prefixes_are_exact_inside_escapes() {
    let spelled = |ranges: Vec<(char, char)>| {
        Recogniser::new(&grammar(|builder, _| {
            let class = builder.class(ranges);
            builder.json_escaped(class)
        }))
    };
    let next = |recogniser: &Recogniser, text: &str| {
        let bytes = recogniser.read(text.as_bytes()).unwrap().next_bytes();
        String::from_utf8(bytes).unwrap()
    };
    let narrow = spelled(vec![('\u{12F}', '\u{131}')]);
    assert_eq!(next(&narrow, "\\u01"), "23");
    assert_eq!(next(&narrow, "\\u012"), "Ff");
    assert_eq!(next(&narrow, "\\u013"), "01");
    // The first unit of U+103FE is D800, that of U+10401 is D801.
    let across = spelled(vec![('\u{103FE}', '\u{10401}')]);
    assert_eq!(next(&across, "\\ud80"), "01");
    assert_eq!(next(&across, "\\ud800\\uDF"), "Ff");
    assert_eq!(next(&across, "\\ud800\\uDFF"), "EFef");
    assert_eq!(next(&across, "\\ud801\\uDC0"), "01");
    let low_plane = spelled(vec![('\u{0}', '\u{FFFF}')]);
    assert_eq!(next(&low_plane, "\\"), "\"/\\bfnrtu");
    assert_eq!(next(&low_plane, "\\ud"), "01234567");
}

/// `Intersection` and `Complement` against the product of two automata.
#[test]
fn random_products() {
    for seed in 0..200 {
        let mut rng = random::Rng::new(seed);
        let operands = [0, 1].map(|_| random::any_grammar(&mut rng, &plain()));
        let body = |grammar: &Grammar| grammar.rule(grammar.root()).body();
        let judges = operands.each_ref().map(|operand| Judge::new(&pattern(operand, body(operand))));
        let is_negated = rng.percent(50);
        let recogniser = Recogniser::new(&grammar(|builder, _| {
            let [left, mut right] = operands.each_ref().map(|operand| copy(operand, body(operand), builder));
            if is_negated {
                right = builder.complement(right);
            }
            builder.intersection([left, right])
        }));
        let accepts = |text: &[u8]| {
            let [left, right] = judges.each_ref().map(|judge| judge.accepts(judge.read(text)));
            left && right != is_negated
        };
        let context = || format!("seed {seed}\n{}", recogniser.grammar());
        for _ in 0..2 {
            let text = random::walk(&mut rng, &recogniser, 6);
            let mut chart = recogniser.begin();
            for length in 0..=text.len() {
                let read = &text[..length];
                assert_eq!(chart.is_complete(), accepts(read), "{read:?} {}", context());
                let expected = next_bytes(&judges, is_negated, read);
                assert_eq!(chart.next_bytes(), expected, "{read:?} {}", context());
                let _ = text.get(length).is_some_and(|&byte| chart.push(byte));
            }
        }
    }
}

/// The bytes after which a pair of states is reached from which a pair is reachable that accepts.
fn next_bytes(judges: &[Judge; 2], is_negated: bool, text: &[u8]) -> Vec<u8> {
    let state = judges.each_ref().map(|judge| judge.read(text));
    let step = |[left, right]: [_; 2], byte| [judges[0].step(left, byte), judges[1].step(right, byte)];
    let accepts = |[left, right]: [_; 2]| judges[0].accepts(left) && judges[1].accepts(right) != is_negated;
    let is_viable = |start: [_; 2]| {
        let mut met = HashSet::from([start]);
        let mut queue = vec![start];
        while let Some(state) = queue.pop() {
            if accepts(state) {
                return true;
            }
            let after = (0..=255).map(|byte| step(state, byte));
            queue.extend(after.filter(|after| !judges[0].is_dead(after[0]) && met.insert(*after)));
        }
        false
    };
    (0..=255).filter(|&byte| is_viable(step(state, byte))).collect()
}

/// `JsonEscaped` against the same expression with all spellings of every character written out.
#[test]
fn random_json_spellings() {
    let mut options = plain();
    options.class_weight = 8;
    for seed in 0..300 {
        let mut rng = random::Rng::new(seed);
        let operand = random::any_grammar(&mut rng, &options);
        let body = operand.rule(operand.root()).body();
        let escaped = Recogniser::new(&grammar(|builder, _| {
            let operand = copy(&operand, body, builder);
            builder.json_escaped(operand)
        }));
        let written_out = Recogniser::new(&grammar(|builder, _| spell(&operand, body, builder)));
        let judge = Judge::new(&pattern(&operand, body));
        let context = || format!("seed {seed}\n{operand}");
        assert_eq!(escaped.is_language_empty(), written_out.is_language_empty(), "{}", context());
        for _ in 0..2 {
            let text = random::walk(&mut rng, &escaped, 14);
            let (mut ours, mut theirs) = (escaped.begin(), written_out.begin());
            for length in 0..=text.len() {
                let read = &text[..length];
                assert_eq!(ours.is_complete(), theirs.is_complete(), "{read:?} {}", context());
                assert_eq!(ours.next_bytes(), theirs.next_bytes(), "{read:?} {}", context());
                if ours.is_complete() {
                    let quoted = [b"\"", read, b"\""].concat();
                    let decoded: String = serde_json::from_slice(&quoted).unwrap();
                    assert!(judge.accepts(judge.read(decoded.as_bytes())), "{read:?} {}", context());
                }
                let Some(&byte) = text.get(length) else { break };
                assert!(ours.push(byte) && theirs.push(byte));
            }
        }
    }
}

/// Every character of the expression replaced by the choice of its spellings.
fn spell(from: &Grammar, expr: ExprId, into: &mut GrammarBuilder) -> ExprId {
    let operands: Vec<_> = from.operands(expr).iter().map(|&operand| spell(from, operand, into)).collect();
    match from.expr(expr) {
        Expr::Bytes(bytes) => {
            let characters: Vec<_> = std::str::from_utf8(bytes).unwrap().chars().collect();
            let parts: Vec<_> = characters
                .into_iter()
                .map(|character| spell_class(&[(character, character)], into))
                .collect();
            into.sequence(parts)
        }
        Expr::Class(ranges) => spell_class(ranges, into),
        Expr::Empty => into.empty(),
        Expr::Sequence(_) => into.sequence(operands),
        Expr::Choice(_) => into.choice(operands),
        Expr::Repeat { min, max, .. } => into.repeat(operands[0], min, max),
        other => panic!("{other:?} is not spelled"),
    }
}

fn spell_class(ranges: &[(char, char)], into: &mut GrammarBuilder) -> ExprId {
    let mut ways = Vec::new();
    let may_be_raw = [('\u{20}', '!'), ('#', '['), (']', char::MAX)];
    for &(low, high) in ranges {
        let raw = may_be_raw.map(|(first, last)| (low.max(first), high.min(last)));
        ways.push(into.class(raw));
        for (letter, meant) in
            ["\"\"", "\\\\", "//", "b\u{8}", "f\u{C}", "n\n", "r\r", "t\t"].map(|pair| pair.split_at(1))
        {
            if (low..=high).contains(&meant.chars().next().unwrap()) {
                ways.push(into.literal(&format!("\\{letter}")));
            }
        }
        let (low, high) = (low as u32, high as u32);
        for (first, last) in [(0, 0xD7FF), (0xE000, 0xFFFF)] {
            ways.push(unit(low.max(first), high.min(last), into));
        }
        let (low, high) = (low.max(0x1_0000), high);
        if low <= high {
            let (from, to) = ((low - 0x1_0000) >> 10, (high - 0x1_0000) >> 10);
            let pair = |block_from, block_to, from, to, into: &mut GrammarBuilder| {
                let units = [
                    unit(0xD800 + block_from, 0xD800 + block_to, into),
                    unit(0xDC00 + from, 0xDC00 + to, into),
                ];
                into.sequence(units)
            };
            let (first, last) = ((low - 0x1_0000) & 0x3FF, (high - 0x1_0000) & 0x3FF);
            if from == to {
                ways.push(pair(from, to, first, last, into));
            } else {
                ways.push(pair(from, from, first, 0x3FF, into));
                ways.push(pair(to, to, 0, last, into));
                if from + 1 < to {
                    ways.push(pair(from + 1, to - 1, 0, 0x3FF, into));
                }
            }
        }
    }
    into.choice(ways)
}

/// `\u` and four digits of a number in the range, digit by digit from the left.
fn unit(low: u32, high: u32, into: &mut GrammarBuilder) -> ExprId {
    let start = into.literal("\\u");
    let digits = digits(low, high, 4, into);
    into.sequence([start, digits])
}

fn digits(low: u32, high: u32, count: u32, into: &mut GrammarBuilder) -> ExprId {
    if low > high {
        return into.never();
    }
    if count == 0 {
        return into.empty();
    }
    let width = 16_u32.pow(count - 1);
    let mut ways = Vec::new();
    for digit in low / width..=high / width {
        let written = char::from_digit(digit, 16).unwrap();
        let upper = written.to_ascii_uppercase();
        let first = into.class([(written, written), (upper, upper)]);
        let rest_low = low.max(digit * width) - digit * width;
        let rest_high = high.min(digit * width + width - 1) - digit * width;
        let rest = digits(rest_low, rest_high, count - 1, into);
        ways.push(into.sequence([first, rest]));
    }
    into.choice(ways)
}
