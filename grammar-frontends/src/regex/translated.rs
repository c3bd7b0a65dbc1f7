//! A pattern after translation, and where its bytes came from.

use grammask_grammar_ir::Span;

/// A pattern in `regex-syntax`'s syntax, and where its bytes came from.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) text: String,
    /// For each byte of `text` the span of the token in the pattern that it came from; empty if the text is
    /// the pattern.
    pub(super) origins: Vec<(u32, u32)>,
    pub(super) pattern_len: usize,
    /// The first look-around. Each is a group whose name says so.
    pub(super) look_around: Option<Span>,
    /// The first look-behind.
    pub(super) look_behind: Option<Span>,
}

impl Translated {
    /// A pattern that needs no translation.
    pub(super) fn identity(pattern: &str) -> Self {
        Self {
            text: pattern.to_owned(),
            origins: Vec::new(),
            pattern_len: pattern.len(),
            look_around: None,
            look_behind: None,
        }
    }

    /// The place in the pattern of a range of the text.
    pub(super) fn original(&self, start: usize, end: usize) -> Span {
        if self.origins.is_empty() {
            return Span::new(start, end);
        }
        let at = |offset: usize| self.origins.get(offset).copied();
        let Some((from, first_end)) = at(start) else {
            return Span::new(self.pattern_len, self.pattern_len);
        };
        let last_end = if end > start { at(end - 1).map_or(first_end, |(_, end)| end) } else { from };
        Span { start: from, end: last_end.max(from) }
    }
}
