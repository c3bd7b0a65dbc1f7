//! The values that have occurred where nothing may occur twice.
//!
//! No context-free grammar can say that the items of an array differ (`uniqueItems`): it would need a rule
//! for every set of items. The naive way out compares items when the array is closed, which is too late,
//! since text that was written cannot be taken back. So the values that have occurred are kept *beside* the
//! parser's state, while the text is written:
//!
//! * the grammar reads arrays of any items, and marks those whose items differ
//!   ([`RuleOptions`](grammask_grammar_ir::RuleOptions)). Where a bracket is read, the backend says whether it opens one
//!   ([`DistinctScopes::distinct_scope_at`]);
//! * from that bracket to its counterpart the text is JSON, so that a few states and a stack of open brackets tell where
//!   a value begins and ends ([`UniqueScopes::read`]);
//! * a value that has occurred is refused at its last byte. Values are compared by their meaning: strings are
//!   decoded, numbers are brought into one form;
//! * a value that can only become one that has occurred is refused as soon as that is so. Examples are the
//!   `n` of a second `null`, and the last digit that a pattern asks for. The parser is asked whether it is so
//!   ([`completions`](super::completions)); nearly always the first try finds another continuation.
//!
//! Where only some derivations of the text are in such an array, a value that has occurred is refused if no other
//! derivation goes on. These tell so by a symbol that they may read after it
//! ([`TokenRef::REPEATED`]). After it nothing is compared any more.
//!
//! Items that are arrays or objects are compared when they close, and so are their beginnings, by the values
//! that may still be equal ([`value`]). No name repeats inside of them, since different readers would give
//! such an object different meanings.
//!
//! Steps are undone by a journal, so that rolling back, and trying the tokens for a mask, costs as much as
//! reading did. Sets are shared with forks until one of them adds to its own, and so is the journal.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use grammask_grammar_ir::TokenRef;
use grammask_grammar_ir::byte_set;
use grammask_mask_cache::{TokenSets, ValuePosition};
use grammask_parser_backend::{
    Backend, DistinctScope, DistinctScopes, Fuel, SharedVec, StepError, TokenEdges,
};

use super::json_lexer::number;
use super::json_lexer::state::{ByteVerdict, LexState, Repeat};
use super::value::{self, PartialContainer, PartialUndo, VALUE_OVERHEAD, Value};

/// An open array or object.
#[derive(Clone, Debug)]
pub(super) struct OpenContainer {
    pub(super) bracket: u8,
    /// Whether its items, or its names, are compared.
    pub(super) is_compared: bool,
    /// Whether there are derivations in which they are not, and which tell where one repeats.
    tells_repeats: bool,
    pub(super) seen: Arc<BTreeSet<Arc<[u8]>>>,
    /// The items that are arrays or objects.
    values: Arc<BTreeSet<Arc<Value>>>,
    /// Bytes of the values.
    bytes: usize,
    /// Its own value so far, where that is compared.
    pub(super) partial: Option<Box<PartialContainer>>,
}

/// The undoing of one step.
#[derive(Clone, Debug)]
enum JournalEntry {
    /// Closes the container that was opened last.
    Opened,
    /// Opens a container that was closed.
    Closed(OpenContainer),
    /// Forgets a value. It was written so, if that is not its form.
    ScalarAdded { value: Arc<[u8]>, written: Option<Box<[u8]>> },
    /// Compares the values again that had occurred before one repeated.
    Repeated { seen: Arc<BTreeSet<Arc<[u8]>>>, values: Arc<BTreeSet<Arc<Value>>>, bytes: usize },
    /// Forgets an array or object.
    ContainerAdded(Arc<Value>),
    /// Takes up a scalar that was ended.
    ScalarEnded(Box<[u8]>),
    /// Takes something out of the part that is open.
    Partial(PartialUndo),
}

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    lex: LexState,
    last_structural: u8,
    text: usize,
    journal: usize,
}

