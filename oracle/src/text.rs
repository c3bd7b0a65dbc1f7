//! Regular operators read byte by byte, or by whole tokens: a term and the character that is being read.

use ahash::AHashMap;
use grammask_grammar_ir::{ExprId, Grammar};

use crate::dispatch::Symbol;
use crate::term::{Cell, TermId, Terms};
use crate::utf8::{Partial, Read};

/// The remainder of a regular operator: the derivative by the whole characters read, and the bytes of the
/// next one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Remainder(u32);

impl Remainder {
    pub(crate) fn pack(self) -> u32 {
        self.0
    }

    pub(crate) fn unpack(packed: u32) -> Self {
        Self(packed)
    }
}

/// All remainders of a recogniser, numbered.
#[derive(Debug)]
pub(crate) struct Texts {
    terms: Terms,
    remainders: Vec<(TermId, Partial)>,
    ids: AHashMap<(TermId, Partial), Remainder>,
    steps: AHashMap<(Remainder, Symbol), Option<Remainder>>,
}

impl Texts {
    pub(crate) fn new(grammar: &Grammar, exprs: &[ExprId]) -> Self {
        Self {
            terms: Terms::new(grammar, exprs),
            remainders: Vec::new(),
            ids: AHashMap::new(),
            steps: AHashMap::new(),
        }
    }

    /// The remainder of an operator of which nothing has been read; `None` if it matches no text.
    pub(crate) fn start(
        &mut self,
        grammar: &Grammar,
        operator: ExprId,
        known: &mut AHashMap<ExprId, TermId>,
    ) -> Option<Remainder> {
        let term = self.terms.build(grammar, operator, known);
        self.terms.is_inhabited(term).then(|| self.intern(term, Partial::default()))
    }

    /// Whether what was read is one of the operator's texts.
    pub(crate) fn is_complete(&self, remainder: Remainder) -> bool {
        let (term, partial) = self.remainders[remainder.0 as usize];
        partial.is_empty() && self.terms.is_nullable(term)
    }

    /// The remainder after one more byte or token; `None` if no text continues like that.
    pub(crate) fn step(&mut self, remainder: Remainder, symbol: Symbol) -> Option<Remainder> {
        if let Some(&known) = self.steps.get(&(remainder, symbol)) {
            return known;
        }
        let (term, partial) = self.remainders[remainder.0 as usize];
        let next = match symbol {
            Symbol::Byte(byte) => self.after_byte(term, partial, byte),
            // No token comes in the middle of a character.
            Symbol::Token(id) if partial.is_empty() => {
                self.terms.token_cell(id).and_then(|cell| self.after(term, cell))
            }
            Symbol::Token(_) => None,
        };
        self.steps.insert((remainder, symbol), next);
        next
    }

    fn after_byte(&mut self, term: TermId, partial: Partial, byte: u8) -> Option<Remainder> {
        match partial.push(byte)? {
            Read::Whole(character) => self.after(term, self.terms.cell(character)),
            // The beginning of a character is allowed if some character that begins so is.
            Read::More(more) => {
                let (low, high) = more.range();
                let mut cells = self.terms.cells_in(low, high);
                let viable = cells.any(|cell| {
                    let after = self.terms.derivative(term, cell);
                    self.terms.is_inhabited(after)
                });
                viable.then(|| self.intern(term, more))
            }
        }
    }

    fn after(&mut self, term: TermId, cell: Cell) -> Option<Remainder> {
        let after = self.terms.derivative(term, cell);
        self.terms.is_inhabited(after).then(|| self.intern(after, Partial::default()))
    }

    fn intern(&mut self, term: TermId, partial: Partial) -> Remainder {
        let next = Remainder(u32::try_from(self.remainders.len()).expect("memory ends before ids do"));
        let remainder = *self.ids.entry((term, partial)).or_insert(next);
        if remainder == next {
            self.remainders.push((term, partial));
        }
        remainder
    }
}
