//! All texts but a few, inside a JSON string: the names of an object's additional members.
//!
//! The general way complements the trie of the names and spells every state by itself. The common parts of
//! the states are known beforehand. A character that leaves the trie leads to the state in which everything
//! is allowed, and its escape is one of those that all fragments share. So only the few bytes that stay
//! inside the trie need states. Two states a character remain, one before it and one after its backslash, and
//! they are written in one sweep over the sorted names.

use std::ops::Range;

use grammask_grammar_ir::{JsonEscapes, RuleId};

use crate::draft::automata::Draft;
use crate::draft::ids::DraftFragmentId;
use crate::draft::prebuilt::{Ending, Prebuilt};
use crate::encoding::escapes::{Escapes, prebuilt_fragment};
use crate::ids::Id;
use crate::program::tables::StateId;
use crate::utf8::{LEADS as LEAD_BYTES, Position};

/// The states that all these automata have, in order. In the first anything goes, in the second its backslash
/// is read.
const FREE: usize = 0;
const FREE_ESCAPE: usize = 1;
/// After a whole name that no other name begins with.
const NAME: usize = 2;
/// Reads the lead bytes of characters beyond ASCII.
const LEADS: usize = 3;
/// Inside such characters, in the order of [`Position::INSIDE`].
const INSIDE: usize = 4;
const COMMON: usize = 11;

/// The common state at a position of UTF-8.
fn common_state(position: Position) -> usize {
    let inside = Position::INSIDE.iter().zip(INSIDE..).find(|(inside, _)| **inside == position);
    inside.map_or(FREE, |(_, state)| state)
}

/// A set of ASCII names, not only the empty one: those that can be written this way.
pub(crate) struct NameComplement<'n> {
    sorted: Vec<&'n [u8]>,
}

/// A state of the trie of names that is not at the end of all its names.
struct Node {
    /// The names that lead through it.
    names: Range<usize>,
    is_name: bool,
    children: Range<usize>,
    /// The escapes that leave the trie, where others do not.
    other_escapes: DraftFragmentId,
}

/// A byte that stays inside the trie, its escapes, and the state that it leads to.
struct Child {
    byte: u8,
    escapes: DraftFragmentId,
    /// Counted from the first state.
    to: usize,
}

impl<'n> NameComplement<'n> {
    /// `None` if the names need the general way.
    pub(crate) fn new(mut names: Vec<&'n [u8]>, escapes: JsonEscapes) -> Option<Self> {
        // The states below write characters beyond ASCII as they are.
        if escapes == JsonEscapes::Ascii {
            return None;
        }
        let has_escape = |&byte: &u8| escapes != JsonEscapes::Any && escapes.has_escape(char::from(byte));
        let is_plain = names.iter().all(|name| name.is_ascii() && !name.iter().any(has_escape))
            && names.iter().any(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        is_plain.then_some(Self { sorted: names })
    }

    /// The names, in order: equal for equal sets.
    pub(crate) fn sorted(&self) -> &[&'n [u8]] {
        &self.sorted
    }

    pub(crate) fn into_sorted(self) -> Vec<&'n [u8]> {
        self.sorted
    }

    /// Writes a fragment that reads every other text, spelled inside a JSON string; `any_escape` reads all its escapes.
    pub(crate) fn write_others(
        &self,
        draft: &mut Draft,
        (escapes, how): (&mut Escapes, JsonEscapes),
        any_escape: DraftFragmentId,
        rule: RuleId,
    ) -> DraftFragmentId {
        let (nodes, children) = self.trie(draft, (&mut *escapes, how));
        let fragment = prebuilt_fragment(draft, None, |tables| {
            let first = tables.next_state();
            common_states(tables, first, any_escape);
            for node in &nodes {
                let inside = &children[node.children.clone()];
                write_node(tables, first, node, inside, how);
            }
            first.plus(COMMON)
        });
        draft.fragments[fragment].rule = Some(rule);
        fragment
    }

