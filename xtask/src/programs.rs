//! Programs of the workspace that take arguments of their own.

use anyhow::Result;

use crate::shell::{BENCH, cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Arguments of the program, for example `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The engine-independent cases on every backend, with a table of how they did.
pub(crate) fn corpus(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // The profile of the tests: what they have built is used again.
    let mut command = cargo(workspace, ["run", "--locked", "--package", "grammask-corpus", "--"]);
    run_command(command.args(&arguments.arguments))
}

/// An engine against the naive recogniser, for as long as one likes.
pub(crate) fn oracle(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut command = cargo(workspace, ["run", "--release"]);
    run_command(command.args(BENCH).args(["--", "oracle"]).args(&arguments.arguments))
}

/// Every hostile shape on both backends, each call held to the rule of `SECURITY.md`, in release mode.
pub(crate) fn hostile(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let program = ["bench", "--locked", "--package", "grammask-corpus", "--bench", "hostile", "--"];
    run_command(cargo(workspace, program).args(&arguments.arguments))
}
