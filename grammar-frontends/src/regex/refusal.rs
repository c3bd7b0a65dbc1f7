//! The refused constructs of patterns, in our own words and at their places in the pattern as it was written.

use regex_syntax::ast::{self, AssertionKind, Ast, ClassSetItem, FlagsItemKind};
use regex_syntax::hir;

use super::options::{LetterCase, RegexLimits, RegexOptions};
use super::translated::Translated;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// A refusal whose place is in the text that `regex-syntax` read.
#[derive(Debug)]
pub(super) struct Refusal {
    code: &'static str,
    message: String,
    hint: &'static str,
    start: usize,
    end: usize,
}

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>, hint: &'static str, span: &ast::Span) -> Self {
        Self { code, message: message.into(), hint, start: span.start.offset, end: span.end.offset }
    }

    pub(super) fn into_diagnostic(self, translated: &Translated, pattern: &str) -> Diagnostics {
        let span = translated.original(self.start, self.end);
        let diagnostic = Diagnostic::error(self.code, self.message).with_label(pattern, span, "");
        if self.hint.is_empty() { diagnostic.into() } else { diagnostic.with_hint(self.hint).into() }
    }

    /// A syntax error.
    pub(super) fn from_ast(error: &ast::Error) -> Self {
        let (code, message, hint) = explain_syntax(error.kind());
        Self::new(code, message, hint, error.span())
    }

    /// A pattern that parses and means nothing.
    pub(super) fn from_hir(error: &hir::Error) -> Self {
        use hir::ErrorKind;
        let (code, message, hint) = match error.kind() {
            ErrorKind::UnicodePropertyNotFound => (
                "regex/unicode-property",
                "there is no such Unicode property",
                "write a general category (`\\p{L}`), a script (`\\p{Script=Greek}`) or a binary property",
            ),
            ErrorKind::UnicodePropertyValueNotFound => (
                "regex/unicode-property",
                "this Unicode property, or its value, is not known",
                "write a general category (`\\p{L}`), a script (`\\p{Script=Greek}`) or a binary property",
            ),
            ErrorKind::InvalidUtf8 | ErrorKind::UnicodeNotAllowed => (
                "regex/not-text",
                "without Unicode mode this matches bytes that are not text",
                "leave out the flag `-u`",
            ),
            _ => ("regex/syntax", "this is not supported", "write it in another way"),
        };
        Self::new(code, message, hint, error.span())
    }
}

/// A refusal of the whole pattern for its size.
pub(super) fn limit(message: String, hint: &str) -> Diagnostic {
    Diagnostic::error("regex/limit", message).with_hint(hint)
}

/// Where a pattern says what its surroundings are, or what it matched before.
pub(super) const LOOK_AROUND: (&str, &str, &str) = (
    "regex/look-around",
    "look-around is not supported",
    "say with alternatives and classes what the text may be; `Dialect::Ecma` has it, and a grammar `Intersection` and `Complement`",
);
pub(super) const LONG_LOOK_BEHIND: (&str, &str, &str) = (
    "regex/look-around",
    "look-behind is not supported here: it may look past the parts before it in its group, or it holds assertions",
    "write before it, in its group, parts that read at least as many characters as it looks at",
);
pub(super) const ASSERTION_IN_REPEAT: (&str, &str, &str) = (
    "regex/look-around",
    "look-around and word boundaries are not supported in this repeat without a bound",
    "move it out of the repeat, give the repeat a bound of up to 64, or let the parts beside look-around read as many characters as it looks at",
);
pub(super) const BACK_REFERENCE: (&str, &str, &str) = (
    "regex/back-reference",
    "back-references are not supported",
    "repeat the group's pattern; equality of two parts cannot be enforced",
);
pub(super) const NESTED_ASSERTIONS: (&str, &str, &str) = (
    "regex/limit",
    "look-around and word boundaries, written out, nest too deep",
    "use smaller bounds for the repeats around them, or fewer of them",
);
pub(super) const MIXED_BOUNDARIES: (&str, &str, &str) = (
    "regex/word-boundary",
    "word boundaries with and without Unicode are not supported in one pattern",
    "leave out `(?-u)`, or write it before the whole pattern",
);
pub(super) const FOLDED_BOUNDARY: (&str, &str, &str) = (
    "regex/word-boundary",
    "word boundaries are not supported where case is ignored",
    "leave out the flag `i`, and list both cases (`[Aa]`)",
);

