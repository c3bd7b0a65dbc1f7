//! The walk of the bytes that follow a token's leading characters of a class.
//!
//! Inside a string the tokens of a [slice](crate::Slice) are taken whole, and the others are walked. Of Llama
//! 3.1's tokens these are 5,100, on 10,900 nodes, of which a mask visits four thousand. Nearly all of these
//! nodes are letters that stay inside of the string, before a quote. Where every character of the class leads
//! to the *same* state, as it does inside most strings, these letters need not be read. A token then passes
//! if its *residual suffix*, which follows its last leading character of the class, can be read. It is read
//! from the state after as many characters. The suffixes are fewer (2,500, a thousand of them after a quote
//! or a backslash), and a trie of their own.
//!
//! If the characters lead the state back to itself, one walk of that trie is the whole answer. If they are
//! counted (`maxLength`), there is a state for each number of characters. The trie is walked once for all
//! numbers that lead, with the suffix's first byte, to states of one mask. Far from the bound that is once
//! again; near the bound the quote leads all of them to one state.

use std::ops::RangeInclusive;

use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_parser_backend::{Backend, ClassRuns, Fuel, StepError};

use crate::token_sets::residual_suffixes::{ResidualSuffixes, count_set};
use crate::token_sets::slices::Slice;
use crate::walk::scratch::Scratch;
use crate::walk::trie_walk::{Portion, walk_portions};

/// Adds the ids of the tokens outside of a slice that a state reads to the scratch ids. They have at most
/// `max_chars` characters of the class in a row at their beginning. `false`: nothing was added, because the
/// characters lead to more than one state.
pub(crate) fn walk_suffixes<B: Backend>(
    backend: &B,
    state: B::State,
    slice: Slice<'_>,
    max_chars: Option<u32>,
    scratch: &mut Scratch,
    fuel: &mut Fuel,
) -> Result<bool, StepError> {
    let Some(suffixes) = slice.residual_suffixes() else { return Ok(false) };
    let bound = max_chars.unwrap_or(u32::MAX);
    // The states after 0, 1, ... characters; if the last one is led to itself, it is also that of all greater numbers.
    // `bound` is the largest number of leading characters that the state may read, `suffixes.max_chars` the
    // largest that a token has.
    let mut last = bound.min(suffixes.max_chars);
    let Some(mut states) = backend.class_runs().step_class_n(state, slice.class(), last, fuel)? else {
        return Ok(false);
    };
    if (states.len() as u32) < last {
        last = bound;
    }
    states.insert(0, state);
    // The walk below uses the ids of the scratch for suffixes, so tokens are collected in a second buffer.
    let mut walk = SuffixWalk { backend, suffixes, found: scratch.take_buffer(), scratch, fuel };
    walk.all(&states, last)?;
    let SuffixWalk { found, scratch, .. } = walk;
    scratch.replace_all_ids(found);
    Ok(true)
}

struct SuffixWalk<'w, B: Backend> {
    backend: &'w B,
    suffixes: &'w ResidualSuffixes,
    scratch: &'w mut Scratch,
    found: Vec<u32>,
    fuel: &'w mut Fuel,
}

impl<B: Backend> SuffixWalk<'_, B> {
    /// Walks all suffixes, from the states after 0, 1, ... characters; the last state is that of all numbers up to `last`.
    fn all(&mut self, states: &[B::State], last: u32) -> Result<(), StepError> {
        // All numbers of characters lead to one state: one walk answers for all of them.
        if let [state] = *states {
            return self.walk_group(state, self.backend.next_bytes(state), 0..=last);
        }
        let mut either = [0; 4];
        for &state in states {
            let bytes = self.backend.next_bytes(state);
            either = std::array::from_fn(|word| either[word] | bytes[word]);
        }
        for byte in byte_set::iter(&either) {
            if !self.suffixes.trie.first_byte(byte).is_empty() {
                self.after_byte(byte, states, last)?;
            }
        }
        Ok(())
    }

    /// Walks the suffixes that begin with a byte, once for all states that it leads to states with the same mask.
    ///
    /// Neighbouring numbers of characters share one walk as long as the byte leads them to one mask. So each number is
    /// in exactly one group, and no token is found twice.
    fn after_byte(&mut self, byte: u8, states: &[B::State], last: u32) -> Result<(), StepError> {
        let before = self.suffixes.before[usize::from(byte)];
        let only = byte_set::single(byte);
        // The numbers of characters that are walked next, and where the byte leads with them.
        let mut group: Option<(RangeInclusive<u32>, B::State, B::State)> = None;
        for (&state, chars) in states.iter().zip(0u32..) {
            let up_to = if chars as usize + 1 == states.len() { last } else { chars };
            // No token has this number of characters before a suffix with this byte.
            if before & count_set(chars..=up_to) == 0 {
                continue;
            }
            let target = self.backend.step(state, byte, self.fuel)?;
            match (&mut group, target) {
                (Some((group, _, first)), Some(target)) if self.has_same_mask(*first, target) => {
                    *group = *group.start()..=up_to;
                }
                (_, target) => {
                    let next = target.map(|target| (chars..=up_to, state, target));
                    if let Some((chars, state, _)) = std::mem::replace(&mut group, next) {
                        self.walk_group(state, only, chars)?;
                    }
                }
            }
        }
        match group {
            Some((chars, state, _)) => self.walk_group(state, only, chars),
            None => Ok(()),
        }
    }

    fn has_same_mask(&self, one: B::State, other: B::State) -> bool {
        one == other || self.backend.mask_key(one) == self.backend.mask_key(other)
    }

    /// Walks the suffixes that begin with some bytes, from the state of some numbers of characters.
    fn walk_group(
        &mut self,
        state: B::State,
        bytes: ByteSet,
        chars: RangeInclusive<u32>,
    ) -> Result<(), StepError> {
        self.scratch.clear_ids();
        walk_portions(
            self.backend,
            state,
            &[Portion::new(&self.suffixes.trie, bytes)],
            self.scratch,
            &mut (),
            self.fuel,
        )?;
        for &suffix in &*self.scratch.ids() {
            self.found.extend(self.suffixes.tokens_of(suffix, &chars));
        }
        Ok(())
    }
}
