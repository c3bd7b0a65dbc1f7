//! Members with undeclared names, and those of them that an object owes: `not` around `additionalProperties`,
//! `patternProperties` or `propertyNames` asks for a member of any name whose value breaks a rule.
//!
//! One member may pay several debts, so the debts are parted into groups in every way, and each group has one
//! member that pays all of it. A debt that asks for a name is paid wherever such a name stands. One that asks
//! for a value is not: free names may repeat, a reader takes the last member of a name, and only of the last
//! members is it certain that no other one overrides their values. So these members are the last ones. Two of
//! them must not override each other: their names differ for certain, or the one that asks for more is behind.
//! Where neither is so, some objects have no order in which both are paid for certain, and the schema is refused.

use grammask_grammar_ir::{ExprId, Occurrence};

use super::document::NodeId;
use super::goal::GoalId;
use super::keywords::Fallible;
use super::lower::Lowering;
use super::object_shape::{Cell, ObjectShape, OwedMember, Presence, join_tests};
use super::punctuation::Punctuation;
use super::string_shape::StringShape;
use super::text_tests::TextTest;

/// Debts of one object; five can be parted in 52 ways.
const MAX_DEBTS: usize = 5;

/// The members with undeclared names, without opening quotes.
pub(super) struct Free {
    /// Any of them.
    pub(super) any: ExprId,
    /// The ways to pay what is owed; one that asks for nothing where nothing is owed.
    pub(super) ways: Vec<Payment>,
}

/// Members that pay all debts together.
#[derive(Default)]
pub(super) struct Payment {
    /// They stand anywhere.
    pub(super) anywhere: Vec<ExprId>,
    /// How many stand at the end, and their text.
    pub(super) last: Option<(u32, ExprId)>,
}

impl Payment {
    /// How many members it takes.
    pub(super) fn members(&self) -> u32 {
        u32::try_from(self.anywhere.len()).unwrap_or(u32::MAX) + self.last.map_or(0, |last| last.0)
    }
}

/// Debts that one member pays.
#[derive(Clone)]
struct Group<'s> {
    tests: Vec<TextTest>,
    except: Vec<&'s str>,
    value: GoalId,
}

/// A member that pays a group.
struct Payer<'s> {
    group: Group<'s>,
    text: ExprId,
    /// Whether it pays by its value.
    is_valued: bool,
}

/// How two members at the end may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Any,
    FirstIsFirst,
    SecondIsFirst,
}

impl<'s> Lowering<'s> {
    /// The members with undeclared names; `None` where there can be none, or where they cannot pay.
    pub(super) fn free_members(&mut self, shape: &ObjectShape<'s>, node: NodeId) -> Fallible<Option<Free>> {
        let names: Vec<&'s str> = shape.properties.iter().map(|property| property.name).collect();
        let mut any = Vec::new();
        for cell in &shape.cells {
            any.extend(self.free_member(cell, &names, node)?);
        }
        if any.is_empty() {
            return Ok(None);
        }
        let any = self.builder.choice(any);
        if shape.owed.is_empty() {
            return Ok(Some(Free { any, ways: vec![Payment::default()] }));
        }
        let debts = self.distinct_debts(&shape.owed);
        if debts.len() > MAX_DEBTS {
            let reason = format!("more than {MAX_DEBTS} conditions ask for members of any name");
            self.refuse_debts(node, &reason)?;
            return Ok(Some(Free { any, ways: vec![Payment::default()] }));
        }
        let required = shape.properties.iter().filter(|property| property.presence == Presence::Required);
        let required = required.count() as u64;
        let room = shape
            .max
            .map_or(usize::MAX, |max| usize::try_from(max.saturating_sub(required)).unwrap_or(usize::MAX));
        let mut ways = Vec::new();
        for groups in self.partitions(&debts, room) {
            let Some(payers) = self.payers(shape, groups, &names, node)? else { continue };
            ways.push(self.payment(payers, node)?);
        }
        Ok((!ways.is_empty()).then_some(Free { any, ways }))
    }

    fn refuse_debts(&mut self, node: NodeId, reason: &str) -> Fallible<()> {
        let reason =
            format!("{reason} (`not` around `additionalProperties`, `patternProperties` or `propertyNames`)");
        self.normalizer.unsupported(node, "not", reason, "name the members under `required`")
    }

