//! Spelling suggestions for names that nothing has.

/// The name nearest to `wanted`, if one is near: at most a third of its characters differ.
pub(crate) fn closest<'n>(wanted: &str, names: &[&'n str]) -> Option<&'n str> {
    /// Longer names are not compared, and not more of them: suggestions must not cost more than parsing.
    const MAX_NAME_BYTES: usize = 64;
    const MAX_NAMES: usize = 2_000;
    if wanted.len() > MAX_NAME_BYTES {
        return None;
    }
    let candidates = names.iter().filter(|name| name.len() <= MAX_NAME_BYTES).take(MAX_NAMES);
    let (distance, name) =
        candidates.map(|name| (edit_distance(wanted, name), *name)).min_by_key(|pair| pair.0)?;
    (distance <= wanted.len().div_ceil(3) && distance < wanted.len()).then_some(name)
}

/// A hint with the name nearest to `wanted`, or another hint where none is near.
pub(crate) fn did_you_mean(wanted: &str, names: &[&str], otherwise: impl FnOnce() -> String) -> String {
    closest(wanted, names).map_or_else(otherwise, |similar| format!("did you mean `{similar}`?"))
}

/// How many bytes to insert, remove, replace or swap with their neighbour, case differences for free but one.
fn edit_distance(one: &str, other: &str) -> usize {
    if one.eq_ignore_ascii_case(other) {
        return 1;
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, &ours) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &theirs) in other.iter().enumerate() {
            let mut distance = (last[column] + usize::from(ours != theirs))
                .min(last[column + 1] + 1)
                .min(current[column] + 1);
            if row > 0 && column > 0 && ours == other[column - 1] && one[row - 1] == theirs {
                distance = distance.min(before[column - 1] + 1);
            }
            current.push(distance);
        }
        before = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(one.len())
}
