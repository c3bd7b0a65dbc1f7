//! The macros for tokens, tag dispatch, regular expressions and substrings: from arguments to expressions.

use grammask_grammar_ir::{
    AfterDispatch, DispatchEnd, ExprId, Pattern, PatternPart, Span, TagDispatch, TokenRef,
};

use super::fault::{Fault, Mistake};
use super::lower::ExpressionLowering;
use super::syntax::{Argument, ArgumentValue, Syntax};
use super::token::Macro;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::substring;
use crate::regex::{self, Dialect, LetterCase, RegexOptions};

/// An argument that a macro cannot take.
struct Wrong;

impl ExpressionLowering<'_, '_> {
    /// The expression of a macro; where its arguments are wrong that is reported, and nothing matches.
    pub(super) fn macro_call(&mut self, name: Macro, span: Span, arguments: &[Argument]) -> ExprId {
        let made = match name {
            Macro::Token | Macro::ExcludeToken => self.token(name, arguments),
            Macro::TagText => self.tag_text(arguments),
            // It is an argument of the two above.
            Macro::SpecialToken => Err(Wrong),
            Macro::TokenTagDispatch => self.token_tag_dispatch(arguments),
            Macro::Regex => self.regex(span, arguments),
            Macro::Substring => self.substring(span, arguments),
            _ => self.tag_dispatch(arguments),
        };
        made.unwrap_or_else(|Wrong| {
            self.reports.fault(Fault::new(span, Mistake::MacroArguments));
            self.builder.never()
        })
    }

    fn token(&mut self, name: Macro, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        let plain = arguments.iter().map(|argument| match (&argument.name, &argument.value) {
            (None, ArgumentValue::One(syntax)) => self.token_ref(syntax),
            _ => Err(Wrong),
        });
        let tokens = plain.collect::<Result<Vec<TokenRef>, Wrong>>()?;
        match name {
            Macro::ExcludeToken => Ok(self.builder.exclude_token(tokens)),
            _ if tokens.is_empty() => Err(Wrong),
            _ => Ok(self.builder.token(tokens)),
        }
    }

    fn tag_text(&mut self, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        match arguments {
            [Argument { name: None, value: ArgumentValue::One(Syntax::String(span)) }] => {
                let text = self.string(*span);
                Ok(self.builder.tag_text(&text))
            }
            _ => Err(Wrong),
        }
    }

    fn regex(&mut self, name: Span, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        let mut pattern = None;
        let mut options =
            RegexOptions { dialect: Dialect::Ecma, limits: self.regex, ..RegexOptions::default() };
        let mut flags = String::new();
        let mut in_json = false;
        for Argument { name, value } in arguments {
            match (name.map(|name| self.source_text(name)), value) {
                (None, ArgumentValue::One(Syntax::String(span))) if pattern.is_none() => {
                    pattern = Some(*span)
                }
                (Some("json_string"), value) => in_json = self.truth(value)?,
                (Some("flags"), ArgumentValue::One(Syntax::String(span))) => {
                    for flag in self.string(*span).chars() {
                        match flag {
                            'i' => options.letter_case = LetterCase::Ignored,
                            's' => flags = "(?s)".to_owned(),
                            // Patterns are over characters already.
                            'u' => {}
                            _ => return Err(Wrong),
                        }
                    }
                }
                _ => return Err(Wrong),
            }
        }
        let span = pattern.ok_or(Wrong)?;
        let text = flags + &self.string(span);
        let expr = match regex::compile_next(self.builder, &text, &options, self.pattern_budget) {
            Ok(expr) => expr,
            Err(found) => {
                let source = self.source;
                self.reports.push(|| about_pattern(source, name, span, found));
                self.builder.never()
            }
        };
        Ok(if in_json { self.builder.json_escaped(expr) } else { expr })
    }

