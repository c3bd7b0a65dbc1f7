//! Automata under construction: the data that the passes read and write.
//!
//! All fragments share one arena. The edges of a state form a linked list inside the edge table. So adding an
//! edge is a push, dropping one is a relabelling, and merging two states joins two lists. Flat sorted tables
//! are made once, at the very end (`emit`).

use grammask_grammar_ir::RuleId;

use crate::draft::ids::{DraftEdgeId, DraftFragmentId, DraftStateId, NameId};
use crate::draft::labels::Labels;
use crate::draft::names::Names;
use crate::draft::prebuilt::{Prebuilt, PrebuiltFragment};
use crate::ids::{Id, IdVec, PartId};
use crate::program::fragment_name::FragmentName;
use crate::program::tables::{BuildCost, Count, LabelId};

/// The label of an edge, in 32 bits: a byte range, a text in a JSON string, a token label, a fragment, or
/// nothing. Ordered: byte ranges by start come first, then epsilon, then texts, token labels, and calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Label(u32);

impl Label {
    pub(crate) const EPSILON: Self = Self(0x1_0000);
    /// A deleted edge.
    pub(crate) const DEAD: Self = Self(0x1_0001);
    const CALL: u32 = 0x8000_0000;
    const TOKEN: u32 = 0x4000_0000;
    const NAME: u32 = 0x2000_0000;

    pub(crate) fn bytes(start: u8, end: u8) -> Self {
        Self(u32::from(start) << 8 | u32::from(end))
    }

    pub(crate) fn call(fragment: DraftFragmentId) -> Self {
        Self(Self::CALL | fragment.raw())
    }

    /// A token label, of which there are fewer than 2^30.
    pub(crate) fn token(label: LabelId) -> Self {
        Self(Self::TOKEN | label.raw())
    }

    /// A text of [`Names`]. The states of written texts are bounded as states are, so there are fewer than
    /// 2^29 names.
    pub(crate) fn name(name: NameId) -> Self {
        Self(Self::NAME | name.raw())
    }

    pub(crate) fn as_name(self) -> Option<NameId> {
        (self.0 >> 29 == 1).then_some(NameId::from_raw(self.0 & !Self::NAME))
    }

    pub(crate) fn as_token(self) -> Option<LabelId> {
        (self.0 & (Self::CALL | Self::TOKEN) == Self::TOKEN).then(|| LabelId::from_raw(self.0 & !Self::TOKEN))
    }

    pub(crate) fn as_bytes(self) -> Option<(u8, u8)> {
        let [high, low, start, end] = self.0.to_be_bytes();
        ((high, low) == (0, 0)).then_some((start, end))
    }

    pub(crate) fn as_call(self) -> Option<DraftFragmentId> {
        (self.0 & Self::CALL != 0).then_some(DraftFragmentId::from_raw(self.0 & !Self::CALL))
    }

    pub(crate) fn raw(self) -> u32 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) label: Label,
    pub(crate) to: DraftStateId,
    /// Next edge of the same state.
    pub(crate) next: DraftEdgeId,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftState {
    /// First edge.
    pub(crate) head: DraftEdgeId,
    /// The number of its fragment, and in the highest bit whether it is final.
    owner: u32,
}

impl DraftState {
    const FINAL: u32 = 1 << 31;

    /// The fragment that the state belongs to.
    pub(crate) fn fragment(self) -> DraftFragmentId {
        DraftFragmentId::from_raw(self.owner & !Self::FINAL)
    }

    pub(crate) fn is_final(self) -> bool {
        self.owner & Self::FINAL != 0
    }

    pub(crate) fn make_final_if(&mut self, is_final: bool) {
        self.owner |= if is_final { Self::FINAL } else { 0 };
    }

    pub(crate) fn make_final(&mut self) {
        self.make_final_if(true);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DraftFragment {
    /// The rule that gives the name.
    pub(crate) rule: Option<RuleId>,
    /// A name other than the rule's.
    pub(crate) name: Option<FragmentName>,
    /// The states of a prebuilt fragment, in tables of their own.
    pub(crate) prebuilt: Option<PrebuiltFragment>,
    /// For the root of automata that were compiled before: which they are. Such a fragment is prebuilt, without a
    /// state of its own.
    pub(crate) linked: Option<PartId>,
    /// First state, if the fragment is not prebuilt.
    pub(crate) start: DraftStateId,
    pub(crate) count: Option<Count>,
    /// Whether the body derives the empty string. Known from the pass `nullable` on.
    pub(crate) nullable: bool,
    pub(crate) role: DraftRole,
    /// Whether its rule's options are those of the fragment.
    pub(crate) stands_for_rule: bool,
}

/// As [`Role`](crate::Role), with the numbers of the draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DraftRole {
    None,
    Permutation(DraftPermutation),
    Part(u32),
    Separator,
    Measured(u32),
}

/// As [`Permutation`](crate::Permutation), with the numbers of the draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DraftPermutation {
    pub(crate) parts: Box<[DraftFragmentId]>,
    pub(crate) separator: DraftFragmentId,
    pub(crate) required: u32,
    pub(crate) once: u32,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

impl DraftFragment {
    pub(crate) fn call_is_nullable(&self) -> bool {
        self.nullable || self.may_occur_zero_times()
    }

