//! The macros for tokens and tag dispatch: from arguments to expressions.

use chumsky::span::SimpleSpan;
use grammask_grammar_ir::{AfterDispatch, DispatchEnd, ExprId, Pattern, PatternPart, TagDispatch, TokenRef};

use super::fault::{Fault, Mistake};
use super::lower::Lowering;
use super::syntax::{Argument, Syntax, Value};
use super::token::Macro;

/// An argument that a macro cannot take.
struct Wrong;

impl Lowering<'_> {
    /// The expression of a macro; where its arguments are wrong that is reported, and nothing matches.
    pub(super) fn macro_call(&mut self, name: Macro, span: SimpleSpan, arguments: &[Argument]) -> ExprId {
        let made = match name {
            Macro::Token | Macro::ExcludeToken => self.token(name, arguments),
            Macro::TagText => self.tag_text(arguments),
            Macro::TokenTagDispatch => self.token_tag_dispatch(arguments),
            _ => self.tag_dispatch(arguments),
        };
        made.unwrap_or_else(|Wrong| {
            self.faults.push(Fault::new(span, Mistake::MacroArguments));
            self.builder.never()
        })
    }

    fn token(&mut self, name: Macro, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        let plain = arguments.iter().map(|argument| match (&argument.name, &argument.value) {
            (None, Value::One(syntax)) => self.token_ref(syntax),
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
            [Argument { name: None, value: Value::One(Syntax::String(span)) }] => {
                let text = self.string(*span);
                Ok(self.builder.tag_text(&text))
            }
            _ => Err(Wrong),
        }
    }

    fn tag_dispatch(&mut self, arguments: &[Argument]) -> Result<ExprId, Wrong> {
        let mut dispatch = TagDispatch::new();
        for Argument { name, value } in arguments {
            match (name.map(|name| self.written(name)), value) {
                (None, Value::Tuple(pair)) => {
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
                (Some("stop_str"), Value::Tuple(stops)) => dispatch.stops = self.patterns(stops)?,
                (Some("excludes"), Value::Tuple(excludes)) => dispatch.excludes = self.patterns(excludes)?,
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
            match (name.map(|name| self.written(name)), value) {
                (None, Value::Tuple(pair)) => {
                    let [token, body] = &pair[..] else { return Err(Wrong) };
                    triggers.push((self.token_ref(token)?, self.expression(body)));
                }
                (Some("loop_after_dispatch"), value) => {
                    after = if self.truth(value)? { AfterDispatch::Loop } else { AfterDispatch::End };
                }
                (Some("excludes"), Value::Tuple(tokens)) => {
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
                    [Argument { name: None, value: Value::One(token) }] => {
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
            _ => Err(Wrong),
        }
    }

    fn truth(&self, value: &Value) -> Result<bool, Wrong> {
        match value {
            Value::One(Syntax::Name(span)) => match self.written(*span) {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(Wrong),
            },
            _ => Err(Wrong),
        }
    }
}
