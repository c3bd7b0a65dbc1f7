//! Every reading of one text, with the places where its rules begin.
//!
//! The engine forgets where rules began: that is what makes its sets alike, and fast. What the options of rules are
//! about ([`Options`](grammask_fsm::Options)) needs these places: which part of the text a rule has read, which rules
//! are open here, how many tokens ago one began. So a text is read a second time, by Earley's algorithm as it stands in
//! the book, over the same automata: an *item* is a state and the *call* that it stands in, a call a fragment and the
//! position where it began. It is done only for grammars with options, and only when somebody asks.
//!
//! * An item keeps its *links*: the items that it came from. Captures are what a walk back over them meets, from the items
//!   that are alive at the end ([`captures`](Derivations::captures)).
//! * Calls with one fragment and one beginning form a *group*, and share those who wait for it. A group is what the options
//!   call an occurrence. What differs in a group is how many iterations of a repeat were read, or which parts of parts in
//!   any order.
//! * A group whose tokens are spent is *closed* where it may end: no item goes on in it
//!   ([`spend`](Derivations::spend)). What is left is told to the engine as a state ([`configuration`](Derivations::configuration)).
//!
//! A call that began where the set stands is not completed, its caller goes on at once if it may read nothing (Aycock and
//! Horspool); a repeat restarts in the same set when an iteration ends.
//!
//! Time and memory grow with the text times the items of a set. Right recursion completes all its callers at each
//! place, so it takes time with the square of its depth; the engine itself does not.

mod captures;
mod configuration;

use std::sync::Arc;

use grammask_fsm::{FragmentId, Options, Program, Role, StateId, TokenSide};
use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_parser_backend::{Fuel, StepError};

use crate::engine::check_parts;
use crate::permutation::Read;

pub use captures::{CaptureEnds, Captured};
pub(crate) use configuration::assemble;

/// No place, no number.
const NONE: u32 = u32::MAX;

/// What is read at once: the bytes of a token or of a text.
#[derive(Clone, Copy, Debug)]
pub struct InputUnit<'u> {
    /// The bytes; none for a token that only the grammar names.
    pub bytes: &'u [u8],
    /// The token that may be read as a whole, too.
    pub token: Option<WholeToken>,
}

/// A token that a grammar may read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeToken {
    /// Wherever a set of tokens holds it.
    Any(u32),
    /// Only where a set lists it, as for tokens that end the text.
    Listed(u32),
}

/// Every reading of one text.
#[derive(Clone, Debug)]
pub struct Derivations {
    program: Arc<Program>,
    max_bytes: usize,
    /// One for each position, that before the first byte included.
    sets: Vec<SetStart>,
    items: Vec<Item>,
    links: Vec<Link>,
    calls: Vec<Call>,
    call_ids: HashMap<(u32, u32), u32>,
    groups: Vec<Group>,
    group_ids: HashMap<(FragmentId, u32), u32>,
    reads: Vec<Read>,
    read_ids: HashMap<Read, u32>,
    /// Items of the set that is being made.
    here: HashMap<(StateId, u32, Since), u32>,
    /// Groups with a bound on their tokens that may end at the last position.
    ended: Vec<u32>,
    waiters: usize,
}

#[derive(Clone, Copy, Debug)]
struct SetStart {
    first_item: u32,
    first_link: u32,
    /// How many bytes come before.
    offset: u32,
    complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    state: StateId,
    call: u32,
    /// The last of its links.
    links: u32,
    /// Whether its call, or the iteration of its call, has read nothing yet.
    since: Since,
    /// Whether it may go on: it does not where its calls are closed.
    is_alive: bool,
}

/// What an item's call, or the iteration of its call, has done since it began.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Since {
    /// It has read nothing, and cannot end with that.
    Nothing,
    Read,
}