fn explain_syntax(kind: &ast::ErrorKind) -> (&'static str, String, &'static str) {
    use ast::ErrorKind;
    let syntax = |message: &str, hint: &'static str| ("regex/syntax", message.to_owned(), hint);
    let named =
        |(code, message, hint): (&'static str, &'static str, &'static str)| (code, message.into(), hint);
    match kind {
        ErrorKind::UnsupportedLookAround => named(LOOK_AROUND),
        ErrorKind::UnsupportedBackreference => named(BACK_REFERENCE),
        ErrorKind::NestLimitExceeded(limit) => (
            "regex/limit",
            format!("the pattern nests more than {limit} levels deep"),
            "flatten it or raise the limit `nesting`",
        ),
        ErrorKind::GroupUnclosed => syntax("this group is not closed", "add a `)`, or write `\\(`"),
        ErrorKind::GroupUnopened => syntax("this `)` closes nothing", "add a `(` before it, or write `\\)`"),
        ErrorKind::ClassUnclosed => syntax("this character class is not closed", "add a `]`, or write `\\[`"),
        ErrorKind::ClassRangeInvalid => {
            syntax("the first character of this range comes after the last", "swap the two")
        }
        ErrorKind::ClassRangeLiteral | ErrorKind::ClassEscapeInvalid => {
            syntax("a class cannot stand here inside a character class", "write single characters")
        }
        ErrorKind::RepetitionMissing => {
            syntax("there is nothing before this repeat", "put it after what it repeats, or escape it")
        }
        ErrorKind::RepetitionCountInvalid => {
            syntax("the least number of repeats is greater than the greatest", "swap the two")
        }
        ErrorKind::RepetitionCountUnclosed
        | ErrorKind::RepetitionCountDecimalEmpty
        | ErrorKind::DecimalEmpty => syntax(
            "this repeat is not complete",
            "write `{n}`, `{n,}` or `{n,m}`, or `\\{` for the character",
        ),
        ErrorKind::DecimalInvalid => {
            syntax("this number is too large", "write at most 4294967295, or leave the bound out")
        }
        ErrorKind::EscapeHexEmpty | ErrorKind::EscapeHexInvalid | ErrorKind::EscapeHexInvalidDigit => {
            syntax("this escape does not name a character", "write `\\xHH`, `\\uHHHH` or `\\x{H...}`")
        }
        ErrorKind::EscapeUnexpectedEof => {
            syntax("the pattern ends in the middle of an escape", "write `\\\\` for a backslash")
        }
        ErrorKind::EscapeUnrecognized => {
            syntax("there is no such escape", "write the character without the backslash")
        }
        ErrorKind::FlagDanglingNegation
        | ErrorKind::FlagDuplicate { .. }
        | ErrorKind::FlagRepeatedNegation { .. }
        | ErrorKind::FlagUnexpectedEof
        | ErrorKind::FlagUnrecognized => {
            syntax("these flags are not understood", "the flags are i, m, s, U, u, x, R")
        }
        ErrorKind::GroupNameDuplicate { .. } => syntax("this group name is taken", "choose another name"),
        ErrorKind::GroupNameEmpty | ErrorKind::GroupNameInvalid | ErrorKind::GroupNameUnexpectedEof => {
            syntax("this group name is not valid", "write `(?<name>...)` with letters, digits and `_`")
        }
        ErrorKind::UnicodeClassInvalid => {
            syntax("this Unicode class is not complete", "write `\\p{Name}` or `\\p{Name=Value}`")
        }
        ErrorKind::SpecialWordBoundaryUnclosed
        | ErrorKind::SpecialWordBoundaryUnrecognized
        | ErrorKind::SpecialWordOrRepetitionUnexpectedEof => syntax(
            "there is no such word boundary",
            "write `\\b`, `\\B`, `\\b{start}`, `\\b{end}`, `\\b{start-half}` or `\\b{end-half}`",
        ),
        other => ("regex/syntax", other.to_string(), ""),
    }
}

/// The flags that [`check_ast`] saw.
#[derive(Debug, Default)]
pub(super) struct Flags {
    multi_line: Option<(usize, usize)>,
    /// The first word boundary.
    pub(super) word_boundary: Option<(usize, usize)>,
    /// Large Unicode classes.
    pub(super) classes: usize,
    /// Characters in classes that case folding walks over, at most.
    pub(super) folded: usize,
}

impl Flags {
    /// Refuses anchors that hold at line ends, at the flag that makes them so.
    pub(super) fn multi_line_refusal(&self) -> Refusal {
        let (start, end) = self.multi_line.unwrap_or_default();
        Refusal {
            code: "regex/multi-line",
            message: "`^` and `$` at line ends (the flag `m`) are not supported".to_owned(),
            hint: "leave the flag out, or write out what may stand before and after a line end",
            start,
            end,
        }
    }
}

/// Refuses what large classes would cost, and notes word boundaries and the multi-line flag. `regex-syntax` loses the places
/// of these in its next step.
pub(super) fn check_ast(ast: &Ast, options: &RegexOptions) -> Result<Flags, Refusal> {
    let checker =
        Checker { flags: Flags::default(), letter_case: options.letter_case, limits: &options.limits };
    ast::visit(ast, checker)
}

/// More characters than any class holds.
const MAX_CLASS_CHARS: usize = 0x11_0000;
/// More characters than `\w` holds, which is the largest class of its kind.
const MAX_WORD_CHARS: usize = 160_000;

struct Checker<'o> {
    flags: Flags,
    /// Whether case may be ignored from here on.
    letter_case: LetterCase,
    limits: &'o RegexLimits,
}

