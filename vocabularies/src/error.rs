//! Why no vocabulary could be read.

use std::fmt;
use std::io;

use grammask_mask_cache::VocabularyError;

use crate::format::Format;

/// A tokenizer was refused. `Display` says which format it has, where in it the reason lies and what to change.
pub struct LoadError {
    format: Option<Format>,
    place: Option<String>,
    message: String,
    cause: Option<Cause>,
}

enum Cause {
    Read(io::Error),
    Vocabulary(VocabularyError),
}

impl LoadError {
    /// The format of the file, where there is one and it was recognised.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The place in the file: a byte offset, a line, a key or a JSON pointer, as the format has them. `None` where the
    /// reason lies in the options or in the tokens as a whole.
    pub fn place(&self) -> Option<&str> {
        match (&self.place, &self.cause) {
            (Some(place), _) => Some(place),
            (None, Some(Cause::Vocabulary(error))) => error.place(),
            (None, _) => None,
        }
    }

    pub(crate) fn at(format: Format, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { format: Some(format), place: Some(place.into()), message: message.into(), cause: None }
    }

    pub(crate) fn json(format: Format, error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let place = format!("line {} column {}", error.line(), error.column());
        // The parser appends the place, which is at the front here.
        let reason = full.strip_suffix(&format!(" at {place}")).unwrap_or(&full);
        Self::at(format, place, format!("{reason}; fetch the file again"))
    }

    pub(crate) fn unknown_format(start: &[u8]) -> Self {
        let start = &start[..start.len().min(16)];
        let message = format!(
            "the file begins with \"{}\" and is no tokenizer.json, tekken.json, GGUF file, SentencePiece model or rank file",
            start.escape_ascii()
        );
        Self { format: None, place: None, message, cause: None }
    }

    pub(crate) fn too_large(limit: u64) -> Self {
        let message = format!("the file has more than {limit} bytes; raise `max_bytes` if that is meant");
        Self { format: None, place: None, message, cause: None }
    }

    /// A tokenizer that is no file.
    #[cfg(any(feature = "tiktoken-rs", feature = "tokenizers"))]
    pub(crate) fn of_object(message: String) -> Self {
        Self { format: None, place: None, message, cause: None }
    }

    /// The tokens of a tokenizer that is no file do not make a vocabulary.
    #[cfg(any(feature = "tiktoken-rs", feature = "toktrie"))]
    pub(crate) fn of_tokens(error: VocabularyError) -> Self {
        Self { format: None, place: None, message: error.to_string(), cause: Some(Cause::Vocabulary(error)) }
    }

    /// The bytes could not be had, or ended at a place where more must follow.
    pub(crate) fn read(format: Option<Format>, place: Option<String>, error: io::Error) -> Self {
        let message = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends here; fetch it again, in full".to_owned(),
            _ => format!("reading failed: {error}"),
        };
        Self { format, place, message, cause: Some(Cause::Read(error)) }
    }

    /// The tokens do not make a vocabulary.
    pub(crate) fn vocabulary(format: Format, error: VocabularyError) -> Self {
        Self {
            format: Some(format),
            place: None,
            message: error.to_string(),
            cause: Some(Cause::Vocabulary(error)),
        }
    }

    /// The same, known to lie at a place.
    pub(crate) fn vocabulary_at(format: Format, place: impl Into<String>, error: VocabularyError) -> Self {
        Self { place: Some(place.into()), ..Self::vocabulary(format, error) }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.format, &self.place) {
            // Its errors name the file themselves.
            (Some(Format::TokenizerJson), None) if self.place().is_some() => {
                formatter.write_str(&self.message)
            }
            (Some(format), Some(place)) => write!(formatter, "{format}, {place}: {}", self.message),
            (Some(format), None) => write!(formatter, "{format}: {}", self.message),
            (None, _) => formatter.write_str(&self.message),
        }
    }
}

impl fmt::Debug for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LoadError({self})")
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Some(Cause::Read(error)) => Some(error),
            Some(Cause::Vocabulary(error)) => Some(error),
            None => None,
        }
    }
}
