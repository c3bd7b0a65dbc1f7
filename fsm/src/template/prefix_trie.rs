//! The tree of the texts that branches begin with.
//!
//! Branches are sorted, and each knows the length of the beginning that it shares with the one before. Then
//! the branches of a node share the least of some numbers, and they part where the number is that. So each
//! byte of a text is written once and looked at little more often, whatever the texts share. Where one branch
//! is left, its rest is written at once.

use std::ops::Range;

use grammask_grammar_ir::hash::HashMap;

use crate::ids::{Id, IdVec, Offset, ids, ids_between};
use crate::link::symbols::{Run, Symbol, Symbols, equal};
use crate::program::tables::{
    ByteEdge, Call, FragmentId, LabelId, Program, StateId, TokenEdge, TokenLabel, TokenSide,
};
use crate::template::ids::{BranchId, TextId};
use crate::template::program_template::TemplateArm;

/// Branches in the order of their beginnings, each once.
pub(crate) struct Sorted<'b> {
    pub(crate) branches: Vec<&'b TemplateArm>,
    /// In how many bytes each begins as the one before it does.
    common: IdVec<BranchId, Offset>,
}

impl<'b> Sorted<'b> {
    pub(crate) fn new(branches: &[&'b TemplateArm]) -> Self {
        let mut this = Self {
            branches: Vec::with_capacity(branches.len()),
            common: IdVec::with_capacity(branches.len()),
        };
        for (_, at) in order(branches.len(), |at| branches[at].begin().0) {
            let branch = branches[at.index()];
            let common = match this.branches.last() {
                Some(last) => last.begin().common(branch.begin()),
                None => 0,
            };
            // Equal branches are neighbours after the sort. Each branch that stays has its common length with
            // the one before it that stays, since a copy shares all of its beginning.
            if !this.branches.last().is_some_and(|last| last.is_same(branch)) {
                this.branches.push(branch);
                this.common.push(Offset::from_index(common));
            }
        }
        this
    }

    /// How many edges the tree has, at most.
    pub(crate) fn tree_size(&self) -> usize {
        let each = self.branches.iter().zip(self.common.iter());
        each.map(|(branch, &common)| branch.begin().0.len() - common.index()).sum()
    }
}

/// The numbers of texts in their order; equal ones stay in theirs.
fn order<'t>(count: usize, text: impl Fn(usize) -> &'t [u8]) -> Vec<(u64, TextId)> {
    let length = |at: TextId| text(at.index()).len();
    let mut order: Vec<(u64, TextId)> = ids(count).map(|at| (0, at)).collect();
    // Those that are equal up to a depth are compared by the eight bytes after their common beginning, all at
    // once.
    let mut groups = vec![(0..order.len(), 0)];
    while let Some((range, depth)) = groups.pop() {
        let rest = |at: TextId| text(at.index()).get(depth..).unwrap_or_default();
        let group = &mut order[range.clone()];
        let Some((&(_, first), others)) = group.split_first() else { continue };
        let first = rest(first);
        let common = others.iter().fold(first.len(), |common, &(_, at)| {
            let (first, other) = (&first[..common], rest(at));
            match other.starts_with(first) {
                true => common,
                false => equal(first, other),
            }
        });
        for (number, at) in &mut *group {
            *number = number_at(rest(*at), common);
        }
        // By the eight bytes as one number, and by place. Big-endian numbers compare like the bytes.
        group.sort_unstable();
        let (depth, mut at) = (depth + common + 8, range.start);
        for same in group.chunk_by_mut(|one, other| one.0 == other.0) {
            let next = at + same.len();
            match same {
                [_] => {}
                // Eight equal bytes, and some text goes on: the group is sorted by the bytes after them.
                _ if same.iter().any(|&(_, at)| length(at) > depth) => groups.push((at..next, depth)),
                // Texts seem to continue with zeros after their ends: of those that really do none is
                // shorter.
                _ => same.sort_unstable_by_key(|&(_, at)| (length(at), at)),
            }
            at = next;
        }
    }
    order
}

/// The eight bytes from a place on, with zeros after the end.
fn number_at(text: &[u8], at: usize) -> u64 {
    let behind = text.get(at..).unwrap_or_default();
    let mut bytes = [0; 8];
    let length = behind.len().min(8);
    bytes[..length].copy_from_slice(&behind[..length]);
    u64::from_be_bytes(bytes)
}

