//! The steps of one text: the bytes and tokens, so that they can be read again, and the states in between, so
//! that mostly they need not be.
//!
//! A state belongs to one generation of tables. When a matcher moves over to the next one, it takes along the
//! states of the last steps. Those of earlier ones are *lost*, and a rollback that reaches them reads the
//! text again.

use std::sync::Arc;

use grammask_mask_cache::{TokenId, Vocabulary};
use grammask_parser_backend::SharedVec;

/// The steps of one text. Copies share nearly all of them.
#[derive(Clone, Debug)]
pub(super) struct History<S> {
    steps: SharedVec<Step<S>>,
    /// The texts of bytes, in order.
    texts: SharedVec<Arc<[u8]>>,
    /// The number of steps whose states are lost.
    lost: usize,
}

#[derive(Clone, Copy, Debug)]
struct Step<S> {
    /// The state before the step.
    before: S,
    /// The id of a token; [`BYTES`] for a text of bytes.
    read: u32,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryStep<'h> {
    Token(TokenId),
    Bytes(&'h [u8]),
}

/// In place of an id: no vocabulary has this number of tokens.
const BYTES: u32 = u32::MAX;

impl<S> Default for History<S> {
    fn default() -> Self {
        Self { steps: SharedVec::default(), texts: SharedVec::default(), lost: 0 }
    }
}

impl<S: Copy> History<S> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    #[inline]
    pub(super) fn push_token(&mut self, before: S, id: TokenId) {
        self.steps.push(Step { before, read: id.get() });
    }

    pub(super) fn push_bytes(&mut self, before: S, bytes: &[u8]) {
        self.steps.push(Step { before, read: BYTES });
        self.texts.push(bytes.into());
    }

    /// Whether the state after the first steps is known, if there are more.
    pub(super) fn is_known(&self, steps: usize) -> bool {
        steps >= self.lost
    }

    /// Forgets all but the first steps. The state after them, if there were more; it is to be [known](Self::is_known).
    pub(super) fn truncate(&mut self, steps: usize) -> Option<S> {
        if !self.texts.is_empty() {
            let texts = self.steps.iter_from(steps).filter(|step| step.read == BYTES).count();
            self.texts.truncate(self.texts.len() - texts);
        }
        self.lost = self.lost.min(steps);
        let left = self.steps.get(steps).map(|step| step.before);
        self.steps.truncate(steps);
        left
    }

    /// The known states before the steps, the last one first.
    pub(super) fn states_back(&self) -> impl Iterator<Item = S> {
        self.steps.iter_back().take(self.len() - self.lost).map(|step| step.before)
    }

    /// Puts others in the place of the states before the last steps, the last one first. Those before are lost.
    pub(super) fn replace_states(&mut self, states_back: &[S]) {
        self.lost = self.len() - states_back.len();
        for (place, &state) in (self.lost..).zip(states_back.iter().rev()) {
            if let Some(step) = self.steps.get_mut(place) {
                step.before = state;
            }
        }
    }

    /// The steps from one on.
    pub(super) fn from(
        &self,
        first: usize,
        vocabulary: &Vocabulary,
    ) -> impl Iterator<Item = HistoryStep<'_>> {
        let steps = self.steps.iter_from(first);
        let texts = match self.texts.is_empty() {
            true => 0,
            false => self.steps.iter_from(first).filter(|step| step.read == BYTES).count(),
        };
        let mut texts = self.texts.iter_from(self.texts.len() - texts);
        steps.filter_map(move |step| match step.read {
            BYTES => texts.next().map(|text| HistoryStep::Bytes(text)),
            id => vocabulary.id(id).map(HistoryStep::Token),
        })
    }
}
