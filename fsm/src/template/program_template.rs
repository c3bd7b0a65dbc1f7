//! A program with a place for whatever a request brings along.
//!
//! From one request to the next a structure changes only in its tools. The constant part is a
//! [`ProgramTemplate`], compiled once with a gap in it; each tool is compiled once to its beginning and a
//! program for the rest. Filling the gap with some tools writes a tree of their beginnings, whose ends call
//! the programs as [sub-programs](crate::program::sub_programs). The time for each tool is some nanoseconds a
//! byte of its beginning, whatever its program holds.
//!
//! The tree matters: with one call a tool, each set of items at the beginning of a tag would have as many as
//! there are tools.

use std::sync::Arc;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{Grammar, GrammarBuilder, PatternPart, RuleId, TokenRef};

use crate::compile::pipeline::{compile, compile_around};
use crate::error::AutomataError;
use crate::error::Failure;
use crate::ids::{Id, Offset};
use crate::link::scope::LinkedProgram;
use crate::link::symbols::Symbols;
use crate::options::{CompileOptions, PartSize};
use crate::program::byte_classes::ByteClasses;
use crate::program::byte_classes::ClassStarts;
use crate::program::deferred::DeferredProgram;
use crate::program::deferred::Footprint;
use crate::program::sub_programs::SubPrograms;
use crate::program::tables::{FragmentId, Program, StateId};
use crate::template::prefix_trie::{self, Labels, Sorted};

/// A program in which one rule is left open, to be [linked](Self::link) with branches.
#[derive(Clone, Debug)]
pub struct ProgramTemplate {
    /// The gap has no states in it.
    program: Program,
    gap: FragmentId,
}

/// One alternative for the gap: a text, a program by reference, and a text after it.
///
/// Everything that linking needs of it is here, side by side: a request that puts known tools together spends
/// most of its time waiting for memory.
#[derive(Clone, Debug)]
pub struct TemplateArm {
    /// The text at the beginning and the one at the end, one after the other.
    texts: Box<[u8]>,
    /// Bytes of the first.
    begin: Offset,
    /// How many symbols both have.
    symbols: u32,
    size: PartSize,
    has_options: bool,
    has_labels: bool,
    /// Where classes of bytes begin for the texts and the program.
    starts: ClassStarts,
    content: Arc<DeferredProgram>,
}

impl TemplateArm {
    /// A branch from the texts at its beginning and its end, whose tokens have ids, and the program between
    /// them. `None` if a token has none, or if the program may read nothing or begins with itself.
    pub fn new(begin: &[PatternPart], content: Arc<DeferredProgram>, end: &[PatternPart]) -> Option<Self> {
        let mut texts = Vec::new();
        let mut symbols = push_parts(&mut texts, begin)?;
        let length = u32::try_from(texts.len()).ok().map(Offset::from_raw)?;
        symbols += push_parts(&mut texts, end)?;
        // A program that may read nothing, or begins with itself, would change facts of the template that
        // were computed without it.
        if !content.can_be_referred_to() {
            return None;
        }
        // The classes of bytes of the linked program must be at least as fine as those of every part.
        // Collecting them here leaves a union for each arm to the linking.
        let mut starts = content.footprint().classes.starts();
        for part in begin.iter().chain(end) {
            if let PatternPart::Text(text) = part {
                text.bytes().for_each(|byte| starts.tell_apart(byte, byte));
            }
        }
        let &Footprint { size, has_options, has_labels, .. } = content.footprint();
        let texts = texts.into();
        Some(Self { texts, begin: length, symbols, size, has_options, has_labels, starts, content })
    }

    /// Bytes of memory that it holds, the program not included.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>() + self.texts.len()
    }

    /// Whether another one with the same beginning is the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content) && self.texts == other.texts && self.begin == other.begin
    }

    /// Its beginning.
    pub(crate) fn begin(&self) -> Symbols<'_> {
        Symbols(&self.texts[..self.begin.index()])
    }

    /// Its end.
    pub(crate) fn end(&self) -> Symbols<'_> {
        Symbols(&self.texts[self.begin.index()..])
    }
}

/// Adds the symbols of a text to others. How many they are; `None` where a token has no id.
fn push_parts(texts: &mut Vec<u8>, parts: &[PatternPart]) -> Option<u32> {
    let mut count = 0_usize;
    for part in parts {
        match part {
            PatternPart::Text(text) => {
                texts.extend_from_slice(text.as_bytes());
                count += text.len();
            }
            PatternPart::Token(TokenRef::Id(id)) => {
                Symbols::push_token(texts, *id);
                count += 1;
            }
            PatternPart::Token(_) => return None,
        }
    }
    u32::try_from(count).ok()
}

impl ProgramTemplate {
    /// Compiles a grammar without one of its rules, whose body is not read.
    ///
    /// # Errors
    ///
    /// As for [`compile`], and where nothing refers to the rule, or only an operand of a regular operator.
    pub fn new(grammar: &Grammar, options: &CompileOptions, gap: RuleId) -> Result<Self, AutomataError> {
        let stand_in = stand_in()?;
        let (mut program, number) = compile_around(grammar, options, LinkedProgram::copied(gap, &stand_in))?;
        let Some(gap) = number else {
            return Err(Failure::PartBelowOperator.in_rule(grammar.rule(gap).name()));
        };
        // The gap was compiled with a program in it that no pass can merge with anything, so the passes saw a
        // call like those of the arms. Now its states go.
        take_out(&mut program, gap, stand_in.state_count());
        Ok(Self { program, gap })
    }

