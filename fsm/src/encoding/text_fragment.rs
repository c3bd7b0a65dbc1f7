//! Large automata over characters, inside a JSON string.
//!
//! A pattern under a bound on its length has a state for each pair of a place in the pattern and a count:
//! tens of thousands. Spelled one by one, each of them gets the trees of UTF-8 and of escapes of all its
//! classes, some forty states. But the classes are a handful. So each class is spelled once, as two fragments
//! that all states call: its characters beyond ASCII and its escapes. What is left of a state are its edges
//! over ASCII, and a second state behind the backslash.

use grammask_grammar_ir::hash::HashMap;
use smallvec::SmallVec;

use crate::draft::prebuilt::{Ending, Prebuilt};
use crate::encoding::escapes::prebuilt_fragment;
use crate::encoding::utf8_encoder::Utf8Encoder;
use crate::ids::NONE;
use crate::text::alphabet::CompressedAlphabet;
use crate::text::chars::CharArc;
use crate::text::json_encoder::{JsonEncoder, UNESCAPED};

/// The classes of characters met so far, with how they are spelled.
#[derive(Default)]
pub(crate) struct Classes {
    numbers: HashMap<Vec<(u32, u32)>, u32>,
    spellings: Vec<ClassFragments>,
    /// Of the classes of a state's ways on, in their order: there are tens of thousands of states, and a dozen of these.
    layouts: Vec<Layout>,
    layout_numbers: HashMap<SmallVec<[u32; 8]>, u32>,
}

/// The edges of a state, each with the number of the way that it leads.
#[derive(Default)]
struct Layout {
    /// In their order.
    bytes: Vec<(u8, u8, u32)>,
    /// The fragments of characters beyond ASCII, and of escapes.
    wide: Vec<(u32, u32)>,
    escapes: Vec<(u32, u32)>,
}

struct ClassFragments {
    /// What stands for itself in ASCII.
    ascii: Vec<(u8, u8)>,
    /// The fragment of the characters beyond ASCII, or `NONE`.
    wide: u32,
    /// The fragment of the escapes.
    escapes: u32,
}

/// Writes the automaton, which is trimmed and not empty, as a fragment of its own.
pub(crate) fn write_text_fragment(
    automaton: &CompressedAlphabet,
    classes: &mut Classes,
    json: &mut JsonEncoder,
    output: &mut Utf8Encoder<'_>,
    rule: u32,
) -> u32 {
    let dfa = &automaton.dfa;
    // Classes and their targets, state by state.
    let mut ways: Vec<(u32, u32)> = Vec::with_capacity(dfa.arc_count());
    let mut rows: Vec<u32> = Vec::with_capacity(dfa.state_count() + 1);
    let mut arcs: Vec<(u32, u32, u32)> = Vec::new();
    let mut letters: Vec<(u32, u32)> = Vec::new();
    let mut class: Vec<(u32, u32)> = Vec::new();
    let mut known: HashMap<Vec<(u32, u32)>, u32> = HashMap::default();
    for state in 0..dfa.state_count() as u32 {
        rows.push(ways.len() as u32);
        arcs.clear();
        arcs.extend(dfa.arcs(state).iter().map(|arc| (arc.to, arc.lo, arc.hi)));
        arcs.sort_unstable();
        for group in arcs.chunk_by(|left, right| left.0 == right.0) {
            letters.clear();
            letters.extend(group.iter().map(|arc| (arc.1, arc.2)));
            let number = match known.get(&letters) {
                Some(&number) => number,
                None => {
                    automaton.code_points(&letters, &mut class);
                    let number = classes.number(&class, json, output);
                    known.insert(letters.clone(), number);
                    number
                }
            };
            ways.push((number, group[0].0));
        }
    }
    rows.push(ways.len() as u32);
    let ways = |state: usize| &ways[rows[state] as usize..rows[state + 1] as usize];
    // A state without a way on needs no state behind a backslash.
    let mut number: Vec<u32> = Vec::with_capacity(dfa.state_count());
    let mut count = 0;
    for state in 0..dfa.state_count() {
        number.push(count);
        count += if ways(state).is_empty() { 1 } else { 2 };
    }
    let (mut bytes, mut calls) = (0, 0);
    let mut layouts: Vec<u32> = Vec::with_capacity(dfa.state_count());
    for state in 0..dfa.state_count() {
        let number = classes.layout(ways(state));
        layouts.push(number);
        let layout = &classes.layouts[number as usize];
        bytes += layout.bytes.len();
        calls += layout.wide.len() + layout.escapes.len();
    }
    let fragment = prebuilt_fragment(output.draft, None, |tables| {
        tables.reserve(count as usize, bytes, calls);
        let first = tables.next_state();
        for (state, &layout) in layouts.iter().enumerate() {
            let ending = if dfa.is_final(state as u32) { Ending::Final } else { Ending::Inner };
            let layout = &classes.layouts[layout as usize];
            layout.write_state(tables, ways(state), |state| first + number[state as usize], ending);
        }
        first
    });
    output.draft.fragments[fragment as usize].rule = rule;
    fragment
}

