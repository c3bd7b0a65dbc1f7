//! Triggers, put to a naive reading: each tag begins with one of them, and none hides another.

use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use serde_json::{Value, json};

/// All texts of up to four letters out of two.
fn short_texts() -> Vec<String> {
    let mut texts = vec![String::new()];
    for at in 0..15 {
        texts.extend(["a", "b"].map(|letter| format!("{}{letter}", texts[at])));
    }
    texts
}

/// The message of the refusal; empty where there is none.
fn refusal(triggers: &[&str], begins: &[&str], excludes: &[&str]) -> String {
    let tag = |begin: &&str| json!({"begin": begin, "content": {"value": "x"}, "end": "c"});
    let tags: Vec<Value> = begins.iter().map(tag).collect();
    let mut format = json!({"type": "triggered_tags", "triggers": triggers, "tags": tags});
    if !excludes.is_empty() {
        format["excludes"] = json!(excludes);
    }
    let document = json!({ "format": format }).to_string();
    let read = StructuralTag::parse(&document, &StructuralTagOptions::default());
    read.err().map_or_else(String::new, |error| error.iter().next().unwrap().message().to_owned())
}

#[test]
fn a_tag_belongs_to_the_trigger_that_it_begins_with() {
    let all = short_texts();
    for step in 1..5 {
        for first in 1..all.len() {
            let triggers: Vec<&str> = all[first..].iter().step_by(step).map(String::as_str).collect();
            for begin in &all {
                let matching = triggers.iter().filter(|trigger| begin.starts_with(**trigger)).count();
                let found = refusal(&triggers, &[begin], &[]);
                let expected =
                    ["does not match any trigger", "", "matches multiple triggers"][matching.min(2)];
                assert!(found.contains(expected), "{triggers:?} {begin}: {found}");
                assert!(matching != 1 || !found.contains("One tag"), "{triggers:?} {begin}: {found}");
            }
        }
    }
}

#[test]
fn a_trigger_holds_no_other_and_nothing_excluded() {
    let all = short_texts();
    for first in 1..all.len() {
        for count in [1, 2, 12] {
            let others: Vec<&str> = all[first..].iter().take(count).map(String::as_str).collect();
            for trigger in &all[1..] {
                let found = refusal(&[trigger], &[trigger], &others);
                let is_held = others.iter().any(|other| trigger.contains(other));
                assert_eq!(
                    found.contains("because it contains the excluded"),
                    is_held,
                    "{trigger} {others:?}"
                );
                // A tag begins with another one, which has no part in this.
                let triggers = [&["c", trigger], &others[..]].concat();
                let hides = |at: usize, other: usize| {
                    let is_first = triggers[other].len() < triggers[at].len() || other < at;
                    at != other && is_first && triggers[at].contains(triggers[other])
                };
                let all = 0..triggers.len();
                let hidden = all.clone().find(|&at| all.clone().any(|other| hides(at, other)));
                let expected = hidden.map(|at| format!("the trigger `{}` is never reached", triggers[at]));
                let found = refusal(&triggers, &["c"], &[]);
                assert_eq!(found.is_empty(), expected.is_none(), "{triggers:?} {found}");
                assert!(found.starts_with(&expected.unwrap_or_default()), "{triggers:?} {found}");
            }
        }
    }
}
