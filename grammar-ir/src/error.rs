//! Why a grammar could not be built.

use crate::interrupt::Interrupted;
use crate::shorten::shorten;
use crate::span::Span;

/// A grammar that cannot be built. `Display` names the rule and says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", shorten(&kind.to_string()))]
pub struct GrammarError {
    kind: Box<GrammarErrorKind>,
    span: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GrammarErrorKind {
    #[error("rule `{name}` is defined twice; give one of the two another name")]
    RuleDefinedTwice { name: String },
    #[error("rule `{name}` is not defined; define it or correct the reference")]
    RuleNotDefined { name: String },
    #[error("rule `{name}`: a repeat of at least {min} and at most {max} times is empty; swap the bounds")]
    RepeatBoundsSwapped { name: String, min: u32, max: u32 },
    #[error(
        "rule `{name}`: {operator} is only defined for regular expressions, but its operand refers to \
         rule `{through}`, which is recursive; write the operand without recursion"
    )]
    RecursiveOperand { name: String, operator: &'static str, through: String },
    #[error(
        "rule `{name}`: {operator} is only defined for text, but its operand holds the literal \"{literal}\", \
         which is not UTF-8; write whole characters"
    )]
    OperandNotText { name: String, operator: &'static str, literal: String },
    #[error(
        "rule `{name}`: {operator} is only defined for text, but its operand holds {what}; move that out of the \
         operand"
    )]
    OperandHoldsTokens { name: String, operator: &'static str, what: &'static str },
    #[error("rule `{name}`: a tag dispatch has an empty {what}; write at least one character or token")]
    EmptyPattern { name: String, what: &'static str },
    #[error(
        "rule `{name}`: the {what} {pattern} can never be completed, since the {by_what} {by} is completed before \
         it; take one of the two away"
    )]
    UnreachablePattern {
        name: String,
        what: &'static str,
        pattern: String,
        by_what: &'static str,
        by: String,
    },
    #[error(
        "rule `{name}`: a tag dispatch never ends; give it a stop string, let its free text end anywhere, or let \
         it end after the first tag"
    )]
    EndlessDispatch { name: String },
    #[error(
        "a tag dispatch that ends after its first tag cannot have at least {least} of them; ask for at most one, \
         or let it go on"
    )]
    DispatchTooFew { least: u32 },
    #[error(
        "rule `{name}`: {operator} is only defined for regular expressions, but its operand holds parts in any \
         order; write the orders out"
    )]
    PermutationOperand { name: String, operator: &'static str },
    #[error(
        "rule `{name}`: {operator} is only defined for regular expressions, but its operand refers to rule `{with_options}`, \
         which has options; take the options away, or write the rule's body in its place"
    )]
    OperandHasOptions { name: String, operator: &'static str, with_options: String },
    #[error(
        "rule `{name}`: a part that stands in any order among others may be empty; make it optional instead"
    )]
    PartMayBeEmpty { name: String },
    #[error("the grammar holds more than {limit} {what}; split it")]
    TooLarge { what: &'static str, limit: usize },
    #[error(transparent)]
    Interrupted(Interrupted),
}

impl GrammarError {
    pub(crate) fn new(kind: GrammarErrorKind, span: Option<Span>) -> Self {
        Self { kind: Box::new(kind), span }
    }

    /// Why the building was stopped from outside, if it was.
    pub fn interrupted(&self) -> Option<Interrupted> {
        match *self.kind {
            GrammarErrorKind::Interrupted(reason) => Some(reason),
            _ => None,
        }
    }

    /// The place of the rule in the source, if the frontend recorded it.
    pub fn span(&self) -> Option<Span> {
        self.span
    }
}
