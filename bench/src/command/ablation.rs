//! `ablation`: what each part of the engine is worth, in the form of table 1 of the second XGrammar paper. The parts
//! are switched on one after the other, each row with all that stand above it; every row must give the masks of the
//! last one.
//!
//! Without just-in-time compilation the masks around the beginning of a text are computed beforehand, as many
//! as `--beforehand` says and as time allows. Further masks are computed when the text reaches their states.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use grammask::{
    CompileOptions, Compiler, Interrupt, JsonSchemaOptions, MaskOptions, Toggle, TokenId, TokenMask,
    Vocabulary,
};
use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;
use xxhash_rust::xxh3::Xxh3;

use crate::engine::ours::vocabulary;
use crate::engine::tokenizer::LoadedTokenizer;
use crate::host;
use crate::report::statistics::Distribution;
use crate::report::table::{Table, microseconds};
use crate::run::clock::Stopwatch;
use crate::run::pack::{self, Choice, Item};
use crate::run::protocol::Clock;
use crate::run::python::dumps;

/// Arguments of `ablation`.
#[derive(Debug, Args)]
pub(crate) struct AblationArgs {
    /// The pack.
    #[arg(long)]
    pack: PathBuf,
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// How many schemas; 0 for all.
    #[arg(long, default_value_t = 100)]
    sample: usize,
    /// Seed of the sample.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// How many cases of JSON-mode-eval (`JME_*`), which have a table of their own.
    #[arg(long, default_value_t = 40)]
    jme: usize,
    /// Masks of a grammar that are computed beforehand in the rows without just-in-time compilation.
    #[arg(long, default_value_t = 2_000)]
    beforehand: usize,
    /// Milliseconds that this may take for one grammar.
    #[arg(long, default_value_t = 2_000)]
    beforehand_ms: u64,
    /// Time on the core, or on the wall.
    #[arg(long, default_value = "cpu")]
    clock: Clock,
}

