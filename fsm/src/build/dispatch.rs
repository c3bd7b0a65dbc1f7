//! Automata of tag dispatches.
//!
//! The naive automaton of free text with tags reads any character, and at every place the first byte of every tag
//! beside it. That is wrong, not only slow: a tag that was written must be followed by its structure, and the thread
//! that read its bytes as free text would go on without. So the automaton has to know at every place which tags the
//! text may be in the middle of, and that is Aho and Corasick's automaton ("Efficient string matching", 1975):
//! its states are the beginnings of patterns, and a state stands for the longest end of the text that is one.
//!
//! * Patterns are triggers, stop strings and excluded strings together. A state in which an excluded string is
//!   completed does not exist; one in which a trigger is completed has no way on but a call of its body, from
//!   which the text returns to the root state; one in which a stop string is completed leads to the end. Tags are
//!   not written into free text: each is a chain of states and a call.
//! * Only moves that lead deeper than the root are kept, as a sorted row a state: that of its failure state with
//!   its own children laid over it. All other bytes lead to the root, as ranges. With the 256 columns of the
//!   textbook, tables would have twenty times the size. (The crate `aho-corasick` builds the same automaton, but
//!   gives neither rows nor failure states away; asking it for each byte of each state costs more than building
//!   it here.)
//! * Free text is whole characters, so a state also knows the place inside a UTF-8 sequence. Patterns begin with
//!   whole characters: inside one that no pattern begins with, seven shared states suffice.
//! * A pattern may hold tokens. Free text holds none, so from a state that has read one there is no way back to the
//!   root, nor to any state that forgets the token.

use grammask_grammar_ir::{AfterDispatch, Dispatch, DispatchEnd, Pattern, PatternPart, TokenRef};

use crate::build::ids::{PrefixId, TriggerId};
use crate::draft::automata::{Draft, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::draft::labels::Labels;
use crate::error::Failure;
use crate::ids::{Id, IdVec, ids, low_byte};
use crate::program::tables::LabelId;
use crate::utf8::{LEADS, Position, Segment};

/// A byte, or a token label. Bytes come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Symbol {
    Byte(u8),
    Token(LabelId),
}

const ROOT: PrefixId = PrefixId::FIRST;

/// The states of one tag dispatch, from which it is written.
pub(crate) struct DispatchBuilder {
    nodes: IdVec<PrefixId, PatternPrefix>,
    /// Whether a stop string may end the dispatch.
    stops_end: bool,
    end: DispatchEnd,
    after: AfterDispatch,
}

/// The beginning of a pattern.
struct PatternPrefix {
    depth: u32,
    /// The pattern's symbols with which a longer beginning is reached, sorted.
    children: Vec<(Symbol, PrefixId)>,
    /// All moves that do not lead to the root, sorted. Made from the failure state's and the children.
    row: Vec<(Symbol, PrefixId)>,
    /// The longest proper end of this beginning that is a beginning too.
    failure: PrefixId,
    /// How many symbols stand before the first token, if there is one.
    before_token: Option<u32>,
    place: Position,
    /// Patterns that are this beginning in full.
    triggers: Vec<TriggerId>,
    is_stop: bool,
    is_exclude: bool,
    /// Whether a trigger or stop string begins so.
    begins_end: bool,
    /// Whether the text may be here: no excluded string is completed, and tokens belong to a pattern.
    is_possible: bool,
}

/// The bytes that are read at a position beside lead bytes, and where they lead.
fn plain_bytes(position: Position) -> Segment {
    position.continuations().first().copied().unwrap_or((0, 0x7F, Position::Boundary))
}

/// Where a dispatch is written.
pub(crate) struct DispatchFrame<'f> {
    /// The fragment that each trigger calls.
    pub(crate) bodies: &'f IdVec<TriggerId, DraftFragmentId>,
    /// The first state.
    pub(crate) from: DraftStateId,
    /// Checks the limits; called for every state.
    pub(crate) check: &'f mut dyn FnMut(&Draft) -> Result<(), Failure>,
}

