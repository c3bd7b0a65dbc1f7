//! References to rules: calls, or ways on inside of the automaton that the rule is joined with.

use grammask_grammar_ir::{ExprId, RuleId};

use super::{Body, Builder, Item, Job, Place};
use crate::build::ids::RuleNumber;
use crate::draft::automata::Label;
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::ids::{Id, IdVec};
use crate::text::spelling::Spelling;

/// The rules that are written into one fragment: a rule that stands at the end of another goes on in its own state.
pub(super) struct Joined {
    home: RuleNumber,
    spelling: Spelling,
    /// The end of the fragment, and so of each rule.
    end: DraftStateId,
}

impl<'g> Builder<'g> {
    /// Begins a fragment, whose body is to be written next. Rules are joined in that of a home.
    pub(super) fn join_rules(&mut self, job: Job<'g>, (from, to): (DraftStateId, DraftStateId)) {
        let home = self.plan.numbers.of(job.rule);
        if !self.plan.joined.is_home(home) || self.whole != Some(self.grammar.rule(job.rule).body()) {
            return;
        }
        // Rules that lead to one another need not lead to the end.
        self.draft.dead_parts.push((from, Some(job.rule)));
        self.joined = Some(Joined { home, spelling: job.spelling, end: to });
        if self.joined_starts.is_empty() {
            self.joined_starts =
                IdVec::of((DraftFragmentId::NONE, DraftStateId::NONE), self.plan.rule_count());
        }
        // Nothing leads into the start of a fragment, so the home has another state to go on from.
        if let Some(body) = self.stack.last_mut() {
            body.from = self.draft.state();
            self.draft.epsilon(from, body.from);
            self.joined_starts[home] = (job.fragment, body.from);
        }
    }

    /// Reads a rule between two states.
    pub(super) fn reference(&mut self, rule: RuleId, Item { from, to, place, .. }: Item<'g>) {
        if self.joined.is_some()
            && let Some(start) = self.joined_start(rule, to, place)
        {
            return self.draft.epsilon(from, start);
        }
        let fragment = self.rule_fragment(rule, place);
        self.draft.edge(from, Label::call(fragment), to);
    }

    /// The state in which a rule begins that is joined in the current fragment, at whose end it stands. Its automaton is
    /// written when it is first met.
    #[cold]
    fn joined_start(&mut self, rule: RuleId, to: DraftStateId, place: Place) -> Option<DraftStateId> {
        let &Joined { home, spelling, end } = self.joined.as_ref()?;
        let number = self.plan.numbers.of(rule);
        // The options of a home hold for each time that it is read, and others may have an automaton already.
        let is_called = match number == home {
            true => !self.grammar.rule(rule).options().is_empty(),
            false => place.spelling.is_plain() && self.plain_rule(rule).is_some(),
        };
        if (end, spelling) != (to, place.spelling) || self.plan.joined.home(number) != Some(home) || is_called
        {
            return None;
        }
        let (fragment, start) = self.joined_starts[number];
        if fragment == self.draft.current {
            return Some(start);
        }
        let start = self.draft.state();
        self.joined_starts[number] = (self.draft.current, start);
        let what = Body::One(self.grammar.rule(rule).body());
        self.stack.push(Item { what, from: start, to, place: Place { rule, ..place } });
        Some(start)
    }

    /// The state after a part of a sequence. A joined rule that is the rest of the sequence begins in this state. It is taken
    /// from `rest` then.
    #[cold]
    pub(super) fn state_before(
        &mut self,
        rest: &mut &'g [ExprId],
        to: DraftStateId,
        place: Place,
    ) -> DraftStateId {
        if let [last] = **rest
            && let Some(rule) = self.grammar.as_rule(last)
            && let Some(start) = self.joined_start(rule, to, place)
        {
            *rest = &[];
            return start;
        }
        self.draft.state()
    }
}
