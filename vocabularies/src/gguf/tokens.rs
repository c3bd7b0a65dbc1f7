//! From the metadata of a GGUF file to a vocabulary.

use std::borrow::Cow;
use std::io::Read;

use grammask_mask_cache::{TokenCoding, Vocabulary, VocabularyBuilder, VocabularyOptions};

use super::metadata::{self, MODEL, Metadata, STOP_KEYS, SpelledTokens, TOKENS};
use crate::error::LoadError;
use crate::format::Format;
use crate::spelling::{byte_token, with_spaces};

/// The vocabulary of a GGUF file, the format of llama.cpp's models. Only the metadata at its start is read.
///
/// The bytes of a token are what `llama_token_to_piece` returns. Every `tokenizer.ggml.model` that llama.cpp
/// knows can be read: `llama`, `gpt2`, `gemma4`, `t5`, `bert`, `rwkv`, `plamo2`, `hybriddna`, `whitespace`,
/// `test`. Control tokens and the unknown token are special, user-defined tokens are text. Unused tokens and
/// tokens of no known type have no bytes. Neither have user-defined tokens like `[PAD7]` with the id 7, which
/// a converter writes where the tokenizer has no token.
///
/// [`VocabularyOptions::stop_ids`] says which ids end a text. Otherwise they are those that the file names as
/// `eos`, `eot` and `eom`, and the special tokens with known names
/// ([`STOP_TOKEN_NAMES`](grammask_mask_cache::STOP_TOKEN_NAMES)).
///
/// A tokenizer may put a space before a text that it encodes; a token's bytes keep their space, as they are in the
/// middle of a text.
///
/// # Errors
///
/// Fails if the file is damaged, of another version than 2 and 3, or without a tokenizer. It also fails if
/// the tokenizer is not known, if a limit of the options is passed, or if reading fails. `max_bytes` counts
/// for the tokens as the file spells them, too.
pub fn from_gguf(stream: impl Read, options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let mut builder = VocabularyBuilder::new(options);
    let metadata = metadata::read(stream, builder.max_tokens(), builder.max_bytes())?;
    let model = Model::of(&metadata)?;
    let tokens =
        metadata.tokens.as_ref().ok_or_else(|| at_key(TOKENS, "the file has no tokens; convert it again"))?;
    if let Some(types) = &metadata.types
        && types.len() < tokens.len()
    {
        let message = format!("{} types for {} tokens; convert the model again", types.len(), tokens.len());
        return Err(at_key("tokenizer.ggml.token_type", message));
    }
    let kinds = Kinds { types: metadata.types.as_deref() };
    add_tokens(&mut builder, tokens, &kinds, &model)?;
    add_stop_tokens(&mut builder, &metadata, &kinds, &model)?;
    builder.finish().map_err(|error| LoadError::vocabulary(Format::Gguf, error))
}

/// How the tokens of a model are spelled, and what llama.cpp takes for granted about it.
struct Model {
    spelling: Spelling,
    /// The token that ends a text where the file does not say: a default counts if it is a control token.
    default_stop: Option<usize>,
    /// The ending that tells tokens of the same text apart.
    marker: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// U+2581 is a space.
    Spaces,
    /// The alphabet of GPT-2.
    ByteLevel,
    /// As a literal of Python: `\n`, `\xe2`.
    Escaped,
    /// As it is.
    Plain,
    /// The number of the id, in hexadecimal.
    Number,
}

/// Ways of splitting that mean spaces as U+2581 in a model with merges.
const SPLITTING_WITH_SPACES: [&str; 3] = ["gemma4", "granite-embed-multi-311m", "sarvam-moe"];

/// The token before those with a marker, and their marker.
const BEFORE_MARKED: &[u8] = b"<oov>";
const MARKER: &str = "\u{E000}";

impl Model {
    fn of(metadata: &Metadata) -> Result<Self, LoadError> {
        let Some(name) = metadata.model.as_deref() else {
            return Err(at_key(
                MODEL,
                "the file has no tokenizer; give the model's own, or its tokenizer.json",
            ));
        };
        let splits_with_spaces =
            metadata.splitting.as_deref().is_some_and(|name| SPLITTING_WITH_SPACES.contains(&name));
        let (spelling, default_stop) = match name {
            "llama" => (Spelling::Spaces, Some(2)),
            "t5" => (Spelling::Spaces, Some(1)),
            "bert" | "gemma4" => (Spelling::Spaces, None),
            "gpt2" | "hybriddna" | "whitespace" if splits_with_spaces => (Spelling::Spaces, Some(11)),
            "gpt2" | "hybriddna" | "whitespace" => (Spelling::ByteLevel, Some(11)),
            "rwkv" => (Spelling::Escaped, None),
            "plamo2" => (Spelling::Plain, Some(2)),
            "test" => (Spelling::Number, None),
            "none" | "no_vocab" => {
                let message = format!("`{name}`: the model has no tokenizer; give the file of its tokenizer");
                return Err(at_key(MODEL, message));
            }
            _ => {
                let name = name.escape_debug();
                let message = format!("`{name}` is not a known tokenizer; give the model's tokenizer.json");
                return Err(at_key(MODEL, message));
            }
        };
        Ok(Self { spelling, default_stop, marker: (name == "hybriddna").then_some(MARKER) })
    }
}

