//! Choices of literals as tries.
//!
//! A chain for each literal has as many states as the literals have bytes, and all first bytes in one state:
//! 2,000 strings would be 2,000 parses at once. Sorted, literals with a common prefix are neighbours, and one
//! sweep that keeps the path of the literal before writes each prefix once.

use grammask_grammar_ir::{ExprId, RuleId};

use crate::draft::automata::Draft;
use crate::draft::ids::DraftStateId;
use crate::error::Failure;
use crate::text::dfa::RangeDfa;

const BYTES_BETWEEN_CHECKS: usize = 64;

/// Alternatives of one choice that begin with a literal.
#[derive(Default)]
pub(crate) struct Literals<'g> {
    /// The literal, the rest of its alternative, and the rule that contains both.
    entries: Vec<(&'g [u8], &'g [ExprId], RuleId)>,
    /// The states after each prefix of the literal written last.
    path: Vec<DraftStateId>,
}

impl<'g> Literals<'g> {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn push(&mut self, literal: &'g [u8], tail: &'g [ExprId], rule: RuleId) {
        self.entries.push((literal, tail, rule));
    }

    /// Writes all literals between two states. The expression after a literal is passed to `tail`, with the
    /// state in which it begins. `check` is called after each literal, and now and then inside of long ones, for the
    /// limits on the size of the draft.
    pub(crate) fn write_trie(
        &mut self,
        draft: &mut Draft,
        (from, to): (DraftStateId, DraftStateId),
        mut tail: impl FnMut(&'g [ExprId], RuleId, DraftStateId),
        mut check: impl FnMut(&Draft) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.entries.sort_unstable_by_key(|entry| entry.0);
        self.path.clear();
        self.path.push(from);
        let mut before: &[u8] = &[];
        for (index, &(literal, rest, rule)) in self.entries.iter().enumerate() {
            let shared = literal.iter().zip(before).take_while(|(left, right)| left == right).count();
            self.path.truncate(shared + 1);
            let goes_on =
                self.entries.get(index + 1).is_some_and(|(following, ..)| following.starts_with(literal));
            // The state after the whole literal is the end, unless something else begins there.
            let shares_end = goes_on || !rest.is_empty() || literal == before;
            let inner = if shares_end { literal.len() } else { literal.len() - 1 };
            for (at, &byte) in literal[shared.min(inner)..inner].iter().enumerate() {
                if at % BYTES_BETWEEN_CHECKS == BYTES_BETWEEN_CHECKS - 1 {
                    check(draft)?;
                }
                let next = draft.state();
                draft.bytes(self.path[self.path.len() - 1], byte, byte, next);
                self.path.push(next);
            }
            let last = self.path[self.path.len() - 1];
            if !rest.is_empty() {
                tail(rest, rule, last);
            } else if inner == literal.len() {
                draft.epsilon(last, to);
            } else {
                let byte = literal[inner];
                draft.bytes(last, byte, byte, to);
            }
            before = literal;
            check(draft)?;
        }
        Ok(())
    }

    /// The literals as an automaton over characters, or `None` if there are none. Those with tails must not
    /// be among them.
    pub(crate) fn text_trie(&mut self) -> Result<Option<RangeDfa>, Failure> {
        if self.entries.is_empty() {
            return Ok(None);
        }
        RangeDfa::from_literals(self.entries.iter().map(|entry| entry.0)).map(Some)
    }
}
