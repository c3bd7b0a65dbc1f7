//! `threads`: one grammar on many threads, and many rows in one call.
//!
//! Masks are checked while they are timed: each thread compares a digest of those of every text with one that was
//! made by one thread alone, with room for everything.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use grammask::{
    BatchMatcher, CompiledGrammar, Compiler, EbnfOptions, JsonSchemaOptions, Limits, Matcher, Threads,
    TokenId, TokenMask, Vocabulary, words_for,
};
use xxhash_rust::xxh3::Xxh3;

use crate::engine::ours::vocabulary;
use crate::engine::tokenizer::LoadedTokenizer;
use crate::host;
use crate::report::table::{Table, microseconds};
use crate::workload::{self, OwnedSource, Size, Workload};

/// Arguments of `threads`.
#[derive(Debug, Args)]
pub(crate) struct ThreadsArgs {
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// The most threads.
    #[arg(long, default_value_t = 8)]
    threads: usize,
    /// Milliseconds for each row of the first table.
    #[arg(long, default_value_t = 500)]
    milliseconds: u64,
    /// How often each batch is filled.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
}

/// Measures and prints two tables.
pub(crate) fn run(args: &ThreadsArgs) -> Result<()> {
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let vocabulary = vocabulary(&tokenizer)?;
    println!("{}, {}; {} cores\n", host::processor(), host::today(), cores());
    println!("{}", on_threads(args, &tokenizer, &vocabulary)?);
    println!("{}", in_batches(args, &tokenizer, &vocabulary)?);
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

fn compile(compiler: &Compiler, workload: &Workload) -> Result<CompiledGrammar> {
    Ok(match &workload.grammar {
        OwnedSource::JsonSchema(text) => compiler.json_schema(text, &JsonSchemaOptions::default())?,
        OwnedSource::Grammar { ebnf, .. } => compiler.ebnf(ebnf, &EbnfOptions::default())?,
    })
}

fn texts(workload: &Workload, tokenizer: &LoadedTokenizer) -> Result<Vec<Vec<TokenId>>> {
    let tokens = |text: &String| -> Result<Vec<TokenId>> {
        Ok(tokenizer.encode(text)?.into_iter().filter_map(TokenId::new).collect())
    };
    workload.texts.iter().map(tokens).collect()
}

/// All masks of a text, digested.
fn follow(grammar: &CompiledGrammar, tokens: &[TokenId], mask: &mut TokenMask) -> Result<u128> {
    let mut digest = Xxh3::new();
    let mut matcher = grammar.matcher();
    for &token in tokens {
        matcher.fill_mask(mask)?;
        // All words would take longer than the mask; where they stand is part of what is digested.
        for word in mask.as_words().iter().step_by(61) {
            digest.update(&word.to_le_bytes());
        }
        matcher.accept_token(token)?;
    }
    Ok(digest.digest128())
}

/// Masks a second of each number of threads, with room and without.
fn on_threads(
    args: &ThreadsArgs,
    tokenizer: &LoadedTokenizer,
    vocabulary: &Arc<Vocabulary>,
) -> Result<String> {
    let tight =
        Limits::default().max_table_bytes(200 << 10).max_mask_bytes(64 << 10).max_pool_bytes(64 << 10);
    let mut table =
        Table::new(["thousand masks a second", "threads", "with room", "of one thread", "evicting"]);
    for workload in workload::all().into_iter().filter(|workload| workload.size == Size::Usual) {
        let texts = texts(&workload, tokenizer)?;
        let alone = compile(&Compiler::builder(Arc::clone(vocabulary)).build(), &workload)?;
        let mut mask = TokenMask::new(vocabulary.len());
        let expected: Vec<(Vec<TokenId>, u128)> = texts
            .into_iter()
            .map(|tokens| follow(&alone, &tokens, &mut mask).map(|digest| (tokens, digest)))
            .collect::<Result<_>>()?;
        let mut one = None;
        for threads in std::iter::successors(Some(1), |threads| Some(threads * 2))
            .take_while(|&threads| threads <= args.threads)
        {
            let mut rates = Vec::new();
            for limits in [Limits::default(), tight] {
                let compiler = Compiler::builder(Arc::clone(vocabulary)).limits(limits).build();
                let grammar = compile(&compiler, &workload)?;
                let length = Duration::from_millis(args.milliseconds);
                rates.push(rate(&grammar, &expected, threads, length)?);
            }
            let first = *one.get_or_insert(rates[0]);
            table.row([
                workload.name.to_owned(),
                threads.to_string(),
                format!("{:.0}", rates[0] / 1e3),
                format!("{:.2}", rates[0] / first),
                format!("{:.0}", rates[1] / 1e3),
            ]);
        }
    }
    Ok(table.render())
}

/// Masks a second that this many threads get through, all of them right.
fn rate(
    grammar: &CompiledGrammar,
    expected: &[(Vec<TokenId>, u128)],
    threads: usize,
    length: Duration,
) -> Result<f64> {
    let (barrier, masks, wrong) = (Barrier::new(threads), AtomicU64::new(0), AtomicBool::new(false));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (barrier, masks, wrong) = (&barrier, &masks, &wrong);
            scope.spawn(move || {
                let mut mask = TokenMask::new(grammar.vocabulary().len());
                barrier.wait();
                let start = Instant::now();
                for (tokens, digest) in expected.iter().cycle().skip(thread) {
                    let found = follow(grammar, tokens, &mut mask);
                    if !found.is_ok_and(|found| found == *digest) {
                        wrong.store(true, Ordering::Relaxed);
                        break;
                    }
                    masks.fetch_add(tokens.len() as u64, Ordering::Relaxed);
                    if start.elapsed() > length {
                        break;
                    }
                }
            });
        }
    });
    ensure!(!wrong.into_inner(), "{threads} threads: a mask differs from that of one thread");
    Ok(masks.into_inner() as f64 / start.elapsed().as_secs_f64())
}

