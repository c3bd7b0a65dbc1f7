//! The values that a compiler keeps by their sources.

use super::backend::BuildBackend;
#[cfg(feature = "structural-tag")]
use super::tag_parts::TagPart;
use crate::cache::budget::BudgetCache;
use crate::cache::compile_cache::CompileCache;
use crate::grammar::compiled::CompiledGrammar;

/// Grammars and the parts of structural tags, by the content of their sources.
pub(crate) type SourceCache<B> = CompileCache<Kept<CompiledGrammar<B>>>;

/// A value under a key of its [`EntryKind`](crate::cache::compile_cache::EntryKind); `G` is the type of grammars.
#[derive(Clone, Debug)]
pub(crate) enum Kept<G> {
    Grammar(G),
    #[cfg(feature = "structural-tag")]
    Part(TagPart),
}

impl<B: BuildBackend> Kept<CompiledGrammar<B>> {
    pub(crate) fn memory_usage(&self) -> usize {
        match self {
            Self::Grammar(grammar) => grammar.memory_usage(),
            #[cfg(feature = "structural-tag")]
            Self::Part(part) => part.memory_usage(),
        }
    }

    pub(crate) fn grammar(self) -> Option<CompiledGrammar<B>> {
        match self {
            Self::Grammar(grammar) => Some(grammar),
            #[cfg(feature = "structural-tag")]
            Self::Part(_) => None,
        }
    }

    #[cfg(feature = "structural-tag")]
    pub(super) fn part(self) -> Option<TagPart> {
        match self {
            Self::Part(part) => Some(part),
            Self::Grammar(_) => None,
        }
    }
}

impl<B: BuildBackend> BudgetCache for SourceCache<B> {
    fn drop_unused(&self, is_passed: &dyn Fn() -> bool) -> u64 {
        // The budget counts the tables of grammars. Parts of tags have none.
        let is_unused = |kept: &Kept<CompiledGrammar<B>>| match kept {
            Kept::Grammar(grammar) => grammar.is_unshared(),
            #[cfg(feature = "structural-tag")]
            Kept::Part(_) => false,
        };
        self.evict_while(is_passed, is_unused)
    }
}
