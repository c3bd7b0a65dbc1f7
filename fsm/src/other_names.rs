//! All texts but a few, inside a JSON string: the names of an object's additional members.
//!
//! The general way complements the trie of the names and spells every state by itself. What the states have in
//! common is known beforehand: a character that leaves the trie leads to the state in which anything goes, its
//! escape is one of those that all fragments share, and so only the few bytes that stay inside the trie need
//! states. Two states a character remain, one before it and one after its backslash, and they are written in
//! one sweep over the sorted names.

use crate::draft::Draft;
use crate::escapes::{Escapes, finished};
use crate::finished::{Ending, Finished};

/// The states that all these automata have, in order. In the first anything goes, in the second its backslash
/// is read.
const FREE: u32 = 0;
const FREE_ESCAPE: u32 = 1;
/// After a whole name that no other name begins with.
const NAME: u32 = 2;
/// Reads the lead bytes of characters beyond ASCII.
const LEADS: u32 = 3;
/// Inside such characters: before so many continuation bytes, and after the leads that narrow the next one.
const BEFORE_1: u32 = 4;
const BEFORE_2: u32 = 5;
const BEFORE_3: u32 = 6;
const AFTER_E0: u32 = 7;
const AFTER_ED: u32 = 8;
const AFTER_F0: u32 = 9;
const AFTER_F4: u32 = 10;
const COMMON: u32 = 11;

/// Lead bytes (Unicode, table 3-7).
const LEAD_BYTES: [(u8, u8, u32); 8] = [
    (0xC2, 0xDF, BEFORE_1),
    (0xE0, 0xE0, AFTER_E0),
    (0xE1, 0xEC, BEFORE_2),
    (0xED, 0xED, AFTER_ED),
    (0xEE, 0xEF, BEFORE_2),
    (0xF0, 0xF0, AFTER_F0),
    (0xF1, 0xF3, BEFORE_3),
    (0xF4, 0xF4, AFTER_F4),
];

/// Continuation bytes, in the order of the states from `BEFORE_1` on.
const CONTINUATIONS: [(u8, u8, u32); 7] = [
    (0x80, 0xBF, FREE),
    (0x80, 0xBF, BEFORE_1),
    (0x80, 0xBF, BEFORE_2),
    (0xA0, 0xBF, BEFORE_1),
    (0x80, 0x9F, BEFORE_1),
    (0x90, 0xBF, BEFORE_2),
    (0x80, 0x8F, BEFORE_2),
];

/// A set of ASCII names, not only the empty one: those that can be written this way.
pub(crate) struct PlainNames<'n> {
    sorted: Vec<&'n [u8]>,
}

/// A state of the trie of names that is not at the end of all its names.
struct Node {
    /// The names that lead through it.
    names: (u32, u32),
    is_name: bool,
    children: (u32, u32),
    /// The escapes that leave the trie.
    other_escapes: u32,
}

/// A byte that stays inside the trie, its escapes, and the state that it leads to.
struct Child {
    byte: u8,
    escapes: u32,
    to: u32,
}

