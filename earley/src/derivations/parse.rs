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
//! A copy shares all but the last elements of the chart ([`SharedVec`]), so forks of one text that read on keep little of
//! their own. Nothing is changed after its set was made, but for groups that are closed, and those are listed.
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
use grammask_parser_backend::{Fuel, SharedVec, StepError};

use super::ids::{GroupId, ItemId, LinkId, Position, WaiterId};
use super::subsets::Subsets;
use crate::automaton::intern::check_deferred;
use crate::tables::ids::{index, units};
use crate::tables::part_subset::PartSubset;

/// A unit of text that is read at once: the bytes of a token or of a text.
#[derive(Clone, Copy, Debug)]
pub struct InputUnit<'u> {
    /// The bytes; none for a token that only the grammar names.
    pub bytes: &'u [u8],
    /// The token that may also be read as a whole.
    pub token: Option<WholeToken>,
    /// How many tokens of the text begin before the end of the unit.
    pub tokens: u32,
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
    pub(super) sets: SharedVec<SetStart>,
    pub(super) items: SharedVec<ChartItem>,
    pub(super) links: SharedVec<Link>,
    pub(super) groups: SharedVec<Group>,
    pub(super) waiters: SharedVec<Waiter>,
    pub(super) subsets: Subsets,
    /// Groups that were closed, in the order of the positions after which they were.
    closed: SharedVec<GroupId>,
    /// Items of the set that is being made.
    current_items: HashMap<(StateId, Call, Consumed), ItemId>,
    /// Groups that begin at the position of the set that is being made.
    current_groups: HashMap<FragmentId, GroupId>,
    /// Groups with a bound on their tokens that may end at the last position.
    ended: Vec<GroupId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SetStart {
    pub(super) first_item: ItemId,
    first_link: LinkId,
    first_group: GroupId,
    first_waiter: WaiterId,
    first_subset: u32,
    /// How many bytes come before.
    pub(super) offset: u32,
    /// How many tokens begin before.
    tokens: u32,
    pub(super) complete: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ChartItem {
    pub(super) state: StateId,
    pub(super) call: Call,
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Call {
    pub(super) group: GroupId,
    /// Iterations that were read, or the number of a [`PartSubset`].
    pub(super) progress: u32,
}

/// All calls of one fragment that began at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) fragment: FragmentId,
    pub(super) begin: Position,
    /// The last caller that waits for it. Callers come at the position where it begins.
    waiting: WaiterId,
    /// The position after which nothing goes on in it.
    pub(super) closed_at: Position,
}

/// A caller that waits for a group to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) item: ItemId,
    /// Where it goes on.
    pub(super) target: StateId,
    pub(super) call: Call,
    /// The group's waiter before.
    next: WaiterId,
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
            sets: SharedVec::default(),
            items: SharedVec::default(),
            links: SharedVec::default(),
            groups: SharedVec::default(),
            waiters: SharedVec::default(),
            subsets: Subsets::default(),
            closed: SharedVec::default(),
            current_items: HashMap::default(),
            current_groups: HashMap::default(),
            ended: Vec::new(),
        };
        let root = derivations.program.root();
        derivations.begin_set(0, 0);
        // A call that reads nothing makes no items that end, so the empty text is judged here.
        if derivations.program.fragment(root).call_is_nullable() {
            derivations.complete_set();
        }
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
            self.begin_set(offset, unit.tokens);
            self.read_token(start, unit.token);
            self.close(fuel)?;
            return Ok(self.is_alive_here());
        };
        let mut read = 0;
        for &byte in unit.bytes {
            read += 1;
            self.begin_set(offset.saturating_add(read), unit.tokens);
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
        // Groups that began later may be among those that were closed, so these come first.
        while let Some(&group) = self.closed.last()
            && self.groups[group.index()].closed_at > position
        {
            self.closed.pop();
            self.close_group(group, Position::NEVER);
        }
        self.sets.truncate(position.index() + 1);
        self.items.truncate(next.first_item.index());
        self.links.truncate(next.first_link.index());
        self.groups.truncate(next.first_group.index());
        self.waiters.truncate(next.first_waiter.index());
        self.subsets.truncate(next.first_subset);
        self.ended.clear();
    }

    pub(super) fn options(&self, fragment: FragmentId) -> Option<&Options> {
        self.program.fragment(fragment).options.as_deref()
    }

    fn begin_set(&mut self, offset: u32, tokens: u32) {
        self.sets.push(SetStart {
            first_item: ItemId::new(self.items.len()),
            first_link: LinkId::new(self.links.len()),
            first_group: GroupId::new(self.groups.len()),
            first_waiter: WaiterId::new(self.waiters.len()),
            first_subset: self.subsets.len(),
            offset,
            tokens,
            complete: false,
        });
        self.current_items.clear();
        self.current_groups.clear();
        self.ended.clear();
    }

    /// The text up to here is a sentence.
    fn complete_set(&mut self) {
        if let Some(set) = self.sets.get_mut(self.sets.len() - 1) {
            set.complete = true;
        }
    }

    fn close_group(&mut self, group: GroupId, position: Position) {
        if let Some(group) = self.groups.get_mut(group.index()) {
            group.closed_at = position;
        }
    }

    /// The items of a set.
    pub(super) fn items_of(&self, position: Position) -> impl Iterator<Item = &ChartItem> {
        self.set(position).map(|id| &self.items[id])
    }

    /// The callers that wait for a group, the last one first.
    pub(super) fn waiting(&self, group: GroupId) -> impl Iterator<Item = Waiter> {
        let mut next = self.groups[group.index()].waiting;
        std::iter::from_fn(move || {
            let waiter = *self.waiters.get(next.index())?;
            next = waiter.next;
            Some(waiter)
        })
    }

    /// The numbers of the items of a set.
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
    fn add(&mut self, state: StateId, call: Call, consumed: Consumed, origin: Origin) {
        let next = ItemId::new(self.items.len());
        let id = *self.current_items.entry((state, call, consumed)).or_insert(next);
        if id == next {
            self.items.push(ChartItem { state, call, links: LinkId::NONE, consumed, is_alive: true });
        }
        if let Some(item) = self.items.get_mut(id.index()) {
            self.links.push(Link { origin, next: item.links });
            item.links = LinkId::new(self.links.len() - 1);
        }
    }

    /// The group of a fragment that is called here.
    fn group(&mut self, fragment: FragmentId) -> GroupId {
        let next = GroupId::new(self.groups.len());
        let begin = self.last_position();
        let id = *self.current_groups.entry(fragment).or_insert(next);
        if id == next {
            let (waiting, closed_at) = (WaiterId::NONE, Position::NEVER);
            self.groups.push(Group { fragment, begin, waiting, closed_at });
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
            Role::Permutation(permutation) => self.subsets.intern(PartSubset::empty(permutation)),
            _ => 0,
        };
        self.add(fragment.start, Call { group, progress }, Consumed::Nothing, Origin::Begins);
    }

    /// Adds all that follows from the items of the last set.
    fn close(&mut self, fuel: &mut Fuel) -> Result<(), StepError> {
        let program = Arc::clone(&self.program);
        let mut next = self.set(self.last_position()).start;
        while let Some(&item) = self.items.get(next) {
            let id = ItemId::new(next);
            let links = self.links.len();
            let state = program.state(item.state);
            if state.counts {
                self.count_character(id, state.epsilons);
            } else {
                for &target in state.epsilons {
                    self.add(target, item.call, item.consumed, Origin::From(id));
                }
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
            + self.groups.len() * size_of::<Group>()
            + self.waiters.len() * size_of::<Waiter>()
            + self.sets.len() * size_of::<SetStart>()
            + self.subsets.memory_usage()
    }

    /// An item calls a fragment.
    fn call_from(&mut self, item: ItemId, callee: FragmentId, target: StateId) {
        let Some(call) = self.after_call(self.items[item.index()].call, callee) else { return };
        let known = self.groups.len();
        let group = self.group(callee);
        if let Some(group) = self.groups.get_mut(group.index()) {
            self.waiters.push(Waiter { item, target, call, next: group.waiting });
            group.waiting = WaiterId::new(self.waiters.len() - 1);
        }
        // The group is new, so its first items are predicted now. Later callers only wait with the others.
        if self.groups.len() > known {
            self.predict(group);
        }
        if self.program.fragment(callee).call_is_nullable() {
            let consumed = self.items[item.index()].consumed;
            self.add(target, call, consumed, Origin::Skips { waiting: item, group });
        }
    }

    /// A character of measured text has ended.
    fn count_character(&mut self, id: ItemId, edges: &[StateId]) {
        let ChartItem { call, consumed, .. } = self.items[id.index()];
        let Role::Measured(limit) = self.program.fragment(self.groups[call.group.index()].fragment).role
        else {
            return;
        };
        let progress = limit.min(call.progress.saturating_add(1));
        let rest = edges.get(1).filter(|_| progress == limit);
        if let Some(&target) = rest.or(edges.first()) {
            self.add(target, Call { progress, ..call }, consumed, Origin::From(id));
        }
    }

    /// The call in which a caller continues, if it may call the fragment: parts in any order count the parts
    /// that were read.
    fn after_call(&mut self, caller: Call, callee: FragmentId) -> Option<Call> {
        let program = Arc::clone(&self.program);
        let role = &program.fragment(callee).role;
        if !matches!(role, Role::Part(_) | Role::Separator) {
            return Some(caller);
        }
        let Call { group, progress } = caller;
        let Role::Permutation(permutation) = &program.fragment(self.groups[group.index()].fragment).role
        else {
            return Some(caller);
        };
        let subset = self.subsets.get(progress);
        match *role {
            Role::Part(part) => {
                let subset = subset.with(permutation, part)?;
                Some(Call { group, progress: self.subsets.intern(subset) })
            }
            _ => subset.may_continue(permutation).then_some(caller),
        }
    }

    /// An item's automaton may end.
    fn end(&mut self, item: ItemId) {
        let program = Arc::clone(&self.program);
        let Call { group, progress } = self.items[item.index()].call;
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
                let again = Call { group, progress: kept };
                self.add(fragment.start, again, Consumed::Nothing, Origin::From(item));
            }
            if done < count.min {
                return;
            }
        }
        if let Role::Permutation(permutation) = &fragment.role
            && !self.subsets.get(progress).may_end(permutation)
        {
            return;
        }
        self.end_group(item, group);
    }

    fn end_group(&mut self, item: ItemId, group: GroupId) {
        let Group { fragment, begin, .. } = self.groups[group.index()];
        if begin.index() == 0 && fragment == self.program.root() {
            self.complete_set();
        }
        if self.options(fragment).is_some_and(|options| options.max_tokens > 0)
            && !self.ended.contains(&group)
        {
            self.ended.push(group);
        }
        let mut next = self.groups[group.index()].waiting;
        while let Some(&waiting) = self.waiters.get(next.index()) {
            next = waiting.next;
            if self.is_open(waiting) {
                let origin = Origin::Returns { waiting: waiting.item, ended: item };
                self.add(waiting.target, waiting.call, Consumed::Something, origin);
            }
        }
    }

    /// Whether a waiting caller may still go on.
    pub(super) fn is_open(&self, waiting: Waiter) -> bool {
        let group = self.groups[waiting.call.group.index()];
        self.items[waiting.item.index()].is_alive && group.closed_at == Position::NEVER
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
            let Group { fragment, begin, .. } = self.groups[group.index()];
            if begin.index() == 0 && fragment == self.program.root() {
                outermost.push(group);
            }
            let callers = self.waiting(group).filter(|&waiting| self.is_open(waiting));
            stack.extend(callers.map(|waiting| waiting.call.group));
        }
        let members: Vec<GroupId> = inside.keys().copied().collect();
        // The links in the other direction: from callers to callees.
        for group in members {
            for waiting in self.waiting(group) {
                if self.is_open(waiting)
                    && let Some(callees) = inside.get_mut(&waiting.call.group)
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

    /// Closes the groups that may end at the last position and whose tokens are spent, after a text of which this many
    /// tokens were read. Says whether any reading was dropped.
    pub fn spend(&mut self, tokens: u32) -> bool {
        let is_spent = |group: &&GroupId| {
            let Group { fragment, begin, .. } = self.groups[group.index()];
            let max = self.options(fragment).map_or(0, |options| options.max_tokens);
            // Tokens that began before the group do not count, even if they end inside.
            let inside = tokens.saturating_sub(self.sets[begin.index()].tokens);
            max > 0 && inside >= max
        };
        let spent: Vec<GroupId> = self.ended.iter().filter(is_spent).copied().collect();
        if spent.is_empty() {
            return false;
        }
        let position = self.last_position();
        // Closed before it is asked which groups are alive: the answer leads over groups that are open.
        for &group in &spent {
            self.close_group(group, position);
            self.closed.push(group);
        }
        let alive = self.alive_groups(self.items_of(position).map(|item| item.call.group));
        // A rule that is read for a spent one and for another one goes on, for the other one alone.
        let is_lost = |waiting: Waiter| !self.is_open(waiting) || !alive.contains(&waiting.call.group);
        let mut dropped = alive.iter().any(|&group| self.waiting(group).any(is_lost));
        for id in self.set(position) {
            let item = self.items[id];
            if !alive.contains(&item.call.group) {
                // Items that read nothing have no part in the state, so their loss changes nothing that is
                // told.
                dropped |= self.reads(item);
                if let Some(item) = self.items.get_mut(id) {
                    item.is_alive = false;
                }
            }
        }
        dropped
    }
}
