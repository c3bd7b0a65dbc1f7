//! Which escapes the characters of a JSON string may have.

use crate::char_class::CharRange;

/// How the characters of a JSON string are spelled: which escapes [`Expr::JsonEscaped`](crate::Expr::JsonEscaped) has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JsonEscapes {
    /// All that JSON allows (RFC 8259, section 7): the short ones and `\uXXXX` for every character. `"a"` may be
    /// `"\u0061"`.
    Any,
    /// The escapes that serialisers print: short ones for the quote, the backslash and five control
    /// characters, and `\uXXXX` for some others, in digits of either case. These are the control characters except
    /// tab, line feed and carriage return; `&`, `<` and `>`, as Go's encoder writes them; and all from U+007F on, as
    /// encoders that print ASCII alone do.
    Printed,
    /// An escape only for what needs one, and the shortest: `\"`, `\\`, `\n`, `\u001f` in lower case. So
    /// `json.dumps(value, ensure_ascii=False)` writes.
    Needed,
    /// As [`Needed`](Self::Needed), and every character but those of ASCII that can be printed is `\uxxxx` in lower
    /// case, beyond U+FFFF a pair of them. So `json.dumps(value)` writes.
    Ascii,
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

/// The characters that stand for themselves in some spelling (RFC 8259, section 7), and those of ASCII that do in all.
const UNESCAPED: [CharRange; 3] = [(' ', '!'), ('#', '['), (']', char::MAX)];
const PLAIN: [CharRange; 3] = [UNESCAPED[0], UNESCAPED[1], (']', '~')];

/// The control characters without a short escape, the others, and the characters that encoders of ASCII escape.
const NEEDED_NUMBERS: [CharRange; 3] = [('\0', '\u{7}'), ('\u{B}', '\u{B}'), ('\u{E}', '\u{1F}')];
const NEEDED: [CharRange; 3] = [('\0', '\u{1F}'), ('"', '"'), ('\\', '\\')];
const BEYOND_ASCII: CharRange = ('\u{7F}', char::MAX);
const ASCII_NUMBERS: [CharRange; 4] = [NEEDED_NUMBERS[0], NEEDED_NUMBERS[1], NEEDED_NUMBERS[2], BEYOND_ASCII];
const ASCII: [CharRange; 4] = [NEEDED[0], NEEDED[1], NEEDED[2], BEYOND_ASCII];

/// The characters that some serialiser writes as a number.
const NUMBERED: [CharRange; 7] = [
    ('\0', '\u{8}'),
    ('\u{B}', '\u{C}'),
    ('\u{E}', '\u{1F}'),
    ('&', '&'),
    ('<', '<'),
    ('>', '>'),
    BEYOND_ASCII,
];

/// The characters that some serialiser escapes in either way.
const ESCAPED: [CharRange; 7] =
    [('\0', '\u{1F}'), ('"', '"'), ('&', '&'), ('<', '<'), ('>', '>'), ('\\', '\\'), BEYOND_ASCII];

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
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Any, Self::Printed, Self::Needed, Self::Ascii];

    /// The letters of short escapes in order, and the characters that they stand for.
    pub fn short(self) -> &'static [(char, char)] {
        match self {
            JsonEscapes::Any => &SHORT,
            JsonEscapes::Printed | JsonEscapes::Needed | JsonEscapes::Ascii => &PRINTED_SHORT,
        }
    }

    /// The characters that may be written as `\uXXXX`, sorted.
    pub fn numbered(self) -> &'static [CharRange] {
        match self {
            JsonEscapes::Any => &[('\0', char::MAX)],
            JsonEscapes::Printed => &NUMBERED,
            JsonEscapes::Needed => &NEEDED_NUMBERS,
            JsonEscapes::Ascii => &ASCII_NUMBERS,
        }
    }

    /// The characters that have an escape, sorted.
    pub fn escaped(self) -> &'static [CharRange] {
        match self {
            JsonEscapes::Any => &[('\0', char::MAX)],
            JsonEscapes::Printed => &ESCAPED,
            JsonEscapes::Needed => &NEEDED,
            JsonEscapes::Ascii => &ASCII,
        }
    }

    /// The characters that may stand for themselves, sorted.
    pub fn unescaped(self) -> &'static [CharRange] {
        if self == JsonEscapes::Ascii { &PLAIN } else { &UNESCAPED }
    }

    /// Whether the digits of numbers are in lower case; where not, they are in either.
    pub fn is_lower_case(self) -> bool {
        matches!(self, JsonEscapes::Needed | JsonEscapes::Ascii)
    }

    /// Whether a character has an escape.
    pub fn has_escape(self, character: char) -> bool {
        match self {
            JsonEscapes::Any => true,
            // All beyond ASCII has one.
            JsonEscapes::Printed => !character.is_ascii() || ESCAPED_ASCII >> u32::from(character) & 1 == 1,
            JsonEscapes::Needed => matches!(character, '\0'..='\u{1F}' | '"' | '\\'),
            JsonEscapes::Ascii => matches!(character, '\0'..='\u{1F}' | '"' | '\\' | '\u{7F}'..),
        }
    }

    /// Whether a character has one spelling alone.
    pub fn spells_one_way(self, character: char) -> bool {
        match self {
            JsonEscapes::Any => false,
            JsonEscapes::Printed => {
                !self.has_escape(character) || matches!(character, '"' | '\\' | '\n' | '\r' | '\t')
            }
            JsonEscapes::Needed | JsonEscapes::Ascii => true,
        }
    }

    /// Writes a character with the escape that it needs, the shortest one.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write(self, character: char, output: &mut impl std::fmt::Write) -> std::fmt::Result {
        let is_plain = self.unescaped().iter().any(|&(lo, hi)| (lo..=hi).contains(&character));
        if is_plain {
            return output.write_char(character);
        }
        match PRINTED_SHORT.iter().find(|&&(_, meant)| meant == character) {
            Some(&(letter, _)) => write!(output, "\\{letter}"),
            None => {
                let mut units = [0; 2];
                let units = character.encode_utf16(&mut units);
                units.iter().try_for_each(|unit| write!(output, "\\u{unit:04x}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_escapes_are_those_of_the_table() {
        for escapes in JsonEscapes::ALL {
            for character in ('\0'..='\u{17F}').chain(['\u{FFFF}', '\u{10000}', char::MAX]) {
                let is_listed = escapes.escaped().iter().any(|&(lo, hi)| (lo..=hi).contains(&character));
                assert_eq!(escapes.has_escape(character), is_listed, "{escapes:?} {character:?}");
            }
        }
    }
}
