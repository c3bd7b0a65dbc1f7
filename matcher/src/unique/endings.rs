//! A short ending of a text in which items or names must differ.
//!
//! The parser's own shortest ending may write a value twice, so endings are searched, depth first. The parser says at each
//! place how many bytes are missing at least: ways that would grow too long are not entered. First the bound on the length
//! is the parser's own, then a little more, as long as few places were looked at: then the ending is a shortest one. A
//! text that has to write hundreds of values has too many such ways. There the next byte is the one after which the parser
//! alone could end soonest, and only where that leads nowhere is a step taken back. A state of the parser is entered a few
//! times within a value, and after few numbers of values. So zeros after a point do not go on for ever, nor do items that
//! bring the end no nearer.

use std::cmp::Reverse;
use std::collections::HashMap;

use grammask_grammar_ir::byte_set;
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::scopes::{Mark, UniqueScopes};

/// The whitespace of JSON.
const BLANKS: [u8; 4] = [b' ', b'\t', b'\n', b'\r'];

/// Bytes by which an ending is longer than the parser's own, where it is looked for as a shortest one.
const MAX_LONGER: u64 = 8;

/// Places that are entered while a shortest one is looked for.
const MAX_PLACES: usize = 1_000;

/// One unit of work pays for the comparison of an item with this many values.
const VALUES_PER_UNIT: u64 = 4;

/// Work at a place, besides that of the parser.
const UNITS_OF_PLACE: u64 = 16;

/// Bounds on the entries of a state: after how many numbers of values it is entered, and how often after each of these,
/// besides once for each value. The second bound holds where the first one leaves nothing.
const VISITS: [usize; 2] = [2, 64];

/// A place on the way to an ending.
struct Place<S> {
    state: S,
    mark: Mark,
    /// The bytes that the parser's shortest endings begin with, as far as they were not tried.
    first: [u64; 4],
    /// Other bytes that may follow, before they are looked at.
    others: [u64; 4],
    /// Afterwards, in their order; the last one is to be tried first.
    detours: Vec<u8>,
}

/// How often a state was entered.
#[derive(Clone, Copy, Default)]
struct Visits {
    /// The number of values at the last entry.
    values: Option<usize>,
    /// Entries after this number of values.
    here: usize,
    /// How often the number was another one than at the entry before.
    counts: usize,
}

/// Whether a place is entered.
enum Entry {
    Open,
    /// It was entered often enough.
    Closed,
    /// The search is over.
    NoMore,
}

/// The outcome of a search.
enum Found {
    Ending(Vec<u8>),
    /// No ending is so short.
    Nothing,
    /// Not everything was looked at.
    GivenUp,
}

impl UniqueScopes {
    /// A short text after which the parser, now in this state, may end; `None` where it takes more than `max_bytes`. The scopes
    /// are somewhere on the way afterwards.
    pub(crate) fn short_ending<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        max_bytes: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<u8>>, StepError> {
        let (least, _) = engine.shortest_completion(state, fuel)?;
        let mut places = MAX_PLACES;
        for longer in 0..=MAX_LONGER {
            let most = least.saturating_add(longer);
            if most > max_bytes as u64 {
                return Ok(None);
            }
            let mut few_places = |_: &Self, _| {
                places = places.saturating_sub(1);
                if places > 0 { Entry::Open } else { Entry::NoMore }
            };
            match self.ending_within(engine, state, most, &mut few_places, fuel)? {
                Found::Ending(ending) => return Ok(Some(ending)),
                Found::Nothing => {}
                Found::GivenUp => break,
            }
        }
        let mut found = Found::GivenUp;
        for most in VISITS {
            let mut visits: HashMap<B::State, Visits, ahash::RandomState> = HashMap::default();
            let mut few_visits = |scopes: &Self, state| {
                let values = scopes.value_count();
                let known = visits.entry(state).or_default();
                if known.values != Some(values) {
                    *known = Visits { values: Some(values), here: 0, counts: known.counts + 1 };
                }
                known.here += 1;
                match known.counts <= most && known.here <= most + values {
                    true => Entry::Open,
                    false => Entry::Closed,
                }
            };
            found = self.ending_within(engine, state, max_bytes as u64, &mut few_visits, fuel)?;
            if !matches!(found, Found::GivenUp) {
                break;
            }
        }
        match found {
            Found::Ending(ending) => Ok(Some(ending)),
            Found::Nothing => Ok(None),
            // There may be one.
            Found::GivenUp => fuel.burn(u64::MAX).map(|()| None),
        }
    }

