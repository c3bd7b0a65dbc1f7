//! JSON Schema: drafts 4, 6, 7, 2019-09 and 2020-12.
//!
//! [`compile`] turns a schema into a grammar of the JSON texts that satisfy it, and into a [`Report`] of what
//! became of every keyword. A keyword is enforced exactly, or the schema is refused with the keyword's JSON
//! pointer and a reason; nothing is dropped silently. Not for validating documents that exist: a validator
//! takes any order of keys and any spelling of numbers.
//!
//! ```
//! use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, compile};
//!
//! let schema = r#"{"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}}"#;
//! let compiled = compile(schema, &JsonSchemaOptions::default())?;
//! assert_eq!(compiled.grammar.rule(compiled.grammar.root()).name(), "root");
//!
//! let refused = compile(r#"{"items": {"format": "idn-email"}}"#, &JsonSchemaOptions::default()).unwrap_err();
//! assert!(refused.to_string().contains("/items/format"));
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # How
//!
//! The naive way translates one keyword after the other into rules, and fails where two keywords speak about
//! one value. Here a schema becomes a *normal form* first: for each type a union of shapes (an interval of
//! numbers, a set of strings that pass tests, arrays by place, objects by name). Shapes are closed under
//! conjunction and complement, so `allOf`, `anyOf`, `oneOf`, `not`, `if` and siblings of `$ref` are
//! computed, not translated. What stands inside a shape (a property's schema, an item's) stays a *goal*: a
//! conjunction of schemas that nobody has read. Goals are interned, there are finitely many of them, and each
//! gets one rule; that is why recursion ends, equal parts are shared, and a document of 50,000 definitions
//! costs what the ten that are used cost. The method is that of witness generation for JSON Schema (Attouche
//! et al., VLDB 2022). Schemas without anything to compute, as those of most tools are, are told by one look
//! ([`outlook`]), and written to the same grammar without that detour.
//!
//! # The texts
//!
//! * Keys come in the order in which they are declared (or in another one: see [`KeyOrder`]): first those of the schema's own `properties`, then
//!   those of `$ref` and of the members of `allOf`, `anyOf`, `oneOf`, then names that only `required` or a
//!   dependency mentions. Undeclared keys come last, in any order; where `not` demands a member of any name
//!   with a certain value, such a member is the last. A declared name occurs at most once; undeclared names
//!   may repeat.
//! * Whitespace: see [`Whitespace`]. None before and none after the root value.
//! * Strings and keys: any escapes that JSON allows, or those that are needed: [`Escapes`]. `"\u0061"` is the key `a`.
//! * Numbers without bounds (`type: number`): all that JSON allows, exponents included.
//! * Integers: `-?(0|[1-9][0-9]*)`, and after it a point and zeros, if any (`1.0` is an integer, except in
//!   draft 4).
//! * Numbers under bounds or `multipleOf`, and numbers of `enum` and `const`: without an exponent, with any
//!   number of zeros at the end of a fraction, and without a sign for zero. Every number can be written so.
//! * Each number in one spelling only: [`Numbers::Canonical`].
//! * Items that must differ (`uniqueItems`) are compared by what they mean, `1` and `1.0` as `"a"` and `"\u0061"`. Where
//!   they come from a set that can be listed, the grammar says so itself; elsewhere it marks the array
//!   ([`RuleOptions::distinct`](grammask_grammar_ir::RuleOptions::distinct)), and whoever follows a text with it keeps
//!   what has occurred. Exponents have at most 18 digits there, and inside of items no name repeats.
//! * Objects and arrays of `enum` and `const`: keys in the order of the constant.
//!
//! # Formats
//!
//! Enforced: `date`, `time`, `date-time` (RFC 3339 with days that exist; a leap second where the zone is UTC),
//! `duration`, `email` (RFC 5321, up to 64 characters before the sign, and a host name or an address behind it),
//! `hostname` (no labels like `xn--a`; up to 3 labels of 63 characters, 8 of 30, or 25 of 9: the bound of 253 on the
//! whole is kept that way), `ipv4`, `ipv6`, `uri`, `uri-reference`, `iri`, `iri-reference`, `uri-template`, `uuid`,
//! `json-pointer`, `relative-json-pointer` (without steps along an array), `regex` (without references to groups and
//! with groups nested at most four deep; some rare spellings are left out). Refused: `idn-hostname`, `idn-email`. Names
//! that the standard does not know are annotations.
//!
//! What is left out of a format is not let in by `not`: under it stand the texts of which it is certain that they do
//! not obey the format; of `regex` none are known, so that `not` around it is refused. Beside `maxLength`, mailboxes and
//! host names that have a host name of more than 63 characters are bounded part by part, which leaves out some of them.
//!
//! # Not supported
//!
//! Refused with their places: `uniqueItems` where there may be fewer values than items (or names than members), below one of several alternatives of one type, and in schemas that are parts of other grammars; more than six
//! conditions that ask for items somewhere in an array (`contains`, or `not` around `items`), references to other
//! documents where no [`Retriever`] is given, patterns with look-behind or back-references, and combinations whose
//! alternatives pass a limit. [`Unsupported::Ignore`] ignores them and
//! says so in the report.
//!
//! # Errors and limits
//!
//! [`Diagnostics`] with a JSON pointer, a code that names the cause (`json-schema/syntax`, `/malformed`,
//! `/unsupported`, `/reference`, `/unsatisfiable`, `/limit`) and a hint. [`JsonSchemaLimits`] bounds size and
//! work. Documents nest at most 128 deep.

