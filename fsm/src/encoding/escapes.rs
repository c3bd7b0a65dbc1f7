//! The escapes of characters in JSON strings, as fragments that all strings of a grammar share.
//!
//! An escape is read rarely, and `\uXXXX` has some twenty states where several characters are distinguished.
//! Written in place, the escapes of a property name are nine tenths of its automaton. As fragments they are
//! written once. After a backslash the allowed ones are called: those of single characters, those of all
//! characters, and those of all characters but a few.

use grammask_grammar_ir::JsonEscapes;
use grammask_grammar_ir::hash::HashMap;
use once_cell::race::OnceBox;

use crate::draft::automata::{Draft, DraftFragment, DraftRole};
use crate::draft::ids::{DraftFragmentId, DraftStateId, NameId};
use crate::draft::prebuilt::{Ending, Prebuilt, PrebuiltFragment, PrebuiltStates};
use crate::ids::{Id, low_byte};
use crate::program::fragment_name::FragmentName;
use crate::program::tables::StateId;

/// First and last characters, sorted.
type CharRanges = Box<[(u32, u32)]>;

/// The fragments of escapes made so far. All of them begin after the backslash.
pub(crate) struct Escapes {
    ascii: [DraftFragmentId; 128],
    others: HashMap<char, DraftFragmentId>,
    any: DraftFragmentId,
    /// The escapes of all characters that serialisers print.
    printed: DraftFragmentId,
    not_ascii: DraftFragmentId,
    /// All but one character.
    all_but_one: [DraftFragmentId; 128],
    all_but: HashMap<Box<[u8]>, DraftFragmentId>,
    classes: HashMap<(JsonEscapes, CharRanges), DraftFragmentId>,
}

impl Default for Escapes {
    fn default() -> Self {
        Self {
            ascii: [DraftFragmentId::NONE; 128],
            others: HashMap::default(),
            any: DraftFragmentId::NONE,
            printed: DraftFragmentId::NONE,
            not_ascii: DraftFragmentId::NONE,
            all_but_one: [DraftFragmentId::NONE; 128],
            all_but: HashMap::default(),
            classes: HashMap::default(),
        }
    }
}

/// The least hexadecimal digit, the greatest, and the state that they lead to, counted from the first one.
type DigitArc = (u8, u8, usize);

impl Escapes {
    /// The escapes of one character.
    pub(crate) fn of(&mut self, draft: &mut Draft, character: char) -> DraftFragmentId {
        let code = index_of(character);
        let known = self
            .ascii
            .get(code)
            .copied()
            .or_else(|| self.others.get(&character).copied())
            .unwrap_or(DraftFragmentId::NONE);
        if known != DraftFragmentId::NONE {
            return known;
        }
        let fragment = prebuilt_fragment(draft, Some(escape_name(character)), |tables| match ONE.get(code) {
            // A template calls nothing.
            Some(template) => tables.instantiate(
                template.get_or_init(|| template_of(|tables| one(tables, character))),
                DraftFragmentId::FIRST,
            ),
            None => one(tables, character),
        });
        match self.ascii.get_mut(code) {
            Some(place) => *place = fragment,
            None => {
                self.others.insert(character, fragment);
            }
        }
        fragment
    }

    /// The escapes of all characters, where they are common enough to be written beforehand.
    pub(crate) fn any(&mut self, draft: &mut Draft, escapes: JsonEscapes) -> Option<DraftFragmentId> {
        let (known, name, scope) = match escapes {
            JsonEscapes::Any => (&mut self.any, "escape", EscapeScope::Any),
            JsonEscapes::Printed => (&mut self.printed, "printed escape", EscapeScope::Printed),
            JsonEscapes::Needed | JsonEscapes::Ascii => return None,
        };
        if *known == DraftFragmentId::NONE {
            *known = prebuilt_fragment(draft, Some(FragmentName::fixed(name)), |tables| all(tables, scope));
        }
        Some(*known)
    }

