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

use grammask_grammar_ir::{ExprId, Occurrence, RuleId};

use super::document::NodeId;
use super::goal::GoalId;
use super::keywords::Fallible;
use super::lower::{Lowering, Punctuation, grammar_error};
use super::object_shape::{Cell, ObjectShape, Presence, join_tests};
use super::options::{FreeNames, KeyOrder};

/// A property that may occur.
struct Member {
    /// The name without quotes, the colon and the value.
    text: ExprId,
    presence: Presence,
}

/// The members with undeclared names.
struct Free {
    /// Any of them; without the opening quote.
    any: ExprId,
    /// One of those of which at least one must occur.
    owed: Option<(ExprId, Place)>,
}

/// Where a member that must occur stands among those with free names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    /// At the end: free names may repeat, a reader takes the last member of a name, and only of the last
    /// member is it certain that no other one overrides its value.
    Last,
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
                    let name = self.builder.literal(property.name);
                    let name = self.builder.json_escaped(name);
                    let text = self.builder.sequence([name, self.punctuation.colon, value]);
                    members.push(Member { text, presence });
                }
                (None, Presence::Required) => return Ok(None),
                (None, Presence::Optional) => {}
            }
        }
        let key_order = self.normalizer.options.key_order;
        if key_order == KeyOrder::RequiredFirst {
            members.sort_by_key(|member| member.presence == Presence::Optional);
        }
        let free = self.free_members(shape, node)?;
        if free.is_none() && !shape.owed.is_empty() {
            return Ok(None);
        }
        if free.is_some() && self.normalizer.options.free_names == FreeNames::Unique {
            let reason = "it leaves names free, and a grammar cannot keep free names from repeating";
            let hint = "declare all names and close the object, or allow free names to repeat";
            self.normalizer.unsupported(node, "additionalProperties", reason, hint)?;
        }
        let Some(counts) = self.counts(shape, node, members.len(), free.is_some())? else {
            return Ok(None);
        };
        // One member has one order.
        if key_order == KeyOrder::Any && members.len() + usize::from(free.is_some()) > 1 {
            return Ok(Some(self.unordered_object(&members, free.as_ref(), counts)));
        }
        self.object_text(&members, free.as_ref(), counts)
    }

    /// Members in any order. Which of them were read is for the parser to keep, not for rules.
    fn unordered_object(&mut self, members: &[Member], free: Option<&Free>, counts: Counts) -> ExprId {
        let Punctuation { space, comma, quote, .. } = self.punctuation;
        let builder = &mut self.builder;
        let mut parts: Vec<(ExprId, Occurrence)> = Vec::with_capacity(members.len() + 2);
        for member in members {
            let occurrence = match member.presence {
                Presence::Required => Occurrence::Required,
                Presence::Optional => Occurrence::Optional,
            };
            parts.push((builder.sequence([quote, member.text]), occurrence));
        }
        let mut last = None;
        if let Some(free) = free {
            parts.push((builder.sequence([quote, free.any]), Occurrence::Repeatable));
            if let Some((owed, place)) = free.owed {
                let owed = builder.sequence([quote, owed]);
                match place {
                    Place::Anywhere => parts.push((owed, Occurrence::Required)),
                    Place::Last => last = Some(owed),
                }
            }
        }
        let is_required = parts.iter().any(|part| part.1 == Occurrence::Required);
        let separator = builder.sequence([space, comma]);
        let mut inside = builder.unordered(separator, parts, counts.min, counts.max);
        let (open, close) = (builder.literal("{"), builder.literal("}"));
        if let Some(last) = last {
            // A count and such a debt are refused together.
            let mut before = builder.sequence([inside, separator]);
            if !is_required {
                before = builder.optional(before);
            }
            inside = builder.sequence([before, last]);
        }
        inside = builder.sequence([inside, space, close]);
        if !is_required && last.is_none() && counts.min == 0 {
            inside = builder.choice([close, inside]);
        }
        builder.sequence([open, space, inside])
    }

    /// The bounds on the number of members, if the automaton that keeps them is small enough. `None` where
    /// they cannot be met.
    fn counts(
        &mut self,
        shape: &ObjectShape<'s>,
        node: NodeId,
        declared: usize,
        has_free: bool,
    ) -> Fallible<Option<Counts>> {
        let declared = declared as u64;
        let mut max = shape.max;
        if !has_free {
            if shape.min > declared {
                return Ok(None);
            }
            max = max.filter(|&max| max < declared);
        }
        let required = shape.properties.iter().filter(|property| property.presence == Presence::Required);
        let required = required.count() as u64;
        let keyword = if shape.min > 0 { "minProperties" } else { "maxProperties" };
        if has_free && shape.min > required + 1 {
            let reason =
                "two members of one free name count once, and a grammar cannot tell free names apart";
            let hint =
                "declare the names and set `additionalProperties: false`, or ask for at most one member";
            self.normalizer.unsupported(node, "minProperties", reason, hint)?;
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

    fn free_members(&mut self, shape: &ObjectShape<'s>, node: NodeId) -> Fallible<Option<Free>> {
        let names: Vec<&'s str> = shape.properties.iter().map(|property| property.name).collect();
        let mut any = Vec::new();
        for cell in &shape.cells {
            any.extend(self.free_member(cell, &names, node)?);
        }
        if any.is_empty() {
            return Ok(None);
        }
        let mut owed_members = Vec::new();
        if let Some((owed, others)) = shape.owed.split_first() {
            if !others.is_empty() || shape.min > 1 || shape.max.is_some() {
                let reason = "more than one condition asks for members of any name (`not` around \
                              `additionalProperties` or `patternProperties`)";
                self.normalizer.unsupported(node, "not", reason, "name the member under `required`")?;
            } else {
                let excluded = [names.as_slice(), &owed.except].concat();
                for cell in &shape.cells {
                    if let Some(tests) = join_tests(&cell.tests, &owed.tests) {
                        let value = self.normalizer.algebra.goals.and(cell.value, owed.value);
                        let cell = Cell { tests, value };
                        owed_members.extend(self.free_member(&cell, &excluded, node)?);
                    }
                }
                if owed_members.is_empty() {
                    return Ok(None);
                }
            }
        }
        let any = self.builder.choice(any);
        let owed = (!owed_members.is_empty()).then(|| self.builder.choice(owed_members));
        let place = match shape.owed.first() {
            Some(owed) if owed.value != GoalId::ANY => Place::Last,
            _ => Place::Anywhere,
        };
        Ok(Some(Free { any, owed: owed.map(|owed| (owed, place)) }))
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
        let Punctuation { space, quote, .. } = self.punctuation;
        let (open, close) = (self.builder.literal("{"), self.builder.literal("}"));
        let first = chain.build(self)?;
        let mut inside = Vec::new();
        if let Some(first) = first {
            inside.push(self.builder.sequence([quote, first]));
        }
        if chain.may_end(0, 0) {
            inside.push(close);
        }
        if inside.is_empty() {
            return Ok(None);
        }
        let inside = self.builder.choice(inside);
        Ok(Some(self.builder.sequence([open, space, inside])))
    }
}

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
            && self.free.is_none_or(|free| free.owed.is_none())
    }

    fn may_go_on(&self, count: u32) -> bool {
        self.counts.max.is_none_or(|max| count < max)
    }

    /// `K(0)`: from behind the first name's opening quote to the closing brace; `None` where no member can
    /// follow.
    fn build(&self, lowering: &mut Lowering<'_>) -> Fallible<Option<ExprId>> {
        let cap = self.counts.cap();
        // `K(i)` for every count, from the last `i` to the first.
        let mut row: Vec<Option<ExprId>> = (0..=cap).map(|count| self.tail(lowering, count)).collect();
        let mut next = self.members.len();
        while next > 0 {
            let is_required = |at: usize| self.members[at].presence == Presence::Required;
            let mut start = next - 1;
            while is_required(next - 1) && start > 0 && is_required(start - 1) {
                start -= 1;
            }
            let mut before = Vec::with_capacity(row.len());
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
                let mut parts = Vec::with_capacity(4 * run.len() + 1);
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
        let Punctuation { space, comma, quote, .. } = lowering.punctuation;
        let mut ways = Vec::with_capacity(2);
        if let Some(state) = state.filter(|_| self.may_go_on(count)) {
            ways.push(lowering.builder.sequence([comma, quote, state]));
        }
        if self.may_end(next, count) {
            ways.push(lowering.builder.literal("}"));
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
        let Punctuation { space, comma, quote, .. } = lowering.punctuation;
        let builder = &mut lowering.builder;
        let separator = builder.sequence([space, comma, quote]);
        let close = builder.literal("}");
        let least = self.counts.min.saturating_sub(count).max(1) - 1;
        let most = self.counts.max.map(|max| max - count - 1);
        let more = builder.sequence([separator, free.any]);
        Some(match free.owed {
            None => {
                let more = builder.repeat(more, least, most);
                builder.sequence([free.any, more, space, close])
            }
            Some((owed, place)) => {
                let before = builder.sequence([free.any, separator]);
                let before = builder.repeat(before, 0, None);
                let more = match place {
                    Place::Anywhere => builder.repeat(more, 0, None),
                    Place::Last => builder.empty(),
                };
                builder.sequence([before, owed, more, space, close])
            }
        })
    }
}
