//! `tools`: answers of agents, token by token.
//!
//! Every answer is followed with the structure of the tools that were offered with it. Mask times are kept by
//! the place where a token begins: free text, a call's beginning, its arguments, its end. Sets of tools are
//! compiled cold, a second time, and after some of them changed.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use grammask::{Compiler, StructuralTag, StructuralTagOptions, TokenMask};
use regex::Regex;

use crate::engine::{self, Engine, EngineId, Source, llguidance};
use crate::host;
use crate::report::statistics::Distribution;
use crate::report::table::{Table, microseconds};
use crate::run::clock::Stopwatch;
use crate::run::pack::Choice;
use crate::run::protocol::Clock;
use crate::run::replay::is_allowed;
use crate::tools::{
    CallFormat, Judgement, Mutation, Place, Tool, Trace, Words, judge, lark, read, structural_tag,
};

/// Arguments of `tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Packs of traces.
    #[arg(long, required = true)]
    pack: Vec<PathBuf>,
    /// A `tokenizer.json`, or the folder that holds it, for Llama's format.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// The formats.
    #[arg(long, default_values = ["llama", "harmony"])]
    format: Vec<CallFormat>,
    /// The engines.
    #[arg(long, default_values_t = [EngineId::Grammask, EngineId::Llguidance])]
    engine: Vec<EngineId>,
    /// At most this many traces of each pack, 0 for all.
    #[arg(long, default_value_t = 0)]
    sample: usize,
    /// Seed of the sample and of the order.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Only traces in whose ids this matches.
    #[arg(long)]
    only: Option<Regex>,
    /// Sizes of the sets of tools that are compiled.
    #[arg(long, default_values_t = [50, 400])]
    tools: Vec<usize>,
    /// How often each set is compiled.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Wrong versions of this many traces of each pack are put to the naive recogniser, which is slow; 0 for all.
    #[arg(long, default_value_t = 20)]
    judged: usize,
    /// Time on the wall, or, on a machine that is not quiet, time on the core.
    #[arg(long, default_value = "wall")]
    clock: Clock,
    /// The core to measure on [default: the last one].
    #[arg(long)]
    core: Option<usize>,
}

