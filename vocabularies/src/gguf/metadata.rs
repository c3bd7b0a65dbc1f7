//! The tokenizer in the metadata of a GGUF file.

use std::io::Read;

use super::reader::{Reader, ValueType};
use crate::error::LoadError;

/// Name of the tokenizer's kind.
pub(super) const MODEL: &str = "tokenizer.ggml.model";
/// Name of the way in which it splits a text before it looks for tokens.
const SPLITTING: &str = "tokenizer.ggml.pre";
/// The tokens as they are spelled.
pub(super) const TOKENS: &str = "tokenizer.ggml.tokens";
/// The type of each token.
const TYPES: &str = "tokenizer.ggml.token_type";
/// The token that ends a text, the one that ends a turn, the one that ends a message.
pub(super) const STOP_KEYS: [&str; 3] =
    ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"];

/// Most bytes of a name.
const MAX_NAME: u64 = 1 << 10;

/// The entries that matter here.
#[derive(Default)]
pub(super) struct Metadata {
    pub(super) model: Option<String>,
    pub(super) splitting: Option<String>,
    pub(super) tokens: Option<SpelledTokens>,
    /// May be longer than the list of tokens.
    pub(super) types: Option<Vec<i32>>,
    /// Ids for [`STOP_KEYS`].
    pub(super) stop: [Option<i128>; 3],
}

/// Tokens as the file spells them, one after the other.
#[derive(Default)]
pub(super) struct SpelledTokens {
    bytes: Vec<u8>,
    /// For each token the end of its bytes.
    ends: Vec<usize>,
    /// Where in the file the first token begins.
    pub(super) offset: u64,
}

impl SpelledTokens {
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where in the file the text of a token begins: each has its length in eight bytes before it.
    pub(super) fn place(&self, token: usize) -> u64 {
        let before = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.offset + before as u64 + 8 * (token as u64 + 1)
    }
}

/// Reads all entries, and passes over those that do not matter.
pub(super) fn read(stream: impl Read, max_tokens: usize, max_bytes: usize) -> Result<Metadata, LoadError> {
    let mut reader = Reader::new(stream);
    let entries = header(&mut reader)?;
    let mut metadata = Metadata::default();
    // Entries come in any order. Nothing is set aside for the number that the header claims, and values that
    // do not matter are read without being kept.
    for _ in 0..entries {
        let (key, value_type) = reader.next_key()?;
        let Ok(key) = std::str::from_utf8(&key) else {
            return Err(reader.error("the key is not UTF-8; fetch the file again"));
        };
        if let Some(stop) = STOP_KEYS.iter().position(|&stop| stop == key) {
            let id = reader.integer(value_type)?;
            once(&reader, &mut metadata.stop[stop], id)?;
            continue;
        }
        match key {
            MODEL => {
                let name = name(&mut reader, value_type)?;
                once(&reader, &mut metadata.model, name)?;
            }
            SPLITTING => {
                let name = name(&mut reader, value_type)?;
                once(&reader, &mut metadata.splitting, name)?;
            }
            TOKENS => {
                let tokens = tokens(&mut reader, value_type, max_tokens, max_bytes)?;
                once(&reader, &mut metadata.tokens, tokens)?;
            }
            TYPES => {
                let types = types(&mut reader, value_type, max_tokens)?;
                once(&reader, &mut metadata.types, types)?;
            }
            _ => reader.pass_over(value_type)?,
        }
    }
    Ok(metadata)
}

/// Reads the header and returns the number of entries.
fn header<R: Read>(reader: &mut Reader<R>) -> Result<u64, LoadError> {
    if reader.bytes()? != *b"GGUF" {
        return Err(reader.error("the file does not begin with `GGUF`; give a model in that format"));
    }
    let version = reader.u32()?;
    match version {
        2 | 3 => {}
        _ if version & 0xFFFF == 0 => {
            let message =
                "the numbers are stored with the greatest byte first; convert the model for this machine";
            return Err(reader.error(message));
        }
        _ => {
            let message = format!("version {version}, where 2 and 3 can be read; convert the model again");
            return Err(reader.error(message));
        }
    }
    let _tensors = reader.u64()?;
    reader.u64()
}

/// Keeps a value, and refuses a second one for its key.
fn once<R: Read, T>(reader: &Reader<R>, place: &mut Option<T>, value: T) -> Result<(), LoadError> {
    if place.replace(value).is_some() {
        return Err(reader.error("the key is there twice; convert the model again"));
    }
    Ok(())
}

fn name<R: Read>(reader: &mut Reader<R>, value_type: ValueType) -> Result<String, LoadError> {
    if value_type != ValueType::String {
        return Err(reader.error("not a text; convert the model again"));
    }
    let mut bytes = Vec::new();
    reader.string(&mut bytes, MAX_NAME, "convert the model again")?;
    String::from_utf8(bytes).map_err(|_| reader.error("the text is not UTF-8; fetch the file again"))
}

fn tokens<R: Read>(
    reader: &mut Reader<R>,
    value_type: ValueType,
    max_tokens: usize,
    max_bytes: usize,
) -> Result<SpelledTokens, LoadError> {
    let count = count(reader, value_type, |item| item == ValueType::String, max_tokens)?;
    let mut tokens = SpelledTokens { offset: reader.offset(), ..SpelledTokens::default() };
    for _ in 0..count {
        let room = max_bytes.saturating_sub(tokens.bytes.len());
        reader.string(&mut tokens.bytes, room as u64, "raise `max_bytes` if that is meant")?;
        tokens.ends.push(tokens.bytes.len());
    }
    Ok(tokens)
}

fn types<R: Read>(
    reader: &mut Reader<R>,
    value_type: ValueType,
    max_tokens: usize,
) -> Result<Vec<i32>, LoadError> {
    let wanted = |item| matches!(item, ValueType::Signed(4) | ValueType::Unsigned(4));
    let count = count(reader, value_type, wanted, max_tokens)?;
    let mut types = Vec::new();
    for _ in 0..count {
        types.push(i32::from_le_bytes(reader.bytes()?));
    }
    Ok(types)
}

/// Reads the head of a list that has one item for each token.
fn count<R: Read>(
    reader: &mut Reader<R>,
    value_type: ValueType,
    wanted: impl Fn(ValueType) -> bool,
    max_tokens: usize,
) -> Result<u64, LoadError> {
    if value_type != ValueType::Array {
        return Err(reader.error("not a list; convert the model again"));
    }
    let (item, count) = reader.list()?;
    if !wanted(item) {
        return Err(reader.error("a list of other things than this key has; convert the model again"));
    }
    if count > max_tokens as u64 {
        let message = format!("{count} tokens, limit {max_tokens}; raise `max_tokens` if that is meant");
        return Err(reader.error(message));
    }
    Ok(count)
}
