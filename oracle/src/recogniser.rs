//! A grammar made ready for charts.

use std::cell::RefCell;

use grammask_grammar_ir::{ExprId, Grammar};

use crate::dispatch::Symbol;
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

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The remainder of an operator after a byte or token, if it can still match.
    pub(crate) fn step_text(&self, remainder: Remainder, symbol: Symbol) -> Option<Remainder> {
        self.texts.borrow_mut().step(remainder, symbol)
    }

    pub(crate) fn is_text_complete(&self, remainder: Remainder) -> bool {
        self.texts.borrow().is_complete(remainder)
    }

    pub(crate) fn root_body(&self) -> ExprId {
        self.grammar.rule(self.grammar.root()).body()
    }
}
