//! Errors, by the party that can mend them.

use grammask_fsm::Cause;
#[cfg(feature = "json-schema")]
use grammask_fsm::CompileOptions;
#[cfg(feature = "json-schema")]
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions};
use grammask_grammar_frontends::{Diagnostic, Diagnostics};
use grammask_grammar_ir::passes::ResolveTokensError;
use grammask_grammar_ir::{Grammar, Interrupted};
use grammask_mask_cache::TokenId;
use grammask_parser_backend::{BuildError, StepError};

/// A structure that cannot be compiled. `Display` says why and what to change.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct CompileError {
    kind: CompileErrorKind,
}

#[derive(Clone, Debug, thiserror::Error)]
enum CompileErrorKind {
    #[error(transparent)]
    Source(#[from] Diagnostics),
    #[error(transparent)]
    Automata(#[from] grammask_fsm::AutomataError),
    #[error(transparent)]
    Tokens(#[from] ResolveTokensError),
    #[error(transparent)]
    Backend(#[from] BuildError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(
        "the compilation ended without an answer, which is a mistake of this library; please report the structure"
    )]
    NoOutcome,
    #[error(
        "the structure was being compiled when this process was forked from the one that did; compile it here"
    )]
    LeftBehind,
}

impl CompileError {
    /// The located reports of the frontend, if the source text is at fault.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match &self.kind {
            CompileErrorKind::Source(diagnostics) => Some(diagnostics),
            _ => None,
        }
    }

    /// Why the work was stopped from outside, if it was. Nothing is known of the structure then.
    pub fn interrupted(&self) -> Option<Interrupted> {
        match &self.kind {
            CompileErrorKind::Source(diagnostics) => diagnostics.interrupted(),
            CompileErrorKind::Automata(error) => error.interrupted(),
            CompileErrorKind::Interrupted(reason) => Some(*reason),
            _ => None,
        }
    }

    /// The cause as a fixed name, for programs: that of the first report, or of the [interrupt](Interrupted::code).
    /// Otherwise it is `grammar/limit` where a limit on automata was reached, or the stage that failed.
    pub fn code(&self) -> &'static str {
        match &self.kind {
            CompileErrorKind::Source(diagnostics) => {
                diagnostics.iter().next().map_or("source", Diagnostic::code)
            }
            CompileErrorKind::Automata(error) => match error.cause() {
                Cause::Interrupted => error.interrupted().map_or("interrupted/fork", Interrupted::code),
                Cause::EmptyLanguage => "grammar/empty",
                Cause::LimitReached => "grammar/limit",
                _ => "grammar",
            },
            CompileErrorKind::Tokens(_) => "grammar/token",
            CompileErrorKind::Backend(_) => "grammar/backend",
            CompileErrorKind::Interrupted(reason) => reason.code(),
            CompileErrorKind::NoOutcome => "internal",
            CompileErrorKind::LeftBehind => "interrupted/fork",
        }
    }

    /// Whether a limit was reached. Nothing is known of the structure then; a higher limit may serve it.
    ///
    /// Four bounds of JSON Schema are no limits here, because they are of one keyword: `alternatives`, `states` and
    /// `digits` (`json-schema/unsupported`) and `documents` (`json-schema/reference`). Their messages name them.
    pub fn is_limit(&self) -> bool {
        match self.diagnostics() {
            Some(diagnostics) => diagnostics.iter().any(|one| one.code().ends_with("/limit")),
            None => self.code().ends_with("/limit"),
        }
    }

    /// The thread that compiled is another process's.
    pub(crate) fn left_behind() -> Self {
        Self { kind: CompileErrorKind::LeftBehind }
    }

    /// The compilation ended without an answer.
    pub(crate) fn no_outcome() -> Self {
        Self { kind: CompileErrorKind::NoOutcome }
    }

    /// The same error, with its rule's place in the source that the grammar was read from; for callers that read it
    /// themselves.
    #[must_use]
    pub fn located(self, source: &str, grammar: &Grammar) -> Self {
        let (rule, message) = match &self.kind {
            CompileErrorKind::Automata(error) if error.cause() != Cause::Interrupted => {
                // Nobody knows the name of a rule that has no place, such as that of a pattern.
                let is_known = error.rule().is_none_or(|name| {
                    let mut rules = grammar.rule_ids().map(|id| grammar.rule(id));
                    rules.any(|rule| rule.name() == name && rule.span().is_some())
                });
                let message =
                    if is_known { error.to_string() } else { error.clone().without_rule().to_string() };
                (error.rule(), message)
            }
            CompileErrorKind::Tokens(error) => (error.rule(), error.to_string()),
            _ => return self,
        };
        Diagnostics::from_later_stage(source, grammar, rule, self.code(), message).into()
    }
}

