//! The figures of a crate's import graph, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::graph::ImportGraph;
use super::groups::{Level, levels};
use super::rules::{
    arrows_against_the_order, circles_of_folders, describe, file_digraph, folder_name, pairs,
};
use crate::tidy::crate_tree::CrateTree;

/// How much to say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// One line for a crate.
    Summary,
    /// Groups, circles, and the arrows to turn round.
    Circles,
    /// All arrows besides.
    Arrows,
}

/// A page on one crate.
pub(crate) fn figures(tree: &CrateTree, detail: Detail) -> String {
    let graph = ImportGraph::new(tree);
    let levels = levels(tree, &graph);
    let files = file_digraph(&graph);
    let circles = files.circles();
    let of_folders: usize =
        levels.iter().map(|level| circles_of_folders(level, &level.digraph()).len()).sum();
    let (fullest, most) = fullest_folder(tree);
    let mut page = String::new();
    line(
        &mut page,
        &format!(
            "{}: {} files, {} groups, at most {most} files in a folder ({fullest}); largest circle of files {}, \
             circles between folders {of_folders}",
            tree.name,
            tree.files.len(),
            levels.first().map_or(0, |level| level.groups.len() - 1),
            circles.first().map_or(0, |circle| circle.len()),
        ),
    );
    if detail == Detail::Summary {
        return page;
    }
    for level in &levels {
        level_page(&mut page, tree, level);
    }
    for circle in circles {
        let names: Vec<&str> = circle.iter().map(|&file| tree.files[file].as_str()).collect();
        line(&mut page, &format!("  circle of {} files: {}", names.len(), names.join(", ")));
        let way = pairs(&files.shortest_way_round(&circle));
        let names = |(from, to): &(usize, usize)| {
            let import = &graph.arrows[&(*from, *to)][0];
            format!("{}:{} imports `{}` of {}", tree.files[*from], import.line, import.name, tree.files[*to])
        };
        line(&mut page, "    the shortest way round:");
        way.iter().for_each(|pair| line(&mut page, &format!("      {}", names(pair))));
        line(&mut page, "    without these there is no circle:");
        files
            .arrows_to_turn(&circle)
            .iter()
            .for_each(|pair| line(&mut page, &format!("      {}", names(pair))));
    }
    for (file, import) in &graph.unresolved {
        line(
            &mut page,
            &format!("  not understood: {}:{} `{}`", tree.files[*file], import.line, import.name),
        );
    }
    if detail == Detail::Arrows {
        for ((from, to), imports) in &graph.arrows {
            let names: Vec<String> =
                imports.iter().map(|import| format!("{}:{}", import.line, import.name)).collect();
            line(&mut page, &format!("  {} -> {}: {}", tree.files[*from], tree.files[*to], names.join(", ")));
        }
    }
    page
}

fn level_page(page: &mut String, tree: &CrateTree, level: &Level) {
    let groups: Vec<String> = level.groups[1..]
        .iter()
        .map(
            |group| {
                if group.files > 1 { format!("{}/{}", group.name, group.files) } else { group.name.clone() }
            },
        )
        .collect();
    line(page, &format!("  {}: {}", folder_name(tree, level), groups.join(" ")));
    let digraph = level.digraph();
    for circle in circles_of_folders(level, &digraph) {
        let names: Vec<&str> = circle.iter().map(|&group| level.groups[group].name.as_str()).collect();
        line(page, &format!("    circle of {} groups: {}", names.len(), names.join(", ")));
        line(page, "    without these there is no circle:");
        for pair in digraph.arrows_to_turn(&circle) {
            let (from, to) = (&level.groups[pair.0].name, &level.groups[pair.1].name);
            let imports = &level.arrows[&pair];
            line(page, &format!("      {from} -> {to} ({} imports)", imports.len()));
            describe(tree, imports.iter().take(4))
                .iter()
                .for_each(|import| line(page, &format!("        {import}")));
        }
    }
    let up = arrows_against_the_order(tree, level);
    if !up.is_empty() {
        line(page, &format!("    {} arrows against the order of the `mod` lines", up.len()));
    }
    for finding in up.iter().take(6) {
        line(page, &format!("      {}: {}", finding.place, finding.message));
    }
}

/// The folder with the most Rust files directly in it.
fn fullest_folder(tree: &CrateTree) -> (&str, usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &tree.files {
        *counts.entry(file.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).unwrap_or(("", 0))
}

fn line(page: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}
