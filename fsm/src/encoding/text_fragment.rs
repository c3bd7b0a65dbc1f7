//! Large automata over characters, and those whose characters are counted.
//!
//! A pattern under a bound on its length has a state for each pair of a place in the pattern and a count:
//! tens of thousands. Spelled one by one, each of them gets the trees of UTF-8 and of escapes of all its
//! classes, some forty states. But the classes are a handful. So each class is spelled once, as two fragments
//! that all states call: its characters beyond ASCII and its escapes. A state then needs only its edges over
//! ASCII, and a second state after the backslash.

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{JsonEscapes, RuleId};
use smallvec::SmallVec;

use crate::draft::automata::DraftRole;
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::draft::prebuilt::{Ending, Prebuilt};
use crate::encoding::escapes::prebuilt_fragment;
use crate::encoding::ids::{CharClassId, LayoutId, WayId};
use crate::encoding::utf8_encoder::Utf8Encoder;
use crate::ids::{Id, IdVec, Rows, ids, low_byte};
use crate::program::tables::StateId;
use crate::text::alphabet::CompressedAlphabet;
use crate::text::chars::CharArc;
use crate::text::ids::TextStateId;
use crate::text::json_encoder::JsonEncoder;
use crate::text::measured::{Measured, Step};

/// A class of characters, and the state that they lead to.
type Way = (CharClassId, TextStateId);

/// Ranges of code points, in JSON strings with some escapes or outside of them.
type SpelledClass = (Option<JsonEscapes>, Vec<(u32, u32)>);

/// The classes of characters met so far, with how they are spelled.
#[derive(Default)]
pub(crate) struct Classes {
    numbers: HashMap<SpelledClass, CharClassId>,
    spellings: IdVec<CharClassId, ClassFragments>,
    /// Of the classes of a state's ways on, in their order: there are tens of thousands of states, and a dozen of these.
    layouts: IdVec<LayoutId, Layout>,
    layout_numbers: HashMap<SmallVec<[CharClassId; 8]>, LayoutId>,
}

/// The edges of a state, each with the number of the way that it leads.
#[derive(Default)]
struct Layout {
    /// In their order.
    bytes: Vec<(u8, u8, WayId)>,
    /// The fragments of characters beyond ASCII, and of escapes.
    wide: Vec<(DraftFragmentId, WayId)>,
    escapes: Vec<(DraftFragmentId, WayId)>,
}

struct ClassFragments {
    /// The characters of ASCII that stand for themselves.
    ascii: Vec<(u8, u8)>,
    /// The fragment of the characters beyond ASCII, or [`Id::NONE`].
    wide: DraftFragmentId,
    /// The fragment of the escapes, or [`Id::NONE`].
    escapes: DraftFragmentId,
}

