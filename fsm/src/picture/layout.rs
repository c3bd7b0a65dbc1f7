//! The places of states. Columns are distances from the start, so that only loops run back (Sugiyama, Tagawa
//! and Toda 1981, in its simplest form). The order in each column, in which edges cross least, is found by
//! averaging neighbours.

use super::graph::FragmentGraph;

/// Places in columns and rows.
pub(super) struct Layout {
    /// Column and height of every state; heights are in rows and may be fractions.
    pub(super) places: Vec<(usize, f64)>,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Sweeps over the columns; more change little.
const SWEEPS: usize = 6;

pub(super) fn layout(graph: &FragmentGraph) -> Layout {
    let count = graph.states.len();
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
        neighbours[edge.from].push(edge.to);
        neighbours[edge.to].push(edge.from);
    }
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for (state, column) in distances(graph).into_iter().enumerate() {
        if columns.len() <= column {
            columns.resize_with(column + 1, Vec::new);
        }
        columns[column].push(state);
    }
    let rows = columns.iter().map(Vec::len).max().unwrap_or(1);
    let mut height = vec![0.0; count];
    let place = |column: &[usize], height: &mut [f64]| {
        // Columns are centred, so heights in columns of different lengths can be compared.
        let top = (rows - column.len()) as f64 / 2.0;
        for (row, &state) in column.iter().enumerate() {
            height[state] = top + row as f64;
        }
    };
    columns.iter().for_each(|column| place(column, &mut height));
    for _ in 0..SWEEPS {
        for column in &mut columns {
            let mean = |state: &usize| {
                let near = &neighbours[*state];
                near.iter().map(|&other| height[other]).sum::<f64>() / near.len().max(1) as f64
            };
            column.sort_by(|left, right| mean(left).total_cmp(&mean(right)));
            place(column, &mut height);
        }
    }
    let mut places = vec![(0, 0.0); count];
    for (column, states) in columns.iter().enumerate() {
        for &state in states {
            places[state] = (column, height[state]);
        }
    }
    Layout { places, columns: columns.len(), rows }
}

/// Greatest number of edges from the start, where edges that close a loop are left out: all others then lead
/// from left to right.
fn distances(graph: &FragmentGraph) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let count = graph.states.len();
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); count];
    graph.edges.iter().for_each(|edge| targets[edge.from].push(edge.to));
    let mut marks = vec![Mark::New; count];
    let mut forward: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut finished = Vec::with_capacity(count);
    // Depth first with a path of its own, since fragments may be chains of any length. An edge to a state of
    // the path closes a loop.
    let mut path = vec![(0, 0)];
    marks[0] = Mark::Open;
    while let Some(&mut (state, ref mut next)) = path.last_mut() {
        let Some(&target) = targets[state].get(*next) else {
            marks[state] = Mark::Done;
            finished.push(state);
            path.pop();
            continue;
        };
        *next += 1;
        if marks[target] != Mark::Open {
            forward[state].push(target);
        }
        if marks[target] == Mark::New {
            marks[target] = Mark::Open;
            path.push((target, 0));
        }
    }
    let mut distance = vec![0; count];
    // Finished last, first in topological order: all edges into a state are seen before those out of it.
    for &state in finished.iter().rev() {
        for &target in &forward[state] {
            distance[target] = distance[target].max(distance[state] + 1);
        }
    }
    distance
}
