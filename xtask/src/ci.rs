//! `cargo xtask ci`: what continuous integration runs, no more and no less.
//!
//! All steps share one profile and one set of features (those of the whole workspace), so that nothing is
//! compiled twice. Clippy and rustdoc share the metadata of dependencies; the tests, the examples and the Python package
//! share their code.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::shell::{EVERYTHING, cargo, run as run_command};
use crate::workspace::Workspace;
use crate::{codegen, instructions, python, test, tidy};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Goes on after a failed step and fails at the end.
    #[arg(long)]
    keep_going: bool,
    /// Only these steps.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
}

type Step = fn(&Workspace) -> Result<Outcome>;

/// In the order of how soon each tells of a mistake.
const STEPS: [(&str, Step); 12] = [
    ("tidy", |workspace| done(tidy::check(workspace, tidy::prose::Smaller::Report))),
    ("format", |workspace| done(run_command(&mut cargo(workspace, ["fmt", "--all", "--check"])))),
    ("generated", |workspace| done(codegen::check(workspace))),
    ("licences", licences),
    ("clippy", clippy),
    ("features", features),
    ("tests", |workspace| done(test::code(workspace, &test::Arguments::default()))),
    ("doc tests", |workspace| done(test::documentation(workspace, &test::Arguments::default()))),
    ("docs", documentation),
    ("examples", examples),
    ("counts", counts),
    ("python", python),
];

enum Outcome {
    Done,
    Skipped(&'static str),
}

fn done(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Done)
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        if !STEPS.iter().any(|(step, _)| step == name) {
            let names = STEPS.map(|(step, _)| step).join(", ");
            bail!("there is no step `{name}`; the steps are: {names}");
        }
    }
    let mut report = Vec::new();
    let mut failure = None;
    for (name, step) in STEPS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
            continue;
        }
        eprintln!("\n== {name}");
        let start = Instant::now();
        let result = step(workspace);
        let word = match &result {
            Ok(Outcome::Done) => "ok".to_owned(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(_) => "FAILED".to_owned(),
        };
        report.push((name, start.elapsed(), word));
        if let Err(error) = result {
            eprintln!("error: {error:#}");
            failure.get_or_insert(name);
            if !arguments.keep_going {
                break;
            }
        }
    }
    print_report(&report);
    match failure {
        Some(name) => bail!("step `{name}` failed"),
        None => Ok(()),
    }
}

fn print_report(report: &[(&str, Duration, String)]) {
    println!("\n{:<10} {:>8}  result", "step", "seconds");
    for (name, time, word) in report {
        println!("{name:<10} {:>8.1}  {word}", time.as_secs_f64());
    }
    let total: Duration = report.iter().map(|(_, time, _)| *time).sum();
    println!("{:<10} {:>8.1}", "total", total.as_secs_f64());
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let mut command = cargo(workspace, ["clippy", "--all-targets", "--quiet"]);
    done(run_command(command.args(EVERYTHING).args(["--", "-D", "warnings"])))
}

/// Selections of features of the facade that are checked beside all of them. Each is a program that pays for some layers.
const FEATURES: [&str; 5] = ["", "regex", "json-schema", "lark", "structural-tag,apply"];

fn features(workspace: &Workspace) -> Result<Outcome> {
    for features in FEATURES {
        let selection = ["clippy", "--locked", "--quiet", "--package", "grammask", "--no-default-features"];
        let mut command = cargo(workspace, selection);
        run_command(command.args(["--features", features, "--", "-D", "warnings"]))
            .with_context(|| format!("with the features \"{features}\" alone"))?;
    }
    Ok(Outcome::Done)
}

fn documentation(workspace: &Workspace) -> Result<Outcome> {
    let mut command = cargo(workspace, ["doc", "--no-deps", "--quiet"]);
    done(run_command(command.args(EVERYTHING).env("RUSTDOCFLAGS", "-D warnings")))
}

/// Instructions of the hot paths. They need valgrind; a machine without it can still run everything else.
fn counts(workspace: &Workspace) -> Result<Outcome> {
    let found = instructions::run(workspace, &instructions::Arguments::default())?;
    Ok(found.map_or(Outcome::Done, Outcome::Skipped))
}

fn python(workspace: &Workspace) -> Result<Outcome> {
    if !python::is_possible() {
        return Ok(Outcome::Skipped("there is no Python 3.11; name another interpreter in `PYTHON`"));
    }
    done(python::run(workspace, &python::Arguments::default()))
}

/// Licences and advisories need a program of their own; a machine without it can still run everything else.
fn licences(workspace: &Workspace) -> Result<Outcome> {
    let installed =
        cargo(workspace, ["deny", "--version"]).output().is_ok_and(|output| output.status.success());
    if !installed {
        return Ok(Outcome::Skipped("cargo-deny is not installed"));
    }
    done(run_command(&mut cargo(
        workspace,
        ["deny", "--all-features", "check", "bans", "licenses", "sources"],
    )))
}

/// Runs every example of the workspace, and tests the one that is outside of it. They take no arguments, need no
/// network and end with status 0.
fn examples(workspace: &Workspace) -> Result<Outcome> {
    let mut build = cargo(workspace, ["build", "--examples", "--quiet"]);
    run_command(build.args(EVERYTHING)).context("the examples do not build")?;
    for member in workspace.members() {
        for target in member.package.targets.iter().filter(|target| target.is_example()) {
            let program = workspace.target().join("debug").join("examples").join(&target.name);
            let mut command = Command::new(program);
            run_command(command.current_dir(workspace.root()))?;
        }
    }
    done(test::package_outside(workspace, "examples/backend"))
}
