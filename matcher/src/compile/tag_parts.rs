//! The parts of structural tags that a compiler keeps by their sources.

use std::sync::Arc;

use grammask_fsm::{BuildCost, DeferredProgram, ProgramTemplate, TemplateArm};
use grammask_grammar_frontends::json_schema::Report;
use grammask_grammar_frontends::structural_tag::{SchemaValue, TagExtent};

use crate::cache::compile_cache::{EntryKind, SourceKey};

/// A part, under a key of its [`EntryKind`].
#[derive(Clone, Debug)]
pub(crate) enum TagPart {
    Schema(SchemaPart),
    SchemaText(SchemaValue),
    Template(Arc<CompiledTemplate>),
    Tag(Arc<CompiledTag>),
}

/// A compiled schema.
#[derive(Clone, Debug)]
pub(crate) struct SchemaPart {
    pub(crate) program: Arc<DeferredProgram>,
    /// Its warnings, with places in the schema. `None` where there are none, as nearly always.
    pub(crate) report: Option<Arc<Report>>,
    pub(crate) cost: PartCost,
}

/// The cost of compiling a part, whether it was paid now or before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartCost {
    /// The work on its schemas and on their automata, in units of schemas.
    pub(crate) schemas: usize,
    /// Steps of work on intersections and complements.
    pub(crate) text_steps: usize,
}

/// The compiled text around tags.
#[derive(Debug)]
pub(crate) struct CompiledTemplate {
    pub(crate) template: ProgramTemplate,
    pub(crate) extent: TagExtent,
    /// Everything but its text on which the meaning of a tag depends: the options and the extent, printed.
    pub(crate) context: Arc<str>,
}

/// A compiled tag. All of it is in one place, because putting many tags together waits for memory.
#[derive(Debug)]
pub(crate) struct CompiledTag {
    /// Bytes of its text.
    pub(crate) len: usize,
    pub(crate) context: Arc<str>,
    pub(crate) arm: TemplateArm,
    /// How many schemas it holds.
    pub(crate) schemas: u64,
    /// Bytes of its automata.
    pub(crate) bytes: usize,
    pub(crate) cost: PartCost,
    /// The part of the cost that its schemas do not have: nothing for a tag that is a schema.
    pub(crate) own: BuildCost,
}

impl CompiledTag {
    pub(crate) fn has_context(&self, context: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.context, context) || self.context == *context
    }

    pub(crate) fn key<'k>(context: &'k str, text: &'k str) -> SourceKey<'k> {
        SourceKey { kind: EntryKind::Tag, parts: ["", context, text] }
    }
}

impl TagPart {
    pub(super) fn memory_usage(&self) -> usize {
        match self {
            Self::Schema(SchemaPart { program, report, cost: _ }) => {
                program.memory_usage() + report.as_ref().map_or(0, |report| report.memory_usage())
            }
            Self::SchemaText(schema) => schema.memory_usage(),
            Self::Template(template) => {
                size_of::<CompiledTemplate>() + template.context.len() + template.template.memory_usage()
            }
            Self::Tag(tag) => size_of::<CompiledTag>() + tag.arm.memory_usage() + tag.bytes,
        }
    }

    pub(super) fn schema(self) -> Option<SchemaPart> {
        match self {
            Self::Schema(schema) => Some(schema),
            _ => None,
        }
    }

    pub(super) fn schema_text(self) -> Option<SchemaValue> {
        match self {
            Self::SchemaText(schema) => Some(schema),
            _ => None,
        }
    }

    pub(super) fn template(self) -> Option<Arc<CompiledTemplate>> {
        match self {
            Self::Template(template) => Some(template),
            _ => None,
        }
    }

    pub(super) fn tag(self) -> Option<Arc<CompiledTag>> {
        match self {
            Self::Tag(tag) => Some(tag),
            _ => None,
        }
    }
}
