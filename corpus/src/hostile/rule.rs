//! The rule that every call obeys, and how fast figures may grow.

use std::time::Duration;

const MEBIBYTE: u64 = 1 << 20;

/// Time of one call whose source and text have this many bytes: 1 s and 0.15 s for each megabyte.
pub fn longest(bytes: usize) -> Duration {
    Duration::from_secs(1) + Duration::from_secs_f64(0.15 * bytes as f64 / 1e6)
}

/// Memory of a process that serves one source, in bytes: 500 MiB up to four megabytes of source, and 30 MiB for each
/// further megabyte.
pub fn largest(bytes: usize) -> u64 {
    let further = (bytes as f64 / 1e6 - 4.0).max(0.0);
    500 * MEBIBYTE + (further * 30.0 * MEBIBYTE as f64).round() as u64
}

/// The power of the size that nothing may grow faster than.
pub const MAX_POWER: f64 = 1.3;

/// Between two sizes and their figures, the power of the size that the figure grew with. Figures below `floor` are taken to
/// be `floor`: they say little.
pub fn power(sizes: (f64, f64), figures: (f64, f64), floor: f64) -> f64 {
    let grown = figures.1.max(floor) / figures.0.max(floor);
    let larger = sizes.1 / sizes.0.max(1.0);
    grown.ln() / larger.max(1.0 + f64::EPSILON).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_grows_with_the_source() {
        assert_eq!(longest(0), Duration::from_secs(1));
        assert_eq!(longest(2_000_000), Duration::from_millis(1_300));
        assert_eq!(largest(4_000_000), 500 * MEBIBYTE);
        assert_eq!(largest(5_000_000), 530 * MEBIBYTE);
    }

    #[test]
    fn powers_tell_linear_from_quadratic() {
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(near(power((10.0, 100.0), (1.0, 10.0), 0.1), 1.0));
        assert!(near(power((10.0, 100.0), (1.0, 100.0), 0.1), 2.0));
        assert!(near(power((10.0, 100.0), (0.001, 0.1), 0.1), 0.0), "below what can be told");
    }
}
