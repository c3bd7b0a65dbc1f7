//! One answer, written under masks.
//!
//! The loop of an engine with all that saves calls of the model: text that the structure forces is never asked for, and
//! guesses are checked several at once.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use grammask::apply::{Layout, Processor, Sampling, sample};
use grammask::{Matcher, TokenId, TokenMask};

use crate::model::{Cache, Llama};
use crate::text::Text;

/// How tokens are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// After so many tokens an answer with a structure is brought to its shortest ending, and any other is cut.
    pub max_tokens: usize,
    /// 0 takes the best token.
    pub temperature: f32,
    /// Of the best tokens, those that reach this share of the probability.
    pub top_p: f32,
    /// Equal seeds give equal answers.
    pub seed: u64,
    /// Most tokens that are guessed ahead.
    pub draft: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_tokens: 256, temperature: 0.8, top_p: 0.95, seed: 0, draft: 4 }
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model ended it, or nothing could follow.
    Stop,
    /// It had `max_tokens` tokens.
    Length,
    /// The reader wanted no more.
    Left,
}

/// An answer and its cost.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The text.
    pub text: Vec<u8>,
    /// How it ended.
    pub ending: Ending,
    /// Tokens of the answer, with the one that ends it.
    pub tokens: usize,
    /// Those of them that the structure forced, for which the model was not asked.
    pub forced: usize,
    /// Tokens that were guessed.
    pub guessed: usize,
    /// Those of them that the model would have chosen.
    pub guessed_right: usize,
    /// Calls of the model, with the first, which reads the prompt.
    pub passes: usize,
    /// The time for masks: computing them, reading tokens, finding forced text.
    pub mask_time: Duration,
    /// All of the time.
    pub time: Duration,
}

