//! `cargo xtask oracle`: an engine against the naive recogniser, for as long as one likes.

use anyhow::Result;

use crate::shell::{BENCH, cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of the comparison, for example `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut command = cargo(workspace, ["run", "--release"]);
    run_command(command.args(BENCH).args(["--", "oracle"]).args(&arguments.arguments))
}
