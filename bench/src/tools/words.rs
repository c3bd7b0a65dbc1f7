//! The two vocabularies, and what the engines need to know of them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use grammask::{TokenKind, Vocabulary, VocabularyOptions};
use tiktoken_rs::CoreBPE;

use super::call_format::CallFormat;
use super::trace::Place;
use super::trace::places;
use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{llguidance, ours};

/// A vocabulary with what turns text into tokens.
pub(crate) struct Words {
    pub(crate) format: CallFormat,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) environment: llguidance::Environment,
    /// Ends a text.
    pub(crate) end: u32,
    tokenizer: Tokenizer,
}

enum Tokenizer {
    File(Box<LoadedTokenizer>),
    O200k(Box<CoreBPE>),
}

/// `<|endoftext|>` of o200k_harmony. `<|call|>` and `<|return|>` end a turn, but a trace goes on after the first of
/// them, so that they are plain marks here.
const HARMONY_END: u32 = 199_999;
/// Number of ids of o200k_harmony.
const HARMONY_SIZE: u32 = 201_088;

impl Words {
    /// Llama's tokenizer from a file for Llama's format; the embedded o200k_harmony for Harmony.
    pub(crate) fn load(format: CallFormat, path: &Path, end: Option<&str>) -> Result<Self> {
        match format {
            CallFormat::Llama => {
                let tokenizer = LoadedTokenizer::load(path, end)?;
                Ok(Self {
                    format,
                    vocabulary: ours::vocabulary(&tokenizer)?,
                    environment: llguidance::environment(&tokenizer)?,
                    end: tokenizer.end,
                    tokenizer: Tokenizer::File(Box::new(tokenizer)),
                })
            }
            CallFormat::Harmony => Self::harmony(),
        }
    }

    fn harmony() -> Result<Self> {
        let encoding = tiktoken_rs::o200k_harmony()?;
        let mut tokens = Vec::new();
        for id in 0..HARMONY_SIZE {
            tokens.push(encoding.decode_bytes(&[id])?);
        }
        let special = encoding.special_tokens();
        let special: Vec<u32> =
            special.iter().flat_map(|name| encoding.encode_with_special_tokens(name)).collect();
        let options =
            VocabularyOptions::default().special_ids(special.iter().copied()).stop_ids([HARMONY_END]);
        let vocabulary = Arc::new(Vocabulary::from_tokens(tokens.iter().map(Some), &options)?);
        ours::keep_token_sets(&vocabulary);
        Ok(Self {
            format: CallFormat::Harmony,
            vocabulary,
            environment: llguidance::environment_of(tokens, &special, HARMONY_END),
            end: HARMONY_END,
            tokenizer: Tokenizer::O200k(Box::new(encoding)),
        })
    }

    /// The tokens of an answer, each with the place where it begins. Marks are tokens where the format has it so.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<(u32, Place)>> {
        let ids = match &self.tokenizer {
            Tokenizer::File(tokenizer) => tokenizer.encode(text)?,
            Tokenizer::O200k(encoding) => encoding.encode_with_special_tokens(text),
        };
        let mut ends = Vec::new();
        let mut end = 0;
        for (place, part) in places(self.format, text) {
            end += part.len();
            ends.push((end, place));
        }
        let mut at = 0;
        let mut tokens = Vec::with_capacity(ids.len());
        for id in ids {
            let part = ends.partition_point(|&(end, _)| end <= at);
            tokens.push((id, ends.get(part).map_or(Place::End, |&(_, place)| place)));
            at += self.spelled(id)?.len();
        }
        ensure!(at == text.len(), "the tokens spell {at} of {} bytes", text.len());
        Ok(tokens)
    }

    /// The bytes of a token, or the name of a special one.
    fn spelled(&self, id: u32) -> Result<&[u8]> {
        let id = self.vocabulary.id(id).context("a token outside the vocabulary")?;
        Ok(match self.vocabulary.special_name(id) {
            Some(name) => name,
            None => self.vocabulary.token_bytes(id),
        })
    }

    /// A text as what a recogniser reads: marks that are tokens, and bytes.
    pub(crate) fn symbols(&self, text: &str) -> Result<Vec<Symbol>> {
        let mut symbols = Vec::new();
        for (id, _) in self.encode(text)? {
            let token = self.vocabulary.id(id).context("a token outside the vocabulary")?;
            match self.vocabulary.kind(token) {
                TokenKind::Text => symbols.extend(self.spelled(id)?.iter().map(|&byte| Symbol::Byte(byte))),
                _ => symbols.push(Symbol::Token(id)),
            }
        }
        Ok(symbols)
    }
}

/// A byte, or a token that is taken as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Byte(u8),
    Token(u32),
}
