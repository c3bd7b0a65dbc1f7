//! Regular expressions, parsed by `regex-syntax`.
//!
//! A pattern is read in one of two [dialects](Dialect) and stands for the texts that it matches
//! [as a whole](Matching::Whole) or [somewhere](Matching::Search). Groups, names and greediness do not matter
//! to that and are dropped. Counted repeats stay counted: `a{1000000000}` is one node of the grammar.
//!
//! Everything in it is exact, anchors in odd places included (`(^a|b)c`, `a$|$`; see `anchors.rs` for the
//! method), and look-ahead in the ECMA dialect where no repeat is around it or the repeat reads single characters
//! up to the end (`^(?!a)b`, `^((?!a).)*$`; see `look_ahead.rs`). What a regular language over characters cannot
//! say, or what only makes sense line by line, is refused by name and place: look-behind, other look-ahead,
//! back-references, word boundaries and multi-line anchors.
//!
//! ```
//! use grammask_grammar_frontends::regex::{RegexOptions, parse};
//!
//! let grammar = parse(r"[a-z]+(-[0-9]{2,4})?", &RegexOptions::default())?;
//! assert_eq!(grammar.rule(grammar.root()).name(), "root");
//!
//! let refused = parse(r"(?=a)b", &RegexOptions::default()).unwrap_err();
//! assert!(refused.to_string().starts_with("1:1: error: look-around"));
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```

mod anchors;
mod ecma;
mod look_ahead;
mod refusal;

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, Span};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::translate::TranslatorBuilder;

use crate::{Diagnostic, Diagnostics};

/// How a pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The syntax of the `regex` crate: Perl's, with Unicode classes, inline flags and class set operations.
    #[default]
    Perl,
    /// ECMA-262 in Unicode mode, as JSON Schema's `pattern` is meant, together with those spellings of
    /// Annex B that cannot be mistaken: `[\w-.]`, a literal `{`, `}` or `]`, escaped punctuation. Group names
    /// in Python's manner (`(?P<name>...)`) and inline flags `i` and `s` are taken too.
    Ecma,
}

/// Which texts belong to the language of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matching {
    /// Texts that the pattern matches from their first to their last character.
    #[default]
    Whole,
    /// Texts in which the pattern matches somewhere, as `RegExp.prototype.test` and JSON Schema have it.
    Search,
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LetterCase {
    /// They do.
    #[default]
    Exact,
    /// They do not (Unicode simple case folding); the same as an `(?i)` before the pattern.
    Ignored,
}

/// How to read a pattern, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegexOptions {
    /// The syntax; by default that of the `regex` crate.
    pub dialect: Dialect,
    /// Whole texts (the default) or any part of them.
    pub matching: Matching,
    /// Whether case counts; it does by default.
    pub letter_case: LetterCase,
    /// Bounds on what is taken.
    pub limits: RegexLimits,
}

impl RegexOptions {
    /// The options for JSON Schema's `pattern`: ECMA-262, matching anywhere.
    pub fn json_schema() -> Self {
        Self { dialect: Dialect::Ecma, matching: Matching::Search, ..Self::default() }
    }
}

/// Bounds on a pattern and on what is made of it. Past them the pattern is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegexLimits {
    /// Longest pattern in bytes; 64 KiB by default.
    pub pattern_bytes: usize,
    /// Deepest nesting of groups, repeats and classes; 250 by default.
    pub nesting: u32,
    /// Most places that stand for a large Unicode class (`\w`, `\p{L}`, a case-insensitive class); 2,000 by
    /// default. Each is up to some 800 ranges.
    pub unicode_classes: usize,
    /// Most characters that case folding may have to look up, where case is ignored; 40 million by default,
    /// some 300 ms. Each class counts with about its size, one that may hold most of Unicode with 1.1 million.
    pub folded_characters: usize,
    /// Most expressions in the grammar that results, counted as a tree; 500,000 by default. Only anchors in
    /// the middle of a pattern make it grow faster than the pattern.
    pub expressions: usize,
}

impl Default for RegexLimits {
    fn default() -> Self {
        Self {
            pattern_bytes: 64 << 10,
            nesting: 250,
            unicode_classes: 2_000,
            folded_characters: 40_000_000,
            expressions: 500_000,
        }
    }
}

/// The grammar of a pattern, with the one rule `root`.
///
/// A pattern that matches no text (`a^b`) gives a root that matches nothing.
pub fn parse(pattern: &str, options: &RegexOptions) -> Result<Grammar, Diagnostics> {
    let mut builder = GrammarBuilder::new();
    let body = compile_into(&mut builder, pattern, options)?;
    builder
        .add_rule("root", body)
        .and_then(|root| builder.finish(root))
        .map_err(|error| Diagnostics::from_grammar_error(pattern, &error))
}

/// Builds the expression of a pattern in `builder`. It has no rule references: it is an operand that the
/// regular operators take.
pub fn compile_into(
    builder: &mut GrammarBuilder,
    pattern: &str,
    options: &RegexOptions,
) -> Result<ExprId, Diagnostics> {
    let limits = &options.limits;
    if pattern.len() > limits.pattern_bytes {
        return Err(refusal::limit(
            format!("the pattern is {} bytes long, more than {}", pattern.len(), limits.pattern_bytes),
            "shorten it or raise the limit `pattern_bytes`",
        )
        .into());
    }
    let translated = match options.dialect {
        Dialect::Perl => ecma::Translated::identity(pattern),
        Dialect::Ecma => ecma::translate(pattern)?,
    };
    let refuse = |diagnostic: refusal::Refusal| diagnostic.into_diagnostic(&translated, pattern);
    let ast = ParserBuilder::new()
        .nest_limit(limits.nesting)
        .build()
        .parse(&translated.text)
        .map_err(|error| refuse(refusal::Refusal::from_ast(&error)))?;
    let flags = refusal::check_ast(&ast, options).map_err(refuse)?;
    let hir = TranslatorBuilder::new()
        .utf8(true)
        .unicode(true)
        .case_insensitive(options.letter_case == LetterCase::Ignored)
        .build()
        .translate(&translated.text, &ast)
        .map_err(|error| refuse(refusal::Refusal::from_hir(&error)))?;
    let compile = if translated.look_ahead.is_some() { look_ahead::compile } else { anchors::compile };
    compile(builder, &hir, options).map_err(|problem| match problem {
        anchors::Problem::LineAnchor => refuse(flags.multi_line_refusal()),
        anchors::Problem::TooLarge => refusal::limit(
            format!("the pattern needs more than {} expressions", limits.expressions),
            "move anchors (`^`, `$`) to the ends of the pattern, shorten it, or raise the limit `expressions`",
        )
        .into(),
        anchors::Problem::LookAround => {
            let (code, message, hint) = refusal::LOOK_AHEAD_IN_REPEAT;
            let place = translated.look_ahead.unwrap_or_else(|| Span::new(0, pattern.len()));
            Diagnostic::error(code, message).with_hint(hint).with_label(pattern, place, "").into()
        }
        anchors::Problem::Unsupported => Diagnostic::error("regex/not-text", "the pattern matches what is not text")
            .with_label(pattern, Span::new(0, pattern.len()), "")
            .with_hint("leave out `(?-u)`")
            .into(),
    })
}
