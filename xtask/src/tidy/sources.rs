//! The files of the repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

/// All files of the repository: hidden folders other than `.ci` and `.cargo`, build output and what package
/// managers of other languages put beside their manifests are left out.
pub(super) struct Sources {
    pub(super) root: PathBuf,
    pub(super) files: Vec<PathBuf>,
}

impl Sources {
    pub(super) fn read(root: &Path) -> Result<Self> {
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
    pub(super) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

fn is_ours(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let hidden = name.starts_with('.') && ![".ci", ".cargo", ".gitignore"].contains(&name);
    !hidden && !["target", "node_modules", "__pycache__"].contains(&name)
}
