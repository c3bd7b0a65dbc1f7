//! From what was written to the grammar: names are resolved, literals decoded.

use grammask_grammar_ir::{ExprId, GrammarBuilder, Span};

use super::escape::LiteralReader;
use super::fault::{Fault, Mistake, Reports};
use super::syntax::Syntax;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::regex::{PatternBudget, RegexLimits};

/// Builds expressions, and reports names that no rule has.
pub(super) struct ExpressionLowering<'a, 's> {
    pub(super) builder: &'a mut GrammarBuilder,
    pub(super) source: &'a str,
    /// All rules' names, for suggestions.
    pub(super) names: &'a [&'a str],
    /// Names that no rule has, macros at places where they mean nothing, and faults inside of macros and patterns.
    pub(super) reports: &'a mut Reports<'s>,
    /// Bounds on each pattern.
    pub(super) regex: RegexLimits,
    /// The costly parts that patterns may still have.
    pub(super) pattern_budget: &'a mut PatternBudget,
    /// Most chunks of one `Substring`.
    pub(super) chunks: usize,
}

impl ExpressionLowering<'_, '_> {
    /// The expression of a syntax tree. It recurses as deep as the source nests, which is limited.
    pub(super) fn expression(&mut self, syntax: &Syntax) -> ExprId {
        match syntax {
            Syntax::Empty => self.builder.empty(),
            Syntax::AnyCharacter => self.builder.any_char(),
            &Syntax::String(span) => {
                let text = self.string(span);
                self.builder.literal(&text)
            }
            &Syntax::Bytes(span) => {
                let bytes = self.literal(span, |literal| literal.bytes());
                self.builder.bytes(&bytes)
            }
            &Syntax::Class(span) => {
                let class = self.literal(span, |literal| literal.class());
                match class.negated {
                    true => self.builder.negated_class(class.ranges),
                    false => self.builder.class(class.ranges),
                }
            }
            &Syntax::Name(span) => match self.builder.rule_by_name(&self.source[span.range()]) {
                Some(rule) => self.builder.rule(rule),
                None => {
                    self.undefined_rule(span);
                    self.builder.never()
                }
            },
            Syntax::Sequence(parts) => {
                let parts = self.all(parts);
                self.builder.sequence(parts)
            }
            Syntax::Choice(alternatives) => {
                let alternatives = self.all(alternatives);
                self.builder.choice(alternatives)
            }
            Syntax::Group(inner) => self.expression(inner),
            Syntax::Repeat { body, min, max } => {
                let body = self.expression(body);
                self.builder.repeat(body, *min, *max)
            }
            Syntax::Intersection(operands) => {
                let operands = self.all(operands);
                self.builder.intersection(operands)
            }
            Syntax::Complement(operand) => {
                let operand = self.expression(operand);
                self.builder.complement(operand)
            }
            // A number stands for nothing but an argument, and where it is none it was reported.
            Syntax::Integer(_) => self.builder.never(),
            Syntax::Macro { name, span, arguments } => self.macro_call(*name, *span, arguments),
            Syntax::JsonEscaped(operand, escapes) => {
                let operand = self.expression(operand);
                self.builder.json_escaped_as(operand, *escapes)
            }
            Syntax::Permutation(operands, span) => self.permutation(operands, *span),
            Syntax::Part(_, inner, span) => {
                self.reports.fault(Fault::new(*span, Mistake::MacroArguments));
                self.expression(inner)
            }
        }
    }

    fn permutation(&mut self, operands: &[Syntax], span: Span) -> ExprId {
        let Some((separator, operands)) = operands.split_first() else { return self.builder.never() };
        let separator = self.expression(separator);
        let mut bounds = (0, None);
        let mut parts = Vec::with_capacity(operands.len());
        for operand in operands {
            match operand {
                Syntax::Part(occurrence, inner, _) => parts.push((self.expression(inner), *occurrence)),
                Syntax::Repeat { body, min: min @ 1.., max } if matches!(**body, Syntax::String(span) if self.source_text(span) == "\"\"") =>
                {
                    bounds = (*min, *max);
                }
                _ => _ = self.reports.fault(Fault::new(span, Mistake::MacroArguments)),
            }
        }
        self.builder.permutation(separator, parts, bounds.0, bounds.1)
    }

    /// Reads a literal whose faults were reported before.
    fn literal<T>(&self, span: Span, read: impl FnOnce(LiteralReader<'_>) -> T) -> T {
        let text = self.source_text(span);
        read(LiteralReader::new(text, span.range().start, self.reports.dialect, &mut |_| {}))
    }

    /// The text of a string.
    pub(super) fn string(&self, span: Span) -> String {
        self.literal(span, |literal| literal.string())
    }

    fn all(&mut self, syntax: &[Syntax]) -> Vec<ExprId> {
        syntax.iter().map(|part| self.expression(part)).collect()
    }

    pub(super) fn source_text(&self, span: Span) -> &str {
        &self.source[span.range()]
    }

    fn undefined_rule(&mut self, span: Span) {
        let (source, names) = (self.source, self.names);
        self.reports.push(|| {
            let name = &source[span.range()];
            let hint = did_you_mean(name, names, || {
                format!("define it (`{name} ::= ...`), or put it in double quotes if it is text")
            });
            Diagnostic::error("ebnf/undefined-rule", format!("rule `{name}` is not defined"))
                .with_hint(hint)
                .with_label(source, span, "no rule has this name")
        });
    }
}
