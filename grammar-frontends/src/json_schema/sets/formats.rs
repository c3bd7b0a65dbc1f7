//! The formats of JSON Schema as ECMA-262 patterns over the whole text, each after the document that the
//! standard names for it.
//!
//! Some formats are no small regular languages (a host name counts its characters beside those of its
//! labels), and of some it is disputed which texts obey. Such a format has two languages. One has the texts
//! that obey it for certain, which a schema that asks for the format takes. The other has all texts that may
//! obey it, and a schema under `not` takes its texts outside of it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use grammask_fsm::text::MAX_COUNTED_MIN;
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder};
use once_cell::race::OnceBox;

use super::hosts::{self, Labels, MAX_HOST, MAX_MAILBOX, MAX_SHORT_HOST};
use super::whole_patterns::{ipv4, ipv6, whole};
use crate::json_schema::document::ids::Draft;
use crate::json_schema::document::keyword_table::drafts;

/// How a format is treated.
#[derive(Clone, Debug)]
pub(crate) enum StringFormat {
    Enforced(Arc<FormatTexts>),
    /// A format of the standard that this frontend cannot enforce.
    NotEnforced,
    /// A format of later drafts than the schema's: an annotation.
    OfLaterDraft,
    /// Not a format of the standard: an annotation.
    Unknown,
}

/// The texts of a format; the grammars have one rule each.
#[derive(Debug)]
pub(crate) struct FormatTexts {
    pub(crate) format: &'static Format,
    /// All of them obey it.
    pub(crate) within: Grammar,
    /// Some of these beside other conditions, with one bound on the length of the whole.
    pub(crate) counted: Option<Grammar>,
    /// Some of these where lengths cannot be counted, and a product with the automaton of all would be too large.
    pub(crate) multiplied: Option<Grammar>,
    pub(crate) around: OuterLanguage,
}

/// A language that contains all texts that obey a format.
#[derive(Debug)]
pub(crate) enum OuterLanguage {
    /// Those of the other grammar; it is exact.
    Same,
    Wider(Box<Grammar>),
    /// Not known: of no text it is certain that it does not obey.
    Unknown,
}

/// A format of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    since: Draft,
    until: Draft,
    /// Whether it is enforced; a schema that asks for another one is refused.
    pub(crate) is_enforced: bool,
    /// The texts that obey it and that are left out all the same; empty where there are none.
    pub(crate) narrowed: &'static str,
}

impl Format {
    /// The drafts that have it.
    pub(crate) fn drafts(&self) -> String {
        drafts(self.since, self.until)
    }

    /// The labels of its host names, if it has any.
    pub(crate) fn labels(&self) -> Option<Labels> {
        match self.name {
            "email" => Some(Labels::Encoded),
            "hostname" if self.until < Draft::Draft7 => Some(Labels::Any),
            "hostname" => Some(Labels::Unreserved),
            _ => None,
        }
    }
}

const fn format(name: &'static str, since: Draft, narrowed: &'static str) -> Format {
    Format { name, since, until: Draft::Draft2020, is_enforced: true, narrowed }
}

const LEAP_SECONDS: &str = "leap seconds where the distance to UTC is no multiple of 15 minutes";

