//! Project automation: `cargo xtask <verb>`, a file for each verb that does more than to start a program.
//!
//! `ci` is exactly what continuous integration runs. Every other verb is a part of it, or starts a program of
//! the workspace under a name that does not change when the program moves.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program talks to its user")]

mod workspace;
mod shell;
mod steps;
mod tidy;
mod instructions;
mod bench;
mod codegen;
mod gpu;
mod graph;
mod python;
mod engines;
mod test;
mod candle;
mod programs;
mod full;
mod check;
mod templates;
mod vocabularies;
mod ci;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::{Crates, Workspace};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Project automation of grammask")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Runs everything that continuous integration runs, and prints a timed list of the steps.
    Ci(ci::Arguments),
    /// Runs tidy, format, Clippy and the tests of what has changed and of what links it.
    Check(check::Arguments),
    /// Runs the tests: libraries, programs, integration tests, then documentation examples.
    Test(test::Arguments),
    /// Checks layers, the code map, stale files and house rules. Compiles nothing.
    Tidy(tidy::Arguments),
    /// Prints which files of a crate import one another in circles. Compiles nothing.
    Graph(graph::Arguments),
    /// Runs a benchmark of the `bench` crate in release mode, for example `bench maskbench --help`.
    Bench(bench::Arguments),
    /// Runs the engine-independent cases of `corpus` on every backend.
    Corpus(programs::Arguments),
    /// Builds the Python package, checks its types, runs its tests and examples.
    Python(python::Arguments),
    /// Runs serving engines and libraries of models over the Python package; fetches them first.
    Engines(engines::Arguments),
    /// Tests the model on candle and the server in `examples`, with OpenAI's client.
    Candle(candle::Arguments),
    /// Compares an engine with the naive recogniser on random grammars, in release mode.
    Oracle(programs::Arguments),
    /// Holds every hostile input to the rule on time and memory, in release mode.
    Hostile(programs::Arguments),
    /// Runs what takes too long for continuous integration: suites at full size, every hostile input, and
    /// the examples on candle.
    Full,
    /// Makes generated files again, or checks them with `--check`.
    Codegen(codegen::Arguments),
    /// Compares the turns of models in `corpus` with what the vendors' chat templates render.
    Templates(templates::Arguments),
    /// Compares the tokens that `vocabularies` reads with those of the libraries whose files they are.
    Vocabularies(vocabularies::Arguments),
    /// Runs tests and measurements of `gpu-apply` on a machine with an NVIDIA device, and what it can elsewhere.
    Gpu(gpu::Arguments),
}

fn main() -> ExitCode {
    match run(Arguments::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<()> {
    let crates = match verb {
        Verb::Ci(_) | Verb::Bench(_) => Crates::Whole,
        _ => Crates::Pieces,
    };
    let workspace = Workspace::load()?.compiled(crates);
    match verb {
        Verb::Ci(arguments) => ci::run(&workspace, &arguments),
        Verb::Check(arguments) => check::run(&workspace, &arguments),
        Verb::Test(arguments) => test::run(&workspace, &arguments),
        Verb::Tidy(arguments) => tidy::run(&workspace, &arguments),
        Verb::Graph(arguments) => graph::run(&workspace, &arguments),
        Verb::Bench(arguments) => bench::run(&workspace, &arguments),
        Verb::Corpus(arguments) => programs::corpus(&workspace, &arguments),
        Verb::Python(arguments) => python::run(&workspace, &arguments),
        Verb::Engines(arguments) => engines::run(&workspace, &arguments),
        Verb::Candle(arguments) => candle::run(&workspace, &arguments),
        Verb::Oracle(arguments) => programs::oracle(&workspace, &arguments),
        Verb::Hostile(arguments) => programs::hostile(&workspace, &arguments),
        Verb::Full => full::run(&workspace),
        Verb::Codegen(arguments) => codegen::run(&workspace, &arguments),
        Verb::Templates(arguments) => templates::run(&workspace, &arguments),
        Verb::Vocabularies(arguments) => vocabularies::run(&workspace, &arguments),
        Verb::Gpu(arguments) => gpu::run(&workspace, &arguments),
    }
}
