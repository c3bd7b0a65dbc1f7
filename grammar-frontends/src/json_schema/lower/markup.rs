//! Objects whose members are written between marks ([`Markup`]) instead of JSON.
//!
//! Members need no separators, so an object is its members in a row, the optional ones optional. The text of a
//! string ends at the first closing mark: free strings are a dispatch that the mark stops, constrained ones are
//! their decoded texts without the mark. Values that nest get a rule for every shape, made from the list of tasks
//! like all others.

use std::rc::Rc;

use grammask_grammar_ir::{DispatchEnd, ExprId, Occurrence, TagDispatch};

use super::containers::MemberCounts;
use super::lowering::SchemaLowering;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::error::grammar_error;
use crate::json_schema::options::KeyOrder;
use crate::json_schema::sets::array_shape::ArrayShape;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::object_shape::{Cell, ObjectShape, Presence};
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{Approximation, Lengths};
use crate::json_schema::value_syntax::{Markup, NestedValues, ValueType};

/// The name of a member, or of those that no schema declares.
enum MemberName<'n> {
    Declared(&'n str),
    Free(ExprId),
    Item,
}

impl<'s> SchemaLowering<'s> {
    /// The members of an object, one after the other, and space after them.
    pub(super) fn markup_object(
        &mut self,
        shape: &ObjectShape<'s>,
        node: NodeId,
        markup: &'static Markup,
    ) -> Result<Option<ExprId>> {
        let mut parts = Vec::with_capacity(shape.properties.len() + 2);
        for property in &shape.properties {
            let member = match property.value {
                GoalId::NEVER => None,
                goal => self.markup_member(&MemberName::Declared(property.name), goal, node, markup)?,
            };
            match (member, property.presence) {
                (Some(member), Presence::Required) => parts.push((member, Occurrence::Required)),
                (Some(member), Presence::Optional) => parts.push((member, Occurrence::Optional)),
                (None, Presence::Required) => return Ok(None),
                (None, Presence::Optional) => {}
            }
        }
        let names: Vec<&'s str> = shape.properties.iter().map(|property| property.name).collect();
        let declared = parts.len();
        let mut free = Vec::new();
        for cell in &shape.cells {
            free.extend(self.markup_free(cell, &names, node, markup)?);
        }
        if !shape.obligations.is_empty() {
            self.refuse_obligations(
                node,
                "one member has to fit a condition, and between marks this is not tracked",
            )?;
        }
        let has_free = !free.is_empty();
        // None is marked: between marks names are not compared, and what needs that is refused.
        self.distinct_names_mark(shape, node, has_free)?;
        let Some(counts) = self.counts(shape, node, declared, has_free)? else { return Ok(None) };
        if has_free {
            parts.push((self.builder.choice(free), Occurrence::Repeatable));
        }
        let Some(members) = self.markup_members(parts, counts)? else { return Ok(None) };
        Ok(Some(self.builder.sequence([members, self.punctuation.space])))
    }

    /// The members in the order that the options ask for. The counts bound how many there are; `None` where no number of
    /// members fits.
    fn markup_members(
        &mut self,
        parts: Vec<(ExprId, Occurrence)>,
        counts: MemberCounts,
    ) -> Result<Option<ExprId>> {
        let MemberCounts { min, max } = counts;
        if self.normalizer.options.key_order == KeyOrder::Any && parts.len() > 1 && max != Some(0) {
            let is_required = min > 0 || parts.iter().any(|part| part.1 == Occurrence::Required);
            let nothing = self.builder.empty();
            let members = self.builder.permutation(nothing, parts, min.max(1), max);
            return Ok(Some(if is_required { members } else { self.builder.optional(members) }));
        }
        if min > 0 || max.is_some() {
            return self.counted_members(&parts, counts);
        }
        let mut members = Vec::with_capacity(parts.len());
        for (member, occurrence) in parts {
            members.push(match occurrence {
                Occurrence::Required => member,
                Occurrence::Optional => self.builder.optional(member),
                Occurrence::Repeatable => self.builder.repeat(member, 0, None),
            });
        }
        Ok(Some(self.builder.sequence(members)))
    }

