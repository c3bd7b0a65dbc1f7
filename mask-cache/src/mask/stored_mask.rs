//! A mask as it is kept, and how it comes into a caller's buffer.
//!
//! The naive way keeps 16 KB of bits for each state and copies them for each token. Here a mask is kept as
//! its own part *over* a part that others share. That is nothing, the tokens of a slice, the accepted tokens
//! of a local part, or another mask. A buffer that is known to hold one mask becomes another one over the
//! same part by taking back the first one's own words. These are few, where the whole copy has four thousand.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::bits::{self, words_for};
use super::class_tokens::ClassTokens;
use super::sparse_words::SparseWords;
use super::token_mask::TokenMask;
use crate::ids::TokenId;

/// A mask as it is kept, in the smallest of several forms.
///
/// A mask of 128,000 tokens is 16 KB as bits. Most masks hold a few tokens, and most of the others hold almost
/// all tokens of a slice, which is kept anyway.
#[derive(Debug)]
pub struct StoredMask {
    pub(crate) form: Form,
    pub(crate) len: usize,
    pub(crate) all: bool,
}

#[derive(Debug)]
pub(crate) enum Form {
    /// These tokens alone.
    Ids(SparseWords),
    /// The tokens of a slice, up to a number of characters, and others.
    Slice { tokens: Arc<ClassTokens>, max_chars: Option<u32>, ids: SparseWords },
    /// The tokens that a local part accepts, as bits, and others.
    LocalPart { accepted: Arc<[u32]>, ids: SparseWords },
    /// Another mask, with some ids more and some less. The other mask is not of this form, allows none of those
    /// added and all of those removed.
    Difference { base: Arc<StoredMask>, added: SparseWords, removed: SparseWords },
    /// Bits.
    Words(Box<[u32]>),
}

/// Whether both are kept as the same thing: equal content over the same memory. Masks that are kept otherwise may still
/// hold the same tokens.
impl PartialEq for StoredMask {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            // Large shared parts are compared by address. Equal parts at two addresses count as different,
            // which keeps two masks where one would do.
            && match (&self.form, &other.form) {
                (Form::Ids(ids), Form::Ids(others)) => ids == others,
                (
                    Form::Slice { tokens, max_chars, ids },
                    Form::Slice { tokens: other_tokens, max_chars: other_max, ids: others },
                ) => Arc::ptr_eq(tokens, other_tokens) && (max_chars, ids) == (other_max, others),
                (
                    Form::LocalPart { accepted, ids },
                    Form::LocalPart { accepted: other_accepted, ids: others },
                ) => Arc::ptr_eq(accepted, other_accepted) && ids == others,
                (
                    Form::Difference { base, added, removed },
                    Form::Difference { base: other_base, added: more, removed: less },
                ) => Arc::ptr_eq(base, other_base) && (added, removed) == (more, less),
                (Form::Words(words), Form::Words(others)) => words == others,
                _ => false,
            }
    }
}

impl Hash for StoredMask {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.form {
            Form::Ids(ids) => (0, ids).hash(state),
            Form::Slice { tokens, max_chars, ids } => (1, Arc::as_ptr(tokens), max_chars, ids).hash(state),
            Form::LocalPart { accepted, ids } => (2, Arc::as_ptr(accepted), ids).hash(state),
            Form::Difference { base, added, removed } => (3, Arc::as_ptr(base), added, removed).hash(state),
            Form::Words(words) => (4, words).hash(state),
        }
    }
}

/// To put this many words into a buffer takes as long as to find another buffer.
const MIN_LARGE: usize = 64;

/// The shared words to which the ids of a form are added. Past their end all words are 0.
#[derive(Clone, Copy)]
enum SharedWords<'m> {
    None,
    Words(&'m [u32]),
}

impl SharedWords<'_> {
    /// Whether both are the same memory. This test is cheap, and enough, since shared parts are shared by
    /// reference.
    fn is_same_memory(self, other: Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Words(one), Self::Words(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }

    fn words(&self) -> &[u32] {
        match self {
            Self::None => &[],
            Self::Words(words) => words,
        }
    }
}

impl StoredMask {
    /// Number of ids that the mask has a bit for.
    pub(super) fn id_count(&self) -> usize {
        self.len
    }

    /// Writes the mask over the first [`words_for`]`(len)` words of `into`; the rest is cleared. Fewer words get the
    /// bits of the first ids alone.
    pub fn write(&self, into: &mut [u32]) {
        let words = words_for(self.len).min(into.len());
        let (into, rest) = into.split_at_mut(words);
        rest.fill(0);
        match &self.form {
            Form::Ids(ids) => {
                into.fill(0);
                ids.set(into);
            }
            Form::Slice { tokens, max_chars, ids } => {
                tokens.write(*max_chars, into);
                ids.set(into);
            }
            Form::LocalPart { accepted, ids } => {
                bits::copy(into, accepted);
                ids.set(into);
            }
            Form::Difference { base, added, removed } => {
                base.write(into);
                added.set(into);
                // After the added ones. No id is in both, so the order does not matter for the result.
                removed.clear(into);
            }
            Form::Words(words) => bits::copy(into, words),
        }
    }

