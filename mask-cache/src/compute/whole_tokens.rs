//! Tokens that the grammar takes as a whole.
//!
//! A special token has no bytes, and is read only where the grammar names it. A text token that the grammar
//! names can be read as itself and as its bytes. Both ways are followed at once, so that the state after it
//! is the union of both.

use grammask_parser_backend::{Backend, Fuel, StepError, TokenEdges, TokenSet};

use crate::ids::{TokenId, TokenKind};
use crate::mask::bits::{self, words_for};
use crate::mask::sparse_words::SparseWords;
use crate::mask::stored_mask::{Form, StoredMask};
use crate::vocabulary::tokens::Vocabulary;

/// The tokens that a state reads as a whole, by the labels of the grammar.
pub(crate) struct WholeTokens<'b, B: Backend> {
    backend: &'b B,
    labels: &'b [u32],
}

impl<'b, B: Backend> WholeTokens<'b, B> {
    pub(crate) fn at(backend: &'b B, state: B::State) -> Self {
        Self { backend, labels: backend.token_edges().token_labels(state) }
    }

    /// The mask of the state with these tokens added. Those of the base of a difference are the same.
    pub(crate) fn add_to(&self, mut mask: StoredMask, vocabulary: &Vocabulary) -> StoredMask {
        if self.is_empty() {
            return mask;
        }
        // A set of all tokens but a few is most of the vocabulary, so the mask becomes plain words. A few
        // listed tokens go into the mask's own ids, and the shared part stays shared.
        if self.has_complement() || matches!(mask.form, Form::Words(_)) {
            let mut words = vec![0; words_for(mask.len)];
            mask.write(&mut words);
            self.set_bits(vocabulary, &mut words);
            mask.all = bits::count(&words) == mask.len;
            mask.form = Form::Words(words.into());
            return mask;
        }
        let mut listed = Vec::new();
        self.push_listed(vocabulary, &mut listed);
        match &mut mask.form {
            Form::Ids(ids) | Form::Slice { ids, .. } | Form::LocalPart { ids, .. } => {
                listed.extend(ids.ids());
                *ids = SparseWords::from_ids(&listed, mask.len, &mut Vec::new());
            }
            Form::Difference { added, removed, .. } => {
                // The base has the same whole tokens, so these ids must not be part of the difference.
                for ids in [added, removed] {
                    let left: Vec<u32> = ids.ids().filter(|id| listed.binary_search(id).is_err()).collect();
                    *ids = SparseWords::from_ids(&left, mask.len, &mut Vec::new());
                }
            }
            Form::Words(_) => {}
        }
        if let Form::Ids(ids) = &mask.form {
            mask.all = ids.count() == mask.len;
        }
        mask
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Whether a token is read as a whole.
    pub(crate) fn contains(&self, vocabulary: &Vocabulary, id: TokenId) -> bool {
        let mut sets = self.sets();
        match vocabulary.kind(id) {
            TokenKind::Empty => false,
            // "Everything but" a few tokens does not mean the end of the text; only a set that names a stop
            // token does.
            TokenKind::Stop => sets.any(|set| set.names(id.get())),
            TokenKind::Text | TokenKind::Special => sets.any(|set| set.contains(id.get())),
        }
    }

    /// Whether any token of the vocabulary is read as a whole.
    pub(crate) fn allows_any(&self, vocabulary: &Vocabulary) -> bool {
        let mut words = vec![0; words_for(vocabulary.len())];
        self.set_bits(vocabulary, &mut words);
        words.iter().any(|&word| word != 0)
    }

    /// Whether the set of a label is given by the tokens that it excludes: it holds nearly all others.
    pub(crate) fn has_complement(&self) -> bool {
        self.sets().any(|set| matches!(set, TokenSet::Outside(_)))
    }

    /// Adds the ids of all sets that list theirs.
    pub(crate) fn push_listed(&self, vocabulary: &Vocabulary, ids: &mut Vec<u32>) {
        for set in self.sets() {
            if let TokenSet::Inside(listed) = set {
                let is_a_token =
                    |id: &u32| vocabulary.id(*id).is_some_and(|id| vocabulary.kind(id) != TokenKind::Empty);
                ids.extend(listed.iter().copied().filter(is_a_token));
            }
        }
        ids.sort_unstable();
        ids.dedup();
    }

    /// Sets the bits of all sets.
    pub(crate) fn set_bits(&self, vocabulary: &Vocabulary, words: &mut [u32]) {
        let mut listed = Vec::new();
        self.push_listed(vocabulary, &mut listed);
        listed.iter().for_each(|&id| bits::set(words, id as usize));
        let Some(excluded) = self.excluded() else { return };
        for id in TokenId::below(vocabulary.len()) {
            let is_readable = matches!(vocabulary.kind(id), TokenKind::Text | TokenKind::Special);
            if is_readable && excluded.binary_search(&id.get()).is_err() {
                bits::set(words, id.index());
            }
        }
    }

    /// The tokens that all sets of the kind "everything but" exclude; `None` where there is no such set.
    fn excluded(&self) -> Option<Vec<u32>> {
        let mut sets = self.sets().filter_map(|set| match set {
            TokenSet::Outside(excluded) => Some(excluded),
            TokenSet::Inside(_) => None,
        });
        let mut excluded = sets.next()?.to_vec();
        for other in sets {
            excluded.retain(|id| other.binary_search(id).is_ok());
        }
        Some(excluded)
    }

    fn sets(&self) -> impl Iterator<Item = TokenSet<'b>> {
        let backend = self.backend;
        self.labels.iter().map(move |&label| backend.token_edges().token_set(label))
    }
}

/// Whether the grammar names a token here, that is, lists it among those that it takes as a whole.
pub fn names_token<B: Backend>(backend: &B, state: B::State, id: TokenId) -> bool {
    backend
        .token_edges()
        .token_labels(state)
        .iter()
        .any(|&label| backend.token_edges().token_set(label).names(id.get()))
}

/// One token from a state, without a mask: the state after it, or how many bytes were read. A token that the grammar
/// names is read as a whole, too.
///
/// # Errors
///
/// Where the backend reaches a limit.
pub fn read_token<B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    id: TokenId,
    fuel: &mut Fuel,
) -> Result<Result<B::State, usize>, StepError> {
    let by_bytes = read_bytes(backend, state, vocabulary.token_bytes(id), fuel)?;
    if !WholeTokens::at(backend, state).contains(vocabulary, id) {
        return Ok(by_bytes);
    }
    match (backend.token_edges().step_token(state, id.get(), fuel)?, by_bytes) {
        (None, by_bytes) => Ok(by_bytes),
        (Some(whole), Err(_)) => Ok(Ok(whole)),
        // The text has both readings from here on, as the mask allows the token for either.
        (Some(whole), Ok(by_bytes)) => Ok(Ok(backend.token_edges().join(whole, by_bytes, fuel)?)),
    }
}

fn read_bytes<B: Backend>(
    backend: &B,
    mut state: B::State,
    bytes: &[u8],
    fuel: &mut Fuel,
) -> Result<Result<B::State, usize>, StepError> {
    // A token without bytes leaves the state as it was. To accept it would let a text go on without end.
    if bytes.is_empty() {
        return Ok(Err(0));
    }
    for (read, &byte) in bytes.iter().enumerate() {
        match backend.step(state, byte, fuel)? {
            Some(next) => state = next,
            None => return Ok(Err(read)),
        }
    }
    Ok(Ok(state))
}
