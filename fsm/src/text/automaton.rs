//! The public face of the algebra.

use grammask_grammar_ir::{CharRange, ExprId, Grammar, Interrupt};

use super::alphabet::intersection;
use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::evaluate::Evaluator;
use super::ids::TextStateId;
use super::meter::Meter;
use super::minimize::minimize;
use super::scalars::{MAX_SCALAR, character, scalar};
use crate::error::AutomataError;
use crate::error::Failure;
use crate::ids::{Id, IdVec};
use crate::options::TextLimits;

/// A regular set of texts, as its minimal deterministic automaton over characters.
///
/// Two automata are equal if and only if they accept the same texts.
///
/// ```
/// use grammask_fsm::TextLimits;
/// use grammask_fsm::text::TextAutomaton;
///
/// let limits = TextLimits::default();
/// let names = TextAutomaton::from_literals(["id", "name"]);
/// let others = names.complement();
/// assert!(others.accepts("idx") && !others.accepts("id"));
/// assert!(names.intersect(&others, &limits)?.is_empty());
/// assert_eq!(others.complement(), names);
/// # Ok::<(), grammask_fsm::AutomataError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextAutomaton {
    dfa: RangeDfa,
}

impl TextAutomaton {
    /// The texts that an expression matches.
    ///
    /// Fails if the expression holds a literal that is not UTF-8, or a token, or if a limit is reached. An expression that
    /// refers to recursive rules is not regular and reaches a limit.
    pub fn from_expr(grammar: &Grammar, expr: ExprId, limits: &TextLimits) -> Result<Self, AutomataError> {
        Self::from_expr_counted(grammar, expr, limits).0
    }

    /// As [`from_expr`](Self::from_expr), with the steps of work that it took; where it fails, those of the limit.
    pub fn from_expr_counted(
        grammar: &Grammar,
        expr: ExprId,
        limits: &TextLimits,
    ) -> (Result<Self, AutomataError>, usize) {
        let mut evaluator = Evaluator::new(grammar, *limits, Interrupt::never());
        let texts = evaluator.evaluate(expr).and_then(|dfa| {
            if dfa.reads_tokens() {
                return Err(Failure::HoldsToken);
            }
            let mut meter = Meter::after(evaluator.spent(), *limits, &Interrupt::never());
            Ok((Self { dfa: minimize(&dfa, &mut meter)? }, meter.total()))
        });
        match texts {
            Ok((texts, steps)) => (Ok(texts), steps),
            Err(failure) => (Err(failure.alone()), limits.max_steps),
        }
    }

    /// Whether an expression matches any text: as `!from_expr(..)?.is_empty()`, mostly in a small part of the time. Texts with
    /// tokens count.
    ///
    /// Fails as [`from_expr`](Self::from_expr) does.
    pub fn any_in(grammar: &Grammar, expr: ExprId, limits: &TextLimits) -> Result<bool, AutomataError> {
        Self::any_in_counted(grammar, expr, limits).0
    }

    /// As [`any_in`](Self::any_in), with the steps of work as [`from_expr_counted`](Self::from_expr_counted) gives them.
    pub fn any_in_counted(
        grammar: &Grammar,
        expr: ExprId,
        limits: &TextLimits,
    ) -> (Result<bool, AutomataError>, usize) {
        let mut evaluator = Evaluator::new(grammar, *limits, Interrupt::never());
        match evaluator.has_text(expr) {
            Ok(Some(found)) => (Ok(found), evaluator.spent()),
            Ok(None) => {
                let (texts, steps) = Self::from_expr_counted(grammar, expr, limits);
                (texts.map(|texts| !texts.is_empty()), steps)
            }
            Err(failure) => (Err(failure.alone()), limits.max_steps),
        }
    }

