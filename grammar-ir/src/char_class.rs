//! Sets of Unicode scalar values as sorted ranges.

/// An inclusive range of characters.
pub type CharRange = (char, char);

/// Sorts ranges and merges those that overlap or touch. Ranges whose start is greater than their end are
/// empty and are dropped. The surrogate gap counts as touching: `\u{D7FF}` and `\u{E000}` are neighbours.
pub fn normalize_ranges(ranges: impl IntoIterator<Item = CharRange>) -> Vec<CharRange> {
    let mut sorted: Vec<CharRange> = ranges.into_iter().filter(|(start, end)| start <= end).collect();
    sorted.sort_unstable();
    let mut merged: Vec<CharRange> = Vec::with_capacity(sorted.len());
    for (start, end) in sorted {
        match merged.last_mut() {
            Some(last) if start <= last.1 || Some(start) == successor(last.1) => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Whether [`normalize_ranges`] would change nothing.
pub(crate) fn is_normalized(ranges: &[CharRange]) -> bool {
    ranges.iter().all(|(start, end)| start <= end)
        && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0 && successor(pair[0].1) != Some(pair[1].0))
}

/// All characters outside `ranges`, which must be normalised.
pub(crate) fn complement_ranges(ranges: &[CharRange]) -> Vec<CharRange> {
    let mut gaps = Vec::with_capacity(ranges.len() + 1);
    let mut next = Some('\0');
    for &(start, end) in ranges {
        if let (Some(from), Some(to)) = (next, predecessor(start))
            && from <= to
        {
            gaps.push((from, to));
        }
        next = successor(end);
    }
    if let Some(from) = next {
        gaps.push((from, char::MAX));
    }
    gaps
}

fn successor(character: char) -> Option<char> {
    match character {
        '\u{D7FF}' => Some('\u{E000}'),
        _ => char::from_u32(character as u32 + 1),
    }
}

fn predecessor(character: char) -> Option<char> {
    match character {
        '\0' => None,
        '\u{E000}' => Some('\u{D7FF}'),
        _ => char::from_u32(character as u32 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_overlaps_and_neighbours() {
        assert_eq!(normalize_ranges([('d', 'f'), ('a', 'c'), ('x', 'a'), ('e', 'h')]), [('a', 'h')]);
        assert_eq!(normalize_ranges([('\u{E000}', 'z'), ('b', '\u{D7FF}')]), [('b', '\u{D7FF}')]);
        assert_eq!(
            normalize_ranges([('\u{E000}', '\u{E001}'), ('b', '\u{D7FF}')]),
            [('b', '\u{E001}')],
            "the surrogate gap holds no character"
        );
    }

    #[test]
    fn complement_is_an_involution() {
        for ranges in [vec![], vec![('\0', char::MAX)], vec![('a', 'z'), ('\u{E000}', '\u{F000}')]] {
            let there = complement_ranges(&ranges);
            assert_eq!(complement_ranges(&there), ranges);
        }
    }
}
