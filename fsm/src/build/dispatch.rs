//! Automata of tag dispatches.
//!
//! The naive automaton of free text with tags reads any character, and at every place the first byte of every
//! tag beside it. That is wrong, not only slow. A tag that was written must be followed by its structure, and
//! the thread that read its bytes as free text would continue without it. So the automaton has to know at
//! every place which tags the text may be in the middle of. That is Aho and Corasick's automaton ("Efficient
//! string matching", 1975): its states are the beginnings of patterns, and a state represents the longest end
//! of the text that is one.
//!
//! * Patterns are triggers, stop strings and excluded strings together. A state in which an excluded string
//!   is completed does not exist. One in which a trigger is completed has only a call of its body, from which
//!   the text returns to the root state. One in which a stop string is completed leads to the end. Tags are
//!   not written into free text: each is a chain of states and a call.
//! * Patterns are sorted first, so that each shares its beginning with the one before it, and states are made in one
//!   pass. Nothing is searched for, and children are in order.
//! * Only moves that lead deeper than the root are kept, as a sorted row a state: that of its failure state with
//!   its own children laid over it. All other bytes lead to the root, as ranges. With the 256 columns of the
//!   textbook, tables would have twenty times the size. (The crate `aho-corasick` builds the same automaton, but
//!   gives neither rows nor failure states away; asking it for each byte of each state costs more than building
//!   it here.)
//! * The ends of a text that are beginnings of patterns are the chain of failure states, which is as long as
//!   the pattern for `aaaa`. To follow it from every state is quadratic. A state inherits the facts about its
//!   chain from its failure state instead.
//! * Free text is whole characters, so a state also knows the place inside a UTF-8 sequence. Patterns begin with
//!   whole characters: inside one that no pattern begins with, seven shared states suffice.
//! * A pattern may hold tokens. Free text holds none, so from a state that has read one no edge leads back to
//!   the root, nor to any state that forgets the token.

use std::ops::Range;

use grammask_grammar_ir::{AfterDispatch, Dispatch, DispatchEnd, PatternPart, TokenRef};

use crate::build::ids::{PrefixId, TriggerId};
use crate::draft::automata::{Draft, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId};
use crate::draft::labels::Labels;
use crate::error::Failure;
use crate::ids::{Id, IdVec, Offset, ids, low_byte};
use crate::options::CompileOptions;
use crate::program::tables::LabelId;
use crate::utf8::{LEADS, Position, Segment};

/// A byte, or a token label. Bytes come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol(u32);

/// A symbol taken apart.
enum SymbolKind {
    Byte(u8),
    Token(LabelId),
}

impl Symbol {
    /// Labels are fewer than 2^30.
    const FIRST_TOKEN: u32 = 0x100;

    fn byte(byte: u8) -> Self {
        Self(byte.into())
    }

    fn token(label: LabelId) -> Self {
        Self(Self::FIRST_TOKEN + label.raw())
    }

    fn kind(self) -> SymbolKind {
        match self.0.checked_sub(Self::FIRST_TOKEN) {
            None => SymbolKind::Byte(low_byte(self.0)),
            Some(label) => SymbolKind::Token(LabelId::from_raw(label)),
        }
    }
}

const ROOT: PrefixId = PrefixId::FIRST;

/// The states of one tag dispatch, from which it is written.
pub(crate) struct DispatchBuilder {
    nodes: IdVec<PrefixId, PatternPrefix>,
    /// The rows of all nodes: moves that do not lead to the root, each row sorted.
    rows: IdVec<Offset, (Symbol, PrefixId)>,
    /// For each trigger the next one with the same pattern.
    next_trigger: IdVec<TriggerId, TriggerId>,
    /// Whether a stop string may end the dispatch.
    stops_end: bool,
    end: DispatchEnd,
    after: AfterDispatch,
}

/// The beginning of a pattern. Its *ends* are itself and the shorter beginnings that a text at it ends with.
#[derive(Clone, Copy)]
struct PatternPrefix {
    /// The last symbol.
    symbol: Symbol,
    depth: u32,
    /// The first beginning that is longer by one symbol.
    first_child: PrefixId,
    /// The next beginning of the same length that differs in the last symbol.
    next_sibling: PrefixId,
    /// All moves that do not lead to the root, made from the failure state's and the children.
    row: (Offset, Offset),
    /// The longest proper end, or the root.
    failure: PrefixId,
    /// The number of symbols before the first token, if there is one.
    before_token: Option<u32>,
    place: Position,
    /// A trigger that is this beginning in full.
    trigger: TriggerId,
    /// The longest end with a trigger.
    trigger_end: PrefixId,
    /// The length of the longest end that is a stop string; 0 for none.
    stop_depth: u32,
    /// The length of the longest end with which a trigger or a stop string begins; 0 for none.
    begun_depth: u32,
    /// Whether an end is an excluded string.
    is_excluded: bool,
}

