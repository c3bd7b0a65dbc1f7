//! Which tokens a state allows: the walk over the trie.
//!
//! The naive way asks the parser about every token, byte by byte. Five things make it fast.
//!
//! * The trie shares prefixes, and a byte that is refused drops a whole subtree.
//! * Only first bytes that the parser can read are looked at ([`Backend::next_bytes`]), and after each of these only the
//!   second bytes that can be read there. Outside of strings this is a tenth.
//! * Where the parser lets any text over a class of characters pass ([`ClassRuns::run_over`]), as inside a
//!   string, the tokens of the class are known beforehand. Only the others are walked: of Llama 3.1's 128,000
//!   tokens about 6,000. Where possible, only their [residual suffixes](crate::token_sets::residual_suffixes)
//!   are walked: the bytes after the last character of the class.
//! * Tokens of whitespace, tokens of digits, those that open a JSON string and stay inside of it, and those that begin a
//!   number are in [lists](crate::token_sets::json_tokens::lists). They are not walked where all of them, or all up
//!   to a length, are allowed.
//! * Accepted ids are appended without a branch: a node without a token writes, and does not advance.
//!
//! The result is exact: a token is in it if and only if the parser reads all its bytes.

use std::sync::Arc;

use grammask_grammar_ir::Toggle;
use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_parser_backend::{Backend, ClassRuns, Fuel, Run, StepError};
use smallvec::SmallVec;

use super::suffix_walk::walk_suffixes;
use crate::ids::TokenId;
use crate::mask::bits::{self, words_for};
use crate::mask::sparse_words::SparseWords;
use crate::mask::stored_mask::{Form, StoredMask};
use crate::token_sets::json_tokens::lists::JsonTokens;
use crate::token_sets::sets::TokenSets;
use crate::token_sets::slices::Slice;
use crate::walk::scratch::Scratch;
use crate::walk::token_trials::{add_duplicates, try_long_tokens, try_tokens};
use crate::walk::trie_walk::{Portion, RuleExits, walk_portions, walk_trie};

/// The tokens that a state allows: a slice of the vocabulary that is known beforehand, and others.
pub(crate) struct AllowedTokens<'v, 's> {
    /// The slice, with the most characters that its tokens may have.
    pub(crate) slice: Option<(Slice<'v>, Option<u32>)>,
    /// Tokens of [lists](crate::token_sets::json_tokens::lists).
    pub(crate) lists: SetWords<'v>,
    /// The other tokens, each once, in no order.
    pub(crate) ids: &'s mut Vec<u32>,
    /// Words that are 0 between uses.
    pub(crate) zeros: &'s mut Vec<u32>,
}

/// Sets that are taken as a whole, as words of the mask.
type SetWords<'v> = SmallVec<[&'v SparseWords; MAX_PORTIONS]>;

impl AllowedTokens<'_, '_> {
    /// The mask of these tokens, in the smallest form.
    pub(crate) fn into_stored(self, len: usize) -> StoredMask {
        let ids = match &*self.lists {
            [] => SparseWords::from_ids(self.ids, len, self.zeros),
            lists => SparseWords::joined(lists, self.ids, len, self.zeros),
        };
        // A word with its place takes two words.
        let is_small = ids.words() <= (words_for(len) / 2).max(1);
        let form = match self.slice {
            Some((slice, max_chars)) if is_small => {
                Form::Slice { tokens: Arc::clone(slice.class_tokens()), max_chars, ids }
            }
            None if is_small => Form::Ids(ids),
            slice => {
                let mut words = vec![0; words_for(len)];
                if let Some((slice, max_chars)) = slice {
                    slice.class_tokens().write(max_chars, &mut words);
                }
                ids.set(&mut words);
                Form::Words(words.into())
            }
        };
        // A mask that is kept as a slice and a few ids never holds special tokens and padding.
        let all = match &form {
            Form::Ids(ids) => ids.words() == words_for(len) && ids.count() == len,
            Form::Slice { .. } | Form::LocalPart { .. } | Form::Difference { .. } => false,
            Form::Words(words) => bits::count(words) == len,
        };
        StoredMask { form, len, all }
    }

    /// Whether no token is allowed.
    pub(crate) fn is_empty(&self) -> bool {
        let in_slice = |(slice, max_chars): (Slice<'_>, Option<u32>)| match max_chars {
            None => slice.tokens().iter().any(|&word| word != 0),
            Some(chars) => {
                let mut words = vec![0; slice.tokens().len()];
                slice.write_at_most(chars, &mut words);
                words.iter().any(|&word| word != 0)
            }
        };
        let lists_any = self.lists.iter().any(|list| list.words() > 0);
        self.ids.is_empty() && !lists_any && !self.slice.is_some_and(in_slice)
    }
}

