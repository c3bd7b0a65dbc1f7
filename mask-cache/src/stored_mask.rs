//! A mask as it is kept, and how it comes into a caller's buffer.
//!
//! The naive way keeps 16 KB of bits for each state and copies them for each token. Here a mask is kept as what makes
//! it particular, *over* something that others share: nothing, a slice of the vocabulary, the accepted tokens of
//! a local part, or another mask. A buffer that is known to hold one mask becomes another one over the same thing by
//! taking back what made the first particular: a few words, where the whole copy has four thousand.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use grammask_parser_backend::Backend;

use crate::local::LocalMask;
use crate::named::Named;
use crate::sparse::Sparse;
use crate::walk::Found;
use crate::{TokenId, TokenMask, Vocabulary, bits, words_for};

/// A mask as it is kept, in the smallest of several forms.
///
/// A mask of 128,000 tokens is 16 KB as bits. Most masks hold a few tokens, and most of the others hold almost
/// all tokens of a slice that the vocabulary keeps anyway.
#[derive(Debug)]
pub struct StoredMask {
    pub(crate) form: Form,
    pub(crate) len: usize,
    pub(crate) all: bool,
}

#[derive(Debug)]
pub(crate) enum Form {
    /// These tokens alone.
    Ids(Sparse),
    /// The tokens of the vocabulary's slice at this place, of at most so many characters, and others.
    Slice { place: usize, at_most: Option<u32>, ids: Sparse },
    /// The tokens that a local part accepts, and others.
    Local { mask: Arc<LocalMask>, ids: Sparse },
    /// Another mask, with some ids more and some less. The other mask is not of this form, allows none of those
    /// added and all of those removed.
    Difference { base: Arc<StoredMask>, added: Sparse, removed: Sparse },
    /// Bits.
    Words(Box<[u32]>),
}

/// Whether both are kept as the same thing: equal content over the same memory. Masks that are kept otherwise may still
/// hold the same tokens.
impl PartialEq for StoredMask {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            && match (&self.form, &other.form) {
                (Form::Ids(ids), Form::Ids(others)) => ids == others,
                (
                    Form::Slice { place, at_most, ids },
                    Form::Slice { place: there, at_most: most, ids: others },
                ) => (place, at_most, ids) == (there, most, others),
                (Form::Local { mask, ids }, Form::Local { mask: there, ids: others }) => {
                    Arc::ptr_eq(mask, there) && ids == others
                }
                (
                    Form::Difference { base, added, removed },
                    Form::Difference { base: there, added: more, removed: less },
                ) => Arc::ptr_eq(base, there) && (added, removed) == (more, less),
                (Form::Words(words), Form::Words(others)) => words == others,
                _ => false,
            }
    }
}

impl Hash for StoredMask {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.form {
            Form::Ids(ids) => (0, ids).hash(state),
            Form::Slice { place, at_most, ids } => (1, place, at_most, ids).hash(state),
            Form::Local { mask, ids } => (2, Arc::as_ptr(mask), ids).hash(state),
            Form::Difference { base, added, removed } => (3, Arc::as_ptr(base), added, removed).hash(state),
            Form::Words(words) => (4, words).hash(state),
        }
    }
}

/// To put so many words into a buffer takes as long as to find another buffer.
const LARGE: usize = 64;

/// What the ids of a form are added to, as words. Past their end all words are 0.
#[derive(Clone, Copy)]
enum Under<'m> {
    Nothing,
    Words(&'m [u32]),
}

impl Under<'_> {
    /// Whether both are the same memory: the cheap test, and enough, since what is shared is shared by reference.
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Words(one), Self::Words(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }

    fn words(&self) -> &[u32] {
        match self {
            Self::Nothing => &[],
            Self::Words(words) => words,
        }
    }
}

impl StoredMask {
    pub(crate) fn new(found: Found<'_, '_>, len: usize) -> Self {
        let ids = match &*found.lists {
            [] => Sparse::from_ids(found.ids, len, found.zeros),
            lists => Sparse::joined(lists, found.ids, len, found.zeros),
        };
        // A word with its place takes two words.
        let is_small = ids.words() <= (words_for(len) / 2).max(1);
        let form = match found.slice {
            Some((slice, at_most)) if is_small => Form::Slice { place: slice.place(), at_most, ids },
            None if is_small => Form::Ids(ids),
            slice => {
                let mut words = vec![0; words_for(len)];
                match slice {
                    Some((slice, None)) => bits::copy(&mut words, slice.tokens()),
                    Some((slice, Some(chars))) => slice.write_at_most(chars, &mut words),
                    None => {}
                }
                ids.set(&mut words);
                Form::Words(words.into())
            }
        };
        // A mask that is kept as a slice and a few ids never holds special tokens and padding.
        let all = match &form {
            Form::Ids(ids) => ids.words() == words_for(len) && ids.count() == len,
            Form::Slice { .. } | Form::Local { .. } | Form::Difference { .. } => false,
            Form::Words(words) => bits::count(words) == len,
        };
        Self { form, len, all }
    }