    fn substring(&mut self, name: Span, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        if arguments.len() > self.chunks {
            let message = format!("the text has {} chunks, more than {}", arguments.len(), self.chunks);
            let source = self.source;
            self.reports.push(|| {
                Diagnostic::error("ebnf/limit", message)
                    .with_hint("give larger chunks or raise the limit `chunks`")
                    .with_label(source, name, "")
            });
            return Ok(self.builder.never());
        }
        let mut chunks = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Argument { name: None, value: ArgumentValue::One(Syntax::String(span)) } => {
                    chunks.push(self.string(*span));
                }
                _ => return Err(Wrong),
            }
        }
        let made = substring(self.builder, chunks.iter().map(String::as_str));
        // Past what ids can number the builder has failed, and says so when it finishes.
        Ok(made.unwrap_or_else(|_| self.builder.never()))
    }

    fn tag_dispatch(&mut self, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        let mut dispatch = TagDispatch::new();
        for Argument { name, value } in arguments {
            match (name.map(|name| self.source_text(name)), value) {
                (None, ArgumentValue::Tuple(pair)) => {
                    let [tag, body] = &pair[..] else { return Err(Wrong) };
                    let (tag, body) = (self.pattern(tag)?, self.expression(body));
                    dispatch.triggers.push((tag, body));
                }
                (Some("loop_after_dispatch"), value) => {
                    dispatch.after =
                        if self.truth(value)? { AfterDispatch::Loop } else { AfterDispatch::End };
                }
                (Some("stop_eos"), value) => {
                    dispatch.end =
                        if self.truth(value)? { DispatchEnd::Anywhere } else { DispatchEnd::AtStop };
                }
                (Some("at_least_one"), value) => dispatch.least = u32::from(self.truth(value)?),
                (Some("stop_str"), ArgumentValue::Tuple(stops)) => dispatch.stops = self.patterns(stops)?,
                (Some("excludes"), ArgumentValue::Tuple(excludes)) => {
                    dispatch.excludes = self.patterns(excludes)?
                }
                _ => return Err(Wrong),
            }
        }
        Ok(self.builder.tag_dispatch(dispatch))
    }

    fn token_tag_dispatch(&mut self, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        let mut triggers = Vec::new();
        let mut excludes = Vec::new();
        let mut after = AfterDispatch::Loop;
        for Argument { name, value } in arguments {
            match (name.map(|name| self.source_text(name)), value) {
                (None, ArgumentValue::Tuple(pair)) => {
                    let [token, body] = &pair[..] else { return Err(Wrong) };
                    triggers.push((self.token_ref(token)?, self.expression(body)));
                }
                (Some("loop_after_dispatch"), value) => {
                    after = if self.truth(value)? { AfterDispatch::Loop } else { AfterDispatch::End };
                }
                (Some("excludes"), ArgumentValue::Tuple(tokens)) => {
                    excludes = tokens.iter().map(|token| self.token_ref(token)).collect::<Result<_, _>>()?;
                }
                _ => return Err(Wrong),
            }
        }
        if triggers.iter().any(|(token, _)| excludes.contains(token)) {
            return Err(Wrong);
        }
        Ok(self.builder.token_tag_dispatch(&triggers, &excludes, after))
    }

    fn patterns(&self, patterns: &[Syntax]) -> Result<Vec<Pattern>, Wrong> {
        patterns.iter().map(|pattern| self.pattern(pattern)).collect()
    }

    /// Strings and single tokens, one after the other.
    fn pattern(&self, syntax: &Syntax) -> Result<Pattern, Wrong> {
        let parts = match syntax {
            Syntax::Sequence(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        let pattern = parts
            .iter()
            .map(|part| match part {
                Syntax::String(span) => Ok(PatternPart::Text(self.string(*span).into())),
                Syntax::Macro { name: Macro::Token, arguments, .. } => match &arguments[..] {
                    [Argument { name: None, value: ArgumentValue::One(token) }] => {
                        Ok(PatternPart::Token(self.token_ref(token)?))
                    }
                    _ => Err(Wrong),
                },
                _ => Err(Wrong),
            })
            .collect::<Result<Pattern, Wrong>>()?;
        if pattern.is_empty() { Err(Wrong) } else { Ok(pattern) }
    }

    fn token_ref(&self, syntax: &Syntax) -> Result<TokenRef, Wrong> {
        match syntax {
            Syntax::Integer(id) => Ok(TokenRef::Id(*id)),
            Syntax::String(span) => Ok(TokenRef::Name(self.string(*span).into())),
            Syntax::Macro { name: Macro::SpecialToken, arguments, .. } => match &arguments[..] {
                [Argument { name: None, value: ArgumentValue::One(Syntax::String(span)) }] => {
                    Ok(TokenRef::Special(self.string(*span).into()))
                }
                _ => Err(Wrong),
            },
            _ => Err(Wrong),
        }
    }

    fn truth(&self, value: &ArgumentValue) -> Result<bool, Wrong> {
        match value {
            ArgumentValue::One(Syntax::Name(span)) => match self.source_text(*span) {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(Wrong),
            },
            _ => Err(Wrong),
        }
    }
}

/// An error in a pattern, reported at the string that holds it: places inside the pattern are not places in
/// the source, which has its own escapes.
fn about_pattern(source: &str, name: Span, pattern: Span, found: Diagnostics) -> Diagnostic {
    let first = found.into_first();
    Diagnostic::error(first.code(), format!("the regular expression is refused: {}", first.message()))
        .with_hint(first.hint().unwrap_or("correct the pattern"))
        .with_label(source, pattern, "")
        .with_label(source, name, "in this macro")
}
