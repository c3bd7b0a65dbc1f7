//! Why a grammar could not be built.

use crate::Span;

/// A grammar that cannot be built. `Display` names the rule and says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct GrammarError {
    kind: GrammarErrorKind,
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
    #[error("the grammar holds more than {limit} {what}; split it")]
    TooLarge { what: &'static str, limit: usize },
}

impl GrammarError {
    pub(crate) fn new(kind: GrammarErrorKind, span: Option<Span>) -> Self {
        Self { kind, span }
    }

    /// Where in the source the rule in question stands, if the frontend recorded it.
    pub fn span(&self) -> Option<Span> {
        self.span
    }
}
