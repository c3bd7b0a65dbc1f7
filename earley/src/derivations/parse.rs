//! Every reading of one text, with the places where its rules begin.
//!
//! The engine forgets where rules began, because that makes its sets equal, and fast. The options of rules
//! ([`Options`]) need these places: which part of the text a rule has read, which rules are open here, how
//! many tokens ago one began. So a text is read a second time, by Earley's algorithm in its textbook form,
//! over the same automata. An *item* is a state and its *call*; a call is a fragment and the position where
//! it began. This happens only for grammars with options, and only on request.
//!
//! * An item keeps its *links*: the items that it came from. Captures are found by a walk back over them, from the items
//!   that are alive at the end ([`captures`](Derivations::captures)).
//! * Calls with one fragment and one beginning form a *group*, and share the callers that wait for it. The options call a group
//!   an occurrence. Calls in a group differ in how many iterations of a repeat were read, or which parts of parts in
//!   any order.
//! * A group whose tokens are spent is *closed* where it may end: no item continues in it
//!   ([`spend`](Derivations::spend)). The engine gets the remaining items as a state
//!   ([`configuration`](Derivations::configuration)).
//!
//! A call that began at the position of the set is not completed; its caller continues at once if the call
//! may read nothing (Aycock and Horspool). A repeat restarts in the same set when an iteration ends.
//!
//! Time and memory grow with the text times the items of a set. Right recursion completes all its callers at each
//! place, so it takes time with the square of its depth; the engine itself does not.

use std::ops::Range;
use std::sync::Arc;

use grammask_fsm::{FragmentId, Options, Program, Role, StateId, TokenSide};
use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_parser_backend::{Fuel, StepError};

use super::ids::{CallId, GroupId, ItemId, LinkId, Position};
use crate::automaton::intern::check_deferred;
use crate::tables::ids::{index, number, units};
use crate::tables::part_subset::PartSubset;

/// A unit of text that is read at once: the bytes of a token or of a text.
#[derive(Clone, Copy, Debug)]
pub struct InputUnit<'u> {
    /// The bytes; none for a token that only the grammar names.
    pub bytes: &'u [u8],
    /// The token that may also be read as a whole.
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
    pub(super) program: Arc<Program>,
    pub(super) max_bytes: usize,
    /// One for each position, that before the first byte included.
    pub(super) sets: Vec<SetStart>,
    pub(super) items: Vec<ChartItem>,
    pub(super) links: Vec<Link>,
    pub(super) calls: Vec<Call>,
    pub(super) call_ids: HashMap<(GroupId, u32), CallId>,
    pub(super) groups: Vec<Group>,
    pub(super) group_ids: HashMap<(FragmentId, Position), GroupId>,
    pub(super) subsets: Vec<PartSubset>,
    pub(super) subset_ids: HashMap<PartSubset, u32>,
    /// Items of the set that is being made.
    pub(super) current_items: HashMap<(StateId, CallId, Consumed), ItemId>,
    /// Groups with a bound on their tokens that may end at the last position.
    pub(super) ended: Vec<GroupId>,
    pub(super) waiters: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SetStart {
    pub(super) first_item: ItemId,
    pub(super) first_link: LinkId,
    /// How many bytes come before.
    pub(super) offset: u32,
    pub(super) complete: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ChartItem {
    pub(super) state: StateId,
    pub(super) call: CallId,
    /// The last of its links.
    pub(super) links: LinkId,
    /// Whether its call, or the iteration of its call, has read nothing yet.
    pub(super) consumed: Consumed,
    /// Whether it may go on: it does not where its calls are closed.
    pub(super) is_alive: bool,
}

/// Whether an item's call, or the iteration of its call, has read something since it began.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Consumed {
    /// It has read nothing, and cannot end with that.
    Nothing,
    Something,
}

/// Where an item came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) origin: Origin,
    /// The item's link before.
    pub(super) next: LinkId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// Its call begins here.
    Begins,
    /// From an item of the same call, by reading something, nothing, or an iteration of a repeat.
    From(ItemId),
    /// From an item that waited for a call, when the other one ended.
    Returns { waiting: ItemId, ended: ItemId },
    /// From an item whose call read nothing.
    Skips { waiting: ItemId, group: GroupId },
}

/// An open call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) group: GroupId,
    /// Iterations that were read, or the number of a [`PartSubset`].
    pub(super) progress: u32,
    /// The position at which it was first met.
    pub(super) made_at: Position,
}

/// All calls of one fragment that began at one place.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) fragment: FragmentId,
    pub(super) begin: Position,
    pub(super) waiting: Vec<Waiter>,
    /// The position after which nothing goes on in it.
    pub(super) closed_at: Position,
}