/// The formats of the standard, with the first draft that has each. Drafts 4 and 6 do not list `date`, `time`
/// and `regex`, which draft 3 has and their own schema uses. Those before 7 do not list `iri`, and those
/// before 2019-09 do not list `uuid`. Validators of these drafts assert them all the same.
pub(crate) const FORMATS: [Format; 20] = {
    use Draft::{Draft4, Draft6, Draft7, Draft2019};
    [
        format("date-time", Draft4, LEAP_SECONDS),
        format(
            "email",
            Draft4,
            "labels with hyphens at their third and fourth place, but for those like `xn--a`; characters beyond \
            ASCII; beside other conditions those of more than 255 characters; where they are no JSON, beside excluded texts, and in one of several ways to spell names, those with \
            host names of more than 63 characters",
        ),
        Format {
            until: Draft6,
            ..format(
                "hostname",
                Draft4,
                "where they are no JSON, beside excluded texts, and in one of several ways to spell names, those of more than 63 characters",
            )
        },
        format(
            "hostname",
            Draft7,
            "labels like `xn--a`, whose decoded form tables judge; where they are no JSON, beside excluded texts, and in one of several ways to spell names, those of more than 63 \
            characters",
        ),
        format("ipv4", Draft4, ""),
        format("ipv6", Draft4, ""),
        format("uri", Draft4, ""),
        format("json-pointer", Draft6, ""),
        format("uri-reference", Draft6, ""),
        format("uri-template", Draft6, ""),
        format("date", Draft4, ""),
        format("time", Draft4, LEAP_SECONDS),
        format("iri", Draft4, ""),
        format("iri-reference", Draft7, ""),
        format("relative-json-pointer", Draft7, "steps along an array (`0+1`), of a later document"),
        format("regex", Draft4, super::format_regex::NARROWED),
        format("duration", Draft2019, "units left out in the middle, weeks beside others"),
        format("uuid", Draft4, ""),
        Format { is_enforced: false, ..format("idn-email", Draft7, "") },
        Format { is_enforced: false, ..format("idn-hostname", Draft7, "") },
    ]
};

/// The formats of the standard as a table in Markdown, with the texts that are left out.
pub fn format_table() -> String {
    let mut table = String::from("| format | drafts | treatment | left out |\n|---|---|---|---|\n");
    for format in &FORMATS {
        let (treatment, narrowed) = match (format.is_enforced, format.narrowed) {
            (false, _) => ("refused", "all"),
            (true, "") => ("enforced", "nothing"),
            (true, narrowed) => ("enforced", narrowed),
        };
        let (name, drafts) = (format.name, format.drafts());
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {drafts} | {treatment} | {narrowed} |");
    }
    table
}

/// Their grammars, each made when it is first asked for: reading the pattern of a web address takes longer than
/// compiling most schemas.
static TEXTS: [OnceBox<Option<Arc<FormatTexts>>>; FORMATS.len()] = [const { OnceBox::new() }; FORMATS.len()];

/// A format in a schema of a draft.
pub(crate) fn find(name: &str, draft: Draft) -> StringFormat {
    let has_name = |format: &&Format| format.name == name;
    let Some(first) = FORMATS.iter().find(has_name) else { return StringFormat::Unknown };
    let is_it = |format: &Format| format.name == name && (format.since..=format.until).contains(&draft);
    let Some(index) = FORMATS.iter().position(is_it) else { return StringFormat::OfLaterDraft };
    if !first.is_enforced {
        return StringFormat::NotEnforced;
    }
    match TEXTS[index].get_or_init(|| Box::new(texts(&FORMATS[index]).map(Arc::new))) {
        Some(texts) => StringFormat::Enforced(Arc::clone(texts)),
        None => StringFormat::NotEnforced,
    }
}

fn texts(format: &'static Format) -> Option<FormatTexts> {
    let labels = format.labels().unwrap_or(Labels::Any);
    let (within, counted, multiplied) = match format.name {
        "email" => (
            grammar_of(|builder| hosts::mailboxes(builder, labels, MAX_HOST))?,
            Some(grammar_of(|builder| hosts::short_mailboxes(builder, labels, (1, u32::MAX)))?),
            Some(grammar_of(|builder| hosts::mailboxes(builder, labels, MAX_SHORT_HOST))?),
        ),
        "hostname" => (
            grammar_of(|builder| hosts::hosts(builder, labels, MAX_HOST))?,
            None,
            Some(grammar_of(|builder| hosts::hosts(builder, labels, MAX_SHORT_HOST))?),
        ),
        "regex" => (grammar_of(super::format_regex::regex)?, None, None),
        name => (whole(&pattern(name)?)?, None, None),
    };
    let around = match format.name {
        "regex" => OuterLanguage::Unknown,
        name => pattern_around(name).map_or(Some(OuterLanguage::Same), |pattern| {
            whole(&pattern).map(|grammar| OuterLanguage::Wider(Box::new(grammar)))
        })?,
    };
    Some(FormatTexts { format, within, counted, multiplied, around })
}

/// The length of the shortest mailbox, `a@b`.
const MIN_MAILBOX: u64 = 3;

