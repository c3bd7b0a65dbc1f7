//! A vocabulary, as a grammar that names tokens asks it.

use grammask_grammar_ir::passes::{TokenNames, TokenSort};

use super::tokens::Vocabulary;
use crate::ids::{TokenId, TokenKind};

impl TokenNames for Vocabulary {
    fn special(&self) -> Vec<(&str, u32)> {
        let text = |(id, name): (TokenId, _)| {
            Some((std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?, id.get()))
        };
        self.special_names().filter_map(text).collect()
    }

    fn text(&self, bytes: &[u8]) -> Option<u32> {
        self.text_token(bytes).map(|id| id.get())
    }

    fn kind(&self, id: u32) -> TokenSort {
        match self.id(id).map(|id| Vocabulary::kind(self, id)) {
            Some(TokenKind::Text) => TokenSort::Text,
            Some(TokenKind::Special) => TokenSort::Special,
            Some(TokenKind::Stop) => TokenSort::Stop,
            Some(TokenKind::Empty) | None => TokenSort::Nothing,
        }
    }

    fn stop(&self) -> Vec<u32> {
        self.stop_tokens().iter().map(|id| id.get()).collect()
    }

    fn count(&self) -> usize {
        let special = self.special_tokens().count() - self.stop_tokens().len();
        self.sorted_text_tokens().len() + special
    }
}
