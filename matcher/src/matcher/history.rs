//! What a matcher read, step by step: a number for each, so that another grammar can read it again.

use grammask_mask_cache::{TokenId, Vocabulary};

/// The steps of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Ids of tokens; [`BYTES`] for a text of bytes.
    steps: Vec<u32>,
    /// The texts of bytes, in order.
    texts: Vec<Box<[u8]>>,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryStep<'h> {
    Token(TokenId),
    Bytes(&'h [u8]),
}

/// In place of an id: no vocabulary has so many tokens.
const BYTES: u32 = u32::MAX;

impl History {
    #[inline]
    pub(super) fn push_token(&mut self, id: TokenId) {
        self.steps.push(id.get());
    }

    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.steps.push(BYTES);
        self.texts.push(bytes.into());
    }

    /// Forgets all but the first steps.
    pub(super) fn truncate(&mut self, steps: usize) {
        let forgotten = self.steps.get(steps..).unwrap_or_default();
        let texts = forgotten.iter().filter(|&&step| step == BYTES).count();
        self.steps.truncate(steps);
        self.texts.truncate(self.texts.len() - texts);
    }

    /// The steps from one on.
    pub(super) fn from(
        &self,
        first: usize,
        vocabulary: &Vocabulary,
    ) -> impl Iterator<Item = HistoryStep<'_>> {
        let (before, steps) = self.steps.split_at(first.min(self.steps.len()));
        let texts = before.iter().filter(|&&step| step == BYTES).count();
        let mut texts = self.texts.iter().skip(texts);
        steps.iter().filter_map(move |&step| match step {
            BYTES => texts.next().map(|text| HistoryStep::Bytes(text)),
            id => vocabulary.id(id).map(HistoryStep::Token),
        })
    }
}
