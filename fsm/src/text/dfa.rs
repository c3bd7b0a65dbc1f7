//! Deterministic automata over characters, with ranges on their arcs.

use grammask_grammar_ir::CharRange;
use grammask_grammar_ir::hash::HashMap;

use super::counted::Counted;
use super::ids::TextStateId;
use super::meter::Meter;
use super::scalars::{MAX_SCALAR, scalar};
use crate::error::Failure;
use crate::ids::{Id, IdVec, Rows};

/// Reads one character out of an inclusive range of scalar numbers (see [`scalar`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct RangeArc<S = TextStateId> {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    pub(crate) to: S,
}

/// A deterministic automaton. State 0 is the start; a character without an arc leads nowhere. Every state
/// has sorted, disjoint arcs. There is at least one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RangeDfa {
    rows: Rows<TextStateId>,
    arcs: Vec<RangeArc>,
    finals: IdVec<TextStateId, bool>,
}

impl AsRef<Self> for RangeDfa {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl RangeDfa {
    pub(crate) fn state_count(&self) -> usize {
        self.finals.len()
    }

    pub(crate) fn states(&self) -> impl DoubleEndedIterator<Item = TextStateId> + Clone + use<> {
        self.finals.ids()
    }

    pub(crate) fn arc_count(&self) -> usize {
        self.arcs.len()
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.rows.memory_usage() + self.arcs.capacity() * size_of::<RangeArc>() + self.finals.capacity()
    }

    pub(crate) fn is_final(&self, state: TextStateId) -> bool {
        self.finals[state]
    }

    pub(crate) fn arcs(&self, state: TextStateId) -> &[RangeArc] {
        &self.arcs[self.rows.of(state)]
    }

    /// The automaton of the empty language.
    pub(crate) fn nothing() -> Self {
        let mut builder = DfaBuilder::with_capacity(1, 0);
        builder.end_state(false);
        builder.finish()
    }

    /// The texts of at least `min` characters of a class, whose ranges are sorted and do not touch.
    pub(crate) fn at_least(class: &[CharRange], min: u32) -> Self {
        let mut builder = DfaBuilder::with_capacity(1, class.len());
        for length in 0..=min {
            let to = TextStateId::from_raw(min.min(length + 1));
            class.iter().for_each(|&(lo, hi)| builder.arc(RangeArc { lo: scalar(lo), hi: scalar(hi), to }));
            builder.end_state(length == min);
        }
        builder.finish()
    }

    /// Whether some arc reads a token and no character.
    pub(crate) fn reads_tokens(&self) -> bool {
        self.arcs.iter().any(|arc| arc.hi > MAX_SCALAR)
    }

    /// Whether no state is final. Automata that were trimmed are empty exactly then.
    pub(crate) fn is_empty(&self) -> bool {
        !self.finals.iter().any(|&is_final| is_final)
    }

    pub(crate) fn step(&self, state: TextStateId, character: u32) -> Option<TextStateId> {
        let arcs = self.arcs(state);
        let arc = arcs.get(arcs.partition_point(|arc| arc.hi < character))?;
        (arc.lo <= character).then_some(arc.to)
    }

    /// The trie of literals, in any order.
    pub(crate) fn from_literals<'a>(literals: impl Iterator<Item = &'a [u8]>) -> Result<Self, Failure> {
        let mut texts = Vec::with_capacity(literals.size_hint().0);
        for literal in literals {
            texts.push(std::str::from_utf8(literal).map_err(|_| Failure::not_text(literal))?);
        }
        // UTF-8 sorts as the characters do.
        texts.sort_unstable();
        let mut finals: IdVec<TextStateId, bool> = IdVec::of(false, 1);
        let mut arcs: Vec<(TextStateId, RangeArc)> =
            Vec::with_capacity(texts.iter().map(|text| text.len()).sum());
        // The states after each prefix of the text before, by the length of the prefix in bytes.
        let mut path: Vec<(usize, TextStateId)> = vec![(0, TextStateId::FIRST)];
        let mut before = "";
        for text in texts {
            let shared = text.bytes().zip(before.bytes()).take_while(|(left, right)| left == right).count();
            path.truncate(path.partition_point(|&(length, _)| length <= shared));
            let (start, mut state) = path.last().copied().unwrap_or((0, TextStateId::FIRST));
            for (offset, character) in text[start..].char_indices() {
                let next = finals.push(false);
                let code = scalar(character);
                arcs.push((state, RangeArc { lo: code, hi: code, to: next }));
                path.push((start + offset + character.len_utf8(), next));
                state = next;
            }
            finals[state] = true;
            before = text;
        }
        Ok(Self::from_parts(&arcs, finals))
    }

    /// An automaton out of (state, arc) pairs; those of one state are in order.
    pub(crate) fn from_parts(pairs: &[(TextStateId, RangeArc)], finals: IdVec<TextStateId, bool>) -> Self {
        let rows = Rows::count(finals.len(), pairs.iter().map(|pair| pair.0));
        let mut arcs = vec![RangeArc { lo: 0, hi: 0, to: TextStateId::FIRST }; pairs.len()];
        let mut next = rows.clone();
        for &(from, arc) in pairs {
            arcs[next.take_place(from)] = arc;
        }
        Self { rows, arcs, finals }
    }

