//! Objects as chains of rules.
//!
//! The naive way writes down every subset of the optional properties. Here a state is *which property comes
//! next*: `K(i)` derives everything after a name's opening quote, given that the names before the `i`th are
//! done with. It reads property `i` and goes on with `K(i + 1)`, or leaves it out and is `K(i + 1)`. Linear in
//! the number of properties; runs of required ones are one sequence without rules in between. Bounds on the
//! number of members add a count to the state.
//!
//! In any order ([`KeyOrder::Any`](super::KeyOrder::Any)) members are the parts of one
//! [`Expr::Unordered`](grammask_grammar_ir::Expr::Unordered), and bounds on their number are its bounds.

use std::borrow::Cow;

use grammask_grammar_ir::{ExprId, Occurrence, RuleId};
use smallvec::SmallVec;

use super::comparing::Compared;
use super::document::NodeId;
use super::goal::GoalId;
use super::keywords::Fallible;
use super::lower::{Lowering, grammar_error};
use super::lower_debts::{Free, Payment};
use super::object_shape::{ObjectShape, Presence};
use super::options::KeyOrder;
use super::punctuation::Punctuation;

/// Members in any order. While one is read, each of the others may follow, and with each of them goes a set of what was
/// read.
const MOST_UNORDERED: usize = 10_000;

/// A property that may occur.
pub(super) struct Member {
    /// The name without quotes, the colon and the value.
    pub(super) text: ExprId,
    pub(super) presence: Presence,
}

/// Bounds on the number of members.
#[derive(Clone, Copy)]
struct Counts {
    min: u32,
    max: Option<u32>,
}

impl Counts {
    /// Counts from here on are not told apart.
    fn cap(self) -> u32 {
        self.max.unwrap_or(0).max(self.min)
    }
}

impl<'s> Lowering<'s> {
    pub(super) fn object(&mut self, shape: &ObjectShape<'s>, node: NodeId) -> Fallible<Option<ExprId>> {
        let mut members = Vec::with_capacity(shape.properties.len());
        for property in &shape.properties {
            let value = if property.value == GoalId::NEVER { None } else { self.value(property.value)? };
            match (value, property.presence) {
                (Some(value), presence) => {
                    let name = self.declared_name(property.name, node)?;
                    let text = self.builder.sequence([name, self.punctuation.colon, value]);
                    members.push(Member { text, presence });
                }
                (None, Presence::Required) => return Ok(None),
                (None, Presence::Optional) => {}
            }
        }
        let mut shape = Cow::Borrowed(shape);
        self.list_free_names(&mut shape, &mut members, node)?;
        let shape = &*shape;
        let key_order = self.normalizer.options.key_order;
        if key_order == KeyOrder::RequiredFirst {
            members.sort_by_key(|member| member.presence == Presence::Optional);
        }
        let free = self.free_members(shape, node)?;
        if free.is_none() && !shape.owed.is_empty() {
            return Ok(None);
        }
        let compared = self.compared_names(shape, node, free.is_some())?;
        let Some(counts) = self.counts(shape, node, members.len(), free.is_some(), compared)? else {
            return Ok(None);
        };
        // One member has one order.
        let is_unordered = key_order == KeyOrder::Any && members.len() + usize::from(free.is_some()) > 1;
        if is_unordered && members.len() > MOST_UNORDERED {
            let reason = format!("more than {MOST_UNORDERED} members in any order");
            let hint = "ask for the order in which they are declared";
            self.normalizer.unsupported(node, "properties", reason, hint)?;
        } else if is_unordered {
            let inside = self.unordered_object(&members, free.as_ref(), counts);
            return self.opened(self.punctuation.open, inside, compared).map(Some);
        }
        let inside = self.object_text(&members, free.as_ref(), counts)?;
        inside.map(|inside| self.opened(self.punctuation.open, inside, compared)).transpose()
    }