    /// Bytes of memory that it holds.
    pub fn memory_usage(&self) -> usize {
        // Facts that follow from its tables are for programs without gaps.
        self.program.table_bytes()
    }

    /// The program with branches in the gap, in whatever order they are given. `None` where there are none, and
    /// where states or edges are more than the options allow.
    pub fn link(&self, branches: &[&TemplateArm], options: &CompileOptions) -> Option<Program> {
        let sorted = Sorted::new(branches);
        let branches = &*sorted.branches;
        if branches.is_empty() || !fits(&self.program, branches, options) {
            return None;
        }
        // Most branches end alike.
        let symbols = sorted.tree_size() + branches[0].end().0.len();
        // The tables are extended by hand, so this function keeps the invariants of `emit`. Rows are in the
        // order of their states, the edges of a state are sorted, a last row ends the others, and byte
        // classes distinguish what any edge does.
        let mut program = self.program.own_tables();
        // The last row is pushed again after the tree.
        program.states.pop();
        program.states.reserve(symbols + branches.len() + 3);
        program.byte_edges.reserve(symbols);
        program.calls.reserve(branches.len());
        let mut labels = Labels::new(&program.labels);
        // The gap's fragment becomes the tree of all beginnings. Its calls name branches until the numbers of
        // their programs are known.
        let first_call = prefix_trie::write(&mut program, self.gap, &sorted, &mut labels);
        program.push_row(false);
        // Only now, because the numbers of sub-programs come after all states and fragments of the whole.
        program.sub_programs = SubPrograms::behind(program.own_ends(), branches.len());
        let roots = push_units(&mut program, branches, &mut labels);
        for call in &mut program.calls[first_call..] {
            call.fragment = roots[call.fragment.index()];
        }
        program.labels = labels.all;
        let mut starts = program.byte_classes.starts();
        branches.iter().for_each(|branch| starts.add(&branch.starts));
        program.byte_classes = ByteClasses::beginning_at(&starts);
        Some(program)
    }
}

/// Whether numbers and tables stay within the limits.
fn fits(frame: &Program, branches: &[&TemplateArm], options: &CompileOptions) -> bool {
    let mut size = PartSize { states: frame.own_state_count() + 2, edges: frame.byte_edges.len() };
    for branch in branches {
        let symbols = usize::try_from(branch.symbols).unwrap_or(usize::MAX).saturating_add(1);
        size = size + PartSize { states: symbols, edges: symbols } + branch.size;
    }
    options.check_size(size).is_ok()
}

/// A program that fills the gap while the template is compiled. It reads one byte; after all passes it is two
/// states and an edge.
fn stand_in() -> Result<Program, AutomataError> {
    let mut builder = GrammarBuilder::new();
    let byte = builder.literal("x");
    let grammar = builder.add_rule("stand_in", byte).and_then(|root| builder.finish(root));
    match grammar {
        Ok(grammar) => compile(&grammar, &CompileOptions::default()),
        Err(_) => Err(Failure::PartBelowOperator.in_rule("stand_in")),
    }
}

/// Removes the states of a fragment, which are neighbours and call nothing, from the tables.
fn take_out(program: &mut Program, gap: FragmentId, count: usize) {
    let first = program.fragment(gap).start;
    let end = first.plus(count);
    let (from, to) = (program.states[first.index()], program.states[end.index()]);
    // The stand-in has byte edges alone, so no other table has rows to remove.
    program.byte_edges.drain(from.bytes.index()..to.bytes.index());
    program.states.drain(first.index()..end.index());
    let gone = to.bytes.since(from.bytes);
    for row in &mut program.states[first.index()..] {
        row.bytes = row.bytes.minus(gone);
    }
    let moved = |id: &mut StateId| {
        if *id >= end {
            *id = id.minus(count);
        }
    };
    // Nothing leads into the removed states but the fragment's start, which linking sets anew.
    program.byte_edges.iter_mut().for_each(|edge| moved(&mut edge.target));
    program.epsilons.iter_mut().for_each(moved);
    program.calls.iter_mut().for_each(|call| moved(&mut call.target));
    program.token_edges.iter_mut().for_each(|edge| moved(&mut edge.target));
    program.fragments.iter_mut().for_each(|fragment| moved(&mut fragment.start));
    program.byte_classes =
        ByteClasses::from_ranges(program.byte_edges.iter().map(|edge| (edge.start, edge.end)));
}

/// Puts the programs of branches after a program whose own tables are complete, equal ones once. Returns the
/// number of each branch's root.
fn push_units(program: &mut Program, branches: &[&TemplateArm], labels: &mut Labels) -> Vec<FragmentId> {
    let mut root_of: HashMap<usize, FragmentId> =
        HashMap::with_capacity_and_hasher(branches.len(), Default::default());
    let root = |branch: &&TemplateArm| {
        let TemplateArm { content, has_options, has_labels, .. } = *branch;
        // Equal programs are one `Arc`, because the caches hand out the same one.
        *root_of.entry(Arc::as_ptr(content).addr()).or_insert_with(|| {
            let first_label = labels.of_unit(if *has_labels { content.labels() } else { &[] });
            program.sub_programs.push(content, *has_options, first_label)
        })
    };
    branches.iter().map(root).collect()
}
