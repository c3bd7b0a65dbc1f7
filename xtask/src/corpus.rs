//! `cargo xtask corpus`: the engine-independent cases on every backend, with a table of how they did.

use anyhow::Result;

use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of the runner.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // The profile of the tests: what they have built is used again.
    let mut command = cargo(workspace, ["run", "--locked", "--package", "grammask-corpus", "--"]);
    run_command(command.args(&arguments.arguments))
}
