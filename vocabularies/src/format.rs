//! The formats that files of tokenizers have.

use std::fmt;

/// The format of a tokenizer's file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Hugging Face's `tokenizer.json`.
    TokenizerJson,
    /// A model of llama.cpp, whose metadata holds its tokenizer.
    Gguf,
    /// A SentencePiece model, often `tokenizer.model`.
    SentencePiece,
    /// Mistral's `tekken.json`.
    Tekken,
    /// tiktoken's ranks, often `*.tiktoken`.
    RankFile,
}

impl Format {
    /// The format's own name.
    pub fn name(self) -> &'static str {
        match self {
            Format::TokenizerJson => "tokenizer.json",
            Format::Gguf => "GGUF",
            Format::SentencePiece => "SentencePiece",
            Format::Tekken => "tekken.json",
            Format::RankFile => "rank file",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