    /// A finite set of texts.
    pub fn from_literals<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let trie = RangeDfa::from_literals(texts.into_iter().map(str::as_bytes));
        // Strings are UTF-8, and minimising without limits cannot fail.
        let automaton = trie.ok().and_then(|trie| minimize(&trie, &mut Meter::new(UNLIMITED)).ok());
        automaton.map_or_else(Self::nothing, |dfa| Self { dfa })
    }

    /// No text at all.
    pub fn nothing() -> Self {
        Self { dfa: RangeDfa::nothing() }
    }

    /// Every text.
    pub fn everything() -> Self {
        let mut builder = DfaBuilder::with_capacity(1, 1);
        builder.arc(RangeArc { lo: 0, hi: MAX_SCALAR, to: TextStateId::FIRST });
        builder.end_state(true);
        Self { dfa: builder.finish() }
    }

    /// The texts that both accept.
    pub fn intersect(&self, other: &Self, limits: &TextLimits) -> Result<Self, AutomataError> {
        let mut meter = Meter::new(*limits);
        let dfa = intersection(&[&self.dfa, &other.dfa], &mut meter).map_err(Failure::alone)?;
        Ok(Self { dfa })
    }

    /// The texts that at least one accepts.
    pub fn union(&self, other: &Self, limits: &TextLimits) -> Result<Self, AutomataError> {
        let mut meter = Meter::new(*limits);
        let (left, right) = (self.dfa.complement(), other.dfa.complement());
        let neither = intersection(&[left, right], &mut meter).map_err(Failure::alone)?;
        Self::minimal(&neither.complement(), limits)
    }

    /// The texts that this automaton does not accept.
    pub fn complement(&self) -> Self {
        // A complement has one state more at most, so no limit is needed.
        let dfa = minimize(&self.dfa.complement(), &mut Meter::new(UNLIMITED));
        dfa.map_or_else(|_| Self::nothing(), |dfa| Self { dfa })
    }

    /// Whether no text is accepted.
    pub fn is_empty(&self) -> bool {
        self.dfa.is_empty()
    }

    /// Whether a text is accepted.
    pub fn accepts(&self, text: &str) -> bool {
        let mut state = TextStateId::FIRST;
        for character in text.chars() {
            match self.dfa.step(state, scalar(character)) {
                Some(next) => state = next,
                None => return false,
            }
        }
        self.dfa.is_final(state)
    }

    /// How many states there are. A character without a way on takes none.
    pub fn state_count(&self) -> usize {
        self.dfa.state_count()
    }

    /// Bytes of memory that the tables hold.
    pub fn memory_usage(&self) -> usize {
        self.dfa.memory_usage()
    }

    /// The least and the greatest length of an accepted text, in characters; no greatest length if there
    /// is none. `None` if no text is accepted.
    pub fn length_range(&self) -> Option<(u32, Option<u32>)> {
        let shortest = u32::try_from(self.shortest_text()?.chars().count()).unwrap_or(u32::MAX);
        let count = self.dfa.state_count();
        // Every state leads to a final one, so a cycle means texts of any length. Without cycles, states
        // can be taken in an order in which all arcs point forward.
        let mut entering: IdVec<TextStateId, u32> = IdVec::of(0, count);
        let arcs = self.dfa.states().flat_map(|state| self.dfa.arcs(state));
        arcs.for_each(|arc| entering[arc.to] += 1);
        let mut length: IdVec<TextStateId, u32> = IdVec::of(0, count);
        let start = TextStateId::FIRST;
        let mut stack = if entering[start] == 0 { vec![start] } else { vec![] };
        let (mut seen, mut longest) = (0, 0);
        while let Some(state) = stack.pop() {
            seen += 1;
            if self.dfa.is_final(state) {
                longest = longest.max(length[state]);
            }
            for arc in self.dfa.arcs(state) {
                length[arc.to] = length[arc.to].max(length[state] + 1);
                entering[arc.to] -= 1;
                if entering[arc.to] == 0 {
                    stack.push(arc.to);
                }
            }
        }
        Some((shortest, (seen == count).then_some(longest)))
    }

    /// One of the shortest accepted texts, of legible characters where there is a choice.
    pub fn shortest_text(&self) -> Option<String> {
        let mut came_from: IdVec<TextStateId, Option<(TextStateId, RangeArc)>> =
            IdVec::of(None, self.dfa.state_count());
        let start = TextStateId::FIRST;
        let mut order = vec![start];
        let mut next = 0;
        // Breadth first, so the first final state ends a shortest text.
        while let Some(&state) = order.get(next) {
            if self.dfa.is_final(state) {
                let mut text = Vec::new();
                let mut at = state;
                while let Some((before, arc)) = came_from[at].filter(|_| at != start) {
                    text.push(legible(arc));
                    at = before;
                }
                return Some(text.iter().rev().collect());
            }
            next += 1;
            for &arc in self.dfa.arcs(state) {
                if arc.to != start && came_from[arc.to].is_none() {
                    came_from[arc.to] = Some((state, arc));
                    order.push(arc.to);
                }
            }
        }
        None
    }

    /// How many texts are accepted; [`u64::MAX`] where they are endless, or more than that.
    pub fn count(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        if self.length_range().is_none_or(|(_, longest)| longest.is_none()) {
            return u64::MAX;
        }
        // Every state leads to a final one and none leads back.
        let mut counts: IdVec<TextStateId, Option<u64>> = IdVec::of(None, self.dfa.state_count());
        let mut stack = vec![TextStateId::FIRST];
        while let Some(&state) = stack.last() {
            if counts[state].is_some() {
                stack.pop();
                continue;
            }
            let arcs = self.dfa.arcs(state);
            let unknown = stack.len();
            stack.extend(arcs.iter().map(|arc| arc.to).filter(|&to| counts[to].is_none()));
            if stack.len() == unknown {
                let through = arcs.iter().map(|arc| {
                    let ways = u64::from(arc.hi - arc.lo) + 1;
                    ways.saturating_mul(counts[arc.to].unwrap_or(0))
                });
                let own = u64::from(self.dfa.is_final(state));
                counts[state] = Some(through.fold(own, u64::saturating_add));
                stack.pop();
            }
        }
        counts[TextStateId::FIRST].unwrap_or(0)
    }

    /// All accepted texts in order, if there are at most `most`; `None` otherwise.
    pub fn texts(&self, most: usize) -> Option<Vec<String>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        self.length_range()?.1?;
        // Every state leads to a final one and none leads back, so that every way on is the beginning of a text.
        let (mut texts, mut stack) = (Vec::new(), vec![(TextStateId::FIRST, String::new())]);
        while let Some((state, text)) = stack.pop() {
            let arcs = self.dfa.arcs(state);
            // Counted before any are made: a class has up to a million characters.
            let ways: u64 = arcs.iter().map(|arc| u64::from(arc.hi - arc.lo) + 1).sum();
            let begun = texts.len() + stack.len();
            if usize::try_from(ways).is_ok_and(|ways| begun + ways > most) {
                return None;
            }
            // A stack returns the last one first, and texts are to come in order.
            for arc in arcs.iter().rev() {
                for way in (arc.lo..=arc.hi).rev() {
                    let mut longer = text.clone();
                    longer.push(character(way));
                    stack.push((arc.to, longer));
                }
            }
            if self.dfa.is_final(state) {
                texts.push(text);
            }
        }
        (texts.len() <= most).then_some(texts)
    }

    /// All accepted texts as rows of classes, one class a character; each text is of one row. `None` where there are more
    /// than `most` rows or a text is longer than `longest` characters.
    pub fn rows(&self, most: usize, longest: u32) -> Option<Vec<Vec<Vec<CharRange>>>> {
        let Some((_, greatest)) = self.length_range() else { return Some(Vec::new()) };
        greatest.filter(|&greatest| greatest <= longest)?;
        // As for texts, every way on is the beginning of a row.
        let (mut rows, mut stack) = (Vec::new(), vec![(TextStateId::FIRST, Vec::new())]);
        while let Some((state, row)) = stack.pop() {
            let mut arcs = self.dfa.arcs(state).to_vec();
            arcs.sort_by_key(|arc| (arc.to, arc.lo));
            for group in arcs.chunk_by(|left, right| left.to == right.to) {
                let class = group.iter().map(|arc| (character(arc.lo), character(arc.hi))).collect();
                let longer = row.iter().cloned().chain([class]).collect();
                stack.push((group[0].to, longer));
            }
            if self.dfa.is_final(state) {
                rows.push(row);
            }
            if rows.len() + stack.len() > most {
                return None;
            }
        }
        Some(rows)
    }

    fn minimal(dfa: &RangeDfa, limits: &TextLimits) -> Result<Self, AutomataError> {
        let dfa = minimize(dfa, &mut Meter::new(*limits)).map_err(Failure::alone)?;
        Ok(Self { dfa })
    }
}

const UNLIMITED: TextLimits =
    TextLimits { max_states: usize::MAX, max_steps: usize::MAX, max_total_steps: usize::MAX };

/// A character of an arc that can be read, if there is one.
fn legible(arc: RangeArc) -> char {
    let holds = |character: &char| (arc.lo..=arc.hi).contains(&scalar(*character));
    ['a', 'A', '0'].into_iter().chain('!'..='~').find(holds).unwrap_or_else(|| character(arc.lo))
}
