//! `oneOf`: each alternative without the others.
//!
//! The naive way is the union, over the alternatives, of one and the complements of all others. Complements of
//! objects have an alternative for each property, and products of several grow without end. Most alternatives
//! exclude each other anyway, and then no complement is needed. Whether they do is looked at beside the other
//! keywords of the schema: what the schema requires or closes tells alternatives apart that would overlap alone.
//! Alternatives that nothing satisfies beside the other keywords are left out.

use std::mem;

use super::normalizer::Normalizer;
use super::proofs::MAX_PROOF_DEPTH;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::Value;
use crate::json_schema::options::OneOf;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::{NormalForm, TooManyAlternatives};
use crate::json_schema::sets::union::Union;

/// Alternatives of objects from which on those that have nothing in common are sought.
const MANY_OBJECTS: usize = 32;

/// An alternative.
pub(crate) struct OneOfBranch<'s> {
    pub(crate) goal: GoalId,
    /// The goal, where it is to fail.
    condition: GoalId,
    /// The values that satisfy it and the context.
    pub(crate) within: NormalForm<'s>,
    /// The same of the condition, if that is another goal.
    rival: Option<NormalForm<'s>>,
    /// Those others that it is not known to exclude.
    pub(crate) others: Vec<OtherBranch>,
}

/// An alternative that must not hold beside another one.
pub(crate) struct OtherBranch {
    /// Its complement.
    pub(crate) fails: GoalId,
    /// Whether some object may satisfy both.
    shares_objects: bool,
}

impl<'s> OneOfBranch<'s> {
    /// The values of the context that satisfy its condition.
    fn as_rival(&self) -> &NormalForm<'s> {
        self.rival.as_ref().unwrap_or(&self.within)
    }
}

