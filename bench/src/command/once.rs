//! Costs that arise once a process, once a request and once a text: loading the vocabulary, a known schema,
//! and matchers that are made, copied and rolled back.

use anyhow::{Context, Result, ensure};
use grammask::TokenMask;

use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{self, Engine, EngineId, KeyOrder, Source};
use crate::report::statistics::Distribution;
use crate::report::table::{Table, microseconds};
use crate::run::clock::Stopwatch;
use crate::run::protocol::Clock;
use crate::run::replay::is_allowed;
use crate::workload::{self, OwnedSource};

/// The schema that is compiled again and again, and whose first text is walked.
const WORKLOAD: &str = "30 properties";

/// How often what takes less than a millisecond is done.
const TIMES: usize = 1_000;

/// How often a compiled schema is compiled again: an engine that keeps nothing takes a millisecond for each.
const AGAIN: usize = 100;

/// A table of the engines' times, each in turn.
pub(crate) fn figures(
    tokenizer: &LoadedTokenizer,
    ids: &[EngineId],
    rounds: usize,
    clock: Clock,
) -> Result<String> {
    let workload = workload::all().into_iter().find(|workload| workload.name == WORKLOAD);
    let workload = workload.context("the schema of many properties is a workload")?;
    let OwnedSource::JsonSchema(schema) = &workload.grammar else {
        anyhow::bail!("{WORKLOAD} is a schema");
    };
    let tokens = tokenizer.encode(&workload.texts[0])?;
    let mut times: Vec<OnceTimes> = ids.iter().map(|_| OnceTimes::default()).collect();
    for round in 0..rounds {
        for at in 0..ids.len() {
            let at = (at + round) % ids.len();
            times[at].measure(tokenizer, ids[at], schema, &tokens, clock)?;
        }
    }
    let mut table = Table::new([
        "microseconds, medians",
        "tokenizer.json loaded",
        "the same schema again",
        "new matcher",
        "fork",
        "half of a text rolled back",
    ]);
    for (id, times) in ids.iter().zip(times) {
        let OnceTimes { load, again, matcher, fork, rollback } = times;
        let medians = [load, again, matcher, fork, rollback]
            .map(|times| microseconds(times.into_iter().collect::<Distribution>().percentile(50.0)));
        table.row([id.to_string()].into_iter().chain(medians));
    }
    Ok(table.render())
}

#[derive(Default)]
struct OnceTimes {
    load: Vec<u64>,
    again: Vec<u64>,
    matcher: Vec<u64>,
    fork: Vec<u64>,
    rollback: Vec<u64>,
}

impl OnceTimes {
    fn measure(
        &mut self,
        tokenizer: &LoadedTokenizer,
        id: EngineId,
        schema: &str,
        tokens: &[u32],
        clock: Clock,
    ) -> Result<()> {
        let start = Stopwatch::start(clock);
        let mut engine = engine::load(id, tokenizer, KeyOrder::Declared)?;
        self.load.push(start.nanoseconds());
        let engine = engine.as_mut();
        engine.compile(Source::JsonSchema(schema)).map_err(anyhow::Error::msg)?;
        for _ in 0..AGAIN {
            let start = Stopwatch::start(clock);
            engine.compile(Source::JsonSchema(schema)).map_err(anyhow::Error::msg)?;
            self.again.push(start.nanoseconds());
        }
        engine.keep_copy();
        // The first matcher is the one that compiling made, in engines that make one.
        engine.start().map_err(anyhow::Error::msg)?;
        for _ in 0..TIMES {
            let start = Stopwatch::start(clock);
            engine.start().map_err(anyhow::Error::msg)?;
            self.matcher.push(start.nanoseconds());
        }
        read(engine, tokens)?;
        for _ in 0..TIMES {
            let start = Stopwatch::start(clock);
            engine.fork().map_err(anyhow::Error::msg)?;
            self.fork.push(start.nanoseconds());
        }
        let half = tokens.len() / 2;
        for _ in 0..AGAIN {
            let start = Stopwatch::start(clock);
            engine.rollback(half).map_err(anyhow::Error::msg)?;
            self.rollback.push(start.nanoseconds());
            read(engine, &tokens[tokens.len() - half..])?;
        }
        Ok(())
    }
}

/// Commits tokens, each of which the mask must allow.
fn read(engine: &mut dyn Engine, tokens: &[u32]) -> Result<()> {
    let mut mask = TokenMask::new(engine.mask_len());
    for &token in tokens {
        engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
        ensure!(is_allowed(&mask, token), "{} does not allow token {token}", engine.id());
        engine.commit(token).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}
