//! How many values a goal has at least, and how many exactly.
//!
//! Items that differ need a value that is left wherever one may begin. If there are few values, each of them is counted,
//! and an array has at most so many items. To count others exactly is more than is needed. A set with more values than
//! a text can hold is endless, and one member with a string of any length makes an object so. Values that are not counted
//! within a bound on the work count as none.

use grammask_grammar_ir::hash::HashSet;

use super::lowering::SchemaLowering;
use crate::diagnostic::Result;
use crate::json_schema::normalize::proofs::MAX_PROOF_DEPTH;
use crate::json_schema::sets::array_shape::{ArrayShape, Repetition};
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::number_shape::{NumberKind, NumberShape};
use crate::json_schema::sets::object_shape::{Cell, MemberObligation, ObjectShape, Presence, join_tests};
use crate::json_schema::sets::sorted::in_either;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{Lengths, TextTest};

/// So many values are endless: no text holds more of them.
pub(super) const UNBOUNDED: u64 = 1 << 20;

/// Each format has as many texts: the fewest are days, some 3.6 million.
const TEXTS_OF_A_FORMAT: u64 = 3_600_000;

/// Whole numbers that are counted one by one.
const MAX_NUMBERS: usize = 4_096;

/// Values inside of values that are counted.
const MAX_DEPTH: u32 = 6;

/// Goals that one count visits at most.
const MAX_VISITS: u32 = 500;

/// Goals inside of items that are looked at for objects whose names may run out.
const MAX_GOALS: usize = 5_000;

/// Obligations of which all groups are looked at: five have 31.
const MAX_GROUPED: usize = 5;

/// Values that are counted exactly.
const MAX_EXACT: u64 = 4_096;

/// Arrays or objects that are compared with one another to count the values of all exactly.
const MAX_EXACT_SHAPES: usize = 64;

impl<'s> SchemaLowering<'s> {
    /// A number of values that satisfy a goal at least.
    pub(super) fn values_at_least(&mut self, goal: GoalId) -> Result<u64> {
        if let Some(values) = self.values_exactly(goal)? {
            return Ok(values);
        }
        let mut visits = MAX_VISITS;
        self.count(goal, MAX_DEPTH, &mut visits)
    }

    /// The number of values of a goal, if all of them can be counted.
    pub(super) fn values_exactly(&mut self, goal: GoalId) -> Result<Option<u64>> {
        let mut visits = MAX_VISITS;
        self.count_exactly(goal, MAX_DEPTH, &mut visits)
    }

    fn count_exactly(&mut self, goal: GoalId, depth: u32, visits: &mut u32) -> Result<Option<u64>> {
        match goal {
            GoalId::NEVER => return Ok(Some(0)),
            GoalId::ANY => return Ok(None),
            _ if depth == 0 || *visits == 0 => return Ok(None),
            _ => *visits -= 1,
        }
        let norm = self.normalizer.norm(goal)?;
        if norm.arrays.len().max(norm.objects.len()) > MAX_EXACT_SHAPES {
            return Ok(None);
        }
        let words = [norm.null, norm.booleans[0], norm.booleans[1]].into_iter().filter(|&word| word).count();
        let Some((numbers, strings)) = self.listed_scalars(&norm) else { return Ok(None) };
        let mut values = (words + numbers.len() + strings.len()) as u64;
        for shape in &norm.arrays {
            let Some(arrays) = self.arrays_exactly(shape, depth - 1, visits)? else { return Ok(None) };
            values += arrays;
        }
        for shape in &norm.objects {
            let Some(objects) = self.objects_exactly(shape, depth - 1, visits)? else { return Ok(None) };
            values += objects;
        }
        Ok((values <= MAX_EXACT && self.shapes_exclude_each_other(&norm)).then_some(values))
    }

    /// Whether no value is in two arrays, or two objects, of a set.
    fn shapes_exclude_each_other(&mut self, norm: &NormalForm<'s>) -> bool {
        let n = &mut *self.normalizer;
        let arrays = norm.arrays.iter().enumerate().all(|(at, one)| {
            norm.arrays[..at].iter().all(|other| {
                let both = one.and(other, &mut n.algebra.goals);
                both.is_empty() || n.array_surely_empty(&both, MAX_PROOF_DEPTH)
            })
        });
        arrays
            && norm.objects.iter().enumerate().all(|(at, one)| {
                norm.objects[..at].iter().all(|other| {
                    let both = n.conjoined(one, other);
                    both.is_empty() || n.object_surely_empty(&both, MAX_PROOF_DEPTH)
                })
            })
    }

