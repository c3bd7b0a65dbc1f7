//! The formats of JSON Schema as ECMA-262 patterns over the whole text, each after the document that the
//! standard names for it.
//!
//! Some formats are no small regular languages (a host name counts its characters beside those of its labels), and of
//! some it is disputed which texts obey. Such a format has two languages: texts that obey it for certain, which a
//! schema that asks for the format takes; and a language around all texts that may obey it, outside of which a
//! schema under `not` takes its texts.

use std::sync::{Arc, OnceLock};

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, passes};

use crate::regex::{self, Matching, RegexOptions};

/// How a format is treated.
#[derive(Clone, Debug)]
pub(crate) enum StringFormat {
    Enforced(Arc<FormatTexts>),
    /// A format of the standard that this frontend cannot enforce.
    NotEnforced,
    /// Not a format of the standard: an annotation.
    Unknown,
}

/// The texts of a format; the grammars have one rule each.
#[derive(Debug)]
pub(crate) struct FormatTexts {
    pub(crate) name: &'static str,
    /// All of them obey it.
    pub(crate) within: Grammar,
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
static TEXTS: [OnceLock<Option<Arc<FormatTexts>>>; ENFORCED.len()] =
    [const { OnceLock::new() }; ENFORCED.len()];

pub(crate) fn find(name: &str) -> StringFormat {
    let Some(index) = ENFORCED.iter().position(|&known| known == name) else {
        return match name {
            "idn-hostname" | "idn-email" => StringFormat::NotEnforced,
            _ => StringFormat::Unknown,
        };
    };
    match TEXTS[index].get_or_init(|| texts(ENFORCED[index]).map(Arc::new)) {
        Some(texts) => StringFormat::Enforced(Arc::clone(texts)),
        None => StringFormat::NotEnforced,
    }
}

fn texts(name: &'static str) -> Option<FormatTexts> {
    let within = match name {
        "email" => grammar_of(mailbox)?,
        "hostname" => grammar_of(|builder| host(builder, MAX_HOST))?,
        _ => whole(&pattern(name))?,
    };
    let around = match name {
        "regex" => OuterLanguage::Unknown,
        _ => pattern_around(name).map_or(Some(OuterLanguage::Same), |pattern| {
            whole(&pattern).map(|grammar| OuterLanguage::Wider(Box::new(grammar)))
        })?,
    };
    Some(FormatTexts { name, within, around })
}

impl FormatTexts {
    /// Texts of at most so many characters, where that is asked of the format oftener than a product of automata can
    /// serve; `None` of other formats, and where no text is longer.
    ///
    /// All texts whose host names have up to 63 characters are there. Of the others, those whose parts can be bounded
    /// one by one: see [`LOCAL_PARTS`] and [`HOSTS`].
    pub(crate) fn up_to(&self, most: u64) -> Option<Grammar> {
        match (self.name, u32::try_from(most).ok()?) {
            ("email", most @ 0..=MAX_MAILBOX) => grammar_of(|builder| mailbox_up_to(builder, most)),
            ("hostname", most @ 0..MAX_HOST) => grammar_of(|builder| host(builder, most)),
            _ => None,
        }
    }