/// The tokens that a state allows, by the cheapest of the ways that apply.
pub(crate) fn allowed_tokens<'v, 's, B: Backend>(
    backend: &B,
    state: B::State,
    sets: &'v TokenSets,
    slices: Toggle,
    scratch: &'s mut Scratch,
    fuel: &mut Fuel,
) -> Result<AllowedTokens<'v, 's>, StepError> {
    let next_bytes = backend.next_bytes(state);
    let slice = match slices {
        Toggle::On => choose_slice(backend, state, sets, &next_bytes, fuel),
        Toggle::Off => None,
    };
    scratch.ids.clear();
    let mut lists = SetWords::new();
    // The tokens that are found fall into disjoint parts, and together they are the vocabulary: those of the
    // slice, those of the trie, and those too long for a trie. Ids with bytes of another token come last,
    // because they follow the answer for that token.
    let trie = match &slice {
        Some(ChosenSlice { slice, max_chars, tried }) => {
            // The suffixes rely on an exact bound. `Run::AtLeast` is none: longer runs may pass, too, so
            // every suffix has to be tried there.
            let max_chars = max_chars.filter(|_| tried.is_empty());
            if !walk_suffixes(backend, state, *slice, max_chars, scratch, fuel)? {
                walk_trie(backend, state, slice.residual(), scratch, &mut (), fuel)?;
            }
            try_tokens(backend, state, sets.vocabulary(), tried, &mut scratch.ids, fuel)?;
            slice.residual()
        }
        None if slices == Toggle::Off => {
            walk_trie(backend, state, sets.vocabulary().trie(), scratch, &mut (), fuel)?;
            sets.vocabulary().trie()
        }
        None => {
            lists = walk_with_json_tokens(backend, state, sets, next_bytes, scratch, fuel)?;
            sets.vocabulary().trie()
        }
    };
    try_long_tokens(backend, state, sets.vocabulary(), &mut scratch.ids, fuel)?;
    add_duplicates(trie, sets.vocabulary().len(), &lists, &mut scratch.words, &mut scratch.ids);
    let slice = slice.map(|chosen| (chosen.slice, chosen.max_chars));
    Ok(AllowedTokens { slice, lists, ids: &mut scratch.ids, zeros: &mut scratch.zeros })
}

/// Finds all tokens in the trie that a state reads: whitespace, digits and tokens that open a string as lists, the
/// others as ids in the scratch.
fn walk_with_json_tokens<'v, B: Backend>(
    backend: &B,
    state: B::State,
    sets: &'v TokenSets,
    next_bytes: ByteSet,
    scratch: &mut Scratch,
    fuel: &mut Fuel,
) -> Result<SetWords<'v>, StepError> {
    let mut lists = SetWords::new();
    // The bytes whose tokens no portion covers yet. Each first byte is covered once: by a list and the trie of the list's
    // other tokens, or by the whole trie at the end. A byte therefore leaves this set together with its list.
    let mut others = next_bytes;
    let mut portions = Vec::with_capacity(MAX_PORTIONS);
    let JsonTokens { classes, quote: quoted, spaced_quote: spaced, spaced_quote_nodes, number } =
        sets.json_tokens();
    for list in classes {
        if let Some(tokens) = list.allowed(backend, state, fuel)? {
            lists.push(tokens);
            // Tokens that begin with a byte of the list are in the list, or in its own trie of other tokens.
            portions.push(Portion::new(list.others(), list.bytes()));
            others = byte_set::difference(others, list.bytes());
        }
    }
    let (space, quote) = (byte_set::single(b' '), byte_set::single(b'"'));
    // The list of whitespace covers the space. The list of the quote after a space has some of its other tokens, which
    // are taken out: each token is in one portion.
    if others == byte_set::difference(others, space)
        && let Some(first) =
            portions.first_mut().filter(|first| first.bytes != byte_set::difference(first.bytes, space))
        && let Some(tokens) = spaced.allowed(backend, state, fuel)?
    {
        lists.push(tokens);
        first.left_out = spaced_quote_nodes.clone();
        portions.push(Portion::new(spaced.others(), space));
    }
    if others != byte_set::difference(others, quote)
        && let Some(tokens) = quoted.allowed(backend, state, fuel)?
    {
        lists.push(tokens);
        portions.push(Portion::new(quoted.others(), quote));
        others = byte_set::difference(others, quote);
    }
    // No number goes on after a zero that it begins with, so the list of digits does not serve where one begins.
    if byte_set::difference(NOT_ZERO, others) == [0; 4]
        && let Some(tokens) = number.allowed(backend, state, fuel)?
    {
        lists.push(tokens);
        portions.push(Portion::new(number.others(), NOT_ZERO));
        others = byte_set::difference(others, NOT_ZERO);
    }
    // All remaining first bytes. This portion is pushed even if it is empty, which costs nothing.
    portions.push(Portion::new(sets.vocabulary().trie(), others));
    walk_portions(backend, state, &portions, scratch, &mut (), fuel)?;
    Ok(lists)
}

