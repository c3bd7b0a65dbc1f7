//! Members with undeclared names, and the obligations that some of them must meet. `not` around
//! `additionalProperties`, `patternProperties` or `propertyNames` asks for a member of any name whose value
//! breaks a rule. Such a member is a *witness*.
//!
//! One member may be the witness of several obligations. So the obligations are partitioned into groups in
//! every way, and each group has one witness that meets all of it. An obligation on the name is met wherever
//! such a name occurs. An obligation on the value is not. Free names may repeat, a reader takes the last
//! member of a name, and only of the last members is it certain that no other one overrides their values. So
//! these witnesses are the last members. Two of them must not override each other: their names differ for
//! certain, or the one that meets both obligations comes last. Where neither is the case, some objects have
//! no order in which both are met for certain.
//!
//! All of this is for names that may repeat. Where they are kept from that ([`FreeNames::Unique`]) witnesses
//! may be anywhere. A schema that is refused is compiled once more that way; so is one whose members may come in any
//! order, but for the witnesses.
//!
//! [`FreeNames::Unique`]: crate::json_schema::options::FreeNames::Unique

use grammask_grammar_ir::{ExprId, Occurrence};

use super::containers::{FreeMembers, WitnessPlacement};
use super::lowering::SchemaLowering;
use super::punctuation::Punctuation;
use super::value_counts::undeclared;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::options::KeyOrder;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::object_shape::{
    Cell, MemberObligation, ObjectShape, Presence, Property, PropertyOrigin, join_tests,
};
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::TextTest;

/// Obligations of one object; five have 52 partitions.
const MAX_OBLIGATIONS: usize = 5;

/// Alternatives of one object by the names of its witnesses, where these are so few that other members could take all of
/// them.
const MAX_WITNESS_NAMES: usize = 2_048;

/// Obligations with one witness.
#[derive(Clone)]
struct ObligationGroup<'s> {
    tests: Vec<TextTest>,
    except: Vec<&'s str>,
    value: GoalId,
}

/// A member that meets a group of obligations.
struct Witness<'s> {
    group: ObligationGroup<'s>,
    text: ExprId,
    /// Whether it meets them by its value.
    is_valued: bool,
}

/// In which order two witnesses at the end may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WitnessOrder {
    Any,
    FirstIsFirst,
    SecondIsFirst,
}

