//! Whether the readings of a text agree on what is compared.
//!
//! Where alternatives of one type are read side by side (`anyOf` of two objects), the parser follows several
//! readings of one text. The engine needs one answer to whether an array or an object is compared. The naive
//! way refuses all marks below alternatives. But the readings disagree only where two of them may be at the
//! same place, one in a marked array and the other in one that is not. So it is enough to follow the pairs of
//! goals that may read values at one place. For items these are goals of the same index, for members goals of
//! the same name.
//!
//! Two objects often differ early. If members come as they are declared, and both objects require the same
//! first members with values that differ (`kind`), one reading is left after these.

use grammask_grammar_ir::RuleId;
use grammask_grammar_ir::hash::{HashMap, HashSet};

use super::lowering::SchemaLowering;
use super::unique_items::rules_of;
use crate::diagnostic::Result;
use crate::json_schema::normalize::proofs::MAX_PROOF_DEPTH;
use crate::json_schema::options::KeyOrder;
use crate::json_schema::sets::array_shape::ArrayShape;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::object_shape::{ObjectShape, Presence, join_tests};

/// Pairs of arrays or objects that are compared with one another for one set of alternatives; where there are more, the
/// readings count as different.
const MAX_PAIRS: usize = 10_000;

/// Pairs of goals of values at one place.
struct Places {
    left: Vec<(GoalId, GoalId)>,
    met: HashSet<(GoalId, GoalId)>,
    pairs_left: usize,
}

impl Places {
    fn add(&mut self, one: GoalId, other: GoalId) {
        // The alternatives of one goal are looked at where it is written.
        if one == other || one == GoalId::NEVER || other == GoalId::NEVER {
            return;
        }
        let pair = (one.min(other), one.max(other));
        if self.met.insert(pair) {
            self.left.push(pair);
        }
    }

    fn take_pair(&mut self) -> bool {
        let is_left = self.pairs_left > 0;
        self.pairs_left = self.pairs_left.saturating_sub(1);
        is_left
    }
}

impl<'s> SchemaLowering<'s> {
    /// The rules of alternatives whose readings do not agree. Each list has the alternatives of one normal form.
    pub(super) fn disagreeing_alternatives(&mut self) -> Result<Vec<RuleId>> {
        let alternatives = std::mem::take(&mut self.distinct.alternatives);
        let marking = self.rules_above_marks(alternatives.iter().flat_map(|(_, rules)| rules));
        let mut disagreeing = Vec::new();
        for (norm, rules) in alternatives {
            if rules.iter().any(|rule| marking.contains(rule)) && !self.readings_agree(&norm)? {
                disagreeing.extend(rules);
            }
        }
        Ok(disagreeing)
    }

