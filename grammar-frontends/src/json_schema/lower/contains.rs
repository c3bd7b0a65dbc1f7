//! Arrays with obligations: `contains`, and `not` around `items`.
//!
//! The state is how many items were read and, for each obligation, how many of them counted; all stop at the last
//! number that matters. Where the number of items that count has an upper bound, an item either satisfies the
//! goal or its complement. Without one the complement is not needed: any item may go uncounted. One item may
//! count for several obligations, so it is read in as many ways as there are sets of obligations that it may count for.
//!
//! Where items differ and finitely many values count, the complement is needed, too. A number may have spellings that the
//! goal leaves out (`1e0` of the constant `1`). An item that is spelled so would go uncounted, and keep the value itself
//! from being written.

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{ExprId, RuleId};

use super::distinct_marks::DistinctMark;
use super::lowering::SchemaLowering;
use super::punctuation::Punctuation;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::error::grammar_error;
use crate::json_schema::options::Unsupported;
use crate::json_schema::sets::array_shape::{ArrayShape, ItemObligation, Repetition};
use crate::json_schema::sets::goals::GoalId;

/// Items read, and items counted for each obligation.
type ItemCounts = (u64, Vec<u64>);

/// Obligations of one array: sets of them are told apart.
pub(super) const MAX_OBLIGATIONS: usize = 6;

/// Places whose items are looked at for an obligation that all of them meet.
const MAX_MEETING: usize = 16;

/// Whole numbers between bounds, and items of arrays, that are taken as listed.
const MAX_LISTED: usize = 64;

/// Arrays and objects inside one another in which listed values are looked for.
const MAX_LISTED_DEPTH: u32 = 4;

/// Whether the values of a goal are listed in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    No,
    WithoutNumbers,
    WithNumbers,
}

struct Counting<'a> {
    shape: &'a ArrayShape,
    mark: Option<DistinctMark>,
    /// Numbers from here on are not told apart.
    read_cap: u64,
    counted_caps: Vec<u64>,
    /// For each obligation whether an item whose value satisfies it must be counted.
    are_exact: Vec<bool>,
    rules: HashMap<ItemCounts, RuleId>,
    todo: Vec<ItemCounts>,
}