    /// The mask without some of the tokens that it allows. The part that it shares with other masks stays
    /// shared.
    #[must_use]
    pub fn without(self: &Arc<Self>, removed: &[TokenId]) -> Arc<Self> {
        if removed.is_empty() {
            return Arc::clone(self);
        }
        let ids: Vec<u32> = removed.iter().map(|id| id.get()).collect();
        let sparse = |ids: &[u32]| SparseWords::from_ids(ids, self.len, &mut Vec::new());
        // A mask over ids alone, or a difference, takes the change into itself. Any other form becomes the
        // base of a new difference, so that its bits are not copied.
        let is_removed: std::collections::HashSet<u32, ahash::RandomState> = ids.iter().copied().collect();
        let left = |kept: &SparseWords| {
            sparse(&kept.ids().filter(|id| !is_removed.contains(id)).collect::<Vec<_>>())
        };
        let form = match &self.form {
            Form::Ids(kept) => Form::Ids(left(kept)),
            Form::Difference { base, added, removed: before } => {
                let added_ids: std::collections::HashSet<u32, ahash::RandomState> = added.ids().collect();
                // Ids that the difference had added are simply not added any more. Only those of the base
                // have to be removed.
                let of_base = ids.into_iter().filter(|id| !added_ids.contains(id));
                let removed: Vec<u32> = before.ids().chain(of_base).collect();
                Form::Difference { base: Arc::clone(base), added: left(added), removed: sparse(&removed) }
            }
            _ => Form::Difference { base: Arc::clone(self), added: sparse(&[]), removed: sparse(&ids) },
        };
        debug_assert!({
            let mask = self.to_mask();
            removed.iter().all(|&id| mask.contains(id))
        });
        Arc::new(Self { form, len: self.len, all: false })
    }

    /// The mask in a buffer of its own.
    pub fn to_mask(self: &Arc<Self>) -> TokenMask {
        let mut mask = TokenMask::new(self.len);
        mask.load(self);
        mask
    }

    /// Whether more than `count` tokens are allowed, judged cheaply: `false` may be wrong.
    pub(crate) fn allows_more_than(&self, count: usize) -> bool {
        let words = match (&self.form, self.shared_and_own()) {
            (Form::Words(words), _) => words,
            (_, Some((SharedWords::Words(words), _))) => words,
            _ => return false,
        };
        let mut left = count;
        words.iter().any(|word| {
            let ones = word.count_ones() as usize;
            let exceeds = ones > left;
            left = left.saturating_sub(ones);
            exceeds
        })
    }

    /// The only token that is allowed, if there is just one.
    pub fn single(&self) -> Option<TokenId> {
        match &self.form {
            Form::Ids(ids) => ids.single().and_then(TokenId::new),
            _ => None,
        }
    }

    /// Whether every id is allowed, special ones and holes included.
    pub fn allows_all(&self) -> bool {
        self.all
    }

    /// Bytes of memory held, without the part that it shares with other masks.
    pub fn memory_usage(&self) -> usize {
        let content = match &self.form {
            Form::Ids(ids) | Form::Slice { ids, .. } | Form::LocalPart { ids, .. } => ids.memory_usage(),
            Form::Difference { added, removed, .. } => added.memory_usage() + removed.memory_usage(),
            Form::Words(words) => size_of_val(&**words),
        };
        size_of::<Self>() + content
    }

    /// Turns words that hold `before`, a mask of the same vocabulary, into this mask, if both are over the
    /// same part. `false`: nothing was done.
    pub(crate) fn write_changes(&self, before: &Self, into: &mut [u32]) -> bool {
        if let (Some((shared, ids)), Some((shared_before, ids_before))) =
            (self.shared_and_own(), before.shared_and_own())
        {
            if !shared.is_same_memory(shared_before) {
                return false;
            }
            // The shared words may hold some of the ids too, so whole words are put back.
            ids_before.restore_from(shared.words(), into);
            ids.set(into);
            return true;
        }
        // Otherwise both may be differences to one base, or one of them the base of the other.
        let (base, changes) = self.difference();
        let (base_before, changes_before) = before.difference();
        if !std::ptr::eq(base, base_before) {
            return false;
        }
        if let Some([added, removed]) = changes_before {
            // First back to the base. Added ids are not in the base and removed ones are, so this restores it
            // exactly.
            added.clear(into);
            removed.set(into);
        }
        if let Some([added, removed]) = changes {
            added.set(into);
            removed.clear(into);
        }
        true
    }

    /// Whether the mask is one of a row that hardly comes back to another one: those of a text that nears its upper
    /// bound.
    pub(crate) fn is_later_in_countdown(&self, before: &Self) -> bool {
        match (&self.form, &before.form) {
            (Form::Slice { tokens, .. }, Form::Slice { tokens: other, max_chars: Some(_), .. }) => {
                Arc::ptr_eq(tokens, other)
            }
            _ => false,
        }
    }

    /// Whether the mask has enough words of its own that a buffer that holds it is worth keeping.
    pub(crate) fn is_large(&self) -> bool {
        let own = match &self.form {
            Form::Ids(ids) | Form::Slice { ids, .. } | Form::LocalPart { ids, .. } => ids.words(),
            Form::Difference { added, removed, .. } => added.words() + removed.words(),
            Form::Words(words) => words.len(),
        };
        own > MIN_LARGE
    }

    /// The ids of the mask, and the part below them.
    fn shared_and_own(&self) -> Option<(SharedWords<'_>, &SparseWords)> {
        match &self.form {
            Form::Ids(ids) => Some((SharedWords::None, ids)),
            Form::Slice { tokens, max_chars, ids } => {
                let words = match max_chars {
                    None => tokens.words(),
                    Some(chars) => tokens.at_most(*chars)?,
                };
                Some((SharedWords::Words(words), ids))
            }
            Form::LocalPart { accepted, ids } => Some((SharedWords::Words(accepted), ids)),
            Form::Difference { .. } | Form::Words(_) => None,
        }
    }

    /// The mask that this one is a difference to, with the ids added and those removed: itself and none, if it is
    /// kept otherwise.
    fn difference(&self) -> (&Self, Option<[&SparseWords; 2]>) {
        match &self.form {
            Form::Difference { base, added, removed } => (base, Some([added, removed])),
            _ => (self, None),
        }
    }
}
