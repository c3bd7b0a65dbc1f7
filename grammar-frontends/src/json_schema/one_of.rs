//! `oneOf`: each alternative without the others.
//!
//! The naive way is the union, over the alternatives, of one and the complements of all others. Complements of
//! objects have an alternative for each property, and products of several grow without end. Most alternatives
//! exclude each other anyway, and then no complement is needed. Whether they do is looked at beside the other
//! keywords of the schema: what the schema requires or closes tells alternatives apart that would overlap alone.
//! Alternatives that nothing satisfies beside the other keywords are left out.

use super::document::NodeId;
use super::goal::GoalId;
use super::json::Value;
use super::keywords::{Fallible, Normalizer};
use super::norm::{Norm, TooManyAlternatives};
use super::proof::PROOF_DEPTH;

/// An alternative.
pub(super) struct Branch<'s> {
    pub(super) goal: GoalId,
    /// What satisfies it and the context.
    pub(super) within: Norm<'s>,
    /// What must hold in addition: the opposites of those others that it is not known to exclude.
    pub(super) others_fail: Vec<GoalId>,
}

impl<'s> Normalizer<'s> {
    /// What satisfies the context and one alternative.
    pub(super) fn one_of(
        &mut self,
        node: NodeId,
        value: &'s Value<'s>,
        context: &Norm<'s>,
    ) -> Fallible<Norm<'s>> {
        let Some(branches) = self.told_apart(node, value, context)? else { return Ok(context.clone()) };
        let mut result = Norm::never();
        for branch in branches {
            let Ok(alone) = self.alone(&branch)? else {
                self.too_many(node, Some("oneOf"))?;
                return Ok(context.clone());
            };
            if result.or(&alone, &mut self.algebra).is_err() {
                self.too_many(node, Some("oneOf"))?;
                return Ok(context.clone());
            }
        }
        Ok(result)
    }

    /// What satisfies an alternative and none of the others.
    fn alone(&mut self, branch: &Branch<'s>) -> Fallible<Result<Norm<'s>, TooManyAlternatives>> {
        let mut alone = branch.within.clone();
        for &fails in &branch.others_fail {
            match self.conjoin_goal(&alone, fails)? {
                Ok(both) => alone = both,
                Err(TooManyAlternatives) => return self.taken_away(&branch.within, &branch.others_fail),
            }
        }
        Ok(Ok(alone))
    }

    /// The alternatives that can hold; none where there are too many and the caller wants to go on.
    pub(super) fn told_apart(
        &mut self,
        node: NodeId,
        value: &'s Value<'s>,
        context: &Norm<'s>,
    ) -> Fallible<Option<Vec<Branch<'s>>>> {
        let goals = self.branches(node, "oneOf", value)?;
        if goals.len() > self.options.limits.alternatives {
            self.too_many(node, Some("oneOf"))?;
            return Ok(None);
        }
        let mut branches: Vec<Branch<'s>> = Vec::with_capacity(goals.len());
        for goal in goals {
            let norm = self.norm(goal)?;
            let Ok(within) = self.conjoin(context, &norm) else {
                self.too_many(node, Some("oneOf"))?;
                return Ok(None);
            };
            if !self.surely_empty(&within, PROOF_DEPTH) {
                branches.push(Branch { goal, within, others_fail: Vec::new() });
            }
        }
        for right in 1..branches.len() {
            self.check_work()?;
            let (before, rest) = branches.split_at_mut(right);
            let right = &mut rest[0];
            for left in before {
                let disjoint = match left.within.and(&right.within, &mut self.algebra) {
                    Ok(both) => self.surely_empty(&both, PROOF_DEPTH),
                    Err(TooManyAlternatives) => false,
                };
                if !disjoint {
                    left.others_fail.push(self.algebra.goals.not(right.goal));
                    right.others_fail.push(self.algebra.goals.not(left.goal));
                }
            }
        }
        Ok(Some(branches))
    }
}
