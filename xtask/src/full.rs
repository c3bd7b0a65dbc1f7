//! `cargo xtask full`: what takes too long for continuous integration, to be run by hand before a release.

use anyhow::Result;

use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;
use crate::{candle, hostile, test};

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    // Suites that take smaller inputs where code is not optimised.
    let tests = ["test", "--release", "--locked", "--package", "grammask", "--test", "it"];
    run_command(cargo(workspace, tests).arg("bounds"))?;
    // By itself, because it needs two free cores.
    let batches = ["bounds::batches", "--", "--nocapture"];
    run_command(cargo(workspace, tests).args(batches).env("GRAMMASK_FREE_CORES", "1"))?;
    test::package_outside(workspace, "grammask/tests/host")?;
    test::package_outside(workspace, "compat/llguidance")?;
    hostile::run(workspace, &hostile::Arguments::default())?;
    candle::run(workspace, &candle::Arguments::default())
}