/// Writes the tree of all beginnings as the automaton of a fragment, and the ends of branches. Returns the
/// first of the calls in its states, which have the numbers of branches in the place of fragments.
pub(crate) fn write(
    program: &mut Program,
    gap: FragmentId,
    sorted: &Sorted<'_>,
    labels: &mut Labels,
) -> usize {
    let first = next_state(program);
    let first_call = program.calls.len();
    program.fragments[gap.index()].start = first;
    // The state in which a branch was read follows the root.
    let done = first.plus(1);
    // A node has at least two branches or is one whole branch, so there are fewer than twice as many nodes as
    // branches.
    let mut tree = Tree { sorted, done, nodes: Vec::with_capacity(2 * sorted.branches.len()) };
    program.push_row(false);
    tree.part(program, BranchId::FIRST..sorted.common.next_id(), Offset::FIRST, labels);
    program.push_row(true);
    let mut next = 0;
    // Breadth first: a node is written after the edge that leads to it, whose target is set here. Within a
    // node comes the chain of common symbols, then the state in which its branches part.
    while let Some(PrefixNode { range, depth, fork, edge }) = tree.nodes.get(next).cloned() {
        let state = next_state(program);
        edge.lead_to(program, state);
        let text = tree.begin(range.start).to(fork.index()).from(depth.index());
        push_chain(program, text, labels);
        program.push_row(false);
        tree.part(program, range, fork, labels);
        next += 1;
    }
    write_ends(program, first_call, sorted, done, labels);
    first_call
}

/// Branches that begin alike: from a depth on, up to where they part.
#[derive(Clone)]
struct PrefixNode {
    range: Range<BranchId>,
    depth: Offset,
    fork: Offset,
    /// The edge that leads to its first state.
    edge: Edge,
}

/// The place of an edge in its table.
#[derive(Clone, Copy)]
enum Edge {
    Byte(usize),
    Token(usize),
}

impl Edge {
    fn lead_to(self, program: &mut Program, target: StateId) {
        match self {
            Self::Byte(at) => program.byte_edges[at].target = target,
            Self::Token(at) => program.token_edges[at].target = target,
        }
    }
}

/// The tree, as it is written: breadth first, the root before all.
struct Tree<'t> {
    sorted: &'t Sorted<'t>,
    done: StateId,
    nodes: Vec<PrefixNode>,
}

impl<'t> Tree<'t> {
    fn begin(&self, at: BranchId) -> Symbols<'t> {
        self.sorted.branches[at.index()].begin()
    }

    /// Writes the edges of a state in which branches part.
    fn part(&mut self, program: &mut Program, range: Range<BranchId>, depth: Offset, labels: &mut Labels) {
        let mut at = range.start;
        while at < range.end {
            let Some((symbol, length)) = self.begin(at).from(depth.index()).first() else {
                // The sub-program's number takes the place of its root's until fragments are numbered.
                program.calls.push(Call { fragment: FragmentId::from_raw(at.raw()), target: self.done });
                at = at.plus(1);
                continue;
            };
            // Branches share the symbol at `depth` as long as each has more than `depth` bytes in common with
            // the one before it. Since they are sorted, such branches are neighbours.
            let others = self.sorted.common.slice(at.plus(1)..range.end);
            let same = 1 + others.iter().take_while(|&&common| common > depth).count();
            let begun = &others[..same - 1];
            let end = Offset::from_index(self.begin(at).0.len());
            // The least common length of neighbours is the common length of the whole range.
            let fork = begun.iter().fold(end, |fork, &common| fork.min(common));
            // Where it leads is known when the node is written.
            let edge = push_symbol(program, symbol, self.done, labels);
            self.nodes.push(PrefixNode { range: at..at.plus(same), depth: depth.plus(length), fork, edge });
            at = at.plus(same);
        }
    }
}

