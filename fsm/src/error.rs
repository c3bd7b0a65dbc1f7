//! Why a grammar could not be compiled.

use std::fmt;

use grammask_grammar_ir::{Interrupted, shorten};

/// A grammar that could not be compiled. `Display` names the rule and says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct AutomataError {
    rule: Option<Box<str>>,
    kind: Kind,
}

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The grammar matches no text at all: it is wrong.
    EmptyLanguage,
    /// A literal below a regular operator is not text, or a token is met where texts are asked for: the grammar is wrong.
    NotText,
    /// A token goes by its name, and no vocabulary was asked for its id.
    UnresolvedToken,
    /// Parts in any order begin with themselves.
    LeftRecursiveParts,
    /// A rule whose automata were compiled before is below a regular operator.
    PartBelowOperator,
    /// A rule whose items or names do not repeat is not directly after its bracket: the grammar is wrong.
    NotBehindBracket,
    /// A limit was reached. Nothing is known about the grammar; a higher limit may serve it.
    LimitReached,
    /// The work was stopped from outside. Nothing is known about the grammar.
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    EmptyLanguage,
    LeftRecursiveParts,
    NotBehindBracket,
    Failure(Failure),
}

impl AutomataError {
    /// The cause of the error.
    pub fn cause(&self) -> Cause {
        match self.kind {
            Kind::EmptyLanguage => Cause::EmptyLanguage,
            Kind::LeftRecursiveParts => Cause::LeftRecursiveParts,
            Kind::NotBehindBracket => Cause::NotBehindBracket,
            Kind::Failure(Failure::NotText { .. } | Failure::HoldsToken) => Cause::NotText,
            Kind::Failure(Failure::UnresolvedToken { .. }) => Cause::UnresolvedToken,
            Kind::Failure(Failure::PartBelowOperator) => Cause::PartBelowOperator,
            Kind::Failure(Failure::Limit { .. } | Failure::EstimateWrong) => Cause::LimitReached,
            Kind::Failure(Failure::Interrupted(_) | Failure::LeftBehind) => Cause::Interrupted,
        }
    }

    /// Why the work was stopped from outside, if it was.
    pub fn interrupted(&self) -> Option<Interrupted> {
        match self.kind {
            Kind::Failure(Failure::Interrupted(reason)) => Some(reason),
            _ => None,
        }
    }

    /// The rule in question, where one is known.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// The same error without the rule's name, for readers who know no rules.
    #[must_use]
    pub fn without_rule(self) -> Self {
        Self { rule: None, ..self }
    }

    pub(crate) fn left_recursive_parts(rule: &str) -> Self {
        Self { rule: Some(rule.into()), kind: Kind::LeftRecursiveParts }
    }

    pub(crate) fn not_behind_bracket(rule: &str) -> Self {
        Self { rule: Some(rule.into()), kind: Kind::NotBehindBracket }
    }

    pub(crate) fn empty_language(rule: &str) -> Self {
        Self { rule: Some(rule.into()), kind: Kind::EmptyLanguage }
    }
}

impl fmt::Display for AutomataError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut message = String::new();
        self.explain(&mut message)?;
        formatter.write_str(&shorten(&message))
    }
}

impl AutomataError {
    fn explain(&self, message: &mut impl fmt::Write) -> fmt::Result {
        if let Some(rule) = &self.rule {
            write!(message, "rule `{rule}`: ")?;
        }
        match &self.kind {
            Kind::EmptyLanguage => message.write_str(
                "no text matches it, so the language is empty; give it an alternative that can be finished",
            ),
            Kind::LeftRecursiveParts => message.write_str(
                "parts in any order can begin with themselves; put something before the reference back",
            ),
            Kind::NotBehindBracket => message.write_str(
                "a rule with the option `distinct` is mentioned directly behind its bracket and nowhere else, as in \
                 `\"[\" items`; write the bracket before it",
            ),
            Kind::Failure(Failure::NotText { literal }) => write!(
                message,
                "the literal {literal} below an intersection, a complement or JSON escaping is not valid UTF-8; \
                 write whole characters there"
            ),
            Kind::Failure(Failure::HoldsToken) => {
                message.write_str("the expression holds a token, which is no text; leave it out")
            }
            Kind::Failure(Failure::UnresolvedToken { name }) => write!(
                message,
                "the token \"{name}\" goes by its name; resolve names with a vocabulary before compiling"
            ),
            Kind::Failure(Failure::PartBelowOperator) => message.write_str(
                "its automata were compiled before, so it cannot stand below an intersection, a complement or JSON \
                 escaping; compile it along with the rest",
            ),
            Kind::Failure(Failure::Limit { what, limit, knob }) => {
                let part = if self.rule.is_some() { "the rule" } else { "it" };
                write!(message, "limit reached, more than {limit} {what}; simplify {part}")?;
                knob.map_or(Ok(()), |knob| write!(message, " or raise `{knob}`"))
            }
            Kind::Failure(Failure::Interrupted(reason)) => write!(message, "{reason}"),
            Kind::Failure(Failure::LeftBehind) => message.write_str(
                "it was being compiled when this process was forked; clear the caches and compile the structure anew",
            ),
            Kind::Failure(Failure::EstimateWrong) => message.write_str(
                "its automata are not those that were foreseen; switch `deferred_programs` off",
            ),
        }
    }
}

/// Errors below the places that know the rule's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    NotText { literal: String },
    HoldsToken,
    UnresolvedToken { name: String },
    PartBelowOperator,
    Limit { what: &'static str, limit: usize, knob: Option<&'static str> },
    Interrupted(Interrupted),
    EstimateWrong,
    LeftBehind,
}

impl From<Interrupted> for Failure {
    fn from(reason: Interrupted) -> Self {
        Self::Interrupted(reason)
    }
}

impl Failure {
    /// A literal that is not UTF-8, shortened where it is long.
    pub(crate) fn not_text(literal: &[u8]) -> Self {
        let shown = &literal[..literal.len().min(24)];
        Self::NotText { literal: format!("\"{}\"", shown.escape_ascii()) }
    }

    /// A token whose id is not known.
    pub(crate) fn unresolved(name: &str) -> Self {
        Self::UnresolvedToken { name: name.escape_debug().to_string() }
    }

    pub(crate) fn in_rule(self, rule: &str) -> AutomataError {
        AutomataError { rule: Some(rule.into()), kind: Kind::Failure(self) }
    }

    pub(crate) fn alone(self) -> AutomataError {
        AutomataError { rule: None, kind: Kind::Failure(self) }
    }
}
