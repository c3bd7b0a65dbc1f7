//! The summary of a run's records: each engine alone, and engines on the cases that they have in common.

use std::collections::HashMap;

use super::statistics::{Distribution, geometric_ratio};
use crate::engine::EngineId;
use crate::run::protocol::{Compile, Loss, Preempted, Record, Replay};

/// How an engine did on a schema. The order is that of precedence: a schema with a refused valid instance
/// counts there, whatever else went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Verdict {
    /// Every instance was decided rightly.
    Passing,
    /// The schema was refused.
    Refused,
    /// An instance that the schema allows was refused.
    ValidRefused,
    /// An instance that the schema forbids was let pass.
    InvalidAccepted,
    /// No answer in time.
    Timeout,
    /// The process was lost.
    Crash,
}

impl Verdict {
    /// All verdicts.
    pub(crate) const ALL: [Self; 6] =
        [Self::Passing, Self::Refused, Self::ValidRefused, Self::InvalidAccepted, Self::Timeout, Self::Crash];

    /// As printed.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Passing => "passing",
            Self::Refused => "schema refused",
            Self::ValidRefused => "valid refused",
            Self::InvalidAccepted => "invalid accepted",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
        }
    }

    /// The verdict on a record.
    pub(crate) fn of(record: &Record) -> Self {
        match &record.compile {
            Compile::Lost { loss: Loss::Timeout, .. } => Self::Timeout,
            Compile::Lost { loss: Loss::Crash(_), .. } => Self::Crash,
            Compile::Refused { .. } => Self::Refused,
            Compile::Done { .. } => {
                if record.replays.iter().any(|replay| replay.valid && !replay.passed()) {
                    Self::ValidRefused
                } else if record.replays.iter().any(|replay| !replay.valid && replay.passed()) {
                    Self::InvalidAccepted
                } else {
                    Self::Passing
                }
            }
        }
    }
}

/// One engine over a set of schemas.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) engine: EngineId,
    pub(crate) verdicts: HashMap<Verdict, usize>,
    pub(crate) schemas: usize,
    pub(crate) mask: Distribution,
    /// Masks during which the core was not taken away.
    pub(crate) undisturbed_mask: Distribution,
    pub(crate) commit: Distribution,
    pub(crate) first_mask: Distribution,
    /// Times to the first mask during which the core was not taken away.
    pub(crate) undisturbed_first_mask: Distribution,
    pub(crate) compile: Distribution,
    pub(crate) disagreements: u32,
    pub(crate) errors: usize,
    pub(crate) peak_kib: u64,
}

impl Summary {
    /// Sums up the records of one engine.
    pub(crate) fn new(engine: EngineId, records: &[Record]) -> Self {
        let own: Vec<&Record> = records.iter().filter(|record| record.engine == engine).collect();
        let replays = || own.iter().flat_map(|record| &record.replays);
        let mut verdicts = HashMap::new();
        for record in &own {
            *verdicts.entry(Verdict::of(record)).or_insert(0) += 1;
        }
        Self {
            engine,
            verdicts,
            schemas: own.len(),
            mask: replays().flat_map(|replay| replay.masks.iter().copied()).collect(),
            undisturbed_mask: replays().flat_map(undisturbed).collect(),
            commit: replays().flat_map(|replay| replay.commits.iter().copied()).collect(),
            first_mask: own.iter().filter_map(|record| record.first_mask_after()).collect(),
            undisturbed_first_mask: own
                .iter()
                .filter(|record| matches!(record.compile, Compile::Done { preempted: Preempted::No, .. }))
                .filter_map(|record| record.first_mask_after())
                .collect(),
            compile: own
                .iter()
                .filter_map(|record| match record.compile {
                    Compile::Done { compile, .. } => Some(compile),
                    _ => None,
                })
                .collect(),
            disagreements: replays().map(|replay| replay.disagreements).sum(),
            errors: replays().filter(|replay| replay.error.is_some()).count(),
            peak_kib: own.iter().map(|record| record.peak_kib).max().unwrap_or(0),
        }
    }

    /// How many schemas got a verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }
}

fn undisturbed(replay: &Replay) -> impl Iterator<Item = u64> {
    let masks = replay.masks.iter().copied().enumerate();
    masks
        .filter(|(position, _)| !replay.disturbed.iter().any(|&other| other as usize == *position))
        .map(|(_, time)| time)
}

/// The same tokens for both engines: the valid instances that both let pass.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) instances: usize,
    /// Schemas of which both engines made a first mask.
    pub(crate) schemas: usize,
    pub(crate) mask: [Distribution; 2],
    pub(crate) commit: [Distribution; 2],
    pub(crate) first_mask: [Distribution; 2],
    /// Geometric means of the ratios of the first to the second engine, token by token and schema by schema.
    pub(crate) mask_ratio: Option<f64>,
    pub(crate) commit_ratio: Option<f64>,
    pub(crate) first_mask_ratio: Option<f64>,
}

