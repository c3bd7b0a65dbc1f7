//! `maskbench`: schemas with instances, engines side by side in turns.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;

use crate::engine::{Backend, EngineId, KeyOrder};
use crate::host;
use crate::report::failures;
use crate::report::plot::{self, Curve};
use crate::report::record_file::{self, Circumstances};
use crate::report::summary::{Common, Summary};
use crate::report::table::{self, Table};
use crate::run::pack::{self, Choice, Line};
use crate::run::protocol::{Caches, Clock, Depth, Record};
use crate::run::supervisor::{self, Outcome, Settings};

/// Arguments of `maskbench`.
#[derive(Debug, Args)]
pub(crate) struct MaskbenchArgs {
    /// The pack: `.jsonl` or `.jsonl.gz`, one `{"id", "schema", "tests"}` a line.
    #[arg(long)]
    pack: PathBuf,
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// How many schemas to draw, 0 for all.
    #[arg(long, default_value_t = 600)]
    sample: usize,
    /// Seed of the sample and of the order.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Only ids that this regular expression matches.
    #[arg(long)]
    only: Option<Regex>,
    /// The engine to compare with.
    #[arg(long, default_value = "llguidance")]
    peer: Peer,
    /// Leave our own engine out.
    #[arg(long)]
    peer_only: bool,
    /// The parser backend of our own engine.
    #[arg(long, default_value = "earley")]
    backend: Backend,
    /// Seconds that one stage of one schema may take.
    #[arg(long, default_value_t = 30)]
    timeout: u64,
    /// Forget everything but the vocabulary before each schema.
    #[arg(long)]
    cold: bool,
    /// Only compile, up to the first mask.
    #[arg(long)]
    compile_only: bool,
    /// Give each engine a process of its own, one after the other, and report what memory it takes.
    #[arg(long)]
    memory: bool,
    /// GiB of address space that a worker may take.
    #[arg(long, default_value_t = 8)]
    memory_gib: u64,
    /// The order of an object's members that our engine takes: as declared, or any.
    #[arg(long, default_value = "declared")]
    key_order: KeyOrder,
    /// The core to measure on [default: the last one].
    #[arg(long)]
    core: Option<usize>,
    /// Time on the wall, or, on a machine that is not quiet, time on the core.
    #[arg(long, default_value = "wall")]
    clock: Clock,
    /// Folder for a dated CSV and a plot.
    #[arg(long)]
    record: Option<PathBuf>,
    /// File for everything that did not pass and everything that was slow.
    #[arg(long)]
    failures: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Peer {
    Llguidance,
    None,
}

/// Runs the benchmark and prints its tables.
pub(crate) fn run(args: &MaskbenchArgs) -> Result<()> {
    let mut engines = Vec::new();
    if !args.peer_only {
        engines.push(EngineId::Grammask.with(args.backend));
    }
    if args.peer == Peer::Llguidance {
        engines.push(EngineId::Llguidance);
    }
    ensure!(!engines.is_empty(), "nothing to run: leave out --peer-only, or name a --peer");
    let choice = Choice { only: args.only.clone(), sample: args.sample, seed: args.seed };
    let lines = pack::read(&args.pack, &choice)?;
    ensure!(!lines.is_empty(), "no schema of the pack is chosen; check --only and --sample");
    let (records, groups) = measure(args, &engines, &lines)?;
    println!("{} schemas on {}, {}\n", lines.len(), host::processor(), host::today());
    report(args, &engines, &records)?;
    print_memory(&groups);
    Ok(())
}

fn measure(args: &MaskbenchArgs, engines: &[EngineId], lines: &[Line]) -> Result<(Vec<Record>, Vec<Memory>)> {
    let settings = Settings {
        tokenizer: args.tokenizer.clone(),
        end: args.end.clone(),
        core: args.core.or_else(host::quiet_core),
        timeout: args.timeout,
        memory_gib: args.memory_gib,
        key_order: args.key_order,
        caches: if args.cold { Caches::Dropped } else { Caches::Kept },
        depth: if args.compile_only { Depth::FirstMask } else { Depth::Instances },
        clock: args.clock,
    };
    let groups: Vec<Vec<EngineId>> = if args.memory {
        engines.iter().map(|&engine| vec![engine]).collect()
    } else {
        vec![engines.to_vec()]
    };
    let bar = ProgressBar::new((lines.len() * engines.len()) as u64);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut records = Vec::new();
    let mut memory = Vec::new();
    for group in groups {
        let Outcome { records: of_group, loaded_kib } =
            supervisor::run(&group, lines, &settings, |record| {
                bar.set_message(record.id.clone());
                bar.inc(1);
            })?;
        let names: Vec<String> = group.iter().map(ToString::to_string).collect();
        let peak_kib = of_group.iter().map(|record| record.peak_kib).max().unwrap_or(0);
        memory.push(Memory { name: names.join(" and "), loaded_kib, peak_kib });
        records.extend(of_group);
    }
    bar.finish_and_clear();
    Ok((records, memory))
}

fn report(args: &MaskbenchArgs, engines: &[EngineId], records: &[Record]) -> Result<()> {
    let summaries: Vec<Summary> = engines.iter().map(|&engine| Summary::new(engine, records)).collect();
    println!("{}", table::overview(&summaries));
    let common = match *engines {
        [ours, theirs] => Some(([ours, theirs], Common::new([ours, theirs], records))),
        _ => None,
    };
    if let Some((pair, common)) = &common {
        println!(
            "Common: {} valid instances that both let pass, {} masks; {} schemas that both compile\n",
            common.instances,
            common.mask[0].len(),
            common.schemas
        );
        println!("{}", table::comparison(*pair, common));
    }
    if let Some(path) = &args.failures {
        let text: Vec<String> = engines.iter().map(|&engine| failures::render(engine, records)).collect();
        std::fs::write(path, text.join("\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(folder) = &args.record {
        let file_name = |path: &PathBuf| {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        let circumstances = Circumstances {
            pack: file_name(&args.pack),
            tokenizer: file_name(&args.tokenizer),
            sample: args.sample,
            seed: args.seed,
            caches: if args.cold { "dropped" } else { "kept" },
            clock: match args.clock {
                Clock::Wall => "wall",
                Clock::Cpu => "cpu",
            },
        };
        let pair = common.as_ref().map(|(pair, common)| (*pair, common));
        let csv = record_file::append(folder, &circumstances, &summaries, pair)?;
        let curves: Vec<Curve<'_>> = match &common {
            Some((pair, common)) => pair
                .iter()
                .zip(&common.mask)
                .map(|(engine, times)| Curve { label: engine.label().to_owned(), times })
                .collect(),
            None => summaries
                .iter()
                .map(|s| Curve { label: s.engine.label().to_owned(), times: &s.mask })
                .collect(),
        };
        let plot = folder.join(format!("{}-maskbench.svg", host::today()));
        plot::percentiles(&plot, "Time of one mask, same tokens for all", &curves)?;
        println!("written: {}, {}\n", csv.display(), plot.display());
    }
    Ok(())
}

/// The memory of the processes of a group of engines. With engines together in one, it is the sum of both.
struct Memory {
    name: String,
    /// Before and after loading the engines, KiB.
    loaded_kib: (u64, u64),
    peak_kib: u64,
}

fn print_memory(groups: &[Memory]) {
    let mut table = Table::new(["resident memory, MiB", "before the engine", "engine loaded", "peak"]);
    for Memory { name, loaded_kib, peak_kib } in groups {
        let cells = [loaded_kib.0, loaded_kib.1, *peak_kib].map(|kib| (kib / 1024).to_string());
        table.row(std::iter::once(name.clone()).chain(cells));
    }
    println!("{}", table.render());
}
