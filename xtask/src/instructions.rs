//! `cargo xtask bench instructions`: instructions of the hot paths, compared with those that are checked in.
//!
//! Times on a shared machine differ by more than what a change costs; instructions do not. The program `counts` of the
//! facade runs each path once below valgrind's callgrind, which counts inside of the functions of its module
//! `measured` only. It is built as the tests are, so that continuous integration builds nothing twice: the numbers
//! are good for comparison with one another, not for what a release takes.
//!
//! Another compiler makes other instructions, and another processor takes other routines of the C library: the baseline
//! names both, and counts of others are printed and not judged. Hashes are seeded at random, which moves counts by some
//! tenths of a percent.
//!
//! With `--release` the program is built as users build it. That baseline lies in the target folder and serves to compare
//! two commits.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;

use crate::shell::{EVERYTHING, cargo, executables, run as run_command};
use crate::workspace::Workspace;

/// The baseline, relative to the root: the compiler and the processor in the first line, then a path and its instructions a
/// line.
const BASELINE: &str = "grammask/instructions.csv";
/// The same of the release build, relative to the target folder.
const RELEASE_BASELINE: &str = "instructions-release.csv";

/// How much a path may take more than its baseline, in percent.
const TOLERANCE: u64 = 5;

/// The module whose functions are counted.
const MEASURED: &str = "counts::measured::";

#[derive(Default, Parser)]
#[command(name = "instructions")]
pub(crate) struct Arguments {
    /// Writes the baseline instead of comparing with it.
    #[arg(long)]
    write: bool,
    /// Counts what a release build does; its baseline is one of this machine.
    #[arg(long)]
    release: bool,
}

/// How the names of functions begin that do work until its limit ends it, whatever the machine is.
const WORK: &str = "work_of_";

/// The units of that limit, as `grammask/benches/units` has them.
const UNITS: u64 = 50_000;

/// How many instructions a unit of work may take.
const MAX_PER_UNIT: u64 = 1_500;
/// Work that takes less was refused before it was begun, and says nothing of its units.
const MIN_PER_UNIT: u64 = 50;

/// Instructions of each path.
type Counts = BTreeMap<String, u64>;

/// Compares, or writes the baseline. Returns why it cannot, where valgrind is missing.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Option<&'static str>> {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        return Ok(Some("valgrind is not installed"));
    }
    let program = build(workspace, arguments.release)?;
    let (work, counts): (Counts, Counts) =
        count(workspace, &program)?.into_iter().partition(|(name, _)| name.starts_with(WORK));
    println!("{}", work_table(&work));
    judge_work(&work)?;
    let compiler = compiler()?;
    let path = match arguments.release {
        true => workspace.target().join(RELEASE_BASELINE),
        false => workspace.root().join(BASELINE),
    };
    if arguments.write {
        let mut text = format!("{compiler}\n");
        for (name, count) in &counts {
            writeln!(text, "{name},{count}")?;
        }
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        println!("wrote {} counts to {}", counts.len(), path.display());
        return Ok(None);
    }
    let text = match fs::read_to_string(&path) {
        // To see the counts alone needs no baseline.
        Err(_) if arguments.release => format!("{compiler}\n"),
        text => text.with_context(|| {
            format!("{BASELINE} cannot be read; make it with `cargo xtask bench instructions --write`")
        })?,
    };
    let (before, expected) = parse(&text)?;
    println!("{}", table(&expected, &counts));
    if before != compiler {
        println!("not judged: the baseline was made with {before}, this is {compiler}");
        return Ok(None);
    }
    if !expected.is_empty() {
        judge(&expected, &counts)?;
    }
    Ok(None)
}

/// Builds the program with the features and the profile of the tests or as a release, and says where it is.
fn build(workspace: &Workspace, release: bool) -> Result<PathBuf> {
    let mut build = cargo(workspace, ["build", "--bench", "counts"]);
    match release {
        true => build.args(["--locked", "--release", "--package", "grammask"]),
        false => build.args(EVERYTHING),
    };
    let programs = executables(&mut build)?;
    let counts = programs.into_iter().find(|(name, _)| name == "counts");
    Ok(counts.context("cargo did not say where the bench `counts` is")?.1)
}

/// Runs the program below callgrind.
fn count(workspace: &Workspace, program: &Path) -> Result<Counts> {
    let out = workspace.target().join("instructions.callgrind");
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--toggle-collect={MEASURED}*"))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program);
    run_command(&mut command)?;
    let text = fs::read_to_string(&out).context("callgrind wrote no counts")?;
    let counts = inclusive(&text);
    ensure!(!counts.is_empty(), "callgrind counted nothing inside of `{MEASURED}*`");
    Ok(counts)
}

/// The instructions of each measured function and of all that it calls, in callgrind's format. Lines `PLACE
/// COST` follow a line `fn=`, and one line `PLACE COST` with the cost of the calls follows a line `calls=`.
fn inclusive(text: &str) -> Counts {
    let mut counts = Counts::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            current = function.split(MEASURED).nth(1).map(str::to_owned);
        } else if let Some(name) = &current
            && line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
            && let Some(cost) = line.split_whitespace().nth(1).and_then(|cost| cost.parse::<u64>().ok())
        {
            *counts.entry(name.clone()).or_default() += cost;
        }
    }
    counts
}

