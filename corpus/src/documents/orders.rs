//! Whether a document is taken if its members are in another order.
//!
//! The naive way writes out every order of every object. Here states walk along: an order is given up at its
//! first member that is refused, and where it stands as another one did with the same members.

use std::collections::HashMap;

use super::Spelled;
use crate::subject::Subject;

/// Most members of an object of which other orders are tried; a set of written ones is a bit set.
const MAX_MEMBERS: usize = 12;

/// Most orders of one object with which the rest of the document is tried: which one it was matters only where
/// alternatives of the schema declare in different orders.
const MAX_ENDS: usize = 1024;

/// Most states that are remembered with each set of members.
const MAX_MET: usize = 64;

/// Whether some order of the members of its objects makes a text that the subject reads as a whole.
///
/// # Errors
///
/// Where a limit of the subject is reached.
pub fn accepts_some_order<S: Subject>(subject: &S, document: &Spelled) -> Result<bool, String> {
    let ends = read(subject, vec![subject.start()], document)?;
    Ok(ends.iter().any(|end| subject.is_complete(end)))
}

/// Whether the subject reads a text as a whole.
///
/// # Errors
///
/// Where a limit of the subject is reached.
pub fn accepts<S: Subject>(subject: &S, document: &str) -> Result<bool, String> {
    let ends = text(subject, vec![subject.start()], document)?;
    Ok(ends.iter().any(|end| subject.is_complete(end)))
}

/// Recursion is bounded as [`Spelled::new`] is.
fn read<S: Subject>(subject: &S, from: Vec<S::State>, value: &Spelled) -> Result<Vec<S::State>, String> {
    match value {
        Spelled::Array(items) => {
            let mut at = text(subject, from, "[")?;
            for (index, item) in items.iter().enumerate() {
                at = if index == 0 { at } else { text(subject, at, ",")? };
                at = read(subject, at, item)?;
            }
            text(subject, at, "]")
        }
        Spelled::Object(members) if members.len() <= MAX_MEMBERS => {
            let at = text(subject, from, "{")?;
            let mut orders = Orders { subject, members, met: HashMap::new(), ends: Vec::new() };
            orders.read(at, 0, MAX_ENDS)?;
            Ok(orders.ends)
        }
        other => text(subject, from, &other.to_string()),
    }
}

/// The orders of one object.
struct Orders<'s, S: Subject> {
    subject: &'s S,
    members: &'s [(String, Spelled)],
    /// The states from which the members that are not in a set were read.
    met: HashMap<u32, Vec<S::State>>,
    /// The states after the closing brace.
    ends: Vec<S::State>,
}

impl<S: Subject> Orders<'_, S> {
    /// Reads the members that are not yet in the set, in every order, and the closing brace, until there are
    /// `most` ends. Orders after which a member is still owed are none of them.
    fn read(&mut self, mut from: Vec<S::State>, written: u32, most: usize) -> Result<(), String> {
        let (subject, members) = (self.subject, self.members);
        if self.ends.len() >= most {
            return Ok(());
        }
        let met = self.met.entry(written).or_default();
        from.retain(|state| !met.iter().any(|other| subject.are_same(state, other)));
        if from.is_empty() {
            return Ok(());
        }
        met.extend(from.iter().take(MAX_MET.saturating_sub(met.len())).cloned());
        let left: Vec<usize> = (0..members.len()).filter(|index| written >> index & 1 == 0).collect();
        if left.is_empty() {
            self.ends.extend(text(subject, from, "}")?);
            return Ok(());
        }
        let comma = if written == 0 { "" } else { "," };
        for (place, &index) in left.iter().enumerate() {
            let (name, value) = &members[index];
            let at = text(subject, from.clone(), &format!("{comma}{name}:"))?;
            let at = read(subject, at, value)?;
            // Each member that may come next has its share: none is tried with all orders of the others, and the next
            // one with none.
            let share = most.saturating_sub(self.ends.len()).div_ceil(left.len() - place);
            self.read(at, written | 1 << index, self.ends.len() + share)?;
        }
        Ok(())
    }
}

fn text<S: Subject>(subject: &S, from: Vec<S::State>, text: &str) -> Result<Vec<S::State>, String> {
    let mut read = Vec::with_capacity(from.len());
    'states: for mut state in from {
        for byte in text.bytes() {
            match subject.step(&state, byte)? {
                Some(next) => state = next,
                None => continue 'states,
            }
        }
        read.push(state);
    }
    Ok(read)
}
