//! From characters to bytes: UTF-8, and the spellings of JSON strings.
//!
//! An automaton over characters has arcs "any character from `lo` to `hi` leads to `to`". Spelling replaces
//! the arcs of one state by automata over bytes. The naive way writes one chain of bytes for each character;
//! any character at all would take a million of them. Three steps lead away from it:
//!
//! * Both UTF-8 and `\uXXXX` are positional: a lead byte or a hexadecimal digit stands for a *block* of
//!   consecutive code points. A block that one arc covers needs no look inside, so the work is bounded by the
//!   number of arc ends, not of characters ([`fan`], [`JsonSpeller::block`]).
//! * Such a uniform block is spelled once a target and shared by all who lead there. Sharing is always exact,
//!   since what a state accepts depends on its way on and not on how it was reached. "Any character of a JSON
//!   string" takes about twenty states.
//! * In a text that must differ from thirty others, hundreds of states read "this one character" or
//!   "anything else". The arcs to "anything else" go to a state that is shared by all whose wide arcs are
//!   equal, and the escapes of a class are a fragment that all places call
//!   ([`Escapes`](crate::escapes::Escapes)). Each such state costs two states and four edges, in place of the
//!   whole tree of escapes. Sets of ASCII names go further (`other_names`), and so do automata of many states
//!   (`text_fragment`).

use grammask_grammar_ir::hash::HashMap;

use crate::FragmentName;
use crate::draft::{Draft, Label};
use crate::escapes::{Escapes, SHORT_ESCAPES};

/// Reads one code point out of an inclusive range. A range may run over the surrogates, which are never
/// spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CharArc {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    pub(crate) to: u32,
}

impl CharArc {
    fn covers(&self, lo: u32, hi: u32) -> bool {
        self.lo <= lo && hi <= self.hi
    }
}

/// An automaton over characters that is being written.
pub(crate) trait CharOutput {
    /// A new state.
    fn state(&mut self) -> u32;
    /// Adds arcs, sorted and disjoint, to a state.
    fn arcs(&mut self, from: u32, arcs: &[CharArc]);
    /// Adds an arc that reads nothing.
    fn epsilon(&mut self, from: u32, to: u32);
    /// Lets `from` read the escapes of a class of characters, the backslash being read, by way of an automaton
    /// that all places share, if the output has such automata: ranges of code points, sorted and not touching.
    /// `write` writes such an automaton, up to a given end, and returns its start.
    fn shared_escape(
        &mut self,
        from: u32,
        class: &[(u32, u32)],
        to: u32,
        write: &mut dyn FnMut(&mut Self, u32) -> u32,
    ) -> Sharing;
}

/// Whether an output could share an automaton.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    Shared,
    NotSupported,
}

/// Uniform blocks of UTF-8 continuation bytes that were spelled before: (target, shape) to state. Valid as
/// long as no state is added that goes on differently, that is, for one draft.
pub(crate) type Utf8Cache = HashMap<u64, u32>;

/// Spells characters as UTF-8 into a draft.
pub(crate) struct Utf8Output<'d> {
    pub(crate) draft: &'d mut Draft,
    pub(crate) cache: &'d mut Utf8Cache,
    pub(crate) escapes: &'d mut Escapes,
}

impl CharOutput for Utf8Output<'_> {
    fn state(&mut self) -> u32 {
        self.draft.state()
    }

    fn arcs(&mut self, from: u32, arcs: &[CharArc]) {
        for arc in arcs {
            if arc.lo > 0x7F {
                break;
            }
            self.draft.bytes(from, arc.lo as u8, arc.hi.min(0x7F) as u8, arc.to);
        }
        if arcs.last().is_some_and(|arc| arc.hi > 0x7F) {
            self.wide_arcs(from, arcs);
        }
    }

    fn epsilon(&mut self, from: u32, to: u32) {
        self.draft.epsilon(from, to);
    }

    fn shared_escape(
        &mut self,
        from: u32,
        class: &[(u32, u32)],
        to: u32,
        write: &mut dyn FnMut(&mut Self, u32) -> u32,
    ) -> Sharing {
        let fragment = self.class_escapes(class, write);
        self.draft.edge(from, Label::call(fragment), to);
        Sharing::Shared
    }
}

