//! Models of llama.cpp: the metadata at the start of a GGUF file.
//!
//! A stream of bytes comes in, a vocabulary goes out. The file of a model has gigabytes of tensors; its metadata comes
//! before them and has some megabytes. It is read once from front to back, and no further. Most of it is passed over:
//! chat templates, merges, scores.
//!
//! A length in the file is never believed: texts grow as their bytes arrive, and lists as their items do.

mod reader;
mod metadata;
mod tokens;

pub use self::tokens::from_gguf;
