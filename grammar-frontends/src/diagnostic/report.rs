//! The answer of a frontend that refuses its input: findings with a place, a cause and a hint.

use std::fmt;

use grammask_grammar_ir::{Grammar, GrammarError, Interrupted, Span, shorten};

use super::pointer;
use super::source::line_and_column;
use crate::json::JsonValue;

/// The result of a stage that stops at the first fault.
pub(crate) type Result<T, E = Box<Diagnostic>> = std::result::Result<T, E>;

/// How grave a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is taken, and its author should know something about it.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Whether [`Diagnostics::render`] writes ANSI colour codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// Plain text, for logs and files.
    #[default]
    Never,
    /// Coloured text, for terminals.
    Always,
}

/// A place in the source and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    span: Span,
    line: u32,
    column: u32,
    message: String,
}

impl Label {
    fn new(source: &str, span: Span, message: String) -> Self {
        let (line, column) = line_and_column(source, span.start as usize);
        Self { span, line, column, message: shorten(&message).into_owned() }
    }

    /// The bytes in question.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The line on which the span starts; the first line is 1. Lines end at `\n`.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The character of the line at which the span starts; the first is 1.
    pub fn column(&self) -> u32 {
        self.column
    }

    /// The message at the place, in a few words; may be empty.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// One finding of a frontend: what is wrong, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    severity: Severity,
    code: &'static str,
    message: String,
    /// The first label is where the trouble is; further ones point to what it clashes with.
    labels: Vec<Label>,
    pointer: Option<String>,
    /// The text at the pointer.
    found: Option<Box<str>>,
    hint: Option<String>,
}

/// Most bytes of a text that a [`Diagnostic`] hands out as found.
const MAX_FOUND: usize = 1024;

impl Diagnostic {
    /// A refusal. `code` names its cause, as `ebnf/undefined-rule` does, and never changes.
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: shorten(&message.into()).into_owned(),
            labels: Vec::new(),
            pointer: None,
            found: None,
            hint: None,
        }
    }

    /// The work was stopped from outside; nothing is known of the input.
    pub(crate) fn interrupted(reason: Interrupted) -> Self {
        Self::error(reason.code(), reason.to_string())
    }

    /// An error of the grammar builder, with this code where it is about the grammar.
    pub(crate) fn of_builder(error: &GrammarError, code: &'static str) -> Self {
        error.interrupted().map_or_else(|| Self::error(code, error.to_string()), Self::interrupted)
    }

    /// Something that the author should know, although the input is taken.
    #[allow(dead_code, reason = "frontends that only refuse do not need it")]
    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Adds a label. The first one is the place of the diagnostic.
    pub(crate) fn with_label(mut self, source: &str, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label::new(source, span, message.into()));
        self
    }

    /// Places the diagnostic at a JSON pointer (RFC 6901; the empty pointer is the whole document).
    pub(crate) fn with_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Says what to write instead.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(shorten(&hint.into()).into_owned());
        self
    }

    /// Looks up the JSON pointer in the document that the diagnostic is about, so that line and column are
    /// known too. Does nothing where there is a label already, no pointer, or nothing at the pointer.
    pub(crate) fn with_json_source(self, source: &str) -> Self {
        match self.located(source) {
            Some(span) if self.labels.is_empty() => self.with_found(source).with_label(source, span, ""),
            _ => self,
        }
    }

    /// Looks up the value at the JSON pointer in a document that is a part of the one that the diagnostic is about.
    #[allow(dead_code, reason = "frontends without schemas do not need it")]
    pub(crate) fn with_found(mut self, part: &str) -> Self {
        let found = self.located(part).and_then(|span| part.get(span.range()));
        self.found = found.filter(|found| found.len() <= MAX_FOUND).map(Into::into);
        self
    }

    fn located(&self, source: &str) -> Option<Span> {
        self.pointer.as_deref().and_then(|pointer| pointer::locate(source, pointer))
    }

    /// Moves a diagnostic about an embedded text (a pattern, say) to the place of that text in a JSON
    /// document. `what` names the text; the column inside it goes into the message.
    pub(crate) fn embedded_at(mut self, pointer: &str, what: &str) -> Self {
        let place = self.labels.first().map_or(String::new(), |label| match label.line {
            1 => format!(", column {}", label.column),
            line => format!(", line {line}, column {}", label.column),
        });
        self.message = shorten(&format!("{what}{place}: {}", self.message)).into_owned();
        self.labels.clear();
        self.pointer = Some(pointer.to_owned());
        self
    }

    /// How grave it is.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The cause as a fixed name, for programs: `ebnf/undefined-rule`, `regex/look-around`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The error, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Its place in the source, if that is known.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(Label::span)
    }

    /// Line and column (both from 1, in characters), if they are known.
    pub fn line_and_column(&self) -> Option<(u32, u32)> {
        self.labels.first().map(|label| (label.line, label.column))
    }

    /// The places in the source: first where the trouble is, then what it clashes with.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The place in a JSON document, as a JSON pointer.
    pub fn pointer(&self) -> Option<&str> {
        self.pointer.as_deref()
    }

    /// The value at the pointer, as the JSON document has it, if it has 1,024 bytes at most.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// The text to write instead.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The diagnostic as a JSON object with the keys `severity`, `code`, `message` and, where they are known,
    /// `line`, `column`, `start`, `end` (byte offsets), `pointer`, `hint` and `related`.
    pub fn to_json(&self) -> JsonValue {
        let mut object = JsonValue::object([
            ("severity", self.severity.name().into()),
            ("code", self.code.into()),
            ("message", (*self.message).into()),
        ]);
        if let Some((primary, related)) = self.labels.split_first() {
            put_label(&mut object, primary);
            if !related.is_empty() {
                object.insert("related", related.iter().map(label_json).collect::<JsonValue>());
            }
        }
        if let Some(pointer) = &self.pointer {
            object.insert("pointer", &**pointer);
        }
        if let Some(hint) = &self.hint {
            object.insert("hint", &**hint);
        }
        object
    }
}