impl FormatTexts {
    /// All texts of so many characters beside nothing else, where those of [`counted`](Self::counted) are not all.
    pub(crate) fn alone(&self, min: u64, max: Option<u64>) -> Option<Cow<'_, Grammar>> {
        if self.counted.is_none() || min > u64::from(MAX_COUNTED_MIN) {
            return None;
        }
        if min <= MIN_MAILBOX && max.is_none_or(|max| max >= u64::from(MAX_MAILBOX)) {
            return Some(Cow::Borrowed(&self.within));
        }
        let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
        let (labels, bounds) = (self.format.labels()?, (fits(min), max.map_or(u32::MAX, fits)));
        grammar_of(|builder| hosts::mailboxes_of(builder, labels, bounds)).map(Cow::Owned)
    }
}

fn grammar_of(write: impl FnOnce(&mut GrammarBuilder) -> Option<ExprId>) -> Option<Grammar> {
    let mut builder = GrammarBuilder::new();
    let body = write(&mut builder)?;
    let root = builder.add_rule("root", body).ok()?;
    builder.finish(root).ok()
}

/// The pattern of a format that is enforced; those of `email`, `hostname` and `regex` are written in parts.
fn pattern(name: &str) -> Option<String> {
    Some(match name {
        "date" => DATE.to_owned(),
        "time" => time(),
        "date-time" => format!("{DATE}[Tt]{}", time()),
        "duration" => duration(),
        "ipv4" => ipv4(),
        "ipv6" => ipv6(),
        "uri" => uri(""),
        "uri-reference" => uri_reference(""),
        "iri" => uri(UCSCHAR),
        "iri-reference" => uri_reference(UCSCHAR),
        "uri-template" => uri_template(),
        "uuid" => UUID.to_owned(),
        "json-pointer" => JSON_POINTER.to_owned(),
        "relative-json-pointer" => format!("(?:0|[1-9][0-9]*)(?:#|{JSON_POINTER})"),
        _ => return None,
    })
}

/// A pattern of more texts, where it is not certain of all others that they do not obey the format.
fn pattern_around(name: &str) -> Option<String> {
    Some(match name {
        "time" => time_around(),
        "date-time" => format!("{DATE}[Tt]{}", time_around()),
        "duration" => duration_around(),
        // Without all that RFC 6531 adds and RFC 5322 takes besides.
        "email" => "[\\s\\S]+@[\\s\\S]+".to_owned(),
        // Drafts later than the one that the standard of 2019-09 names have steps along an array.
        "relative-json-pointer" => {
            format!("(?:0|[1-9][0-9]*)(?:[+-](?:0|[1-9][0-9]*))?(?:#|{JSON_POINTER})")
        }
        "hostname" => {
            let label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
            format!("{label}(?:\\.{label})*\\.?")
        }
        _ => return None,
    })
}

/// Years of four digits, months and days that exist: 29 February in leap years only.
const DATE: &str = concat!(
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
);

/// RFC 3339, section 5.6.
const TIME: &str = concat!(
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?",
    "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
);

const UUID: &str = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}";

/// RFC 6901.
const JSON_POINTER: &str = "(?:/(?:[^~/]|~[01])*)*";

/// Distances to UTC are whole numbers of these minutes, where a leap second is taken. All that were ever in use since
/// there are leap seconds are; with each minute there would be fifteen times as many states.
const LEAP_STEP: u32 = 15;

/// Times, of which those in a leap second are the last second of a day of UTC.
fn time() -> String {
    const DAY: u32 = 24 * 60;
    let mut ways = vec![TIME.to_owned()];
    let two = |minutes: u32| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    for local in (LEAP_STEP - 1..DAY).step_by(15) {
        let east = (local + 1) % DAY;
        let west = DAY - 1 - local;
        let zulu = if east == 0 { "[Zz]|" } else { "" };
        ways.push(format!("{}:60(?:\\.[0-9]+)?(?:{zulu}\\+{}|-{})", two(local), two(east), two(west)));
    }
    format!("(?:{})", ways.join("|"))
}

