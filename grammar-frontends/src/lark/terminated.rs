//! Rules whose body goes on up to a `suffix` or `stop`.

use grammask_grammar_ir::{ExprId, RuleOptions, Span};

use super::attributes::Attributes;
use super::fault::Fault;
use super::lower::{Languages, Scope, Shared};
use super::syntax::RuleSyntax;
use super::terminator::{EndBudget, Terminator};
use super::token::Sort;
use crate::language::{at_most, shortest};

/// How a rule's texts are put together.
#[derive(Clone, Copy)]
enum Concatenation {
    /// Each text before the end, and each end after it; where one is captured, its beginning is certain.
    Parts,
    /// The shortest of those, as one language.
    Shortest,
}

/// A rule's texts.
struct TerminatedTexts {
    /// The text before the end.
    text: ExprId,
    whole: ExprId,
    /// Of all of it, without what is counted.
    languages: Languages,
    shape: Concatenation,
}

impl Scope<'_, '_> {
    /// The languages of a rule whose body goes on up to an end, its texts with what is told of their parts, and the attributes
    /// that the grammar keeps.
    pub(super) fn terminated(
        &mut self,
        rule: &RuleSyntax,
        attributes: &Attributes,
        body: ExprId,
        end: (Sort, Span),
    ) -> Result<(Languages, ExprId, RuleOptions), Fault> {
        let captured = attributes.capture.or(attributes.end_capture);
        let has_bound = attributes.max_tokens.is_some() || attributes.max_chars.is_some();
        let terminator = match has_bound || captured.is_some() {
            true => self.terminator(end)?,
            false => None,
        };
        let parts = match &terminator {
            Some(terminator) if has_bound && (captured.is_none() || terminator.is_suffix_free()) => {
                self.parts(rule, attributes, body, terminator)?
            }
            _ => None,
        };
        let terminated = match (parts, attributes.max_tokens) {
            (Some(parts), _) => parts,
            (None, None) => self.shortest(attributes, body, end)?,
            (None, Some((_, at))) => {
                // A pattern that is broken is told of first.
                self.expression_of(end)?;
                let message = match terminator {
                    Some(_) => "`max_tokens` would have to bound a text that depends on which end follows",
                    None => "`max_tokens` needs an end that has few forms, all of them short",
                };
                let hint = "name one text that ends the rule: `suffix=\"...\"`";
                return Err(Fault::unsupported(message, hint, at));
            }
        };
        let Some(named) = captured else {
            let TerminatedTexts { languages, whole, .. } = terminated;
            return Ok((languages, whole, self.rule_options(rule, attributes, 0)?));
        };
        let builder = &mut self.shared.builder;
        let lengths = terminator.and_then(|it| it.by_length(builder)).ok_or_else(|| {
            let name = self.text(named.attribute);
            Fault::unsupported(
                format!("`{name}` needs an end whose possible lengths are few, and those of this one are not"),
                "give the end a bound (`/ {0,9};/` in place of `/ *;/`), or give the rule another one around it to capture",
                named.attribute,
            )
        })?;
        let (texts, options) = self.cut(rule, attributes, &terminated, &lengths)?;
        Ok((terminated.languages, texts, options))
    }

    /// The end of a rule, written out if it has few forms.
    fn terminator(&mut self, (sort, span): (Sort, Span)) -> Result<Option<Terminator>, Fault> {
        if sort != Sort::Regex {
            let (text, case) = self.decoded(span)?;
            return Ok(Some(Terminator::of_text(&text, case)));
        }
        self.shared.ends.0 += 1;
        let limit = self.shared.options.limits.ends;
        if self.shared.ends.0 > limit {
            let message = format!("more than {limit} rules say which part of their text is their end");
            let hint = "end them with strings, or raise the limit `ends`";
            return Err(Fault::new("lark/limit", message, hint, span));
        }
        let (pattern, case) = self.flagged(span)?;
        let options = self.regex_options(case);
        let Shared { pattern_budget: patterns, ends: (_, steps), .. } = &mut *self.shared;
        // Errors in the pattern are reported where it is read as an expression.
        let found = Terminator::of_pattern(&pattern, &options, &mut EndBudget { patterns, steps });
        if self.shared.ends.1 == 0 {
            let message = "it takes too much work to say which part of their text is the end of rules";
            return Err(Fault::new("lark/limit", message, "end them with strings", span));
        }
        Ok(found)
    }

