//! What is left of tokens behind their characters of a class.
//!
//! Inside a string the tokens of a [slice](crate::Slice) are taken whole, and the others are walked: of Llama 3.1's
//! tokens 5,100, on 10,900 nodes, of which a mask visits four thousand. Nearly all of these nodes are letters that stay
//! inside of the string, before a quote. Where every character of the class leads to the *same* state, as it does
//! inside most strings, these letters need not be read: a token then passes if the state that so many characters lead
//! to reads the *rest*, what stands behind the token's last character of the class in a row. The rests are fewer (2,500,
//! a thousand of them behind a quote or a backslash), and a trie of their own.
//!
//! If the characters lead the state back to itself, one walk of that trie is the whole answer. If they are counted
//! (`maxLength`) there is a state for each number of characters, and the trie is walked once for all numbers that lead,
//! with the rest's first byte, to states of one mask: far from the bound that is once again, near the bound
//! the quote leads all of them to one state.

use std::ops::RangeInclusive;

use grammask_parser_backend::{Backend, CharClass, Fuel, StepError};

use crate::walk::{Portion, set_bits, walk_parts};
use crate::{Scratch, Slice, TokenId, Trie, Vocabulary};

/// Most nodes of the tokens outside of a class for which rests are kept. Where there are more, most tokens begin with
/// another character, and little is gained.
const MAX_NODES: usize = 1 << 15;

/// A set of numbers of characters: bit `n` for `n`, the highest bit for all from there on.
type Counts = u128;

/// The rests of the tokens outside of a class.
pub(crate) struct Rests {
    /// The distinct rests; the "id" of one is its number.
    trie: Trie,
    /// Where the tokens of each rest begin in `tokens`, and the end.
    starts: Box<[u32]>,
    /// The tokens with each rest: the number of characters before it, and the id.
    tokens: Box<[(u32, u32)]>,
    /// For each first byte of a rest the numbers of characters before it.
    before: Box<[Counts; 256]>,
    /// The greatest number of characters before a rest.
    max_chars: u32,
}

impl Rests {
    /// The rests of the tokens of a trie, none of which is inside the class. `None` where they are too many.
    pub(crate) fn new(vocabulary: &Vocabulary, residual: &Trie, class: &CharClass) -> Option<Self> {
        if residual.nodes().len() > MAX_NODES {
            return None;
        }
        let mut rests: Vec<(&[u8], u32, u32)> = Vec::new();
        for node in residual.nodes().iter().filter(|node| node.token() != residual.no_token()) {
            let bytes = vocabulary.token_bytes(vocabulary.id(node.token())?);
            let (length, chars) = beginning_over(class, bytes);
            rests.push((&bytes[length..], chars, node.token()));
        }
        rests.sort_unstable();
        let mut distinct: Vec<&[u8]> = Vec::new();
        let mut starts = Vec::new();
        let mut before = Box::new([0; 256]);
        for (at, &(rest, chars, _)) in rests.iter().enumerate() {
            if distinct.last() != Some(&rest) {
                distinct.push(rest);
                starts.push(u32::try_from(at).ok()?);
            }
            before[usize::from(*rest.first()?)] |= counts(chars..=chars);
        }
        starts.push(u32::try_from(rests.len()).ok()?);
        let numbered = distinct.iter().zip(0u32..).map(|(&rest, number)| Some((TokenId::new(number)?, rest)));
        let numbered: Vec<(TokenId, &[u8])> = numbered.collect::<Option<_>>()?;
        let trie = Trie::from_sorted(distinct.len(), numbered).ok()?;
        let max_chars = rests.iter().map(|&(_, chars, _)| chars).max().unwrap_or(0);
        let tokens = rests.iter().map(|&(_, chars, id)| (chars, id)).collect();
        Some(Self { trie, starts: starts.into(), tokens, before, max_chars })
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.trie.memory_usage()
            + size_of_val(&*self.starts)
            + size_of_val(&*self.tokens)
            + size_of_val(&*self.before)
    }

    /// The tokens of a rest with so many characters before it.
    fn tokens_of(&self, rest: u32, chars: &RangeInclusive<u32>) -> impl Iterator<Item = u32> {
        let rest = rest as usize;
        let tokens = &self.tokens[self.starts[rest] as usize..self.starts[rest + 1] as usize];
        tokens.iter().filter(|(before, _)| chars.contains(before)).map(|&(_, id)| id)
    }
}

