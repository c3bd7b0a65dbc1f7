//! A grammar made ready for charts.

use std::cell::RefCell;

use grammask_grammar_ir::{ExprId, Grammar};

use crate::Chart;
use crate::facts::Facts;
use crate::text::{Remainder, Texts};

/// Judges texts by a grammar.
///
/// It belongs to one thread: what is found out about regular operators is kept for later charts.
#[derive(Debug)]
pub struct Recogniser {
    grammar: Grammar,
    facts: Facts,
    texts: RefCell<Texts>,
}

impl Recogniser {
    /// A recogniser for a grammar, of which it keeps a copy.
    pub fn new(grammar: &Grammar) -> Self {
        let (facts, texts) = Facts::new(grammar);
        Self { grammar: grammar.clone(), facts, texts: RefCell::new(texts) }
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Whether the grammar has no sentence at all. No chart then takes a byte.
    pub fn is_language_empty(&self) -> bool {
        !self.facts.is_productive(self.grammar.rule(self.grammar.root()).body())
    }

    /// A chart that has read nothing.
    pub fn begin(&self) -> Chart<'_> {
        Chart::new(self)
    }

    /// A chart that has read a text, or `None` if no sentence begins with it.
    pub fn read(&self, text: &[u8]) -> Option<Chart<'_>> {
        let mut chart = self.begin();
        let viable = !self.is_language_empty() && text.iter().all(|&byte| chart.push(byte));
        viable.then_some(chart)
    }

    /// Whether the text is a sentence.
    pub fn accepts(&self, text: &[u8]) -> bool {
        self.read(text).is_some_and(|chart| chart.is_complete())
    }

    /// Whether some sentence begins with the text.
    pub fn is_prefix(&self, text: &[u8]) -> bool {
        self.read(text).is_some()
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What remains of an operator after a byte, if it can still match.
    pub(crate) fn step_text(&self, remainder: Remainder, byte: u8) -> Option<Remainder> {
        self.texts.borrow_mut().step(remainder, byte)
    }

    pub(crate) fn is_text_complete(&self, remainder: Remainder) -> bool {
        self.texts.borrow().is_complete(remainder)
    }

    pub(crate) fn root_body(&self) -> ExprId {
        self.grammar.rule(self.grammar.root()).body()
    }
}
