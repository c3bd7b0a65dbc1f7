//! Without vector instructions, and for the ends of rows.

/// A word of ones is skipped and a word of zeros filled; in between, the choice is without a branch.
pub(super) fn fill<L: Copy>(lanes: &mut [L], words: &[u32], fill: L) {
    for (lanes, &word) in lanes.chunks_mut(32).zip(words) {
        match word {
            u32::MAX => {}
            0 => lanes.fill(fill),
            _ => {
                for (bit, lane) in lanes.iter_mut().enumerate() {
                    *lane = if word >> bit & 1 == 0 { fill } else { *lane };
                }
            }
        }
    }
}