    /// Members in their order, counted: one rule for what follows each member after each number of members.
    fn counted_members(
        &mut self,
        parts: &[(ExprId, Occurrence)],
        counts: MemberCounts,
    ) -> Result<Option<ExprId>> {
        let MemberCounts { min, max } = counts;
        let nothing = self.builder.empty();
        let mut rest: Vec<Option<ExprId>> =
            (0..=counts.cap()).map(|count| (count >= min).then_some(nothing)).collect();
        for &(member, occurrence) in parts.iter().rev() {
            let last = rest.len() - 1;
            let mut row = vec![None; rest.len()];
            for count in (0..=last).rev() {
                // Without a greatest number, more than the least one are as good as that.
                let after = match (count == last, occurrence) {
                    (true, _) if max.is_some() => None,
                    (true, _) => rest[last],
                    (false, Occurrence::Repeatable) => row[count + 1],
                    (false, _) => rest[count + 1],
                };
                let member = match occurrence {
                    Occurrence::Repeatable if count == last => self.builder.repeat(member, 1, None),
                    _ => member,
                };
                let with = after.map(|after| self.builder.sequence([member, after]));
                let without = rest[count].filter(|_| occurrence != Occurrence::Required);
                let ways: Vec<ExprId> = with.into_iter().chain(without).collect();
                if ways.is_empty() {
                    continue;
                }
                let rule = self.builder.declare_fresh("members").map_err(grammar_error)?;
                let body = self.builder.choice(ways);
                self.builder.define(rule, body).map_err(grammar_error)?;
                row[count] = Some(self.builder.rule(rule));
            }
            rest = row;
        }
        Ok(rest[0])
    }

