//! The attributes in brackets after a rule's name.

use std::num::NonZeroU32;

use grammask_grammar_ir::{CaptureOption, EndCapture, RuleOptions, Span, Temperature};

use super::fault::Fault;
use super::syntax::Attribute;
use super::token::Sort;

/// The attributes of a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    /// The shortest match only.
    pub(super) lazy: bool,
    /// The text after the body, at whose first occurrence the rule ends: a string or a regular expression.
    pub(super) end: Option<(Sort, Span)>,
    /// Most characters of the body.
    pub(super) max_chars: Option<u32>,
    /// Most tokens, and where that is said.
    pub(super) max_tokens: Option<(NonZeroU32, Span)>,
    temperature: Option<Temperature>,
    /// The name under which the text before the end is handed out.
    pub(super) capture: Option<CapturedName>,
    /// That of the end.
    pub(super) end_capture: Option<CapturedName>,
}

/// The name of a capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapturedName {
    /// The string with the name; the rule's own name where there is none.
    pub(super) written: Option<Span>,
    /// The attribute.
    pub(super) attribute: Span,
}

impl Attributes {
    pub(super) fn read(source: &str, attributes: &[Attribute]) -> Result<Self, Fault> {
        let mut read = Self::default();
        let mut met: Vec<&str> = Vec::new();
        for &attribute in attributes {
            let name = text(source, attribute.name);
            // They are one attribute under two names.
            let name = if name == "stop" { "suffix" } else { name };
            if met.contains(&name) {
                return Err(twice(name, attribute.name));
            }
            met.push(name);
            match name {
                "suffix" => read.end = Some(end(source, attribute)?),
                "lazy" | "max_chars" => read.set_text(source, attribute)?,
                "max_tokens" | "temperature" => read.set_sampling(source, attribute)?,
                "capture" | "stop_capture" => read.set_capture(source, attribute)?,
                other => {
                    return Err(Fault::new(
                        "lark/attribute",
                        format!("there is no attribute `{other}`"),
                        "the attributes are lazy, suffix, stop, stop_capture, max_chars, max_tokens, temperature and capture",
                        attribute.name,
                    ));
                }
            }
        }
        match (read.end_capture, read.end) {
            (Some(CapturedName { attribute, .. }), None) => Err(Fault::new(
                "lark/attribute",
                "`stop_capture` hands out what `suffix` or `stop` has read, and this rule has neither",
                "write `suffix=\"...\"` beside it, or `capture` to hand out the rule's text",
                attribute,
            )),
            _ => Ok(read),
        }
    }

    fn set_text(&mut self, source: &str, attribute: Attribute) -> Result<(), Fault> {
        match (text(source, attribute.name), attribute.value) {
            ("lazy", None) => self.lazy = true,
            ("lazy", Some((Sort::Name, value))) if matches!(text(source, value), "true" | "false") => {
                self.lazy = text(source, value) == "true";
            }
            ("max_chars", Some((Sort::Integer, value))) => {
                let most = text(source, value).parse().map_err(|_| {
                    Fault::new("lark/limit", "this count is too large", "counts go up to 4294967295", value)
                })?;
                self.max_chars = Some(most);
            }
            _ => return Err(another_kind("write `lazy`, or `max_chars=100`", attribute.name)),
        }
        Ok(())
    }

    fn set_sampling(&mut self, source: &str, attribute: Attribute) -> Result<(), Fault> {
        let wrong =
            || another_kind("write `max_tokens=100` (from 1 on) and `temperature=0.7`", attribute.name);
        match (text(source, attribute.name), attribute.value) {
            ("max_tokens", Some((Sort::Integer, value))) => {
                let most = text(source, value).parse().map_err(|_| wrong())?;
                self.max_tokens = Some((most, attribute.name));
            }
            ("temperature", Some((Sort::Integer | Sort::Decimal, value))) => {
                let temperature = text(source, value).parse().ok().and_then(Temperature::new);
                self.temperature = Some(temperature.ok_or_else(wrong)?);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn set_capture(&mut self, source: &str, attribute: Attribute) -> Result<(), Fault> {
        let name = |written| Some(CapturedName { written, attribute: attribute.name });
        match (text(source, attribute.name), attribute.value) {
            ("capture", None) => self.capture = name(None),
            ("capture", Some((Sort::String, value))) if text(source, value).ends_with('"') => {
                self.capture = name(Some(value));
            }
            ("stop_capture", Some((Sort::String, value))) if text(source, value).ends_with('"') => {
                self.end_capture = name(Some(value));
            }
            ("stop_capture", _) => {
                return Err(another_kind("write `stop_capture=\"name\"`", attribute.name));
            }
            _ => return Err(another_kind("write `capture` or `capture=\"name\"`", attribute.name)),
        }
        Ok(())
    }

    /// Whether the body must be regular: without rules, special tokens and structures in it.
    pub(super) fn need_regular_body(&self) -> bool {
        self.lazy || self.end.is_some() || self.max_chars.is_some()
    }

    /// Whether the rule takes the text as soon as it can.
    pub(super) fn commits(&self) -> bool {
        self.lazy || self.end.is_some()
    }

    /// Whether the rule takes the text as soon as it can, without an attribute that names the end.
    pub(super) fn is_lazy_without_end(&self) -> bool {
        self.lazy && self.end.is_none()
    }

    /// The options of a rule whose text and end have these names, if the end has `end` bytes.
    pub(super) fn options(&self, name: Option<&str>, end_name: Option<&str>, end: u32) -> RuleOptions {
        RuleOptions {
            max_tokens: self.max_tokens.map(|(most, _)| most),
            capture: name.map(|name| CaptureOption { name: name.into(), hidden_suffix: end }),
            end_capture: end_name.map(|name| EndCapture { name: name.into(), bytes: end }),
            temperature: self.temperature,
            distinct: None,
        }
    }
}

/// A `suffix` or `stop`.
fn end(source: &str, attribute: Attribute) -> Result<(Sort, Span), Fault> {
    match attribute.value {
        Some((Sort::String, value)) if text(source, value).starts_with("\"\"") => Err(Fault::unsupported(
            "an end that is the end of the text cannot be told inside a text",
            "leave the attribute out where the rule is the last one, or name the text that ends it",
            value,
        )),
        Some(end @ (Sort::String | Sort::Regex, _)) => Ok(end),
        _ => {
            let message =
                "what ends a rule is a string, a regular expression, or a terminal that is one of these";
            Err(Fault::new("lark/attribute", message, "write `suffix=\"...\"`", attribute.name))
        }
    }
}

fn another_kind(hint: &'static str, at: Span) -> Fault {
    Fault::new("lark/attribute", "this attribute has another kind of value", hint, at)
}

fn twice(name: &str, at: Span) -> Fault {
    match name {
        "suffix" => Fault::new(
            "lark/attribute",
            "a rule has one `suffix` or `stop`",
            "leave one out; several texts that end it are one regular expression: `stop=/a|b/`",
            at,
        ),
        _ => {
            let message = format!("the attribute `{name}` stands there twice");
            Fault::new("lark/attribute", message, "leave one out", at)
        }
    }
}

fn text(source: &str, span: Span) -> &str {
    &source[span.start as usize..span.end as usize]
}
