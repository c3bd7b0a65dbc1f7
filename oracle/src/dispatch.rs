//! Tag dispatch by its definition.
//!
//! The text since free text began is looked at as a whole, for every symbol anew. Does it end with a trigger,
//! a stop string, an excluded string; is it text? No automaton is involved. A search finds whether a symbol
//! leaves a way to an end: it tries all continuations, breadth first, over the part of the text that can
//! still matter. That is its longest end with which some pattern begins, or the bytes of a character that is
//! not whole.

use std::cell::RefCell;

use ahash::{AHashMap, AHashSet};
use grammask_grammar_ir::{Dispatch, DispatchEnd, ExprId, Pattern, PatternPart, TokenRef};

/// A byte, or a token taken as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Symbol {
    /// A byte.
    Byte(u8),
    /// The token with this id.
    Token(u32),
}

/// One tag dispatch.
#[derive(Debug)]
pub(crate) struct FreeText {
    triggers: Vec<(Vec<Symbol>, ExprId)>,
    stops: Vec<Vec<Symbol>>,
    excludes: Vec<Vec<Symbol>>,
    end: DispatchEnd,
    /// The symbols that may be tried next.
    alphabet: Vec<Symbol>,
    /// Whether an end can be reached from what can matter of a text.
    alive: RefCell<AHashMap<Vec<Symbol>, bool>>,
}

/// The patterns with which a free text ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Completed {
    /// The bodies of the triggers.
    pub(crate) bodies: Vec<ExprId>,
    /// Whether a stop string ends here, and may.
    pub(crate) stopped: bool,
    /// Whether anything is completed.
    pub(crate) any: bool,
}

impl FreeText {
    pub(crate) fn new(dispatch: &Dispatch<'_>) -> Self {
        let all = |patterns: &[Pattern]| patterns.iter().map(symbols).collect::<Vec<_>>();
        let triggers: Vec<_> =
            all(dispatch.triggers).into_iter().zip(dispatch.bodies.iter().copied()).collect();
        let (stops, excludes) = (all(dispatch.stops), all(dispatch.excludes));
        let mut this = Self {
            triggers,
            stops,
            excludes,
            end: dispatch.end,
            alphabet: Vec::new(),
            alive: RefCell::default(),
        };
        let mut alphabet: Vec<Symbol> = this.patterns().flatten().copied().collect();
        // Of bytes that UTF-8 treats alike, one that no pattern mentions stands for all such.
        let alike: [(u8, u8); 8] = [
            (0, 0x7F),
            (0x80, 0x8F),
            (0x90, 0x9F),
            (0xA0, 0xBF),
            (0xC2, 0xDF),
            (0xE1, 0xEC),
            (0xEE, 0xEF),
            (0xF1, 0xF3),
        ];
        for (low, high) in alike {
            alphabet.extend((low..=high).map(Symbol::Byte).find(|byte| !alphabet.contains(byte)));
        }
        alphabet.sort_unstable();
        alphabet.dedup();
        this.alphabet = alphabet;
        this
    }

    /// The patterns with which a free text ends; where there is any, nothing more can be read.
    pub(crate) fn completed(&self, text: &[Symbol]) -> Completed {
        let ends_with =
            |pattern: &[Symbol]| text.ends_with(pattern) && is_whole(&text[..text.len() - pattern.len()]);
        let triggers = self.triggers.iter().filter(|(pattern, _)| ends_with(pattern));
        let bodies: Vec<ExprId> = triggers.map(|(_, body)| *body).collect();
        let stop = self.stops.iter().any(|pattern| ends_with(pattern));
        Completed {
            any: stop || !bodies.is_empty(),
            stopped: stop && self.end != DispatchEnd::AfterDispatch,
            bodies,
        }
    }

    /// Whether a free text may be read on with a symbol so that some sentence goes on.
    pub(crate) fn may_read(
        &self,
        text: &[Symbol],
        symbol: Symbol,
        is_productive: &dyn Fn(ExprId) -> bool,
    ) -> bool {
        if self.completed(text).any {
            return false;
        }
        let longer = [text, &[symbol]].concat();
        self.is_possible(&longer, is_productive) && self.is_alive(&longer, is_productive)
    }

    /// Whether the dispatch may end after a free text of which nothing is completed.
    pub(crate) fn may_end(&self, text: &[Symbol]) -> bool {
        self.end == DispatchEnd::Anywhere && is_whole(text)
    }

    /// Whether anything at all can be read. Asked while it is being found out what derives anything, so nothing is
    /// kept of the answer.
    pub(crate) fn derives_something(&self, is_productive: &dyn Fn(ExprId) -> bool) -> bool {
        let answer = self.is_alive(&[], is_productive);
        self.alive.borrow_mut().clear();
        answer
    }

