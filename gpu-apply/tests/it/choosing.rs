//! The best allowed token and probabilities of the allowed ones.

use fastrand::Rng;
use grammask_gpu_apply::half::{bf16, f16};
use grammask_gpu_apply::{ApplyErrorKind, Layout, Processor, Threading, argmax, softmax};

use crate::reference::{Bits, Shape, processors, random_words};

/// Logits of which some are NaN, infinite or equal.
pub(crate) fn random_logits<T: Bits>(random: &mut Rng, count: usize) -> Vec<T> {
    let wild = random.u8(..4);
    (0..count)
        .map(|_| match (random.u8(..), wild) {
            (0..16, 1..) => T::from_f32(f32::NAN),
            (16..32, 1..) => T::GONE,
            (32, 3) => T::from_f32(f32::INFINITY),
            (33..80, 1..) => T::from_f32(3.0),
            _ => T::from_f32(random.f32() * 30.0 - 25.0),
        })
        .collect()
}

/// The best token of a row, or which error it must be.
fn best(allowed: &[(u32, f32)]) -> Result<u32, ApplyErrorKind> {
    let best = allowed.iter().fold(None, |best: Option<(u32, f32)>, &(token, logit)| match best {
        Some(best) if best.1 >= logit => Some(best),
        _ => Some((token, logit)),
    });
    match best {
        None => Err(ApplyErrorKind::NothingAllowed),
        Some((_, f32::NEG_INFINITY)) => Err(ApplyErrorKind::NothingPossible),
        Some((token, _)) => Ok(token),
    }
}

fn probabilities(allowed: &[(u32, f32)], temperature: f64, columns: usize) -> Vec<f64> {
    let maximum = allowed.iter().map(|&(_, logit)| f64::from(logit)).fold(f64::NEG_INFINITY, f64::max);
    let mut weights = vec![0.0; columns];
    for &(token, logit) in allowed {
        let logit = f64::from(logit);
        weights[token as usize] =
            if logit == maximum { 1.0 } else { ((logit - maximum) / temperature).exp() };
    }
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

fn check<T: Bits>(seed: u64) {
    let mut random = Rng::with_seed(seed);
    for round in 0..200 {
        let shape = Shape::random(&mut random, if round % 10 == 0 { 5000 } else { 150 });
        let logits: Vec<T> = random_logits(&mut random, shape.logits());
        let sixteenths = [0, 1, 1, 8, 8, 15, 16][random.usize(..7)];
        let masks = random_words(&mut random, shape.words(), sixteenths);
        let rows: Vec<_> =
            shape.pairs().into_iter().map(|pair| shape.allowed(&logits, &masks, pair)).collect();
        let expected: Result<Vec<u32>, _> = rows.iter().map(|row| best(row)).collect();
        let temperature = [0.3, 1.0, 2.5][random.usize(..3)];
        let mut same_everywhere: Option<Vec<f32>> = None;
        for processor in processors() {
            let mut found = vec![0; rows.len()];
            let result = argmax(processor, &logits, &masks, &shape.layout(), &mut found);
            assert_eq!(result.map(|()| found).map_err(|error| error.kind()), expected, "{shape:?}");

            let mut found = vec![f32::NAN; rows.len() * shape.columns];
            let result = softmax(processor, &logits, &masks, &shape.layout(), temperature, &mut found);
            if let Err(error) = result {
                assert_eq!(Some(error.kind()), expected.as_ref().err().copied());
                continue;
            }
            for (row, found) in rows.iter().zip(found.chunks(shape.columns)) {
                let exact = probabilities(row, temperature.into(), shape.columns);
                for (found, exact) in found.iter().zip(exact) {
                    let difference = (f64::from(*found) - exact).abs();
                    assert!(difference <= exact * 1e-5 + 1e-35, "{found} for {exact}");
                }
            }
            assert_eq!(*same_everywhere.get_or_insert(found.clone()), found, "instructions differ");
        }
    }
}

#[test]
fn best_and_probable_as_defined() {
    check::<f32>(11);
    check::<f16>(12);
    check::<bf16>(13);
}

#[test]
fn large_batches_on_threads_as_one_by_one() {
    let mut random = Rng::with_seed(14);
    let (rows, columns) = (5, 70_001);
    let logits: Vec<f32> = random_logits(&mut random, rows * columns);
    let masks = random_words(&mut random, rows * columns.div_ceil(32), 8);
    let layout = Layout::new(rows, columns);
    let alone = Processor { threads: Threading::Caller, ..Processor::default() };
    let [mut one, mut many] = [vec![0.0; rows * columns], vec![1.0; rows * columns]];
    softmax(alone, &logits, &masks, &layout, 1.0, &mut one).unwrap();
    softmax(Processor::default(), &logits, &masks, &layout, 1.0, &mut many).unwrap();
    assert_eq!(one, many);
}

#[test]
fn errors_name_the_row() {
    let layout = Layout::new(2, 3);
    let error = argmax(Processor::default(), &[1.0_f32; 6], &[1, 0], &layout, &mut [0; 2]).unwrap_err();
    assert_eq!((error.kind(), error.row()), (ApplyErrorKind::NothingAllowed, Some(1)));
    assert_eq!(
        error.to_string(),
        "row 1: the mask allows no token; end the text or take back the last token"
    );
    let nan = [f32::NAN, 0.0, f32::NEG_INFINITY];
    let mut out = [0.0; 3];
    let error = softmax(Processor::default(), &nan, &[0b101], &Layout::new(1, 3), 1.0, &mut out).unwrap_err();
    assert_eq!(error.kind(), ApplyErrorKind::NothingPossible);
    let error = argmax(Processor::default(), &nan, &[0b111], &Layout::new(1, 3), &mut [0; 2]).unwrap_err();
    assert_eq!(error.kind(), ApplyErrorKind::Layout);
    for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let result = softmax(Processor::default(), &nan, &[0b111], &Layout::new(1, 3), temperature, &mut out);
        assert_eq!(result.unwrap_err().kind(), ApplyErrorKind::Setting);
    }
}