    /// A member whose name no schema declares: an identifier.
    fn markup_free(
        &mut self,
        cell: &Cell,
        names: &[&'s str],
        node: NodeId,
        markup: &'static Markup,
    ) -> Result<Option<ExprId>> {
        if cell.value == GoalId::NEVER {
            return Ok(None);
        }
        if markup.close.contains("$NAME") {
            let reason = "the closing mark repeats the member's name, so every name has to be known";
            let hint = "declare all names and set `additionalProperties: false`";
            self.normalizer.unsupported(node, "additionalProperties", reason, hint)?;
            return Ok(None);
        }
        let mut operands = vec![self.identifier()];
        for &test in &cell.tests {
            let Some(operand) = self.test_text(test, node, (Approximation::Within, Lengths::Multiplied))?
            else {
                return Ok(None);
            };
            operands.push(operand);
        }
        if !names.is_empty() {
            operands.push(self.none_of(names));
        }
        let name = self.builder.intersection(operands);
        self.markup_member(&MemberName::Free(name), cell.value, node, markup)
    }

    /// Space, the opening mark, a value of the goal and the closing mark, in every way that the value's type asks
    /// for; `None` where there is no value.
    fn markup_member(
        &mut self,
        name: &MemberName<'_>,
        goal: GoalId,
        node: NodeId,
        markup: &'static Markup,
    ) -> Result<Option<ExprId>> {
        let norm = self.normalizer.norm(goal)?;
        let close = self.close_mark(name, node, markup)?;
        let mut ways: Vec<(&'static str, Vec<ExprId>)> = Vec::new();
        let mut json = NormalForm::never();
        let mut json_word = None;
        for kind in ValueType::ALL {
            let Some(part) = only(&norm, kind) else { continue };
            let word = markup.types.word(kind);
            let value = match kind {
                ValueType::Strings => self.raw_string(&part.strings, &close, markup.padding, node)?,
                ValueType::Arrays | ValueType::Objects if markup.inside == NestedValues::Marked => {
                    let value = self.markup_value(&part, node)?;
                    value.map(|value| self.closed(value, &close))
                }
                // Values that are JSON under the same mark are one value.
                _ if json_word.is_none_or(|known| known == word) => {
                    merge(&mut json, &part);
                    json_word = Some(word);
                    continue;
                }
                _ => {
                    let value = self.spaced_json(goal, part)?;
                    value.map(|value| self.closed(value, &close))
                }
            };
            ways.extend(value.map(|value| (word, vec![value])));
        }
        if let Some(word) = json_word {
            let value = self.spaced_json(goal, json)?;
            if let Some(value) = value {
                let value = self.closed(value, &close);
                match ways.iter_mut().find(|(known, _)| *known == word) {
                    Some((_, values)) => values.push(value),
                    None => ways.push((word, vec![value])),
                }
            }
        }
        let mut members = Vec::with_capacity(ways.len());
        for (word, values) in ways {
            let open = self.open_mark(name, word, node, markup)?;
            let value = self.builder.choice(values);
            members.push(self.builder.sequence([self.punctuation.space, open, value]));
        }
        Ok(if members.is_empty() { None } else { Some(self.builder.choice(members)) })
    }

    fn closed(&mut self, value: ExprId, close: &str) -> ExprId {
        let close = self.builder.tag_text(close);
        self.builder.sequence([value, close])
    }

    /// A value in JSON with space around it.
    fn spaced_json(&mut self, goal: GoalId, part: NormalForm<'s>) -> Result<Option<ExprId>> {
        let space = self.punctuation.space;
        let value = self.norm_value(goal, &Rc::new(part))?;
        Ok(value.map(|value| self.builder.sequence([space, value, space])))
    }

    /// A string as it is, the padding around it or none, and the closing mark. The padding of free strings is text of
    /// theirs.
    pub(super) fn raw_string(
        &mut self,
        shapes: &[StringShape<'s>],
        close: &str,
        padding: &str,
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        if *shapes == [StringShape::any()] && !self.excludes_texts() {
            let text = TagDispatch::new().stop(close).end(DispatchEnd::AtStop);
            return Ok(Some(self.builder.tag_dispatch(text)));
        }
        let mut texts = Vec::new();
        for shape in shapes {
            if let Some(values) = &shape.values {
                let values = values.iter().filter(|value| !value.contains(close));
                texts.extend(values.map(|value| self.builder.literal(value)));
                continue;
            }
            let Some(text) = self.text(shape, node)? else { continue };
            let any = self.builder.any_char();
            let any = self.builder.repeat(any, 0, None);
            let mark = self.builder.literal(close);
            let marked = self.builder.sequence([any, mark, any]);
            let unmarked = self.builder.complement(marked);
            texts.push(self.builder.intersection([text, unmarked]));
        }
        if texts.is_empty() {
            return Ok(None);
        }
        let mut text = self.builder.choice(texts);
        if !padding.is_empty() {
            let padding = self.builder.literal(padding);
            let padded = self.builder.sequence([padding, text, padding]);
            text = self.builder.choice([text, padded]);
        }
        let text = self.without_excluded(text);
        Ok(Some(self.closed(text, close)))
    }

    /// Arrays and objects whose items and members are between marks.
    fn markup_value(&mut self, norm: &NormalForm<'s>, node: NodeId) -> Result<Option<ExprId>> {
        let mut ways = Vec::with_capacity(norm.arrays.len() + norm.objects.len());
        for shape in &norm.arrays {
            let rule = self.array_rule(shape, None, node)?;
            ways.push(self.builder.rule(rule));
        }
        for shape in &norm.objects {
            let rule = self.object_rule(shape, node)?;
            ways.push(self.builder.rule(rule));
        }
        Ok((!ways.is_empty()).then(|| self.builder.choice(ways)))
    }

    /// The items of an array, one after the other, and space after them.
    pub(super) fn markup_array(
        &mut self,
        shape: &ArrayShape,
        node: NodeId,
        markup: &'static Markup,
    ) -> Result<Option<ExprId>> {
        self.distinct_items_mark(shape)?;
        if !shape.prefix.is_empty() || !shape.obligations.is_empty() {
            let keyword = if shape.obligations.is_empty() { "prefixItems" } else { "contains" };
            let reason = "items between marks are all alike";
            self.normalizer.unsupported(node, keyword, reason, "use `items` alone")?;
        }
        let item = match shape.max {
            Some(0) => None,
            _ => self.markup_member(&MemberName::Item, shape.rest, node, markup)?,
        };
        let Some(item) = item else {
            return Ok((shape.min == 0).then_some(self.punctuation.space));
        };
        let Ok(min) = u32::try_from(shape.min) else { return Ok(None) };
        let max = shape.max.and_then(|max| u32::try_from(max).ok());
        let items = self.builder.repeat(item, min, max);
        Ok(Some(self.builder.sequence([items, self.punctuation.space])))
    }

    fn open_mark(
        &mut self,
        name: &MemberName<'_>,
        word: &str,
        node: NodeId,
        markup: &'static Markup,
    ) -> Result<ExprId> {
        let template = match name {
            MemberName::Item => markup.open_item,
            _ => markup.open,
        };
        let template = template.replace("$TYPE", word);
        let mut parts = Vec::new();
        for (index, piece) in template.split("$SPACE").enumerate() {
            if index > 0 {
                parts.push(self.punctuation.space);
            }
            match (piece.split_once("$NAME"), name) {
                (Some((before, after)), MemberName::Declared(name)) => {
                    let name = self.written_name(name, node, markup)?;
                    parts.push(self.builder.tag_text(&[before, &name, after].concat()));
                }
                (Some((before, after)), MemberName::Free(name)) => {
                    parts.push(self.builder.tag_text(before));
                    parts.push(*name);
                    parts.push(self.builder.tag_text(after));
                }
                (_, _) => parts.push(self.builder.tag_text(piece)),
            }
        }
        Ok(self.builder.sequence(parts))
    }

    fn close_mark(&mut self, name: &MemberName<'_>, node: NodeId, markup: &'static Markup) -> Result<String> {
        Ok(match name {
            MemberName::Declared(name) => {
                markup.close.replace("$NAME", &self.written_name(name, node, markup)?)
            }
            MemberName::Free(_) => markup.close.to_owned(),
            MemberName::Item => markup.close_item.to_owned(),
        })
    }

    /// A declared name as it is written in a mark.
    fn written_name(&mut self, name: &str, node: NodeId, markup: &'static Markup) -> Result<String> {
        let mut written = String::with_capacity(name.len());
        for character in name.chars() {
            match markup.entities.iter().find(|(plain, _)| *plain == character) {
                Some((_, entity)) => written.push_str(entity),
                None if matches!(character, '<' | '>' | '"' | '&') || character.is_control() => {
                    let reason = format!("a name with the character {character:?} cannot stand in a mark");
                    self.normalizer.unsupported(node, "properties", reason, "rename the property")?;
                }
                None => written.push(character),
            }
        }
        Ok(written)
    }
}

/// The values of one kind; `None` where there are none.
fn only<'s>(norm: &NormalForm<'s>, kind: ValueType) -> Option<NormalForm<'s>> {
    let mut part = NormalForm::never();
    match kind {
        ValueType::Null => part.null = norm.null,
        ValueType::Booleans => part.booleans = norm.booleans,
        ValueType::Numbers => part.numbers = norm.numbers.clone(),
        ValueType::Strings => part.strings = norm.strings.clone(),
        ValueType::Arrays => part.arrays = norm.arrays.clone(),
        ValueType::Objects => part.objects = norm.objects.clone(),
    }
    (!part.is_never()).then_some(part)
}

/// Adds values of another kind.
fn merge<'s>(norm: &mut NormalForm<'s>, part: &NormalForm<'s>) {
    norm.null |= part.null;
    norm.booleans = [norm.booleans[0] | part.booleans[0], norm.booleans[1] | part.booleans[1]];
    norm.numbers.extend_from_slice(&part.numbers);
    norm.arrays.extend_from_slice(&part.arrays);
    norm.objects.extend_from_slice(&part.objects);
}