    /// The mask with the tokens that its state reads as a whole. Those of the base of a difference are the same.
    pub(crate) fn with_named<B: Backend>(mut self, named: &Named<'_, B>, vocabulary: &Vocabulary) -> Self {
        if named.is_empty() {
            return self;
        }
        if named.has_outside() || matches!(self.form, Form::Words(_)) {
            let mut words = vec![0; words_for(self.len)];
            self.write(vocabulary, &mut words);
            named.set_bits(vocabulary, &mut words);
            self.all = bits::count(&words) == self.len;
            self.form = Form::Words(words.into());
            return self;
        }
        let mut listed = Vec::new();
        named.push_inside(vocabulary, &mut listed);
        match &mut self.form {
            Form::Ids(ids) | Form::Slice { ids, .. } | Form::Local { ids, .. } => {
                listed.extend(ids.ids());
                *ids = Sparse::from_ids(&listed, self.len, &mut Vec::new());
            }
            Form::Difference { added, removed, .. } => {
                for ids in [added, removed] {
                    let left: Vec<u32> = ids.ids().filter(|id| listed.binary_search(id).is_err()).collect();
                    *ids = Sparse::from_ids(&left, self.len, &mut Vec::new());
                }
            }
            Form::Words(_) => {}
        }
        if let Form::Ids(ids) = &self.form {
            self.all = ids.count() == self.len;
        }
        self
    }

    /// Writes the mask over the first [`words_for`]`(len)` words of `into`; the rest is cleared.
    pub fn write(&self, vocabulary: &Vocabulary, into: &mut [u32]) {
        let words = words_for(self.len).min(into.len());
        let (into, rest) = into.split_at_mut(words);
        rest.fill(0);
        match &self.form {
            Form::Ids(ids) => {
                into.fill(0);
                ids.set(into);
            }
            Form::Slice { place, at_most, ids } => {
                if let Some(slice) = vocabulary.slices().nth(*place) {
                    match at_most {
                        None => bits::copy(into, slice.tokens()),
                        Some(chars) => slice.write_at_most(*chars, into),
                    }
                }
                ids.set(into);
            }
            Form::Local { mask, ids } => {
                bits::copy(into, &mask.words);
                ids.set(into);
            }
            Form::Difference { base, added, removed } => {
                base.write(vocabulary, into);
                added.set(into);
                removed.clear(into);
            }
            Form::Words(words) => bits::copy(into, words),
        }
    }

    /// The mask without some of the tokens that it allows. What it shares with other masks is shared still.
    #[must_use]
    pub fn without(self: &Arc<Self>, removed: &[TokenId], vocabulary: &Vocabulary) -> Arc<Self> {
        if removed.is_empty() {
            return Arc::clone(self);
        }
        let ids: Vec<u32> = removed.iter().map(|id| id.get()).collect();
        let sparse = |ids: &[u32]| Sparse::from_ids(ids, self.len, &mut Vec::new());
        let is_removed: std::collections::HashSet<u32, ahash::RandomState> = ids.iter().copied().collect();
        let left =
            |kept: &Sparse| sparse(&kept.ids().filter(|id| !is_removed.contains(id)).collect::<Vec<_>>());
        let form = match &self.form {
            Form::Ids(kept) => Form::Ids(left(kept)),
            Form::Difference { base, added, removed: before } => {
                let added_ids: std::collections::HashSet<u32, ahash::RandomState> = added.ids().collect();
                let of_base = ids.into_iter().filter(|id| !added_ids.contains(id));
                let removed: Vec<u32> = before.ids().chain(of_base).collect();
                Form::Difference { base: Arc::clone(base), added: left(added), removed: sparse(&removed) }
            }
            _ => Form::Difference { base: Arc::clone(self), added: sparse(&[]), removed: sparse(&ids) },
        };
        debug_assert!({
            let mask = self.to_mask(vocabulary);
            removed.iter().all(|&id| mask.contains(id))
        });
        Arc::new(Self { form, len: self.len, all: false })
    }

