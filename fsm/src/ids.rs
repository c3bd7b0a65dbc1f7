//! Ids, and tables that are indexed by them.
//!
//! Every kind of number has a type of its own. A state of a draft is no state of a program, and the compiler
//! reports where one is taken for the other. Each id is 32 bits. This file alone casts numbers of 32 bits to
//! indices and back; limits on states, fragments and edges keep all tables far below 2^32.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// Tables are numbered in 32 bits, with two bits to spare.
pub(crate) const MAX_NUMBERS: usize = (1 << 30) - 1;

/// The number of an item in its table.
pub(crate) trait Id: Copy + Ord + Hash + Debug {
    /// The first item.
    const FIRST: Self;
    /// The item after it.
    const SECOND: Self;
    /// The item after that.
    const THIRD: Self;
    /// No item.
    const NONE: Self;

    fn from_raw(raw: u32) -> Self;

    fn raw(self) -> u32;

    #[inline]
    fn from_index(index: usize) -> Self {
        debug_assert!(index <= u32::MAX as usize);
        Self::from_raw(index as u32)
    }

    #[inline]
    fn index(self) -> usize {
        self.raw() as usize
    }

    /// The id that comes `items` later.
    #[inline]
    fn plus(self, items: usize) -> Self {
        Self::from_raw(self.raw() + items as u32)
    }

    /// The id that comes `items` earlier.
    #[inline]
    fn minus(self, items: usize) -> Self {
        Self::from_raw(self.raw() - items as u32)
    }

    /// The id of an item that was the same distance from `from` as it is from `to` now. It was no earlier than `from`.
    #[inline]
    fn rebased(self, from: Self, to: Self) -> Self {
        Self::from_raw(self.raw() - from.raw() + to.raw())
    }

    /// How many items there are from another one up to this one.
    #[inline]
    fn since(self, other: Self) -> usize {
        (self.raw() - other.raw()) as usize
    }

