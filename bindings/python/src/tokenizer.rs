//! `TokenizerInfo`: a vocabulary and what xgrammar's users ask of it.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use grammask::tuning::TokenSets;
use grammask::vocabularies::{self, Encoding};
use grammask::{
    TokenCoding, TokenDecoder, TokenId, Vocabulary, VocabularyBuilder, VocabularyOptions, words_for,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PySet, PyString, PyTuple, PyType};

use crate::arguments::{id_list, id_numbers};
use crate::errors::{is_compat, of_file, raise, tokenizer_error, vocabulary_error, warn};
use crate::settings::Settings;
use crate::subclass::{announce, filling, is_to_be_empty};

/// The name of a type that can be iterated over, but not in the order of ids.
fn unordered<'py>(vocabulary: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
    let is_unordered = vocabulary.is_instance_of::<PyDict>()
        || vocabulary.is_instance_of::<PySet>()
        || vocabulary.is_instance_of::<PyFrozenSet>()
        || vocabulary.is_instance_of::<PyString>();
    is_unordered.then(|| vocabulary.get_type().name()).transpose()
}

/// The argument `tokenizer_info`, for which a tokenizer is often given.
pub(crate) fn tokenizer_argument<'a, 'py>(
    given: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, TokenizerInfo>> {
    if let Ok(tokenizer) = given.cast() {
        return Ok(tokenizer);
    }
    let message = "`tokenizer_info` must be a TokenizerInfo, which `TokenizerInfo.from_huggingface(tokenizer)` makes of a \
                   tokenizer, not";
    Err(PyValueError::new_err(format!("{message} {}", given.get_type().name()?)))
}

/// Tokens with these texts are taken for stop tokens where the caller names none.
const STOP_TOKENS: [&str; 8] = [
    "</s>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<eos>",
    "<|eos|>",
    "<end_of_turn>",
    "<\u{FF5C}end\u{2581}of\u{2581}sentence\u{FF5C}>",
];

/// The vocabulary of a tokenizer: the bytes of every token id, and which ids end a text.
///
/// Build one for each tokenizer and keep it. Instances compare by content, hash, pickle and deep-copy.
///
/// Parameters
/// ----------
/// encoded_vocab : list of bytes or str
///     The tokens in the order of their ids. An empty one stands for an id that text never uses.
/// vocab_type : VocabType
///     How `encoded_vocab` spells bytes. `bytes` entries are taken as they are with `VocabType.RAW`.
/// vocab_size : int, optional
///     Number of ids, padding included: the last dimension of the logits. Default: `len(encoded_vocab)`.
/// stop_token_ids : int or list of int, optional
///     Ids that end a text. Default: the tokens whose text is that of a common end token, which may be none; of the special
///     ones, if there are any.
/// add_prefix_space : bool
///     Whether the tokenizer puts a space before the text. Kept for its readers; masks do not depend on it.
/// special_token_ids : list of int, optional
///     Ids that match no text, though they have one. Grammars name them by it.
/// max_tokens, max_bytes : int
///     Bounds on the number of ids and on the bytes of all tokens together; at most 1 GiB.
#[pyclass(frozen, subclass, module = "grammask", weakref, dict)]
pub(crate) struct TokenizerInfo {
    content: TokenizerContent,
    /// Whether the content only stands in until [`__init__`](Self::__init__) of the base class, because a subclass has an
    /// own one.
    is_stand_in: bool,
    filled: OnceLock<TokenizerContent>,
}

#[derive(Clone)]
pub(crate) struct TokenizerContent {
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// Keeps what is computed from the vocabulary, for all compilers that come and go.
    _token_sets: Arc<TokenSets>,
    vocab_type: u8,
    add_prefix_space: bool,
}

impl Deref for TokenizerInfo {
    type Target = TokenizerContent;

    fn deref(&self) -> &TokenizerContent {
        self.filled.get().unwrap_or(&self.content)
    }
}

/// The ids that are said to end a text, if the caller says so. xgrammar leaves out those that the vocabulary lacks.
fn stop_ids(py: Python<'_>, ids: Option<&Bound<'_, PyAny>>, size: usize) -> PyResult<Option<Vec<u32>>> {
    let Some(given) = ids.filter(|_| is_compat()) else { return id_list(py, ids) };
    let (mut known, mut missing) = (Vec::new(), Vec::new());
    for id in id_numbers(given)? {
        match u32::try_from(id) {
            Ok(id) if u64::from(id) < size as u64 => known.push(id),
            _ => missing.push(id),
        }
    }
    if let Some(first) = missing.first() {
        warn(py, &format!("{first} is no id of the vocabulary, which has {size}; it ends no text"))?;
    }
    Ok(Some(known))
}

/// The ids whose tokens have the text of a common end token.
fn stop_tokens_among(tokens: &[Vec<u8>], ids: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let is_end = |id: u32| {
        tokens
            .get(to_index(id))
            .is_some_and(|token| STOP_TOKENS.iter().any(|stop| stop.as_bytes() == &**token))
    };
    ids.into_iter().filter(|&id| is_end(id)).collect()
}

/// An id as an index. Where it does not fit, it is past every vocabulary.
fn to_index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}

