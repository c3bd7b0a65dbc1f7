//! Items that differ, compared while the text is written.
//!
//! No grammar expresses that items from an unbounded set differ. Such an array is lowered as if its items were free,
//! and its inside becomes a rule that is marked ([`Distinct::Items`]): the engine that follows a text compares the
//! items. Here it is decided whether that is exact:
//!
//! * wherever an item may begin there is a value left for it. The values of each place are counted; more than a text can
//!   hold count as endless;
//! * inside of items that are arrays or objects no name repeats, so that wherever a member with a free name may begin there
//!   is a name left for it;
//! * a text shows which array it is in. If alternatives of one type are read side by side (`anyOf` of two
//!   objects), an array below one of them may be an array of free items below the other. One text would then
//!   have two answers.
//!
//! Where the [readings](super::readings) of alternatives do not agree, the schema is compiled once more
//! ([`ItemComparison::BesideOthers`]). Then arrays of free items tell of repeats: after each item they may read a
//! symbol that stands for one ([`TokenRef::REPEATED`]). The engine reads it after an item that repeats another one, and
//! only the readings in arrays of free items go on. Items are compared in all these readings until then, so that names
//! must not run out inside of them in any.

use std::borrow::Cow;

use grammask_grammar_ir::hash::HashSet;
use grammask_grammar_ir::{Distinct, Expr, ExprId, GrammarBuilder, RuleId, RuleOptions, TokenRef};

use super::contains::MAX_OBLIGATIONS;
use super::distinct_marks::{DistinctItems, DistinctMark};
use super::lowering::SchemaLowering;
use super::value_counts::UNBOUNDED;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::error::grammar_error;
use crate::json_schema::normalize::normalizer::Wishes;
use crate::json_schema::options::FreeNames;
use crate::json_schema::sets::array_shape::{ArrayShape, Repetition};
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::object_shape::ObjectShape;
use crate::json_schema::value_syntax::ItemComparison;

impl<'s> SchemaLowering<'s> {
    /// The schema that asks for items that differ, if the array has to be marked for it.
    pub(super) fn distinct_items_mark(&mut self, shape: &ArrayShape) -> Result<Option<DistinctMark>> {
        let at = match shape.repetition {
            Repetition::Free => return Ok(None),
            Repetition::Forbidden(at) => at,
            Repetition::Demanded(at) => {
                let reason = "`not` of `uniqueItems` asks for equal items, and items are not compared";
                self.normalizer.unsupported(at, "uniqueItems", reason, "remove it")?;
                return Ok(None);
            }
        };
        let (reason, hint) = match self.distinct.comparison {
            ItemComparison::Possible | ItemComparison::BesideOthers => {
                match self.reason_not_comparable(shape)? {
                    None => {
                        return Ok(Some(DistinctMark {
                            what: Distinct::Items,
                            node: at,
                            keyword: "uniqueItems",
                        }));
                    }
                    Some(reason) => reason,
                }
            }
            ItemComparison::Impossible => {
                ("items are not compared with one another here", "remove it, or list the values under `enum`")
            }
        };
        self.normalizer.unsupported(at, "uniqueItems", reason, hint)?;
        Ok(None)
    }

