//! `micro`: the hot path on a handful of grammars, cold and warm, and the costs that arise once a process, a
//! request or a text. Beside ours are the figures that the first XGrammar paper gives for its JSON grammar.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::Args;
use grammask::TokenMask;

use crate::command::{once, paper};
use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{self, Backend, Engine, EngineId, Source};
use crate::host;
use crate::report::statistics::Distribution;
use crate::report::table::{Table, microseconds};
use crate::run::clock::Stopwatch;
use crate::run::protocol::Clock;
use crate::run::replay::is_allowed;
use crate::workload::{self, OwnedSource, Size, Workload};

/// Arguments of `micro`.
#[derive(Debug, Args)]
pub(crate) struct MicroArgs {
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// The engines.
    #[arg(long, default_values_t = [EngineId::Grammask, EngineId::Llguidance])]
    engine: Vec<EngineId>,
    /// The parser backend of our own engine.
    #[arg(long, default_value = "earley")]
    backend: Backend,
    /// How often each grammar is compiled afresh and run.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Only workloads whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
    /// Time on the wall, or, on a machine that is not quiet, time on the core.
    #[arg(long, default_value = "wall")]
    clock: Clock,
    /// The core to measure on [default: the last one].
    #[arg(long)]
    core: Option<usize>,
}

/// Measures and prints one table.
pub(crate) fn run(args: &MicroArgs) -> Result<()> {
    host::pin(args.core.or_else(host::quiet_core));
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let mut engines = args
        .engine
        .iter()
        .map(|id| engine::load(id.with(args.backend), &tokenizer, engine::KeyOrder::Declared))
        .collect::<Result<Vec<_>>>()?;
    let mut table = Table::new([
        "microseconds",
        "engine",
        "compile p50",
        "TTFM p50",
        "cold mask p50",
        "p90",
        "p99",
        "max",
        "warm mask p50",
        "p99",
        "max",
        "warm commit p50",
        "masks",
        "KiB",
    ]);
    for workload in workload::all().iter().filter(|workload| workload.name.contains(&args.only)) {
        for engine in &mut engines {
            if workload.size == Size::Huge && engine.id() == EngineId::Llguidance {
                continue;
            }
            let mut cells = vec![workload.name.to_owned(), engine.id().to_string()];
            let measured = check(engine.as_mut(), workload, &tokenizer)
                .and_then(|()| measure(engine.as_mut(), workload, &tokenizer, args));
            match measured {
                Ok(times) => cells.extend(times.cells()),
                Err(error) => cells.push(format!("{error:#}").chars().take(60).collect()),
            }
            table.row(cells);
        }
    }
    println!("{}, {}\n\n{}", host::processor(), host::today(), table.render());
    if args.only.is_empty() {
        let ids: Vec<EngineId> = engines.iter().map(|engine| engine.id()).collect();
        println!("{}", once::figures(&tokenizer, &ids, args.rounds, args.clock)?);
    }
    if args.only.is_empty() && args.engine.contains(&EngineId::Grammask) {
        println!("{}", paper::figures(&tokenizer)?);
    }
    Ok(())
}

fn source(workload: &Workload) -> Source<'_> {
    match &workload.grammar {
        OwnedSource::JsonSchema(text) => Source::JsonSchema(text),
        OwnedSource::Grammar { ebnf, lark } => Source::Grammar { ebnf, lark },
    }
}

/// Whether the engine gives the right answers: what is slow or fast and wrong is of no interest.
fn check(engine: &mut dyn Engine, workload: &Workload, tokenizer: &LoadedTokenizer) -> Result<()> {
    engine.drop_caches();
    engine.compile(source(workload)).map_err(anyhow::Error::msg)?;
    engine.keep_copy();
    for text in &workload.texts {
        let verdict = walk(engine, &tokenizer.encode(text)?, tokenizer.end)?;
        ensure!(verdict, "refuses {:?}", text.chars().take(40).collect::<String>());
    }
    if walk(engine, &tokenizer.encode(&workload.refused)?, tokenizer.end)? {
        bail!("accepts {:?}", workload.refused);
    }
    Ok(())
}

