//! Whether a value in progress can still become one that has not occurred.
//!
//! The naive way counts: how many values begin like this one, and how many of them have occurred? But only
//! the parser knows what may follow, and it is asked byte by byte anyway. So a continuation is *searched*,
//! along the values that have occurred. A string that begins like no other is new whatever follows. Where the
//! values that have occurred branch off from the possible continuations, the search is over. It goes deep
//! only if nearly everything has occurred, and its cost is counted.
//!
//! A number does not show by its beginning how large it will be (`1.0` is `1`), but it does show its first
//! digits. If they are those of no number that has occurred, it is new whatever follows. Short continuations
//! are tried first. Zeros at the end of a fraction could continue without end and change nothing. Only where
//! other digits may follow do more of them lead to other numbers, as many as there are zeros.
//!
//! Inside of an item that is an array or object ways are tried byte by byte along the items that it may still equal. The
//! search is over where none is left, or where the item is closed and is none of them. Brackets and letters are tried
//! first, whitespace last.

use std::collections::HashMap;

use grammask_grammar_ir::byte_set;
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::json_lexer::number::{canonical_form, is_zero};
use super::json_lexer::state::{Escape, Exponent, LexState, MAX_EXPONENT_DIGITS, Novelty};
use super::read_json::after_repeat;
use super::scopes::{Mark, UniqueScopes};

/// Bytes of a number whose forms are made and looked up in a unit of work.
const BYTES_PER_UNIT: u64 = 16;

/// A place on the way through strings.
struct SearchNode<S> {
    state: S,
    mark: Mark,
    /// The bytes to try.
    untried: Vec<u8>,
}

impl UniqueScopes {
    /// Whether the value that is being written, the backend being in the state, can become a new one.
    pub(crate) fn is_viable<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<bool, StepError> {
        // Inside an item that is an array or object, the rest of the whole item may still make it new, so
        // that is searched. A string or a number alone needs a narrower search. Anything else was compared
        // where it ended.
        if self.containers.last().is_some_and(|container| container.partial.is_some()) {
            if self.is_certainly_new() {
                return Ok(true);
            }
            let mark = self.mark();
            let found = self.has_unseen_completion(engine, state, fuel);
            self.restore(&mark);
            return found;
        }
        match self.lex {
            LexState::String { novelty: Novelty::SeenPrefix, .. } => {
                let mark = self.mark();
                let found = self.has_unseen_string(engine, state, fuel);
                self.restore(&mark);
                found
            }
            LexState::Number { exponent } => {
                // The forms of a number are as long as its text.
                fuel.burn(self.text.len() as u64 / BYTES_PER_UNIT)?;
                Ok(!self.may_equal_seen(&self.text)
                    || self.has_unseen_number(engine, state, exponent, fuel)?)
            }
            LexState::Literal if self.has_seen(&self.text) => self.may_repeat_word(engine, state, fuel),
            _ => Ok(true),
        }
    }

    /// Whether no open value can become equal to one that has occurred.
    fn is_certainly_new(&self) -> bool {
        let Some(container) = self.containers.last() else { return true };
        let Some(partial) = &container.partial else { return true };
        match self.lex {
            LexState::String { novelty, .. } => novelty != Novelty::SeenPrefix,
            LexState::Number { .. } => !self.may_equal_seen(&self.text),
            LexState::Literal => {
                partial.is_new()
                    && !(container.is_compared && container.bracket == b'[' && !container.seen.is_empty())
            }
            LexState::Outside | LexState::Between | LexState::Skipped => partial.is_new(),
        }
    }

    /// Whether some derivation goes on after the word that is being written, though it has occurred.
    fn may_repeat_word<B: Backend>(
        &self,
        engine: &B,
        mut state: B::State,
        fuel: &mut Fuel,
    ) -> Result<bool, StepError> {
        // In a word one letter follows the other.
        while let Some(letter) = byte_set::iter(&engine.next_bytes(state)).find(u8::is_ascii_lowercase) {
            match engine.step(state, letter, fuel)? {
                Some(next) => state = next,
                None => break,
            }
        }
        self.may_repeat(engine, state, fuel)
    }

