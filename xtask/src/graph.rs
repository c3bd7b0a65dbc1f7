//! `cargo xtask graph`: which files of a crate import which, and where they do so in circles.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::tidy::crate_tree;
use crate::tidy::imports::{Detail, figures};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folders of the crates to print in full; without any, one line for each crate.
    crates: Vec<String>,
    /// Prints all arrows.
    #[arg(long)]
    arrows: bool,
    /// The root of another copy of the workspace.
    #[arg(long)]
    root: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let other = arguments.root.as_deref().map(Workspace::load_at).transpose()?;
    let trees = crate_tree::read_all(other.as_ref().unwrap_or(workspace))?;
    if let Some(unknown) = arguments.crates.iter().find(|name| trees.iter().all(|tree| tree.folder != **name))
    {
        bail!("no crate has the folder `{unknown}`");
    }
    let detail = match (arguments.crates.is_empty(), arguments.arrows) {
        (_, true) => Detail::Arrows,
        (true, false) => Detail::Summary,
        (false, false) => Detail::Circles,
    };
    let is_wanted = |folder: &String| arguments.crates.is_empty() || arguments.crates.contains(folder);
    for tree in trees.iter().filter(|tree| is_wanted(&tree.folder)) {
        print!("{}", figures(tree, detail));
    }
    Ok(())
}