    /// The fragments of the escapes of all characters, of those that there are.
    pub(crate) fn known_any(&self) -> AnyEscape<DraftFragmentId> {
        AnyEscape { any: self.any, printed: self.printed }
    }

    /// Takes fragments over that read the escapes of all characters.
    pub(crate) fn keep_any(&mut self, AnyEscape { any, printed }: AnyEscape<Option<DraftFragmentId>>) {
        self.any = any.unwrap_or(self.any);
        self.printed = printed.unwrap_or(self.printed);
    }

    /// The escapes of a class that was kept before.
    pub(crate) fn of_class(&self, (escapes, class): (JsonEscapes, &[(u32, u32)])) -> Option<DraftFragmentId> {
        self.classes.get(&(escapes, class.into())).copied()
    }

    pub(crate) fn keep_class(
        &mut self,
        (escapes, class): (JsonEscapes, &[(u32, u32)]),
        fragment: DraftFragmentId,
    ) {
        self.classes.insert((escapes, class.into()), fragment);
    }

    /// The escapes of all characters but a few in ASCII, which are sorted.
    pub(crate) fn all_but(&mut self, draft: &mut Draft, excluded: &[u8]) -> DraftFragmentId {
        let known = match *excluded {
            [] => self.any(draft, JsonEscapes::Any).unwrap_or(DraftFragmentId::NONE),
            // A table for the usual case: each state inside a name excludes one character.
            [only] => self.all_but_one[usize::from(only & 0x7F)],
            _ => self.all_but.get(excluded).copied().unwrap_or(DraftFragmentId::NONE),
        };
        if known != DraftFragmentId::NONE {
            return known;
        }
        if self.not_ascii == DraftFragmentId::NONE {
            self.not_ascii =
                prebuilt_fragment(draft, Some(FragmentName::fixed("escape beyond ASCII")), |tables| {
                    let template = BEYOND_ASCII
                        .get_or_init(|| template_of(|tables| all(tables, EscapeScope::BeyondAscii)));
                    tables.instantiate(template, DraftFragmentId::FIRST)
                });
        }
        let not_ascii = self.not_ascii;
        if excluded.len() == 128 {
            return not_ascii;
        }
        let fragment = prebuilt_fragment(draft, Some(FragmentName::fixed("escape of others")), |tables| {
            let template = |only: u8| ALL_BUT.get(usize::from(only)).filter(|_| excluded.len() == 1);
            match excluded.first().and_then(|&only| template(only)) {
                Some(template) => {
                    let template =
                        template.get_or_init(|| template_of(|tables| all_but(tables, excluded, not_ascii)));
                    tables.instantiate(template, not_ascii)
                }
                None => all_but(tables, excluded, not_ascii),
            }
        });
        match *excluded {
            [only] => self.all_but_one[usize::from(only & 0x7F)] = fragment,
            _ => {
                self.all_but.insert(excluded.into(), fragment);
            }
        }
        fragment
    }
}

/// The escapes of each ASCII character, of all but one, and of those beyond ASCII, written once for the process: their
/// states, numbered from 0, the start first.
static ONE: [OnceBox<Prebuilt>; 128] = [const { OnceBox::new() }; 128];
static ALL_BUT: [OnceBox<Prebuilt>; 128] = [const { OnceBox::new() }; 128];
static BEYOND_ASCII: OnceBox<Prebuilt> = OnceBox::new();

fn template_of(write: impl FnOnce(&mut Prebuilt) -> StateId) -> Box<Prebuilt> {
    let mut tables = Box::<Prebuilt>::default();
    write(&mut tables);
    tables
}

