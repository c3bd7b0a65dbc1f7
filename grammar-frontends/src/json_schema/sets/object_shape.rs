//! Sets of objects.
//!
//! The names of an object are partitioned. Each *declared* name is a part of its own, and the other names
//! fall into *cells*, each a conjunction of text tests (`patternProperties` and their complements,
//! `propertyNames`). Every part has one goal for its values. Conjoining two shapes refines the partitions; no
//! name ever belongs to two parts, so the grammar has one way to derive a member.

use grammask_grammar_ir::hash::HashMap;

use super::goals::{GoalId, Goals};
use super::sorted::in_either;
use super::text_tests::{Polarity, TestId, TextTest, TextTests};

/// Whether a declared name must occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Presence {
    Optional,
    Required,
}

/// How a name came to be declared; names of `properties` come first in the order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum PropertyOrigin {
    Declared,
    /// Only `required` or a dependency mentions it.
    Mentioned,
}

/// A declared name. `Optional` with the goal `NEVER` says that it must not occur.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Property<'s> {
    pub(crate) name: &'s str,
    pub(crate) value: GoalId,
    pub(crate) presence: Presence,
    pub(crate) origin: PropertyOrigin,
}

/// The undeclared names that pass some tests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cell {
    /// Sorted.
    pub(crate) tests: Vec<TextTest>,
    pub(crate) value: GoalId,
}

/// There is a member whose name passes the tests and is none of `except`, and whose value satisfies `value`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemberObligation<'s> {
    pub(crate) tests: Vec<TextTest>,
    pub(crate) except: Vec<&'s str>,
    pub(crate) value: GoalId,
}

/// One of the conditions that a shape is the conjunction of.
pub(crate) struct Condition<'s> {
    /// The objects that satisfy it.
    pub(crate) holds: ObjectShape<'s>,
    /// All others.
    pub(crate) fails: ObjectShape<'s>,
}

/// The objects whose members satisfy goals by their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectShape<'s> {
    pub(crate) properties: Vec<Property<'s>>,
    /// They partition the names that are not declared.
    pub(crate) cells: Vec<Cell>,
    /// Least number of members.
    pub(crate) min: u64,
    /// Greatest number of members.
    pub(crate) max: Option<u64>,
    pub(crate) obligations: Vec<MemberObligation<'s>>,
}

/// Properties of an object whose order its complement keeps.
const MAX_ORDERED: usize = 16;

impl<'s> ObjectShape<'s> {
    pub(crate) fn any() -> Self {
        Self::with_rest(GoalId::ANY)
    }

    pub(crate) fn is_any(&self) -> bool {
        let Self { properties, cells, min, max, obligations } = self;
        properties.is_empty()
            && matches!(&**cells, [cell] if cell.tests.is_empty() && cell.value == GoalId::ANY)
            && (*min, *max) == (0, None)
            && obligations.is_empty()
    }

    /// About how many names and conditions it lists.
    pub(crate) fn size(&self) -> usize {
        let tests = self.cells.iter().map(|cell| 1 + cell.tests.len()).sum::<usize>();
        let obligations = self.obligations.iter().map(|member| 1 + member.tests.len() + member.except.len());
        1 + self.properties.len() + tests + obligations.sum::<usize>()
    }

    /// Objects all of whose values satisfy one goal.
    pub(crate) fn with_rest(rest: GoalId) -> Self {
        let cells = vec![Cell { tests: Vec::new(), value: rest }];
        Self { properties: Vec::new(), cells, min: 0, max: None, obligations: Vec::new() }
    }

    /// Objects of which only one name is constrained.
    pub(crate) fn with_property(name: &'s str, value: GoalId, presence: Presence) -> Self {
        let property = Property { name, value, presence, origin: PropertyOrigin::Mentioned };
        Self { properties: vec![property], ..Self::any() }
    }

    /// The goal of the values of a name that is not declared.
    pub(crate) fn free_value(&self, name: &str, tests: &TextTests<'s>) -> GoalId {
        let mut cells = self.cells.iter();
        cells
            .find(|cell| cell.tests.iter().all(|&test| tests.passes(test, name)))
            .map_or(GoalId::NEVER, |cell| cell.value)
    }

    /// Splits every cell by a test: names that pass get `both` of their goals.
    pub(crate) fn refine(&mut self, test: TestId, change: impl Fn(Polarity, GoalId) -> GoalId) {
        let mut cells = Vec::new();
        for cell in &self.cells {
            for sense in [Polarity::Holds, Polarity::Fails] {
                if let Some(tests) = join_tests(&cell.tests, &[TextTest { test, sense }]) {
                    cells.push(Cell { tests, value: change(sense, cell.value) });
                }
            }
        }
        self.cells = cells;
    }