    /// Members in any order, behind the brace. Which of them were read is for the parser to keep, not for rules.
    fn unordered_object(&mut self, members: &[Member], free: Option<&Free>, counts: Counts) -> ExprId {
        let Punctuation { space, quote, .. } = self.punctuation;
        let builder = &mut self.builder;
        let mut parts: Vec<(ExprId, Occurrence)> = Vec::with_capacity(members.len() + 2);
        for member in members {
            let occurrence = match member.presence {
                Presence::Required => Occurrence::Required,
                Presence::Optional => Occurrence::Optional,
            };
            parts.push((builder.sequence([quote, member.text]), occurrence));
        }
        let mut ways = Vec::new();
        match free {
            None => ways.push(self.members_in_any_order(parts, None, counts)),
            Some(free) => {
                parts.push((builder.sequence([quote, free.any]), Occurrence::Repeatable));
                for way in &free.ways {
                    let mut parts = parts.clone();
                    for &payer in &way.anywhere {
                        parts.push((self.builder.sequence([quote, payer]), Occurrence::Required));
                    }
                    ways.push(self.members_in_any_order(parts, way.last, counts));
                }
            }
        }
        let inside = self.builder.choice(ways);
        self.builder.sequence([space, inside])
    }

    /// Members in any order, then the last ones, and the closing brace.
    fn members_in_any_order(
        &mut self,
        parts: Vec<(ExprId, Occurrence)>,
        last: Option<(u32, ExprId)>,
        counts: Counts,
    ) -> ExprId {
        let Punctuation { space, before_first, after_last, comma, quote, close, .. } = self.punctuation;
        let builder = &mut self.builder;
        let separator = builder.sequence([space, comma]);
        let is_required = parts.iter().any(|part| part.1 == Occurrence::Required);
        let Some((count, last)) = last else {
            let inside = builder.unordered(separator, parts, counts.min, counts.max);
            let inside = builder.sequence([before_first, inside, space, after_last, close]);
            let may_be_empty = !is_required && counts.min == 0;
            return if may_be_empty { builder.choice([close, inside]) } else { inside };
        };
        let end = builder.sequence([quote, last, space, after_last, close]);
        let Some(most) = counts.max.map_or(Some(None), |max| max.checked_sub(count).map(Some)) else {
            return builder.never();
        };
        let least = counts.min.saturating_sub(count);
        if most == Some(0) {
            return if is_required { builder.never() } else { builder.sequence([before_first, end]) };
        }
        let before = builder.unordered(separator, parts, least, most);
        let mut before = builder.sequence([before, separator]);
        if !is_required && least == 0 {
            before = builder.optional(before);
        }
        builder.sequence([before_first, before, end])
    }

    /// The bounds on the number of members, if the automaton that keeps them is small enough. `None` where
    /// they cannot be met.
    fn counts(
        &mut self,
        shape: &ObjectShape<'s>,
        node: NodeId,
        declared: usize,
        has_free: bool,
        compared: Option<Compared>,
    ) -> Fallible<Option<Counts>> {
        let declared = declared as u64;
        let mut max = shape.max;
        if !has_free {
            if shape.min > declared {
                return Ok(None);
            }
            max = max.filter(|&max| max < declared);
        }
        let required = shape.required();
        let keyword = if shape.min > 0 { "minProperties" } else { "maxProperties" };
        // That was refused where it was found, or names are not counted twice.
        if has_free && shape.min > required + 1 && compared.is_none() {
            return Ok(Some(Counts { min: 0, max: None }));
        }
        let limit = self.normalizer.options.limits.states as u64;
        let cap = shape.min.max(max.unwrap_or(0));
        if (declared + 1).saturating_mul(cap.saturating_add(1)) > limit.max(declared + 1) {
            let reason = format!("counting the members takes more than {limit} states");
            let hint = "use a smaller bound or fewer properties, or raise the limit `states`";
            self.normalizer.unsupported(node, keyword, reason, hint)?;
            return Ok(Some(Counts { min: 0, max: None }));
        }
        let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
        Ok(Some(Counts { min: fits(shape.min), max: max.map(fits) }))
    }

