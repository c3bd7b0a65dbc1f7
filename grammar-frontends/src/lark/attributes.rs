//! What stands in brackets behind a rule's name.

use std::num::NonZeroU32;

use grammask_grammar_ir::{Capture, ExprId, GrammarBuilder, RuleOptions, Span, Temperature};

use super::fault::Fault;
use super::syntax::Attribute;
use super::token::Sort;
use crate::rule_texts::{at_most, shortest};

/// The attributes of a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    /// The shortest match only.
    lazy: bool,
    /// The text behind the body, at whose first occurrence the rule ends: a string or a regular expression.
    end: Option<(Sort, Span)>,
    max_chars: Option<(u32, Span)>,
    max_tokens: Option<(NonZeroU32, Span)>,
    temperature: Option<Temperature>,
    /// The name under which the text is handed out: a string, or that of the rule.
    capture: Option<(Option<Span>, Span)>,
}

impl Attributes {
    pub(super) fn read(source: &str, attributes: &[Attribute]) -> Result<Self, Fault> {
        let text = |span: Span| &source[span.start as usize..span.end as usize];
        let mut read = Self::default();
        for &Attribute { name, value } in attributes {
            match (text(name), value) {
                ("lazy", None) => read.lazy = true,
                ("lazy", Some((Sort::Name, value))) if matches!(text(value), "true" | "false") => {
                    read.lazy = text(value) == "true";
                }
                ("suffix" | "stop", Some((Sort::String, value))) if text(value) == "\"\"" => {
                    return Err(Fault::unsupported(
                        "an end that is the end of the text cannot be told inside a text",
                        "leave the attribute out where the rule is the last one, or name the text that ends it",
                        value,
                    ));
                }
                ("suffix" | "stop", Some(end @ (Sort::String | Sort::Regex, _))) if read.end.is_none() => {
                    read.end = Some(end);
                }
                ("suffix" | "stop", _) => {
                    let message = "a rule has one `suffix` or `stop`, a string or a regular expression";
                    return Err(Fault::new("lark/attribute", message, "write `suffix=\"...\"`", name));
                }
                ("max_chars", Some((Sort::Integer, value))) => {
                    let most = text(value).parse().map_err(|_| {
                        Fault::new(
                            "lark/limit",
                            "this count is too large",
                            "counts go up to 4294967295",
                            value,
                        )
                    })?;
                    read.max_chars = Some((most, name));
                }
                ("lazy" | "max_chars", _) => {
                    let hint = "write `lazy`, or `max_chars=100`";
                    return Err(Fault::new(
                        "lark/attribute",
                        "this attribute has another kind of value",
                        hint,
                        name,
                    ));
                }
                ("max_tokens", Some((Sort::Integer, value))) if text(value).parse::<NonZeroU32>().is_ok() => {
                    read.max_tokens = text(value).parse().ok().map(|most| (most, name));
                }
                ("temperature", Some((Sort::Integer | Sort::Decimal, value))) => {
                    read.temperature = text(value).parse().ok().and_then(Temperature::new);
                }
                ("capture", None) => read.capture = Some((None, name)),
                ("capture", Some((Sort::String, value))) if text(value).ends_with('"') => {
                    read.capture = Some((Some(value), name));
                }
                ("max_tokens" | "temperature" | "capture", _) => {
                    return Err(Fault::new(
                        "lark/attribute",
                        "this attribute has another kind of value",
                        "write `max_tokens=100` (from 1 on), `temperature=0.7`, `capture` or `capture=\"name\"`",
                        name,
                    ));
                }
                ("stop_capture", _) => {
                    return Err(Fault::unsupported(
                        "the attribute `stop_capture` is not supported",
                        "leave it out; `capture` hands out the text before a `suffix` or `stop` that is a string",
                        name,
                    ));
                }
                (other, _) => {
                    return Err(Fault::new(
                        "lark/attribute",
                        format!("there is no attribute `{other}`"),
                        "the attributes are lazy, suffix, stop, max_chars, max_tokens, temperature and capture",
                        name,
                    ));
                }
            }
        }
        if let (Some(_), Some((_, at))) = (read.end, read.max_tokens) {
            return Err(Fault::unsupported(
                "`max_tokens` beside `suffix` or `stop` would not bound the text, which cannot end without them",
                "give the part before the end a rule of its own: `thought: text \"</think>\"` and `text[max_tokens=100]: /[^<]*/`",
                at,
            ));
        }
        match (read.end, read.max_chars, read.capture) {
            (Some(_), Some((_, at)), _) => Err(Fault::unsupported(
                "`max_chars` beside `suffix` or `stop` is not supported",
                "give the part before the end a rule of its own",
                at,
            )),
            (Some((Sort::Regex, _)), _, Some((_, at))) => Err(Fault::unsupported(
                "`capture` beside an end that is a regular expression is not supported",
                "name the text that ends the rule as a string, or give the rule another one around it to capture",
                at,
            )),
            _ => Ok(read),
        }
    }

    /// Whether the body must be regular: without rules, special tokens and structures in it.
    pub(super) fn need_regular_body(&self) -> bool {
        self.lazy || self.end.is_some() || self.max_chars.is_some()
    }

    /// What stands behind the body.
    pub(super) fn end(&self) -> Option<(Sort, Span)> {
        self.end
    }

    /// The rule's texts, made from its body and what stands behind it.
    pub(super) fn apply(&self, builder: &mut GrammarBuilder, body: ExprId, end: Option<ExprId>) -> ExprId {
        let whole = match end {
            Some(end) => builder.sequence([body, end]),
            None => body,
        };
        let texts = match self.lazy || end.is_some() {
            true => shortest(builder, whole),
            false => whole,
        };
        match self.max_chars {
            Some((most, _)) => at_most(builder, texts, most),
            None => texts,
        }
    }

    /// Where the capture's name is written, if it is.
    pub(super) fn capture_name(&self) -> Option<Span> {
        self.capture.and_then(|(name, _)| name)
    }

    /// What the grammar keeps of a rule of that name whose text ends with an end of so many bytes.
    pub(super) fn options(&self, name: &str, end: usize) -> RuleOptions {
        let capture = self.capture.map(|_| Capture {
            name: name.into(),
            // A source is far shorter than 4 GiB.
            hidden_suffix: u32::try_from(end).unwrap_or(u32::MAX),
        });
        RuleOptions {
            max_tokens: self.max_tokens.map(|(most, _)| most),
            capture,
            temperature: self.temperature,
        }
    }
}