    /// The trie, breadth-first: node n has the state `COMMON + n`, or two of them, the second after a backslash, where
    /// its characters have escapes.
    fn trie(
        &self,
        draft: &mut Draft,
        (escapes, how): (&mut Escapes, JsonEscapes),
    ) -> (Vec<Node>, Vec<Child>) {
        let states = states_of(how);
        let have_escapes = states == 2;
        let total = self.sorted.iter().map(|name| name.len()).sum();
        let mut nodes: Vec<Node> = Vec::with_capacity(total);
        let mut children: Vec<Child> = Vec::with_capacity(total);
        let mut excluded: Vec<u8> = Vec::new();
        let node = |names: Range<usize>| Node {
            names,
            is_name: false,
            children: 0..0,
            other_escapes: DraftFragmentId::NONE,
        };
        nodes.push(node(0..self.sorted.len()));
        // All nodes of one depth are neighbours.
        let (mut next, mut depth, mut depth_end) = (0, 0, 1);
        while next < nodes.len() {
            if next == depth_end {
                (depth, depth_end) = (depth + 1, nodes.len());
            }
            let Range { start: mut first, end } = nodes[next].names.clone();
            // A name that ends here is the first of its group, because it is a prefix of all others.
            let is_name = self.sorted[first].len() == depth;
            first += usize::from(is_name);
            let first_child = children.len();
            excluded.clear();
            while first < end {
                let byte = self.sorted[first][depth];
                let group = &self.sorted[first..end];
                let len = group.iter().take_while(|name| name[depth] == byte).count();
                let is_last = len == 1 && group[0].len() == depth + 1;
                // Where one name ends and no other goes on, the common state after a whole name serves: any
                // further character makes another name.
                let to = if is_last { NAME } else { COMMON + states * nodes.len() };
                if !is_last {
                    nodes.push(node(first..first + len));
                }
                let of_byte =
                    if have_escapes { escapes.of(draft, char::from(byte)) } else { DraftFragmentId::NONE };
                children.push(Child { byte, escapes: of_byte, to });
                excluded.push(byte);
                first += len;
            }
            let other_escapes =
                if have_escapes { escapes.all_but(draft, &excluded) } else { DraftFragmentId::NONE };
            let node = &mut nodes[next];
            (node.is_name, node.children) = (is_name, first_child..children.len());
            node.other_escapes = other_escapes;
            next += 1;
        }
        (nodes, children)
    }
}

fn common_states(tables: &mut Prebuilt, first: StateId, any_escape: DraftFragmentId) {
    ascii(tables, first, FREE_ESCAPE, &[]);
    leads(tables, first);
    tables.end_state(Ending::Final);
    tables.call(any_escape, first.plus(FREE));
    tables.end_state(Ending::Inner);
    ascii(tables, first, FREE_ESCAPE, &[]);
    leads(tables, first);
    tables.end_state(Ending::Inner);
    leads(tables, first);
    tables.end_state(Ending::Inner);
    for (start, end, to) in Position::INSIDE.into_iter().flat_map(Position::continuations).copied() {
        tables.bytes(start, end, first.plus(common_state(to)));
        tables.end_state(Ending::Inner);
    }
}

fn leads(tables: &mut Prebuilt, first: StateId) {
    for (start, end, to) in LEAD_BYTES {
        tables.bytes(start, end, first.plus(common_state(to)));
    }
}

/// The states of a node. All escapes leave names that have no character with an escape.
fn states_of(escapes: JsonEscapes) -> usize {
    match escapes {
        JsonEscapes::Any => 2,
        JsonEscapes::Printed | JsonEscapes::Needed | JsonEscapes::Ascii => 1,
    }
}

fn write_node(tables: &mut Prebuilt, first: StateId, node: &Node, children: &[Child], how: JsonEscapes) {
    let has_own = states_of(how) == 2;
    let escape = if has_own { tables.next_state().plus(1).since(first) } else { FREE_ESCAPE };
    ascii(tables, first, escape, children);
    // No name has a character beyond ASCII, so all of them leave the trie the same way.
    tables.epsilon(first.plus(LEADS));
    // The fragment reads the texts that are *not* names.
    tables.end_state(if node.is_name { Ending::Inner } else { Ending::Final });
    if !has_own {
        return;
    }
    for child in children {
        tables.call(child.escapes, first.plus(child.to));
    }
    tables.call(node.other_escapes, first.plus(FREE));
    tables.end_state(Ending::Inner);
}

/// Writes the ASCII characters that stand for themselves, and the backslash.
fn ascii(tables: &mut Prebuilt, first: StateId, escape: usize, children: &[Child]) {
    let mut pending = children.iter().skip_while(|child| child.byte < 0x20).peekable();
    let mut gap = 0x20;
    loop {
        let stop = pending.peek().map_or(0x80, |child| child.byte);
        for (special, target) in [(b'"', None), (b'\\', Some(escape))] {
            if (gap..stop).contains(&special) {
                write_range(tables, gap, special, first.plus(FREE));
                if let Some(target) = target {
                    tables.bytes(special, special, first.plus(target));
                }
                gap = special + 1;
            }
        }
        write_range(tables, gap, stop, first.plus(FREE));
        let Some(child) = pending.next() else { return };
        match child.byte {
            b'"' => {}
            b'\\' => tables.bytes(b'\\', b'\\', first.plus(escape)),
            byte => tables.bytes(byte, byte, first.plus(child.to)),
        }
        gap = child.byte + 1;
    }
}

/// Writes the bytes from `start` up to, but not including, `stop`.
fn write_range(tables: &mut Prebuilt, start: u8, stop: u8, to: StateId) {
    if start < stop {
        tables.bytes(start, stop - 1, to);
    }
}
