//! `cargo xtask tidy`: rules of the house that the compiler does not check.
//!
//! Every check returns findings and goes on, so that one run shows all there is to mend.

mod code_map;
mod files;
mod layers;
mod modules;
mod published;
mod quotes;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use walkdir::WalkDir;

use crate::workspace::Workspace;

/// Something to mend.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Relative to the root, with `:line` where a line is meant.
    place: String,
    message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let sources = Sources::read(workspace.root())?;
    let mut findings = Vec::new();
    findings.extend(layers::check(workspace));
    findings.extend(code_map::check(workspace, &sources)?);
    findings.extend(modules::check(workspace, &sources)?);
    findings.extend(published::check(workspace)?);
    findings.extend(quotes::check(&sources)?);
    findings.extend(files::check(&sources));
    findings.sort();
    for finding in &findings {
        println!("{}: {}", finding.place, finding.message);
    }
    if !findings.is_empty() {
        bail!("tidy: {} to mend", findings.len());
    }
    println!("tidy: {} files, nothing to mend", sources.files.len());
    Ok(())
}

/// All files of the repository: hidden folders other than `.ci` and `.cargo`, build output and what package
/// managers of other languages put beside their manifests are left out.
struct Sources {
    root: PathBuf,
    files: Vec<PathBuf>,
}

impl Sources {
    fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        let walk = WalkDir::new(root).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| entry.depth() == 0 || is_ours(entry.file_name())) {
            let entry = entry?;
            if entry.file_type().is_file() {
                files.push(entry.into_path());
            }
        }
        Ok(Self { root: root.to_owned(), files })
    }

    /// A path relative to the root, with forward slashes.
    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

fn is_ours(name: &std::ffi::OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let hidden = name.starts_with('.') && ![".ci", ".cargo", ".gitignore"].contains(&name);
    !hidden && !["target", "node_modules", "__pycache__"].contains(&name)
}
