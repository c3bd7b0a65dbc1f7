//! A tag and what stands around it, as data.

use grammask_grammar_ir::{Grammar, RuleId, TokenRef};

use super::embedded_schema::{EmbeddedSchema, GrammarSkeleton};

/// What stands around the tags, as a grammar.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TagTemplate {
    /// The grammar. The body of the rule that stands for the tags means nothing.
    pub grammar: Grammar,
    /// The rule that stands for one of the tags.
    pub placeholder: RuleId,
    /// What of a tag stands there.
    pub extent: TagExtent,
}

/// What of a tag stands in its frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TagExtent {
    /// All of it.
    Whole,
    /// What follows the trigger, with which it begins.
    AfterTrigger(Box<str>),
    /// The same, where the trigger is also written out before it. In a tag of its own the trigger and what follows are one
    /// literal: if the name of a special token begins in the trigger and ends behind it, then the tag is not plain.
    AfterWrittenTrigger(Box<str>),
}

/// A tag without what stands around it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TagArm {
    /// How it begins.
    pub begin: TagText,
    /// What follows.
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

/// What stands inside of a tag.
#[derive(Clone, Debug)]
pub enum TagContent {
    /// A value of a schema. No rule stands for it.
    Schema(Box<EmbeddedSchema>),
    /// What a grammar says, the end included, with the schemas left out.
    Grammar(Box<GrammarSkeleton>),
}
