//! Token labels while automata are built.

use grammask_grammar_ir::TokenRef;
use grammask_grammar_ir::hash::HashMap;

use crate::error::Failure;
use crate::ids::IdVec;
use crate::program::tables::{LabelId, TokenLabel, TokenSide};

/// The labels met so far, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    labels: IdVec<LabelId, TokenLabel>,
    numbers: HashMap<TokenLabel, LabelId>,
}

impl Labels {
    /// The label of the tokens in a set, or of those outside it.
    pub(crate) fn of(&mut self, tokens: &[TokenRef], side: TokenSide) -> Result<LabelId, Failure> {
        let mut ids = Vec::with_capacity(tokens.len());
        for token in tokens {
            match token {
                TokenRef::Id(id) => ids.push(*id),
                TokenRef::Name(name) | TokenRef::Special(name) => return Err(Failure::unresolved(name)),
            }
        }
        Ok(self.of_ids(ids, side))
    }

    /// The label of a set of ids, which are sorted.
    pub(crate) fn of_ids(&mut self, ids: Vec<u32>, side: TokenSide) -> LabelId {
        self.number(TokenLabel { ids: ids.into(), side })
    }

    /// The label of one token.
    pub(crate) fn one(&mut self, id: u32) -> LabelId {
        self.number(TokenLabel { ids: Box::new([id]), side: TokenSide::Inside })
    }

    pub(crate) fn into_labels(self) -> Vec<TokenLabel> {
        self.labels.into()
    }

    fn number(&mut self, label: TokenLabel) -> LabelId {
        // Labels are fewer than expressions and tags, which have 32-bit numbers.
        *self.numbers.entry(label.clone()).or_insert_with(|| self.labels.push(label))
    }
}
