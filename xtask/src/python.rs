//! `cargo xtask python`: builds the Python package, checks its types, runs its tests and examples.
//!
//! Everything happens in a virtual environment under the target directory. The native half is built with the profile and
//! the features of the tests, so that nothing is compiled once more for it.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell::{EVERYTHING, cargo, run as run_command};
use crate::workspace::Workspace;

/// The packages that the checks need; the package itself needs numpy alone.
const REQUIREMENTS: [&str; 7] = [
    "mypy>=1.11",
    "numpy>=1.25",
    "prometheus-client>=0.20",
    "pydantic>=2",
    "pytest>=8",
    "sentencepiece>=0.2",
    "tiktoken>=0.7",
];

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Builds with optimisation, for measuring.
    #[arg(long)]
    release: bool,
    /// Only tests whose names contain this.
    filter: Option<String>,
}

/// The interpreter to make the environment with: `PYTHON`, or `python3.11`.
pub(crate) fn interpreter() -> PathBuf {
    std::env::var_os("PYTHON").map_or_else(|| "python3.11".into(), PathBuf::from)
}

/// Whether there is an interpreter. A machine without one can still run everything else.
pub(crate) fn is_possible() -> bool {
    Command::new(interpreter()).arg("--version").output().is_ok_and(|output| output.status.success())
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let package = workspace.root().join("bindings/python");
    let environment = environment(workspace, "python-environment", &REQUIREMENTS)?;
    let python = environment.join("bin/python");

    build(workspace, &package, arguments.release)?;

    let in_package = |program: &[&str]| {
        let mut command = Command::new(&python);
        command.args(program).current_dir(&package);
        command.env("PYTHONPATH", package.join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    let mut tests = in_package(&["-m", "pytest"]);
    if let Some(filter) = &arguments.filter {
        tests.args(["-k", filter]);
    }
    run_command(&mut tests)?;
    let cache = workspace.target().join("python-mypy");
    run_command(in_package(&["-m", "mypy", "--cache-dir"]).arg(cache))?;
    // That the stubs say of the native half what is there.
    let stubs = ["-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "grammask._native"];
    run_command(in_package(&stubs).env("MYPYPATH", package.join("python")))?;
    for example in examples(workspace)? {
        run_command(in_package(&[]).arg(example))?;
    }
    Ok(())
}

/// Builds the native half and puts it into the package. The examples are selected for their dependencies' features, which
/// the tests have too.
fn build(workspace: &Workspace, package: &Path, release: bool) -> Result<()> {
    let (profile, folder) = if release { ("wheel", "wheel") } else { ("dev", "debug") };
    let mut build = cargo(workspace, ["build", "--quiet", "--lib", "--profile", profile]);
    if release {
        build.args(["--locked", "--package", "grammask-python", "--features", "cuda"]);
    } else {
        build.arg("--examples").args(EVERYTHING);
    }
    run_command(&mut build).context("the Python package does not build")?;
    let library = format!("{DLL_PREFIX}grammask_native{DLL_SUFFIX}");
    let module =
        package.join("python/grammask").join(if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" });
    // A running interpreter may have mapped the old file.
    let fresh = module.with_extension("new");
    fs::copy(workspace.target().join(folder).join(&library), &fresh)
        .with_context(|| format!("cannot copy {library}"))?;
    fs::rename(&fresh, &module).with_context(|| format!("cannot write {}", module.display()))
}

/// Lets maturin build as `shell::cargo` does, so that both share what is built.
pub(crate) fn as_by_hand<'a>(workspace: &Workspace, build: &'a mut Command) -> &'a mut Command {
    // Cargo tells what it starts about itself, and the build would take that for its own settings.
    for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        build.env_remove(name);
    }
    build.env("CARGO_TARGET_DIR", workspace.target())
}

/// A virtual environment under the target directory, made and filled with packages if it is not there yet.
pub(crate) fn environment(workspace: &Workspace, name: &str, requirements: &[&str]) -> Result<PathBuf> {
    let folder = workspace.target().join(name);
    let stamp = folder.join("requirements.txt");
    let wanted = requirements.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|present| present == wanted) {
        return Ok(folder);
    }
    run_command(Command::new(interpreter()).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut install = Command::new(folder.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(requirements);
    run_command(&mut install).context("the Python packages could not be installed")?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

/// The examples. Those that need a package that is not there say so and end with status 0.
fn examples(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let folder = workspace.root().join("examples/python");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("py")) && !is_helper(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_helper(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('_'))
}
