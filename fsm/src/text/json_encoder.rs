//! From characters to the spellings of JSON strings, over any output that has arcs of characters.
//!
//! A character inside a JSON string is written as itself, as a short escape or as `\\uXXXX`. An escape is positional:
//! each hexadecimal digit stands for a *block* of consecutive code points. A block that one arc covers needs no look
//! inside, and a uniform block is written once for each target. The doc of
//! [`utf8_encoder`](crate::encoding::utf8_encoder) explains the steps.

use std::borrow::Cow;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{CharRange, JsonEscapes};

use super::chars::{CharArc, CharOutput, Sharing, join_ranges};
use super::spelling::Spelling;
use crate::ids::{Id, low_byte};

/// Spells characters as the inside of JSON strings, into an automaton over characters.
///
/// The [`Spelling`] says with which escapes, and how often (a JSON string inside a JSON string).
pub(crate) struct JsonEncoder<S> {
    /// Uniform blocks: (shape, spelling, target) to state.
    blocks: HashMap<(Block, Spelling, S), S>,
    /// States that hold nothing but wide arcs, by spelling and arcs.
    wide: HashMap<(Spelling, Vec<CharArc<S>>), S>,
    scratch: Vec<CharArc<S>>,
}

impl<S> Default for JsonEncoder<S> {
    fn default() -> Self {
        Self { blocks: HashMap::default(), wide: HashMap::default(), scratch: Vec::new() }
    }
}

/// The spelling of a string, and those that lie over it.
type Level = (JsonEscapes, Spelling);

/// Arcs of more characters than this lead to "everything else".
const WIDE: u32 = 64;

/// A part of an escape that stands for a block of code points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Block {
    /// One, two, three hexadecimal digits.
    Hex1,
    Hex2,
    Hex3,
    /// The four digits of a `\u` escape, leads of surrogate pairs among them.
    Escape,
    /// Three digits after `D`.
    AfterD,
    /// Two digits or one that end the lead of a pair, and the whole trail.
    Lead2,
    Lead1,
    /// A whole trail: `\uDC00` to `\uDFFF`.
    Trail,
}

impl Block {
    /// How many code points the block holds.
    fn size(self) -> u32 {
        match self {
            Self::Hex1 => 0x10,
            Self::Hex2 => 0x100,
            Self::Hex3 => 0x1000,
            Self::Escape | Self::AfterD => 0x11_0000,
            Self::Lead2 => 0x4_0000,
            Self::Lead1 => 0x4000,
            Self::Trail => 0x400,
        }
    }
}

