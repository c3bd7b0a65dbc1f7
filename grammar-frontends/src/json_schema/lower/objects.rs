//! Objects.
//!
//! In the order in which they are declared, the members are a [chain](super::containers).
//!
//! In any order ([`KeyOrder::Any`]) members are the parts of one
//! [`Expr::Permutation`](grammask_grammar_ir::Expr::Permutation), and bounds on their number are its bounds.

use std::borrow::Cow;

use grammask_grammar_ir::{ExprId, Occurrence};

use super::containers::{FreeMembers, MemberCounts, MemberText};
use super::lowering::SchemaLowering;
use super::punctuation::Punctuation;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::options::KeyOrder;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::object_shape::{ObjectShape, Presence};
use crate::json_schema::value_syntax::Markup;

/// Members in any order. While one is read, each of the others may follow, and with each of them goes a set of what was
/// read.
const MAX_PERMUTATION: usize = 10_000;

impl<'s> SchemaLowering<'s> {
    /// The root where that is no JSON: the members of an object that satisfies the goal.
    pub(super) fn arguments(
        &mut self,
        goal: GoalId,
        markup: Option<&'static Markup>,
    ) -> Result<Option<ExprId>> {
        let norm = self.normalizer.norm(goal)?;
        let node = self.blame(goal);
        if norm.objects.is_empty() && !norm.is_never() {
            let place = if markup.is_some() { "between marks" } else { "of a call" };
            let reason = format!("arguments {place} are the members of an object");
            self.normalizer.unsupported(node, "type", reason, "ask for an object")?;
        }
        let mut ways = Vec::with_capacity(norm.objects.len());
        for shape in &norm.objects {
            ways.extend(match markup {
                Some(markup) => self.markup_object(shape, node, markup)?,
                None => self.object(shape, node)?,
            });
        }
        Ok((!ways.is_empty()).then(|| self.builder.choice(ways)))
    }

    pub(super) fn object(&mut self, shape: &ObjectShape<'s>, node: NodeId) -> Result<Option<ExprId>> {
        if let Some(shapes) = self.split_by_witness_name(shape)? {
            let mut ways = Vec::with_capacity(shapes.len());
            for shape in shapes {
                ways.extend(self.object(&shape, node)?);
            }
            return Ok((!ways.is_empty()).then(|| self.builder.choice(ways)));
        }
        let mut members = Vec::with_capacity(shape.properties.len());
        for property in &shape.properties {
            let value = if property.value == GoalId::NEVER { None } else { self.value(property.value)? };
            match (value, property.presence) {
                (Some(value), presence) => {
                    let name = self.declared_name(property.name, node)?;
                    let text = self.builder.sequence([name, self.punctuation.colon, value]);
                    members.push(MemberText { text, presence });
                }
                (None, Presence::Required) => return Ok(None),
                (None, Presence::Optional) => {}
            }
        }
        let mut shape = Cow::Borrowed(shape);
        self.enumerate_free_names(&mut shape, &mut members, node)?;
        let shape = &*shape;
        let key_order = self.normalizer.options.key_order;
        if key_order == KeyOrder::RequiredFirst {
            members.sort_by_key(|member| member.presence == Presence::Optional);
        }
        let free = self.free_members(shape, node)?;
        if free.is_none() && !shape.obligations.is_empty() {
            return Ok(None);
        }
        let mark = self.distinct_names_mark(shape, node, free.is_some())?;
        let Some(counts) = self.counts(shape, node, members.len(), free.is_some())? else {
            return Ok(None);
        };
        // One member has one order.
        let is_permutation = key_order == KeyOrder::Any && members.len() + usize::from(free.is_some()) > 1;
        if is_permutation && members.len() > MAX_PERMUTATION {
            let reason = format!("more than {MAX_PERMUTATION} members in any order");
            let hint = "ask for the order in which they are declared";
            self.normalizer.unsupported(node, "properties", reason, hint)?;
        } else if is_permutation {
            let inside = self.permutation_object(&members, free.as_ref(), counts);
            return self.enclosed(self.punctuation.open, inside, mark).map(Some);
        }
        let inside = self.container_writer().object_text(&members, free.as_ref(), counts)?;
        inside.map(|inside| self.enclosed(self.punctuation.open, inside, mark)).transpose()
    }

    /// Members in any order, after the brace. Which of them were read is for the parser to keep, not for rules.
    fn permutation_object(
        &mut self,
        members: &[MemberText],
        free: Option<&FreeMembers>,
        counts: MemberCounts,
    ) -> ExprId {
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
                    for &witness in &way.anywhere {
                        parts.push((self.builder.sequence([quote, witness]), Occurrence::Required));
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
        counts: MemberCounts,
    ) -> ExprId {
        let Punctuation { space, before_first, after_last, comma, quote, close, .. } = self.punctuation;
        let builder = &mut self.builder;
        let separator = builder.sequence([space, comma]);
        let is_required = parts.iter().any(|part| part.1 == Occurrence::Required);
        let Some((count, last)) = last else {
            let inside = builder.permutation(separator, parts, counts.min, counts.max);
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
        let before = builder.permutation(separator, parts, least, most);
        let mut before = builder.sequence([before, separator]);
        if !is_required && least == 0 {
            before = builder.optional(before);
        }
        builder.sequence([before_first, before, end])
    }

    /// The bounds on the number of members, if the automaton that keeps them is small enough. `None` where
    /// they cannot be met.
    pub(super) fn counts(
        &mut self,
        shape: &ObjectShape<'s>,
        node: NodeId,
        declared: usize,
        has_free: bool,
    ) -> Result<Option<MemberCounts>> {
        let declared = declared as u64;
        let mut max = shape.max;
        if !has_free {
            if shape.min > declared {
                return Ok(None);
            }
            max = max.filter(|&max| max < declared);
        }
        let keyword = if shape.min > 0 { "minProperties" } else { "maxProperties" };
        let limit = self.normalizer.options.limits.states as u64;
        let cap = shape.min.max(max.unwrap_or(0));
        if (declared + 1).saturating_mul(cap.saturating_add(1)) > limit.max(declared + 1) {
            let reason = format!("counting the members takes more than {limit} states");
            let hint = "use a smaller bound or fewer properties, or raise the limit `states`";
            self.normalizer.unsupported(node, keyword, reason, hint)?;
            return Ok(Some(MemberCounts::ANY));
        }
        let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
        Ok(Some(MemberCounts { min: fits(shape.min), max: max.map(fits) }))
    }
}
