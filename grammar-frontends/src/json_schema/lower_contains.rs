//! Arrays that owe items: `contains`, and `not` around `items`.
//!
//! The state is how many items were read and how many of them counted; both stop at the last number that
//! matters. Where the number of counted items has an upper bound, an item either satisfies the goal or its
//! complement, so each array has one derivation. Without one the complement is not needed: any item may go
//! uncounted.

use std::collections::HashMap;

use grammask_grammar_ir::{ExprId, RuleId};

use super::array_shape::{ArrayShape, OwedItems};
use super::document::NodeId;
use super::keywords::Fallible;
use super::lower::{Lowering, Punctuation, grammar_error};

/// Items read, and items counted.
type State = (u64, u64);

struct Counting<'a> {
    shape: &'a ArrayShape,
    owed: &'a OwedItems,
    /// Numbers from here on are not told apart.
    read_cap: u64,
    counted_cap: u64,
    rules: HashMap<State, RuleId>,
    todo: Vec<State>,
}

impl Lowering<'_> {
    /// An array with one debt.
    pub(super) fn counted_array(
        &mut self,
        shape: &ArrayShape,
        owed: &OwedItems,
        node: NodeId,
    ) -> Fallible<Option<ExprId>> {
        let places = shape.prefix.len().max(owed.from) as u64;
        let read_cap = places.max(shape.min).max(shape.max.unwrap_or(0));
        let counted_cap = owed.min.max(owed.max.map_or(0, |max| max.saturating_add(1)));
        let limit = self.normalizer.options.limits.states as u64;
        if read_cap.saturating_add(1).saturating_mul(counted_cap.saturating_add(1)) > limit {
            let reason = format!("counting the items takes more than {limit} states");
            let hint = "use smaller bounds, or raise the limit `states`";
            self.normalizer.unsupported(node, "contains", reason, hint)?;
            return self.array(&ArrayShape { owed: Vec::new(), ..shape.clone() }, node);
        }
        let mut counting =
            Counting { shape, owed, read_cap, counted_cap, rules: HashMap::new(), todo: Vec::new() };
        let Punctuation { space, comma, .. } = self.punctuation;
        let (open, close) = (self.builder.literal("["), self.builder.literal("]"));
        let mut inside = counting.items((0, 0), self)?;
        if counting.may_end((0, 0)) {
            inside.push(close);
        }
        let inside = self.builder.choice(inside);
        while let Some(state) = counting.todo.pop() {
            let mut ways = Vec::new();
            let items = counting.items(state, self)?;
            if !items.is_empty() {
                let items = self.builder.choice(items);
                ways.push(self.builder.sequence([comma, items]));
            }
            if counting.may_end(state) {
                ways.push(close);
            }
            let ways = self.builder.choice(ways);
            let body = self.builder.sequence([space, ways]);
            let rule = counting.rules[&state];
            self.builder.define(rule, body).map_err(grammar_error)?;
        }
        Ok(Some(self.builder.sequence([open, space, inside])))
    }
}

impl Counting<'_> {
    fn may_end(&self, (read, counted): State) -> bool {
        read >= self.shape.min && counted >= self.owed.min
    }

    /// The ways to read one more item, each with what follows it.
    fn items(&mut self, (read, counted): State, lowering: &mut Lowering<'_>) -> Fallible<Vec<ExprId>> {
        if self.shape.max.is_some_and(|max| read >= max) {
            return Ok(Vec::new());
        }
        let item = self.shape.item(usize::try_from(read).unwrap_or(usize::MAX));
        let next = (read + 1).min(self.read_cap);
        let one_more = (counted + 1).min(self.counted_cap);
        let goals = &mut lowering.normalizer.algebra.goals;
        let settled = self.owed.max.is_none() && counted >= self.owed.min;
        let ways = if read < self.owed.from as u64 || settled {
            vec![(item, counted)]
        } else {
            let counts = goals.and(item, self.owed.goal);
            let uncounted = if self.owed.max.is_some() {
                let not = goals.not(self.owed.goal);
                goals.and(item, not)
            } else {
                item
            };
            let full = self.owed.max.is_some_and(|max| counted >= max);
            if full { vec![(uncounted, counted)] } else { vec![(counts, one_more), (uncounted, counted)] }
        };
        let mut result = Vec::with_capacity(ways.len());
        for (goal, counted) in ways {
            let Some(value) = lowering.value(goal)? else { continue };
            let state = (next, counted);
            let rule = match self.rules.get(&state) {
                Some(&rule) => rule,
                None => {
                    let rule = lowering.builder.declare_fresh("items").map_err(grammar_error)?;
                    self.rules.insert(state, rule);
                    self.todo.push(state);
                    rule
                }
            };
            let rule = lowering.builder.rule(rule);
            result.push(lowering.builder.sequence([value, rule]));
        }
        Ok(result)
    }
}