/// Rows at random places of texts of several grammars.
fn rows(tokenizer: &LoadedTokenizer, vocabulary: &Arc<Vocabulary>, count: usize) -> Result<Vec<Matcher>> {
    let compiler = Compiler::builder(Arc::clone(vocabulary)).build();
    let mut sources = Vec::new();
    for workload in workload::all().into_iter().filter(|workload| workload.size == Size::Usual) {
        let grammar = compile(&compiler, &workload)?;
        for tokens in texts(&workload, tokenizer)?.into_iter().take(1) {
            sources.push((grammar.clone(), tokens));
        }
    }
    let mut rows = Vec::new();
    for row in 0..count {
        let (grammar, tokens) = &sources[row % sources.len()];
        let mut matcher = grammar.matcher();
        for &token in &tokens[..row * 7 % tokens.len()] {
            matcher.accept_token(token)?;
        }
        rows.push(matcher);
    }
    Ok(rows)
}

/// The time of a row in batches whose masks are known, and in batches of which none is.
fn in_batches(
    args: &ThreadsArgs,
    tokenizer: &LoadedTokenizer,
    vocabulary: &Arc<Vocabulary>,
) -> Result<String> {
    let stride = words_for(vocabulary.len());
    let mut table =
        Table::new(["microseconds a row", "rows", "known, p50", "best", "not known, one thread", "all"]);
    for count in [1, 16, 64, 256, 1024] {
        let mut words = vec![0u32; stride * count];
        let mut cold = Vec::new();
        for threads in [0, cores().saturating_sub(1)] {
            let threads = Arc::new(Threads::new(threads));
            threads.start()?;
            let batch = BatchMatcher::new(threads);
            // Grammars of their own, so that no mask is known.
            let mut rows = rows(tokenizer, vocabulary, count)?;
            let start = Instant::now();
            fill(&batch, &mut rows, &mut words, stride)?;
            cold.push(start.elapsed().as_nanos() as f64 / 1e3 / count as f64);
        }
        let batch = BatchMatcher::new(Arc::new(Threads::new(cores().saturating_sub(1))));
        let mut rows = rows(tokenizer, vocabulary, count)?;
        fill(&batch, &mut rows, &mut words, stride)?;
        let times = timed(args.rounds, || fill(&batch, &mut rows, &mut words, stride))?;
        table.row([
            "five grammars in turns".to_owned(),
            count.to_string(),
            microseconds(Some(times[times.len() / 2] / count as f64)),
            microseconds(Some(times[0] / count as f64)),
            microseconds(Some(cold[0])),
            microseconds(Some(cold[1])),
        ]);
    }
    Ok(table.render())
}

fn fill(batch: &BatchMatcher, rows: &mut [Matcher], words: &mut [u32], stride: usize) -> Result<()> {
    for answer in batch.fill_rows(rows, words, stride)? {
        answer?;
    }
    Ok(())
}

/// Microseconds of each of this many runs, sorted.
fn timed(rounds: usize, mut work: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_nanos() as f64 / 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}