impl DispatchBuilder {
    /// Finds the states; their rows may have `max_edges` entries together.
    pub(crate) fn new(
        dispatch: &Dispatch<'_>,
        labels: &mut Labels,
        max_edges: usize,
    ) -> Result<Self, Failure> {
        let mut this = Self {
            nodes: vec![PatternPrefix::new(0, None, Position::Boundary)].into(),
            stops_end: dispatch.end != DispatchEnd::AfterDispatch,
            end: dispatch.end,
            after: dispatch.after,
        };
        for (number, pattern) in ids(dispatch.triggers.len()).zip(dispatch.triggers) {
            let node = this.insert(pattern, labels, EndsText::Yes)?;
            this.nodes[node].triggers.push(number);
        }
        for pattern in dispatch.stops {
            let node = this.insert(pattern, labels, EndsText::Yes)?;
            this.nodes[node].is_stop = true;
        }
        for pattern in dispatch.excludes {
            let node = this.insert(pattern, labels, EndsText::No)?;
            this.nodes[node].is_exclude = true;
        }
        this.link(max_edges)?;
        Ok(this)
    }

    fn insert(
        &mut self,
        pattern: &Pattern,
        labels: &mut Labels,
        ends: EndsText,
    ) -> Result<PrefixId, Failure> {
        let mut node = ROOT;
        for part in pattern.parts() {
            match part {
                PatternPart::Text(text) => {
                    for byte in text.bytes() {
                        node = self.child(node, Symbol::Byte(byte), ends);
                    }
                }
                PatternPart::Token(TokenRef::Id(id)) => {
                    let label = labels.one(*id);
                    node = self.child(node, Symbol::Token(label), ends);
                }
                PatternPart::Token(TokenRef::Name(name)) => return Err(Failure::unresolved(name)),
            }
        }
        Ok(node)
    }

    fn child(&mut self, parent: PrefixId, symbol: Symbol, ends: EndsText) -> PrefixId {
        let at = match self.nodes[parent].children.binary_search_by_key(&symbol, |child| child.0) {
            Ok(at) => {
                let child = self.nodes[parent].children[at].1;
                self.nodes[child].begins_end |= ends == EndsText::Yes;
                return child;
            }
            Err(at) => at,
        };
        let PatternPrefix { depth, before_token, place, .. } = self.nodes[parent];
        let (before_token, place) = match symbol {
            // Texts of patterns are UTF-8, so the byte may follow.
            Symbol::Byte(byte) => (before_token, place.after(byte).unwrap_or(Position::Boundary)),
            Symbol::Token(_) => (before_token.or(Some(depth)), Position::Boundary),
        };
        let mut node = PatternPrefix::new(depth + 1, before_token, place);
        node.begins_end = ends == EndsText::Yes;
        let child = self.nodes.push(node);
        self.nodes[parent].children.insert(at, (symbol, child));
        child
    }

