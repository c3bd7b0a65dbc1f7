//! The mask of a state as a difference to that of another one.
//!
//! While the name of a property is being written, each letter leads to a new state, because another name may
//! be excluded or declared. But all of these states differ from "some other name" in a few tokens only.
//! Reading almost any letter from them leads to that state, which leads back to itself: the *reference*. Two
//! states are walked side by side over the trie, and where they come to the same state, no token below can
//! differ. From the second letter of a name to its reference that takes a few hundred steps, where a walk of
//! its own takes five thousand.
//!
//! Where both states let every text over a class pass, as they do while names are free, no token of its
//! [slice](crate::Slice) can differ either. Only the other tokens are walked: those that continue after the
//! end of a name. The letters of declared names are then stepped where a token holds such a name and its
//! quote, and not for every token that begins like one.

use grammask_grammar_ir::byte_set;
use grammask_parser_backend::{Backend, ClassRuns, Fuel, Rows, Run, StepError};

use crate::ids::TokenId;
use crate::token_sets::sets::TokenSets;
use crate::token_sets::slices::Slice;
use crate::vocabulary::trie::Trie;
use crate::walk::token_trials::reads_all_bytes;

/// Nodes that a comparison may visit. Beyond, the states have too little in common.
const MAX_VISITED: usize = 10_000;

/// Letters that are tried to find a reference: common and uncommon ones.
const PROBES: &[u8] = b"QZ7~jx";

/// The tokens by which two masks differ.
#[derive(Debug, Default)]
pub(crate) struct MaskDifference {
    pub(crate) added: Vec<u32>,
    pub(crate) removed: Vec<u32>,
}

/// The state that most letters lead to, if letters lead it back to itself and it is another one.
pub(crate) fn reference<B: Backend>(
    backend: &B,
    state: B::State,
    fuel: &mut Fuel,
) -> Result<Option<B::State>, StepError> {
    let mut targets: Vec<B::State> = Vec::with_capacity(PROBES.len());
    for &probe in PROBES {
        let Some(target) = backend.step(state, probe, fuel)? else { return Ok(None) };
        targets.push(target);
    }
    let votes = |target: &B::State| targets.iter().filter(|other| *other == target).count();
    let Some(&winner) = targets.iter().max_by_key(|target| votes(target)) else { return Ok(None) };
    // More than half of the probes must agree. A wrong guess costs time only, because the walk compares the
    // two states.
    if winner == state || 2 * votes(&winner) <= PROBES.len() {
        return Ok(None);
    }
    for &probe in PROBES {
        if backend.step(winner, probe, fuel)? != Some(winner) {
            return Ok(None);
        }
    }
    Ok(Some(winner))
}

/// Compares the masks of two states, stop tokens included. `None` where they have too little in common.
pub(crate) fn difference<B: Backend>(
    backend: &B,
    state: B::State,
    reference: B::State,
    sets: &TokenSets,
    fuel: &mut Fuel,
) -> Result<Option<MaskDifference>, StepError> {
    let vocabulary = sets.vocabulary();
    let bytes = backend.next_bytes(state);
    let other_bytes = backend.next_bytes(reference);
    let runs = backend.class_runs();
    let both_run_over = |slice: &Slice<'_>| {
        slice.may_begin(&bytes)
            && slice.may_begin(&other_bytes)
            && runs.run_over(reference, slice.class(), fuel) == Run::Unbounded
            && runs.run_over(state, slice.class(), fuel) == Run::Unbounded
    };
    // All tokens of the slice are allowed by both states, so they cannot be in the difference.
    let trie = sets.slices().find(both_run_over).map_or(vocabulary.trie(), Slice::residual);
    let rows = backend.rows();
    let side = |state| Some((state, rows.row(state)));
    let mut stack = vec![(side(state), side(reference))];
    let mut walk = PairWalk { rows, trie, visited: 0, found: MaskDifference::default(), fuel };
    // A token that only one of the two reads is a difference, so the bytes of both are walked.
    let either = std::array::from_fn(|word| bytes[word] | other_bytes[word]);
    for byte in byte_set::iter(&either) {
        if !walk.subtree(byte, &mut stack)? {
            return Ok(None);
        }
    }
    let PairWalk { mut found, fuel, .. } = walk;
    for &id in vocabulary.trie().long_tokens() {
        let bytes = vocabulary.token_bytes(id);
        let (here, there) = (
            reads_all_bytes(backend, state, bytes, fuel)?,
            reads_all_bytes(backend, reference, bytes, fuel)?,
        );
        found.note(id.get(), here, there);
    }
    add_duplicates(trie, &mut found.added);
    add_duplicates(trie, &mut found.removed);
    for &id in vocabulary.stop_tokens() {
        found.note(id.get(), backend.is_complete(state), backend.is_complete(reference));
    }
    Ok(Some(found))
}

