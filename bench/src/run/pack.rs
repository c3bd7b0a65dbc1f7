//! The pack: one `{"id", "schema", "tests"}` a line, compressed or not.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::python::Random;

/// A schema of the pack, as it is in the file.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// A schema of the pack, read.
#[derive(Debug, Deserialize)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) schema: Value,
    pub(crate) tests: Vec<Instance>,
}

/// An instance of a schema and whether the schema allows it.
#[derive(Debug, Deserialize)]
pub(crate) struct Instance {
    pub(crate) valid: bool,
    pub(crate) data: Value,
}

/// Which schemas of a pack to run.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// Only ids in which this matches.
    pub(crate) only: Option<Regex>,
    /// At most this many, 0 for all.
    pub(crate) sample: usize,
    /// Seed of the sample and of the order.
    pub(crate) seed: u32,
}

/// Reads the pack and returns the chosen schemas in the order in which they are to be run.
///
/// Sample and order are those of the Python harness for the same size and seed.
pub(crate) fn read(path: &Path, choice: &Choice) -> Result<Vec<Line>> {
    #[derive(Deserialize)]
    struct Head {
        id: String,
    }
    let file = File::open(path).with_context(|| format!("cannot open the pack {}", path.display()))?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut lines = Vec::new();
    for (number, text) in BufReader::new(reader).lines().enumerate() {
        let text = text?;
        if text.trim().is_empty() {
            continue;
        }
        let head: Head = serde_json::from_str(&text)
            .with_context(|| format!("line {} of the pack is not an object with an id", number + 1))?;
        if choice.only.as_ref().is_none_or(|only| only.is_match(&head.id)) {
            lines.push(Line { id: head.id, text });
        }
    }
    Ok(choose(lines, choice))
}

fn choose(mut lines: Vec<Line>, choice: &Choice) -> Vec<Line> {
    if choice.sample > 0 && choice.sample < lines.len() {
        lines.sort_by(|a, b| a.id.cmp(&b.id));
        lines = Random::new(choice.seed).sample(&lines, choice.sample);
        lines.sort_by(|a, b| a.id.cmp(&b.id));
    }
    Random::new(choice.seed).shuffle(&mut lines);
    lines
}
