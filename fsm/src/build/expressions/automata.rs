//! Automata over characters: in place, or as fragments of their own.

use grammask_grammar_ir::ExprId;

use super::{Builder, Item, Place, check_size};
use crate::draft::automata::Label;
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::encoding::text_fragment::{FragmentText, write_text_fragment};
use crate::encoding::utf8_encoder::Utf8Encoder;
use crate::error::Failure;
use crate::ids::{Id, IdVec};
use crate::program::tables::TokenSide;
use crate::text::chars::CharArc;
use crate::text::dfa::RangeDfa;
use crate::text::evaluate::Value;
use crate::text::ids::{NfaStateId, TextStateId};
use crate::text::nfa::Nfa;
use crate::text::scalars::{TokenSet, code_point, is_token, token_set};

/// Automata over characters of more states become fragments of their own inside JSON strings.
const SMALL_TEXT: usize = 64;

impl<'g> Builder<'g> {
    /// Writes an automaton in place, or calls its fragment if it is large. States and edges that are written count as work
    /// on texts: a pattern under many bounds is remembered, but written under each.
    pub(super) fn operator(&mut self, id: ExprId, item: Item<'g>) -> Result<(), Failure> {
        let before = self.draft.size();
        self.write_operator(id, item)?;
        self.evaluator.pay(self.draft.size() - before)
    }

    fn write_operator(&mut self, id: ExprId, item: Item<'g>) -> Result<(), Failure> {
        let Item { from, to, place, .. } = item;
        // Equal operators of a grammar have one representative, so each is evaluated and written once.
        let id = self.evaluator.representative(id);
        let escapes = place.spelling.only();
        // In a string inside of a string large automata are written in place.
        let is_written_once = escapes.is_some() || place.spelling.is_plain();
        let known = Some(&(id, escapes)).filter(|_| is_written_once).and_then(|key| self.operators.get(key));
        if let Some(&fragment) = known {
            self.draft.edge(from, Label::call(fragment), to);
            return Ok(());
        }
        let most = if escapes.is_some() { SMALL_TEXT } else { usize::MAX };
        let counted_from = is_written_once.then_some(self.options.min_counted_pairs);
        let fragment = match &self.evaluator.evaluate_operator(id, most, counted_from)? {
            Value::Characters(dfa) => return self.embed(dfa, item),
            Value::Letters(lettered) if escapes.is_none() => {
                return self.embed(&lettered.over_characters(), item);
            }
            Value::Letters(lettered) => self.text_fragment(FragmentText::Plain(lettered), place),
            Value::Measured(measured) => self.text_fragment(FragmentText::Measured(measured), place),
            Value::Nondeterministic(nfa) => self.nondeterministic_fragment(nfa, place)?,
        };
        check_size(&self.draft, self.options, self.work)?;
        if is_written_once {
            self.operators.insert((id, escapes), fragment);
        }
        self.draft.edge(from, Label::call(fragment), to);
        Ok(())
    }

    /// Writes an automaton over letters as a fragment of its own.
    fn text_fragment(&mut self, text: FragmentText<'_>, place: Place) -> DraftFragmentId {
        let mut output =
            Utf8Encoder { draft: &mut self.draft, cache: &mut self.utf8, escapes: &mut self.escapes };
        let (text, rule) = ((text, place.spelling.only()), place.rule);
        write_text_fragment(text, &mut self.classes, &mut self.json, &mut output, rule)
    }

    /// Writes an automaton over characters between two states.
    pub(super) fn embed(&mut self, automaton: &RangeDfa, item: Item<'g>) -> Result<(), Failure> {
        let Item { from, to, place: Place { rule, spelling, .. }, .. } = item;
        if automaton.is_empty() {
            self.draft.dead_parts.push((from, Some(rule)));
        }
        let base = self.draft.states.next_id();
        for _ in 0..automaton.state_count() {
            self.draft.state();
        }
        // A final state without a way on is the end itself.
        let copy = |state: TextStateId| base.plus(state.index());
        let place = |state: TextStateId| {
            if automaton.is_final(state) && automaton.arcs(state).is_empty() { to } else { copy(state) }
        };
        self.draft.epsilon(from, place(TextStateId::FIRST));
        let mut arcs = std::mem::take(&mut self.arcs);
        for state in automaton.states() {
            if place(state) == to {
                continue;
            }
            self.check_limits()?;
            arcs.clear();
            arcs.extend(automaton.arcs(state).iter().map(|arc| CharArc {
                lo: code_point(arc.lo),
                hi: code_point(arc.hi),
                to: place(arc.to),
            }));
            let characters = arcs.partition_point(|arc| !is_token(arc.lo));
            self.spell(copy(state), &arcs[..characters], spelling);
            self.tokens(copy(state), &mut arcs[characters..]);
            if automaton.is_final(state) {
                self.draft.epsilon(copy(state), to);
            }
        }
        self.arcs = arcs;
        Ok(())
    }

    /// The same for an automaton that is not deterministic, as a fragment of its own.
    fn nondeterministic_fragment(&mut self, nfa: &Nfa, place: Place) -> Result<DraftFragmentId, Failure> {
        let current = self.draft.current;
        let fragment = self.draft.fragment(Some(place.rule), None);
        let first = self.draft.fragments[fragment].start;
        let states: IdVec<NfaStateId, DraftStateId> =
            std::iter::once(first).chain((1..nfa.state_count()).map(|_| self.draft.state())).collect();
        self.draft.states[states[Nfa::END]].make_final();
        if nfa.is_empty() {
            self.draft.dead_parts.push((first, Some(place.rule)));
        }
        let mut arcs = std::mem::take(&mut self.arcs);
        for row in nfa.arcs().chunk_by(|(from, _), (other, _)| from == other) {
            self.check_limits()?;
            // The arcs to one state are spelled at once.
            let mut row: Vec<_> = row.iter().map(|&(from, arc)| (arc.to, arc.lo, arc.hi, from)).collect();
            row.sort_unstable();
            for group in row.chunk_by(|one, other| one.0 == other.0) {
                arcs.clear();
                for &(to, lo, hi, _) in group {
                    let (lo, hi) = (code_point(lo), code_point(hi));
                    match arcs.last_mut() {
                        Some(last) if lo <= last.hi => last.hi = last.hi.max(hi),
                        _ => arcs.push(CharArc { lo, hi, to: states[to] }),
                    }
                }
                self.spell(states[group[0].3], &arcs, place.spelling);
            }
        }
        self.arcs = arcs;
        for &(from, to) in nfa.epsilons() {
            self.draft.epsilon(states[from], states[to]);
        }
        self.draft.current = current;
        Ok(fragment)
    }

    /// Adds arcs over tokens, one edge for all that lead to one state.
    fn tokens(&mut self, from: DraftStateId, arcs: &mut [CharArc<DraftStateId>]) {
        arcs.sort_unstable_by_key(|arc| (arc.to, arc.lo));
        for group in arcs.chunk_by(|left, right| left.to == right.to) {
            let ranges: Vec<_> = group.iter().map(|arc| arc.lo..=arc.hi).collect();
            let (ids, side) = match token_set(&ranges) {
                TokenSet::These(ids) => (ids, TokenSide::Inside),
                TokenSet::Others(ids) => (ids, TokenSide::Outside),
            };
            let label = self.draft.labels.of_ids(ids, side);
            self.draft.edge(from, Label::token(label), group[0].to);
        }
    }
}
