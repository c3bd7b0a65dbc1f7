//! The DOT language of Graphviz.

use super::graph::{FragmentGraph, fragments};
use super::scope::Scope;
use crate::program::tables::Program;

/// The automata as a DOT digraph, one cluster a fragment. Final states are double circles, the state in
/// which a fragment begins has an arrow out of nowhere, `<name>` reads a fragment.
pub fn dot(program: &Program, scope: Scope) -> String {
    let mut text = String::from("digraph program {\n  rankdir=LR;\n  node [shape=circle, fontsize=10];\n");
    for id in fragments(program, scope) {
        let graph = FragmentGraph::new(program, id);
        let number = id.index();
        text.push_str(&format!("  subgraph cluster_{number} {{\n    label={};\n", quoted(&graph.title)));
        text.push_str(&format!("    start_{number} [shape=point];\n"));
        for (state, is_final) in graph.states.iter().zip(&graph.finals) {
            let shape = if *is_final { " [shape=doublecircle]" } else { "" };
            text.push_str(&format!("    {}{shape};\n", state.index()));
        }
        text.push_str(&format!("    start_{number} -> {};\n", graph.states[0].index()));
        for edge in &graph.edges {
            let (from, to) = (graph.states[edge.from].index(), graph.states[edge.to].index());
            text.push_str(&format!("    {from} -> {to} [label={}];\n", quoted(&edge.label)));
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(if character == '\n' { ' ' } else { character });
    }
    quoted.push('"');
    quoted
}
