//! How a model family writes reasoning and tool calls.

use crate::structural_tag::format::{MemberOrder, Style};

/// How one model family writes reasoning and tool calls.
#[derive(Debug)]
pub(super) struct Family {
    /// Names under which it is asked for; the first is the one that is shown.
    pub(super) keys: &'static [&'static str],
    /// The models, for people.
    pub(super) models: &'static str,
    pub(super) reasoning: Option<ReasoningMarks>,
    /// How calls begin in free text. Text that begins so is a call, or refused.
    pub(super) triggers: &'static [&'static str],
    pub(super) layout: Layout,
    /// The spellings of one call, each from its first to its last mark.
    pub(super) calls: &'static [&'static [Part]],
    /// Texts of which one may precede a call that is required.
    pub(super) leads: &'static [&'static str],
    /// Marks that free text must not contain, because they belong into calls.
    pub(super) excluded: &'static [&'static str],
    /// Marks of reasoning that the family does not have. Free text must not contain them either, if
    /// [`Markers::Excluded`](super::request::Markers::Excluded) says so of marks.
    pub(super) unwritten: &'static [&'static str],
    /// Pairs of marks around answers that are no calls; the second one is empty if a mark has no partner.
    /// They may occur anywhere in free text.
    pub(super) answer: &'static [(&'static str, &'static str)],
    pub(super) names: ToolNames,
    /// The order in which templates write members, unless the request says otherwise.
    pub(super) order: MemberOrder,
}

/// Names that a family can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolNames {
    Any,
    /// Identifiers of Python with dots between them.
    Dotted,
}

/// The marks around reasoning.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReasoningMarks {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// How the model's text begins: with nothing where the prompt ends with the opening mark.
    pub(super) begins: &'static [&'static str],
    /// Texts of which one follows the closing mark.
    pub(super) after: &'static [&'static str],
    /// Texts of which one may be written instead of reasoning.
    pub(super) skipped: &'static [&'static str],
}

/// A piece of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A literal in which `$NAME` is the tool's name.
    Text(&'static str),
    /// A text that a pattern matches, such as the number of the call.
    Pattern(&'static str),
    /// One of these.
    OneOf(&'static [&'static [Part]]),
    /// The arguments.
    Arguments(Style),
}

/// How a row of calls is written: the spellings of its opening mark, the separator and the closing mark. Where there are
/// several spellings, they begin with the family's trigger.
pub(super) type Row = (&'static [&'static str], &'static str, &'static str);

/// The layout of calls in the answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Each by itself, with free text around them.
    Blocks,
    /// In a row between marks, with free text around the row.
    Section { rows: &'static [Row] },
    /// In a row that is the whole answer. An answer that begins as the pattern says is calls and no text.
    Whole { rows: &'static [Row], opener: &'static str },
    /// A response between marks, a row of calls, or a row of calls after a response and a text that joins them; then the
    /// end of the message.
    Message { response: (&'static str, &'static str), joint: &'static str, row: Row, end: &'static str },
    /// OpenAI's Harmony: messages with channels and recipients.
    Harmony,
}
