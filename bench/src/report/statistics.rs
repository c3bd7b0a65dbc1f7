//! Distributions of times.

/// Times in nanoseconds, sorted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distribution {
    sorted: Vec<u64>,
    sum: u128,
}

impl FromIterator<u64> for Distribution {
    fn from_iter<I: IntoIterator<Item = u64>>(times: I) -> Self {
        let mut sorted: Vec<u64> = times.into_iter().collect();
        sorted.sort_unstable();
        let sum = sorted.iter().map(|&time| u128::from(time)).sum();
        Self { sorted, sum }
    }
}

impl Distribution {
    /// How many times there are.
    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The mean in microseconds; none of an empty distribution.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.len() > 0).then(|| self.sum as f64 / self.len() as f64 / 1000.0)
    }

    /// The value below which `percent` of the times lie, in microseconds. 100 is the maximum.
    pub(crate) fn percentile(&self, percent: f64) -> Option<f64> {
        let last = self.len().checked_sub(1)?;
        let index = (self.len() as f64 * percent / 100.0) as usize;
        Some(self.sorted[index.min(last)] as f64 / 1000.0)
    }

    /// The greatest time in microseconds.
    pub(crate) fn max(&self) -> Option<f64> {
        self.percentile(100.0)
    }
}

/// The geometric mean of pairwise ratios `ours / theirs`, where times below 10 ns (what the clock resolves)
/// count as 10 ns.
pub(crate) fn geometric_ratio(pairs: impl IntoIterator<Item = (u64, u64)>) -> Option<f64> {
    let mut count = 0u64;
    let mut sum = 0.0;
    for (ours, theirs) in pairs {
        sum += (ours.max(10) as f64 / theirs.max(10) as f64).ln();
        count += 1;
    }
    (count > 0).then(|| (sum / count as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_reference_runner() {
        let times: Distribution = (1..=1000).rev().map(|time| time * 1000).collect();
        assert_eq!(times.percentile(50.0), Some(501.0));
        assert_eq!(times.percentile(99.9), Some(1000.0));
        assert_eq!(times.max(), Some(1000.0));
        assert_eq!(times.mean(), Some(500.5));
        assert_eq!(Distribution::default().percentile(50.0), None);
        assert_eq!(Distribution::default().mean(), None);
    }

    #[test]
    fn ratios_are_averaged_geometrically() {
        let ratio = geometric_ratio([(100, 400), (400, 100)]).unwrap();
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        assert_eq!(geometric_ratio([(1, 10)]), Some(1.0));
        assert_eq!(geometric_ratio([]), None);
    }
}