/// Lists, tokens that open a string or a number, and all others.
const MAX_PORTIONS: usize = 6;

/// The digits that a number of more than one digit may begin with.
const NOT_ZERO: ByteSet = [0b11_1111_1110 << b'0', 0, 0, 0];

/// Walks the vocabulary from a local part, and notes where its rule may end. Tokens that are too long for a trie
/// are left out: whether they pass depends on the text after the rule. `None` near the bound of a slice.
pub(crate) fn allowed_in_local_part<'v, 's, B: Backend>(
    backend: &B,
    local: B::State,
    sets: &'v TokenSets,
    scratch: &'s mut Scratch,
    exits: &mut RuleExits,
    fuel: &mut Fuel,
) -> Result<Option<AllowedTokens<'v, 's>>, StepError> {
    let next_bytes = backend.next_bytes(local);
    let slice = choose_slice(backend, local, sets, &next_bytes, fuel);
    // A longer token of the slice may still pass in two pieces, one inside the rule and one after it. Only a
    // walk over the slice's own tokens would tell. Near a bound the state is walked as a whole.
    if slice.as_ref().is_some_and(|chosen| chosen.max_chars.is_some()) {
        return Ok(None);
    }
    let slice = slice.map(|chosen| (chosen.slice, None));
    let trie = slice.map_or(sets.vocabulary().trie(), |(slice, _): (Slice<'_>, _)| slice.residual());
    scratch.ids.clear();
    // The lists are not used here: the walk has to see every place where the rule may end, also inside of
    // whitespace.
    walk_trie(backend, local, trie, scratch, exits, fuel)?;
    add_duplicates(trie, sets.vocabulary().len(), &[], &mut scratch.words, &mut scratch.ids);
    Ok(Some(AllowedTokens {
        slice,
        lists: SetWords::new(),
        ids: &mut scratch.ids,
        zeros: &mut scratch.zeros,
    }))
}

/// Adds to the scratch ids those of all tokens that a state reads, those too long for a trie left out. For states in
/// which no slice applies.
pub(crate) fn walk_vocabulary<B: Backend>(
    backend: &B,
    state: B::State,
    sets: &TokenSets,
    scratch: &mut Scratch,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    walk_trie(backend, state, sets.vocabulary().trie(), scratch, &mut (), fuel)?;
    add_duplicates(
        sets.vocabulary().trie(),
        sets.vocabulary().len(),
        &[],
        &mut scratch.words,
        &mut scratch.ids,
    );
    Ok(())
}

/// Whether a slice may apply to a state, judged cheaply.
pub(crate) fn slice_may_apply<B: Backend>(backend: &B, state: B::State, sets: &TokenSets) -> bool {
    let next_bytes = backend.next_bytes(state);
    sets.slices().any(|slice| slice.may_begin(&next_bytes))
}

/// A slice that applies to a state.
struct ChosenSlice<'v> {
    slice: Slice<'v>,
    /// The most characters that its tokens may have.
    max_chars: Option<u32>,
    /// The tokens of the slice with more characters, if they may be allowed too.
    tried: Vec<TokenId>,
}

/// Most tokens of a slice that are tried one by one.
const MAX_TRIED: usize = 1 << 10;

/// The first slice (larger classes come first) over which the backend lets every text pass, perhaps up to a
/// number of characters.
fn choose_slice<'v, B: Backend>(
    backend: &B,
    state: B::State,
    sets: &'v TokenSets,
    next_bytes: &ByteSet,
    fuel: &mut Fuel,
) -> Option<ChosenSlice<'v>> {
    let whole = |slice| Some(ChosenSlice { slice, max_chars: None, tried: Vec::new() });
    sets.slices().filter(|slice| slice.may_begin(next_bytes)).find_map(|slice| {
        match backend.class_runs().run_over(state, slice.class(), fuel) {
            Run::Unbounded => whole(slice),
            // No token of the slice is longer than the bound, so the bound does not matter.
            Run::AtMost(chars) | Run::AtLeast(chars) if chars >= slice.max_chars() => whole(slice),
            Run::AtMost(chars) => Some(ChosenSlice { slice, max_chars: Some(chars), tried: Vec::new() }),
            Run::AtLeast(chars) => {
                // Too many tokens to try one by one: the next slice, or the walk.
                let tried = slice.class_tokens().longer_than(chars, MAX_TRIED)?;
                Some(ChosenSlice { slice, max_chars: Some(chars), tried })
            }
            _ => None,
        }
    })
}