/// Writes the texts after sub-programs, equal texts once.
fn write_ends(
    program: &mut Program,
    first_call: usize,
    sorted: &Sorted<'_>,
    done: StateId,
    labels: &mut Labels,
) {
    let mut ends: HashMap<Symbols<'_>, StateId> = HashMap::default();
    let mut last: Option<(Symbols<'_>, StateId)> = None;
    for at in first_call..program.calls.len() {
        let end = sorted.branches[program.calls[at].fragment.index()].end();
        // Tags that are offered together mostly end alike.
        let known = last.filter(|(other, _)| *other == end).map(|(_, state)| state);
        let state = match known.or_else(|| ends.get(&end).copied()) {
            Some(known) => known,
            None => *ends.entry(end).or_insert(write_end(program, end, done, labels)),
        };
        last = Some((end, state));
        program.calls[at].target = state;
    }
}

/// Writes the chain of the text after a sub-program. Returns its first state.
fn write_end(program: &mut Program, end: Symbols<'_>, done: StateId, labels: &mut Labels) -> StateId {
    if end.0.is_empty() {
        return done;
    }
    let first = next_state(program);
    let tokens = program.token_edges.len();
    push_chain(program, end, labels);
    // The last symbol leads to the state where all branches end.
    let behind = next_state(program);
    let edges = program.byte_edges.last_mut().map(|edge| &mut edge.target);
    let token_edges = program.token_edges[tokens..].last_mut().map(|edge| &mut edge.target);
    // The last edge is of one of two tables. Only the one that was written last leads to the state that does
    // not exist.
    for target in edges.into_iter().chain(token_edges) {
        if *target == behind {
            *target = done;
        }
    }
    first
}

/// Writes a state for each of some symbols, that leads to the next one.
fn push_chain(program: &mut Program, symbols: Symbols<'_>, labels: &mut Labels) {
    for run in symbols.runs() {
        let next = next_state(program).plus(1);
        match run {
            Run::Token(id) => {
                program.push_row(false);
                push_symbol(program, Symbol::Token(id), next, labels);
            }
            Run::Bytes(bytes) => {
                program.push_row(false);
                let row = program.states[next.index() - 1];
                program.states.extend((1..bytes.len()).map(|at| row.plus(at, 0)));
                let edges = bytes.iter().zip(ids_between(next..next.plus(bytes.len())));
                program.byte_edges.extend(edges.map(|(&byte, next)| ByteEdge {
                    start: byte,
                    end: byte,
                    target: next,
                }));
            }
        }
    }
}

/// The state whose row is pushed next.
fn next_state(program: &Program) -> StateId {
    StateId::from_index(program.states.len())
}

fn push_symbol(program: &mut Program, symbol: Symbol, target: StateId, labels: &mut Labels) -> Edge {
    match symbol {
        Symbol::Byte(byte) => {
            program.byte_edges.push(ByteEdge { start: byte, end: byte, target });
            Edge::Byte(program.byte_edges.len() - 1)
        }
        Symbol::Token(id) => {
            program.token_edges.push(TokenEdge { label: labels.of_token(id), target });
            Edge::Token(program.token_edges.len() - 1)
        }
    }
}

/// The labels of the whole, which units have in common.
pub(crate) struct Labels {
    pub(crate) all: Vec<TokenLabel>,
    /// The label of one token.
    of_token: HashMap<u32, LabelId>,
    /// Tokens that were asked for last, with their labels: in one place of many tags is the same one.
    recent: [(u32, LabelId); 4],
    /// The labels of the unit that was put in last.
    last: Range<usize>,
}

impl Labels {
    pub(crate) fn new(frame: &[TokenLabel]) -> Self {
        Self {
            all: frame.to_vec(),
            of_token: HashMap::default(),
            recent: [(0, LabelId::NONE); 4],
            last: 0..0,
        }
    }

    fn of_token(&mut self, id: u32) -> LabelId {
        let recent = Offset::from_raw(id).index() % self.recent.len();
        if self.recent[recent].0 == id && self.recent[recent].1 != LabelId::NONE {
            return self.recent[recent].1;
        }
        let number = *self.of_token.entry(id).or_insert_with(|| {
            let known =
                self.all.iter().position(|label| *label.ids == [id] && label.side == TokenSide::Inside);
            LabelId::from_index(known.unwrap_or_else(|| {
                self.all.push(TokenLabel { ids: Box::new([id]), side: TokenSide::Inside });
                self.all.len() - 1
            }))
        });
        self.recent[recent] = (id, number);
        number
    }

    /// Where the labels of a unit begin.
    pub(crate) fn of_unit(&mut self, labels: &[TokenLabel]) -> LabelId {
        // Programs of tools mostly have equal labels, so neighbours share them.
        if !self.all[self.last.clone()].starts_with(labels) {
            self.last = self.all.len()..self.all.len() + labels.len();
            self.all.extend_from_slice(labels);
        }
        LabelId::from_index(self.last.start)
    }
}
