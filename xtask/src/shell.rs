//! Starting other programs.

use std::ffi::OsStr;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Artifact, Message};

use crate::workspace::{Crates, Workspace};

/// All packages and all that they can do, but for the peer of the benchmarks. Steps with this selection compile each crate
/// once for all of them. The feature is off by default, and needs neither CUDA nor a device to build and to say that there
/// is none.
pub(crate) const EVERYTHING: [&str; 4] = ["--locked", "--workspace", "--features", "grammask-python/cuda"];

/// The feature with which the program of benchmarks has its peer.
pub(crate) const PEER: &str = "grammask-bench/llguidance";

/// That program, with its peer.
pub(crate) const BENCH: [&str; 4] = ["--package", "grammask-bench", "--features", PEER];

/// `cargo` with arguments, at the workspace's root.
pub(crate) fn cargo<S: AsRef<OsStr>>(
    workspace: &Workspace,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    // Cargo names itself to what it starts; without it we were started by hand.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(workspace.root());
    if workspace.crates() == Crates::Whole {
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_CODEGEN_UNITS", "1");
        // Nobody looks at these builds in a debugger, and without the lines of their code they take a tenth less.
        command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    }
    command
}

/// Runs a command and fails where it does. The command line is shown first, so that a failed step can be
/// repeated by hand.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = describe(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Has `cargo` build, and hands on each file that it made as soon as that is there.
pub(crate) fn artifacts(build: &mut Command, mut found: impl FnMut(Artifact)) -> Result<()> {
    eprintln!("$ {}", describe(build));
    build.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut cargo = build.spawn().context("could not start cargo")?;
    if let Some(messages) = cargo.stdout.take() {
        for message in Message::parse_stream(BufReader::new(messages)) {
            if let Message::CompilerArtifact(artifact) = message.context("cargo's messages cannot be read")? {
                found(artifact);
            }
        }
    }
    let status = cargo.wait().context("cargo was lost")?;
    ensure!(status.success(), "`{}` failed: {status}", describe(build));
    Ok(())
}

/// Has `cargo` build, and gives the names and the places of the programs that it made.
pub(crate) fn executables(build: &mut Command) -> Result<Vec<(String, PathBuf)>> {
    let mut programs = Vec::new();
    artifacts(build, |artifact| {
        programs.extend(artifact.executable.map(|program| (artifact.target.name, program.into())));
    })?;
    Ok(programs)
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut line = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
