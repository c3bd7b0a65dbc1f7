//! The depth-first walk of a trie over a parser backend.
//!
//! A trie shares prefixes, and a byte that the parser refuses drops a whole subtree. Accepted ids are appended without a
//! branch: a node without a token writes, and does not advance.

use std::ops::Range;

use grammask_grammar_ir::byte_set::{self, ByteSet};
use grammask_parser_backend::{Backend, Fuel, LocalParts, Rows, StepError};

use super::scratch::Scratch;
use crate::vocabulary::trie::Trie;

/// Adds to the scratch ids those of a trie's tokens that a state reads.
pub(crate) fn walk_trie<B: Backend, N: WalkObserver<B>>(
    backend: &B,
    state: B::State,
    trie: &Trie,
    scratch: &mut Scratch,
    observer: &mut N,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    walk_portions(backend, state, &[Portion::new(trie, backend.next_bytes(state))], scratch, observer, fuel)
}

/// A portion of a walk: the tokens of a trie that begin with one of some bytes.
pub(crate) struct Portion<'t> {
    trie: &'t Trie,
    pub(crate) bytes: ByteSet,
    /// Nodes at depth 2 that are left out, with those below them.
    pub(crate) left_out: Range<u32>,
}

impl<'t> Portion<'t> {
    pub(crate) fn new(trie: &'t Trie, bytes: ByteSet) -> Self {
        Self { trie, bytes, left_out: 0..0 }
    }
}

/// Adds to the scratch ids those of the portions' tokens that a state reads.
pub(crate) fn walk_portions<B: Backend, N: WalkObserver<B>>(
    backend: &B,
    state: B::State,
    portions: &[Portion<'_>],
    scratch: &mut Scratch,
    observer: &mut N,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    let Some(&Portion { trie, .. }) = portions.first() else { return Ok(()) };
    let rows = backend.rows();
    let mut stack = Vec::with_capacity(USUAL_DEPTH);
    stack.push((state, rows.row(state)));
    let buffer = &mut scratch.buffer;
    let mut walker = TrieWalker { backend, rows, trie, stack, buffer, observer, found: 0, fuel };
    // All portions begin at one state, so they share the stack, the buffer and the row of that state.
    for Portion { trie, bytes, left_out } in portions {
        walker.trie = trie;
        for byte in byte_set::iter(bytes) {
            walker.first_byte(byte, left_out)?;
        }
    }
    // The buffer is longer than the ids in it: a write without a branch always has room for one more.
    let found = walker.found;
    drop(walker);
    scratch.ids.extend_from_slice(&scratch.buffer[..found]);
    Ok(())
}

/// An observer of the states that a walk passes.
pub(crate) trait WalkObserver<B: Backend> {
    /// A state after the byte of a node that has children.
    fn visit(&mut self, backend: &B, state: B::State, node: u32);
}

impl<B: Backend> WalkObserver<B> for () {
    #[inline]
    fn visit(&mut self, _: &B, _: B::State, _: u32) {}
}

impl<B: Backend> WalkObserver<B> for RuleExits {
    #[inline]
    fn visit(&mut self, backend: &B, state: B::State, node: u32) {
        if backend.local_parts().may_complete(state) {
            self.nodes.push(node);
        }
    }
}

/// Nodes of the walked trie after which the rule of a local part may have ended and tokens go on.
#[derive(Debug, Default)]
pub(crate) struct RuleExits {
    pub(crate) nodes: Vec<u32>,
}

/// Children of the node of a first byte from which it pays to ask which of them can be read.
const MANY_CHILDREN: usize = 4;

/// Room for the paths of most walks; a place for each depth that a trie can have takes longer to clear than a short
/// walk.
const USUAL_DEPTH: usize = 32;

struct TrieWalker<'w, B: Backend, R: Rows<B::State>, N> {
    backend: &'w B,
    rows: R,
    trie: &'w Trie,
    /// The state after each byte of the current path, with its row. A node's children need its state; a node
    /// without children leaves none.
    stack: Vec<(B::State, R::Row)>,
    buffer: &'w mut Vec<u32>,
    observer: &'w mut N,
    /// How many ids were found.
    found: usize,
    fuel: &'w mut Fuel,
}