/// A caller that waits for a group to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) item: ItemId,
    /// Where it goes on.
    pub(super) target: StateId,
    pub(super) call: CallId,
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
            subsets: Vec::new(),
            subset_ids: HashMap::default(),
            current_items: HashMap::default(),
            ended: Vec::new(),
            waiters: 0,
        };
        let root = derivations.program.root();
        derivations.begin_set(0);
        let complete = derivations.program.fragment(root).call_is_nullable();
        // A call that reads nothing makes no items that end, so the empty text is judged here.
        derivations.sets[0].complete = complete;
        let group = derivations.group(root);
        derivations.predict(group);
        derivations.close(fuel)?;
        Ok(derivations)
    }

    /// The number of the last position. A byte is one further, and so is a token without bytes.
    pub fn position(&self) -> u32 {
        self.last_position().raw()
    }

    pub(super) fn last_position(&self) -> Position {
        Position::new(self.sets.len() - 1)
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
        let start = self.last_position();
        let read = self.push_all(unit, start, fuel);
        if !matches!(read, Ok(true)) {
            self.truncate(start.raw());
        }
        read
    }

    fn push_all(&mut self, unit: InputUnit<'_>, start: Position, fuel: &mut Fuel) -> Result<bool, StepError> {
        let offset = self.sets[start.index()].offset;
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
            if index(read) > others.len() {
                self.read_token(start, unit.token);
            }
            self.close(fuel)?;
        }
        Ok(self.is_alive_here())
    }

    /// Whether some item is left, or the text is whole.
    fn is_alive_here(&self) -> bool {
        self.is_complete() || self.items.len() > self.sets[self.sets.len() - 1].first_item.index()
    }

    /// Goes back to a position.
    pub fn truncate(&mut self, position: u32) {
        let position = Position::from_raw(position);
        let Some(&next) = self.sets.get(position.index() + 1) else { return };
        self.sets.truncate(position.index() + 1);
        self.items.truncate(next.first_item.index());
        self.links.truncate(next.first_link.index());
        while let Some(call) = self.calls.pop_if(|call| call.made_at > position) {
            self.call_ids.remove(&(call.group, call.progress));
        }
        while let Some(group) = self.groups.pop_if(|group| group.begin > position) {
            self.group_ids.remove(&(group.fragment, group.begin));
            self.waiters -= group.waiting.len();
        }
        for group in &mut self.groups {
            if group.closed_at != Position::NEVER && group.closed_at > position {
                group.closed_at = Position::NEVER;
            }
        }
        self.ended.clear();
    }

    pub(super) fn options(&self, fragment: FragmentId) -> Option<&Options> {
        self.program.fragment(fragment).options.as_deref()
    }

    fn begin_set(&mut self, offset: u32) {
        let (first_item, first_link) = (ItemId::new(self.items.len()), LinkId::new(self.links.len()));
        self.sets.push(SetStart { first_item, first_link, offset, complete: false });
        self.current_items.clear();
        self.ended.clear();
    }

    /// The items of a set.
    pub(super) fn set(&self, position: Position) -> Range<usize> {
        let first = self.sets[position.index()].first_item.index();
        let next = self.sets.get(position.index() + 1);
        let end = next.map_or(self.items.len(), |next| next.first_item.index());
        first..end
    }

    fn read_byte(&mut self, byte: u8) {
        let program = Arc::clone(&self.program);
        for id in self.set(Position::new(self.sets.len() - 2)).map(ItemId::new) {
            let item = self.items[id.index()];
            if !item.is_alive {
                continue;
            }
            for edge in program.byte_edges(item.state) {
                if edge.start <= byte && byte <= edge.end {
                    self.add(edge.target, item.call, Consumed::Something, Origin::From(id));
                }
            }
        }
    }

    fn read_token(&mut self, start: Position, token: Option<WholeToken>) {
        let Some(token) = token else { return };
        let program = Arc::clone(&self.program);
        for id in self.set(start).map(ItemId::new) {
            let item = self.items[id.index()];
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
                    self.add(edge.target, item.call, Consumed::Something, Origin::From(id));
                }
            }
        }
    }

    /// Adds an item to the last set, or a link to an item that is there.
    fn add(&mut self, state: StateId, call: CallId, consumed: Consumed, origin: Origin) {
        let next = ItemId::new(self.items.len());
        let id = *self.current_items.entry((state, call, consumed)).or_insert(next);
        if id == next {
            self.items.push(ChartItem { state, call, links: LinkId::NONE, consumed, is_alive: true });
        }
        let item = &mut self.items[id.index()];
        let link = Link { origin, next: item.links };
        item.links = LinkId::new(self.links.len());
        self.links.push(link);
    }

    /// The group of a fragment that is called here.
    fn group(&mut self, fragment: FragmentId) -> GroupId {
        let next = GroupId::new(self.groups.len());
        let begin = self.last_position();
        let id = *self.group_ids.entry((fragment, begin)).or_insert(next);
        if id == next {
            self.groups.push(Group { fragment, begin, waiting: Vec::new(), closed_at: Position::NEVER });
        }
        id
    }

    fn call(&mut self, group: GroupId, progress: u32) -> CallId {
        let next = CallId::new(self.calls.len());
        let made_at = self.last_position();
        let id = *self.call_ids.entry((group, progress)).or_insert(next);
        if id == next {
            self.calls.push(Call { group, progress, made_at });
        }
        id
    }

    fn subset_id(&mut self, subset: PartSubset) -> u32 {
        let next = number(self.subsets.len());
        let id = *self.subset_ids.entry(subset.clone()).or_insert(next);
        if id == next {
            self.subsets.push(subset);
        }
        id
    }

    /// Begins the automaton of a group that begins here.
    fn predict(&mut self, group: GroupId) {
        let program = Arc::clone(&self.program);
        let fragment = program.fragment(self.groups[group.index()].fragment);
        if fragment.count.is_some_and(|count| count.max == Some(0)) {
            return;
        }
        let progress = match &fragment.role {
            Role::Permutation(permutation) => self.subset_id(PartSubset::empty(permutation)),
            _ => 0,
        };
        let call = self.call(group, progress);
        self.add(fragment.start, call, Consumed::Nothing, Origin::Begins);
    }

    /// Adds all that follows from the items of the last set.
    fn close(&mut self, fuel: &mut Fuel) -> Result<(), StepError> {
        let program = Arc::clone(&self.program);
        let mut next = self.set(self.last_position()).start;
        while let Some(&item) = self.items.get(next) {
            let id = ItemId::new(next);
            let links = self.links.len();
            let state = program.state(item.state);
            for &target in state.epsilons {
                self.add(target, item.call, item.consumed, Origin::From(id));
            }
            for call in state.calls {
                self.call_from(id, call.fragment, call.target);
            }
            if state.is_final {
                self.end(id);
            }
            next += 1;
            // Links count, too: an ambiguous text has few items and many ways to each.
            fuel.burn(1 + units(self.links.len() - links))?;
        }
        check_deferred(&program)?;
        let bytes = self.memory_usage();
        match bytes > self.max_bytes {
            true => Err(StepError::OutOfMemory { bytes, limit: self.max_bytes }),
            false => Ok(()),
        }
    }

    /// Bytes held, roughly.
    pub fn memory_usage(&self) -> usize {
        self.items.len() * size_of::<ChartItem>()
            + self.links.len() * size_of::<Link>()
            + self.calls.len() * 4 * size_of::<Call>()
            + self.groups.len() * 2 * size_of::<Group>()
            + self.waiters * size_of::<Waiter>()
            + self.sets.len() * size_of::<SetStart>()
    }

    /// An item calls a fragment.
    fn call_from(&mut self, item: ItemId, callee: FragmentId, target: StateId) {
        let Some(call) = self.after_call(self.items[item.index()].call, callee) else { return };
        let known = self.groups.len();
        let group = self.group(callee);
        self.groups[group.index()].waiting.push(Waiter { item, target, call });
        self.waiters += 1;
        // The group is new, so its first items are predicted now. Later callers only wait with the others.
        if self.groups.len() > known {
            self.predict(group);
        }
        if self.program.fragment(callee).call_is_nullable() {
            let consumed = self.items[item.index()].consumed;
            self.add(target, call, consumed, Origin::Skips { waiting: item, group });
        }
    }

    /// The call in which a caller continues, if it may call the fragment: parts in any order count the parts
    /// that were read.
    fn after_call(&mut self, caller: CallId, callee: FragmentId) -> Option<CallId> {
        let program = Arc::clone(&self.program);
        let role = &program.fragment(callee).role;
        if matches!(role, Role::None | Role::Permutation(_)) {
            return Some(caller);
        }
        let Call { group, progress, .. } = self.calls[caller.index()];
        let Role::Permutation(permutation) = &program.fragment(self.groups[group.index()].fragment).role
        else {
            return Some(caller);
        };
        let subset = &self.subsets[index(progress)];
        match *role {
            Role::Part(part) => {
                let subset = subset.with(permutation, part)?;
                let subset = self.subset_id(subset);
                Some(self.call(group, subset))
            }
            _ => subset.may_continue(permutation).then_some(caller),
        }
    }

    /// An item's automaton may end.
    fn end(&mut self, item: ItemId) {
        let program = Arc::clone(&self.program);
        let call = self.items[item.index()].call;
        let Call { group, progress, .. } = self.calls[call.index()];
        let fragment = self.groups[group.index()].fragment;
        // A call that has read nothing was skipped when it began, and an iteration without text is none.
        if self.items[item.index()].consumed == Consumed::Nothing {
            return;
        }
        let fragment = program.fragment(fragment);
        if let Some(count) = fragment.count {
            let done = progress.saturating_add(1);
            if count.max.is_none_or(|max| done < max) {
                // Without a greatest number all from the least one on are alike.
                let kept = if count.max.is_none() { done.min(count.min) } else { done };
                let again = self.call(group, kept);
                self.add(fragment.start, again, Consumed::Nothing, Origin::From(item));
            }
            if done < count.min {
                return;
            }
        }
        if let Role::Permutation(permutation) = &fragment.role
            && !self.subsets[index(progress)].may_end(permutation)
        {
            return;
        }
        self.end_group(item, group);
    }

    fn end_group(&mut self, item: ItemId, group: GroupId) {
        let Group { fragment, begin, .. } = self.groups[group.index()];
        if begin.index() == 0 && fragment == self.program.root() {
            let last = self.sets.len() - 1;
            self.sets[last].complete = true;
        }
        if self.options(fragment).is_some_and(|options| options.max_tokens > 0)
            && !self.ended.contains(&group)
        {
            self.ended.push(group);
        }
        for index in 0..self.groups[group.index()].waiting.len() {
            let waiting = self.groups[group.index()].waiting[index];
            if self.is_open(waiting) {
                let origin = Origin::Returns { waiting: waiting.item, ended: item };
                self.add(waiting.target, waiting.call, Consumed::Something, origin);
            }
        }
    }

    /// Whether a waiting caller may still go on.
    pub(super) fn is_open(&self, waiting: Waiter) -> bool {
        let group = self.calls[waiting.call.index()].group;
        self.items[waiting.item.index()].is_alive && self.groups[group.index()].closed_at == Position::NEVER
    }

    /// Whether an item can read something.
    pub(super) fn reads(&self, item: ChartItem) -> bool {
        let state = self.program.state(item.state);
        item.is_alive && !(state.bytes.is_empty() && state.tokens.is_empty())
    }

    /// Where items of a group began and may go on, going outwards over groups that are not closed: whether the outermost
    /// is the text as a whole. Iterative: calls nest as deep as the text.
    pub(super) fn alive_groups(&self, groups: impl Iterator<Item = GroupId>) -> HashSet<GroupId> {
        let mut inside: HashMap<GroupId, Vec<GroupId>> = HashMap::default();
        let mut stack: Vec<GroupId> = groups.collect();
        let mut outermost = Vec::new();
        while let Some(group) = stack.pop() {
            if self.groups[group.index()].closed_at != Position::NEVER || inside.contains_key(&group) {
                continue;
            }
            inside.insert(group, Vec::new());
            let Group { fragment, begin, ref waiting, .. } = self.groups[group.index()];
            if begin.index() == 0 && fragment == self.program.root() {
                outermost.push(group);
            }
            let callers = waiting.iter().filter(|&&waiting| self.is_open(waiting));
            stack.extend(callers.map(|waiting| self.calls[waiting.call.index()].group));
        }
        let members: Vec<GroupId> = inside.keys().copied().collect();
        // The links in the other direction: from callers to callees.
        for group in members {
            for &waiting in &self.groups[group.index()].waiting {
                let caller = self.calls[waiting.call.index()].group;
                if self.is_open(waiting)
                    && let Some(callees) = inside.get_mut(&caller)
                {
                    callees.push(group);
                }
            }
        }
        let mut alive = HashSet::<GroupId>::default();
        // From the text as a whole inwards. A circle of groups whose callers outside of it are all closed is
        // not reached, so left recursion alone keeps nothing alive.
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
        let is_spent = |group: &&GroupId| {
            let Group { fragment, begin, .. } = self.groups[group.index()];
            let max = index(self.options(fragment).map_or(0, |options| options.max_tokens));
            // The token that is `max` from the end began inside the group, so all of the last `max` tokens
            // did.
            max > 0 && starts.len() >= max && starts[starts.len() - max] >= begin.raw()
        };
        let spent: Vec<GroupId> = self.ended.iter().filter(is_spent).copied().collect();
        if spent.is_empty() {
            return false;
        }
        let position = self.last_position();
        // Closed before it is asked which groups are alive: the answer leads over groups that are open.
        for &group in &spent {
            self.groups[group.index()].closed_at = position;
        }
        let set = self.set(position);
        let group_of = |item: &ChartItem| self.calls[item.call.index()].group;
        let items = &self.items[set.clone()];
        let alive = self.alive_groups(items.iter().map(group_of));
        let mut dropped = false;
        for id in set {
            let group = self.calls[self.items[id].call.index()].group;
            if !alive.contains(&group) {
                let item = self.items[id];
                // Items that read nothing have no part in the state, so their loss changes nothing that is
                // told.
                dropped |= self.reads(item);
                self.items[id].is_alive = false;
            }
        }
        dropped
    }
}
