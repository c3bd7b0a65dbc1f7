//! A generator of random numbers that is the same everywhere and for good.

/// Marsaglia's xorshift with a multiplication at the end (xorshift64*).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator for a seed. Neighbouring seeds give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        // The finaliser of SplitMix64 spreads the seed; xorshift must not start at 0.
        let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((mixed ^ mixed >> 31).max(1))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 where `end` is 0. The bias is far below what a test could notice.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in this many cases out of a hundred.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// One of the items, or `None` if there is none.
    pub fn pick<'i, Item>(&mut self, items: &'i [Item]) -> Option<&'i Item> {
        items.get(self.below(items.len()))
    }

    /// An index, the more likely the greater its weight; `None` if all weights are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: usize = weights.iter().map(|&weight| weight as usize).sum();
        let mut left = self.below(total);
        weights.iter().position(|&weight| {
            let hit = left < weight as usize;
            left = left.saturating_sub(weight as usize);
            hit
        })
    }
}