/// The compiler that builds the workspace, and the processor.
fn compiler() -> Result<String> {
    let output = Command::new("rustc").arg("--version").output().context("rustc does not start")?;
    let compiler = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // Where the system does not tell its processor there is none in the baseline's line either.
    let system = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = system.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    Ok(processor.map_or(compiler.clone(), |(_, processor)| format!("{compiler} on {processor}")))
}

/// A baseline: the compiler and the counts.
fn parse(text: &str) -> Result<(String, Counts)> {
    let mut lines = text.lines();
    let compiler = lines.next().context("the baseline is empty")?.to_owned();
    let counts = lines
        .map(|line| {
            let (name, count) =
                line.split_once(',').with_context(|| format!("`{line}` is no `NAME,COUNT`"))?;
            Ok((name.to_owned(), count.parse().with_context(|| format!("`{count}` is no number"))?))
        })
        .collect::<Result<_>>()?;
    Ok((compiler, counts))
}

fn table(expected: &Counts, counts: &Counts) -> String {
    let mut text = String::new();
    for (name, &count) in counts {
        let change = expected.get(name).map_or_else(
            || "new".to_owned(),
            |&before| format!("{:+.2}%", 100.0 * (count as f64 / before.max(1) as f64 - 1.0)),
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<28} {count:>12} {change:>9}");
    }
    text
}

/// The instructions of one unit of each kind of work.
fn work_table(work: &Counts) -> String {
    work.iter().map(|(name, count)| format!("{name:<28} {:>8} a unit\n", count / UNITS)).collect()
}

/// Limits on work are limits on time only where a unit takes about the same everywhere.
fn judge_work(work: &Counts) -> Result<()> {
    ensure!(!work.is_empty(), "nothing was counted that a limit ends");
    let names = |is_named: fn(u64) -> bool| -> Vec<&str> {
        work.iter().filter(|&(_, &count)| is_named(count / UNITS)).map(|(name, _)| name.as_str()).collect()
    };
    let idle = names(|count| count < MIN_PER_UNIT);
    ensure!(idle.is_empty(), "a unit of {} takes under {MIN_PER_UNIT} instructions", idle.join(", "));
    let dear = names(|count| count > MAX_PER_UNIT);
    ensure!(dear.is_empty(), "a unit of {} takes over {MAX_PER_UNIT} instructions", dear.join(", "));
    Ok(())
}

/// Fails where a path takes more than its baseline and the tolerance, or where there is none of the name.
fn judge(expected: &Counts, counts: &Counts) -> Result<()> {
    ensure!(expected.keys().eq(counts.keys()), "the baseline has other paths; make it anew with `--write`");
    let slower: Vec<&str> = expected
        .iter()
        .filter(|&(name, &before)| counts[name] > before.saturating_add(before * TOLERANCE / 100))
        .map(|(name, _)| name.as_str())
        .collect();
    if !slower.is_empty() {
        bail!(
            "{} take over {TOLERANCE}% more instructions than the baseline says; where that is meant, write it anew \
             with `--write`",
            slower.join(", ")
        );
    }
    let faster = |(name, &before): (&String, &u64)| counts[name] < before - before * TOLERANCE / 100;
    if expected.iter().any(faster) {
        println!("some take over {TOLERANCE}% less: write the baseline anew, so that they stay so");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn costs_of_calls_belong_to_the_caller() {
        let text = "fl=a.rs\nfn=counts::main\n1 7\nfn=counts::measured::one\n10 5\n+1 2\ncfn=x::y\n\
                    calls=3 20\n12 100\nfn=x::y\n20 100\nfn=counts::measured::two\n30 4\n* 1\n";
        assert_eq!(inclusive(text), counts(&[("one", 107), ("two", 5)]));
    }

    #[test]
    fn a_path_that_takes_more_than_the_tolerance_fails() {
        let before = counts(&[("one", 1_000), ("two", 20)]);
        assert!(judge(&before, &counts(&[("one", 1_050), ("two", 21)])).is_ok());
        assert!(judge(&before, &counts(&[("one", 10), ("two", 1)])).is_ok());
        let failed =
            judge(&before, &counts(&[("one", 1_051), ("two", 22)])).map_err(|error| error.to_string());
        assert!(failed.is_err_and(|error| error.starts_with("one, two take over 5% more")));
        assert!(judge(&before, &counts(&[("one", 1_000)])).is_err(), "a path is missing");
    }

    #[test]
    fn a_unit_that_is_too_dear_fails() {
        assert!(judge_work(&counts(&[("work_of_a", MAX_PER_UNIT * UNITS)])).is_ok());
        assert!(judge_work(&counts(&[("work_of_a", (MAX_PER_UNIT + 1) * UNITS)])).is_err());
        assert!(judge_work(&Counts::new()).is_err(), "nothing is counted");
    }

    #[test]
    fn a_baseline_is_read_as_it_is_written() {
        let read = parse("rustc 1\none,5\n").ok();
        assert_eq!(read, Some(("rustc 1".to_owned(), counts(&[("one", 5)]))));
        assert!(parse("").is_err() && parse("rustc 1\none").is_err() && parse("rustc 1\none,x").is_err());
    }
}
