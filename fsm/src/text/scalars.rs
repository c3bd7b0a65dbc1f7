//! Scalar numbers: code points without the gap of the surrogates, so that neighbouring characters have neighbouring
//! numbers.

/// The greatest scalar number.
pub(crate) const MAX_SCALAR: u32 = 0x10_F7FF;

/// A character's number among the characters.
pub(crate) fn scalar(character: char) -> u32 {
    let code = u32::from(character);
    if code < 0xD800 { code } else { code - 0x800 }
}

/// The code point of a scalar number.
pub(crate) fn code_point(scalar: u32) -> u32 {
    if scalar < 0xD800 { scalar } else { scalar + 0x800 }
}

/// The character of a scalar number; numbers past the last character are clamped to it.
pub(crate) fn character(scalar: u32) -> char {
    char::from_u32(code_point(scalar)).unwrap_or(char::MAX)
}
