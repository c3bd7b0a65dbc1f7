//! Classes of characters over which strings run.

use crate::error::StepError;
use crate::fuel::Fuel;
use crate::not_offered::NotOffered;

/// A class of characters: some of ASCII, and either all or none of the others. The inside of a JSON string,
/// identifiers and whitespace are such classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CharClass {
    /// Bit `b` says that ASCII character `b` belongs to the class.
    pub ascii: u128,
    /// Whether every character above U+007F belongs to the class.
    pub non_ascii: bool,
}

impl CharClass {
    /// Whether an ASCII byte belongs to the class. False for bytes above 0x7F.
    pub fn contains_ascii(&self, byte: u8) -> bool {
        byte < 128 && self.ascii >> byte & 1 == 1
    }

    /// The bytes that begin characters of the class: bit `b % 64` of word `b / 64`.
    #[inline]
    pub const fn start_bytes(&self) -> [u64; 4] {
        // The lead bytes of UTF-8 are C2 to F4.
        let leads = if self.non_ascii { u64::MAX >> (63 - (0xF4 - 0xC0)) & !0b11 } else { 0 };
        [self.ascii as u64, (self.ascii >> 64) as u64, 0, leads]
    }
}

/// The behaviour of a state on texts whose characters all belong to a class, and which begin at a boundary of
/// characters (they may end inside one). An answer that a caller does not know is [`Unknown`](Self::Unknown) to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Run {
    /// Nothing is known; each text must be tried.
    Unknown,
    /// Every such text is allowed, however long.
    Unbounded,
    /// Such a text is allowed if and only if it has at most this many characters, a cut one at its end
    /// counted.
    AtMost(u32),
    /// Every such text of at most this many characters is allowed, a cut one at its end counted; longer ones must be
    /// tried.
    AtLeast(u32),
}

/// The behaviour of states on texts over a class of characters: an optional part of a [`Backend`](crate::Backend).
///
/// Saves: inside of a string nearly every token may come next. Where [`run_over`](Self::run_over) says that every text over
/// a class may follow, its tokens are taken as one set, known beforehand, and the others are walked.
///
/// Without it: all tokens are walked there, of Llama 3.1's 128,000 in place of 6,000. The masks are the same.
pub trait ClassRuns<S> {
    /// The behaviour of the state on texts over a class. [`Run::Unknown`] is always a correct answer; any
    /// other must be exact.
    fn run_over(&self, state: S, class: &CharClass, fuel: &mut Fuel) -> Run;

    /// The states that 1, 2, ... characters of a class lead to, where all characters lead to one state, each from its first
    /// byte to its last. There are at most `max` of them, and fewer if the last of them leads to itself. `None` is always
    /// a correct answer, and the right one where all characters would have to be tried.
    fn step_class_n(
        &self,
        state: S,
        class: &CharClass,
        max: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<S>>, StepError> {
        let _ = (state, class, max, fuel);
        Ok(None)
    }
}

impl<S> ClassRuns<S> for NotOffered {
    fn run_over(&self, _: S, _: &CharClass, _: &mut Fuel) -> Run {
        Run::Unknown
    }
}
