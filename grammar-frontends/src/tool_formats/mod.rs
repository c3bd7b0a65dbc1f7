//! Tool calls as model families write them: from a request in OpenAI's shape to a [`StructuralTag`].
//!
//! ```
//! use grammask_grammar_frontends::tool_formats::{ToolFormat, ToolRequest};
//!
//! let request = ToolRequest::parse(
//!     r#"{"tools": [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}],
//!         "tool_choice": "required"}"#,
//! )?;
//! let structure = ToolFormat::named("qwen_3")?.structure(&request)?;
//! assert_eq!(structure.to_value()["format"]["elements"][1]["triggers"][0], "<tool_call>");
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # How
//!
//! A family is an entry in a table: the marks of its reasoning, how calls are arranged, and the pieces of a call. Of
//! an entry and a request a structural tag is made, which can be printed, changed and compiled like any other.
//!
//! | `tool_choice` | the answer |
//! |---|---|
//! | `none`, or no tools | free text without the beginning of a call, or a value of the `response_format` |
//! | `auto` | free text with calls in it; with a `response_format` calls, or a value of it |
//! | `required` | a call, then text and more calls |
//! | a function | exactly one call of it |
//! | `allowed_tools` | as `auto` or `required`, with these tools |
//!
//! Where calls and text exclude each other (Llama 4, OLMo 3, xLAM), an answer is calls alone, or text that does not
//! begin like calls.
//!
//! With `parallel_tool_calls: false` an answer ends with its first call. A function with `strict: false` or without
//! `parameters` takes any value.
//!
//! Arguments are JSON, members between marks, or the values of another notation: Python's literals in calls with
//! keyword arguments, where strings have the escapes that JSON and Python share, or Gemma's, where strings stand between
//! marks as they are. Names that cannot be written so are refused.
//!
//! # Errors
//!
//! [`Diagnostics`] with a JSON pointer into the request and the codes `tools/syntax`, `tools/malformed` and
//! `tools/family`. Schemas are looked into when the structure is compiled; what is wrong with them is reported at
//! their places in the request too.

mod harmony;
mod request;
mod structure;
mod table;

pub use self::request::{Markers, ParallelCalls, Reasoning, ToolRequest};
use self::table::{FAMILIES, Family};
use crate::structural_tag::StructuralTag;
use crate::{Diagnostic, Diagnostics};

/// How one family of models writes tool calls.
#[derive(Clone, Copy, Debug)]
pub struct ToolFormat {
    family: &'static Family,
}

impl ToolFormat {
    /// The format of a family, by its name (`qwen_3`, `harmony`, ...).
    ///
    /// # Errors
    ///
    /// Where no family has the name.
    pub fn named(name: &str) -> Result<Self, Diagnostics> {
        if let Some(family) = FAMILIES.iter().find(|family| family.keys.contains(&name)) {
            return Ok(Self { family });
        }
        let names: Vec<&str> = FAMILIES.iter().flat_map(|family| family.keys.iter().copied()).collect();
        let hint = match crate::ebnf::closest(name, &names) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("use one of {}", names.join(", ")),
        };
        let name: String = name.chars().take(60).collect();
        let message = format!("no model family is named `{name}`");
        Err(Diagnostic::error("tools/family", message).with_hint(hint).into())
    }

    /// The formats of all families.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        FAMILIES.iter().map(|family| Self { family })
    }

    /// The family's name.
    pub fn name(&self) -> &'static str {
        self.family.keys[0]
    }

    /// Other names of the family.
    pub fn aliases(&self) -> &'static [&'static str] {
        &self.family.keys[1..]
    }

    /// The models of the family.
    pub fn models(&self) -> &'static str {
        self.family.models
    }

    /// What the model's text may be: from the end of the prompt to the end of its turn.
    ///
    /// # Errors
    ///
    /// Where the family cannot do what the request asks for.
    pub fn structure(&self, request: &ToolRequest) -> Result<StructuralTag, Diagnostics> {
        structure::structure(self.family, request).map(StructuralTag::of).map_err(|error| (*error).into())
    }
}
