//! Drawing one token.

use fastrand::Rng;
use grammask_gpu_apply::half::{bf16, f16};
use grammask_gpu_apply::{ApplyErrorKind, Layout, Processor, Sampling, sample};

use crate::choosing::random_logits;
use crate::reference::{Bits, Shape, processors, random_words};

/// The tokens that `top_k` and `top_p` keep, by sorting: tokens with their weights, best first. Where
/// rounding decides whether the share is reached, both answers are right; the second number is how many are
/// kept at most.
fn kept(mut allowed: Vec<(u32, f32)>, sampling: &Sampling) -> (Vec<(u32, f64)>, usize) {
    allowed.retain(|&(_, logit)| logit > f32::NEG_INFINITY);
    allowed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    if sampling.temperature == 0.0 {
        allowed.truncate(1);
    }
    if sampling.top_k > 0 {
        allowed.truncate(sampling.top_k as usize);
    }
    let Some(&(_, maximum)) = allowed.first() else { return (Vec::new(), 0) };
    let temperature = f64::from(sampling.temperature.max(1e-30));
    let weights: Vec<(u32, f64)> = allowed
        .into_iter()
        .map(|(token, logit)| {
            let distance = f64::from(logit) - f64::from(maximum);
            (token, if logit == maximum { 1.0 } else { (distance / temperature).exp() })
        })
        .collect();
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let reach = |share: f64| {
        let mut sum = 0.0;
        let enough = weights.iter().position(|(_, weight)| {
            sum += weight;
            sum >= share * total
        });
        enough.map_or(weights.len(), |last| last + 1)
    };
    let share = f64::from(sampling.top_p);
    let (least, most) = match share {
        1.0 => (weights.len(), weights.len()),
        _ => (reach(share - 1e-5), reach(share + 1e-5)),
    };
    let mut weights = weights;
    weights.truncate(most);
    (weights, least)
}

fn check<T: Bits>(seed: u64) {
    let mut random = Rng::with_seed(seed);
    for round in 0..150 {
        let shape = Shape::random(&mut random, if round % 10 == 0 { 6000 } else { 150 });
        let logits: Vec<T> = random_logits(&mut random, shape.logits());
        let sixteenths = [1, 8, 8, 15, 16][random.usize(..5)];
        let masks = random_words(&mut random, shape.words(), sixteenths);
        let rows: Vec<_> =
            shape.pairs().into_iter().map(|pair| shape.allowed(&logits, &masks, pair)).collect();
        let settings: Vec<Sampling> = rows
            .iter()
            .map(|_| {
                Sampling::default()
                    .temperature([0.0, 0.5, 1.0, 1.7][random.usize(..4)])
                    .top_k([0, 0, 1, 3, 50][random.usize(..5)])
                    .top_p([1.0, 0.999, 0.9, 0.4, 1e-6][random.usize(..5)])
                    .seed(random.u64(..))
                    .step(random.u64(..))
            })
            .collect();
        let is_possible = rows.iter().all(|row| row.iter().any(|&(_, logit)| logit > f32::NEG_INFINITY));
        let mut same_everywhere: Option<Vec<u32>> = None;
        for processor in processors() {
            let mut found = vec![u32::MAX; rows.len()];
            let result = sample(processor, &logits, &masks, &shape.layout(), &settings, &mut found);
            assert_eq!(result.is_ok(), is_possible);
            if !is_possible {
                continue;
            }
            for ((row, sampling), token) in rows.iter().zip(&settings).zip(&found) {
                let (kept, _) = kept(row.clone(), sampling);
                assert!(kept.iter().any(|(kept, _)| kept == token), "{token} of {kept:?} by {sampling:?}");
            }
            assert_eq!(*same_everywhere.get_or_insert(found.clone()), found, "instructions differ");
        }
    }
}

#[test]
fn only_what_the_limits_keep_is_drawn() {
    check::<f32>(21);
    check::<f16>(22);
    check::<bf16>(23);
}

