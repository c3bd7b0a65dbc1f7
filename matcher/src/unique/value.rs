//! Items that are arrays or objects: their meaning, and the values that they may still equal.
//!
//! Two such items are equal if they hold equal values, under equal names in any order. The candidates, the
//! values that have occurred and that an item may still equal, are kept while it is written. All of them are
//! candidates when it opens. After each of its values, those remain that have just this value there. Mostly
//! none is left after the first value that differs, and then the rest of the item needs no look at all.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A value, by its meaning. It nests as deep as `MAX_COMPARED_DEPTH`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// In the form in which scalars are compared.
    Scalar(Box<[u8]>),
    Array(Vec<Arc<Value>>),
    Object(BTreeMap<Box<[u8]>, Arc<Value>>),
}

/// The overhead of a scalar in bytes.
pub(super) const VALUE_OVERHEAD: usize = 48;

impl Value {
    /// Bytes that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        VALUE_OVERHEAD
            + match self {
                Self::Scalar(form) => form.len(),
                Self::Array(items) => items.iter().map(|item| item.bytes()).sum(),
                Self::Object(members) => {
                    members.iter().map(|(name, value)| VALUE_OVERHEAD + name.len() + value.bytes()).sum()
                }
            }
    }

    fn opens_with(&self, bracket: u8) -> bool {
        match self {
            Self::Scalar(_) => false,
            Self::Array(_) => bracket == b'[',
            Self::Object(_) => bracket == b'{',
        }
    }

    /// Appends a text that tells the value from all others.
    fn write(&self, into: &mut Vec<u8>) {
        match self {
            Self::Scalar(form) => write_form(form, into),
            // Forms carry their lengths and containers their brackets, so no two values are written alike.
            Self::Array(items) => {
                into.push(b'[');
                items.iter().for_each(|item| item.write(into));
                into.push(b']');
            }
            Self::Object(members) => {
                into.push(b'{');
                for (name, value) in members {
                    write_form(name, into);
                    value.write(into);
                }
                into.push(b'}');
            }
        }
    }
}

fn write_form(form: &[u8], into: &mut Vec<u8>) {
    into.extend_from_slice(&form.len().to_le_bytes());
    into.extend_from_slice(form);
}

/// Values that have occurred, for each array around in which they have: the ones that a value here may still equal.
pub(super) type EqualCandidates = Vec<Vec<Arc<Value>>>;

/// An open array or object that is an item to be compared, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct PartialContainer {
    /// The value so far.
    value: Value,
    /// The name that waits for its value.
    name: Option<Box<[u8]>>,
    candidates: EqualCandidates,
}

/// How to undo a step of a part.
#[derive(Clone, Debug)]
pub(super) enum PartialUndo {
    /// A name was read.
    NameRead(Option<EqualCandidates>),
    /// A value was read, under a name if it is a member.
    ValueRead(Option<Box<[u8]>>, Option<EqualCandidates>),
}

impl PartialContainer {
    /// An array or object that may become one of some values.
    pub(super) fn new(bracket: u8, candidates: EqualCandidates) -> Self {
        let value = match bracket {
            b'[' => Value::Array(Vec::new()),
            _ => Value::Object(BTreeMap::new()),
        };
        Self { value, name: None, candidates }
    }

    /// Whether nothing that has occurred is equal, whatever follows.
    pub(super) fn is_new(&self) -> bool {
        self.candidates.iter().all(Vec::is_empty)
    }

    /// How many values are equal so far.
    pub(super) fn candidate_count(&self) -> usize {
        self.candidates.iter().map(Vec::len).sum()
    }

    /// The value so far.
    pub(super) fn value(&self) -> Value {
        self.value.clone()
    }