    /// All texts that the automaton does not accept.
    pub(crate) fn complement(&self) -> Self {
        // A missing arc leads to a state that accepts everything. Arcs are sorted, so the gaps between them
        // are found in one sweep.
        let sink = self.finals.next_id();
        let mut builder = DfaBuilder::with_capacity(self.state_count() + 1, 2 * self.arc_count() + 2);
        for state in self.states() {
            let mut next = 0;
            for &arc in self.arcs(state) {
                if arc.lo > next {
                    builder.arc(RangeArc { lo: next, hi: arc.lo - 1, to: sink });
                }
                builder.arc(arc);
                next = arc.hi + 1;
            }
            if next <= MAX_SCALAR {
                builder.arc(RangeArc { lo: next, hi: MAX_SCALAR, to: sink });
            }
            builder.end_state(!self.is_final(state));
        }
        builder.arc(RangeArc { lo: 0, hi: MAX_SCALAR, to: sink });
        builder.end_state(true);
        builder.finish()
    }

    /// The texts that both accept: the reachable part of the product.
    pub(crate) fn intersect(&self, other: &Self, meter: &mut Meter) -> Result<Self, Failure> {
        meter.spend(self.arc_count() + other.arc_count())?;
        // If one side only counts characters, many pairs have the same continuations.
        let counted = Counted::new(self, other);
        if counted.is_none() && Counted::new(other, self).is_some() {
            return other.intersect(self, meter);
        }
        let representative = |pair| counted.as_ref().map_or(pair, |counted| counted.representative(pair));
        let start = representative((TextStateId::FIRST, TextStateId::FIRST));
        let mut builder = DfaBuilder::with_capacity(self.state_count(), self.arc_count());
        let mut pairs = vec![start];
        let mut numbers = PairNumbers::new(self.state_count(), other.state_count());
        *numbers.of(start) = TextStateId::FIRST;
        let mut next = 0;
        while let Some(&(left, right)) = pairs.get(next) {
            next += 1;
            let (mut lefts, mut rights) = (self.arcs(left), other.arcs(right));
            meter.spend(lefts.len() + rights.len() + 1)?;
            while let (Some(&first), Some(&second)) = (lefts.first(), rights.first()) {
                let (lo, hi) = (first.lo.max(second.lo), first.hi.min(second.hi));
                if lo <= hi {
                    let pair = representative((first.to, second.to));
                    let to = numbers.of(pair);
                    if *to == TextStateId::NONE {
                        *to = TextStateId::from_index(pairs.len());
                        pairs.push(pair);
                    }
                    builder.arc(RangeArc { lo, hi, to: *to });
                }
                // The range that ends first is done. Both are if they end together.
                if first.hi == hi || first.hi < second.lo {
                    lefts = &lefts[1..];
                }
                if second.hi == hi || second.hi < first.lo {
                    rights = &rights[1..];
                }
            }
            match counted.is_some() && self.state_count() <= SMALL_PATTERN {
                true => meter.counted_states(pairs.len())?,
                false => meter.states(pairs.len())?,
            }
            builder.end_state(self.is_final(left) && other.is_final(right));
        }
        Ok(builder.finish())
    }
}

/// A pattern of at most so many states may be multiplied by a large bound on the length, such as a URI of 2,083 characters.
const SMALL_PATTERN: usize = 512;

/// The numbers of the pairs of states that were met, [`Id::NONE`] for the others.
struct PairNumbers {
    /// Row by row, where that is no large table; most pairs of a pattern and a length are met.
    table: Vec<TextStateId>,
    width: usize,
    others: HashMap<(TextStateId, TextStateId), TextStateId>,
}

impl PairNumbers {
    /// The most pairs for which there is a table: half a megabyte.
    const MOST: usize = 1 << 17;

    fn new(lefts: usize, rights: usize) -> Self {
        let count = lefts.saturating_mul(rights);
        let table = if count <= Self::MOST { vec![TextStateId::NONE; count] } else { Vec::new() };
        Self { table, width: rights, others: HashMap::default() }
    }

    fn of(&mut self, (left, right): (TextStateId, TextStateId)) -> &mut TextStateId {
        match self.table.get_mut(left.index() * self.width + right.index()) {
            Some(number) => number,
            None => self.others.entry((left, right)).or_insert(TextStateId::NONE),
        }
    }
}

/// Writes automata state by state.
pub(crate) struct DfaBuilder {
    dfa: RangeDfa,
}

impl DfaBuilder {
    pub(crate) fn with_capacity(states: usize, arcs: usize) -> Self {
        let (rows, finals) = (Rows::with_capacity(states), IdVec::with_capacity(states));
        Self { dfa: RangeDfa { rows, arcs: Vec::with_capacity(arcs), finals } }
    }

    /// Adds an arc to the state that is being written, joining it to the one before if the two touch.
    pub(crate) fn arc(&mut self, arc: RangeArc) {
        match self.dfa.arcs[self.dfa.rows.end()..].last_mut() {
            Some(last) if last.to == arc.to && last.hi + 1 == arc.lo => last.hi = arc.hi,
            _ => self.dfa.arcs.push(arc),
        }
    }

    pub(crate) fn end_state(&mut self, is_final: bool) {
        self.dfa.rows.push(self.dfa.arcs.len());
        self.dfa.finals.push(is_final);
    }

    pub(crate) fn finish(self) -> RangeDfa {
        self.dfa
    }
}
