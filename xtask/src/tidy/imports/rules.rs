//! Which circles and arrows are to be mended.

use std::collections::BTreeSet;

use super::circles::Digraph;
use super::graph::ImportGraph;
use super::groups::{FileImport, Level, levels};
use crate::tidy::crate_tree::CrateTree;
use crate::tidy::finding::Finding;

/// More files than this in one circle, and none of them can be understood alone.
pub(super) const MAX_CIRCLE: usize = 5;

/// Modules that list the modules below them in the order in which data flows: each one imports only from those above
/// its own line. The crate's folder, then the module's path.
const ORDERED: [(&str, &str); 9] = [
    ("earley", ""),
    ("fsm", ""),
    ("grammar-frontends", ""),
    ("grammar-frontends", "json_schema"),
    ("mask-cache", ""),
    ("matcher", ""),
    ("xtask", ""),
    ("xtask", "tidy"),
    ("xtask", "tidy::imports"),
];

pub(crate) fn check(trees: &[CrateTree]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for tree in trees {
        let graph = ImportGraph::new(tree);
        findings.extend(knots(tree, &graph));
        for level in levels(tree, &graph) {
            if ORDERED.contains(&(tree.name.as_str(), level.path.join("::").as_str())) {
                findings.extend(arrows_against_the_order(tree, &level));
            }
        }
    }
    for (name, path) in ORDERED {
        let exists = |tree: &CrateTree| {
            tree.name == name && tree.modules.iter().any(|module| module.path.join("::") == path)
        };
        if !trees.iter().any(exists) {
            findings
                .push(Finding::new(name, format!("has no module `{path}`; take it off the list `ORDERED`")));
        }
    }
    findings
}

/// Circles between folders, and circles of too many files.
pub(super) fn knots(tree: &CrateTree, graph: &ImportGraph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for level in levels(tree, graph) {
        let digraph = level.digraph();
        for circle in circles_of_folders(&level, &digraph) {
            let way = digraph.shortest_way_round(&circle);
            let names: Vec<&str> = circle.iter().map(|&group| level.groups[group].name.as_str()).collect();
            let imports = pairs(&way).into_iter().filter_map(|pair| level.arrows[&pair].first());
            let message = format!(
                "these import one another in a circle: {}; {}",
                names.join(", "),
                describe(tree, imports).join("; ")
            );
            findings.push(Finding::new(folder_name(tree, &level), message));
        }
    }
    let digraph = file_digraph(graph);
    for circle in digraph.circles().into_iter().filter(|circle| circle.len() > MAX_CIRCLE) {
        let way = digraph.shortest_way_round(&circle);
        let files: Vec<&str> = circle.iter().map(|&file| tree.files[file].as_str()).collect();
        let imports: Vec<FileImport> = pairs(&way)
            .into_iter()
            .map(|(from, to)| FileImport { from, to, import: graph.arrows[&(from, to)][0].clone() })
            .collect();
        let message = format!(
            "{} files import one another in a circle (limit {MAX_CIRCLE}): {}; the shortest way round: {}",
            circle.len(),
            files.join(", "),
            describe(tree, &imports).join("; ")
        );
        findings.push(Finding::new(&tree.name, message));
    }
    findings
}

/// Circles between the entries of a folder. At the top all count; further down files beside one another may be in a
/// circle, which the limit on files in a circle governs, but no folder may.
pub(super) fn circles_of_folders(level: &Level, digraph: &Digraph) -> Vec<BTreeSet<usize>> {
    let mut circles = digraph.circles();
    circles
        .retain(|circle| level.path.is_empty() || circle.iter().any(|&group| level.groups[group].files > 1));
    circles
}

/// Arrows from a group to one that is listed after it.
pub(super) fn arrows_against_the_order(tree: &CrateTree, level: &Level) -> Vec<Finding> {
    let up = level.arrows.iter().filter(|((from, to), _)| *from != 0 && from < to);
    up.filter_map(|((from, to), imports)| {
        let import = imports.first()?;
        let message = format!(
            "`{}` is listed before `{}` and imports `{}` of {}",
            level.groups[*from].name, level.groups[*to].name, import.import.name, tree.files[import.to]
        );
        Some(Finding::new(format!("{}:{}", tree.files[import.from], import.import.line), message))
    })
    .collect()
}

pub(super) fn file_digraph(graph: &ImportGraph) -> Digraph {
    let mut digraph = Digraph::default();
    for (&(from, to), imports) in &graph.arrows {
        digraph.add(from, to, imports.len());
    }
    digraph
}

/// The arrows of a way round.
pub(super) fn pairs(way: &[usize]) -> Vec<(usize, usize)> {
    way.iter().copied().zip(way.iter().copied().cycle().skip(1)).collect()
}

pub(super) fn describe<'i>(
    tree: &CrateTree,
    imports: impl IntoIterator<Item = &'i FileImport>,
) -> Vec<String> {
    let line = |import: &FileImport| {
        let (from, to) = (&tree.files[import.from], &tree.files[import.to]);
        format!("{from}:{} imports `{}` of {to}", import.import.line, import.import.name)
    };
    imports.into_iter().map(line).collect()
}

pub(super) fn folder_name(tree: &CrateTree, level: &Level) -> String {
    if level.path.is_empty() {
        tree.name.clone()
    } else {
        format!("{}: {}", tree.name, level.path.join("::"))
    }
}
