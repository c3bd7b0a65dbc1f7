//! How characters are spelled: as UTF-8 and inside JSON strings.

use grammask_fsm::utf8::{BLOCK_SIZES, ByteRange, CODE_POINTS, Position, SEQUENCES};
use grammask_grammar_ir::{CharRange, Grammar, GrammarBuilder};
use proptest::prelude::*;
use regex_syntax::utf8::Utf8Sequences;

use crate::{built, check, grammar, naive, simulate};

fn class(ranges: &[CharRange]) -> Grammar {
    grammar(|builder| builder.class(ranges.iter().copied()))
}

fn escaped_class(ranges: &[CharRange]) -> Grammar {
    grammar(|builder| {
        let class = builder.class(ranges.iter().copied());
        builder.json_escaped(class)
    })
}

#[test]
fn wide_classes_are_small() {
    assert_eq!(built(&class(&[('\0', char::MAX)])).state_count(), 9);
    assert!(built(&escaped_class(&[('\0', char::MAX)])).state_count() < 30);
}

#[test]
fn every_single_character_is_spelled_in_every_way() {
    for character in
        ['a', '"', '\\', '/', '\n', '\u{7F}', 'é', '\u{D7FF}', '\u{E000}', '\u{FFFF}', '\u{1D11E}', char::MAX]
    {
        let grammar = escaped_class(&[(character, character)]);
        let mut units = [0; 2];
        let escape: String =
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let mut texts = vec![escape.clone(), escape.to_uppercase().replace('U', "u"), character.to_string()];
        texts.extend("\"\\/bfnrt".chars().map(|letter| format!("\\{letter}")));
        texts.extend([
            format!("{escape}0"),
            escape[..escape.len() - 1].to_owned(),
            "\\ud834".into(),
            "\\udd1e".into(),
        ]);
        check(&grammar, texts.iter().map(|text| text.as_bytes()));
    }
}

#[test]
fn json_inside_json() {
    let grammar = grammar(|builder| {
        let any = builder.class([('a', 'b'), ('"', '"'), ('\u{1D11E}', '\u{1D11F}')]);
        let inner = builder.json_escaped(any);
        let quote = builder.literal("\"");
        let text = builder.sequence([quote, inner, quote]);
        builder.json_escaped(text)
    });
    let texts = [
        r#"\"a\""#,
        r#"\u0022b\""#,
        r#"\"\\\"\""#,
        r#"\"\\u0061\""#,
        r#"\"\\\u0075\u0030061\""#,
        r#"\"\\ud834\\udd1e\""#,
        r#"\"\u0063\""#,
        r#"\"\"\""#,
        r#""a""#,
    ];
    check(&grammar, texts.map(str::as_bytes));
}

#[test]
fn counted_strings_keep_their_counter() {
    let grammar = grammar(|builder| {
        let any = builder.any_char();
        let text = builder.repeat(any, 0, Some(65_536));
        builder.json_escaped(text)
    });
    let program = built(&grammar);
    assert!(program.state_count() < 40, "{}", program.state_count());
    assert!(program.fragments().any(|fragment| fragment.count.is_some()));
    check(&grammar, [&b""[..], b"a\\u0000", b"\"", b"\xC3\xA9", b"\\ud800"]);
}

fn all_but(names: &[&str]) -> Grammar {
    grammar(|builder| {
        let names: Vec<_> = names.iter().map(|name| builder.literal(name)).collect();
        let names = builder.choice(names);
        let others = builder.complement(names);
        builder.json_escaped(others)
    })
}