impl SchemaLowering<'_> {
    /// An array with obligations.
    pub(super) fn counted_array(
        &mut self,
        shape: &ArrayShape,
        node: NodeId,
        mark: Option<DistinctMark>,
    ) -> Result<Option<ExprId>> {
        let places = shape
            .obligations
            .iter()
            .map(|obligation| obligation.from)
            .chain([shape.prefix.len()])
            .max()
            .unwrap_or(0);
        let read_cap = (places as u64).max(shape.min).max(shape.max.unwrap_or(0));
        let cap = |obligation: &ItemObligation| {
            obligation.min.max(obligation.max.map_or(0, |max| max.saturating_add(1)))
        };
        let counted_caps: Vec<u64> = shape.obligations.iter().map(cap).collect();
        let limit = self.normalizer.options.limits.states as u64;
        // Ways to read an item count as states.
        let states = counted_caps
            .iter()
            .fold(read_cap.saturating_add(1), |states, cap| states.saturating_mul(cap.saturating_add(1)));
        let ways = if counted_caps.len() > 1 { 1 << counted_caps.len().min(MAX_OBLIGATIONS) } else { 1 };
        if counted_caps.len() > MAX_OBLIGATIONS || states.saturating_mul(ways) > limit {
            if let Some(shape) = self.without_met_obligations(shape) {
                return self.array(&shape, node);
            }
            let (reason, hint) = match counted_caps.len() > MAX_OBLIGATIONS {
                true => (
                    format!("the items have more than {MAX_OBLIGATIONS} conditions that count"),
                    "use fewer conditions",
                ),
                false => (
                    format!("counting the items takes more than {limit} states"),
                    "use smaller bounds or fewer conditions, or raise the limit `states`",
                ),
            };
            self.normalizer.unsupported(node, "contains", reason, hint)?;
            return self.array(&ArrayShape { obligations: Vec::new(), ..shape.clone() }, node);
        }
        let first = (0, vec![0; counted_caps.len()]);
        let mut are_exact = Vec::with_capacity(shape.obligations.len());
        for obligation in &shape.obligations {
            let is_exact = obligation.max.is_some()
                || mark.is_some()
                    && self.listed(obligation.goal, MAX_LISTED_DEPTH)? == Listed::WithNumbers
                    && self.can_be_missed(shape, obligation.goal);
            are_exact.push(is_exact);
        }
        let (rules, todo) = (HashMap::default(), Vec::new());
        let mut counting = Counting { shape, mark, read_cap, counted_caps, are_exact, rules, todo };
        let Punctuation { space, before_first, after_last, comma, .. } = self.punctuation;
        let close = self.builder.literal("]");
        let items = counting.items(&first, self)?;
        let items = self.builder.choice(items);
        let mut inside = vec![self.builder.sequence([before_first, items])];
        if counting.may_end(&first) {
            inside.push(close);
        }
        let inside = self.builder.choice(inside);
        let last = self.builder.sequence([after_last, close]);
        while let Some(state) = counting.todo.pop() {
            let mut ways = Vec::new();
            let items = counting.items(&state, self)?;
            if !items.is_empty() {
                let items = self.builder.choice(items);
                ways.push(self.builder.sequence([comma, items]));
            }
            if counting.may_end(&state) {
                ways.push(last);
            }
            let ways = self.builder.choice(ways);
            let body = self.builder.sequence([space, ways]);
            let rule = counting.rules[&state];
            self.builder.define(rule, body).map_err(grammar_error)?;
        }
        let inside = self.builder.sequence([space, inside]);
        let open = self.builder.literal("[");
        self.enclosed(open, inside, mark).map(Some)
    }

    /// The array without the obligations that every item meets: they bound the number of items. `None` where each is missed
    /// by some item.
    fn without_met_obligations(&mut self, shape: &ArrayShape) -> Option<ArrayShape> {
        let mut left = ArrayShape { obligations: Vec::new(), ..shape.clone() };
        for obligation in &shape.obligations {
            let listed = shape.prefix.iter().skip(obligation.from).copied();
            let items: Vec<GoalId> = listed.chain([shape.rest]).collect();
            if items.len() > MAX_MEETING || !items.iter().all(|&item| self.meets(item, obligation.goal)) {
                left.obligations.push(obligation.clone());
                continue;
            }
            let from = obligation.from as u64;
            if obligation.min > 0 {
                left.min = left.min.max(from.saturating_add(obligation.min));
            }
            if let Some(most) = obligation.max {
                let most = from.saturating_add(most);
                left.max = Some(left.max.map_or(most, |max| max.min(most)));
            }
        }
        (left.obligations.len() < shape.obligations.len()).then(|| left.normalized())
    }

    /// Whether the values of a goal are listed in it.
    fn listed(&mut self, goal: GoalId, depth: u32) -> Result<Listed> {
        if goal == GoalId::ANY || depth == 0 {
            return Ok(Listed::No);
        }
        let norm = self.normalizer.norm(goal)?;
        if !norm.numbers.iter().all(|shape| shape.enumerated(MAX_LISTED).is_some())
            || !norm.strings.iter().all(|shape| shape.values.is_some())
        {
            return Ok(Listed::No);
        }
        let mut parts: Vec<GoalId> = Vec::new();
        // No complement is written out of items that differ, nor one of conditions on some items or members.
        if norm
            .arrays
            .iter()
            .any(|shape| shape.repetition != Repetition::Free || !shape.obligations.is_empty())
            || norm.objects.iter().any(|shape| !shape.obligations.is_empty())
        {
            return Ok(Listed::No);
        }
        for shape in &norm.arrays {
            match shape.max.and_then(|max| usize::try_from(max).ok()).filter(|&max| max <= MAX_LISTED) {
                Some(max) => parts.extend((0..max).map(|place| shape.item(place))),
                None => return Ok(Listed::No),
            }
        }
        for shape in &norm.objects {
            if shape.cells.iter().any(|cell| cell.value != GoalId::NEVER) {
                return Ok(Listed::No);
            }
            parts.extend(shape.properties.iter().map(|property| property.value));
        }
        let mut found = if norm.numbers.is_empty() { Listed::WithoutNumbers } else { Listed::WithNumbers };
        for part in parts {
            found = match self.listed(part, depth - 1)? {
                Listed::No => return Ok(Listed::No),
                Listed::WithNumbers => Listed::WithNumbers,
                Listed::WithoutNumbers => found,
            };
        }
        Ok(found)
    }

    /// Whether the items that do not satisfy a goal can be written out.
    fn can_be_missed(&mut self, shape: &ArrayShape, goal: GoalId) -> bool {
        self.normalizer.options.unsupported == Unsupported::Refuse
            && shape.prefix.iter().chain([&shape.rest]).all(|&item| {
                let without = self.normalizer.algebra.goals.without(item, goal);
                self.normalizer.norm(without).is_ok()
            })
    }

    /// Whether the values of one goal satisfy another one for certain.
    fn meets(&mut self, item: GoalId, goal: GoalId) -> bool {
        let without = self.normalizer.algebra.goals.without(item, goal);
        self.normalizer.norm(without).is_ok_and(|norm| norm.is_never())
    }
}

