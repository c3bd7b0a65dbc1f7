//! A grammar, and a text that it follows.

use anyhow::{Result, bail, ensure};
use grammask::{MaskKind, TokenMask};
use toktrie::{SimpleVob, TokEnv, TokenId};

use crate::api::StopReason;
use crate::mask::token_set;

/// The number of tokens before forced text that the tokenizer may have joined with it.
const CONTEXT: usize = 8;

/// A grammar, and a text that it follows: what a [`Matcher`](crate::Matcher) is made of.
#[derive(Clone)]
pub struct TokenParser {
    environment: TokEnv,
    matcher: grammask::Matcher,
    /// The tokens of the text, with the one that ended it.
    tokens: Vec<TokenId>,
    max_tokens: usize,
    takes_forced_tokens: bool,
    stop: StopReason,
    mask: TokenMask,
    /// The mask that was filled last.
    last: Option<SimpleVob>,
}

impl TokenParser {
    pub(crate) fn new(
        environment: TokEnv,
        matcher: grammask::Matcher,
        max_tokens: Option<usize>,
        takes_forced_tokens: bool,
    ) -> Self {
        let mask = TokenMask::new(matcher.grammar().vocabulary().len());
        let mut parser = Self {
            environment,
            matcher,
            tokens: Vec::new(),
            max_tokens: max_tokens.unwrap_or(usize::MAX),
            takes_forced_tokens,
            stop: StopReason::NotStopped,
            mask,
            last: None,
        };
        parser.update_stop();
        parser
    }

    pub(crate) fn environment(&self) -> &TokEnv {
        &self.environment
    }

    /// Whether a [`Constraint`](crate::Constraint) adds forced tokens to those that were sampled.
    pub(crate) fn takes_forced_tokens(&self) -> bool {
        self.takes_forced_tokens
    }

    pub(crate) fn temperature(&mut self) -> Result<Option<f32>> {
        Ok(self.matcher.temperature()?)
    }

    pub(crate) fn stop_reason(&self) -> StopReason {
        self.stop
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop != StopReason::NotStopped
    }

    pub(crate) fn is_accepting(&self) -> bool {
        self.matcher.is_completed() || self.matcher.is_terminated()
    }

    pub(crate) fn compute_mask(&mut self) -> Result<SimpleVob> {
        ensure!(!self.is_stopped(), "the text is at its end ({}); roll back or reset first", self.stop);
        let kind = self.matcher.fill_mask(&mut self.mask)?;
        let set = match self.last.take() {
            Some(last) if kind == MaskKind::Unchanged => last,
            _ => token_set(&self.mask, self.environment.tok_trie()),
        };
        self.last = Some(set.clone());
        Ok(set)
    }

    pub(crate) fn compute_mask_or_eos(&mut self) -> Result<SimpleVob> {
        match self.is_stopped() {
            true => Ok(self.environment.tok_trie().eos_token_set()),
            false => self.compute_mask(),
        }
    }

    pub(crate) fn consume_token(&mut self, token: TokenId) -> Result<()> {
        let id = self.known(token)?;
        if self.stop == StopReason::MaxTokensTotal && !self.matcher.grammar().vocabulary().is_stop(id) {
            bail!("the text has {} tokens already, as many as max_tokens allows", self.tokens.len());
        }
        self.matcher.accept_token(id)?;
        self.tokens.push(token);
        self.update_stop();
        Ok(())
    }

    pub(crate) fn validate_tokens(&mut self, tokens: &[TokenId]) -> Result<usize> {
        let ids: Vec<_> = tokens.iter().map(|&token| self.known(token)).collect::<Result<_>>()?;
        if self.matcher.is_terminated() {
            return Ok(0);
        }
        let count = self.matcher.validate_tokens(&ids)?;
        // The token that ends the text is not counted.
        let left = self.max_tokens.saturating_sub(self.tokens.len());
        let end = ids.get(left).is_some_and(|&id| self.matcher.grammar().vocabulary().is_stop(id));
        Ok(count.min(left.saturating_add(usize::from(end))))
    }

    pub(crate) fn rollback(&mut self, count: usize) -> Result<()> {
        self.matcher.rollback(count)?;
        self.tokens.truncate(self.tokens.len() - count);
        self.update_stop();
        Ok(())
    }

    pub(crate) fn reset(&mut self) {
        self.matcher.reset();
        self.tokens.clear();
        self.update_stop();
    }

    pub(crate) fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        match self.is_stopped() {
            true => Ok(Vec::new()),
            false => Ok(self.matcher.jump_forward()?),
        }
    }

    /// Tokens that the model would write in any case. None where the tokenizer would have cut the text before them
    /// another way, or cannot be asked.
    pub(crate) fn forced_tokens(&mut self) -> Result<Vec<TokenId>> {
        if self.is_stopped() || !self.environment.tokenize_is_canonical() {
            return Ok(Vec::new());
        }
        let context = &self.tokens[self.tokens.len().saturating_sub(CONTEXT)..];
        let context: Vec<_> = context.iter().map(|&token| self.known(token)).collect::<Result<_>>()?;
        let environment = self.environment.clone();
        let encode = |bytes: &[u8]| {
            std::str::from_utf8(bytes).ok()?;
            environment.tokenize_bytes(bytes).into_iter().map(grammask::TokenId::new).collect()
        };
        let forced = self.matcher.forced_tokens(&context, encode)?;
        let left = self.max_tokens.saturating_sub(self.tokens.len());
        Ok(match forced.rollback {
            0 => forced.tokens.into_iter().take(left).map(|id| id.get()).collect(),
            _ => Vec::new(),
        })
    }

    fn known(&self, token: TokenId) -> Result<grammask::TokenId> {
        let size = self.environment.tok_trie().vocab_size();
        match grammask::TokenId::new(token) {
            Some(id) if id.index() < size => Ok(id),
            _ => bail!("token id {token} is out of range: the vocabulary has {size}"),
        }
    }

    fn update_stop(&mut self) {
        self.stop = if self.matcher.is_terminated() {
            StopReason::EndOfSentence
        } else if !self.tokens.is_empty() && self.can_only_end() {
            StopReason::NoExtension
        } else if self.tokens.len() >= self.max_tokens {
            StopReason::MaxTokensTotal
        } else {
            StopReason::NotStopped
        };
    }

    /// Whether the text is whole, and nothing can follow it but its end.
    fn can_only_end(&mut self) -> bool {
        if !self.matcher.is_completed() || !self.matcher.next_bytes().is_empty() {
            return false;
        }
        // The grammar may name tokens, which are not read as bytes.
        self.last = None;
        let stop = self.matcher.grammar().vocabulary().stop_tokens().len();
        self.matcher.fill_mask(&mut self.mask).is_ok() && self.mask.count() == stop
    }
}