    /// Whether [`up_to`](Self::up_to) has texts for a bound.
    pub(crate) fn is_bounded_by_parts(&self, most: u64) -> bool {
        match self.name {
            "email" => most <= u64::from(MAX_MAILBOX),
            "hostname" => most < u64::from(MAX_HOST),
            _ => false,
        }
    }
}

/// The grammar of the texts that a pattern matches as a whole.
fn whole(pattern: &str) -> Option<Grammar> {
    let options = RegexOptions { matching: Matching::Whole, ..RegexOptions::json_schema() };
    regex::parse(pattern, &options).ok()
}

/// As [`whole`], inside another grammar.
fn part(builder: &mut GrammarBuilder, pattern: &str) -> Option<ExprId> {
    passes::append_body(builder, &whole(pattern)?)
}

fn grammar_of(write: impl FnOnce(&mut GrammarBuilder) -> Option<ExprId>) -> Option<Grammar> {
    let mut builder = GrammarBuilder::new();
    let body = write(&mut builder)?;
    let root = builder.add_rule("root", body).ok()?;
    builder.finish(root).ok()
}

/// The pattern of a format that is enforced; those of `email` and `hostname` are written in parts.
fn pattern(name: &str) -> String {
    match name {
        "date" => DATE.to_owned(),
        "time" => TIME.to_owned(),
        "date-time" => format!("{DATE}[Tt]{TIME}"),
        "duration" => duration(),
        "ipv4" => ipv4(),
        "ipv6" => ipv6(),
        "uri" => uri(""),
        "uri-reference" => uri_reference(""),
        "iri" => uri(UCSCHAR),
        "iri-reference" => uri_reference(UCSCHAR),
        "uri-template" => uri_template(""),
        "uuid" => UUID.to_owned(),
        "json-pointer" => JSON_POINTER.to_owned(),
        "relative-json-pointer" => format!("(?:0|[1-9][0-9]*)(?:#|{JSON_POINTER})"),
        _ => super::format_regex::regex(),
    }
}

/// A pattern of more texts, where it is not certain of all others that they do not obey the format.
fn pattern_around(name: &str) -> Option<String> {
    Some(match name {
        // Whether a leap second is one in UTC takes arithmetic.
        "time" => TIME_AROUND.to_owned(),
        "date-time" => format!("{DATE}[Tt]{TIME_AROUND}"),
        // Units may be left out in the middle, or weeks be mixed with others, as some read ISO 8601.
        "duration" => "P[0-9DHMSTWY]+".to_owned(),
        // Without all that RFC 6531 adds and RFC 5322 takes besides.
        "email" => "[\\s\\S]+@[\\s\\S]+".to_owned(),
        // Drafts later than the one that the standard of 2019-09 names have steps along an array.
        "relative-json-pointer" => {
            format!("(?:0|[1-9][0-9]*)(?:[+-](?:0|[1-9][0-9]*))?(?:#|{JSON_POINTER})")
        }
        // Erratum 6937 adds the apostrophe.
        "uri-template" => uri_template("'"),
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

/// RFC 3339, section 5.6. A leap second is taken where the time zone is UTC: elsewhere, whether it is the
/// last second of the UTC day takes arithmetic.
const TIME: &str = concat!(
    "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?",
    "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    "|23:59:60(?:\\.[0-9]+)?(?:[Zz]|[+-]00:00))"
);

const TIME_AROUND: &str = concat!(
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]+)?",
    "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
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

/// Characters of a host name.
const MAX_HOST: u32 = 253;

/// How many labels a long host name may have, and how long each may be.
///
/// Counting the characters of the whole beside the label's own would take some thirty thousand states, so the bound on
/// the whole is kept by bounding the labels.
const HOSTS: [(u32, u32); 4] = [(2, 63), (3, 63), (8, 30), (25, 9)];

/// Host names of RFC 1123, section 2.1, of at most so many characters: labels of at most 63 letters, digits and inner
/// hyphens. Labels with hyphens at their third and fourth place are left out: `xn--` begins one whose decoded form RFC
/// 5891 judges by tables and by context, and the others are reserved.
fn host(builder: &mut GrammarBuilder, most: u32) -> Option<ExprId> {
    let mut ways = long_hosts(builder, most)?;
    if most < MAX_HOST {
        ways.push(short_host(builder, most.min(MAX_SHORT_HOST))?);
    }
    Some(builder.choice(ways))
}

/// No label of such a name is too long.
const MAX_SHORT_HOST: u32 = 63;

fn short_host(builder: &mut GrammarBuilder, most: u32) -> Option<ExprId> {
    let label = label("+", "*");
    let labels = part(builder, &format!("{label}(?:\\.{label})*"))?;
    let bound = part(builder, &format!(".{{1,{most}}}"))?;
    Some(builder.intersection([labels, bound]))
}

/// Names of which some are longer than short ones.
fn long_hosts(builder: &mut GrammarBuilder, most: u32) -> Option<Vec<ExprId>> {
    let mut ways = Vec::new();
    for (count, longest) in HOSTS {
        let longest = longest.min(((most + 1) / count).saturating_sub(1));
        let length = count * (longest + 1) - 1;
        // Three labels of any length hold two of them.
        if longest >= 5 && length > MAX_SHORT_HOST && (count > 2 || most < 3 * 64 - 1) {
            let label = label(&format!("{{1,{}}}", longest - 4), &format!("{{0,{}}}", longest - 5));
            ways.push(part(builder, &format!("{label}(?:\\.{label}){{0,{}}}", count - 1))?);
        }
    }
    Some(ways)
}

/// A label, with the repeats of inner signs in those that begin with more than three characters.
fn label(plain: &str, hyphen: &str) -> String {
    let (end, inner) = ("[A-Za-z0-9]", "[A-Za-z0-9-]");
    // By length: up to four characters; more, with the third or without it a letter or digit.
    format!(
        "{end}(?:{inner}{{0,2}}{end}|{inner}{end}{inner}{plain}{end}|{inner}-{end}(?:{inner}{hyphen}{end})?)?"
    )
}

/// Characters of a mailbox: 64 before the sign, and a host after it.
const MAX_MAILBOX: u32 = 64 + MAX_HOST;

/// Characters before the sign; 64 at most. Where the whole is bounded, what one of these leaves is the bound of a long
/// host.
const LOCAL_PARTS: [u32; 3] = [64, 32, 12];

/// Mailboxes of RFC 5321, section 4.1.2, with the bounds of section 4.5.3.1 on their parts.
fn mailbox(builder: &mut GrammarBuilder) -> Option<ExprId> {
    let before = bounded_local_part(builder, LOCAL_PARTS[0])?;
    let sign = builder.literal("@");
    let literal = part(builder, &literals())?;
    let host = host(builder, MAX_HOST)?;
    let behind = builder.choice([host, literal]);
    Some(builder.sequence([before, sign, behind]))
}

/// The part before the sign.
fn local_part(builder: &mut GrammarBuilder) -> Option<ExprId> {
    let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    let quoted = r#""(?:[ !#-\[\]-~]|\\[ -~])*""#;
    part(builder, &format!("{atom}(?:\\.{atom})*|{quoted}"))
}

fn bounded_local_part(builder: &mut GrammarBuilder, most: u32) -> Option<ExprId> {
    let any = local_part(builder)?;
    let bound = part(builder, &format!(".{{1,{most}}}"))?;
    Some(builder.intersection([any, bound]))
}

/// Addresses in place of a host name; they are shorter than short ones.
fn literals() -> String {
    format!("\\[(?:{}|IPv6:{})\\]", ipv4(), ipv6())
}

/// Mailboxes of at most so many characters: with short hosts all of them, others as [`LOCAL_PARTS`] says.
fn mailbox_up_to(builder: &mut GrammarBuilder, most: u32) -> Option<ExprId> {
    // One character, the sign and 64 others, or the reverse: no part is too long.
    let is_short = most <= 2 + LOCAL_PARTS[0];
    let (before, host) = if is_short {
        let label = label("+", "*");
        (local_part(builder)?, part(builder, &format!("{label}(?:\\.{label})*"))?)
    } else {
        (bounded_local_part(builder, LOCAL_PARTS[0])?, short_host(builder, MAX_SHORT_HOST)?)
    };
    let sign = builder.literal("@");
    let literal = part(builder, &literals())?;
    let behind = builder.choice([host, literal]);
    let whole = builder.sequence([before, sign, behind]);
    if most < LOCAL_PARTS[0] + 1 + MAX_SHORT_HOST {
        let bound = part(builder, &format!(".{{1,{most}}}"))?;
        return Some(builder.intersection([whole, bound]));
    }
    let mut ways = vec![whole];
    for local in LOCAL_PARTS {
        let hosts = long_hosts(builder, (most - local - 1).min(MAX_HOST))?;
        if !hosts.is_empty() {
            let before = bounded_local_part(builder, local)?;
            let behind = builder.choice(hosts);
            ways.push(builder.sequence([before, sign, behind]));
        }
    }
    Some(builder.choice(ways))
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

/// Characters of private use, as RFC 3987 lists them.
const PRIVATE: &str = "\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";

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

/// RFC 6570, section 2; `more` is added to the literals.
fn uri_template(more: &str) -> String {
    let escape = "%[0-9A-Fa-f]{2}";
    let literal = format!("(?:[!#$&(-;=?-\\[\\]_a-z~{more}{UCSCHAR}{PRIVATE}]|{escape})");
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
            assert!(matches!(find(name), StringFormat::Enforced(texts) if texts.name == name), "{name}");
        }
    }
}
