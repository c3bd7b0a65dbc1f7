//! The names of fragments.
//!
//! A name is read for an error or a picture, and every fragment has one. So the names of a program are one
//! after the other in one text that all of them share. That is one piece of memory to ask for and to give
//! back, instead of one for each.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::ids::{Id, Offset};

/// The name of a [`Fragment`](crate::Fragment): a text, cheap to copy.
#[derive(Clone)]
pub struct FragmentName(Text);

#[derive(Clone)]
enum Text {
    Static(&'static str),
    /// Where it begins and ends in a text that others share.
    Part(Arc<str>, u32, NonZeroU32),
}

impl FragmentName {
    /// A name that is known when this is compiled.
    pub const fn fixed(name: &'static str) -> Self {
        Self(Text::Static(name))
    }

    /// The part of a text from a byte to another one. The empty name if there is none.
    pub(crate) fn part(all: &Arc<str>, start: usize, end: usize) -> Self {
        let end = u32::try_from(end).ok().and_then(NonZeroU32::new);
        match (u32::try_from(start), end) {
            (Ok(start), Some(end)) if all.get(bytes(start, end)).is_some() => {
                Self(Text::Part(Arc::clone(all), start, end))
            }
            _ => Self::fixed(""),
        }
    }

    /// The name as a text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Static(name) => name,
            Text::Part(all, start, end) => &all[bytes(*start, *end)],
        }
    }

    /// Bytes of memory that are its own.
    pub(crate) fn memory_usage(&self) -> usize {
        match &self.0 {
            Text::Static(_) => 0,
            Text::Part(_, start, end) => bytes(*start, *end).len(),
        }
    }
}

/// The part of a text that a name is.
#[inline]
fn bytes(start: u32, end: NonZeroU32) -> Range<usize> {
    Offset::from_raw(start).index()..Offset::from_raw(end.get()).index()
}

impl From<String> for FragmentName {
    fn from(name: String) -> Self {
        let end = name.len();
        Self::part(&name.into(), 0, end)
    }
}

impl Deref for FragmentName {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for FragmentName {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for FragmentName {}

impl PartialEq<&str> for FragmentName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for FragmentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl fmt::Display for FragmentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for FragmentName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for FragmentName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
