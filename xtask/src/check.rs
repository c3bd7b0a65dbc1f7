//! `cargo xtask check`: the contributor's loop. Tidy, format, Clippy and the tests of the crates that changed and of those
//! that link them.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::shell::{cargo, run as run_command};
use crate::steps::{Report, done};
use crate::workspace::Workspace;
use crate::{test, tidy};

/// Folders whose crates take long to build, and which `cargo xtask ci` builds.
const LEFT_OUT: [&str; 2] = ["bench", "bindings/python"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The commit to compare with.
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    since: String,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let packages = affected(workspace, &changed_files(workspace, &arguments.since)?);
    let report = Report::new(&[], false);
    // Cargo builds one thing at a time: Clippy waits for the build of the tests, and runs beside the tests.
    let (sender, built) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (report, packages) = (&report, &packages);
        scope.spawn(move || {
            report.take("tidy", || done(tidy::check(workspace, tidy::prose::Smaller::Report)));
            report.take("format", || done(run_command(&mut cargo(workspace, ["fmt", "--all", "--check"]))));
            // Fails when the sender is dropped, which is when there is nothing to wait for.
            let _ = built.recv();
            if !packages.is_empty() {
                report.take("clippy", || done(clippy(workspace, packages)));
            }
        });
        if packages.is_empty() {
            drop(sender);
        } else {
            let tests = test::Arguments::of(packages.iter().cloned());
            report.take("tests", || done(test::code(workspace, &tests, &[], || drop(sender))));
        }
    });
    let names: Vec<&str> = packages.iter().map(String::as_str).collect();
    println!("\nchecked {}", if names.is_empty() { "no crate".to_owned() } else { names.join(", ") });
    report.end()
}

fn clippy(workspace: &Workspace, packages: &BTreeSet<String>) -> Result<()> {
    let mut clippy = cargo(workspace, ["clippy", "--locked", "--all-targets", "--quiet"]);
    for package in packages {
        clippy.args(["--package", package]);
    }
    run_command(clippy.args(["--", "-D", "warnings"]))
}

/// Files that differ from a commit, and new ones; relative to the root.
fn changed_files(workspace: &Workspace, since: &str) -> Result<Vec<String>> {
    let list = |arguments: &[&str]| -> Result<Vec<String>> {
        let output = Command::new("git").args(arguments).current_dir(workspace.root()).output();
        let output = output.context("git does not start")?;
        ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
    };
    let mut files = list(&["diff", "--name-only", since, "--"])?;
    files.extend(list(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(files)
}

/// The packages that hold a file, and all that link one of them. A file outside of all packages counts for none.
fn affected(workspace: &Workspace, files: &[String]) -> BTreeSet<String> {
    let holds_one = |folder: &str| {
        files.iter().any(|file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    let mut affected: BTreeSet<String> = workspace
        .members()
        .filter(|member| holds_one(&member.folder))
        .map(|member| member.package.name.to_string())
        .collect();
    loop {
        let before = affected.len();
        for member in workspace.members() {
            if member.linked_paths().any(|name| affected.contains(name)) {
                affected.insert(member.package.name.to_string());
            }
        }
        if affected.len() == before {
            break;
        }
    }
    let left_out = workspace.members().filter(|member| LEFT_OUT.contains(&member.folder.as_str()));
    for member in left_out {
        affected.remove(member.package.name.as_str());
    }
    affected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str) -> BTreeSet<String> {
        affected(&Workspace::load().unwrap(), &[file.to_owned()])
    }

    #[test]
    fn dependents_are_checked_too() {
        let packages = of("pda/src/lib.rs");
        assert!(packages.contains("grammask-pda") && packages.contains("grammask-matcher"));
        assert!(!packages.contains("grammask-fsm") && !packages.contains("grammask-bench"));
        assert!(of("docs/glossary.md").is_empty());
        // The folder's whole name counts.
        assert_eq!(of("grammask-notes/a.md"), BTreeSet::new());
    }
}
