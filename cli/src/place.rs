//! Places in a text that people can find: line, column, and an excerpt with a caret.

/// A place in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
    /// From 0.
    pub(crate) byte: usize,
    /// Around the place, on one line.
    pub(crate) excerpt: String,
    /// Where in the excerpt the place is, in columns of a terminal.
    pub(crate) caret: usize,
}

/// Most characters of the line that are shown before and after the place.
const BEFORE: usize = 60;
const BEHIND: usize = 30;

impl Place {
    /// The place of a byte; the text's length is the place of its end. A byte inside a character is at the
    /// place of the character. Invalid UTF-8 counts and shows as the replacement character.
    pub(crate) fn of(text: &[u8], byte: usize) -> Self {
        let byte = byte.min(text.len());
        let line_start = text[..byte].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let line_end = text[byte..].iter().position(|&b| b == b'\n').map_or(text.len(), |at| byte + at);
        let mut characters = Vec::new();
        let mut before = 0_usize;
        let mut offset = line_start;
        for chunk in text[line_start..line_end].utf8_chunks() {
            let invalid =
                (!chunk.invalid().is_empty()).then_some((char::REPLACEMENT_CHARACTER, chunk.invalid().len()));
            let valid = chunk.valid().chars().map(|character| (character, character.len_utf8()));
            for (character, length) in valid.chain(invalid) {
                characters.push(if character.is_control() { ' ' } else { character });
                offset += length;
                if offset <= byte {
                    before += 1;
                }
            }
        }
        let from = before.saturating_sub(BEFORE);
        let to = characters.len().min(before + BEHIND);
        let excerpt: String = characters[from..to].iter().collect();
        let prefix: String = characters[from..before].iter().collect();
        let line = text[..line_start].iter().filter(|&&b| b == b'\n').count() + 1;
        let caret = unicode_width::UnicodeWidthStr::width(prefix.as_str());
        Self { line, column: before + 1, byte, excerpt, caret }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_not_bytes() {
        let place = Place::of("é\nüx!z".as_bytes(), 6);
        assert_eq!((place.line, place.column, place.byte), (2, 3, 6));
        assert_eq!((place.excerpt.as_str(), place.caret), ("üx!z", 2));
    }

    #[test]
    fn a_byte_inside_a_character_is_at_the_character() {
        assert_eq!(Place::of("a€b".as_bytes(), 2).column, 2);
        assert_eq!(Place::of("a€b".as_bytes(), 4).column, 3);
    }

    #[test]
    fn the_end_is_a_place() {
        assert_eq!(Place::of(b"", 0).column, 1);
        assert_eq!(Place::of(b"a\n", 2).line, 2);
        assert_eq!(Place::of(b"a\xff", 9).column, 3);
    }

    #[test]
    fn long_lines_are_cut() {
        let place = Place::of("x".repeat(500).as_bytes(), 250);
        assert_eq!((place.excerpt.len(), place.caret, place.column), (90, 60, 251));
    }
}