/// Where reading stopped before a byte.
pub(crate) struct Stopped<S> {
    /// How many bytes were read.
    pub(crate) read: usize,
    /// The backend's state after them.
    pub(crate) state: S,
}

/// Open arrays and objects, and the values that have occurred in those whose items or names differ.
#[derive(Clone, Debug)]
pub(crate) struct UniqueScopes {
    pub(super) lex: LexState,
    /// The last bracket, comma or colon.
    pub(super) last_structural: u8,
    pub(super) containers: Vec<OpenContainer>,
    /// The value that is being written, if it is compared: `"` and the decoded characters of a string, `#` and the text of
    /// a number, the first letter of a word.
    pub(super) text: Vec<u8>,
    journal: SharedVec<JournalEntry>,
    /// The place before each step of the text.
    steps: SharedVec<Mark>,
    /// Bytes of the values that have occurred in all open containers.
    bytes: usize,
    max_bytes: usize,
    /// Room for the bits of a mask.
    pub(super) words: Vec<u32>,
}

/// Values that are kept apart in one array or object. Frontends count on it: where there are as many values, one is
/// always left.
const MAX_VALUES: usize = (1 << 20) - 1;

/// Items that are compared nest at most so deep.
const MAX_COMPARED_DEPTH: usize = 256;

