//! Mask keys: the part of a state that its mask depends on.

use grammask_parser_backend::MaskKey;

use super::lazy::Automaton;
use crate::tables::ids::units;
use crate::tables::state::State;

impl Automaton {
    #[inline]
    pub(crate) fn mask_key(&self, state: State) -> MaskKey {
        let set = self.set(state);
        let mut detail = 0;
        for slot in set.slots.iter() {
            let thresholds = &set.thresholds[slot.index()];
            let count = state.counts[slot.index()];
            detail = detail << 21 | slot_detail(thresholds, count, self.config.longest_token);
        }
        MaskKey { set: state.set.raw(), detail }
    }
}

/// The part of a count that a mask depends on, in 21 bits. It holds the number of thresholds that are passed,
/// and the distance of the next one if a token can reach it. `count + 1` is the number that the next guard
/// compares.
fn slot_detail(thresholds: &[u32], count: u32, longest_token: u32) -> u64 {
    let done = count.saturating_add(1);
    let passed = thresholds.partition_point(|&threshold| threshold <= done);
    let near = match thresholds.get(passed) {
        Some(&next) if next - count <= longest_token => next - count,
        _ => 0,
    };
    units(passed) << 13 | u64::from(near)
}
