//! A program with a place for whatever a request brings along.
//!
//! From one request to the next a structure stays the same but for its tools. What stays is a [`Frame`], compiled once
//! with a hole in it; each tool is compiled once to how it begins and a program for the rest. To put some tools into
//! the frame is a tree of their beginnings, whose ends call the programs as [units](crate::units): time for each tool
//! is some nanoseconds a byte of its beginning, whatever its program holds.
//!
//! The tree matters: with one call a tool, each set of items at the beginning of a tag would have as many as
//! there are tools.

use std::ops::Range;
use std::sync::Arc;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{Grammar, GrammarBuilder, PatternPart, RuleId, TokenRef};

use crate::compile::{compile, compile_around};
use crate::error::Failure;
use crate::link::Part;
use crate::program::StateRow;
use crate::units::{Begin, Units};
use crate::{
    BuildError, ByteClasses, ByteEdge, Call, CompileOptions, FragmentId, LabelId, LazyProgram, Program,
    StateId, TokenEdge, TokenLabel, TokenSide,
};

/// A program in which one rule is left open, to be [linked](Self::link) with branches.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The hole has no states in it.
    program: Program,
    hole: FragmentId,
}

/// One of the things that may stand in the hole: a text, what follows it, and a text behind that. A program holds what
/// follows by reference.
#[derive(Clone, Debug)]
pub struct Branch {
    begin: Box<[Symbol]>,
    /// The beginning with the greatest byte of each symbol first, which is ordered as symbols are: bytes are compared
    /// many at once.
    key: Box<[u8]>,
    content: Arc<LazyProgram>,
    end: Box<[Symbol]>,
}

/// A byte, or a token's id with this bit.
type Symbol = u32;
const TOKEN: Symbol = 1 << 31;

impl Branch {
    /// A branch from the texts at its beginning and its end, whose tokens have ids, and the program between them.
    /// `None` where a token has none, and where the program may read nothing or begins with itself.
    pub fn new(begin: &[PatternPart], content: Arc<LazyProgram>, end: &[PatternPart]) -> Option<Self> {
        let (begin, end) = (symbols(begin)?, symbols(end)?);
        let key = begin.iter().flat_map(|symbol| symbol.to_be_bytes()).collect();
        content.can_be_referred_to().then_some(Self { begin, key, content, end })
    }

    /// Bytes of memory that it holds, the program not included.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.begin) + self.key.len() + size_of_val(&*self.end)
    }
}

fn symbols(parts: &[PatternPart]) -> Option<Box<[Symbol]>> {
    let mut symbols = Vec::new();
    for part in parts {
        match part {
            PatternPart::Text(text) => symbols.extend(text.bytes().map(Symbol::from)),
            PatternPart::Token(TokenRef::Id(id)) if *id < TOKEN => symbols.push(TOKEN | id),
            PatternPart::Token(_) => return None,
        }
    }
    Some(symbols.into())
}

impl Frame {
    /// Compiles a grammar without one of its rules, whose body is not read.
    ///
    /// # Errors
    ///
    /// As for [`compile`], and where nothing refers to the rule, or only an operand of a regular operator.
    pub fn new(grammar: &Grammar, options: &CompileOptions, hole: RuleId) -> Result<Self, BuildError> {
        let plug = plug()?;
        let (mut program, number) = compile_around(grammar, options, Part::copied(hole, &plug))?;
        let Some(hole) = number else {
            return Err(Failure::PartBelowOperator.in_rule(grammar.rule(hole).name()));
        };
        take_out(&mut program, hole, plug.state_count() as u32);
        Ok(Self { program, hole })
    }

    /// Bytes of memory that it holds.
    pub fn memory_usage(&self) -> usize {
        // What follows from its tables is for programs without holes.
        self.program.table_bytes()
    }

