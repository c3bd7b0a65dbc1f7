//! Errors and warnings as Python knows them.
//!
//! The classes are written in Python (`grammask/exception.py`), so that they pickle and can be read.

use std::cell::RefCell;
use std::ffi::CString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use grammask::parser_backend::StepError;
use grammask::{
    CompileError, Diagnostic, Diagnostics, GrammarError, Interrupted, MatchError, VocabularyError,
};
use pyo3::exceptions::PyOSError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::beginnings::{inner_beginning, is_of_lexer, pattern_beginning, unknown_token};
use crate::metrics::{COMPILE_REFUSED, COMPILE_STOPPED, LIMITS_REACHED, unless_fault};

/// Whether gaps of xgrammar that its users' code depends on are imitated.
static COMPAT: AtomicBool = AtomicBool::new(false);

/// Turns the imitation of xgrammar's gaps on or off for the whole process. Use `grammask.config.set_compat`.
#[pyfunction]
pub(crate) fn set_compat(on: bool) {
    COMPAT.store(on, Ordering::Relaxed);
}

pub(crate) fn is_compat() -> bool {
    COMPAT.load(Ordering::Relaxed)
}

/// The syntax that a source was written in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Ebnf,
    Gbnf,
    Lark,
    Regex,
    JsonSchema,
    StructuralTag,
    /// A structural tag that is compiled at once.
    CompiledTag,
    /// A grammar that was read before.
    Grammar,
}

impl Syntax {
    fn is_tag(self) -> bool {
        matches!(self, Syntax::StructuralTag | Syntax::CompiledTag)
    }

    fn exception(self) -> &'static str {
        match self {
            Syntax::JsonSchema => "InvalidSchemaError",
            Syntax::StructuralTag | Syntax::CompiledTag => "InvalidStructuralTagError",
            Syntax::Ebnf | Syntax::Gbnf | Syntax::Lark | Syntax::Regex | Syntax::Grammar => {
                "InvalidGrammarError"
            }
        }
    }
}

