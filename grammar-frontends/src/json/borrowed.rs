//! JSON values that borrow from their text.
//!
//! A schema is read once, walked and dropped. A general tree owns each name and each text and hashes the names of
//! every object, which together takes as long as to lower the schema. Here texts without escapes are borrowed, the
//! members of an object lie side by side, and only large objects have their names sorted. Everything else stands in an
//! arena, in the order in which it was read. So to drop a tree is to drop a few blocks of memory. That had taken two
//! thirds of the time of reading it.

use bumpalo::Bump;

use super::value::JsonValue;

/// A value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'t str),
    String(&'t str),
    Array(&'t [Value<'t>]),
    Object(&'t Members<'t>),
}

impl<'t> Value<'t> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Value<'t>]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Members<'t>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    pub(crate) fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it holds other values.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Array(_))
    }
}

/// The members of an object, in the order of the text, each name once.
#[derive(Debug)]
pub(crate) struct Members<'t> {
    entries: &'t [Member<'t>],
    /// The places of the members in the order of their names, where there are many.
    sorted: &'t [u32],
    /// The [`mark`]s of all names: most names that are looked for are not there.
    marks: u64,
    fingerprint: u32,
}

/// One of 64 bits, by the length of a name and its ends.
fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let ends = bytes.first().zip(bytes.last()).map_or(0, |(&first, &last)| first ^ last << 1);
    1 << ((name.len() ^ usize::from(ends)) & 63)
}

pub(crate) type Member<'t> = (&'t str, Value<'t>);

/// A number that is kept with each object, made of its members.
pub(crate) type Fingerprint = fn(&[Member<'_>]) -> u32;

/// Members up to which a name is looked for one by one.
const MIN_SORTED: usize = 16;

impl<'t> Members<'t> {
    /// `None` where a name repeats.
    pub(super) fn new(
        entries: &'t [Member<'t>],
        arena: &'t Bump,
        fingerprint: Fingerprint,
    ) -> Option<&'t Self> {
        let mut sorted: &[u32] = &[];
        if entries.len() < MIN_SORTED {
            for (at, (name, _)) in entries.iter().enumerate() {
                if entries[..at].iter().any(|(other, _)| other == name) {
                    return None;
                }
            }
        } else {
            // Texts are bounded to far fewer than 2^32 bytes.
            let places = arena.alloc_slice_fill_with(entries.len(), |place| place as u32);
            let name = |place: &u32| entries[*place as usize].0;
            places.sort_unstable_by(|one, other| name(one).cmp(name(other)));
            if places.windows(2).any(|pair| name(&pair[0]) == name(&pair[1])) {
                return None;
            }
            sorted = places;
        }
        let marks = entries.iter().fold(0, |marks, (name, _)| marks | mark(name));
        let fingerprint = fingerprint(entries);
        Some(arena.alloc(Self { entries, sorted, marks, fingerprint }))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value<'t>> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        if self.entries.len() < MIN_SORTED {
            return self.entries.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        }
        let at = |place: &u32| &self.entries[*place as usize];
        let place = self.sorted.binary_search_by(|place| at(place).0.cmp(name)).ok()?;
        Some(&at(&self.sorted[place]).1)
    }

    /// The [`Fingerprint`] of the members.
    pub(crate) fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| *name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value<'t>> {
        self.entries.iter().map(|(_, value)| value)
    }
}

impl<'m, 't> IntoIterator for &'m Members<'t> {
    type Item = (&'m str, &'m Value<'t>);
    type IntoIter = std::iter::Map<std::slice::Iter<'m, Member<'t>>, fn(&'m Member<'t>) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(name, value)| (name, value))
    }
}

/// A value as another tree holds it.
pub(crate) fn borrowed<'t>(value: &'t JsonValue, arena: &'t Bump, fingerprint: Fingerprint) -> Value<'t> {
    copy(value, arena, fingerprint, |text| text)
}

/// A value that borrows from the arena alone.
pub(crate) fn owned<'t>(value: &JsonValue, arena: &'t Bump, fingerprint: Fingerprint) -> Value<'t> {
    copy(value, arena, fingerprint, |text| arena.alloc_str(text))
}

/// An array or object whose items are being copied, and where those stand on the stack that are done.
enum OpenContainer<'v> {
    Array(std::slice::Iter<'v, JsonValue>, usize),
    Object(indexmap::map::Iter<'v, String, JsonValue>, usize),
}

/// Copies a tree, however deep.
fn copy<'v, 't>(
    root: &'v JsonValue,
    arena: &'t Bump,
    fingerprint: Fingerprint,
    text: impl Fn(&'v str) -> &'t str,
) -> Value<'t> {
    let mut open: Vec<OpenContainer<'v>> = Vec::new();
    // Items have no names.
    let mut done: Vec<Member<'t>> = Vec::new();
    let mut next = Some(("", root));
    loop {
        while let Some((name, value)) = next.take() {
            let name = text(name);
            let leaf = match value {
                JsonValue::Null => Value::Null,
                JsonValue::Bool(value) => Value::Bool(*value),
                JsonValue::Number(number) => Value::Number(text(number)),
                JsonValue::String(value) => Value::String(text(value)),
                JsonValue::Array(items) => {
                    done.push((name, Value::Null));
                    open.push(OpenContainer::Array(items.iter(), done.len()));
                    break;
                }
                JsonValue::Object(members) => {
                    done.push((name, Value::Null));
                    open.push(OpenContainer::Object(members.entries(), done.len()));
                    break;
                }
            };
            done.push((name, leaf));
        }
        let Some(last) = open.last_mut() else { break };
        next = match last {
            OpenContainer::Array(items, _) => items.next().map(|item| ("", item)),
            OpenContainer::Object(members, _) => members.next().map(|(name, value)| (name.as_str(), value)),
        };
        if next.is_some() {
            continue;
        }
        let value = match open.pop() {
            Some(OpenContainer::Array(_, start)) => {
                Value::Array(arena.alloc_slice_fill_iter(done.drain(start..).map(|(_, item)| item)))
            }
            Some(OpenContainer::Object(_, start)) => {
                let entries = arena.alloc_slice_fill_iter(done.drain(start..));
                // The names of a map do not repeat.
                Members::new(entries, arena, fingerprint).map_or(Value::Null, Value::Object)
            }
            None => break,
        };
        if let Some(place) = done.last_mut() {
            place.1 = value;
        }
    }
    done.pop().map_or(Value::Null, |(_, value)| value)
}
