//! Reading one byte of JSON.
//!
//! Strings that are compared are decoded on the way, escapes and pairs of surrogates included; numbers and words are
//! kept as they are written until they end.

use grammask_grammar_ir::TokenRef;
use grammask_parser_backend::{Backend, Fuel, StepError, TokenEdges};

use super::json_lexer::number::canonical_form;
use super::json_lexer::state::{
    ByteVerdict, Escape, Exponent, LexState, MAX_EXPONENT_DIGITS, Novelty, Repeat,
};
use crate::unique::scopes::UniqueScopes;

impl UniqueScopes {
    /// Reads a byte that leads the backend from a state to a next one: the state after it. This is another one where only
    /// some derivations go on, because a value has occurred twice. `None` where none does; go back to a mark then.
    #[inline]
    pub(super) fn read_to<B: Backend>(
        &mut self,
        engine: &B,
        (state, next): (B::State, B::State),
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<B::State>, StepError> {
        match self.read(engine, state, byte)? {
            ByteVerdict::Accepted => Ok(Some(next)),
            ByteVerdict::Refused => Ok(None),
            ByteVerdict::Repeated(Repeat::After) => after_repeat(engine, next, fuel),
            ByteVerdict::Repeated(repeat) => {
                let Some(state) = after_repeat(engine, state, fuel)? else { return Ok(None) };
                match (repeat, engine.step(state, byte, fuel)?) {
                    (Repeat::Both, Some(next)) => after_repeat(engine, next, fuel),
                    (_, next) => Ok(next),
                }
            }
        }
    }

    /// Reads a byte that the backend reads from the state. Where it is refused, go back to a mark.
    #[inline]
    pub(super) fn read<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        byte: u8,
    ) -> Result<ByteVerdict, StepError> {
        match self.lex {
            // Nearly all bytes end here: nothing is compared where no array or object is open that asks for
            // it.
            LexState::Outside if byte != b'[' && byte != b'{' => Ok(ByteVerdict::Accepted),
            LexState::Outside => self.open(engine, state, byte),
            LexState::String { novelty, escape, high } => self.in_string(byte, novelty, escape, high),
            LexState::Number { exponent } => match byte {
                b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' => self.end_value(engine, state, byte),
                _ => self.in_number(byte, exponent),
            },
            LexState::Literal => match byte {
                b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' => self.end_value(engine, state, byte),
                _ => Ok(ByteVerdict::Accepted),
            },
            LexState::Between | LexState::Skipped => self.between(engine, state, byte),
        }
    }

