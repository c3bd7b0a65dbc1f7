//! The entry: from a pattern to a grammar, step by step.

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, Span};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::translate::TranslatorBuilder;

use super::options::{Dialect, Groups, LetterCase, MAX_NESTING, PatternBudget, RegexOptions};
use super::translated::Translated;
use super::{anchors, assertions, ecma, negated_classes, refusal};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The grammar of a pattern, with the rule `root`, and one for each group that is captured.
///
/// A pattern that matches no text (`a^b`) gives a root that matches nothing.
pub fn parse(pattern: &str, options: &RegexOptions) -> Result<Grammar, Diagnostics> {
    parse_next(pattern, options, &mut PatternBudget::new(&options.limits))
}

/// As [`parse`], for one of the patterns of a source.
pub(crate) fn parse_next(
    pattern: &str,
    options: &RegexOptions,
    pattern_budget: &mut PatternBudget,
) -> Result<Grammar, Diagnostics> {
    let mut builder = GrammarBuilder::new();
    let body = compile_next(&mut builder, pattern, options, pattern_budget)?;
    builder
        .add_rule("root", body)
        .and_then(|root| builder.finish(root))
        .map_err(|error| Diagnostics::from_grammar_error(pattern, &error))
}

/// Builds the expression of a pattern in `builder`. Unless groups are captured, it has no rule references: it is an
/// operand that the regular operators take.
pub fn compile_into(
    builder: &mut GrammarBuilder,
    pattern: &str,
    options: &RegexOptions,
) -> Result<ExprId, Diagnostics> {
    compile_next(builder, pattern, options, &mut PatternBudget::new(&options.limits))
}

/// As [`compile_into`], for one of the patterns of a source.
pub(crate) fn compile_next(
    builder: &mut GrammarBuilder,
    pattern: &str,
    options: &RegexOptions,
    pattern_budget: &mut PatternBudget,
) -> Result<ExprId, Diagnostics> {
    let options = &pattern_budget.limit(options);
    let limits = &options.limits;
    if pattern.len() > limits.pattern_bytes {
        return Err(refusal::limit(
            format!("the pattern is {} bytes long, more than {}", pattern.len(), limits.pattern_bytes),
            "shorten it or raise the limit `pattern_bytes`",
        )
        .into());
    }
    let translated = match options.dialect {
        Dialect::Perl => Translated::identity(pattern),
        Dialect::Ecma => {
            ecma::translate(pattern, options.groups, options.letter_case, &mut pattern_budget.complements)?
        }
    };
    let refuse = |diagnostic: refusal::Refusal| diagnostic.into_diagnostic(&translated, pattern);
    let mut ast = ParserBuilder::new()
        .nest_limit(limits.nesting.min(MAX_NESTING))
        .build()
        .parse(&translated.text)
        .map_err(|error| refuse(refusal::Refusal::from_ast(&error)))?;
    let flags = refusal::check_ast(&ast, options).map_err(refuse)?;
    if negated_classes::mend(&translated.text, &mut ast) {
        // These take more work.
        refusal::check_ast(&ast, options).map_err(refuse)?;
    }
    pattern_budget.take(flags.classes, flags.folded);
    let boundary = flags.word_boundary.map(|(start, end)| translated.original(start, end));
    let assertion = translated.look_around.or(boundary);
    if let (Some(place), Groups::Captured) = (assertion, options.groups) {
        let message = "a pattern with look-around or word boundaries captures no groups";
        return Err(Diagnostic::error("regex/look-around", message)
            .with_hint("write the pattern without them, or leave groups plain")
            .with_label(pattern, place, "")
            .into());
    }
    let hir = TranslatorBuilder::new()
        .utf8(true)
        .unicode(true)
        .case_insensitive(options.letter_case == LetterCase::Ignored)
        .build()
        .translate(&translated.text, &ast)
        .map_err(|error| refuse(refusal::Refusal::from_hir(&error)))?;
    // These take complements and intersections, which the other way does without.
    let named = |(code, message, hint): (&'static str, &str, &str), place: Option<Span>| {
        let place = place.unwrap_or_else(|| Span::new(0, pattern.len()));
        Diagnostics::from(Diagnostic::error(code, message).with_hint(hint).with_label(pattern, place, ""))
    };
    let looks_behind = translated.look_behind.is_some();
    let compiled = match assertion {
        Some(_) => assertions::compile(builder, &hir, looks_behind, options),
        None => anchors::compile(builder, &hir, options),
    };
    compiled.map_err(|problem| match problem {
        anchors::Problem::LineAnchor => refuse(flags.multi_line_refusal()),
        anchors::Problem::TooLarge => refusal::limit(
            format!("the pattern needs more than {} expressions", limits.expressions),
            "move anchors (`^`, `$`) to the ends of the pattern, shorten it, or raise the limit `expressions`",
        )
        .into(),
        anchors::Problem::TooDeep => named(refusal::NESTED_ASSERTIONS, assertion),
        anchors::Problem::LookAround => named(refusal::ASSERTION_IN_REPEAT, assertion),
        anchors::Problem::LookBehind => named(refusal::LONG_LOOK_BEHIND, translated.look_behind),
        anchors::Problem::MixedBoundaries => named(refusal::MIXED_BOUNDARIES, boundary),
        anchors::Problem::Unsupported => Diagnostic::error("regex/not-text", "the pattern matches what is not text")
            .with_label(pattern, Span::new(0, pattern.len()), "")
            .with_hint("leave out `(?-u)`")
            .into(),
    })
}
