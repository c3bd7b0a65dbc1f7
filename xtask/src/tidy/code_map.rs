//! The code map of `ARCHITECTURE.md` names every folder at the root and every crate, and nothing else.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

use super::finding::Finding;
use super::sources::Sources;
use crate::workspace::Workspace;

const FILE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Code map";
/// Longer than this, and nobody reads it in one sitting.
const MAX_WORDS: usize = 2_500;

pub(super) fn check(workspace: &Workspace, sources: &Sources) -> Result<Vec<Finding>> {
    let text =
        fs::read_to_string(workspace.root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let mut findings = Vec::new();
    let words = text.split_whitespace().count();
    if words > MAX_WORDS {
        findings.push(Finding::new(FILE, format!("has {words} words; the limit is {MAX_WORDS}")));
    }
    let mapped = entries(&text);
    let mut folders: BTreeSet<String> = workspace.members().map(|member| member.folder).collect();
    for path in &sources.files {
        if let Some((folder, _)) = sources.relative(path).split_once('/') {
            folders.insert(folder.to_owned());
        }
    }
    for folder in folders.iter().filter(|folder| !folder.starts_with('.')) {
        if !mapped.contains(folder.as_str()) {
            findings.push(Finding::new(FILE, format!("the code map lacks `{folder}/`")));
        }
    }
    for folder in mapped {
        if !workspace.root().join(folder).is_dir() {
            findings
                .push(Finding::new(FILE, format!("the code map names `{folder}/`, which does not exist")));
        }
    }
    Ok(findings)
}

/// The folders that head an entry. An entry is a heading, an item of a list or a row of a table; it begins
/// with a folder in code quotes and is below the heading.
fn entries(text: &str) -> BTreeSet<&str> {
    let map = text.split_once(HEADING).map_or("", |(_, below)| below);
    let map = map.split_once("\n## ").map_or(map, |(section, _)| section);
    map.lines()
        .filter_map(|line| line.trim_start_matches(['#', '-', '*', '|', ' ']).strip_prefix('`'))
        .filter_map(|line| line.split_once('`'))
        .filter_map(|(name, _)| name.strip_suffix('/'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_folders_at_the_start_of_lines() {
        let text =
            "`no/`\n## Code map\n### `fsm/`\nuses `grammar-ir/`\n- `bench/`: x\n| `cli/` | y |\n## End\n`z/`";
        assert_eq!(entries(text), BTreeSet::from(["bench", "cli", "fsm"]));
    }
}