mod array_keywords;
mod array_shape;
mod comparing;
mod decimal;
mod difference;
mod document;
mod format_regex;
mod formats;
mod goal;
mod inhabited;
mod json;
mod keywords;
mod locate;
mod lower;
mod lower_contains;
mod lower_debts;
mod lower_listed;
mod lower_markup;
mod lower_notation;
mod lower_number;
mod lower_object;
mod lower_spelling;
mod lower_step;
mod lower_string;
mod lower_unique;
pub(crate) mod markup;
mod names;
mod norm;
pub(crate) mod notation;
mod number_keywords;
mod number_shape;
mod number_text;
mod object_keywords;
mod object_shape;
mod one_of;
mod options;
mod outlook;
mod pen;
mod plain;
mod positions;
mod proof;
mod punctuation;
mod report;
mod retriever;
mod same;
mod scope;
mod string_keywords;
mod string_shape;
mod text_tests;
mod types;
mod unevaluated;
mod uri;
mod value_counts;
mod vocabulary;

use bumpalo::Bump;
use grammask_grammar_ir::{Grammar, Span};
use serde_json::Value;

pub use locate::located;
pub use options::{
    Escapes, Formats, FreeNames, JsonSchemaLimits, JsonSchemaOptions, KeyOrder, Numbers, Objects,
    Unsupported, Whitespace,
};
pub use outlook::{SimpleSchema, outlook, simple_schema};
pub use report::{Report, ReportEntry, Treatment};
pub use retriever::Retriever;
pub use vocabulary::{KEYWORDS, Keyword, keyword_table};

pub(crate) use self::comparing::Comparison;
use self::document::{Document, Draft, Sources};
use self::goal::{Atom, GoalId};
use self::keywords::Normalizer;
pub(crate) use self::lower::Written;
use self::norm::Algebra;
use crate::{Diagnostic, Diagnostics};

/// A schema as a grammar.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The texts that satisfy the schema; the root rule is `root`.
    pub grammar: Grammar,
    /// What became of every keyword.
    pub report: Report,
}

/// Compiles the text of a schema.
pub fn compile(schema: &str, options: &JsonSchemaOptions) -> Result<Compiled, Diagnostics> {
    let (grammar, report) = compile_text(schema, options, Some(Report::default()))?;
    Ok(Compiled { grammar, report: report.unwrap_or_default() })
}

/// What becomes of every keyword of a schema, also where it is refused: then the keywords that are in the way are
/// [`Treatment::Refused`], all of them at once, each with its reason.
///
/// # Errors
///
/// Where the schema is malformed, refers to nothing, has no text that satisfies it, or passes a limit.
pub fn report(schema: &str, options: &JsonSchemaOptions) -> Result<Report, Diagnostics> {
    let lenient = options.clone().unsupported(Unsupported::Ignore);
    let mut report = compile(schema, &lenient)?.report;
    if options.unsupported == Unsupported::Refuse {
        report.refuse_what_is_ignored();
    }
    Ok(report)
}