    /// The program with branches in the hole, in whatever order they are given. `None` where there are none, and
    /// where states or edges are more than the options allow.
    pub fn link(&self, branches: &[&Branch], options: &CompileOptions) -> Option<Program> {
        let mut branches: Vec<&Branch> = branches.to_vec();
        // What all begin with need not be compared again and again.
        let common = common_beginning(&branches);
        branches.sort_by(|one, other| one.key[common..].cmp(&other.key[common..]));
        branches.dedup_by(|one, other| {
            one.key == other.key && one.end == other.end && Arc::ptr_eq(&one.content, &other.content)
        });
        if branches.is_empty() || !fits(&self.program, &branches, options) {
            return None;
        }
        let mut program = self.program.own_tables();
        program.states.pop();
        let states = branches.iter().map(|branch| branch.begin.len() + 2).sum::<usize>();
        program.states.reserve(states + 1);
        program.byte_edges.reserve(states);
        program.calls.reserve(branches.len());
        program.units = Units::with_capacity(branches.len());
        let mut labels = Labels::new(&program.labels);
        let tree = Tree::new(&mut program, self.hole, &branches, &mut labels);
        tree.end(&mut program, &branches, labels);
        Some(program)
    }
}

/// How many bytes the keys of all branches begin with.
fn common_beginning(branches: &[&Branch]) -> usize {
    let Some((first, others)) = branches.split_first() else { return 0 };
    others.iter().fold(first.key.len(), |common, branch| {
        let known = &first.key[..common];
        if branch.key.starts_with(known) {
            return common;
        }
        known.iter().zip(&branch.key).take_while(|(one, other)| one == other).count()
    })
}

/// Whether numbers and tables stay within the limits.
fn fits(frame: &Program, branches: &[&Branch], options: &CompileOptions) -> bool {
    // Tables are numbered in 32 bits, with two bits to spare.
    let cap = (1 << 30) - 1;
    let (mut states, mut edges) = (frame.own_state_count() + 2, frame.byte_edges.len());
    let mut numbers = states;
    for Branch { begin, content, end, .. } in branches {
        let (chains, room) = (begin.len() + end.len() + 1, content.room());
        states += chains + room.likely_states;
        edges += chains + room.likely_edges;
        numbers += chains + room.states.max(room.fragments) as usize;
    }
    numbers <= cap && states <= options.max_states.min(cap) && edges <= options.max_edges.min(cap)
}

/// What stands in a hole while its frame is compiled: something that is not nothing. All passes run, so that it is two
/// states and an edge.
fn plug() -> Result<Program, BuildError> {
    let mut builder = GrammarBuilder::new();
    let byte = builder.literal("x");
    let grammar = builder.add_rule("plug", byte).and_then(|root| builder.finish(root));
    match grammar {
        Ok(grammar) => compile(&grammar, &CompileOptions::default()),
        Err(_) => Err(Failure::PartBelowOperator.in_rule("plug")),
    }
}

/// Takes the states of a fragment, which stand side by side and call nothing, out of the tables.
fn take_out(program: &mut Program, hole: FragmentId, count: u32) {
    let first = program.fragment(hole).start.raw();
    let end = first + count;
    let (from, to) = (program.states[first as usize], program.states[end as usize]);
    program.byte_edges.drain(from.bytes as usize..to.bytes as usize);
    program.states.drain(first as usize..end as usize);
    let gone = to.bytes - from.bytes;
    for row in &mut program.states[first as usize..] {
        row.bytes -= gone;
    }
    let moved = |id: &mut StateId| {
        if id.raw() >= end {
            *id = StateId::from_raw(id.raw() - count);
        }
    };
    program.byte_edges.iter_mut().for_each(|edge| moved(&mut edge.target));
    program.epsilons.iter_mut().for_each(moved);
    program.calls.iter_mut().for_each(|call| moved(&mut call.target));
    program.token_edges.iter_mut().for_each(|edge| moved(&mut edge.target));
    program.fragments.iter_mut().for_each(|fragment| moved(&mut fragment.start));
    program.byte_classes =
        ByteClasses::from_ranges(program.byte_edges.iter().map(|edge| (edge.start, edge.end)));
}

/// The labels of the whole, which units have in common.
struct Labels {
    all: Vec<TokenLabel>,
    /// The label of one token.
    of_token: HashMap<u32, u32>,
    /// The labels of the unit that was put in last.
    last: Range<usize>,
}

impl Labels {
    fn new(frame: &[TokenLabel]) -> Self {
        Self { all: frame.to_vec(), of_token: HashMap::default(), last: 0..0 }
    }

    fn of_token(&mut self, id: u32) -> LabelId {
        let number = *self.of_token.entry(id).or_insert_with(|| {
            let known =
                self.all.iter().position(|label| *label.ids == [id] && label.side == TokenSide::Inside);
            known.unwrap_or_else(|| {
                self.all.push(TokenLabel { ids: Box::new([id]), side: TokenSide::Inside });
                self.all.len() - 1
            }) as u32
        });
        LabelId::from_raw(number)
    }