    fn arrays_exactly(&mut self, shape: &ArrayShape, depth: u32, visits: &mut u32) -> Result<Option<u64>> {
        let is_long = shape.min > MAX_EXACT;
        if is_long || !shape.obligations.is_empty() || shape.repetition != Repetition::Free {
            return Ok(None);
        }
        let most = shape.max.unwrap_or(u64::MAX);
        let (mut arrays, mut longest) = (0_u64, 1_u64);
        for length in 0..=most.min(MAX_EXACT) {
            if length >= shape.min {
                arrays += longest;
            }
            if length == most {
                break;
            }
            let item = shape.item(usize::try_from(length).unwrap_or(usize::MAX));
            let Some(items) = self.count_exactly(item, depth, visits)? else { return Ok(None) };
            longest *= items;
            if longest == 0 {
                break;
            }
            if arrays.max(longest) > MAX_EXACT {
                return Ok(None);
            }
        }
        Ok(Some(arrays))
    }

    fn objects_exactly(
        &mut self,
        shape: &ObjectShape<'s>,
        depth: u32,
        visits: &mut u32,
    ) -> Result<Option<u64>> {
        let members = shape.properties.len() as u64;
        let is_counted = shape.min > shape.required() || shape.max.is_some_and(|max| max < members);
        if !shape.obligations.is_empty() || !shape.is_closed() || is_counted {
            return Ok(None);
        }
        let mut objects: u64 = 1;
        for property in &shape.properties {
            let Some(values) = self.count_exactly(property.value, depth, visits)? else { return Ok(None) };
            objects *= values + u64::from(property.presence == Presence::Optional);
            if objects > MAX_EXACT {
                return Ok(None);
            }
        }
        Ok(Some(objects))
    }

    fn count(&mut self, goal: GoalId, depth: u32, visits: &mut u32) -> Result<u64> {
        match goal {
            GoalId::ANY => return Ok(UNBOUNDED),
            GoalId::NEVER => return Ok(0),
            _ if depth == 0 || *visits == 0 => return Ok(0),
            _ => *visits -= 1,
        }
        let norm = self.normalizer.norm(goal)?;
        let words = u64::from(norm.null) + norm.booleans.iter().map(|&word| u64::from(word)).sum::<u64>();
        // Values that two shapes share are not counted twice if the larger one alone counts.
        let numbers = norm.numbers.iter().map(numbers_at_least).max().unwrap_or(0);
        let strings = norm.strings.iter().map(|shape| self.strings_at_least(shape)).max().unwrap_or(0);
        let mut values = words.saturating_add(numbers).saturating_add(strings);
        let mut most = 0;
        for shape in &norm.arrays {
            if values.saturating_add(most) < UNBOUNDED {
                most = most.max(self.arrays_at_least(shape, depth - 1, visits)?);
            }
        }
        values = values.saturating_add(most);
        most = 0;
        for shape in &norm.objects {
            if values.saturating_add(most) < UNBOUNDED {
                most = most.max(self.objects_at_least(shape, depth - 1, visits)?);
            }
        }
        Ok(values.saturating_add(most))
    }

    fn arrays_at_least(&mut self, shape: &ArrayShape, depth: u32, visits: &mut u32) -> Result<u64> {
        if !shape.obligations.is_empty() || shape.is_empty() {
            return Ok(0);
        }
        if shape.repetition != Repetition::Free {
            // Arrays of one item, or choices from endless ones.
            let is_simple = shape.prefix.is_empty() && matches!(shape.repetition, Repetition::Forbidden(_));
            let items = if is_simple { self.count(shape.rest, depth, visits)? } else { 0 };
            return Ok(if items >= shape.min.max(1) { items } else { 0 });
        }
        let most = shape.max.unwrap_or(u64::MAX);
        // Those that are long enough, and those of the length at hand.
        let (mut arrays, mut longest) = (0_u64, 1_u64);
        for length in 0..=most {
            let place = usize::try_from(length).unwrap_or(usize::MAX);
            let items = self.count(shape.item(place), depth, visits)?;
            let may_grow = items > 0 && length < most;
            if may_grow && place >= shape.prefix.len() && (items == 1 || longest >= UNBOUNDED) {
                // Of each length from here on there are as many at least.
                let lengths = (most - length.max(shape.min)).saturating_add(1);
                return Ok(arrays.saturating_add(longest.saturating_mul(lengths)));
            }
            if length >= shape.min {
                arrays = arrays.saturating_add(longest);
            }
            if !may_grow {
                break;
            }
            longest = longest.saturating_mul(items);
        }
        Ok(arrays)
    }