    /// The texts before an end with their bounds, and the end after them, if they do not depend on the end.
    ///
    /// A bound on characters put here takes a fraction of the work and of the states that it takes inside of the shortest
    /// texts. Where tokens are counted, the text is a rule of its own.
    fn parts(
        &mut self,
        rule: &RuleSyntax,
        attributes: &Attributes,
        body: ExprId,
        terminator: &Terminator,
    ) -> Result<Option<TerminatedTexts>, Fault> {
        let builder = &mut self.shared.builder;
        let Some(mut text) = terminator.before(builder, body) else { return Ok(None) };
        let end = terminator.any(builder);
        if let Some(most) = attributes.max_chars {
            text = at_most(builder, text, most);
        }
        let texts = builder.sequence([text, end]);
        let before = attributes.max_chars.map_or(body, |most| at_most(builder, body, most));
        let loose = builder.sequence([before, end]);
        if let Some((most, _)) = attributes.max_tokens {
            let counted = self.fresh(self.text(rule.name), text)?;
            let options = RuleOptions { max_tokens: Some(most), ..RuleOptions::default() };
            self.shared.builder.set_options(counted, options);
            text = self.shared.builder.rule(counted);
        }
        let whole = self.shared.builder.sequence([text, end]);
        Ok(Some(TerminatedTexts {
            text,
            whole,
            languages: Languages { texts, loose },
            shape: Concatenation::Parts,
        }))
    }

    fn shortest(
        &mut self,
        attributes: &Attributes,
        body: ExprId,
        end: (Sort, Span),
    ) -> Result<TerminatedTexts, Fault> {
        let end = self.expression_of(end)?;
        let builder = &mut self.shared.builder;
        let text = attributes.max_chars.map_or(body, |most| at_most(builder, body, most));
        let terminated = builder.sequence([text, end]);
        let whole = shortest(builder, terminated);
        let languages = Languages { texts: whole, loose: terminated };
        Ok(TerminatedTexts { text, whole, languages, shape: Concatenation::Shortest })
    }

    fn expression_of(&mut self, (sort, span): (Sort, Span)) -> Result<ExprId, Fault> {
        if sort == Sort::Regex { self.regex(span) } else { self.string(span) }
    }

    /// The same texts, with what is told of their parts: for each length of the end a rule of its own, if there are several.
    fn cut(
        &mut self,
        rule: &RuleSyntax,
        attributes: &Attributes,
        &TerminatedTexts { text, whole, shape, .. }: &TerminatedTexts,
        lengths: &[(u32, ExprId)],
    ) -> Result<(ExprId, RuleOptions), Fault> {
        if let &[(length, _)] = lengths {
            return Ok((whole, self.rule_options(rule, attributes, length)?));
        }
        let (mut longer, mut alternatives) = (Vec::new(), Vec::new());
        for &(length, end) in lengths {
            let builder = &mut self.shared.builder;
            let terminated = builder.sequence([text, end]);
            let texts = match shape {
                Concatenation::Parts => terminated,
                Concatenation::Shortest => {
                    let mut operands = vec![whole, terminated];
                    operands.extend(longer.iter().copied());
                    longer.push(builder.complement(terminated));
                    builder.intersection(operands)
                }
            };
            let alternative = self.fresh(self.text(rule.name), texts)?;
            let options = self.rule_options(rule, attributes, length)?;
            self.shared.builder.set_options(alternative, options);
            alternatives.push(self.shared.builder.rule(alternative));
        }
        Ok((self.shared.builder.choice(alternatives), RuleOptions::default()))
    }
}
