//! Errors of this frontend that several stages make.

use grammask_grammar_ir::GrammarError;

use crate::diagnostic::Diagnostic;

/// The schema passes the limit of this name.
pub(crate) fn limit_error(name: &str, limit: usize) -> Diagnostic {
    Diagnostic::error("json-schema/limit", format!("the schema needs more than {limit} `{name}`"))
        .with_hint(format!("make it smaller or raise the limit `{name}`"))
}

/// The grammar itself is refused: by its size.
pub(crate) fn grammar_error(error: GrammarError) -> Box<Diagnostic> {
    Box::new(match error.interrupted() {
        Some(reason) => Diagnostic::interrupted(reason),
        None => {
            Diagnostic::error("json-schema/grammar", error.to_string()).with_hint("make the schema smaller")
        }
    })
}
