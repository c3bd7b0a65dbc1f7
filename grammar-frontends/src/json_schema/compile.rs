//! From the text of a schema to its grammar: the stages in their order.

use std::cell::Cell;
use std::rc::Rc;

use bumpalo::Bump;
use grammask_grammar_ir::{Grammar, Span, passes};

use super::document::ids::Draft;
use super::document::json;
use super::document::nodes::{Document, Sources};
use super::guidance;
use super::lower::lowering;
use super::normalize::normalizer::{Normalizer, Wishes};
use super::options::{FreeNames, JsonSchemaOptions, Unsupported};
use super::report::{Asked, Report};
use super::sets::goals::{Atom, GoalId};
use super::sets::normal_form::Algebra;
use super::value_syntax::{ItemComparison, ValueSyntax};
use super::work::{WORK_PER_BYTE, Work};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::json::{JsonError, JsonValue};

/// A schema as a grammar.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The texts that satisfy the schema; the root rule is `root`.
    pub grammar: Grammar,
    /// The treatment of every keyword.
    pub report: Report,
    /// The [work](super::JsonSchemaLimits::work) that it took.
    pub work: usize,
}

/// Compiles the text of a schema.
pub fn compile(schema: &str, options: &JsonSchemaOptions) -> Result<Compiled, Diagnostics> {
    compile_text(schema, options, Report::default())
}

/// Reports the treatment of every keyword of a schema. In a refused schema the keywords that are in the way are
/// [`Treatment::Refused`](crate::json_schema::Treatment::Refused), all of them at once, each with its reason.
///
/// # Errors
///
/// Where the schema is malformed, refers to nothing, has no text that satisfies it, or passes a limit.
pub fn report(schema: &str, options: &JsonSchemaOptions) -> Result<Report, Diagnostics> {
    let lenient = options.clone().unsupported(Unsupported::Ignore);
    let mut report = compile_text(schema, &lenient, Report::that_goes_on())?.report;
    let asked = match std::mem::take(&mut report.asked) {
        Asked::Reported(Some(asked)) => asked,
        _ => options.unsupported,
    };
    if asked == Unsupported::Refuse {
        report.refuse_ignored();
    }
    Ok(report)
}

/// As [`compile`], with a report of what its [warnings](Report::warnings) name alone. A whole one takes up to a tenth of
/// the time.
pub fn compile_with_warnings(schema: &str, options: &JsonSchemaOptions) -> Result<Compiled, Diagnostics> {
    compile_text(schema, options, Report::of_warnings())
}

/// As [`compile_with_warnings`], the grammar alone.
pub fn compile_grammar(schema: &str, options: &JsonSchemaOptions) -> Result<Grammar, Diagnostics> {
    Ok(compile_with_warnings(schema, options)?.grammar)
}

fn compile_text(schema: &str, options: &JsonSchemaOptions, report: Report) -> Result<Compiled, Diagnostics> {
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
    compile_parsed(
        &value,
        &with_limits_of(schema, options),
        ValueSyntax::Json,
        ItemComparison::Possible,
        &[],
        report,
        &mut 0,
    )
    .map_err(|error| (*error).with_json_source(schema).into())
}

/// Bytes of a schema for each schema in it that always may be reached.
const BYTES_PER_GOAL: usize = 32;

/// The options with the limits that a text of this size has.
pub(super) fn with_limits_of(schema: &str, options: &JsonSchemaOptions) -> JsonSchemaOptions {
    let mut options = options.clone();
    options.limits.goals = options.limits.goals.max(schema.len() / BYTES_PER_GOAL);
    options.limits.work = options.limits.work.saturating_add(WORK_PER_BYTE.saturating_mul(schema.len()));
    options
}

