//! Where free text before the end of a tag ends: whatever bounds it, the first end, trigger or excluded string counts.

use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_grammar_ir::Grammar;
use grammask_oracle::Recogniser;
use serde_json::{Value, json};

/// Texts of up to six letters out of three.
fn texts() -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut at = 0;
    while texts[at].len() < 6 {
        texts.extend(["a", "b", "x"].map(|letter| format!("{}{letter}", texts[at])));
        at += 1;
    }
    texts
}

/// The strings of a tag with free text.
struct Marks {
    ends: &'static [&'static str],
    excludes: &'static [&'static str],
    triggers: &'static [&'static str],
    max_chars: Option<usize>,
    /// Whether tokens are counted, up to more than there are.
    is_counted: bool,
    stops_after_first: bool,
}

impl Marks {
    /// The tag, with beginnings and ends of inner tags that are letters of their own.
    fn tag(&self) -> Value {
        let mut content = match self.triggers {
            [] => json!({"type": "any_text"}),
            triggers => {
                let content = json!({"type": "const_string", "value": ""});
                let tag =
                    |trigger: &&str| json!({"type": "tag", "begin": trigger, "content": content, "end": "b"});
                let tags: Vec<Value> = triggers.iter().map(tag).collect();
                let mut tags = json!({"type": "triggered_tags", "triggers": triggers, "tags": tags});
                if self.stops_after_first {
                    tags["stop_after_first"] = json!(true);
                }
                tags
            }
        };
        if !self.excludes.is_empty() {
            content["excludes"] = json!(self.excludes);
        }
        if let Some(most) = self.max_chars {
            content["max_chars"] = json!(most);
        }
        if self.is_counted {
            content["max_tokens"] = json!(100);
        }
        json!({"type": "tag", "begin": "", "content": content, "end": self.ends})
    }

    /// Whether free text may precede a string that is read after it: it holds no other, and none begins in it and is complete
    /// before that string is. An excluded string or an end must not be complete with a trigger either.
    fn may_precede(&self, text: &str, next: &str) -> bool {
        let whole = format!("{text}{next}");
        let is_trigger = self.triggers.contains(&next);
        let is_early = |other: &str, precedes_triggers: bool| {
            let mut ends = (0..text.len()).filter(|&begin| whole[begin..].starts_with(other));
            ends.any(|begin| match begin + other.len() {
                end if end == whole.len() => next.is_empty() || is_trigger && precedes_triggers,
                _ => true,
            })
        };
        text.len() <= self.max_chars.unwrap_or(usize::MAX)
            && !self.triggers.iter().any(|other| is_early(other, false))
            && !self.ends.iter().chain(self.excludes).any(|other| is_early(other, true))
    }

    /// Whether a text is free text with tags in it, up to and with an end.
    fn allows(&self, text: &str) -> bool {
        let ends = self
            .ends
            .iter()
            .any(|end| text.strip_suffix(end).is_some_and(|before| self.may_precede(before, end)));
        let with_tag = |trigger: &&str| {
            text.match_indices(trigger).any(|(begin, _)| {
                let rest = text[begin + trigger.len()..].strip_prefix('b');
                self.may_precede(&text[..begin], trigger)
                    && rest.is_some_and(|rest| match self.stops_after_first {
                        true => self.ends.contains(&rest),
                        false => self.allows(rest),
                    })
            })
        };
        ends || self.triggers.iter().any(with_tag)
    }
}

