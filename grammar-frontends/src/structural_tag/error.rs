//! The errors of structural tags.

use crate::diagnostic::{Diagnostic, Diagnostics};

/// The beginning of a name that may be of any length.
pub(super) fn shortened(name: &str) -> String {
    const MAX_CHARS: usize = 60;
    match name.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Moves the errors of an embedded schema to its place in this document.
pub(super) fn in_schema(errors: Diagnostics, prefix: &str) -> Box<Diagnostic> {
    let first = errors.into_first();
    let pointer = format!("{prefix}{}", first.pointer().unwrap_or_default());
    Box::new(first.with_pointer(pointer))
}
