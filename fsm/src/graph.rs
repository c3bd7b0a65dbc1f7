//! Strongly connected components.

use crate::ids::{Id, IdVec, Offset};

const DONE: u32 = u32::MAX;

/// Hands every strongly connected component that the roots reach to `visit`, callees before callers. The
/// algorithm is Tarjan's (1972) with an explicit stack, since a chain of rules may be as long as the grammar.
///
/// Nodes are numbers below `count`, which is below 2^32 - 1. Linear in nodes and edges; four vectors are all that
/// it allocates.
pub fn components<'g>(
    count: usize,
    roots: impl IntoIterator<Item = u32>,
    successors: impl Fn(u32) -> &'g [u32],
    visit: impl FnMut(&[u32]),
) {
    components_of(count, roots, successors, visit);
}

/// As [`components`], over nodes that have ids.
pub(crate) fn components_of<'g, I: Id + 'g>(
    count: usize,
    roots: impl IntoIterator<Item = I>,
    successors: impl Fn(I) -> &'g [I],
    mut visit: impl FnMut(&[I]),
) {
    // 0: not seen. Otherwise the visit number, or `DONE` once the component is complete.
    let mut number: IdVec<I, u32> = IdVec::of(0, count);
    let mut low: IdVec<I, u32> = IdVec::of(0, count);
    let mut open: Vec<I> = Vec::with_capacity(count.min(64));
    // The path from the root, with how many successors were looked at.
    let mut path: Vec<(I, Offset)> = Vec::with_capacity(count.min(64));
    let mut last = 0;
    for root in roots {
        if number[root] == 0 {
            if successors(root).is_empty() {
                number[root] = DONE;
                visit(&[root]);
                continue;
            }
            path.push((root, Offset::FIRST));
        }
        while let Some(&mut (node, ref mut position)) = path.last_mut() {
            if *position == Offset::FIRST && number[node] == 0 {
                last += 1;
                (number[node], low[node]) = (last, last);
                open.push(node);
            }
            if let Some(&target) = successors(node).get(position.index()) {
                *position = position.plus(1);
                match number[target] {
                    // Most nodes lead nowhere.
                    0 if successors(target).is_empty() => {
                        number[target] = DONE;
                        visit(&[target]);
                    }
                    0 => path.push((target, Offset::FIRST)),
                    DONE => {}
                    seen => low[node] = low[node].min(seen),
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller] = low[caller].min(low[node]);
            }
            if low[node] == number[node] {
                let start = open.iter().rposition(|&member| member == node).unwrap_or(0);
                visit(&open[start..]);
                for member in open.drain(start..) {
                    number[member] = DONE;
                }
            }
        }
    }
}
