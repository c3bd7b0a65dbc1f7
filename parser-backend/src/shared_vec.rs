//! A vector whose copies share all but their last elements.
//!
//! The history of a text grows at its end, and rolling back shortens it. A `Vec` makes a fork copy all of it, which
//! takes 20 MB after a million steps. Here only the last elements are in a `Vec`. Those below are in *leaves* of equal
//! size that copies share, and leaves are in *nodes*. So an element is found by its index in three steps, and a copy
//! takes the last elements and one reference.
//!
//! Where a shared vector is changed, the leaf and the node that hold the place are copied, and the list of
//! nodes. Cutting it copies one leaf: those after it stay in their node until another one takes their place. The list is short: it grows by one with every 16,384 elements.
//!
//! The `Vec` holds up to one and a half leaves before the lower one is sealed. So pops and pushes at the edge of a leaf
//! do not seal and copy it again and again.

use std::ops::Index;
use std::sync::Arc;

/// Elements of a leaf.
const LEAF: usize = 32;

/// Most elements after the leaves.
const MAX_TAIL: usize = LEAF + LEAF / 2;

/// Leaves of a node.
const NODE: usize = 512;

type Leaf<T> = Arc<[T]>;

type Node<T> = Arc<Vec<Leaf<T>>>;

/// A vector of elements that are cheap to copy.
#[derive(Clone, Debug)]
pub struct SharedVec<T> {
    /// The last elements.
    tail: Vec<T>,
    /// Number of the elements in leaves.
    sealed: usize,
    /// All nodes but the last are full. None as long as there is no leaf, so that short vectors take no allocation for it.
    nodes: Option<Arc<Vec<Node<T>>>>,
}

impl<T> Default for SharedVec<T> {
    fn default() -> Self {
        Self { tail: Vec::new(), sealed: 0, nodes: None }
    }
}

impl<T> SharedVec<T> {
    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.sealed + self.tail.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        match index.checked_sub(self.sealed) {
            Some(index) => self.tail.get(index),
            None => self.leaf(index / LEAF)?.get(index % LEAF),
        }
    }

    /// The last element.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// The elements from one on.
    pub fn iter_from(&self, first: usize) -> impl Iterator<Item = &T> {
        let leaves = (first / LEAF..self.sealed / LEAF).filter_map(|place| self.leaf(place));
        let begin = first.min(self.sealed) / LEAF * LEAF;
        leaves.flat_map(|leaf| leaf.iter()).chain(&self.tail).skip(first - begin)
    }

    /// The elements, the last one first.
    pub fn iter_back(&self) -> impl Iterator<Item = &T> {
        let leaves = (0..self.sealed / LEAF).rev().filter_map(|place| self.leaf(place));
        self.tail.iter().rev().chain(leaves.flat_map(|leaf| leaf.iter().rev()))
    }

    /// The number of elements at the beginning for which a predicate holds, if it holds for none after them.
    pub fn partition_point(&self, mut holds: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match holds(&self[middle]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    #[inline]
    fn leaf(&self, place: usize) -> Option<&Leaf<T>> {
        self.nodes.as_ref()?.get(place / NODE)?.get(place % NODE)
    }
}

impl<T: Clone> SharedVec<T> {
    /// Adds an element.
    #[inline]
    pub fn push(&mut self, element: T) {
        // The same comparison as that of `Vec::push`, so that the two are one.
        if self.tail.len() == self.tail.capacity() {
            self.make_room();
        }
        self.tail.push(element);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        // `Vec` would double its room without end. Here it ends at some length, then a leaf is sealed.
        let len = self.tail.len();
        if len < MAX_TAIL {
            self.tail.reserve_exact(len.max(4).min(MAX_TAIL - len));
            return;
        }
        let leaf: Leaf<T> = self.tail.drain(..LEAF).collect();
        let nodes = Arc::make_mut(self.nodes.get_or_insert_default());
        // Leaves that a cut has left behind make room.
        let place = self.sealed / LEAF;
        nodes.truncate(place.div_ceil(NODE));
        match nodes.get_mut(place / NODE).map(Arc::make_mut) {
            Some(node) => {
                node.truncate(place % NODE);
                node.push(leaf);
            }
            None => nodes.push(Arc::new(vec![leaf])),
        }
        self.sealed += LEAF;
    }

    /// Takes off the last element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.tail.is_empty() {
            self.unseal(self.sealed.checked_sub(1)? / LEAF, LEAF);
        }
        self.tail.pop()
    }

    /// Takes off all elements but the first.
    pub fn truncate(&mut self, len: usize) {
        match len.checked_sub(self.sealed) {
            Some(len) => self.tail.truncate(len),
            None => self.unseal(len / LEAF, len % LEAF),
        }
    }

    /// Puts the first elements of a leaf in the place of the tail. That leaf and those after it count no more.
    #[cold]
    fn unseal(&mut self, leaf: usize, kept: usize) {
        self.tail.clear();
        if let Some(elements) = self.leaf(leaf).cloned() {
            self.tail.extend_from_slice(&elements[..kept]);
        }
        self.sealed = leaf * LEAF;
        if leaf == 0 {
            self.nodes = None;
        }
    }

    /// An element, to be changed. Copies of the vector keep theirs.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        match index.checked_sub(self.sealed) {
            Some(index) => self.tail.get_mut(index),
            None => {
                let node = Arc::make_mut(self.nodes.as_mut()?).get_mut(index / LEAF / NODE)?;
                let leaf = Arc::make_mut(node).get_mut(index / LEAF % NODE)?;
                Arc::make_mut(leaf).get_mut(index % LEAF)
            }
        }
    }
}