/// How many bytes at the beginning of a text are whole characters of a class, and how many characters they are.
fn beginning_over(class: &CharClass, text: &[u8]) -> (usize, u32) {
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
fn counts(chars: RangeInclusive<u32>) -> Counts {
    let (first, last) = ((*chars.start()).min(127), (*chars.end()).min(127));
    (Counts::MAX << first) & (Counts::MAX >> (127 - last))
}

/// Adds to the scratch ids those of the tokens outside of a slice that a state reads, with at most so many characters of
/// the class in a row at their beginning. `false`: nothing was added, for the characters lead to more than one state.
pub(crate) fn walk_rests<B: Backend>(
    backend: &B,
    state: B::State,
    slice: Slice<'_>,
    at_most: Option<u32>,
    scratch: &mut Scratch,
    fuel: &mut Fuel,
) -> Result<bool, StepError> {
    let Some(rests) = slice.rests() else { return Ok(false) };
    let most = at_most.unwrap_or(u32::MAX);
    // The states after 0, 1, ... characters; if the last one is led to itself, it is also that of all greater numbers.
    let mut last = most.min(rests.max_chars);
    let Some(mut states) = backend.step_class_n(state, slice.class(), last, fuel)? else { return Ok(false) };
    if (states.len() as u32) < last {
        last = most;
    }
    states.insert(0, state);
    let mut walk = Walk { backend, rests, found: scratch.take_words(), scratch, fuel };
    walk.all(&states, last)?;
    let Walk { found, scratch, .. } = walk;
    scratch.put_ids(found);
    Ok(true)
}

struct Walk<'w, B: Backend> {
    backend: &'w B,
    rests: &'w Rests,
    scratch: &'w mut Scratch,
    found: Vec<u32>,
    fuel: &'w mut Fuel,
}

impl<B: Backend> Walk<'_, B> {
    /// Walks all rests, from the states after 0, 1, ... characters; the last state stands for all numbers up to `last`.
    fn all(&mut self, states: &[B::State], last: u32) -> Result<(), StepError> {
        if let [state] = *states {
            return self.rests(state, self.backend.next_bytes(state), 0..=last);
        }
        let mut either = [0; 4];
        for &state in states {
            let bytes = self.backend.next_bytes(state);
            either = std::array::from_fn(|word| either[word] | bytes[word]);
        }
        for byte in set_bits(&either) {
            if !self.rests.trie.first_byte(byte).is_empty() {
                self.behind(byte, states, last)?;
            }
        }
        Ok(())
    }

    /// Walks the rests that begin with a byte, once for all states that it leads to states with the same mask.
    fn behind(&mut self, byte: u8, states: &[B::State], last: u32) -> Result<(), StepError> {
        let before = self.rests.before[usize::from(byte)];
        let mut only = [0; 4];
        only[usize::from(byte >> 6)] = 1 << (byte & 63);
        // The numbers of characters that are walked next, and where the byte leads with them.
        let mut group: Option<(RangeInclusive<u32>, B::State, B::State)> = None;
        for (&state, chars) in states.iter().zip(0u32..) {
            let up_to = if chars as usize + 1 == states.len() { last } else { chars };
            if before & counts(chars..=up_to) == 0 {
                continue;
            }
            let target = self.backend.step(state, byte, self.fuel)?;
            match (&mut group, target) {
                (Some((group, _, first)), Some(target)) if self.is_alike(*first, target) => {
                    *group = *group.start()..=up_to;
                }
                (_, target) => {
                    let next = target.map(|target| (chars..=up_to, state, target));
                    if let Some((chars, state, _)) = std::mem::replace(&mut group, next) {
                        self.rests(state, only, chars)?;
                    }
                }
            }
        }
        match group {
            Some((chars, state, _)) => self.rests(state, only, chars),
            None => Ok(()),
        }
    }

    fn is_alike(&self, one: B::State, other: B::State) -> bool {
        one == other || self.backend.mask_key(one) == self.backend.mask_key(other)
    }

    /// Walks the rests that begin with some bytes, from a state that stands for some numbers of characters.
    fn rests(
        &mut self,
        state: B::State,
        bytes: [u64; 4],
        chars: RangeInclusive<u32>,
    ) -> Result<(), StepError> {
        self.scratch.clear_ids();
        walk_parts(
            self.backend,
            state,
            &[Portion::new(&self.rests.trie, bytes)],
            self.scratch,
            &mut (),
            self.fuel,
        )?;
        for &rest in &*self.scratch.ids() {
            self.found.extend(self.rests.tokens_of(rest, &chars));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_up_to_the_first_other_one() {
        let letters = CharClass { ascii: 1 << b'a' | 1 << b'b', non_ascii: true };
        let cases: [(&[u8], (usize, u32)); 6] = [
            (b"", (0, 0)),
            (b"ab\"a", (2, 2)),
            ("aäb\\".as_bytes(), (4, 3)),
            ("ä".as_bytes(), (2, 1)),
            (b"a\xC3", (1, 1)),
            (b"\xA4a", (0, 0)),
        ];
        for (text, expected) in cases {
            assert_eq!(beginning_over(&letters, text), expected, "{}", text.escape_ascii());
        }
        let ascii = CharClass { non_ascii: false, ..letters };
        assert_eq!(beginning_over(&ascii, "aä".as_bytes()), (1, 1));
    }

    #[test]
    fn large_numbers_share_a_bit() {
        assert_eq!(counts(0..=0), 1);
        assert_eq!(counts(1..=2), 0b110);
        assert_eq!(counts(127..=127), counts(500..=u32::MAX));
        assert_eq!(counts(0..=u32::MAX), Counts::MAX);
    }
}
