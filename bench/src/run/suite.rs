//! A folder in the layout of the JSON Schema Test Suite: files of groups, a schema with its tests each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use grammask::json_schema::Retriever;
use serde::Deserialize;
use serde_json::Value;

/// One file of the suite.
#[derive(Debug)]
pub(crate) struct SuiteFile {
    /// Its name below the draft's folder, without `.json`.
    pub(crate) name: String,
    pub(crate) groups: Vec<Group>,
}

/// A schema with its tests.
#[derive(Debug, Deserialize)]
pub(crate) struct Group {
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) tests: Vec<Test>,
}

/// An instance. Its numbers keep their spellings, its members their order.
#[derive(Debug, Deserialize)]
pub(crate) struct Test {
    pub(crate) description: String,
    pub(crate) data: Value,
    pub(crate) valid: bool,
}

/// Reads the files of a draft, sorted by name: the required ones, or those of the folder `optional` too.
pub(crate) fn read(suite: &Path, draft: &str, optional: Optional) -> Result<Vec<SuiteFile>> {
    let folder = suite.join(format!("draft{draft}"));
    let mut paths = json_files(&folder)?;
    if optional == Optional::Included {
        paths.extend(json_files(&folder.join("optional"))?);
        paths.extend(json_files(&folder.join("optional/format"))?);
    }
    ensure!(!paths.is_empty(), "{} holds no .json file; is it a test suite's?", folder.display());
    let files = paths.into_iter().map(|path| {
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let groups = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a list of groups of tests", path.display()))?;
        let below = path.strip_prefix(&folder).unwrap_or(&path).with_extension("");
        Ok(SuiteFile { name: below.to_string_lossy().into_owned(), groups })
    });
    files.collect()
}

/// Whether tests of what a validator may leave out are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optional {
    Included,
    LeftOut,
}

fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot list {}; name the suite with --suite", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

/// Where the suite's schemas expect the documents of its folder `remotes`.
const REMOTES: &str = "http://localhost:1234/";

/// Gives the documents of the suite's folder `remotes`, read once and kept.
pub(crate) fn remotes(suite: &Path) -> Result<Retriever> {
    let root = suite.join("remotes");
    let mut documents = HashMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            // One that is no JSON cannot be a schema.
            let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
            let below = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
            documents.insert(format!("{REMOTES}{below}"), value);
        }
    }
    let documents = Arc::new(documents);
    Ok(Retriever::new(move |uri| {
        documents.get(uri).cloned().map(Into::into).ok_or_else(|| "the suite has no such document".to_owned())
    }))
}
