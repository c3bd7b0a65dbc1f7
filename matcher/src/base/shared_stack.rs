//! A stack whose copies share the elements below their tops.
//!
//! The history of a text is a stack: steps are pushed, and rolling back pops them. A `Vec` makes a fork copy all of it,
//! which takes 20 MB after a million steps. Here only the last elements are in a `Vec`; those below are in blocks that
//! never change, each of which names the one below it. A copy takes the `Vec` and one reference.
//!
//! The `Vec` holds up to two blocks before the lower one is sealed. So pops and pushes at the edge of a block
//! do not seal and copy it again and again.

use std::iter::successors;
use std::sync::Arc;

/// Elements of a block: as many as are copied with the stack at least, and twice as many at most.
const BLOCK: usize = 16;

/// A stack of elements that are cheap to copy.
#[derive(Clone, Debug)]
pub(crate) struct SharedStack<T> {
    /// The last elements; empty only where the stack is.
    top: Vec<T>,
    /// Number of the elements in blocks.
    sealed: usize,
    below: Option<Arc<Block<T>>>,
}

/// [`BLOCK`] elements.
#[derive(Debug)]
struct Block<T> {
    elements: Box<[T]>,
    below: Option<Arc<Block<T>>>,
}

impl<T> Default for SharedStack<T> {
    fn default() -> Self {
        Self { top: Vec::new(), sealed: 0, below: None }
    }
}

impl<T> SharedStack<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.sealed + self.top.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.top.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, element: T) {
        // The same comparison as that of `Vec::push`, so that the two are one.
        if self.top.len() == self.top.capacity() {
            self.make_room();
        }
        self.top.push(element);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        // `Vec` would double its room without end. Here it ends at two blocks, then the lower one is sealed.
        let len = self.top.len();
        if len < 2 * BLOCK {
            self.top.reserve_exact(len.max(4).min(2 * BLOCK - len));
            return;
        }
        let elements = self.top.drain(..BLOCK).collect();
        self.below = Some(Arc::new(Block { elements, below: self.below.take() }));
        self.sealed += BLOCK;
    }

    /// The elements, the last one first.
    pub(crate) fn iter_back(&self) -> impl Iterator<Item = &T> {
        let blocks = successors(self.below.as_deref(), |block| block.below.as_deref());
        self.top.iter().rev().chain(blocks.flat_map(|block| block.elements.iter().rev()))
    }

    /// The elements from one on, in their order.
    pub(crate) fn iter_from(&self, first: usize) -> impl Iterator<Item = &T> {
        let mut begin = self.sealed;
        let mut blocks = Vec::new();
        let mut below = self.below.as_deref();
        // Blocks only know the one below, so the walk goes down to the first element that is asked for and
        // then turns round.
        while begin > first
            && let Some(block) = below
        {
            blocks.push(&*block.elements);
            begin -= block.elements.len();
            below = block.below.as_deref();
        }
        blocks.into_iter().rev().flatten().chain(&self.top).skip(first - begin.min(first))
    }
}

impl<T: Clone> SharedStack<T> {
    /// Takes off all elements but the first `len`. Returns the lowest that was taken off.
    pub(crate) fn truncate(&mut self, len: usize) -> Option<T> {
        while len < self.sealed {
            self.unseal();
        }
        let place = len - self.sealed;
        let first = self.top.get(place).cloned();
        self.top.truncate(place);
        // The last element is always in `top`, for the fast paths of `is_empty` and `pop`.
        if self.top.is_empty() && self.sealed > 0 {
            self.unseal();
        }
        first
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.top.pop();
        if self.top.is_empty() && self.sealed > 0 {
            self.unseal();
        }
        last
    }

    /// Changes the elements from one on. Copies of the stack keep theirs.
    pub(crate) fn update_from(&mut self, first: usize, mut update: impl FnMut(&mut T)) {
        let mut changed: Vec<T> = self.iter_from(first).cloned().collect();
        changed.iter_mut().for_each(&mut update);
        self.truncate(first);
        changed.into_iter().for_each(|element| self.push(element));
    }

    /// Puts the elements of the last block in the place of the top.
    fn unseal(&mut self) {
        let block = self.below.take().expect("what is sealed lies in blocks");
        self.top.clear();
        // Elements are moved if no copy of the stack shares the block, and copied otherwise.
        match Arc::try_unwrap(block) {
            Ok(block) => {
                self.top.extend(block.elements);
                self.below = block.below;
            }
            Err(shared) => {
                self.top.extend_from_slice(&shared.elements);
                self.below.clone_from(&shared.below);
            }
        }
        self.sealed -= self.top.len();
    }
}

impl<T> Drop for SharedStack<T> {
    /// One block after the other: each would drop the one below it, as deep as the text is long.
    fn drop(&mut self) {
        let mut below = self.below.take();
        // A block that others share ends the walk: it and all below it stay with them.
        while let Some(block) = below.and_then(Arc::into_inner) {
            below = block.below;
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
        let mut stacks = vec![(SharedStack::default(), Vec::new())];
        for round in 0..4_000usize {
            let place = random(stacks.len());
            let (stack, expected) = &mut stacks[place];
            match random(8) {
                0 => {
                    let len = random(expected.len() + 1);
                    assert_eq!(stack.truncate(len), expected.get(len).copied());
                    expected.truncate(len);
                }
                1 => assert_eq!(stack.pop(), expected.pop()),
                2 => {
                    let first = random(expected.len() + 1);
                    stack.update_from(first, |element| *element += 1);
                    expected[first..].iter_mut().for_each(|element| *element += 1);
                }
                3 => {
                    let copy = (stack.clone(), expected.clone());
                    if stacks.len() < 6 {
                        stacks.push(copy);
                    } else {
                        let other = random(stacks.len());
                        stacks[other] = copy;
                    }
                }
                _ => {
                    for element in 0..random(200) {
                        stack.push(round + element);
                        expected.push(round + element);
                    }
                }
            }
            let (stack, expected) = &stacks[place.min(stacks.len() - 1)];
            assert_eq!(stack.len(), expected.len());
            assert_eq!(stack.is_empty(), expected.is_empty());
            assert!(stack.iter_back().eq(expected.iter().rev()));
            let first = random(expected.len() + 1);
            assert!(stack.iter_from(first).eq(&expected[first..]), "{first} of {}", expected.len());
        }
    }

    #[test]
    fn tall_stacks_are_dropped_without_recursion() {
        let mut stack = SharedStack::default();
        (0..2_000_000u32).for_each(|element| stack.push(element));
        let copy = stack.clone();
        drop(stack);
        assert_eq!(copy.iter_back().next(), Some(&1_999_999));
        drop(copy);
    }
}
