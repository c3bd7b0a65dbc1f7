//! `worker`: the child process that engines run in. Started by the other subcommands, not by hand.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use grammask::TokenMask;
use nix::sys::resource::{Resource, setrlimit};

use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{self, Engine, EngineId, KeyOrder, Source};
use crate::host;
use crate::run::protocol::{Event, Job};
use crate::run::replay::{Case, run_case};

/// Arguments of `worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    #[arg(long)]
    tokenizer: PathBuf,
    #[arg(long)]
    end: Option<String>,
    #[arg(long)]
    core: Option<usize>,
    #[arg(long)]
    memory_gib: u64,
    /// The order of members.
    #[arg(long)]
    key_order: KeyOrder,
    #[arg(long)]
    engine: Vec<EngineId>,
}

/// A schema that every engine takes; running it once touches the code paths before anything is timed.
const WARM_UP: &str = r#"{"type":"object","properties":{"warm_up":{"type":"null"}},"required":["warm_up"],"additionalProperties":false}"#;

/// Answers jobs until the standard input ends.
pub(crate) fn run(args: &WorkerArgs) -> Result<()> {
    host::pin(args.core);
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let before_kib = host::memory_kib("VmRSS");
    let mut engines = Vec::new();
    for &id in &args.engine {
        let mut engine = engine::load(id, &tokenizer, args.key_order)
            .with_context(|| format!("cannot load the engine {id}"))?;
        warm_up(engine.as_mut(), &tokenizer)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("{id} does not take the warm-up schema"))?;
        engines.push(engine);
    }
    let limit = host::memory_kib("VmSize") * 1024 + (args.memory_gib << 30);
    setrlimit(Resource::RLIMIT_AS, limit, limit)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    say(&Event::Ready { before_kib, after_kib: host::memory_kib("VmRSS") })?;
    for line in std::io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let case = match Case::read(&job.line, &tokenizer) {
            Ok(case) => case,
            Err(error) => {
                say(&Event::Unreadable(format!("{error:#}")))?;
                continue;
            }
        };
        for &id in &job.engines {
            let Some(engine) = engines.iter_mut().find(|engine| engine.id() == id) else { continue };
            let mut failure = Ok(());
            let mut record = run_case(engine.as_mut(), &case, &job, tokenizer.end, |stage| {
                failure = say(&Event::Enter { engine: id, stage });
            });
            failure?;
            record.peak_kib = host::memory_kib("VmHWM");
            say(&Event::Finished(Box::new(record)))?;
        }
        say(&Event::JobDone)?;
    }
    Ok(())
}

fn warm_up(engine: &mut dyn Engine, tokenizer: &LoadedTokenizer) -> Result<(), String> {
    let tokens = tokenizer.encode(r#"{"warm_up": null}"#).map_err(|error| error.to_string())?;
    let mut mask = TokenMask::new(engine.mask_len());
    engine.compile(Source::JsonSchema(WARM_UP))?;
    engine.keep_copy();
    engine.start()?;
    for token in tokens {
        engine.mask(&mut mask)?;
        engine.commit(token)?;
    }
    engine.drop_caches();
    Ok(())
}

fn say(event: &Event) -> Result<()> {
    let mut text = serde_json::to_string(event)?;
    text.push('\n');
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(())
}
