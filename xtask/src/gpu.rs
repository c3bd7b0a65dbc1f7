//! `cargo xtask gpu`: all tests and measurements of `gpu-apply`, on a machine with an NVIDIA device.
//!
//! On other machines the parts that need none run, and the rest says why it was left out.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::codegen;
use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

const PACKAGE: &str = "grammask-gpu-apply";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fails where there is no device, instead of leaving out what needs one.
    #[arg(long)]
    require_device: bool,
    /// Leaves out the times of the CPU.
    #[arg(long)]
    skip_cpu: bool,
    /// The Python to look for torch and xgrammar in.
    #[arg(long, default_value = "python3")]
    python: String,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    codegen::check(workspace)?;
    for features in [&["--features", "cuda"][..], &[]] {
        run_command(cargo(workspace, ["test", "--quiet", "--package", PACKAGE]).args(features))?;
    }
    if !arguments.skip_cpu {
        run_command(&mut cargo(workspace, ["bench", "--quiet", "--package", PACKAGE, "--bench", "logits"]))?;
    }
    let mut device = cargo(workspace, ["bench", "--quiet", "--package", PACKAGE]);
    device.args(["--features", "cuda", "--bench", "cuda", "--", "--record"]);
    device.arg(workspace.root().join("record"));
    if arguments.require_device {
        device.arg("--require-device");
    }
    run_command(&mut device)?;
    peers(workspace, arguments)
}

/// The kernels of xgrammar on the same shapes, where its Python package is installed.
fn peers(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let question = "import torch, xgrammar, sys; sys.exit(0 if torch.cuda.is_available() else 1)";
    let mut probe = Command::new(&arguments.python);
    probe.args(["-c", question]).stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        println!("skipped: xgrammar's kernels need {} with torch, xgrammar and a device", arguments.python);
        return Ok(());
    }
    let mut command = Command::new(&arguments.python);
    command.arg("gpu-apply/benches/xgrammar_kernels.py").arg("record").current_dir(workspace.root());
    run_command(&mut command)
}
