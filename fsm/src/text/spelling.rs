//! How often, and with which escapes, a text is spelled as JSON.

use grammask_grammar_ir::JsonEscapes;

/// The spellings that lie over a text, a JSON string inside a JSON string having two: three bits each, the innermost in
/// the lowest place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Spelling(u32);

/// Spellings nested deeper than this are refused: each level multiplies the size.
pub(crate) const MAX_JSON_LEVELS: u32 = 4;

impl Spelling {
    /// The text as it is.
    pub(crate) const PLAIN: Self = Self(0);

    /// This spelling, laid over text that is spelled with some escapes already.
    pub(crate) fn inside(self, escapes: JsonEscapes) -> Self {
        let code = match escapes {
            JsonEscapes::Any => 1,
            JsonEscapes::Printed => 2,
            JsonEscapes::Needed => 3,
            JsonEscapes::Ascii => 4,
        };
        Self(self.0 << 3 | code)
    }

    /// The spelling of the text itself, and those that lie over it.
    pub(crate) fn innermost(self) -> Option<(JsonEscapes, Self)> {
        let escapes = match self.0 & 0b111 {
            0 => return None,
            1 => JsonEscapes::Any,
            2 => JsonEscapes::Printed,
            3 => JsonEscapes::Needed,
            _ => JsonEscapes::Ascii,
        };
        Some((escapes, Self(self.0 >> 3)))
    }

    pub(crate) fn is_plain(self) -> bool {
        self == Self::PLAIN
    }

    /// The escapes, if there is one level.
    pub(crate) fn only(self) -> Option<JsonEscapes> {
        self.innermost().filter(|(_, outer)| outer.is_plain()).map(|(escapes, _)| escapes)
    }

    /// Strings inside one another.
    pub(crate) fn levels(self) -> u32 {
        (u32::BITS - self.0.leading_zeros()).div_ceil(3)
    }
}
