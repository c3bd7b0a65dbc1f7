//! A tag and the parts around it, as data.

use grammask_grammar_ir::{Grammar, RuleId, TokenRef};

use super::embedded_schema::{EmbeddedSchema, GrammarSkeleton};

/// The text around the tags, as a grammar.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TagTemplate {
    /// The grammar. The body of the rule that stands for the tags means nothing.
    pub grammar: Grammar,
    /// The rule that stands for one of the tags.
    pub gap: RuleId,
    /// The part of a tag that the gap stands for.
    pub extent: TagExtent,
}

/// The part of a tag that its template's gap stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TagExtent {
    /// All of it.
    Whole,
    /// The rest of the tag after the trigger that it begins with.
    AfterTrigger(Box<str>),
    /// The same, where the trigger is also written out before it. In a tag of its own the trigger and the
    /// text after it are one literal. If the name of a special token begins in the trigger and ends after it,
    /// the tag is not plain.
    AfterWrittenTrigger(Box<str>),
}

/// A tag without the parts around it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TagArm {
    /// How it begins.
    pub begin: TagText,
    /// The content after it.
    pub content: TagContent,
    /// How it ends; the empty text where the content says it.
    pub end: TagText,
}

/// A beginning or an end of a tag.
#[derive(Clone, Debug, PartialEq)]
pub enum TagText {
    /// A literal, in which the names of special tokens are those tokens.
    Text(Box<str>),
    /// A token.
    Token(TokenRef),
}

/// The content of a tag.
#[derive(Clone, Debug)]
pub enum TagContent {
    /// A value of a schema. No rule stands for it.
    Schema(Box<EmbeddedSchema>),
    /// A grammar of the content and the end, with the schemas left out.
    Grammar(Box<GrammarSkeleton>),
}
