//! Which escapes the characters of a JSON string may have.

use crate::char_class::CharRange;

/// Which escapes [`Expr::JsonEscaped`](crate::Expr::JsonEscaped) has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JsonEscapes {
    /// All that JSON allows (RFC 8259, section 7): the short ones and `\uXXXX` for every character.
    Any,
    /// The escapes that serialisers print: short ones for the quote, the backslash and five control
    /// characters, and `\uXXXX` for some others. These are the control characters except tab, line feed and
    /// carriage return; `&`, `<` and `>`, as Go's encoder writes them; and all from U+007F on, as encoders
    /// that print ASCII alone do.
    Printed,
}

/// The letters of the short escapes in order, and the characters that they stand for.
const SHORT: [(char, char); 8] = [
    ('"', '"'),
    ('/', '/'),
    ('\\', '\\'),
    ('b', '\u{8}'),
    ('f', '\u{C}'),
    ('n', '\n'),
    ('r', '\r'),
    ('t', '\t'),
];

/// Those that serialisers print: no slash.
const PRINTED_SHORT: [(char, char); 7] =
    [SHORT[0], SHORT[2], SHORT[3], SHORT[4], SHORT[5], SHORT[6], SHORT[7]];

/// The characters that some serialiser writes as a number.
const NUMBERED: [CharRange; 7] = [
    ('\0', '\u{8}'),
    ('\u{B}', '\u{C}'),
    ('\u{E}', '\u{1F}'),
    ('&', '&'),
    ('<', '<'),
    ('>', '>'),
    ('\u{7F}', char::MAX),
];

/// The characters that some serialiser escapes in either way.
const ESCAPED: [CharRange; 7] =
    [('\0', '\u{1F}'), ('"', '"'), ('&', '&'), ('<', '<'), ('>', '>'), ('\\', '\\'), ('\u{7F}', char::MAX)];

/// Those of ASCII, a bit each.
const ESCAPED_ASCII: u128 = {
    let (mut bits, mut range) = (0, 0);
    while range < ESCAPED.len() {
        let (mut code, last) = (ESCAPED[range].0 as u32, ESCAPED[range].1 as u32);
        while code <= last && code < 128 {
            bits |= 1 << code;
            code += 1;
        }
        range += 1;
    }
    bits
};

impl JsonEscapes {
    /// The letters of short escapes in order, and the characters that they stand for.
    pub fn short(self) -> &'static [(char, char)] {
        match self {
            JsonEscapes::Any => &SHORT,
            JsonEscapes::Printed => &PRINTED_SHORT,
        }
    }

    /// The characters that may be written as `\uXXXX`, sorted.
    pub fn numbered(self) -> &'static [CharRange] {
        match self {
            JsonEscapes::Any => &[('\0', char::MAX)],
            JsonEscapes::Printed => &NUMBERED,
        }
    }

    /// The characters that have an escape, sorted.
    pub fn escaped(self) -> &'static [CharRange] {
        match self {
            JsonEscapes::Any => &[('\0', char::MAX)],
            JsonEscapes::Printed => &ESCAPED,
        }
    }

    /// Whether a character has an escape.
    pub fn has_escape(self, character: char) -> bool {
        // All beyond ASCII has one.
        self == JsonEscapes::Any || !character.is_ascii() || ESCAPED_ASCII >> u32::from(character) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_escapes_are_those_of_the_table() {
        for escapes in [JsonEscapes::Any, JsonEscapes::Printed] {
            for character in ('\0'..='\u{17F}').chain(['\u{FFFF}', '\u{10000}', char::MAX]) {
                let is_listed = escapes.escaped().iter().any(|&(lo, hi)| (lo..=hi).contains(&character));
                assert_eq!(escapes.has_escape(character), is_listed, "{escapes:?} {character:?}");
            }
        }
    }
}
