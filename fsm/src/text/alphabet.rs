//! Products over a small alphabet.
//!
//! The arcs of a state carry ranges, and a class such as "no white space" has a dozen of them, which no state
//! of a pattern distinguishes. The product of a pattern and a bound on its length copies those ranges into
//! every one of its states. So for large products the characters are first put into *letters*, the classes
//! that no state of any operand distinguishes. Automata over letters are ordinary [`RangeDfa`]s whose
//! characters are the letters' numbers. The result is written over characters again, if that is needed at
//! all.

use grammask_grammar_ir::JsonEscapes;
use grammask_grammar_ir::hash::HashMap;

use super::dfa::{DfaBuilder, RangeArc, RangeDfa};
use super::ids::{LetterId, TextStateId};
use super::meter::Meter;
use super::minimize::minimize;
use super::scalars::code_point;
use crate::error::Failure;
use crate::ids::{Id, IdVec};

/// The least number of pairs of states for which products are taken over letters.
const LARGE: usize = 512;

/// A range of characters and their letter.
type Atom = (u32, u32, LetterId);

/// An automaton over letters.
pub(crate) struct CompressedAlphabet {
    /// Its arcs carry ranges of letters.
    pub(crate) dfa: RangeDfa,
    /// Ranges of characters, in order, with their letter.
    atoms: Vec<Atom>,
}

/// The minimal automaton of the texts that all operands accept; there is at least one.
pub(crate) fn intersection<D: AsRef<RangeDfa>>(
    operands: &[D],
    meter: &mut Meter,
) -> Result<RangeDfa, Failure> {
    if is_large(operands) {
        return Ok(lettered_intersection(operands, meter)?.over_characters());
    }
    let mut operands = operands.iter().map(AsRef::as_ref);
    let Some(first) = operands.next() else { return minimize(&RangeDfa::nothing(), meter) };
    let Some(second) = operands.next() else { return minimize(first, meter) };
    let mut result = minimize(&first.intersect(second, meter)?, meter)?;
    for operand in operands {
        result = minimize(&result.intersect(operand, meter)?, meter)?;
    }
    Ok(result)
}

/// Whether a product may become so large that letters pay.
pub(crate) fn is_large<D: AsRef<RangeDfa>>(operands: &[D]) -> bool {
    let counts = operands.iter().map(|operand| operand.as_ref().state_count());
    counts.fold(1usize, usize::saturating_mul) >= LARGE
}

/// The same over letters.
pub(crate) fn lettered_intersection<D: AsRef<RangeDfa>>(
    operands: &[D],
    meter: &mut Meter,
) -> Result<CompressedAlphabet, Failure> {
    // Letters are common to all operands, so that their automata can be multiplied.
    let (atoms, count) = letters(operands, meter)?;
    let mut result: Option<RangeDfa> = None;
    for operand in operands {
        let dfa = over_letters(operand.as_ref(), &atoms, count);
        result = Some(match result {
            None => dfa,
            Some(before) => minimize(&before.intersect(&dfa, meter)?, meter)?,
        });
    }
    Ok(CompressedAlphabet { dfa: result.unwrap_or_else(RangeDfa::nothing), atoms })
}

impl CompressedAlphabet {
    /// An automaton over characters, which is minimal, over its own letters.
    pub(crate) fn new(dfa: &RangeDfa, meter: &mut Meter) -> Result<Self, Failure> {
        let (atoms, count) = letters(&[dfa], meter)?;
        Ok(Self { dfa: over_letters(dfa, &atoms, count), atoms })
    }

    /// Another automaton over the same letters.
    pub(crate) fn with(self, dfa: RangeDfa) -> Self {
        Self { dfa, ..self }
    }

    /// Which letters hold a character that takes one byte in all JSON strings, and outside of them.
    pub(crate) fn letters_of_one_byte(&self) -> IdVec<LetterId, bool> {
        let count = self.atoms.iter().map(|atom| atom.2.index() + 1).max().unwrap_or(0);
        let mut is_short = IdVec::of(false, count);
        for &(lo, hi, letter) in &self.atoms {
            let mut plain = JsonEscapes::Ascii.unescaped().iter();
            is_short[letter] |= plain.any(|&(first, last)| lo <= u32::from(last) && u32::from(first) <= hi);
        }
        is_short
    }

