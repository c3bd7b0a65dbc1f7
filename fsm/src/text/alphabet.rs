//! Products over a small alphabet.
//!
//! The arcs of a state carry ranges, and a class such as "no white space" has a dozen of them, which no state
//! of a pattern distinguishes. The product of a pattern and a bound on its length copies those ranges into
//! every one of its states. So for large products the characters are first put into *letters*, the classes
//! that no state of any operand distinguishes. Automata over letters are ordinary [`RangeDfa`]s whose
//! characters are the letters' numbers. The result is written over characters again, if that is needed at
//! all.

use std::ops::Range;

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
    pub(crate) fn with(&self, dfa: RangeDfa) -> Self {
        Self { dfa, atoms: self.atoms.clone() }
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
    // They are sorted, and looked up again and again.
    meter.spend(4 * ends.len())?;
    ends.sort_unstable();
    ends.dedup();
    let count = ends.len().saturating_sub(1);
    let atom_of = |end: u32| ends.partition_point(|&other| other < end);
    // Every state splits the letters by where they lead. Those that lead where most do keep their numbers, so that only
    // the others are looked at.
    let mut letters = vec![LetterId::FIRST; count];
    let mut fresh = LetterId::SECOND;
    let mut split: HashMap<(LetterId, TextStateId), LetterId> = HashMap::default();
    let mut parts: Vec<(Range<usize>, TextStateId)> = Vec::new();
    for dfa in all {
        // Where a character without an arc leads.
        let nowhere = TextStateId::from_index(dfa.state_count());
        let mut widths: IdVec<TextStateId, usize> = IdVec::of(0, dfa.state_count() + 1);
        for state in dfa.states() {
            let arcs = dfa.arcs(state);
            meter.spend(arcs.len() + 1)?;
            parts.clear();
            let mut end = 0;
            for arc in arcs {
                let (first, last) = (atom_of(arc.lo), atom_of(arc.hi + 1));
                parts.extend([(end..first, nowhere), (first..last, arc.to)]);
                end = last;
            }
            parts.push((end..count, nowhere));
            parts.iter().for_each(|(part, to)| widths[*to] += part.len());
            let most = parts.iter().map(|part| part.1).max_by_key(|&to| widths[to]);
            parts.iter().for_each(|part| widths[part.1] = 0);
            split.clear();
            for (part, to) in parts.iter().filter(|part| Some(part.1) != most) {
                meter.spend(part.len())?;
                for letter in &mut letters[part.clone()] {
                    let new = fresh.plus(split.len());
                    *letter = *split.entry((*letter, *to)).or_insert(new);
                }
            }
            fresh = fresh.plus(split.len());
        }
    }
    // Numbers are given anew, in the order of the characters.
    let mut numbers: HashMap<LetterId, LetterId> = HashMap::default();
    let mut atoms = Vec::with_capacity(count);
    for (bounds, letter) in ends.windows(2).zip(letters) {
        let next = LetterId::from_index(numbers.len());
        atoms.push((bounds[0], bounds[1] - 1, *numbers.entry(letter).or_insert(next)));
    }
    Ok((atoms, numbers.len()))
}

/// An automaton over the letters of its characters.
fn over_letters(dfa: &RangeDfa, atoms: &[Atom], count: usize) -> RangeDfa {
    // The first range of each letter represents it, and letters are numbered in the order of their first characters.
    let mut first: Vec<u32> = Vec::with_capacity(count);
    for &(lo, _, letter) in atoms {
        if letter.index() == first.len() {
            first.push(lo);
        }
    }
    let letter_from = |character: u32| first.partition_point(|&other| other < character);
    let mut builder = DfaBuilder::with_capacity(dfa.state_count(), dfa.arc_count());
    for state in dfa.states() {
        for arc in dfa.arcs(state) {
            let letters = letter_from(arc.lo)..letter_from(arc.hi + 1);
            if !letters.is_empty() {
                let (lo, hi) = (LetterId::from_index(letters.start), LetterId::from_index(letters.end - 1));
                builder.arc(RangeArc { lo: lo.raw(), hi: hi.raw(), to: arc.to });
            }
        }
        builder.end_state(dfa.is_final(state));
    }
    builder.finish()
}
