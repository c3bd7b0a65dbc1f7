//! The place and time of a measurement, for its result.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use time::OffsetDateTime;

/// The processor's model.
pub(crate) fn processor() -> String {
    std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Today, `2026-01-31`, by universal time.
pub(crate) fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

/// The time of day, `13:05`, by universal time.
pub(crate) fn time_of_day() -> String {
    let now = OffsetDateTime::now_utc();
    format!("{:02}:{:02}", now.hour(), now.minute())
}

/// A line of this process's status, in KiB: `VmRSS` (resident), `VmHWM` (most ever resident), `VmSize`.
pub(crate) fn memory_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| *name == key)
        .and_then(|(_, value)| value.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// The core that measurements are pinned to unless the caller says otherwise: the last one, since interrupts
/// tend to be served by the first.
pub(crate) fn quiet_core() -> Option<usize> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cores > 1).then(|| cores - 1)
}

/// Pins this thread to a core, if there is one. A core that it may not use costs precision, not the run.
pub(crate) fn pin(core: Option<usize>) {
    let mut cores = CpuSet::new();
    if core.is_some_and(|core| cores.set(core).is_ok()) {
        let _ = sched_setaffinity(Pid::from_raw(0), &cores);
    }
}
