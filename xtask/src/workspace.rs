//! Cargo's knowledge of the workspace.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The workspace as Cargo sees it; dependencies outside it are not resolved, so that loading is quick.
pub(crate) struct Workspace {
    metadata: Metadata,
    crates: Crates,
}

/// How the crates of the workspace are compiled for development.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crates {
    /// In many pieces, as a plain `cargo build` does. After a change only a few of them are compiled again.
    Pieces,
    /// Each as a whole. From nothing this takes a quarter less time than in 16 pieces. Pieces also change inlining, so that
    /// counts of instructions would depend on how a tree was built (some paths of `bench instructions` take 8% more).
    Whole,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        Self::load_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }

    /// The workspace whose root manifest is in a folder.
    pub(crate) fn load_at(root: &Path) -> Result<Self> {
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .no_deps()
            .exec()
            .context("cargo metadata failed; check the manifests of the workspace")?;
        Ok(Self { metadata, crates: Crates::Pieces })
    }

    /// The same workspace, whose crates are compiled in another way.
    pub(crate) fn compiled(self, crates: Crates) -> Self {
        Self { crates, ..self }
    }

    pub(crate) fn crates(&self) -> Crates {
        self.crates
    }

    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    pub(crate) fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// The members, by folder.
    pub(crate) fn members(&self) -> impl Iterator<Item = Member<'_>> {
        self.metadata.workspace_packages().into_iter().map(|package| {
            let folder = package.manifest_path.parent().map_or(Path::new(""), |parent| parent.as_std_path());
            let relative = folder.strip_prefix(self.root()).unwrap_or(folder);
            Member { package, folder: relative.to_string_lossy().replace('\\', "/") }
        })
    }
}

/// One package of the workspace.
pub(crate) struct Member<'w> {
    pub(crate) package: &'w Package,
    /// Relative to the root, with forward slashes.
    pub(crate) folder: String,
}

impl Member<'_> {
    pub(crate) fn is_published(&self) -> bool {
        self.package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// Where the crate's documentation stands: `src/lib.rs`, or the file of the first program.
    pub(crate) fn crate_root(&self) -> Option<PathBuf> {
        let targets = &self.package.targets;
        let library = targets.iter().find(|target| target.is_lib() || target.is_proc_macro());
        library
            .or_else(|| targets.iter().find(|target| target.is_bin()))
            .map(|target| target.src_path.clone().into_std_path_buf())
    }

    pub(crate) fn has_library(&self) -> bool {
        self.package.targets.iter().any(|target| target.is_lib())
    }

    /// The workspace packages that code of this one links, with whether a build script or the code does;
    /// development dependencies are left out.
    pub(crate) fn linked_paths(&self) -> impl Iterator<Item = &str> {
        let links = |kind| {
            use cargo_metadata::DependencyKind::{Build, Normal};
            matches!(kind, Build | Normal)
        };
        self.package
            .dependencies
            .iter()
            .filter(move |dependency| dependency.path.is_some() && links(dependency.kind))
            .map(|dependency| dependency.name.as_str())
    }
}
