//! Masks of local parts: the adaptive token mask cache.
//!
//! For each state of a rule's automaton, XGrammar's first paper (section 3.1) sorts the tokens into accepted,
//! rejected and *uncertain* ones, and keeps the result. Uncertain tokens end the rule in their middle. Here
//! the same is done for a *local part* of a state ([`LocalParts::split`](grammask_parser_backend::LocalParts::split)). The tokens that it accepts become
//! bits, once. Of the uncertain ones only the bytes after the end of the rule matter, and many have these in
//! common, so the suffixes become a trie of their own. The mask of a state is then the bits, and a walk of
//! that small trie from the state after the rule. Inside a JSON string it has some hundred nodes instead of
//! five thousand.
//!
//! The continuation of the rule begins with one of a few bytes, a quote mostly, and only tokens that continue
//! with one of them are uncertain. Without that a string with a greatest length, which may end after every
//! character, had ten thousand uncertain tokens, and to sort them took a millisecond. These bytes are a part
//! of the mask's key.
//!
//! The paper narrows the uncertain tokens further by what may follow the rule in any place, since each one
//! left costs a run of the parser at every step. Here the state after the rule knows the continuation in
//! *this* place, its steps are memoised, and the suffixes share their beginnings. For 6,500 masks that were
//! made from local parts on 1,293 schemas of MaskBench, the walk of the suffixes took 44 nodes and 5 us on
//! average, once a state. So narrowing ([`crate::compute::context_expansion`]) saves little, and is off
//! unless [`MaskOptions`](crate::MaskOptions) says otherwise.
//!
//! Computing the bits and the trie costs two or three plain walks. So it is done when a local part is met for
//! the second time, in one grammar or in two, and only for states in which a slice applies. Elsewhere the
//! plain walk is short.

use std::sync::Arc;

use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::allowed_tokens::{AllowedTokens, allowed_in_local_part};
use crate::ids::TokenId;
use crate::mask::bits::{self, words_for};
use crate::token_sets::sets::TokenSets;
use crate::vocabulary::tokens::Vocabulary;
use crate::vocabulary::trie::Trie;
use crate::walk::scratch::Scratch;
use crate::walk::trie_walk::{RuleExits, walk_trie};

/// Most uncertain tokens of a local part. The inside of a JSON string has about 1,200. A rule that may end
/// after every character has as many as the vocabulary has tokens, and then a plain walk is as good.
const MAX_UNCERTAIN: usize = 1 << 14;

/// The tokens that a local part accepts, and those that depend on the text after its rule.
#[derive(Debug)]
pub(crate) struct LocalPartMask {
    /// A bit for each token that it accepts, uncertain ones included as far as they end with the rule.
    pub(crate) words: Arc<[u32]>,
    pub(crate) suffixes: UncertainSuffixes,
}

/// The bytes of uncertain tokens after the end of the rule.
#[derive(Debug)]
pub(crate) struct UncertainSuffixes {
    /// The suffixes, each once; the "id" of one is its number.
    pub(crate) trie: Trie,
    /// Where the tokens of each suffix begin in `ids`, and the end.
    pub(crate) starts: Box<[u32]>,
    /// The tokens that end with each suffix. A token that can be cut in two places is listed twice.
    pub(crate) ids: Box<[u32]>,
}

impl LocalPartMask {
    /// Sorts the vocabulary for a local state, after whose rule only the bytes of `follow` can be read.
    pub(crate) fn new<B: Backend>(
        backend: &B,
        local: B::State,
        follow: &ByteSet,
        sets: &TokenSets,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<Option<Arc<Self>>, StepError> {
        let vocabulary = sets.vocabulary();
        let mut exits = RuleExits::default();
        let found = allowed_in_local_part(backend, local, sets, scratch, &mut exits, fuel)?;
        let Some(AllowedTokens { slice, ids, .. }) = found else { return Ok(None) };
        let mut words = vec![0; words_for(vocabulary.len())];
        let trie = match slice {
            None => vocabulary.trie(),
            Some((slice, _)) => {
                bits::copy(&mut words, slice.tokens());
                slice.residual()
            }
        };
        for &id in &*ids {
            bits::set(&mut words, id as usize);
        }
        // After the bits, because a token that the local part accepts as a whole is allowed whatever follows,
        // and is not uncertain.
        let Some(suffixes) = UncertainSuffixes::new(vocabulary, trie, follow, &exits, &words) else {
            return Ok(None);
        };
        Ok(Some(Arc::new(Self { words: words.into(), suffixes })))
    }

    /// Finds the uncertain tokens that `continuation`, the state after the rule, lets pass. The result is in
    /// the scratch space.
    pub(crate) fn resolve<B: Backend>(
        &self,
        backend: &B,
        continuation: B::State,
        scratch: &mut Scratch,
        fuel: &mut Fuel,
    ) -> Result<(), StepError> {
        let UncertainSuffixes { trie, starts, ids } = &self.suffixes;
        walk_trie(backend, continuation, trie, scratch.clear_ids(), &mut (), fuel)?;
        // The walk found the numbers of suffixes; each stands for all tokens that end with it.
        scratch.replace_ids(|suffix| {
            let suffix = suffix as usize;
            &ids[starts[suffix] as usize..starts[suffix + 1] as usize]
        });
        Ok(())
    }

    /// Bytes of memory held.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.words) + self.suffixes.memory_usage()
    }
}