/// Adds a prebuilt fragment; `write` writes its states and says which is the start.
pub(crate) fn prebuilt_fragment(
    draft: &mut Draft,
    name: Option<FragmentName>,
    write: impl FnOnce(&mut Prebuilt) -> StateId,
) -> DraftFragmentId {
    let first = draft.prebuilt.next_state();
    let start = write(&mut draft.prebuilt);
    let nullable = draft.prebuilt.is_final(start);
    let states = PrebuiltStates { first, end: draft.prebuilt.next_state() };
    let fragment = DraftFragment {
        name,
        prebuilt: Some(PrebuiltFragment { states, start }),
        linked: None,
        start: DraftStateId::NONE,
        rule: None,
        count: None,
        nullable,
        role: DraftRole::None,
        stands_for_rule: false,
    };
    draft.fragments.push(fragment)
}

/// The names of the escapes of ASCII characters.
static NAMES: [[u8; 11]; 128] = {
    let mut names = [*b"escape of  "; 128];
    let mut code = 0u8;
    let mut rest: &mut [[u8; 11]] = &mut names;
    while let [name, others @ ..] = rest {
        name[10] = code;
        code += 1;
        rest = others;
    }
    names
};

fn escape_name(character: char) -> FragmentName {
    let name = NAMES.get(index_of(character)).and_then(|name| std::str::from_utf8(name).ok());
    name.map_or_else(|| format!("escape of {character}").into(), FragmentName::fixed)
}

/// The escapes of one character: its short escape, and its units in four digits each.
fn one(tables: &mut Prebuilt, character: char) -> StateId {
    let start = tables.next_state();
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    // The states come in the order of the text: the start, four digits a unit, two for the backslash and the
    // letter between two units, and the end.
    let end = start.plus(if units.len() == 1 { 5 } else { 11 });
    if let Some((letter, _)) = short_escapes(JsonEscapes::Any).find(|&(_, short)| short == character) {
        letter_arc(tables, letter, end);
    }
    letter_arc(tables, b'u', start.plus(1));
    tables.end_state(Ending::Inner);
    for (index, unit) in units.iter().enumerate() {
        if index > 0 {
            for letter in *b"\\u" {
                let next = tables.next_state().plus(1);
                letter_arc(tables, letter, next);
                tables.end_state(Ending::Inner);
            }
        }
        for shift in [12, 8, 4, 0] {
            let digit = u32::from(unit >> shift & 0xF);
            let next = tables.next_state().plus(1);
            digit_runs(tables, 1 << digit, next);
            tables.end_state(Ending::Inner);
        }
    }
    tables.end_state(Ending::Final);
    start
}

/// The place of the characters whose escapes are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeScope {
    Any,
    BeyondAscii,
    Printed,
}

/// The fragments that read the escapes of all characters, one for each kind of them.
#[derive(Clone, Copy)]
pub(crate) struct AnyEscape<T> {
    pub(crate) any: T,
    pub(crate) printed: T,
}

impl<T> AnyEscape<T> {
    pub(crate) fn map<U>(self, mut change: impl FnMut(T) -> U) -> AnyEscape<U> {
        AnyEscape { any: change(self.any), printed: change(self.printed) }
    }
}

/// The letters of short escapes, and the characters that they stand for.
fn short_escapes(escapes: JsonEscapes) -> impl Iterator<Item = (u8, char)> {
    escapes.short().iter().map(|&(letter, character)| (low_byte(u32::from(letter)), character))
}

/// The states of [`all`], in order.
const END: usize = 1;
const UNIT: usize = 2;
const AFTER_D: usize = 3;
/// Before the last three, two or one digits.
const LAST_3: usize = 4;
const LAST_2: usize = 5;
const LAST_1: usize = 6;
/// Before the last two digits or one of the lead of a surrogate pair, and before the trail.
const LEAD_2: usize = 7;
const LEAD_1: usize = 8;
const TRAIL: usize = 9;
/// After `0` and `00`, where ASCII is left out.
const AFTER_0: usize = 13;
const AFTER_00: usize = 14;
/// After `000`, `002`, `003` and `007`, where printed escapes are distinguished.
const AFTER_000: usize = 15;
const AFTER_002: usize = 16;
const AFTER_003: usize = 17;
const AFTER_007: usize = 18;