/// An exception of a class in `grammask.exception`. Making it runs Python code, which may raise another one, such as that of
/// Ctrl-C.
fn exception(
    py: Python<'_>,
    name: &str,
    message: &str,
    details: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyErr> {
    let class = py.import("grammask.exception")?.getattr(name)?;
    // A limit of Rust's `options.text` is an entry of `automata` here.
    class.call((message.replace("`text.max_", "`text_max_"),), details).map(PyErr::from_value)
}

/// An error of a class in `grammask.exception`.
pub(crate) fn raise(py: Python<'_>, name: &str, message: impl AsRef<str>) -> PyErr {
    exception(py, name, message.as_ref(), None).unwrap_or_else(|other| other)
}

thread_local! {
    /// An exception of a callback on this thread that is no error of the structure: Ctrl-C, or the end of the program.
    static PASSED_ON: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Sets the exception that is raised in place of the next compilation's error on this thread.
pub(crate) fn pass_on(raised: Option<PyErr>) {
    PASSED_ON.set(raised);
}

/// The error of a frontend or the compiler, with its places as attributes.
pub(crate) fn refused(py: Python<'_>, error: &CompileError, syntax: Syntax) -> PyErr {
    // The others hold no schemas, and so no retriever.
    if (syntax.is_tag() || matches!(syntax, Syntax::JsonSchema | Syntax::Lark))
        && let Some(raised) = PASSED_ON.take()
    {
        return raised;
    }
    if let Some(reason) = error.interrupted() {
        return interrupted(py, reason);
    }
    let raised = match error.diagnostics() {
        None => unlocated(py, error, syntax),
        Some(diagnostics) => located(py, diagnostics, syntax),
    };
    let raised = match raised {
        Ok(raised) => raised,
        Err(other) => return other,
    };
    COMPILE_REFUSED.count();
    if error.is_limit() {
        LIMITS_REACHED.count();
    }
    log(py, "log_refused", raised)
}

/// Writes a log record about an exception. Returns the one to raise: that exception, or the one that ends the program or
/// the call while the record is written.
fn log(py: Python<'_>, function: &str, raised: PyErr) -> PyErr {
    let written = py
        .import(intern!(py, "grammask._support"))
        .and_then(|support| support.call_method1(function, (raised.value(py),)));
    match written.map(drop).or_else(|error| unless_fault(py, error, None)) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// Work that was stopped from outside.
pub(crate) fn interrupted(py: Python<'_>, reason: Interrupted) -> PyErr {
    match coded(py, "IndeterminateError", &reason.to_string(), reason.code()) {
        Ok(raised) => {
            COMPILE_STOPPED.count();
            log(py, "log_limit", raised)
        }
        Err(other) => other,
    }
}

/// An exception of which only the cause is known.
fn coded(py: Python<'_>, name: &str, message: &str, code: &str) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    details.set_item("code", code)?;
    exception(py, name, message, Some(&details))
}

fn unlocated(py: Python<'_>, error: &CompileError, syntax: Syntax) -> PyResult<PyErr> {
    let message = error.to_string();
    let prefix = match unknown_token(error.code(), &message) {
        _ if !is_compat() => String::new(),
        Some(beginning) => format!("{beginning}: "),
        None if syntax.is_tag() => tag_beginning(syntax, "structural tag"),
        None => String::new(),
    };
    coded(py, syntax.exception(), &format!("{prefix}{message}"), error.code())
}

fn located(py: Python<'_>, diagnostics: &Diagnostics, syntax: Syntax) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    let all = diagnostics.iter().map(|one| attributes(py, one)).collect::<PyResult<Vec<_>>>()?;
    if let Some(first) = all.first() {
        details.update(first.as_mapping())?;
    }
    details.set_item("diagnostics", all)?;
    let unsupported = diagnostics.iter().any(|one| one.code().ends_with("/unsupported"));
    let no_json = diagnostics.iter().any(|one| one.code() == "structural-tag/syntax");
    let name = match (unsupported, no_json) {
        (true, _) => "UnsupportedError",
        (_, true) => "InvalidJSONError",
        _ => syntax.exception(),
    };
    exception(py, name, &message(diagnostics, syntax), Some(&details))
}

fn attributes<'py>(py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let place = diagnostic.line_and_column();
    dict.set_item("code", diagnostic.code())?;
    dict.set_item("line", place.map(|(line, _)| line))?;
    dict.set_item("column", place.map(|(_, column)| column))?;
    dict.set_item("pointer", diagnostic.pointer())?;
    dict.set_item("hint", diagnostic.hint())?;
    Ok(dict)
}

/// Code written for xgrammar looks for its prefixes.
fn message(diagnostics: &Diagnostics, syntax: Syntax) -> String {
    if !is_compat() {
        return diagnostics.to_string();
    }
    let first = diagnostics.iter().next();
    let code = first.map_or("", Diagnostic::code);
    if let Some(beginning) = first.and_then(|first| unknown_token(code, first.message())) {
        return format!("{beginning}: {diagnostics}");
    }
    if (syntax.is_tag() || syntax == Syntax::JsonSchema)
        && let Some(beginning) = first.and_then(inner_beginning)
    {
        return format!("{beginning}: {diagnostics}");
    }
    match (syntax, first.and_then(Diagnostic::line_and_column)) {
        (Syntax::Ebnf, Some((line, column))) => {
            let reader = if is_of_lexer(code) { "lexer" } else { "parser" };
            format!("EBNF {reader} error at line {line}, column {column}: {diagnostics}")
        }
        (Syntax::Lark, Some((line, column))) => {
            format!("Lark error at line {line}, column {column}: {diagnostics}")
        }
        (Syntax::Regex, Some((_, column))) => {
            format!("{}: {diagnostics}", pattern_beginning(first.map_or("", Diagnostic::message), column))
        }
        (Syntax::JsonSchema, _) if code == "json-schema/syntax" => {
            format!("Check failed: (error.empty()) is false: Failed to parse JSON: {diagnostics}")
        }
        _ if syntax.is_tag() && code == "structural-tag/syntax" => {
            format!("{}Failed to parse JSON: {diagnostics}", tag_beginning(syntax, "JSON"))
        }
        _ if syntax.is_tag() => format!("{}{diagnostics}", tag_beginning(syntax, "structural tag")),
        _ => diagnostics.to_string(),
    }
}

/// The beginning of xgrammar's messages about structural tags.
fn tag_beginning(syntax: Syntax, fault: &str) -> String {
    let check = match syntax {
        Syntax::CompiledTag => "Check failed: (std::holds_alternative<Grammar>(result)) is false: ",
        _ => "",
    };
    format!("{check}Invalid {fault} error: ")
}

pub(crate) fn grammar_error(py: Python<'_>, error: &GrammarError) -> PyErr {
    raise(py, "InvalidGrammarError", error.to_string())
}

pub(crate) fn vocabulary_error(py: Python<'_>, error: &VocabularyError) -> PyErr {
    tokenizer_error(py, &error.to_string())
}

/// A tokenizer that is refused. The options that the message tells to set have other names here.
pub(crate) fn tokenizer_error(py: Python<'_>, message: &str) -> PyErr {
    let names = [
        ("`stop_ids`", "`stop_token_ids`"),
        ("`special_ids`", "`special_token_ids`"),
        ("`size`", "`vocab_size`"),
        ("`coding`", "`vocab_type`"),
        ("`from_tokens`", "`TokenizerInfo`"),
        ("`Vocabulary::from_tokens`", "`TokenizerInfo`"),
    ];
    let renamed = names.iter().fold(message.to_owned(), |text, (rust, python)| text.replace(rust, python));
    raise(py, "TokenizerError", renamed)
}

pub(crate) fn match_error(py: Python<'_>, error: &MatchError) -> PyErr {
    let name = if error.is_indeterminate() { "IndeterminateError" } else { "MatcherError" };
    match coded(py, name, &error.to_string(), error.code()) {
        Ok(raised) if error.is_indeterminate() => {
            LIMITS_REACHED.count();
            log(py, "log_limit", raised)
        }
        Ok(raised) => raised,
        Err(other) => other,
    }
}

/// An error of the system, with the file that it is about, unless the name makes the message long.
pub(crate) fn of_file(error: io::Error, path: &Path) -> PyErr {
    let is_short = path.as_os_str().len() <= 500;
    let Some(number) = error.raw_os_error().filter(|_| is_short) else { return error.into() };
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    // `OSError` chooses the class by the number. Windows has numbers of its own.
    if cfg!(windows) {
        PyOSError::new_err((0, text, path.as_os_str().to_owned(), number))
    } else {
        PyOSError::new_err((number, text, path.as_os_str().to_owned()))
    }
}

/// Whether no token is allowed, because none could go on or end the text. xgrammar writes a mask without any
/// token there. By itself grammask refuses, since nothing could be sampled.
pub(crate) fn is_empty_mask(error: &MatchError) -> bool {
    matches!(error, MatchError::Limit(StepError::Unspellable { .. } | StepError::NoStopToken)) && is_compat()
}

/// A warning through Python's `warnings`, at the line that called into the package.
pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    static CATEGORY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let category = CATEGORY.import(py, "grammask.exception", "GrammaskWarning")?;
    let message = CString::new(grammask::ir::shorten(message).replace('\0', "\\0"))?;
    PyErr::warn(py, category, &message, 1)
}
