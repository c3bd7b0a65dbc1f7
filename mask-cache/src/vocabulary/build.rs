//! From spelled tokens to the finished tables.

use xxhash_rust::xxh3::Xxh3;

use super::derived::DerivedTables;
use super::error::VocabularyError;
use super::options::VocabularyOptions;
use super::stop_tokens::{END, RETURN, STOP_TOKEN_NAMES};
use super::token_texts::TokenTexts;
use super::tokens::Vocabulary;
use crate::ids::TokenId;
use crate::mask::token_mask::TokenMask;
use crate::vocabulary::trie::Trie;

impl Vocabulary {
    /// The vocabulary of tokens given in the order of their ids. `None` and empty strings are ids that are never
    /// allowed. Of special and stop ids, the bytes given are the name.
    ///
    /// # Errors
    ///
    /// Fails if an option names an absent id, if `size` is less than the number of tokens, or if a limit is
    /// passed. It also fails if no token is known to end a text (see [`VocabularyOptions::stop_ids`]).
    pub fn from_tokens<B: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = Option<B>>,
        options: &VocabularyOptions,
    ) -> Result<Self, VocabularyError> {
        let mut builder = VocabularyBuilder::new(options);
        for token in tokens {
            builder.push(token.as_ref().map_or(&[], |bytes| bytes.as_ref()))?;
        }
        builder.finish()
    }
}

/// Tokens in any order of ids, as the loaders of tokenizer files write them.
///
/// ```
/// use grammask_mask_cache::{TokenKind, VocabularyBuilder, VocabularyOptions};
///
/// let options = VocabularyOptions::default();
/// let mut builder = VocabularyBuilder::new(&options);
/// builder.put(2, b"<end>")?;
/// builder.mark_stop(2);
/// builder.put(0, b"a")?;
/// let vocabulary = builder.finish()?;
/// let kinds: Vec<_> = (0..3).filter_map(|number| vocabulary.id(number)).map(|id| vocabulary.kind(id)).collect();
/// assert_eq!(kinds, [TokenKind::Text, TokenKind::Empty, TokenKind::Stop]);
/// # Ok::<(), grammask_mask_cache::VocabularyError>(())
/// ```
#[derive(Debug)]
pub struct VocabularyBuilder<'o> {
    options: &'o VocabularyOptions,
    bytes: Vec<u8>,
    /// Start and length of each id's bytes. No id with bytes has length 0.
    spans: Vec<(u32, u32)>,
    special: Vec<u32>,
    stop: Vec<u32>,
}

impl<'o> VocabularyBuilder<'o> {
    /// No tokens yet.
    pub fn new(options: &'o VocabularyOptions) -> Self {
        let special = options.special_ids.clone();
        Self { options, bytes: Vec::new(), spans: Vec::new(), special, stop: Vec::new() }
    }

