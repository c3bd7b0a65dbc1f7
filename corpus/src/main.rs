//! Runs the corpus on every backend and prints how they did: `cargo xtask corpus`.
//!
//! Exits with 1 where a case fails that is not declared as a gap, or a declared gap has been mended.

use anyhow::{bail, ensure};
use clap::Parser;
use grammask_corpus::{cases, gaps, random, subjects, table};
use grammask_oracle::random::GrammarOptions;

/// Puts the engine-independent cases to every backend.
#[derive(Parser)]
struct Arguments {
    /// Only the cases whose id (`file/name`) contains one of these.
    parts: Vec<String>,

    /// Compare this many random grammars with the naive recogniser, not the cases.
    #[arg(long, value_name = "GRAMMARS", conflicts_with = "parts")]
    random: Option<u64>,

    /// The seed of the first random grammar.
    #[arg(long, default_value_t = 1_000_000)]
    seed: u64,

    /// The backend of random grammars.
    #[arg(long, default_value = "earley", requires = "random")]
    backend: Backend,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Backend {
    Earley,
    Pda,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    match arguments.random {
        Some(grammars) => run_random(arguments.backend, arguments.seed, grammars),
        None => run_cases(&arguments.parts),
    }
}

#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
fn run_cases(parts: &[String]) -> anyhow::Result<()> {
    let is_meant = |id: &str| parts.is_empty() || parts.iter().any(|part| id.contains(part.as_str()));
    let (mut cases, mut gaps) = (cases()?, gaps()?);
    cases.retain(|case| is_meant(case.id()));
    gaps.retain(|gap| is_meant(&gap.case));
    ensure!(!cases.is_empty(), "no case has an id that contains one of {parts:?}");
    let reports = subjects::check_all(&cases);
    print!("{}", table(&reports, &gaps));
    let problems: Vec<String> = reports.iter().filter_map(|report| report.against(&gaps).err()).collect();
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
fn run_random(backend: Backend, seed: u64, grammars: u64) -> anyhow::Result<()> {
    let seeds = seed..seed.saturating_add(grammars);
    let options = GrammarOptions::default();
    let outcome = match backend {
        Backend::Earley => random::compare(seeds, &options, None, subjects::earley),
        Backend::Pda => random::compare(seeds, &options, Some("left recursion"), subjects::pda),
    };
    match outcome {
        Ok(tally) => {
            println!(
                "{} grammars, {} texts, {} positions agree; {} grammars were declined, {} texts reached a limit",
                tally.grammars, tally.texts, tally.positions, tally.declined, tally.indeterminate
            );
            Ok(())
        }
        Err(problem) => bail!("{problem}"),
    }
}
