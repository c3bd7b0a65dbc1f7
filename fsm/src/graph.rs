//! Strongly connected components.

const DONE: u32 = u32::MAX;

/// Hands every strongly connected component that the roots reach to `visit`, callees before callers: Tarjan
/// (1972) with an explicit stack, since a chain of rules may be as long as the grammar.
///
/// Nodes are numbers below `count`, which is below 2^32 - 1. Linear in nodes and edges; four vectors are all that
/// it allocates.
pub fn components<'g>(
    count: usize,
    roots: impl IntoIterator<Item = u32>,
    successors: impl Fn(u32) -> &'g [u32],
    mut visit: impl FnMut(&[u32]),
) {
    // 0: not seen. Otherwise the visit number, or `DONE` once the component is complete.
    let mut number = vec![0u32; count];
    let mut low = vec![0u32; count];
    let mut open: Vec<u32> = Vec::with_capacity(count.min(64));
    // The path from the root, with how many successors were looked at.
    let mut path: Vec<(u32, u32)> = Vec::with_capacity(count.min(64));
    let mut last = 0;
    for root in roots {
        if number[root as usize] == 0 {
            if successors(root).is_empty() {
                number[root as usize] = DONE;
                visit(&[root]);
                continue;
            }
            path.push((root, 0));
        }
        while let Some(&mut (node, ref mut position)) = path.last_mut() {
            let index = node as usize;
            if *position == 0 && number[index] == 0 {
                last += 1;
                (number[index], low[index]) = (last, last);
                open.push(node);
            }
            if let Some(&target) = successors(node).get(*position as usize) {
                *position += 1;
                match number[target as usize] {
                    // Most nodes lead nowhere.
                    0 if successors(target).is_empty() => {
                        number[target as usize] = DONE;
                        visit(&[target]);
                    }
                    0 => path.push((target, 0)),
                    DONE => {}
                    seen => low[index] = low[index].min(seen),
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller as usize] = low[caller as usize].min(low[index]);
            }
            if low[index] == number[index] {
                let start = open.iter().rposition(|&member| member == node).unwrap_or(0);
                visit(&open[start..]);
                for member in open.drain(start..) {
                    number[member as usize] = DONE;
                }
            }
        }
    }
}