    fn objects_at_least(&mut self, shape: &ObjectShape<'s>, depth: u32, visits: &mut u32) -> Result<u64> {
        if !shape.obligations.is_empty() {
            return Ok(0);
        }
        let mut objects: u64 = 1;
        for property in shape.properties.iter().filter(|one| one.presence == Presence::Required) {
            objects = objects.saturating_mul(self.count(property.value, depth, visits)?);
        }
        if objects == 0 || shape.max.is_some_and(|max| max < shape.required()) {
            return Ok(0);
        }
        let room = shape.max.map_or(u64::MAX, |max| max - shape.required());
        let missing = shape.min.saturating_sub(shape.required());
        if objects >= UNBOUNDED && missing == 0 || room == 0 {
            return Ok(if missing == 0 { objects } else { 0 });
        }
        if room > missing && self.has_endless_names(shape, depth, visits)? {
            return Ok(UNBOUNDED);
        }
        if missing > 0 {
            return Ok(0);
        }
        // Each of them may be left out, alone where there is room for one.
        for property in shape.properties.iter().filter(|one| one.presence == Presence::Optional) {
            let values = self.count(property.value, depth, visits)?;
            match room > shape.properties.len() as u64 {
                true => objects = objects.saturating_mul(values.saturating_add(1)),
                false => objects = objects.max(values),
            }
        }
        Ok(objects)
    }