    /// What stands behind the brace.
    fn object_text(
        &mut self,
        members: &[Member],
        free: Option<&Free>,
        counts: Counts,
    ) -> Fallible<Option<ExprId>> {
        let chain = Chain {
            members,
            free,
            counts,
            last_required: members.iter().rposition(|member| member.presence == Presence::Required),
        };
        let Punctuation { space, before_first, quote, close, .. } = self.punctuation;
        let first = chain.build(self)?;
        let mut inside = Vec::new();
        if let Some(first) = first {
            inside.push(self.builder.sequence([before_first, quote, first]));
        }
        if chain.may_end(0, 0) {
            inside.push(close);
        }
        if inside.is_empty() {
            return Ok(None);
        }
        let inside = self.builder.choice(inside);
        Ok(Some(self.builder.sequence([space, inside])))
    }
}

/// By the number of members that were read; mostly nobody counts them.
type Row = SmallVec<[Option<ExprId>; 2]>;

/// The chain of one object.
struct Chain<'c> {
    members: &'c [Member],
    free: Option<&'c Free>,
    counts: Counts,
    last_required: Option<usize>,
}

impl Chain<'_> {
    /// Whether the object may end where the members before `next` are done with and `count` were read.
    fn may_end(&self, next: usize, count: u32) -> bool {
        self.last_required.is_none_or(|last| last < next)
            && count >= self.counts.min
            && self.free.is_none_or(|free| free.ways.iter().any(|way| way.members() == 0))
    }

    fn may_go_on(&self, count: u32) -> bool {
        self.counts.max.is_none_or(|max| count < max)
    }

    /// `K(0)`: from behind the first name's opening quote to the closing brace; `None` where no member can
    /// follow.
    fn build(&self, lowering: &mut Lowering<'_>) -> Fallible<Option<ExprId>> {
        let cap = self.counts.cap();
        // `K(i)` for every count, from the last `i` to the first.
        let mut row: Row = (0..=cap).map(|count| self.tail(lowering, count)).collect();
        let mut next = self.members.len();
        while next > 0 {
            let is_required = |at: usize| self.members[at].presence == Presence::Required;
            let mut start = next - 1;
            while is_required(next - 1) && start > 0 && is_required(start - 1) {
                start -= 1;
            }
            let mut before = Row::with_capacity(row.len());
            for count in 0..=cap {
                let state = self.state(lowering, start..next, count, &row)?;
                before.push(match state {
                    // What two places refer to is a rule; what only the member before refers to is not.
                    Some(state) if start > 0 && !is_required(start - 1) || cap > 0 => {
                        let rule: RuleId =
                            lowering.builder.declare_fresh("members").map_err(grammar_error)?;
                        lowering.builder.define(rule, state).map_err(grammar_error)?;
                        Some(lowering.builder.rule(rule))
                    }
                    state => state,
                });
            }
            row = before;
            next = start;
        }
        Ok(row[0])
    }

    /// `K(run.start)` at a count, given `K(run.end)` at every count. The run is one optional member, or
    /// required members in a row.
    fn state(
        &self,
        lowering: &mut Lowering<'_>,
        run: std::ops::Range<usize>,
        count: u32,
        after: &[Option<ExprId>],
    ) -> Fallible<Option<ExprId>> {
        let Punctuation { space, comma, quote, .. } = lowering.punctuation;
        let skipped = match self.members[run.start].presence {
            Presence::Optional => after[count as usize],
            Presence::Required => None,
        };
        let length = u32::try_from(run.len()).unwrap_or(u32::MAX);
        let fits = self.counts.max.is_none_or(|max| count.saturating_add(length) <= max);
        let mut read = None;
        if fits {
            let then = count.saturating_add(length).min(self.counts.cap());
            if let Some(end) = self.after(lowering, run.end, then, after[then as usize]) {
                let mut parts: SmallVec<[ExprId; 32]> = SmallVec::with_capacity(4 * run.len() + 1);
                for at in run.clone() {
                    if at > run.start {
                        parts.extend([space, comma, quote]);
                    }
                    parts.push(self.members[at].text);
                }
                parts.push(end);
                read = Some(lowering.builder.sequence(parts));
            }
        }
        Ok(match (read, skipped) {
            (Some(read), Some(skipped)) => Some(lowering.builder.choice([read, skipped])),
            (read, skipped) => read.or(skipped),
        })
    }

    /// What follows a member's value: another member, or the end.
    fn after(
        &self,
        lowering: &mut Lowering<'_>,
        next: usize,
        count: u32,
        state: Option<ExprId>,
    ) -> Option<ExprId> {
        let Punctuation { space, after_last, comma, quote, close, .. } = lowering.punctuation;
        let mut ways: SmallVec<[ExprId; 2]> = SmallVec::new();
        if let Some(state) = state.filter(|_| self.may_go_on(count)) {
            ways.push(lowering.builder.sequence([comma, quote, state]));
        }
        if self.may_end(next, count) {
            ways.push(lowering.builder.sequence([after_last, close]));
        }
        if ways.is_empty() {
            return None;
        }
        let ways = lowering.builder.choice(ways);
        Some(lowering.builder.sequence([space, ways]))
    }

    /// The members with free names, at least one of them, and the end.
    fn tail(&self, lowering: &mut Lowering<'_>, count: u32) -> Option<ExprId> {
        let free = self.free?;
        if !self.may_go_on(count) {
            return None;
        }
        let most = self.counts.max.map(|max| max - count);
        let least = self.counts.min.saturating_sub(count).max(1);
        let ways: Vec<ExprId> =
            free.ways.iter().filter_map(|way| free_tail(lowering, free.any, way, (least, most))).collect();
        let Punctuation { space, after_last, close, .. } = lowering.punctuation;
        (!ways.is_empty()).then(|| {
            let ways = lowering.builder.choice(ways);
            lowering.builder.sequence([ways, space, after_last, close])
        })
    }
}

