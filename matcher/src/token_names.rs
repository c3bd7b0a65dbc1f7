//! What a vocabulary tells a grammar that names its tokens.

use grammask_grammar_ir::passes::{TokenNames, TokenSort};
use grammask_mask_cache::{TokenKind, Vocabulary};

/// A vocabulary, as a grammar asks it.
pub(crate) struct Names<'v>(pub(crate) &'v Vocabulary);

impl TokenNames for Names<'_> {
    fn special(&self) -> Vec<(&str, u32)> {
        let text = |(id, name): (grammask_mask_cache::TokenId, _)| {
            Some((std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?, id.get()))
        };
        self.0.special_names().filter_map(text).collect()
    }

    fn text(&self, bytes: &[u8]) -> Option<u32> {
        self.0.text_token(bytes).map(|id| id.get())
    }

    fn kind(&self, id: u32) -> TokenSort {
        match self.0.id(id).map(|id| self.0.kind(id)) {
            Some(TokenKind::Text) => TokenSort::Text,
            Some(TokenKind::Special) => TokenSort::Special,
            Some(TokenKind::Stop) => TokenSort::Stop,
            Some(TokenKind::Empty) | None => TokenSort::Nothing,
        }
    }

    fn stop(&self) -> Vec<u32> {
        self.0.stop_tokens().iter().map(|id| id.get()).collect()
    }

    fn count(&self) -> usize {
        let special = self.0.special_tokens().count() - self.0.stop_tokens().len();
        self.0.sorted_text_tokens().len() + special
    }
}
