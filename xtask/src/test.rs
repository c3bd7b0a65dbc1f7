//! `cargo xtask test`: all tests, or those of some packages.

use anyhow::Result;

use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only these packages.
    #[arg(short, long)]
    package: Vec<String>,
    /// Only tests whose names contain this.
    filter: Option<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    code(workspace, arguments)?;
    documentation(workspace, arguments)
}

/// Unit and integration tests.
pub(crate) fn code(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    start(workspace, arguments, &["--tests"])
}

/// The examples in documentation comments, which Cargo cannot mix with other targets in one call.
pub(crate) fn documentation(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let has_library = |package: &String| {
        workspace.members().any(|member| *member.package.name == **package && member.has_library())
    };
    if !arguments.package.is_empty() && !arguments.package.iter().any(has_library) {
        return Ok(());
    }
    start(workspace, arguments, &["--doc"])
}

fn start(workspace: &Workspace, arguments: &Arguments, targets: &[&str]) -> Result<()> {
    let mut command = cargo(workspace, ["test", "--locked", "--quiet"]);
    if arguments.package.is_empty() {
        command.arg("--workspace");
    }
    for package in &arguments.package {
        command.args(["--package", package]);
    }
    command.args(targets);
    if let Some(filter) = &arguments.filter {
        command.args(["--", filter]);
    }
    run_command(&mut command)
}
