//! Classes of characters, and whether texts are inside of them.

use grammask_grammar_ir::byte_set::ByteSet;
use grammask_parser_backend::CharClass;

/// The inside of a JSON string.
pub(crate) static STRING: CharClass = CharClass { ascii: JSON_STRING, non_ascii: true };

/// RFC 8259: a string holds any character but the quote, the backslash and control characters below U+0020.
pub(crate) const JSON_STRING: u128 = !range(0, 0x1F) & !one(b'"') & !one(b'\\');
pub(crate) const LOWER: u128 = range(b'a', b'z');
pub(crate) const LETTERS: u128 = LOWER | range(b'A', b'Z');
pub(crate) const DIGITS: u128 = range(b'0', b'9');

pub(crate) const fn one(byte: u8) -> u128 {
    1 << byte
}

pub(crate) const fn range(from: u8, to: u8) -> u128 {
    (u128::MAX >> (127 - (to - from))) << from
}

/// Whether every character of a class can come next, judged by the bytes that can.
pub(crate) fn may_begin(class: &CharClass, next_bytes: &ByteSet) -> bool {
    // Written out, because this is asked of every slice for every mask.
    let ([a, b, c, d], next) = (class.start_bytes(), next_bytes);
    a & !next[0] == 0 && b & !next[1] == 0 && c & !next[2] == 0 && d & !next[3] == 0
}

/// Number of characters of a text, a cut one at its end counted, if it is inside a class.
pub(crate) fn chars_inside(class: &CharClass, text: &[u8]) -> Option<usize> {
    let over_class = |&byte: &u8| if byte < 0x80 { class.contains_ascii(byte) } else { class.non_ascii };
    let is_inside = text.iter().all(over_class) && (text.is_ascii() || is_text_or_cut(text));
    is_inside.then(|| count_chars(text))
}

/// Whether bytes are UTF-8, except that the last character may be cut.
pub(crate) fn is_text_or_cut(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // No length means that the bytes ended before the character did, and were right so far.
        Err(error) => error.error_len().is_none(),
    }
}

/// Number of characters of a text, a cut one at its end counted: the bytes that do not continue a character.
pub(crate) fn count_chars(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