impl Counting<'_> {
    fn may_end(&self, (read, counted): &ItemCounts) -> bool {
        *read >= self.shape.min
            && self
                .shape
                .obligations
                .iter()
                .zip(counted)
                .all(|(obligation, counted)| *counted >= obligation.min)
    }

    /// The ways to read one more item, each with what follows it.
    fn items(&mut self, state: &ItemCounts, lowering: &mut SchemaLowering<'_>) -> Result<Vec<ExprId>> {
        let mut result = Vec::new();
        for (goal, state) in self.steps(state, lowering) {
            let Some(value) = lowering.value(goal)? else { continue };
            let value = lowering.told_item(value, self.mark);
            let rule = match self.rules.get(&state) {
                Some(&rule) => rule,
                None => {
                    let rule = lowering.builder.declare_fresh("items").map_err(grammar_error)?;
                    self.rules.insert(state.clone(), rule);
                    self.todo.push(state);
                    rule
                }
            };
            let rule = lowering.builder.rule(rule);
            result.push(lowering.builder.sequence([value, rule]));
        }
        Ok(result)
    }

    /// The goals that one more item may satisfy, each with the state after it.
    fn steps(
        &self,
        (read, counted): &ItemCounts,
        lowering: &mut SchemaLowering<'_>,
    ) -> Vec<(GoalId, ItemCounts)> {
        if self.shape.max.is_some_and(|max| *read >= max) {
            return Vec::new();
        }
        let goals = &mut lowering.normalizer.algebra.goals;
        let item = self.shape.item(usize::try_from(*read).unwrap_or(usize::MAX));
        // Counts are capped where a larger one makes no difference, so there are finitely many states.
        let next = (read + 1).min(self.read_cap);
        let mut steps = vec![(item, (next, counted.clone()))];
        for (index, obligation) in self.shape.obligations.iter().enumerate() {
            // An item need not be counted any more; both ways would lead to one state.
            let settled = obligation.max.is_none() && counted[index] >= obligation.min;
            if *read < obligation.from as u64 || settled {
                continue;
            }
            let one_more = (counted[index] + 1).min(self.counted_caps[index]);
            let full = obligation.max.is_some_and(|max| counted[index] >= max);
            let mut split = Vec::with_capacity(2 * steps.len());
            for (goal, after) in steps {
                if !full {
                    let mut after = after.clone();
                    after.1[index] = one_more;
                    split.push((goals.and(goal, obligation.goal), after));
                }
                // With a maximum, an item that satisfies the goal must be counted. Without one it may mostly go
                // uncounted: the count is then too small, which only a minimum asks for, and another reading
                // counts it.
                let uncounted =
                    if self.are_exact[index] { goals.without(goal, obligation.goal) } else { goal };
                split.push((uncounted, after));
            }
            steps = split;
            steps.retain(|(goal, _)| *goal != GoalId::NEVER);
        }
        steps
    }
}
