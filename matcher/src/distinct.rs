//! What has occurred where nothing may occur twice.
//!
//! That the items of an array differ (`uniqueItems`) is nothing that a context-free grammar can say: it would need a rule
//! for every set of items. The naive way out compares items when the array is closed, which is too late, since text that
//! was written cannot be taken back. So what has occurred is kept *beside* the parser's state, while the text is written:
//!
//! * the grammar reads arrays of any items, and marks those whose items differ
//!   ([`RuleOptions`](grammask_grammar_ir::RuleOptions)). Where a bracket is read, the backend says whether it opens one
//!   ([`Backend::distinct_scope_at`]);
//! * from that bracket to its counterpart the text is JSON, so that a few states and a stack of open brackets tell where
//!   a value begins and ends ([`Scopes::read`]);
//! * a value that has occurred is refused at its last byte. Values are compared by what they mean: strings are decoded,
//!   numbers are brought into one form;
//! * a value that can only become one that has occurred is refused as soon as that is so: at the `n` of a second `null`,
//!   at the last digit that a pattern asks for. Whether it is so, the parser is asked ([`viable`](self)); nearly always
//!   the first try finds a way out.
//!
//! Items that are arrays or objects are compared when they close, and so are their beginnings, by the values that may still
//! be equal ([`value`](self)). No name repeats inside of them, since it would depend on the reader what they mean.
//!
//! Steps are undone by a journal, so that rolling back, and trying the tokens for a mask, costs what reading did. Sets are
//! shared with forks until one of them adds to its own.

mod masks;
mod number;
mod value;
mod viable;

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use grammask_mask_cache::{TokenSets, ValuePosition};
use grammask_parser_backend::{Backend, DistinctScope, Fuel, StepError};

use self::number::canonical;
use self::value::{Part, PartUndo, Value};

/// Where the text stands, as far as open arrays and objects are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lex {
    /// Nothing is open in which something may not occur twice.
    Outside,
    /// Between values, names and signs.
    Between,
    /// In a string.
    String {
        subject: Subject,
        escape: Escape,
        /// The first half of a surrogate pair, or 0.
        high: u16,
    },
    /// In a number that is compared.
    Number { exponent: Exponent },
    /// In a word that is compared.
    Word,
    /// In a number or word that is not.
    Plain,
}

/// Whether a string is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subject {
    /// It is not.
    Other,
    /// It is, and begins like one that has occurred.
    Known,
    /// It is, and nothing that has occurred begins like it.
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Escape {
    None,
    /// Behind a backslash.
    Begun,
    /// Behind `\u` and so many digits.
    Digits {
        read: u8,
        code: u16,
    },
}

/// Digits of an exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Exponent {
    None,
    Digits(u8),
}

/// Exponents of numbers that are compared have at most so many digits, so that they can be computed with.
const MAX_EXPONENT_DIGITS: u8 = 18;

/// An open array or object.
#[derive(Clone, Debug)]
struct ProgramTemplate {
    bracket: u8,
    /// Whether its items, or its names, are compared.
    is_compared: bool,
    seen: Arc<BTreeSet<Arc<[u8]>>>,
    /// The items that are arrays or objects.
    values: Arc<BTreeSet<Arc<Value>>>,
    /// Bytes of what was seen.
    bytes: usize,
    /// What it is itself, where that is compared.
    part: Option<Box<Part>>,
}

/// What is done when a step is undone.
#[derive(Clone, Debug)]
enum Undo {
    /// Closes what was opened last.
    Opened,
    /// DistinctScope what was closed.
    Closed(ProgramTemplate),
    /// Forgets a value. It was written so, if that is not its form.
    Added { value: Arc<[u8]>, written: Option<Box<[u8]>> },
    /// Forgets an array or object.
    Kept(Arc<Value>),
    /// Takes up a scalar that was ended.
    Ended(Box<[u8]>),
    /// Takes something out of the part that is open.
    Part(PartUndo),
}

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    lex: Lex,
    last: u8,
    text: usize,
    journal: usize,
}

/// What became of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It was read.
    Yes,
    /// With it a value would have occurred twice.
    Refused,
}