/// Whether the text passes, its end included.
fn walk(engine: &mut dyn Engine, tokens: &[u32], end: u32) -> Result<bool> {
    let mut mask = TokenMask::new(engine.mask_len());
    engine.start().map_err(anyhow::Error::msg)?;
    for &token in tokens {
        engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
        if !is_allowed(&mask, token) {
            return Ok(false);
        }
        engine.commit(token).map_err(anyhow::Error::msg)?;
    }
    engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
    Ok(is_allowed(&mask, end))
}

#[derive(Default)]
struct MicroTimes {
    compile: Vec<u64>,
    first_mask: Vec<u64>,
    cold: Vec<u64>,
    warm: Vec<u64>,
    commit: Vec<u64>,
    bytes: Option<usize>,
}

impl MicroTimes {
    fn cells(self) -> Vec<String> {
        let masks = self.warm.len();
        let [compile, first_mask, cold, warm, commit] =
            [self.compile, self.first_mask, self.cold, self.warm, self.commit]
                .map(|times| times.into_iter().collect::<Distribution>());
        let mut cells: Vec<String> = [
            compile.percentile(50.0),
            first_mask.percentile(50.0),
            cold.percentile(50.0),
            cold.percentile(90.0),
            cold.percentile(99.0),
            cold.max(),
            warm.percentile(50.0),
            warm.percentile(99.0),
            warm.max(),
            commit.percentile(50.0),
        ]
        .into_iter()
        .map(microseconds)
        .collect();
        cells.push(masks.to_string());
        cells.push(self.bytes.map_or_else(|| "-".to_owned(), |bytes| (bytes / 1024).to_string()));
        cells
    }
}

/// Cold is the first time through a freshly compiled grammar, warm the second.
fn measure(
    engine: &mut dyn Engine,
    workload: &Workload,
    tokenizer: &LoadedTokenizer,
    args: &MicroArgs,
) -> Result<MicroTimes> {
    let clock = args.clock;
    let texts = workload.texts.iter().map(|text| tokenizer.encode(text)).collect::<Result<Vec<_>>>()?;
    let mut times = MicroTimes::default();
    let mut mask = TokenMask::new(engine.mask_len());
    let rounds = if workload.size == Size::Usual { args.rounds } else { 1 };
    for _ in 0..rounds {
        engine.drop_caches();
        let start = Stopwatch::start(clock);
        engine.compile(source(workload)).map_err(anyhow::Error::msg)?;
        let compiled = start.nanoseconds();
        engine.keep_copy();
        let start = Stopwatch::start(clock);
        engine.start().map_err(anyhow::Error::msg)?;
        engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
        times.compile.push(compiled);
        times.first_mask.push(compiled + start.nanoseconds());
        // The first mask belongs to the time to it, so the cold pass starts on a matcher that has it.
        for tokens in &texts {
            let masks = timed(engine, tokens, &mut mask, &mut Vec::new(), clock)?;
            times.cold.extend(masks);
        }
        for tokens in &texts {
            let masks = timed(engine, tokens, &mut mask, &mut times.commit, clock)?;
            times.warm.extend(masks);
        }
        times.bytes = engine.memory_usage();
    }
    Ok(times)
}

fn timed(
    engine: &mut dyn Engine,
    tokens: &[u32],
    mask: &mut TokenMask,
    commits: &mut Vec<u64>,
    clock: Clock,
) -> Result<Vec<u64>> {
    engine.start().map_err(anyhow::Error::msg)?;
    let mut masks = Vec::with_capacity(tokens.len());
    for &token in tokens {
        let start = Stopwatch::start(clock);
        engine.mask(mask).map_err(anyhow::Error::msg)?;
        masks.push(start.nanoseconds());
        let start = Stopwatch::start(clock);
        engine.commit(token).map_err(anyhow::Error::msg)?;
        commits.push(start.nanoseconds());
    }
    Ok(masks)
}
