//! What stands in brackets behind a rule's name.

use grammask_grammar_ir::{ExprId, GrammarBuilder, Span};

use super::fault::Fault;
use super::syntax::Attribute;
use super::token::Sort;

/// The attributes that change which texts a rule has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    /// The shortest match only.
    lazy: bool,
    /// The text behind the body, at whose first occurrence the rule ends: a string or a regular expression.
    end: Option<(Sort, Span)>,
    max_chars: Option<(u32, Span)>,
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
                ("max_tokens" | "temperature" | "capture" | "stop_capture", _) => {
                    return Err(Fault::unsupported(
                        format!("the attribute `{}` is not supported", text(name)),
                        "leave it out; `max_chars` bounds the length of a rule",
                        name,
                    ));
                }
                (other, _) => {
                    return Err(Fault::new(
                        "lark/attribute",
                        format!("there is no attribute `{other}`"),
                        "the attributes are lazy, suffix, stop and max_chars",
                        name,
                    ));
                }
            }
        }
        match (read.end, read.max_chars) {
            (Some(_), Some((_, at))) => Err(Fault::unsupported(
                "`max_chars` beside `suffix` or `stop` is not supported",
                "give the part before the end a rule of its own",
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
            Some((most, _)) => {
                let any = builder.any_char();
                let short = builder.repeat(any, 0, Some(most));
                builder.intersection([texts, short])
            }
            None => texts,
        }
    }
}

/// The texts of a language that go on no other text of it: those, less every text of it that more was added to.
fn shortest(builder: &mut GrammarBuilder, language: ExprId) -> ExprId {
    let any = builder.any_char();
    let more = builder.repeat(any, 1, None);
    let longer = builder.sequence([language, more]);
    let others = builder.complement(longer);
    builder.intersection([language, others])
}
