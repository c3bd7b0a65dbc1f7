//! `cargo xtask test`: all tests, or those of some packages.

use anyhow::{Context, Result};

use crate::shell::{EVERYTHING, cargo, run as run_command};
use crate::workspace::Workspace;

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only these packages.
    #[arg(short, long)]
    package: Vec<String>,
    /// Only tests whose names contain this.
    filter: Option<String>,
}

impl Arguments {
    /// All tests of these packages.
    pub(crate) fn of(packages: impl IntoIterator<Item = String>) -> Self {
        Self { package: packages.into_iter().collect(), filter: None }
    }
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
    let mut command = cargo(workspace, ["test", "--quiet"]);
    if arguments.package.is_empty() {
        command.args(EVERYTHING);
    } else {
        command.arg("--locked");
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

/// A package of its own sees what is published, as anybody's would. It borrows the lock file and the target folder, so
/// that nothing is fetched.
pub(crate) fn package_outside(workspace: &Workspace, folder: &str) -> Result<()> {
    let folder = workspace.root().join(folder);
    std::fs::copy(workspace.root().join("Cargo.lock"), folder.join("Cargo.lock"))
        .context("it cannot have the lock file of the workspace")?;
    let mut test = cargo(workspace, ["test", "--offline", "--quiet", "--manifest-path"]);
    run_command(test.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(workspace.target()))
}
