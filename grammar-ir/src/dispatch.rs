//! Free text in which tags start structures.

use crate::ids::ExprId;
use crate::token::TokenRef;

/// A tag, a stop string or an excluded string: text, tokens, or a mixture.
///
/// Adjacent texts are one part and no text is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    parts: Vec<PatternPart>,
}

/// A part of a [`Pattern`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternPart {
    /// A text, read byte by byte.
    Text(Box<str>),
    /// One token, taken as a whole.
    Token(TokenRef),
}

impl Pattern {
    /// The parts, in order.
    pub fn parts(&self) -> &[PatternPart] {
        &self.parts
    }

    /// Whether there is nothing to match. Grammars refuse such patterns.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl FromIterator<PatternPart> for Pattern {
    fn from_iter<Parts: IntoIterator<Item = PatternPart>>(parts: Parts) -> Self {
        let mut pattern = Self::default();
        for part in parts {
            match (part, pattern.parts.last_mut()) {
                (PatternPart::Text(text), _) if text.is_empty() => {}
                (PatternPart::Text(text), Some(PatternPart::Text(before))) => {
                    *before = [&**before, &*text].concat().into();
                }
                (part, _) => pattern.parts.push(part),
            }
        }
        pattern
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        [PatternPart::Text(text.into())].into_iter().collect()
    }
}

impl From<TokenRef> for Pattern {
    fn from(token: TokenRef) -> Self {
        [PatternPart::Token(token)].into_iter().collect()
    }
}

/// The continuation after a tag's structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AfterDispatch {
    /// Free text again, searched from its beginning: bytes before the tag or in its structure do not count as
    /// the beginning of a tag.
    #[default]
    Loop,
    /// Nothing: one tag, and the dispatch is over.
    End,
}

/// Where free text may end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DispatchEnd {
    /// After every whole character, and with a stop string.
    #[default]
    Anywhere,
    /// With a stop string only.
    AtStop,
    /// Nowhere: only the structure of a tag ends the dispatch ([`AfterDispatch::End`]). Stop strings cannot be
    /// completed.
    AfterDispatch,
}

/// The input of [`GrammarBuilder::tag_dispatch`](crate::GrammarBuilder::tag_dispatch): free text in which
/// tags start structures (`TagDispatch`, section 3.1 of the XGrammar 2 paper).
///
/// * Free text is whole UTF-8 characters. It holds no special tokens, but those of the patterns below.
/// * When the last byte (or token) of a *trigger* has been read, its body must follow. Several triggers that
///   end with the same byte are followed at once. [`AfterDispatch`] says what follows the body.
/// * A *stop string* ends the dispatch when its last byte has been read. It belongs to what the dispatch reads.
/// * An *excluded string* cannot be completed in free text.
/// * The text may end where [`DispatchEnd`] says.
///
/// A pattern that can never be completed, because another one is completed before (or an excluded one with) it,
/// is an error when the grammar is finished.
///
/// ```
/// use grammask_grammar_ir::{GrammarBuilder, TagDispatch};
///
/// // Free text with calls in it: `<call>7</call>`.
/// let mut builder = GrammarBuilder::new();
/// let digits = builder.class([('0', '9')]);
/// let end = builder.literal("</call>");
/// let call = builder.sequence([digits, end]);
/// let body = builder.tag_dispatch(TagDispatch::new().trigger("<call>", call).exclude("<think>"));
/// let root = builder.add_rule("root", body)?;
/// builder.finish(root)?;
/// # Ok::<(), grammask_grammar_ir::GrammarError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagDispatch {
    /// Tags, each with its structure.
    pub triggers: Vec<(Pattern, ExprId)>,
    /// Strings that end the dispatch.
    pub stops: Vec<Pattern>,
    /// Strings that free text cannot hold.
    pub excludes: Vec<Pattern>,
    /// The continuation after a tag's structure.
    pub after: AfterDispatch,
    /// Where free text may end.
    pub end: DispatchEnd,
    /// How many tags there must be at least. Before, free text cannot end and stop strings cannot be completed.
    pub least: u32,
}

impl TagDispatch {
    /// Free text without tags that may end anywhere.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tag.
    #[must_use]
    pub fn trigger(mut self, tag: impl Into<Pattern>, body: ExprId) -> Self {
        self.triggers.push((tag.into(), body));
        self
    }

    /// Adds a stop string.
    #[must_use]
    pub fn stop(mut self, stop: impl Into<Pattern>) -> Self {
        self.stops.push(stop.into());
        self
    }

    /// Adds an excluded string.
    #[must_use]
    pub fn exclude(mut self, exclude: impl Into<Pattern>) -> Self {
        self.excludes.push(exclude.into());
        self
    }

    /// Sets the continuation after a tag's structure.
    #[must_use]
    pub fn after(mut self, after: AfterDispatch) -> Self {
        self.after = after;
        self
    }

    /// Says where free text may end.
    #[must_use]
    pub fn end(mut self, end: DispatchEnd) -> Self {
        self.end = end;
        self
    }

    /// Says how many tags there must be.
    #[must_use]
    pub fn at_least(mut self, least: u32) -> Self {
        self.least = least;
        self
    }
}

/// A tag dispatch of a finished grammar; see [`TagDispatch`]. A least number of tags is expressed by repeats
/// around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch<'g> {
    /// The triggers.
    pub triggers: &'g [Pattern],
    /// The body of each trigger, in the same order.
    pub bodies: &'g [ExprId],
    /// Strings that end the dispatch.
    pub stops: &'g [Pattern],
    /// Strings that free text cannot hold.
    pub excludes: &'g [Pattern],
    /// The continuation after a body.
    pub after: AfterDispatch,
    /// Where free text may end.
    pub end: DispatchEnd,
}

/// All of a [`Dispatch`] but the bodies, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DispatchData {
    pub(crate) triggers: Box<[Pattern]>,
    pub(crate) stops: Box<[Pattern]>,
    pub(crate) excludes: Box<[Pattern]>,
    pub(crate) after: AfterDispatch,
    pub(crate) end: DispatchEnd,
}

impl DispatchData {
    pub(crate) fn view<'g>(&'g self, bodies: &'g [ExprId]) -> Dispatch<'g> {
        let Self { triggers, stops, excludes, after, end } = self;
        Dispatch { triggers, bodies, stops, excludes, after: *after, end: *end }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let patterns = self.triggers.iter().chain(&self.stops).chain(&self.excludes);
        let parts = patterns.map(|pattern| {
            let text = |part: &PatternPart| match part {
                PatternPart::Text(text)
                | PatternPart::Token(TokenRef::Name(text) | TokenRef::Special(text)) => text.len(),
                PatternPart::Token(TokenRef::Id(_)) => 0,
            };
            size_of::<Pattern>()
                + pattern.parts.iter().map(|part| size_of::<PatternPart>() + text(part)).sum::<usize>()
        });
        size_of::<Self>() + parts.sum::<usize>()
    }
}