    /// An array of items that differ has no more of them than they have values.
    pub(super) fn within_values<'a>(&mut self, shape: &'a ArrayShape) -> Result<Cow<'a, ArrayShape>> {
        if matches!(shape.repetition, Repetition::Forbidden(_))
            && shape.prefix.is_empty()
            && let Some(values) = self.values_exactly(shape.rest)?
            && shape.max.is_none_or(|max| max > values)
        {
            return Ok(Cow::Owned(ArrayShape { max: Some(values), ..shape.clone() }));
        }
        Ok(Cow::Borrowed(shape))
    }

    /// Of arrays that are read side by side: how those that may repeat items are written, if these have none at all and the
    /// items of the others differ. No item could tell of a repeat then, so that all of them are compared.
    pub(super) fn empty_array_beside(&mut self, arrays: &[ArrayShape]) -> Result<Option<ArrayShape>> {
        let is_free = |shape: &&ArrayShape| shape.repetition == Repetition::Free;
        let Some(other) = arrays.iter().find(|shape| !is_free(shape)) else { return Ok(None) };
        for shape in arrays.iter().filter(is_free) {
            if shape.max != Some(0) && !self.normalizer.norm(shape.item(0))?.is_never() {
                return Ok(None);
            }
        }
        let (rest, repetition) = (GoalId::NEVER, other.repetition);
        Ok(Some(ArrayShape { rest, max: Some(0), repetition, ..ArrayShape::any() }))
    }

    /// Why the items cannot be kept apart, and what to change.
    fn reason_not_comparable(&mut self, shape: &ArrayShape) -> Result<Option<(&'static str, &'static str)>> {
        let places = shape.max.map_or(u64::MAX, |max| max.max(1));
        let listed = shape.prefix.len() as u64;
        let mut needs: Vec<(GoalId, u64)> =
            shape.prefix.iter().enumerate().map(|(place, &goal)| (goal, place as u64 + 1)).collect();
        if places > listed && shape.rest != GoalId::NEVER {
            needs.push((shape.rest, places));
        }
        let goals = &mut self.normalizer.algebra.goals;
        match shape.obligations.as_slice() {
            [] => {}
            // A witness counts at all places but the first ones, so that values are left as long as the obligation is open.
            [obligation] if shape.prefix.is_empty() => {
                let first = obligation.from as u64;
                needs.push((goals.and(shape.rest, obligation.goal), obligation.min.saturating_add(first)));
            }
            // As long as some of them are open, no value that meets one of these has occurred.
            obligations
                if shape.prefix.is_empty()
                    && obligations.len() <= MAX_OBLIGATIONS
                    && obligations.iter().all(|it| it.min <= 1 && it.from == 0) => {}
            _ => {
                return Ok(Some((
                    "beside `prefixItems`, or `minContains` and another `contains`, values may run out",
                    "remove it, or list the values under `enum`",
                )));
            }
        }
        // Where no more may occur of some kinds, there are others, or none at all.
        let mut others = vec![shape.rest];
        for obligation in shape.obligations.iter().filter(|obligation| obligation.max.is_some()) {
            let other = goals.not(obligation.goal);
            let narrower: Vec<GoalId> = others.iter().map(|&others| goals.and(others, other)).collect();
            needs.extend(narrower.iter().map(|&goal| (goal, places)));
            others.extend(narrower);
        }
        for &(goal, needed) in &needs {
            let norm = self.normalizer.norm(goal)?;
            if !norm.is_never() && self.values_at_least(goal)? < needed.min(UNBOUNDED) {
                let hint = match shape.max {
                    None => "bound the number of items with `maxItems`, or list the values under `enum`",
                    Some(_) => "lower `maxItems`, or list the values under `enum`",
                };
                return Ok(Some((
                    "there may be more items than values that they may have, as far as these can be counted",
                    hint,
                )));
            }
        }
        if self
            .names_may_run_out(needs.into_iter().map(|(goal, _)| goal).collect(), &mut HashSet::default())?
        {
            return Ok(Some((
                "names inside of items do not repeat, and there may be more members than names that they may have",
                "declare all names and close the objects, or let free names be any",
            )));
        }
        Ok(None)
    }

    /// Whether the names of an object are compared. If the caller wants free names unique, they are compared
    /// in all objects, so that it never depends on the reading. Otherwise they are where members are counted,
    /// because only different names count.
    pub(super) fn distinct_names_mark(
        &mut self,
        shape: &ObjectShape<'s>,
        node: NodeId,
        has_free: bool,
    ) -> Result<Option<DistinctMark>> {
        let is_unique = self.normalizer.options.free_names == FreeNames::Unique;
        let is_counted = has_free && shape.min > shape.required() + 1;
        let can_repeat = has_free && self.may_repeat_names(shape);
        let (keyword, hint) = match is_unique {
            true => (
                "additionalProperties",
                "declare all names and close the object, or allow free names to repeat",
            ),
            false => (
                "minProperties",
                "declare the names and set `additionalProperties: false`, or ask for at most one member",
            ),
        };
        if !is_unique && !is_counted {
            return Ok(None);
        }
        let mark = DistinctMark { what: Distinct::Names, node, keyword };
        let is_possible = self.distinct.comparison != ItemComparison::Impossible;
        if is_possible
            && (!can_repeat || self.has_names(shape)? && self.witness_of_few_names(shape).is_none())
        {
            return Ok(Some(mark));
        }
        if can_repeat && is_unique {
            let reason = "it leaves names free, and here they are not kept from repeating";
            self.normalizer.unsupported(node, keyword, reason, hint)?;
        }
        if is_counted {
            self.ask_for_unique_names();
            let reason =
                "members are counted, but two of one name count once, and here free names are not told apart";
            self.normalizer.unsupported(node, "minProperties", reason, hint)?;
        }
        Ok(None)
    }

    /// Whether no free name of the schema repeats, so that a member of any name is not overridden.
    pub(super) fn names_are_unique(&self) -> bool {
        self.normalizer.options.free_names == FreeNames::Unique
            && self.distinct.comparison != ItemComparison::Impossible
    }

    /// The schema would be served better if they were, where they can be compared.
    pub(super) fn ask_for_unique_names(&self) {
        if self.distinct.comparison != ItemComparison::Impossible {
            let wishes = self.normalizer.wishes.get();
            self.normalizer.wishes.set(Wishes { unique_names: true, ..wishes });
        }
    }

    /// An item of an array. If the array is not compared itself and may be read beside one that is, the item tells where it
    /// repeats an earlier one.
    pub(super) fn told_item(&mut self, item: ExprId, mark: Option<DistinctMark>) -> ExprId {
        if mark.is_some() || self.distinct.comparison != ItemComparison::BesideOthers {
            return item;
        }
        let repeated = self.builder.token([TokenRef::REPEATED]);
        let repeated = self.builder.optional(repeated);
        self.builder.sequence([item, repeated])
    }

    /// Refuses arrays that may be read beside compared ones if names may run out inside of their items: these are compared,
    /// too, as long as no item repeats.
    pub(super) fn refuse_short_names(&mut self, shape: &ArrayShape, node: NodeId) -> Result<()> {
        if self.distinct.comparison != ItemComparison::BesideOthers {
            return Ok(());
        }
        let mut goals: Vec<GoalId> = shape.prefix.iter().copied().chain([shape.rest]).collect();
        goals.extend(shape.obligations.iter().map(|obligation| obligation.goal));
        let mut met = std::mem::take(&mut self.distinct.with_names);
        let may_run_out = self.names_may_run_out(goals, &mut met)?;
        self.distinct.with_names = met;
        if may_run_out {
            let reason = "there may be more members inside of items than names that they may have";
            let hint = "declare all names and close the objects, or let free names be any";
            self.normalizer.unsupported(node, "uniqueItems", reason, hint)?;
        }
        Ok(())
    }

    /// A bracket and what it encloses, which is marked if it is compared.
    pub(super) fn enclosed(
        &mut self,
        open: ExprId,
        inside: ExprId,
        mark: Option<DistinctMark>,
    ) -> Result<ExprId> {
        let Some(mark) = mark else { return Ok(self.builder.sequence([open, inside])) };
        let rule = self.builder.declare_fresh("different").map_err(grammar_error)?;
        self.builder.define(rule, inside).map_err(grammar_error)?;
        let options = RuleOptions { distinct: Some(mark.what), ..RuleOptions::default() };
        self.builder.set_options(rule, options);
        let is_everywhere =
            mark.what == Distinct::Names && self.normalizer.options.free_names == FreeNames::Unique;
        let is_told =
            mark.what == Distinct::Items && self.distinct.comparison == ItemComparison::BesideOthers;
        if !is_everywhere && !is_told {
            self.distinct.marked.insert(rule, mark);
        }
        let inside = self.builder.rule(rule);
        Ok(self.builder.sequence([open, inside]))
    }

    /// Refuses marked arrays that may be read beside arrays that are not marked.
    pub(super) fn refuse_ambiguous_marks(&mut self) -> Result<()> {
        if self.distinct.marked.is_empty() {
            return Ok(());
        }
        let disagreeing = self.disagreeing_alternatives()?;
        let DistinctItems { marked, ambiguous, .. } = &self.distinct;
        let mut unclear: Vec<(RuleId, DistinctMark)> = Vec::new();
        let mut met: HashSet<RuleId> = HashSet::default();
        let mut left: Vec<RuleId> = Vec::new();
        for rule in disagreeing {
            if met.insert(rule) {
                left.push(rule);
            }
        }
        for &rule in ambiguous {
            // The array itself is the only one of its type.
            let inside = rules_of(&self.builder, rule);
            let inside = inside.into_iter().flat_map(|rule| match marked.contains_key(&rule) {
                true => rules_of(&self.builder, rule),
                false => vec![rule],
            });
            for rule in inside {
                if met.insert(rule) {
                    left.push(rule);
                }
            }
        }
        while let Some(rule) = left.pop() {
            unclear.extend(marked.get(&rule).map(|&at| (rule, at)));
            left.extend(rules_of(&self.builder, rule).into_iter().filter(|&inner| met.insert(inner)));
        }
        unclear.sort_unstable_by_key(|&(rule, _)| rule.index());
        if unclear.iter().any(|(_, mark)| mark.what == Distinct::Names) {
            self.ask_for_unique_names();
        }
        if unclear.iter().any(|(_, mark)| mark.what == Distinct::Items) {
            let wishes = self.normalizer.wishes.get();
            self.normalizer.wishes.set(Wishes { told_repeats: true, ..wishes });
        }
        for (rule, DistinctMark { node, keyword, .. }) in unclear {
            let reason = "it stands below one of several alternatives of one type, which are read side by side, and \
                          another one lets the same items or members repeat";
            let hint =
                "ask for it in one schema for all alternatives, or tell the alternatives apart by type";
            self.normalizer.unsupported(node, keyword, reason, hint)?;
            self.builder.set_options(rule, RuleOptions::default());
        }
        Ok(())
    }
}

/// The rules that a rule refers to.
pub(super) fn rules_of(builder: &GrammarBuilder, rule: RuleId) -> Vec<RuleId> {
    let mut rules = Vec::new();
    let mut met: HashSet<ExprId> = HashSet::default();
    let mut left: Vec<ExprId> = builder.body(rule).into_iter().collect();
    while let Some(id) = left.pop() {
        if !met.insert(id) {
            continue;
        }
        match builder.expr(id) {
            Expr::Rule(rule) => rules.push(rule),
            Expr::Sequence(parts) | Expr::Choice(parts) => left.extend(parts),
            Expr::Repeat { body, .. } => left.push(body),
            Expr::Permutation(permutation) => {
                left.extend(permutation.parts());
                left.push(permutation.separator());
            }
            // Below regular operators there is only text.
            _ => {}
        }
    }
    rules
}
