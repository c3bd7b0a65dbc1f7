//! `cargo xtask hostile`: every hostile shape on both backends, each call held to the rule of `SECURITY.md`, in release mode.

use anyhow::Result;

use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Arguments of the program, for example `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let program = ["bench", "--locked", "--package", "grammask-corpus", "--bench", "hostile", "--"];
    run_command(cargo(workspace, program).args(&arguments.arguments))
}
