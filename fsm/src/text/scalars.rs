//! The letters of automata over text.
//!
//! A character's letter is its scalar number: its code point without the gap of the surrogates, so that neighbouring
//! characters have neighbouring numbers. Tokens that are taken as a whole are letters past those of the characters. One
//! number between them is no letter, so that no range holds both.

use std::ops::RangeInclusive;

use grammask_grammar_ir::TokenRef;

use crate::error::Failure;

/// The greatest scalar number.
pub(crate) const MAX_SCALAR: u32 = 0x10_F7FF;

/// A character's number among the characters.
pub(crate) fn scalar(character: char) -> u32 {
    let code = u32::from(character);
    if code < 0xD800 { code } else { code - 0x800 }
}

/// The code point of a scalar number; the code of a token's letter.
pub(crate) fn code_point(scalar: u32) -> u32 {
    if scalar < 0xD800 { scalar } else { scalar + 0x800 }
}

/// The character of a scalar number; numbers past the last character are clamped to it.
pub(crate) fn character(scalar: u32) -> char {
    char::from_u32(code_point(scalar)).unwrap_or(char::MAX)
}

/// The letter of the token 0.
const FIRST_TOKEN: u32 = MAX_SCALAR + 2;

/// The number of the last letter: its code is within 32 bits, as is the number after it.
const LAST_LETTER: u32 = u32::MAX - 0x801;

/// The letters of tokens.
pub(crate) fn token_letters(tokens: &[TokenRef]) -> Result<Vec<u32>, Failure> {
    let letter = |id: &u32| id.checked_add(FIRST_TOKEN).filter(|&letter| letter < LAST_LETTER);
    let letters = tokens.iter().map(|token| match token {
        TokenRef::Id(id) => letter(id).ok_or_else(|| {
            let limit = usize::try_from(LAST_LETTER - FIRST_TOKEN).unwrap_or(usize::MAX);
            Failure::Limit { what: "token ids below an intersection", limit, knob: None }
        }),
        TokenRef::Name(name) | TokenRef::Special(name) => Err(Failure::unresolved(name)),
    });
    letters.collect()
}

/// The letters of all tokens but some, which are sorted: as sorted ranges.
pub(crate) fn other_token_letters(letters: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let starts = std::iter::once(FIRST_TOKEN).chain(letters.iter().map(|letter| letter + 1));
    let ends = letters.iter().map(|letter| letter - 1).chain([LAST_LETTER]);
    starts.zip(ends).filter(|(start, end)| start <= end)
}

/// Whether a code is that of a token's letter.
pub(crate) fn is_token(code: u32) -> bool {
    code > u32::from(char::MAX)
}

/// The letter of a code: the reverse of [`code_point`]. `None` for a surrogate.
pub(crate) fn letter(code: u32) -> Option<u32> {
    if is_token(code) { Some(code - 0x800) } else { char::from_u32(code).map(scalar) }
}

/// A set of ids of tokens.
pub(crate) enum TokenSet {
    These(Vec<u32>),
    /// All tokens but these.
    Others(Vec<u32>),
}

/// The tokens of sorted ranges of codes, which lead from one state to another.
///
/// All ids that the grammar does not name lead to the same states. So the ranges either run to the end, with named ids for gaps,
/// or hold named ids alone.
pub(crate) fn token_set(ranges: &[RangeInclusive<u32>]) -> TokenSet {
    let id = |code: u32| code - code_point(FIRST_TOKEN);
    let is_endless = ranges.last().is_some_and(|range| *range.end() == code_point(LAST_LETTER));
    if !is_endless {
        return TokenSet::These(ranges.iter().cloned().flatten().map(id).collect());
    }
    // The gaps before each range.
    let starts = std::iter::once(code_point(FIRST_TOKEN)).chain(ranges.iter().map(|range| range.end() + 1));
    let gaps = starts.zip(ranges).flat_map(|(start, range)| start..*range.start());
    TokenSet::Others(gaps.map(id).collect())
}