    /// Whether it is a repeat that need not occur.
    pub(crate) fn may_occur_zero_times(&self) -> bool {
        self.count.is_some_and(|count| count.min == 0)
    }
}

/// Automata under construction. The root is fragment 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) states: IdVec<DraftStateId, DraftState>,
    pub(crate) edges: IdVec<DraftEdgeId, Edge>,
    pub(crate) fragments: IdVec<DraftFragmentId, DraftFragment>,
    pub(crate) prebuilt: Prebuilt,
    pub(crate) labels: Labels,
    pub(crate) names: Names,
    /// The fragment that new states belong to.
    pub(crate) current: DraftFragmentId,
    pub(crate) cost: BuildCost,
    /// Parts that match nothing: the states that they begin in, which may lead nowhere, and their rules where those
    /// are not their fragments'.
    pub(crate) dead_parts: Vec<(DraftStateId, Option<RuleId>)>,
}

impl Draft {
    /// A draft with room for the automata of about this number of expressions.
    pub(crate) fn with_capacity(expressions: usize) -> Self {
        // Schemas have up to two states and three edges an expression; most that is finished are escapes.
        let states = (2 * expressions).min(1 << 20);
        Self {
            states: IdVec::with_capacity(states),
            edges: IdVec::with_capacity(states + states / 2),
            fragments: IdVec::with_capacity(64.max(states / 12)),
            prebuilt: Prebuilt::with_capacity(states),
            ..Self::default()
        }
    }

    /// Adds a state to the current fragment. The builder checks the limit on states, which lies far below the
    /// numbers of 32 bits.
    pub(crate) fn state(&mut self) -> DraftStateId {
        self.states.push(DraftState { head: DraftEdgeId::NONE, owner: self.current.raw() })
    }

    /// Gives back the room of large tables that none of their items needs. At the end the program stands beside them.
    pub(crate) fn shrink(&mut self) {
        self.states.shrink();
        self.edges.shrink();
    }

    /// States and edges, without those of names.
    pub(crate) fn size(&self) -> usize {
        let finished = self.prebuilt.next_state().index() + self.prebuilt.edge_count();
        self.states.len() + self.edges.len() + finished
    }

    /// Adds a fragment of one state, its start, and makes it the current one.
    pub(crate) fn fragment(&mut self, rule: Option<RuleId>, count: Option<Count>) -> DraftFragmentId {
        self.current = self.fragments.next_id();
        let start = self.state();
        self.fragments.push(DraftFragment {
            rule,
            name: None,
            prebuilt: None,
            linked: None,
            start,
            count,
            nullable: false,
            role: DraftRole::None,
            stands_for_rule: false,
        })
    }

    pub(crate) fn edge(&mut self, from: DraftStateId, label: Label, to: DraftStateId) {
        let state = &mut self.states[from];
        let next = std::mem::replace(&mut state.head, self.edges.next_id());
        self.edges.push(Edge { label, to, next });
    }

    pub(crate) fn bytes(&mut self, from: DraftStateId, start: u8, end: u8, to: DraftStateId) {
        self.edge(from, Label::bytes(start, end), to);
    }

    pub(crate) fn epsilon(&mut self, from: DraftStateId, to: DraftStateId) {
        if from != to {
            self.edge(from, Label::EPSILON, to);
        }
    }

    /// The starts of the fragments that are not finished.
    pub(crate) fn starts(&self) -> impl Iterator<Item = DraftStateId> + '_ {
        self.fragments.iter().filter(|fragment| fragment.prebuilt.is_none()).map(|fragment| fragment.start)
    }

    /// The edges of a state that are not deleted.
    pub(crate) fn edges(&self, state: DraftStateId) -> Edges<'_> {
        Edges { edges: &self.edges, next: self.states[state].head }
    }

    /// The places of a state's edges in the edge table, deleted ones among them.
    pub(crate) fn edge_ids(&self, state: DraftStateId) -> EdgeIds<'_> {
        EdgeIds { edges: &self.edges, next: self.states[state].head }
    }
}

#[derive(Clone)]
pub(crate) struct Edges<'d> {
    edges: &'d IdVec<DraftEdgeId, Edge>,
    next: DraftEdgeId,
}

impl Iterator for Edges<'_> {
    type Item = Edge;

    #[inline]
    fn next(&mut self) -> Option<Edge> {
        loop {
            let edge = *self.edges.get(self.next)?;
            self.next = edge.next;
            if edge.label != Label::DEAD {
                return Some(edge);
            }
        }
    }
}

pub(crate) struct EdgeIds<'d> {
    edges: &'d IdVec<DraftEdgeId, Edge>,
    next: DraftEdgeId,
}

impl Iterator for EdgeIds<'_> {
    type Item = DraftEdgeId;

    fn next(&mut self) -> Option<DraftEdgeId> {
        let id = self.next;
        self.next = self.edges.get(id)?.next;
        Some(id)
    }
}
