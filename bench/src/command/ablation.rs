//! `ablation`: what each part of the engine is worth. In the form of table 1 of the second XGrammar paper the parts are
//! switched on one after the other, each row with all that stand above it. In a second table each way to a mask is
//! switched off alone. All rows must give the same masks.
//!
//! A schema is measured in all rows before the next one, and each time another row begins, so that a machine that slows
//! down or warms up favours none.
//!
//! Without just-in-time compilation the masks around the beginning of a text are computed beforehand, as many
//! as `--beforehand` says and as time allows. Further masks are computed when the text reaches their states.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use grammask::tuning::{CompileOptions, MaskOptions, Toggle};
use grammask::{Compiler, Interrupt, JsonSchemaOptions, TokenId, TokenMask, Vocabulary};
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
    /// Which tables.
    #[arg(long, default_value = "both")]
    tables: Tables,
    /// A folder in which the rows are appended to a dated file.
    #[arg(long)]
    record: Option<PathBuf>,
}

/// The tables of the ablation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tables {
    /// One part after the other is switched on.
    Accumulated,
    /// Each way to a mask is switched off alone.
    Alone,
    /// The two.
    Both,
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
fn accumulated() -> Vec<Stage> {
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

/// The rows in which each way to a mask is switched off alone.
fn without_one() -> Vec<Stage> {
    let (off, whole) = (Toggle::Off, MaskOptions::default());
    let change = |change: fn(&mut MaskOptions, Toggle)| {
        let mut masks = whole;
        change(&mut masks, off);
        masks
    };
    let rows = [
        ("the whole engine", whole),
        ("without the memo", change(|masks, off| masks.memo = off)),
        ("without slices and lists", change(|masks, off| masks.slices = off)),
        ("without local parts", change(|masks, off| masks.local_parts = off)),
        ("without sharing between grammars", change(|masks, off| masks.cross_grammar = off)),
        ("without differences", change(|masks, off| masks.differences = off)),
        ("with context expansion", change(|masks, _| masks.context_expansion = Toggle::On)),
    ];
    let stage = |(name, masks)| Stage {
        name,
        automata: CompileOptions::default(),
        masks,
        beforehand: Beforehand::Costliest(0),
        paper: None,
    };
    rows.into_iter().map(stage).collect()
}

/// Measures all rows and prints the tables.
pub(crate) fn run(args: &AblationArgs) -> Result<()> {
    host::pin(host::quiet_core());
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
        for (kind, stages) in [(Tables::Accumulated, accumulated()), (Tables::Alone, without_one())] {
            if !cases.is_empty() && [kind, Tables::Both].contains(&args.tables) {
                let rows = compare(&stages, &cases, &vocabulary, args)?;
                println!("\n{name}, {} schemas\n\n{}", cases.len(), table(&rows));
                if let Some(folder) = &args.record {
                    let path = record(folder, name, kind, cases.len(), &rows, args)?;
                    println!("appended to {}", path.display());
                }
            }
        }
    }
    Ok(())
}

/// The ids of JSON-mode-eval's cases begin so.
const MODE_EVAL: &str = "JME_";

/// The heads of a row's cells.
const HEAD: [&str; 12] = [
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
];

/// Measures all rows with some cases.
fn compare(
    stages: &[Stage],
    cases: &[AblationCase],
    vocabulary: &Arc<Vocabulary>,
    args: &AblationArgs,
) -> Result<Vec<Vec<String>>> {
    let compiler = |stage: &Stage| {
        let builder = Compiler::builder(Arc::clone(vocabulary)).automata(stage.automata.clone());
        (builder.masks(stage.masks).build(), Measured::default())
    };
    let mut rows: Vec<(Compiler, Measured)> = stages.iter().map(compiler).collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let progress = ProgressBar::new(cases.len() as u64).with_style(style);
    for (number, case) in cases.iter().enumerate() {
        progress.set_message(case.id.clone());
        for row in (0..stages.len()).map(|row| (row + number) % stages.len()) {
            let (compiler, measured) = &mut rows[row];
            measure(&stages[row], case, compiler, measured, args);
        }
        let digests = || rows.iter().map(|(_, measured)| measured.digests.last().copied().flatten());
        let known = digests().flatten().next();
        for (stage, digest) in stages.iter().zip(digests()) {
            let same = digest.is_none() || digest == known;
            ensure!(same, "{}: the masks of {} differ from those of other rows", stage.name, case.id);
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(stages.iter().zip(&rows).map(|(stage, (_, measured))| row(stage, measured)).collect())
}

fn table(rows: &[Vec<String>]) -> String {
    let mut table = Table::new(HEAD);
    rows.iter().for_each(|row| table.row(row));
    table.render()
}

/// The head of the file of rows.
const RECORD_HEAD: [&str; 19] = [
    "date",
    "processor",
    "clock",
    "set",
    "schemas",
    "seed",
    "beforehand",
    "beforehand_ms",
    "table",
    "row",
    "preprocessing_mean_ms",
    "mask_mean_us",
    "mask_p50_us",
    "mask_p99_us",
    "mask_max_us",
    "ttfm_p50_us",
    "ttfm_p99_us",
    "refused",
    "cut",
];

/// Appends rows to `<folder>/<date>-ablation.csv`, which is made with a head if it is not there.
fn record(
    folder: &Path,
    set: &str,
    kind: Tables,
    schemas: usize,
    rows: &[Vec<String>],
    args: &AblationArgs,
) -> Result<PathBuf> {
    let path = folder.join(format!("{}-ablation.csv", host::today()));
    let is_new = !path.exists();
    let mut writer = csv::Writer::from_writer(OpenOptions::new().create(true).append(true).open(&path)?);
    if is_new {
        writer.write_record(RECORD_HEAD)?;
    }
    for row in rows {
        let first = [
            host::today(),
            host::processor(),
            format!("{:?}", args.clock).to_lowercase(),
            set.to_owned(),
            schemas.to_string(),
            args.seed.to_string(),
            args.beforehand.to_string(),
            args.beforehand_ms.to_string(),
            format!("{kind:?}").to_lowercase(),
        ];
        // The paper's figures are none of this run.
        let measured = HEAD.iter().zip(row).filter(|(head, _)| **head != "paper");
        let row = measured.map(|(_, cell)| cell.replace(',', ""));
        writer.write_record(first.into_iter().chain(row))?;
    }
    writer.flush()?;
    Ok(path)
}

fn read(line: &str, tokenizer: &LoadedTokenizer) -> Result<AblationCase> {
    let item: Item = serde_json::from_str(line)?;
    let texts = item.tests.iter().filter(|test| test.valid);
    let instances = texts.map(|test| tokenizer.encode(&dumps(&test.data))).collect::<Result<_>>()?;
    Ok(AblationCase { id: item.id, schema: item.schema.to_string(), instances })
}

/// Measures a schema in a row.
fn measure(
    stage: &Stage,
    case: &AblationCase,
    compiler: &Compiler,
    measured: &mut Measured,
    args: &AblationArgs,
) {
    let mut mask = TokenMask::new(compiler.vocabulary().len());
    let start = Stopwatch::start(args.clock);
    let compiled = compiler.json_schema(&case.schema, &JsonSchemaOptions::default());
    let Ok(grammar) = compiled else {
        measured.refused += 1;
        measured.digests.push(None);
        return;
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