impl Common {
    /// Sums up what two engines have in common.
    pub(crate) fn new(engines: [EngineId; 2], records: &[Record]) -> Self {
        let by_id: HashMap<&str, &Record> = records
            .iter()
            .filter(|record| record.engine == engines[1])
            .map(|record| (record.id.as_str(), record))
            .collect();
        let pairs: Vec<(&Record, &Record)> = records
            .iter()
            .filter(|record| record.engine == engines[0])
            .filter_map(|record| Some((record, *by_id.get(record.id.as_str())?)))
            .collect();
        let replays: Vec<(&Replay, &Replay)> = pairs
            .iter()
            .flat_map(|(first, second)| first.replays.iter().zip(&second.replays))
            .filter(|(first, second)| first.valid && first.passed() && second.passed())
            .collect();
        let masks = || times(&replays, |replay| &replay.masks);
        let commits = || times(&replays, |replay| &replay.commits);
        let first_masks = || {
            pairs
                .iter()
                .filter_map(|(first, second)| Some((first.first_mask_after()?, second.first_mask_after()?)))
        };
        Self {
            instances: replays.len(),
            schemas: first_masks().count(),
            mask: sides(masks()),
            commit: sides(commits()),
            first_mask: sides(first_masks()),
            mask_ratio: geometric_ratio(masks()),
            commit_ratio: geometric_ratio(commits()),
            first_mask_ratio: geometric_ratio(first_masks()),
        }
    }
}

fn times<'r>(
    replays: &[(&'r Replay, &'r Replay)],
    select: impl Fn(&'r Replay) -> &'r [u64],
) -> impl Iterator<Item = (u64, u64)> {
    replays
        .iter()
        .flat_map(|(first, second)| select(first).iter().copied().zip(select(second).iter().copied()))
        .collect::<Vec<_>>()
        .into_iter()
}

fn sides(pairs: impl Iterator<Item = (u64, u64)>) -> [Distribution; 2] {
    let (first, second): (Vec<u64>, Vec<u64>) = pairs.unzip();
    [first.into_iter().collect(), second.into_iter().collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(engine: EngineId, replays: Vec<Replay>) -> Record {
        let compile =
            Compile::Done { compile: 3000, matcher: 500, first_mask: 1500, preempted: Preempted::No };
        let instances = replays.len();
        Record { engine, id: "a".into(), schema_bytes: 2, instances, compile, replays, peak_kib: 9 }
    }

    fn replay(valid: bool, accepted: usize, masks: &[u64]) -> Replay {
        let ended = accepted == masks.len();
        let masks = masks.to_vec();
        Replay { valid, tokens: masks.len(), accepted, ended, masks, ..Replay::default() }
    }

    #[test]
    fn verdicts_follow_the_instances() {
        let passing = record(EngineId::Grammask, vec![replay(true, 2, &[1, 2]), replay(false, 1, &[1, 2])]);
        assert_eq!(Verdict::of(&passing), Verdict::Passing);
        let strict = record(EngineId::Grammask, vec![replay(true, 1, &[1, 2]), replay(false, 2, &[1, 2])]);
        assert_eq!(Verdict::of(&strict), Verdict::ValidRefused);
        let lax = record(EngineId::Grammask, vec![replay(false, 2, &[1, 2])]);
        assert_eq!(Verdict::of(&lax), Verdict::InvalidAccepted);
    }

    #[test]
    fn common_figures_leave_out_what_one_engine_refuses() {
        let records = [
            record(EngineId::Grammask, vec![replay(true, 2, &[1000, 2000]), replay(true, 1, &[9, 9])]),
            record(EngineId::Llguidance, vec![replay(true, 2, &[4000, 8000]), replay(true, 2, &[9, 9])]),
        ];
        let common = Common::new([EngineId::Grammask, EngineId::Llguidance], &records);
        assert_eq!((common.instances, common.schemas), (1, 1));
        assert_eq!(common.mask[0].max(), Some(2.0));
        assert!((common.mask_ratio.unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(common.first_mask[1].mean(), Some(5.0));
    }

    #[test]
    fn disturbed_masks_are_left_out() {
        let mut disturbed = replay(true, 2, &[1000, 900_000]);
        disturbed.disturbed = vec![1];
        let summary = Summary::new(EngineId::Grammask, &[record(EngineId::Grammask, vec![disturbed])]);
        assert_eq!(summary.mask.max(), Some(900.0));
        assert_eq!(summary.undisturbed_mask.max(), Some(1.0));
        assert_eq!(summary.count(Verdict::Passing), 1);
    }
}