/// The sets of tokens that depend on a vocabulary alone, computed now, so that no first mask waits for them.
fn prepared_sets(vocabulary: Vocabulary) -> Arc<TokenSets> {
    let sets = TokenSets::shared(&Arc::new(vocabulary));
    sets.prepare();
    sets
}

impl TokenizerInfo {
    fn from_sets(token_sets: Arc<TokenSets>, vocab_type: u8, add_prefix_space: bool) -> Self {
        let vocabulary = Arc::clone(token_sets.vocabulary());
        let content = TokenizerContent { vocabulary, _token_sets: token_sets, vocab_type, add_prefix_space };
        Self { content, is_stand_in: false, filled: OnceLock::new() }
    }

    /// No tokens, until `__init__`.
    pub(crate) fn stand_in(py: Python<'_>) -> PyResult<Self> {
        let options = VocabularyOptions::default().stop_ids([]);
        let nothing = Vocabulary::from_tokens([None::<&[u8]>; 0], &options);
        let nothing = Arc::new(nothing.map_err(|error| vocabulary_error(py, &error))?);
        Ok(Self { is_stand_in: true, ..Self::from_sets(TokenSets::shared(&nothing), 0, false) })
    }

    /// Whether `__init__` is still to be called.
    pub(crate) fn is_unfilled(&self) -> bool {
        self.is_stand_in && self.filled.get().is_none()
    }
}

impl TokenizerContent {
    /// Words of one row of a bitmask.
    pub(crate) fn words(&self) -> usize {
        words_for(self.vocabulary.len())
    }

    fn decoded(&self, id: TokenId) -> &[u8] {
        self.vocabulary.special_name(id).unwrap_or_else(|| self.vocabulary.token_bytes(id))
    }

    fn ids(&self) -> impl Iterator<Item = TokenId> + '_ {
        (0..self.vocabulary.len()).filter_map(|id| self.vocabulary.id(u32::try_from(id).ok()?))
    }

    fn content(&self) -> (u128, u8, bool) {
        (self.vocabulary.fingerprint(), self.vocab_type, self.add_prefix_space)
    }
}

fn coding(py: Python<'_>, vocab_type: &Bound<'_, PyAny>) -> PyResult<(u8, TokenCoding)> {
    let value = vocab_type.getattr_opt("value")?;
    let number = value.as_ref().unwrap_or(vocab_type).extract::<i64>();
    match number.map_err(|_| PyTypeError::new_err("`vocab_type` must be a VocabType"))? {
        0 => Ok((0, TokenCoding::Plain)),
        1 => Ok((1, TokenCoding::ByteFallback)),
        2 => Ok((2, TokenCoding::ByteLevel)),
        other => Err(raise(py, "TokenizerError", format!("{other} is no VocabType"))),
    }
}

fn decode(token: &Bound<'_, PyAny>, coding: TokenCoding) -> PyResult<Vec<u8>> {
    if let Ok(text) = token.cast::<PyString>() {
        return Ok(coding.decode(text.to_str()?));
    }
    let bytes = token.cast::<PyBytes>()?.as_bytes();
    // Bytes that are spelled in a coding are text; raw ones need not be.
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => coding.decode(text),
        Err(_) => bytes.to_vec(),
    })
}