/// A pattern as symbols, from one place of a list to another.
struct SpelledPattern {
    symbols: Range<usize>,
    role: PatternRole,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PatternRole {
    Trigger(TriggerId),
    Stop,
    Exclude,
}

/// The bytes that are read at a position beside lead bytes, and the position after them.
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
    /// Finds the states, within the limits on states and on edges, which are the entries of their rows.
    pub(crate) fn new(
        dispatch: &Dispatch<'_>,
        labels: &mut Labels,
        options: &CompileOptions,
    ) -> Result<Self, Failure> {
        let mut this = Self {
            nodes: vec![PatternPrefix::ROOT].into(),
            rows: IdVec::default(),
            next_trigger: IdVec::of(TriggerId::NONE, dispatch.triggers.len()),
            stops_end: dispatch.end != DispatchEnd::AfterDispatch,
            end: dispatch.end,
            after: dispatch.after,
        };
        // Sorted patterns share their beginnings with their neighbours, so the trie is built along one path,
        // without a search for children.
        let (symbols, mut patterns) = spell(dispatch, labels)?;
        // The last one first, because children and triggers are put in front of those that are there.
        patterns.sort_unstable_by(|one, other| {
            let (one_text, other_text) = (&symbols[one.symbols.clone()], &symbols[other.symbols.clone()]);
            (other_text, other.role).cmp(&(one_text, one.role))
        });
        // The beginnings of the last pattern, the root first.
        let mut path = vec![ROOT];
        let mut last: &[Symbol] = &[];
        for pattern in &patterns {
            let text = &symbols[pattern.symbols.clone()];
            let shared = last.iter().zip(text).take_while(|(one, other)| one == other).count();
            path.truncate(shared + 1);
            this.insert(text, pattern.role, &mut path, options)?;
            last = text;
        }
        this.link(options.max_edges)?;
        Ok(this)
    }

    /// Adds the states of a pattern that no pattern before it has. `path` holds those that it shares with the last
    /// one, and all of its own afterwards.
    fn insert(
        &mut self,
        text: &[Symbol],
        role: PatternRole,
        path: &mut Vec<PrefixId>,
        options: &CompileOptions,
    ) -> Result<(), Failure> {
        for &symbol in &text[path.len() - 1..] {
            let Some(&parent) = path.last() else { break };
            let node = self.nodes[parent].child(symbol);
            let child = self.nodes.push(node);
            self.nodes[parent].first_child = child;
            if self.nodes.len() > options.max_states {
                let limit = options.max_states;
                return Err(Failure::Limit { what: "states", limit, knob: Some("max_states") });
            }
            path.push(child);
        }
        let Some(&whole) = path.last() else { return Ok(()) };
        let node = &mut self.nodes[whole];
        match role {
            PatternRole::Trigger(trigger) => {
                self.next_trigger[trigger] = std::mem::replace(&mut node.trigger, trigger);
                node.trigger_end = whole;
            }
            PatternRole::Stop => node.stop_depth = node.depth,
            PatternRole::Exclude => node.is_excluded = true,
        }
        if role != PatternRole::Exclude {
            // The beginnings of one that is begun are also begun.
            for &begun in path[1..].iter().rev() {
                let node = &mut self.nodes[begun];
                if node.begun_depth != 0 {
                    break;
                }
                node.begun_depth = node.depth;
            }
        }
        Ok(())
    }

