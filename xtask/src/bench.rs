//! `cargo xtask bench`: the program of the `bench` crate, and the benches of hot paths of the facade.

use anyhow::{Context, Result};
use clap::Parser;

use crate::instructions;
use crate::shell::{BENCH, cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A benchmark and its own arguments: a command of `grammask-bench`, or one of two others. `hot-paths` takes
    /// times with criterion; `instructions` counts below valgrind and compares with counts of before.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let (name, rest) = arguments.arguments.split_first().context("a benchmark has a name")?;
    match name.as_str() {
        "hot-paths" => {
            let mut command =
                cargo(workspace, ["bench", "--package", "grammask", "--bench", "hot_paths", "--"]);
            run_command(command.args(rest))
        }
        "instructions" => {
            let arguments = instructions::Arguments::try_parse_from(&arguments.arguments)?;
            if let Some(reason) = instructions::run(workspace, &arguments)? {
                println!("skipped: {reason}");
            }
            Ok(())
        }
        // As people get it who install a package: both engines optimised across their crates.
        _ => {
            let mut command = cargo(workspace, ["run", "--profile", "wheel"]);
            run_command(command.args(BENCH).arg("--").args(&arguments.arguments))
        }
    }
}
