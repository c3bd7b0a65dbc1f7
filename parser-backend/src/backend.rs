//! The trait that a parser backend implements.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use crate::class::ClassRuns;
use crate::configuration::Configurations;
use crate::distinct::DistinctScopes;
use crate::error::StepError;
use crate::fuel::Fuel;
use crate::local::LocalParts;
use crate::not_offered::NotOffered;
use crate::rows::Rows;
use crate::tables::Tables;
use crate::tokens::TokenEdges;

/// A name for the mask of a state: two states of one engine with equal keys have equal masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MaskKey {
    /// Number of the state's set, dense from 0 and stable for the life of the engine.
    pub set: u32,
    /// Everything else that the mask depends on (counts near a bound); 0 if it depends on the set alone.
    pub detail: u64,
}

/// A parser that follows a grammar byte by byte.
///
/// An engine is immutable to its users and shared between threads; tables that it fills lazily are its own
/// affair. Calls take a state and return a new one, so rollback and fork are copies.
///
/// Five methods make a backend: [`start`](Self::start), [`step`](Self::step), [`is_complete`](Self::is_complete),
/// [`next_bytes`](Self::next_bytes) and [`mask_key`](Self::mask_key). Masks over these alone are exact. All others are
/// provided; each returns, or is, an optional part that makes masks faster or serves more grammars. A backend that offers
/// one implements its trait, for the engine itself as a rule, and returns it:
///
/// ```ignore
/// fn class_runs(&self) -> &impl ClassRuns<Self::State> {
///     self
/// }
/// ```
///
/// # Contract
///
/// * [`step`](Self::step) returns `Some` if and only if the bytes read so far and the new one begin some
///   sentence of the grammar: there are no dead ends.
/// * Equal states behave alike. Equal [`mask_key`](Self::mask_key)s allow the same byte strings of up to the
///   length that the engine was built for (the longest token).
/// * A [`StepError`] is *indeterminate* and leaves the engine usable.
/// * A grammar that the engine cannot read is declined when it is built, with a
///   [`BuildError`](crate::BuildError) that names the need.
pub trait Backend: Sized + Send + Sync + 'static {
    /// A configuration of the parser: a small value. Counts of open repeats, and whatever else is not
    /// context-free, are part of it.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The state before the first byte.
    fn start(&self) -> Self::State;

    /// Reads one byte. `None`: no sentence goes on with it. Work that is not a table look-up burns fuel; with
    /// none left the step fails.
    fn step(&self, state: Self::State, byte: u8, fuel: &mut Fuel) -> Result<Option<Self::State>, StepError>;

    /// Whether the text so far is a sentence.
    fn is_complete(&self, state: Self::State) -> bool;

    /// The bytes that may be read next: bit `b % 64` of word `b / 64`. Exact.
    fn next_bytes(&self, state: Self::State) -> [u64; 4];

    /// The name of the state's mask.
    fn mask_key(&self, state: Self::State) -> MaskKey;

    /// States that together allow the same tokens as this one: a token is allowed if and only if one of them allows it.
    /// None, as provided: the mask of the state is computed as one.
    ///
    /// Serves: parsers with many readings of a text that occur in later states again, such as counts of one repeat. Each has
    /// a mask of its own, which is kept, and masks are merged (XGrammar's first paper, section 3.1, algorithm 1).
    ///
    /// # Errors
    ///
    /// Where the fuel does not suffice, or a limit is reached.
    fn parallel_states(&self, _: Self::State, _: &mut Fuel) -> Result<Vec<Self::State>, StepError> {
        Ok(Vec::new())
    }

    /// The state after a text, if look-ups suffice. `None` where a byte is refused, or where a step is taken
    /// for the first time, which costs work. A token that is accepted has mostly been a step of a mask
    /// before.
    fn read_known(&self, state: Self::State, text: &[u8]) -> Option<Self::State> {
        let mut fuel = Fuel::new(0);
        text.iter().try_fold(state, |state, &byte| self.step(state, byte, &mut fuel).ok().flatten())
    }

    /// The least number of bytes with which a sentence can be finished, and bytes with which such a completion can begin:
    /// all [`next_bytes`](Self::next_bytes), or fewer. The number is 0 if the text so far is a sentence, and `u64::MAX` if
    /// a token has to be read as a whole. Endings of texts need it, and masks do not.
    ///
    /// As provided, it is the length of a [shortest ending](Self::shortest_ending).
    ///
    /// # Errors
    ///
    /// Where the fuel does not suffice.
    fn shortest_completion(&self, state: Self::State, fuel: &mut Fuel) -> Result<(u64, [u64; 4]), StepError> {
        let ending = self.shortest_ending(state, usize::MAX, fuel)?;
        Ok((ending.map_or(u64::MAX, |ending| ending.len() as u64), self.next_bytes(state)))
    }

    /// A shortest text that finishes a sentence, any of those that are as short. `None` where it takes more than `max_bytes`, or a token has to be read as
    /// a whole.
    ///
    /// As provided, it searches breadth first, which takes as many steps as there are states within that number of bytes.
    ///
    /// # Errors
    ///
    /// Where the fuel does not suffice.
    fn shortest_ending(
        &self,
        state: Self::State,
        max_bytes: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<u8>>, StepError> {
        search_ending(self, state, max_bytes, fuel)
    }

    /// Steps from rows of a table.
    fn rows(&self) -> impl Rows<Self::State> {
        StepAlone(self)
    }

    /// The behaviour of states on texts over a class of characters.
    fn class_runs(&self) -> &impl ClassRuns<Self::State> {
        &NotOffered
    }

    /// States cut at a rule that is open in them.
    fn local_parts(&self) -> &impl LocalParts<Self::State> {
        &NotOffered
    }

    /// Steps by tokens that are read as a whole.
    fn token_edges(&self) -> &impl TokenEdges<Self::State> {
        &NotOffered
    }

    /// Tables that can be replaced by empty ones.
    fn tables(&self) -> &impl Tables<Self, Self::State> {
        &NotOffered
    }

    /// The places where items or names must differ. `None`: grammars with such places are declined.
    fn distinct_scopes(&self) -> Option<&impl DistinctScopes<Self::State>> {
        None::<&NotOffered>
    }

    /// States that are made from a description. `None`: grammars with bounds on tokens are declined.
    fn configurations(&self) -> Option<&impl Configurations<Self::State>> {
        None::<&NotOffered>
    }
}