/// The types of the tokens.
struct Kinds<'m> {
    types: Option<&'m [i32]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Special,
    UserDefined,
    Byte,
    Nothing,
}

impl Kinds<'_> {
    fn get(&self, token: usize) -> Kind {
        let Some(types) = self.types else { return Kind::Normal };
        match types.get(token) {
            Some(1) => Kind::Normal,
            Some(2 | 3) => Kind::Special,
            Some(4) => Kind::UserDefined,
            Some(6) => Kind::Byte,
            _ => Kind::Nothing,
        }
    }
}

fn add_tokens(
    builder: &mut VocabularyBuilder<'_>,
    tokens: &SpelledTokens,
    kinds: &Kinds<'_>,
    model: &Model,
) -> Result<(), LoadError> {
    let mut marker = None;
    for (index, (id, spelled)) in (0_u32..).zip(tokens.iter()).enumerate() {
        let kind = kinds.get(index);
        let unmarked =
            marker.and_then(|marker: &str| spelled.strip_suffix(marker.as_bytes())).unwrap_or(spelled);
        if spelled == BEFORE_MARKED {
            marker = model.marker;
        }
        let bytes =
            bytes(unmarked, id, kind, model.spelling).map_err(|reason| at_token(tokens, index, reason))?;
        builder
            .push(&bytes)
            .map_err(|error| LoadError::vocabulary_at(Format::Gguf, token_place(tokens, index), error))?;
        if kind == Kind::Special {
            builder.mark_special(id);
        }
    }
    Ok(())
}

/// The bytes of a text token, or the name of a special one.
fn bytes(spelled: &[u8], id: u32, kind: Kind, spelling: Spelling) -> Result<Cow<'_, [u8]>, &'static str> {
    const NOT_A_BYTE: &str =
        "the type says that it is a byte, and its text is not like `<0x0A>`; convert it again";
    let is_padding = || spelled == format!("[PAD{id}]").as_bytes();
    match (kind, spelling) {
        (Kind::Nothing, _) => Ok(Cow::Borrowed(b"")),
        (Kind::Special, _) => Ok(Cow::Borrowed(spelled)),
        (_, Spelling::Number) => Ok(Cow::Owned(format!("{id:x}").into_bytes())),
        (_, Spelling::Escaped) => unescaped(spelled).map(Cow::Owned),
        (Kind::UserDefined, _) if is_padding() => Ok(Cow::Borrowed(b"")),
        (Kind::Byte, _) => byte_token(spelled).map(|byte| Cow::Owned(vec![byte])).ok_or(NOT_A_BYTE),
        (Kind::UserDefined, _) | (Kind::Normal, Spelling::Plain) => Ok(Cow::Borrowed(spelled)),
        (Kind::Normal, Spelling::Spaces) => Ok(with_spaces(spelled)),
        (Kind::Normal, Spelling::ByteLevel) => std::str::from_utf8(spelled)
            .map(|spelled| Cow::Owned(TokenCoding::ByteLevel.decode(spelled)))
            .map_err(|_| "not UTF-8, as tokens of this tokenizer are; fetch the file again"),
    }
}

/// The bytes of a literal in Python's spelling.
fn unescaped(spelled: &[u8]) -> Result<Vec<u8>, &'static str> {
    const INCOMPLETE: &str = "the text ends inside an escape; convert the model again";
    let mut bytes = Vec::with_capacity(spelled.len());
    let mut rest = spelled.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().ok_or(INCOMPLETE)? {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let mut digit = || {
                    let digit = char::from(rest.next().ok_or(INCOMPLETE)?).to_digit(16);
                    digit
                        .and_then(|digit| u8::try_from(digit).ok())
                        .ok_or("not a hexadecimal digit after `\\x`")
                };
                digit()? << 4 | digit()?
            }
            other => other,
        });
    }
    Ok(bytes)
}

fn add_stop_tokens(
    builder: &mut VocabularyBuilder<'_>,
    metadata: &Metadata,
    kinds: &Kinds<'_>,
    model: &Model,
) -> Result<(), LoadError> {
    if builder.has_stop_ids() {
        return Ok(());
    }
    let len = metadata.tokens.as_ref().map_or(0, SpelledTokens::len);
    let given = STOP_KEYS.iter().zip(metadata.stop).filter_map(|(key, id)| Some((*key, id?)));
    for (key, id) in given {
        match u32::try_from(id) {
            Ok(id) if usize::try_from(id).is_ok_and(|id| id < len) => builder.mark_stop(id),
            _ => {
                let message =
                    format!("id {id} of {len} tokens; name the ids that end a text with `stop_ids`");
                return Err(at_key(key, message));
            }
        }
    }
    if metadata.stop[0].is_none()
        && let Some(default) = model.default_stop.filter(|&id| id < len && kinds.get(id) == Kind::Special)
        && let Ok(id) = u32::try_from(default)
    {
        builder.mark_stop(id);
    }
    Ok(())
}

fn at_key(key: &str, message: impl Into<String>) -> LoadError {
    LoadError::at(Format::Gguf, format!("key `{key}`"), message)
}

fn at_token(tokens: &SpelledTokens, index: usize, message: &str) -> LoadError {
    LoadError::at(Format::Gguf, token_place(tokens, index), message)
}

fn token_place(tokens: &SpelledTokens, index: usize) -> String {
    format!("key `{TOKENS}`, token {index}, byte {}", tokens.place(index))
}