impl<T> Index<usize> for SharedVec<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match index.checked_sub(self.sealed) {
            Some(index) => &self.tail[index],
            None => {
                let nodes = self.nodes.as_deref().map_or(&[][..], Vec::as_slice);
                &nodes[index / LEAF / NODE][index / LEAF % NODE][index % LEAF]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a `Vec`, with copies that go their own ways.
    #[test]
    fn copies_share_and_do_not_disturb_one_another() {
        let mut seed = 11u32;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            usize::try_from(seed >> 8).unwrap_or(0) % below
        };
        let mut vectors = vec![(SharedVec::default(), Vec::new())];
        let mut largest = 0;
        for round in 0..4_000usize {
            let place = random(vectors.len());
            let (vector, expected) = &mut vectors[place];
            match random(8) {
                0 => {
                    let len = expected.len() - random(expected.len().min(3_000) + 1);
                    vector.truncate(len);
                    expected.truncate(len);
                }
                1 => assert_eq!(vector.pop(), expected.pop()),
                2 => {
                    for _ in 0..random(9) {
                        let index = random(expected.len() + 1);
                        let (element, other) = (vector.get_mut(index), expected.get_mut(index));
                        assert_eq!(element, other);
                        if let (Some(element), Some(other)) = (element, other) {
                            *element += 1;
                            *other += 1;
                        }
                    }
                }
                3 => {
                    let copy = (vector.clone(), expected.clone());
                    if vectors.len() < 6 {
                        vectors.push(copy);
                    } else {
                        let other = random(vectors.len());
                        vectors[other] = copy;
                    }
                }
                _ => {
                    let most = [9, 200, 3_000][random(3)];
                    for element in 0..random(most) {
                        vector.push(round + element);
                        expected.push(round + element);
                    }
                }
            }
            let (vector, expected) = &vectors[place.min(vectors.len() - 1)];
            assert_eq!((vector.len(), vector.last()), (expected.len(), expected.last()));
            assert_eq!(vector.is_empty(), expected.is_empty());
            largest = largest.max(expected.len());
            let first = random(expected.len() + 1);
            assert_eq!(vector.get(first), expected.get(first));
            if round % 32 == 0 {
                assert!(vector.iter_back().eq(expected.iter().rev()));
                assert!(vector.iter_from(first).eq(&expected[first..]), "{first} of {}", expected.len());
                assert!((0..expected.len()).all(|index| vector[index] == expected[index]));
            }
        }
        assert!(largest > 2 * LEAF * NODE, "edges of nodes are met");
    }

    #[test]
    fn a_place_is_found_by_halves() {
        let mut vector = SharedVec::default();
        for element in 0..1_000usize {
            vector.push(element / 3);
        }
        for bound in 0..=400 {
            assert_eq!(vector.partition_point(|&element| element < bound), (3 * bound).min(1_000));
        }
    }
}