impl<'n> PlainNames<'n> {
    /// `None` if the names need the general way.
    pub(crate) fn new(mut names: Vec<&'n [u8]>) -> Option<Self> {
        let is_plain = names.iter().all(|name| name.is_ascii()) && names.iter().any(|name| !name.is_empty());
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

    /// Writes a fragment that reads every other text, spelled inside a JSON string.
    pub(crate) fn write_others(&self, draft: &mut Draft, escapes: &mut Escapes, rule: u32) -> u32 {
        let (nodes, children) = self.trie(draft, escapes);
        let any_escape = escapes.any(draft);
        let fragment = finished(draft, None, |tables| {
            let first = tables.next_state();
            common_states(tables, first, any_escape);
            for node in &nodes {
                let inside = &children[node.children.0 as usize..node.children.1 as usize];
                write_node(tables, first, node, inside);
            }
            first + COMMON
        });
        draft.fragments[fragment as usize].rule = rule;
        fragment
    }

    /// The trie, breadth-first: node n has the states `COMMON + 2 * n` and the one after it.
    fn trie(&self, draft: &mut Draft, escapes: &mut Escapes) -> (Vec<Node>, Vec<Child>) {
        let total = self.sorted.iter().map(|name| name.len()).sum();
        let mut nodes: Vec<Node> = Vec::with_capacity(total);
        let mut children: Vec<Child> = Vec::with_capacity(total);
        let mut excluded: Vec<u8> = Vec::new();
        let node = |first: u32, end: u32| Node {
            names: (first, end),
            is_name: false,
            children: (0, 0),
            other_escapes: 0,
        };
        nodes.push(node(0, self.sorted.len() as u32));
        // All nodes of one depth stand together.
        let (mut next, mut depth, mut depth_end) = (0, 0, 1);
        while next < nodes.len() {
            if next == depth_end {
                (depth, depth_end) = (depth + 1, nodes.len());
            }
            let (mut first, end) = nodes[next].names;
            let is_name = self.sorted[first as usize].len() == depth;
            first += u32::from(is_name);
            let first_child = children.len() as u32;
            excluded.clear();
            while first < end {
                let byte = self.sorted[first as usize][depth];
                let group = &self.sorted[first as usize..end as usize];
                let len = group.iter().take_while(|name| name[depth] == byte).count() as u32;
                let is_last = len == 1 && group[0].len() == depth + 1;
                let to = if is_last { NAME } else { COMMON + 2 * nodes.len() as u32 };
                if !is_last {
                    nodes.push(node(first, first + len));
                }
                children.push(Child { byte, escapes: escapes.of(draft, char::from(byte)), to });
                excluded.push(byte);
                first += len;
            }
            let other_escapes = escapes.all_but(draft, &excluded);
            let children = (first_child, children.len() as u32);
            nodes[next] = Node { is_name, children, other_escapes, ..nodes[next] };
            next += 1;
        }
        (nodes, children)
    }
}

fn common_states(tables: &mut Finished, first: u32, any_escape: u32) {
    ascii(tables, first, FREE_ESCAPE, &[]);
    leads(tables, first);
    tables.end_state(Ending::Final);
    tables.call(any_escape, first + FREE);
    tables.end_state(Ending::Inner);
    ascii(tables, first, FREE_ESCAPE, &[]);
    leads(tables, first);
    tables.end_state(Ending::Inner);
    leads(tables, first);
    tables.end_state(Ending::Inner);
    for (start, end, to) in CONTINUATIONS {
        tables.bytes(start, end, first + to);
        tables.end_state(Ending::Inner);
    }
}

fn leads(tables: &mut Finished, first: u32) {
    for (start, end, to) in LEAD_BYTES {
        tables.bytes(start, end, first + to);
    }
}

fn write_node(tables: &mut Finished, first: u32, node: &Node, children: &[Child]) {
    let escape = tables.next_state() + 1 - first;
    ascii(tables, first, escape, children);
    tables.epsilon(first + LEADS);
    tables.end_state(if node.is_name { Ending::Inner } else { Ending::Final });
    for child in children {
        tables.call(child.escapes, first + child.to);
    }
    tables.call(node.other_escapes, first + FREE);
    tables.end_state(Ending::Inner);
}

/// Writes the ASCII that stands for itself, and the backslash.
fn ascii(tables: &mut Finished, first: u32, escape: u32, children: &[Child]) {
    let mut pending = children.iter().skip_while(|child| child.byte < 0x20).peekable();
    let mut gap = 0x20;
    loop {
        let stop = pending.peek().map_or(0x80, |child| child.byte);
        for (special, target) in [(b'"', None), (b'\\', Some(escape))] {
            if (gap..stop).contains(&special) {
                write_range(tables, gap, special, first + FREE);
                if let Some(target) = target {
                    tables.bytes(special, special, first + target);
                }
                gap = special + 1;
            }
        }
        write_range(tables, gap, stop, first + FREE);
        let Some(child) = pending.next() else { return };
        match child.byte {
            b'"' => {}
            b'\\' => tables.bytes(b'\\', b'\\', first + escape),
            byte => tables.bytes(byte, byte, first + child.to),
        }
        gap = child.byte + 1;
    }
}

/// Writes the bytes from `start` up to, but not including, `stop`.
fn write_range(tables: &mut Finished, start: u8, stop: u8, to: u32) {
    if start < stop {
        tables.bytes(start, stop - 1, to);
    }
}
