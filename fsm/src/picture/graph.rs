//! A fragment as it is drawn: one edge for all bytes between two states.

use std::collections::BTreeMap;

use super::label;
use crate::program::tables::{FragmentId, Program, StateId};

/// The states of one fragment, the start first, and their edges.
pub(super) struct FragmentGraph {
    pub(super) title: String,
    pub(super) states: Vec<StateId>,
    pub(super) edges: Vec<DrawnEdge>,
    pub(super) finals: Vec<bool>,
}

/// An edge between places in `states`.
pub(super) struct DrawnEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
}

impl FragmentGraph {
    pub(super) fn new(program: &Program, id: FragmentId) -> Self {
        let fragment = program.fragment(id);
        let mut graph = Self {
            title: label::call(fragment),
            states: vec![fragment.start],
            edges: Vec::new(),
            finals: Vec::new(),
        };
        let mut place = BTreeMap::from([(fragment.start, 0)]);
        let mut from = 0;
        while let Some(&id) = graph.states.get(from) {
            let state = program.state(id);
            graph.finals.push(state.is_final);
            // Breadth first: the list of states is the queue, too.
            let mut find = |target: StateId| {
                *place.entry(target).or_insert_with(|| {
                    graph.states.push(target);
                    graph.states.len() - 1
                })
            };
            let mut ranges: BTreeMap<usize, Vec<(u8, u8)>> = BTreeMap::new();
            for edge in state.bytes {
                ranges.entry(find(edge.target)).or_default().push((edge.start, edge.end));
            }
            let mut labels: Vec<(usize, String)> =
                ranges.into_iter().map(|(to, ranges)| (to, label::bytes(&ranges))).collect();
            labels.extend(
                state
                    .calls
                    .iter()
                    .map(|call| (find(call.target), label::call(program.fragment(call.fragment)))),
            );
            labels.extend(
                state
                    .tokens
                    .iter()
                    .map(|edge| (find(edge.target), label::token(&program.labels()[edge.label.index()]))),
            );
            // A state that counts has two ways on at most.
            let names = if state.counts { ["count", "rest"] } else { ["ε"; 2] };
            let names = names.into_iter().chain(std::iter::repeat("ε"));
            labels.extend(
                state.epsilons.iter().zip(names).map(|(&target, name)| (find(target), name.to_owned())),
            );
            graph.edges.extend(labels.into_iter().map(|(to, label)| DrawnEdge { from, to, label }));
            from += 1;
        }
        graph
    }
}

/// The fragments of a scope.
pub(super) fn fragments(program: &Program, scope: super::Scope) -> Vec<FragmentId> {
    match scope {
        super::Scope::Fragment(id) => vec![id],
        super::Scope::Program => program.fragments_with_ids().map(|(id, _)| id).collect(),
    }
}
