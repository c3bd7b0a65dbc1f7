//! Which of many texts occur in others.
//!
//! Naively each is looked for in each: a minute for 100,000 tags that have a trigger each. So a text can only occur where
//! its first bytes do, and these are looked up. For texts that begin alike there is one automaton that looks for all of
//! them. It is made when such texts are met, because making it takes longer than the rest of a compilation.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem::Finder;
use once_cell::race::OnceBox;

use crate::hash::HashMap;

/// Texts that are looked for one by one.
const MAX_FEW: usize = 8;

/// Bytes of all texts together.
const MAX_BYTES: usize = 1 << 30;

/// Bytes that are compared for each byte of a text, at most.
const MAX_COMPARED: usize = 16;

/// Texts to look for in others.
#[derive(Debug)]
pub struct TextSearch<'t>(Searcher<'t>);

#[derive(Debug)]
enum Searcher<'t> {
    Few(Vec<Finder<'t>>),
    Many(ManyTexts<'t>),
}

#[derive(Debug)]
struct ManyTexts<'t> {
    texts: Vec<&'t [u8]>,
    /// The number of first bytes that are looked up: at most eight, and all texts are as long.
    width: usize,
    /// For the first bytes of texts the last such text.
    by_first: HashMap<u64, usize>,
    /// For each text the one before with the same first bytes.
    before: Vec<Option<usize>>,
    automaton: OnceBox<Option<AhoCorasick>>,
}

impl<'t> TextSearch<'t> {
    /// A search for texts, which differ: equal ones would all be found in one another. `None` if their bytes together are
    /// more than 2^30.
    pub fn new(texts: &[&'t [u8]]) -> Option<Self> {
        if texts.len() <= MAX_FEW {
            return Some(Self(Searcher::Few(texts.iter().copied().map(Finder::new).collect())));
        }
        // An automaton for them has fewer than 2^31 states then, and can be made.
        texts.iter().try_fold(MAX_BYTES, |left, text| left.checked_sub(text.len()))?;
        let width = texts.iter().map(|text| text.len()).min()?.min(size_of::<u64>());
        let (mut by_first, mut before) = (HashMap::default(), Vec::with_capacity(texts.len()));
        for (number, text) in texts.iter().enumerate() {
            before.push(by_first.insert(first_bytes(text, width), number));
        }
        let texts = texts.to_vec();
        Some(Self(Searcher::Many(ManyTexts { texts, width, by_first, before, automaton: OnceBox::new() })))
    }

    /// The number of the text that ends first in another one, and of those the longest.
    pub fn first_in(&self, text: &[u8]) -> Option<usize> {
        match &self.0 {
            Searcher::Few(parts) => {
                let found = parts.iter().enumerate().filter_map(|(number, part)| {
                    let begin = part.find(text)?;
                    Some((begin + part.needle().len(), begin, number))
                });
                found.min().map(|(.., number)| number)
            }
            Searcher::Many(texts) => texts.first_in(text),
        }
    }
}

impl ManyTexts<'_> {
    fn first_in(&self, text: &[u8]) -> Option<usize> {
        let mut first: Option<(usize, usize, usize)> = None;
        let mut left = MAX_COMPARED * text.len();
        for begin in 0..(text.len() + 1).saturating_sub(self.width) {
            let rest = &text[begin..];
            let mut alike = self.by_first.get(&first_bytes(rest, self.width)).copied();
            while let Some(number) = alike {
                let part = self.texts[number];
                match left.checked_sub(1 + part.len().min(rest.len())) {
                    Some(after) => left = after,
                    None => return self.first_of_all(text),
                }
                if rest.starts_with(part) {
                    let found = (begin + part.len(), begin, number);
                    first = Some(first.map_or(found, |first| first.min(found)));
                }
                alike = self.before[number];
            }
        }
        first.map(|(.., number)| number)
    }

    /// The same in linear time, however alike the texts are.
    fn first_of_all(&self, text: &[u8]) -> Option<usize> {
        // The one with the smallest tables; most texts are read once.
        let make = || {
            AhoCorasick::builder()
                .match_kind(MatchKind::Standard)
                .kind(Some(AhoCorasickKind::NoncontiguousNFA))
                .prefilter(false)
                .build(&self.texts)
                .ok()
        };
        let automaton = self.automaton.get_or_init(|| Box::new(make())).as_ref()?;
        automaton.find(text).map(|found| found.pattern().as_usize())
    }
}

/// The first bytes of a text that has as many, as a number.
fn first_bytes(text: &[u8], width: usize) -> u64 {
    text[..width].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
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
                    assert_eq!(search.first_in(text.as_bytes()), expected, "{parts:?} {text}");
                }
            }
        }
    }

    /// Texts that differ early need no automaton; long ones that begin alike are not compared again and again.
    #[test]
    fn an_automaton_is_made_for_texts_that_begin_alike() {
        let has_automaton = |search: &TextSearch<'_>| match &search.0 {
            Searcher::Few(_) => false,
            Searcher::Many(texts) => texts.automaton.get().is_some(),
        };
        let numbered: Vec<String> = (0..1_000).map(|number| format!("{number:03} of some tags")).collect();
        let texts: Vec<&[u8]> = numbered.iter().map(|text| text.as_bytes()).collect();
        let search = TextSearch::new(&texts).unwrap();
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(search.first_in(text), Some(number));
            assert_eq!(search.first_in(&text[1..]), None);
            assert_eq!(search.first_in(&text[..text.len() - 1]), None);
        }
        let within = format!("{}{}", &numbered[8][1..], numbered[7]);
        assert_eq!(search.first_in(within.as_bytes()), Some(7));
        assert!(!has_automaton(&search));
        let long: Vec<String> = (0..20).map(|number| format!("{}{number:02}", "a".repeat(5_000))).collect();
        let texts: Vec<&[u8]> = long.iter().map(|text| text.as_bytes()).collect();
        let search = TextSearch::new(&texts).unwrap();
        assert_eq!(search.first_in(format!("a{}", long[13]).as_bytes()), Some(13));
        assert!(has_automaton(&search));
    }
}