    fn between<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        byte: u8,
    ) -> Result<ByteVerdict, StepError> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => self.lex = LexState::Between,
            b',' | b':' => (self.lex, self.last_structural) = (LexState::Between, byte),
            b'[' | b'{' => return self.open(engine, state, byte),
            b']' | b'}' => return self.close(byte),
            b'"' => {
                let mut novelty = Novelty::Uncompared;
                if self.compares_next(byte) {
                    self.text.push(b'"');
                    novelty = if self.is_prefix_of_seen() { Novelty::SeenPrefix } else { Novelty::New };
                }
                self.lex = LexState::String { novelty, escape: Escape::None, high: 0 };
            }
            // A number or word that is not compared is passed without being read.
            _ if self.lex == LexState::Skipped || !self.compares_next(byte) => self.lex = LexState::Skipped,
            b'-' | b'0'..=b'9' => {
                self.text.extend([b'#', byte]);
                self.lex = LexState::Number { exponent: Exponent::None };
            }
            letter => {
                // Each letter begins one word alone.
                self.text.push(letter);
                self.lex = LexState::Literal;
                if self.has_seen(&self.text) && !self.tells_repeats() {
                    return Ok(ByteVerdict::Refused);
                }
            }
        }
        Ok(ByteVerdict::Accepted)
    }

    pub(crate) fn in_string(
        &mut self,
        byte: u8,
        novelty: Novelty,
        escape: Escape,
        high: u16,
    ) -> Result<ByteVerdict, StepError> {
        let inside = |novelty, escape, high| LexState::String { novelty, escape, high };
        let is_compared = novelty != Novelty::Uncompared;
        match (escape, byte) {
            (Escape::None, b'"') => {
                self.push_lone_surrogate(novelty, high);
                self.lex = LexState::Between;
                return if is_compared { self.end_scalar(None) } else { Ok(ByteVerdict::Accepted) };
            }
            // `high` is kept: the escape may be the second half of its pair. Any other character, and the end
            // of the string, show that there is none.
            (Escape::None, b'\\') => self.lex = inside(novelty, Escape::Backslash, high),
            (Escape::None, _) => {
                let novelty = self.push_lone_surrogate(novelty, high);
                self.lex = inside(self.push_decoded(novelty, &[byte]), Escape::None, 0);
            }
            (Escape::Backslash, b'u') => {
                self.lex = inside(novelty, Escape::Unicode { read: 0, code: 0 }, high);
            }
            (Escape::Backslash, _) => {
                let novelty = self.push_lone_surrogate(novelty, high);
                let meant = match byte {
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => other,
                };
                self.lex = inside(self.push_decoded(novelty, &[meant]), Escape::None, 0);
            }
            (Escape::Unicode { read, code }, _) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as u16;
                let code = code << 4 | digit;
                self.lex = match read {
                    3 => {
                        let (novelty, high) = self.push_utf16_unit(novelty, high, code);
                        inside(novelty, Escape::None, high)
                    }
                    _ => inside(novelty, Escape::Unicode { read: read + 1, code }, high),
                };
            }
        }
        self.check_size()
    }

    /// Adds the character of a unit of UTF-16. A first half waits for its second one.
    fn push_utf16_unit(&mut self, novelty: Novelty, high: u16, unit: u16) -> (Novelty, u16) {
        if high != 0 && (0xDC00..0xE000).contains(&unit) {
            let code = 0x1_0000 + (u32::from(high - 0xD800) << 10) + u32::from(unit - 0xDC00);
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            return (self.push_decoded(novelty, character.encode_utf8(&mut [0; 4]).as_bytes()), 0);
        }
        let novelty = self.push_lone_surrogate(novelty, high);
        match char::from_u32(u32::from(unit)) {
            Some(character) => (self.push_decoded(novelty, character.encode_utf8(&mut [0; 4]).as_bytes()), 0),
            // Only a first half can be continued. It is added when the next character shows that no second
            // half follows.
            None if unit < 0xDC00 => (novelty, unit),
            None => (self.push_decoded(novelty, &surrogate(unit)), 0),
        }
    }

    /// A first half without a second one is a character of its own kind.
    fn push_lone_surrogate(&mut self, novelty: Novelty, high: u16) -> Novelty {
        if high == 0 { novelty } else { self.push_decoded(novelty, &surrogate(high)) }
    }

    /// Adds to the string, if it is compared. Says whether it still begins like one that has occurred.
    fn push_decoded(&mut self, novelty: Novelty, bytes: &[u8]) -> Novelty {
        if novelty == Novelty::Uncompared {
            return novelty;
        }
        self.text.extend_from_slice(bytes);
        if novelty == Novelty::SeenPrefix && self.is_prefix_of_seen() {
            Novelty::SeenPrefix
        } else {
            Novelty::New
        }
    }

    fn in_number(&mut self, byte: u8, exponent: Exponent) -> Result<ByteVerdict, StepError> {
        let exponent = match (exponent, byte) {
            (Exponent::None, b'e' | b'E') => Exponent::Digits(0),
            // A larger exponent would not fit the numbers that it is computed with, so it is refused and
            // never compared wrongly.
            (Exponent::Digits(MAX_EXPONENT_DIGITS), b'0'..=b'9') => return Ok(ByteVerdict::Refused),
            (Exponent::Digits(read), b'0'..=b'9') => Exponent::Digits(read + 1),
            (exponent, _) => exponent,
        };
        self.text.push(byte);
        self.lex = LexState::Number { exponent };
        self.check_size()
    }

    /// A number or word ends before a byte.
    fn end_value<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        byte: u8,
    ) -> Result<ByteVerdict, StepError> {
        // A number ends only with the byte after it, so the value is compared first, and then the byte is
        // read as one between values.
        let value = matches!(self.lex, LexState::Number { .. }).then(|| canonical_form(&self.text));
        let before = self.end_scalar(value)?;
        if before == ByteVerdict::Refused {
            return Ok(ByteVerdict::Refused);
        }
        self.lex = LexState::Between;
        Ok(match (before, self.between(engine, state, byte)?) {
            (ByteVerdict::Accepted, verdict) | (_, verdict @ ByteVerdict::Refused) => verdict,
            (_, ByteVerdict::Accepted) => ByteVerdict::Repeated(Repeat::Before),
            (_, ByteVerdict::Repeated(_)) => ByteVerdict::Repeated(Repeat::Both),
        })
    }
}

/// The state in which only those derivations go on that allow a repeated value.
pub(super) fn after_repeat<B: Backend>(
    engine: &B,
    state: B::State,
    fuel: &mut Fuel,
) -> Result<Option<B::State>, StepError> {
    engine.token_edges().step_token(state, TokenRef::REPEATED, fuel)
}

/// Half of a surrogate pair, in bytes that no character has.
fn surrogate(unit: u16) -> [u8; 3] {
    [0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8]
}
