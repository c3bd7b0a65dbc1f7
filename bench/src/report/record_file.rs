//! The dated CSV of a run: one line an engine and scope.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::statistics::Distribution;
use super::summary::{Common, Summary, Verdict};
use crate::engine::EngineId;
use crate::host;

/// The circumstances of a run, as far as they explain its figures.
#[derive(Debug, Clone)]
pub(crate) struct Circumstances {
    pub(crate) pack: String,
    pub(crate) tokenizer: String,
    pub(crate) sample: usize,
    pub(crate) seed: u32,
    /// `kept` or `dropped` caches.
    pub(crate) caches: &'static str,
    /// `wall` or `cpu` time.
    pub(crate) clock: &'static str,
}

const PERCENTS: [(&str, f64); 9] = [
    ("p25", 25.0),
    ("p50", 50.0),
    ("p75", 75.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("p99.99", 99.99),
    ("max", 100.0),
];

/// Appends to `<folder>/<date>-maskbench.csv`, which it makes with a head if it is not there.
pub(crate) fn append(
    folder: &Path,
    circumstances: &Circumstances,
    summaries: &[Summary],
    common: Option<([EngineId; 2], &Common)>,
) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("{}-maskbench.csv", host::today()));
    let is_new = !path.exists();
    let file: File = OpenOptions::new().create(true).append(true).open(&path)?;
    let mut writer = csv::Writer::from_writer(file);
    if is_new {
        writer.write_record(head())?;
    }
    for summary in summaries {
        let mut cells = first_cells(circumstances, summary.engine, "all");
        cells.push(summary.schemas.to_string());
        cells.extend(Verdict::ALL.map(|verdict| summary.count(verdict).to_string()));
        cells.push(summary.disagreements.to_string());
        cells.push((summary.peak_kib / 1024).to_string());
        for times in [&summary.mask, &summary.commit, &summary.first_mask] {
            cells.extend(figures(times));
        }
        writer.write_record(cells)?;
    }
    if let Some((engines, common)) = common {
        for (side, engine) in engines.into_iter().enumerate() {
            let mut cells = first_cells(circumstances, engine, "common");
            cells.push(common.schemas.to_string());
            // Verdicts, disagreements and memory are facts of the whole run.
            cells.extend(std::iter::repeat_n(String::new(), Verdict::ALL.len() + 2));
            for times in [&common.mask[side], &common.commit[side], &common.first_mask[side]] {
                cells.extend(figures(times));
            }
            writer.write_record(cells)?;
        }
    }
    writer.flush()?;
    Ok(path)
}

fn head() -> Vec<String> {
    let fixed = [
        "date",
        "time",
        "processor",
        "pack",
        "tokenizer",
        "sample",
        "seed",
        "caches",
        "clock",
        "engine",
        "scope",
        "schemas",
    ];
    let mut head: Vec<String> = fixed.map(str::to_owned).to_vec();
    head.extend(Verdict::ALL.map(|verdict| verdict.label().replace(' ', "_")));
    head.push("disagreements".to_owned());
    head.push("peak_mib".to_owned());
    for name in ["tbm", "commit", "ttfm"] {
        head.push(format!("{name}_count"));
        head.push(format!("{name}_mean_us"));
        head.extend(PERCENTS.map(|(label, _)| format!("{name}_{label}_us")));
    }
    head
}

fn first_cells(circumstances: &Circumstances, engine: EngineId, scope: &str) -> Vec<String> {
    vec![
        host::today(),
        host::time_of_day(),
        host::processor(),
        circumstances.pack.clone(),
        circumstances.tokenizer.clone(),
        circumstances.sample.to_string(),
        circumstances.seed.to_string(),
        circumstances.caches.to_owned(),
        circumstances.clock.to_owned(),
        engine.label().to_owned(),
        scope.to_owned(),
    ]
}

fn figures(times: &Distribution) -> Vec<String> {
    let figure = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.3}"));
    let mut cells = vec![times.len().to_string(), figure(times.mean())];
    cells.extend(PERCENTS.map(|(_, percent)| figure(times.percentile(percent))));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_as_many_cells_as_the_head() {
        let folder = std::env::temp_dir().join(format!("grammask-record-{}", std::process::id()));
        let circumstances = Circumstances {
            pack: "pack, with a comma".into(),
            tokenizer: "t".into(),
            sample: 1,
            seed: 1,
            caches: "kept",
            clock: "wall",
        };
        let engines = [EngineId::Grammask, EngineId::Llguidance];
        let summaries = engines.map(|engine| Summary::new(engine, &[]));
        let common = Common::new(engines, &[]);
        append(&folder, &circumstances, &summaries, None).unwrap();
        let path = append(&folder, &circumstances, &summaries, Some((engines, &common))).unwrap();
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let width = reader.headers().unwrap().len();
        let widths: Vec<usize> = reader.records().map(|record| record.unwrap().len()).collect();
        assert_eq!(widths, [width; 6]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