impl UniqueScopes {
    /// Before the first byte. The values that occur may take up to `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            lex: LexState::Outside,
            last_structural: 0,
            containers: Vec::new(),
            text: Vec::new(),
            journal: SharedVec::default(),
            steps: SharedVec::default(),
            bytes: 0,
            max_bytes,
            words: Vec::new(),
        }
    }

    /// The same place, without a way back.
    pub(crate) fn without_history(&self) -> Self {
        Self {
            // The containers share their sets with the original until one of the two adds to its own.
            containers: self.containers.clone(),
            text: self.text.clone(),
            journal: SharedVec::default(),
            steps: SharedVec::default(),
            words: Vec::new(),
            ..*self
        }
    }

    /// Whether something is open in which something may not occur twice.
    pub(crate) fn is_open(&self) -> bool {
        self.lex != LexState::Outside
    }

    /// Whether no single token of a vocabulary can write anything twice while nothing is open.
    pub(crate) fn no_token_repeats(&self, sets: &TokenSets) -> bool {
        sets.tokens_across_values(ValuePosition::Text).is_empty()
    }

    /// This place.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            lex: self.lex,
            last_structural: self.last_structural,
            text: self.text.len(),
            journal: self.journal.len(),
        }
    }

    /// Goes back.
    pub(crate) fn restore(&mut self, mark: &Mark) {
        // Entries are undone in the reverse order, so each one finds the containers as they were right after
        // it: the container that an entry means is always the last one.
        while self.journal.len() > mark.journal {
            match self.journal.pop() {
                None => break,
                Some(JournalEntry::Opened) => {
                    self.containers.pop();
                }
                Some(JournalEntry::Closed(container)) => {
                    self.bytes += container.bytes;
                    self.containers.push(container);
                }
                Some(JournalEntry::ScalarAdded { value, written }) => self.forget(&value, written),
                Some(JournalEntry::ContainerAdded(value)) => {
                    let bytes = value.bytes();
                    if let Some(container) = self.containers.last_mut() {
                        Arc::make_mut(&mut container.values).remove(&value);
                        container.bytes -= bytes;
                        self.bytes -= bytes;
                    }
                }
                Some(JournalEntry::Repeated { seen, values, bytes }) => {
                    if let Some(container) = self.containers.last_mut() {
                        (container.seen, container.values, container.bytes) = (seen, values, bytes);
                        container.is_compared = true;
                        self.bytes += bytes;
                    }
                }
                Some(JournalEntry::ScalarEnded(text)) => {
                    self.text.clear();
                    self.text.extend_from_slice(&text);
                }
                Some(JournalEntry::Partial(undo)) => {
                    if let Some(partial) = self.partial() {
                        partial.undo(undo);
                    }
                }
            }
        }
        // The text only grows between two journal entries, so cutting it restores it. An entry that replaces
        // the text has kept the old one.
        self.text.truncate(mark.text);
        (self.lex, self.last_structural) = (mark.lex, mark.last_structural);
    }

    fn forget(&mut self, value: &Arc<[u8]>, written: Option<Box<[u8]>>) {
        if let Some(container) = self.containers.last_mut() {
            Arc::make_mut(&mut container.seen).remove(value);
            container.bytes -= value.len() + VALUE_OVERHEAD;
            self.bytes -= value.len() + VALUE_OVERHEAD;
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
            self.steps.truncate(steps);
            self.restore(&mark);
        }
    }

    /// Reads bytes with the backend: the state after them, or the number of bytes that were read. If they are
    /// refused, this is left in the middle of them; go back to a mark then.
    pub(crate) fn read_all<B: Backend>(
        &mut self,
        engine: &B,
        mut state: B::State,
        bytes: &[u8],
        fuel: &mut Fuel,
    ) -> Result<Result<B::State, usize>, StepError> {
        for (read, &byte) in bytes.iter().enumerate() {
            // Both must read the byte: the backend knows the grammar, the scopes know what has occurred. The
            // scopes ask the backend about the state before the byte, because that tells which scope a
            // bracket opens.
            let Some(next) = engine.step(state, byte, fuel)? else { return Ok(Err(read)) };
            let Some(next) = self.read_to(engine, (state, next), byte, fuel)? else { return Ok(Err(read)) };
            state = next;
        }
        // If the last byte has a continuation, each byte before it has one.
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
        if let Some(next) = self.read_to(engine, (state, next), byte, fuel)?
            && self.is_viable(engine, next, fuel)?
        {
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
        // Bytes outside of compared values are tried, too. They pass at once, and the test for that is the
        // reading itself.
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
        for byte in byte_set::iter(&bits) {
            let is_read = !self.is_open() || self.read_one(engine, state, byte, fuel)?.is_some();
            self.restore(&mark);
            if is_read && only.replace(byte).is_some() {
                return Ok(None);
            }
        }
        Ok(only)
    }

    /// Whether a value or name that begins with a byte is compared.
    pub(super) fn compares_next(&self, byte: u8) -> bool {
        let Some(container) = self.containers.last() else { return false };
        // In an object only strings are names, and those after a colon are none.
        container.partial.is_some()
            || container.is_compared
                && (container.bracket == b'[' || byte == b'"' && self.last_structural != b':')
    }

    /// Whether a string at this place is a name.
    fn is_at_name(&self) -> bool {
        self.last_structural != b':'
            && self.containers.last().is_some_and(|container| container.bracket == b'{')
    }

    /// The array or object that was opened last, if it is compared as a whole.
    fn partial(&mut self) -> Option<&mut PartialContainer> {
        self.containers.last_mut()?.partial.as_deref_mut()
    }

    /// Whether the values of the array or object that was opened last may repeat in some derivations, which tell so.
    pub(super) fn tells_repeats(&self) -> bool {
        self.containers.last().is_some_and(|container| container.tells_repeats)
    }

    pub(super) fn open<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        bracket: u8,
    ) -> Result<ByteVerdict, StepError> {
        let scope = match engine.distinct_scopes() {
            Some(scopes) => scopes.distinct_scope_at(state, bracket),
            None => DistinctScope::Nothing,
        };
        let mut tells_repeats = false;
        let is_compared = match scope {
            DistinctScope::Nothing if self.lex == LexState::Outside => return Ok(ByteVerdict::Accepted),
            DistinctScope::Nothing => false,
            DistinctScope::Distinct => true,
            // Beside rules whose values do not repeat a grammar names no other token than that of repeats.
            DistinctScope::Ambiguous if engine.token_edges().token_set(0).names(TokenRef::REPEATED) => {
                tells_repeats = true;
                true
            }
            DistinctScope::Ambiguous => return Err(StepError::UnclearDistinct),
        };
        // A container is compared as a whole if it is an item of a compared array, or a part of such an item.
        // Its candidates are those of the containers around it at this place, and the items of the array that
        // have this bracket.
        let partial = self.containers.last().and_then(|around| {
            let is_item = around.is_compared && around.bracket == b'[';
            let mut candidates = match &around.partial {
                Some(partial) => partial.candidates_inside(bracket),
                None if is_item => Vec::new(),
                None => return None,
            };
            if is_item {
                candidates.push(value::with_bracket(around.values.iter(), bracket));
            }
            Some(Box::new(PartialContainer::new(bracket, candidates)))
        });
        if partial.is_some()
            && self.containers.iter().filter(|container| container.partial.is_some()).count()
                >= MAX_COMPARED_DEPTH
        {
            return Err(StepError::TooDeepDistinct { limit: MAX_COMPARED_DEPTH });
        }
        // Inside of compared items no name repeats, or the meaning of an object would depend on its reader.
        let is_compared = is_compared || partial.is_some() && bracket == b'{';
        let (seen, values) = (Arc::default(), Arc::default());
        self.containers.push(OpenContainer {
            bracket,
            is_compared,
            tells_repeats,
            seen,
            values,
            bytes: 0,
            partial,
        });
        self.journal.push(JournalEntry::Opened);
        (self.lex, self.last_structural) = (LexState::Between, bracket);
        Ok(ByteVerdict::Accepted)
    }

    pub(super) fn close(&mut self, bracket: u8) -> Result<ByteVerdict, StepError> {
        let mut whole = None;
        if let Some(container) = self.containers.pop() {
            self.bytes -= container.bytes;
            // The journal gets the container as it was, before its value goes into the container around it:
            // undoing takes the value out first.
            whole = container.partial.as_ref().map(|partial| partial.value());
            self.journal.push(JournalEntry::Closed(container));
        }
        self.last_structural = bracket;
        self.lex = if self.containers.is_empty() { LexState::Outside } else { LexState::Between };
        match whole {
            Some(value) => self.end_container(Arc::new(value)),
            None => Ok(ByteVerdict::Accepted),
        }
    }

    /// An array or object was closed that is an item, or a part of one.
    fn end_container(&mut self, value: Arc<Value>) -> Result<ByteVerdict, StepError> {
        let bytes = value.bytes();
        let mut verdict = ByteVerdict::Accepted;
        if let Some(container) = self.containers.last_mut()
            && container.is_compared
            && container.bracket == b'['
            && container.values.contains(&value)
        {
            if !container.tells_repeats {
                return Ok(ByteVerdict::Refused);
            }
            verdict = self.end_comparison();
        }
        if let Some(container) = self.containers.last_mut()
            && container.is_compared
            && container.bracket == b'['
        {
            if container.seen.len() + container.values.len() >= MAX_VALUES {
                return Err(StepError::TooManyDistinct { bytes: self.bytes, limit: self.bytes });
            }
            // Copies the set if a fork shares it.
            Arc::make_mut(&mut container.values).insert(Arc::clone(&value));
            container.bytes += bytes;
            self.bytes += bytes;
            self.journal.push(JournalEntry::ContainerAdded(Arc::clone(&value)));
        }
        if let Some(undo) = self.partial().map(|partial| partial.push_value(value)) {
            self.journal.push(JournalEntry::Partial(undo));
        }
        self.check_size()?;
        Ok(verdict)
    }

    /// A value has occurred twice: the derivations that forbid it are over, and no more values are compared.
    fn end_comparison(&mut self) -> ByteVerdict {
        if let Some(container) = self.containers.last_mut() {
            container.is_compared = false;
            let (seen, values) = (std::mem::take(&mut container.seen), std::mem::take(&mut container.values));
            let bytes = std::mem::take(&mut container.bytes);
            self.bytes -= bytes;
            self.journal.push(JournalEntry::Repeated { seen, values, bytes });
        }
        ByteVerdict::Repeated(Repeat::After)
    }

    /// A scalar or name is whole. It is the text, if it has no other form.
    pub(super) fn end_scalar(&mut self, form: Option<Vec<u8>>) -> Result<ByteVerdict, StepError> {
        let is_name = self.is_at_name();
        let Some(container) = self.containers.last() else { return Ok(ByteVerdict::Accepted) };
        let mut is_compared = container.is_compared && (container.bracket == b'[' || is_name);
        let value: Option<Box<[u8]>> =
            container.partial.is_some().then(|| form.as_deref().unwrap_or(&self.text).into());
        let mut verdict = ByteVerdict::Accepted;
        if is_compared && self.has_seen(form.as_deref().unwrap_or(&self.text)) {
            if !self.tells_repeats() {
                return Ok(ByteVerdict::Refused);
            }
            verdict = self.end_comparison();
            is_compared = false;
        }
        if is_compared {
            self.add(form)?;
        } else {
            self.journal.push(JournalEntry::ScalarEnded(self.text.as_slice().into()));
            self.text.clear();
        }
        if let Some(value) = value
            && let Some(partial) = self.partial()
        {
            let undo = match is_name {
                true => partial.push_name(&value),
                false => partial.push_value(Arc::new(Value::Scalar(value))),
            };
            self.journal.push(JournalEntry::Partial(undo));
        }
        Ok(verdict)
    }

    /// Adds a value to those that have occurred, of which it is none.
    fn add(&mut self, form: Option<Vec<u8>>) -> Result<ByteVerdict, StepError> {
        let value: Arc<[u8]> = form.as_deref().unwrap_or(&self.text).into();
        if let Some(container) = self.containers.last_mut() {
            if container.seen.len() + container.values.len() >= MAX_VALUES {
                return Err(StepError::TooManyDistinct { bytes: self.bytes, limit: self.bytes });
            }
            Arc::make_mut(&mut container.seen).insert(Arc::clone(&value));
            container.bytes += value.len() + VALUE_OVERHEAD;
            self.bytes += value.len() + VALUE_OVERHEAD;
        }
        let written = form.map(|_| self.text.as_slice().into());
        self.journal.push(JournalEntry::ScalarAdded { value, written });
        self.text.clear();
        self.check_size()
    }

    pub(super) fn check_size(&self) -> Result<ByteVerdict, StepError> {
        let (bytes, limit) = (self.bytes + self.text.len(), self.max_bytes);
        if bytes > limit {
            Err(StepError::TooManyDistinct { bytes, limit })
        } else {
            Ok(ByteVerdict::Accepted)
        }
    }

    /// How many values have occurred in everything that is open.
    pub(super) fn value_count(&self) -> usize {
        self.containers.iter().map(|container| container.seen.len() + container.values.len()).sum()
    }

    pub(super) fn has_seen(&self, value: &[u8]) -> bool {
        self.containers.last().is_some_and(|container| container.seen.contains(value))
    }

    /// Whether the value so far is the beginning of one that has occurred.
    pub(super) fn is_prefix_of_seen(&self) -> bool {
        self.begins_seen_value(&self.text)
    }

    /// Whether a number with this beginning may become one that has occurred.
    pub(super) fn may_equal_seen(&self, text: &[u8]) -> bool {
        match number::form_prefixes(text) {
            Some(beginnings) => beginnings.iter().any(|begin| self.begins_seen_value(begin)),
            None => self.begins_seen_value(b"#"),
        }
    }

    /// Whether a value that has occurred, and may be the value or name at this place, has this beginning.
    fn begins_seen_value(&self, text: &[u8]) -> bool {
        let Some(container) = self.containers.last() else { return false };
        let is_name = self.is_at_name();
        if container.partial.as_ref().is_some_and(|partial| partial.is_candidate_prefix(text, is_name)) {
            return true;
        }
        if !(container.is_compared && (container.bracket == b'[' || is_name)) {
            return false;
        }
        let range = (Bound::Included(text), Bound::Unbounded);
        container.seen.range::<[u8], _>(range).next().is_some_and(|value| value.starts_with(text))
    }
}
