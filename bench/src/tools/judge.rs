//! Where an answer dies, by the engine and by the naive recogniser.

use anyhow::{Context, Result};
use grammask::{CompiledGrammar, Grammar, TokenKind, Vocabulary};
use grammask_grammar_ir::passes::{TokenNames, TokenSort, resolve_tokens};
use grammask_oracle::Recogniser;

use super::words::Symbol;
use super::words::Words;

/// How far an answer goes, in bytes and marks; all of it, where it is a beginning of one that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) read: usize,
    pub(crate) of: usize,
    pub(crate) is_complete: bool,
}

/// The answers of the engine and of the recogniser for a text.
pub(crate) fn judge(
    words: &Words,
    compiled: &CompiledGrammar,
    grammar: &Grammar,
    text: &str,
) -> Result<(Judgement, Judgement)> {
    let symbols = words.symbols(text)?;
    let mut matcher = compiled.matcher();
    let mut read = 0;
    for &symbol in &symbols {
        let taken = match symbol {
            Symbol::Byte(byte) => matcher.accept_bytes(&[byte]),
            Symbol::Token(id) => {
                matcher.accept_token(words.vocabulary.id(id).context("a token outside the vocabulary")?)
            }
        };
        if taken.is_err() {
            break;
        }
        read += 1;
    }
    let of = symbols.len();
    let ours = Judgement { read, of, is_complete: read == of && matcher.is_completed() };

    let grammar = resolve_tokens(grammar, &Names(&words.vocabulary))?;
    let recogniser = Recogniser::new(&grammar);
    let mut chart = recogniser.begin();
    let taken = symbols.iter().take_while(|symbol| match **symbol {
        Symbol::Byte(byte) => chart.push(byte),
        Symbol::Token(id) => chart.push_token(id),
    });
    let read = taken.count();
    Ok((ours, Judgement { read, of, is_complete: read == of && chart.is_complete() }))
}

struct Names<'v>(&'v Vocabulary);

impl TokenNames for Names<'_> {
    fn special(&self) -> Vec<(&str, u32)> {
        let names = self.0.special_names();
        names.filter_map(|(id, name)| Some((std::str::from_utf8(name).ok()?, id.get()))).collect()
    }

    fn text(&self, bytes: &[u8]) -> Option<u32> {
        self.0.text_token(bytes).map(|id| id.get())
    }

    fn kind(&self, id: u32) -> TokenSort {
        match self.0.id(id).map(|id| self.0.kind(id)) {
            Some(TokenKind::Text) => TokenSort::Text,
            Some(TokenKind::Special) => TokenSort::Special,
            Some(TokenKind::Stop) => TokenSort::Stop,
            _ => TokenSort::Nothing,
        }
    }

    fn stop(&self) -> Vec<u32> {
        self.0.stop_tokens().iter().map(|id| id.get()).collect()
    }

    fn count(&self) -> usize {
        self.0.sorted_text_tokens().len() + self.0.special_tokens().count()
    }
}
