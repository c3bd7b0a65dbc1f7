//! What a backend is known to get wrong.

use std::path::Path;

use serde::Deserialize;

use crate::case::{CorpusError, corpus_folder, read_toml};

/// A case that a backend is known to fail.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The case's id.
    pub case: String,
    /// The backend's name.
    pub backend: String,
    /// Why it fails, and what would mend it.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GapFile {
    #[serde(default)]
    gap: Vec<Gap>,
}

/// The gaps that `gaps.toml` declares.
pub fn gaps() -> Result<Vec<Gap>, CorpusError> {
    let path = corpus_folder().join("gaps.toml");
    let file: GapFile = read_toml(Path::new(&path), "corpus/gaps.toml")?;
    Ok(file.gap)
}
