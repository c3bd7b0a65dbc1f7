//! Times of the hot paths: `cargo bench -p grammask --bench hot_paths`.
#![allow(missing_docs, reason = "criterion's macros make functions without")]

mod common;

use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

use common::{Batch, Text, compile, compiler};
use grammask::Vocabulary;

fn vocabulary() -> Arc<Vocabulary> {
    Vocabulary::o200k_harmony().expect("the vocabulary is part of the program")
}

fn masks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mask");
    let mut text = Text::warm().mask();
    group.bench_function("unchanged", |bencher| bencher.iter(|| text.matcher.fill_mask(&mut text.mask)));
    group.bench_function("known, whole text", |bencher| {
        let mut text = Some(Text::warm());
        bencher.iter(|| text = text.take().map(Text::masks));
    });
    group.bench_function("known, whole text, as words", |bencher| {
        let mut text = Some(Text::warm());
        bencher.iter(|| text = text.take().map(Text::masks_as_words));
    });
    group.bench_function("cold, in a string", |bencher| {
        bencher.iter_batched(|| Text::cold_after(5), Text::mask, BatchSize::PerIteration);
    });
    group.bench_function("known, 64 rows", |bencher| {
        let mut batch = Some(Batch::known(64));
        bencher.iter(|| batch = batch.take().map(Batch::fill));
    });
    group.finish();
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("steps");
    group.bench_function("accept the whole text", |bencher| {
        let mut text = Some(Text::warm());
        bencher.iter(|| text = text.take().map(Text::accept));
    });
    let text = Text::warm_at_end();
    group.bench_function("new matcher", |bencher| bencher.iter(|| text.matcher.grammar().matcher()));
    group.bench_function("fork", |bencher| bencher.iter(|| text.matcher.fork()));
    group.bench_function("fork, and roll back half of the text", |bencher| {
        bencher.iter_batched(Text::warm_at_end, Text::fork_and_roll_back, BatchSize::PerIteration);
    });
    group.finish();
}

fn compiling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    let compiler = compiler();
    group.bench_function("schema", |bencher| {
        bencher.iter(|| {
            compiler.clear_cache();
            compile(&compiler)
        });
    });
    group.bench_function("the same schema again", |bencher| bencher.iter(|| compile(&compiler)));
    group.bench_function("schema and whole text", |bencher| {
        let mut text = Text::warm();
        bencher.iter(|| {
            compiler.clear_cache();
            let mut matcher = compile(&compiler).matcher();
            for &token in &text.tokens {
                matcher.fill_mask(&mut text.mask)?;
                matcher.accept_token(token)?;
            }
            Ok::<(), grammask::MatchError>(())
        });
    });
    group.finish();
}

criterion_group!(benches, masks, steps, compiling);
criterion_main!(benches);