impl Utf8Output<'_> {
    /// Adds arcs beyond ASCII, sorted and disjoint, to a state.
    pub(crate) fn wide_arcs(&mut self, from: u32, arcs: &[CharArc]) {
        for lead in &LEADS {
            fan(self, from, *lead, arcs);
        }
    }

    /// The fragment of the escapes of a class; `write` writes it if it is new.
    fn class_escapes(&mut self, class: &[(u32, u32)], write: impl FnOnce(&mut Self, u32) -> u32) -> u32 {
        if let [(lo, hi)] = *class {
            if (lo, hi) == (0, 0x10_FFFF) {
                return self.escapes.any(self.draft);
            }
            if let Some(character) = char::from_u32(lo).filter(|_| lo == hi) {
                return self.escapes.of(self.draft, character);
            }
        }
        if let Some(fragment) = self.escapes.of_class(class) {
            return fragment;
        }
        let fragment = self.fragment("escape of a class", |output, _, end| write(output, end));
        self.escapes.keep_class(class, fragment);
        fragment
    }

    /// Adds a fragment without leaving the current one. `write` gets a start and the end, and returns the
    /// start that counts.
    pub(crate) fn fragment(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut Self, u32, u32) -> u32,
    ) -> u32 {
        let caller = self.draft.current;
        let rule = self.draft.fragments[caller as usize].rule;
        let fragment = self.draft.fragment(rule, None);
        let start = self.draft.fragments[fragment as usize].start;
        let end = self.draft.state();
        self.draft.states[end as usize].is_final = true;
        let start = write(self, start, end);
        let entry = &mut self.draft.fragments[fragment as usize];
        (entry.start, entry.name) = (start, Some(FragmentName::fixed(name)));
        self.draft.current = caller;
        fragment
    }
}

/// The code points `lo..=hi`, cut into blocks of `unit` that are told apart by one byte, `byte` for the first.
#[derive(Clone, Copy)]
struct Fan {
    lo: u32,
    hi: u32,
    unit: u32,
    byte: u8,
}

/// The lead bytes of UTF-8 (Unicode, table 3-7). Those that allow fewer continuation bytes stand alone.
const LEADS: [Fan; 8] = [
    Fan { lo: 0x80, hi: 0x7FF, unit: 0x40, byte: 0xC2 },
    Fan { lo: 0x800, hi: 0xFFF, unit: 0x800, byte: 0xE0 },
    Fan { lo: 0x1000, hi: 0xCFFF, unit: 0x1000, byte: 0xE1 },
    Fan { lo: 0xD000, hi: 0xD7FF, unit: 0x800, byte: 0xED },
    Fan { lo: 0xE000, hi: 0xFFFF, unit: 0x1000, byte: 0xEE },
    Fan { lo: 0x1_0000, hi: 0x3_FFFF, unit: 0x3_0000, byte: 0xF0 },
    Fan { lo: 0x4_0000, hi: 0xF_FFFF, unit: 0x4_0000, byte: 0xF1 },
    Fan { lo: 0x10_0000, hi: 0x10_FFFF, unit: 0x1_0000, byte: 0xF4 },
];

impl Fan {
    /// How the block of this fan that begins at `lo` goes on.
    fn inside(self, lo: u32) -> Self {
        let hi = lo + self.unit - 1;
        let unit = match self.unit {
            0x40 => 1,
            0x800 | 0x1000 => 0x40,
            _ => 0x1000,
        };
        Self { lo, hi, unit, byte: 0x80 | (lo / unit % 0x40) as u8 }
    }

    /// A number for all fans of the same bytes and depth.
    fn shape(self) -> u64 {
        let last = u64::from(self.byte) + u64::from((self.hi - self.lo) / self.unit);
        u64::from(self.unit) << 16 | u64::from(self.byte) << 8 | last
    }
}

/// Adds the edges of one byte position. Recursion ends after the four bytes of a character.
fn fan(output: &mut Utf8Output<'_>, from: u32, this: Fan, arcs: &[CharArc]) {
    let mut index = arcs.partition_point(|arc| arc.hi < this.lo);
    let mut block = this.lo;
    while let Some(&arc) = arcs.get(index).filter(|arc| arc.lo <= this.hi) {
        if arc.hi < block {
            index += 1;
            continue;
        }
        if arc.lo > block {
            block += (arc.lo - block) / this.unit * this.unit;
        }
        let byte = this.byte + ((block - this.lo) / this.unit) as u8;
        if arc.covers(block, block + this.unit - 1) {
            let blocks = (arc.hi.min(this.hi) + 1 - block) / this.unit;
            let target = if this.unit == 1 { arc.to } else { uniform(output, this.inside(block), arc.to) };
            output.draft.bytes(from, byte, byte + (blocks - 1) as u8, target);
            block += blocks * this.unit;
        } else {
            let target = output.draft.state();
            fan(output, target, this.inside(block), &arcs[index..]);
            output.draft.bytes(from, byte, byte, target);
            block += this.unit;
        }
        if block > this.hi {
            break;
        }
    }
}

