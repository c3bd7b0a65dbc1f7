//! One engine, one schema: compile it, then take every instance token by token.
//!
//! Method of the MaskBench runner: every token is mask, look-up, commit. Mask and commit are timed apart, the
//! schema's text is ready before the clock starts, and the end token has to be allowed after the last token.

use grammask::{TokenId, TokenMask};
use nix::sys::resource::{UsageWho, getrusage};

use super::clock::Stopwatch;
use super::pack::Item;
use super::protocol::{Caches, Clock, Compile, Depth, Job, Preempted, Record, Replay, Stage};
use super::python::dumps;
use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{Engine, Source};

/// A mask slower than this is checked for preemption. The question costs a system call, so the fast masks,
/// for which a lost time slice cannot hide, are spared it.
const SLOW_NANOSECONDS: u64 = 100_000;

/// A schema with its instances as tokens, made once for all engines.
#[derive(Debug)]
pub(crate) struct Case {
    id: String,
    schema: String,
    instances: Vec<Encoded>,
}

/// An instance as tokens.
#[derive(Debug)]
struct Encoded {
    valid: bool,
    tokens: Vec<u32>,
}

impl Case {
    /// Reads a line of the pack.
    pub(crate) fn read(line: &str, tokenizer: &LoadedTokenizer) -> anyhow::Result<Self> {
        let item: Item = serde_json::from_str(line)?;
        let instances = item
            .tests
            .iter()
            .map(|test| Ok(Encoded { valid: test.valid, tokens: tokenizer.encode(&dumps(&test.data))? }))
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { id: item.id, schema: item.schema.to_string(), instances })
    }
}

/// Runs one engine over a case. `enter` is called when a stage begins.
pub(crate) fn run_case(
    engine: &mut dyn Engine,
    case: &Case,
    job: &Job,
    end: u32,
    mut enter: impl FnMut(Stage),
) -> Record {
    let mut record = Record {
        engine: engine.id(),
        id: case.id.clone(),
        schema_bytes: case.schema.len(),
        instances: case.instances.len(),
        compile: Compile::Refused { reason: String::new(), after: 0 },
        replays: Vec::new(),
        peak_kib: 0,
    };
    if job.caches == Caches::Dropped {
        engine.drop_caches();
    }
    let mut mask = TokenMask::new(engine.mask_len());
    let clock = job.clock;
    enter(Stage::Compile);
    let start = Stopwatch::start(clock);
    record.compile = match compile(engine, &case.schema, &mut mask, clock) {
        Ok(done) => done,
        Err(reason) => Compile::Refused { reason, after: start.nanoseconds() },
    };
    let Compile::Done { first_mask, .. } = record.compile else { return record };
    if job.depth == Depth::FirstMask {
        return record;
    }
    enter(Stage::Instances);
    for (position, Encoded { valid, tokens }) in case.instances.iter().enumerate() {
        // The first instance goes on where the first mask was taken.
        let first = if position == 0 { Ok(Some(first_mask)) } else { engine.start().map(|()| None) };
        let mut replay = Replay { valid: *valid, tokens: tokens.len(), ..Replay::default() };
        let result = first.and_then(|first| {
            run_instance(engine, tokens, end, Timing { first, clock }, &mut mask, &mut replay)
        });
        replay.error = result.err();
        record.replays.push(replay);
    }
    record
}

fn compile(
    engine: &mut dyn Engine,
    schema: &str,
    mask: &mut TokenMask,
    clock: Clock,
) -> Result<Compile, String> {
    let switches = involuntary_switches();
    let start = Stopwatch::start(clock);
    engine.compile(Source::JsonSchema(schema))?;
    let compile = start.nanoseconds();
    // Keeping a copy for later instances is the harness's wish, not the engine's cost.
    engine.keep_copy();
    let start = Stopwatch::start(clock);
    engine.start()?;
    let matcher = start.nanoseconds();
    let start = Stopwatch::start(clock);
    engine.mask(mask)?;
    let first_mask = start.nanoseconds();
    let calm = clock == Clock::Cpu || involuntary_switches() == switches;
    let preempted = if calm { Preempted::No } else { Preempted::Yes };
    Ok(Compile::Done { compile, matcher, first_mask, preempted })
}

/// How an instance is timed.
#[derive(Clone, Copy)]
struct Timing {
    /// The time of the first mask, where it has been taken already.
    first: Option<u64>,
    clock: Clock,
}