impl Classes {
    fn number(&mut self, class: &[(u32, u32)], json: &mut JsonEncoder, output: &mut Utf8Encoder<'_>) -> u32 {
        if let Some(&number) = self.numbers.get(class) {
            return number;
        }
        let number = self.spellings.len() as u32;
        let mut ascii = Vec::new();
        for (lo, hi) in UNESCAPED {
            let hi = hi.min(0x7F);
            let parts = class.iter().filter(|range| range.0 <= hi && range.1 >= lo);
            ascii.extend(parts.map(|range| (range.0.max(lo) as u8, range.1.min(hi) as u8)));
        }
        let mut wide = NONE;
        if class.last().is_some_and(|range| range.1 > 0x7F) {
            wide = output.fragment("characters beyond ASCII", |output, start, end| {
                let beyond = class.iter().filter(|range| range.1 > 0x7F);
                let arc = |range: &(u32, u32)| CharArc { lo: range.0.max(0x80), hi: range.1, to: end };
                output.wide_arcs(start, &beyond.map(arc).collect::<Vec<_>>());
                start
            });
        }
        let escapes = output.json_class_escapes(json, class);
        self.spellings.push(ClassFragments { ascii, wide, escapes });
        self.numbers.insert(class.to_vec(), number);
        number
    }

    /// The layout of a state with such ways on: of each its class.
    fn layout(&mut self, ways: &[(u32, u32)]) -> u32 {
        let key: SmallVec<[u32; 8]> = ways.iter().map(|way| way.0).collect();
        let fresh = self.layouts.len() as u32;
        let number = *self.layout_numbers.entry(key).or_insert(fresh);
        if number == fresh {
            let mut layout = Layout::default();
            for (&(class, _), way) in ways.iter().zip(0..) {
                let spelling = &self.spellings[class as usize];
                layout.bytes.extend(spelling.ascii.iter().map(|&(lo, hi)| (lo, hi, way)));
                layout.wide.extend((spelling.wide != NONE).then_some((spelling.wide, way)));
                layout.escapes.push((spelling.escapes, way));
            }
            if !ways.is_empty() {
                layout.bytes.push((b'\\', b'\\', Layout::BACKSLASH));
            }
            // Of one state no two edges read the same byte.
            layout.bytes.sort_unstable();
            self.layouts.push(layout);
        }
        number
    }
}

impl Layout {
    /// The way of the edge into the state behind a backslash.
    const BACKSLASH: u32 = NONE;

    /// Writes a state and the one behind its backslash.
    fn write_state(
        &self,
        tables: &mut Prebuilt,
        ways: &[(u32, u32)],
        place: impl Fn(u32) -> u32,
        ending: Ending,
    ) {
        let escape = tables.next_state() + 1;
        let target = |way: u32| match way {
            Layout::BACKSLASH => escape,
            way => place(ways[way as usize].1),
        };
        self.bytes.iter().for_each(|&(lo, hi, way)| tables.bytes(lo, hi, target(way)));
        self.wide.iter().for_each(|&(fragment, way)| tables.call(fragment, target(way)));
        tables.end_state(ending);
        if !ways.is_empty() {
            self.escapes.iter().for_each(|&(fragment, way)| tables.call(fragment, target(way)));
            tables.end_state(Ending::Inner);
        }
    }
}