impl Answer {
    /// Tokens for each second.
    pub fn speed(&self) -> f64 {
        self.tokens as f64 / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// The part of the time that went into masks.
    pub fn mask_share(&self) -> f64 {
        self.mask_time.as_secs_f64() / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Answers a prompt. Without a matcher the model writes what it likes.
///
/// `on_text` gets the answer piece by piece, cut anywhere between bytes, and may stop it.
pub fn generate(
    model: &Llama,
    text: &Text,
    prompt: &[u32],
    matcher: Option<Matcher>,
    settings: &Settings,
    mut on_text: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<Answer> {
    ensure!(!prompt.is_empty(), "the prompt is empty");
    let begin = Instant::now();
    let mut writer = Writer::new(model, text, prompt, matcher, settings)?;
    let mut sent = 0;
    let ending = loop {
        writer.write_forced()?;
        let has_ended = writer.has_ended();
        let is_long = writer.answer.tokens >= settings.max_tokens;
        if is_long && !has_ended {
            writer.write_ending()?;
        }
        let piece = &writer.answer.text[sent..];
        sent = writer.answer.text.len();
        if !piece.is_empty() && on_text(piece).is_break() {
            break Ending::Left;
        }
        match (has_ended, is_long) {
            (true, _) => break Ending::Stop,
            (_, true) => break Ending::Length,
            _ => writer.step()?,
        }
    };
    writer.answer.ending = ending;
    writer.answer.time = begin.elapsed();
    Ok(writer.answer)
}

/// A text that is being written.
struct Writer<'m> {
    model: &'m Llama,
    text: &'m Text,
    settings: &'m Settings,
    /// The prompt and the answer.
    tokens: Vec<u32>,
    prompt_len: usize,
    /// The model's memory of a beginning of `tokens`.
    cache: Cache,
    matcher: Option<Matcher>,
    /// The masks of a draft, row by row: one before each guess and one after the last.
    masks: Vec<TokenMask>,
    words: Vec<u32>,
    answer: Answer,
}

impl<'m> Writer<'m> {
    fn new(
        model: &'m Llama,
        text: &'m Text,
        prompt: &[u32],
        matcher: Option<Matcher>,
        settings: &'m Settings,
    ) -> Result<Self> {
        let len = text.vocabulary().len();
        ensure!(model.tokens() >= len, "the model has {} tokens and its tokenizer {len}", model.tokens());
        let mut all = TokenMask::new(len);
        all.fill();
        Ok(Self {
            model,
            text,
            settings,
            tokens: prompt.to_vec(),
            prompt_len: prompt.len(),
            cache: model.cache(),
            matcher,
            masks: vec![all; settings.draft + 1],
            words: Vec::new(),
            answer: Answer {
                text: Vec::new(),
                ending: Ending::Stop,
                tokens: 0,
                forced: 0,
                guessed: 0,
                guessed_right: 0,
                passes: 0,
                mask_time: Duration::ZERO,
                time: Duration::ZERO,
            },
        })
    }

    fn has_ended(&self) -> bool {
        match (&self.matcher, self.tokens[self.prompt_len..].last()) {
            (Some(matcher), _) => matcher.is_terminated(),
            (None, Some(&last)) => self.id(last).is_some_and(|id| self.text.vocabulary().is_stop(id)),
            (None, None) => false,
        }
    }

    fn id(&self, number: u32) -> Option<TokenId> {
        self.text.vocabulary().id(number)
    }

    /// Appends a token that the matcher has read.
    fn push(&mut self, id: TokenId) {
        self.tokens.push(id.get());
        self.answer.tokens += 1;
        self.answer.text.extend_from_slice(self.text.vocabulary().token_bytes(id));
    }

    /// Takes back tokens of the answer that the matcher has taken back.
    fn pop(&mut self, count: usize) -> Result<()> {
        for number in self.tokens.split_off(self.tokens.len() - count) {
            let len = self.id(number).map_or(0, |id| self.text.vocabulary().token_bytes(id).len());
            self.answer.text.truncate(self.answer.text.len() - len);
        }
        self.answer.tokens -= count;
        self.cache.truncate(self.tokens.len())
    }

    /// Appends all that the structure leaves no choice about. The model reads it with what comes next.
    fn write_forced(&mut self) -> Result<()> {
        let Some(mut matcher) = self.matcher.take() else { return Ok(()) };
        let begin = Instant::now();
        while !matcher.is_terminated() {
            // The last tokens may have to be cut another way.
            let answer = &self.tokens[self.prompt_len..];
            let last = &answer[answer.len().saturating_sub(CONTEXT)..];
            let context: Vec<TokenId> = last.iter().filter_map(|&number| self.id(number)).collect();
            let encode = |bytes: &[u8]| self.text.encode_bytes(bytes);
            let mut forced = matcher.consume_forced_tokens(&context, encode)?;
            if forced.tokens.is_empty() {
                // There may be one token to choose from, such as the one that ends the text.
                matcher.fill_mask(&mut self.masks[0])?;
                let allowed: Vec<TokenId> = self.masks[0].iter().take(2).collect();
                let [only] = allowed[..] else { break };
                matcher.accept_token(only)?;
                forced.tokens.push(only);
            }
            self.pop(forced.rollback)?;
            self.answer.forced += forced.tokens.len();
            forced.tokens.into_iter().for_each(|id| self.push(id));
        }
        self.matcher = Some(matcher);
        self.answer.mask_time += begin.elapsed();
        Ok(())
    }

    /// Ends the answer in the shortest way.
    fn write_ending(&mut self) -> Result<()> {
        let Some(matcher) = &mut self.matcher else { return Ok(()) };
        let ending = matcher.shortest_ending(LONGEST_ENDING)?;
        let ending = ending.with_context(|| format!("there is no ending of {LONGEST_ENDING} bytes"))?;
        matcher.accept_bytes(&ending)?;
        self.answer.text.extend_from_slice(&ending);
        Ok(())
    }

    /// One call of the model: chooses a token, and keeps the guesses before it that are right.
    fn step(&mut self) -> Result<()> {
        let begin = Instant::now();
        let len = self.tokens.len();
        // One token comes after the guesses, and has to fit as well.
        let wanted = self.settings.max_tokens.saturating_sub(self.answer.tokens + 1);
        let most = wanted.min(self.model.context().saturating_sub(len)).min(self.settings.draft);
        let mut draft = lookup(&self.tokens, most);
        self.fill_masks(&mut draft)?;
        self.answer.mask_time += begin.elapsed();

        self.answer.passes += 1;
        self.answer.guessed += draft.len();
        let unread: Vec<u32> = self.tokens[self.cache.len()..].iter().chain(&draft).copied().collect();
        let logits = self.model.forward(&unread, draft.len() + 1, &mut self.cache)?;
        let chosen = self.choose(&logits, &draft)?;

        let begin = Instant::now();
        let right = chosen.len() - 1;
        self.answer.guessed_right += right;
        self.cache.truncate(len + right)?;
        if let Some(matcher) = &mut self.matcher {
            matcher.rollback(draft.len() - right)?;
            matcher.accept_token(chosen[right])?;
        }
        chosen.into_iter().for_each(|id| self.push(id));
        self.answer.mask_time += begin.elapsed();
        Ok(())
    }

    /// Fills the mask before each guess and after the last, and cuts the draft where a guess is not allowed. The
    /// matcher has read the draft then.
    fn fill_masks(&mut self, draft: &mut Vec<u32>) -> Result<()> {
        let Some(matcher) = &mut self.matcher else { return Ok(()) };
        matcher.fill_mask(&mut self.masks[0])?;
        for row in 0..draft.len() {
            // A mask says what may be accepted.
            let id = self.text.vocabulary().id(draft[row]);
            let Some(id) = id.filter(|&id| self.masks[row].contains(id)) else {
                draft.truncate(row);
                break;
            };
            matcher.accept_token(id)?;
            matcher.fill_mask(&mut self.masks[row + 1])?;
        }
        Ok(())
    }

    /// Chooses under each mask as if the guesses before it were right: the right ones, and the first other one.
    fn choose(&mut self, logits: &[f32], draft: &[u32]) -> Result<Vec<TokenId>> {
        let rows = draft.len() + 1;
        self.words.clear();
        self.masks[..rows].iter().for_each(|mask| self.words.extend_from_slice(mask.as_words()));
        let vocabulary = self.text.vocabulary();
        let layout = Layout::new(rows, self.model.tokens()).vocabulary(vocabulary.len());
        let Settings { temperature, top_p, seed, .. } = *self.settings;
        // The number of the token is the number of the draw, so that guesses change no answer.
        let step = |row: usize| (self.answer.tokens + row) as u64;
        let draw = Sampling::default().temperature(temperature).top_p(top_p).seed(seed);
        let settings: Vec<Sampling> = (0..rows).map(|row| draw.step(step(row))).collect();
        let mut chosen = vec![0; rows];
        sample(Processor::default(), logits, &self.words, &layout, &settings, &mut chosen)?;
        let right = chosen.iter().zip(draft).take_while(|(chosen, guess)| chosen == guess).count();
        chosen.truncate(right + 1);
        let id = |number| vocabulary.id(number).context("padding is never chosen");
        chosen.into_iter().map(id).collect()
    }
}

/// Tokens before forced text that may have to be cut another way.
const CONTEXT: usize = 4;
/// Endings are looked for up to this length.
const LONGEST_ENDING: usize = 1 << 16;
/// Guesses follow a place where the text had the same so many last tokens.
const SAME: usize = 2;

/// Guesses that the text goes on as it did when it last had the same two tokens. Lists and tables repeat themselves.
fn lookup(tokens: &[u32], most: usize) -> Vec<u32> {
    let Some(begin) = tokens.len().checked_sub(SAME) else { return Vec::new() };
    let (before, last) = tokens.split_at(begin);
    // The match may reach into the last tokens, but not be them.
    let found = (0..before.len()).rev().find(|&place| &tokens[place..place + SAME] == last);
    let follow = found.map_or(&[][..], |place| &tokens[place + SAME..]);
    follow.iter().take(most).copied().collect()
}
