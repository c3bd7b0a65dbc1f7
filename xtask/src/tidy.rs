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
mod lines;
mod modules;
mod names;
pub(crate) mod prose;
mod published;
mod quotes;
mod statics;

use anyhow::{Result, bail};

use self::prose::Smaller;
use self::sources::Sources;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Writes smaller counts of stumbling sentences into their table.
    #[arg(long)]
    lower: bool,
    /// Prints how many lines of code each library has, and how long its functions are, and checks nothing.
    #[arg(long)]
    lines: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if arguments.lines {
        print!("{}", lines::table(workspace, &crate_tree::read_all(workspace)?)?);
        return Ok(());
    }
    let smaller = if arguments.lower { Smaller::Write } else { Smaller::Report };
    check(workspace, smaller)
}

/// Runs all checks, and changes no file unless smaller counts are to be written.
pub(crate) fn check(workspace: &Workspace, smaller: Smaller) -> Result<()> {
    let sources = Sources::read(workspace.root())?;
    let trees = crate_tree::read_all(workspace)?;
    let mut findings = Vec::new();
    findings.extend(layers::check(workspace));
    findings.extend(code_map::check(workspace, &sources)?);
    findings.extend(modules::check(workspace, &sources)?);
    findings.extend(published::check(workspace)?);
    findings.extend(quotes::check(&sources)?);
    findings.extend(files::check(&sources));
    findings.extend(prose::check(&sources, smaller)?);
    findings.extend(imports::check(&trees));
    findings.extend(names::check(&trees));
    findings.extend(casts::check(&trees));
    findings.extend(statics::check(&trees));
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
