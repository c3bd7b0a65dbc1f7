//! Which of many texts occur in others, or begin them.
//!
//! Naively each is compared with each: a minute for 100,000 tags that have a trigger each. One automaton looks for all
//! texts, and a sorted list has those that others begin with.

use grammask_grammar_ir::TextSearch;

/// Bytes that are compared in the time in which a byte of a tail is written into the grammar.
const COST_OF_TAILS: usize = 100;

/// Strings to look for in others. None where they are too long together; the check of the grammar refuses them then.
pub(super) struct StringSearch<'t>(Option<TextSearch<'t>>);

impl<'t> StringSearch<'t> {
    pub(super) fn new(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut texts: Vec<&[u8]> = texts.map(str::as_bytes).collect();
        texts.sort_unstable();
        texts.dedup();
        Self(TextSearch::new(&texts))
    }

    /// Whether any of them occurs in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.has(text.as_bytes())
    }

    /// Whether one that is shorter than a text occurs in it.
    pub(super) fn is_part_in(&self, text: &str) -> bool {
        // A shorter one leaves out the first byte or the last.
        let text = text.as_bytes();
        text.get(1..).is_some_and(|rest| self.has(rest) || self.has(&text[..rest.len()]))
    }

    fn has(&self, text: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|search| search.first_in(text).is_some())
    }
}

/// Texts that others may begin with.
pub(super) struct Prefixes<'t> {
    /// Sorted, with their places.
    texts: Vec<(&'t [u8], usize)>,
}

impl<'t> Prefixes<'t> {
    pub(super) fn new(texts: &'t [Box<str>]) -> Self {
        let mut texts: Vec<_> =
            texts.iter().enumerate().map(|(place, text)| (text.as_bytes(), place)).collect();
        texts.sort_unstable();
        Self { texts }
    }

    /// The places of those that a text begins with, short ones first.
    pub(super) fn of(&self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        // Those that begin as the text does, up to the byte before.
        let mut alike = &self.texts[..];
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let whole = alike.iter().take_while(|(prefix, _)| prefix.len() == at).count();
            found.extend(alike[..whole].iter().map(|entry| entry.1));
            alike = &alike[whole..];
            // Mostly all of them go on alike.
            let (Some((first, _)), Some((last, _))) = (alike.first(), alike.last()) else { return found };
            if (first[at], last[at]) != (byte, byte) {
                let begin = alike.partition_point(|(prefix, _)| prefix[at] < byte);
                alike = &alike[begin..];
                alike = &alike[..alike.partition_point(|(prefix, _)| prefix[at] == byte)];
            }
        }
        let whole = alike.iter().take_while(|(prefix, _)| prefix.len() == text.len());
        found.extend(whole.map(|entry| entry.1));
        found
    }
}

/// Tails of a text before an end with which another string is complete before the end is: with a beginning of the end, they
/// make one of `texts`. Sorted. `None` if that takes more work than is left, in bytes that are compared.
pub(super) fn tails<'t>(end: &str, texts: &[&'t str], left: &mut usize) -> Option<Vec<&'t str>> {
    let mut charge = |bytes: usize| left.checked_sub(bytes).map(|now| *left = now);
    let end = end.as_bytes();
    // For each beginning of the end the longest shorter one that it ends with, as in the algorithm of Knuth, Morris and Pratt.
    let mut shorter: Vec<usize> = vec![0; end.len()];
    let advance = |shorter: &[usize], mut read: usize, byte: u8| {
        while read > 0 && end.get(read) != Some(&byte) {
            read = shorter[read - 1];
        }
        read + usize::from(end.get(read) == Some(&byte))
    };
    charge(end.len())?;
    for at in 1..end.len() {
        shorter[at] = advance(&shorter, shorter[at - 1], end[at]);
    }
    let mut all: Vec<&'t str> = Vec::new();
    for &text in texts {
        charge(1 + text.len())?;
        let first = all.len();
        let mut shared = text.bytes().fold(0, |read, byte| advance(&shorter, read, byte));
        // The longest beginning of the end leaves the shortest tail.
        while shared > 0 {
            let tail = text.get(..text.len() - shared).filter(|tail| !tail.is_empty() && shared < end.len());
            if let Some(tail) = tail {
                // A tail that ends with another one is excluded with it.
                charge(all[first..].iter().map(|shorter| shorter.len()).sum())?;
                if !all[first..].iter().any(|shorter| tail.ends_with(shorter)) {
                    charge(tail.len().saturating_mul(COST_OF_TAILS))?;
                    all.push(tail);
                }
            }
            shared = shorter[shared - 1];
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts of up to four letters out of two.
    fn short_texts() -> Vec<Box<str>> {
        let mut texts = vec![String::new()];
        for at in 0..15 {
            texts.extend(["a", "b"].map(|letter| format!("{}{letter}", texts[at])));
        }
        texts.into_iter().map(String::into_boxed_str).collect()
    }

    #[test]
    fn parts_of_a_text_are_shorter() {
        let all = short_texts();
        for first in 1..all.len() {
            for count in [1, 12] {
                let some = || all[first..].iter().take(count).map(|part| &**part);
                let search = StringSearch::new(some());
                for text in &all {
                    assert_eq!(search.is_in(text), some().any(|part| text.contains(part)), "{text}");
                    let is_part = some().any(|part| *part != **text && text.contains(part));
                    assert_eq!(search.is_part_in(text), is_part, "{text}");
                }
            }
        }
    }

    #[test]
    fn prefixes_are_those_that_a_text_begins_with() {
        let all = short_texts();
        for step in 1..5 {
            let some: Vec<Box<str>> = all.iter().step_by(step).chain(&all[..2]).cloned().collect();
            let prefixes = Prefixes::new(&some);
            for text in &all {
                let mut expected: Vec<usize> =
                    (0..some.len()).filter(|&place| text.starts_with(&*some[place])).collect();
                expected.sort_by_key(|&place| (some[place].len(), place));
                assert_eq!(prefixes.of(text), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_text_with_a_tail_completes_a_string_too_early() {
        let all = short_texts();
        for end in &all[1..] {
            for step in 1..4 {
                let some: Vec<&str> = all[1..].iter().step_by(step).map(|text| &**text).collect();
                let tails = tails(end, &some, &mut 1_000_000).unwrap();
                for text in &all {
                    let whole = format!("{text}{end}");
                    // One that begins in the text and is complete within the end, before its last letter.
                    let is_early = some.iter().any(|other| {
                        let begins = (0..text.len()).filter(|&begin| whole[begin..].starts_with(other));
                        let mut ends = begins.map(|begin| begin + other.len());
                        ends.any(|end| end > text.len() && end < whole.len())
                    });
                    assert_eq!(
                        tails.iter().any(|tail| text.ends_with(tail)),
                        is_early,
                        "{text} {end} {some:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn strings_with_many_tails_are_given_up() {
        let [row, other] = ["ab", "ac"].map(|letters| letters.repeat(20_000));
        assert_eq!(tails(&row, &[&row], &mut 50_000_000), Some(vec!["ab"]));
        assert_eq!(tails(&row, &[&format!("{row}c{row}")], &mut 50_000_000), None);
        assert_eq!(tails(&other, &[&row, &row], &mut 50_000), None);
    }
}