    /// The part of a value at the place that comes next here.
    fn at_place<'v>(&self, value: &'v Value) -> Option<&'v Arc<Value>> {
        match (&self.value, value) {
            (Value::Array(items), Value::Array(others)) => others.get(items.len()),
            (Value::Object(_), Value::Object(others)) => others.get(self.name.as_deref()?),
            _ => None,
        }
    }

    /// Whether a scalar, or a name, with this beginning may be the one at this place in an equal value.
    pub(super) fn is_candidate_prefix(&self, text: &[u8], is_name: bool) -> bool {
        let mut values = self.candidates.iter().flatten();
        match is_name {
            true => values.any(|value| {
                let Value::Object(members) = &**value else { return false };
                // Names are sorted, so the first one that is not less than the text begins with it, or none
                // does.
                let from = (std::ops::Bound::Included(text), std::ops::Bound::Unbounded);
                members.range::<[u8], _>(from).next().is_some_and(|(name, _)| name.starts_with(text))
            }),
            false => values.any(|value| {
                self.at_place(value)
                    .is_some_and(|value| matches!(&**value, Value::Scalar(form) if form.starts_with(text)))
            }),
        }
    }

    /// The candidates for an array or object that opens here.
    pub(super) fn candidates_inside(&self, bracket: u8) -> EqualCandidates {
        let inside = |values: &Vec<Arc<Value>>| {
            with_bracket(values.iter().filter_map(|value| self.at_place(value)), bracket)
        };
        self.candidates.iter().map(inside).collect()
    }

    /// A name was read.
    pub(super) fn push_name(&mut self, name: &[u8]) -> PartialUndo {
        let candidates = self.retain_candidates(|_, value| match value {
            Value::Object(members) => members.contains_key(name),
            _ => false,
        });
        self.name = Some(name.into());
        PartialUndo::NameRead(candidates)
    }

    /// A value was read.
    pub(super) fn push_value(&mut self, value: Arc<Value>) -> PartialUndo {
        let candidates = self.retain_candidates(|partial, other| partial.at_place(other) == Some(&value));
        let name = self.name.take();
        match &mut self.value {
            Value::Array(items) => items.push(value),
            Value::Object(members) => {
                members.extend(name.clone().map(|name| (name, value)));
            }
            Value::Scalar(_) => {}
        }
        PartialUndo::ValueRead(name, candidates)
    }

    /// Keeps the values that are equal still; those before, if there are fewer now.
    fn retain_candidates(&mut self, is_kept: impl Fn(&Self, &Value) -> bool) -> Option<EqualCandidates> {
        let kept = |values: &Vec<Arc<Value>>| -> Vec<Arc<Value>> {
            values.iter().filter(|value| is_kept(self, value)).cloned().collect()
        };
        let next: EqualCandidates = self.candidates.iter().map(kept).collect();
        // Mostly nothing changes, and then the journal need not hold a copy.
        let has_fewer = self.candidates.iter().zip(&next).any(|(before, after)| before.len() != after.len());
        has_fewer.then(|| std::mem::replace(&mut self.candidates, next))
    }

    pub(super) fn undo(&mut self, undo: PartialUndo) {
        let candidates = match undo {
            PartialUndo::NameRead(candidates) => {
                self.name = None;
                candidates
            }
            PartialUndo::ValueRead(name, candidates) => {
                match &mut self.value {
                    Value::Array(items) => drop(items.pop()),
                    Value::Object(members) => {
                        if let Some(name) = &name {
                            members.remove(name);
                        }
                    }
                    Value::Scalar(_) => {}
                }
                self.name = name;
                candidates
            }
        };
        if let Some(candidates) = candidates {
            self.candidates = candidates;
        }
    }

    /// Appends a form of this place: the value so far and the open name.
    pub(super) fn write(&self, into: &mut Vec<u8>) {
        self.value.write(into);
        into.push(b':');
        if let Some(name) = &self.name {
            write_form(name, into);
        }
    }
}

/// Those of the values that open with a bracket.
pub(super) fn with_bracket<'v>(values: impl Iterator<Item = &'v Arc<Value>>, bracket: u8) -> Vec<Arc<Value>> {
    values.filter(|value| value.opens_with(bracket)).cloned().collect()
}
