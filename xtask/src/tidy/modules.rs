//! Every Rust file belongs to a module tree, and every test to a program of tests: one that nobody names is never compiled,
//! and rots.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::finding::Finding;
use super::sources::Sources;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace, sources: &Sources) -> Result<Vec<Finding>> {
    let mut reached = BTreeSet::new();
    let mut findings = Vec::new();
    for member in workspace.members() {
        let mut integration = 0;
        for target in &member.package.targets {
            reach(target.src_path.as_std_path(), &mut reached)?;
            integration += usize::from(target.is_test());
            if target.is_lib() && !target.test {
                let folder = target.src_path.parent().map_or(Path::new(""), |folder| folder.as_std_path());
                findings.extend(tests_that_never_run(sources, folder)?);
            }
        }
        if integration > 1 {
            let message =
                format!("has {integration} integration test programs; make them modules of `tests/it`");
            findings.push(Finding::new(&member.folder, message));
        }
    }
    for root in sources.files.iter().filter(|path| is_outside_root(workspace, sources, path)) {
        reach(root, &mut reached)?;
    }
    for path in &sources.files {
        if path.extension().is_some_and(|extension| extension == "rs") && !reached.contains(path) {
            let message = "no `mod` names this file, so that it is never compiled";
            findings.push(Finding::new(sources.relative(path), message));
        }
    }
    Ok(findings)
}

/// Tests in the files of a library whose manifest says that it has none.
fn tests_that_never_run(sources: &Sources, library: &Path) -> Result<Vec<Finding>> {
    let message = "this library has `test = false`, so that its tests never run; move them to `tests/it`";
    let mut findings = Vec::new();
    for path in sources.files.iter().filter(|path| path.starts_with(library)) {
        let text = fs::read(path)?;
        if String::from_utf8_lossy(&text).lines().any(|line| line.trim() == "#[test]") {
            findings.push(Finding::new(sources.relative(path), message));
        }
    }
    Ok(findings)
}

/// Whether a file is the root of a target of a package outside of the workspace, which Cargo tells us nothing of.
fn is_outside_root(workspace: &Workspace, sources: &Sources, path: &Path) -> bool {
    let package = ["src/lib.rs", "src/main.rs", "tests/it/main.rs"]
        .into_iter()
        .filter(|root| path.ends_with(root))
        .filter_map(|root| path.ancestors().nth(Path::new(root).components().count()))
        .find(|folder| folder.join("Cargo.toml").is_file());
    package.is_some_and(|folder| {
        let folder = sources.relative(folder);
        workspace.members().all(|member| member.folder != folder)
    })
}

/// Adds a target's root and all files below it.
fn reach(root: &Path, reached: &mut BTreeSet<PathBuf>) -> Result<()> {
    let mut stack = vec![(root.to_owned(), root.parent().unwrap_or(Path::new("")).to_owned())];
    while let Some((file, folder)) = stack.pop() {
        if !reached.insert(file.clone()) {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let beside = file.parent().unwrap_or(Path::new(""));
        for child in children(&text) {
            match child {
                Child::Module(name) => {
                    let flat = folder.join(format!("{name}.rs"));
                    let below = folder.join(name);
                    let file = if flat.is_file() { flat } else { below.join("mod.rs") };
                    if file.is_file() {
                        stack.push((file, below));
                    }
                }
                Child::Path(path) => {
                    let file = beside.join(path);
                    if file.is_file() {
                        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
                        stack.push((file, folder));
                    }
                }
            }
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Child<'t> {
    /// `mod name;`
    Module(&'t str),
    /// `#[path = "file.rs"] mod name;` or `include!("file.rs")`
    Path(&'t str),
}

/// The files that a file names. The formatter puts one item on a line, so that lines are enough.
fn children(text: &str) -> Vec<Child<'_>> {
    let mut children = Vec::new();
    let mut path = None;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("#[path = \"") {
            path = rest.split_once('"').map(|(path, _)| path);
        } else if let Some((_, rest)) = line.split_once("include!(\"") {
            children.extend(rest.split_once('"').map(|(path, _)| Child::Path(path)));
        } else if let Some(name) = module_name(line) {
            children.push(path.take().map_or(Child::Module(name), Child::Path));
        }
    }
    children
}

fn module_name(line: &str) -> Option<&str> {
    let declaration = line.split_once(';')?.0;
    let (visibility, name) = match declaration.rsplit_once("mod ") {
        Some((visibility, name)) => (visibility.trim(), name.trim()),
        None => return None,
    };
    let is_visibility = visibility.is_empty() || (visibility.starts_with("pub") && !visibility.contains('='));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_visibility && is_name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_file_names() {
        let text =
            "mod a;\npub(crate) mod b; // why\n#[path = \"x/y.rs\"]\nmod c;\nmod inline {\n}\n// mod d;\n";
        assert_eq!(children(text), [Child::Module("a"), Child::Module("b"), Child::Path("x/y.rs")]);
    }
}