/// The rows of a backend without tables.
struct StepAlone<'b, B>(&'b B);

impl<B: Backend> Rows<B::State> for StepAlone<'_, B> {
    type Row = ();

    fn row(&self, _: B::State) {}

    fn row_from(&self, _: B::State, (): (), _: B::State) {}

    fn step_in(
        &self,
        (): (),
        state: B::State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<B::State>, StepError> {
        self.0.step(state, byte, fuel)
    }
}

/// The bytes that lead to the next complete state: level by level, each state once.
fn search_ending<B: Backend>(
    backend: &B,
    start: B::State,
    max_bytes: usize,
    fuel: &mut Fuel,
) -> Result<Option<Vec<u8>>, StepError> {
    let mut seen = HashSet::from([start]);
    // Each state with the place of the one before it, and the byte between them.
    let mut reached = vec![(start, 0, 0)];
    let (mut level, mut length) = (0..1, 0);
    while !level.is_empty() {
        for place in level.clone() {
            if backend.is_complete(reached[place].0) {
                let back = std::iter::successors(Some(place), |&place| Some(reached[place].1));
                let mut ending: Vec<u8> = back.take(length).map(|place| reached[place].2).collect();
                ending.reverse();
                return Ok(Some(ending));
            }
        }
        if length == max_bytes {
            break;
        }
        for place in level.clone() {
            let state = reached[place].0;
            let words = backend.next_bytes(state);
            for byte in (0..=u8::MAX).filter(|byte| words[usize::from(byte / 64)] >> (byte % 64) & 1 == 1) {
                fuel.burn(1)?;
                let next = backend.step(state, byte, fuel)?.filter(|&next| seen.insert(next));
                reached.extend(next.map(|next| (next, place, byte)));
            }
        }
        (level, length) = (level.end..reached.len(), length + 1);
    }
    // Every state leads to a sentence, so the ending is longer, or what is left is a token that has no bytes.
    Ok(None)
}