impl<S: Id> JsonEncoder<S> {
    /// Adds `arcs`, sorted and disjoint, to a state, spelled as JSON.
    pub(crate) fn spell<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        from: S,
        arcs: &[CharArc<S>],
        spelling: Spelling,
    ) {
        let Some(level) = spelling.innermost() else { return output.arcs(from, arcs) };
        let Some(widest) = arcs.iter().max_by_key(|arc| arc.hi - arc.lo) else { return };
        // The target with the widest arc is "anything else" in most states. Its arcs go to a state of their
        // own, shared by all states that have the same ones.
        let is_wide = widest.hi - widest.lo >= WIDE;
        if !is_wide || arcs.iter().all(|arc| arc.to == widest.to) {
            return self.spell_here(output, from, arcs, level);
        }
        let (wide, others): (Vec<CharArc<S>>, Vec<CharArc<S>>) =
            arcs.iter().partition(|arc| arc.to == widest.to);
        let key = (spelling, wide);
        let state = match self.wide.get(&key) {
            Some(&state) => state,
            None => {
                let state = output.state();
                self.spell_here(output, state, &key.1, level);
                self.wide.insert(key, state);
                state
            }
        };
        output.epsilon(from, state);
        self.spell_here(output, from, &others, level);
    }

    fn spell_here<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        from: S,
        arcs: &[CharArc<S>],
        level: Level,
    ) {
        let escape = self.any_escape(output, arcs, level);
        let mut spelled = std::mem::take(&mut self.scratch);
        spelled.clear();
        for &(lo, hi) in level.0.unescaped() {
            let (lo, hi) = (u32::from(lo), u32::from(hi));
            let first = arcs.partition_point(|arc| arc.hi < lo);
            spelled.extend(arcs[first..].iter().take_while(|arc| arc.lo <= hi).map(|arc| CharArc {
                lo: arc.lo.max(lo),
                hi: arc.hi.min(hi),
                to: arc.to,
            }));
            // The backslash comes between the second and the third range, so the arcs stay sorted.
            if hi == 0x5B && escape != S::NONE {
                spelled.push(single('\\', escape));
            }
        }
        // The characters of the spelling may be in a JSON string themselves: one level less.
        self.spell(output, from, &spelled, level.1);
        self.scratch = spelled;
    }

    /// Writes the escapes of a class, up to `to`. Their start, after the backslash.
    pub(crate) fn escape_class<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        (escapes, class): (JsonEscapes, &[(u32, u32)]),
        to: S,
    ) -> S {
        self.escape(output, &class_arcs(class, to), (escapes, Spelling::PLAIN))
    }

    /// The state after the backslash: one shared automaton for each class of characters. [`Id::NONE`] where none of them
    /// has an escape.
    fn any_escape<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        arcs: &[CharArc<S>],
        level: Level,
    ) -> S {
        let (escapes, outer) = level;
        let escaped = clipped(arcs, escapes.escaped());
        if escaped.is_empty() {
            return S::NONE;
        }
        // Inside another string the backslash is spelled, too, so no shared automaton fits.
        if !outer.is_plain() {
            return self.escape(output, &escaped, level);
        }
        let state = output.state();
        let mut by_target: Vec<CharArc<S>> = escaped.to_vec();
        by_target.sort_by_key(|arc| arc.to);
        let mut class: Vec<(u32, u32)> = Vec::with_capacity(by_target.len());
        for group in by_target.chunk_by(|left, right| left.to == right.to) {
            join_ranges(group, &mut class);
            let mut write = |output: &mut O, to: S| self.escape(output, &class_arcs(&class, to), level);
            if output.shared_escape(state, (escapes, &class), group[0].to, &mut write)
                == Sharing::NotSupported
            {
                return self.escape(output, &escaped, level);
            }
        }
        state
    }

    /// The state after the backslash.
    fn escape<O: CharOutput<State = S>>(&mut self, output: &mut O, arcs: &[CharArc<S>], level: Level) -> S {
        let (escapes, outer) = level;
        let state = output.state();
        // Eight letters for short escapes at most, and `u`.
        let mut spelled = [single('u', S::NONE); 9];
        let mut count = 0;
        for &(letter, character) in escapes.short() {
            let code = u32::from(character);
            // Arcs are sorted and disjoint, so at most one has the character.
            let index = arcs.partition_point(|arc| arc.hi < code);
            if let Some(arc) = arcs.get(index).filter(|arc| arc.lo <= code) {
                spelled[count] = single(letter, arc.to);
                count += 1;
            }
        }
        let numbered = clipped(arcs, escapes.numbered());
        let numbers = self.block(output, Block::Escape, 0, &numbered, level);
        if numbers != S::NONE {
            spelled[count] = single('u', numbers);
            count += 1;
        }
        spelled[..count].sort_unstable_by_key(|arc| arc.lo);
        self.spell(output, state, &spelled[..count], outer);
        state
    }

    /// The state that reads the rest of an escape whose character is in the block from `base` on, or
    /// [`Id::NONE`] if no arc does. Recursion is bounded by the length of an escape.
    fn block<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        block: Block,
        base: u32,
        arcs: &[CharArc<S>],
        level: Level,
    ) -> S {
        let last = base + block.size() - 1;
        let first = arcs.partition_point(|arc| arc.hi < base);
        let arcs = &arcs[first..];
        let Some(&arc) = arcs.first().filter(|arc| arc.lo <= last) else { return S::NONE };
        // Only a block inside one arc is the same everywhere.
        let key = arc.covers(base, last).then(|| (block, level.1.inside(level.0), arc.to));
        if let Some(&state) = key.and_then(|key| self.blocks.get(&key)) {
            return state;
        }
        let mut digits = [S::NONE; 16];
        match block {
            Block::Hex1 => self.targets(&mut digits, base, arcs),
            Block::Hex2 => self.fill(output, &mut digits, 0, (Block::Hex1, base), arcs, level),
            Block::Hex3 => self.fill(output, &mut digits, 0, (Block::Hex2, base), arcs, level),
            Block::Lead2 => self.fill(output, &mut digits, 0, (Block::Lead1, base), arcs, level),
            Block::Lead1 => self.fill(output, &mut digits, 0, (Block::Trail, base), arcs, level),
            // The digits after `\u`. `D` is apart: `\uD000` to `\uD7FF` are characters, and `\uD800` to
            // `\uDBFF` are the first halves of pairs.
            Block::Escape => {
                self.fill(output, &mut digits, 0, (Block::Hex3, 0), arcs, level);
                digits[0xD] = self.block(output, Block::AfterD, 0, arcs, level);
            }
            // Eight digits for characters, four for the blocks of the first halves, and none for the second
            // ones: a second half alone is no character.
            Block::AfterD => {
                self.fill(output, &mut digits[..8], 0, (Block::Hex2, 0xD000), arcs, level);
                self.fill(output, &mut digits[..12], 8, (Block::Lead2, 0x1_0000), arcs, level);
            }
            // The second half of a pair is `\uDC00` to `\uDFFF`, so its digit after `D` is one of the last
            // four.
            Block::Trail => self.fill(output, &mut digits, 12, (Block::Hex2, base), arcs, level),
        }
        let mut state = self.digits(output, &digits, level);
        // A trail is reached over `\uD` or `\ud`, which is written backwards from its state.
        if block == Block::Trail && state != S::NONE {
            for character in ['D', 'u', '\\'] {
                let next = output.state();
                let lower = character.to_ascii_lowercase();
                let arcs = [single(character, state), single(lower, state)];
                let has_one = lower == character || level.0.is_lower_case();
                self.spell(output, next, &arcs[usize::from(has_one)..], level.1);
                state = next;
            }
        }
        if let Some(key) = key {
            self.blocks.insert(key, state);
        }
        state
    }

    fn targets(&self, digits: &mut [S; 16], base: u32, arcs: &[CharArc<S>]) {
        for arc in arcs.iter().take_while(|arc| arc.lo <= base + 15) {
            let (from, to) = (arc.lo.max(base) - base, arc.hi.min(base + 15) - base);
            let place = |digit: u32| usize::from(low_byte(digit));
            digits[place(from)..=place(to)].fill(arc.to);
        }
    }

    /// Fills the digits from `skip` on with consecutive blocks. A run of blocks inside one arc is one look-up.
    fn fill<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        digits: &mut [S],
        skip: usize,
        (block, base): (Block, u32),
        arcs: &[CharArc<S>],
        level: Level,
    ) {
        let mut index = 0;
        // Blocks inside one arc have one state. It is kept here for the next digit, without a look-up.
        let mut known: Option<(usize, S)> = None;
        for (digit, place) in digits[skip..].iter_mut().zip(0..) {
            let lo = base + place * block.size();
            let hi = lo + block.size() - 1;
            while arcs.get(index).is_some_and(|arc| arc.hi < lo) {
                index += 1;
            }
            let Some(arc) = arcs.get(index) else { break };
            *digit = match known {
                Some((inside, state)) if inside == index && arc.covers(lo, hi) => state,
                _ => self.block(output, block, lo, &arcs[index..], level),
            };
            if arc.covers(lo, hi) {
                known = Some((index, *digit));
            }
        }
    }

    /// A state that reads one hexadecimal digit, or [`Id::NONE`] if no digit leads anywhere.
    fn digits<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        digits: &[S; 16],
        (escapes, outer): Level,
    ) -> S {
        let mut arcs = [single('0', S::NONE); 22];
        let mut count = 0;
        for (zero, range) in [('0', 0..10usize), ('A', 10..16), ('a', 10..16)] {
            if zero == 'A' && escapes.is_lower_case() {
                continue;
            }
            for (digit, code) in range.zip(u32::from(zero)..) {
                let to = digits[digit];
                if to == S::NONE {
                    continue;
                }
                match arcs[..count].last_mut() {
                    Some(arc) if arc.to == to && arc.hi + 1 == code => arc.hi = code,
                    _ => {
                        arcs[count] = CharArc { lo: code, hi: code, to };
                        count += 1;
                    }
                }
            }
        }
        if count == 0 {
            return S::NONE;
        }
        let state = output.state();
        self.spell(output, state, &arcs[..count], outer);
        state
    }
}

/// The parts of arcs that lie in a class.
fn clipped<'a, S: Id>(arcs: &'a [CharArc<S>], class: &[CharRange]) -> Cow<'a, [CharArc<S>]> {
    if let [('\0', char::MAX)] = class {
        return Cow::Borrowed(arcs);
    }
    let mut parts = Vec::with_capacity(arcs.len());
    for &(lo, hi) in class {
        let (lo, hi) = (u32::from(lo), u32::from(hi));
        let first = arcs.partition_point(|arc| arc.hi < lo);
        let inside = arcs[first..].iter().take_while(|arc| arc.lo <= hi);
        parts.extend(inside.map(|arc| CharArc { lo: arc.lo.max(lo), hi: arc.hi.min(hi), to: arc.to }));
    }
    Cow::Owned(parts)
}

fn class_arcs<S: Id>(class: &[(u32, u32)], to: S) -> Vec<CharArc<S>> {
    class.iter().map(|&(lo, hi)| CharArc { lo, hi, to }).collect()
}

fn single<S>(character: char, to: S) -> CharArc<S> {
    CharArc { lo: u32::from(character), hi: u32::from(character), to }
}
