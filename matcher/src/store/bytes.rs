//! Compiled grammars and shared masks as bytes.
//!
//! Compiling a large schema takes milliseconds to seconds, and reading its automata back a fraction of that.
//! A process that starts with the masks of its predecessor answers its first requests as fast as the
//! hundredth. Automata are kept ([`CompiledGrammar::to_bytes`]), and the masks that grammars share
//! ([`Compiler::pool_to_bytes`]); all other tables of a grammar are computed again as texts need them.
//!
//! # The format
//!
//! First come eight bytes that name the format, and a hash (XXH3, 128 bits, little-endian) of everything
//! after it. Then, in the compact encoding of `postcard`, come the format's number, the kind of the content,
//! the fingerprint of the vocabulary, and the content. A file of another format or another vocabulary is
//! refused, not translated: it is a cache.
//!
//! # What a reader may trust
//!
//! The hash finds damage. Against forgery nothing is trusted: every index, every invariant of automata and
//! every token is checked, so no bytes whatever lead to a panic or to impossible tables. But a well-made file
//! may hold another grammar than the reader thinks, and masks of shared parts that no automaton would give.
//! Keep files where only accounts that may also change the program can write.

use std::sync::Arc;

use grammask_fsm::Program;
use grammask_grammar_ir::shorten;
use grammask_mask_cache::{SavedPool, SavedPoolError, Vocabulary};
use grammask_parser_backend::Backend;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use crate::base::error::CompileError;
use crate::compile::backend::BuildBackend;
use crate::compile::compiler::Compiler;
use crate::grammar::compiled::CompiledGrammar;

const MAGIC: &[u8; 8] = b"grammask";
const HASH: usize = size_of::<u128>();

/// Goes up with every change of the written data: of this format, of automata, or of the meaning of
/// descriptions of local parts.
pub(super) const FORMAT: u32 = 6;

/// The kinds of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum ContentKind {
    Grammar,
    Pool,
    Entry,
}

/// Bytes that are no compiled grammar for this vocabulary, or no masks for it. `Display` says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct StoreError {
    kind: StoreErrorKind,
}

#[derive(Clone, Debug, thiserror::Error)]
enum StoreErrorKind {
    #[error("the bytes are not what grammask writes; check the file's name")]
    Foreign,
    #[error("the bytes are damaged or cut; compile the structure anew")]
    Damaged,
    #[error("the bytes have format {0}, this version reads format {FORMAT}; compile the structure anew")]
    Version(u32),
    #[error("the bytes hold something else: {found:?}, not {asked:?}")]
    Content { found: ContentKind, asked: ContentKind },
    #[error(
        "the bytes belong to another vocabulary ({found:032x}, not {ours:032x}); compile the structure for this one"
    )]
    Vocabulary { found: u128, ours: u128 },
    #[error("the masks belong to another parser backend (`{}`)", shorten(.0))]
    Backend(Box<str>),
    #[error("the bytes hold no sound content: {0}")]
    Malformed(Box<str>),
    #[error("a token of the grammar is not in the vocabulary")]
    Token,
    #[error("the bytes were written for another source than the one that is given with them")]
    Source,
    #[error("the grammar was made from a backend, not from automata, and cannot be written")]
    NoProgram,
    #[error(transparent)]
    Pool(#[from] SavedPoolError),
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl<E: Into<StoreErrorKind>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self { kind: error.into() }
    }
}

impl StoreError {
    /// Whether the bytes are sound, and were written for [another source](Compiler::load_with_source).
    pub fn is_other_source(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Source)
    }
}

impl<B: Backend> CompiledGrammar<B> {
    /// The grammar as bytes, for [`Compiler::load`]. They depend on the automata and the vocabulary's fingerprint
    /// alone.
    ///
    /// # Errors
    ///
    /// Where the grammar was made [from a backend](Self::from_backend).
    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let program = self.program().ok_or(StoreErrorKind::NoProgram)?;
        seal(ContentKind::Grammar, self.vocabulary(), &**program)
    }

    /// As [`to_bytes`](Self::to_bytes), with the text that the grammar stands for, for
    /// [`Compiler::load_with_source`]: a source with its options, or a name. A caller that keeps the text
    /// elsewhere can check that the bytes belong to it.
    ///
    /// # Errors
    ///
    /// As for [`to_bytes`](Self::to_bytes).
    pub fn to_bytes_with_source(&self, source: &str) -> Result<Vec<u8>, StoreError> {
        let program = self.program().ok_or(StoreErrorKind::NoProgram)?;
        seal(ContentKind::Entry, self.vocabulary(), &(source, &**program))
    }
}

