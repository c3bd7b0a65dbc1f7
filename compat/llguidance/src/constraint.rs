//! A text in steps: a mask, a sampled token, and the tokens that follow from it.

use anyhow::{Context, Result, bail, ensure};
use toktrie::{Branch, SimpleVob, TokTrie, TokenId};

use crate::token_parser::TokenParser;

/// A step before sampling: the mask, or that the text has ended.
pub type StepResult = Branch<SimpleVob>;

/// The outcome of [`Constraint::commit_token`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitResult {
    /// Whether the text had ended before.
    pub stop: bool,
    /// Tokens to take back before the new ones; always 0.
    pub backtrack: u32,
    /// The token that was committed, and those that must follow it.
    pub ff_tokens: Vec<TokenId>,
}

impl CommitResult {
    /// The text had ended.
    pub fn stop() -> Self {
        Self { stop: true, ..Self::default() }
    }
}

/// Follows one text in steps: [`compute_mask`](Self::compute_mask), sample, [`commit_token`](Self::commit_token).
///
/// ```
/// use llguidance::api::TopLevelGrammar;
/// use llguidance::toktrie::ApproximateTokEnv;
/// use llguidance::{Constraint, ParserFactory};
///
/// let factory = ParserFactory::new_simple(&ApproximateTokEnv::single_byte_env())?;
/// let mut constraint = Constraint::new(factory.create_parser(TopLevelGrammar::from_regex("[0-9]{2}"))?);
/// for token in [b'4', b'2'].map(u32::from) {
///     let step = constraint.compute_mask()?;
///     assert!(step.sample_mask.as_ref().is_some_and(|mask| mask.is_allowed(token)));
///     assert_eq!(constraint.commit_token(Some(token))?.ff_tokens, [token]);
/// }
/// assert!(constraint.compute_mask()?.is_stop());
/// # anyhow::Ok(())
/// ```
#[derive(Clone)]
pub struct Constraint {
    /// The text and its grammar.
    pub parser: TokenParser,
    /// The temperature that the grammar asked for last; 0 before it asks for one.
    pub temperature: f32,
    step: Option<StepResult>,
}

impl Constraint {
    /// A constraint at the beginning of a text.
    pub fn new(parser: TokenParser) -> Self {
        Self { parser, temperature: 0.0, step: None }
    }

    /// A constraint at the same place, independent from here on.
    pub fn deep_clone(&self) -> Self {
        self.clone()
    }

    /// Begins the text. Nothing has to be done for that here.
    pub fn start_without_prompt(&mut self) {}

    /// The mask of the next token; or, once, that the text has ended.
    ///
    /// # Errors
    ///
    /// If the end was reported before, or a limit is reached.
    pub fn compute_mask(&mut self) -> Result<&StepResult> {
        ensure!(!self.has_reported_end(), "compute_mask() called after stop");
        let step = if self.parser.is_stopped() {
            StepResult::stop()
        } else {
            let asked = self.parser.temperature()?;
            self.temperature = asked.unwrap_or(self.temperature);
            let mask = self.parser.compute_mask()?;
            StepResult::sample(mask, asked)
        };
        Ok(self.step.insert(step))
    }

    /// The result of the last [`compute_mask`](Self::compute_mask), unless a token was committed since.
    pub fn step_result(&self) -> Option<&StepResult> {
        self.step.as_ref()
    }

    /// Accepts the token that was sampled, and those that must follow it where the factory was told that they are welcome.
    ///
    /// # Errors
    ///
    /// If there is no mask for this token, no token was sampled, or the token is not allowed.
    pub fn commit_token(&mut self, sampled: Option<TokenId>) -> Result<CommitResult> {
        if self.has_reported_end() {
            return Ok(CommitResult::stop());
        }
        let Some(_) = self.step.take() else { bail!("compute the mask before a token is committed") };
        let token = sampled.context("the mask is for a token, and none was sampled")?;
        self.parser.consume_token(token)?;
        let mut ff_tokens = vec![token];
        if self.parser.takes_forced_tokens() {
            let forced = self.parser.forced_tokens()?;
            forced.iter().try_for_each(|&token| self.parser.consume_token(token))?;
            ff_tokens.extend(forced);
        }
        if !self.parser.is_stopped() {
            self.temperature = self.parser.temperature()?.unwrap_or(self.temperature);
        }
        Ok(CommitResult { stop: false, backtrack: 0, ff_tokens })
    }

    /// How many of the tokens are allowed one after the other. None is accepted.
    ///
    /// # Errors
    ///
    /// If there is no such token.
    pub fn validate_tokens_raw(&mut self, tokens: &[TokenId]) -> Result<usize> {
        self.parser.validate_tokens(tokens)
    }

    /// The bytes of all tokens.
    pub fn tok_trie(&self) -> &TokTrie {
        self.parser.environment().tok_trie()
    }

    fn has_reported_end(&self) -> bool {
        self.step.as_ref().is_some_and(StepResult::is_stop)
    }
}
