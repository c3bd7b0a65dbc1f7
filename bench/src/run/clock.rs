//! Measuring time.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

use super::protocol::Clock;

/// A measurement that has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Start);

#[derive(Debug, Clone, Copy)]
enum Start {
    Wall(Instant),
    Cpu(Duration),
}

impl Stopwatch {
    /// Begins to measure.
    pub(crate) fn start(clock: Clock) -> Self {
        Self(match clock {
            Clock::Wall => Start::Wall(Instant::now()),
            Clock::Cpu => Start::Cpu(thread_time()),
        })
    }

    /// Nanoseconds since the start.
    pub(crate) fn nanoseconds(self) -> u64 {
        let elapsed = match self.0 {
            Start::Wall(start) => start.elapsed(),
            Start::Cpu(start) => thread_time().saturating_sub(start),
        };
        u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
    }
}

fn thread_time() -> Duration {
    // The clock is there on every system that this crate builds on; without it times are zero, not wrong.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_takes_no_time_of_the_core() {
        let [wall, cpu] = [Clock::Wall, Clock::Cpu].map(Stopwatch::start);
        std::thread::sleep(Duration::from_millis(20));
        assert!(wall.nanoseconds() >= 20_000_000);
        assert!(cpu.nanoseconds() < 20_000_000);
    }
}