impl<'s> SchemaLowering<'s> {
    /// Where names do not repeat, other members may take every name that a witness could have. If these are few, there is
    /// one alternative for each of them, in which it is declared and required. `None` where no obligation is in this way,
    /// or where there are too many alternatives.
    pub(super) fn split_by_witness_name(
        &mut self,
        shape: &ObjectShape<'s>,
    ) -> Result<Option<Vec<ObjectShape<'s>>>> {
        if !self.names_are_unique() {
            return Ok(None);
        }
        let Some(first) = self.next_witness_of_few_names(shape)? else { return Ok(None) };
        let mut done = Vec::new();
        let mut open = vec![(shape.clone(), first)];
        while let Some((shape, witness)) = open.pop() {
            let most = MAX_WITNESS_NAMES.saturating_sub(open.len() + done.len());
            let Some(shapes) = self.split_at_witness(&shape, witness, most) else { return Ok(None) };
            for shape in shapes {
                match self.next_witness_of_few_names(&shape)? {
                    Some(witness) => open.push((shape, witness)),
                    None => done.push(shape),
                }
            }
        }
        Ok(Some(done))
    }

    /// A witness that may find no name. Where the free names of the whole object may run out, each is one: without
    /// obligations free names are listed.
    fn next_witness_of_few_names(
        &mut self,
        shape: &ObjectShape<'s>,
    ) -> Result<Option<(usize, MemberObligation<'s>)>> {
        let few = self.witness_of_few_names(shape);
        let Some(first) = shape.obligations.first().filter(|_| few.is_none()) else { return Ok(few) };
        Ok((!self.has_names(shape)?).then(|| (0, first.clone())))
    }

    /// One alternative for each name of a witness. Where it is for several obligations, there is one more, in which the
    /// witness of the last of them has another name. `None` where there are more than `most`.
    fn split_at_witness(
        &mut self,
        shape: &ObjectShape<'s>,
        (at, witness): (usize, MemberObligation<'s>),
        most: usize,
    ) -> Option<Vec<ObjectShape<'s>>> {
        let obligation = &shape.obligations[at];
        let mut shapes = Vec::new();
        let mut taken: Vec<&'s str> = Vec::new();
        for cell in &shape.cells {
            let goals = &mut self.normalizer.algebra.goals;
            let value = goals.and(cell.value, obligation.value);
            let Some(tests) = join_tests(&cell.tests, &witness.tests) else { continue };
            if goals.and(cell.value, witness.value) == GoalId::NEVER {
                continue;
            }
            let names = undeclared(shape, tests, &witness.except);
            let names = self.enumerated(&names, most.checked_sub(shapes.len())?)?;
            for name in names {
                let name = self.normalizer.document.kept_text(name);
                let mut others = shape.clone();
                others.obligations.remove(at);
                let (presence, origin) = (Presence::Required, PropertyOrigin::Mentioned);
                shapes.extend(self.with_witness(others, Property { name, value, presence, origin })?);
                taken.push(name);
            }
        }
        if witness != *obligation {
            let mut others = shape.clone();
            let except = &mut others.obligations[at].except;
            except.extend(&taken);
            except.sort_unstable();
            shapes.push(others);
        }
        // Each time there are fewer obligations, or fewer names for them.
        (witness == *obligation || !taken.is_empty()).then_some(shapes)
    }

    /// A shape with one more member, which is required. It meets other obligations, too, or leaves them to free names.
    /// `None` where that takes too much work.
    fn with_witness(
        &mut self,
        mut shape: ObjectShape<'s>,
        witness: Property<'s>,
    ) -> Option<Vec<ObjectShape<'s>>> {
        let obligations = std::mem::take(&mut shape.obligations);
        let name = witness.name;
        let mut cases = vec![(witness, Vec::new())];
        for obligation in obligations {
            let tests = &self.normalizer.algebra.tests;
            let is_meant = obligation.except.binary_search(&name).is_err()
                && obligation.tests.iter().all(|&test| tests.passes(test, name));
            let mut next = Vec::with_capacity(cases.len());
            for (witness, mut left) in cases {
                self.normalizer.algebra.work.charge(shape.size());
                if self.normalizer.algebra.work.is_spent() {
                    return None;
                }
                let both = match is_meant {
                    true => self.normalizer.algebra.goals.and(witness.value, obligation.value),
                    false => GoalId::NEVER,
                };
                let is_met = both == witness.value;
                if both != GoalId::NEVER {
                    next.push((Property { value: both, ..witness.clone() }, left.clone()));
                }
                if !is_met {
                    left.push(obligation.clone());
                    next.push((witness, left));
                }
            }
            cases = next;
        }
        let with = |(witness, left): (Property<'s>, Vec<MemberObligation<'s>>)| {
            let mut case = shape.clone();
            case.properties.push(witness);
            case.obligations = left;
            case
        };
        Some(cases.into_iter().map(with).collect())
    }

    /// The members with undeclared names; `None` where there can be none, or where they cannot meet the obligations.
    pub(super) fn free_members(
        &mut self,
        shape: &ObjectShape<'s>,
        node: NodeId,
    ) -> Result<Option<FreeMembers>> {
        let names: Vec<&'s str> = shape.properties.iter().map(|property| property.name).collect();
        let mut any = Vec::new();
        for cell in &shape.cells {
            any.extend(self.free_member(cell, &names, node)?);
        }
        if any.is_empty() {
            return Ok(None);
        }
        let any = self.builder.choice(any);
        if shape.obligations.is_empty() {
            return Ok(Some(FreeMembers { any, ways: vec![WitnessPlacement::default()] }));
        }
        let obligations = self.distinct_obligations(&shape.obligations);
        if obligations.len() > MAX_OBLIGATIONS {
            let reason = format!("more than {MAX_OBLIGATIONS} conditions ask for members of any name");
            self.refuse_obligations(node, &reason)?;
            return Ok(Some(FreeMembers { any, ways: vec![WitnessPlacement::default()] }));
        }
        let required = shape.properties.iter().filter(|property| property.presence == Presence::Required);
        let required = required.count() as u64;
        let max_groups = shape
            .max
            .map_or(usize::MAX, |max| usize::try_from(max.saturating_sub(required)).unwrap_or(usize::MAX));
        let mut ways = Vec::new();
        for groups in self.partitions(&obligations, max_groups) {
            let Some(witnesses) = self.witnesses(shape, groups, &names, node)? else { continue };
            ways.push(self.placement(shape, witnesses, node)?);
        }
        Ok((!ways.is_empty()).then_some(FreeMembers { any, ways }))
    }

    pub(super) fn refuse_obligations(&mut self, node: NodeId, reason: &str) -> Result<()> {
        self.ask_for_unique_names();
        let reason =
            format!("{reason} (`not` around `additionalProperties`, `patternProperties` or `propertyNames`)");
        self.normalizer.unsupported(node, "not", reason, "name the members under `required`")
    }

    /// The obligations that no other one implies.
    fn distinct_obligations(&mut self, required: &[MemberObligation<'s>]) -> Vec<ObligationGroup<'s>> {
        let goals = &mut self.normalizer.algebra.goals;
        let mut contains = |more: &MemberObligation<'s>, less: &MemberObligation<'s>| {
            less.tests.iter().all(|test| more.tests.contains(test))
                && less.except.iter().all(|name| more.except.contains(name))
                && goals.and(more.value, less.value) == more.value
        };
        let mut obligations: Vec<&MemberObligation<'s>> = Vec::new();
        for obligation in required {
            if !obligations.iter().any(|known| contains(known, obligation)) {
                obligations.retain(|known| !contains(obligation, known));
                obligations.push(obligation);
            }
        }
        let group = |obligation: &MemberObligation<'s>| ObligationGroup {
            tests: obligation.tests.clone(),
            except: obligation.except.clone(),
            value: obligation.value,
        };
        obligations.into_iter().map(group).collect()
    }

    /// All partitions of obligations into at most `max_groups` groups.
    fn partitions(
        &mut self,
        obligations: &[ObligationGroup<'s>],
        max_groups: usize,
    ) -> Vec<Vec<ObligationGroup<'s>>> {
        let mut partitions: Vec<Vec<ObligationGroup<'s>>> = vec![Vec::new()];
        for obligation in obligations {
            let mut next = Vec::new();
            for groups in partitions {
                for at in 0..groups.len() {
                    if let Some(joined) = self.joined(&groups[at], obligation) {
                        let mut groups = groups.clone();
                        groups[at] = joined;
                        next.push(groups);
                    }
                }
                if groups.len() < max_groups {
                    let mut groups = groups;
                    groups.push(obligation.clone());
                    next.push(groups);
                }
            }
            partitions = next;
        }
        partitions
    }

    /// The schema of one member that meets both obligations.
    fn joined(
        &mut self,
        left: &ObligationGroup<'s>,
        right: &ObligationGroup<'s>,
    ) -> Option<ObligationGroup<'s>> {
        let tests = join_tests(&left.tests, &right.tests)?;
        let value = self.normalizer.algebra.goals.and(left.value, right.value);
        let except = [left.except.as_slice(), &right.except].concat();
        (value != GoalId::NEVER).then_some(ObligationGroup { tests, except, value })
    }

    /// A witness for each group; `None` where one of them has none.
    fn witnesses(
        &mut self,
        shape: &ObjectShape<'s>,
        groups: Vec<ObligationGroup<'s>>,
        names: &[&'s str],
        node: NodeId,
    ) -> Result<Option<Vec<Witness<'s>>>> {
        let mut witnesses = Vec::with_capacity(groups.len());
        for group in groups {
            let excluded = [names, &group.except].concat();
            let (mut texts, mut is_valued) = (Vec::new(), false);
            for cell in &shape.cells {
                let Some(tests) = join_tests(&cell.tests, &group.tests) else { continue };
                let value = self.normalizer.algebra.goals.and(cell.value, group.value);
                let text = self.free_member(&Cell { tests, value }, &excluded, node)?;
                if text.is_some() && !is_valued && value != cell.value {
                    is_valued = self.normalizer.norm(value)? != self.normalizer.norm(cell.value)?;
                }
                texts.extend(text);
            }
            if texts.is_empty() {
                return Ok(None);
            }
            witnesses.push(Witness { group, text: self.builder.choice(texts), is_valued });
        }
        Ok(Some(witnesses))
    }

    /// Where witnesses are placed. Refused where no place makes certain that all of them count.
    fn placement(
        &mut self,
        shape: &ObjectShape<'s>,
        witnesses: Vec<Witness<'s>>,
        node: NodeId,
    ) -> Result<WitnessPlacement> {
        let (mut last, anywhere): (Vec<_>, Vec<_>) =
            witnesses.into_iter().partition(|witness| witness.is_valued && !self.names_are_unique());
        // One member has one order.
        let is_alone = shape.max == Some(1);
        if !last.is_empty() && !is_alone && self.normalizer.options.key_order == KeyOrder::Any {
            let reason = "in any order, a condition asks for a member of any name with some value, and here names are not \
                          kept from repeating, or other members may take all of its names";
            self.refuse_obligations(node, reason)?;
            return Ok(WitnessPlacement::default());
        }
        let anywhere = anywhere.into_iter().map(|witness| witness.text).collect();
        let count = u32::try_from(last.len()).unwrap_or(u32::MAX);
        let mut in_any_order = true;
        let mut sorted: Vec<Witness<'s>> = Vec::with_capacity(last.len());
        while !last.is_empty() {
            // One that no other one has to be before: asking for more is transitive, so there is one.
            let mut first = 0;
            for at in 0..last.len() {
                let mut is_free = true;
                for other in (0..last.len()).filter(|&other| other != at) {
                    match self.order(&last[at].group, &last[other].group)? {
                        Some(order) => {
                            in_any_order &= order == WitnessOrder::Any;
                            is_free &= order != WitnessOrder::SecondIsFirst;
                        }
                        None => {
                            let reason = "two conditions ask for members of any name with different values";
                            self.refuse_obligations(node, reason)?;
                            return Ok(WitnessPlacement::default());
                        }
                    }
                }
                if is_free {
                    first = at;
                }
            }
            sorted.push(last.swap_remove(first));
        }
        let last = self
            .last_members(&sorted, if in_any_order { WitnessOrder::Any } else { WitnessOrder::FirstIsFirst });
        Ok(WitnessPlacement { anywhere, last: last.map(|text| (count, text)) })
    }

    /// Members at the end, with separators between them.
    fn last_members(&mut self, witnesses: &[Witness<'s>], order: WitnessOrder) -> Option<ExprId> {
        let Punctuation { space, comma, quote, .. } = self.punctuation;
        let separator = self.builder.sequence([space, comma, quote]);
        match witnesses {
            [] => None,
            [only] => Some(only.text),
            _ if order == WitnessOrder::Any => {
                let parts = witnesses.iter().map(|witness| (witness.text, Occurrence::Required));
                Some(self.builder.permutation(separator, parts, 1, None))
            }
            _ => {
                let parts = witnesses.iter().flat_map(|witness| [separator, witness.text]).skip(1);
                Some(self.builder.sequence(parts))
            }
        }
    }

    /// In which order two witnesses meet both groups for certain; `None` if in neither.
    fn order(
        &mut self,
        first: &ObligationGroup<'s>,
        second: &ObligationGroup<'s>,
    ) -> Result<Option<WitnessOrder>> {
        let Some(tests) = join_tests(&first.tests, &second.tests) else { return Ok(Some(WitnessOrder::Any)) };
        if !self.normalizer.algebra.may_be_nonempty(&StringShape { tests, ..StringShape::any() }) {
            return Ok(Some(WitnessOrder::Any));
        }
        // Where the names are equal, the later one has to meet both.
        let both = self.normalizer.algebra.goals.and(first.value, second.value);
        let both = self.normalizer.norm(both)?;
        let first_has_all = self.normalizer.norm(first.value)? == both;
        let second_has_all = self.normalizer.norm(second.value)? == both;
        Ok(match (first_has_all, second_has_all) {
            (true, true) => Some(WitnessOrder::Any),
            (true, false) => Some(WitnessOrder::SecondIsFirst),
            (false, true) => Some(WitnessOrder::FirstIsFirst),
            (false, false) => None,
        })
    }

    /// A member whose name belongs to a cell and is none of `names`; without the opening quote.
    fn free_member(&mut self, cell: &Cell, names: &[&'s str], node: NodeId) -> Result<Option<ExprId>> {
        if cell.value == GoalId::NEVER {
            return Ok(None);
        }
        let Some(value) = self.value(cell.value)? else { return Ok(None) };
        let Some(key) = self.free_name(&cell.tests, names, node)? else { return Ok(None) };
        Ok(Some(self.builder.sequence([key, self.punctuation.colon, value])))
    }
}
