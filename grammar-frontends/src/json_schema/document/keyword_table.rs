//! The keywords of JSON Schema, the drafts that have them, and how each is treated.

use std::fmt::Write as _;

use once_cell::race::OnceBox;

use super::ids::Draft;
use super::json::Members;
use crate::json_schema::report::Treatment;

/// The treatment of a keyword by this frontend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keyword {
    /// Its name.
    pub name: &'static str,
    /// [`Treatment::Enforced`], or [`Treatment::Annotation`] where it asserts nothing.
    pub treatment: Treatment,
    /// Where a schema with it is refused; empty where none is. Bounds on the size of what alternatives combine to
    /// hold for all.
    pub refused: &'static str,
    since: Draft,
    until: Draft,
}

impl Keyword {
    /// The drafts in which it has its meaning: `"all"`, `"6 on"`, `"2019-09"`, `"4 to 7"`.
    pub fn drafts(&self) -> String {
        drafts(self.since, self.until)
    }
}

/// The drafts from one to another one, in words.
pub(crate) fn drafts(since: Draft, until: Draft) -> String {
    match (since, until) {
        (Draft::Draft4, Draft::Draft2020) => "all".to_owned(),
        (since, Draft::Draft2020) if since < Draft::Draft2020 => format!("{} on", since.name()),
        (since, until) if since == until => since.name().to_owned(),
        (since, until) => format!("{} to {}", since.name(), until.name()),
    }
}

const fn enforced(name: &'static str, since: Draft, refused: &'static str) -> Keyword {
    Keyword { name, treatment: Treatment::Enforced, refused, since, until: Draft::Draft2020 }
}

const fn annotation(name: &'static str, since: Draft) -> Keyword {
    Keyword { name, treatment: Treatment::Annotation, refused: "", since, until: Draft::Draft2020 }
}

const fn until(keyword: Keyword, until: Draft) -> Keyword {
    Keyword { until, ..keyword }
}

const REGEX: &str = "back-references; look-behind that may look past the parts before it in its group; other look-around that may look past the parts beside it, and word boundaries, in most repeats without a bound";
const MANY: &str = "more alternatives than `alternatives`";
const REMOTE: &str = "another document without a retriever";

/// Every keyword that is known, assertions and applicators first.
#[rustfmt::skip]
pub const KEYWORDS: &[Keyword] = {
    use Draft::{Draft4, Draft6, Draft7, Draft2019, Draft2020};
    &[
        enforced("type", Draft4, "`integer` in a schema of draft 4 inside one of another draft, or the reverse; arguments \
            of a call that are no object, where they are not written as JSON"),
        enforced("enum", Draft4, "numbers of more digits than `digits`, written without an exponent"),
        enforced("const", Draft6, "as `enum`"),
        enforced("minimum", Draft4, "numbers of more digits than `digits`"),
        enforced("maximum", Draft4, "as `minimum`"),
        enforced("exclusiveMinimum", Draft4, "as `minimum`"),
        enforced("exclusiveMaximum", Draft4, "as `minimum`"),
        enforced("multipleOf", Draft4, "steps of more states than `states`, unless at most 4,096 multiples lie between \
            bounds; steps of more than 18 digits"),
        enforced("minLength", Draft4, "beside a pattern, a product of more states than `states`"),
        enforced("maxLength", Draft4, "beside patterns of more states than `states` together; in other notations, and in names \
            that must differ, as `minLength`"),
        enforced("pattern", Draft4, REGEX),
        enforced(
            "format",
            Draft4,
            "`idn-hostname`, `idn-email`; under `not`, `regex`; constants of which it is not certain whether \
            they obey; unknown names are annotations",
        ),
        enforced(
            "properties",
            Draft4,
            "between the marks of a tool format, names with signs of markup; in any order, more than 10,000",
        ),
        enforced("required", Draft4, ""),
        enforced("additionalProperties", Draft4, "names that are left free, where the caller wants them unique, in parts of other grammars or where \
            they are few; free names where the closing mark of a tool format repeats the name"),
        enforced("patternProperties", Draft4, "as `pattern`; patterns that overlap in more than 64 \
            ways"),
        enforced("propertyNames", Draft6, ""),
        enforced("minProperties", Draft4, "more than one member of a free name, in parts of other grammars or where the names are \
            few; more states than `states`"),
        enforced("maxProperties", Draft4, "more states than `states`"),
        enforced("dependencies", Draft4, "more combinations than `alternatives`"),
        enforced("dependentRequired", Draft2019, "more combinations than `alternatives`"),
        enforced("dependentSchemas", Draft2019, "more combinations than `alternatives`"),
        enforced("unevaluatedProperties", Draft2019, MANY),
        enforced("items", Draft4, ""),
        until(enforced("additionalItems", Draft4, ""), Draft2019),
        enforced("prefixItems", Draft2020, "between the marks of a tool format"),
        enforced("minItems", Draft4, "counts of more than 32 bits"),
        enforced("maxItems", Draft4, ""),
        enforced("uniqueItems", Draft4, "more items than values, or more members than names inside of items; below one \
            of several alternatives of one type, where another one lets the same items repeat and names may run out inside of them; in parts \
            of other grammars; under `not`; where items are compared, beside `contains` with `prefixItems`, or beside \
            several `contains` of which one has `minContains` above 1"),
        enforced("contains", Draft6, "more than six conditions on items at any place; more states than `states`; between the \
            marks of a tool format"),
        enforced("minContains", Draft2019, "as `contains`"),
        enforced("maxContains", Draft2019, "as `contains`"),
        enforced("unevaluatedItems", Draft2019, MANY),
        enforced("allOf", Draft4, MANY),
        enforced("anyOf", Draft4, MANY),
        enforced("oneOf", Draft4, MANY),
        enforced("not", Draft4, "more than five demands for members of any name; in parts of other grammars, two of them \
            for different values where the names may be equal; in any order, demands with over 2,048 names where names \
            may run out, and in parts of other grammars, demands for values; `uniqueItems` inside of it; \
            `multipleOf` inside of it with more states than `states`; more alternatives than `alternatives`"),
        enforced("if", Draft7, MANY),
        enforced("then", Draft7, ""),
        enforced("else", Draft7, ""),
        enforced("$ref", Draft4, REMOTE),
        enforced("$dynamicRef", Draft2020, REMOTE),
        until(enforced("$recursiveRef", Draft2019, ""), Draft2019),
        annotation("$schema", Draft4),
        until(annotation("id", Draft4), Draft4),
        annotation("$id", Draft6),
        annotation("$anchor", Draft2019),
        annotation("$dynamicAnchor", Draft2020),
        until(annotation("$recursiveAnchor", Draft2019), Draft2019),
        annotation("$vocabulary", Draft2019),
        annotation("$comment", Draft7),
        annotation("$defs", Draft2019),
        annotation("definitions", Draft4),
        annotation("title", Draft4),
        annotation("description", Draft4),
        annotation("default", Draft4),
        annotation("examples", Draft6),
        annotation("deprecated", Draft2019),
        annotation("readOnly", Draft7),
        annotation("writeOnly", Draft7),
        annotation("contentEncoding", Draft7),
        annotation("contentMediaType", Draft7),
        annotation("contentSchema", Draft2019),
    ]
};

