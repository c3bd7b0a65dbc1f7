//! Context expansion: uncertain tokens that no place in the grammar lets pass.
//!
//! The suffix of an uncertain token, after the end of its rule, must be read by the rules that wait for this
//! one. Many suffixes can be read by none of them: no letter follows a JSON string in any place. The first
//! XGrammar paper (section 3.2, algorithm 2) rejects those beforehand with an automaton of all texts that may
//! follow the rule in its grammar. It leaves 120 of 1,134 tokens uncertain. Here that is the question
//! [`LocalParts::may_follow`], asked once for each local part of a grammar; the table of suffixes is built again
//! from those that remain.
//!
//! The bits of the local part do not change, so they stay shared between all grammars that have it; the
//! narrowed table of suffixes belongs to one grammar. Masks are the same, since the walk from the state after
//! the rule refuses the suffixes dropped here. The saving is a part of that walk, which takes 5 us a mask;
//! the cost is a walk of all suffixes through the automata of the whole grammar. Without other ways to a
//! mask, on 30 schemas of JSON-mode-eval, it took the 99th percentile from 252 to 482 us and the median from
//! 5.3 to 4.5 us. On 80 schemas of MaskBench the mean went from 52 to 58 us. So it is off by default.

use std::sync::Arc;

use grammask_parser_backend::{Backend, Fuel, LocalParts};

use super::local_part::{LocalPartMask, UncertainSuffixes};
use crate::ids::TokenId;

/// A local part's mask without the suffixes that cannot be read in any place of the grammar.
pub(crate) fn expand<B: Backend>(
    mask: &Arc<LocalPartMask>,
    backend: &B,
    local: B::State,
    fuel: &mut Fuel,
) -> Arc<LocalPartMask> {
    let suffixes = mask.suffixes.list();
    let texts: Vec<&[u8]> = suffixes.iter().map(|(bytes, _)| bytes.as_slice()).collect();
    let may_follow = backend.local_parts().may_follow(local, &texts, fuel);
    // A missing answer counts as "may follow", which keeps the token.
    let left: Vec<(&[u8], TokenId)> = suffixes
        .iter()
        .zip(may_follow.into_iter().chain(std::iter::repeat(true)))
        .filter(|&(_, may_follow)| may_follow)
        .flat_map(|((bytes, ids), _)| ids.iter().map(|&id| (bytes.as_slice(), id)))
        .filter_map(|(bytes, id)| Some((bytes, TokenId::new(id)?)))
        .collect();
    if left.len() == mask.suffixes.ids.len() {
        return Arc::clone(mask);
    }
    match UncertainSuffixes::from_sorted(&left) {
        Some(suffixes) => Arc::new(LocalPartMask { words: Arc::clone(&mask.words), suffixes }),
        None => Arc::clone(mask),
    }
}