#[test]
fn other_names_are_spelled_in_every_way() {
    for names in [
        &["id", "idx", "name"][..],
        &["", "a"],
        &["\"", "\\", "/", "\n", "\u{7F}", "\u{1}", "~"],
        &["\"a", "\"b", "A", "J", "O", "o"],
        &["é", "e"],
        &[""],
    ] {
        let grammar = all_but(names);
        let mut texts: Vec<String> = Vec::new();
        let more =
            ["", "i", "idy", "x", "é", "e\u{301}", "\u{D7FF}", "\u{E000}", "\u{1D11E}", "\0", "\u{10}"];
        for name in names.iter().copied().chain(more) {
            let units: Vec<u16> = name.encode_utf16().collect();
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let (head, tail) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
            let first: String = head.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            texts.extend([name.into(), escaped.clone(), format!("{first}{tail}"), format!("{escaped}x")]);
            texts.extend(
                ["\\n", "\\u00", "\\", "\"", "\\ud834", "\\udd1e"].map(|more| format!("{name}{more}")),
            );
        }
        texts.extend("\"\\/bfnrt".chars().map(|letter| format!("\\{letter}")));
        check(&grammar, texts.iter().map(|text| text.as_bytes()));
        check(&grammar, [&b"\xC3"[..], b"\xED\xA0\x80", b"\xF0\x9D\x84", b"i\xC3\xA9"]);
    }
}

#[test]
fn every_character_may_be_a_name() {
    let names: Vec<String> = (0..128u8).map(|code| char::from(code).to_string()).collect();
    let grammar = all_but(&names.iter().map(String::as_str).collect::<Vec<_>>());
    check(
        &grammar,
        ["", "a", "aa", "\\u0061", "\\u0061a", "\\n", "\\n\\n", "é", "\\u00e9", "\\u0080"].map(str::as_bytes),
    );
}

#[test]
fn equal_names_are_written_once() {
    let grammar = grammar(|builder| {
        let mut name = |texts: [&str; 2]| {
            let names = texts.map(|text| builder.literal(text));
            let names = builder.choice(names);
            let others = builder.complement(names);
            builder.json_escaped(others)
        };
        let parts = [name(["b", "a"]), name(["a", "b"]), name(["a", "c"])];
        builder.sequence(parts)
    });
    let program = built(&grammar);
    let named = program.fragments().filter(|fragment| &*fragment.name == "root");
    assert_eq!(named.count(), 3, "the root and two sets of names");
}

#[test]
fn large_texts_share_their_classes() {
    let words = |builder: &mut GrammarBuilder| {
        let is_space = [('\t', '\r'), (' ', ' '), ('\u{A0}', '\u{A0}'), ('\u{2000}', '\u{200A}')];
        let (space, other) = (builder.class(is_space), builder.negated_class(is_space));
        let (gap, word) = (builder.repeat(space, 1, None), builder.repeat(other, 1, None));
        let more = builder.sequence([word, gap]);
        let more = builder.repeat(more, 0, Some(4));
        let words = builder.sequence([more, word]);
        let any = builder.any_char();
        let short = builder.repeat(any, 0, Some(30));
        builder.intersection([words, short])
    };
    let inside = grammar(|builder| {
        let words = [words(builder), words(builder)];
        let [one, other] = words.map(|words| builder.json_escaped(words));
        let end = builder.literal("\"");
        builder.sequence([one, end, other])
    });
    let program = built(&inside);
    // 5 words and 4 gaps at 30 lengths, two states each; the second copy is a call.
    assert!((300..900).contains(&program.state_count()), "{}", program.state_count());
    let text = |words: &str| format!("{words}\"a");
    let texts = [
        "a",
        "a b",
        "a\\u0020\\u00A0b",
        "a\u{2003}é",
        "a\u{2003}",
        "a b c d e",
        "a b c d e f",
        "\u{1D11E}\\ud834\\udd1e",
        "",
        "\\n",
        "a\\nb",
        "abcdefghijklmnopqrstuvwxyz1234",
        "abcdefghijklmnopqrstuvwxyz12345",
        "\\ud834",
    ]
    .map(text);
    check(&inside, texts.iter().map(|text| text.as_bytes()));
}

fn is_read_by_positions(bytes: &[u8]) -> bool {
    bytes.iter().try_fold(Position::Boundary, |at, &byte| at.after(byte)) == Some(Position::Boundary)
}

