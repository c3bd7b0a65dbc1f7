//! Which of many texts occur in others.
//!
//! Naively each is looked for in each: a minute for 100,000 tags that have a trigger each. For more than a few texts
//! there is one automaton that looks for all of them, and a sorted list for those that others begin with.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// Texts that are looked for one by one.
const MAX_FEW: usize = 8;

/// Texts to look for in others.
pub(super) enum TextSearch<'t> {
    Few(Vec<&'t str>),
    Many(Box<AhoCorasick>),
}

impl<'t> TextSearch<'t> {
    pub(super) fn new(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut texts: Vec<&str> = texts.collect();
        if texts.len() <= MAX_FEW {
            return Self::Few(texts);
        }
        // Equal texts would all be found in one another.
        texts.sort_unstable();
        texts.dedup();
        // The automaton with the smallest tables; most texts are read once.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .prefilter(false)
            .build(&texts);
        automaton.map_or(Self::Few(texts), |automaton| Self::Many(Box::new(automaton)))
    }

    /// Whether any of them occurs in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Few(texts) => texts.iter().any(|part| text.contains(part)),
            Self::Many(automaton) => automaton.is_match(text),
        }
    }

    /// Whether one that is shorter than a text occurs in it.
    pub(super) fn is_part_in(&self, text: &str) -> bool {
        match self {
            Self::Few(texts) => texts.iter().any(|part| part.len() < text.len() && text.contains(part)),
            Self::Many(automaton) => {
                automaton.find_overlapping_iter(text).any(|found| found.len() < text.len())
            }
        }
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
    fn few_and_many_texts_are_found_alike() {
        let all = short_texts();
        for first in 1..all.len() {
            for count in [1, MAX_FEW, MAX_FEW + 1, all.len()] {
                let parts: Vec<&str> = all[first..].iter().take(count).map(|part| &**part).collect();
                let search = TextSearch::new(parts.iter().copied());
                assert_eq!(matches!(search, TextSearch::Few(_)), parts.len() <= MAX_FEW);
                for text in &all {
                    let is_in = parts.iter().any(|part| text.contains(part));
                    assert_eq!(search.is_in(text), is_in, "{parts:?} {text}");
                    let is_part_in = parts.iter().any(|part| *part != &**text && text.contains(part));
                    assert_eq!(search.is_part_in(text), is_part_in, "{parts:?} {text}");
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
}
