//! How characters are spelled: as UTF-8 and inside JSON strings.

use grammask_grammar_ir::{CharRange, Grammar};
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
    assert!(program.fragments().iter().any(|fragment| fragment.count.is_some()));
    check(&grammar, [&b""[..], b"a\\u0000", b"\"", b"\xC3\xA9", b"\\ud800"]);
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
