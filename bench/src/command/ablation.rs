//! `ablation`: what each part of the engine is worth. The parts are switched on one after the other, each row with
//! all that stand above it; every row must give the masks of the last one.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use grammask::fsm::Pass;
use grammask::{
    CompileOptions, Compiler, JsonSchemaOptions, MaskOptions, Part, TokenId, TokenMask, Vocabulary,
};
use indicatif::{ProgressBar, ProgressStyle};
use xxhash_rust::xxh3::Xxh3;

use crate::engine::ours::vocabulary;
use crate::host;
use crate::report::statistics::Distribution;
use crate::report::table::{Table, microseconds};
use crate::run::clock::Stopwatch;
use crate::run::pack::{self, Choice, Item};
use crate::run::protocol::Clock;
use crate::run::python::dumps;
use crate::run::tokenizer::LoadedTokenizer;

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
    /// Time on the core, or on the wall.
    #[arg(long, default_value = "cpu")]
    clock: Clock,
}

/// The engine with some of its parts.
struct Stage {
    name: &'static str,
    automata: CompileOptions,
    masks: MaskOptions,
}

/// What one row measured.
#[derive(Default)]
struct Measured {
    compile: Vec<u64>,
    first: Vec<u64>,
    masks: Vec<u64>,
    refused: usize,
    /// A digest of all masks of each schema; none where it is refused or a limit was reached.
    digests: Vec<Option<u128>>,
}

/// A schema and its instances as tokens.
struct Case {
    id: String,
    schema: String,
    instances: Vec<Vec<u32>>,
}

/// The rows, from the barest engine to the whole one.
fn stages() -> Vec<Stage> {
    let off = Pass::Off;
    let mut automata = CompileOptions {
        literal_tries: off,
        inlining: off,
        epsilon_removal: off,
        prefix_merging: off,
        suffix_merging: off,
        determinization: off,
        // Every bounded repeat is written out, as long as the whole stays below the limit on states.
        expand_states: u32::MAX,
        ..CompileOptions::default()
    };
    let mut masks = MaskOptions::none();
    let mut stages = Vec::new();
    let mut push = |name, automata: &CompileOptions, masks: &MaskOptions| {
        stages.push(Stage { name, automata: automata.clone(), masks: *masks });
    };
    push("Earley, lazily, with interned sets", &automata, &masks);
    let default = CompileOptions::default();
    automata.inlining = default.inlining;
    push("+ inlining", &automata, &masks);
    automata = CompileOptions { expand_states: u32::MAX, ..default.clone() };
    push("+ merging of states, tries, removal of empty edges", &automata, &masks);
    automata = default;
    push("+ counted repeats", &automata, &masks);
    masks.memo = Part::On;
    push("+ memo of masks", &automata, &masks);
    masks.slices = Part::On;
    push("+ slices", &automata, &masks);
    masks.differences = Part::On;
    push("+ differences", &automata, &masks);
    masks.local_parts = Part::On;
    push("+ local parts", &automata, &masks);
    masks.cross_grammar = Part::On;
    push("+ sharing across grammars", &automata, &masks);
    stages
}

/// Measures all rows and prints the table.
pub(crate) fn run(args: &AblationArgs) -> Result<()> {
    if let Some(core) = host::quiet_core() {
        host::pin(core);
    }
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let vocabulary = vocabulary(&tokenizer)?;
    let choice = Choice { only: None, sample: args.sample, seed: args.seed };
    let cases = pack::read(&args.pack, &choice)?
        .iter()
        .map(|line| read(&line.text, &tokenizer))
        .collect::<Result<Vec<_>>>()?;
    let mut table = Table::new([
        "microseconds",
        "refused",
        "compile p50",
        "p99",
        "TTFM p50",
        "p99",
        "mask mean",
        "p50",
        "p99",
        "p99.9",
        "max",
    ]);
    let stages = stages();
    let mut measured = Vec::new();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let progress = ProgressBar::new(stages.len() as u64).with_style(style);
    for stage in &stages {
        progress.set_message(stage.name);
        measured.push(measure(stage, &cases, &vocabulary, args.clock));
        progress.inc(1);
    }
    progress.finish_and_clear();
    let whole = measured.last().map(|last| last.digests.clone()).unwrap_or_default();
    for (stage, found) in stages.iter().zip(&measured) {
        for ((mine, reference), case) in found.digests.iter().zip(&whole).zip(&cases) {
            let same = mine.is_none() || mine == reference;
            ensure!(same, "{}: the masks of {} differ from those of the whole engine", stage.name, case.id);
        }
        table.row(row(stage, found));
    }
    println!("{}, {}; {} schemas\n\n{}", host::processor(), host::today(), cases.len(), table.render());
    println!("{PAPER}");
    Ok(())
}

/// Table 1 of the second paper, for comparison: other hardware, other schemas.
const PAPER: &str = "XGrammar 2 (2026), table 1, for comparison (other hardware and schemas): preprocessing, then a mask\n\
baseline                        4,960.04 ms    45.50 us\n\
+ JIT                             612.07 ms   722.47 us\n\
+ cross-grammar caching           534.80 ms   333.75 us\n\
+ repetition state compression      5.37 ms   126.49 us";

fn read(line: &str, tokenizer: &LoadedTokenizer) -> Result<Case> {
    let item: Item = serde_json::from_str(line)?;
    let texts = item.tests.iter().filter(|test| test.valid);
    let instances = texts.map(|test| tokenizer.encode(&dumps(&test.data))).collect::<Result<_>>()?;
    Ok(Case { id: item.id, schema: item.schema.to_string(), instances })
}

fn measure(stage: &Stage, cases: &[Case], vocabulary: &Arc<Vocabulary>, clock: Clock) -> Measured {
    let compiler =
        Compiler::builder(Arc::clone(vocabulary)).automata(stage.automata.clone()).masks(stage.masks).build();
    let mut measured = Measured::default();
    let mut mask = TokenMask::new(vocabulary.len());
    for case in cases {
        let start = Stopwatch::start(clock);
        let compiled = compiler.json_schema(&case.schema, &JsonSchemaOptions::default());
        let compile = start.nanoseconds();
        let Ok(grammar) = compiled else {
            measured.refused += 1;
            measured.digests.push(None);
            continue;
        };
        let mut digest = Xxh3::new();
        let mut first = None;
        let mut whole = true;
        for tokens in &case.instances {
            let mut matcher = grammar.matcher();
            for &token in tokens {
                let start = Stopwatch::start(clock);
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
        measured.compile.push(compile);
        measured.first.extend(first.map(|first| first + compile));
        measured.digests.push(whole.then(|| digest.digest128()));
    }
    measured
}

fn row(stage: &Stage, measured: &Measured) -> Vec<String> {
    let distribution = |times: &[u64]| times.iter().copied().collect::<Distribution>();
    let (compile, first, masks) =
        (distribution(&measured.compile), distribution(&measured.first), distribution(&measured.masks));
    let mut cells = vec![stage.name.to_owned(), measured.refused.to_string()];
    for figure in [
        compile.percentile(50.0),
        compile.percentile(99.0),
        first.percentile(50.0),
        first.percentile(99.0),
        masks.mean(),
        masks.percentile(50.0),
        masks.percentile(99.0),
        masks.percentile(99.9),
        masks.max(),
    ] {
        cells.push(microseconds(figure));
    }
    cells
}
