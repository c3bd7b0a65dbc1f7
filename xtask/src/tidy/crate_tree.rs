//! The modules of one crate, parsed, without what only tests compile.
//!
//! A target's root file goes in, with a function that reads files, so that tests can plant a tree in memory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use super::test_code::remove_test_code;
use crate::workspace::Workspace;

/// Reads a file, or answers `None` where there is none.
type Reader<'r> = &'r dyn Fn(&Path) -> Option<String>;

/// One target of a package: a library or a program.
pub(crate) struct CrateTree {
    /// The package's folder; for a second target, with the target's name after it.
    pub(crate) name: String,
    /// The package's folder relative to the workspace's root.
    pub(crate) folder: String,
    /// Relative to the workspace's root, with forward slashes; the root file comes first.
    pub(crate) files: Vec<String>,
    /// The root module comes first, every module after its parent.
    pub(crate) modules: Vec<Module>,
}

/// A module: a file or a block inside one.
pub(crate) struct Module {
    /// An index into the files.
    pub(crate) file: usize,
    /// An index into the modules.
    pub(crate) parent: Option<usize>,
    /// The names from the crate's root to here.
    pub(crate) path: Vec<String>,
    /// Whether only the parent and what lies below it see this module.
    pub(crate) is_private: bool,
    /// The modules below this one in the order in which the source lists them.
    pub(crate) children: Vec<usize>,
    /// Everything but modules.
    pub(crate) items: Vec<Item>,
}

/// Parses the libraries and programs of all packages of a workspace.
pub(crate) fn read_all(workspace: &Workspace) -> Result<Vec<CrateTree>> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let mut trees: Vec<CrateTree> = Vec::new();
    for member in workspace.members() {
        let targets = member.package.targets.iter();
        for target in targets.filter(|target| target.is_lib() || target.is_bin() || is_library(target)) {
            let first = trees.iter().all(|tree| tree.folder != member.folder);
            let name =
                if first { member.folder.clone() } else { format!("{} ({})", member.folder, target.name) };
            let root = target.src_path.as_std_path();
            trees.push(CrateTree::read(&name, &member.folder, workspace.root(), root, &read)?);
        }
    }
    Ok(trees)
}

/// A library that is not for Rust programs.
fn is_library(target: &cargo_metadata::Target) -> bool {
    target.is_proc_macro() || target.is_cdylib() || target.is_dylib() || target.is_staticlib()
}

/// A module that is still to be read.
struct Pending {
    module: usize,
    /// Where the files of its children are.
    folder: PathBuf,
    /// The folder of the file that contains it.
    beside: PathBuf,
    items: Vec<Item>,
}

impl CrateTree {
    pub(crate) fn read(
        name: &str,
        folder: &str,
        workspace: &Path,
        root: &Path,
        read: Reader<'_>,
    ) -> Result<Self> {
        let mut tree = Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            files: vec![relative(workspace, root)],
            modules: vec![Module::new(0, None, Vec::new(), false)],
        };
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        let items = parse(root, read)?.with_context(|| format!("cannot read {}", root.display()))?;
        let mut stack = vec![Pending { module: 0, beside: folder.clone(), folder, items }];
        while let Some(Pending { module, folder, beside, items }) = stack.pop() {
            for item in items {
                let Item::Mod(declaration) = item else {
                    tree.modules[module].items.push(item);
                    continue;
                };
                let name = declaration.ident.to_string();
                let below = folder.join(&name);
                if let Some((_, items)) = declaration.content {
                    let is_private = matches!(declaration.vis, syn::Visibility::Inherited);
                    let child = tree.add(module, tree.modules[module].file, name, is_private);
                    stack.push(Pending { module: child, folder: below, beside: beside.clone(), items });
                    continue;
                }
                let Some((path, folder, items)) = find(&declaration, &folder, &beside, read)? else {
                    continue;
                };
                let is_private = matches!(declaration.vis, syn::Visibility::Inherited);
                let file = tree.files.len();
                tree.files.push(relative(workspace, &path));
                let child = tree.add(module, file, name, is_private);
                let beside = path.parent().unwrap_or(Path::new("")).to_owned();
                stack.push(Pending { module: child, folder, beside, items });
            }
        }
        Ok(tree)
    }

    fn add(&mut self, parent: usize, file: usize, name: String, is_private: bool) -> usize {
        let mut path = self.modules[parent].path.clone();
        path.push(name);
        let child = self.modules.len();
        self.modules.push(Module::new(file, Some(parent), path, is_private));
        self.modules[parent].children.push(child);
        child
    }

    /// The module that a file consists of.
    pub(crate) fn module_of_file(&self, file: usize) -> &Module {
        self.modules.iter().find(|module| module.file == file).unwrap_or(&self.modules[0])
    }

    /// Whether a module is another one or lies below it.
    pub(crate) fn is_within(&self, module: usize, ancestor: usize) -> bool {
        self.modules[module].path.starts_with(&self.modules[ancestor].path)
    }
}

