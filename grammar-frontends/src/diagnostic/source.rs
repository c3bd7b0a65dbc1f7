//! Places in a source text.

/// Line and column of a byte offset, both from 1, the column in characters.
pub(super) fn line_and_column(source: &str, offset: usize) -> (u32, u32) {
    let before = &source[..floor_boundary(source, offset)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    let clamp = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (clamp(line), clamp(column))
}

/// The greatest character boundary that is not past `offset`.
pub(super) fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
