//! Token masks over a parser of one's own: decimal numbers that 7 divides.

use std::sync::Arc;

use grammask_mask_cache::parser_backend::{Backend, Fuel, MaskKey, StepError};
use grammask_mask_cache::{LocalPool, MaskMemo, Scratch, TokenSets, Vocabulary, VocabularyOptions};

/// Reads a number digit by digit, and keeps its remainder.
struct DividedBySeven;

/// The remainder of what was read; `None` at the beginning.
type Remainder = Option<u8>;

impl Backend for DividedBySeven {
    type State = Remainder;

    fn start(&self) -> Remainder {
        None
    }

    // Every remainder can go on to 0, so that no digit leads to a dead end.
    fn step(&self, state: Remainder, byte: u8, _: &mut Fuel) -> Result<Option<Remainder>, StepError> {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10);
        Ok(digit.map(|digit| Some((state.unwrap_or(0) * 10 + digit) % 7)))
    }

    fn is_complete(&self, state: Remainder) -> bool {
        state == Some(0)
    }

    fn next_bytes(&self, _: Remainder) -> [u64; 4] {
        [0x3FF << b'0', 0, 0, 0]
    }

    // All texts of digits may follow, whatever was read; only the end may not.
    fn mask_key(&self, state: Remainder) -> MaskKey {
        MaskKey { set: u32::from(self.is_complete(state)), detail: 0 }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tokens = ["0", "7", "14", "1x", "a", ""].map(Some);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([5]))?;
    let sets = TokenSets::shared(&Arc::new(vocabulary));
    let memo = MaskMemo::new(sets, Arc::new(LocalPool::new(1 << 20)), 1 << 20);

    let (backend, mut scratch) = (DividedBySeven, Scratch::default());
    let mut allowed = |text: &[u8]| {
        let mut fuel = Fuel::new(1_000_000);
        let mut state = backend.start();
        for byte in text {
            state = backend.step(state, *byte, &mut fuel)?.ok_or(StepError::NoStopToken)?;
        }
        let mask = memo.mask(&backend, state, &mut scratch, &mut fuel)?.to_mask();
        Ok::<_, StepError>(mask.iter().map(|id| id.index()).collect::<Vec<_>>())
    };
    assert_eq!(allowed(b"")?, [0, 1, 2]);
    assert_eq!(allowed(b"12")?, [0, 1, 2]);
    // 126 is 18 times 7: the text may end.
    assert_eq!(allowed(b"126")?, [0, 1, 2, 5]);
    // There are two masks for all numbers.
    assert_eq!(memo.len(), 2);
    Ok(())
}
