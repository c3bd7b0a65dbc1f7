//! The values that a compiler keeps by their sources.

use std::sync::Arc;

use grammask_fsm::{DeferredProgram, ProgramTemplate, TemplateArm};
use grammask_grammar_frontends::structural_tag::{SchemaValue, TagExtent};

use super::backend::BuildBackend;
use crate::cache::budget::BudgetCache;
use crate::cache::compile_cache::{CompileCache, EntryKind, SourceKey};
use crate::grammar::compiled::CompiledGrammar;

/// Grammars and the parts of structural tags, by the content of their sources.
pub(crate) type SourceCache<B> = CompileCache<Kept<CompiledGrammar<B>>>;

/// A value under a key of its [`EntryKind`]; `G` is the type of grammars.
#[derive(Clone, Debug)]
pub(crate) enum Kept<G> {
    Grammar(G),
    Schema(Arc<DeferredProgram>),
    SchemaText(SchemaValue),
    Template(Arc<CompiledTemplate>),
    Tag(Arc<CompiledTag>),
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
}

impl CompiledTag {
    pub(crate) fn has_context(&self, context: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.context, context) || self.context == *context
    }

    pub(crate) fn key<'k>(context: &'k str, text: &'k str) -> SourceKey<'k> {
        SourceKey { kind: EntryKind::Tag, parts: ["", context, text] }
    }
}

impl<B: BuildBackend> Kept<CompiledGrammar<B>> {
    pub(crate) fn memory_usage(&self) -> usize {
        match self {
            Self::Grammar(grammar) => grammar.memory_usage(),
            Self::Schema(program) => program.memory_usage(),
            Self::SchemaText(schema) => schema.memory_usage(),
            Self::Template(template) => {
                size_of::<CompiledTemplate>() + template.context.len() + template.template.memory_usage()
            }
            Self::Tag(tag) => size_of::<CompiledTag>() + tag.arm.memory_usage() + tag.bytes,
        }
    }

    pub(crate) fn grammar(self) -> Option<CompiledGrammar<B>> {
        match self {
            Self::Grammar(grammar) => Some(grammar),
            _ => None,
        }
    }

    pub(crate) fn schema(self) -> Option<Arc<DeferredProgram>> {
        match self {
            Self::Schema(program) => Some(program),
            _ => None,
        }
    }

    pub(crate) fn schema_text(self) -> Option<SchemaValue> {
        match self {
            Self::SchemaText(schema) => Some(schema),
            _ => None,
        }
    }

    pub(crate) fn template(self) -> Option<Arc<CompiledTemplate>> {
        match self {
            Self::Template(template) => Some(template),
            _ => None,
        }
    }

    pub(crate) fn tag(self) -> Option<Arc<CompiledTag>> {
        match self {
            Self::Tag(tag) => Some(tag),
            _ => None,
        }
    }
}

impl<B: BuildBackend> BudgetCache for SourceCache<B> {
    fn drop_unused(&self, is_passed: &dyn Fn() -> bool) -> u64 {
        // The budget counts the tables of grammars. Parts of tags have none.
        let is_unused =
            |kept: &Kept<CompiledGrammar<B>>| matches!(kept, Kept::Grammar(grammar) if grammar.is_unshared());
        self.evict_while(is_passed, is_unused)
    }
}