fn label_json(label: &Label) -> JsonValue {
    let mut object = JsonValue::object([]);
    put_label(&mut object, label);
    object
}

fn put_label(object: &mut JsonValue, label: &Label) {
    object.insert("line", label.line);
    object.insert("column", label.column);
    object.insert("start", label.span.start);
    object.insert("end", label.span.end);
    if !label.message.is_empty() {
        object.insert("label", &*label.message);
    }
}

impl fmt::Display for Diagnostic {
    /// One line: place, severity, message, hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.pointer.as_deref().map(shorten);
        match (&pointer, self.line_and_column()) {
            (Some(pointer), Some((line, column))) if pointer.is_empty() => write!(f, "{line}:{column}: ")?,
            (Some(pointer), None) if pointer.is_empty() => write!(f, "at the root: ")?,
            (Some(pointer), Some((line, column))) => write!(f, "{line}:{column} (at `{pointer}`): ")?,
            (Some(pointer), None) => write!(f, "at `{pointer}`: ")?,
            (None, Some((line, column))) => write!(f, "{line}:{column}: ")?,
            (None, None) => {}
        }
        write!(f, "{}: {}", self.severity.name(), self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Why a frontend refused its input: one or more located [`Diagnostic`]s.
///
/// `Display` gives one plain line for each; [`render`](Self::render) shows the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    first: Box<Diagnostic>,
    others: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Why the work was stopped from outside, if that is all there is to report.
    pub fn interrupted(&self) -> Option<Interrupted> {
        let reasons = [Interrupted::Cancelled, Interrupted::Deadline];
        self.iter().find_map(|report| reasons.into_iter().find(|reason| reason.code() == report.code()))
    }

    /// All findings, or `None` if there are none.
    pub(crate) fn from_vec(diagnostics: Vec<Diagnostic>) -> Option<Self> {
        let mut diagnostics = diagnostics.into_iter();
        let first = Box::new(diagnostics.next()?);
        Some(Self { first, others: diagnostics.collect() })
    }

    /// An error of the grammar builder, at the rule that it names.
    pub(crate) fn from_grammar_error(source: &str, error: &GrammarError) -> Self {
        let diagnostic = Diagnostic::of_builder(error, "grammar");
        match error.span() {
            Some(span) => diagnostic.with_label(source, span, "").into(),
            None => diagnostic.into(),
        }
    }

    /// An error of a later stage in a grammar that was read from `source`. It is reported at the place of its
    /// rule, or if that is not known at the source as a whole.
    pub fn from_later_stage(
        source: &str,
        grammar: &Grammar,
        rule: Option<&str>,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        let rule = rule.and_then(|name| grammar.rule_ids().find(|&id| grammar.rule(id).name() == name));
        let span = rule.and_then(|id| grammar.rule(id).span()).unwrap_or(Span::new(0, source.len()));
        Diagnostic::error(code, message).with_label(source, span, "").into()
    }

    /// The findings, in the order in which they were made; at least one.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        std::iter::once(&*self.first).chain(&self.others)
    }

    /// The first finding.
    pub(crate) fn into_first(self) -> Box<Diagnostic> {
        self.first
    }

    /// The findings by value.
    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        let mut all = vec![*self.first];
        all.extend(self.others);
        all
    }

    /// The findings as a JSON array; see [`Diagnostic::to_json`].
    pub fn to_json(&self) -> JsonValue {
        self.iter().map(Diagnostic::to_json).collect()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { first: Box::new(diagnostic), others: Vec::new() }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        self.others.iter().try_for_each(|diagnostic| write!(f, "\n{diagnostic}"))
    }
}

impl std::error::Error for Diagnostics {}
