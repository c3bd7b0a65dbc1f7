//! Known mistakes of a backend.

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
    /// The text that each of its failures must contain. A case that a backend declines may fail in no other
    /// way.
    #[serde(skip)]
    pub says: Option<String>,
}

/// Cases that a backend declines by design.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declined {
    backend: String,
    says: String,
    reason: String,
    cases: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GapFile {
    #[serde(default)]
    gap: Vec<Gap>,
    #[serde(default)]
    declined: Vec<Declined>,
}

/// The gaps that `gaps.toml` declares, what backends decline included.
pub fn gaps() -> Result<Vec<Gap>, CorpusError> {
    let path = corpus_folder().join("gaps.toml");
    let file: GapFile = read_toml(Path::new(&path), "corpus/gaps.toml")?;
    let declined = file.declined.into_iter().flat_map(|Declined { backend, says, reason, cases }| {
        let says = format!("it is refused: {says}");
        cases.into_iter().map(move |case| Gap {
            case,
            backend: backend.clone(),
            reason: reason.clone(),
            says: Some(says.clone()),
        })
    });
    Ok(file.gap.into_iter().chain(declined).collect())
}