/// The state in which every rest of a character leads to `target`.
fn uniform(output: &mut Utf8Output<'_>, this: Fan, target: u32) -> u32 {
    let key = u64::from(target) << 32 | this.shape();
    if let Some(&state) = output.cache.get(&key) {
        return state;
    }
    let state = output.draft.state();
    output.cache.insert(key, state);
    fan(output, state, this, &[CharArc { lo: this.lo, hi: this.hi, to: target }]);
    state
}

/// Spells characters as the inside of JSON strings, into an automaton over characters.
///
/// Nested spelling (a JSON string inside a JSON string) is a matter of `depth`.
#[derive(Default)]
pub(crate) struct JsonSpeller {
    /// Uniform blocks: (shape, depth, target) to state.
    blocks: HashMap<(Block, u32, u32), u32>,
    /// States that hold nothing but wide arcs, by depth and arcs.
    wide: HashMap<(u32, Vec<ArcKey>), u32>,
    scratch: Vec<CharArc>,
}

/// An arc as a key.
type ArcKey = (u32, u32, u32);

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
    SubProgram,
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
            Self::SubProgram | Self::AfterD => 0x11_0000,
            Self::Lead2 => 0x4_0000,
            Self::Lead1 => 0x4000,
            Self::Trail => 0x400,
        }
    }
}

/// What JSON allows to stand for itself in a string (RFC 8259, section 7).
pub(crate) const UNESCAPED: [(u32, u32); 3] = [(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10_FFFF)];

const NO_STATE: u32 = u32::MAX;

impl JsonSpeller {
    /// Adds `arcs`, sorted and disjoint, to a state, spelled as JSON `depth` times over.
    pub(crate) fn spell<O: CharOutput>(&mut self, output: &mut O, from: u32, arcs: &[CharArc], depth: u32) {
        if depth == 0 {
            return output.arcs(from, arcs);
        }
        let Some(widest) = arcs.iter().max_by_key(|arc| arc.hi - arc.lo) else { return };
        let is_wide = widest.hi - widest.lo >= WIDE;
        if !is_wide || arcs.iter().all(|arc| arc.to == widest.to) {
            return self.spell_here(output, from, arcs, depth);
        }
        let (wide, others): (Vec<CharArc>, Vec<CharArc>) = arcs.iter().partition(|arc| arc.to == widest.to);
        let key = (depth, wide.iter().map(|arc| (arc.lo, arc.hi, arc.to)).collect());
        let state = match self.wide.get(&key) {
            Some(&state) => state,
            None => {
                let state = output.state();
                self.spell_here(output, state, &wide, depth);
                self.wide.insert(key, state);
                state
            }
        };
        output.epsilon(from, state);
        self.spell_here(output, from, &others, depth);
    }

