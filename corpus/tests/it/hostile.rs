//! Hostile shapes at small sizes: nothing panics, masks hold, and what calls allocate grows no faster than it may.
//!
//! Seconds are measured by `cargo xtask hostile` alone: they depend on the machine.
#![allow(clippy::unwrap_used, reason = "a helper of a test that fails is the failure")]

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use grammask_corpus::hostile::{End, Input, MAX_POWER, Meter, SEED, Shape, power, run, shapes, vocabulary};
use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_matcher::{BuildBackend, Compiler, CompilerBuilder, Limits, Threads};

use crate::allocations::allocated;

/// Bytes allocated by the calls of each name.
#[derive(Default)]
struct Allocations(BTreeMap<&'static str, usize>);

impl Meter for Allocations {
    fn measure<T>(&mut self, name: &'static str, _: usize, run: impl FnOnce() -> T) -> T {
        let before = allocated();
        let result = run();
        *self.0.entry(name).or_default() += allocated().wrapping_sub(before);
        result
    }
}

/// Bytes below which growth is not judged: what a compiler and its tables begin with.
const FLOOR: f64 = 2e6;

/// Inputs for which time or memory grows faster than it may. A limit ends the comparison.
fn growth<B: BuildBackend>(shape: &Shape, compiler: &Compiler<B>) -> Option<String> {
    // A tenth of the smallest size; the large ones are for release builds.
    let sizes = [shape.sizes[0] / 10, shape.sizes[0] / 3].map(|size| size.max(3));
    let [small, large] = sizes.map(|size| {
        let input = shape.input(size, SEED);
        let mut allocations = Allocations::default();
        let end = run(compiler, &input, &mut allocations);
        ((input.source.len() + input.text.len()) as f64, allocations.0, end)
    });
    if small.2 != End::Answered || large.2 != End::Answered || sizes[0] == sizes[1] {
        return None;
    }
    let grown = (large.0 / small.0).max(sizes[1] as f64 / sizes[0] as f64);
    large.1.iter().find_map(|(name, &bytes)| {
        let before = *small.1.get(name)?;
        let found = power((1.0, grown), (before as f64, bytes as f64), FLOOR);
        (found > MAX_POWER)
            .then(|| format!("{}: `{name}` N^{found:.2}, {before} to {bytes} bytes", shape.name))
    })
}

/// All shapes take minutes where code is not optimised; one of this many is some seconds.
const STEP: usize = 13;

/// Checks the shapes whose names have a certain remainder: a new shape moves no other one in or out.
fn check<B: BuildBackend>(compiler: &Compiler<B>, remainder: usize) {
    let is_full = std::env::var_os("GRAMMASK_FULL_BOUNDS").is_some();
    let is_chosen = |name: &str| is_full || name.bytes().map(usize::from).sum::<usize>() % STEP == remainder;
    let shapes = shapes();
    let some = shapes.iter().filter(|shape| is_chosen(&shape.name));
    let found: Vec<String> = some.filter_map(|shape| growth(shape, compiler)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Limits that are reached soon: code that is not optimised would take seconds up to the default ones.
fn builder() -> CompilerBuilder {
    let mut automata = CompileOptions::default();
    automata.text.max_total_steps = 1_000_000;
    let limits = Limits::default().max_work_per_call(200_000).max_table_bytes(8 << 20);
    Compiler::builder(vocabulary().unwrap()).limits(limits).automata(automata)
}

#[test]
fn allocations_on_earley_grow_as_the_input_does() {
    check(&builder().build(), 2);
}

#[test]
fn allocations_on_pda_grow_as_the_input_does() {
    check(&builder().backend::<grammask_pda::Engine>().build(), 9);
}

fn source(name: &str, size: usize) -> String {
    let shapes = shapes();
    let shape = shapes.iter().find(|shape| shape.name == name).unwrap();
    shape.input(size, SEED).source
}

/// Many tags are compiled once, not first one by one and then all again: some limits are found only at the last tag.
#[test]
fn many_tags_are_compiled_once() {
    let document = source("tag/separated tags of text", 2_100);
    let options = StructuralTagOptions::default();
    let automata = CompileOptions::default().max_states(100_000);
    let compiler = || {
        let builder = Compiler::builder(vocabulary().unwrap()).automata(automata.clone());
        builder.threads(Arc::new(Threads::new(0))).build()
    };
    let read = StructuralTag::parse(&document, &options).unwrap();
    let start = allocated();
    compiler().tag(&read, &options).unwrap();
    let once = allocated() - start;
    let start = allocated();
    compiler().structural_tag(&document, &options).unwrap();
    let all = allocated() - start;
    assert!(all < once + once / 4, "{all} bytes are allocated for {once}");
}

/// The schemas behind the first ones that are too large together are not even read.
#[test]
fn tags_that_are_too_large_together_are_refused_soon() {
    let document = source("tag/separated tags of schema", 2_100);
    let automata = CompileOptions::default().max_states(40_000);
    let compiler: Compiler = Compiler::builder(vocabulary().unwrap()).automata(automata).build();
    let refused = compiler.structural_tag(&document, &StructuralTagOptions::default()).unwrap_err();
    assert!(refused.is_limit() && refused.to_string().contains("`max_states`"), "{refused}");
    let compiled = compiler.stats().schema_misses;
    assert!(compiled < 1_000, "{compiled} schemas were compiled");
}

#[test]
fn shapes_are_many_and_each_has_a_name_and_grows() {
    let shapes = shapes();
    assert!(shapes.len() >= 300, "{} shapes", shapes.len());
    let names: HashSet<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
    assert_eq!(names.len(), shapes.len(), "two shapes have one name");
    for shape in &shapes {
        assert!(shape.sizes.is_sorted(), "{}", shape.name);
        let [small, large] = [5, 10].map(|size| shape.input(size, SEED));
        let length = |input: &Input| input.source.len() + input.text.len();
        assert!(length(&small) < length(&large), "{} does not grow", shape.name);
        assert_eq!(small, shape.input(5, SEED), "{} is another each time", shape.name);
    }
}
