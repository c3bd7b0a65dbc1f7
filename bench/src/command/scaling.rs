//! `scaling`: how time and memory grow with the structure, or with the text. Nothing should grow faster than its
//! input: the exponents at the end of each family should be at most about 1.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use grammask::{
    BuildBackend, CompiledGrammar, Compiler, EbnfOptions, JsonSchemaOptions, RegexOptions, TokenId,
    TokenMask, pda,
};

use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{Backend, ours::vocabulary};
use crate::host;
use crate::report::statistics::Distribution;
use crate::report::table::{Table, microseconds};
use crate::run::clock::Stopwatch;
use crate::run::protocol::Clock;
use crate::workload::growing::{self, GrowingCase, Source};

/// Arguments of `scaling`.
#[derive(Debug, Args)]
pub(crate) struct ScalingArgs {
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// The parser backend.
    #[arg(long, default_value = "earley")]
    backend: Backend,
    /// Only families whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
    /// Time on the core, or on the wall.
    #[arg(long, default_value = "cpu")]
    clock: Clock,
}

/// Structures or texts of growing size.
struct Family {
    name: &'static str,
    sizes: [usize; 3],
    make: fn(usize) -> GrowingCase,
}

const FAMILIES: [Family; 9] = [
    Family { name: "enum of N strings", sizes: [500, 2_000, 8_000], make: growing::long_enum },
    Family { name: "anyOf of N objects", sizes: [25, 100, 400], make: growing::any_of },
    Family {
        name: "object of N optional properties",
        sizes: [1_000, 4_000, 16_000],
        make: growing::wide_object,
    },
    Family { name: "maxLength N", sizes: [1_024, 65_536, 4_194_304], make: growing::max_length },
    Family { name: "maxItems N", sizes: [100, 1_000, 10_000], make: growing::max_items },
    Family { name: "(?:[a-z]{2,20}-){3,N}[0-9]{4}", sizes: [100, 400, 1_600], make: growing::nested_repeats },
    Family { name: "arrays nested N deep", sizes: [625, 2_500, 10_000], make: growing::nested_arrays },
    Family {
        name: "S ::= S S or \"a\", text of N bytes",
        sizes: [1_000, 4_000, 16_000],
        make: growing::ambiguous,
    },
    Family { name: "string of N bytes", sizes: [100_000, 1_000_000, 10_000_000], make: growing::long_string },
];

/// Measures all families and prints one table.
pub(crate) fn run(args: &ScalingArgs) -> Result<()> {
    host::pin(host::quiet_core());
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let vocabulary = vocabulary(&tokenizer)?;
    let mut table = Table::new([
        "microseconds",
        "N",
        "compile",
        "TTFM",
        "cold text",
        "cold p99",
        "cold max",
        "warm p50",
        "warm p99",
        "KiB",
        "masks",
    ]);
    for family in FAMILIES.iter().filter(|family| family.name.contains(&args.only)) {
        let mut measured = Vec::new();
        for size in family.sizes {
            let case = (family.make)(size);
            let found = match args.backend {
                Backend::Earley => measure(
                    &Compiler::builder(Arc::clone(&vocabulary)).build(),
                    &case,
                    &tokenizer,
                    args.clock,
                ),
                Backend::Pda => {
                    let compiler =
                        Compiler::builder(Arc::clone(&vocabulary)).backend::<pda::Engine>().build();
                    measure(&compiler, &case, &tokenizer, args.clock)
                }
            };
            match found {
                Ok(found) => {
                    table.row([family.name.to_owned(), size.to_string()].into_iter().chain(found.cells()));
                    measured.push((size, found));
                }
                Err(error) => {
                    let reason: String = format!("{error:#}").chars().take(60).collect();
                    table.row([family.name.to_owned(), size.to_string(), reason]);
                }
            }
        }
        if let (Some((small, first)), Some((large, last))) = (measured.first(), measured.last())
            && small < large
        {
            table.row(exponents(family.name, *large as f64 / *small as f64, first, last));
        }
    }
    println!("{}, {}; {:?}\n\n{}", host::processor(), host::today(), args.backend, table.render());
    Ok(())
}

