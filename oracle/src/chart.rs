//! Earley's algorithm over dotted expressions.
//!
//! Every expression is a nonterminal of its own. An *item* says: from position `origin` on we have been
//! reading expression `expr`, and are `progress` far into it. The meaning of progress depends on the kind of
//! expression:
//!
//! | expression | progress | reads a byte | waits for |
//! |---|---|---|---|
//! | empty | - | - | - |
//! | bytes | bytes read | the next one | - |
//! | class | bytes of the character read, or *done* | those that can continue | - |
//! | sequence | parts read | - | the next part |
//! | choice, rule | 0 or *done* | - | any alternative; the body |
//! | repeat | iterations read | - | the body, below the maximum |
//! | token | 0 or *done* | its id | - |
//! | tag dispatch | where free text began, or *done* | those that leave a way to an end | the bodies of the triggers that end here |
//! | parts in any order | those read, see [`permutation`](crate::permutation) | - | parts that may come next, or the separator |
//! | regular operator | what remains of it | those that leave something | - |
//!
//! A repeat's count stops at its minimum where there is no maximum: from there on all counts behave alike.
//!
//! The set of a position is closed under three rules. *Predict*: what an item waits for begins here.
//! *Complete*: an item that is done advances those that have been waiting for its expression since its
//! origin. *Nullable*: an item that waits for something nullable also advances at once (Aycock and Horspool).
//! So an expression that begins and ends at one position need not be completed, and the order of work does
//! not matter. A repeat does not count empty iterations, and where its body is nullable its minimum is 0:
//! those that are missing can be empty.
//!
//! # Why a byte that is taken keeps the text a prefix of a sentence
//!
//! An item in a set was predicted by an item that was in the set of its origin, which leads back to the root.
//! The text that has been read matches that chain of items. Only productive expressions are predicted, and a
//! productive sequence or repeat stays so when parts of it have been read. Classes and operators advance only
//! if something is left that matches. So every item of the chain can be finished, and a sentence comes out.
//! The other direction is Earley's theorem: every parse of a sentence leaves its items in the sets.

use std::rc::Rc;

use ahash::{AHashMap, AHashSet};
use grammask_grammar_ir::{AfterDispatch, Expr, ExprId, Permutation, TokenRef};

use crate::dispatch::{FreeText, Symbol};
use crate::permutation::{Progress, is_whole, may_read};
use crate::recogniser::Recogniser;
use crate::text::Remainder;
use crate::utf8::{Partial, Read};

/// Progress of an expression that is done, where nothing else says so.
const DONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Item {
    expr: ExprId,
    progress: u32,
    origin: u32,
}

/// The items of one position.
#[derive(Debug, Default)]
struct Set {
    /// Those that read something. While the set is being closed it holds all of them.
    items: Vec<Item>,
    /// The items by what they wait for.
    waiting: AHashMap<ExprId, Vec<Item>>,
    /// Whether the text up to here is a sentence.
    is_complete: bool,
}

/// The text that has been read, and every way in which the grammar reads it. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Chart<'r> {
    recogniser: &'r Recogniser,
    /// One set for each position, that before the first byte included.
    sets: Vec<Rc<Set>>,
    /// The symbols that have been read.
    symbols: Vec<Symbol>,
}

impl<'r> Chart<'r> {
    pub(crate) fn new(recogniser: &'r Recogniser) -> Self {
        let mut chart = Self { recogniser, sets: Vec::new(), symbols: Vec::new() };
        let root = recogniser.root_body();
        let start = recogniser.facts().is_productive(root).then(|| chart.start_of(root, 0));
        let mut set = chart.close(start);
        set.is_complete = recogniser.facts().is_nullable(root);
        chart.sets.push(Rc::new(set));
        chart
    }

    /// How many bytes and tokens have been read.
    pub fn len(&self) -> usize {
        self.sets.len() - 1
    }

    /// Whether nothing has been read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether what has been read is a sentence.
    pub fn is_complete(&self) -> bool {
        self.last().is_complete
    }

    /// Reads a byte if some sentence goes on with it; otherwise the chart stays as it is. Returns whether it
    /// was read.
    pub fn push(&mut self, byte: u8) -> bool {
        self.push_symbol(Symbol::Byte(byte))
    }

    /// Reads a token as a whole, as [`push`](Self::push) reads a byte.
    pub fn push_token(&mut self, id: u32) -> bool {
        self.push_symbol(Symbol::Token(id))
    }

    /// Whether a byte can be read, without reading it.
    pub(crate) fn can_push(&self, byte: u8) -> bool {
        self.reads(Symbol::Byte(byte))
    }

    /// The same for a token as a whole.
    pub(crate) fn can_push_token(&self, id: u32) -> bool {
        self.reads(Symbol::Token(id))
    }

    fn reads(&self, symbol: Symbol) -> bool {
        self.last().items.iter().any(|&item| self.scan(item, symbol).is_some())
    }