/// Where an item came from.
#[derive(Clone, Copy, Debug)]
struct Link {
    origin: Origin,
    /// The item's link before.
    next: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// Its call begins here.
    Begins,
    /// From an item of the same call, by reading something, nothing, or an iteration of a repeat.
    From(u32),
    /// From one that waited for a call, when the other ended.
    Returns { waiting: u32, ended: u32 },
    /// From one whose call read nothing.
    Skips { waiting: u32, group: u32 },
}

/// An open call.
#[derive(Clone, Copy, Debug)]
struct Call {
    group: u32,
    /// Iterations that were read, or the number of a [`Read`].
    progress: u32,
    /// The position at which it was first met.
    made_at: u32,
}

/// All calls of one fragment that began at one place.
#[derive(Clone, Debug)]
struct Group {
    fragment: FragmentId,
    begin: u32,
    waiting: Vec<Waiting>,
    /// The position behind which nothing goes on in it.
    closed_at: u32,
}

/// One who waits for a group to end.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    item: u32,
    /// Where it goes on.
    target: StateId,
    call: u32,
}

impl Derivations {
    /// The derivations of the empty text.
    ///
    /// # Errors
    ///
    /// Where the fuel does not suffice.
    pub fn new(program: Arc<Program>, max_bytes: usize, fuel: &mut Fuel) -> Result<Self, StepError> {
        let mut derivations = Self {
            program,
            max_bytes,
            sets: Vec::new(),
            items: Vec::new(),
            links: Vec::new(),
            calls: Vec::new(),
            call_ids: HashMap::default(),
            groups: Vec::new(),
            group_ids: HashMap::default(),
            reads: Vec::new(),
            read_ids: HashMap::default(),
            here: HashMap::default(),
            ended: Vec::new(),
            waiters: 0,
        };
        let root = derivations.program.root();
        derivations.begin_set(0);
        let complete = derivations.program.fragment(root).call_is_nullable();
        derivations.sets[0].complete = complete;
        let group = derivations.group(root);
        derivations.predict(group);
        derivations.close(fuel)?;
        Ok(derivations)
    }

    /// The number of the last position. A byte is one further, and so is a token without bytes.
    pub fn position(&self) -> u32 {
        self.sets.len() as u32 - 1
    }

    /// Whether the text is a sentence.
    pub fn is_complete(&self) -> bool {
        self.sets.last().is_some_and(|set| set.complete)
    }

    /// Reads on. `false` where no reading goes on; the derivations are then as they were.
    ///
    /// # Errors
    ///
    /// Where a limit is reached; the derivations are then as they were.
    pub fn push(&mut self, unit: InputUnit<'_>, fuel: &mut Fuel) -> Result<bool, StepError> {
        let start = self.position();
        let read = self.push_all(unit, start, fuel);
        if !matches!(read, Ok(true)) {
            self.truncate(start);
        }
        read
    }

    fn push_all(&mut self, unit: InputUnit<'_>, start: u32, fuel: &mut Fuel) -> Result<bool, StepError> {
        let offset = self.sets[start as usize].offset;
        let Some((_, others)) = unit.bytes.split_last() else {
            self.begin_set(offset);
            self.read_token(start, unit.token);
            self.close(fuel)?;
            return Ok(self.is_alive_here());
        };
        let mut read = 0;
        for &byte in unit.bytes {
            read += 1;
            self.begin_set(offset.saturating_add(read));
            self.read_byte(byte);
            if read as usize > others.len() {
                self.read_token(start, unit.token);
            }
            self.close(fuel)?;
        }
        Ok(self.is_alive_here())
    }

    /// Whether some item is left, or the text is whole.
    fn is_alive_here(&self) -> bool {
        self.is_complete() || self.items.len() as u32 > self.sets[self.sets.len() - 1].first_item
    }

    /// Goes back to a position.
    pub fn truncate(&mut self, position: u32) {
        let Some(&next) = self.sets.get(position as usize + 1) else { return };
        self.sets.truncate(position as usize + 1);
        self.items.truncate(next.first_item as usize);
        self.links.truncate(next.first_link as usize);
        while let Some(call) = self.calls.pop_if(|call| call.made_at > position) {
            self.call_ids.remove(&(call.group, call.progress));
        }
        while let Some(group) = self.groups.pop_if(|group| group.begin > position) {
            self.group_ids.remove(&(group.fragment, group.begin));
            self.waiters -= group.waiting.len();
        }
        for group in &mut self.groups {
            if group.closed_at != NONE && group.closed_at > position {
                group.closed_at = NONE;
            }
        }
        self.ended.clear();
    }

