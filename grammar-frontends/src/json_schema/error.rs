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
    let report = Diagnostic::of_builder(&error, "json-schema/grammar");
    Box::new(if error.interrupted().is_some() { report } else { report.with_hint("make the schema smaller") })
}
