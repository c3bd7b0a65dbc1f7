//! From characters to bytes: UTF-8, and the spellings of JSON strings.
//!
//! An automaton over characters has arcs "any character from `lo` to `hi` leads to `to`". Encoding replaces
//! the arcs of one state by automata over bytes. The naive way writes one chain of bytes for each character;
//! any character at all would take a million of them. Three steps lead away from it:
//!
//! * Both UTF-8 and `\uXXXX` are positional: a lead byte or a hexadecimal digit stands for a *block* of
//!   consecutive code points. A block that one arc covers needs no look inside, so the work is bounded by the
//!   number of arc ends, not of characters ([`fan`], [`JsonEncoder::block`]).
//! * Such a uniform block is spelled once a target and shared by all states that lead there. Sharing is
//!   always exact, since what a state accepts depends on its way on and not on how it was reached. "Any
//!   character of a JSON string" takes about twenty states.
//! * In a text that must differ from thirty others, hundreds of states read "this one character" or "anything
//!   else". The arcs to "anything else" go to a state that is shared by all states with equal wide arcs. The
//!   escapes of a class are a fragment that all places call ([`Escapes`](crate::encoding::escapes::Escapes)).
//!   Each such state costs two states and four edges, instead of the whole tree of escapes. Sets of ASCII
//!   names go further (`other_names`), and so do automata of many states (`text_fragment`).

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{CharRange, JsonEscapes};

use crate::draft::automata::{Draft, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::encoding::escapes::Escapes;
use crate::ids::{Id, low_byte};
use crate::program::fragment_name::FragmentName;
use crate::text::chars::{CharArc, CharOutput, Sharing};
use crate::text::json_encoder::JsonEncoder;
use crate::utf8::{BLOCK_SIZES, CODE_POINTS, SEQUENCES};

/// Uniform blocks of UTF-8 continuation bytes that were spelled before: (target, shape) to state. Valid as
/// long as no state is added that goes on differently, that is, for one draft.
pub(crate) type Utf8Cache = HashMap<u64, DraftStateId>;

/// Spells characters as UTF-8 into a draft.
pub(crate) struct Utf8Encoder<'d> {
    pub(crate) draft: &'d mut Draft,
    pub(crate) cache: &'d mut Utf8Cache,
    pub(crate) escapes: &'d mut Escapes,
}

impl CharOutput for Utf8Encoder<'_> {
    type State = DraftStateId;

    fn state(&mut self) -> DraftStateId {
        self.draft.state()
    }

    fn arcs(&mut self, from: DraftStateId, arcs: &[CharArc<DraftStateId>]) {
        for arc in arcs {
            if arc.lo > 0x7F {
                break;
            }
            self.draft.bytes(from, low_byte(arc.lo), low_byte(arc.hi.min(0x7F)), arc.to);
        }
        if arcs.last().is_some_and(|arc| arc.hi > 0x7F) {
            self.wide_arcs(from, arcs);
        }
    }

    fn epsilon(&mut self, from: DraftStateId, to: DraftStateId) {
        self.draft.epsilon(from, to);
    }

    fn shared_escape(
        &mut self,
        from: DraftStateId,
        class: (JsonEscapes, &[(u32, u32)]),
        to: DraftStateId,
        write: &mut dyn FnMut(&mut Self, DraftStateId) -> DraftStateId,
    ) -> Sharing {
        let fragment = self.class_escapes(class, write);
        self.draft.edge(from, Label::call(fragment), to);
        Sharing::Shared
    }
}

