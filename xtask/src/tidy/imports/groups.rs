//! The entries of each folder of a crate, and the arrows between them.
//!
//! A file with everything below its module is one group among its siblings. The file of the folder itself (`lib.rs`,
//! `mod.rs`) is a group of its own: a facade has no arrows, so that it is in no circle.

use std::collections::BTreeMap;

use super::circles::Digraph;
use super::graph::{Import, ImportGraph};
use crate::tidy::crate_tree::CrateTree;

/// One folder: a module with modules below it.
pub(super) struct Level {
    /// The path of the folder's module; empty for the crate.
    pub(super) path: Vec<String>,
    /// The folder's own module first, then the children as the source lists them.
    pub(super) groups: Vec<Group>,
    /// Between groups, with all imports and the files that have them.
    pub(super) arrows: BTreeMap<(usize, usize), Vec<FileImport>>,
}

pub(super) struct Group {
    pub(super) name: String,
    /// How many files it consists of.
    pub(super) files: usize,
}

/// One import with its files.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileImport {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) import: Import,
}

impl Level {
    pub(super) fn digraph(&self) -> Digraph {
        let mut digraph = Digraph::default();
        for (&(from, to), imports) in &self.arrows {
            digraph.add(from, to, imports.len());
        }
        digraph
    }
}

/// All folders of a crate.
pub(super) fn levels(tree: &CrateTree, graph: &ImportGraph) -> Vec<Level> {
    let folders = tree.modules.iter().enumerate().filter(|(_, module)| !module.children.is_empty());
    folders.map(|(index, _)| level(tree, graph, index)).collect()
}

fn level(tree: &CrateTree, graph: &ImportGraph, folder: usize) -> Level {
    let module = &tree.modules[folder];
    let depth = module.path.len();
    let own = tree.files[module.file].rsplit('/').next().unwrap_or_default();
    let mut groups = vec![Group { name: own.to_owned(), files: 0 }];
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for &child in &module.children {
        let name = tree.modules[child].path[depth].as_str();
        by_name.entry(name).or_insert_with(|| {
            groups.push(Group { name: name.to_owned(), files: 0 });
            groups.len() - 1
        });
    }
    let group_of: Vec<Option<usize>> = (0..tree.files.len())
        .map(|file| {
            let path = &tree.module_of_file(file).path;
            let below = path.starts_with(&module.path).then_some(path.get(depth));
            below.map(|name| name.map_or(0, |name| by_name.get(name.as_str()).copied().unwrap_or(0)))
        })
        .collect();
    for group in group_of.iter().flatten() {
        groups[*group].files += 1;
    }
    let mut arrows: BTreeMap<(usize, usize), Vec<FileImport>> = BTreeMap::new();
    for (&(from, to), imports) in &graph.arrows {
        if let (Some(a), Some(b)) = (group_of[from], group_of[to])
            && a != b
        {
            let imports = imports.iter().map(|import| FileImport { from, to, import: import.clone() });
            arrows.entry((a, b)).or_default().extend(imports);
        }
    }
    Level { path: module.path.clone(), groups, arrows }
}
