//! `trace`: one instance of one schema, token by token, for looking into a slow or wrong mask.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use grammask::TokenMask;
use regex::Regex;

use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{self, Backend, EngineId, Source};
use crate::host;
use crate::report::table::microseconds;
use crate::run::clock::Stopwatch;
use crate::run::pack::{self, Choice, Item};
use crate::run::protocol::Clock;
use crate::run::python::dumps;
use crate::run::replay::is_allowed;

/// Arguments of `trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The pack.
    #[arg(long)]
    pack: PathBuf,
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// The schema's id.
    #[arg(long)]
    id: String,
    /// Which of its instances.
    #[arg(long, default_value_t = 0)]
    test: usize,
    /// The engine.
    #[arg(long, default_value = "grammask")]
    engine: EngineId,
    /// The parser backend of our own engine.
    #[arg(long, default_value = "earley")]
    backend: Backend,
    /// Time on the core, or on the wall.
    #[arg(long, default_value = "cpu")]
    clock: Clock,
    /// Only masks at least this many microseconds slow.
    #[arg(long, default_value_t = 0.0)]
    slower_than: f64,
}

/// Prints a line for each token: position, time of the mask and of the commit, tokens allowed, the token.
pub(crate) fn run(args: &TraceArgs) -> Result<()> {
    host::pin(host::quiet_core());
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let only = Some(Regex::new(&format!("^{}$", regex::escape(&args.id)))?);
    let lines = pack::read(&args.pack, &Choice { only, sample: 0, seed: 0 })?;
    let line = lines.first().with_context(|| format!("the pack has no schema {:?}", args.id))?;
    let item: Item = serde_json::from_str(&line.text)?;
    let instance =
        item.tests.get(args.test).with_context(|| format!("there are {} instances", item.tests.len()))?;
    let tokens = tokenizer.encode(&dumps(&instance.data))?;
    let mut engine = engine::load(args.engine.with(args.backend), &tokenizer, engine::KeyOrder::Declared)?;
    let mut mask = TokenMask::new(engine.mask_len());
    let schema = item.schema.to_string();
    let start = Stopwatch::start(args.clock);
    engine.compile(Source::JsonSchema(&schema)).map_err(|reason| anyhow!("refused: {reason}"))?;
    println!("compiled in {} us", microseconds(Some(start.nanoseconds() as f64 / 1000.0)));
    engine.start().map_err(anyhow::Error::msg)?;
    for (position, &token) in tokens.iter().enumerate() {
        let start = Stopwatch::start(args.clock);
        engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
        let took = start.nanoseconds() as f64 / 1000.0;
        let allowed = mask.count();
        let spelled = tokenizer.decode(token);
        if !is_allowed(&mask, token) {
            println!("{position}\t{}\t-\t{allowed}\t{spelled:?} is not allowed", microseconds(Some(took)));
            return Ok(());
        }
        let start = Stopwatch::start(args.clock);
        engine.commit(token).map_err(anyhow::Error::msg)?;
        let commit = start.nanoseconds() as f64 / 1000.0;
        if took >= args.slower_than {
            let [took, commit] = [took, commit].map(|time| microseconds(Some(time)));
            println!("{position}\t{took}\t{commit}\t{allowed}\t{spelled:?}");
        }
    }
    engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
    let end = if is_allowed(&mask, tokenizer.end) { "allowed" } else { "not allowed" };
    println!("end {end}; the instance is {}", if instance.valid { "valid" } else { "invalid" });
    Ok(())
}
