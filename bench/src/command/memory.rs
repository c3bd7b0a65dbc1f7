//! `memory`: what grammars hold, as they count it. The system's figures say little here, because the memory
//! for reading the tokenizer and the pack is used again. `maskbench --memory` measures processes.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use grammask::tuning::TokenSets;
use grammask::{
    CompiledGrammar, Compiler, JsonSchemaOptions, Limits, TokenId, TokenMask, Vocabulary, words_for,
};

use crate::engine::ours::vocabulary;
use crate::engine::tokenizer::LoadedTokenizer;
use crate::host;
use crate::report::table::Table;
use crate::run::pack::{self, Choice, Item};
use crate::run::python::dumps;

/// Arguments of `memory`.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
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
    #[arg(long, default_value_t = 300)]
    sample: usize,
    /// Seed of the sample.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// The bytes that all grammars may hold together, in MiB, for the second row.
    #[arg(long, default_value_t = 16)]
    budget: usize,
}

/// Measures and prints two tables.
pub(crate) fn run(args: &MemoryArgs) -> Result<()> {
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let vocabulary = vocabulary(&tokenizer)?;
    println!(
        "{}, {}\n\nThe vocabulary with its slices: {} MiB.\n",
        host::processor(),
        host::today(),
        (vocabulary.memory_usage() + TokenSets::shared(&vocabulary).memory_usage()) >> 20
    );
    let choice = Choice { only: None, sample: args.sample, seed: args.seed };
    let cases = pack::read(&args.pack, &choice)?
        .iter()
        .map(|line| read(&line.text, &tokenizer))
        .collect::<Result<Vec<_>>>()?;
    let mut table = Table::new([
        "KiB",
        "grammars",
        "tables",
        "masks",
        "masks, dense",
        "shared masks",
        "counted",
        "dropped",
        "counted a grammar, p50",
        "p99",
        "max",
    ]);
    let budget = args.budget << 20;
    let tight = Limits::default().max_total_bytes(budget).max_cache_bytes(budget / 4);
    for (name, limits) in
        [("with room".to_owned(), Limits::default()), (format!("{} MiB", args.budget), tight)]
    {
        table.row(std::iter::once(name).chain(measure(&cases, &vocabulary, limits)?));
    }
    println!("{}", table.render());
    Ok(())
}

struct MemoryCase {
    schema: String,
    instances: Vec<Vec<TokenId>>,
}

fn read(line: &str, tokenizer: &LoadedTokenizer) -> Result<MemoryCase> {
    let item: Item = serde_json::from_str(line)?;
    let tokens = |text: String| -> Result<Vec<TokenId>> {
        Ok(tokenizer.encode(&text)?.into_iter().filter_map(TokenId::new).collect())
    };
    let texts = item.tests.iter().filter(|test| test.valid);
    let instances = texts.map(|test| tokens(dumps(&test.data))).collect::<Result<_>>()?;
    Ok(MemoryCase { schema: item.schema.to_string(), instances })
}

/// Every grammar is held to the end, and every instance followed.
fn measure(cases: &[MemoryCase], vocabulary: &Arc<Vocabulary>, limits: Limits) -> Result<Vec<String>> {
    let compiler = Compiler::builder(Arc::clone(vocabulary)).limits(limits).build();
    let mut mask = TokenMask::new(vocabulary.len());
    let mut grammars: Vec<CompiledGrammar> = Vec::new();
    for case in cases {
        let Ok(grammar) = compiler.json_schema(&case.schema, &JsonSchemaOptions::default()) else { continue };
        for tokens in &case.instances {
            let mut matcher = grammar.matcher();
            for &token in tokens {
                if matcher.fill_mask(&mut mask).is_err() || matcher.accept_token(token).is_err() {
                    break;
                }
            }
        }
        grammars.push(grammar);
    }
    ensure!(!grammars.is_empty(), "no schema of the sample is compiled");
    let usages: Vec<_> = grammars.iter().map(CompiledGrammar::usage).collect();
    let mut totals: Vec<usize> = usages.iter().map(|usage| usage.table_bytes + usage.mask_bytes).collect();
    totals.sort_unstable();
    let sum = |of: fn(&grammask::tuning::GrammarUsage) -> usize| usages.iter().map(of).sum::<usize>();
    let stats = compiler.stats();
    let dense = sum(|usage| usage.masks) * words_for(vocabulary.len()) * size_of::<u32>();
    let at = |percent: usize| totals[(totals.len() - 1) * percent / 100];
    let kib = |bytes: usize| (bytes >> 10).to_string();
    Ok(vec![
        grammars.len().to_string(),
        kib(sum(|usage| usage.table_bytes)),
        kib(sum(|usage| usage.mask_bytes)),
        kib(dense),
        kib(stats.pool_bytes),
        kib(stats.budget_bytes),
        stats.budget_evicted.to_string(),
        kib(at(50)),
        kib(at(99)),
        kib(at(100)),
    ])
}
