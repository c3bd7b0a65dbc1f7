//! Cases that did not pass, the reasons, and slow cases.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regex::Regex;

use super::summary::Verdict;
use super::table::microseconds;
use crate::engine::{EngineId, PLACE};
use crate::run::protocol::{Compile, Loss, Preempted, Record, Replay};

/// How many of the slowest compilations and masks are listed.
const SLOWEST: usize = 40;

/// A list of everything that one engine did wrong, refused or was slow at.
pub(crate) fn render(engine: EngineId, records: &[Record]) -> String {
    let own: Vec<&Record> = records.iter().filter(|record| record.engine == engine).collect();
    let mut text = format!("# {}\n", engine.label());
    refusals(&own, &mut text);
    for verdict in
        [Verdict::Crash, Verdict::Timeout, Verdict::ValidRefused, Verdict::InvalidAccepted, Verdict::Refused]
    {
        let of_kind: Vec<&&Record> = own.iter().filter(|record| Verdict::of(record) == verdict).collect();
        section(&mut text, &format!("{} ({})", verdict.label(), of_kind.len()));
        for record in of_kind {
            line(&mut text, &format!("{}\t{}", record.id, reason(record)));
        }
    }
    let disagreeing: Vec<&&Record> =
        own.iter().filter(|record| record.replays.iter().any(|replay| replay.disagreements > 0)).collect();
    section(&mut text, &format!("mask and accept disagree ({})", disagreeing.len()));
    for record in disagreeing {
        let replays = record.replays.iter().enumerate().filter(|(_, replay)| replay.disagreements > 0);
        let places: Vec<String> =
            replays.map(|(number, replay)| format!("test {number} at token {}", replay.accepted)).collect();
        line(&mut text, &format!("{}\t{}", record.id, places.join("; ")));
    }
    slow(&own, &mut text);
    text
}

fn refusals(own: &[&Record], text: &mut String) {
    let mut groups: BTreeMap<String, (usize, &str)> = BTreeMap::new();
    for record in own {
        if let Compile::Refused { reason, .. } = &record.compile {
            groups.entry(generalised(reason)).or_insert((0, &record.id)).0 += 1;
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    section(text, "refusals by reason: count, reason, an example");
    for (reason, (count, example)) in groups {
        line(text, &format!("{count}\t{reason}\t{example}"));
    }
}

fn slow(own: &[&Record], text: &mut String) {
    let mut compiles: Vec<(f64, &Record)> = own
        .iter()
        .filter_map(|record| Some((undisturbed_first_mask(record)? as f64 / 1000.0, *record)))
        .collect();
    compiles.sort_by(|a, b| b.0.total_cmp(&a.0));
    section(
        text,
        "slowest undisturbed to the first mask: microseconds, of which compile, bytes of schema, id",
    );
    for (time, record) in compiles.iter().take(SLOWEST) {
        let Compile::Done { compile, .. } = record.compile else { continue };
        let (total, part) = (microseconds(Some(*time)), microseconds(Some(compile as f64 / 1000.0)));
        line(text, &format!("{total}\t{part}\t{}\t{}", record.schema_bytes, record.id));
    }
    let mut masks: Vec<(u64, &str, usize, usize)> = Vec::new();
    for record in own {
        for (test, replay) in record.replays.iter().enumerate() {
            // Of one instance only its slowest mask, or one bad grammar would fill the list.
            let calm = |token: &usize| !replay.disturbed.iter().any(|&other| other as usize == *token);
            let masks_of = replay.masks.iter().enumerate().filter(|(token, _)| calm(token));
            if let Some((token, &time)) = masks_of.max_by_key(|(_, time)| **time) {
                masks.push((time, &record.id, test, token));
            }
        }
    }
    masks.sort_by_key(|mask| std::cmp::Reverse(mask.0));
    section(text, "slowest undisturbed masks: microseconds, id, test, token");
    for (time, id, test, token) in masks.iter().take(SLOWEST) {
        line(
            text,
            &format!("{}\t{id}\ttest {test}\ttoken {token}", microseconds(Some(*time as f64 / 1000.0))),
        );
    }
}

fn undisturbed_first_mask(record: &Record) -> Option<u64> {
    match record.compile {
        Compile::Done { preempted: Preempted::No, .. } => record.first_mask_after(),
        _ => None,
    }
}

fn section(text: &mut String, title: &str) {
    line(text, &format!("\n## {title}"));
}

fn line(text: &mut String, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

fn reason(record: &Record) -> String {
    match &record.compile {
        Compile::Refused { reason, .. } => first_line(reason).to_owned(),
        Compile::Lost { loss: Loss::Timeout, stage } => format!("in {stage:?}"),
        Compile::Lost { loss: Loss::Crash(said), stage } => format!("in {stage:?}: {said}"),
        Compile::Done { .. } => {
            let wrong =
                record.replays.iter().enumerate().filter(|(_, replay)| replay.valid != replay.passed());
            wrong.take(3).map(|(number, replay)| wrong_replay(number, replay)).collect::<Vec<_>>().join("; ")
        }
    }
}

fn wrong_replay(number: usize, replay: &Replay) -> String {
    let kind = if replay.valid { "valid" } else { "invalid" };
    let end = if replay.ended { "allowed" } else { "refused" };
    let error = replay.error.as_deref().map_or(String::new(), |error| format!(", {}", first_line(error)));
    format!("test {number} ({kind}): {} of {} tokens, end {end}{error}", replay.accepted, replay.tokens)
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim()
}

/// A reason without what is particular to one schema: pointers, quoted values, numbers.
fn generalised(reason: &str) -> String {
    let line = first_line(reason);
    let mut general = line.split_once(PLACE).map_or(line, |(reason, _)| reason).to_owned();
    for (pattern, replacement) in [
        (r##"(^|[\s('"`])#?(/[^\s:,'"`)]*)+"##, "${1}POINTER"),
        (r#""[^"]{24,}""#, "\"...\""),
        (r"[0-9]+", "N"),
    ] {
        // The patterns are constants; one that did not compile would leave the reason as it is.
        if let Ok(pattern) = Regex::new(pattern) {
            general = pattern.replace_all(&general, replacement).into_owned();
        }
    }
    general.chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_lose_what_is_particular() {
        assert_eq!(
            generalised("\n/properties/a~1b: `not` at line 12 is not supported\nmore"),
            "POINTER: `not` at line N is not supported"
        );
        assert_eq!(generalised("schema/keyword: `a` needs 3 | at /b/c"), "schema/keyword: `a` needs N");
        assert_eq!(generalised("unknown format \"color\""), "unknown format \"color\"");
    }
}
