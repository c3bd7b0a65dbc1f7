//! The difference of normal forms.
//!
//! The naive way conjoins with the complement. The complement of an object has an alternative for each
//! property, and that of a union is the product of these: ten alternatives of three properties each make
//! 59,049. Most of them are contradictions beside the first form. So the alternatives of the second form are
//! taken away one after the other, each from those with which it has something in common. It leaves the
//! values that fail its first condition, those that satisfy that and fail the second one, and so on. Those
//! have nothing in common, so that the next alternative is taken away from few of them, and what comes out
//! empty is left out at once. For few alternatives the naive way is cheaper, and it is taken wherever it
//! stays within the limit.

use std::rc::Rc;

use super::normalizer::Normalizer;
use super::proofs::MAX_PROOF_DEPTH;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{NormalForm, TooManyAlternatives};

impl<'s> Normalizer<'s> {
    /// The values of a normal form that satisfy a goal, where the complement of another goal need not be written out.
    pub(crate) fn conjoin_goal(
        &mut self,
        norm: &NormalForm<'s>,
        goal: GoalId,
    ) -> Result<Result<NormalForm<'s>, TooManyAlternatives>> {
        match *self.algebra.goals.atoms(goal) {
            [Atom::Not(inner)] if goal != GoalId::NEVER => self.subtract_goal(norm, inner),
            _ => {
                let other = self.norm(goal)?;
                Ok(self.conjoin(norm, &other))
            }
        }
    }

    /// The values of a normal form that do not satisfy a goal.
    pub(crate) fn subtract_goal(
        &mut self,
        norm: &NormalForm<'s>,
        goal: GoalId,
    ) -> Result<Result<NormalForm<'s>, TooManyAlternatives>> {
        // The naive way first. It is cheaper while it stays within the limit.
        if let Some(complement_of) = self.complement_of(goal)?
            && let Ok(both) = self.conjoin(norm, &complement_of)
        {
            return Ok(Ok(both));
        }
        let taken = self.norm(goal)?;
        let node = self.goal_node(goal);
        Ok(self.difference(norm, &taken, node))
    }

    /// The values of a normal form that satisfy goals, of which those that are complements are subtracted one after
    /// the other.
    pub(crate) fn subtract_in_order(
        &mut self,
        norm: &NormalForm<'s>,
        goals: &[GoalId],
    ) -> Result<Result<NormalForm<'s>, TooManyAlternatives>> {
        let mut left = norm.clone();
        for &goal in goals {
            let next = match *self.algebra.goals.atoms(goal) {
                [Atom::Not(inner)] if goal != GoalId::NEVER => {
                    let (taken, node) = (self.norm(inner)?, self.goal_node(inner));
                    self.difference(&left, &taken, node)
                }
                _ => {
                    let other = self.norm(goal)?;
                    self.conjoin(&left, &other)
                }
            };
            match next {
                Ok(next) => left = next,
                Err(TooManyAlternatives) => return Ok(Err(TooManyAlternatives)),
            }
        }
        Ok(Ok(left))
    }

    /// The complement of a goal, written out; `None` where it has too many alternatives.
    pub(crate) fn complement_of(&mut self, goal: GoalId) -> Result<Option<Rc<NormalForm<'s>>>> {
        if let Some(known) = self.complements.get(&goal) {
            return Ok(known.clone());
        }
        let norm = self.norm(goal)?;
        let node = self.goal_node(goal);
        let complement_of = norm.complement(node, &mut self.algebra).ok().map(Rc::new);
        // A failure is kept, too, so it is not tried again.
        self.complements.insert(goal, complement_of.clone());
        Ok(complement_of)
    }

    fn difference(
        &mut self,
        norm: &NormalForm<'s>,
        taken: &NormalForm<'s>,
        node: NodeId,
    ) -> Result<NormalForm<'s>, TooManyAlternatives> {
        let others = |norm: &NormalForm<'s>| NormalForm { objects: Vec::new(), ..norm.clone() };
        // All but objects by the complement, which has few alternatives there. The kinds of values do not
        // mix, so objects are taken away by themselves.
        let fails = others(taken).complement(node, &mut self.algebra)?;
        let mut result = others(norm).and(&others(&fails), &mut self.algebra)?;
        let limit = self.options.limits.alternatives;
        let mut left = norm.objects.clone();
        for shape in &taken.objects {
            let conditions = shape.conditions(&mut self.algebra.goals);
            let mut next = Vec::new();
            for one in left {
                let common = self.conjoined(&one, shape);
                // Nothing in common, so nothing is taken away.
                if common.is_empty() || self.object_surely_empty(&common, MAX_PROOF_DEPTH) {
                    next.push(one);
                    continue;
                }
                // `rest` satisfies all conditions up to here. Its part that fails the next one stays, and the
                // part that is left in the end is taken away.
                let mut rest = one;
                for condition in &conditions {
                    let failing = self.conjoined(&rest, &condition.fails);
                    if !failing.is_empty() && !self.object_surely_empty(&failing, MAX_PROOF_DEPTH) {
                        next.push(failing);
                    }
                    if next.len() > limit {
                        return Err(TooManyAlternatives);
                    }
                    rest = self.conjoined(&rest, &condition.holds);
                }
                if self.check_work().is_err() {
                    return Err(TooManyAlternatives);
                }
            }
            left = next;
        }
        result.objects = left;
        result.simplified(&mut self.algebra)
    }
}
