//! Tool calls as model families write them: from a request in OpenAI's shape to a [`StructuralTag`](crate::structural_tag::StructuralTag).
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
//! Arguments are JSON, members between marks, or the values of another notation. One is Python's literals in
//! calls with keyword arguments. Their strings have Python's escapes; those with a pattern, a format or excluded values have
//! the escapes that JSON and Python share. Another is Gemma's, whose strings are written unchanged between marks. Names that
//! cannot be written so are refused.
//!
//! # Errors
//!
//! [`Diagnostics`](crate::Diagnostics) with a JSON pointer into the request and the codes `tools/syntax`, `tools/malformed`,
//! `tools/limit` and `tools/family`. Schemas are looked into when the structure is compiled; what is wrong with them is reported at
//! their places in the request too.
//!
//! # In this folder
//!
//! A request in OpenAI's shape comes in and a structural tag goes out. `family` has the terms in which `table` describes
//! each model family; `structure` and `harmony` arrange its parts. A new family is a new entry in the table and a line in
//! the tests, and changes nothing elsewhere. Imports `diagnostic` and `structural_tag`.

mod family;
mod formats;
mod harmony;
mod llama;
mod request;
mod structure;
mod table;
mod tool_format;

pub use request::{Markers, ParallelCalls, Reasoning, ToolRequest};
pub use tool_format::ToolFormat;