/// Frequencies of 20,000 draws against probabilities.
fn check_distribution(sampling: Sampling, logits: &[f32], masks: &[u32]) {
    const DRAWS: u32 = 20_000;
    let layout = Layout::new(1, logits.len());
    let mut counts = vec![0_u32; logits.len()];
    for step in 0..DRAWS {
        let mut token = [0];
        sample(Processor::default(), logits, masks, &layout, &[sampling.step(step.into())], &mut token)
            .unwrap();
        counts[token[0] as usize] += 1;
    }
    let allowed = (0..logits.len()).filter(|token| masks[token / 32] >> (token % 32) & 1 == 1);
    let (kept, least) = kept(allowed.map(|token| (token as u32, logits[token])).collect(), &sampling);
    assert_eq!(kept.len(), least, "choose a share that rounding does not decide");
    let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
    for (token, weight) in kept {
        let (expected, count) = (weight / total, f64::from(std::mem::take(&mut counts[token as usize])));
        let deviation = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
        let found = count / f64::from(DRAWS);
        assert!((found - expected).abs() <= 5.0 * deviation + 1e-9, "token {token}: {found} for {expected}");
    }
    assert!(counts.iter().all(|&count| count == 0), "a token that is not kept was drawn");
}

#[test]
fn tokens_are_drawn_as_often_as_they_are_probable() {
    let mut random = Rng::with_seed(31);
    let logits: Vec<f32> = (0..40).map(|_| random.f32() * 6.0).collect();
    let masks = [0xf3a5_77d1, 0xbe];
    let plain = Sampling::default().seed(5);
    check_distribution(plain, &logits, &masks);
    check_distribution(plain.temperature(0.4), &logits, &masks);
    check_distribution(plain.top_k(4), &logits, &masks);
    check_distribution(plain.top_p(0.7), &logits, &masks);
    check_distribution(plain.temperature(2.0).top_k(12).top_p(0.8), &logits, &masks);
    let infinite = [f32::INFINITY, 3.0, f32::INFINITY, f32::NAN];
    check_distribution(plain, &infinite, &[0b1111]);
    check_distribution(plain.top_p(0.4), &infinite, &[0b1111]);
}

#[test]
fn a_seed_and_a_step_name_a_draw() {
    let logits = vec![0.0_f32; 5000];
    let masks = vec![u32::MAX; 5000_usize.div_ceil(32)];
    let draw = |seed, step| {
        let mut token = [0];
        let settings = [Sampling::default().seed(seed).step(step)];
        sample(Processor::default(), &logits, &masks, &Layout::new(1, 5000), &settings, &mut token).unwrap();
        token[0]
    };
    assert_eq!(draw(1, 2), draw(1, 2));
    assert_eq!(
        [draw(0, 0), draw(0, 1), draw(1, 0)],
        [3262, 831, 1840],
        "draws may not change between versions"
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    let plain = Sampling::default();
    let wrong = [
        plain.temperature(-1.0),
        plain.temperature(f32::NAN),
        plain.temperature(f32::INFINITY),
        plain.top_p(0.0),
        plain.top_p(1.5),
        plain.top_p(f32::NAN),
    ];
    for settings in wrong {
        let result =
            sample(Processor::default(), &[1.0_f32], &[1], &Layout::new(1, 1), &[settings], &mut [0]);
        assert_eq!(result.unwrap_err().kind(), ApplyErrorKind::Setting, "{settings:?}");
    }
    let result = sample(Processor::default(), &[1.0_f32], &[1], &Layout::new(1, 1), &[], &mut [0]);
    assert_eq!(result.unwrap_err().kind(), ApplyErrorKind::Setting);
}

#[test]
fn temperatures_near_zero_take_the_best() {
    for temperature in [1e-3, 1e-30, f32::MIN_POSITIVE / 4.0] {
        let settings = [Sampling::default().temperature(temperature).top_p(0.5)];
        let mut token = [0];
        sample(Processor::default(), &[1.0_f32, 3.0, 2.0], &[7], &Layout::new(1, 3), &settings, &mut token)
            .unwrap();
        assert_eq!(token, [1]);
    }
}
