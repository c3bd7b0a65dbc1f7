//! The persistent tree in which all stacks live.
//!
//! A stack that is an array must be copied whenever the grammar leaves a choice, and again whenever a text
//! may be rolled back. Here a stack is a pointer to its top node, and a node points to the one below it.
//! Pushing makes one node, popping follows one pointer, and existing nodes never change. Branches share
//! everything below the place where they parted, and an old stack stays valid as long as its number is
//! remembered (XGrammar's first paper, section 3.3).
//!
//! Nodes are *hash-consed*: there is at most one node of the same content. So equal stacks have equal
//! numbers, however they were reached, and an ambiguous grammar does not keep the same stack twice.

use grammask_fsm::{Count, FragmentId, Program};
use grammask_grammar_ir::hash::{HashSet, hash_of};
use hashbrown::HashTable;

use crate::callers::Caller;

/// A node of the tree, and with it the stack whose top it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(u32);

impl NodeId {
    const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn raw(self) -> u32 {
        self.0
    }
}

/// Nodes of one tree: their numbers have 32 bits, and one closure makes far fewer than the half that is kept free.
pub(crate) const MAX_NODES: usize = NodeId(u32::MAX / 2).index();

/// A length as units of work.
pub(crate) const fn units(len: usize) -> u64 {
    len as u64
}

/// The bottom of every stack of a text: the root rule has ended, and with it the text may.
pub(crate) const BOTTOM: NodeId = NodeId(0);

/// The bottom of the stacks of a local part: the rule that was cut out may have ended.
pub(crate) const LOCAL: NodeId = NodeId(1);

/// The continuation after everything above has ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    /// The text may end.
    Bottom,
    /// The rule of a local part may end.
    Local,
    /// The caller goes on.
    Return { caller: Caller, below: NodeId },
    /// An iteration of a counted repeat has ended: the repeat may end, or begin another one.
    Repeat { fragment: FragmentId, done: u32, below: NodeId },
}

impl Node {
    pub(crate) fn below(self) -> Option<NodeId> {
        match self {
            Self::Bottom | Self::Local => None,
            Self::Return { below, .. } | Self::Repeat { below, .. } => Some(below),
        }
    }

    pub(crate) fn with_below(self, below: NodeId) -> Self {
        match self {
            Self::Bottom | Self::Local => self,
            Self::Return { caller, .. } => Self::Return { caller, below },
            Self::Repeat { fragment, done, .. } => Self::Repeat { fragment, done, below },
        }
    }
}

#[derive(Clone, Copy)]
struct NodeEntry {
    node: Node,
    /// The node that represents this one in the names of masks.
    representative: NodeId,
    /// The first node from this one on that is not the same caller.
    after_caller: NodeId,
}

/// All nodes of an engine.
pub(crate) struct Tree {
    entries: Vec<NodeEntry>,
    index: HashTable<NodeId>,
    longest_token: u32,
}

/// Bytes that a node takes: its entry, and its place in the index with room to spare.
const NODE_BYTES: usize = size_of::<NodeEntry>() + 2 * size_of::<NodeId>();

impl Tree {
    pub(crate) fn new(longest_token: u32) -> Self {
        let entries = vec![
            NodeEntry { node: Node::Bottom, representative: BOTTOM, after_caller: BOTTOM },
            NodeEntry { node: Node::Local, representative: LOCAL, after_caller: LOCAL },
        ];
        let longest_token = longest_token.max(1);
        Self { entries, index: HashTable::new(), longest_token }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * NODE_BYTES
    }

    pub(crate) fn get(&self, id: NodeId) -> Node {
        self.entries[id.index()].node
    }

    /// The node that represents `id` in the names of masks. A stack, and the stack with all its nodes
    /// replaced so, allow the same texts up to the length of the longest token.
    pub(crate) fn representative(&self, id: NodeId) -> NodeId {
        self.entries[id.index()].representative
    }

    /// The first node from `from` on that is not the caller `caller`.
    pub(crate) fn after_callers(&self, from: NodeId, caller: Caller) -> NodeId {
        let entry = &self.entries[from.index()];
        match entry.node {
            Node::Return { caller: above, .. } if above == caller => entry.after_caller,
            _ => from,
        }
    }

