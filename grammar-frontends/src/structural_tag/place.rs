//! Places in a document, and refusals of the content there.

use std::fmt::Write as _;

use grammask_grammar_ir::GrammarError;

use super::schema_value::SchemaValue;
use crate::diagnostic::Result;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// A place in the document, as a chain that is only spelled out for a report.
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    segment: Segment<'p>,
    depth: usize,
    limit: usize,
    /// The schemas that were taken out of the document.
    schemas: &'p [SchemaValue],
}

enum Segment<'p> {
    Root(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Place<'p> {
    /// The document, or the part of it at a pointer. `limit` is how deep formats may nest.
    pub(super) fn root(pointer: &'p str, limit: usize) -> Self {
        Place { parent: None, segment: Segment::Root(pointer), depth: 0, limit, schemas: &[] }
    }

    pub(super) fn with_schemas(self, schemas: &'p [SchemaValue]) -> Self {
        Self { schemas, ..self }
    }

    /// The schema that was taken out of the document under this index.
    pub(super) fn schema(&self, index: usize) -> Option<&SchemaValue> {
        self.schemas.get(index)
    }

    fn child<'c>(&'c self, segment: Segment<'c>, depth: usize) -> Place<'c> {
        Place { parent: Some(self), segment, depth, limit: self.limit, schemas: self.schemas }
    }

    pub(super) fn key<'c>(&'c self, key: &'c str) -> Place<'c> {
        self.child(Segment::Key(key), self.depth)
    }

    /// An item of an array.
    pub(super) fn index(&self, index: usize) -> Place<'_> {
        self.child(Segment::Index(index), self.depth)
    }

    /// The same place, one format deeper.
    pub(super) fn deeper(&self) -> Place<'_> {
        self.child(Segment::Root(""), self.depth + 1)
    }

    pub(super) fn check_depth(&self) -> Result<()> {
        if self.depth < self.limit {
            return Ok(());
        }
        // The document itself stands around the outermost format.
        let message = format!("formats nest deeper than {}", self.limit.saturating_sub(1));
        let error = Diagnostic::error("structural-tag/limit", message).with_pointer(self.pointer());
        Err(Box::new(error.with_hint("nest less or raise the limit `nesting`")))
    }

    /// The JSON pointer.
    pub(super) fn pointer(&self) -> String {
        let mut segments = Vec::with_capacity(16);
        let mut at = Some(self);
        while let Some(place) = at {
            segments.push(&place.segment);
            at = place.parent;
        }
        let mut pointer = String::with_capacity(64);
        for segment in segments.into_iter().rev() {
            match segment {
                Segment::Root(text) => pointer.push_str(text),
                Segment::Key(key) => {
                    pointer.push('/');
                    match key.contains(['~', '/']) {
                        true => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                        false => pointer.push_str(key),
                    }
                }
                Segment::Index(index) => {
                    // Writing to a string cannot fail.
                    let _ = write!(pointer, "/{index}");
                }
            }
        }
        pointer
    }
}

/// A refusal of the content at a place.
pub(super) fn malformed(
    place: &Place<'_>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Box<Diagnostic> {
    let error = Diagnostic::error("structural-tag/malformed", message).with_pointer(place.pointer());
    Box::new(error.with_hint(hint))
}

/// A refusal of a construct that cannot be expressed.
pub(super) fn unsupported(place: &Place<'_>, message: impl Into<String>, hint: &str) -> Box<Diagnostic> {
    let error = Diagnostic::error("structural-tag/unsupported", message).with_pointer(place.pointer());
    Box::new(error.with_hint(hint))
}

/// A refusal by the grammar builder.
pub(super) fn grammar_error(place: &Place<'_>, error: &GrammarError) -> Box<Diagnostic> {
    Box::new(Diagnostic::of_builder(error, "structural-tag/grammar").with_pointer(place.pointer()))
}

/// Moves the errors of an embedded text to its place in this document.
pub(super) fn embedded(errors: Diagnostics, place: &Place<'_>, what: &str) -> Box<Diagnostic> {
    Box::new(errors.into_first().embedded_at(&place.pointer(), what))
}