    /// Brings equal sets closer to equal shapes.
    pub(crate) fn normalized(mut self) -> Self {
        if let Some(first) = self.cells.first()
            && self.cells.len() > 1
            && self.cells.iter().all(|cell| cell.value == first.value)
        {
            self.cells = vec![Cell { tests: Vec::new(), value: first.value }];
        }
        let required = self.properties.iter().filter(|property| property.presence == Presence::Required);
        if (required.count() as u64) >= self.min {
            self.min = 0;
        }
        self
    }

    pub(crate) fn and(&self, other: &Self, goals: &mut Goals, tests: &TextTests<'s>) -> Self {
        goals.work.charge(2 * (self.size() + other.size()));
        let others = ByName::of(&other.properties, self.properties.len());
        let mut taken = vec![false; other.properties.len()];
        let mut properties = Vec::with_capacity(self.properties.len() + other.properties.len());
        for property in &self.properties {
            let (value, presence, origin) = match others.find(property.name) {
                Some(at) => {
                    // A name that only one side declares keeps the place that this side gives it.
                    let twin = &other.properties[at];
                    if property.origin == PropertyOrigin::Mentioned && twin.origin == PropertyOrigin::Declared
                    {
                        continue;
                    }
                    taken[at] = true;
                    (twin.value, twin.presence, twin.origin.min(property.origin))
                }
                None => (other.free_value(property.name, tests), Presence::Optional, property.origin),
            };
            let value = goals.and(property.value, value);
            let presence = property.presence.max(presence);
            properties.push(Property { name: property.name, value, presence, origin });
        }
        let left = taken.iter().filter(|taken| !**taken).count();
        let mine = ByName::of(&self.properties, left);
        for (property, _) in other.properties.iter().zip(&taken).filter(|(_, taken)| !**taken) {
            let (value, presence) = match mine.find(property.name).map(|at| &self.properties[at]) {
                Some(twin) => (twin.value, twin.presence),
                None => (self.free_value(property.name, tests), Presence::Optional),
            };
            let value = goals.and(value, property.value);
            let presence = property.presence.max(presence);
            properties.push(Property { value, presence, ..property.clone() });
        }
        properties.sort_by_key(|property| property.origin);
        let mut cells = Vec::new();
        for left in &self.cells {
            for right in &other.cells {
                goals.work.charge(2 + left.tests.len() + right.tests.len());
                if goals.work.is_spent() {
                    break;
                }
                if let Some(tests) = join_tests(&left.tests, &right.tests) {
                    cells.push(Cell { tests, value: goals.and(left.value, right.value) });
                }
            }
        }
        goals
            .work
            .charge(4 * self.obligations.len() * (1 + other.obligations.len()) + 4 * other.obligations.len());
        let mut obligations = self.obligations.clone();
        obligations
            .extend(other.obligations.iter().filter(|member| !self.obligations.contains(member)).cloned());
        let max = [self.max, other.max].into_iter().flatten().min();
        if let [Cell { tests, value: free }] = &*cells
            && tests.is_empty()
        {
            // A last name that may be mentioned like any other is not declared: it would hide that a shape without it
            // covers this one, or is covered.
            let is_free = |last: &Property<'_>| {
                last.value == *free
                    && (last.presence, last.origin) == (Presence::Optional, PropertyOrigin::Mentioned)
            };
            while properties.last().is_some_and(is_free) {
                properties.pop();
            }
        }
        Self { properties, cells, min: self.min.max(other.min), max, obligations }.normalized()
    }

    /// A quick check before the costly one: a shape is not covered by one that demands other properties, more of a
    /// property, or, if that matters, another order of members. Both write declared properties first, in the order of
    /// their lists. So the properties of the covering shape have to be the first of those that this one may have.
    pub(crate) fn may_be_covered(&self, by: &Self, is_ordered: bool, goals: &Goals) -> bool {
        goals.work.charge(1);
        if by.properties.len() > self.properties.len() {
            return false;
        }
        let mut first = self.properties.iter().filter(|property| property.value != GoalId::NEVER);
        let names = (!is_ordered).then(|| {
            goals.work.charge(self.properties.len() / 2);
            ByName::of(&self.properties, by.properties.len())
        });
        by.properties.iter().filter(|other| other.value != GoalId::NEVER).all(|other| {
            goals.work.charge(1);
            let own = match &names {
                Some(names) => names.find(other.name).map(|at| &self.properties[at]),
                None => first.next().filter(|own| own.name == other.name),
            };
            own.is_some_and(|own| own.presence >= other.presence && goals.implies(own.value, other.value))
        })
    }

    /// Whether the set is known to be empty, without looking into goals.
    pub(crate) fn is_empty(&self) -> bool {
        let required = self.properties.iter().filter(|property| property.presence == Presence::Required);
        let possible =
            self.properties.iter().filter(|property| property.value != GoalId::NEVER).count() as u64;
        let required = required.clone().count() as u64;
        let impossible = self
            .properties
            .iter()
            .any(|property| property.presence == Presence::Required && property.value == GoalId::NEVER);
        impossible
            || self.max.is_some_and(|max| max < self.min.max(required))
            || (self.is_closed() && possible < self.min)
            || self.obligations.iter().any(|obligation| obligation.value == GoalId::NEVER)
    }

    /// How many declared names must occur.
    pub(crate) fn required(&self) -> u64 {
        self.properties.iter().filter(|property| property.presence == Presence::Required).count() as u64
    }

    /// Whether no undeclared name may occur.
    pub(crate) fn is_closed(&self) -> bool {
        self.cells.iter().all(|cell| cell.value == GoalId::NEVER)
    }

    /// The objects outside the set. Those with another value of a property may have the properties that are declared before
    /// it, in their order, if that matters. Of many properties the order is left open, because their pairs would make a
    /// large grammar.
    pub(crate) fn complement(&self, is_ordered: bool, goals: &mut Goals) -> Vec<Self> {
        let conditions = self.conditions(goals);
        let is_ordered = is_ordered && self.properties.len() <= MAX_ORDERED;
        let ordered = |Condition { mut fails, .. }: Condition<'s>| {
            let [property] = &*fails.properties else { return fails };
            let name = property.name;
            let before = self.properties.iter().take_while(|before| is_ordered && before.name != name);
            let declared = before.filter(|before| before.origin == PropertyOrigin::Declared);
            let any = declared.map(|&Property { name, .. }| Property {
                name,
                value: GoalId::ANY,
                presence: Presence::Optional,
                origin: PropertyOrigin::Mentioned,
            });
            fails.properties.splice(..0, any);
            goals.work.charge(fails.properties.len());
            fails
        };
        conditions.into_iter().map(ordered).collect()
    }

    /// The conditions that the shape is the conjunction of.
    pub(crate) fn conditions(&self, goals: &mut Goals) -> Vec<Condition<'s>> {
        goals.work.charge(4 * self.size());
        let mut result = Vec::new();
        let mut push = |holds: Self, fails: Self| {
            result.push(Condition { holds: holds.normalized(), fails: fails.normalized() });
        };
        for property in &self.properties {
            let with = |value, presence| Self::with_property(property.name, value, presence);
            let other = goals.not(property.value);
            match property.presence {
                // An object without the member fails, as one with another value does: both are one shape.
                Presence::Required => {
                    push(with(property.value, Presence::Required), with(other, Presence::Optional));
                }
                Presence::Optional if property.value == GoalId::ANY => {}
                Presence::Optional => {
                    push(with(property.value, Presence::Optional), with(other, Presence::Required));
                }
            }
        }
        for cell in self.cells.iter().filter(|cell| cell.value != GoalId::ANY) {
            goals.work.charge(2 * self.properties.len());
            if goals.work.is_spent() {
                break;
            }
            let mut except: Vec<&str> = self.properties.iter().map(|property| property.name).collect();
            let holds = Self::with_names(&cell.tests, except.iter().copied(), cell.value);
            except.sort_unstable();
            let value = goals.not(cell.value);
            let obligations = vec![MemberObligation { tests: cell.tests.clone(), except, value }];
            push(holds, Self { obligations, ..Self::any() });
        }
        if self.min > 0 {
            let fewer = Self { max: Some(self.min - 1), ..Self::any() };
            push(Self { min: self.min, ..Self::any() }, fewer);
        }
        if let Some(max) = self.max {
            let more = Self { min: max.saturating_add(1), ..Self::any() };
            push(Self { max: Some(max), ..Self::any() }, more);
        }
        for obligation in &self.obligations {
            // No such member: the names in question get the opposite goal.
            let value = goals.not(obligation.value);
            let none = Self::with_names(&obligation.tests, obligation.except.iter().copied(), value);
            push(Self { obligations: vec![obligation.clone()], ..Self::any() }, none);
        }
        result
    }

    /// Objects whose members satisfy a goal if their names pass the tests and are not listed.
    fn with_names(tests: &[TextTest], except: impl Iterator<Item = &'s str>, value: GoalId) -> Self {
        let mut shape = if tests.is_empty() { Self::with_rest(value) } else { Self::any() };
        for &test in tests {
            shape.split_matching(test, value);
        }
        shape.properties.extend(except.map(|name| {
            let (presence, origin) = (Presence::Optional, PropertyOrigin::Mentioned);
            Property { name, value: GoalId::ANY, presence, origin }
        }));
        shape
    }

    /// Narrows a chain of cells: the last cell is the one that passed all tests so far.
    pub(crate) fn split_matching(&mut self, test: TextTest, value: GoalId) {
        let Some(last) = self.cells.pop() else { return };
        let opposite = TextTest { sense: test.sense.flipped(), ..test };
        let fails = join_tests(&last.tests, &[opposite]);
        let holds = join_tests(&last.tests, &[test]);
        self.cells.extend(fails.map(|tests| Cell { tests, value: GoalId::ANY }));
        self.cells.extend(holds.map(|tests| Cell { tests, value }));
    }

    /// Turns obligations into cases: the witness has a declared name or a free one. The obligations that a result still
    /// has are met by members with free names.
    pub(crate) fn split_obligations(
        &self,
        goals: &mut Goals,
        tests: &TextTests<'s>,
        budget: usize,
    ) -> Option<Vec<Self>> {
        let mut base = self.clone();
        let obligations = std::mem::take(&mut base.obligations);
        let mut shapes = vec![base];
        for member in &obligations {
            let mut next = Vec::new();
            for shape in &shapes {
                next.extend(shape.meet_obligation(member, goals, tests, budget));
                if next.len() > budget || goals.work.is_spent() {
                    return None;
                }
            }
            shapes = next;
        }
        Some(shapes)
    }

    /// The cases of one obligation, or more of them than the budget.
    fn meet_obligation(
        &self,
        member: &MemberObligation<'s>,
        goals: &mut Goals,
        tests: &TextTests<'s>,
        budget: usize,
    ) -> Vec<Self> {
        let mut cases = Vec::new();
        for (at, property) in self.properties.iter().enumerate() {
            let excluded = member.except.binary_search(&property.name).is_ok();
            if excluded || !member.tests.iter().all(|&test| tests.passes(test, property.name)) {
                continue;
            }
            let value = goals.and(property.value, member.value);
            if value == GoalId::NEVER {
                continue;
            }
            if value == property.value && property.presence == Presence::Required {
                // This member is always there and always meets the obligation, so nothing is to be added.
                return vec![self.clone()];
            }
            goals.work.charge(self.size());
            if cases.len() > budget || goals.work.is_spent() {
                return cases;
            }
            let mut case = self.clone();
            case.properties[at].value = value;
            case.properties[at].presence = Presence::Required;
            cases.push(case.normalized());
        }
        goals.work.charge(4 * self.cells.len());
        let meets =
            |cell: &Cell| cell.value != GoalId::NEVER && join_tests(&cell.tests, &member.tests).is_some();
        // A member of a free name may meet it, too. Which one is left open: the obligation stays with the
        // shape.
        if self.cells.iter().any(meets) {
            let mut case = self.clone();
            case.obligations.push(member.clone());
            cases.push(case);
        }
        cases.retain(|case| !case.is_empty());
        cases
    }
}

/// Properties to be found by their names.
struct ByName<'p, 's> {
    properties: &'p [Property<'s>],
    /// Where there are many of them, and many are looked for.
    index: Option<HashMap<&'s str, usize>>,
}

/// Names that are found one after the other sooner than an index is made.
const MAX_SCANNED_NAMES: usize = 4;

impl<'p, 's> ByName<'p, 's> {
    /// Of this many names.
    fn of(properties: &'p [Property<'s>], names: usize) -> Self {
        let index = (names > MAX_SCANNED_NAMES && properties.len() > MAX_SCANNED_NAMES)
            .then(|| properties.iter().enumerate().map(|(at, property)| (property.name, at)).collect());
        Self { properties, index }
    }

    fn find(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.properties.iter().position(|property| property.name == name),
        }
    }
}

/// Both lists of tests, or `None` where they contradict each other.
pub(crate) fn join_tests(left: &[TextTest], right: &[TextTest]) -> Option<Vec<TextTest>> {
    let all = in_either(left, right);
    let contradiction = all.windows(2).any(|pair| pair[0].test == pair[1].test);
    (!contradiction).then_some(all)
}
