//! A number for a program that is the same in every process.

use std::borrow::Cow;

use grammask_grammar_ir::Distinct;
use xxhash_rust::xxh3::Xxh3;

use crate::ids::Id;
use crate::program::tables::{Fragment, FragmentId, Options, Permutation, Program, Role, TokenSide};

impl Program {
    /// A hash of the automata, without the names of rules: equal for equal automata on every platform and in every
    /// process. Structures that differ in their spelling only often have one automaton, and then one fingerprint.
    ///
    /// Not cryptographic: a person who may choose a structure can make two with the same hash. Use it to find
    /// and to route, and compare before you trust.
    pub fn fingerprint(&self) -> u128 {
        // All fields are named, so that a new one is not forgotten. Byte classes and corners follow from the
        // tables, and `whole` has put the sub-programs into these.
        let Self {
            states,
            byte_edges,
            epsilons,
            calls,
            token_edges,
            labels,
            fragments,
            root,
            byte_classes: _,
            sub_programs: _,
            corners: _,
            cost: _,
        } = &*self.whole().unwrap_or(Cow::Borrowed(self));
        let mut words = Words { hash: Xxh3::new(), buffer: Vec::with_capacity(BUFFER) };
        // The number goes up when the words mean something else.
        words.hash.update(b"grammask program 1\n");
        words.push(root.raw());
        // The length comes before each list, so two programs whose lists are cut in other places differ.
        words.length(fragments.len());
        for Fragment { name: _, start, nullable, count, role, options } in fragments {
            words.push(start.raw());
            words.push(u32::from(*nullable));
            let (kind, min, max) = match count {
                None => (0, 0, 0),
                Some(count) => (1 + u32::from(count.max.is_some()), count.min, count.max.unwrap_or(0)),
            };
            words.all([kind, min, max]);
            words.role(role);
            if let Some(options) = options {
                words.options(options);
            }
        }
        words.length(states.len());
        for row in states {
            words.all(row.begins().map(Id::raw));
            words.push(u32::from(row.is_final()) | u32::from(row.counts()) << 1);
        }
        words.length(byte_edges.len());
        for edge in byte_edges {
            words.all([u32::from(edge.start) << 8 | u32::from(edge.end), edge.target.raw()]);
        }
        words.length(epsilons.len());
        epsilons.iter().for_each(|target| words.push(target.raw()));
        words.length(calls.len());
        for call in calls {
            words.all([call.fragment.raw(), call.target.raw()]);
        }
        words.length(token_edges.len());
        for edge in token_edges {
            words.all([edge.label.raw(), edge.target.raw()]);
        }
        words.length(labels.len());
        for label in labels {
            words.push(u32::from(label.side == TokenSide::Outside));
            words.length(label.ids.len());
            words.all(label.ids.iter().copied());
        }
        words.finish()
    }
}

const BUFFER: usize = 4096;

/// Words, fed to the hash in pieces that are worth a call.
struct Words {
    hash: Xxh3,
    buffer: Vec<u8>,
}

impl Words {
    fn push(&mut self, word: u32) {
        self.buffer.extend_from_slice(&word.to_le_bytes());
        if self.buffer.len() >= BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn all(&mut self, words: impl IntoIterator<Item = u32>) {
        words.into_iter().for_each(|word| self.push(word));
    }

    fn role(&mut self, role: &Role) {
        match role {
            Role::None => self.push(0),
            Role::Part(index) => self.all([1, *index]),
            Role::Separator => self.push(2),
            Role::Measured(limit) => self.all([5, *limit]),
            Role::Permutation(permutation) => {
                let Permutation { parts, separator, required, once, min, max } = &**permutation;
                self.all([3, *required, *once, *min, u32::from(max.is_some()), max.unwrap_or(0)]);
                // Ids are never the greatest number.
                let id = |id: &Option<FragmentId>| id.map_or(u32::MAX, FragmentId::raw);
                self.push(id(separator));
                self.length(parts.len());
                self.all(parts.iter().map(id));
            }
        }
    }

    /// After a number that no role begins with.
    fn options(&mut self, options: &Options) {
        let Options { max_tokens, capture, end_capture, temperature, distinct } = options;
        self.all([4, *max_tokens, u32::from(temperature.is_some()), temperature.unwrap_or(0)]);
        for named in [capture, end_capture] {
            self.push(u32::from(named.is_some()));
            if let Some((name, bytes)) = named {
                self.push(*bytes);
                self.length(name.len());
                self.all(name.bytes().map(u32::from));
            }
        }
        // After a number that nothing else begins with there.
        if let Some(distinct) = distinct {
            let number = match distinct {
                Distinct::Items => 0,
                Distinct::Names => 1,
            };
            self.all([u32::MAX, number]);
        }
    }

    /// Lengths precede the items that they count, so that no two programs spell the same words.
    fn length(&mut self, length: usize) {
        // Tables are indexed with 32 bits.
        self.push(u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn finish(mut self) -> u128 {
        self.hash.update(&self.buffer);
        self.hash.digest128()
    }
}
