//! `cargo xtask bench`: the program of the `bench` crate, and the benches of hot paths of the facade.

use anyhow::Result;
use clap::Parser;

use crate::instructions;
use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A benchmark and its own arguments: a command of `grammask-bench`, or one of three others. `hot-paths`
    /// takes times with criterion; `instructions` counts below valgrind and compares with the counts that are
    /// checked in; `gungraun` counts in detail and needs `gungraun-runner`.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let name = match arguments.arguments.first().map(String::as_str) {
        Some("hot-paths") => "hot_paths",
        Some("gungraun") => "instructions",
        Some("instructions") => {
            let arguments = instructions::Arguments::try_parse_from(&arguments.arguments)?;
            if let Some(reason) = instructions::run(workspace, &arguments)? {
                println!("skipped: {reason}");
            }
            return Ok(());
        }
        // As people get it who install a package: both engines optimised across their crates.
        _ => {
            let mut command =
                cargo(workspace, ["run", "--profile", "wheel", "--package", "grammask-bench", "--"]);
            return run_command(command.args(&arguments.arguments));
        }
    };
    let mut command = cargo(workspace, ["bench", "--package", "grammask", "--bench", name, "--"]);
    run_command(command.args(&arguments.arguments[1..]))
}
