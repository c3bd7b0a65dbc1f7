//! What satisfies one normal form and not another.
//!
//! The naive way conjoins with the complement. The complement of an object has an alternative for each property, and
//! that of a union is the product of these: ten alternatives of three properties each make 59,049. Most of them are
//! contradictions beside the first form. So the alternatives of the second form are taken away one after the other, each
//! from those that it has something in common with: what fails its first condition, what satisfies that and fails the
//! second one, and so on. Those have nothing in common, so that the next alternative is taken away from few of them, and
//! what comes out empty is left out at once. For few alternatives the naive way is cheaper, and it is taken wherever it
//! stays within the limit.

use std::rc::Rc;

use super::document::NodeId;
use super::goal::{Atom, GoalId};
use super::keywords::{Fallible, Normalizer};
use super::norm::{Norm, TooManyAlternatives};
use super::proof::PROOF_DEPTH;

impl<'s> Normalizer<'s> {
    /// What satisfies a normal form and a goal, where a goal that is the opposite of another one need not be written out.
    pub(super) fn conjoin_goal(
        &mut self,
        norm: &Norm<'s>,
        goal: GoalId,
    ) -> Fallible<Result<Norm<'s>, TooManyAlternatives>> {
        match *self.algebra.goals.atoms(goal) {
            [Atom::Not(inner)] if goal != GoalId::NEVER => self.without(norm, inner),
            _ => {
                let other = self.norm(goal)?;
                Ok(self.conjoin(norm, &other))
            }
        }
    }

    /// What satisfies a normal form and not a goal.
    pub(super) fn without(
        &mut self,
        norm: &Norm<'s>,
        goal: GoalId,
    ) -> Fallible<Result<Norm<'s>, TooManyAlternatives>> {
        if let Some(opposite) = self.opposite(goal)?
            && let Ok(both) = self.conjoin(norm, &opposite)
        {
            return Ok(Ok(both));
        }
        let taken = self.norm(goal)?;
        let node = self.goal_node(goal);
        Ok(self.difference(norm, &taken, node))
    }

    /// What satisfies a normal form and goals, of which those that are opposites are taken away one after the other.
    pub(super) fn taken_away(
        &mut self,
        norm: &Norm<'s>,
        goals: &[GoalId],
    ) -> Fallible<Result<Norm<'s>, TooManyAlternatives>> {
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
    pub(super) fn opposite(&mut self, goal: GoalId) -> Fallible<Option<Rc<Norm<'s>>>> {
        if let Some(known) = self.opposites.get(&goal) {
            return Ok(known.clone());
        }
        let norm = self.norm(goal)?;
        let node = self.goal_node(goal);
        let opposite = norm.complement(node, &mut self.algebra).ok().map(Rc::new);
        self.opposites.insert(goal, opposite.clone());
        Ok(opposite)
    }

    fn difference(
        &mut self,
        norm: &Norm<'s>,
        taken: &Norm<'s>,
        node: NodeId,
    ) -> Result<Norm<'s>, TooManyAlternatives> {
        let others = |norm: &Norm<'s>| Norm { objects: Vec::new(), ..norm.clone() };
        let fails = others(taken).complement(node, &mut self.algebra)?;
        let mut result = others(norm).and(&others(&fails), &mut self.algebra)?;
        let limit = self.options.limits.alternatives;
        let mut left = norm.objects.clone();
        for shape in &taken.objects {
            let conditions = shape.conditions(&mut self.algebra.goals);
            let mut next = Vec::new();
            for one in left {
                let common = self.conjoined(&one, shape);
                if common.is_empty() || self.no_object(&common, PROOF_DEPTH) {
                    next.push(one);
                    continue;
                }
                let mut rest = one;
                for condition in &conditions {
                    let failing = self.conjoined(&rest, &condition.fails);
                    if !failing.is_empty() && !self.no_object(&failing, PROOF_DEPTH) {
                        next.push(failing);
                    }
                    rest = self.conjoined(&rest, &condition.holds);
                }
                if next.len() > limit || self.check_work().is_err() {
                    return Err(TooManyAlternatives);
                }
            }
            left = next;
        }
        result.objects = left;
        result.simplify(&mut self.algebra);
        Ok(result)
    }
}
