//! The bytes that follow the leading characters of a class, in the tokens outside of it.
//!
//! A token outside of a [slice](crate::Slice) mostly begins with characters of the class: the letters before a quote.
//! Its *residual suffix* is the part after the last of these characters in a row. The suffixes are fewer than the tokens
//! and share a trie of their own, which the suffix walk goes through.

use std::ops::RangeInclusive;

use grammask_parser_backend::CharClass;

use crate::ids::TokenId;
use crate::vocabulary::tokens::Vocabulary;
use crate::vocabulary::trie::Trie;

/// Most nodes of the tokens outside of a class for which suffixes are kept. Where there are more, most tokens begin with
/// another character, and little is gained.
const MAX_NODES: usize = 1 << 15;

/// A set of numbers of characters: bit `n` for `n`, the highest bit for all from there on.
pub(crate) type CharCountSet = u128;

/// The suffixes of the tokens outside of a class.
pub(crate) struct ResidualSuffixes {
    /// The distinct suffixes; the "id" of one is its number.
    pub(crate) trie: Trie,
    /// Where the tokens of each suffix begin in `tokens`, and the end.
    starts: Box<[u32]>,
    /// The tokens with each suffix: the number of characters before it, and the id.
    tokens: Box<[(u32, u32)]>,
    /// For each first byte of a suffix the numbers of characters before it.
    pub(crate) before: Box<[CharCountSet; 256]>,
    /// The greatest number of characters before a suffix.
    pub(crate) max_chars: u32,
}

impl ResidualSuffixes {
    /// The suffixes of the tokens of a trie, none of which is inside the class. `None` if they are too many.
    pub(crate) fn new(vocabulary: &Vocabulary, residual: &Trie, class: &CharClass) -> Option<Self> {
        if residual.nodes().len() > MAX_NODES {
            return None;
        }
        let mut suffixes: Vec<(&[u8], u32, u32)> = Vec::new();
        for node in residual.nodes().iter().filter(|node| node.token() != residual.no_token()) {
            let bytes = vocabulary.token_bytes(vocabulary.id(node.token())?);
            let (length, chars) = prefix_over(class, bytes);
            suffixes.push((&bytes[length..], chars, node.token()));
        }
        // By suffix first: the tokens of one suffix are neighbours, and the distinct suffixes are in the
        // order that a trie needs.
        suffixes.sort_unstable();
        let mut distinct: Vec<&[u8]> = Vec::new();
        let mut starts = Vec::new();
        let mut before = Box::new([0; 256]);
        for (at, &(suffix, chars, _)) in suffixes.iter().enumerate() {
            if distinct.last() != Some(&suffix) {
                distinct.push(suffix);
                starts.push(u32::try_from(at).ok()?);
            }
            // No suffix is empty, because no token of the residual trie is inside the class.
            before[usize::from(*suffix.first()?)] |= count_set(chars..=chars);
        }
        starts.push(u32::try_from(suffixes.len()).ok()?);
        let numbered =
            distinct.iter().zip(0u32..).map(|(&suffix, number)| Some((TokenId::new(number)?, suffix)));
        let numbered: Vec<(TokenId, &[u8])> = numbered.collect::<Option<_>>()?;
        let trie = Trie::from_sorted(distinct.len(), numbered).ok()?;
        let max_chars = suffixes.iter().map(|&(_, chars, _)| chars).max().unwrap_or(0);
        let tokens = suffixes.iter().map(|&(_, chars, id)| (chars, id)).collect();
        Some(Self { trie, starts: starts.into(), tokens, before, max_chars })
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.trie.memory_usage()
            + size_of_val(&*self.starts)
            + size_of_val(&*self.tokens)
            + size_of_val(&*self.before)
    }

    /// The tokens of a suffix with a number of characters before it.
    pub(crate) fn tokens_of(&self, suffix: u32, chars: &RangeInclusive<u32>) -> impl Iterator<Item = u32> {
        let suffix = suffix as usize;
        let tokens = &self.tokens[self.starts[suffix] as usize..self.starts[suffix + 1] as usize];
        tokens.iter().filter(|(before, _)| chars.contains(before)).map(|&(_, id)| id)
    }
}

/// How many bytes at the beginning of a text are whole characters of a class, and how many characters they are.
fn prefix_over(class: &CharClass, text: &[u8]) -> (usize, u32) {
    let whole = match std::str::from_utf8(text) {
        Ok(whole) => whole,
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default(),
    };
    let is_inside = |character: &char| match u8::try_from(*character) {
        Ok(byte) if byte < 0x80 => class.contains_ascii(byte),
        _ => class.non_ascii,
    };
    let inside = whole.chars().take_while(is_inside);
    inside.fold((0, 0), |(bytes, chars), character| (bytes + character.len_utf8(), chars + 1))
}

/// A set of some numbers of characters.
pub(crate) fn count_set(chars: RangeInclusive<u32>) -> CharCountSet {
    // All numbers from 127 on share a bit. A set may so seem to meet another one, which costs a walk and
    // changes no answer.
    let (first, last) = ((*chars.start()).min(127), (*chars.end()).min(127));
    (CharCountSet::MAX << first) & (CharCountSet::MAX >> (127 - last))
}
