//! Masks onto logits.

use fastrand::Rng;
use grammask_gpu_apply::half::{bf16, f16};
use grammask_gpu_apply::{
    ApplyErrorKind, Layout, Padding, Processor, Rows, Threading, apply_mask, apply_mask_raw,
};

use crate::reference::{Bits, Shape, processors, random_words};

fn apply_by_definition<T: Bits>(shape: &Shape, logits: &mut [T], masks: &[u32]) {
    for (row, mask_row) in shape.pairs() {
        for token in 0..shape.columns {
            if !shape.is_allowed(masks, mask_row, token) {
                logits[shape.place(row, token)] = T::GONE;
            }
        }
    }
}

fn bits<T: Bits>(logits: &[T]) -> Vec<u32> {
    logits.iter().map(|logit| logit.bits()).collect()
}

fn check<T: Bits>(seed: u64) {
    let mut random = Rng::with_seed(seed);
    for round in 0..300 {
        let shape = Shape::random(&mut random, if round % 20 == 0 { 5000 } else { 150 });
        let logits: Vec<T> = (0..shape.logits()).map(|_| T::any(&mut random)).collect();
        let sixteenths = [0, 1, 8, 15, 16][random.usize(..5)];
        let masks = random_words(&mut random, shape.words(), sixteenths);
        let mut expected = logits.clone();
        apply_by_definition(&shape, &mut expected, &masks);
        for processor in processors() {
            let mut found = logits.clone();
            apply_mask(processor, &mut found, &masks, &shape.layout()).unwrap();
            assert_eq!(bits(&found), bits(&expected), "{processor:?} {shape:?}");
        }
    }
}

#[test]
fn every_shape_stride_and_mask_as_defined() {
    check::<f32>(1);
    check::<f16>(2);
    check::<bf16>(3);
}

#[test]
fn large_batches_on_threads_as_defined() {
    let mut random = Rng::with_seed(4);
    let (rows, columns) = (9, 256_001);
    let logits: Vec<f32> = (0..rows * columns).map(|_| f32::any(&mut random)).collect();
    let layout = Layout::new(rows, columns);
    let masks = random_words(&mut random, rows * columns.div_ceil(32), 8);
    let [mut one, mut many] = [logits.clone(), logits];
    let alone = Processor { threads: Threading::Caller, ..Processor::default() };
    apply_mask(alone, &mut one, &masks, &layout).unwrap();
    apply_mask(Processor::default(), &mut many, &masks, &layout).unwrap();
    assert_eq!(bits(&one), bits(&many));
}

#[test]
fn nan_and_infinities_keep_their_bits_where_allowed() {
    let special = [0x7fc0_1234, 0xffc0_0001, 0x7f80_0001, 0x7f80_0000, 0xff80_0000, 0x8000_0000, 1];
    let mut logits = special.map(f32::from_bits);
    apply_mask(Processor::default(), &mut logits, &[0b101_0111], &Layout::new(1, 7)).unwrap();
    let fill = 0xff80_0000;
    assert_eq!(logits.map(f32::to_bits), [0x7fc0_1234, 0xffc0_0001, 0x7f80_0001, fill, fill, fill, 1]);
}

#[test]
fn pointers_may_run_backwards() {
    let mut logits = [0.0_f32; 6];
    let layout = Layout::new(2, 3).row_stride(-3).column_stride(-1);
    #[expect(unsafe_code, reason = "the function under test takes pointers")]
    // SAFETY: from the last element on, two rows of three go back to the first.
    unsafe {
        apply_mask_raw(Processor::default(), logits.as_mut_ptr().add(5), [0b001, 0b110].as_ptr(), &layout)
    }
    .unwrap();
    let gone = f32::NEG_INFINITY;
    assert_eq!(logits, [0.0, 0.0, gone, gone, gone, 0.0]);
}

#[test]
fn one_mask_serves_all_rows() {
    let mut logits = [1.0_f32; 4];
    let layout = Layout::new(2, 2).mask_stride(0);
    apply_mask(Processor::default(), &mut logits, &[0b10], &layout).unwrap();
    assert_eq!(logits, [f32::NEG_INFINITY, 1.0, f32::NEG_INFINITY, 1.0]);
}

#[test]
fn what_cannot_be_right_is_refused_and_nothing_written() {
    let check = |layout: Layout<'_>, expected: &str| {
        let mut logits = [0.0_f32; 64];
        let error = apply_mask(Processor::default(), &mut logits, &[0; 2], &layout).unwrap_err();
        assert_eq!(error.kind(), ApplyErrorKind::Layout);
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(logits, [0.0; 64]);
    };
    check(Layout::new(2, 33), "over 66 logits and there are 64");
    check(Layout::new(3, 20), "over 3 words of masks and there are 2");
    check(Layout::new(2, 32).select(Rows::Same(&[2])), "row 2 is selected and there are 2");
    check(Layout::new(2, 32).select(Rows::Packed(&[1, 0, 1])), "row 1 is selected twice");
    check(Layout::new(2, 32).row_stride(16), "overlap");
    check(Layout::new(2, 32).row_stride(0), "overlap");
    check(Layout::new(1, 32).column_stride(0), "overlap");
    check(Layout::new(1, 32).column_stride(-1), "strides below 0");
    check(Layout::new(1, 64).mask_stride(1), "mask row has 1 words");
    check(Layout::new(usize::MAX, 1), "below 2^32");
    check(Layout::new(1 << 31, 1 << 31).row_stride(isize::MAX), "addressed");
    check(Layout::new(2, 2).row_stride(isize::MIN), "addressed");
}

#[test]
fn nothing_is_an_ordinary_amount() {
    for layout in
        [Layout::new(0, 0), Layout::new(0, 5), Layout::new(3, 0), Layout::new(3, 5).select(Rows::Same(&[]))]
    {
        apply_mask(Processor::default(), &mut [0.0_f32; 0], &[], &layout).unwrap();
    }
    let mut logits = [1.0_f32; 2];
    apply_mask(
        Processor::default(),
        &mut logits,
        &[],
        &Layout::new(1, 2).vocabulary(0).padding(Padding::Keep),
    )
    .unwrap();
    assert_eq!(logits, [1.0; 2]);
    apply_mask(Processor::default(), &mut logits, &[], &Layout::new(1, 2).vocabulary(0)).unwrap();
    assert_eq!(logits, [f32::NEG_INFINITY; 2]);
}
