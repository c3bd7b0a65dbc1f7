//! Times masks on logits on the CPU, one thread: `cargo bench -p grammask-gpu-apply --bench logits`.
//!
//! Every figure is the best of several rounds, in microseconds a row. Answers are compared with a loop over
//! bits first.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that reports to its user")]

use std::hint::black_box;
use std::time::Instant;

use grammask_gpu_apply::half::{bf16, f16};
use grammask_gpu_apply::{
    Instructions, Layout, Logit, Processor, Sampling, Threading, apply_mask, argmax, sample, softmax,
};

/// Tokens of the vocabulary.
const COLUMNS: usize = 128_256;

trait Element: Logit + PartialEq + std::fmt::Debug {
    const NAME: &str;
    const GONE: Self;
    fn make(value: f32) -> Self;
}

impl Element for f32 {
    const NAME: &str = "f32";
    const GONE: Self = f32::NEG_INFINITY;
    fn make(value: f32) -> Self {
        value
    }
}

impl Element for f16 {
    const NAME: &str = "f16";
    const GONE: Self = f16::NEG_INFINITY;
    fn make(value: f32) -> Self {
        f16::from_f32(value)
    }
}

impl Element for bf16 {
    const NAME: &str = "bf16";
    const GONE: Self = bf16::NEG_INFINITY;
    fn make(value: f32) -> Self {
        bf16::from_f32(value)
    }
}

/// The loop that everyone writes first.
fn bit_by_bit<T: Element>(logits: &mut [T], words: &[u32]) {
    for (token, logit) in logits.iter_mut().enumerate() {
        if words[token / 32] >> (token % 32) & 1 == 0 {
            *logit = T::GONE;
        }
    }
}

fn words(random: &mut fastrand::Rng, percent: u8) -> Vec<u32> {
    let bit = |random: &mut fastrand::Rng| u32::from(random.u8(..100) < percent);
    (0..COLUMNS.div_ceil(32)).map(|_| (0..32).fold(0, |word, _| word << 1 | bit(random))).collect()
}

/// Microseconds of one call, the best of many.
fn time(mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let begun = Instant::now();
    while begun.elapsed().as_millis() < 150 {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    best
}

/// Masks that calls take in turns, so that no processor learns the branches of one by heart.
const MASKS: usize = 8;

fn applying<T: Element>(random: &mut fastrand::Rng) {
    let source: Vec<T> = (0..COLUMNS).map(|_| T::make(random.f32() * 30.0 - 20.0)).collect();
    let mut copy = source.clone();
    let layout = Layout::new(1, COLUMNS);
    let memory = time(|| black_box(&mut copy).copy_from_slice(black_box(&source)));
    for percent in [0, 1, 50, 99, 100] {
        let masks: Vec<Vec<u32>> = (0..MASKS).map(|_| words(random, percent)).collect();
        let mut turns = masks.iter().cycle();
        let mut words = || turns.next().map_or(&[][..], |words| words);
        let mut logits = source.clone();
        let naive = time(|| bit_by_bit(black_box(&mut logits), words()));
        print!("{:5} {percent:3}%  copy {memory:7.2}  bit by bit {naive:7.2}", T::NAME);
        for instructions in Instructions::ALL.into_iter().filter(|one| one.is_available()) {
            let processor = Processor { instructions, threads: Threading::Caller };
            let [mut logits, mut expected] = [source.clone(), source.clone()];
            let mask = words();
            apply_mask(processor, &mut logits, mask, &layout).unwrap();
            bit_by_bit(&mut expected, mask);
            assert_eq!(logits, expected);
            let ours = time(|| apply_mask(processor, black_box(&mut logits), words(), &layout).unwrap());
            print!("  {instructions:?} {ours:7.2} ({:4.1}x, {:4.2} copies)", naive / ours, ours / memory);
        }
        println!();
    }
}

/// Rows that are in no cache: many, one after the other.
fn from_memory<T: Element>(random: &mut fastrand::Rng) {
    const ROWS: usize = 256;
    let source = vec![T::make(1.0); ROWS * COLUMNS];
    let mut logits = source.clone();
    let masks: Vec<u32> = (0..ROWS).flat_map(|_| words(random, 50)).collect();
    let layout = Layout::new(ROWS, COLUMNS);
    let copy = time(|| black_box(&mut logits).copy_from_slice(black_box(&source))) / ROWS as f64;
    print!("{:5} copy {copy:7.2}", T::NAME);
    for threads in [Threading::Caller, Threading::WhenItPays] {
        let processor = Processor { threads, ..Processor::default() };
        let ours = time(|| apply_mask(processor, black_box(&mut logits), &masks, &layout).unwrap());
        let ours = ours / ROWS as f64;
        print!("  {threads:?} {ours:7.2} ({:4.2} copies)", ours / copy);
    }
    println!();
}

fn choosing<T: Element>(random: &mut fastrand::Rng) {
    // The sum of a few uniform numbers is bell-shaped, as logits are; a few stand out.
    let bell = |random: &mut fastrand::Rng| (0..6).map(|_| random.f32() * 5.0 - 2.5).sum::<f32>();
    let mut logits: Vec<T> = (0..COLUMNS).map(|_| T::make(bell(random))).collect();
    for best in 0..50 {
        logits[random.usize(..COLUMNS)] = T::make(10.0 + best as f32 / 10.0);
    }
    let words = words(random, 50);
    let layout = Layout::new(1, COLUMNS);
    let processor = Processor { threads: Threading::Caller, ..Processor::default() };
    let mut out = vec![0.0; COLUMNS];
    let best = time(|| argmax(processor, black_box(&logits), &words, &layout, &mut [0]).unwrap());
    let probabilities =
        time(|| softmax(processor, black_box(&logits), &words, &layout, 1.0, &mut out).unwrap());
    print!("{:5} argmax {best:7.2}  softmax {probabilities:7.2}", T::NAME);
    let plain = Sampling::default().temperature(0.8);
    let ways = [
        ("sample", plain),
        ("top_k 40", plain.top_k(40)),
        ("top_p 0.95", plain.top_p(0.95)),
        ("top_k 1000, top_p 0.9", plain.top_k(1000).top_p(0.9)),
    ];
    for (name, sampling) in ways {
        let once =
            time(|| sample(processor, black_box(&logits), &words, &layout, &[sampling], &mut [0]).unwrap());
        print!("  {name} {once:7.2}");
    }
    println!();
}

fn main() {
    let mut random = fastrand::Rng::with_seed(1);
    println!("one row of {COLUMNS} logits, microseconds");
    applying::<f32>(&mut random);
    applying::<f16>(&mut random);
    applying::<bf16>(&mut random);
    println!("half of the tokens allowed, 256 rows in memory, microseconds a row");
    from_memory::<f32>(&mut random);
    from_memory::<f16>(&mut random);
    from_memory::<bf16>(&mut random);
    println!("half of the tokens allowed, microseconds");
    choosing::<f32>(&mut random);
    choosing::<f16>(&mut random);
    choosing::<bf16>(&mut random);
}