impl<B: BuildBackend> Compiler<B> {
    /// A grammar that [`to_bytes`](CompiledGrammar::to_bytes) wrote, of this version and for this vocabulary. The
    /// backend may be another one.
    ///
    /// # Errors
    ///
    /// Where the bytes are damaged, foreign or unsound, or the backend does not serve the grammar. Nothing that is
    /// in them can cause more than that.
    pub fn load(&self, bytes: &[u8]) -> Result<CompiledGrammar<B>, StoreError> {
        self.load_program(open(ContentKind::Grammar, self.vocabulary(), bytes)?)
    }

    /// A grammar that [`to_bytes_with_source`](CompiledGrammar::to_bytes_with_source) wrote for this source.
    ///
    /// # Errors
    ///
    /// As for [`load`](Self::load), and where the bytes were written for another source.
    pub fn load_with_source(&self, bytes: &[u8], source: &str) -> Result<CompiledGrammar<B>, StoreError> {
        let (found, program): (String, Program) = open(ContentKind::Entry, self.vocabulary(), bytes)?;
        if found != source {
            return Err(StoreErrorKind::Source.into());
        }
        self.load_program(program)
    }

    /// The masks that the grammars of this compiler share, as bytes, for [`load_pool`](Self::load_pool).
    ///
    /// # Errors
    ///
    /// None that can be brought about; there is no need to give up where there is one.
    pub fn pool_to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let saved = SharedMasks { backend: std::any::type_name::<B>().into(), masks: self.pool().save() };
        seal(ContentKind::Pool, self.vocabulary(), &saved)
    }

    /// Adds the masks that [`pool_to_bytes`](Self::pool_to_bytes) wrote to those that grammars share. Returns how
    /// many they are.
    ///
    /// # Errors
    ///
    /// As for [`load`](Self::load). Nothing is added then.
    pub fn load_pool(&self, bytes: &[u8]) -> Result<usize, StoreError> {
        let read: SharedMasks = open(ContentKind::Pool, self.vocabulary(), bytes)?;
        if *read.backend != *std::any::type_name::<B>() {
            return Err(StoreErrorKind::Backend(read.backend).into());
        }
        Ok(self.pool().restore(&read.masks, self.vocabulary())?)
    }

    fn load_program(&self, program: Program) -> Result<CompiledGrammar<B>, StoreError> {
        // The hash finds damage, not intent: anyone can write bytes with a right hash. Whatever is used as an
        // index is checked against this vocabulary.
        let mut ids = program.labels().iter().flat_map(|label| &*label.ids);
        if ids.any(|&id| self.vocabulary().id(id).is_none()) {
            return Err(StoreErrorKind::Token.into());
        }
        Ok(self.program(Arc::new(program))?)
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct SharedMasks {
    /// Backends describe local parts in words of their own.
    backend: Box<str>,
    masks: SavedPool,
}

fn seal(
    content: ContentKind,
    vocabulary: &Vocabulary,
    value: &impl Serialize,
) -> Result<Vec<u8>, StoreError> {
    let mut bytes = [MAGIC.as_slice(), &[0; HASH]].concat();
    let whole = ((FORMAT, content, vocabulary.fingerprint()), value);
    bytes = postcard::to_extend(&whole, bytes).map_err(malformed)?;
    // The hash is before the bytes that it covers. Room was left for it, so that nothing is moved.
    let (head, rest) = bytes.split_at_mut(MAGIC.len() + HASH);
    head[MAGIC.len()..].copy_from_slice(&xxh3_128(rest).to_le_bytes());
    Ok(bytes)
}

fn open<T: DeserializeOwned>(
    asked: ContentKind,
    vocabulary: &Vocabulary,
    bytes: &[u8],
) -> Result<T, StoreError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(StoreErrorKind::Foreign)?;
    // The content is decoded last. Each test before it gives a reason that names the real trouble, where
    // decoding would only find that something does not fit.
    let (hash, rest) = rest.split_first_chunk().ok_or(StoreErrorKind::Damaged)?;
    if u128::from_le_bytes(*hash) != xxh3_128(rest) {
        return Err(StoreErrorKind::Damaged.into());
    }
    // The number alone, because the bytes after it may have another form.
    let (format, rest): (u32, _) = postcard::take_from_bytes(rest).map_err(malformed)?;
    if format != FORMAT {
        return Err(StoreErrorKind::Version(format).into());
    }
    let ((found, fingerprint), rest): ((ContentKind, u128), _) =
        postcard::take_from_bytes(rest).map_err(malformed)?;
    if found != asked {
        return Err(StoreErrorKind::Content { found, asked }.into());
    }
    let ours = vocabulary.fingerprint();
    if fingerprint != ours {
        return Err(StoreErrorKind::Vocabulary { found: fingerprint, ours }.into());
    }
    let (value, rest) = postcard::take_from_bytes(rest).map_err(malformed)?;
    if !rest.is_empty() {
        return Err(StoreErrorKind::Malformed("something stands behind the content".into()).into());
    }
    Ok(value)
}

fn malformed(error: postcard::Error) -> StoreErrorKind {
    StoreErrorKind::Malformed(error.to_string().into())
}
