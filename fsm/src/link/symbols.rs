//! Texts with tokens in them, as bytes.
//!
//! The beginnings of tools are compared and sorted by the dozen with each request, and four bytes a symbol
//! are four times the memory to wait for. A byte of text stands for itself here. No text in UTF-8 has the
//! byte 0xFF (RFC 3629, section 3): it begins a token. The token's id follows in groups of seven bits, so
//! that every 0xFF begins one. Bytes are ordered as symbols are, tokens after all bytes and by their ids.

use crate::ids::low_byte;

/// Begins a token.
const TOKEN: u8 = 0xFF;

/// Groups of an id.
const GROUPS: usize = 5;

/// Some symbols, each whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbols<'t>(pub(crate) &'t [u8]);

/// A byte, or a token as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Byte(u8),
    Token(u32),
}

/// The first symbols: bytes, as many as there are in a row, or a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run<'t> {
    Bytes(&'t [u8]),
    Token(u32),
}

impl<'t> Symbols<'t> {
    /// Adds a token.
    pub(crate) fn push_token(to: &mut Vec<u8>, id: u32) {
        to.push(TOKEN);
        to.extend((0..GROUPS).rev().map(|group| low_byte(id >> (7 * group)) & 0x7F));
    }

    /// The symbols from a place on where one begins.
    pub(crate) fn from(self, at: usize) -> Self {
        Self(&self.0[at..])
    }

    /// The symbols before a place where one begins.
    pub(crate) fn to(self, at: usize) -> Self {
        Self(&self.0[..at])
    }

    /// The first one, and how many bytes it takes.
    pub(crate) fn first(self) -> Option<(Symbol, usize)> {
        match *self.0.first()? {
            TOKEN => Some((Symbol::Token(id(self.0.get(1..=GROUPS)?)), GROUPS + 1)),
            byte => Some((Symbol::Byte(byte), 1)),
        }
    }

    /// In how many bytes both begin with the same symbols.
    pub(crate) fn common(self, other: Self) -> usize {
        let at = equal(self.0, other.0);
        if at == self.0.len() || at == other.0.len() {
            // Both have whole symbols.
            return at;
        }
        let inside = &self.0[at.saturating_sub(GROUPS)..at];
        match inside.iter().rposition(|&byte| byte == TOKEN) {
            // They differ inside of a token.
            Some(place) => at - inside.len() + place,
            None => at,
        }
    }

    /// The runs of bytes and the tokens, in their order.
    pub(crate) fn runs(self) -> impl Iterator<Item = Run<'t>> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let bytes = rest.iter().position(|&byte| byte == TOKEN).unwrap_or(rest.len());
            let (run, length) = match bytes {
                0 => (Run::Token(id(rest.get(1..=GROUPS)?)), GROUPS + 1),
                _ => (Run::Bytes(&rest[..bytes]), bytes),
            };
            rest = &rest[length..];
            Some(run)
        })
    }
}

/// In how many bytes both begin alike.
pub(crate) fn equal(one: &[u8], other: &[u8]) -> usize {
    // Eight at a time are compared at once.
    let eights = one.chunks_exact(8).zip(other.chunks_exact(8));
    let known = 8 * eights.take_while(|(one, other)| one == other).count();
    known + one[known..].iter().zip(&other[known..]).take_while(|(one, other)| one == other).count()
}

fn id(groups: &[u8]) -> u32 {
    groups.iter().fold(0, |id, &group| id << 7 | u32::from(group))
}
