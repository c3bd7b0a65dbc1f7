//! Bytes as text that people can read and tell apart.

use std::fmt::Write;

/// The bytes in double quotes, with escapes as in Rust literals: readable text stays as it is, control
/// characters and bytes that are not UTF-8 become `\n`, `\u{7f}`, `\xff`.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => text.push_str("\\\""),
                '\'' => text.push('\''),
                _ => text.extend(character.escape_debug()),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text.push('"');
    text
}

/// A text of others for the terminal: signs that a terminal obeys or that cannot be seen become escapes. Line breaks do where
/// a text has to stay on its line.
pub(crate) fn visible(text: &str, keeps_lines: bool) -> String {
    let is_hidden = |sign: char| {
        sign.is_control() && !(keeps_lines && sign == '\n')
            || matches!(sign, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_hidden(sign) { shown.extend(sign.escape_default()) } else { shown.push(sign) }
    }
    shown
}

/// At most `limit` characters of a text, with an ellipsis where something was cut.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let keep = text.char_indices().nth(limit.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", &text[..keep])
        }
    }
}

/// A set of bytes in words: ASCII characters and ranges of them, then classes of bytes of longer characters.
pub(crate) fn byte_set(bytes: [u64; 4]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut byte = 0;
    while byte < 256 {
        let start = byte;
        // ASCII and the bytes of longer characters are told apart even where they are neighbours.
        let limit = if start < 0x80 { 0x80 } else { 256 };
        while byte < limit && contains(bytes, byte) {
            byte += 1;
        }
        match byte - start {
            0 => byte += 1,
            1 => parts.push(byte_name(start)),
            2 => parts.extend([byte_name(start), byte_name(start + 1)]),
            _ => parts.push(range_name(start, byte - 1)),
        }
    }
    parts
}

/// Whether a set of bytes holds one.
pub(crate) fn contains(bytes: [u64; 4], byte: usize) -> bool {
    bytes.get(byte / 64).is_some_and(|word| word >> (byte % 64) & 1 == 1)
}

fn byte_name(byte: usize) -> String {
    match u8::try_from(byte) {
        Ok(b'"') => "'\"'".to_owned(),
        Ok(byte @ 0..0x80) => format!("'{}'", char::from(byte).escape_debug()),
        _ => format!("byte 0x{byte:02x}"),
    }
}

fn range_name(start: usize, end: usize) -> String {
    match (start, end) {
        (0xc2, 0xf4) => "any character above U+007F".to_owned(),
        (0x80, 0xbf) => "the next byte of a character".to_owned(),
        (0..0x80, _) => format!("{} to {}", byte_name(start), byte_name(end)),
        _ => format!("bytes 0x{start:02x} to 0x{end:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_readable() {
        assert_eq!(quoted("a\"b\n é".as_bytes()), r#""a\"b\n é""#);
        assert_eq!(quoted(b"\xe2\x82"), r#""\xe2\x82""#);
    }

    #[test]
    fn terminals_obey_no_text() {
        assert_eq!(visible("a\u{1b}[1m\u{202e}é\n", true), "a\\u{1b}[1m\\u{202e}é\n");
        assert_eq!(visible("a\nb", false), "a\\nb");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
    }

    #[test]
    fn sets_of_bytes_have_names() {
        let mut set = [0; 4];
        for byte in (b'0'..=b'9').chain([b'"', b'-', b'.']).chain(0xc2..=0xf4) {
            set[usize::from(byte) / 64] |= 1 << (byte % 64);
        }
        let names = ["'\"'", "'-'", "'.'", "'0' to '9'", "any character above U+007F"];
        assert_eq!(byte_set(set), names);
        assert_eq!(byte_set([0; 4]), [""; 0]);
    }
}