    /// The same automaton over characters, numbered breadth-first.
    pub(crate) fn over_characters(&self) -> RangeDfa {
        let mut builder = DfaBuilder::with_capacity(self.dfa.state_count(), self.dfa.arc_count());
        let mut targets: IdVec<LetterId, TextStateId> = IdVec::of(TextStateId::NONE, self.atoms.len());
        let mut number: IdVec<TextStateId, TextStateId> =
            IdVec::of(TextStateId::NONE, self.dfa.state_count());
        let mut order = vec![TextStateId::FIRST];
        number[TextStateId::FIRST] = TextStateId::FIRST;
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            // The arcs are spread over the letters first, since the ranges of one letter lie apart in the
            // order of characters.
            targets.fill(TextStateId::NONE);
            for arc in self.dfa.arcs(state) {
                let (first, last) = (LetterId::from_raw(arc.lo), LetterId::from_raw(arc.hi));
                targets.slice_mut(first..last.plus(1)).fill(arc.to);
            }
            for &(lo, hi, letter) in &self.atoms {
                let target = targets[letter];
                if target == TextStateId::NONE {
                    continue;
                }
                let to = &mut number[target];
                if *to == TextStateId::NONE {
                    *to = TextStateId::from_index(order.len());
                    order.push(target);
                }
                builder.arc(RangeArc { lo, hi, to: *to });
            }
            builder.end_state(self.dfa.is_final(state));
        }
        builder.finish()
    }

    /// The code points of some letters, as sorted ranges that do not touch.
    pub(crate) fn code_points(&self, letters: &[(u32, u32)], ranges: &mut Vec<(u32, u32)>) {
        ranges.clear();
        let mut last_hi = None;
        for &(lo, hi, letter) in &self.atoms {
            if !letters.iter().any(|&(first, last)| (first..=last).contains(&letter.raw())) {
                continue;
            }
            match ranges.last_mut() {
                Some(range) if last_hi == Some(lo.wrapping_sub(1)) => range.1 = code_point(hi),
                _ => ranges.push((code_point(lo), code_point(hi))),
            }
            last_hi = Some(hi);
        }
    }
}

/// The ranges of characters that arcs begin or end at, with their letters, and how many letters there are.
fn letters<D: AsRef<RangeDfa>>(operands: &[D], meter: &mut Meter) -> Result<(Vec<Atom>, usize), Failure> {
    let all = operands.iter().map(AsRef::as_ref);
    let arcs = all.clone().flat_map(|dfa| dfa.states().flat_map(|state| dfa.arcs(state)));
    let mut ends: Vec<u32> = arcs.flat_map(|arc| [arc.lo, arc.hi + 1]).collect();
    meter.spend(ends.len())?;
    ends.sort_unstable();
    ends.dedup();
    let mut atoms: Vec<Atom> = ends.windows(2).map(|pair| (pair[0], pair[1] - 1, LetterId::FIRST)).collect();
    // Every state splits the letters by where they lead.
    let mut split: HashMap<(LetterId, TextStateId), LetterId> = HashMap::default();
    for dfa in all {
        let mut before: Option<&[RangeArc]> = None;
        for state in dfa.states() {
            meter.spend(atoms.len())?;
            // A bound on the length is a chain of states that all lead on alike.
            if before.replace(dfa.arcs(state)).is_some_and(|before| splits_alike(before, dfa.arcs(state))) {
                continue;
            }
            split.clear();
            let mut arcs = dfa.arcs(state).iter().peekable();
            for (lo, hi, letter) in &mut atoms {
                while arcs.next_if(|arc| arc.hi < *lo).is_some() {}
                let target = arcs.peek().filter(|arc| arc.lo <= *hi).map_or(TextStateId::NONE, |arc| arc.to);
                // Characters stay in one letter if they were in one and lead to the same state here. Numbers
                // are given in the order of the characters.
                let fresh = LetterId::from_index(split.len());
                *letter = *split.entry((*letter, target)).or_insert(fresh);
            }
        }
    }
    let count = atoms.iter().map(|atom| atom.2.index() + 1).max().unwrap_or(0);
    Ok((atoms, count))
}

/// Whether two states tell the same characters apart: at once where the second leads on as the first, some states
/// further.
fn splits_alike(one: &[RangeArc], other: &[RangeArc]) -> bool {
    let shift = |arcs: &[RangeArc], arc: &RangeArc| arc.to.raw().wrapping_sub(arcs[0].to.raw());
    one.len() == other.len()
        && one.iter().zip(other).all(|(left, right)| {
            (left.lo, left.hi, shift(one, left)) == (right.lo, right.hi, shift(other, right))
        })
}

/// An automaton over the letters of its characters.
fn over_letters(dfa: &RangeDfa, atoms: &[Atom], count: usize) -> RangeDfa {
    // The first range of each letter represents it.
    let mut first: IdVec<LetterId, u32> = IdVec::of(u32::MAX, count);
    for &(lo, _, letter) in atoms.iter().rev() {
        first[letter] = lo;
    }
    let mut builder = DfaBuilder::with_capacity(dfa.state_count(), dfa.state_count() * count);
    for state in dfa.states() {
        let mut arcs = dfa.arcs(state).iter().peekable();
        // Letters are numbered in the order of their first characters, so one sweep finds their arcs.
        for (letter, &character) in first.entries() {
            while arcs.next_if(|arc| arc.hi < character).is_some() {}
            if let Some(arc) = arcs.peek().filter(|arc| arc.lo <= character) {
                builder.arc(RangeArc { lo: letter.raw(), hi: letter.raw(), to: arc.to });
            }
        }
        builder.end_state(dfa.is_final(state));
    }
    builder.finish()
}