    fn options(&self, fragment: FragmentId) -> Option<&Options> {
        self.program.fragment(fragment).options.as_deref()
    }

    fn begin_set(&mut self, offset: u32) {
        let (first_item, first_link) = (self.items.len() as u32, self.links.len() as u32);
        self.sets.push(SetStart { first_item, first_link, offset, complete: false });
        self.here.clear();
        self.ended.clear();
    }

    /// The items of a set.
    fn set(&self, position: u32) -> std::ops::Range<u32> {
        let first = self.sets[position as usize].first_item;
        let end =
            self.sets.get(position as usize + 1).map_or(self.items.len() as u32, |next| next.first_item);
        first..end
    }

    fn read_byte(&mut self, byte: u8) {
        let program = Arc::clone(&self.program);
        for id in self.set(self.position() - 1) {
            let item = self.items[id as usize];
            if !item.is_alive {
                continue;
            }
            for edge in program.byte_edges(item.state) {
                if edge.start <= byte && byte <= edge.end {
                    self.add(edge.target, item.call, Since::Read, Origin::From(id));
                }
            }
        }
    }

    fn read_token(&mut self, start: u32, token: Option<WholeToken>) {
        let Some(token) = token else { return };
        let program = Arc::clone(&self.program);
        for id in self.set(start) {
            let item = self.items[id as usize];
            if !item.is_alive {
                continue;
            }
            for edge in program.state(item.state).tokens {
                let label = &program.labels()[edge.label.index()];
                let reads = match token {
                    WholeToken::Any(token) => label.contains(token),
                    WholeToken::Listed(token) => label.side == TokenSide::Inside && label.contains(token),
                };
                if reads {
                    self.add(edge.target, item.call, Since::Read, Origin::From(id));
                }
            }
        }
    }

    /// Adds an item to the last set, or a link to one that is there.
    fn add(&mut self, state: StateId, call: u32, since: Since, origin: Origin) {
        let next = self.items.len() as u32;
        let id = *self.here.entry((state, call, since)).or_insert(next);
        if id == next {
            self.items.push(Item { state, call, links: NONE, since, is_alive: true });
        }
        let item = &mut self.items[id as usize];
        let link = Link { origin, next: item.links };
        item.links = self.links.len() as u32;
        self.links.push(link);
    }

    /// The group of a fragment that is called here.
    fn group(&mut self, fragment: FragmentId) -> u32 {
        let next = self.groups.len() as u32;
        let begin = self.position();
        let id = *self.group_ids.entry((fragment, begin)).or_insert(next);
        if id == next {
            self.groups.push(Group { fragment, begin, waiting: Vec::new(), closed_at: NONE });
        }
        id
    }

    fn call(&mut self, group: u32, progress: u32) -> u32 {
        let next = self.calls.len() as u32;
        let made_at = self.position();
        let id = *self.call_ids.entry((group, progress)).or_insert(next);
        if id == next {
            self.calls.push(Call { group, progress, made_at });
        }
        id
    }

    fn read_id(&mut self, read: Read) -> u32 {
        let next = self.reads.len() as u32;
        let id = *self.read_ids.entry(read.clone()).or_insert(next);
        if id == next {
            self.reads.push(read);
        }
        id
    }

    /// Begins the automaton of a group that begins here.
    fn predict(&mut self, group: u32) {
        let program = Arc::clone(&self.program);
        let fragment = program.fragment(self.groups[group as usize].fragment);
        if fragment.count.is_some_and(|count| count.max == Some(0)) {
            return;
        }
        let progress = match &fragment.role {
            Role::Permutation(permutation) => self.read_id(Read::nothing(permutation)),
            _ => 0,
        };
        let call = self.call(group, progress);
        self.add(fragment.start, call, Since::Nothing, Origin::Begins);
    }

