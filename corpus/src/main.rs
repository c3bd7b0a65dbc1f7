//! Runs the whole corpus on every backend and prints how they did: `cargo xtask corpus`.
//!
//! Exits with 1 where a case fails that is not declared as a gap, or a declared gap has been mended.

use anyhow::bail;
use grammask_corpus::{cases, gaps, subjects, table};

#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
fn main() -> anyhow::Result<()> {
    let (cases, gaps) = (cases()?, gaps()?);
    let reports = subjects::check_all(&cases);
    print!("{}", table(&reports, &gaps));
    let problems: Vec<String> = reports.iter().filter_map(|report| report.against(&gaps).err()).collect();
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}