struct Measured {
    compile: u64,
    first: u64,
    cold: Distribution,
    /// All of the cold text, commits included.
    total: u64,
    warm: Distribution,
    bytes: usize,
}

impl Measured {
    fn cells(&self) -> Vec<String> {
        let time = |nanoseconds: u64| microseconds(Some(nanoseconds as f64 / 1e3));
        vec![
            time(self.compile),
            time(self.compile + self.first),
            time(self.total),
            microseconds(self.cold.percentile(99.0)),
            microseconds(self.cold.max()),
            microseconds(self.warm.percentile(50.0)),
            microseconds(self.warm.percentile(99.0)),
            (self.bytes / 1024).to_string(),
            self.cold.len().to_string(),
        ]
    }
}

/// How fast the figures grew: the power of N between the smallest and the largest size. Times are taken to be at
/// least 20 us, below which they say little.
fn exponents(name: &str, factor: f64, first: &Measured, last: &Measured) -> Vec<String> {
    let power =
        |first: f64, last: f64| format!("N^{:.2}", (last.max(20.0) / first.max(20.0)).ln() / factor.ln());
    let micros = |nanoseconds: u64| nanoseconds as f64 / 1e3;
    let percentile = |distribution: &Distribution, percent| distribution.percentile(percent).unwrap_or(0.0);
    vec![
        name.to_owned(),
        "power".to_owned(),
        power(micros(first.compile), micros(last.compile)),
        power(micros(first.compile + first.first), micros(last.compile + last.first)),
        power(micros(first.total), micros(last.total)),
        power(percentile(&first.cold, 99.0), percentile(&last.cold, 99.0)),
        power(percentile(&first.cold, 100.0), percentile(&last.cold, 100.0)),
        power(percentile(&first.warm, 50.0), percentile(&last.warm, 50.0)),
        power(percentile(&first.warm, 99.0), percentile(&last.warm, 99.0)),
        power(first.bytes as f64, last.bytes as f64),
        String::new(),
    ]
}

fn measure<B: BuildBackend>(
    compiler: &Compiler<B>,
    case: &GrowingCase,
    tokenizer: &LoadedTokenizer,
    clock: Clock,
) -> Result<Measured> {
    let tokens: Vec<TokenId> = tokenizer.encode(&case.text)?.into_iter().filter_map(TokenId::new).collect();
    let end = TokenId::new(tokenizer.end).context("the end token is out of range")?;
    let start = Stopwatch::start(clock);
    let grammar = match &case.source {
        Source::Schema(schema) => compiler.json_schema(schema, &JsonSchemaOptions::default())?,
        Source::Regex(pattern) => compiler.regex(pattern, &RegexOptions::default())?,
        Source::Ebnf(source) => compiler.ebnf(source, &EbnfOptions::default())?,
    };
    let compile = start.nanoseconds();
    let mut mask = TokenMask::new(compiler.vocabulary().len());
    let start = Stopwatch::start(clock);
    grammar.matcher().fill_mask(&mut mask)?;
    let first = start.nanoseconds();
    let start = Stopwatch::start(clock);
    let cold = follow(&grammar, &tokens, end, &mut mask, clock)?;
    let total = start.nanoseconds();
    let warm = follow(&grammar, &tokens, end, &mut mask, clock)?;
    let usage = grammar.usage();
    Ok(Measured { compile, first, cold, total, warm, bytes: usage.table_bytes + usage.mask_bytes })
}

/// The times of all masks. The text must pass, its end included.
fn follow<B: BuildBackend>(
    grammar: &CompiledGrammar<B>,
    tokens: &[TokenId],
    end: TokenId,
    mask: &mut TokenMask,
    clock: Clock,
) -> Result<Distribution> {
    let mut times = Vec::with_capacity(tokens.len() + 1);
    let mut matcher = grammar.matcher();
    for &token in tokens.iter().chain([&end]) {
        let start = Stopwatch::start(clock);
        matcher.fill_mask(mask)?;
        times.push(start.nanoseconds());
        ensure!(mask.contains(token), "token {token:?} is refused after {} tokens", matcher.steps());
        matcher.accept_token(token)?;
    }
    Ok(times.into_iter().collect())
}