impl<'s> Normalizer<'s> {
    /// The values that satisfy the context and one alternative.
    pub(crate) fn one_of(
        &mut self,
        node: NodeId,
        value: &'s Value<'s>,
        context: &NormalForm<'s>,
    ) -> Result<NormalForm<'s>> {
        let Some(branches) = self.viable_branches(node, value, context)? else { return Ok(context.clone()) };
        let mut result = Union::new();
        for branch in branches {
            let Ok(alone) = self.excluding_other_branches(&branch)? else {
                self.too_many(node, Some("oneOf"))?;
                return Ok(context.clone());
            };
            if result.add(alone, &mut self.algebra).is_err() {
                self.too_many(node, Some("oneOf"))?;
                return Ok(context.clone());
            }
        }
        match result.finish(&mut self.algebra) {
            Ok(norm) => Ok(norm),
            Err(TooManyAlternatives) => self.too_many(node, Some("oneOf")).map(|()| context.clone()),
        }
    }

    /// The values that satisfy an alternative and none of the others.
    fn excluding_other_branches(
        &mut self,
        branch: &OneOfBranch<'s>,
    ) -> Result<Result<NormalForm<'s>, TooManyAlternatives>> {
        let mut alone = branch.within.clone();
        for &OtherBranch { fails, shares_objects } in &branch.others {
            if alone.is_never() {
                break;
            }
            // The others take nothing from objects that they exclude: alternatives that say nothing of the type exclude one
            // another there, and share all other values.
            let kept = if shares_objects { Vec::new() } else { mem::take(&mut alone.objects) };
            let Ok(both) = self.conjoin_goal(&alone, fails)? else { return self.without_others(branch) };
            alone = both;
            alone.objects.extend(kept);
        }
        // The complements may overlap. Taking away one after the other leaves parts that do not, which may be
        // fewer.
        if alone.objects.len() > MANY_OBJECTS
            && let Ok(fewer) = self.without_others(branch)?
            && fewer.objects.len() < alone.objects.len()
        {
            alone = fewer;
        }
        Ok(Ok(alone))
    }

    /// The values that satisfy none of the alternatives that one may hold together with.
    pub(crate) fn without_rivals(
        &mut self,
        node: NodeId,
        branch: &OneOfBranch<'s>,
    ) -> Result<NormalForm<'s>> {
        let rivals = branch.others.iter().filter(|other| other.shares_objects);
        let rivals: Vec<GoalId> = rivals.map(|other| other.fails).collect();
        let together = self.algebra.goals.all(GoalId::ANY, &rivals);
        let mut alone = self.norm_copy(together)?;
        for other in branch.others.iter().filter(|other| !other.shares_objects) {
            let fails = NormalForm { objects: NormalForm::any().objects, ..self.norm_copy(other.fails)? };
            match self.conjoin(&alone, &fails) {
                Ok(both) => alone = both,
                Err(TooManyAlternatives) => self.too_many(node, Some("oneOf"))?,
            }
        }
        Ok(alone)
    }

    /// The same, with alternatives of objects that have nothing in common.
    fn without_others(
        &mut self,
        branch: &OneOfBranch<'s>,
    ) -> Result<Result<NormalForm<'s>, TooManyAlternatives>> {
        let others: Vec<GoalId> = branch.others.iter().map(|other| other.fails).collect();
        self.subtract_in_order(&branch.within, &others)
    }

    /// The alternatives that can hold; none where there are too many and the caller wants to go on.
    pub(crate) fn viable_branches(
        &mut self,
        node: NodeId,
        value: &'s Value<'s>,
        context: &NormalForm<'s>,
    ) -> Result<Option<Vec<OneOfBranch<'s>>>> {
        let goals = self.branches(node, "oneOf", value)?;
        self.allow_written_alternatives(goals.len());
        if goals.len() > self.options.limits.alternatives {
            self.too_many(node, Some("oneOf"))?;
            return Ok(None);
        }
        let mut branches: Vec<OneOfBranch<'s>> = Vec::with_capacity(goals.len());
        for goal in goals {
            let norm = self.norm(goal)?;
            let Ok(within) = self.conjoin(context, &norm) else {
                self.too_many(node, Some("oneOf"))?;
                return Ok(None);
            };
            let condition = self.as_condition(goal);
            let mut branch = OneOfBranch { goal, condition, within, rival: None, others: Vec::new() };
            if condition != goal {
                let norm = self.norm(condition)?;
                branch.rival = self.conjoin(context, &norm).ok();
                if branch.rival.is_none() {
                    self.too_many(node, Some("oneOf"))?;
                    return Ok(None);
                }
            }
            if !self.surely_empty(branch.as_rival(), MAX_PROOF_DEPTH) {
                branches.push(branch);
            }
        }
        if self.options.one_of == OneOf::AsAnyOf {
            return Ok(Some(branches));
        }
        // Each pair once. Only pairs that may hold together need a complement, in both directions.
        let mut complements = vec![None; branches.len()];
        for right in 1..branches.len() {
            self.check_work()?;
            // Past the limit no goal has a normal form, and nothing would be proved of any pair.
            self.check_goals()?;
            let (before, rest) = branches.split_at_mut(right);
            let (complements, of_right) = complements.split_at_mut(right);
            let right = &mut rest[0];
            for (left, complement) in before.iter_mut().zip(complements) {
                let shares = self.shares(&left.within, right.as_rival());
                let shares_back = match (&left.rival, &right.rival) {
                    (None, None) => shares,
                    // In the same order, so that no other goals come of it.
                    _ => self.shares(left.as_rival(), &right.within),
                };
                if let Some(shares_objects) = shares {
                    let fails = *of_right[0].get_or_insert_with(|| self.algebra.goals.not(right.condition));
                    left.others.push(OtherBranch { fails, shares_objects });
                }
                if let Some(shares_objects) = shares_back {
                    let fails = *complement.get_or_insert_with(|| self.algebra.goals.not(left.condition));
                    right.others.push(OtherBranch { fails, shares_objects });
                }
            }
        }
        Ok(Some(branches))
    }

    /// Whether some objects are in both, if anything is.
    fn shares(&mut self, one: &NormalForm<'s>, other: &NormalForm<'s>) -> Option<bool> {
        let has_objects = [one, other].iter().all(|norm| !norm.objects.is_empty());
        if !has_objects && one.shares_number(other, &self.algebra) {
            return Some(false);
        }
        let Ok(both) = one.and(other, &mut self.algebra) else { return Some(true) };
        if self.surely_empty(&both, MAX_PROOF_DEPTH) {
            return None;
        }
        Some(both.objects.iter().any(|shape| !self.object_surely_empty(shape, MAX_PROOF_DEPTH)))
    }
}