    /// Where the labels of a unit begin.
    fn of_unit(&mut self, labels: &[TokenLabel]) -> u32 {
        if !self.all[self.last.clone()].starts_with(labels) {
            self.last = self.all.len()..self.all.len() + labels.len();
            self.all.extend_from_slice(labels);
        }
        self.last.start as u32
    }
}

/// The tree of beginnings, as it is written: breadth first, the root before all; where one branch is left, all that is
/// left of it at once.
struct Tree {
    first: u32,
    /// Branches with a beginning in common, which are sorted, and its length.
    nodes: Vec<(Range<u32>, u32)>,
    /// The first state of the next node. Nodes get their states in the order in which they are written.
    next_state: u32,
}

impl Tree {
    fn new(program: &mut Program, hole: FragmentId, branches: &[&Branch], labels: &mut Labels) -> Self {
        let first = program.states.len() as u32;
        program.fragments[hole.index()].start = StateId::from_raw(first);
        // Behind the root stands the state in which a branch was read.
        let mut this = Self { first, nodes: Vec::with_capacity(64), next_state: first + 2 };
        program.push_row(false);
        this.write(program, branches, 0..branches.len() as u32, 0, labels);
        program.push_row(true);
        let mut next = 0;
        while let Some((range, depth)) = this.nodes.get(next).cloned() {
            match range.len() {
                1 => this.write_rest(program, branches, range.start, depth, labels),
                _ => {
                    program.push_row(false);
                    this.write(program, branches, range, depth, labels);
                }
            }
            next += 1;
        }
        this
    }

    /// The first state of a new node.
    fn push(&mut self, branches: &[&Branch], range: Range<u32>, depth: u32) -> StateId {
        let state = StateId::from_raw(self.next_state);
        self.next_state += match range.len() {
            1 => branches[range.start as usize].begin.len() as u32 - depth + 1,
            _ => 1,
        };
        self.nodes.push((range, depth));
        state
    }

    /// Writes what is left of the beginning of one branch.
    fn write_rest(
        &self,
        program: &mut Program,
        branches: &[&Branch],
        at: u32,
        depth: u32,
        labels: &mut Labels,
    ) {
        let rest = &branches[at as usize].begin[depth as usize..];
        for part in rest.chunk_by(|&one, &other| is_byte(one) == is_byte(other)) {
            push_chain(program, part, labels);
        }
        program.push_row(false);
        self.call(program, at);
    }

    /// A branch whose beginning was read.
    fn call(&self, program: &mut Program, at: u32) {
        // The unit's number stands in the place of its root's until fragments are numbered.
        let end = StateId::from_raw(self.first + 1);
        program.calls.push(Call { fragment: FragmentId::from_raw(at), target: end });
    }

    fn write(
        &mut self,
        program: &mut Program,
        branches: &[&Branch],
        range: Range<u32>,
        depth: u32,
        labels: &mut Labels,
    ) {
        let mut at = range.start;
        while at < range.end {
            let Some(&symbol) = branches[at as usize].begin.get(depth as usize) else {
                self.call(program, at);
                at += 1;
                continue;
            };
            let rest = &branches[at as usize..range.end as usize];
            let goes_on = |branch: &&Branch| branch.begin.get(depth as usize) == Some(&symbol);
            let same = match rest.last().is_some_and(goes_on) {
                true => rest.len(),
                false => rest.partition_point(goes_on),
            } as u32;
            let target = self.push(branches, at..at + same, depth + 1);
            push_symbol(program, symbol, target, labels);
            at += same;
        }
    }