    /// Whether a free name and a value for it can always be found.
    fn has_endless_names(&mut self, shape: &ObjectShape<'s>, depth: u32, visits: &mut u32) -> Result<bool> {
        for cell in &shape.cells {
            if self.names_beside(shape, cell, &[]) >= UNBOUNDED && self.count(cell.value, depth, visits)? > 0
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A number of free names that a cell has at least.
    fn names_beside(&self, shape: &ObjectShape<'s>, cell: &Cell, except: &[&'s str]) -> u64 {
        if cell.value == GoalId::NEVER {
            return 0;
        }
        self.strings_at_least(&undeclared(shape, cell.tests.clone(), except))
    }

    /// Whether there are always free names left.
    pub(super) fn has_names(&mut self, shape: &ObjectShape<'s>) -> Result<bool> {
        // Those of one cell are enough.
        let needed = shape.max.map_or(UNBOUNDED, |max| max.min(UNBOUNDED));
        for cell in &shape.cells {
            let is_empty = cell.value == GoalId::NEVER || self.normalizer.norm(cell.value)?.is_never();
            if !is_empty && self.names_beside(shape, cell, &[]) >= needed {
                return Ok(true);
            }
        }
        Ok(needed == 0)
    }

    /// Obligations for whose witness no name may be left, the last of them first, and the member that meets them all.
    pub(super) fn witness_of_few_names(
        &mut self,
        shape: &ObjectShape<'s>,
    ) -> Option<(usize, MemberObligation<'s>)> {
        // One member for each is enough, as long as there is room for all.
        if shape.obligations.len() < 2 || shape.max.is_none() {
            let few = (0..shape.obligations.len())
                .find(|&at| !self.has_names_for(shape, &shape.obligations[at]))?;
            return Some((few, shape.obligations[few].clone()));
        }
        // Else one member may have to meet several of them: each group, with the one that lacks its last obligation before
        // it.
        let mut groups: Vec<MemberObligation<'s>> = Vec::new();
        for (at, obligation) in shape.obligations.iter().take(MAX_GROUPED).enumerate() {
            let mut joined = vec![obligation.clone()];
            for group in &groups {
                let Some(tests) = join_tests(&group.tests, &obligation.tests) else { continue };
                let value = self.normalizer.algebra.goals.and(group.value, obligation.value);
                let except = in_either(&group.except, &obligation.except);
                joined.push(MemberObligation { tests, except, value });
            }
            if let Some(few) = joined.iter().find(|group| !self.has_endless_or_no_names(shape, group)) {
                return Some((at, few.clone()));
            }
            groups.extend(joined);
        }
        let more = shape.obligations.get(MAX_GROUPED)?;
        Some((MAX_GROUPED, more.clone()))
    }

    fn has_endless_or_no_names(&mut self, shape: &ObjectShape<'s>, group: &MemberObligation<'s>) -> bool {
        let mut are_none = true;
        for cell in &shape.cells {
            let Some(tests) = join_tests(&cell.tests, &group.tests) else { continue };
            let value = self.normalizer.algebra.goals.and(cell.value, group.value);
            if value == GoalId::NEVER {
                continue;
            }
            let names = undeclared(shape, tests, &group.except);
            if !self.normalizer.algebra.may_be_nonempty(&names) {
                continue;
            }
            if self.strings_at_least(&names) >= UNBOUNDED {
                return true;
            }
            are_none &= self.enumerated(&names, 0).is_some();
        }
        are_none
    }

    /// Where every member of a name meets the obligation, one name is enough: once it is taken, the obligation is met.
    /// Else other members may take names from it.
    fn has_names_for(&mut self, shape: &ObjectShape<'s>, obligation: &MemberObligation<'s>) -> bool {
        let join = |cell: &Cell| Some(Cell { tests: join_tests(&cell.tests, &obligation.tests)?, ..*cell });
        let cells: Vec<Cell> = shape.cells.iter().filter_map(join).collect();
        let goals = &mut self.normalizer.algebra.goals;
        let all_meet_it = cells.iter().all(|cell| goals.and(cell.value, obligation.value) == cell.value);
        let needed = if all_meet_it { 1 } else { UNBOUNDED };
        cells.iter().any(|cell| self.names_beside(shape, cell, &obligation.except) >= needed)
    }

    /// Whether an object somewhere inside of values of some goals may have a free name, and none be left.
    /// Goals that were met are not looked at again.
    pub(super) fn names_may_run_out(
        &mut self,
        goals: Vec<GoalId>,
        met: &mut HashSet<GoalId>,
    ) -> Result<bool> {
        let mut left = goals;
        left.retain(|&goal| met.insert(goal));
        while let Some(goal) = left.pop() {
            if goal == GoalId::ANY || goal == GoalId::NEVER {
                continue;
            }
            if met.len() > MAX_GOALS {
                return Ok(true);
            }
            let norm = self.normalizer.norm(goal)?;
            let mut inside: Vec<GoalId> = Vec::new();
            for shape in &norm.arrays {
                inside.extend(shape.prefix.iter().copied().chain([shape.rest]));
                inside.extend(shape.obligations.iter().map(|obligation| obligation.goal));
            }
            for shape in &norm.objects {
                inside.extend(shape.properties.iter().map(|property| property.value));
                inside.extend(shape.cells.iter().map(|cell| cell.value));
                inside.extend(shape.obligations.iter().map(|obligation| obligation.value));
                let is_finished = shape.is_closed() && shape.obligations.is_empty();
                if !is_finished && (!shape.obligations.is_empty() || !self.has_names(shape)?) {
                    return Ok(true);
                }
            }
            left.extend(inside.into_iter().filter(|&goal| met.insert(goal)));
        }
        Ok(false)
    }

    /// A number of strings that a shape has at least.
    fn strings_at_least(&self, shape: &StringShape<'s>) -> u64 {
        if let Some(values) = &shape.values {
            return values.len() as u64;
        }
        let shape = shape.with_plain_languages(&self.normalizer.algebra.tests);
        if shape.max.is_some_and(|max| max < shape.min) {
            return 0;
        }
        if shape.tests.is_empty() {
            // A character alone makes more of them than are endless, by 60,000.
            let characters: u64 = if shape.max == Some(0) { 1 } else { 1_112_064 };
            return characters.saturating_sub(shape.excluded.len() as u64);
        }
        if shape.is_format(&self.normalizer.algebra.tests) {
            return TEXTS_OF_A_FORMAT.saturating_sub(shape.excluded.len() as u64);
        }
        self.text_automaton(&shape, Lengths::Multiplied).map_or(0, |texts| texts.count())
    }
}

/// The names that pass tests, without those that are declared and some more.
pub(super) fn undeclared<'s>(
    shape: &ObjectShape<'s>,
    tests: Vec<TextTest>,
    except: &[&'s str],
) -> StringShape<'s> {
    let declared = shape.properties.iter().map(|property| property.name);
    let excluded = declared.chain(except.iter().copied()).collect();
    StringShape { tests, ..StringShape::without(excluded) }
}

/// A number of numbers that a shape has at least.
fn numbers_at_least(shape: &NumberShape) -> u64 {
    if let Some(values) = &shape.values {
        return values.len() as u64;
    }
    let is_open = shape.lower.is_none() || shape.upper.is_none();
    let is_dense = shape.kind != NumberKind::Integer && shape.steps.is_empty() && shape.not_steps.is_empty();
    if is_open
        || is_dense
            && shape.lower.as_ref().map(|bound| &bound.value)
                != shape.upper.as_ref().map(|bound| &bound.value)
    {
        return u64::MAX;
    }
    match shape.enumerated(MAX_NUMBERS) {
        Some(listed) => listed.len() as u64,
        // More than were listed, if they can be listed at all.
        None if shape.kind == NumberKind::Integer && shape.steps.is_empty() && shape.not_steps.is_empty() => {
            MAX_NUMBERS as u64
        }
        None => 0,
    }
}