    fn push_symbol(&mut self, symbol: Symbol) -> bool {
        let read: Vec<Item> = self.last().items.iter().filter_map(|&item| self.scan(item, symbol)).collect();
        if read.is_empty() {
            return false;
        }
        self.symbols.push(symbol);
        let set = self.close(read);
        self.sets.push(Rc::new(set));
        true
    }

    /// Goes back to the first `len` bytes. Does nothing if no more have been read.
    pub fn truncate(&mut self, len: usize) {
        self.sets.truncate(len.saturating_add(1));
        self.symbols.truncate(len);
    }

    /// The bytes with which some sentence goes on, ascending.
    pub fn next_bytes(&self) -> Vec<u8> {
        (0..=255).filter(|&byte| self.can_push(byte)).collect()
    }

    fn last(&self) -> &Set {
        self.sets.last().expect("the set before the first byte is never removed")
    }

    /// An expression of which nothing has been read.
    fn start_of(&self, expr: ExprId, origin: u32) -> Item {
        let progress = match self.recogniser.grammar().expr(expr) {
            Expr::TagDispatch(_) => origin,
            _ => self.recogniser.facts().operator(expr).map_or(0, Remainder::pack),
        };
        Item { expr, progress, origin }
    }

    /// The item after reading a symbol.
    fn scan(&self, item: Item, symbol: Symbol) -> Option<Item> {
        let byte = match (self.recogniser.grammar().expr(item.expr), symbol) {
            (Expr::TagDispatch(_), _) => return self.scan_free_text(item, symbol),
            (Expr::Token(tokens), Symbol::Token(id)) if item.progress != DONE => {
                return tokens.contains(&TokenRef::Id(id)).then_some(Item { progress: DONE, ..item });
            }
            (Expr::ExcludeToken(tokens), Symbol::Token(id)) if item.progress != DONE => {
                return (!tokens.contains(&TokenRef::Id(id))).then_some(Item { progress: DONE, ..item });
            }
            (Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..), _) => {
                let next = self.recogniser.step_text(Remainder::unpack(item.progress), symbol)?;
                return Some(Item { progress: next.pack(), ..item });
            }
            (Expr::Token(_) | Expr::ExcludeToken(_), _) | (_, Symbol::Token(_)) => return None,
            (_, Symbol::Byte(byte)) => byte,
        };
        let progress = match self.recogniser.grammar().expr(item.expr) {
            Expr::Bytes(bytes) => {
                (bytes.get(item.progress as usize) == Some(&byte)).then_some(item.progress + 1)?
            }
            Expr::TagText(text) => {
                let next = text.as_bytes().get(item.progress as usize);
                (next == Some(&byte)).then_some(item.progress + 1)?
            }
            Expr::Class(_) if item.progress == DONE => return None,
            Expr::Class(ranges) => match Partial::unpack(item.progress).push(byte)? {
                Read::Whole(character) => {
                    let inside = ranges.iter().any(|&(low, high)| (low..=high).contains(&character));
                    inside.then_some(DONE)?
                }
                Read::More(partial) => {
                    let (least, greatest) = partial.range();
                    let possible =
                        ranges.iter().any(|&(low, high)| low as u32 <= greatest && high as u32 >= least);
                    possible.then(|| partial.pack())?
                }
            },
            _ => return None,
        };
        Some(Item { progress, ..item })
    }

    /// Reads on in free text; a body that is being waited for reads by itself.
    fn scan_free_text(&self, item: Item, symbol: Symbol) -> Option<Item> {
        let facts = self.recogniser.facts();
        let text = self.free_text(item)?;
        let is_productive = |body| facts.is_productive(body);
        facts.dispatch(item.expr)?.may_read(text, symbol, &is_productive).then_some(item)
    }

    /// The free text of an item of a tag dispatch.
    fn free_text(&self, item: Item) -> Option<&[Symbol]> {
        (item.progress != DONE).then(|| &self.symbols[item.progress as usize..])
    }

    /// The set of a new position that holds some items and all that follows from them.
    fn close(&self, items: impl IntoIterator<Item = Item>) -> Set {
        let mut closing = Closing {
            chart: self,
            position: u32::try_from(self.sets.len()).expect("texts are shorter than 2^32 bytes"),
            met: AHashSet::new(),
            set: Set::default(),
        };
        items.into_iter().for_each(|item| closing.add(item));
        let mut next = 0;
        while let Some(&item) = closing.set.items.get(next) {
            closing.follow(item);
            next += 1;
        }
        let grammar = self.recogniser.grammar();
        closing.set.items.retain(|item| !only_waits(grammar.expr(item.expr)));
        closing.set
    }
}

/// Whether items of an expression read nothing by themselves.
fn only_waits(expr: Expr<'_>) -> bool {
    matches!(
        expr,
        Expr::Empty
            | Expr::Sequence(_)
            | Expr::Choice(_)
            | Expr::Repeat { .. }
            | Expr::Rule(_)
            | Expr::Permutation(_)
    )
}

/// A set that is being closed.
struct Closing<'c, 'r> {
    chart: &'c Chart<'r>,
    position: u32,
    met: AHashSet<Item>,
    set: Set,
}

