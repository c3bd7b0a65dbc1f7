//! Structural tags: free text, reasoning and tool calls in one structure.
//!
//! A structural tag is a JSON document: `{"type": "structural_tag", "format": {...}}`, in the format of xgrammar
//! 0.2.8. Formats are literals, JSON Schemas, patterns, grammars, free text, single tokens, and what combines them:
//! sequences, alternatives, repeats, tags (beginning, content, end) and free text in which triggers start tags.
//!
//! ```
//! use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
//!
//! let tag = StructuralTag::parse(
//!     r#"{"type": "structural_tag", "format": {
//!         "type": "triggered_tags",
//!         "triggers": ["<call>"],
//!         "tags": [{"begin": "<call>", "content": {"type": "json_schema", "json_schema": true}, "end": "</call>"}]
//!     }}"#,
//!     &StructuralTagOptions::default(),
//! )?;
//! let grammar = tag.grammar(&StructuralTagOptions::default())?;
//! assert_eq!(grammar.rule(grammar.root()).name(), "root");
//!
//! let refused = StructuralTag::parse(r#"{"format": {"type": "any_txt"}}"#, &StructuralTagOptions::default());
//! assert_eq!(
//!     refused.unwrap_err().to_string(),
//!     "1:21 (at `/format/type`): error: Format type not recognized: any_txt; did you mean `any_text`?"
//! );
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # Meaning
//!
//! * `const_string` and the beginnings and ends of tags are literals. Where one spells the name of a special token
//!   of the vocabulary, it stands for that token.
//! * `any_text` is whole characters and no special token. It holds none of its `excludes` and, where the end of a tag
//!   may follow it, none of the tag's ends: the first end ends it. No bound changes that. An excluded string or a trigger
//!   that begins in the text and is complete before the end is counts as part of the text. The end may follow text in
//!   repeats, and text before parts that may be left out; patterns and grammars count as parts that may not. Before an
//!   end, texts without bounds that are side by side are one text. Elsewhere an end that begins in one part and is complete
//!   in another one is not found.
//! * Excluded strings are letters, also where they spell a special token. So are ends that a bounded text must not hold,
//!   or one before parts that may be left out.
//! * `triggered_tags`: once a trigger has been read, one of the tags that begin with it must follow. An end that is complete
//!   with a trigger comes first. With `at_least_one` a tag comes first, before any text; with `stop_after_first`
//!   nothing follows the first tag. At the end of a tag its ends end the text around the inner tags. The text of a
//!   `dispatch` may hold them.
//! * `json_schema`: a value of the schema, its keys in the declared order; objects that declare properties are
//!   closed. No string and no name in it holds one of the `excludes` as it is written: where escapes can spell it
//!   otherwise they may.
//! * `regex` matches as a whole.
//! * The formats of tokens (`token`, `exclude_token`, `any_tokens`, `token_triggered_tags`, `token_dispatch`) read
//!   tokens whatever their bytes are.
//!
//! Fields that a format does not have are refused, as is everything else that would change nothing.
//!
//! # Errors and limits
//!
//! [`Diagnostics`](crate::Diagnostics) with a JSON pointer, a code (`structural-tag/syntax`, `/malformed`, `/unsupported`, `/limit`,
//! `/grammar`, or that of an embedded schema, pattern or grammar) and what to write instead.
//! [`StructuralTagLimits`] bounds size and nesting; documents nest at most 127 deep.
//!
//! # In this folder
//!
//! A document comes in and a [`Grammar`](grammask_grammar_ir::Grammar) goes out, or a [`GrammarSkeleton`]
//! with rules that stand for its schemas. `read` makes a `format` of the document, `lower` a grammar of the
//! format. `scan` and its users (`document`, `split_tags`) are short cuts for documents that resemble one
//! another, and may only answer what reading the whole document would. Each can be changed alone. Imports
//! `diagnostic`, `regex`, `ebnf` and `json_schema`.

mod document;
mod embedded_schema;
mod ends;
mod error;
mod fields;
pub(crate) mod format;
mod free_text;
mod lower;
mod options;
mod place;
mod read;
mod scan;
mod schema_value;
mod split_tags;
mod styles;
mod tag;
mod tag_parts;
mod text_search;
mod triggers;
mod write;

pub use embedded_schema::{EmbeddedSchema, GrammarSkeleton};
pub use format::MemberOrder;
pub use options::{StructuralTagLimits, StructuralTagOptions};
pub use schema_value::SchemaValue;
pub use split_tags::SplitTags;
pub use tag::StructuralTag;
pub use tag_parts::{TagArm, TagContent, TagExtent, TagTemplate, TagText};
