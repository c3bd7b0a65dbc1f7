//! `cargo xtask gpu`: all tests and measurements of `gpu-apply`, on a machine with an NVIDIA device.
//!
//! On other machines the parts that need none run, and the rest says why it was left out. A machine with a device often
//! has no Rust: `--pack FOLDER` builds everything here, and `run.sh` in that folder takes the same steps there.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::codegen;
use crate::shell::{cargo, executables, run as run_command};
use crate::workspace::Workspace;

const PACKAGE: &str = "grammask-gpu-apply";

/// The steps that need a device, for a shell. Programs and files are named as in a pack.
const STEPS: &str = include_str!("gpu.sh");

/// Files that the steps need beside the programs.
const FILES: [&str; 5] = [
    "gpu-apply/benches/python_kernels.py",
    "gpu-apply/benches/python_loop.py",
    "bindings/python/tests/conftest.py",
    "bindings/python/tests/test_device.py",
    "bindings/python/tests/test_tensors.py",
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fails where there is no device, instead of leaving out what needs one.
    #[arg(long)]
    require_device: bool,
    /// Leaves out the times of the CPU.
    #[arg(long)]
    skip_cpu: bool,
    /// The Python to look for torch, xgrammar and this project's package in.
    #[arg(long, default_value = "python3")]
    python: String,
    /// The folder of a tokenizer for a decoding loop, such as that of Llama 3.1. Without one the loop is left out.
    #[arg(long, value_name = "FOLDER")]
    tokenizer: Option<PathBuf>,
    /// Builds everything that needs a device into this folder and runs none of it. `sh run.sh --require-device` there runs
    /// it, on a machine without Rust too.
    #[arg(long, value_name = "FOLDER")]
    pack: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if let Some(folder) = &arguments.pack {
        return pack(workspace, folder);
    }
    codegen::check(workspace)?;
    run_command(&mut cargo(workspace, ["test", "--quiet", "--package", PACKAGE]))?;
    run_command(
        cargo(workspace, ["test", "--quiet", "--doc", "--package", PACKAGE]).args(["--features", "cuda"]),
    )?;
    let folder = workspace.target().join("gpu");
    pack(workspace, &folder)?;
    let mut steps = Command::new("sh");
    steps.arg(folder.join("run.sh")).arg("--record").arg(workspace.root().join("record"));
    steps.args(["--python", &arguments.python]);
    if let Some(tokenizer) = &arguments.tokenizer {
        steps.arg("--tokenizer").arg(tokenizer);
    }
    if arguments.require_device {
        steps.arg("--require-device");
    }
    if arguments.skip_cpu {
        steps.arg("--skip-cpu");
    }
    run_command(&mut steps)
}

/// The programs, the files and the script that runs them.
fn pack(workspace: &Workspace, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let build = ["bench", "--no-run", "--locked", "--package", PACKAGE, "--features", "cuda"];
    let mut programs = executables(&mut cargo(workspace, build))?;
    programs.extend(executables(cargo(workspace, build).args(["--test", "it"]))?);
    for (name, program) in &programs {
        put(program, folder, OsStr::new(name))?;
    }
    for file in FILES.map(|file| workspace.root().join(file)) {
        put(&file, folder, file.file_name().unwrap_or_default())?;
    }
    fs::write(folder.join("run.sh"), STEPS).with_context(|| format!("cannot write into {}", folder.display()))
}

fn put(file: &Path, folder: &Path, name: &OsStr) -> Result<()> {
    let place = folder.join(name);
    fs::copy(file, &place)
        .with_context(|| format!("cannot copy {} to {}", file.display(), place.display()))?;
    Ok(())
}