/// The class of a keyword in a schema of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeywordClass {
    Assertion,
    Annotation,
    /// An assertion of other drafts.
    OtherDraft,
    /// Not a keyword: an annotation by the standard.
    Unknown,
    /// Its treatment depends on its value; its reader reports it.
    Special,
}

pub(crate) fn classify(name: &str, draft: Draft) -> KeywordClass {
    let Some(keyword) = find(name) else { return KeywordClass::Unknown };
    match keyword.treatment {
        _ if name == "format" => KeywordClass::Special,
        Treatment::Enforced if (keyword.since..=keyword.until).contains(&draft) => KeywordClass::Assertion,
        // A list under `items` has its old meaning in every draft, and this belongs to it.
        Treatment::Enforced if name == "additionalItems" => KeywordClass::Assertion,
        Treatment::Enforced => KeywordClass::OtherDraft,
        _ => KeywordClass::Annotation,
    }
}

/// The keywords that assert something in other drafts than one.
pub(crate) fn of_other_drafts(draft: Draft) -> &'static [&'static str] {
    static NAMES: [OnceBox<Vec<&'static str>>; Draft::Draft2020 as usize + 1] = [const { OnceBox::new() }; _];
    NAMES[draft as usize].get_or_init(|| {
        let names = KEYWORDS.iter().map(|keyword| keyword.name);
        Box::new(names.filter(|name| classify(name, draft) == KeywordClass::OtherDraft).collect())
    })
}

/// The entry of a keyword.
pub(crate) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

/// The keywords of a schema that can contradict one another on values of a type, for a message.
pub(crate) fn on_type(members: &Members, kind: &str) -> String {
    let keywords: &[&str] = match kind {
        "number" => &["type", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"],
        "string" => &["pattern", "format", "minLength", "maxLength"],
        "array" => &[
            "prefixItems",
            "items",
            "additionalItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
        ],
        _ => &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
        ],
    };
    let present = keywords.iter().filter(|keyword| members.contains_key(keyword));
    let present: Vec<String> = present.map(|keyword| format!("`{keyword}`")).collect();
    match present.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => "the keywords".to_owned(),
    }
}

/// All of [`KEYWORDS`] as a table in Markdown.
pub fn keyword_table() -> String {
    let mut table = String::from("| keyword | drafts | treatment | refused |\n|---|---|---|---|\n");
    for keyword in KEYWORDS {
        let Keyword { name, treatment, refused, .. } = keyword;
        let refused = if refused.is_empty() { "never" } else { refused };
        let refused = if *treatment == Treatment::Annotation { "" } else { refused };
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {} | {} | {refused} |", keyword.drafts(), treatment.name());
    }
    table
}
