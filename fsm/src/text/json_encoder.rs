//! From characters to the spellings of JSON strings, over any output that has arcs of characters.
//!
//! A character inside a JSON string is written as itself, as a short escape or as `\\uXXXX`. An escape is positional:
//! each hexadecimal digit stands for a *block* of consecutive code points. A block that one arc covers needs no look
//! inside, and a uniform block is written once for each target. The doc of
//! [`utf8_encoder`](crate::encoding::utf8_encoder) explains the steps.

use grammask_grammar_ir::hash::HashMap;

use super::chars::{CharArc, CharOutput, Sharing, join_ranges};
use crate::ids::{Id, low_byte};

/// The letters of short escapes, in order, and the characters that they stand for.
pub(crate) const SHORT_ESCAPES: [(u8, u8); 8] = [
    (b'"', 0x22),
    (b'/', 0x2F),
    (b'\\', 0x5C),
    (b'b', 0x08),
    (b'f', 0x0C),
    (b'n', 0x0A),
    (b'r', 0x0D),
    (b't', 0x09),
];

/// Spells characters as the inside of JSON strings, into an automaton over characters.
///
/// Nested spelling (a JSON string inside a JSON string) is a matter of `depth`.
pub(crate) struct JsonEncoder<S> {
    /// Uniform blocks: (shape, depth, target) to state.
    blocks: HashMap<(Block, u32, S), S>,
    /// States that hold nothing but wide arcs, by depth and arcs.
    wide: HashMap<(u32, Vec<CharArc<S>>), S>,
    scratch: Vec<CharArc<S>>,
}

impl<S> Default for JsonEncoder<S> {
    fn default() -> Self {
        Self { blocks: HashMap::default(), wide: HashMap::default(), scratch: Vec::new() }
    }
}

/// Arcs of more characters than this lead to "everything else".
const WIDE: u32 = 64;

/// Spellings nested deeper than this are refused: each level multiplies the size.
pub(crate) const MAX_JSON_DEPTH: u32 = 4;

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

/// The characters that need no escape in a JSON string (RFC 8259, section 7).
pub(crate) const UNESCAPED: [(u32, u32); 3] = [(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10_FFFF)];

