//! Rules that begin with themselves.
//!
//! A rule that may call itself before it has read a byte would push for ever. The graph of calls that read
//! nothing has an edge `f -> g` where a call of `g` can be reached from the start of `f`. The way leads over
//! edges that read nothing and calls that may read nothing. So left recursion that is hidden behind a
//! nullable rule shows. This engine declines a cycle of that graph.

use grammask_fsm::{Fragment, FragmentId, Program, Role, StateId};
use grammask_grammar_ir::shorten;
use grammask_parser_backend::BuildError;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Names in one message.
const MAX_NAMES: usize = 8;

/// Fails if parts may be in any order: a stack has no place to keep which of them were read.
pub(crate) fn decline_permutation(program: &Program) -> Result<(), BuildError> {
    let is_permuted = |fragment: &&Fragment| !matches!(fragment.role, Role::None | Role::Measured(_));
    match program.fragments().find(is_permuted) {
        None => Ok(()),
        Some(fragment) => Err(BuildError::new(format!(
            "parts in any order: rule `{}` has some, which the backend `pda` does not serve; give them an order, or \
             use the backend `earley`",
            shorten(&fragment.name)
        ))),
    }
}

/// Fails where a rule can begin with itself, naming the rules of one such cycle.
pub(crate) fn decline_left_recursion(program: &Program) -> Result<(), BuildError> {
    let graph = graph(program);
    let is_cycle = |members: &[NodeIndex]| match members {
        [only] => graph.contains_edge(*only, *only),
        _ => true,
    };
    let Some(cycle) = kosaraju_scc(&graph).into_iter().find(|members| is_cycle(members)) else {
        return Ok(());
    };
    let mut names: Vec<&str> = cycle.iter().map(|&node| &*program.fragment(graph[node]).name).collect();
    names.sort_unstable();
    names.dedup();
    let more = if names.len() > MAX_NAMES { ", ..." } else { "" };
    names.truncate(MAX_NAMES);
    let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (subject, verb) =
        if named.len() == 1 { ("rule", "begins with itself") } else { ("rules", "begin with each other") };
    Err(BuildError::new(format!(
        "left recursion: {subject} {}{more} {verb}, which the backend `pda` does not serve; write it as a \
         repetition (`a ::= b (c b)*`), or use the backend `earley`",
        shorten(&named.join(", "))
    )))
}

fn graph(program: &Program) -> DiGraph<FragmentId, ()> {
    let mut graph = DiGraph::with_capacity(program.fragment_count(), 0);
    let ids: Vec<FragmentId> = program.fragments_with_ids().map(|(id, _)| id).collect();
    let nodes: Vec<NodeIndex> = ids.iter().map(|&id| graph.add_node(id)).collect();
    // For each state the fragment, plus one, from whose start it was reached last.
    let mut reached = vec![0; program.state_count()];
    let mut todo = Vec::new();
    for &caller in &ids {
        // The list is not cleared for each rule: a mark of an earlier rule counts as none.
        let mark = caller.raw() + 1;
        let mut reach = |state: StateId, todo: &mut Vec<StateId>| {
            if std::mem::replace(&mut reached[state.index()], mark) != mark {
                todo.push(state);
            }
        };
        reach(program.fragment(caller).start, &mut todo);
        while let Some(id) = todo.pop() {
            let state = program.state(id);
            state.epsilons.iter().for_each(|&target| reach(target, &mut todo));
            for call in state.calls {
                // One edge for each call: to look for an equal one takes time with all calls of the rule.
                graph.add_edge(nodes[caller.index()], nodes[call.fragment.index()], ());
                if program.fragment(call.fragment).call_is_nullable() {
                    reach(call.target, &mut todo);
                }
            }
        }
    }
    graph
}
