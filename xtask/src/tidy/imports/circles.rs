//! Circles in a graph of numbered nodes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A directed graph; an arrow's weight says how much work it is to turn it round.
#[derive(Clone, Default)]
pub(super) struct Digraph {
    arrows: BTreeMap<usize, BTreeMap<usize, usize>>,
}

impl Digraph {
    /// Adds to an arrow's weight.
    pub(super) fn add(&mut self, from: usize, to: usize, weight: usize) {
        *self.arrows.entry(from).or_default().entry(to).or_default() += weight;
    }

    fn remove(&mut self, from: usize, to: usize) {
        if let Some(arrows) = self.arrows.get_mut(&from) {
            arrows.remove(&to);
        }
    }

    fn next(&self, from: usize) -> impl Iterator<Item = usize> {
        self.arrows.get(&from).into_iter().flat_map(|arrows| arrows.keys().copied())
    }

    fn weight(&self, from: usize, to: usize) -> usize {
        self.arrows.get(&from).and_then(|arrows| arrows.get(&to)).copied().unwrap_or(0)
    }

    fn reachable(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut stack: Vec<usize> = self.next(from).collect();
        while let Some(node) = stack.pop() {
            if reached.insert(node) {
                stack.extend(self.next(node));
            }
        }
        reached
    }

    /// The largest sets of at least two nodes of which each reaches each other one, the largest first.
    pub(super) fn circles(&self) -> Vec<BTreeSet<usize>> {
        let reachable: BTreeMap<usize, BTreeSet<usize>> =
            self.arrows.keys().map(|&node| (node, self.reachable(node))).collect();
        let mut circles = BTreeSet::new();
        for (node, below) in &reachable {
            let mut circle: BTreeSet<usize> = below
                .iter()
                .copied()
                .filter(|other| reachable.get(other).is_some_and(|back| back.contains(node)))
                .collect();
            circle.insert(*node);
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        let mut circles: Vec<_> = circles.into_iter().collect();
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// The nodes of a shortest way round within a set, in the order of the arrows.
    pub(super) fn shortest_way_round(&self, within: &BTreeSet<usize>) -> Vec<usize> {
        let ways = within.iter().filter_map(|&start| self.way_round(start, within));
        ways.min_by_key(Vec::len).unwrap_or_default()
    }

    fn way_round(&self, start: usize, within: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for next in self.next(node).filter(|next| within.contains(next)) {
                if next == start {
                    let back = |at: &usize| before.get(at).copied();
                    let mut way: Vec<usize> = std::iter::successors(Some(node), back).collect();
                    way.reverse();
                    return Some(way);
                }
                if let Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(node);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Few and light arrows without which a set has no circle. Always takes the lightest arrow of a shortest way
    /// round, which is not always the best choice.
    pub(super) fn arrows_to_turn(&self, within: &BTreeSet<usize>) -> Vec<(usize, usize)> {
        let mut graph = self.clone();
        let mut turned = Vec::new();
        loop {
            let way = graph.shortest_way_round(within);
            let arrows = way.iter().copied().zip(way.iter().copied().cycle().skip(1));
            let Some((from, to)) = arrows.min_by_key(|&(from, to)| graph.weight(from, to)) else {
                return turned;
            };
            graph.remove(from, to);
            turned.push((from, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(usize, usize, usize)]) -> Digraph {
        let mut graph = Digraph::default();
        for &(from, to, weight) in arrows {
            graph.add(from, to, weight);
        }
        graph
    }

    #[test]
    fn circles_are_separate_and_the_largest_comes_first() {
        let graph = graph(&[(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 2, 1), (4, 5, 1)]);
        assert_eq!(graph.circles(), [BTreeSet::from([2, 3, 4]), BTreeSet::from([0, 1])]);
    }

    #[test]
    fn the_shortest_way_round_is_found_inside_a_larger_circle() {
        let graph = graph(&[(0, 1, 1), (1, 2, 5), (2, 0, 1), (2, 1, 2)]);
        let circle = BTreeSet::from([0, 1, 2]);
        assert_eq!(graph.circles(), std::slice::from_ref(&circle));
        assert_eq!(graph.shortest_way_round(&circle), [1, 2]);
        assert_eq!(graph.arrows_to_turn(&circle), [(2, 1), (0, 1)]);
    }

    #[test]
    fn a_tree_has_no_circle() {
        let graph = graph(&[(0, 1, 1), (0, 2, 1), (1, 2, 1)]);
        assert!(graph.circles().is_empty());
        assert!(graph.arrows_to_turn(&BTreeSet::from([0, 1, 2])).is_empty());
    }
}