impl<S: Id> JsonEncoder<S> {
    /// Adds `arcs`, sorted and disjoint, to a state, spelled as JSON `depth` times over.
    pub(crate) fn spell<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        from: S,
        arcs: &[CharArc<S>],
        depth: u32,
    ) {
        if depth == 0 {
            return output.arcs(from, arcs);
        }
        let Some(widest) = arcs.iter().max_by_key(|arc| arc.hi - arc.lo) else { return };
        let is_wide = widest.hi - widest.lo >= WIDE;
        if !is_wide || arcs.iter().all(|arc| arc.to == widest.to) {
            return self.spell_here(output, from, arcs, depth);
        }
        let (wide, others): (Vec<CharArc<S>>, Vec<CharArc<S>>) =
            arcs.iter().partition(|arc| arc.to == widest.to);
        let key = (depth, wide);
        let state = match self.wide.get(&key) {
            Some(&state) => state,
            None => {
                let state = output.state();
                self.spell_here(output, state, &key.1, depth);
                self.wide.insert(key, state);
                state
            }
        };
        output.epsilon(from, state);
        self.spell_here(output, from, &others, depth);
    }

    fn spell_here<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        from: S,
        arcs: &[CharArc<S>],
        depth: u32,
    ) {
        let escape = self.any_escape(output, arcs, depth);
        let mut spelled = std::mem::take(&mut self.scratch);
        spelled.clear();
        for (lo, hi) in UNESCAPED {
            let first = arcs.partition_point(|arc| arc.hi < lo);
            spelled.extend(arcs[first..].iter().take_while(|arc| arc.lo <= hi).map(|arc| CharArc {
                lo: arc.lo.max(lo),
                hi: arc.hi.min(hi),
                to: arc.to,
            }));
            if lo == 0x23 {
                spelled.push(single('\\', escape));
            }
        }
        self.spell(output, from, &spelled, depth - 1);
        self.scratch = spelled;
    }

    /// Writes the escapes of a class, up to `to`. Their start, after the backslash.
    pub(crate) fn escape_class<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        class: &[(u32, u32)],
        to: S,
    ) -> S {
        self.escape(output, &class_arcs(class, to), 1)
    }

    /// The state after the backslash: one shared automaton for each class of characters.
    fn any_escape<O: CharOutput<State = S>>(&mut self, output: &mut O, arcs: &[CharArc<S>], depth: u32) -> S {
        if depth > 1 {
            return self.escape(output, arcs, depth);
        }
        let state = output.state();
        let mut by_target: Vec<CharArc<S>> = arcs.to_vec();
        by_target.sort_by_key(|arc| arc.to);
        let mut class: Vec<(u32, u32)> = Vec::with_capacity(arcs.len());
        for group in by_target.chunk_by(|left, right| left.to == right.to) {
            join_ranges(group, &mut class);
            let mut write = |output: &mut O, to: S| self.escape(output, &class_arcs(&class, to), depth);
            if output.shared_escape(state, &class, group[0].to, &mut write) == Sharing::NotSupported {
                return self.escape(output, arcs, depth);
            }
        }
        state
    }

    /// The state after the backslash.
    fn escape<O: CharOutput<State = S>>(&mut self, output: &mut O, arcs: &[CharArc<S>], depth: u32) -> S {
        let state = output.state();
        let mut spelled = [single('u', S::NONE); 9];
        let mut count = 0;
        for (letter, code) in SHORT_ESCAPES {
            let code = u32::from(code);
            let index = arcs.partition_point(|arc| arc.hi < code);
            if let Some(arc) = arcs.get(index).filter(|arc| arc.lo <= code) {
                spelled[count] = single(char::from(letter), arc.to);
                count += 1;
            }
        }
        spelled[count] = single('u', self.block(output, Block::Escape, 0, arcs, depth));
        self.spell(output, state, &spelled[..=count], depth - 1);
        state
    }

    /// The state that reads the rest of an escape whose character lies in the block from `base` on, or
    /// [`Id::NONE`] if no arc does. Recursion is bounded by the length of an escape.
    fn block<O: CharOutput<State = S>>(
        &mut self,
        output: &mut O,
        block: Block,
        base: u32,
        arcs: &[CharArc<S>],
        depth: u32,
    ) -> S {
        let last = base + block.size() - 1;
        let first = arcs.partition_point(|arc| arc.hi < base);
        let arcs = &arcs[first..];
        let Some(&arc) = arcs.first().filter(|arc| arc.lo <= last) else { return S::NONE };
        let key = arc.covers(base, last).then_some((block, depth, arc.to));
        if let Some(&state) = key.and_then(|key| self.blocks.get(&key)) {
            return state;
        }
        let mut digits = [S::NONE; 16];
        match block {
            Block::Hex1 => self.targets(&mut digits, base, arcs),
            Block::Hex2 => self.fill(output, &mut digits, 0, (Block::Hex1, base), arcs, depth),
            Block::Hex3 => self.fill(output, &mut digits, 0, (Block::Hex2, base), arcs, depth),
            Block::Lead2 => self.fill(output, &mut digits, 0, (Block::Lead1, base), arcs, depth),
            Block::Lead1 => self.fill(output, &mut digits, 0, (Block::Trail, base), arcs, depth),
            Block::Escape => {
                self.fill(output, &mut digits, 0, (Block::Hex3, 0), arcs, depth);
                digits[0xD] = self.block(output, Block::AfterD, 0, arcs, depth);
            }
            Block::AfterD => {
                self.fill(output, &mut digits[..8], 0, (Block::Hex2, 0xD000), arcs, depth);
                self.fill(output, &mut digits[..12], 8, (Block::Lead2, 0x1_0000), arcs, depth);
            }
            Block::Trail => self.fill(output, &mut digits, 12, (Block::Hex2, base), arcs, depth),
        }
        let mut state = self.digits(output, &digits, depth);
        if block == Block::Trail && state != S::NONE {
            for character in ['D', 'u', '\\'] {
                let next = output.state();
                let lower = character.to_ascii_lowercase();
                let arcs = [single(character, state), single(lower, state)];
                let distinct = if lower == character { &arcs[..1] } else { &arcs[..] };
                self.spell(output, next, distinct, depth - 1);
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
        depth: u32,
    ) {
        let mut index = 0;
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
                _ => self.block(output, block, lo, &arcs[index..], depth),
            };
            if arc.covers(lo, hi) {
                known = Some((index, *digit));
            }
        }
    }

    /// A state that reads one hexadecimal digit, in either case, or [`Id::NONE`] if no digit leads anywhere.
    fn digits<O: CharOutput<State = S>>(&mut self, output: &mut O, digits: &[S; 16], depth: u32) -> S {
        let mut arcs = [single('0', S::NONE); 22];
        let mut count = 0;
        for (zero, range) in [('0', 0..10usize), ('A', 10..16), ('a', 10..16)] {
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
        self.spell(output, state, &arcs[..count], depth - 1);
        state
    }
}

fn class_arcs<S: Id>(class: &[(u32, u32)], to: S) -> Vec<CharArc<S>> {
    class.iter().map(|&(lo, hi)| CharArc { lo, hi, to }).collect()
}

fn single<S>(character: char, to: S) -> CharArc<S> {
    CharArc { lo: u32::from(character), hi: u32::from(character), to }
}