    /// Whether some derivation goes on where a value that has occurred ends.
    fn may_repeat<B: Backend>(
        &self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<bool, StepError> {
        Ok(self.tells_repeats() && after_repeat(engine, state, fuel)?.is_some())
    }

    /// Depth first through an item that is an array or object.
    fn has_unseen_completion<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<bool, StepError> {
        let mut visits: HashMap<(B::State, LexState, Vec<u8>), usize, ahash::RandomState> =
            HashMap::default();
        let mut path = vec![SearchNode { state, mark: self.mark(), untried: untried_bytes(engine, state) }];
        while let Some(node) = path.last_mut() {
            let (state, mark) = (node.state, node.mark);
            let Some(byte) = node.untried.pop() else {
                path.pop();
                continue;
            };
            self.restore(&mark);
            let Some(next) = engine.step(state, byte, fuel)? else { continue };
            let Some(next) = self.read_to(engine, (state, next), byte, fuel)? else { continue };
            // One continuation suffices, and it need not be read to its end: no state of the parser is a dead
            // end.
            if self.is_certainly_new() {
                return Ok(true);
            }
            let place = self.search_key();
            fuel.burn(place.len() as u64)?;
            // Two ways to the same place have the same continuations. So each place is entered once, which
            // makes the search finite, except for zeros that may lead to new numbers.
            let visits = visits.entry((next, self.lex, place)).or_insert(0);
            *visits += 1;
            if *visits <= self.max_visits(engine, next, byte) {
                path.push(SearchNode {
                    state: next,
                    mark: self.mark(),
                    untried: untried_bytes(engine, next),
                });
            }
        }
        Ok(false)
    }

    /// The text of the item so far, without zeros that change nothing.
    fn search_key(&self) -> Vec<u8> {
        let mut place = match self.lex {
            LexState::Number { exponent } if exponent != Exponent::None && is_zero(&self.text) => {
                b"#0e".to_vec()
            }
            LexState::Number { exponent } if exponent != Exponent::None || self.text.contains(&b'.') => {
                without_trailing_zeros(&self.text)
            }
            _ => self.text.clone(),
        };
        place.push(self.last_structural);
        for partial in self.containers.iter().filter_map(|container| container.partial.as_ref()) {
            partial.write(&mut place);
        }
        place
    }

    /// How often a place is worth coming to. More zeros in a fraction make other numbers where digits may follow.
    fn max_visits<B: Backend>(&self, engine: &B, state: B::State, byte: u8) -> usize {
        let LexState::Number { exponent } = self.lex else { return 1 };
        if byte != b'0' || is_zero(&self.text) && exponent != Exponent::None {
            return 1;
        }
        let container = self.containers.last();
        let known = container.map_or(0, |container| {
            container.seen.len() + container.partial.as_ref().map_or(0, |partial| partial.candidate_count())
        });
        // Each further zero makes another number. One more of them than there are numbers to avoid is enough,
        // and the place itself counts, too.
        if may_change(engine, state) { known + 2 } else { 1 }
    }

    /// Depth first, with ways out looked for before ways on.
    fn has_unseen_string<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<bool, StepError> {
        let mut path: Vec<SearchNode<B::State>> = Vec::new();
        let mut next = Some(state);
        loop {
            if let Some(state) = next.take() {
                let mark = self.mark();
                // First all bytes are looked at without going on: the quote, if the string so far is new, or
                // a character with which no string has begun. Only if neither is found does the search go
                // deeper.
                let mut left = untried_bytes(engine, state);
                fuel.burn(left.len() as u64)?;
                let may_end = matches!(self.lex, LexState::String { escape: Escape::None, .. });
                let mut found = false;
                if may_end
                    && self.tells_repeats()
                    && left.contains(&b'"')
                    && let Some(end) = engine.step(state, b'"', fuel)?
                {
                    found = self.may_repeat(engine, end, fuel)?;
                }
                left.retain(|&byte| {
                    let is_end = byte == b'"' && may_end;
                    if is_end {
                        found |= !self.has_seen(&self.text);
                    } else if !found && let LexState::String { novelty, escape, high } = self.lex {
                        // The size was checked where the value was written.
                        // Tried and taken back: only its effect on the novelty matters here.
                        _ = self.in_string(byte, novelty, escape, high);
                        found |= matches!(self.lex, LexState::String { novelty: Novelty::New, .. });
                        self.restore(&mark);
                    }
                    !is_end
                });
                if found {
                    return Ok(true);
                }
                path.push(SearchNode { state, mark, untried: left });
            }
            let Some(node) = path.last_mut() else { return Ok(false) };
            let (state, mark) = (node.state, node.mark);
            let Some(byte) = node.untried.pop() else {
                path.pop();
                continue;
            };
            self.restore(&mark);
            if let Some(after) = engine.step(state, byte, fuel)?
                && let LexState::String { novelty, escape, high } = self.lex
            {
                self.in_string(byte, novelty, escape, high)?;
                next = Some(after);
            }
        }
    }

    fn has_unseen_number<B: Backend>(
        &self,
        engine: &B,
        state: B::State,
        exponent: Exponent,
        fuel: &mut Fuel,
    ) -> Result<bool, StepError> {
        let Some(container) = self.containers.last().filter(|container| !container.seen.is_empty()) else {
            return Ok(true);
        };
        let max_visits = container.seen.len() + 2;
        let mut visits: HashMap<(B::State, Vec<u8>), usize, ahash::RandomState> = HashMap::default();
        // Depth first, large digits first: a number that is longer than those that occurred is soon found.
        let mut left = vec![(state, self.text.clone(), exponent)];
        while let Some((state, text, exponent)) = left.pop() {
            let bytes = engine.next_bytes(state);
            let may = |byte: u8| byte_set::contains(&bytes, byte);
            let may_end = b",]} \t\n\r".iter().any(|&byte| may(byte));
            // The number may end here and is new, or may occur again.
            if may_end
                && (!container.seen.contains(canonical_form(&text).as_slice())
                    || self.may_repeat(engine, state, fuel)?)
            {
                return Ok(true);
            }
            let is_zero = is_zero(&text);
            for byte in b"-+Ee.0123456789".iter().copied().filter(|&byte| may(byte)) {
                fuel.burn(1 + text.len() as u64 / BYTES_PER_UNIT)?;
                let exponent = match (exponent, byte) {
                    (Exponent::None, b'e' | b'E') => Exponent::Digits(0),
                    (Exponent::Digits(MAX_EXPONENT_DIGITS), b'0'..=b'9') => continue,
                    (Exponent::Digits(read), b'0'..=b'9') => Exponent::Digits(read + 1),
                    (exponent, _) => exponent,
                };
                if is_zero && exponent != Exponent::None {
                    // Whatever follows, it is zero.
                    if !container.seen.contains(&b"#0"[..]) {
                        return Ok(true);
                    }
                    continue;
                }
                let Some(next) = engine.step(state, byte, fuel)? else { continue };
                let mut text = text.clone();
                text.push(byte);
                // Its first digits are those of no number that has occurred, so it is new whatever follows.
                if !self.may_equal_seen(&text) {
                    return Ok(true);
                }
                if byte == b'0' && (text.contains(&b'.') || exponent != Exponent::None) {
                    let visits = visits.entry((next, without_trailing_zeros(&text))).or_insert(0);
                    *visits += 1;
                    if *visits > if may_change(engine, next) { max_visits } else { 1 } {
                        continue;
                    }
                }
                left.push((next, text, exponent));
            }
        }
        Ok(false)
    }
}

/// The bytes that may follow; those at the end are to be tried first.
fn untried_bytes<B: Backend>(engine: &B, state: B::State) -> Vec<u8> {
    byte_set::iter(&engine.next_bytes(state)).collect()
}

/// Whether a digit other than 0, or the mark of an exponent, may follow.
fn may_change<B: Backend>(engine: &B, state: B::State) -> bool {
    let after = engine.next_bytes(state);
    b"123456789eE".iter().any(|&byte| byte_set::contains(&after, byte))
}

/// The text without the zeros at its end, after the point or the mark of an exponent.
fn without_trailing_zeros(text: &[u8]) -> Vec<u8> {
    let end = text.iter().rposition(|&byte| byte != b'0').map_or(0, |last| last + 1);
    text[..end].to_vec()
}
