//! `cargo xtask tidy`: rules of the house that the compiler does not check.
//!
//! Every check returns findings and goes on, so that one run shows all there is to mend.

mod finding;
mod sources;
mod test_code;
pub(crate) mod crate_tree;
mod casts;
mod code_map;
mod files;
pub(crate) mod imports;
mod layers;
mod modules;
mod names;
mod published;
mod quotes;

use anyhow::{Result, bail};

use self::sources::Sources;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let sources = Sources::read(workspace.root())?;
    let trees = crate_tree::read_all(workspace)?;
    let mut findings = Vec::new();
    findings.extend(layers::check(workspace));
    findings.extend(code_map::check(workspace, &sources)?);
    findings.extend(modules::check(workspace, &sources)?);
    findings.extend(published::check(workspace)?);
    findings.extend(quotes::check(&sources)?);
    findings.extend(files::check(&sources));
    findings.extend(imports::check(&trees));
    findings.extend(names::check(&trees));
    findings.extend(casts::check(&trees));
    findings.sort();
    for finding in &findings {
        println!("{}: {}", finding.place, finding.message);
    }
    if !findings.is_empty() {
        bail!("tidy: {} to mend", findings.len());
    }
    println!("tidy: {} files, nothing to mend", sources.files.len());
    Ok(())
}
