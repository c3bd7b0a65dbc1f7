//! Repeats and permutations: written out, as loops, or as fragments whose calls are counted.

use grammask_grammar_ir::{ExprId, Permutation};

use super::{Body, Builder, Item, Place};
use crate::build::plan::Copies;
use crate::draft::automata::{DraftPermutation, DraftRole, Label};
use crate::program::tables::Count;
use crate::text::spelling::Spelling;

impl<'g> Builder<'g> {
    pub(super) fn repeat(&mut self, body: ExprId, min: u32, max: Option<u32>, item: Item<'g>) {
        let Item { from, to, place, .. } = item;
        let one = |from, to, place| Item { what: Body::One(body), from, to, place };
        match (min, max) {
            (_, Some(0)) => self.draft.epsilon(from, to),
            (0, Some(1)) => {
                self.draft.epsilon(from, to);
                self.stack.push(one(from, to, place));
            }
            (1, Some(1)) => self.stack.push(one(from, to, place)),
            // The loop gets a state of its own: edges into `from` or out of `to` would let other expressions
            // there repeat, too.
            (0, None) => {
                let middle = self.draft.state();
                self.draft.epsilon(from, middle);
                self.stack.push(one(middle, middle, place));
                self.draft.epsilon(middle, to);
            }
            (1, None) => self.plus(body, item),
            _ if self.expands(body, max.unwrap_or(min), place) => self.copies(body, min, max, item),
            _ => {
                let count = Count { min, max };
                let fragment = match self.counted.get(&(body, place.spelling, count)) {
                    Some(&fragment) => fragment,
                    None => {
                        let fragment =
                            self.add_fragment(place.rule, Body::One(body), place.spelling, Some(count));
                        self.counted.insert((body, place.spelling, count), fragment);
                        fragment
                    }
                };
                self.draft.edge(from, Label::call(fragment), to);
            }
        }
    }

    /// One iteration or more.
    pub(super) fn plus(&mut self, body: ExprId, Item { from, to, place, .. }: Item<'g>) {
        let (before, after) = (self.draft.state(), self.draft.state());
        self.draft.epsilon(from, before);
        self.stack.push(Item { what: Body::One(body), from: before, to: after, place });
        self.draft.epsilon(after, before);
        self.draft.epsilon(after, to);
    }

    /// Whether the copies of a repeat stay small.
    pub(super) fn expands(&self, body: ExprId, times: u32, place: Place) -> bool {
        // Spelling multiplies by about sixteen a level.
        let budget = self.options.expand_states >> (4 * place.spelling.levels());
        times <= budget && self.plan.cost(self.grammar, body, budget / times).is_some()
    }

    /// The repeat, written out: `min` copies, then optional ones or a loop.
    pub(super) fn copies(&mut self, body: ExprId, min: u32, max: Option<u32>, item: Item<'g>) {
        let Item { mut from, to, .. } = item;
        let place = Place { copies: Copies::Many, ..item.place };
        let chain = max.unwrap_or(min.saturating_sub(1));
        for done in 0..chain {
            // From here on the iterations are optional: each of them may be skipped together with all after
            // it.
            if done >= min {
                self.draft.epsilon(from, to);
            }
            let next = if max == Some(done + 1) { to } else { self.draft.state() };
            self.stack.push(Item { what: Body::One(body), from, to: next, place });
            from = next;
        }
        if max.is_none() {
            self.plus(body, Item { from, place, ..item });
        }
    }

    /// Calls the fragment of parts in any order: a loop over all parts, with a separator on the way back. Each part
    /// is a fragment, since an engine has to see which of them was read.
    pub(super) fn permutation(&mut self, id: ExprId, permutation: Permutation<'g>, item: Item<'g>) {
        let Item { from, to, place, .. } = item;
        if let Some(&fragment) = self.permutation.get(&id) {
            return self.draft.edge(from, Label::call(fragment), to);
        }
        let (current, rule) = (self.draft.current, place.rule);
        let fragment = self.draft.fragment(Some(rule), None);
        let before = self.draft.fragments[fragment].start;
        let after = self.draft.state();
        self.draft.states[after].make_final();
        let mut parts = Vec::with_capacity(permutation.parts().len());
        for (index, &part) in (0..).zip(permutation.parts()) {
            let part = self.add_fragment(rule, Body::One(part), Spelling::PLAIN, None);
            // The builder of grammars bounds operands far below 2^32.
            self.draft.fragments[part].role = DraftRole::Part(index);
            // Two states for any number of parts. Which parts were read is for the engine to keep.
            self.draft.edge(before, Label::call(part), after);
            parts.push(part);
        }
        let separator = self.add_fragment(rule, Body::One(permutation.separator()), Spelling::PLAIN, None);
        self.draft.fragments[separator].role = DraftRole::Separator;
        self.draft.edge(after, Label::call(separator), before);
        self.draft.fragments[fragment].role = DraftRole::Permutation(DraftPermutation {
            parts: parts.into(),
            separator,
            required: u32::try_from(permutation.required()).unwrap_or(u32::MAX),
            once: u32::try_from(permutation.once()).unwrap_or(u32::MAX),
            min: permutation.min(),
            max: permutation.max(),
        });
        self.draft.current = current;
        self.permutation.insert(id, fragment);
        self.draft.edge(from, Label::call(fragment), to);
    }
}
