//! The errors of a source, and their places.

use grammask_grammar_ir::{Interrupted, Span};

use crate::diagnostic::Diagnostic;

/// A mistake in a source that is not at hand where it is found. Boxed, since nearly every function may return one.
#[derive(Clone, Debug)]
pub(super) struct Fault(Box<FaultParts>);

#[derive(Clone, Debug)]
struct FaultParts {
    code: &'static str,
    message: String,
    hint: Option<String>,
    span: Option<Span>,
}

impl Fault {
    pub(super) fn new(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
        span: Span,
    ) -> Self {
        Self::placed(code, message, hint, Some(span))
    }

    /// The mistake in a schema that is part of the source.
    pub(super) fn in_schema(error: &Diagnostic, span: Span) -> Self {
        let place = match error.pointer() {
            None | Some("") => String::new(),
            Some(pointer) => format!(" at `{pointer}`"),
        };
        let message = format!("the schema is refused{place}: {}", error.message());
        Self::new(error.code(), message, error.hint().unwrap_or("change the schema"), span)
    }

    /// A mistake whose place is not in the source that was given where there is no span.
    pub(super) fn placed(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
        span: Option<Span>,
    ) -> Self {
        Self(Box::new(FaultParts { code, message: message.into(), hint: Some(hint.into()), span }))
    }

    /// The work was stopped from outside.
    pub(super) fn interrupted(reason: Interrupted) -> Self {
        Self(Box::new(FaultParts {
            code: reason.code(),
            message: reason.to_string(),
            hint: None,
            span: None,
        }))
    }

    /// A construct that exists in the dialect and is not enforced here.
    pub(super) fn unsupported(what: impl Into<String>, hint: impl Into<String>, span: Span) -> Self {
        Self::new("lark/unsupported", what, hint, span)
    }

    pub(super) fn limit(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::placed("lark/limit", message, hint, None)
    }

    /// The grammar is too large to be built.
    pub(super) fn no_room(error: impl ToString) -> Self {
        Self::limit(error.to_string(), "make the grammar smaller")
    }

    /// The same, where the place is known.
    pub(super) fn no_room_at<E: ToString>(span: Span) -> impl FnOnce(E) -> Self {
        move |error| Self::no_room(error).or_at(span)
    }

    /// The same with a place, if it has none.
    pub(super) fn or_at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    pub(super) fn into_diagnostic(self, source: &str) -> Diagnostic {
        let FaultParts { code, message, hint, span } = *self.0;
        let mut diagnostic = Diagnostic::error(code, message);
        if let Some(hint) = hint {
            diagnostic = diagnostic.with_hint(hint);
        }
        match span {
            Some(span) => diagnostic.with_label(source, span, ""),
            None => diagnostic,
        }
    }
}
