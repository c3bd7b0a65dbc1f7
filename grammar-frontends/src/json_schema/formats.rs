//! The formats of JSON Schema as ECMA-262 patterns over the whole text, each after the document that the
//! standard names for it.

use std::sync::{Arc, OnceLock};

use grammask_grammar_ir::Grammar;

use crate::regex::{self, Matching, RegexOptions};

/// What is known about a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The texts of a grammar with one rule, under the format's name.
    Enforced(&'static str, Arc<Grammar>),
    /// A format of the standard that this frontend cannot enforce.
    NotEnforced,
    /// Not a format of the standard: an annotation.
    Unknown,
}

const ENFORCED: [&str; 17] = [
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Their grammars, each made when it is first asked for: reading the pattern of a web address takes longer than
/// compiling most schemas.
static GRAMMARS: [OnceLock<Option<Arc<Grammar>>>; ENFORCED.len()] =
    [const { OnceLock::new() }; ENFORCED.len()];

pub(super) fn find(name: &str) -> Format {
    let Some(index) = ENFORCED.iter().position(|&known| known == name) else {
        return match name {
            "idn-hostname" | "idn-email" => Format::NotEnforced,
            _ => Format::Unknown,
        };
    };
    let grammar = GRAMMARS[index].get_or_init(|| {
        let options = RegexOptions { matching: Matching::Whole, ..RegexOptions::json_schema() };
        regex::parse(&pattern(name), &options).ok().map(Arc::new)
    });
    match grammar {
        Some(grammar) => Format::Enforced(ENFORCED[index], Arc::clone(grammar)),
        None => Format::NotEnforced,
    }
}

/// The pattern of a format that is enforced.
fn pattern(name: &str) -> String {
    match name {
        "date" => DATE.to_owned(),
        "time" => TIME.to_owned(),
        "date-time" => format!("{DATE}[Tt]{TIME}"),
        "duration" => duration(),
        "email" => email(),
        "hostname" => hostname(),
        "ipv4" => ipv4(),
        "ipv6" => ipv6(),
        "uri" => uri(""),
        "uri-reference" => uri_reference(""),
        "iri" => uri(UCSCHAR),
        "iri-reference" => uri_reference(UCSCHAR),
        "uri-template" => uri_template(),
        "uuid" => UUID.to_owned(),
        "json-pointer" => JSON_POINTER.to_owned(),
        "relative-json-pointer" => format!("(?:0|[1-9][0-9]*)(?:[+-](?:0|[1-9][0-9]*))?(?:#|{JSON_POINTER})"),
        _ => super::format_regex::regex(),
    }
}

/// Years of four digits, months and days that exist: 29 February in leap years only.
const DATE: &str = concat!(
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
);

/// RFC 3339, section 5.6. A leap second is taken where the time zone is UTC: elsewhere, whether it is the
/// last second of the UTC day takes arithmetic.
const TIME: &str = concat!(
    "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?",
    "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    "|23:59:60(?:\\.[0-9]+)?(?:[Zz]|[+-]00:00))"
);

const UUID: &str = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}";

/// RFC 6901.
const JSON_POINTER: &str = "(?:/(?:[^~/]|~[01])*)*";

/// RFC 3339, appendix A.
fn duration() -> String {
    let time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    let date = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)";
    format!("P(?:[0-9]+W|{date}(?:{time})?|{time})")
}

/// RFC 1123, section 2.1: labels of at most 63 letters, digits and inner hyphens. Labels with hyphens at
/// their third and fourth place are left out: `xn--` begins one whose decoded form RFC 5891 judges by tables
/// and by context, and the others are reserved.
///
/// The whole may have 253 characters. Counting them beside the label's own would take some thirty thousand
/// states, so the bound is kept by bounding the labels: up to 3 of any length, up to 8 of at most 30, or up
/// to 25 of at most 9 characters.
fn hostname() -> String {
    let (end, inner) = ("[A-Za-z0-9]", "[A-Za-z0-9-]");
    // By length: up to four characters; more, with the third or without it a letter or digit.
    let label = |most: u32| {
        let (plain, hyphen) = (most - 4, most - 5);
        format!(
            "{end}(?:{inner}{{0,2}}{end}|{inner}{end}{inner}{{1,{plain}}}{end}|\
             {inner}-{end}(?:{inner}{{0,{hyphen}}}{end})?)?"
        )
    };
    let labels = |count: u32, most: u32| {
        let label = label(most);
        format!("{label}(?:\\.{label}){{0,{}}}", count - 1)
    };
    format!("(?:{}|{}|{})", labels(3, 63), labels(8, 30), labels(25, 9))
}

/// A mailbox of RFC 5321, section 4.1.2, without the bounds on length of section 4.5.3.1.
fn email() -> String {
    let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    let quoted = r#""(?:[ !#-\[\]-~]|\\[ -~])*""#;
    let label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
    let (ipv4, ipv6) = (ipv4(), ipv6());
    format!(
        "(?:{atom}(?:\\.{atom})*|{quoted})@(?:{label}(?:\\.{label})*|\\[(?:{ipv4}|[Ii][Pp][Vv]6:{ipv6})\\])"
    )
}

/// RFC 2673, section 3.2: four decimal bytes without leading zeros.
fn ipv4() -> String {
    let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("(?:{byte}\\.){{3}}{byte}")
}

/// RFC 4291, section 2.2, by how many groups stand after `::`.
fn ipv6() -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let last = format!("(?:{group}:{group}|{})", ipv4());
    let before = |most: u32| format!("(?:(?:{group}:){{0,{most}}}{group})?");
    let mut forms = vec![format!("(?:{group}:){{6}}{last}"), format!("::(?:{group}:){{5}}{last}")];
    for most in 0..5u32 {
        forms.push(format!("{}::(?:{group}:){{{}}}{last}", before(most), 4 - most));
    }
    forms.push(format!("{}::{group}", before(5)));
    forms.push(format!("{}::", before(6)));
    format!("(?:{})", forms.join("|"))
}

/// The characters that RFC 3987 adds to those of RFC 3986, inside a class.
const UCSCHAR: &str = concat!(
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF",
    "\\u{10000}-\\u{1FFFD}\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}",
    "\\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}",
    "\\u{90000}-\\u{9FFFD}\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}",
    "\\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}"
);

/// The parts of RFC 3986, appendix A; `more` is added to the unreserved characters.
struct UriParts {
    /// What may follow `//`, with the path after it.
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
    let private =
        if more.is_empty() { "" } else { "\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}" };
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

/// RFC 6570, section 2, with the apostrophe that its erratum 6937 allows.
fn uri_template() -> String {
    let escape = "%[0-9A-Fa-f]{2}";
    let literal =
        format!("(?:[!#$&-;=?-\\[\\]_a-z~{UCSCHAR}\\uE000-\\uF8FF\\u{{F0000}}-\\u{{10FFFD}}]|{escape})");
    let name_char = format!("(?:[A-Za-z0-9_]|{escape})");
    let variable = format!("{name_char}(?:\\.?{name_char})*(?::[1-9][0-9]{{0,3}}|\\*)?");
    format!("(?:{literal}|\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}})*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_enforced_format_has_a_grammar() {
        for name in ENFORCED {
            assert!(matches!(find(name), Format::Enforced(known, _) if known == name), "{name}");
        }
    }
}
