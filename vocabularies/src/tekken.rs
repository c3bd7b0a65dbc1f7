//! `tekken.json`, the format of Mistral's tokenizers.
//!
//! Special tokens come first: they have the ids below a number that the file states, whether it names them or not. The
//! tokens of text follow by their ranks. The file may list more of them than the model uses.

use std::borrow::Cow;

use grammask_mask_cache::{Vocabulary, VocabularyBuilder, VocabularyError, VocabularyOptions};
use serde::Deserialize;

use crate::error::LoadError;
use crate::format::Format;
use crate::spelling::from_base64;

/// The vocabulary of Mistral's `tekken.json`.
///
/// Every id below `default_num_special_tokens` is special; those that the file gives no name are called `<SPECIAL_20>`
/// and so on, as in `mistral-common`. Files of versions up to 7 may leave out all names, and then the first twenty are
/// those that these versions had. The text token of rank 0 follows; `default_vocab_size` is the number of ids.
///
/// # Errors
///
/// If the file is damaged or no such file; if a rank below the size is missing or there twice; if a limit of the options
/// is passed. The place is a line and column, or a JSON pointer.
pub fn from_tekken(json: &[u8], options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let file: TekkenFile<'_> =
        serde_json::from_slice(json).map_err(|error| LoadError::json(Format::Tekken, &error))?;
    let config = &file.config;
    let special = config.default_num_special_tokens;
    let Some(text) = config.default_vocab_size.checked_sub(special) else {
        return Err(at(
            "/config/default_vocab_size",
            "less than the number of special tokens; fetch the file again",
        ));
    };
    let mut builder = VocabularyBuilder::new(options);
    let limit = u32::try_from(builder.max_tokens()).unwrap_or(u32::MAX);
    if config.default_vocab_size > limit {
        let message =
            format!("{} ids, limit {limit}; raise `max_tokens` if that is meant", config.default_vocab_size);
        return Err(at("/config/default_vocab_size", message));
    }
    add_special_tokens(&mut builder, &file)?;

    let mut bytes = Vec::new();
    for (index, token) in file.vocab.iter().enumerate().filter(|(_, token)| token.rank < text) {
        let place = |part: &str| format!("/vocab/{index}/{part}");
        from_base64(token.token_bytes.as_bytes(), &mut bytes)
            .map_err(|reason| at(place("token_bytes"), reason))?;
        // Special tokens have the first ids, and ranks count from there. The file may list more tokens than
        // the model has; those are left out above.
        let id = special + token.rank;
        if builder.has(id) {
            return Err(at(
                place("rank"),
                format!("rank {} is there twice; fetch the file again", token.rank),
            ));
        }
        builder.put(id, &bytes).map_err(|error| vocabulary_at(place("token_bytes"), error))?;
    }
    if let Some(missing) = (0..text).find(|rank| !builder.has(special + rank)) {
        return Err(at("/vocab", format!("no token has rank {missing}; fetch the file again")));
    }
    builder.finish().map_err(|error| LoadError::vocabulary(Format::Tekken, error))
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `config` and `vocab`")]
struct TekkenFile<'a> {
    #[serde(borrow)]
    config: Config<'a>,
    #[serde(borrow)]
    vocab: Vec<TextToken<'a>>,
    #[serde(borrow)]
    special_tokens: Option<Vec<SpecialToken<'a>>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `default_vocab_size` and `default_num_special_tokens`")]
struct Config<'a> {
    default_vocab_size: u32,
    default_num_special_tokens: u32,
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `rank` and `token_bytes`")]
struct TextToken<'a> {
    rank: u32,
    #[serde(borrow)]
    token_bytes: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `rank` and `token_str`")]
struct SpecialToken<'a> {
    rank: u32,
    #[serde(borrow)]
    token_str: Cow<'a, str>,
}

/// The special tokens of files that name none, in the order of their ids.
const OLD_NAMES: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// The last version whose files may name no special tokens.
const MAX_UNNAMED_VERSION: u32 = 7;

fn add_special_tokens(builder: &mut VocabularyBuilder<'_>, file: &TekkenFile<'_>) -> Result<(), LoadError> {
    let count = file.config.default_num_special_tokens;
    match &file.special_tokens {
        Some(tokens) => {
            for (index, token) in tokens.iter().enumerate() {
                let place = format!("/special_tokens/{index}/rank");
                if token.rank >= count {
                    let message =
                        format!("rank {} of {count} special tokens; fetch the file again", token.rank);
                    return Err(at(place, message));
                }
                if builder.has(token.rank) {
                    return Err(at(
                        place,
                        format!("rank {} is there twice; fetch the file again", token.rank),
                    ));
                }
                let placed = |error| vocabulary_at(format!("/special_tokens/{index}/token_str"), error);
                builder.put(token.rank, token.token_str.as_bytes()).map_err(placed)?;
            }
        }
        None => {
            let version = file.config.version.as_deref().and_then(version_number);
            if version.is_none_or(|version| version > MAX_UNNAMED_VERSION) {
                let message = "a file of this version has `special_tokens`; fetch the file again";
                return Err(at("/config/version", message));
            }
            for (id, name) in (0..count).zip(OLD_NAMES) {
                builder.put(id, name.as_bytes()).map_err(|error| vocabulary_at("/config", error))?;
            }
        }
    }
    for id in 0..count {
        if !builder.has(id) {
            let name = format!("<SPECIAL_{id}>");
            let placed = |error| vocabulary_at("/config/default_num_special_tokens", error);
            builder.put(id, name.as_bytes()).map_err(placed)?;
        }
        builder.mark_special(id);
    }
    Ok(())
}

/// The number in `v7`, and in `v7m1`.
fn version_number(version: &str) -> Option<u32> {
    let version = version.strip_prefix('v')?;
    let digits = version.find(|character: char| !character.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

fn at(place: impl Into<String>, message: impl Into<String>) -> LoadError {
    LoadError::at(Format::Tekken, place, message)
}

fn vocabulary_at(place: impl Into<String>, error: VocabularyError) -> LoadError {
    LoadError::vocabulary_at(Format::Tekken, place, error)
}
