//! Reads JSON texts.

use bumpalo::Bump;
use indexmap::IndexMap;

use super::borrowed::{Fingerprint, Member, Members, Value};
use super::error::JsonError;
use super::value::JsonValue;

/// Arrays and objects that may be open at once.
const MAX_DEPTH: u32 = 127;

/// Members whose texts are for people. Programs that cut such a text short may leave half of a pair of surrogates.
const PROSE: [&str; 3] = ["description", "title", "$comment"];
/// Members with values that an instance is compared with.
const COMPARED: [&str; 2] = ["const", "enum"];

/// Reads a JSON text.
pub(crate) fn parse<'t>(
    text: &'t str,
    arena: &'t Bump,
    fingerprint: Fingerprint,
) -> Result<Value<'t>, JsonError> {
    let mut parser = JsonParser::new(text, arena, fingerprint);
    let value = parser.value(0);
    parser.skip_space();
    match value {
        Some(value) if parser.at == text.len() => Ok(value),
        _ => Err(JsonError::of(text, parser.at, parser.is_half)),
    }
}

/// Reads the JSON value that a text begins with, and says where it ends.
pub(crate) fn parse_prefix(text: &str) -> Result<(JsonValue, usize), JsonError> {
    let arena = Bump::new();
    let mut parser = JsonParser::new(text, &arena, |_| 0);
    match parser.value(0) {
        Some(value) => Ok((JsonValue::from(&value), parser.at)),
        None => Err(JsonError::of(text, parser.at, parser.is_half)),
    }
}

struct JsonParser<'t> {
    text: &'t str,
    arena: &'t Bump,
    fingerprint: Fingerprint,
    at: usize,
    /// Items and members of the arrays and objects that are being read.
    items: Vec<Value<'t>>,
    members: Vec<Member<'t>>,
    /// The names of the members that are being read; those of items are empty.
    names: Vec<&'t str>,
    /// Whether half of a pair of surrogates breaks the text.
    is_half: bool,
}

/// Every method but `skip_space` answers `None` where the text is broken.
impl<'t> JsonParser<'t> {
    fn new(text: &'t str, arena: &'t Bump, fingerprint: Fingerprint) -> Self {
        let (items, members, names) = Default::default();
        Self { text, arena, fingerprint, at: 0, items, members, names, is_half: false }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: u32) -> Option<Value<'t>> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'{' if depth < MAX_DEPTH => self.object(depth + 1),
            b'[' if depth < MAX_DEPTH => self.array(depth + 1),
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: Value<'t>) -> Option<Value<'t>> {
        let is_word = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_word.then_some(value)
    }

    fn array(&mut self, depth: u32) -> Option<Value<'t>> {
        let start = self.items.len();
        self.at += 1;
        self.skip_space();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Value::Array(&[]));
        }
        self.names.push("");
        loop {
            let item = self.value(depth)?;
            self.items.push(item);
            self.skip_space();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return None,
            }
        }
        self.names.pop();
        self.at += 1;
        Some(Value::Array(self.arena.alloc_slice_fill_iter(self.items.drain(start..))))
    }

    fn object(&mut self, depth: u32) -> Option<Value<'t>> {
        let start = self.members.len();
        self.at += 1;
        self.skip_space();
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            loop {
                self.skip_space();
                let name = self.string()?;
                self.skip_space();
                self.take(b':')?;
                self.names.push(name);
                let value = self.value(depth)?;
                self.names.pop();
                self.members.push((name, value));
                self.skip_space();
                match self.peek()? {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return None,
                }
            }
            self.at += 1;
        }
        let entries = self.arena.alloc_slice_fill_iter(self.members.drain(start..));
        let members = Members::new(entries, self.arena, self.fingerprint);
        members.or_else(|| self.without_repeats(entries)).map(Value::Object)
    }

    /// A name that repeats keeps its first place, with the last of its values.
    fn without_repeats(&self, entries: &[Member<'t>]) -> Option<&'t Members<'t>> {
        let once: IndexMap<&'t str, Value<'t>> = entries.iter().copied().collect();
        Members::new(self.arena.alloc_slice_fill_iter(once), self.arena, self.fingerprint)
    }

    fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let start = self.at;
        self.skip_plain();
        if self.peek()? == b'"' {
            self.at += 1;
            return Some(&self.text[start..self.at - 1]);
        }
        let mut text = self.text[start..self.at].to_owned();
        loop {
            let plain = self.at;
            self.skip_plain();
            text.push_str(&self.text[plain..self.at]);
            match self.peek()? {
                b'"' => break,
                b'\\' => text.push(self.escape()?),
                _ => return None,
            }
        }
        self.at += 1;
        Some(self.arena.alloc_str(&text))
    }

    /// Skips unescaped characters of a string, eight bytes at a time.
    fn skip_plain(&mut self) {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        let bytes = self.text.as_bytes();
        while let Some(&chunk) = bytes[self.at..].first_chunk::<8>() {
            let word = u64::from_le_bytes(chunk);
            let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
            let quotes = zeros(word ^ (ONES * u64::from(b'"')));
            let backslashes = zeros(word ^ (ONES * u64::from(b'\\')));
            // Bytes below 0x20. As with the others, the lowest bit that is found is right.
            let controls = word.wrapping_sub(ONES * 0x20) & !word;
            let found = (quotes | backslashes | controls) & (ONES << 7);
            if found != 0 {
                self.at += found.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while let Some(byte) = self.peek() {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                return;
            }
            self.at += 1;
        }
    }

    /// The character that an escape stands for.
    fn escape(&mut self) -> Option<char> {
        self.take(b'\\')?;
        let letter = self.peek()?;
        self.at += 1;
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                let end = self.at;
                match char::from_u32(unit).or_else(|| self.pair(unit)) {
                    Some(character) => character,
                    None => {
                        self.at = end;
                        self.is_half = !self.is_prose();
                        (!self.is_half).then_some(char::REPLACEMENT_CHARACTER)?
                    }
                }
            }
            _ => return None,
        })
    }

    /// The character of which the first half was read.
    fn pair(&mut self, first: u32) -> Option<char> {
        self.take(b'\\')?;
        self.take(b'u')?;
        let pair = [first as u16, self.unit()? as u16];
        char::decode_utf16(pair).next()?.ok()
    }

    /// Whether the text at hand is for people.
    fn is_prose(&self) -> bool {
        let is_prose = self.names.last().is_some_and(|name| PROSE.contains(name));
        is_prose && !self.names.iter().any(|name| COMPARED.contains(name))
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
    }

    fn number(&mut self) -> Option<Value<'t>> {
        let start = self.at;
        if self.peek()? == b'-' {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(Value::Number(&self.text[start..self.at]))
    }

    /// One digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