#[test]
fn the_first_end_ends_a_tag_whatever_bounds_its_text() {
    let all = texts();
    let (mut compared, mut refused) = (0, 0);
    let ends = [
        &["xx"][..],
        &["ab"],
        &["aba"],
        &["xx", "b"],
        &["a", "ab"],
        &["ba", "aa"],
        &["axa", "xx"],
        &["xbb", "aa"],
        &["xbb"],
    ];
    for ends in ends {
        for excludes in [&[][..], &["ab"], &["xa"], &["bx"], &["bb", "xax"]] {
            for (triggers, stops_after_first) in
                [(&[][..], false), (&["bb"], false), (&["bb"], true), (&["ax"], true), (&["xa", "bx"], false)]
            {
                for (max_chars, is_counted) in
                    [(None, false), (Some(3), false), (None, true), (Some(3), true)]
                {
                    if (max_chars.is_some() || is_counted) && !triggers.is_empty() {
                        continue;
                    }
                    let marks = Marks { ends, excludes, triggers, max_chars, is_counted, stops_after_first };
                    let tag = json!({"type": "structural_tag", "format": marks.tag()}).to_string();
                    let options = StructuralTagOptions::default();
                    let read = StructuralTag::parse(&tag, &options).and_then(|tag| tag.grammar(&options));
                    let Ok(grammar) = read else {
                        refused += 1;
                        continue;
                    };
                    let recogniser = Recogniser::new(&grammar);
                    for text in &all {
                        assert_eq!(recogniser.accepts(text.as_bytes()), marks.allows(text), "{text} {tag}");
                    }
                    compared += 1;
                }
            }
        }
    }
    // Triggers that an excluded string or an end completes first are refused.
    assert!(compared > 5 * refused, "{compared} compared, {refused} refused");
}

/// To find where one string completes another one too early takes work, which is bounded.
#[test]
fn ends_that_are_many_or_alike_are_given_up() {
    let options = StructuralTagOptions::default();
    let refusal = |ends: &[String], excludes: &[String]| {
        let content = json!({"type": "any_text", "excludes": excludes, "max_chars": 9});
        let tag = json!({"format": {"begin": "<", "content": content, "end": ends}}).to_string();
        let refused = StructuralTag::parse(&tag, &options).and_then(|tag| tag.grammar(&options)).err();
        refused.map(|error| error.iter().next().unwrap().message().to_owned()).unwrap_or_default()
    };
    let row = ["ab".repeat(20_000)];
    assert_eq!(refusal(&row, &[]), "");
    assert!(refusal(&row, &[format!("{0}c{0}", row[0])]).contains("too much alike"));
    let many: Vec<String> = (0..2_500).map(|at| format!("<{at:08}>")).collect();
    assert_eq!(refusal(&many[..1_000], &[]), "");
    assert!(refusal(&many, &[]).contains("too much alike"));
}