/// As [`compile`], without the report, which takes up to a tenth of the time.
pub fn compile_grammar(schema: &str, options: &JsonSchemaOptions) -> Result<Grammar, Diagnostics> {
    compile_text(schema, options, None).map(|(grammar, _)| grammar)
}

fn compile_text(
    schema: &str,
    options: &JsonSchemaOptions,
    report: Option<Report>,
) -> Result<(Grammar, Option<Report>), Diagnostics> {
    let limit = options.limits.schema_bytes;
    if schema.len() > limit {
        let message = format!("the schema has {} bytes, more than {limit}", schema.len());
        let error = Diagnostic::error("json-schema/limit", message);
        return Err(error.with_hint("make it smaller or raise the limit `schema_bytes`").into());
    }
    let limit = options.limits.values;
    // Every value but the first takes a byte at least.
    if schema.len() >= limit && count_values(schema) > limit {
        let error =
            Diagnostic::error("json-schema/limit", format!("the schema holds more than {limit} values"));
        return Err(error.with_hint("make it smaller or raise the limit `values`").into());
    }
    let arena = Bump::new();
    let value = json::parse(schema, &arena).map_err(|error| syntax_error(schema, &error))?;
    if report.is_none()
        && schema.len() <= outlook::MAX_BYTES
        && let Some(grammar) = plain::grammar_if_plain(&value, options)
    {
        return Ok((grammar, None));
    }
    compile_parsed(&value, &with_limits_of(schema, options), Written::Json, Comparison::Possible, &[], report)
        .map_err(|error| (*error).with_json_source(schema).into())
}

/// Bytes of a schema for each schema in it that always may be reached.
const BYTES_OF_GOAL: usize = 32;

/// The options with the limits that a text of this size has.
fn with_limits_of(schema: &str, options: &JsonSchemaOptions) -> JsonSchemaOptions {
    let mut options = options.clone();
    options.limits.goals = options.limits.goals.max(schema.len() / BYTES_OF_GOAL);
    options
}

/// Where the text stops being JSON.
fn syntax_error(schema: &str, error: &serde_json::Error) -> Diagnostic {
    let full = error.to_string();
    // The parser appends the place.
    let reason = full.rsplit_once(" at line ").map_or(&*full, |(reason, _)| reason);
    let hint = match reason {
        "recursion limit exceeded" => "nest less; documents may nest 128 deep",
        "key must be a string" => "put names in double quotes",
        "trailing comma" => "leave out the comma before the closing bracket",
        "trailing characters" => "give one JSON value and nothing after it",
        _ if error.is_eof() => "the text ends too early; give the whole schema",
        _ if reason.starts_with("control character") => {
            "close the string before the line ends; line breaks inside are written `\\n`"
        }
        _ => "correct the JSON",
    };
    let line_start = match error.line().saturating_sub(2) {
        _ if error.line() <= 1 => 0,
        newlines => schema.match_indices('\n').nth(newlines).map_or(0, |(newline, _)| newline + 1),
    };
    // Columns count bytes from 1; column 0 is the line break before the line.
    let start = (line_start + error.column()).saturating_sub(1).min(schema.len());
    let end = schema[..].char_indices().map(|(at, _)| at).find(|&at| at > start).unwrap_or(schema.len());
    Diagnostic::error("json-schema/syntax", format!("the schema is no JSON: {reason}"))
        .with_label(schema, Span::new(start, end.max(start)), "")
        .with_hint(hint)
}

/// About how many values and names a JSON text holds, judged by the signs before them. Reading them costs many
/// times the memory of the text, so that the text is judged first.
fn count_values(schema: &str) -> usize {
    let mut count = 1;
    let mut inside = false;
    let mut bytes = schema.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => inside = !inside,
            b'\\' if inside => drop(bytes.next()),
            b',' | b':' | b'[' | b'{' if !inside => count += 1,
            _ => {}
        }
    }
    count
}

/// Compiles a schema that was parsed already. Limits on bytes do not apply.
pub fn compile_value(schema: &Value, options: &JsonSchemaOptions) -> Result<Compiled, Diagnostics> {
    let arena = Bump::new();
    let (schema, report) = (json::borrowed(schema, &arena), Some(Report::default()));
    let (grammar, report) =
        compile_parsed(&schema, options, Written::Json, Comparison::Possible, &[], report)
            .map_err(|error| Diagnostics::from(*error))?;
    Ok(Compiled { grammar, report: report.unwrap_or_default() })
}