    /// Gives the next id these bytes; empty ones make it an id that is never allowed.
    ///
    /// # Errors
    ///
    /// If a limit of the options is passed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), VocabularyError> {
        self.write(self.spans.len(), |all| all.extend_from_slice(bytes))
    }

    /// Gives an id these bytes, instead of those it had. Ids below it that get none are holes.
    ///
    /// # Errors
    ///
    /// If a limit of the options is passed. Bytes that the id had before count as well.
    pub fn put(&mut self, id: u32, bytes: &[u8]) -> Result<(), VocabularyError> {
        self.write(usize::try_from(id).unwrap_or(usize::MAX), |all| all.extend_from_slice(bytes))
    }

    /// Gives an id the bytes that `write` appends.
    pub(super) fn write(
        &mut self,
        id: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), VocabularyError> {
        if id >= self.options.max_tokens {
            return Err(VocabularyError::too_many_tokens(id.saturating_add(1), self.options.max_tokens));
        }
        let start = self.bytes.len();
        write(&mut self.bytes);
        if self.bytes.len() > self.options.max_bytes {
            return Err(VocabularyError::too_many_bytes(self.options.max_bytes));
        }
        // After the checks, so that a huge id in a file cannot ask for memory.
        if id >= self.spans.len() {
            self.spans.resize(id + 1, (0, 0));
        }
        self.spans[id] = (offset(start), offset(self.bytes.len() - start));
        Ok(())
    }

    /// Whether an id has bytes.
    pub fn has(&self, id: u32) -> bool {
        let index = usize::try_from(id).unwrap_or(usize::MAX);
        self.spans.get(index).is_some_and(|&(_, len)| len > 0)
    }

    /// Marks an id special; its bytes are a name.
    pub fn mark_special(&mut self, id: u32) {
        self.special.push(id);
    }

    /// Marks an id special that ends the text, unless [`VocabularyOptions::stop_ids`] says which ids do.
    pub fn mark_stop(&mut self, id: u32) {
        self.stop.push(id);
    }

    /// Whether the options say which ids end the text, so that [`mark_stop`](Self::mark_stop) does nothing.
    pub fn has_stop_ids(&self) -> bool {
        self.options.stop_ids.is_some()
    }

    /// The tokens that the options add.
    pub fn special_tokens(&self) -> &[(u32, String)] {
        &self.options.special_tokens
    }

    /// Most ids that the options allow.
    pub fn max_tokens(&self) -> usize {
        self.options.max_tokens
    }

    /// Most bytes that the options allow for all tokens together.
    pub fn max_bytes(&self) -> usize {
        self.options.max_bytes
    }

    /// The vocabulary.
    ///
    /// # Errors
    ///
    /// If an option or a mark names an id that is not there, [`VocabularyOptions::size`] is less than the number of
    /// ids, or a limit is passed.
    pub fn finish(mut self) -> Result<Vocabulary, VocabularyError> {
        for (id, name) in &self.options.special_tokens {
            self.put(*id, name.as_bytes())?;
            self.mark_special(*id);
        }
        // Before ids are checked, because the padding that it adds makes ids valid.
        self.apply_size()?;
        // The kinds decide which bytes are text: names of special and stop tokens are left out of the trie.
        let stop = self.stop_ids()?;
        let special = self.special_ids(&stop)?;
        let names = self.names(&special);
        let (bytes, offsets) = self.text(&special);
        let token = |id: TokenId| &bytes[offsets[id.index()] as usize..offsets[id.index() + 1] as usize];

        let sorted = sorted_text_tokens(self.spans.len(), token);
        let trie = Trie::from_sorted_at_most(
            self.spans.len(),
            bytes.len(),
            sorted.iter().map(|&id| (id, token(id))),
        )?;
        let max_token_len = sorted.iter().map(|&id| token(id).len()).max().unwrap_or(0);
        let missing_bytes = (0..=u8::MAX).filter(|&byte| trie.find(&[byte]).is_none()).collect();
        let fingerprint = fingerprint(&bytes, &offsets, &special, &stop, &names);
        Ok(Vocabulary {
            texts: TokenTexts::new(&bytes, &offsets),
            special,
            stop,
            names,
            sorted,
            trie,
            missing_bytes,
            max_token_len,
            fingerprint,
            derived: DerivedTables::new(),
        })
    }

    fn apply_size(&mut self) -> Result<(), VocabularyError> {
        let Some(size) = self.options.size else { return Ok(()) };
        if size < self.spans.len() {
            return Err(VocabularyError::size_too_small(size, self.spans.len()));
        }
        if size > self.options.max_tokens {
            return Err(VocabularyError::too_many_tokens(size, self.options.max_tokens));
        }
        self.spans.resize(size, (0, 0));
        Ok(())
    }

    fn stop_ids(&self) -> Result<Vec<TokenId>, VocabularyError> {
        let (given, mut stop) = match &self.options.stop_ids {
            Some(ids) => (ids, Vec::new()),
            None => (&self.stop, self.guessed_stop_ids()?),
        };
        for &id in given {
            stop.push(self.checked("stop", id)?);
        }
        // Sorted and each once: the fingerprint hashes this list.
        stop.sort_unstable();
        stop.dedup();
        match stop.is_empty() && !self.has_stop_ids() {
            true => Err(VocabularyError::no_stop_token()),
            false => Ok(stop),
        }
    }

    fn guessed_stop_ids(&self) -> Result<Vec<TokenId>, VocabularyError> {
        let special: Vec<TokenId> =
            self.special.iter().map(|&id| self.checked("special", id)).collect::<Result<_, _>>()?;
        let is_named = |id: TokenId, name: &str| self.token(id) == name.as_bytes();
        // In Harmony's format the end mark ends a message and not the text, if there is a mark for the
        // return.
        let has_return = special.iter().any(|&id| is_named(id, RETURN));
        let names = STOP_TOKEN_NAMES.iter().filter(|&&name| name != END || !has_return);
        Ok(special.into_iter().filter(|&id| names.clone().any(|name| is_named(id, name))).collect())
    }

    fn special_ids(&self, stop: &[TokenId]) -> Result<TokenMask, VocabularyError> {
        let mut special = TokenMask::new(self.spans.len());
        for &id in &self.special {
            special.set(self.checked("special", id)?);
        }
        stop.iter().for_each(|&id| special.set(id));
        Ok(special)
    }

    fn names(&self, special: &TokenMask) -> Vec<(TokenId, Box<[u8]>)> {
        let named = special.iter().map(|id| (id, self.token(id)));
        named.filter(|(_, name)| !name.is_empty()).map(|(id, name)| (id, name.into())).collect()
    }

    /// The text tokens' bytes in the order of ids, and where each id's begin.
    fn text(&self, special: &TokenMask) -> (Vec<u8>, Vec<u32>) {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut offsets = Vec::with_capacity(self.spans.len() + 1);
        offsets.push(0);
        for id in TokenId::below(self.spans.len()) {
            if !special.contains(id) {
                bytes.extend_from_slice(self.token(id));
            }
            offsets.push(offset(bytes.len()));
        }
        (bytes, offsets)
    }

    fn token(&self, id: TokenId) -> &[u8] {
        let (start, len) = self.spans[id.index()];
        &self.bytes[start as usize..][..len as usize]
    }

    fn checked(&self, what: &str, id: u32) -> Result<TokenId, VocabularyError> {
        TokenId::new(id)
            .filter(|id| id.index() < self.spans.len())
            .ok_or_else(|| VocabularyError::id_out_of_range(what, id, self.spans.len()))
    }
}

