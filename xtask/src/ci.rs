//! `cargo xtask ci`: what continuous integration runs, no more and no less.
//!
//! All steps share one profile and one set of features (those of the whole workspace), so that nothing is
//! compiled twice. Clippy and rustdoc share the metadata of dependencies; the tests, the examples and the Python package
//! share their code. The steps are taken in rows beside each other, and tests run while others are built, because many of
//! them keep one processor busy at most.

use std::process::Command;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::shell::{EVERYTHING, cargo, run as run_command};
use crate::steps::{Outcome, Report, done};
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

type Step = (&'static str, fn(&Workspace) -> Result<Outcome>);

/// Steps that need no build, in the order of how soon each tells of a mistake.
const READING: [Step; 4] = [
    ("tidy", |workspace| done(tidy::check(workspace, tidy::prose::Smaller::Report))),
    ("format", |workspace| done(run_command(&mut cargo(workspace, ["fmt", "--all", "--check"])))),
    ("licences", licences),
    ("generated", |workspace| done(codegen::check(workspace))),
];

/// The step beside them, with which building begins.
const CLIPPY: Step = ("clippy", clippy);

/// The step that builds everything else, and runs the tests meanwhile.
const TESTS: &str = "tests";

/// Other targets, which the steps after the tests use.
const OTHERS: [&str; 4] = ["--lib", "--examples", "--bench", "counts"];

/// Steps after the tests, which run what was built on one processor.
const RUNNING: [Step; 2] = [("examples", examples), ("counts", counts)];

/// The step beside the tests and these that keeps one processor busy for the longest time.
const PYTHON: Step = ("python", python);

/// Steps beside all of these, which build.
const BESIDE: [Step; 3] = [
    ("features", features),
    ("docs", documentation),
    ("doc tests", |workspace| done(test::documentation(workspace, &test::Arguments::default()))),
];

/// The names of all steps.
fn names() -> impl Iterator<Item = &'static str> {
    let named = |steps: &'static [Step]| steps.iter().map(|(name, _)| *name);
    named(&READING).chain([CLIPPY.0, TESTS]).chain(named(&RUNNING)).chain([PYTHON.0]).chain(named(&BESIDE))
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        if !names().any(|step| step == name) {
            let names = names().collect::<Vec<_>>().join(", ");
            bail!("there is no step `{name}`; the steps are: {names}");
        }
    }
    let report = Report::new(&arguments.only, arguments.keep_going);
    // Cargo builds one thing at a time, so what builds waits for the tests' build, and not for the tests.
    let (sender, built) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let report = &report;
        scope.spawn(move || {
            for (name, step) in READING {
                report.take(name, || step(workspace));
            }
            // Fails when the sender is dropped, which is when there is nothing to wait for.
            let _ = built.recv();
            scope.spawn(move || report.take(PYTHON.0, || PYTHON.1(workspace)));
            for (name, step) in BESIDE {
                report.take(name, || step(workspace));
            }
        });
        report.take(CLIPPY.0, || CLIPPY.1(workspace));
        report.take(TESTS, || {
            done(test::code(workspace, &test::Arguments::default(), &OTHERS, || drop(sender)))
        });
        for (name, step) in RUNNING {
            report.take(name, || step(workspace));
        }
    });
    report.end()
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

/// Runs every example of the workspace. They take no arguments, need no network and end with status 0.
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
    Ok(Outcome::Done)
}