    /// The id, unless it is [`NONE`](Self::NONE).
    #[inline]
    fn known(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// Defines a type of ids. One that is `pub` has the checked constructor and the accessors for users, too.
macro_rules! define_id {
    ($(#[$attribute:meta])* pub $name:ident) => {
        $crate::ids::define_id!(@type $(#[$attribute])* pub $name);

        impl $name {
            /// The id of the item at `index`, or `None` where the index does not fit.
            pub fn new(index: usize) -> Option<Self> {
                u32::try_from(index).ok().filter(|&raw| raw != u32::MAX).map(Self)
            }

            /// The position of the item in its table.
            #[inline]
            pub fn index(self) -> usize {
                $crate::ids::Id::index(self)
            }

            /// The id as a number.
            #[inline]
            pub fn raw(self) -> u32 {
                self.0
            }
        }
    };
    ($(#[$attribute:meta])* $name:ident) => {
        $crate::ids::define_id!(@type #[derive(Default)] $(#[$attribute])* pub(crate) $name);
    };
    (@type $(#[$attribute:meta])* $visibility:vis $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        $visibility struct $name(u32);

        impl $crate::ids::Id for $name {
            const FIRST: Self = Self(0);
            const SECOND: Self = Self(1);
            const THIRD: Self = Self(2);
            const NONE: Self = Self(u32::MAX);

            #[inline]
            fn from_raw(raw: u32) -> Self {
                Self(raw)
            }

            #[inline]
            fn raw(self) -> u32 {
                self.0
            }
        }
    };
}
pub(crate) use define_id;

define_id! {
    /// A place in a table whose entries have no ids.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    Offset
}

define_id! {
    /// One of the automata that were compiled before.
    PartId
}

/// The lowest byte of a number, which is the number where it is below 256.
#[inline]
pub(crate) fn low_byte(number: u32) -> u8 {
    let [.., low] = number.to_be_bytes();
    low
}

/// A hash as two: one of a slot in a table that is smaller than 2^32, and one to compare.
#[inline]
pub(crate) fn halves(hash: u64) -> (usize, u32) {
    ((hash >> 32) as usize, hash as u32)
}

/// The first `count` ids.
#[inline]
pub(crate) fn ids<I: Id>(count: usize) -> impl DoubleEndedIterator<Item = I> + Clone {
    (0..count as u32).map(I::from_raw)
}

/// The ids from one up to, but not including, another one.
#[inline]
pub(crate) fn ids_between<I: Id>(range: Range<I>) -> impl DoubleEndedIterator<Item = I> + Clone {
    (range.start.raw()..range.end.raw()).map(I::from_raw)
}

/// A table whose items are found by their ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct IdVec<I, T> {
    items: Vec<T>,
    ids: PhantomData<I>,
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> IdVec<I, T> {
    pub(crate) fn with_capacity(items: usize) -> Self {
        Vec::with_capacity(items).into()
    }

    /// A table of equal items.
    pub(crate) fn of(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        vec![item; count].into()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The id of the item that is pushed next.
    #[inline]
    pub(crate) fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// The item, if there is one of that id; there is none of [`Id::NONE`].
    #[inline]
    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    #[inline]
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = I> + Clone + use<I, T> {
        ids(self.items.len())
    }

    #[inline]
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    #[inline]
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// The items with their ids.
    #[inline]
    pub(crate) fn entries(&self) -> impl Iterator<Item = (I, &T)> + Clone {
        (0..).map(I::from_raw).zip(&self.items)
    }

    #[inline]
    pub(crate) fn slice(&self, range: Range<I>) -> &[T] {
        &self.items[range.start.index()..range.end.index()]
    }

    #[inline]
    pub(crate) fn slice_mut(&mut self, range: Range<I>) -> &mut [T] {
        &mut self.items[range.start.index()..range.end.index()]
    }

    /// Gives all items one value.
    #[inline]
    pub(crate) fn fill(&mut self, item: T)
    where
        T: Clone,
    {
        self.items.fill(item);
    }

    pub(crate) fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Gives room back, unless the table is small. A little stays for what is still to come.
    pub(crate) fn shrink(&mut self) {
        self.items.shrink_to((self.items.len() + self.items.len() / 64).max(1 << 20));
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, ids: PhantomData }
    }
}

impl<I, T> From<IdVec<I, T>> for Vec<T> {
    fn from(table: IdVec<I, T>) -> Self {
        table.items
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// Where the entries of each item begin in a table that is ordered by item; they end where the next one's begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rows<I> {
    /// One more than there are items.
    begins: Vec<u32>,
    ids: PhantomData<I>,
}

impl<I: Id> Default for Rows<I> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<I: Id> Rows<I> {
    /// No item, with room for some.
    pub(crate) fn with_capacity(items: usize) -> Self {
        let mut begins = Vec::with_capacity(items + 1);
        begins.push(0);
        Self { begins, ids: PhantomData }
    }

    /// For `items` items, from the item of each entry, in any order.
    pub(crate) fn count(items: usize, entries: impl Iterator<Item = I>) -> Self {
        let mut begins = vec![0u32; items + 1];
        for item in entries {
            begins[item.index() + 1] += 1;
        }
        for item in 0..items {
            begins[item + 1] += begins[item];
        }
        Self { begins, ids: PhantomData }
    }

    /// The entries of an item.
    #[inline]
    pub(crate) fn of(&self, item: I) -> Range<usize> {
        self.begins[item.index()] as usize..self.begins[item.index() + 1] as usize
    }

    /// How many items there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Where the entries of the next item begin.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.begins[self.begins.len() - 1] as usize
    }

    /// Ends the entries of an item, when the table has `entries` of them.
    #[inline]
    pub(crate) fn push(&mut self, entries: usize) -> I {
        let item = I::from_index(self.len());
        self.begins.push(entries as u32);
        item
    }

    /// The place of an entry that is put in its item's row, after those that were before. Of a copy: the rows move.
    #[inline]
    pub(crate) fn take_place(&mut self, item: I) -> usize {
        let begin = &mut self.begins[item.index()];
        *begin += 1;
        *begin as usize - 1
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.begins.capacity() * size_of::<u32>()
    }
}

/// For graphs of other crates, whose nodes are plain numbers.
impl Id for u32 {
    const FIRST: Self = 0;
    const SECOND: Self = 1;
    const THIRD: Self = 2;
    const NONE: Self = u32::MAX;

    fn from_raw(raw: u32) -> Self {
        raw
    }

    fn raw(self) -> u32 {
        self
    }
}

/// Lists one after the other, by their owners: a vector for each would take several times the memory.
pub(crate) struct Grouped<I, T> {
    rows: Rows<I>,
    pub(crate) items: Vec<T>,
}

impl<I: Id, T: Copy> Grouped<I, T> {
    pub(crate) fn new(count: usize, items: impl Iterator<Item = (I, T)> + Clone) -> Self {
        let rows = Rows::count(count, items.clone().map(|item| item.0));
        let Some((_, first)) = items.clone().next() else { return Self { rows, items: Vec::new() } };
        let (mut next, mut sorted) = (rows.clone(), vec![first; rows.end()]);
        for (list, item) in items {
            sorted[next.take_place(list)] = item;
        }
        Self { rows, items: sorted }
    }

    /// The places of the items of a list.
    #[inline]
    pub(crate) fn range(&self, list: I) -> Range<usize> {
        self.rows.of(list)
    }

    /// The items of a list.
    #[inline]
    pub(crate) fn of(&self, list: I) -> &[T] {
        &self.items[self.rows.of(list)]
    }
}
