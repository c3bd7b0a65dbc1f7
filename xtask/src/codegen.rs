//! `cargo xtask codegen`: files that are made from others and checked in.
//!
//! The kernels' PTX begins with a hash of the source that it was made from, so that a stale file is found on
//! any machine. If NVIDIA's compiler is at hand, the check compiles again and compares everything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::run as run_command;
use crate::workspace::Workspace;

const SOURCE: &str = "grammask.cu";
const PTX: &str = "grammask.ptx";

/// Turing, 2018: the oldest that the compiler still knows. Drivers compile it for anything newer.
const ARCHITECTURE: &str = "compute_75";

/// Devices that `ptxas` must take the result for.
const DEVICES: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// The compiler writes the newest version of PTX that it knows, which only drivers of its own age take. The
/// kernels use nothing newer than 6.3, which drivers since CUDA 10.0 take.
const VERSION: &str = ".version 6.3";

/// Packages of the compiler, without which `nvcc -ptx` does not run.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-nvvm==13.0.*",
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-cccl==13.0.*",
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// The kernels of `gpu-apply`, from CUDA C.
    Ptx(PtxArguments),
}

#[derive(clap::Args)]
struct PtxArguments {
    /// Compares with the file that is checked in, instead of writing it.
    #[arg(long)]
    check: bool,
    /// The folder with `bin/nvcc`. By default `$CUDA_HOME`, else the one that `--install` made.
    #[arg(long)]
    toolkit: Option<PathBuf>,
    /// Installs the compiler into the target folder by Python's package manager: 200 MB to download.
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let What::Ptx(ptx) = &arguments.what;
    if ptx.install {
        install(workspace)?;
    }
    let toolkit = ptx.toolkit.clone().or_else(|| toolkit(workspace));
    if ptx.check {
        return compare(workspace, toolkit.as_deref());
    }
    let toolkit = toolkit.context("there is no CUDA compiler; name one with --toolkit, or take --install")?;
    let made = make(workspace, &toolkit)?;
    let path = kernels(workspace).join(PTX);
    fs::write(&path, made).with_context(|| format!("cannot write {}", path.display()))
}

/// Checks that what is checked in was made from what it says, as far as this machine can tell.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    compare(workspace, toolkit(workspace).as_deref())
}

/// The same with the compiler, which is installed where that is possible.
pub(crate) fn check_all(workspace: &Workspace) -> Result<()> {
    if toolkit(workspace).is_none()
        && let Err(error) = install(workspace)
    {
        eprintln!("the CUDA compiler cannot be installed: {error:#}");
    }
    compare(workspace, toolkit(workspace).as_deref())
}

fn compare(workspace: &Workspace, toolkit: Option<&Path>) -> Result<()> {
    let advice = "run `cargo xtask codegen ptx`";
    let path = kernels(workspace).join(PTX);
    let ptx =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}; {advice}", path.display()))?;
    ensure!(ptx.starts_with(&heading(workspace)?), "{PTX} was made from another {SOURCE}; {advice}");
    let Some(toolkit) = toolkit else {
        eprintln!("no CUDA compiler here: compared the source's hash, did not compile");
        return Ok(());
    };
    ensure!(make(workspace, toolkit)? == ptx, "{PTX} is not what the compiler makes; {advice}");
    Ok(())
}

fn kernels(workspace: &Workspace) -> PathBuf {
    workspace.root().join("gpu-apply/kernels")
}

fn installed(workspace: &Workspace) -> PathBuf {
    workspace.target().join("cuda-compiler")
}

fn toolkit(workspace: &Workspace) -> Option<PathBuf> {
    let named = std::env::var_os("CUDA_HOME").map(PathBuf::from);
    let ours = installed(workspace).join("nvidia/cu13");
    named.into_iter().chain([ours]).find(|folder| folder.join("bin/nvcc").is_file())
}

/// One command for all packages: a second installation into the same folder would be passed over in silence.
fn install(workspace: &Workspace) -> Result<()> {
    let folder = installed(workspace);
    if folder.join("nvidia/cu13/bin/nvcc").is_file() {
        return Ok(());
    }
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target"]);
    run_command(command.arg(&folder).args(PACKAGES))
}

/// Compiles, lowers the version, and has `ptxas` look at the result.
fn make(workspace: &Workspace, toolkit: &Path) -> Result<String> {
    let folder = workspace.target().join("ptx");
    fs::create_dir_all(&folder)?;
    let raw = folder.join(PTX);
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.current_dir(kernels(workspace)).args(["-ptx", "-fmad=false", "-arch", ARCHITECTURE, SOURCE, "-o"]);
    run_command(nvcc.arg(&raw))?;
    let made = heading(workspace)? + &tidy(&fs::read_to_string(&raw)?)?;
    fs::write(&raw, &made)?;
    for device in DEVICES {
        let mut ptxas = Command::new(toolkit.join("bin/ptxas"));
        ptxas.args(["-arch", device, "-o"]).arg(folder.join("checked.cubin")).arg(&raw);
        run_command(&mut ptxas).with_context(|| format!("ptxas refuses the kernels for {device}"))?;
    }
    Ok(made)
}

fn heading(workspace: &Workspace) -> Result<String> {
    let path = kernels(workspace).join(SOURCE);
    let source = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("// Made by `cargo xtask codegen ptx` from {SOURCE}, FNV-1a {:016x}\n", hash(&source)))
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo): short, and nobody has an interest in a collision here.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Without comments and empty lines, with the older version, and with zeros where names hold hashes of the
/// folder that the compiler ran in.
fn tidy(raw: &str) -> Result<String> {
    let mut text = String::with_capacity(raw.len());
    let mut versions = 0;
    for line in raw.lines() {
        if line.is_empty() || line.trim_start().starts_with("//") {
            continue;
        }
        if line.starts_with(".version ") {
            versions += 1;
            text.push_str(VERSION);
        } else {
            text.push_str(&without_hashes(line.trim_end()));
        }
        text.push('\n');
    }
    if versions != 1 {
        bail!("the compiler wrote {versions} lines with a version where one was expected");
    }
    Ok(text)
}

/// `_INTERNAL_xxxxxxxx_NN_name_xxxxxxxx` with zeros for both hashes, which keeps the lengths that the name
/// gives.
fn without_hashes(line: &str) -> String {
    const BEFORE: &str = "_INTERNAL_";
    const BETWEEN: &str = "_11_grammask_cu_";
    let mut text = line.to_owned();
    let places: Vec<usize> = line.match_indices(BEFORE).map(|(at, _)| at + BEFORE.len()).collect();
    for first in places {
        let second = first + 8 + BETWEEN.len();
        if line.get(first + 8..second) == Some(BETWEEN) && line.len() >= second + 8 {
            text.replace_range(first..first + 8, "00000000");
            text.replace_range(second..second + 8, "00000000");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_machine_is_taken_out() {
        let raw = "//\n// Tools\n\n.version 9.0\n.target sm_75\n// note\n\
                   call _ZN42_INTERNAL_06c6583d_11_grammask_cu_f11aa7c64bestE; \n";
        let tidied = tidy(raw).unwrap();
        assert_eq!(
            tidied,
            ".version 6.3\n.target sm_75\ncall _ZN42_INTERNAL_00000000_11_grammask_cu_000000004bestE;\n"
        );
        assert!(tidy("ret;\n").is_err());
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
