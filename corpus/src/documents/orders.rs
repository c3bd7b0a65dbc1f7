//! Whether a document is taken if its members stand in another order.
//!
//! The naive way writes out every order of every object. Here states walk along: an order is given up at its
//! first member that is refused.

use super::Spelled;
use crate::Subject;

/// Most members of an object of which other orders are tried; a set of written ones is a bit set.
const MOST_MEMBERS: usize = 12;

/// Most orders of one object with which the rest of the document is tried: which one it was matters only where
/// alternatives of the schema declare in different orders.
const MOST_ENDS: usize = 32;

/// Whether some order of the members of its objects makes a text that the subject reads as a whole.
///
/// # Errors
///
/// Where a limit of the subject is reached.
pub fn accepts_some_order<S: Subject>(subject: &S, document: &Spelled) -> Result<bool, String> {
    let ends = read(subject, vec![subject.start()], document)?;
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
        Spelled::Object(members) if members.len() <= MOST_MEMBERS => {
            let at = text(subject, from, "{")?;
            read_members(subject, at, members, 0)
        }
        other => text(subject, from, &other.to_string()),
    }
}

/// Reads the members that are not yet in the set, in every order, and the closing brace: orders after which a member is
/// still owed are none of the ends.
fn read_members<S: Subject>(
    subject: &S,
    from: Vec<S::State>,
    members: &[(String, Spelled)],
    written: u32,
) -> Result<Vec<S::State>, String> {
    if from.is_empty() {
        return Ok(from);
    }
    if written.count_ones() as usize == members.len() {
        return text(subject, from, "}");
    }
    let comma = if written == 0 { "" } else { "," };
    let mut ends = Vec::new();
    for (index, (name, value)) in members.iter().enumerate() {
        if written >> index & 1 == 1 {
            continue;
        }
        let at = text(subject, from.clone(), &format!("{comma}{name}:"))?;
        let at = read(subject, at, value)?;
        ends.extend(read_members(subject, at, members, written | 1 << index)?);
        if ends.len() >= MOST_ENDS {
            break;
        }
    }
    Ok(ends)
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