    /// Finds failure states and rows, breadth first.
    fn link(&mut self, max_edges: usize) -> Result<(), Failure> {
        self.nodes[ROOT].row = self.nodes[ROOT].children.clone();
        let mut edges = self.nodes[ROOT].row.len();
        let mut order: Vec<PrefixId> = self.nodes[ROOT].children.iter().map(|child| child.1).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            let failure = self.nodes[node].failure;
            let children = std::mem::take(&mut self.nodes[node].children);
            for &(symbol, child) in &children {
                self.nodes[child].failure = self.nodes[failure].target(symbol);
                order.push(child);
            }
            self.nodes[node].row = overlay(&self.nodes[failure].row, &children);
            self.nodes[node].children = children;
            edges += self.nodes[node].row.len();
            if edges > max_edges {
                return Err(Failure::Limit { what: "edges", limit: max_edges, knob: Some("max_edges") });
            }
            self.nodes[node].is_possible = self.is_possible(node);
        }
        Ok(())
    }

    /// The nodes that a text at a node ends with, the longest first, the root not included.
    fn ends(&self, node: PrefixId) -> impl Iterator<Item = &PatternPrefix> {
        let chain = std::iter::successors(Some(node), |&node| Some(self.nodes[node].failure));
        chain.take_while(|&node| node != ROOT).map(|node| &self.nodes[node])
    }

    fn is_possible(&self, node: PrefixId) -> bool {
        let node_ref = &self.nodes[node];
        if self.ends(node).any(|end| end.is_exclude) {
            return false;
        }
        node_ref.before_token.is_none() || self.ends(node).any(|end| end.begins_end && keeps(node_ref, end))
    }

    /// The triggers that are completed at a node, and whether a stop string is.
    fn completed(&self, node: PrefixId) -> (Vec<TriggerId>, bool) {
        let here = &self.nodes[node];
        let mut triggers = Vec::new();
        let mut is_stop = false;
        for end in self.ends(node).filter(|end| keeps(here, end)) {
            triggers.extend_from_slice(&end.triggers);
            is_stop |= end.is_stop;
        }
        (triggers, is_stop)
    }

    /// Writes the states. Those that the text cannot be at, or that have no way on, are for the pruning pass.
    pub(crate) fn write(&self, draft: &mut Draft, frame: &mut DispatchFrame<'_>) -> Result<(), Failure> {
        let mut writer = Writer {
            builder: self,
            states: IdVec::of(DraftStateId::NONE, self.nodes.len()),
            pending: Vec::new(),
            inside: [DraftStateId::NONE; 7],
            leads: DraftStateId::NONE,
            end: DraftStateId::NONE,
            root: DraftStateId::NONE,
        };
        writer.begin(draft, frame.from);
        while let Some(node) = writer.pending.pop() {
            (frame.check)(draft)?;
            writer.node(draft, node, frame.bodies);
        }
        Ok(())
    }
}

/// Whether a pattern ends free text.
#[derive(Clone, Copy, PartialEq)]
enum EndsText {
    Yes,
    No,
}

/// Whether an end of the text holds all tokens of the longest one.
fn keeps(longest: &PatternPrefix, end: &PatternPrefix) -> bool {
    longest.before_token.is_none_or(|before| longest.depth - end.depth <= before)
}

/// The moves of the failure state, with others in place of those for the same symbol.
fn overlay(below: &[(Symbol, PrefixId)], above: &[(Symbol, PrefixId)]) -> Vec<(Symbol, PrefixId)> {
    let mut row = Vec::with_capacity(below.len() + above.len());
    let mut above = above.iter().copied().peekable();
    for &(symbol, target) in below {
        while let Some(own) = above.next_if(|own| own.0 < symbol) {
            row.push(own);
        }
        row.push(above.next_if(|own| own.0 == symbol).unwrap_or((symbol, target)));
    }
    row.extend(above);
    row
}

impl PatternPrefix {
    fn new(depth: u32, before_token: Option<u32>, place: Position) -> Self {
        Self {
            depth,
            children: Vec::new(),
            row: Vec::new(),
            failure: ROOT,
            before_token,
            place,
            triggers: Vec::new(),
            is_stop: false,
            is_exclude: false,
            begins_end: false,
            is_possible: true,
        }
    }

    fn target(&self, symbol: Symbol) -> PrefixId {
        let found = self.row.binary_search_by_key(&symbol, |entry| entry.0);
        found.map_or(ROOT, |at| self.row[at].1)
    }
}

struct Writer<'d> {
    builder: &'d DispatchBuilder,
    /// The state of each node that was reached.
    states: IdVec<PrefixId, DraftStateId>,
    pending: Vec<PrefixId>,
    /// The states inside of characters that no pattern begins with.
    inside: [DraftStateId; 7],
    /// The state that reads the first byte of such a character above U+007F.
    leads: DraftStateId,
    /// The state behind the dispatch.
    end: DraftStateId,
    root: DraftStateId,
}