/// The escapes of all characters, of all beyond ASCII, or of those that serialisers escape.
fn all(tables: &mut Prebuilt, least: EscapeScope) -> StateId {
    let start = tables.next_state();
    let first_digit = match least {
        EscapeScope::Any => {
            short_escapes(JsonEscapes::Any).for_each(|short| letter_arc(tables, short.0, start.plus(END)));
            LAST_3
        }
        EscapeScope::Printed => {
            short_escapes(JsonEscapes::Printed)
                .for_each(|short| letter_arc(tables, short.0, start.plus(END)));
            AFTER_0
        }
        EscapeScope::BeyondAscii => AFTER_0,
    };
    letter_arc(tables, b'u', start.plus(UNIT));
    tables.end_state(Ending::Inner);
    tables.end_state(Ending::Final);
    let row = |tables: &mut Prebuilt, arcs: &[DigitArc]| {
        digits(tables, start, arcs);
        tables.end_state(Ending::Inner);
    };
    // The rows below are written in the order of the constants above. The first digit decides about
    // surrogates, which are the only code units that need a second unit.
    row(tables, &[(0, 0, first_digit), (1, 12, LAST_3), (13, 13, AFTER_D), (14, 15, LAST_3)]);
    // D800 to DBFF lead a pair, DC00 to DFFF end one.
    row(tables, &[(0, 7, LAST_2), (8, 11, LEAD_2)]);
    row(tables, &[(0, 15, LAST_2)]);
    row(tables, &[(0, 15, LAST_1)]);
    row(tables, &[(0, 15, END)]);
    row(tables, &[(0, 15, LEAD_1)]);
    row(tables, &[(0, 15, TRAIL)]);
    for (place, letter) in b"\\u".iter().enumerate() {
        letter_arc(tables, *letter, start.plus(TRAIL + 1 + place));
        tables.end_state(Ending::Inner);
    }
    row(tables, &[(13, 13, TRAIL + 3)]);
    row(tables, &[(12, 15, LAST_2)]);
    if least != EscapeScope::Any {
        row(tables, &[(0, 0, AFTER_00), (1, 15, LAST_2)]);
    }
    match least {
        EscapeScope::Any => {}
        EscapeScope::BeyondAscii => row(tables, &[(8, 15, LAST_1)]),
        EscapeScope::Printed => {
            let controls = [(0, 0, AFTER_000), (1, 1, LAST_1)];
            let others = [(2, 2, AFTER_002), (3, 3, AFTER_003), (7, 7, AFTER_007), (8, 15, LAST_1)];
            row(tables, &[controls.as_slice(), others.as_slice()].concat());
            row(tables, &[(0, 8, END), (11, 12, END), (14, 15, END)]);
            row(tables, &[(6, 6, END)]);
            row(tables, &[(12, 12, END), (14, 14, END)]);
            row(tables, &[(15, 15, END)]);
        }
    }
    start
}

