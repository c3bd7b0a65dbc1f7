//! `cargo xtask bench`: the programs of the `bench` crate.

use anyhow::Result;

use crate::shell::run_release;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to run, and its own arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    run_release(workspace, "grammask-bench", &arguments.arguments)
}