    /// The mask in a buffer of its own.
    pub fn to_mask(self: &Arc<Self>, vocabulary: &Vocabulary) -> TokenMask {
        let mut mask = TokenMask::new(self.len);
        mask.load(self, vocabulary);
        mask
    }

    /// Whether more than so many tokens are allowed, judged cheaply: where it says no, they may be.
    pub(crate) fn allows_more_than(&self, count: usize, vocabulary: &Vocabulary) -> bool {
        let words = match (&self.form, self.over(vocabulary)) {
            (Form::Words(words), _) => words,
            (_, Some((Under::Words(words), _))) => words,
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

    /// Bytes of memory held, without what it shares with other masks.
    pub fn memory_usage(&self) -> usize {
        let content = match &self.form {
            Form::Ids(ids) | Form::Slice { ids, .. } | Form::Local { ids, .. } => ids.memory_usage(),
            Form::Difference { added, removed, .. } => added.memory_usage() + removed.memory_usage(),
            Form::Words(words) => size_of_val(&**words),
        };
        size_of::<Self>() + content
    }

    /// Turns words that hold `before`, a mask of the same vocabulary, into this mask, if both stand over the same thing.
    /// `false`: nothing was done.
    pub(crate) fn write_changes(&self, before: &Self, vocabulary: &Vocabulary, into: &mut [u32]) -> bool {
        if let (Some((under, ids)), Some((under_before, ids_before))) =
            (self.over(vocabulary), before.over(vocabulary))
        {
            if !under.is(under_before) {
                return false;
            }
            // What lies under may hold some of the ids too, so whole words are put back.
            ids_before.take_back(under.words(), into);
            ids.set(into);
            return true;
        }
        let (base, changes) = self.difference();
        let (base_before, changes_before) = before.difference();
        if !std::ptr::eq(base, base_before) {
            return false;
        }
        if let Some([added, removed]) = changes_before {
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
    pub(crate) fn succeeds(&self, before: &Self) -> bool {
        match (&self.form, &before.form) {
            (Form::Slice { place, .. }, Form::Slice { place: other, at_most: Some(_), .. }) => place == other,
            _ => false,
        }
    }

    /// Whether the mask has so many words of its own that a buffer that holds it is worth keeping.
    pub(crate) fn is_large(&self) -> bool {
        let own = match &self.form {
            Form::Ids(ids) | Form::Slice { ids, .. } | Form::Local { ids, .. } => ids.words(),
            Form::Difference { added, removed, .. } => added.words() + removed.words(),
            Form::Words(words) => words.len(),
        };
        own > LARGE
    }

    /// The ids of the mask, and what they stand over.
    fn over<'m>(&'m self, vocabulary: &'m Vocabulary) -> Option<(Under<'m>, &'m Sparse)> {
        match &self.form {
            Form::Ids(ids) => Some((Under::Nothing, ids)),
            Form::Slice { place, at_most, ids } => {
                let slice = vocabulary.slices().nth(*place)?;
                let tokens = match at_most {
                    None => slice.tokens(),
                    Some(chars) => slice.at_most(*chars)?,
                };
                Some((Under::Words(tokens), ids))
            }
            Form::Local { mask, ids } => Some((Under::Words(&mask.words), ids)),
            Form::Difference { .. } | Form::Words(_) => None,
        }
    }

    /// The mask that this one is a difference to, with the ids added and those removed: itself and none, if it is
    /// kept otherwise.
    fn difference(&self) -> (&Self, Option<[&Sparse; 2]>) {
        match &self.form {
            Form::Difference { base, added, removed } => (base, Some([added, removed])),
            _ => (self, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VocabularyOptions;

    /// Masks of every form over a vocabulary, some of which share what they stand over. The slice of JSON strings
    /// holds `a`, `bb`, ...; ids that it holds too stand beside it, as tokens do that are too long for a trie.
    fn masks(vocabulary: &Vocabulary) -> Vec<Arc<StoredMask>> {
        let len = vocabulary.len();
        let sparse = |ids: &[u32]| Sparse::from_ids(ids, len, &mut Vec::new());
        let make = |form| Arc::new(StoredMask { form, len, all: false });
        let local = |word: u32| {
            Arc::new(LocalMask::of_words(
                (0..words_for(len)).map(|at| word << (at % 5)).collect::<Vec<u32>>(),
            ))
        };
        let (one, other) = (local(0b1101), local(0b10));
        let words = make(Form::Words((0..words_for(len) as u32).map(|at| at * 77).collect()));
        let ids = make(Form::Ids(sparse(&[3, 40, 64])));
        let mut all = vec![
            make(Form::Ids(sparse(&[]))),
            make(Form::Ids(sparse(&[3, 41, 42]))),
            make(Form::Local { mask: Arc::clone(&one), ids: sparse(&[2, 3, 70]) }),
            make(Form::Local { mask: one, ids: sparse(&[1]) }),
            make(Form::Local { mask: other, ids: sparse(&[0, 33]) }),
        ];
        for at_most in [None, Some(1), Some(40), Some(2)] {
            all.push(make(Form::Slice { place: 2, at_most, ids: sparse(&[5, 6]) }));
            all.push(make(Form::Slice { place: 2, at_most, ids: sparse(&[7]) }));
        }
        for base in [words, ids] {
            // What is added is not in the base, what is removed is.
            let held = |id: &u32| bits::contains(base.to_mask(vocabulary).as_words(), *id as usize);
            let (there, absent): (Vec<u32>, Vec<u32>) = (0..len as u32).partition(held);
            for skip in 0..2 {
                let added: Vec<u32> = absent.iter().skip(skip).step_by(2).copied().collect();
                let removed: Vec<u32> = there.iter().skip(skip).step_by(3).copied().collect();
                let (added, removed) = (sparse(&added), sparse(&removed));
                all.push(make(Form::Difference { base: Arc::clone(&base), added, removed }));
            }
            all.push(base);
        }
        all
    }

    #[test]
    fn a_buffer_that_held_a_mask_becomes_any_other() {
        let tokens: Vec<Vec<u8>> = (0..100usize)
            .map(|number| match number % 3 {
                0 => vec![b'a' + (number % 26) as u8; number + 1],
                1 => vec![b'"', number as u8],
                _ => vec![b'\\', b'n', number as u8],
            })
            .collect();
        let options = VocabularyOptions::default();
        let vocabulary = Vocabulary::from_tokens(tokens.iter().map(Some), &options).unwrap();
        let masks = masks(&vocabulary);
        let mut loaded = TokenMask::new(vocabulary.len());
        let mut written = vec![0; words_for(vocabulary.len())];
        for first in &masks {
            for second in &masks {
                loaded.load(first, &vocabulary);
                loaded.load(second, &vocabulary);
                second.write(&vocabulary, &mut written);
                assert_eq!(loaded.as_words(), written, "{first:?} then {second:?}");
            }
        }
    }

    #[test]
    fn masks_that_come_and_go_are_whole_each_time() {
        let tokens: Vec<Vec<u8>> = (0..200usize).map(|number| vec![b'a'; number % 90 + 1]).collect();
        let options = VocabularyOptions::default();
        let vocabulary = Vocabulary::from_tokens(tokens.iter().map(Some), &options).unwrap();
        let masks = masks(&vocabulary);
        let mut loaded = TokenMask::new(vocabulary.len());
        let mut written = vec![0; words_for(vocabulary.len())];
        let mut seed = 1u64;
        for step in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mask = &masks[(seed >> 33) as usize % masks.len()];
            loaded.load(mask, &vocabulary);
            mask.write(&vocabulary, &mut written);
            assert_eq!(loaded.as_words(), written, "at step {step}: {mask:?}");
            // Now and then somebody writes what is shown.
            if seed >> 60 == 0 {
                loaded.set(vocabulary.id(199).unwrap());
            }
        }
    }

    #[test]
    fn a_mask_that_was_written_to_is_loaded_anew() {
        let vocabulary =
            Vocabulary::from_tokens([Some(b"a"), Some(b"b")], &VocabularyOptions::default()).unwrap();
        let ids = Sparse::from_ids(&[1], 2, &mut Vec::new());
        let stored = Arc::new(StoredMask { form: Form::Ids(ids), len: 2, all: false });
        let id = vocabulary.id(0).unwrap();
        let changes: [fn(&mut TokenMask, TokenId); 6] = [
            |mask, id| mask.set(id),
            |mask, _| mask.fill(),
            |mask, _| mask.clear_all(),
            |mask, _| mask.as_mut_words()[0] = 1,
            |mask, _| mask.or_with(&TokenMask::new(2)),
            |mask, id| {
                let mut other = TokenMask::new(2);
                other.set(id);
                mask.copy_from(&other);
            },
        ];
        for change in changes {
            let mut mask = stored.to_mask(&vocabulary);
            change(&mut mask, id);
            mask.load(&stored, &vocabulary);
            assert_eq!(mask.as_words(), [0b10]);
        }
    }
}
