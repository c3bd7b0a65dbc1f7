//! Writes a text that obeys a structure: the loop that a serving engine runs, with a sampler for a model.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::engine::{Capture, Cursor, Structure, TokenId, TokenMask, Vocabulary};
use crate::sampler::{Choice, Sampler, TokenTable};

/// The state that texts of one vocabulary share.
pub(crate) struct Writer<'v> {
    vocabulary: &'v Vocabulary,
    table: TokenTable,
}

/// A finished text.
pub(crate) struct Writing {
    /// Tokens that spell no text are here by their names.
    pub(crate) bytes: Vec<u8>,
    pub(crate) steps: Vec<Step>,
    pub(crate) ending: Ending,
    /// The texts that rules with a name have read.
    pub(crate) captures: Vec<Capture>,
}

/// One token.
pub(crate) struct Step {
    pub(crate) token: TokenId,
    /// How many tokens were allowed.
    pub(crate) allowed: usize,
    /// The bytes that had to come next, whatever the token.
    pub(crate) forced: Vec<u8>,
    /// The time for the mask and for accepting the token.
    pub(crate) microseconds: f64,
}

/// Why a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// The sampler ended it where it was complete.
    Chosen,
    /// It had its number of tokens, and was steered to the shortest ending.
    Steered,
}

impl Ending {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Steered => "steered",
        }
    }
}

impl<'v> Writer<'v> {
    pub(crate) fn new(vocabulary: &'v Vocabulary) -> Self {
        let table = TokenTable::new(vocabulary.ids().map(|id| (id, vocabulary.bytes(id))));
        Self { vocabulary, table }
    }

    /// Writes a text. After `max_tokens` tokens it takes the shortest way to the end, so that it always ends.
    pub(crate) fn write(&self, structure: &Structure, seed: u64, max_tokens: usize) -> Result<Writing> {
        let mut cursor = structure.cursor();
        let mut writing = self.tokens(&mut *cursor, seed, max_tokens)?;
        writing.captures = cursor.captures()?;
        Ok(writing)
    }

    fn tokens(&self, cursor: &mut dyn Cursor, seed: u64, max_tokens: usize) -> Result<Writing> {
        let mut sampler = Sampler::new(&self.table, seed, max_tokens);
        let mut writing =
            Writing { bytes: Vec::new(), steps: Vec::new(), ending: Ending::Chosen, captures: Vec::new() };
        while writing.steps.len() < max_tokens {
            let may_stop = cursor.is_complete();
            if may_stop && cursor.next_bytes() == [0; 4] {
                return Ok(writing);
            }
            let start = Instant::now();
            let allowed = cursor.allowed()?;
            let elapsed = start.elapsed();
            let count = allowed.count();
            let choice = sampler.choose(allowed, may_stop).or_else(|| self.mark(allowed));
            match choice {
                Some(Choice::Stop) => return Ok(writing),
                Some(Choice::Token(token)) => {
                    self.take(cursor, &mut writing, token, (count, elapsed))?;
                    sampler.write(self.vocabulary.label(token));
                }
                None => bail!("no token is allowed after {} bytes", writing.bytes.len()),
            }
        }
        if !cursor.is_complete() {
            self.steer(cursor, &mut writing)?;
        }
        Ok(writing)
    }

    /// A token that spells no text, where the structure asks for one.
    fn mark(&self, allowed: &TokenMask) -> Option<Choice> {
        let mut marks = self.vocabulary.ids().filter(|&id| self.vocabulary.bytes(id).is_empty());
        marks.find(|&id| allowed.contains(id)).map(Choice::Token)
    }

    /// Completes the text with as few bytes as can be, spelled by the longest tokens.
    fn steer(&self, cursor: &mut dyn Cursor, writing: &mut Writing) -> Result<()> {
        writing.ending = Ending::Steered;
        let ending = cursor.shortest_ending()?;
        let mut rest = ending.as_slice();
        while let Some(first) = rest.first() {
            let Some(token) = self.vocabulary.longest(rest) else {
                bail!("the vocabulary has no token for byte 0x{first:02x}, with which the text must go on");
            };
            let start = Instant::now();
            let count = cursor.allowed()?.count();
            self.take(cursor, writing, token, (count, start.elapsed()))?;
            rest = &rest[self.vocabulary.bytes(token).len()..];
        }
        Ok(())
    }

    /// Takes a step, given how many tokens were allowed and how long it took to find that out.
    fn take(
        &self,
        cursor: &mut dyn Cursor,
        writing: &mut Writing,
        token: TokenId,
        (allowed, mask_time): (usize, Duration),
    ) -> Result<()> {
        let forced = cursor.forced()?;
        let start = Instant::now();
        cursor.accept(token)?;
        let microseconds = (mask_time + start.elapsed()).as_secs_f64() * 1e6;
        writing.bytes.extend_from_slice(self.vocabulary.label(token));
        writing.steps.push(Step { token, allowed, forced, microseconds });
        Ok(())
    }
}