impl MaskDifference {
    fn note(&mut self, id: u32, here: bool, there: bool) {
        match (here, there) {
            (true, false) => self.added.push(id),
            (false, true) => self.removed.push(id),
            _ => {}
        }
    }
}

struct PairWalk<'w, R> {
    rows: R,
    trie: &'w Trie,
    visited: usize,
    found: MaskDifference,
    fuel: &'w mut Fuel,
}

/// The state of a side after the bytes of a path, with its row; `None` where the side has died.
type Side<S, R> = Option<(S, <R as Rows<S>>::Row)>;

/// Both sides.
type Sides<S, R> = (Side<S, R>, Side<S, R>);

impl<R> PairWalk<'_, R> {
    /// Walks the tokens that begin with a byte. `false`: there is too much to visit.
    fn subtree<S: Copy + PartialEq>(
        &mut self,
        byte: u8,
        stack: &mut Vec<Sides<S, R>>,
    ) -> Result<bool, StepError>
    where
        R: Rows<S>,
    {
        let nodes = self.trie.nodes();
        let range = self.trie.first_byte(byte);
        let (mut index, end) = (range.start as usize, range.end as usize);
        while index < end {
            let node = nodes[index];
            let depth = usize::from(node.depth());
            let (here, there) = stack[depth - 1];
            let pair = (self.step(here, node.byte())?, self.step(there, node.byte())?);
            self.visited += 1;
            // Both are in the same state, or both have died: no token below can differ.
            if pair.0 == pair.1 {
                index = node.skip() as usize;
                continue;
            }
            if self.visited > MAX_VISITED {
                return Ok(false);
            }
            if node.token() != self.trie.no_token() {
                self.found.note(node.token(), pair.0.is_some(), pair.1.is_some());
            }
            if node.skip() as usize > index + 1 {
                let below = (self.below(here, pair.0), self.below(there, pair.1));
                match stack.get_mut(depth) {
                    Some(place) => *place = below,
                    None => stack.push(below),
                }
            }
            index += 1;
        }
        Ok(true)
    }

    fn step<S>(&mut self, side: Side<S, R>, byte: u8) -> Result<Option<S>, StepError>
    where
        R: Rows<S>,
    {
        match side {
            Some((state, row)) => self.rows.step_in(row, state, byte, self.fuel),
            None => Ok(None),
        }
    }

    /// A state with its row, reached from a side.
    fn below<S: Copy>(&self, from: Side<S, R>, state: Option<S>) -> Side<S, R>
    where
        R: Rows<S>,
    {
        let state = state?;
        let row = match from {
            Some((from, row)) => self.rows.row_from(from, row, state),
            None => self.rows.row(state),
        };
        Some((state, row))
    }
}

/// Ids with equal bytes differ in the same way.
fn add_duplicates(trie: &Trie, ids: &mut Vec<u32>) {
    if trie.duplicates().is_empty() || ids.is_empty() {
        return;
    }
    ids.sort_unstable();
    let others: Vec<u32> = trie
        .duplicates()
        .iter()
        .filter(|(primary, _)| ids.binary_search(&primary.get()).is_ok())
        .map(|(_, other): &(TokenId, TokenId)| other.get())
        .collect();
    ids.extend(others);
}