impl Module {
    fn new(file: usize, parent: Option<usize>, path: Vec<String>, is_private: bool) -> Self {
        Self { file, parent, path, is_private, children: Vec::new(), items: Vec::new() }
    }
}

fn relative(workspace: &Path, path: &Path) -> String {
    path.strip_prefix(workspace).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// The items of a file, none of them where the whole file is for tests.
fn parse(path: &Path, read: Reader<'_>) -> Result<Option<Vec<Item>>> {
    let Some(text) = read(path) else { return Ok(None) };
    let mut file = syn::parse_file(&text).with_context(|| format!("cannot parse {}", path.display()))?;
    remove_test_code(&mut file);
    Ok(Some(file.items))
}

/// The file of a `mod name;`, the folder of its children's files, and its items.
fn find(
    declaration: &ItemMod,
    folder: &Path,
    beside: &Path,
    read: Reader<'_>,
) -> Result<Option<(PathBuf, PathBuf, Vec<Item>)>> {
    if let Some(named) = named_path(declaration) {
        let path = beside.join(named);
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        return Ok(parse(&path, read)?.map(|items| (path, folder, items)));
    }
    let name = declaration.ident.to_string();
    let below = folder.join(&name);
    for path in [folder.join(format!("{name}.rs")), below.join("mod.rs")] {
        if let Some(items) = parse(&path, read)? {
            return Ok(Some((path, below, items)));
        }
    }
    Ok(None)
}

/// The file that a `#[path = "..."]` names.
fn named_path(declaration: &ItemMod) -> Option<String> {
    declaration.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// A crate with these files below `src`, for tests.
#[cfg(test)]
pub(crate) fn planted(files: &[(&str, &str)]) -> CrateTree {
    let read = |path: &Path| {
        let path = path.to_str().unwrap();
        files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
    };
    CrateTree::read("planted", "planted", Path::new(""), Path::new("lib.rs"), &read).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_follow_the_module_tree() {
        let tree = planted(&[
            ("lib.rs", "mod a; mod b { mod c; } #[path = \"x/odd.rs\"] mod d; #[cfg(test)] mod t;"),
            ("a/mod.rs", "mod e;"),
            ("a/e.rs", ""),
            ("b/c.rs", ""),
            ("x/odd.rs", "mod f;"),
            ("x/f.rs", ""),
            ("t.rs", ""),
        ]);
        let mut files = tree.files.clone();
        files.sort();
        assert_eq!(files, ["a/e.rs", "a/mod.rs", "b/c.rs", "lib.rs", "x/f.rs", "x/odd.rs"]);
        let listed = tree.modules[0].children.iter().map(|&child| tree.modules[child].path.join("::"));
        assert_eq!(listed.collect::<Vec<_>>(), ["a", "b", "d"]);
    }
}