/// Where the text stops being JSON.
fn syntax_error(schema: &str, error: &JsonError) -> Diagnostic {
    let reason = error.reason();
    let hint = match reason {
        "recursion limit exceeded" => "nest less; documents may nest 127 deep",
        "key must be a string" => "put names in double quotes",
        "trailing comma" => "leave out the comma before the closing bracket",
        "trailing characters" => "give one JSON value and nothing after it",
        _ if error.is_at_end() => "the text ends too early; give the whole schema",
        _ if reason.starts_with("control character") => {
            "close the string before the line ends; line breaks inside are written `\\n`"
        }
        _ => "correct the JSON",
    };
    let start = error.offset();
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
pub fn compile_value(schema: &JsonValue, options: &JsonSchemaOptions) -> Result<Compiled, Diagnostics> {
    let arena = Bump::new();
    let (schema, report) = (json::borrowed(schema, &arena), Report::default());
    compile_parsed(&schema, options, ValueSyntax::Json, ItemComparison::Possible, &[], report, &mut 0)
        .map_err(|error| (*error).into())
}

/// Compiles a schema that is part of another document, for values that are written in a given syntax. The report is one of
/// warnings. The work is added to `spent`, also where the schema is refused.
pub(crate) fn compile_within(
    schema: &JsonValue,
    options: &JsonSchemaOptions,
    syntax: ValueSyntax,
    excludes: &[Box<str>],
    spent: &mut usize,
) -> Result<Compiled, Diagnostics> {
    let arena = Bump::new();
    let (value, report) = (json::borrowed(schema, &arena), Report::of_warnings());
    compile_parsed(&value, options, syntax, ItemComparison::Impossible, excludes, report, spent)
        .map_err(|error| (*error).with_found(&schema.to_string()).into())
}

fn compile_parsed(
    schema: &json::Value<'_>,
    options: &JsonSchemaOptions,
    syntax: ValueSyntax,
    comparison: ItemComparison,
    excludes: &[Box<str>],
    report: Report,
    spent: &mut usize,
) -> Result<Compiled, Box<Diagnostic>> {
    let wishes = Rc::<Cell<Wishes>>::default();
    let mut compile = |options: &JsonSchemaOptions, report: Report, comparison: ItemComparison| {
        let work = Work::up_to(options.limits.work as u64);
        let lowered = with_normalizer(schema, options, report, work.clone(), |mut normalizer, root| {
            normalizer.wishes = Rc::clone(&wishes);
            let (grammar, normalizer) = lowering::lower(normalizer, root, (syntax, comparison), excludes)?;
            let mut report = normalizer.report;
            report.settle();
            Ok((grammar, report))
        });
        *spent = spent.saturating_add(work.spent());
        lowered.map(|(grammar, report)| Compiled { grammar, report, work: *spent })
    };
    let mut compiled = compile(options, report.clone(), comparison);
    if wishes.get().told_repeats {
        let strict = options.clone().unsupported(Unsupported::Refuse);
        let again = compile(&strict, report.clone(), ItemComparison::BesideOthers);
        compiled = if again.as_ref().is_ok_and(tells_repeats) { again } else { compiled };
    }
    // Marks of names must be the same in all readings of a text, so that free names are kept from repeating everywhere or
    // nowhere. Readers of JSON disagree on what repeated names mean, and most writers cannot write them.
    if wishes.get().unique_names && options.free_names == FreeNames::MayRepeat {
        let strict = options.clone().free_names(FreeNames::Unique).unsupported(Unsupported::Refuse);
        let told = wishes.get().told_repeats.then_some(ItemComparison::BesideOthers);
        let told = told.and_then(|way| compile(&strict, report.clone(), way).ok()).filter(tells_repeats);
        if let Some(compiled) = told.or_else(|| compile(&strict, report, comparison).ok()) {
            return Ok(compiled);
        }
    }
    compiled
}

/// Whether texts of the grammar have the symbol for a repeat. Without it nothing in a text could tell readings apart.
fn tells_repeats(compiled: &Compiled) -> bool {
    passes::drop_unreachable(&compiled.grammar).is_ok_and(|grammar| passes::mentions_tokens(&grammar))
}

/// Calls a function with the normaliser of a document, and with the goal of the whole document.
pub(super) fn with_normalizer<T>(
    schema: &json::Value<'_>,
    options: &JsonSchemaOptions,
    report: Report,
    work: Work,
    then: impl FnOnce(Box<Normalizer<'_>>, GoalId) -> Result<T, Box<Diagnostic>>,
) -> Result<T, Box<Diagnostic>> {
    let mut report = report;
    let mut guided = guidance::with_options_of(schema, options)?;
    if let Asked::Reported(asked) = &mut report.asked {
        *asked = guidance::unsupported(schema);
        guided.to_mut().unsupported = options.unsupported;
    }
    let options = &*guided;
    let arena = Bump::new();
    let sources = Sources {
        retriever: options.retriever.clone(),
        arena: &arena,
        documents: options.limits.documents,
        values: options.limits.values,
        work: work.clone(),
    };
    let mut document = Document::new(schema, draft(schema)?, sources);
    let entry = document.entry();
    let algebra = Algebra::new(options.limits, options.key_order, work);
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