    /// The debts that no other one contains.
    fn distinct_debts(&mut self, owed: &[OwedMember<'s>]) -> Vec<Group<'s>> {
        let goals = &mut self.normalizer.algebra.goals;
        let mut contains = |more: &OwedMember<'s>, less: &OwedMember<'s>| {
            less.tests.iter().all(|test| more.tests.contains(test))
                && less.except.iter().all(|name| more.except.contains(name))
                && goals.and(more.value, less.value) == more.value
        };
        let mut debts: Vec<&OwedMember<'s>> = Vec::new();
        for debt in owed {
            if !debts.iter().any(|known| contains(known, debt)) {
                debts.retain(|known| !contains(debt, known));
                debts.push(debt);
            }
        }
        let group = |debt: &OwedMember<'s>| Group {
            tests: debt.tests.clone(),
            except: debt.except.clone(),
            value: debt.value,
        };
        debts.into_iter().map(group).collect()
    }

    /// All ways to part debts into at most so many groups.
    fn partitions(&mut self, debts: &[Group<'s>], room: usize) -> Vec<Vec<Group<'s>>> {
        let mut partitions: Vec<Vec<Group<'s>>> = vec![Vec::new()];
        for debt in debts {
            let mut next = Vec::new();
            for groups in partitions {
                for at in 0..groups.len() {
                    if let Some(joined) = self.joined(&groups[at], debt) {
                        let mut groups = groups.clone();
                        groups[at] = joined;
                        next.push(groups);
                    }
                }
                if groups.len() < room {
                    let mut groups = groups;
                    groups.push(debt.clone());
                    next.push(groups);
                }
            }
            partitions = next;
        }
        partitions
    }

    /// What one member must be to pay both.
    fn joined(&mut self, left: &Group<'s>, right: &Group<'s>) -> Option<Group<'s>> {
        let tests = join_tests(&left.tests, &right.tests)?;
        let value = self.normalizer.algebra.goals.and(left.value, right.value);
        let except = [left.except.as_slice(), &right.except].concat();
        (value != GoalId::NEVER).then_some(Group { tests, except, value })
    }

    /// A member for each group; `None` where one of them has none.
    fn payers(
        &mut self,
        shape: &ObjectShape<'s>,
        groups: Vec<Group<'s>>,
        names: &[&'s str],
        node: NodeId,
    ) -> Fallible<Option<Vec<Payer<'s>>>> {
        let mut payers = Vec::with_capacity(groups.len());
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
            payers.push(Payer { group, text: self.builder.choice(texts), is_valued });
        }
        Ok(Some(payers))
    }

    /// How members stand. Refused where they cannot stand so that all of them pay for certain.
    fn payment(&mut self, payers: Vec<Payer<'s>>, node: NodeId) -> Fallible<Payment> {
        let (mut last, anywhere): (Vec<_>, Vec<_>) = payers.into_iter().partition(|payer| payer.is_valued);
        let anywhere = anywhere.into_iter().map(|payer| payer.text).collect();
        let count = u32::try_from(last.len()).unwrap_or(u32::MAX);
        let mut in_any_order = true;
        let mut sorted: Vec<Payer<'s>> = Vec::with_capacity(last.len());
        while !last.is_empty() {
            // One that no other one has to be before: asking for more is transitive, so there is one.
            let mut first = 0;
            for at in 0..last.len() {
                let mut is_free = true;
                for other in (0..last.len()).filter(|&other| other != at) {
                    match self.order(&last[at].group, &last[other].group)? {
                        Some(order) => {
                            in_any_order &= order == Order::Any;
                            is_free &= order != Order::SecondIsFirst;
                        }
                        None => {
                            let reason = "two conditions ask for members of any name with different values";
                            self.refuse_debts(node, reason)?;
                            return Ok(Payment::default());
                        }
                    }
                }
                if is_free {
                    first = at;
                }
            }
            sorted.push(last.swap_remove(first));
        }
        let last = self.last_members(&sorted, if in_any_order { Order::Any } else { Order::FirstIsFirst });
        Ok(Payment { anywhere, last: last.map(|text| (count, text)) })
    }

    /// Members at the end, with separators between them.
    fn last_members(&mut self, payers: &[Payer<'s>], order: Order) -> Option<ExprId> {
        let Punctuation { space, comma, quote, .. } = self.punctuation;
        let separator = self.builder.sequence([space, comma, quote]);
        match payers {
            [] => None,
            [only] => Some(only.text),
            _ if order == Order::Any => {
                let parts = payers.iter().map(|payer| (payer.text, Occurrence::Required));
                Some(self.builder.permutation(separator, parts, 1, None))
            }
            _ => {
                let parts = payers.iter().flat_map(|payer| [separator, payer.text]).skip(1);
                Some(self.builder.sequence(parts))
            }
        }
    }

    /// In which order two members pay both groups for certain; `None` if in neither.
    fn order(&mut self, first: &Group<'s>, second: &Group<'s>) -> Fallible<Option<Order>> {
        let Some(tests) = join_tests(&first.tests, &second.tests) else { return Ok(Some(Order::Any)) };
        if !self.normalizer.algebra.may_be(&StringShape { tests, ..StringShape::any() }) {
            return Ok(Some(Order::Any));
        }
        // Where the names are equal, the one behind has to pay for both.
        let both = self.normalizer.algebra.goals.and(first.value, second.value);
        let both = self.normalizer.norm(both)?;
        let first_has_all = self.normalizer.norm(first.value)? == both;
        let second_has_all = self.normalizer.norm(second.value)? == both;
        Ok(match (first_has_all, second_has_all) {
            (true, true) => Some(Order::Any),
            (true, false) => Some(Order::SecondIsFirst),
            (false, true) => Some(Order::FirstIsFirst),
            (false, false) => None,
        })
    }

    /// A member whose name belongs to a cell and is none of `names`; without the opening quote.
    fn free_member(&mut self, cell: &Cell, names: &[&'s str], node: NodeId) -> Fallible<Option<ExprId>> {
        if cell.value == GoalId::NEVER {
            return Ok(None);
        }
        let Some(value) = self.value(cell.value)? else { return Ok(None) };
        let Some(key) = self.free_name(&cell.tests, names, node)? else { return Ok(None) };
        Ok(Some(self.builder.sequence([key, self.punctuation.colon, value])))
    }
}
