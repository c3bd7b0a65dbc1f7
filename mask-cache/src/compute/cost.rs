//! An estimate of the cost of a mask, without computing it.

use grammask_grammar_ir::byte_set;
use grammask_parser_backend::{Backend, ClassRuns, Fuel, Run};

use crate::token_sets::sets::TokenSets;
use crate::token_sets::slices::Slice;

/// The approximate number of nodes of the vocabulary's trie that a walk for the mask of a state may visit.
/// They are those below the first bytes that can be read, without those of a slice that is taken whole. Most
/// are dropped near the top, so this is an upper bound and not the cost itself; it is meant to be compared.
///
/// It distinguishes the same places as the partial compilation of the second XGrammar paper. In some most of
/// the vocabulary has to be tried, in others a few tokens. It takes less than a microsecond.
pub fn mask_cost<B: Backend>(backend: &B, state: B::State, sets: &TokenSets, fuel: &mut Fuel) -> u64 {
    let next_bytes = backend.next_bytes(state);
    let is_whole = |slice: &Slice<'_>| {
        slice.may_begin(&next_bytes)
            && backend.class_runs().run_over(state, slice.class(), fuel) != Run::Unknown
    };
    let slice = sets.slices().find(is_whole);
    let trie = slice.map_or(sets.vocabulary().trie(), Slice::residual);
    (0..=u8::MAX)
        .filter(|&byte| byte_set::contains(&next_bytes, byte))
        .map(|byte| trie.first_byte(byte).len() as u64)
        .sum()
}
