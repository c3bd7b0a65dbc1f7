//! Sorted lists.

use std::cmp::Ordering;

/// How much longer a list has to be for its items to be looked up, instead of walking along both.
const LOOKED_UP: usize = 16;

/// The items of both lists, which are sorted without repetitions.
pub(crate) fn in_both<T: Ord + Clone>(left: &[T], right: &[T]) -> Vec<T> {
    let (few, many) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let (Some(first), Some(last)) = (few.first(), few.last()) else { return Vec::new() };
    if many.last().is_none_or(|end| end < first) || many[0] > *last {
        return Vec::new();
    }
    if few.len().saturating_mul(LOOKED_UP) < many.len() {
        return few.iter().filter(|item| many.binary_search(item).is_ok()).cloned().collect();
    }
    let mut both = Vec::new();
    let (mut few, mut many) = (few.iter(), many.iter());
    let mut pair = (few.next(), many.next());
    while let (Some(one), Some(other)) = pair {
        match one.cmp(other) {
            Ordering::Less => pair.0 = few.next(),
            Ordering::Greater => pair.1 = many.next(),
            Ordering::Equal => {
                both.push(one.clone());
                pair = (few.next(), many.next());
            }
        }
    }
    both
}