impl Closing<'_, '_> {
    fn add(&mut self, item: Item) {
        if self.met.insert(item) {
            self.set.items.push(item);
        }
    }

    /// Adds what follows from one item.
    fn follow(&mut self, item: Item) {
        let recogniser = self.chart.recogniser;
        let grammar = recogniser.grammar();
        let done = match grammar.expr(item.expr) {
            Expr::Empty => true,
            Expr::Bytes(bytes) => item.progress as usize == bytes.len(),
            Expr::TagText(text) => item.progress as usize == text.len(),
            Expr::Class(_) | Expr::Token(_) | Expr::ExcludeToken(_) => item.progress == DONE,
            Expr::TagDispatch(_) => self.follow_free_text(item),
            Expr::Sequence(parts) => match parts.get(item.progress as usize) {
                Some(&part) => {
                    self.wait(item, part);
                    false
                }
                None => true,
            },
            Expr::Choice(_) | Expr::Rule(_) if item.progress == DONE => true,
            Expr::Choice(alternatives) => {
                alternatives.iter().for_each(|&alternative| self.wait(item, alternative));
                false
            }
            Expr::Rule(rule) => {
                self.wait(item, grammar.rule(rule).body());
                false
            }
            Expr::Repeat { body, min, max } => {
                if max.is_none_or(|max| item.progress < max) {
                    self.wait(item, body);
                }
                item.progress >= min || recogniser.facts().is_nullable(body)
            }
            Expr::Permutation(permutation) => self.follow_permutation(item, permutation),
            _ => recogniser.is_text_complete(Remainder::unpack(item.progress)),
        };
        if done {
            self.complete(item);
        }
    }

    /// Waits for the bodies of the triggers that end here; says whether the dispatch may end.
    fn follow_free_text(&mut self, item: Item) -> bool {
        let Some(text) = self.chart.free_text(item) else { return true };
        let Some(free_text) = self.chart.recogniser.facts().dispatch(item.expr) else { return false };
        let completed = FreeText::completed(free_text, text);
        for &body in &completed.bodies {
            self.wait(item, body);
        }
        completed.stopped || !completed.any && free_text.may_end(text)
    }

    /// Waits for what may come next. Returns whether the item is done.
    fn follow_permutation(&mut self, item: Item, permutation: Permutation<'_>) -> bool {
        let chart = self.chart;
        let is_productive = |expr: ExprId| chart.recogniser.facts().is_productive(expr);
        let progress = Progress::unpack(item.progress);
        let next: Vec<ExprId> = (0..permutation.parts().len())
            .filter(|&part| may_read(permutation, progress, part, &is_productive))
            .map(|part| permutation.parts()[part])
            .collect();
        if !progress.after_part {
            next.into_iter().for_each(|part| self.wait(item, part));
            return false;
        }
        if !next.is_empty() {
            self.wait(item, permutation.separator());
        }
        is_whole(permutation, progress)
    }

    /// The item goes on when `expr`, from here on, has been read.
    fn wait(&mut self, item: Item, expr: ExprId) {
        let facts = self.chart.recogniser.facts();
        if !facts.is_productive(expr) {
            return;
        }
        self.set.waiting.entry(expr).or_default().push(item);
        let is_repeat = matches!(self.chart.recogniser.grammar().expr(item.expr), Expr::Repeat { .. });
        if facts.is_nullable(expr) && !is_repeat {
            self.advance(item, expr);
        }
        self.add(self.chart.start_of(expr, self.position));
    }

    fn complete(&mut self, item: Item) {
        if item.origin == self.position {
            return;
        }
        if item.origin == 0 && item.expr == self.chart.recogniser.root_body() {
            self.set.is_complete = true;
        }
        let origin = Rc::clone(&self.chart.sets[item.origin as usize]);
        for &waiting in origin.waiting.get(&item.expr).into_iter().flatten() {
            self.advance(waiting, item.expr);
        }
    }

    /// Adds the item after what it waits for.
    fn advance(&mut self, item: Item, read: ExprId) {
        let chart = self.chart;
        let progress = match chart.recogniser.grammar().expr(item.expr) {
            Expr::Permutation(permutation) => {
                let is_productive = |expr: ExprId| chart.recogniser.facts().is_productive(expr);
                let progress = Progress::unpack(item.progress);
                if progress.after_part {
                    self.add(Item { progress: Progress { after_part: false, ..progress }.pack(), ..item });
                    return;
                }
                // Equal parts are one expression, and any of them may have been read.
                for (part, &expr) in permutation.parts().iter().enumerate() {
                    if expr == read && may_read(permutation, progress, part, &is_productive) {
                        self.add(Item { progress: progress.with(permutation, part).pack(), ..item });
                    }
                }
                return;
            }
            Expr::Sequence(_) => item.progress + 1,
            Expr::Repeat { min, max: None, .. } => (item.progress + 1).min(min),
            Expr::Repeat { .. } => item.progress + 1,
            Expr::TagDispatch(dispatch) if dispatch.after == AfterDispatch::Loop => self.position,
            _ => DONE,
        };
        self.add(Item { progress, ..item });
    }
}
