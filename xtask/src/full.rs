//! `cargo xtask full`: what takes too long for continuous integration, to be run by hand before a release.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::shell::{EVERYTHING, PEER, cargo, run as run_command};
use crate::workspace::Workspace;
use crate::{candle, codegen, programs, test};

/// Random cases of each comparison.
const CASES: &str = "50000";

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    codegen::check_all(workspace)?;
    read_everything(workspace)?;
    // Suites that take smaller inputs where code is not optimised.
    let tests = ["test", "--release", "--locked", "--package", "grammask", "--test", "it"];
    run_command(cargo(workspace, tests).arg("bounds"))?;
    // By itself, because it needs two free cores.
    let batches = ["bounds::batches", "--", "--nocapture"];
    run_command(cargo(workspace, tests).args(batches).env("GRAMMASK_FREE_CORES", "1"))?;
    let written = ["test", "--release", "--locked", "--package", "grammask-cli", "agreement"];
    run_command(&mut cargo(workspace, written))?;
    compare(workspace)?;
    test::package_outside(workspace, "examples/backend")?;
    test::package_outside(workspace, "grammask/tests/host")?;
    test::package_outside(workspace, "compat/llguidance")?;
    programs::hostile(workspace, &programs::Arguments::default())?;
    candle::run(workspace, &candle::Arguments::default())
}

/// Clippy and rustdoc over all targets of all crates, and over the benchmarks' peer, which no test runs.
fn read_everything(workspace: &Workspace) -> Result<()> {
    let mut clippy = cargo(workspace, ["clippy", "--all-targets", "--quiet", "--features", PEER]);
    run_command(clippy.args(EVERYTHING).args(["--", "-D", "warnings"]))?;
    let mut documentation = cargo(workspace, ["doc", "--no-deps", "--quiet", "--features", PEER]);
    run_command(documentation.args(EVERYTHING).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Puts more random grammars and schemas to the oracles than the tests do. Those of Lark and of schemas are others each
/// time; a failure names the seed.
fn compare(workspace: &Workspace) -> Result<()> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() * 1_000_000;
    for (package, tests) in [
        ("grammask-grammar-frontends", "lazy_rules_commit_as_defined"),
        ("grammask-matcher", "oracle"),
        ("grammask-corpus", "schemas"),
    ] {
        let mut test =
            cargo(workspace, ["test", "--release", "--locked", "--package", package, "--test", "it"]);
        test.arg(tests).env("GRAMMASK_CASES", CASES).env("GRAMMASK_SEED", seed.to_string());
        run_command(&mut test)?;
    }
    Ok(())
}