/// Those, and leap seconds at any time of the day where the distance to UTC is no multiple of 15 minutes.
fn time_around() -> String {
    const LEAP: &str = concat!(
        "(?:[01][0-9]|2[0-3]):[0-5][0-9]:60(?:\\.[0-9]+)?",
        "[+-](?:[01][0-9]|2[0-3]):(?:[03][1-9]|[14][0-46-9]|[25][0-9])"
    );
    format!("(?:{}|{LEAP})", time())
}

/// RFC 3339, appendix A.
fn duration() -> String {
    let time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    let date = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)";
    format!("P(?:[0-9]+W|{date}(?:{time})?|{time})")
}

/// Units may be left out in the middle, or weeks be mixed with others, as some read ISO 8601.
fn duration_around() -> String {
    let time = "T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+S)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    let weeks = "[0-9]+W(?:[0-9]+D)?|[0-9]+D";
    let months = format!("[0-9]+M(?:{weeks})?|{weeks}");
    format!("P(?:(?:[0-9]+Y(?:{months})?|{months})(?:{time})?|{time})")
}

/// The characters that RFC 3987 adds to those of RFC 3986, inside a class.
const UCSCHAR: &str = concat!(
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF",
    "\\u{10000}-\\u{1FFFD}\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}",
    "\\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}",
    "\\u{90000}-\\u{9FFFD}\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}",
    "\\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}"
);

/// Characters of private use, as RFC 3987 lists them.
const PRIVATE: &str = "\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";

/// The parts of RFC 3986, appendix A; `more` is added to the unreserved characters.
struct UriParts {
    /// The text after `//`, with the path after it.
    network: String,
    segment: String,
    segment_not_empty: String,
    /// Not empty and without a colon.
    first_segment: String,
    tail: String,
}

fn uri_parts(more: &str) -> UriParts {
    let escape = "%[0-9A-Fa-f]{2}";
    let plain = format!("A-Za-z0-9._~!$&'()*+,;={more}-");
    let of = |extra: &str| format!("(?:[{extra}{plain}]|{escape})");
    let segment_char = of(":@");
    let literal = format!("\\[(?:{}|[vV][0-9A-Fa-f]+\\.[:A-Za-z0-9._~!$&'()*+,;=-]+)\\]", ipv6());
    let authority = format!("(?:{}*@)?(?:{literal}|{}*)(?::[0-9]*)?", of(":"), of(""));
    let private = if more.is_empty() { "" } else { PRIVATE };
    let query = format!("(?:[{private}:@/?{plain}]|{escape})*");
    let fragment = of(":@/?");
    UriParts {
        network: format!("//{authority}(?:/{segment_char}*)*"),
        segment: format!("{segment_char}*"),
        segment_not_empty: format!("{segment_char}+"),
        first_segment: format!("{}+", of("@")),
        tail: format!("(?:\\?{query})?(?:#{fragment}*)?"),
    }
}

fn uri(more: &str) -> String {
    let UriParts { network, segment, segment_not_empty, tail, .. } = uri_parts(more);
    let rest = format!("{segment_not_empty}(?:/{segment})*");
    format!("[A-Za-z][A-Za-z0-9+.-]*:(?:{network}|/(?:{rest})?|(?:{rest})?){tail}")
}

fn uri_reference(more: &str) -> String {
    let UriParts { network, segment, segment_not_empty, first_segment, tail } = uri_parts(more);
    let rest = format!("{segment_not_empty}(?:/{segment})*");
    let relative = format!("(?:{network}|/(?:{rest})?|(?:{first_segment}(?:/{segment})*)?){tail}");
    format!("(?:{}|{relative})", uri(more))
}

/// RFC 6570, section 2, with the apostrophe that erratum 6937 adds.
fn uri_template() -> String {
    let escape = "%[0-9A-Fa-f]{2}";
    let literal = format!("(?:[!#$&-;=?-\\[\\]_a-z~{UCSCHAR}{PRIVATE}]|{escape})");
    let name_char = format!("(?:[A-Za-z0-9_]|{escape})");
    let variable = format!("{name_char}(?:\\.?{name_char})*(?::[1-9][0-9]{{0,3}}|\\*)?");
    format!("(?:{literal}|\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}})*")
}