impl Writer<'_> {
    fn begin(&mut self, draft: &mut Draft, from: DraftStateId) {
        self.end = draft.state();
        draft.states[self.end].is_final = true;
        self.root = self.state(draft, ROOT);
        draft.epsilon(from, self.root);
        self.leads = draft.state();
        self.inside = Position::INSIDE.map(|_| draft.state());
        for (low, high, place) in LEADS {
            draft.bytes(self.leads, low, high, self.at(place));
        }
        for place in Position::INSIDE {
            let (low, high, next) = plain_bytes(place);
            draft.bytes(self.at(place), low, high, self.at(next));
        }
        draft.has_dead_parts = true;
    }

    /// The state at a place of a text that ends with no beginning of a pattern.
    fn at(&self, place: Position) -> DraftStateId {
        let found = Position::INSIDE.iter().position(|&inside| inside == place);
        found.map_or(self.root, |index| self.inside[index])
    }

    fn state(&mut self, draft: &mut Draft, node: PrefixId) -> DraftStateId {
        if self.states[node] == DraftStateId::NONE {
            self.states[node] = draft.state();
            self.pending.push(node);
        }
        self.states[node]
    }

    fn node(&mut self, draft: &mut Draft, index: PrefixId, bodies: &IdVec<TriggerId, DraftFragmentId>) {
        let builder = self.builder;
        let from = self.states[index];
        let node = &builder.nodes[index];
        let (triggers, is_stop) = builder.completed(index);
        if is_stop || !triggers.is_empty() {
            let back = match builder.after {
                AfterDispatch::Loop => self.root,
                AfterDispatch::End => self.end,
            };
            for trigger in triggers {
                draft.edge(from, Label::call(bodies[trigger]), back);
            }
            if is_stop && builder.stops_end {
                draft.epsilon(from, self.end);
            }
            return;
        }
        let has_token = node.before_token.is_some();
        if builder.end == DispatchEnd::Anywhere && node.place == Position::Boundary && !has_token {
            draft.states[from].is_final = true;
        }
        for &(symbol, target) in &node.row {
            let target_node = &builder.nodes[target];
            // Between symbols only: a token does not stand inside a character.
            let may_follow = match symbol {
                Symbol::Byte(byte) => node.place.after(byte).is_some(),
                Symbol::Token(_) => node.place == Position::Boundary,
            };
            let forgotten = node.depth + 1 - target_node.depth;
            let keeps_token = node.before_token.is_none_or(|before| forgotten <= before);
            if may_follow && keeps_token && target_node.is_possible {
                let to = self.state(draft, target);
                match symbol {
                    Symbol::Byte(byte) => draft.bytes(from, byte, byte, to),
                    Symbol::Token(label) => draft.edge(from, Label::token(label), to),
                }
            }
        }
        if !has_token {
            self.others(draft, from, node);
        }
    }

    /// The bytes that no pattern goes on with.
    fn others(&self, draft: &mut Draft, from: DraftStateId, node: &PatternPrefix) {
        let (low, high, next) = plain_bytes(node.place);
        self.gaps(draft, from, node, (low, high, next));
        if node.place != Position::Boundary {
            return;
        }
        if node.row.iter().any(|&(symbol, _)| matches!(symbol, Symbol::Byte(0x80..))) {
            LEADS.iter().for_each(|&lead| self.gaps(draft, from, node, lead));
        } else {
            draft.epsilon(from, self.leads);
        }
    }

    /// Those of a range of bytes that the node's row does not mention.
    fn gaps(&self, draft: &mut Draft, from: DraftStateId, node: &PatternPrefix, (low, high, next): Segment) {
        let mut start = u16::from(low);
        let first = node.row.partition_point(|&(symbol, _)| symbol < Symbol::Byte(low));
        let mentioned = node.row[first..].iter().map_while(|&(symbol, _)| match symbol {
            Symbol::Byte(byte) if byte <= high => Some(byte),
            _ => None,
        });
        for byte in mentioned {
            if start < u16::from(byte) {
                draft.bytes(from, low_byte(start.into()), byte - 1, self.at(next));
            }
            start = u16::from(byte) + 1;
        }
        if start <= u16::from(high) {
            draft.bytes(from, low_byte(start.into()), high, self.at(next));
        }
    }
}
