//! Instructions of the hot paths, in all detail that valgrind's tools have: `cargo xtask bench gungraun`.
//! Needs valgrind, and `gungraun-runner` in the version of the crate. Continuous integration compares the
//! totals of `counts.rs`, which need valgrind alone.
//!
//! To compare two commits: `--save-baseline=before` at the one, `--baseline=before` at the other, which fails
//! where a path takes 5% more. Counts vary by some tenths of a percent, since hashes are seeded at random.
#![allow(missing_docs, reason = "gungraun's macros make items without")]

mod common;

use std::hint::black_box;
use std::sync::Arc;

use grammask::{CompiledGrammar, Compiler, Matcher, Vocabulary};
use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};

use common::{Batch, Text, compile, compiler};

fn vocabulary() -> Arc<Vocabulary> {
    Vocabulary::o200k_harmony().expect("the vocabulary is part of the program")
}

#[library_benchmark]
#[bench::unchanged(Text::warm().mask())]
#[bench::known(Text::warm())]
#[bench::cold_at_the_beginning(Text::cold())]
#[bench::cold_in_a_string(Text::cold_after(5))]
fn mask(text: Text) -> Text {
    black_box(text.mask())
}

#[library_benchmark]
#[bench::known(Text::warm())]
#[bench::cold(Text::cold())]
fn masks_of_a_text(text: Text) -> Text {
    black_box(text.masks())
}

#[library_benchmark]
#[bench::known(Text::warm())]
fn masks_as_words(text: Text) -> Text {
    black_box(text.masks_as_words())
}

#[library_benchmark]
#[bench::known(Batch::known(64))]
fn batch(batch: Batch) -> Batch {
    black_box(batch.fill())
}

#[library_benchmark]
#[bench::warm(Text::warm())]
fn accept(text: Text) -> Text {
    black_box(text.accept())
}

#[library_benchmark]
#[bench::warm(Text::warm_at_end())]
fn fork_and_roll_back(text: Text) -> (Text, Matcher) {
    black_box(text.fork_and_roll_back())
}

fn compiled_once() -> Compiler {
    let compiler = compiler();
    compile(&compiler);
    compiler
}

#[library_benchmark]
#[bench::first(compiler())]
#[bench::again(compiled_once())]
fn compile_schema(compiler: Compiler) -> (Compiler, CompiledGrammar) {
    let grammar = black_box(compile(&compiler));
    (compiler, grammar)
}

library_benchmark_group!(
    name = hot_paths,
    benchmarks = [mask, masks_of_a_text, masks_as_words, batch, accept, fork_and_roll_back, compile_schema]
);

main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::default().soft_limits([(EventKind::Ir, 5.0)])),
    library_benchmark_groups = hot_paths
);
