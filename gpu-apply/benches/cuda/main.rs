//! Tests and times the kernels on a CUDA device: `cargo xtask gpu`, or
//! `cargo bench -p grammask-gpu-apply --features cuda --bench cuda -- --record FOLDER`.
//!
//! Without a device it says so and ends well, unless `--require-device` is given. `--rounds N` compares the kernels with
//! the CPU on so many shapes of each type, and `--no-times` ends there, for tools that watch each access to memory.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to its user")]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod correctness;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod memory;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod times;

use std::process::ExitCode;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn main() -> ExitCode {
    println!("skipped: CUDA is supported on Linux alone");
    ExitCode::SUCCESS
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let device = match grammask_gpu_apply::cuda::Device::new(0) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped: everything that needs a CUDA device: {error}");
            let is_required = arguments.iter().any(|argument| argument == "--require-device");
            return if is_required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    println!("device: {}", device.name());
    match run(&device, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn run(device: &grammask_gpu_apply::cuda::Device, arguments: &[String]) -> memory::Result<()> {
    let place = |name: &str| arguments.iter().position(|argument| argument == name);
    let value = |name: &str| place(name).and_then(|at| arguments.get(at + 1));
    correctness::run(device, value("--rounds").map_or(Ok(400), |rounds| rounds.parse())?)?;
    if place("--no-times").is_none() {
        times::run(device, value("--record").map(std::path::Path::new))?;
    }
    Ok(())
}
