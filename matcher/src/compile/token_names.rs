//! Names of tokens in grammars, and the ids that replace them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "structural-tag")]
use grammask_grammar_frontends::structural_tag::TagText;
use grammask_grammar_ir::Grammar;
use grammask_grammar_ir::passes::{ResolveTokensError, SpecialNames, mentions_tokens, resolve_tokens_with};
#[cfg(feature = "structural-tag")]
use grammask_grammar_ir::{Pattern, PatternPart, TokenRef};
use grammask_mask_cache::Vocabulary;

use crate::base::error::CompileError;

/// A vocabulary, and the names of its special tokens once they are needed.
pub(crate) struct TokenResolver {
    vocabulary: Arc<Vocabulary>,
    names: Arc<OnceLock<SpecialNames>>,
}

impl TokenResolver {
    pub(super) fn new(vocabulary: Arc<Vocabulary>, names: Arc<OnceLock<SpecialNames>>) -> Self {
        Self { vocabulary, names }
    }

    /// The grammar with ids instead of tokens' names. Rules keep their numbers.
    pub(crate) fn resolve<'g>(&self, grammar: &'g Grammar) -> Result<Cow<'g, Grammar>, CompileError> {
        if !mentions_tokens(grammar) {
            return Ok(Cow::Borrowed(grammar));
        }
        Ok(Cow::Owned(resolve_tokens_with(grammar, &*self.vocabulary, self.names()?)?))
    }

    /// As [`resolve`](Self::resolve); nothing is copied where no token is named.
    pub(crate) fn resolve_owned(&self, grammar: Grammar) -> Result<Grammar, CompileError> {
        match self.resolve(&grammar)? {
            Cow::Owned(resolved) => Ok(resolved),
            Cow::Borrowed(_) => Ok(grammar),
        }
    }

    /// A text of a tag with ids instead of tokens' names. `None` if a token is absent.
    #[cfg(feature = "structural-tag")]
    pub(crate) fn text(&self, text: &TagText) -> Option<Vec<PatternPart>> {
        let names = self.names().ok()?;
        match text {
            TagText::Text(text) => Some(names.split(text)),
            TagText::Token(token) => {
                let id = names.id(token, &*self.vocabulary)?;
                Some(vec![PatternPart::Token(TokenRef::Id(id))])
            }
        }
    }

    /// Whether two texts one after the other are the texts and tokens that each is by itself.
    #[cfg(feature = "structural-tag")]
    pub(crate) fn can_split(&self, one: &str, other: &str) -> Option<bool> {
        let names = self.names().ok()?;
        let apart: Pattern = [one, other].into_iter().flat_map(|text| names.split(text)).collect();
        Some(names.split(&[one, other].concat()).into_iter().collect::<Pattern>() == apart)
    }

    pub(super) fn names(&self) -> Result<&SpecialNames, ResolveTokensError> {
        match self.names.get() {
            Some(names) => Ok(names),
            None => {
                let names = SpecialNames::new(&*self.vocabulary)?;
                Ok(self.names.get_or_init(|| names))
            }
        }
    }
}