/// The engine with some of its parts.
struct Stage {
    name: &'static str,
    automata: CompileOptions,
    masks: MaskOptions,
    beforehand: Beforehand,
    /// Preprocessing in milliseconds, and a mask in microseconds, in table 1 of the paper (other hardware and schemas).
    paper: Option<[&'static str; 2]>,
}

/// How many masks are computed before the first text.
#[derive(Clone, Copy)]
enum Beforehand {
    /// As many as the arguments say.
    All,
    /// This many.
    Costliest(usize),
}

/// The measurements of one row.
#[derive(Default)]
struct Measured {
    /// Compiling, and computing masks beforehand.
    preprocessing: Vec<u64>,
    /// Grammars of which not all masks were computed beforehand that were wanted.
    cut: usize,
    first: Vec<u64>,
    masks: Vec<u64>,
    refused: usize,
    /// A digest of all masks of each schema; none where it is refused or a limit was reached.
    digests: Vec<Option<u128>>,
}

/// A schema and its instances as tokens.
struct AblationCase {
    id: String,
    schema: String,
    instances: Vec<Vec<u32>>,
}

/// The rows, from the barest engine to the whole one.
fn stages() -> Vec<Stage> {
    let off = Toggle::Off;
    let mut automata = CompileOptions::default()
        .literal_tries(off)
        .inlining(off)
        .epsilon_removal(off)
        .prefix_merging(off)
        .suffix_merging(off)
        .shared_rules(off)
        .determinization(off)
        // Every bounded repeat is written out, as long as the whole stays below the limit on states.
        .expand_states(u32::MAX);
    // Masks that are computed beforehand have to be kept.
    let mut masks = MaskOptions::none();
    masks.memo = Toggle::On;
    let mut beforehand = Beforehand::All;
    let mut stages = Vec::new();
    let mut push = |name, automata: &CompileOptions, masks: &MaskOptions, beforehand, paper| {
        stages.push(Stage { name, automata: automata.clone(), masks: *masks, beforehand, paper });
    };
    push("baseline: Earley, masks beforehand", &automata, &masks, beforehand, Some(["4,960.04", "45.50"]));
    automata = CompileOptions::default().expand_states(u32::MAX);
    push("+ inlining, merging, no empty edges", &automata, &masks, beforehand, None);
    masks.slices = Toggle::On;
    push("+ slices and lists", &automata, &masks, beforehand, None);
    masks.local_parts = Toggle::On;
    push("+ local parts", &automata, &masks, beforehand, None);
    // Not in the rows below: by default it is off.
    let mut with_expansion = masks;
    with_expansion.context_expansion = Toggle::On;
    push("+ context expansion", &automata, &with_expansion, beforehand, None);
    beforehand = Beforehand::Costliest(0);
    push("+ JIT", &automata, &masks, beforehand, Some(["612.07", "722.47"]));
    for (name, masks_beforehand) in [("partial JIT, K = 4", 4), ("K = 16", 16), ("K = 64", 64)] {
        push(name, &automata, &masks, Beforehand::Costliest(masks_beforehand), None);
    }
    masks.cross_grammar = Toggle::On;
    push("+ cross-grammar caching (K = 0)", &automata, &masks, beforehand, Some(["534.80", "333.75"]));
    automata = CompileOptions::default();
    push("+ repetition compression, counters", &automata, &masks, beforehand, Some(["5.37", "126.49"]));
    let mut without_memo = masks;
    without_memo.memo = Toggle::Off;
    push("the same without the memo of masks", &automata, &without_memo, beforehand, None);
    masks.differences = Toggle::On;
    push("+ differences: the whole engine", &automata, &masks, beforehand, None);
    stages
}

/// Measures all rows and prints the tables.
pub(crate) fn run(args: &AblationArgs) -> Result<()> {
    if let Some(core) = host::quiet_core() {
        host::pin(core);
    }
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let vocabulary = vocabulary(&tokenizer)?;
    let cases = |choice: &Choice| -> Result<Vec<AblationCase>> {
        pack::read(&args.pack, choice)?.iter().map(|line| read(&line.text, &tokenizer)).collect()
    };
    let mut others = cases(&Choice { only: None, sample: args.sample, seed: args.seed })?;
    others.retain(|case| !case.id.starts_with(MODE_EVAL));
    let only = Some(Regex::new(&format!("^{MODE_EVAL}"))?);
    let mode_eval = match args.jme {
        0 => Vec::new(),
        jme => cases(&Choice { only, sample: jme, seed: args.seed })?,
    };
    println!(
        "{}, {}; at most {} masks and {} ms beforehand. Paper: XGrammar 2, table 1, other hardware and schemas.",
        host::processor(),
        host::today(),
        args.beforehand,
        args.beforehand_ms
    );
    for (name, cases) in [("MaskBench", others), ("JSON-mode-eval", mode_eval)] {
        if !cases.is_empty() {
            println!("\n{name}, {} schemas\n\n{}", cases.len(), compare(&cases, &vocabulary, args)?);
        }
    }
    Ok(())
}

/// The ids of JSON-mode-eval's cases begin so.
const MODE_EVAL: &str = "JME_";

/// Measures all rows with some cases.
fn compare(cases: &[AblationCase], vocabulary: &Arc<Vocabulary>, args: &AblationArgs) -> Result<String> {
    let mut table = Table::new([
        "",
        "preprocessing mean, ms",
        "paper",
        "mask mean, us",
        "paper",
        "p50",
        "p99",
        "max",
        "TTFM p50, us",
        "p99",
        "refused",
        "cut",
    ]);
    let stages = stages();
    let mut measured = Vec::new();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let progress = ProgressBar::new(stages.len() as u64).with_style(style);
    for stage in &stages {
        progress.set_message(stage.name);
        measured.push(measure(stage, cases, vocabulary, args));
        progress.inc(1);
    }
    progress.finish_and_clear();
    let whole = measured.last().map(|last| last.digests.clone()).unwrap_or_default();
    for (stage, found) in stages.iter().zip(&measured) {
        for ((mine, reference), case) in found.digests.iter().zip(&whole).zip(cases) {
            let same = mine.is_none() || mine == reference;
            ensure!(same, "{}: the masks of {} differ from those of the whole engine", stage.name, case.id);
        }
        table.row(row(stage, found));
    }
    Ok(table.render())
}

fn read(line: &str, tokenizer: &LoadedTokenizer) -> Result<AblationCase> {
    let item: Item = serde_json::from_str(line)?;
    let texts = item.tests.iter().filter(|test| test.valid);
    let instances = texts.map(|test| tokenizer.encode(&dumps(&test.data))).collect::<Result<_>>()?;
    Ok(AblationCase { id: item.id, schema: item.schema.to_string(), instances })
}

fn measure(
    stage: &Stage,
    cases: &[AblationCase],
    vocabulary: &Arc<Vocabulary>,
    args: &AblationArgs,
) -> Measured {
    let compiler =
        Compiler::builder(Arc::clone(vocabulary)).automata(stage.automata.clone()).masks(stage.masks).build();
    let mut measured = Measured::default();
    let mut mask = TokenMask::new(vocabulary.len());
    for case in cases {
        let start = Stopwatch::start(args.clock);
        let compiled = compiler.json_schema(&case.schema, &JsonSchemaOptions::default());
        let Ok(grammar) = compiled else {
            measured.refused += 1;
            measured.digests.push(None);
            continue;
        };
        let wanted = match stage.beforehand {
            Beforehand::All => args.beforehand,
            Beforehand::Costliest(masks) => masks,
        };
        let begun = Instant::now();
        let interrupt = Interrupt::after(Duration::from_millis(args.beforehand_ms), move || begun.elapsed());
        let computed = grammar.warm_up(wanted, &interrupt);
        let is_cut = interrupt.check().is_err() || computed == wanted;
        measured.cut += usize::from(wanted > 0 && is_cut);
        let preprocessing = start.nanoseconds();
        let mut digest = Xxh3::new();
        let mut first = None;
        let mut whole = true;
        for tokens in &case.instances {
            let mut matcher = grammar.matcher();
            for &token in tokens {
                let start = Stopwatch::start(args.clock);
                let filled = matcher.fill_mask(&mut mask);
                let took = start.nanoseconds();
                // A limit ends the instance; the masks so far still count.
                whole &= filled.is_ok();
                if filled.is_err() {
                    break;
                }
                first.get_or_insert(took);
                measured.masks.push(took);
                mask.as_words().iter().for_each(|word| digest.update(&word.to_le_bytes()));
                let accepted = TokenId::new(token).map(|id| matcher.accept_token(id));
                if !matches!(accepted, Some(Ok(()))) {
                    break;
                }
            }
        }
        measured.preprocessing.push(preprocessing);
        measured.first.extend(first.map(|first| first + preprocessing));
        measured.digests.push(whole.then(|| digest.digest128()));
    }
    measured
}

fn row(stage: &Stage, measured: &Measured) -> Vec<String> {
    let distribution = |times: &[u64]| times.iter().copied().collect::<Distribution>();
    let [preprocessing, first, masks] =
        [&measured.preprocessing, &measured.first, &measured.masks].map(|times| distribution(times));
    let [paper_preprocessing, paper_mask] = stage.paper.unwrap_or(["", ""]);
    vec![
        stage.name.to_owned(),
        microseconds(preprocessing.mean().map(|time| time / 1e3)),
        paper_preprocessing.to_owned(),
        microseconds(masks.mean()),
        paper_mask.to_owned(),
        microseconds(masks.percentile(50.0)),
        microseconds(masks.percentile(99.0)),
        microseconds(masks.max()),
        microseconds(first.percentile(50.0)),
        microseconds(first.percentile(99.0)),
        measured.refused.to_string(),
        measured.cut.to_string(),
    ]
}