#[test]
fn every_character_is_in_the_row_of_its_code_point() {
    for character in '\u{80}'..=char::MAX {
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        let is_in = |row: &[ByteRange]| {
            row.len() == bytes.len()
                && row.iter().zip(bytes).all(|(range, byte)| (range.0..=range.1).contains(byte))
        };
        let row = SEQUENCES.iter().position(|row| is_in(row)).unwrap();
        let (first, last) = CODE_POINTS[row];
        assert!((first..=last).contains(&u32::from(character)), "{character:?}");
        assert!(is_read_by_positions(bytes), "{character:?}");
    }
}

#[test]
fn the_rows_hold_no_other_sequences() {
    let count = |&(first, last): &ByteRange| u32::from(last) - u32::from(first) + 1;
    for ((row, block), (first, last)) in SEQUENCES.iter().zip(BLOCK_SIZES).zip(CODE_POINTS) {
        assert_eq!(row.iter().map(count).product::<u32>(), last - first + 1);
        assert_eq!(count(&row[0]) * block, last - first + 1);
    }
}

fn ranges() -> impl Strategy<Value = Vec<CharRange>> {
    let near = prop::sample::select(vec![
        0x20u32, 0x22, 0x5C, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFF,
        0x1_0000, 0x3_FFFF, 0x4_0000, 0xF_FFFF, 0x10_0000, 0x10_FFFF,
    ]);
    let point = (near, -3i64..4).prop_map(|(near, offset)| {
        let code = (i64::from(near) + offset).clamp(0, 0x10_FFFF) as u32;
        char::from_u32(code).unwrap_or('\u{E000}')
    });
    let range = (point.clone(), point).prop_map(|(one, other)| (one.min(other), one.max(other)));
    prop::collection::vec(range, 1..5)
}

/// Every end of a range, and its neighbours.
fn edges(ranges: &[CharRange]) -> Vec<char> {
    let codes = ranges.iter().flat_map(|range| [range.0, range.1]).map(u32::from);
    codes
        .flat_map(|code| [code.wrapping_sub(1), code, code + 1])
        .chain([0x61, 0x7FF, 0xD7FF, 0xE000, 0xFFFF, 0x1_0000])
        .filter_map(char::from_u32)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn classes_are_utf8(ranges in ranges()) {
        let grammar = class(&ranges);
        let mut texts: Vec<Vec<u8>> = edges(&ranges).iter().map(|c| c.to_string().into_bytes()).collect();
        // Byte sequences of another construction, and others that are almost right.
        for &(start, end) in &ranges {
            for sequence in Utf8Sequences::new(start, end) {
                let ends = |pick: fn(&regex_syntax::utf8::Utf8Range) -> u8| -> Vec<u8> {
                    sequence.as_slice().iter().map(pick).collect()
                };
                let (low, high) = (ends(|range| range.start), ends(|range| range.end));
                prop_assert!(simulate::accepts(&built(&grammar), &low));
                prop_assert!(simulate::accepts(&built(&grammar), &high));
                texts.extend([low[..low.len() - 1].to_vec(), [high, vec![0x80]].concat()]);
            }
        }
        texts.extend([b"\xED\xA0\x80".to_vec(), b"\xC0\x80".to_vec(), b"\xF4\x90\x80\x80".to_vec()]);
        check(&grammar, texts.iter().map(Vec::as_slice));
    }

    #[test]
    fn escapes_decode_to_the_class(ranges in ranges(), upper in any::<bool>()) {
        let grammar = escaped_class(&ranges);
        let program = built(&grammar);
        for character in edges(&ranges) {
            let mut units = [0; 2];
            let escape: String = character
                .encode_utf16(&mut units)
                .iter()
                .map(|unit| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") })
                .collect();
            let inside = ranges.iter().any(|range| (range.0..=range.1).contains(&character));
            let decoded = naive::decode(escape.as_bytes());
            prop_assert_eq!(decoded, Some(character.to_string()));
            prop_assert_eq!(simulate::accepts(&program, escape.as_bytes()), inside, "{}", escape);
            let raw = character.to_string();
            let is_raw = naive::decode(raw.as_bytes()).is_some();
            prop_assert_eq!(simulate::accepts(&program, raw.as_bytes()), inside && is_raw, "{}", raw);
        }
    }
}
