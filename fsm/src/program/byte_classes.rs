//! Equivalence classes of bytes: two bytes that no edge of an automaton tells apart share a column.

use crate::utf8::SEQUENCES;

/// A partition of the 256 bytes into classes numbered from 0 in order of their least byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ByteClasses {
    class_of: [u8; 256],
    /// Greatest class number; the number of classes is one more, up to 256.
    last: u8,
}

/// Bytes at which classes begin, a bit each. Byte 0 always is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassStarts([u64; 4]);

impl ClassStarts {
    /// Tells apart the inside and the outside of a range.
    pub(crate) fn tell_apart(&mut self, start: u8, end: u8) {
        self.begin(start);
        if let Some(behind) = end.checked_add(1) {
            self.begin(behind);
        }
    }

    fn begin(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    /// Adds the distinctions of the other one.
    pub(crate) fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }
}

impl ByteClasses {
    /// The coarsest partition that tells apart the inside and the outside of every range given.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (u8, u8)>) -> Self {
        // `starts[b]`: a class begins at byte b.
        let mut starts = [false; 257];
        for (start, end) in ranges {
            starts[usize::from(start)] = true;
            starts[usize::from(end) + 1] = true;
        }
        Self::from_starts(&starts)
    }

    /// Classes that begin at these bytes, and at byte 0.
    pub(crate) fn from_starts(starts: &[bool; 257]) -> Self {
        let mut class_of = [0; 256];
        let mut class = 0u8;
        for byte in 1..256 {
            // At most 255 classes begin after byte 0, so the number fits.
            class += u8::from(starts[byte]);
            class_of[byte] = class;
        }
        Self { class_of, last: class }
    }

    /// Classes that begin at these bytes, and at byte 0.
    pub(crate) fn beginning_at(starts: &ClassStarts) -> Self {
        let mut class_of = [0; 256];
        let mut class = 0u8;
        let bits = starts.0.iter().flat_map(|&word| (0..64).map(move |bit| u8::from(word >> bit & 1 == 1)));
        for (place, start) in class_of.iter_mut().zip(bits).skip(1) {
            class += start;
            *place = class;
        }
        Self { class_of, last: class }
    }

    /// Where the classes begin.
    pub(crate) fn starts(&self) -> ClassStarts {
        let mut starts = ClassStarts::default();
        self.representatives().for_each(|byte| starts.begin(byte));
        starts
    }

    /// The coarsest partition with the distinctions of all of these.
    pub(crate) fn finer<'c>(all: impl IntoIterator<Item = &'c Self>) -> Self {
        let mut starts = [0u8; 256];
        for classes in all {
            for (start, pair) in starts[1..].iter_mut().zip(classes.class_of.windows(2)) {
                *start |= u8::from(pair[0] != pair[1]);
            }
        }
        let mut class_of = [0; 256];
        let mut class = 0u8;
        for (place, start) in class_of.iter_mut().zip(starts) {
            class += start;
            *place = class;
        }
        Self { class_of, last: class }
    }

    /// How many classes there are, 1 to 256.
    pub fn count(&self) -> usize {
        usize::from(self.last) + 1
    }

    /// The class of a byte.
    #[inline]
    pub fn class(&self, byte: u8) -> u8 {
        self.class_of[usize::from(byte)]
    }

    /// The class of every byte.
    pub fn table(&self) -> &[u8; 256] {
        &self.class_of
    }

    /// Adds the states after each character of a class: its characters below U+0080, and all others if `non_ascii`. `None`
    /// where a step leads nowhere, or to more than `most` states.
    pub fn after_each_character<S: Copy + PartialEq>(
        &self,
        from: S,
        ascii: impl Iterator<Item = u8>,
        non_ascii: bool,
        most: usize,
        after: &mut Vec<S>,
        mut step: impl FnMut(S, u8) -> Option<S>,
    ) -> Option<()> {
        self.step_all(&[from], ascii, most, after, &mut step)?;
        for row in SEQUENCES.iter().filter(|_| non_ascii) {
            let mut states = vec![from];
            for &(start, end) in *row {
                let mut next = Vec::new();
                self.step_all(&states, start..=end, most, &mut next, &mut step)?;
                states = next;
            }
            // The states between the bytes of a character are not among them.
            for state in states {
                add(after, state, most)?;
            }
        }
        Some(())
    }

    fn step_all<S: Copy + PartialEq>(
        &self,
        states: &[S],
        bytes: impl Iterator<Item = u8>,
        most: usize,
        after: &mut Vec<S>,
        step: &mut impl FnMut(S, u8) -> Option<S>,
    ) -> Option<()> {
        for byte in self.first_of_each(bytes) {
            for &state in states {
                add(after, step(state, byte)?, most)?;
            }
        }
        Some(())
    }

    /// The first byte of each class among some bytes: the others of a class behave as it does in every state.
    pub fn first_of_each(&self, bytes: impl IntoIterator<Item = u8>) -> impl Iterator<Item = u8> {
        let mut met = [false; 256];
        let class_of = &self.class_of;
        bytes.into_iter().filter(move |&byte| {
            let class = usize::from(class_of[usize::from(byte)]);
            !std::mem::replace(&mut met[class], true)
        })
    }

    /// The least byte of every class, in the order of the classes.
    pub fn representatives(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255u8).filter(|&byte| byte == 0 || self.class(byte) != self.class(byte - 1))
    }
}

/// Adds a state that is not there yet. `None` if there are `most` already.
fn add<S: PartialEq>(states: &mut Vec<S>, state: S, most: usize) -> Option<()> {
    if !states.contains(&state) {
        if states.len() >= most {
            return None;
        }
        states.push(state);
    }
    Some(())
}
