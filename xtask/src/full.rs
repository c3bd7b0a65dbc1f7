//! `cargo xtask full`: what takes too long for continuous integration, to be run by hand before a release.

use anyhow::Result;

use crate::hostile;
use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    // Suites that take smaller inputs where code is not optimised.
    let bounds = ["test", "--release", "--locked", "--package", "grammask", "--test", "it", "bounds"];
    run_command(&mut cargo(workspace, bounds))?;
    hostile::run(workspace, &hostile::Arguments::default())
}