impl<B: Backend, R: Rows<B::State>, N: WalkObserver<B>> TrieWalker<'_, B, R, N> {
    /// Puts a state on the stack. Nodes are in pre-order, so the place above is always there.
    #[inline]
    fn put(&mut self, depth: usize, state: (B::State, R::Row)) {
        match self.stack.get_mut(depth) {
            Some(place) => *place = state,
            None => self.stack.push(state),
        }
    }

    /// Walks the nodes of a first byte, but for those left out.
    fn first_byte(&mut self, byte: u8, left_out: &Range<u32>) -> Result<(), StepError> {
        let nodes = self.trie.first_byte(byte);
        if nodes.is_empty() {
            return Ok(());
        }
        // Few children: the plain walk looks at each of them as fast as the list of their bytes.
        let children = self.trie.depth_two(byte);
        if children.len() < MANY_CHILDREN && left_out.is_empty() {
            return self.subtree(nodes);
        }
        let (above, row) = self.stack[0];
        let Some(state) = self.rows.step_in(row, above, byte, self.fuel)? else { return Ok(()) };
        self.observer.visit(self.backend, state, nodes.start);
        let token = self.trie.nodes()[nodes.start as usize].token();
        if token != self.trie.no_token() {
            if self.found == self.buffer.len() {
                grow_buffer(self.buffer);
            }
            self.buffer[self.found] = token;
            self.found += 1;
        }
        self.put(1, (state, self.rows.row_from(above, row, state)));
        // Children that the state does not read are never touched, neither the node nor its subtree.
        let read = self.backend.next_bytes(state);
        // Neighbours that are read are walked at once.
        let mut run = 0..0;
        for child in children {
            let byte = child.byte();
            if !byte_set::contains(&read, byte) || left_out.contains(&child.node()) {
                continue;
            }
            let end = self.trie.nodes()[child.node() as usize].skip();
            if run.end == child.node() {
                run.end = end;
            } else {
                self.subtree(std::mem::replace(&mut run, child.node()..end))?;
            }
        }
        self.subtree(run)
    }

    /// Walks nodes in pre-order, whole subtrees whose parent state has its place on the stack.
    fn subtree(&mut self, nodes: Range<u32>) -> Result<(), StepError> {
        let no_token = self.trie.no_token();
        let all = self.trie.nodes();
        let (mut index, end) = (nodes.start as usize, nodes.end as usize);
        let mut found = self.found;
        // In a local variable, so that the loop does not reload its pointer and its length after each call of
        // the backend. A limit in the middle loses the buffer, and the walk fails as a whole.
        let mut buffer = std::mem::take(self.buffer);
        while index < end {
            let node = all[index];
            // Invariant: the stack holds the states of the current path up to `depth - 1`. A node writes its
            // own place only if it has children, and pre-order visits these before anything else uses the
            // place.
            let depth = usize::from(node.depth());
            let (above, row) = self.stack[depth - 1];
            match self.rows.step_in(row, above, node.byte(), self.fuel)? {
                Some(state) => {
                    if node.skip() as usize > index + 1 {
                        let below = self.rows.row_from(above, row, state);
                        self.put(depth, (state, below));
                        self.observer.visit(self.backend, state, index as u32);
                    }
                    let token = node.token();
                    if found == buffer.len() {
                        grow_buffer(&mut buffer);
                    }
                    buffer[found] = token;
                    // The id is written in any case and counted only if there is one.
                    found += usize::from(token != no_token);
                    index += 1;
                }
                // No token below can be read, because its first bytes cannot.
                None => index = node.skip() as usize,
            }
        }
        self.found = found;
        *self.buffer = buffer;
        Ok(())
    }
}

/// Makes a full buffer longer. It is not made as long as the walk could need. The tokens that begin with a
/// space are half of a vocabulary, and few states read more than some of them.
#[cold]
fn grow_buffer(buffer: &mut Vec<u32>) {
    buffer.resize((2 * buffer.len()).max(1 << 10), 0);
}