#[pymethods]
impl TokenizerInfo {
    #[new]
    #[classmethod]
    #[pyo3(signature = (encoded_vocab, vocab_type=None, *, vocab_size=None, stop_token_ids=None,
                        add_prefix_space=false, special_token_ids=None, max_tokens=1 << 22, max_bytes=64 << 20),
           text_signature = "(encoded_vocab, vocab_type=None, *, vocab_size=None, stop_token_ids=None, \
                             add_prefix_space=False, special_token_ids=None, max_tokens=4194304, \
                             max_bytes=67108864)")]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python signature")]
    fn new(
        class: &Bound<'_, PyType>,
        encoded_vocab: &Bound<'_, PyAny>,
        vocab_type: Option<&Bound<'_, PyAny>>,
        vocab_size: Option<usize>,
        stop_token_ids: Option<&Bound<'_, PyAny>>,
        add_prefix_space: bool,
        special_token_ids: Option<Vec<u32>>,
        max_tokens: usize,
        max_bytes: usize,
    ) -> PyResult<Self> {
        if is_to_be_empty::<Self>(class, encoded_vocab) {
            return Self::stand_in(class.py());
        }
        let py = class.py();
        if let Some(kind) = unordered(encoded_vocab)? {
            let message = "the vocabulary must be a list of tokens in the order of their ids \
                           (`sorted(vocab, key=vocab.get)` of a dict from tokens to ids), not a";
            return Err(PyTypeError::new_err(format!("{message} {kind}")));
        }
        let (vocab_type, coding) =
            vocab_type.map_or(Ok((0, TokenCoding::Plain)), |vocab_type| coding(py, vocab_type))?;
        let Ok(tokens) = encoded_vocab.try_iter() else {
            let message = "the vocabulary must be a list of tokens; `TokenizerInfo.from_huggingface`, `from_tiktoken` and \
                           `from_sentencepiece` read the object of a tokenizer, and this is a";
            return Err(PyTypeError::new_err(format!("{message} {}", encoded_vocab.get_type().name()?)));
        };
        let tokens = tokens.map(|token| decode(&token?, coding));
        let tokens = tokens.collect::<PyResult<Vec<Vec<u8>>>>()?;
        let size = vocab_size.unwrap_or(tokens.len());
        let special = special_token_ids.unwrap_or_default();
        let stop = match stop_ids(py, stop_token_ids, size)? {
            Some(ids) => ids,
            None if special.is_empty() => stop_tokens_among(&tokens, (0..).take(tokens.len())),
            None => stop_tokens_among(&tokens, special.iter().copied()),
        };
        let has_end = !stop.is_empty();
        let options = VocabularyOptions::default()
            .special_ids(special)
            .max_tokens(max_tokens)
            .max_bytes(max_bytes)
            .stop_ids(stop)
            .size(size);
        let token_sets = py
            .detach(|| Vocabulary::from_tokens(tokens.iter().map(Some), &options).map(prepared_sets))
            .map_err(|error| vocabulary_error(py, &error))?;
        if stop_token_ids.is_none_or(Bound::is_none) && !has_end {
            let message = "the vocabulary has no end token, so that no text could end; give `stop_token_ids`, or `[]` \
                           for none";
            warn(py, message)?;
        }
        Ok(Self::from_sets(token_sets, vocab_type, add_prefix_space))
    }

    /// Fills an object that `__new__` left empty.
    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        if self.is_unfilled() {
            let filling = filling::<Self>(args, kwargs)?;
            self.filled.get_or_init(|| TokenizerContent::clone(filling.get()));
        }
        Ok(())
    }

    #[classmethod]
    #[pyo3(signature = (**_options))]
    fn __init_subclass__(class: &Bound<'_, PyType>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        announce::<Self>(class)
    }

    /// Reads a tokenizer of `transformers` (fast, tiktoken or sentencepiece).
    ///
    /// The bytes of a token are those that the decoder of the tokenizer makes of it. Where the text of a token depends on its
    /// neighbours (WordPiece, for example), the tokenizer is refused. Ids that the tokenizer marks special match no text.
    /// With `grammask.config.set_compat(True)` all is as in xgrammar: `vocab_type` alone decides on bytes, and special ids
    /// are text.
    ///
    /// `vocab_size` is the width of the model's logits, if that is not what the tokenizer has; ids from it on are left out,
    /// with a warning. `stop_token_ids` of `[]` says that no token ends a text.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, *, vocab_size=None, stop_token_ids=None))]
    fn from_huggingface<'py>(
        tokenizer: &Bound<'py, PyAny>,
        vocab_size: Option<usize>,
        stop_token_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loader = tokenizer.py().import("grammask._tokenizers")?;
        loader.call_method1("from_huggingface", (tokenizer, vocab_size, stop_token_ids))
    }

    /// Reads a `tiktoken.Encoding`. Its special tokens match no text; `<|endoftext|>` ends one, unless `stop_token_ids` says
    /// otherwise. `vocab_size` is the width of the model's logits, if that is more than the encoding has ids.
    #[staticmethod]
    #[pyo3(signature = (encoding, *, vocab_size=None, stop_token_ids=None))]
    fn from_tiktoken<'py>(
        encoding: &Bound<'py, PyAny>,
        vocab_size: Option<usize>,
        stop_token_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loader = encoding.py().import("grammask._tokenizers")?;
        loader.call_method1("from_tiktoken", (encoding, vocab_size, stop_token_ids))
    }

    /// Reads the model of a `sentencepiece.SentencePieceProcessor` as `from_file` does. Its control pieces match no text;
    /// the one of `eos_id()` ends one, unless `stop_token_ids` says otherwise. `vocab_size` is the width of the model's
    /// logits, if that is more than there are pieces.
    #[staticmethod]
    #[pyo3(signature = (processor, *, vocab_size=None, stop_token_ids=None))]
    fn from_sentencepiece<'py>(
        processor: &Bound<'py, PyAny>,
        vocab_size: Option<usize>,
        stop_token_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loader = processor.py().import("grammask._tokenizers")?;
        loader.call_method1("from_sentencepiece", (processor, vocab_size, stop_token_ids))
    }

    /// Reads the file of a tokenizer: `tokenizer.json`, `tekken.json`, a GGUF or SentencePiece model, or a rank file of
    /// tiktoken with the name of its encoding, such as `cl100k_base.tiktoken`.
    ///
    /// Special tokens match no text. `vocab_size` is the width of the model's logits, if that is more than
    /// the file has tokens. `stop_token_ids` are the ids that end a text, if the file does not say so.
    ///
    /// `special_token_ids` are ids that are special besides those that the file marks; `special_tokens` is a dict of names and
    /// ids of such that the file does not have. `vocab_type` says how a `tokenizer.json` spells bytes, if its decoder does not.
    /// `max_tokens` and `max_bytes` are bounds, as for `TokenizerInfo`.
    #[staticmethod]
    #[pyo3(signature = (path, **options),
           text_signature = "(path, *, vocab_size=None, stop_token_ids=None, special_token_ids=None, \
                             special_tokens=None, vocab_type=None, max_tokens=4194304, max_bytes=67108864)")]
    fn from_file(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Settings::of(options)?;
        let mut special = Encoding::of_file(&path).map(Encoding::special_tokens).unwrap_or_default();
        if let Some(named) = given.take("special_tokens").filter(|named| !named.is_none()) {
            special
                .extend(named.extract::<BTreeMap<String, u32>>()?.into_iter().map(|(name, id)| (id, name)));
        }
        let mut options = VocabularyOptions::default().special_tokens(special);
        if let Some(size) = given.get("vocab_size")? {
            options = options.size(size);
        }
        let of_kind = |name| match given.take(name) {
            Some(ids) if !ids.is_none() => id_list(py, Some(&ids)),
            _ => Ok(None),
        };
        let [stop, special] = ["stop_token_ids", "special_token_ids"].map(of_kind);
        if let Some(ids) = stop? {
            options = options.stop_ids(ids);
        }
        if let Some(ids) = special? {
            options = options.special_ids(ids);
        }
        if let Some(vocab_type) = given.take("vocab_type").filter(|vocab_type| !vocab_type.is_none()) {
            options = options.coding(coding(py, &vocab_type)?.1);
        }
        if let Some(most) = given.get("max_tokens")? {
            options = options.max_tokens(most);
        }
        if let Some(most) = given.get("max_bytes")? {
            options = options.max_bytes(most);
        }
        given.finish_arguments("from_file")?;
        let file = File::open(&path).map_err(|error| of_file(error, &path))?;
        let token_sets = py
            .detach(|| vocabularies::load(file, &options).map(prepared_sets))
            .map_err(|error| tokenizer_error(py, &format!("{}: {error}", path.display())))?;
        Ok(Self::from_sets(token_sets, 0, false))
    }

    /// The tokens and ids of a tokenizer, spelled as the text of its `tokenizer.json` says. Special ones are names. The stop
    /// tokens are among these, if they are not given.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "what the Python half found out")]
    fn _from_backend(
        py: Python<'_>,
        text: &str,
        vocabulary: &Bound<'_, PyDict>,
        vocab_size: usize,
        vocab_type: &Bound<'_, PyAny>,
        stop_token_ids: Option<&Bound<'_, PyAny>>,
        add_prefix_space: bool,
        special_token_ids: Vec<u32>,
        shown: HashMap<u32, String>,
    ) -> PyResult<Self> {
        let (vocab_type, _) = coding(py, vocab_type)?;
        let decoder = py
            .detach(|| TokenDecoder::from_tokenizer_json(text.as_bytes()))
            .map_err(|error| vocabulary_error(py, &error))?;
        let special: HashSet<u32> = special_token_ids.iter().copied().collect();
        let mut tokens = Vec::with_capacity(vocabulary.len());
        let mut named_ends = Vec::new();
        for (token, id) in vocabulary {
            let id: u32 = id.extract()?;
            let spelled = token.cast::<PyString>()?.to_str()?;
            let Some(bytes) = decoder.decode(id, spelled) else { continue };
            let bytes = shown.get(&id).map_or(bytes, |shown| decoder.decode_added(shown));
            let is_special = special.contains(&id);
            if is_special && STOP_TOKENS.contains(&spelled) {
                named_ends.push(id);
            }
            if to_index(id) < vocab_size {
                tokens.push((id, if is_special { spelled.into() } else { bytes }));
            }
        }
        let options = VocabularyOptions::default()
            .special_ids(special_token_ids)
            .stop_ids(id_list(py, stop_token_ids)?.unwrap_or(named_ends))
            .size(vocab_size);
        let build = || {
            let mut builder = VocabularyBuilder::new(&options);
            tokens.iter().try_for_each(|(id, bytes)| builder.put(*id, bytes))?;
            builder.finish().map(prepared_sets)
        };
        let token_sets = py.detach(build).map_err(|error| vocabulary_error(py, &error))?;
        Ok(Self::from_sets(token_sets, vocab_type, add_prefix_space))
    }

    /// The vocabulary of a SentencePiece model.
    #[staticmethod]
    fn _from_sentencepiece(
        py: Python<'_>,
        model: &[u8],
        vocab_size: usize,
        vocab_type: &Bound<'_, PyAny>,
        stop_token_ids: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (vocab_type, _) = coding(py, vocab_type)?;
        let stop = id_list(py, Some(stop_token_ids))?.unwrap_or_default();
        let options = VocabularyOptions::default().stop_ids(stop).size(vocab_size);
        let token_sets = py
            .detach(|| vocabularies::from_sentencepiece(model, &options).map(prepared_sets))
            .map_err(|error| tokenizer_error(py, &error.to_string()))?;
        Ok(Self::from_sets(token_sets, vocab_type, true))
    }

    /// The tokenizer of a vocabulary and what `dump_metadata` said of it.
    #[staticmethod]
    fn from_vocab_and_metadata<'py>(
        encoded_vocab: &Bound<'py, PyAny>,
        metadata: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loader = encoded_vocab.py().import("grammask._tokenizers")?;
        loader.call_method1("from_vocab_and_metadata", (encoded_vocab, metadata))
    }

    /// `vocab_type` and `add_prefix_space` as the text of a `tokenizer.json` has them.
    #[staticmethod]
    fn _detect_metadata_from_hf<'py>(py: Python<'py>, backend_str: &str) -> PyResult<Bound<'py, PyAny>> {
        py.import("grammask._tokenizers")?.call_method1("detect_metadata", (backend_str,))
    }

    /// `VocabType`: how the vocabulary was spelled.
    #[getter]
    fn vocab_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("grammask._support")?.getattr("VocabType")?.call1((self.vocab_type,))
    }

    /// Number of ids, padding included.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.vocabulary.len()
    }

    /// Whether the tokenizer puts a space before the text.
    #[getter]
    fn add_prefix_space(&self) -> bool {
        self.add_prefix_space
    }

    /// Old name of `add_prefix_space`.
    #[getter]
    fn prepend_space_in_tokenization(&self) -> bool {
        self.add_prefix_space
    }

    /// The tokens as bytes, by id; empty for padding.
    #[getter]
    fn decoded_vocab<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.ids().map(|id| PyBytes::new(py, self.decoded(id))).collect()
    }

    /// The ids that end a text, ascending.
    #[getter]
    fn stop_token_ids(&self) -> Vec<u32> {
        self.vocabulary.stop_tokens().iter().map(|id| id.get()).collect()
    }

    /// The ids that text never uses, stop tokens left out: empty and padding ids, and those declared special.
    #[getter]
    fn special_token_ids(&self) -> Vec<u32> {
        let special = self.ids().filter(|&id| {
            self.vocabulary.token_bytes(id).is_empty()
                && (!self.vocabulary.is_stop(id) || self.decoded(id).is_empty())
        });
        special.map(|id| id.get()).collect()
    }

    /// The bytes that no token spells by itself, as numbers. Where there are none, every text can be spelled.
    #[getter]
    fn missing_bytes(&self) -> Vec<u32> {
        self.vocabulary.missing_bytes().iter().copied().map(u32::from).collect()
    }

    /// A number of 128 bits, equal in every process for equal tokens, special and stop tokens.
    #[getter]
    fn fingerprint(&self) -> u128 {
        self.vocabulary.fingerprint()
    }

    /// Ids that are declared special, with a text or without; stop tokens left out.
    #[getter]
    fn _declared_special_token_ids(&self) -> Vec<u32> {
        let vocabulary = &self.vocabulary;
        let declared = vocabulary.special_tokens().iter().filter(|id| !vocabulary.is_stop(*id));
        declared.map(|id| id.get()).collect()
    }

    /// JSON with `vocab_type`, `vocab_size`, `add_prefix_space` and `stop_token_ids`.
    fn dump_metadata(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("grammask._tokenizers")?.call_method1("dump_metadata", (slf,))?.extract()
    }

    /// The whole tokenizer as JSON.
    fn serialize_json(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("grammask._tokenizers")?.call_method1("serialize", (slf,))?.extract()
    }

    /// The tokenizer that `serialize_json` wrote.
    #[staticmethod]
    fn deserialize_json<'py>(py: Python<'py>, json_string: &str) -> PyResult<Bound<'py, PyAny>> {
        py.import("grammask._tokenizers")?.call_method1("deserialize", (json_string,))
    }

    /// A tokenizer from what its properties say.
    #[staticmethod]
    fn _from_decoded(
        py: Python<'_>,
        decoded: Vec<Bound<'_, PyBytes>>,
        vocab_type: &Bound<'_, PyAny>,
        stop_token_ids: Vec<u32>,
        add_prefix_space: bool,
        special_token_ids: Vec<u32>,
    ) -> PyResult<Self> {
        let (vocab_type, _) = coding(py, vocab_type)?;
        let tokens: Vec<Vec<u8>> = decoded.iter().map(|token| token.as_bytes().to_vec()).collect();
        let options = VocabularyOptions::default()
            .special_ids(special_token_ids)
            .stop_ids(stop_token_ids)
            // The limits that it was made with passed all that is here.
            .max_tokens(tokens.len())
            .max_bytes(tokens.iter().map(Vec::len).sum())
            .size(tokens.len());
        let token_sets = py
            .detach(|| Vocabulary::from_tokens(tokens.iter().map(Some), &options).map(prepared_sets))
            .map_err(|error| vocabulary_error(py, &error))?;
        Ok(Self::from_sets(token_sets, vocab_type, add_prefix_space))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.content() == other.get().content())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.content().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let stop = self.stop_token_ids();
        format!("TokenizerInfo(vocab_size={}, stop_token_ids={stop:?})", self.vocabulary.len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("grammask._tokenizers")?.call_method1("reduce", (slf,))
    }

    fn __copy__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    /// Instances never change, so a deep copy is the same one.
    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}