fn run_instance(
    engine: &mut dyn Engine,
    tokens: &[u32],
    end: u32,
    Timing { first, clock }: Timing,
    mask: &mut TokenMask,
    replay: &mut Replay,
) -> Result<(), String> {
    let mut switches = involuntary_switches();
    let mut known = first;
    for (position, &token) in tokens.iter().enumerate() {
        let took = match known.take() {
            Some(took) => took,
            None => {
                let start = Stopwatch::start(clock);
                engine.mask(mask)?;
                start.nanoseconds()
            }
        };
        replay.masks.push(took);
        if clock == Clock::Wall && took > SLOW_NANOSECONDS {
            let before = std::mem::replace(&mut switches, involuntary_switches());
            if before != switches {
                replay.disturbed.push(position as u32);
            }
        }
        if !is_allowed(mask, token) {
            replay.disagreements += u32::from(engine.would_accept(token));
            return Ok(());
        }
        let start = Stopwatch::start(clock);
        let committed = engine.commit(token);
        replay.commits.push(start.nanoseconds());
        if let Err(refusal) = committed {
            replay.disagreements += 1;
            return Err(refusal);
        }
        replay.accepted += 1;
    }
    // An instance without tokens has had its first mask taken already.
    engine.mask(mask)?;
    replay.ended = is_allowed(mask, end);
    Ok(())
}

/// Whether a token's bit is set.
pub(crate) fn is_allowed(mask: &TokenMask, token: u32) -> bool {
    TokenId::new(token).is_some_and(|id| mask.contains(id))
}

/// How often the operating system took the core away from this thread.
fn involuntary_switches() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.involuntary_context_switches())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineId;

    /// Knows one text and, if told so, contradicts its own masks.
    struct OneText {
        text: Vec<u32>,
        at: usize,
        honest: bool,
    }

    impl Engine for OneText {
        fn id(&self) -> EngineId {
            EngineId::Grammask
        }
        fn mask_len(&self) -> usize {
            32
        }
        fn drop_caches(&mut self) {}
        fn compile(&mut self, _: Source<'_>) -> Result<(), String> {
            Ok(())
        }
        fn start(&mut self) -> Result<(), String> {
            self.at = 0;
            Ok(())
        }
        fn mask(&mut self, mask: &mut TokenMask) -> Result<(), String> {
            mask.as_mut_words()[0] = 1 << self.text.get(self.at).copied().unwrap_or(31);
            Ok(())
        }
        fn commit(&mut self, token: u32) -> Result<(), String> {
            assert_eq!(token, self.text[self.at]);
            self.at += 1;
            Ok(())
        }
        fn fork(&mut self) -> Result<(), String> {
            Ok(())
        }
        fn rollback(&mut self, tokens: usize) -> Result<(), String> {
            self.at -= tokens;
            Ok(())
        }
        fn would_accept(&mut self, _: u32) -> bool {
            !self.honest
        }
    }

    fn replays(honest: bool, instances: &[&[u32]]) -> Vec<Replay> {
        let mut engine = OneText { text: vec![1, 2, 3], at: 0, honest };
        let case = Case {
            id: "case".to_owned(),
            schema: "{}".to_owned(),
            instances: instances
                .iter()
                .map(|tokens| Encoded { valid: true, tokens: tokens.to_vec() })
                .collect(),
        };
        let job = Job {
            engines: vec![],
            line: String::new(),
            caches: Caches::Kept,
            depth: Depth::Instances,
            clock: Clock::Wall,
        };
        run_case(&mut engine, &case, &job, 31, |_| ()).replays
    }

    #[test]
    fn an_instance_passes_if_all_tokens_and_the_end_are_allowed() {
        let replays = replays(true, &[&[1, 2, 3], &[1, 2], &[1, 4, 3]]);
        assert!(replays[0].passed());
        assert_eq!((replays[0].masks.len(), replays[0].commits.len()), (3, 3));
        assert!(!replays[1].passed(), "the text may not end after two tokens");
        assert_eq!((replays[2].accepted, replays[2].disagreements), (1, 0));
    }

    #[test]
    fn a_matcher_that_takes_what_its_mask_forbids_is_caught() {
        assert_eq!(replays(false, &[&[1, 4]])[0].disagreements, 1);
    }
}