    /// The nodes from `from` down to the bottom.
    pub(crate) fn chain(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(from), |&id| self.get(id).below())
    }

    /// The nodes of some stacks down to those that are known, each once and after the one below it.
    pub(crate) fn ancestors_first(
        &self,
        tops: impl Iterator<Item = NodeId>,
        is_known: impl Fn(NodeId) -> bool,
    ) -> Vec<(NodeId, Node)> {
        let mut visited: HashSet<NodeId> = HashSet::default();
        let mut nodes = Vec::new();
        for top in tops {
            let first = nodes.len();
            let new = self.chain(top).take_while(|&id| !is_known(id) && visited.insert(id));
            nodes.extend(new.map(|id| (id, self.get(id))));
            // A chain comes top first. It stops at a node that an earlier chain has, which is before it in
            // the list.
            nodes[first..].reverse();
        }
        nodes
    }

    /// The node of that content. The caller keeps the tree below 2^32 nodes by its limit on memory.
    pub(crate) fn push(&mut self, program: &Program, node: Node) -> NodeId {
        match node {
            Node::Bottom => return BOTTOM,
            Node::Local => return LOCAL,
            Node::Return { .. } | Node::Repeat { .. } => {}
        }
        if let Some(known) = self.find(node) {
            return known;
        }
        // The node below has its representative already, so one node is looked at and not the whole stack.
        let far = self.far_from_bounds(program, node);
        let representative = (far != node).then(|| self.find(far).unwrap_or_else(|| self.insert(far, None)));
        self.insert(node, representative)
    }

    fn find(&self, node: Node) -> Option<NodeId> {
        let same = |id: &NodeId| self.entries[id.index()].node == node;
        self.index.find(hash_of(node), same).copied()
    }

    fn insert(&mut self, node: Node, representative: Option<NodeId>) -> NodeId {
        let id = NodeId::new(self.entries.len());
        let after_caller = match node {
            Node::Return { caller, below } => self.after_callers(below, caller),
            Node::Bottom | Node::Local | Node::Repeat { .. } => id,
        };
        self.entries.push(NodeEntry { node, representative: representative.unwrap_or(id), after_caller });
        let Self { entries, index, .. } = self;
        index.insert_unique(hash_of(node), id, |other| hash_of(entries[other.index()].node));
        id
    }

    /// The node with the counts of its stack replaced by others that behave alike for the length of a token.
    fn far_from_bounds(&self, program: &Program, node: Node) -> Node {
        match node {
            Node::Bottom | Node::Local => node,
            Node::Return { caller, below } => Node::Return { caller, below: self.representative(below) },
            Node::Repeat { fragment, done, below } => {
                let below = self.representative(below);
                let count = program.fragment(fragment).counting();
                let done = count.map_or(done, |count| representative_count(count, done, self.longest_token));
                Node::Repeat { fragment, done, below }
            }
        }
    }
}

/// A count from which the next `reach` iterations get the same answers as from `done`: whether the repeat may
/// end, and whether another iteration may begin.
fn representative_count(count: Count, done: u32, reach: u32) -> u32 {
    let furthest = done.saturating_add(reach);
    if furthest < count.min {
        0
    // The minimum is met by the next iteration, and the maximum is out of reach.
    } else if done.saturating_add(1) >= count.min && count.max.is_none_or(|max| furthest < max) {
        count.min.saturating_sub(1)
    } else {
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn representatives_get_the_same_answers() {
        let answers = |count: Count, done: u32, reach: u32| -> Vec<(bool, bool)> {
            let after = (1..=reach).map(|more| done + more);
            after.map(|done| (done >= count.min, count.max.is_none_or(|max| done < max))).collect()
        };
        for (min, max) in [(0, None), (0, Some(30)), (7, None), (7, Some(9)), (20, Some(20)), (12, Some(40))]
        {
            let count = Count { min, max };
            for reach in 1..12 {
                for done in 0..max.unwrap_or(50) {
                    let found = representative_count(count, done, reach);
                    assert_eq!(answers(count, found, reach), answers(count, done, reach), "{count:?} {done}");
                    assert_eq!(representative_count(count, found, reach), found, "{count:?} {done}");
                }
            }
        }
    }
}