    fn spell_here<O: CharOutput>(&mut self, output: &mut O, from: u32, arcs: &[CharArc], depth: u32) {
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

    /// The fragment of the escapes of a class.
    pub(crate) fn class_escapes(&mut self, output: &mut Utf8Output<'_>, class: &[(u32, u32)]) -> u32 {
        output.class_escapes(class, |output, end| self.escape(output, &class_arcs(class, end), 1))
    }

    /// The state after the backslash: one shared automaton for each class of characters.
    fn any_escape<O: CharOutput>(&mut self, output: &mut O, arcs: &[CharArc], depth: u32) -> u32 {
        if depth > 1 {
            return self.escape(output, arcs, depth);
        }
        let state = output.state();
        let mut by_target: Vec<CharArc> = arcs.to_vec();
        by_target.sort_by_key(|arc| arc.to);
        let mut class: Vec<(u32, u32)> = Vec::with_capacity(arcs.len());
        for group in by_target.chunk_by(|left, right| left.to == right.to) {
            join_ranges(group, &mut class);
            let mut write = |output: &mut O, to: u32| self.escape(output, &class_arcs(&class, to), depth);
            if output.shared_escape(state, &class, group[0].to, &mut write) == Sharing::NotSupported {
                return self.escape(output, arcs, depth);
            }
        }
        state
    }

    /// The state after the backslash.
    fn escape<O: CharOutput>(&mut self, output: &mut O, arcs: &[CharArc], depth: u32) -> u32 {
        let state = output.state();
        let mut spelled = [single('u', 0); 9];
        let mut count = 0;
        for (letter, code) in SHORT_ESCAPES {
            let code = u32::from(code);
            let index = arcs.partition_point(|arc| arc.hi < code);
            if let Some(arc) = arcs.get(index).filter(|arc| arc.lo <= code) {
                spelled[count] = single(letter, arc.to);
                count += 1;
            }
        }
        spelled[count] = single('u', self.block(output, Block::SubProgram, 0, arcs, depth));
        self.spell(output, state, &spelled[..=count], depth - 1);
        state
    }

    /// The state that reads the rest of an escape whose character lies in the block from `base` on, or
    /// `NO_STATE` if no arc does. Recursion is bounded by the length of an escape.
    fn block<O: CharOutput>(
        &mut self,
        output: &mut O,
        block: Block,
        base: u32,
        arcs: &[CharArc],
        depth: u32,
    ) -> u32 {
        let last = base + block.size() - 1;
        let first = arcs.partition_point(|arc| arc.hi < base);
        let arcs = &arcs[first..];
        let Some(&arc) = arcs.first().filter(|arc| arc.lo <= last) else { return NO_STATE };
        let key = arc.covers(base, last).then_some((block, depth, arc.to));
        if let Some(&state) = key.and_then(|key| self.blocks.get(&key)) {
            return state;
        }
        let mut digits = [NO_STATE; 16];
        match block {
            Block::Hex1 => self.targets(&mut digits, base, arcs),
            Block::Hex2 => self.fill(output, &mut digits, 0, (Block::Hex1, base), arcs, depth),
            Block::Hex3 => self.fill(output, &mut digits, 0, (Block::Hex2, base), arcs, depth),
            Block::Lead2 => self.fill(output, &mut digits, 0, (Block::Lead1, base), arcs, depth),
            Block::Lead1 => self.fill(output, &mut digits, 0, (Block::Trail, base), arcs, depth),
            Block::SubProgram => {
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
        if block == Block::Trail && state != NO_STATE {
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

    fn targets(&self, digits: &mut [u32; 16], base: u32, arcs: &[CharArc]) {
        for arc in arcs.iter().take_while(|arc| arc.lo <= base + 15) {
            let (from, to) = (arc.lo.max(base) - base, arc.hi.min(base + 15) - base);
            digits[from as usize..=to as usize].fill(arc.to);
        }
    }

    /// Fills the digits from `skip` on with consecutive blocks. A run of blocks inside one arc is one look-up.
    fn fill<O: CharOutput>(
        &mut self,
        output: &mut O,
        digits: &mut [u32],
        skip: usize,
        (block, base): (Block, u32),
        arcs: &[CharArc],
        depth: u32,
    ) {
        let mut index = 0;
        let mut known: Option<(usize, u32)> = None;
        for (place, digit) in digits[skip..].iter_mut().enumerate() {
            let lo = base + place as u32 * block.size();
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

    /// A state that reads one hexadecimal digit, in either case, or `NO_STATE` if no digit leads anywhere.
    fn digits<O: CharOutput>(&mut self, output: &mut O, digits: &[u32; 16], depth: u32) -> u32 {
        let mut arcs = [single('0', NO_STATE); 22];
        let mut count = 0;
        for (zero, range) in [('0', 0..10usize), ('A', 10..16), ('a', 10..16)] {
            let start = range.start;
            for digit in range {
                let to = digits[digit];
                if to == NO_STATE {
                    continue;
                }
                let code = u32::from(zero) + (digit - start) as u32;
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
            return NO_STATE;
        }
        let state = output.state();
        self.spell(output, state, &arcs[..count], depth - 1);
        state
    }
}

fn class_arcs(class: &[(u32, u32)], to: u32) -> Vec<CharArc> {
    class.iter().map(|&(lo, hi)| CharArc { lo, hi, to }).collect()
}

/// The ranges of arcs, those that touch joined.
pub(crate) fn join_ranges(arcs: &[CharArc], ranges: &mut Vec<(u32, u32)>) {
    ranges.clear();
    for arc in arcs {
        match ranges.last_mut() {
            // Nothing stands between the code points on either side of the surrogates.
            Some(last) if last.1 + 1 == arc.lo || (last.1, arc.lo) == (0xD7FF, 0xE000) => last.1 = arc.hi,
            _ => ranges.push((arc.lo, arc.hi)),
        }
    }
}

fn single(character: char, to: u32) -> CharArc {
    CharArc { lo: u32::from(character), hi: u32::from(character), to }
}