impl UncertainSuffixes {
    /// The suffixes of the tokens below the exits. `None` where a trie cannot hold them.
    fn new(
        vocabulary: &Vocabulary,
        trie: &Trie,
        follow: &ByteSet,
        exits: &RuleExits,
        accepted: &[u32],
    ) -> Option<Self> {
        let mut left = uncertain(vocabulary, trie, follow, exits, accepted)?;
        add_duplicates(trie, &mut left);
        left.sort_unstable();
        left.dedup();
        Self::from_sorted(&left)
    }

    /// The tables of suffixes and the tokens that end with them, sorted, each pair once.
    pub(crate) fn from_sorted(left: &[(&[u8], TokenId)]) -> Option<Self> {
        let mut distinct = Vec::new();
        let mut starts = Vec::new();
        for (at, &(suffix, _)) in left.iter().enumerate() {
            if distinct.last() != Some(&suffix) {
                distinct.push(suffix);
                starts.push(u32::try_from(at).ok()?);
            }
        }
        // One entry more than suffixes, so that the tokens of each lie between two entries.
        starts.push(u32::try_from(left.len()).ok()?);
        let numbered = distinct.iter().enumerate().map(|(number, suffix)| {
            let number = u32::try_from(number).ok().and_then(TokenId::new);
            number.map(|number| (number, *suffix))
        });
        let numbered: Vec<(TokenId, &[u8])> = numbered.collect::<Option<_>>()?;
        let trie = Trie::from_sorted(distinct.len(), numbered).ok()?;
        let ids = left.iter().map(|(_, id)| id.get()).collect();
        Some(Self { trie, starts: starts.into(), ids })
    }

    /// The suffixes in ascending order with their tokens.
    pub(crate) fn list(&self) -> Vec<(Vec<u8>, &[u32])> {
        let mut path = Vec::new();
        let mut list = Vec::new();
        for node in self.trie.nodes() {
            path.truncate(usize::from(node.depth()) - 1);
            path.push(node.byte());
            if node.token() != self.trie.no_token() {
                let number = node.token() as usize;
                let ids = self.starts[number] as usize..self.starts[number + 1] as usize;
                list.push((path.clone(), &self.ids[ids]));
            }
        }
        list
    }

    fn memory_usage(&self) -> usize {
        self.trie.memory_usage() + size_of_val(&*self.starts) + size_of_val(&*self.ids)
    }
}

/// The tokens below the exits that are not accepted anyway and continue with a byte that may follow, each
/// with its bytes after the exit. `None` if there are too many.
fn uncertain<'v>(
    vocabulary: &'v Vocabulary,
    trie: &Trie,
    follow: &ByteSet,
    exits: &RuleExits,
    accepted: &[u32],
) -> Option<Vec<(&'v [u8], TokenId)>> {
    let nodes = trie.nodes();
    let mut left = Vec::new();
    for &exit in &exits.nodes {
        let exit = nodes.get(exit as usize).map(|node| (exit as usize, *node))?;
        let depth = usize::from(exit.1.depth());
        let (mut below, end) = (exit.0 + 1, exit.1.skip() as usize);
        while below < end {
            let (first, after) = (nodes[below], nodes[below].skip() as usize);
            let follows = byte_set::contains(follow, first.byte());
            // Only the first byte after the exit is tested here, which drops most tokens. The rest is left to
            // the walk of the suffixes.
            let subtree = if follows { below..after } else { 0..0 };
            for node in &nodes[subtree] {
                if node.token() != trie.no_token() && !bits::contains(accepted, node.token() as usize) {
                    let id = vocabulary.id(node.token())?;
                    left.push((&vocabulary.token_bytes(id)[depth..], id));
                }
            }
            below = after;
        }
        if left.len() > MAX_UNCERTAIN {
            return None;
        }
    }
    Some(left)
}

/// Ids with equal bytes have equal suffixes.
fn add_duplicates(trie: &Trie, left: &mut Vec<(&[u8], TokenId)>) {
    if trie.duplicates().is_empty() {
        return;
    }
    let mut by_id: Vec<(TokenId, &[u8])> = left.iter().map(|&(suffix, id)| (id, suffix)).collect();
    by_id.sort_unstable();
    for &(primary, other) in trie.duplicates() {
        let first = by_id.partition_point(|&(id, _)| id < primary);
        for &(_, suffix) in by_id[first..].iter().take_while(|&&(id, _)| id == primary) {
            left.push((suffix, other));
        }
    }
}
