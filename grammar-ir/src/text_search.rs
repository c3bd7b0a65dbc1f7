//! Which of many texts occur in others.
//!
//! Naively each is looked for in each: a minute for 100,000 tags that have a trigger each. For more than a few texts
//! there is one automaton that looks for all of them.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem::Finder;

/// Texts that are looked for one by one: an automaton takes 20 us to build.
const MAX_FEW: usize = 8;

/// Texts to look for in others.
#[derive(Debug)]
pub struct TextSearch<'t>(Searcher<'t>);

#[derive(Debug)]
enum Searcher<'t> {
    Few(Vec<Finder<'t>>),
    Many(Box<AhoCorasick>),
}

impl<'t> TextSearch<'t> {
    /// A search for texts, which differ: equal ones would all be found in one another. `None` if their bytes together are
    /// more than 2^31.
    pub fn new(texts: &[&'t [u8]]) -> Option<Self> {
        if texts.len() <= MAX_FEW {
            return Some(Self(Searcher::Few(texts.iter().copied().map(Finder::new).collect())));
        }
        // The automaton with the smallest tables; most texts are read once.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .prefilter(false)
            .build(texts);
        Some(Self(Searcher::Many(Box::new(automaton.ok()?))))
    }

    /// The number of the text that ends first in another one, and of those the longest. `is_meant` is asked about its
    /// number and its place; of its places in a text the first may be the only one that it is asked about.
    pub fn first_in(&self, text: &[u8], is_meant: impl Fn(usize, Range<usize>) -> bool) -> Option<usize> {
        match &self.0 {
            Searcher::Few(parts) => {
                let found = parts.iter().enumerate().filter_map(|(number, part)| {
                    let begin = part.find(text)?;
                    let end = begin + part.needle().len();
                    is_meant(number, begin..end).then_some((end, begin, number))
                });
                found.min().map(|(.., number)| number)
            }
            Searcher::Many(automaton) => automaton
                .find_overlapping_iter(text)
                .find(|found| is_meant(found.pattern().as_usize(), found.range()))
                .map(|found| found.pattern().as_usize()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts of one to four letters out of two.
    fn short_texts() -> Vec<String> {
        let mut texts = vec![String::new()];
        for at in 0..15 {
            texts.extend(["a", "b"].map(|letter| format!("{}{letter}", texts[at])));
        }
        texts.remove(0);
        texts
    }

    #[test]
    fn few_and_many_texts_are_found_alike() {
        let all = short_texts();
        for first in 0..all.len() {
            for count in [1, MAX_FEW, MAX_FEW + 1, all.len()] {
                let parts: Vec<&str> = all[first..].iter().take(count).map(|part| &**part).collect();
                let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
                let search = TextSearch::new(&bytes).unwrap();
                assert_eq!(matches!(search.0, Searcher::Few(_)), parts.len() <= MAX_FEW);
                for text in &all {
                    let ends = |(number, part): (usize, &&str)| {
                        let begin = text.find(part)?;
                        Some((begin + part.len(), begin, number))
                    };
                    let expected = parts.iter().enumerate().filter_map(ends).min().map(|(.., number)| number);
                    assert_eq!(search.first_in(text.as_bytes(), |_, _| true), expected, "{parts:?} {text}");
                    let shorter = |_: usize, found: Range<usize>| found.len() < text.len();
                    let is_part = parts.iter().any(|part| part != text && text.contains(part));
                    assert_eq!(
                        search.first_in(text.as_bytes(), shorter).is_some(),
                        is_part,
                        "{parts:?} {text}"
                    );
                }
            }
        }
    }
}
