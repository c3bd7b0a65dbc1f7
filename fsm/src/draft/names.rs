//! Texts in JSON strings, as one edge each while the passes run.
//!
//! The name of a property is a chain: each of its states reads the next character, or a backslash and an
//! escape of that character. Written at once, the names of an ordinary schema are three quarters of the
//! states that the passes look at, two for each character. The passes can find nothing in them but common
//! beginnings. So a text is an edge with the text's number, which the emission writes out. Only where another
//! text or byte begins in the same state, the edge is written out before states that are reached alike are
//! merged.

use grammask_grammar_ir::hash::HashMap;

use crate::draft::automata::{Draft, Label};
use crate::draft::ids::{DraftEdgeId, DraftFragmentId, DraftStateId, NameId};
use crate::ids::{Id, Rows};

/// The texts that edges read, all of ASCII.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    rows: Rows<NameId>,
    /// The fragment of the escapes of each character in them.
    escapes: [DraftFragmentId; 128],
    /// The most states and edges that the name edges become.
    pub(crate) states: usize,
    pub(crate) edges: usize,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            rows: Rows::default(),
            escapes: [DraftFragmentId::NONE; 128],
            states: 0,
            edges: 0,
        }
    }
}

/// Shorter texts are not worth it.
const MIN_LEN: usize = 2;

impl Names {
    /// Whether a text may be one edge.
    pub(crate) fn may_hold(text: &[u8]) -> bool {
        text.len() >= MIN_LEN && text.is_ascii()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Numbers a text. The escapes of its characters must be [known](Self::set_escape).
    pub(crate) fn push(&mut self, text: &[u8]) -> NameId {
        self.bytes.extend_from_slice(text);
        self.rows.push(self.bytes.len())
    }

    /// Says which fragment reads the escapes of a character.
    pub(crate) fn set_escape(&mut self, byte: u8, fragment: DraftFragmentId) {
        self.escapes[usize::from(byte & 0x7F)] = fragment;
    }

    pub(crate) fn text(&self, name: NameId) -> &[u8] {
        &self.bytes[self.rows.of(name)]
    }

    /// The fragment of the escapes of a character of a text.
    pub(crate) fn escape(&self, byte: u8) -> DraftFragmentId {
        self.escapes[usize::from(byte & 0x7F)]
    }
}

/// Adds an edge that reads a text.
pub(crate) fn name_edge(draft: &mut Draft, from: DraftStateId, name: NameId, to: DraftStateId) {
    let len = draft.names.text(name).len();
    draft.names.states += 2 * len - 1;
    draft.names.edges += 3 * len;
    draft.edge(from, Label::name(name), to);
}

/// Whether a character stands for itself in a JSON string.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// Writes out the texts that begin where another text or a byte is read.
pub(crate) fn write_out_forks(draft: &mut Draft) {
    if draft.names.is_empty() {
        return;
    }
    // The states after the first character and after a backslash, by the text and its target.
    let mut written: HashMap<(NameId, DraftStateId), (DraftStateId, DraftStateId)> = HashMap::default();
    for state in draft.states.ids() {
        if !is_fork(draft, state) {
            continue;
        }
        draft.current = draft.states[state].fragment();
        let mut next = draft.states[state].head;
        while let Some(&edge) = draft.edges.get(next) {
            let id = std::mem::replace(&mut next, edge.next);
            let Some(name) = edge.label.as_name() else { continue };
            let (inside, escape) = match written.get(&(name, edge.to)) {
                Some(&known) => known,
                None => {
                    let new = write_chain(draft, name, edge.to);
                    written.insert((name, edge.to), new);
                    new
                }
            };
            let first = draft.names.text(name)[0];
            let edge = &mut draft.edges[id];
            edge.label = Label::DEAD;
            if is_plain(first) {
                (edge.label, edge.to) = (Label::bytes(first, first), inside);
            }
            draft.bytes(state, b'\\', b'\\', escape);
        }
    }
}

/// Whether a text and something else are read in a state.
fn is_fork(draft: &Draft, state: DraftStateId) -> bool {
    // Most states have one edge.
    let head = draft.states[state].head;
    if draft.edges.get(head).is_none_or(|edge| edge.next == DraftEdgeId::NONE) {
        return false;
    }
    let (mut names, mut others) = (0, 0);
    for edge in draft.edges(state) {
        names += u32::from(edge.label.as_name().is_some());
        others += u32::from(edge.label.as_bytes().is_some());
    }
    names > 1 || names == 1 && others > 0
}

/// Writes the states after the first character and the first backslash.
fn write_chain(draft: &mut Draft, name: NameId, to: DraftStateId) -> (DraftStateId, DraftStateId) {
    let len = draft.names.text(name).len();
    let (mut inside, mut escape) = (to, DraftStateId::NONE);
    for at in (0..len).rev() {
        let byte = draft.names.text(name)[at];
        let behind = inside;
        escape = draft.state();
        let fragment = draft.names.escape(byte);
        draft.edge(escape, Label::call(fragment), behind);
        if at > 0 {
            inside = draft.state();
            if is_plain(byte) {
                draft.bytes(inside, byte, byte, behind);
            }
            draft.bytes(inside, b'\\', b'\\', escape);
        }
    }
    (inside, escape)
}