/// Where reading stopped before a byte.
pub(crate) struct Stopped<S> {
    /// How many bytes were read.
    pub(crate) read: usize,
    /// The backend's state after them.
    pub(crate) state: S,
}

/// Open arrays and objects, and what has occurred in those whose items or names differ.
#[derive(Clone, Debug)]
pub(crate) struct Scopes {
    lex: Lex,
    /// The last bracket, comma or colon.
    last: u8,
    frames: Vec<ProgramTemplate>,
    /// The value that is being written, if it is compared: `"` and the decoded characters of a string, `#` and the text of
    /// a number, the first letter of a word.
    text: Vec<u8>,
    journal: Vec<Undo>,
    /// The place before each step of the text.
    steps: Vec<Mark>,
    /// Bytes of what has occurred in all that is open.
    bytes: usize,
    max_bytes: usize,
    /// Room for the bits of a mask.
    words: Vec<u32>,
}

/// What a value takes beside its bytes.
const PER_VALUE: usize = 48;

/// Values that are kept apart in one array or object. Frontends count on it: where there are as many values, one is
/// always left.
const MAX_VALUES: usize = (1 << 20) - 1;

/// Items that are compared nest at most so deep.
const MAX_DEEP: usize = 256;

impl Scopes {
    /// Before the first byte. What has occurred may take so many bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            lex: Lex::Outside,
            last: 0,
            frames: Vec::new(),
            text: Vec::new(),
            journal: Vec::new(),
            steps: Vec::new(),
            bytes: 0,
            max_bytes,
            words: Vec::new(),
        }
    }

    /// The same place, without a way back.
    pub(crate) fn here(&self) -> Self {
        Self {
            frames: self.frames.clone(),
            text: self.text.clone(),
            journal: Vec::new(),
            steps: Vec::new(),
            words: Vec::new(),
            ..*self
        }
    }

    /// Whether something is open in which something may not occur twice.
    pub(crate) fn is_open(&self) -> bool {
        self.lex != Lex::Outside
    }

    /// Whether no single token of a vocabulary can write anything twice while nothing is open.
    pub(crate) fn is_harmless(&self, sets: &TokenSets) -> bool {
        sets.tokens_across_values(ValuePosition::Text).is_empty()
    }

    /// This place.
    pub(crate) fn mark(&self) -> Mark {
        Mark { lex: self.lex, last: self.last, text: self.text.len(), journal: self.journal.len() }
    }

    /// Goes back.
    pub(crate) fn restore(&mut self, mark: &Mark) {
        while self.journal.len() > mark.journal {
            match self.journal.pop() {
                None => break,
                Some(Undo::Opened) => {
                    self.frames.pop();
                }
                Some(Undo::Closed(frame)) => {
                    self.bytes += frame.bytes;
                    self.frames.push(frame);
                }
                Some(Undo::Added { value, written }) => self.forget(&value, written),
                Some(Undo::Kept(value)) => {
                    let bytes = value.bytes();
                    if let Some(frame) = self.frames.last_mut() {
                        Arc::make_mut(&mut frame.values).remove(&value);
                        frame.bytes -= bytes;
                        self.bytes -= bytes;
                    }
                }
                Some(Undo::Ended(text)) => {
                    self.text.clear();
                    self.text.extend_from_slice(&text);
                }
                Some(Undo::Part(undo)) => {
                    if let Some(part) = self.part() {
                        part.undo(undo);
                    }
                }
            }
        }
        self.text.truncate(mark.text);
        (self.lex, self.last) = (mark.lex, mark.last);
    }

    fn forget(&mut self, value: &Arc<[u8]>, written: Option<Box<[u8]>>) {
        if let Some(frame) = self.frames.last_mut() {
            Arc::make_mut(&mut frame.seen).remove(value);
            frame.bytes -= value.len() + PER_VALUE;
            self.bytes -= value.len() + PER_VALUE;
        }
        self.text.clear();
        self.text.extend_from_slice(written.as_deref().unwrap_or(value));
    }

    /// A step was taken that began at a mark.
    pub(crate) fn push_step(&mut self, before: Mark) {
        self.steps.push(before);
    }

    /// Forgets all steps but the first.
    pub(crate) fn truncate(&mut self, steps: usize) {
        if let Some(&mark) = self.steps.get(steps) {
            self.restore(&mark);
            self.steps.truncate(steps);
        }
    }

    /// Reads bytes with the backend: the state after them, or how many were read. Where they are refused, this is left
    /// somewhere behind them; go back to a mark then.
    pub(crate) fn read_all<B: Backend>(
        &mut self,
        engine: &B,
        mut state: B::State,
        bytes: &[u8],
        fuel: &mut Fuel,
    ) -> Result<Result<B::State, usize>, StepError> {
        for (read, &byte) in bytes.iter().enumerate() {
            let Some(next) = engine.step(state, byte, fuel)? else { return Ok(Err(read)) };
            if self.read(engine, state, byte)? == Read::Refused {
                return Ok(Err(read));
            }
            state = next;
        }
        // If there is a way on from the last byte, there is one from each before it.
        Ok(if self.is_viable(engine, state, fuel)? { Ok(state) } else { Err(bytes.len().saturating_sub(1)) })
    }

    /// As [`read_all`](Self::read_all), and tells exactly how many bytes were read.
    pub(crate) fn read_each<B: Backend>(
        &mut self,
        engine: &B,
        mut state: B::State,
        bytes: &[u8],
        fuel: &mut Fuel,
    ) -> Result<Result<B::State, Stopped<B::State>>, StepError> {
        for (read, &byte) in bytes.iter().enumerate() {
            match self.read_one(engine, state, byte, fuel)? {
                Some(next) => state = next,
                None => return Ok(Err(Stopped { read, state })),
            }
        }
        Ok(Ok(state))
    }

    /// Reads a byte that leaves a way on. Otherwise nothing is read.
    pub(crate) fn read_one<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<B::State>, StepError> {
        let Some(next) = engine.step(state, byte, fuel)? else { return Ok(None) };
        let mark = self.mark();
        if self.read(engine, state, byte)? == Read::Yes && self.is_viable(engine, next, fuel)? {
            return Ok(Some(next));
        }
        self.restore(&mark);
        Ok(None)
    }

    /// The bytes that may be read next, out of those that the backend reads.
    pub(crate) fn next_bytes<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<[u64; 4], StepError> {
        let mut bits = engine.next_bytes(state);
        if !self.is_open() {
            return Ok(bits);
        }
        let mark = self.mark();
        for byte in 0..=255u8 {
            let (word, bit) = (usize::from(byte >> 6), 1u64 << (byte & 63));
            if bits[word] & bit != 0 {
                if self.read_one(engine, state, byte, fuel)?.is_none() {
                    bits[word] &= !bit;
                }
                self.restore(&mark);
            }
        }
        Ok(bits)
    }

    /// The only byte that may be read next, if there is just one.
    pub(crate) fn only_byte<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        fuel: &mut Fuel,
    ) -> Result<Option<u8>, StepError> {
        let bits = engine.next_bytes(state);
        let mark = self.mark();
        let mut only = None;
        for byte in crate::matcher::allowed_bytes(&bits) {
            let is_read = !self.is_open() || self.read_one(engine, state, byte, fuel)?.is_some();
            self.restore(&mark);
            if is_read && only.replace(byte).is_some() {
                return Ok(None);
            }
        }
        Ok(only)
    }

    /// Reads a byte that the backend reads from the state. Where it is refused, go back to a mark.
    #[inline]
    fn read<B: Backend>(&mut self, engine: &B, state: B::State, byte: u8) -> Result<Read, StepError> {
        match self.lex {
            Lex::Outside if byte != b'[' && byte != b'{' => Ok(Read::Yes),
            Lex::Outside => self.open(engine.distinct_scope_at(state, byte), byte),
            Lex::String { subject, escape, high } => self.in_string(byte, subject, escape, high),
            Lex::Number { exponent } => match byte {
                b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' => self.end_value(engine, state, byte),
                _ => self.in_number(byte, exponent),
            },
            Lex::Word => match byte {
                b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' => self.end_value(engine, state, byte),
                _ => Ok(Read::Yes),
            },
            Lex::Between | Lex::Plain => self.between(engine, state, byte),
        }
    }

    fn between<B: Backend>(&mut self, engine: &B, state: B::State, byte: u8) -> Result<Read, StepError> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => self.lex = Lex::Between,
            b',' | b':' => (self.lex, self.last) = (Lex::Between, byte),
            b'[' | b'{' => return self.open(engine.distinct_scope_at(state, byte), byte),
            b']' | b'}' => return self.close(byte),
            b'"' => {
                let mut subject = Subject::Other;
                if self.compares_next(byte) {
                    self.text.push(b'"');
                    subject = if self.begins_like_known() { Subject::Known } else { Subject::New };
                }
                self.lex = Lex::String { subject, escape: Escape::None, high: 0 };
            }
            _ if self.lex == Lex::Plain || !self.compares_next(byte) => self.lex = Lex::Plain,
            b'-' | b'0'..=b'9' => {
                self.text.extend([b'#', byte]);
                self.lex = Lex::Number { exponent: Exponent::None };
            }
            letter => {
                // Each letter begins one word alone.
                self.text.push(letter);
                self.lex = Lex::Word;
                if self.has_seen(&self.text) {
                    return Ok(Read::Refused);
                }
            }
        }
        Ok(Read::Yes)
    }

    /// Whether a value or name that begins with a byte is compared.
    fn compares_next(&self, byte: u8) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        // In an object only strings are names, and those behind a colon are none.
        frame.part.is_some()
            || frame.is_compared && (frame.bracket == b'[' || byte == b'"' && self.last != b':')
    }

    /// Whether a string at this place is a name.
    fn is_at_name(&self) -> bool {
        self.last != b':' && self.frames.last().is_some_and(|frame| frame.bracket == b'{')
    }

    /// The array or object that was opened last, if it is compared as a whole.
    fn part(&mut self) -> Option<&mut Part> {
        self.frames.last_mut()?.part.as_deref_mut()
    }

    fn open(&mut self, opens: DistinctScope, bracket: u8) -> Result<Read, StepError> {
        let is_compared = match opens {
            DistinctScope::Nothing if self.lex == Lex::Outside => return Ok(Read::Yes),
            DistinctScope::Nothing => false,
            DistinctScope::Items | DistinctScope::Names => true,
            DistinctScope::Ambiguous => return Err(StepError::UnclearDistinct),
        };
        let part = self.frames.last().and_then(|around| {
            let is_item = around.is_compared && around.bracket == b'[';
            let mut like = match &around.part {
                Some(part) => part.like_inside(bracket),
                None if is_item => Vec::new(),
                None => return None,
            };
            if is_item {
                like.push(value::opened(around.values.iter(), bracket));
            }
            Some(Box::new(Part::new(bracket, like)))
        });
        if part.is_some() && self.frames.iter().filter(|frame| frame.part.is_some()).count() >= MAX_DEEP {
            return Err(StepError::TooDeepDistinct { limit: MAX_DEEP });
        }
        let is_compared = is_compared || part.is_some() && bracket == b'{';
        let (seen, values) = (Arc::default(), Arc::default());
        self.frames.push(ProgramTemplate { bracket, is_compared, seen, values, bytes: 0, part });
        self.journal.push(Undo::Opened);
        (self.lex, self.last) = (Lex::Between, bracket);
        Ok(Read::Yes)
    }

    fn close(&mut self, bracket: u8) -> Result<Read, StepError> {
        let mut whole = None;
        if let Some(frame) = self.frames.pop() {
            self.bytes -= frame.bytes;
            whole = frame.part.as_ref().map(|part| part.value());
            self.journal.push(Undo::Closed(frame));
        }
        self.last = bracket;
        self.lex = if self.frames.is_empty() { Lex::Outside } else { Lex::Between };
        match whole {
            Some(value) => self.end_part(Arc::new(value)),
            None => Ok(Read::Yes),
        }
    }

    /// An array or object was closed that is an item, or a part of one.
    fn end_part(&mut self, value: Arc<Value>) -> Result<Read, StepError> {
        let bytes = value.bytes();
        if let Some(frame) = self.frames.last_mut()
            && frame.is_compared
            && frame.bracket == b'['
        {
            if frame.values.contains(&value) {
                return Ok(Read::Refused);
            }
            if frame.seen.len() + frame.values.len() >= MAX_VALUES {
                return Err(StepError::TooManyDistinct { bytes: self.bytes, limit: self.bytes });
            }
            Arc::make_mut(&mut frame.values).insert(Arc::clone(&value));
            frame.bytes += bytes;
            self.bytes += bytes;
            self.journal.push(Undo::Kept(Arc::clone(&value)));
        }
        if let Some(undo) = self.part().map(|part| part.grown(value)) {
            self.journal.push(Undo::Part(undo));
        }
        self.check_size()
    }

    fn in_string(
        &mut self,
        byte: u8,
        subject: Subject,
        escape: Escape,
        high: u16,
    ) -> Result<Read, StepError> {
        let inside = |subject, escape, high| Lex::String { subject, escape, high };
        let is_compared = subject != Subject::Other;
        match (escape, byte) {
            (Escape::None, b'"') => {
                self.push_lone(subject, high);
                self.lex = Lex::Between;
                return if is_compared { self.end_scalar(None) } else { Ok(Read::Yes) };
            }
            (Escape::None, b'\\') => self.lex = inside(subject, Escape::Begun, high),
            (Escape::None, _) => {
                let subject = self.push_lone(subject, high);
                self.lex = inside(self.push(subject, &[byte]), Escape::None, 0);
            }
            (Escape::Begun, b'u') => {
                self.lex = inside(subject, Escape::Digits { read: 0, code: 0 }, high);
            }
            (Escape::Begun, _) => {
                let subject = self.push_lone(subject, high);
                let meant = match byte {
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => other,
                };
                self.lex = inside(self.push(subject, &[meant]), Escape::None, 0);
            }
            (Escape::Digits { read, code }, _) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as u16;
                let code = code << 4 | digit;
                self.lex = match read {
                    3 => {
                        let (subject, high) = self.push_unit(subject, high, code);
                        inside(subject, Escape::None, high)
                    }
                    _ => inside(subject, Escape::Digits { read: read + 1, code }, high),
                };
            }
        }
        self.check_size()
    }

    /// Adds what a unit of UTF-16 stands for. A first half waits for its second one.
    fn push_unit(&mut self, subject: Subject, high: u16, unit: u16) -> (Subject, u16) {
        if high != 0 && (0xDC00..0xE000).contains(&unit) {
            let code = 0x1_0000 + (u32::from(high - 0xD800) << 10) + u32::from(unit - 0xDC00);
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            return (self.push(subject, character.encode_utf8(&mut [0; 4]).as_bytes()), 0);
        }
        let subject = self.push_lone(subject, high);
        match char::from_u32(u32::from(unit)) {
            Some(character) => (self.push(subject, character.encode_utf8(&mut [0; 4]).as_bytes()), 0),
            None if unit < 0xDC00 => (subject, unit),
            None => (self.push(subject, &surrogate(unit)), 0),
        }
    }

    /// A first half without a second one is a character of its own kind.
    fn push_lone(&mut self, subject: Subject, high: u16) -> Subject {
        if high == 0 { subject } else { self.push(subject, &surrogate(high)) }
    }

    /// Adds to the string, if it is compared. Says whether it still begins like one that has occurred.
    fn push(&mut self, subject: Subject, bytes: &[u8]) -> Subject {
        if subject == Subject::Other {
            return subject;
        }
        self.text.extend_from_slice(bytes);
        if subject == Subject::Known && self.begins_like_known() { Subject::Known } else { Subject::New }
    }

    fn in_number(&mut self, byte: u8, exponent: Exponent) -> Result<Read, StepError> {
        let exponent = match (exponent, byte) {
            (Exponent::None, b'e' | b'E') => Exponent::Digits(0),
            (Exponent::Digits(MAX_EXPONENT_DIGITS), b'0'..=b'9') => return Ok(Read::Refused),
            (Exponent::Digits(read), b'0'..=b'9') => Exponent::Digits(read + 1),
            (exponent, _) => exponent,
        };
        self.text.push(byte);
        self.lex = Lex::Number { exponent };
        self.check_size()
    }

    /// A number or word ends before a byte.
    fn end_value<B: Backend>(&mut self, engine: &B, state: B::State, byte: u8) -> Result<Read, StepError> {
        let value = matches!(self.lex, Lex::Number { .. }).then(|| canonical(&self.text));
        if self.end_scalar(value)? == Read::Refused {
            return Ok(Read::Refused);
        }
        self.lex = Lex::Between;
        self.between(engine, state, byte)
    }

    /// A scalar or name is whole. It is the text, if it has no other form.
    fn end_scalar(&mut self, form: Option<Vec<u8>>) -> Result<Read, StepError> {
        let is_name = self.is_at_name();
        let Some(frame) = self.frames.last() else { return Ok(Read::Yes) };
        let is_compared = frame.is_compared && (frame.bracket == b'[' || is_name);
        let value: Option<Box<[u8]>> =
            frame.part.is_some().then(|| form.as_deref().unwrap_or(&self.text).into());
        if is_compared {
            if self.add(form)? == Read::Refused {
                return Ok(Read::Refused);
            }
        } else {
            self.journal.push(Undo::Ended(self.text.as_slice().into()));
            self.text.clear();
        }
        if let Some(value) = value
            && let Some(part) = self.part()
        {
            let undo = match is_name {
                true => part.named(&value),
                false => part.grown(Arc::new(Value::Scalar(value))),
            };
            self.journal.push(Undo::Part(undo));
        }
        Ok(Read::Yes)
    }

    /// Adds a value to those that have occurred.
    fn add(&mut self, form: Option<Vec<u8>>) -> Result<Read, StepError> {
        let value = form.as_deref().unwrap_or(&self.text);
        if self.has_seen(value) {
            return Ok(Read::Refused);
        }
        let value: Arc<[u8]> = value.into();
        if let Some(frame) = self.frames.last_mut() {
            if frame.seen.len() + frame.values.len() >= MAX_VALUES {
                return Err(StepError::TooManyDistinct { bytes: self.bytes, limit: self.bytes });
            }
            Arc::make_mut(&mut frame.seen).insert(Arc::clone(&value));
            frame.bytes += value.len() + PER_VALUE;
            self.bytes += value.len() + PER_VALUE;
        }
        let written = form.map(|_| self.text.as_slice().into());
        self.journal.push(Undo::Added { value, written });
        self.text.clear();
        self.check_size()
    }

    fn check_size(&self) -> Result<Read, StepError> {
        let (bytes, limit) = (self.bytes + self.text.len(), self.max_bytes);
        if bytes > limit { Err(StepError::TooManyDistinct { bytes, limit }) } else { Ok(Read::Yes) }
    }

    fn has_seen(&self, value: &[u8]) -> bool {
        self.frames.last().is_some_and(|frame| frame.seen.contains(value))
    }

    /// Whether what is written is the beginning of something that has occurred.
    fn begins_like_known(&self) -> bool {
        self.is_beginning(&self.text)
    }

    /// Whether a number whose text begins so may become one that has occurred.
    fn may_be_known(&self, text: &[u8]) -> bool {
        match number::beginnings(text) {
            Some(beginnings) => beginnings.iter().any(|begin| self.is_beginning(begin)),
            None => self.is_beginning(b"#"),
        }
    }

    /// Whether something that has occurred, and may be the value or name at this place, begins so.
    fn is_beginning(&self, text: &[u8]) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let is_name = self.is_at_name();
        if frame.part.as_ref().is_some_and(|part| part.begins_like(text, is_name)) {
            return true;
        }
        if !(frame.is_compared && (frame.bracket == b'[' || is_name)) {
            return false;
        }
        let range = (Bound::Included(text), Bound::Unbounded);
        frame.seen.range::<[u8], _>(range).next().is_some_and(|value| value.starts_with(text))
    }
}

/// Half of a surrogate pair, in bytes that no character has.
fn surrogate(unit: u16) -> [u8; 3] {
    [0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8]
}