impl Utf8Encoder<'_> {
    /// Adds arcs beyond ASCII, sorted and disjoint, to a state.
    pub(crate) fn wide_arcs(&mut self, from: DraftStateId, arcs: &[CharArc<DraftStateId>]) {
        for lead in &LEADS {
            fan(self, from, *lead, arcs);
        }
    }

    /// The fragment of the escapes of a class, all of which have one; `write` writes it if it is new.
    fn class_escapes(
        &mut self,
        class: (JsonEscapes, &[(u32, u32)]),
        write: impl FnOnce(&mut Self, DraftStateId) -> DraftStateId,
    ) -> DraftFragmentId {
        let (escapes, ranges) = class;
        // From the most common class to the general one: everything, one character, a known class.
        if is_class(ranges, escapes.escaped())
            && let Some(fragment) = self.escapes.any(self.draft, escapes)
        {
            return fragment;
        }
        if let ([(lo, hi)], JsonEscapes::Any) = (ranges, escapes)
            && let Some(character) = char::from_u32(*lo).filter(|_| lo == hi)
        {
            return self.escapes.of(self.draft, character);
        }
        if let Some(fragment) = self.escapes.of_class(class) {
            return fragment;
        }
        let fragment = self.fragment("escape of a class", |output, _, end| write(output, end));
        self.escapes.keep_class(class, fragment);
        fragment
    }

    /// The fragment of the escapes of a class in JSON strings; [`Id::NONE`] where none of it has one.
    pub(crate) fn json_class_escapes(
        &mut self,
        json: &mut JsonEncoder<DraftStateId>,
        (escapes, class): (JsonEscapes, &[(u32, u32)]),
    ) -> DraftFragmentId {
        let mut escaped = Vec::new();
        for (lo, hi) in escapes.escaped().iter().map(|&(lo, hi)| (u32::from(lo), u32::from(hi))) {
            let inside = class.iter().filter(|range| range.0 <= hi && range.1 >= lo);
            escaped.extend(inside.map(|range| (range.0.max(lo), range.1.min(hi))));
        }
        if escaped.is_empty() {
            return DraftFragmentId::NONE;
        }
        let escaped = (escapes, escaped.as_slice());
        self.class_escapes(escaped, |output, end| json.escape_class(output, escaped, end))
    }

    /// Adds a fragment without leaving the current one. `write` gets a start and the end, and returns the
    /// start that counts.
    pub(crate) fn fragment(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut Self, DraftStateId, DraftStateId) -> DraftStateId,
    ) -> DraftFragmentId {
        let caller = self.draft.current;
        let rule = self.draft.fragments[caller].rule;
        let fragment = self.draft.fragment(rule, None);
        let start = self.draft.fragments[fragment].start;
        let end = self.draft.state();
        self.draft.states[end].make_final();
        let start = write(self, start, end);
        let entry = &mut self.draft.fragments[fragment];
        (entry.start, entry.name) = (start, Some(FragmentName::fixed(name)));
        // New states belong to the current fragment, so it is put back before anything else is written.
        self.draft.current = caller;
        fragment
    }
}

/// Whether code points are those of a class.
fn is_class(ranges: &[(u32, u32)], class: &[CharRange]) -> bool {
    ranges.iter().copied().eq(class.iter().map(|&(lo, hi)| (u32::from(lo), u32::from(hi))))
}

/// The code points `lo..=hi`, cut into blocks of `unit` that are told apart by one byte, `byte` for the first.
#[derive(Clone, Copy)]
struct Fan {
    lo: u32,
    hi: u32,
    unit: u32,
    byte: u8,
}

/// The lead bytes of UTF-8. Those that allow fewer continuation bytes have a fan of their own.
const LEADS: [Fan; 8] = {
    let mut leads = [Fan { lo: 0, hi: 0, unit: 0, byte: 0 }; 8];
    let mut row = 0;
    while row < leads.len() {
        let (lo, hi) = CODE_POINTS[row];
        leads[row] = Fan { lo, hi, unit: BLOCK_SIZES[row], byte: SEQUENCES[row][0].0 };
        row += 1;
    }
    leads
};

impl Fan {
    /// How the block of this fan that begins at `lo` goes on.
    fn inside(self, lo: u32) -> Self {
        let hi = lo + self.unit - 1;
        let unit = match self.unit {
            0x40 => 1,
            0x800 | 0x1000 => 0x40,
            _ => 0x1000,
        };
        Self { lo, hi, unit, byte: 0x80 | low_byte(lo / unit % 0x40) }
    }

    /// A number for all fans of the same bytes and depth.
    fn shape(self) -> u64 {
        let last = u64::from(self.byte) + u64::from((self.hi - self.lo) / self.unit);
        u64::from(self.unit) << 16 | u64::from(self.byte) << 8 | last
    }
}

/// Adds the edges of one byte position. Recursion ends after the four bytes of a character.
fn fan(output: &mut Utf8Encoder<'_>, from: DraftStateId, this: Fan, arcs: &[CharArc<DraftStateId>]) {
    let mut index = arcs.partition_point(|arc| arc.hi < this.lo);
    let mut block = this.lo;
    while let Some(&arc) = arcs.get(index).filter(|arc| arc.lo <= this.hi) {
        if arc.hi < block {
            index += 1;
            continue;
        }
        if arc.lo > block {
            // Blocks without an arc are skipped; the arc begins in the block that is next.
            block += (arc.lo - block) / this.unit * this.unit;
        }
        let byte = this.byte + low_byte((block - this.lo) / this.unit);
        if arc.covers(block, block + this.unit - 1) {
            // As many whole blocks as the arc covers become one edge, because the rest of a character is the
            // same in all of them.
            let blocks = (arc.hi.min(this.hi) + 1 - block) / this.unit;
            let target = if this.unit == 1 { arc.to } else { uniform(output, this.inside(block), arc.to) };
            output.draft.bytes(from, byte, byte + low_byte(blocks - 1), target);
            block += blocks * this.unit;
        } else {
            let target = output.draft.state();
            // The arc ends inside this block, so the next byte decides.
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
fn uniform(output: &mut Utf8Encoder<'_>, this: Fan, target: DraftStateId) -> DraftStateId {
    let key = u64::from(target.raw()) << 32 | this.shape();
    if let Some(&state) = output.cache.get(&key) {
        return state;
    }
    let state = output.draft.state();
    output.cache.insert(key, state);
    fan(output, state, this, &[CharArc { lo: this.lo, hi: this.hi, to: target }]);
    state
}
