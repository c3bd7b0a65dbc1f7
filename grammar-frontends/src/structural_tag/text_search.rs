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