    fn patterns(&self) -> impl Iterator<Item = &Vec<Symbol>> {
        self.triggers.iter().map(|(pattern, _)| pattern).chain(&self.stops).chain(&self.excludes)
    }

    /// Whether the last symbol of a free text may occur there, by what has been read alone.
    fn is_possible(&self, text: &[Symbol], is_productive: &dyn Fn(ExprId) -> bool) -> bool {
        if self.excludes.iter().any(|exclude| text.ends_with(exclude)) {
            return false;
        }
        let completed = self.completed(text);
        if completed.any {
            return completed.stopped || completed.bodies.iter().any(|&body| is_productive(body));
        }
        // Free text, and then the beginning of a trigger or stop string; tokens only in the latter.
        let begins_pattern = |rest: &[Symbol]| {
            let ends = self.triggers.iter().map(|(pattern, _)| pattern).chain(&self.stops);
            ends.into_iter().any(|pattern| pattern.starts_with(rest))
        };
        is_text_so_far(text) || (0..text.len()).any(|at| begins_pattern(&text[at..]) && is_whole(&text[..at]))
    }

    /// Whether an end can be reached after a possible free text.
    fn is_alive(&self, text: &[Symbol], is_productive: &dyn Fn(ExprId) -> bool) -> bool {
        let start = self.what_matters(text);
        if let Some(&known) = self.alive.borrow().get(&start) {
            return known;
        }
        let mut met = AHashSet::from([start.clone()]);
        let mut queue = vec![start.clone()];
        let mut next = 0;
        let mut answer = false;
        while let Some(text) = queue.get(next).cloned() {
            next += 1;
            let known = self.alive.borrow().get(&text).copied();
            if known == Some(true) || self.completed(&text).any || self.may_end(&text) {
                answer = true;
                break;
            }
            if known == Some(false) {
                continue;
            }
            for &symbol in &self.alphabet {
                let longer = [&text[..], &[symbol]].concat();
                if self.is_possible(&longer, is_productive) {
                    // A completed text is looked at unchanged.
                    let rest = if self.completed(&longer).any { longer } else { self.what_matters(&longer) };
                    if met.insert(rest.clone()) {
                        queue.push(rest);
                    }
                }
            }
        }
        self.alive.borrow_mut().insert(start, answer);
        answer
    }

    /// The longest end that a pattern begins with, or the bytes of a character that is not whole.
    fn what_matters(&self, text: &[Symbol]) -> Vec<Symbol> {
        let begins = |rest: &[Symbol]| self.patterns().any(|pattern| pattern.starts_with(rest));
        let from = (0..=text.len()).find(|&at| begins(&text[at..]) || is_part_of_character(&text[at..]));
        text[from.unwrap_or(text.len())..].to_vec()
    }
}

fn symbols(pattern: &Pattern) -> Vec<Symbol> {
    let part = |part: &PatternPart| match part {
        PatternPart::Text(text) => text.bytes().map(Symbol::Byte).collect(),
        PatternPart::Token(TokenRef::Id(id)) => vec![Symbol::Token(*id)],
        // A name that no vocabulary resolved is no token's.
        PatternPart::Token(TokenRef::Name(_) | TokenRef::Special(_)) => vec![Symbol::Token(u32::MAX)],
    };
    pattern.parts().iter().flat_map(part).collect()
}

/// The bytes, if there is no token among the symbols.
fn bytes(symbols: &[Symbol]) -> Option<Vec<u8>> {
    let byte = |symbol: &Symbol| match symbol {
        Symbol::Byte(byte) => Some(*byte),
        Symbol::Token(_) => None,
    };
    symbols.iter().map(byte).collect()
}

/// Whether the symbols are whole characters.
fn is_whole(text: &[Symbol]) -> bool {
    bytes(text).is_some_and(|bytes| std::str::from_utf8(&bytes).is_ok())
}

/// Whether the symbols begin some text.
fn is_text_so_far(text: &[Symbol]) -> bool {
    bytes(text).is_some_and(|bytes| {
        std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
    })
}

/// Whether the symbols are the first bytes of one character, but not all of them.
fn is_part_of_character(text: &[Symbol]) -> bool {
    let is_part = |bytes: Vec<u8>| match std::str::from_utf8(&bytes) {
        Ok(_) => false,
        Err(error) => error.error_len().is_none() && error.valid_up_to() == 0,
    };
    // No character has more than four bytes.
    text.len() < 4 && bytes(text).is_some_and(is_part)
}
