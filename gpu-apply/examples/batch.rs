//! A batch in which some texts are constrained: masks onto logits, and the tokens that are chosen.

use grammask_gpu_apply::{Layout, Processor, Rows, Sampling, apply_mask, sample, softmax};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three texts; the model has five logits for each, and the tokenizer four tokens: the fifth is padding.
    let mut logits =
        [[1.0_f32, 4.0, 2.0, 3.0, 9.0], [4.0, 1.0, 2.0, 3.0, 0.0], [3.0, 2.0, 4.0, 1.0, 0.0]].concat();
    let processor = Processor::default();

    // The first text and the last follow a structure. Their masks come one after the other, and say of row 0 and of row
    // 2 which tokens may come next.
    let masks = [0b0101, 0b0011];
    let layout = Layout::new(3, 5).vocabulary(4).select(Rows::Packed(&[0, 2]));
    apply_mask(processor, &mut logits, &masks, &layout)?;
    let forbidden = |row: &[f32]| row.iter().map(|logit| *logit == f32::NEG_INFINITY).collect::<Vec<_>>();
    let rows: Vec<Vec<bool>> = logits.chunks(5).map(forbidden).collect();
    assert_eq!(rows[0], [false, true, false, true, true]);
    assert_eq!(rows[1], [false; 5]);
    assert_eq!(rows[2], [false, false, true, true, true]);

    // Whatever chooses now, a forbidden token is not chosen. This is for programs without a sampler of their own.
    let all = [0b1111; 3];
    let layout = Layout::new(3, 5).vocabulary(4);
    let greedy = Sampling::default().temperature(0.0);
    let mut chosen = [0; 3];
    sample(processor, &logits, &all, &layout, &[greedy; 3], &mut chosen)?;
    assert_eq!(chosen, [2, 0, 0]);

    let mut probabilities = [0.0; 15];
    softmax(processor, &logits, &all, &layout, 1.0, &mut probabilities)?;
    assert_eq!(probabilities[1], 0.0);
    assert!((probabilities[..5].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    Ok(())
}
