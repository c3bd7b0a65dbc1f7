//! A place in a text, described by the calls that are open there.

use crate::error::StepError;
use crate::fuel::Fuel;
use crate::not_offered::NotOffered;

/// The open calls of a parser in plain numbers: those of the program that the backend was made of. A second
/// parser of the same text, which knows what the backend does not, passes its findings on in this form; see
/// [`Configurations::assemble`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The states that read the next byte or token, each with the number of its call.
    pub items: Vec<(u32, u32)>,
    /// The open calls.
    pub calls: Vec<OpenCall>,
    /// The groups that wait for them.
    pub groups: Vec<OpenGroup>,
    /// Whether the text is a sentence.
    pub is_complete: bool,
}

/// An open call of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The number of its group.
    pub group: u32,
    /// Its progress, beyond its states.
    pub progress: Progress,
}

/// Open calls of one fragment for which the same ones wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenGroup {
    /// The fragment.
    pub fragment: u32,
    /// The states to go on in, each with the number of its call.
    pub waiting: Vec<(u32, u32)>,
    /// Whether the end of the call is that of the text.
    pub is_text: bool,
}

/// The count of an open call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing.
    None,
    /// Iterations of a repeat that are over.
    Iterations(u32),
    /// Parts in any order that were read.
    Parts {
        /// One bit for each part that occurs at most once.
        once: Box<[u64]>,
        /// How many parts were read.
        count: u32,
    },
}

/// States that are made from a description: an optional part of a [`Backend`](crate::Backend).
///
/// Serves: rules with a bound on their tokens (`max_tokens`), which a second parser counts.
///
/// Without it: a compiler declines grammars with such bounds. Masks of all others are the same.
pub trait Configurations<S> {
    /// The state that a configuration describes. `None` if there is no such state.
    fn assemble(&self, configuration: &Configuration, fuel: &mut Fuel) -> Result<Option<S>, StepError>;
}

impl<S> Configurations<S> for NotOffered {
    fn assemble(&self, _: &Configuration, _: &mut Fuel) -> Result<Option<S>, StepError> {
        Ok(None)
    }
}