/// The escapes of all characters but those excluded, with `not_ascii` for the rest beyond ASCII.
fn all_but(tables: &mut Prebuilt, excluded: &[u8], not_ascii: DraftFragmentId) -> StateId {
    let start = tables.next_state();
    // A bit for each character of ASCII.
    let allowed = excluded.iter().fold(u128::MAX, |set, &code| set & !(1 << code));
    // The end, the three digits before the last two, and the last digit if anything goes.
    let (end, full) = (start.plus(1), start.plus(5));
    for (letter, _) in short_escapes(JsonEscapes::Any).filter(|short| allowed >> u32::from(short.1) & 1 == 1)
    {
        letter_arc(tables, letter, end);
    }
    letter_arc(tables, b'u', start.plus(2));
    tables.call(not_ascii, end);
    tables.end_state(Ending::Inner);
    tables.end_state(Ending::Final);
    for next in [3, 4] {
        digit_runs(tables, 1, start.plus(next));
        tables.end_state(Ending::Inner);
    }
    // The digit before the last tells eight blocks of sixteen characters apart.
    let bits = allowed.to_le_bytes();
    let blocks: [u16; 8] =
        std::array::from_fn(|block| u16::from_le_bytes([bits[2 * block], bits[2 * block + 1]]));
    let has_full = blocks.contains(&u16::MAX);
    let mut next_partial = full.plus(usize::from(has_full));
    let digit = |block: usize| b"01234567"[block];
    let mut block = 0;
    while let Some(&set) = blocks.get(block) {
        let mut last = block;
        if set == u16::MAX {
            last += blocks[block..].iter().take_while(|&&other| other == set).count() - 1;
            tables.bytes(digit(block), digit(last), full);
        } else if set != 0 {
            tables.bytes(digit(block), digit(block), next_partial);
            next_partial = next_partial.plus(1);
        }
        block = last + 1;
    }
    tables.end_state(Ending::Inner);
    if has_full {
        digit_runs(tables, u16::MAX, end);
        tables.end_state(Ending::Inner);
    }
    for set in blocks.into_iter().filter(|&set| set != 0 && set != u16::MAX) {
        digit_runs(tables, set, end);
        tables.end_state(Ending::Inner);
    }
    start
}

/// Adds the hexadecimal digits of a set, in either case, to the state that is being written.
fn digit_runs(tables: &mut Prebuilt, set: u16, to: StateId) {
    for (zero, set) in [(b'0', set & 0x3FF), (b'A', set >> 10), (b'a', set >> 10)] {
        let (mut at, mut rest) = (zero, set);
        while rest != 0 {
            // Digits are sixteen, so that the numbers of zeros and ones fit.
            let (gap, run) = (rest.trailing_zeros(), (rest >> rest.trailing_zeros()).trailing_ones());
            at += low_byte(gap);
            tables.bytes(at, at + low_byte(run - 1), to);
            at += low_byte(run);
            rest = rest.checked_shr(gap + run).unwrap_or(0);
        }
    }
}

fn letter_arc(tables: &mut Prebuilt, letter: u8, to: StateId) {
    tables.bytes(letter, letter, to);
}

/// Adds hexadecimal digits, in either case, to the state that is being written: sorted arcs, whose targets
/// are counted from `base` on.
fn digits(tables: &mut Prebuilt, base: StateId, arcs: &[DigitArc]) {
    for (zero, first, last) in [(b'0', 0, 9), (b'A', 10, 15), (b'a', 10, 15)] {
        let mut pending: Option<DigitArc> = None;
        for &(lo, hi, to) in arcs.iter().filter(|&&(lo, hi, _)| lo <= last && hi >= first) {
            let (lo, hi) = (lo.max(first), hi.min(last));
            pending = match pending {
                Some((start, end, before)) if before == to && end + 1 == lo => Some((start, hi, to)),
                before => {
                    write_digits(tables, base, zero, first, before);
                    Some((lo, hi, to))
                }
            };
        }
        write_digits(tables, base, zero, first, pending);
    }
}

fn write_digits(tables: &mut Prebuilt, base: StateId, zero: u8, first: u8, arc: Option<DigitArc>) {
    if let Some((lo, hi, to)) = arc {
        tables.bytes(zero + (lo - first), zero + (hi - first), base.plus(to));
    }
}

/// Numbers a text that becomes one edge, and makes the escapes of its characters.
pub(crate) fn add_name(draft: &mut Draft, escapes: &mut Escapes, text: &[u8]) -> NameId {
    for &byte in text {
        let fragment = escapes.of(draft, char::from(byte));
        draft.names.set_escape(byte, fragment);
    }
    draft.names.push(text)
}

/// The code of a character, for tables by code.
fn index_of(character: char) -> usize {
    usize::try_from(u32::from(character)).unwrap_or(usize::MAX)
}