    /// Those of the rules below some, and of these, that a marked one is below.
    fn rules_above_marks<'r>(&self, rules: impl Iterator<Item = &'r RuleId>) -> HashSet<RuleId> {
        let mut callers: HashMap<RuleId, Vec<RuleId>> = HashMap::default();
        let mut left: Vec<RuleId> = rules.copied().collect();
        let mut met: HashSet<RuleId> = left.iter().copied().collect();
        let mut marking: Vec<RuleId> = Vec::new();
        while let Some(rule) = left.pop() {
            if self.distinct.marked.contains_key(&rule) {
                marking.push(rule);
            }
            for inner in rules_of(&self.builder, rule) {
                callers.entry(inner).or_default().push(rule);
                if met.insert(inner) {
                    left.push(inner);
                }
            }
        }
        let mut above: HashSet<RuleId> = marking.iter().copied().collect();
        while let Some(rule) = marking.pop() {
            let callers = callers.get(&rule).into_iter().flatten();
            marking.extend(callers.filter(|&&caller| above.insert(caller)));
        }
        above
    }

    fn readings_agree(&mut self, norm: &NormalForm<'s>) -> Result<bool> {
        let mut places = Places { left: Vec::new(), met: HashSet::default(), pairs_left: MAX_PAIRS };
        if !self.norms_agree(norm, norm, &mut places)? {
            return Ok(false);
        }
        while let Some((one, other)) = places.left.pop() {
            let (one, other) = (self.normalizer.norm(one)?, self.normalizer.norm(other)?);
            if !self.norms_agree(&one, &other, &mut places)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn norms_agree(
        &mut self,
        one: &NormalForm<'s>,
        other: &NormalForm<'s>,
        places: &mut Places,
    ) -> Result<bool> {
        for left in &one.arrays {
            for right in other.arrays.iter().filter(|&right| right != left) {
                if !places.take_pair() || !self.arrays_agree(left, right, places) {
                    return Ok(false);
                }
            }
        }
        for left in &one.objects {
            for right in other.objects.iter().filter(|&right| right != left) {
                if !places.take_pair() || !self.objects_agree(left, right, places)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn arrays_agree(&self, one: &ArrayShape, other: &ArrayShape, places: &mut Places) -> bool {
        self.normalizer.algebra.work.charge(one.size() + other.size());
        if one.is_empty() || other.is_empty() {
            return true;
        }
        // An item that counts for an obligation has a goal of its own.
        let has_obligations = !one.obligations.is_empty() || !other.obligations.is_empty();
        let is_marked = |shape| self.written_array(shape).is_some_and(|rule| self.has_mark(rule));
        if has_obligations || is_marked(one) != is_marked(other) {
            return false;
        }
        for index in 0..=one.prefix.len().max(other.prefix.len()) {
            let is_within = |max: Option<u64>| max.is_none_or(|max| (index as u64) < max);
            if is_within(one.max) && is_within(other.max) {
                places.add(one.item(index), other.item(index));
            }
        }
        true
    }

    fn objects_agree(
        &mut self,
        one: &ObjectShape<'s>,
        other: &ObjectShape<'s>,
        places: &mut Places,
    ) -> Result<bool> {
        let pairs_of_cells = one.cells.len().saturating_mul(other.cells.len());
        self.normalizer.algebra.work.charge(one.size() + other.size() + pairs_of_cells);
        let has_obligations = !one.obligations.is_empty() || !other.obligations.is_empty();
        let is_marked = |shape| self.written_object(shape).is_some_and(|rule| self.has_mark(rule));
        if has_obligations || is_marked(one) != is_marked(other) {
            return Ok(false);
        }
        // Up to that member both readings go on, so the values up to it are compared. After it there is one
        // reading.
        if let Some(last) = self.told_apart_at(one, other)? {
            for (property, twin) in one.properties.iter().zip(&other.properties).take(last + 1) {
                places.add(property.value, twin.value);
            }
            return Ok(true);
        }
        let tests = &self.normalizer.algebra.tests;
        let goal_of = |known: &HashMap<&'s str, GoalId>, shape: &ObjectShape<'s>, name: &'s str| {
            known.get(name).copied().unwrap_or_else(|| shape.free_value(name, tests))
        };
        let values = |shape: &ObjectShape<'s>| -> HashMap<&'s str, GoalId> {
            shape.properties.iter().map(|property| (property.name, property.value)).collect()
        };
        let (of_one, of_other) = (values(one), values(other));
        for name in one.properties.iter().chain(&other.properties).map(|property| property.name) {
            places.add(goal_of(&of_one, one, name), goal_of(&of_other, other, name));
        }
        for cell in &one.cells {
            for twin in &other.cells {
                if join_tests(&cell.tests, &twin.tests).is_some() {
                    places.add(cell.value, twin.value);
                }
            }
        }
        Ok(true)
    }

    /// The index of the member after which no text is read as both objects, if there is one.
    fn told_apart_at(&mut self, one: &ObjectShape<'s>, other: &ObjectShape<'s>) -> Result<Option<usize>> {
        if self.normalizer.options.key_order != KeyOrder::Declared {
            return Ok(None);
        }
        for (index, (property, twin)) in one.properties.iter().zip(&other.properties).enumerate() {
            let is_required = |presence| presence == Presence::Required;
            if property.name != twin.name || !is_required(property.presence) || !is_required(twin.presence) {
                break;
            }
            let both = self.normalizer.algebra.goals.and(property.value, twin.value);
            let both = self.normalizer.norm(both)?;
            if self.normalizer.surely_empty(&both, MAX_PROOF_DEPTH) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Whether what the array or object encloses is compared.
    fn has_mark(&self, rule: RuleId) -> bool {
        rules_of(&self.builder, rule).iter().any(|inside| self.distinct.marked.contains_key(inside))
    }
}
