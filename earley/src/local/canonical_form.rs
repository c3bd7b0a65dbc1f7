//! A description of a local part without the numbers of its grammar.
//!
//! Two grammars that hold the same kind of string have equal local parts under different state numbers.
//! Numbering the states in the order of a breadth-first search gives both the same description. XGrammar's
//! second paper, section 3.3, hashes such numberings; here the whole description is compared, so there is
//! nothing to collide. Rules that are called are part of the description, recursion included, as long as the
//! whole stays small.

use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_fsm::{FragmentId, Program, Role, StateId};
use grammask_grammar_ir::hash::HashMap;

use crate::automaton::lazy::Automaton;
use crate::tables::contexts::{Context, Contexts, CountKind};
use crate::tables::ids::{ContextId, TAIL, halves, number};
use crate::tables::state::State;

/// States that a description may have.
const MAX_STATES: usize = 400;

/// The greatest number of states in the description of a text inside JSON strings. The grammar of a URI has a
/// thousand, and so many tokens that one walk over them takes longer than its description in every grammar.
const MAX_TEXT_STATES: usize = 4_096;

/// Descriptions of text that came out too long before an engine tries no more.
const MAX_FAILURES: usize = 4;

/// State that is kept between descriptions.
#[derive(Default)]
pub(crate) struct CanonicalForms {
    /// Descriptions of text that came out too long.
    long_texts: AtomicUsize,
}

/// The description of a local state. Equal descriptions, also of different engines, behave alike. `None` where it
/// would be long.
pub(crate) fn canonical_form(
    automaton: &Automaton,
    forms: &CanonicalForms,
    state: State,
) -> Option<Vec<u32>> {
    let set = automaton.set(state);
    let detail = automaton.mask_key(state).detail;
    let builder = automaton.lock();
    let may_be_long = forms.long_texts.load(Ordering::Relaxed) < MAX_FAILURES;
    let max_text = if may_be_long { MAX_TEXT_STATES } else { MAX_STATES };
    let mut writer = FormWriter {
        program: &automaton.program,
        words: halves(detail).to_vec(),
        states: Numbering::new(automaton.program.state_count()),
        fragments: Numbering::new(automaton.program.fragment_count()),
        is_text: true,
        max_text,
    };
    // Items are sorted by the states' numbers in this program. Another program may sort equal parts in
    // another way; then they have two descriptions, which costs time and no answer.
    for item in &set.items {
        let number = writer.states.number(item.state, StateId::index);
        writer.words.push(number);
        writer.context(&builder.contexts, item.context)?;
    }
    writer.words.push(u32::MAX);
    let is_long = writer.automata().is_none();
    // As a rule only texts get this far. Their long descriptions are the expensive ones.
    if is_long && writer.states.order.len() > MAX_TEXT_STATES {
        forms.long_texts.fetch_add(1, Ordering::Relaxed);
    }
    (!is_long).then_some(writer.words)
}

/// Things in the order in which they were met.
struct Numbering<T> {
    order: Vec<T>,
    /// The number of each element plus one, or 0.
    numbers: Vec<u32>,
    /// The same for elements that are not among the first [`MAX_DENSE`].
    others: HashMap<usize, u32>,
}

/// A program that refers to hundreds of others has millions of states, and a table of all of them takes milliseconds.
const MAX_DENSE: usize = 1 << 13;

impl<T: Copy> Numbering<T> {
    fn new(count: usize) -> Self {
        Self { order: Vec::new(), numbers: vec![0; count.min(MAX_DENSE)], others: HashMap::default() }
    }

    fn number(&mut self, element: T, index_of: impl Fn(T) -> usize) -> u32 {
        let index = index_of(element);
        let word = match self.numbers.get_mut(index) {
            Some(word) => word,
            None => self.others.entry(index).or_default(),
        };
        if *word == 0 {
            self.order.push(element);
            *word = number(self.order.len());
        }
        *word - 1
    }
}

struct FormWriter<'e> {
    program: &'e Program,
    words: Vec<u32>,
    states: Numbering<StateId>,
    fragments: Numbering<FragmentId>,
    /// Whether no control character was met so far: JSON's strings hold none, and nearly all else has whitespace.
    is_text: bool,
    max_text: usize,
}

impl FormWriter<'_> {
    /// A context of a local part: a chain that ends in [`LOCAL`](crate::tables::ids::LOCAL).
    fn context(&mut self, contexts: &Contexts, mut id: ContextId) -> Option<()> {
        loop {
            match contexts.get(id) {
                Context::Local => {
                    self.words.push(0);
                    return Some(());
                }
                Context::Counter(counter) => {
                    let fragment = self.fragments.number(counter.fragment, FragmentId::index);
                    let (kind, count) = match counter.count {
                        CountKind::Slot(slot) => (1, u32::from(slot.raw())),
                        CountKind::Exact(count) => (2, count),
                        CountKind::Met => (3, 0),
                    };
                    self.words.extend([kind, fragment, count]);
                    id = counter.parent;
                }
                Context::List(range) => {
                    // Several callers make a tree. A part inside a string mostly has one, and other trees are
                    // not described.
                    let [entry] = contexts.entries(range) else { return None };
                    let state = match entry.state.state() {
                        Some(state) => self.states.number(state, StateId::index),
                        None => TAIL.raw(),
                    };
                    self.words.extend([4, state]);
                    id = entry.context;
                }
                Context::Root | Context::Block { .. } | Context::Permutation(_) => return None,
            }
        }
    }

    /// All states and fragments within reach.
    fn automata(&mut self) -> Option<()> {
        let (mut next_state, mut next_fragment) = (0, 0);
        // Fragments first, then states: both lists grow as the other one is read, until neither has anything
        // new. The order depends on the description alone.
        loop {
            if let Some(&id) = self.fragments.order.get(next_fragment) {
                next_fragment += 1;
                // Referred programs are large, and stay untouched until they are read.
                if !self.program.is_read(id) {
                    return None;
                }
                let fragment = self.program.fragment(id);
                // The continuations depend on more than automata.
                if fragment.role != Role::None {
                    return None;
                }
                let start = self.states.number(fragment.start, StateId::index);
                self.words.extend([start, u32::from(fragment.nullable)]);
                match fragment.count {
                    None => self.words.push(0),
                    Some(count) => {
                        let bounded = 1 + u32::from(count.max.is_some());
                        self.words.extend([bounded, count.min, count.max.unwrap_or(0)]);
                    }
                }
            } else if let Some(&id) = self.states.order.get(next_state) {
                next_state += 1;
                self.state(id);
            } else {
                return Some(());
            }
            let max = if self.is_text { self.max_text } else { MAX_STATES };
            if self.states.order.len() > max {
                return None;
            }
        }
    }

    fn state(&mut self, id: StateId) {
        let state = self.program.state(id);
        let (bytes, epsilons, calls) = (state.bytes.len(), state.epsilons.len(), state.calls.len());
        // Lengths before lists, so that no two automata have the same words.
        self.words.extend([u32::from(state.is_final), number(bytes), number(epsilons), number(calls)]);
        for edge in state.bytes {
            self.is_text &= edge.start >= b' ';
            let target = self.states.number(edge.target, StateId::index);
            self.words.extend([u32::from(edge.start) << 8 | u32::from(edge.end), target]);
        }
        for &target in state.epsilons {
            let target = self.states.number(target, StateId::index);
            self.words.push(target);
        }
        for call in state.calls {
            let fragment = self.fragments.number(call.fragment, FragmentId::index);
            let target = self.states.number(call.target, StateId::index);
            self.words.extend([fragment, target]);
        }
    }
}
