//! `cargo xtask oracle`: an engine against the naive recogniser, for as long as one likes.

use anyhow::Result;

use crate::shell::run_release;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of the comparison, for example `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut all = vec!["oracle".to_owned()];
    all.extend_from_slice(&arguments.arguments);
    run_release(workspace, "grammask-bench", &all)
}