    /// Ends the tables, and puts the units behind them.
    fn end(self, program: &mut Program, branches: &[&Branch], mut labels: Labels) {
        let first_call = program.states[self.first as usize].calls as usize;
        let mut ends: HashMap<&[Symbol], StateId> = HashMap::default();
        // Calls are in the order of the tree, and have numbers of branches for the time being.
        let mut last: Option<(&[Symbol], StateId)> = None;
        for at in first_call..program.calls.len() {
            let end = &*branches[program.calls[at].fragment.index()].end;
            // Tags that are offered together mostly end alike.
            let known = last.filter(|(other, _)| *other == end).map(|(_, state)| state);
            let state = match known.or_else(|| ends.get(end).copied()) {
                Some(known) => known,
                None => *ends.entry(end).or_insert(self.write_end(program, end, &mut labels)),
            };
            last = Some((end, state));
            program.calls[at].target = state;
        }
        program.push_row(false);
        let roots = push_units(program, branches, &mut labels);
        for call in &mut program.calls[first_call..] {
            call.fragment = roots[call.fragment.index()];
        }
        program.labels = labels.all;
        let edges = &program.byte_edges[program.states[self.first as usize].bytes as usize..];
        let tree = ByteClasses::from_ranges(edges.iter().map(|edge| (edge.start, edge.end)));
        let units = branches.iter().map(|branch| &branch.content.room().classes);
        program.byte_classes = ByteClasses::finer([&program.byte_classes, &tree].into_iter().chain(units));
    }

    /// Writes the chain of what stands behind a unit; its first state.
    fn write_end(&self, program: &mut Program, end: &[Symbol], labels: &mut Labels) -> StateId {
        let done = StateId::from_raw(self.first + 1);
        let Some((&last, others)) = end.split_last() else { return done };
        let first = StateId::from_raw(program.states.len() as u32);
        for &symbol in others {
            let next = StateId::from_raw(program.states.len() as u32 + 1);
            program.push_row(false);
            push_symbol(program, symbol, next, labels);
        }
        program.push_row(false);
        push_symbol(program, last, done, labels);
        first
    }
}

fn is_byte(symbol: Symbol) -> bool {
    symbol < TOKEN
}

/// Writes a state for each of some symbols, all bytes or all tokens, that leads to the next one.
fn push_chain(program: &mut Program, symbols: &[Symbol], labels: &mut Labels) {
    let first = program.states.len() as u32;
    let targets = (first + 1..).map(StateId::from_raw);
    if !symbols.iter().copied().all(is_byte) {
        for (&symbol, target) in symbols.iter().zip(targets) {
            program.push_row(false);
            push_symbol(program, symbol, target, labels);
        }
        return;
    }
    program.push_row(false);
    let row = program.states[first as usize];
    // Symbols that are no tokens are bytes.
    let edge =
        |(&symbol, target): (&Symbol, StateId)| ByteEdge { start: symbol as u8, end: symbol as u8, target };
    program.states.extend((1..symbols.len() as u32).map(|at| StateRow { bytes: row.bytes + at, ..row }));
    program.byte_edges.extend(symbols.iter().zip(targets).map(edge));
}

fn push_symbol(program: &mut Program, symbol: Symbol, target: StateId, labels: &mut Labels) {
    match u8::try_from(symbol) {
        Ok(byte) => program.byte_edges.push(ByteEdge { start: byte, end: byte, target }),
        Err(_) => program.token_edges.push(TokenEdge { label: labels.of_token(symbol & !TOKEN), target }),
    }
}

/// Puts the programs of branches behind a program whose own tables are complete, equal ones once. The number of each
/// branch's root.
fn push_units(program: &mut Program, branches: &[&Branch], labels: &mut Labels) -> Vec<FragmentId> {
    let mut begin =
        Begin { state: program.own_state_count() as u32, fragment: program.fragments.len() as u32, label: 0 };
    let mut roots: Vec<FragmentId> = Vec::with_capacity(branches.len());
    for (Branch { content, .. }, first) in branches.iter().zip(first_of_each(branches)) {
        // One that was met before has its root.
        let known = roots.get(first as usize).copied();
        roots.push(known.unwrap_or_else(|| {
            begin.label = labels.of_unit(content.labels());
            let root = FragmentId::from_raw(begin.fragment + content.room().root);
            begin = program.units.push(content, begin);
            root
        }));
    }
    roots
}

/// For each branch the first one with the same program.
fn first_of_each(branches: &[&Branch]) -> Vec<u32> {
    let programs = branches.iter().map(|branch| Arc::as_ptr(&branch.content).addr());
    let mut sorted: Vec<(usize, u32)> = programs.zip(0..).collect();
    sorted.sort_unstable();
    let mut first = vec![0; branches.len()];
    for same in sorted.chunk_by(|(one, _), (other, _)| one == other) {
        same.iter().for_each(|&(_, at)| first[at as usize] = same[0].1);
    }
    first
}