    /// An ending of at most `most` bytes. `enter` is asked before a state is entered.
    fn ending_within<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        most: u64,
        enter: &mut dyn FnMut(&Self, B::State) -> Entry,
        fuel: &mut Fuel,
    ) -> Result<Found, StepError> {
        let (mut ending, mut path, mut next) = (Vec::new(), Vec::new(), Some(state));
        let mut is_everything = true;
        loop {
            if let Some(state) = next.take() {
                if engine.is_complete(state) {
                    return Ok(Found::Ending(ending));
                }
                path.push(self.place(engine, state, fuel)?);
            }
            let Some(place) = path.last_mut() else {
                return Ok(if is_everything { Found::Nothing } else { Found::GivenUp });
            };
            self.restore(&place.mark);
            let turn = self.turn();
            let first = byte_set::iter(&place.first).max_by_key(|&byte| rank(byte, turn));
            if let Some(first) = first {
                place.first[usize::from(first / 64)] &= !(1 << (first % 64));
            } else if place.others != [0; 4] {
                let others = std::mem::take(&mut place.others);
                let left = most - ending.len() as u64;
                place.detours = self.detours(engine, (place.state, &others), left, fuel)?;
            }
            let Some(byte) = first.or_else(|| place.detours.pop()) else {
                path.pop();
                ending.pop();
                continue;
            };
            let Some(after) = self.read_one(engine, place.state, byte, fuel)? else { continue };
            // Inside of items each value so far is looked at.
            fuel.burn(self.value_count() as u64 / VALUES_PER_UNIT)?;
            match enter(self, after) {
                Entry::Open => {
                    ending.push(byte);
                    next = Some(after);
                }
                Entry::Closed => is_everything = false,
                Entry::NoMore => {
                    if let Some(start) = path.first() {
                        self.restore(&start.mark);
                    }
                    return Ok(Found::GivenUp);
                }
            }
        }
    }

    /// This place, before a byte is tried.
    fn place<B: Backend>(
        &self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<Place<B::State>, StepError> {
        fuel.burn(UNITS_OF_PLACE)?;
        let (_, first) = engine.shortest_completion(state, fuel)?;
        let mut others = engine.next_bytes(state);
        others.iter_mut().zip(first).for_each(|(word, first)| *word &= !first);
        Ok(Place { state, mark: self.mark(), first, others, detours: Vec::new() })
    }

    /// Those of the bytes after which the parser can end within `most` bytes, these counted.
    fn detours<B: Backend>(
        &self,
        engine: &B,
        (state, bytes): (B::State, &[u64; 4]),
        most: u64,
        fuel: &mut Fuel,
    ) -> Result<Vec<u8>, StepError> {
        let mut ways = Vec::new();
        for byte in byte_set::iter(bytes) {
            fuel.burn(1)?;
            let Some(next) = engine.step(state, byte, fuel)? else { continue };
            let (left, _) = engine.shortest_completion(next, fuel)?;
            if left < most {
                ways.push((left, byte));
            }
        }
        // After a blank the parser may still end as soon as before.
        let turn = self.turn();
        ways.sort_unstable_by_key(|&(left, byte)| (!BLANKS.contains(&byte), Reverse(left), rank(byte, turn)));
        Ok(ways.into_iter().map(|(_, byte)| byte).collect())
    }

    /// A number that is another one in each value, and in its second place after ten values.
    fn turn(&self) -> usize {
        let written = u32::try_from(self.text.len().saturating_sub(1)).unwrap_or(u32::MAX);
        self.value_count() / 10_usize.saturating_pow(written)
    }
}

/// The order of bytes that lead as far. With each turn another digit comes first, so that numbers differ early.
fn rank(byte: u8, turn: usize) -> (usize, u8) {
    ((usize::from(byte) + turn) % 10, byte)
}
