//! The import graph of a crate: an arrow from each file to the files that define what it names.

use std::collections::{BTreeMap, HashSet};

use super::references::{Binding, NamedPath, References};
use super::scope::{Scope, Target};
use crate::tidy::crate_tree::CrateTree;

/// Why there is an arrow: the first place that needs it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Import {
    pub(super) line: usize,
    pub(super) name: String,
}

/// The arrows between the files of a crate.
pub(super) struct ImportGraph {
    /// By importing and imported file, as indices into the files of the tree, with the names imported.
    pub(super) arrows: BTreeMap<(usize, usize), Vec<Import>>,
    /// Paths from `crate`, `self` or `super` that lead nowhere: something that this program does not understand.
    pub(super) unresolved: Vec<(usize, Import)>,
}

impl ImportGraph {
    pub(super) fn new(tree: &CrateTree) -> Self {
        let references: Vec<References> =
            tree.modules.iter().map(|module| References::of(&module.items)).collect();
        let scope = Scope::new(tree, &references);
        let mut graph = Self { arrows: BTreeMap::new(), unresolved: Vec::new() };
        for (module, references) in references.iter().enumerate() {
            graph.add_uses(tree, &scope, module, references);
            for path in &references.paths {
                graph.add_path(tree, &scope, module, path);
            }
        }
        for imports in graph.arrows.values_mut() {
            imports.sort();
            *imports = distinct(imports);
        }
        graph
    }

    fn add_uses(&mut self, tree: &CrateTree, scope: &Scope<'_>, module: usize, references: &References) {
        for import in &references.uses {
            let targets = scope.resolve(module, &import.path);
            if targets.is_empty() {
                self.note_unresolved(tree, module, &import.path, import.line);
            }
            // A re-export is followed by those who use it; the re-exporting file needs nothing itself.
            if !import.is_private {
                continue;
            }
            for target in targets {
                let is_glob = import.binding == Binding::Glob;
                if let (true, Target::Module(glob)) = (is_glob, target)
                    && has_name_through(scope, module, references, glob)
                {
                    // The names that come through the glob lead to the files that define them.
                    continue;
                }
                let mut name = import.path.join("::");
                if is_glob {
                    name.push_str("::*");
                }
                self.add(tree, module, target, import.line, name);
            }
        }
    }

    fn add_path(&mut self, tree: &CrateTree, scope: &Scope<'_>, module: usize, path: &NamedPath) {
        let targets = scope.resolve(module, &path.segments);
        for target in &targets {
            if path.segments.len() > 1 || matches!(target, Target::ItemOf(_)) {
                self.add(tree, module, *target, path.line, path.segments.join("::"));
            }
        }
        if targets.is_empty() {
            self.note_unresolved(tree, module, &path.segments, path.line);
        }
        if let ([name], true, [Target::Outside]) =
            (path.segments.as_slice(), path.is_macro, targets.as_slice())
            && let Some(definer) = scope.textual_macro(name)
        {
            self.add(tree, module, Target::ItemOf(definer), path.line, format!("{name}!"));
        }
    }

    fn add(&mut self, tree: &CrateTree, module: usize, target: Target, line: usize, name: String) {
        let (Target::Module(defining) | Target::ItemOf(defining)) = target else { return };
        let arrow = (tree.modules[module].file, tree.modules[defining].file);
        if arrow.0 != arrow.1 {
            self.arrows.entry(arrow).or_default().push(Import { line, name });
        }
    }

    fn note_unresolved(&mut self, tree: &CrateTree, module: usize, path: &[String], line: usize) {
        let is_ours = path.len() > 1 && ["crate", "self", "super"].contains(&path[0].as_str());
        if is_ours {
            self.unresolved.push((tree.modules[module].file, Import { line, name: path.join("::") }));
        }
    }
}

fn has_name_through(scope: &Scope<'_>, module: usize, references: &References, glob: usize) -> bool {
    references.paths.iter().any(|path| scope.comes_through(module, &path.segments[0], glob))
}

/// One import for each name: what a `use` brings in counts once, however often the name occurs after it.
fn distinct(imports: &[Import]) -> Vec<Import> {
    let mut seen = HashSet::new();
    let is_new = |import: &&Import| {
        let first = import.name.split("::").next().unwrap_or_default();
        let last = import.name.rsplit("::").next().unwrap_or_default();
        !seen.contains(first) && seen.insert(last.to_owned())
    };
    imports.iter().filter(is_new).cloned().collect()
}
