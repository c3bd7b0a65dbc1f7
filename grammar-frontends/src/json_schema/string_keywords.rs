//! `minLength`, `maxLength`, `pattern`, `format`.

use super::document::{NodeId, member};
use super::formats::{self, Format};
use super::json::Members;
use super::keywords::{Fallible, Normalizer};
use super::number_keywords::count;
use super::options::{Formats, Unsupported};
use super::report::{ReportEntry, Treatment};
use super::string_shape::StringShape;
use super::text_tests::{Sense, TextTest};
use crate::regex::Matching;

pub(super) fn read<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
) -> Fallible<StringShape<'s>> {
    let mut shape = StringShape::any();
    shape.min = count(n, node, members, "minLength")?.unwrap_or(0);
    shape.max = count(n, node, members, "maxLength")?;
    if let Some(value) = member(members, "pattern") {
        let Some(pattern) = value.as_str() else {
            return Err(n.malformed(node, "pattern", "a string"));
        };
        shape.tests.extend(pattern_test(n, node, "pattern", pattern)?);
    }
    if let Some(value) = member(members, "format") {
        let Some(name) = value.as_str() else {
            return Err(n.malformed(node, "format", "a string"));
        };
        shape.tests.extend(format_test(n, node, name)?);
    }
    shape.tests.sort_unstable();
    shape.tests.dedup();
    Ok(shape)
}

/// The test of an ECMA-262 pattern; none where it is refused and the caller wants to go on without it.
pub(super) fn pattern_test(
    n: &mut Normalizer<'_>,
    node: NodeId,
    keyword: &str,
    pattern: &str,
) -> Fallible<Option<TextTest>> {
    match n.algebra.tests.pattern(pattern, Matching::Search) {
        Ok(test) => Ok(Some(TextTest { test, sense: Sense::Holds })),
        Err(diagnostics) => {
            let pointer = format!("{}/{keyword}", n.document.pointer(node));
            let first = diagnostics.into_vec().swap_remove(0);
            match n.options.unsupported {
                Unsupported::Refuse => Err(Box::new(first.embedded_at(&pointer, "pattern"))),
                Unsupported::Ignore => {
                    if let Some(report) = &mut n.report {
                        report.push(ReportEntry {
                            pointer,
                            keyword: keyword.to_owned(),
                            treatment: Treatment::Ignored,
                            note: Some(first.message().to_owned()),
                        });
                    }
                    Ok(None)
                }
            }
        }
    }
}

fn format_test(n: &mut Normalizer<'_>, node: NodeId, name: &str) -> Fallible<Option<TextTest>> {
    let found = match n.options.formats {
        Formats::Annotation => Format::Unknown,
        Formats::Enforced => formats::find(name),
    };
    let (test, note) = match (n.options.formats, found) {
        (Formats::Annotation, _) => (None, "formats are annotations by the caller's choice"),
        (_, Format::Unknown) => (None, "not a format of JSON Schema"),
        (_, Format::NotEnforced) => {
            let hint = "remove the format, or ask for formats to be annotations";
            return n.unsupported(node, "format", format!("`{name}` is not enforced"), hint).map(|()| None);
        }
        (_, Format::Enforced(texts)) => {
            let test = n.algebra.tests.format(texts, node);
            (Some(TextTest { test, sense: Sense::Holds }), "")
        }
    };
    let treatment = if test.is_some() { Treatment::Enforced } else { Treatment::Annotation };
    if let Some(report) = &mut n.report {
        report.push(ReportEntry {
            pointer: format!("{}/format", n.document.pointer(node)),
            keyword: "format".to_owned(),
            treatment,
            note: Some(note.to_owned()).filter(|note| !note.is_empty()),
        });
    }
    Ok(test)
}