    /// Finds children, failure states and rows, breadth first.
    fn link(&mut self, max_edges: usize) -> Result<(), Failure> {
        let mut order = Vec::with_capacity(self.nodes.len());
        order.push(ROOT);
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            let PatternPrefix { failure, first_child, .. } = self.nodes[node];
            let shorter = self.nodes[failure];
            self.nodes[node].inherit(&shorter);
            let mut child = first_child;
            while let Some(own) = self.nodes.get(child) {
                let (symbol, sibling) = (own.symbol, own.next_sibling);
                // Breadth first, so the failure state of a node, which is shorter, has its row already. The
                // children of the root fail to the root.
                if node != ROOT {
                    self.nodes[child].failure = self.target(failure, symbol);
                }
                order.push(child);
                child = sibling;
            }
            self.nodes[node].row = match first_child.known() {
                // A node without children moves exactly as its failure state does, so the two share a row.
                // That keeps the rows small for long patterns.
                None => self.nodes[failure].row,
                Some(_) => self.overlay(self.nodes[failure].row, first_child),
            };
            if self.rows.len() > max_edges {
                return Err(Failure::Limit { what: "edges", limit: max_edges, knob: Some("max_edges") });
            }
        }
        Ok(())
    }

    /// The row of a failure state, with a node's children instead of the moves for the same symbols.
    fn overlay(
        &mut self,
        (mut below, below_end): (Offset, Offset),
        first_child: PrefixId,
    ) -> (Offset, Offset) {
        // Both lists are sorted by symbol, so one merge keeps the row sorted.
        let begin = self.rows.next_id();
        let mut child = first_child;
        while let Some(own) = self.nodes.get(child) {
            let symbol = own.symbol;
            while below < below_end && self.rows[below].0 <= symbol {
                if self.rows[below].0 < symbol {
                    let entry = self.rows[below];
                    self.rows.push(entry);
                }
                below = below.plus(1);
            }
            self.rows.push((symbol, child));
            child = own.next_sibling;
        }
        while below < below_end {
            let entry = self.rows[below];
            self.rows.push(entry);
            below = below.plus(1);
        }
        (begin, self.rows.next_id())
    }

    /// The moves of a node that do not lead to the root, sorted.
    fn row(&self, node: &PatternPrefix) -> &[(Symbol, PrefixId)] {
        self.rows.slice(node.row.0..node.row.1)
    }

    fn target(&self, node: PrefixId, symbol: Symbol) -> PrefixId {
        let row = self.row(&self.nodes[node]);
        let found = row.binary_search_by_key(&symbol, |entry| entry.0);
        found.map_or(ROOT, |at| row[at].1)
    }

    /// The triggers that are completed at a node, and whether a stop string is.
    fn completed(&self, node: &PatternPrefix) -> (Vec<TriggerId>, bool) {
        let mut triggers = Vec::new();
        // All ends with a trigger, the longest first. Ends that have lost a token of the text are no reading
        // of it.
        let mut end = node.trigger_end;
        while let Some(found) = self.nodes.get(end).filter(|found| node.keeps(found.depth)) {
            let mut next = found.trigger;
            while let Some(trigger) = next.known() {
                triggers.push(trigger);
                next = self.next_trigger[trigger];
            }
            end = self.nodes[found.failure].trigger_end;
        }
        (triggers, node.stop_depth != 0 && node.keeps(node.stop_depth))
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

/// All patterns, spelled one after the other.
fn spell(
    dispatch: &Dispatch<'_>,
    labels: &mut Labels,
) -> Result<(Vec<Symbol>, Vec<SpelledPattern>), Failure> {
    let triggers = ids(dispatch.triggers.len()).map(PatternRole::Trigger).zip(dispatch.triggers);
    let stops = dispatch.stops.iter().map(|pattern| (PatternRole::Stop, pattern));
    let excludes = dispatch.excludes.iter().map(|pattern| (PatternRole::Exclude, pattern));
    let (mut symbols, mut patterns) = (Vec::new(), Vec::new());
    for (role, pattern) in triggers.chain(stops).chain(excludes) {
        let begin = symbols.len();
        for part in pattern.parts() {
            match part {
                PatternPart::Text(text) => symbols.extend(text.bytes().map(Symbol::byte)),
                PatternPart::Token(TokenRef::Id(id)) => symbols.push(Symbol::token(labels.one(*id))),
                PatternPart::Token(TokenRef::Name(name) | TokenRef::Special(name)) => {
                    return Err(Failure::unresolved(name));
                }
            }
        }
        patterns.push(SpelledPattern { symbols: begin..symbols.len(), role });
    }
    Ok((symbols, patterns))
}

impl PatternPrefix {
    const ROOT: Self = Self {
        symbol: Symbol(0),
        depth: 0,
        first_child: PrefixId::NONE,
        next_sibling: PrefixId::NONE,
        row: (Offset::FIRST, Offset::FIRST),
        failure: ROOT,
        before_token: None,
        place: Position::Boundary,
        trigger: TriggerId::NONE,
        trigger_end: PrefixId::NONE,
        stop_depth: 0,
        begun_depth: 0,
        is_excluded: false,
    };

    /// A new first child.
    fn child(&self, symbol: Symbol) -> Self {
        let (before_token, place) = match symbol.kind() {
            // Texts of patterns are UTF-8, so the byte may follow.
            SymbolKind::Byte(byte) => {
                (self.before_token, self.place.after(byte).unwrap_or(Position::Boundary))
            }
            SymbolKind::Token(_) => (self.before_token.or(Some(self.depth)), Position::Boundary),
        };
        Self {
            symbol,
            depth: self.depth + 1,
            next_sibling: self.first_child,
            before_token,
            place,
            ..Self::ROOT
        }
    }

    /// Takes over the facts of the shorter ends: those of the failure state.
    fn inherit(&mut self, failure: &Self) {
        if self.trigger_end == PrefixId::NONE {
            self.trigger_end = failure.trigger_end;
        }
        if self.stop_depth == 0 {
            self.stop_depth = failure.stop_depth;
        }
        if self.begun_depth == 0 {
            self.begun_depth = failure.begun_depth;
        }
        self.is_excluded |= failure.is_excluded;
    }

    /// Whether an end of some length holds all tokens. If one does, so do longer ones.
    fn keeps(&self, depth: u32) -> bool {
        // An end of this length begins `self.depth - depth` symbols into the text, which must not be after
        // the first token.
        self.before_token.is_none_or(|before| self.depth - depth <= before)
    }

    /// Whether the text may be in this node: no excluded string is completed, and tokens belong to a pattern.
    fn is_possible(&self) -> bool {
        let belongs = self.begun_depth != 0 && self.keeps(self.begun_depth);
        !self.is_excluded && (self.before_token.is_none() || belongs)
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
    /// The state after the dispatch.
    end: DraftStateId,
    root: DraftStateId,
}

impl Writer<'_> {
    fn begin(&mut self, draft: &mut Draft, from: DraftStateId) {
        self.end = draft.state();
        draft.states[self.end].make_final();
        self.root = self.state(draft, ROOT);
        // The root is a state of its own, because texts return to it, and nothing may lead into the start of
        // a fragment.
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
        let (triggers, is_stop) = builder.completed(node);
        if is_stop || !triggers.is_empty() {
            let back = match builder.after {
                AfterDispatch::Loop => self.root,
                AfterDispatch::End => self.end,
            };
            if triggers.is_empty() && !builder.stops_end {
                draft.dead_parts.push((from, None));
            }
            for trigger in triggers {
                draft.edge(from, Label::call(bodies[trigger]), back);
            }
            if is_stop && builder.stops_end {
                draft.epsilon(from, self.end);
            }
            // The tag must follow now: no byte of free text is read in this state.
            return;
        }
        let has_token = node.before_token.is_some();
        if builder.end == DispatchEnd::Anywhere && node.place == Position::Boundary && !has_token {
            draft.states[from].make_final();
        }
        let row = builder.row(node);
        for &(symbol, target) in row {
            let target_node = &builder.nodes[target];
            let forgotten = node.depth + 1 - target_node.depth;
            let keeps_token = node.before_token.is_none_or(|before| forgotten <= before);
            // The move would forget a token that was read, or complete an excluded string. Leaving it out is
            // the whole mechanism of exclusion.
            if !keeps_token || !target_node.is_possible() {
                continue;
            }
            match symbol.kind() {
                SymbolKind::Byte(byte) if node.place.after(byte).is_some() => {
                    let to = self.state(draft, target);
                    draft.bytes(from, byte, byte, to);
                }
                // A token cannot be inside a character.
                SymbolKind::Token(label) if node.place == Position::Boundary => {
                    let to = self.state(draft, target);
                    draft.edge(from, Label::token(label), to);
                }
                SymbolKind::Byte(_) | SymbolKind::Token(_) => {}
            }
        }
        // Where some byte leads back to free text, something follows: the text may end there, or every trigger and stop
        // string can still be completed.
        let goes_on = !has_token && self.others(draft, from, node.place, row);
        if !goes_on {
            draft.dead_parts.push((from, None));
        }
    }

    /// The bytes with which no pattern continues. Returns whether there are any among those that are read
    /// beside leads.
    fn others(
        &self,
        draft: &mut Draft,
        from: DraftStateId,
        place: Position,
        row: &[(Symbol, PrefixId)],
    ) -> bool {
        let edges = draft.edges.len();
        self.gaps(draft, from, row, plain_bytes(place));
        let goes_on = draft.edges.len() > edges;
        if place != Position::Boundary {
            return goes_on;
        }
        let is_lead = |&(symbol, _): &(Symbol, PrefixId)| matches!(symbol.kind(), SymbolKind::Byte(0x80..));
        if row.iter().any(is_lead) {
            // Some pattern continues with a lead byte here, so the shared state for lead bytes does not
            // serve.
            LEADS.iter().for_each(|&lead| self.gaps(draft, from, row, lead));
        } else {
            draft.epsilon(from, self.leads);
        }
        goes_on
    }

    /// Those of a range of bytes that a row does not mention.
    fn gaps(
        &self,
        draft: &mut Draft,
        from: DraftStateId,
        row: &[(Symbol, PrefixId)],
        (low, high, next): Segment,
    ) {
        let mut start = u16::from(low);
        let first = row.partition_point(|&(symbol, _)| symbol < Symbol::byte(low));
        let mentioned = row[first..].iter().map_while(|&(symbol, _)| match symbol.kind() {
            SymbolKind::Byte(byte) if byte <= high => Some(byte),
            SymbolKind::Byte(_) | SymbolKind::Token(_) => None,
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