    /// Adds all that follows from the items of the last set.
    fn close(&mut self, fuel: &mut Fuel) -> Result<(), StepError> {
        let program = Arc::clone(&self.program);
        let mut next = self.set(self.position()).start;
        while let Some(&item) = self.items.get(next as usize) {
            let links = self.links.len();
            let state = program.state(item.state);
            for &target in state.epsilons {
                self.add(target, item.call, item.since, Origin::From(next));
            }
            for call in state.calls {
                self.call_from(next, call.fragment, call.target);
            }
            if state.is_final {
                self.end(next);
            }
            next += 1;
            fuel.burn(1 + (self.links.len() - links) as u64)?;
        }
        check_parts(&program)?;
        let bytes = self.memory_usage();
        match bytes > self.max_bytes {
            true => Err(StepError::OutOfMemory { bytes, limit: self.max_bytes }),
            false => Ok(()),
        }
    }

    /// Bytes held, roughly.
    pub fn memory_usage(&self) -> usize {
        self.items.len() * size_of::<Item>()
            + self.links.len() * size_of::<Link>()
            + self.calls.len() * 4 * size_of::<Call>()
            + self.groups.len() * 2 * size_of::<Group>()
            + self.waiters * size_of::<Waiting>()
            + self.sets.len() * size_of::<SetStart>()
    }

    /// An item calls a fragment.
    fn call_from(&mut self, item: u32, callee: FragmentId, target: StateId) {
        let Some(call) = self.after_call(self.items[item as usize].call, callee) else { return };
        let known = self.groups.len();
        let group = self.group(callee);
        self.groups[group as usize].waiting.push(Waiting { item, target, call });
        self.waiters += 1;
        if self.groups.len() > known {
            self.predict(group);
        }
        if self.program.fragment(callee).call_is_nullable() {
            let since = self.items[item as usize].since;
            self.add(target, call, since, Origin::Skips { waiting: item, group });
        }
    }

    /// The call in which a caller goes on, if it may call the fragment: parts in any order count what was read.
    fn after_call(&mut self, caller: u32, callee: FragmentId) -> Option<u32> {
        let program = Arc::clone(&self.program);
        let role = &program.fragment(callee).role;
        if matches!(role, Role::None | Role::Permutation(_)) {
            return Some(caller);
        }
        let Call { group, progress, .. } = self.calls[caller as usize];
        let Role::Permutation(permutation) = &program.fragment(self.groups[group as usize].fragment).role
        else {
            return Some(caller);
        };
        let read = &self.reads[progress as usize];
        match *role {
            Role::Part(part) => {
                let read = read.with(permutation, part)?;
                let read = self.read_id(read);
                Some(self.call(group, read))
            }
            _ => read.may_go_on(permutation).then_some(caller),
        }
    }

    /// An item's automaton may end.
    fn end(&mut self, item: u32) {
        let program = Arc::clone(&self.program);
        let call = self.items[item as usize].call;
        let Call { group, progress, .. } = self.calls[call as usize];
        let fragment = self.groups[group as usize].fragment;
        // What has read nothing was skipped when it was called, and an iteration without text is none.
        if self.items[item as usize].since == Since::Nothing {
            return;
        }
        let fragment = program.fragment(fragment);
        if let Some(count) = fragment.count {
            let done = progress.saturating_add(1);
            if count.max.is_none_or(|max| done < max) {
                // Without a greatest number all from the least one on are alike.
                let kept = if count.max.is_none() { done.min(count.min) } else { done };
                let again = self.call(group, kept);
                self.add(fragment.start, again, Since::Nothing, Origin::From(item));
            }
            if done < count.min {
                return;
            }
        }
        if let Role::Permutation(permutation) = &fragment.role
            && !self.reads[progress as usize].may_end(permutation)
        {
            return;
        }
        self.end_group(item, group);
    }