/// Checks, measures and prints the tables.
pub(crate) fn run(args: &ToolsArgs) -> Result<()> {
    host::pin(args.core.or_else(host::quiet_core));
    let choice = Choice { only: args.only.clone(), sample: args.sample, seed: args.seed };
    let packs = args.pack.iter().map(|path| {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok((name.split('.').next().unwrap_or_default().to_owned(), read(path, &choice)?))
    });
    let packs: Vec<(String, Vec<Trace>)> = packs.collect::<Result<_>>()?;
    println!("{}, {}\n", host::processor(), host::today());
    for &format in &args.format {
        let words = Words::load(format, &args.tokenizer, args.end.as_deref())?;
        let mut engines = args
            .engine
            .iter()
            .map(|&id| -> Result<Box<dyn Engine>> {
                Ok(match id {
                    EngineId::Llguidance => llguidance::engine(&words.environment)?,
                    id => engine::over(id, &words.vocabulary),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        println!("## {format:?}\n");
        for (pack, traces) in &packs {
            judge_traces(&words, traces, args, pack)?;
        }
        traces_table(&words, &packs, &mut engines, args)?;
        sets_table(&words, &packs, &mut engines, args)?;
    }
    Ok(())
}

/// Every wrong version of a trace dies where the naive recogniser says.
fn judge_traces(words: &Words, traces: &[Trace], args: &ToolsArgs, pack: &str) -> Result<()> {
    let compiler = Compiler::builder(words.vocabulary.clone()).build();
    let options = StructuralTagOptions::default();
    let most = if args.judged == 0 { traces.len() } else { args.judged };
    let (mut wrong, mut still_valid) = (0, 0);
    for trace in traces.iter().take(most) {
        // One tool more than the call's is enough to get lost in, and keeps the recogniser's time bounded.
        let tag = structural_tag(words.format, &few_tools(trace));
        let grammar = StructuralTag::parse(&tag, &options)?.grammar(&options)?;
        let compiled = compiler.grammar(&grammar)?;
        let whole = judge(words, &compiled, &grammar, trace.text(words.format))?;
        let complete = Judgement { read: whole.0.of, of: whole.0.of, is_complete: true };
        ensure!(whole == (complete, complete), "{}: {whole:?}", trace.id);
        for mutation in Mutation::ALL {
            let Some(text) = trace.mutated(words.format, mutation) else { continue };
            let (ours, naive) = judge(words, &compiled, &grammar, &text)?;
            ensure!(ours == naive, "{} {mutation:?}: {ours:?}, and the recogniser {naive:?}", trace.id);
            match naive.read < naive.of {
                true => wrong += 1,
                // A number where any will do, say.
                false => still_valid += 1,
            }
        }
    }
    println!(
        "{pack}: {wrong} wrong versions of {} traces die where the naive recogniser says; {still_valid} are right \
         all the same",
        traces.len().min(most)
    );
    Ok(())
}

/// The tools that the trace calls, and as many again.
fn few_tools(trace: &Trace) -> Vec<Tool> {
    let called = |tool: &Tool| trace.calls_tool(&tool.name);
    let mut tools: Vec<Tool> = trace.tools.iter().filter(|tool| called(tool)).cloned().collect();
    let others = trace.tools.iter().filter(|tool| !called(tool)).take(tools.len().max(1));
    tools.extend(others.cloned());
    tools
}

/// Times of one engine, by place.
#[derive(Default)]
struct ToolTimes {
    compile: Vec<u64>,
    first_mask: Vec<u64>,
    masks: [Vec<u64>; Place::ALL.len()],
    commits: Vec<u64>,
    passed: usize,
    refused: usize,
    stuck: Vec<String>,
}

fn traces_table(
    words: &Words,
    packs: &[(String, Vec<Trace>)],
    engines: &mut [Box<dyn Engine>],
    args: &ToolsArgs,
) -> Result<()> {
    let mut table = Table::new([
        "microseconds",
        "engine",
        "passed",
        "refused",
        "compile p50",
        "p99",
        "first mask p50",
        "p99",
        "free text p50",
        "p99",
        "tag p50",
        "p99",
        "arguments p50",
        "p99",
        "end p50",
        "p99",
        "all p50",
        "p99",
        "max",
        "commit p50",
    ]);
    for (pack, traces) in packs {
        let mut times: Vec<ToolTimes> = engines.iter().map(|_| ToolTimes::default()).collect();
        engines.iter_mut().for_each(|engine| engine.drop_caches());
        for (turn, trace) in traces.iter().enumerate() {
            let tag = structural_tag(words.format, &trace.tools);
            let lark = lark(words.format, &trace.tools);
            let tokens = words.encode(trace.text(words.format)).with_context(|| trace.id.clone())?;
            let count = engines.len();
            for at in (0..count).map(|at| (at + turn) % count) {
                let source = Source::Structure { tag: &tag, lark: &lark };
                let stuck =
                    follow(engines[at].as_mut(), source, &tokens, words.end, &mut times[at], args.clock);
                if let Err(error) = stuck {
                    ensure!(engines[at].id() != EngineId::Grammask, "{}: {error}", trace.id);
                    times[at].stuck.push(format!("{}: {error:#}", trace.id));
                }
            }
        }
        for (engine, times) in engines.iter().zip(times) {
            for stuck in times.stuck.iter().take(3) {
                println!("{}: {stuck}", engine.id());
            }
            let all: Distribution = times.masks.iter().flatten().copied().collect();
            let mut cells = vec![
                format!("{pack}, {} traces", traces.len()),
                engine.id().to_string(),
                times.passed.to_string(),
                times.refused.to_string(),
            ];
            let distributions = [times.compile, times.first_mask].into_iter().chain(times.masks);
            for times in distributions {
                let times: Distribution = times.into_iter().collect();
                cells.extend([50.0, 99.0].map(|percent| microseconds(times.percentile(percent))));
            }
            cells.extend([50.0, 99.0, 100.0].map(|percent| microseconds(all.percentile(percent))));
            let commits: Distribution = times.commits.into_iter().collect();
            cells.push(microseconds(commits.percentile(50.0)));
            table.row(cells);
        }
    }
    println!("\n{}", table.render());
    Ok(())
}

/// One trace: compile, then mask, look-up and commit for every token, and the end.
fn follow(
    engine: &mut dyn Engine,
    source: Source<'_>,
    tokens: &[(u32, Place)],
    end: u32,
    times: &mut ToolTimes,
    clock: Clock,
) -> Result<()> {
    let start = Stopwatch::start(clock);
    if let Err(error) = engine.compile(source) {
        times.refused += 1;
        bail!("refused: {error}");
    }
    times.compile.push(start.nanoseconds());
    let mut mask = TokenMask::new(engine.mask_len());
    let start = Stopwatch::start(clock);
    engine.start().map_err(anyhow::Error::msg)?;
    engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
    times.first_mask.push(start.nanoseconds());
    for (at, &(token, place)) in tokens.iter().enumerate() {
        if at > 0 {
            let start = Stopwatch::start(clock);
            engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
            times.masks[place as usize].push(start.nanoseconds());
        }
        ensure!(is_allowed(&mask, token), "token {at} of {} is not allowed", tokens.len());
        let start = Stopwatch::start(clock);
        engine.commit(token).map_err(anyhow::Error::msg)?;
        times.commits.push(start.nanoseconds());
    }
    engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
    ensure!(is_allowed(&mask, end), "the end is not allowed");
    times.passed += 1;
    Ok(())
}

/// A set of tools, and an answer that calls some of them.
struct Set {
    tools: Vec<Tool>,
    answer: String,
}

/// Distinct tools that some trace calls, and an answer that calls every seventh.
fn set(format: CallFormat, packs: &[(String, Vec<Trace>)], skip: usize, count: usize) -> Option<Set> {
    let free = "Let me look this up for you. The weather report from 2024 says nothing about < or > signs; ";
    let mut names = std::collections::HashSet::new();
    let mut set = Set { tools: Vec::new(), answer: String::new() };
    for trace in packs.iter().flat_map(|(_, traces)| traces) {
        let Some((name, arguments)) = trace.first_call() else { continue };
        let Some(tool) = trace.tools.iter().find(|tool| tool.name == name) else { continue };
        if !names.insert(name) || names.len() <= skip {
            continue;
        }
        if set.tools.len().is_multiple_of(7) {
            let call = match format {
                CallFormat::Llama => format!("{free}<function={name}>{arguments}</function>"),
                CallFormat::Harmony => format!(
                    "{}<|channel|>analysis<|message|>{free}<|end|><|start|>assistant<|channel|>commentary \
                     to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>",
                    if set.answer.is_empty() { "" } else { "<|start|>assistant" },
                ),
            };
            set.answer.push_str(&call);
        }
        set.tools.push(tool.clone());
        if set.tools.len() == count {
            return Some(set);
        }
    }
    None
}

/// The sources of a set in the engines' dialects.
fn sources(format: CallFormat, tools: &[Tool]) -> (String, String) {
    (structural_tag(format, tools), lark(format, tools))
}

fn sets_table(
    words: &Words,
    packs: &[(String, Vec<Trace>)],
    engines: &mut [Box<dyn Engine>],
    args: &ToolsArgs,
) -> Result<()> {
    let mut table = Table::new([
        "microseconds",
        "engine",
        "compile, nothing known",
        "same tools again",
        "others of known tools",
        "half of them new",
        "one of them new",
        "first mask",
        "cold mask p50",
        "p99",
        "max",
        "idle time used: mask p50",
        "p99",
        "max",
        "idle work a token, mean",
        "p99",
        "warm mask p50",
        "p99",
        "max",
        "warm free text p50",
        "tag p50",
        "arguments p50",
        "end p50",
    ]);
    for &count in &args.tools {
        let Some(set) = set(words.format, packs, 0, count) else {
            println!("the packs hold fewer than {count} tools");
            continue;
        };
        let tokens = words.encode(&set.answer)?;
        let other = self::set(words.format, packs, count, count / 2).map_or_else(Vec::new, |set| set.tools);
        let mut shuffled = set.tools.clone();
        shuffled.rotate_left(1);
        shuffled.pop();
        let half: Vec<Tool> = set.tools.iter().skip(other.len()).chain(&other).cloned().collect();
        let one: Vec<Tool> = half.iter().skip(1).cloned().chain([renamed(&half[0])]).collect();
        let variants =
            [&set.tools, &set.tools, &shuffled, &half, &one].map(|tools| sources(words.format, tools));
        let mut results: Vec<SetTimes> = engines.iter().map(|_| SetTimes::default()).collect();
        for round in 0..args.rounds {
            let turns = engines.len();
            for at in (0..turns).map(|at| (at + round) % turns) {
                let engine = engines[at].as_mut();
                measure_set(engine, &variants, &tokens, &mut results[at], args.clock)
                    .with_context(|| format!("{count} tools, {}", engine.id()))?;
            }
        }
        for (engine, times) in engines.iter().zip(results) {
            let mut cells = vec![format!("{count} tools, {} tokens", tokens.len()), engine.id().to_string()];
            cells.extend(times.cells());
            table.row(cells);
        }
    }
    println!("{}", table.render());
    Ok(())
}

fn renamed(tool: &Tool) -> Tool {
    let mut tool = tool.clone();
    tool.name.push_str("_new");
    if let Some(properties) = tool.schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        properties.insert("something_new".to_owned(), serde_json::json!({"type": "string", "maxLength": 7}));
    }
    tool
}

#[derive(Default)]
struct SetTimes {
    compile: [Vec<u64>; 5],
    first_mask: Vec<u64>,
    cold: Vec<u64>,
    /// Masks of a cold grammar where the time between two tokens was used, and that time.
    idle: Vec<u64>,
    idle_work: Vec<u64>,
    warm: [Vec<u64>; Place::ALL.len()],
}

impl SetTimes {
    fn cells(self) -> Vec<String> {
        let median =
            |times: Vec<u64>| microseconds(times.into_iter().collect::<Distribution>().percentile(50.0));
        let warm: Distribution = self.warm.iter().flatten().copied().collect();
        let cold: Distribution = self.cold.into_iter().collect();
        let mut cells: Vec<String> = self.compile.into_iter().map(median).collect();
        cells.push(median(self.first_mask));
        let [idle, idle_work] =
            [self.idle, self.idle_work].map(|times| times.into_iter().collect::<Distribution>());
        let points =
            |times: &Distribution| [50.0, 99.0, 100.0].map(|percent| microseconds(times.percentile(percent)));
        cells.extend(points(&cold));
        cells.extend(points(&idle));
        cells.extend([microseconds(idle_work.mean()), microseconds(idle_work.percentile(99.0))]);
        cells.extend(points(&warm));
        cells.extend(self.warm.into_iter().map(median));
        cells
    }
}

/// How often an answer is walked warm.
const WARM_PASSES: usize = 5;

/// Masks that are computed between two tokens where idle time is used.
const IDLE_MASKS: usize = 16;

fn measure_set(
    engine: &mut dyn Engine,
    variants: &[(String, String)],
    tokens: &[(u32, Place)],
    times: &mut SetTimes,
    clock: Clock,
) -> Result<()> {
    engine.drop_caches();
    for (at, (tag, lark)) in variants.iter().enumerate() {
        let start = Stopwatch::start(clock);
        engine.compile(Source::Structure { tag, lark }).map_err(anyhow::Error::msg)?;
        times.compile[at].push(start.nanoseconds());
    }
    let (tag, lark) = &variants[0];
    walk_idle(engine, Source::Structure { tag, lark }, tokens, times, clock)?;
    engine.drop_caches();
    engine.compile(Source::Structure { tag, lark }).map_err(anyhow::Error::msg)?;
    engine.keep_copy();
    let mut mask = TokenMask::new(engine.mask_len());
    for pass in 0..=WARM_PASSES {
        let start = Stopwatch::start(clock);
        engine.start().map_err(anyhow::Error::msg)?;
        engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
        if pass == 0 {
            times.first_mask.push(start.nanoseconds());
        }
        for (index, &(token, place)) in tokens.iter().enumerate() {
            if index > 0 {
                let start = Stopwatch::start(clock);
                engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
                let time = start.nanoseconds();
                match pass {
                    0 => times.cold.push(time),
                    _ => times.warm[place as usize].push(time),
                }
            }
            ensure!(is_allowed(&mask, token), "token {index} of {} is not allowed", tokens.len());
            engine.commit(token).map_err(anyhow::Error::msg)?;
        }
    }
    Ok(())
}

/// Walks an answer through a cold grammar. Between two tokens there is idle time, as while a model computes logits: what
/// the engine does in it is timed apart.
fn walk_idle(
    engine: &mut dyn Engine,
    source: Source<'_>,
    tokens: &[(u32, Place)],
    times: &mut SetTimes,
    clock: Clock,
) -> Result<()> {
    engine.drop_caches();
    engine.compile(source).map_err(anyhow::Error::msg)?;
    engine.start().map_err(anyhow::Error::msg)?;
    let mut mask = TokenMask::new(engine.mask_len());
    for (index, &(token, _)) in tokens.iter().enumerate() {
        let start = Stopwatch::start(clock);
        engine.mask(&mut mask).map_err(anyhow::Error::msg)?;
        if index > 0 {
            times.idle.push(start.nanoseconds());
        }
        ensure!(is_allowed(&mask, token), "token {index} of {} is not allowed", tokens.len());
        let start = Stopwatch::start(clock);
        engine.idle(IDLE_MASKS).map_err(anyhow::Error::msg)?;
        times.idle_work.push(start.nanoseconds());
        engine.commit(token).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}
