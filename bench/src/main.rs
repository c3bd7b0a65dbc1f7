//! Benchmarks of grammask beside its peers. See README.md for what they favour and how to run them.

#![allow(clippy::print_stdout, reason = "a benchmark program prints its tables")]

// In the order in which they build on one another.

// They import nothing of this program.
mod host;
mod judge;
mod workload;
// Engines, and running them over a pack.
mod engine;
mod run;
// Tool calls, and figures made of records.
mod report;
mod tools;
// The subcommands.
mod command;

use clap::{Parser, Subcommand};

/// Grammars and their tables are thousands of small pieces that come and go together. The system's allocator joins each
/// with its neighbours when it goes; this one does not, and keeps what lives together in the same pages. The peer has it, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Benchmarks of grammask beside its peers.
#[derive(Debug, Parser)]
#[command(version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The worth of each part of the engine: the parts switched on one after the other.
    Ablation(command::ablation::AblationArgs),
    /// The JSON Schema Test Suite: what is refused, wrongly accepted, wrongly rejected.
    Jsts(command::jsts::JstsArgs),
    /// JSON Schemas with instances: coverage, time to the first mask, time of every mask.
    Maskbench(command::maskbench::MaskbenchArgs),
    /// The sizes of grammars, with room and with a small budget.
    Memory(command::memory::MemoryArgs),
    /// The hot path on a handful of grammars, cold and warm.
    Micro(command::micro::MicroArgs),
    /// Every mask of random walks through the corpus, bit by bit against the naive recogniser.
    Oracle(command::oracle::OracleArgs),
    /// How time and memory grow with the structure or the text.
    Scaling(command::scaling::ScalingArgs),
    /// One grammar on many threads, and many rows in one call.
    Threads(command::threads::ThreadsArgs),
    /// Tool calls of agents: compiling sets of tools, and masks by place of the answer.
    Tools(command::tools::ToolsArgs),
    /// One instance of one schema, token by token.
    Trace(command::trace::TraceArgs),
    /// Random walks through the masks of JSON Schemas, every finished document put to a validator.
    Walks(command::walks::WalksArgs),
    #[command(hide = true)]
    Worker(command::worker::WorkerArgs),
}

fn main() -> anyhow::Result<()> {
    match Program::parse().command {
        Command::Ablation(args) => command::ablation::run(&args),
        Command::Jsts(args) => command::jsts::run(&args),
        Command::Maskbench(args) => command::maskbench::run(&args),
        Command::Memory(args) => command::memory::run(&args),
        Command::Micro(args) => command::micro::run(&args),
        Command::Oracle(args) => command::oracle::run(&args),
        Command::Scaling(args) => command::scaling::run(&args),
        Command::Threads(args) => command::threads::run(&args),
        Command::Tools(args) => command::tools::run(&args),
        Command::Trace(args) => command::trace::run(&args),
        Command::Walks(args) => command::walks::run(&args),
        Command::Worker(args) => command::worker::run(&args),
    }
}