impl Checker<'_> {
    fn count_class(&mut self, span: &ast::Span) -> Result<(), Refusal> {
        self.flags.classes += 1;
        if self.flags.classes <= self.limits.unicode_classes {
            return Ok(());
        }
        let message = format!("the pattern has more than {} Unicode classes", self.limits.unicode_classes);
        Err(Refusal::new(
            "regex/limit",
            message,
            "use `[0-9A-Za-z_]` or the like, or raise `unicode_classes`",
            span,
        ))
    }

    fn count_folded(&mut self, characters: usize, span: &ast::Span) -> Result<(), Refusal> {
        if self.letter_case == LetterCase::Exact {
            return Ok(());
        }
        self.flags.folded = self.flags.folded.saturating_add(characters);
        if self.flags.folded <= self.limits.folded_characters {
            return Ok(());
        }
        let hint = "list both cases (`[Aa]`), use smaller classes, or raise `folded_characters`";
        Err(Refusal::new("regex/limit", "the pattern ignores case in too many large classes", hint, span))
    }

    /// A property that is folded so often. It is complemented last.
    fn count_folded_property(&mut self, class: &ast::ClassUnicode, times: usize) -> Result<(), Refusal> {
        if self.letter_case == LetterCase::Exact {
            return Ok(());
        }
        let translated = hir::translate::Translator::new().translate("", &Ast::class_unicode(class.clone()));
        let ranges = match translated.as_ref().map(hir::Hir::kind) {
            Ok(hir::HirKind::Class(hir::Class::Unicode(class))) => class.ranges(),
            _ => &[],
        };
        let size = ranges.iter().map(hir::ClassUnicodeRange::len).sum::<usize>();
        let characters = match (class.is_negated(), times) {
            (false, _) => times * size,
            (true, 1) => MAX_CLASS_CHARS.saturating_sub(size),
            (true, _) => MAX_CLASS_CHARS,
        };
        self.count_folded(characters, &class.span)
    }

    fn note_flags(&mut self, flags: &ast::Flags) {
        for item in &flags.items {
            match item.kind {
                FlagsItemKind::Flag(ast::Flag::MultiLine) => {
                    self.flags.multi_line.get_or_insert((item.span.start.offset, item.span.end.offset));
                }
                // Where the flag ends does not matter to a bound.
                FlagsItemKind::Flag(ast::Flag::CaseInsensitive) => self.letter_case = LetterCase::Ignored,
                _ => {}
            }
        }
    }
}

impl ast::Visitor for Checker<'_> {
    type Output = Flags;
    type Err = Refusal;

    fn finish(self) -> Result<Flags, Refusal> {
        Ok(self.flags)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Refusal> {
        match ast {
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::StartLine
                | AssertionKind::EndLine
                | AssertionKind::StartText
                | AssertionKind::EndText => {}
                _ => {
                    let ast::Span { start, end } = assertion.span;
                    self.flags.word_boundary.get_or_insert((start.offset, end.offset));
                }
            },
            Ast::Flags(set) => self.note_flags(&set.flags),
            Ast::Group(group) => {
                if let Some(flags) = group.flags() {
                    self.note_flags(flags);
                }
            }
            Ast::ClassUnicode(class) => {
                self.count_class(&class.span)?;
                self.count_folded_property(class, 1)?;
            }
            Ast::ClassPerl(class) => self.count_class(&class.span)?,
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Refusal> {
        match item {
            ClassSetItem::Unicode(class) => {
                self.count_class(&class.span)?;
                // By itself, and with the class that it stands in.
                self.count_folded_property(class, 2)
            }
            ClassSetItem::Perl(class) => {
                self.count_class(&class.span)?;
                let characters = if class.negated { MAX_CLASS_CHARS } else { 2 * MAX_WORD_CHARS };
                self.count_folded(characters, &class.span)
            }
            ClassSetItem::Range(range) => {
                let characters = (range.end.c as usize).saturating_sub(range.start.c as usize) + 1;
                self.count_folded(characters, &range.span)
            }
            // May be negated, and is folded by itself.
            ClassSetItem::Bracketed(class) => self.count_folded(MAX_CLASS_CHARS, &class.span),
            ClassSetItem::Ascii(class) => self.count_folded(MAX_CLASS_CHARS, &class.span),
            ClassSetItem::Empty(_) | ClassSetItem::Literal(_) | ClassSetItem::Union(_) => Ok(()),
        }
    }

    fn visit_class_set_binary_op_pre(&mut self, operation: &ast::ClassSetBinaryOp) -> Result<(), Refusal> {
        self.count_folded(2 * MAX_CLASS_CHARS, &operation.span)
    }
}