#[cfg(feature = "json-schema")]
impl CompileError {
    /// The same error, with its place in a JSON schema.
    pub(crate) fn in_schema(
        self,
        schema: &str,
        options: &JsonSchemaOptions,
        automata: &CompileOptions,
    ) -> Self {
        let CompileErrorKind::Automata(error) = &self.kind else { return self };
        let code = match error.cause() {
            Cause::Interrupted => return self,
            Cause::EmptyLanguage => "json-schema/unsatisfiable",
            Cause::LimitReached => "json-schema/limit",
            _ => "json-schema/unsupported",
        };
        let message = match error.cause() {
            Cause::EmptyLanguage => {
                "no JSON text satisfies the schema: no value satisfies this part of it".to_owned()
            }
            _ => error.clone().without_rule().to_string(),
        };
        json_schema::located(schema, options, error.rule(), &automata.text, (code, &message)).into()
    }
}

impl<E: Into<CompileErrorKind>> From<E> for CompileError {
    fn from(error: E) -> Self {
        Self { kind: error.into() }
    }
}

/// Why a matcher refuses a call. The matcher is left as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatchError {
    /// The structure does not allow the token.
    #[error("token {} is not allowed here", .0.index())]
    TokenRefused(TokenId),
    /// The structure does not allow a byte.
    #[error("byte {byte:#04x} at offset {offset} is not allowed here")]
    ByteRefused {
        /// Offset in the bytes that were given.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// The text has ended: with a stop token, or without one where it need not have one.
    #[error("the text has ended; roll back or reset first")]
    Terminated,
    /// A mask, or the memory for one, has fewer bits than the vocabulary has ids. Nothing was written.
    #[error(
        "the mask has room for {given} ids and the vocabulary has {needed}; make it as long as the vocabulary"
    )]
    MaskTooSmall {
        /// Ids of the vocabulary.
        needed: usize,
        /// Bits of the mask.
        given: usize,
    },
    /// A rollback reaches back further than the text goes.
    #[error("cannot roll back {asked} steps: only {taken} were taken")]
    RollbackTooFar {
        /// Steps asked for.
        asked: usize,
        /// Steps that can be taken back.
        taken: usize,
    },
    /// Another grammar, to which the matcher was to switch, does not allow the text.
    #[error("the other grammar does not allow step {step} of the text; stay with this one, or replay less")]
    TextRefused {
        /// The step, counted from the beginning of the text.
        step: usize,
    },
    /// Another grammar, to which the matcher was to switch, is for other tokens.
    #[error("the other grammar was compiled for another vocabulary")]
    OtherVocabulary,
    /// A limit was reached; nothing is known of the token.
    #[error(transparent)]
    Limit(StepError),
    /// The matcher's [interrupt](crate::Matcher::set_interrupt) came; nothing is known of the token.
    #[error("the work was interrupted; call again to do it")]
    Interrupted,
}

impl MatchError {
    /// Whether nothing was found out: a limit was reached, or the work was interrupted.
    pub fn is_indeterminate(&self) -> bool {
        matches!(self, Self::Limit(_) | Self::Interrupted)
    }

    /// The cause as a fixed name, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TokenRefused(_) => "refused/token",
            Self::ByteRefused { .. } => "refused/byte",
            Self::Terminated => "call/terminated",
            Self::MaskTooSmall { .. } => "call/mask-too-small",
            Self::RollbackTooFar { .. } => "call/rollback-too-far",
            Self::TextRefused { .. } => "refused/text",
            Self::OtherVocabulary => "call/other-vocabulary",
            Self::Limit(limit) => limit.code(),
            Self::Interrupted => StepError::Interrupted.code(),
        }
    }
}

impl From<StepError> for MatchError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Interrupted => Self::Interrupted,
            limit => Self::Limit(limit),
        }
    }
}
