//! A parser that keeps its error.

use anyhow::{Error, Result, anyhow};
use toktrie::{SimpleVob, TokEnv, TokenId};

use crate::api::StopReason;
use crate::token_parser::TokenParser;

/// Follows one text. A call that fails leaves an error that all later calls return.
#[derive(Clone)]
pub struct Matcher(State);

#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a matcher that follows a text is the one that is moved")]
enum State {
    Normal(TokenParser),
    Failed { message: String, reason: StopReason },
}

impl Matcher {
    /// A matcher over a parser, or one that returns the error in its place.
    pub fn new(parser: Result<TokenParser>) -> Self {
        Self(match parser {
            Ok(parser) => State::Normal(parser),
            Err(error) => State::failed(&error),
        })
    }

    /// A matcher at the same place, independent from here on.
    pub fn deep_clone(&self) -> Self {
        self.clone()
    }

    /// Accepts a token.
    ///
    /// # Errors
    ///
    /// If the token is not allowed, or the text has ended.
    pub fn consume_token(&mut self, token: TokenId) -> Result<()> {
        self.call(|parser| parser.consume_token(token))
    }

    /// Accepts tokens, one after the other.
    ///
    /// # Errors
    ///
    /// As for [`consume_token`](Self::consume_token).
    pub fn consume_tokens(&mut self, tokens: &[TokenId]) -> Result<()> {
        self.call(|parser| tokens.iter().try_for_each(|&token| parser.consume_token(token)))
    }

    /// Accepts as many of the tokens as are allowed one after the other, and says how many.
    ///
    /// # Errors
    ///
    /// If there is no such token.
    pub fn try_consume_tokens(&mut self, tokens: &[TokenId]) -> Result<usize> {
        self.call(|parser| {
            let count = parser.validate_tokens(tokens)?;
            tokens[..count].iter().try_for_each(|&token| parser.consume_token(token))?;
            Ok(count)
        })
    }

    /// How many of the tokens are allowed one after the other. None is accepted.
    ///
    /// # Errors
    ///
    /// If there is no such token.
    pub fn validate_tokens(&mut self, tokens: &[TokenId]) -> Result<usize> {
        self.call(|parser| parser.validate_tokens(tokens))
    }

    /// Takes back the last tokens, one that ended the text counted.
    ///
    /// # Errors
    ///
    /// If fewer were accepted.
    pub fn rollback(&mut self, count: usize) -> Result<()> {
        self.call(|parser| parser.rollback(count))
    }

    /// Goes back to the beginning of the text.
    ///
    /// # Errors
    ///
    /// If a call has failed before.
    pub fn reset(&mut self) -> Result<()> {
        self.call(|parser| {
            parser.reset();
            Ok(())
        })
    }

    /// The tokens that may come next: each that [`consume_token`](Self::consume_token) would accept.
    ///
    /// # Errors
    ///
    /// If the text has [stopped](Self::is_stopped), or a limit is reached.
    pub fn compute_mask(&mut self) -> Result<SimpleVob> {
        self.call(TokenParser::compute_mask)
    }

    /// The tokens that may come next; those that end the text if it has [stopped](Self::is_stopped).
    ///
    /// # Errors
    ///
    /// If a limit is reached.
    pub fn compute_mask_or_eos(&mut self) -> Result<SimpleVob> {
        self.call(TokenParser::compute_mask_or_eos)
    }

    /// Whether the text may end here.
    ///
    /// # Errors
    ///
    /// If a call has failed before.
    pub fn is_accepting(&mut self) -> Result<bool> {
        self.call(|parser| Ok(parser.is_accepting()))
    }

    /// Whether the text has ended, can only end, or is in error.
    pub fn is_stopped(&self) -> bool {
        self.stop_reason() != StopReason::NotStopped
    }

    /// Why the text has [stopped](Self::is_stopped).
    pub fn stop_reason(&self) -> StopReason {
        match &self.0 {
            State::Normal(parser) => parser.stop_reason(),
            State::Failed { reason, .. } => *reason,
        }
    }

    /// Tokens that the model would write in any case, for a tokenizer that is canonical; none are accepted.
    pub fn compute_ff_tokens(&mut self) -> Vec<TokenId> {
        self.call(TokenParser::forced_tokens).unwrap_or_default()
    }

    /// Accepts the tokens of [`compute_ff_tokens`](Self::compute_ff_tokens), and returns them.
    pub fn consume_ff_tokens(&mut self) -> Vec<TokenId> {
        let tokens = self.compute_ff_tokens();
        match self.consume_tokens(&tokens) {
            Ok(()) => tokens,
            Err(_) => Vec::new(),
        }
    }

    /// The bytes that every continuation of the text begins with.
    pub fn compute_ff_bytes(&mut self) -> Vec<u8> {
        self.call(TokenParser::forced_bytes).unwrap_or_default()
    }

    /// Whether a call has failed.
    pub fn is_error(&self) -> bool {
        matches!(self.0, State::Failed { .. })
    }

    /// The error of the call that has failed.
    pub fn get_error(&self) -> Option<String> {
        match &self.0 {
            State::Normal(_) => None,
            State::Failed { message, .. } => Some(message.clone()),
        }
    }

    /// The tokenizer.
    ///
    /// # Errors
    ///
    /// If a call has failed before.
    pub fn tok_env(&self) -> Result<TokEnv> {
        match &self.0 {
            State::Normal(parser) => Ok(parser.environment().clone()),
            State::Failed { message, .. } => Err(anyhow!("{message}")),
        }
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut TokenParser) -> Result<T>) -> Result<T> {
        match &mut self.0 {
            State::Normal(parser) => call(parser).inspect_err(|error| self.0 = State::failed(error)),
            State::Failed { message, .. } => Err(anyhow!("{message}")),
        }
    }
}

impl State {
    fn failed(error: &Error) -> Self {
        let is_limit = error.downcast_ref().is_some_and(grammask::MatchError::is_indeterminate);
        let reason = if is_limit { StopReason::ParserTooComplex } else { StopReason::InternalError };
        Self::Failed { message: format!("{error:#}"), reason }
    }
}