/// Compiles a schema that stands in another document; with marks, one of arguments whose members stand between them.
pub(crate) fn compile_within(
    schema: &Value,
    options: &JsonSchemaOptions,
    written: Written,
    excludes: &[Box<str>],
) -> Result<Grammar, Diagnostics> {
    let arena = Bump::new();
    within(&json::borrowed(schema, &arena), options, written, excludes)
}

/// As [`compile_within`], for a text that there is a [`SimpleSchema`] for.
pub(crate) fn compile_outlook(schema: &str, options: &JsonSchemaOptions) -> Result<Grammar, Diagnostics> {
    let arena = Bump::new();
    let value = json::parse(schema, &arena).map_err(|error| syntax_error(schema, &error))?;
    match plain::grammar(&value, options) {
        Some(grammar) => Ok(grammar),
        None => within(&value, options, Written::Json, &[]),
    }
}

/// The general way, for what may be [plain](plain::grammar) too.
#[cfg(test)]
fn compile_generally(
    schema: &json::Value<'_>,
    options: &JsonSchemaOptions,
) -> Result<Grammar, Box<Diagnostic>> {
    compile_parsed(schema, options, Written::Json, Comparison::Possible, &[], None)
        .map(|(grammar, _)| grammar)
}

fn within(
    schema: &json::Value<'_>,
    options: &JsonSchemaOptions,
    written: Written,
    excludes: &[Box<str>],
) -> Result<Grammar, Diagnostics> {
    match compile_parsed(schema, options, written, Comparison::Impossible, excludes, None) {
        Ok((grammar, _)) => Ok(grammar),
        Err(error) => Err((*error).into()),
    }
}

fn compile_parsed(
    schema: &json::Value<'_>,
    options: &JsonSchemaOptions,
    written: Written,
    comparison: Comparison,
    excludes: &[Box<str>],
    report: Option<Report>,
) -> Result<(Grammar, Option<Report>), Box<Diagnostic>> {
    with_normalizer(schema, options, report, |normalizer, root| {
        let (grammar, normalizer) = lower::lower(normalizer, root, (written, comparison), excludes)?;
        let mut report = normalizer.report;
        if let Some(report) = &mut report {
            report.settle();
        }
        Ok((grammar, report))
    })
}

/// Does something with what reads the schemas of a document, and with the goal of the whole document.
fn with_normalizer<T>(
    schema: &json::Value<'_>,
    options: &JsonSchemaOptions,
    report: Option<Report>,
    then: impl FnOnce(Box<Normalizer<'_>>, GoalId) -> Result<T, Box<Diagnostic>>,
) -> Result<T, Box<Diagnostic>> {
    let arena = Bump::new();
    let sources = Sources {
        retriever: options.retriever.clone(),
        arena: &arena,
        documents: options.limits.documents,
        values: options.limits.values,
    };
    let mut document = Document::new(schema, draft(schema)?, sources);
    let entry = document.entry();
    let algebra = Algebra::new(options.limits);
    let mut normalizer = Box::new(Normalizer::new(document, algebra, options.clone(), report));
    let root = match schema {
        json::Value::Bool(true) => GoalId::ANY,
        _ => normalizer.algebra.goals.atom(Atom::Schema(entry)),
    };
    then(normalizer, root)
}

/// The dialect that the document asks for; draft 2020-12 where it names none or one that is not known.
fn draft(schema: &json::Value<'_>) -> Result<Draft, Box<Diagnostic>> {
    let Some(name) = schema.as_object().and_then(|members| members.get("$schema")) else {
        return Ok(Draft::Draft2020);
    };
    let Some(name) = name.as_str() else {
        let error = Diagnostic::error("json-schema/malformed", "`$schema` must be a string");
        return Err(Box::new(error.with_pointer("/$schema").with_hint("name a draft of JSON Schema")));
    };
    for old in ["draft-00", "draft-01", "draft-02", "draft-03"] {
        if name.contains(&format!("json-schema.org/{old}/")) {
            let message = format!("`$schema`: {old} is not supported");
            let error = Diagnostic::error("json-schema/unsupported", message);
            return Err(Box::new(error.with_pointer("/$schema").with_hint("use draft-04 or a later one")));
        }
    }
    Ok(Draft::from_uri(name).unwrap_or(Draft::Draft2020))
}