#[test]
fn text_in_repeats_and_before_parts_that_may_be_left_out_holds_no_end() {
    let (any, b) = (json!({"type": "any_text"}), json!({"type": "const_string", "value": "b"}));
    let one = |kind: &str, content: &Value| json!({"type": kind, "content": content});
    let all = |kind: &str, elements: &[&Value]| json!({"type": kind, "elements": elements});
    let either = all("or", &[&any, &b]);
    let repeated = |min: u32, max: u32| json!({"type": "repeat", "min": min, "max": max, "content": &any});
    let contents = [
        one("plus", &any),
        one("star", &either),
        repeated(1, 1),
        repeated(0, 2),
        all("or", &[&one("star", &any), &b]),
        all("sequence", &[&any, &one("optional", &b)]),
        all("sequence", &[&any, &one("star", &b), &repeated(0, 3)]),
        one("plus", &all("sequence", &[&one("optional", &b), &any])),
        one("optional", &one("plus", &any)),
    ];
    for content in contents {
        for (ends, may_be_open) in [(json!(["x"]), false), (json!(["", "x"]), true)] {
            let tag = json!({"type": "tag", "begin": "", "content": content, "end": ends});
            let recogniser = Recogniser::new(&grammar_of(&tag));
            for text in texts() {
                let is_meant = match text.find('x') {
                    Some(first) => first + 1 == text.len(),
                    None => may_be_open,
                };
                assert_eq!(recogniser.accepts(text.as_bytes()), is_meant, "{text} {tag}");
            }
        }
    }
    // An end that begins in one text and is complete in the next one, or with an end.
    let is_first =
        |text: &str, end: &str| text.find(end).is_some_and(|first| first + end.len() == text.len());
    let parted = |text: &str, end: &str| {
        is_first(text, end)
            || text.match_indices('b').any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + 1..]);
                !before.contains(end) && is_first(after, end)
            })
    };
    let closed = |text: &str, end: &str| {
        let before_b = text.strip_suffix(end).and_then(|before| before.strip_suffix('b'));
        is_first(text, end) || before_b.is_some_and(|before| !before.contains(end))
    };
    type Meaning<'m> = &'m dyn Fn(&str, &str) -> bool;
    let contents: [(Value, Meaning<'_>); 9] = [
        (one("plus", &any), &is_first),
        (one("star", &any), &is_first),
        (all("sequence", &[&any, &any]), &is_first),
        (all("sequence", &[&any, &one("optional", &b), &any]), &parted),
        (all("sequence", &[&any, &one("optional", &b), &one("star", &any), &any]), &parted),
        (all("sequence", &[&any, &one("optional", &b)]), &closed),
        (all("sequence", &[&any, &b, &any, &one("optional", &b)]), &|text, end| {
            text.match_indices('b').any(|(at, _)| closed(&text[at + 1..], end))
        }),
        (all("sequence", &[&b, &any, &any]), &|text, end| {
            text.strip_prefix('b').is_some_and(|text| is_first(text, end))
        }),
        (all("sequence", &[&one("optional", &b), &any]), &|text, end| {
            is_first(text, end) || text.strip_prefix('b').is_some_and(|text| is_first(text, end))
        }),
    ];
    for (content, is_meant) in contents {
        for end in ["x", "xx", "axa", "ab"] {
            let tag = json!({"type": "tag", "begin": "", "content": content, "end": end});
            let recogniser = Recogniser::new(&grammar_of(&tag));
            for text in texts() {
                assert_eq!(recogniser.accepts(text.as_bytes()), is_meant(&text, end), "{text} {tag}");
            }
        }
    }
    // Before a part that has to follow, the end is text.
    let content = all("sequence", &[&any, &b]);
    let recogniser =
        Recogniser::new(&grammar_of(&json!({"type": "tag", "begin": "", "content": content, "end": "x"})));
    for text in texts() {
        assert_eq!(recogniser.accepts(text.as_bytes()), text.ends_with("bx"), "{text}");
    }
}

/// Each part of a sequence is lowered once, so that tags in tags do not double with each level.
#[test]
fn nested_parts_that_may_be_left_out_stay_few() {
    let one = |kind: &str, content: &Value| json!({"type": kind, "content": content});
    let text = json!({"type": "any_text"});
    let literal = |value: &str| json!({"type": "const_string", "value": value});
    let shapes: [fn(Value, Value, Value) -> Value; 4] = [
        |text, tag, last| json!([text, tag, last, text]),
        |text, tag, last| json!([text, tag, last]),
        |text, tag, last| json!([last, tag, text, last]),
        |text, tag, last| {
            let inside = json!({"type": "sequence", "elements": [tag, text]});
            json!([{"type": "optional", "content": inside}, last])
        },
    ];
    for shape in shapes {
        let size = |depth: usize| {
            let mut tag = literal("b");
            for level in 0..depth {
                let kind = if level % 2 == 0 { "optional" } else { "star" };
                let elements = shape(text.clone(), one(kind, &tag), one("optional", &literal("c")));
                let content = json!({"type": "sequence", "elements": elements});
                tag = json!({"type": "tag", "begin": format!("<{level}>"), "content": content, "end": "x"});
            }
            grammar_of(&tag).expr_count()
        };
        assert!(size(12) <= 3 * size(6), "{} and {} expressions", size(6), size(12));
    }
    let many = vec![one("optional", &literal("b")); 1_000];
    let elements: Vec<&Value> = std::iter::once(&text).chain(&many).collect();
    let content = json!({"type": "sequence", "elements": elements});
    let tag = json!({"type": "tag", "begin": "", "content": content, "end": "x"});
    assert!(grammar_of(&tag).expr_count() < 20_000);
}

fn grammar_of(tag: &Value) -> Grammar {
    let (tag, options) = (json!({"format": tag}).to_string(), StructuralTagOptions::default());
    StructuralTag::parse(&tag, &options).and_then(|tag| tag.grammar(&options)).unwrap()
}