/// Sorting compares the first eight bytes as one number; whole tokens are looked at only where those are equal.
fn sorted_text_tokens<'a>(len: usize, token: impl Fn(TokenId) -> &'a [u8]) -> Vec<TokenId> {
    let text = TokenId::below(len).filter(|&id| !token(id).is_empty());
    let mut keyed: Vec<(u64, TokenId)> = text.map(|id| (leading_bytes(token(id)), id)).collect();
    keyed.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| token(one.1).cmp(token(other.1))).then_with(|| one.1.cmp(&other.1))
    });
    keyed.into_iter().map(|(_, id)| id).collect()
}

/// The first eight bytes as a number that orders as they do; a missing byte counts as 0.
fn leading_bytes(bytes: &[u8]) -> u64 {
    let mut leading = [0; 8];
    let len = bytes.len().min(8);
    leading[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(leading)
}

/// The hash is kept in files, so its input and the order of its input may not change without a new first
/// line.
fn fingerprint(
    bytes: &[u8],
    offsets: &[u32],
    special: &TokenMask,
    stop: &[TokenId],
    names: &[(TokenId, Box<[u8]>)],
) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(b"grammask vocabulary 1\n");
    update_numbers(&mut hash, offsets.iter().copied());
    hash.update(bytes);
    update_numbers(&mut hash, special.as_words().iter().copied());
    update_numbers(&mut hash, stop.iter().map(|id| id.get()));
    update_numbers(&mut hash, names.iter().flat_map(|(id, name)| [id.get(), offset(name.len())]));
    // The lengths of the names were hashed before, so the names may follow without ends.
    names.iter().for_each(|(_, name)| hash.update(name));
    hash.digest128()
}

/// Hashes a list of numbers so that no two different lists of lists have the same bytes: little-endian, the
/// length after them.
fn update_numbers(hash: &mut Xxh3, numbers: impl Iterator<Item = u32>) {
    let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    hash.update(&bytes);
    hash.update(&(bytes.len() as u64).to_le_bytes());
}

/// Positions in the bytes of all tokens, which are limited to 1 GiB.
fn offset(position: usize) -> u32 {
    u32::try_from(position).expect("the bytes of all tokens are limited to 1 GiB")
}
