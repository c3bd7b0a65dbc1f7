//! Sorted lists.

/// How much longer a list has to be for its items to be looked up, instead of walking along both.
const LOOKED_UP: usize = 16;

/// The items of both lists, which are sorted without repetitions.
pub(crate) fn in_both<T: Ord + Clone>(left: &[T], right: &[T]) -> Vec<T> {
    let (few, many) = if left.len() < right.len() { (left, right) } else { (right, left) };
    found(few, many, true)
}

/// The items of two sorted lists, sorted, each once.
pub(crate) fn in_either<T: Ord + Clone>(left: &[T], right: &[T]) -> Vec<T> {
    let mut all = [left, right].concat();
    // Merges the two sorted runs.
    all.sort();
    all.dedup();
    all
}

/// The items of the first list that the second one does not have. Both are sorted without repetitions.
pub(crate) fn in_first_alone<T: Ord + Clone>(first: &[T], second: &[T]) -> Vec<T> {
    found(first, second, false)
}

/// The items of the first list that the second one has, or those that it does not have.
fn found<T: Ord + Clone>(first: &[T], second: &[T], wanted: bool) -> Vec<T> {
    let (Some(least), Some(greatest)) = (first.first(), first.last()) else { return Vec::new() };
    if second.last().is_none_or(|end| end < least) || second[0] > *greatest {
        return if wanted { Vec::new() } else { first.to_vec() };
    }
    if first.len().saturating_mul(LOOKED_UP) < second.len() {
        let is_wanted = |item: &&T| second.binary_search(item).is_ok() == wanted;
        return first.iter().filter(is_wanted).cloned().collect();
    }
    let mut rest = second.iter().peekable();
    let is_wanted = |item: &&T| {
        while rest.next_if(|other| other < item).is_some() {}
        (rest.peek() == Some(item)) == wanted
    };
    first.iter().filter(is_wanted).cloned().collect()
}
