//! `cargo xtask test`: all tests, or those of some packages.

use std::process::Command;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result, bail};
use cargo_metadata::Artifact;

use crate::shell::{EVERYTHING, artifacts, cargo, run as run_command};
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
    code(workspace, arguments, &[], || ())?;
    documentation(workspace, arguments)
}

/// Unit and integration tests. Each program of tests runs as soon as it is there, while Cargo builds the others: at the
/// end of a build one processor has nothing to do. Builds these other targets beside them, and calls `built` when all
/// are there.
pub(crate) fn code(
    workspace: &Workspace,
    arguments: &Arguments,
    others: &[&str],
    built: impl FnOnce(),
) -> Result<()> {
    let mut build = cargo(workspace, ["build", "--quiet", "--tests"]);
    select(&mut build, arguments).args(others);
    let (sender, programs) = mpsc::channel::<Artifact>();
    let failed = thread::scope(|scope| {
        let running = scope.spawn(move || {
            let run = |program: &Artifact| run_command(&mut start(program, arguments.filter.as_deref()));
            programs.iter().filter_map(|program| run(&program).err()).collect::<Vec<_>>()
        });
        // The other end takes all until this one is dropped.
        let send = |artifact| drop(sender.send(artifact));
        let mut later = Vec::new();
        let result = artifacts(&mut build, |artifact| {
            if artifact.profile.test && artifact.executable.is_some() {
                // Such a test may be there before the program that it starts.
                match artifact.target.is_test() && has_program(workspace, &artifact) {
                    true => later.push(artifact),
                    false => send(artifact),
                }
            }
        });
        if result.is_ok() {
            later.into_iter().for_each(send);
        }
        drop(sender);
        built();
        let failed = running.join().ok().context("the thread that runs the tests panicked")?;
        result.map(|()| failed)
    })?;
    if !failed.is_empty() {
        bail!("{}", failed.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    Ok(())
}

/// Whether the package of a target has a program.
fn has_program(workspace: &Workspace, artifact: &Artifact) -> bool {
    workspace.members().any(|member| {
        member.package.id == artifact.package_id && member.package.targets.iter().any(|one| one.is_bin())
    })
}

/// The call of a program of tests, in the folder of its package as Cargo does it.
fn start(program: &Artifact, filter: Option<&str>) -> Command {
    let mut command = Command::new(program.executable.as_deref().unwrap_or(&program.manifest_path));
    command.arg("--quiet").args(filter);
    if let Some(folder) = program.manifest_path.parent() {
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    }
    command
}

/// The examples in documentation comments, which Cargo cannot mix with other targets in one call.
pub(crate) fn documentation(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let has_library = |package: &String| {
        workspace.members().any(|member| *member.package.name == **package && member.has_library())
    };
    if !arguments.package.is_empty() && !arguments.package.iter().any(has_library) {
        return Ok(());
    }
    let mut test = cargo(workspace, ["test", "--quiet", "--doc"]);
    select(&mut test, arguments);
    if let Some(filter) = &arguments.filter {
        test.args(["--", filter]);
    }
    run_command(&mut test)
}

/// Has `cargo` take the packages that are asked for.
fn select<'c>(command: &'c mut Command, arguments: &Arguments) -> &'c mut Command {
    if arguments.package.is_empty() {
        return command.args(EVERYTHING);
    }
    command.arg("--locked");
    for package in &arguments.package {
        command.args(["--package", package]);
    }
    command
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
