//! Proofs that nothing satisfies a normal form: alternatives that exclude each other need not be distinguished.
//!
//! Shapes that contradict themselves on their face were dropped when they were made. The others may be empty
//! for a deeper reason: in a required property, in the items that an array must have, in a name that two
//! patterns ask for. The search looks into those, to a bounded depth. A shape without a proof counts as
//! inhabited.

use std::rc::Rc;

use super::normalizer::Normalizer;
use crate::json_schema::sets::array_shape::ArrayShape;
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{Algebra, NormalForm, PAIRS_FOR_ONE, TooManyAlternatives};
use crate::json_schema::sets::object_shape::{MemberObligation, ObjectShape, Presence, join_tests};
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::TextTest;
use crate::json_schema::sets::union::Alternatives;

/// How deep a proof that two alternatives exclude each other looks into properties and items.
pub(crate) const MAX_PROOF_DEPTH: u32 = 3;

/// How many proofs may wait for normal forms whose own making needs proofs. In a schema that refers to itself each may
/// ask for one of a larger goal, without an end.
const MAX_NESTED_PROOFS: u32 = 8;

/// Items and members that one proof looks at.
const MAX_PARTS: usize = 64;

/// Complements from which on those of a goal are looked at. Few are left as they are: goals are compared by their atoms, so
/// that equal sets had better be written alike.
const MANY_COMPLEMENTS: usize = 6;

/// Pairs of alternatives from which on those that nothing satisfies are sought out while they are conjoined.
const MIN_PRUNED_PAIRS: usize = 8;

/// How deep these proofs look.
const MAX_PRUNING_DEPTH: u32 = 2;