/// The text of a fragment.
pub(crate) enum FragmentText<'t> {
    Plain(&'t CompressedAlphabet),
    Measured(&'t Measured),
}

/// Writes the automaton, which is trimmed and not empty, as a fragment of its own: in JSON strings with some escapes, or
/// outside of them.
pub(crate) fn write_text_fragment(
    (text, escapes): (FragmentText<'_>, Option<JsonEscapes>),
    classes: &mut Classes,
    json: &mut JsonEncoder<DraftStateId>,
    output: &mut Utf8Encoder<'_>,
    rule: RuleId,
) -> DraftFragmentId {
    let (automaton, measured) = match text {
        FragmentText::Plain(automaton) => (automaton, None),
        FragmentText::Measured(measured) => (&measured.automaton, Some(measured)),
    };
    let step = |state: TextStateId| measured?.steps.get(state).copied().filter(|step| *step != Step::None);
    let dfa = &automaton.dfa;
    // Classes and their targets, state by state.
    let mut ways: Vec<Way> = Vec::with_capacity(dfa.arc_count());
    let mut rows: Rows<TextStateId> = Rows::with_capacity(dfa.state_count());
    let mut arcs: Vec<(TextStateId, u32, u32)> = Vec::new();
    let mut letters: Vec<(u32, u32)> = Vec::new();
    let mut class: Vec<(u32, u32)> = Vec::new();
    let mut known: HashMap<Vec<(u32, u32)>, CharClassId> = HashMap::default();
    for state in dfa.states() {
        arcs.clear();
        arcs.extend(dfa.arcs(state).iter().map(|arc| (arc.to, arc.lo, arc.hi)));
        arcs.sort_unstable();
        // All letters that lead to one state are one class: it is spelled once, however many ranges it has.
        for group in arcs.chunk_by(|left, right| left.0 == right.0) {
            letters.clear();
            letters.extend(group.iter().map(|arc| (arc.1, arc.2)));
            let number = match known.get(&letters) {
                Some(&number) => number,
                None => {
                    automaton.code_points(&letters, &mut class);
                    let number = classes.number((escapes, &class), json, output);
                    known.insert(letters.clone(), number);
                    number
                }
            };
            ways.push((number, group[0].0));
        }
        rows.push(ways.len());
    }
    let ways = |state: TextStateId| &ways[rows.of(state)];
    // First the numbers of all states, because edges lead forwards and backwards.
    let mut number: IdVec<TextStateId, usize> = IdVec::with_capacity(dfa.state_count());
    let (mut count, mut bytes, mut calls) = (0, 0, 0);
    let mut layouts: IdVec<TextStateId, LayoutId> = IdVec::with_capacity(dfa.state_count());
    for state in dfa.states() {
        let id = classes.layout(ways(state));
        layouts.push(id);
        let layout = &classes.layouts[id];
        // The state that counts comes before the one that it leads to.
        count += usize::from(step(state).is_some());
        number.push(count);
        // A state without an escape needs no state after a backslash.
        count += if layout.escapes.is_empty() { 1 } else { 2 };
        bytes += layout.bytes.len();
        calls += layout.wide.len() + layout.escapes.len();
    }
    let fragment = prebuilt_fragment(output.draft, None, |tables| {
        tables.reserve(count, bytes, calls);
        let first = tables.next_state();
        let place = |state: TextStateId| first.plus(number[state]);
        let counted = |state: TextStateId| first.plus(number[state] - usize::from(step(state).is_some()));
        for (state, &layout) in layouts.entries() {
            if let Some(step) = step(state) {
                tables.epsilon(place(state));
                if let Step::Until(rest) = step {
                    tables.epsilon(place(rest));
                }
                tables.end_state(Ending::Counts);
            }
            let ending = if dfa.is_final(state) { Ending::Final } else { Ending::Inner };
            let layout = &classes.layouts[layout];
            layout.write_state(tables, ways(state), counted, ending);
        }
        place(TextStateId::FIRST)
    });
    output.draft.fragments[fragment].rule = Some(rule);
    if let Some(measured) = measured {
        output.draft.fragments[fragment].role = DraftRole::Measured(measured.limit);
    }
    fragment
}

impl Classes {
    fn number(
        &mut self,
        (escapes, class): (Option<JsonEscapes>, &[(u32, u32)]),
        json: &mut JsonEncoder<DraftStateId>,
        output: &mut Utf8Encoder<'_>,
    ) -> CharClassId {
        let key = (escapes, class.to_vec());
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let mut ascii = Vec::new();
        // ASCII becomes byte edges of the state itself. Other characters take a fragment that all states with
        // this class call.
        let unescaped = escapes.map_or(&[('\0', char::MAX)][..], JsonEscapes::unescaped);
        for &(lo, hi) in unescaped {
            let (lo, hi) = (u32::from(lo), u32::from(hi).min(0x7F));
            let parts = class.iter().filter(|range| range.0 <= hi && range.1 >= lo);
            ascii.extend(parts.map(|range| (low_byte(range.0.max(lo)), low_byte(range.1.min(hi)))));
        }
        let mut wide = DraftFragmentId::NONE;
        let has_wide = unescaped.last().is_some_and(|range| !range.1.is_ascii());
        if has_wide && class.last().is_some_and(|range| range.1 > 0x7F) {
            wide = output.fragment("characters beyond ASCII", |output, start, end| {
                let beyond = class.iter().filter(|range| range.1 > 0x7F);
                let arc = |range: &(u32, u32)| CharArc { lo: range.0.max(0x80), hi: range.1, to: end };
                output.wide_arcs(start, &beyond.map(arc).collect::<Vec<_>>());
                start
            });
        }
        let escapes = match escapes {
            Some(escapes) => output.json_class_escapes(json, (escapes, class)),
            None => DraftFragmentId::NONE,
        };
        let number = self.spellings.push(ClassFragments { ascii, wide, escapes });
        self.numbers.insert(key, number);
        number
    }

    /// The layout of a state with such ways on: of each its class.
    fn layout(&mut self, ways: &[Way]) -> LayoutId {
        let key: SmallVec<[CharClassId; 8]> = ways.iter().map(|way| way.0).collect();
        let fresh = self.layouts.next_id();
        // States whose arcs have the same classes in the same order differ in their targets alone.
        let number = *self.layout_numbers.entry(key).or_insert(fresh);
        if number == fresh {
            let mut layout = Layout::default();
            for (&(class, _), way) in ways.iter().zip(ids(ways.len())) {
                let spelling = &self.spellings[class];
                layout.bytes.extend(spelling.ascii.iter().map(|&(lo, hi)| (lo, hi, way)));
                layout.wide.extend(spelling.wide.known().map(|wide| (wide, way)));
                layout.escapes.extend(spelling.escapes.known().map(|escapes| (escapes, way)));
            }
            if !layout.escapes.is_empty() {
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
    /// The way of the edge into the state after a backslash.
    const BACKSLASH: WayId = WayId::NONE;

    /// Writes a state and the one after its backslash.
    fn write_state(
        &self,
        tables: &mut Prebuilt,
        ways: &[Way],
        place: impl Fn(TextStateId) -> StateId,
        ending: Ending,
    ) {
        let escape = tables.next_state().plus(1);
        let target = |way: WayId| match way {
            Layout::BACKSLASH => escape,
            way => place(ways[way.index()].1),
        };
        self.bytes.iter().for_each(|&(lo, hi, way)| tables.bytes(lo, hi, target(way)));
        self.wide.iter().for_each(|&(fragment, way)| tables.call(fragment, target(way)));
        tables.end_state(ending);
        if !self.escapes.is_empty() {
            self.escapes.iter().for_each(|&(fragment, way)| tables.call(fragment, target(way)));
            tables.end_state(Ending::Inner);
        }
    }
}
