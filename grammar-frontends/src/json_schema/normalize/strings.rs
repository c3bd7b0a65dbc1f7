//! `minLength`, `maxLength`, `pattern`, `format`.

use grammask_grammar_ir::shorten;

use super::normalizer::Normalizer;
use super::numbers::count;
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::Members;
use crate::json_schema::options::{Formats, Unsupported};
use crate::json_schema::report::{ReportEntry, Treatment};
use crate::json_schema::sets::formats::{self, StringFormat};
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{Polarity, TextTest};
use crate::regex::Matching;

pub(crate) fn read<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Result<StringShape<'s>> {
    let mut shape = StringShape::any();
    let mut listed = None;
    shape.min = count(n, node, members, "minLength")?.unwrap_or(0);
    shape.max = count(n, node, members, "maxLength")?;
    if let Some(value) = members.get("pattern") {
        let Some(pattern) = value.as_str() else {
            return Err(n.malformed(node, "pattern", "a string"));
        };
        let test = pattern_test(n, node, "pattern", pattern)?;
        listed = test.and_then(|test| n.algebra.tests.listed(test.test, pattern));
        shape.tests.extend(test);
    }
    if let Some(value) = members.get("format") {
        let Some(name) = value.as_str() else {
            return Err(n.malformed(node, "format", "a string"));
        };
        shape.tests.extend(format_test(n, node, name)?);
    }
    shape.tests.sort_unstable();
    shape.tests.dedup();
    // A pattern by which schemas tell objects apart is a list mostly: `^circle$`. A contradiction is told by its keywords.
    // Whether a text obeys a format may not be known.
    let listed = listed
        .filter(|_| shape.tests.len() == 1)
        .map(|values| StringShape::finite(values).and(&shape, &n.algebra.tests));
    Ok(listed.filter(|listed| !listed.is_empty(&n.algebra.tests)).unwrap_or(shape))
}

/// The test of an ECMA-262 pattern; none where it cannot be enforced and the caller wants to go on without it. A malformed
/// pattern is a mistake of the schema.
pub(crate) fn pattern_test(
    n: &mut Normalizer<'_>,
    node: NodeId,
    keyword: &str,
    pattern: &str,
) -> Result<Option<TextTest>> {
    match n.algebra.tests.pattern(pattern, Matching::Search) {
        Ok(test) => Ok(Some(TextTest { test, sense: Polarity::Holds })),
        Err(diagnostics) => {
            let first = diagnostics.into_first();
            match n.options.unsupported {
                Unsupported::Ignore if first.code() != "regex/syntax" => {
                    n.report.push(Treatment::Ignored, || ReportEntry {
                        pointer: format!("{}/{keyword}", n.document.short_pointer(node)),
                        keyword: keyword.to_owned(),
                        treatment: Treatment::Ignored,
                        note: Some(shorten(first.message()).into_owned()),
                    });
                    Ok(None)
                }
                Unsupported::Refuse | Unsupported::Ignore => {
                    let pointer = format!("{}/{keyword}", n.document.pointer(node));
                    Err(Box::new(first.embedded_at(&pointer, "pattern")))
                }
            }
        }
    }
}

/// The note of a format of later drafts.
const OTHER_DRAFT_FORMAT: &str = "not a format of this draft";

fn format_test(n: &mut Normalizer<'_>, node: NodeId, name: &str) -> Result<Option<TextTest>> {
    let found = match n.options.formats {
        Formats::Annotation => StringFormat::Unknown,
        Formats::Enforced => formats::find(name, n.document.draft(node)),
    };
    let (test, note) = match (n.options.formats, found) {
        (Formats::Annotation, _) => (None, "formats are annotations by the caller's choice"),
        (_, StringFormat::Unknown) => (None, "not a format of JSON Schema"),
        (_, StringFormat::OfLaterDraft) => (None, OTHER_DRAFT_FORMAT),
        (_, StringFormat::NotEnforced) => {
            let hint = "remove the format, or ask for formats to be annotations";
            return n.unsupported(node, "format", format!("`{name}` is not enforced"), hint).map(|()| None);
        }
        (_, StringFormat::Enforced(texts)) => {
            let test = n.algebra.tests.format(texts, node);
            (Some(TextTest { test, sense: Polarity::Holds }), "")
        }
    };
    let treatment = match test {
        Some(_) => Treatment::Enforced,
        None if note == OTHER_DRAFT_FORMAT => Treatment::OtherDraft,
        None => Treatment::Annotation,
    };
    n.report.push(treatment, || ReportEntry {
        pointer: format!("{}/format", n.document.short_pointer(node)),
        keyword: "format".to_owned(),
        treatment,
        note: Some(note.to_owned()).filter(|note| !note.is_empty()),
    });
    Ok(test)
}