    fn end_group(&mut self, item: u32, group: u32) {
        let Group { fragment, begin, .. } = self.groups[group as usize];
        if begin == 0 && fragment == self.program.root() {
            let last = self.sets.len() - 1;
            self.sets[last].complete = true;
        }
        if self.options(fragment).is_some_and(|options| options.max_tokens > 0)
            && !self.ended.contains(&group)
        {
            self.ended.push(group);
        }
        for index in 0..self.groups[group as usize].waiting.len() {
            let waiting = self.groups[group as usize].waiting[index];
            if self.is_open(waiting) {
                let origin = Origin::Returns { waiting: waiting.item, ended: item };
                self.add(waiting.target, waiting.call, Since::Read, origin);
            }
        }
    }

    /// Whether one who waits may still go on.
    fn is_open(&self, waiting: Waiting) -> bool {
        let group = self.calls[waiting.call as usize].group;
        self.items[waiting.item as usize].is_alive && self.groups[group as usize].closed_at == NONE
    }

    /// Whether an item stands where something can be read.
    fn reads(&self, item: Item) -> bool {
        let state = self.program.state(item.state);
        item.is_alive && !(state.bytes.is_empty() && state.tokens.is_empty())
    }

    /// Where items of a group began and may go on, going outwards over groups that are not closed: whether the outermost
    /// is the text as a whole. Iterative: calls nest as deep as the text.
    fn alive_groups(&self, groups: impl Iterator<Item = u32>) -> HashSet<u32> {
        let mut inside: HashMap<u32, Vec<u32>> = HashMap::default();
        let mut stack: Vec<u32> = groups.collect();
        let mut outermost = Vec::new();
        while let Some(group) = stack.pop() {
            if self.groups[group as usize].closed_at != NONE || inside.contains_key(&group) {
                continue;
            }
            inside.insert(group, Vec::new());
            let Group { fragment, begin, ref waiting, .. } = self.groups[group as usize];
            if begin == 0 && fragment == self.program.root() {
                outermost.push(group);
            }
            let callers = waiting.iter().filter(|&&waiting| self.is_open(waiting));
            stack.extend(callers.map(|waiting| self.calls[waiting.call as usize].group));
        }
        let members: Vec<u32> = inside.keys().copied().collect();
        for group in members {
            for &waiting in &self.groups[group as usize].waiting {
                let caller = self.calls[waiting.call as usize].group;
                if self.is_open(waiting)
                    && let Some(callees) = inside.get_mut(&caller)
                {
                    callees.push(group);
                }
            }
        }
        let mut alive = HashSet::<u32>::default();
        while let Some(group) = outermost.pop() {
            if alive.insert(group) {
                outermost.extend(&inside[&group]);
            }
        }
        alive
    }

    /// Closes the groups that may end at the last position and whose tokens are spent. `starts` are the positions at
    /// which tokens began, ascending. Says whether any item was dropped.
    pub fn spend(&mut self, starts: &[u32]) -> bool {
        let is_spent = |group: &&u32| {
            let Group { fragment, begin, .. } = self.groups[**group as usize];
            let most = self.options(fragment).map_or(0, |options| options.max_tokens) as usize;
            most > 0 && starts.len() >= most && starts[starts.len() - most] >= begin
        };
        let spent: Vec<u32> = self.ended.iter().filter(is_spent).copied().collect();
        if spent.is_empty() {
            return false;
        }
        let position = self.position();
        for &group in &spent {
            self.groups[group as usize].closed_at = position;
        }
        let set = self.set(position);
        let group_of = |item: &Item| self.calls[item.call as usize].group;
        let items = &self.items[set.start as usize..set.end as usize];
        let alive = self.alive_groups(items.iter().map(group_of));
        let mut dropped = false;
        for id in set {
            let group = self.calls[self.items[id as usize].call as usize].group;
            if !alive.contains(&group) {
                let item = self.items[id as usize];
                dropped |= self.reads(item);
                self.items[id as usize].is_alive = false;
            }
        }
        dropped
    }
}