/// Members with free names, at least `least` and at most `most` of them, that pay in one way; `None` where there
/// is no room.
fn free_tail(
    lowering: &mut Lowering<'_>,
    any: ExprId,
    way: &Payment,
    (least, most): (u32, Option<u32>),
) -> Option<ExprId> {
    let Punctuation { space, comma, quote, .. } = lowering.punctuation;
    let builder = &mut lowering.builder;
    let separator = builder.sequence([space, comma, quote]);
    let others = match most {
        Some(most) => Some(most.checked_sub(way.members())?),
        None => None,
    };
    let more = builder.sequence([separator, any]);
    match (way.anywhere.as_slice(), way.last) {
        ([], None) => {
            let more = builder.repeat(more, least - 1, others.map(|others| others - 1));
            Some(builder.sequence([any, more]))
        }
        ([], Some((count, last))) => {
            let before = builder.sequence([any, separator]);
            let before = builder.repeat(before, least.saturating_sub(count), others);
            Some(builder.sequence([before, last]))
        }
        ([only], None) if least == 1 && most.is_none() => {
            let before = builder.sequence([any, separator]);
            let before = builder.repeat(before, 0, None);
            let more = builder.repeat(more, 0, None);
            Some(builder.sequence([before, *only, more]))
        }
        (anywhere, last) => {
            let count = last.map_or(0, |last| last.0);
            let payers = anywhere.iter().map(|&payer| (payer, Occurrence::Required));
            let parts = payers.chain([(any, Occurrence::Repeatable)]);
            let most = most.map(|most| most - count);
            let before = builder.unordered(separator, parts, least.saturating_sub(count), most);
            Some(match last {
                Some((_, last)) => builder.sequence([before, separator, last]),
                None => before,
            })
        }
    }
}
