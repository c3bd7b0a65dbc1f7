//! The answers of a backend without an optional part.

/// Stands for an optional part that a [`Backend`](crate::Backend) does not offer: it implements each of them, with the
/// answers that say nothing.
#[derive(Clone, Copy, Debug)]
pub struct NotOffered;