impl<'s> Normalizer<'s> {
    /// The conjunction of both. Of many alternatives, those that nothing satisfies are left out. The
    /// complement of an object has one for each property that has a value of the wrong kind. Beside an object
    /// whose property is of the right kind most of them are empty.
    pub(crate) fn conjoin(
        &mut self,
        left: &NormalForm<'s>,
        right: &NormalForm<'s>,
    ) -> Result<NormalForm<'s>, TooManyAlternatives> {
        let pairs = left.objects.len().saturating_mul(right.objects.len());
        if pairs < MIN_PRUNED_PAIRS || left.is_any() || right.is_any() {
            return left.and(right, &mut self.algebra);
        }
        let limit = self.options.limits.alternatives;
        if pairs > limit.saturating_mul(PAIRS_FOR_ONE) {
            return Err(TooManyAlternatives);
        }
        let others = |norm: &NormalForm<'s>| NormalForm { objects: Vec::new(), ..norm.clone() };
        let mut both = others(left).and(&others(right), &mut self.algebra)?;
        let mut objects = Alternatives::new();
        for one in &left.objects {
            for other in &right.objects {
                let shape = self.conjoined(one, other);
                if !shape.is_empty() && !self.object_surely_empty(&shape, MAX_PRUNING_DEPTH) {
                    objects.insert(shape);
                }
                if objects.len() > limit || self.algebra.work.is_spent() {
                    return Err(TooManyAlternatives);
                }
            }
        }
        both.objects = objects.into_shapes();
        both.simplified(&mut self.algebra)
    }

    /// The objects of both shapes.
    pub(crate) fn conjoined(&mut self, one: &ObjectShape<'s>, other: &ObjectShape<'s>) -> ObjectShape<'s> {
        let Algebra { goals, tests, .. } = &mut self.algebra;
        let mut both = one.and(other, goals, tests);
        for property in &mut both.properties {
            property.value = self.without_idle_complements(property.value);
        }
        both
    }

    /// A goal of the same values as another one: beside schemas that list some scalars, complements are left out that
    /// exclude none of them. So the goals of a member by which many schemas tell objects apart stay short.
    fn without_idle_complements(&mut self, goal: GoalId) -> GoalId {
        let is_complement = |atom: &Atom| matches!(atom, Atom::Not(_));
        let (complements, schemas): (Vec<Atom>, Vec<Atom>) =
            self.algebra.goals.atoms(goal).iter().partition(|atom| is_complement(atom));
        if complements.len() < MANY_COMPLEMENTS || schemas.is_empty() {
            return goal;
        }
        if let Some(&known) = self.shorter_goals.get(&goal) {
            return known;
        }
        let listing = schemas.into_iter().fold(GoalId::ANY, |listing, atom| {
            let atom = self.algebra.goals.atom(atom);
            self.algebra.goals.and(listing, atom)
        });
        let values = self.known_norm(listing).filter(|norm| norm.lists_scalars());
        let left = values.as_ref().and_then(|_| self.known_norm(goal));
        let shorter = match (values, left) {
            (_, Some(left)) if left.is_never() => GoalId::NEVER,
            (Some(values), Some(left)) if values == left => listing,
            _ => goal,
        };
        self.shorter_goals.insert(goal, shorter);
        shorter
    }

    /// Whether nothing satisfies a normal form, as far as a bounded search can prove it.
    pub(crate) fn surely_empty(&mut self, norm: &NormalForm<'s>, depth: u32) -> bool {
        if norm.null || norm.booleans != [false, false] || !norm.numbers.is_empty() {
            return false;
        }
        norm.objects.iter().all(|shape| self.object_surely_empty(shape, depth))
            && norm.arrays.iter().all(|shape| self.array_surely_empty(shape, depth))
            && norm.strings.iter().all(|shape| !self.algebra.may_be_nonempty(shape))
    }

    fn goal_surely_empty(&mut self, goal: GoalId, depth: u32) -> bool {
        self.algebra.work.charge(1);
        if depth == 0 || goal == GoalId::ANY {
            return goal == GoalId::NEVER;
        }
        self.known_norm(goal).is_some_and(|norm| self.surely_empty(&norm, depth - 1))
    }

    /// The normal form of a goal, unless it cannot be read here: it refers back to one that is being read, or proofs are
    /// nested too deep.
    pub(crate) fn known_norm(&mut self, goal: GoalId) -> Option<Rc<NormalForm<'s>>> {
        if self.waiting_proofs >= MAX_NESTED_PROOFS {
            return None;
        }
        self.waiting_proofs += 1;
        let norm = self.norm(goal);
        self.waiting_proofs -= 1;
        norm.ok()
    }

    pub(crate) fn array_surely_empty(&mut self, shape: &ArrayShape, depth: u32) -> bool {
        let places = shape.prefix.len().min(MAX_PARTS);
        let forced = (0..places + 1).take_while(|&index| (index as u64) < shape.min);
        if forced.into_iter().any(|index| self.goal_surely_empty(shape.item(index), depth)) {
            return true;
        }
        // Every item from its first place on may be a witness of an obligation.
        shape.obligations.iter().filter(|obligation| obligation.min > 0).any(|obligation| {
            shape.prefix.len() <= MAX_PARTS
                && (obligation.from..=shape.prefix.len().max(obligation.from)).all(|index| {
                    let witness = self.algebra.goals.and(shape.item(index), obligation.goal);
                    self.goal_surely_empty(witness, depth)
                })
        })
    }

    pub(crate) fn object_surely_empty(&mut self, shape: &ObjectShape<'s>, depth: u32) -> bool {
        self.algebra.work.charge(1 + shape.properties.len() / 4);
        if self.algebra.work.is_spent() {
            return false;
        }
        let required = shape.properties.iter().filter(|property| property.presence == Presence::Required);
        if required.into_iter().any(|property| self.goal_surely_empty(property.value, depth)) {
            return true;
        }
        self.algebra.work.charge(4 * shape.obligations.len() * (1 + shape.cells.len()));
        let unmet = shape.obligations.iter().any(|obligation| {
            !self.declared_may_be_witness(shape, obligation, depth)
                && shape.cells.iter().all(|cell| {
                    let value = self.algebra.goals.and(cell.value, obligation.value);
                    join_tests(&cell.tests, &obligation.tests).is_none_or(|tests| {
                        self.member_surely_empty(&tests, &obligation.except, value, depth)
                    })
                })
        });
        unmet || shape.min > 0 && self.has_too_few_members(shape, depth)
    }

    /// Whether a member with a declared name may be the witness of an obligation. Two shapes that were just
    /// conjoined have the obligations of both, and a name that is free in one may be declared by the other.
    fn declared_may_be_witness(
        &mut self,
        shape: &ObjectShape<'s>,
        obligation: &MemberObligation<'s>,
        depth: u32,
    ) -> bool {
        shape.properties.len() > MAX_PARTS
            || shape.properties.iter().any(|property| {
                let Algebra { goals, tests, .. } = &mut self.algebra;
                let value = goals.and(property.value, obligation.value);
                obligation.except.binary_search(&property.name).is_err()
                    && obligation.tests.iter().all(|&test| tests.passes(test, property.name))
                    && !self.goal_surely_empty(value, depth)
            })
    }

    fn has_too_few_members(&mut self, shape: &ObjectShape<'s>, depth: u32) -> bool {
        if shape.properties.len() > MAX_PARTS {
            return false;
        }
        let mut possible = 0;
        for property in &shape.properties {
            possible += u64::from(!self.goal_surely_empty(property.value, depth));
        }
        possible < shape.min
            && shape.cells.iter().all(|cell| self.member_surely_empty(&cell.tests, &[], cell.value, depth))
    }

    /// Whether no member has a name that passes the tests and a value of the goal.
    fn member_surely_empty(
        &mut self,
        tests: &[TextTest],
        except: &[&'s str],
        value: GoalId,
        depth: u32,
    ) -> bool {
        if value == GoalId::NEVER {
            return true;
        }
        self.algebra.work.charge(4 + tests.len() + except.len());
        let shape = StringShape { tests: tests.to_vec(), excluded: except.to_vec(), ..StringShape::any() };
        !self.algebra.may_be_nonempty(&shape) || self.goal_surely_empty(value, depth)
    }
}
