//! Captures: the texts that rules have read. Temperatures: the rules that are open.
//!
//! The items that are alive at the end of the text each represent derivations that can continue. Their links
//! lead back over all parts of such a reading: *open* items, whose call has not ended yet, and *inner* ones,
//! of calls that have. If an inner call of a named rule was entered by its end, the reading contains that
//! rule from the beginning of the call to its end. The way of an open item continues at its beginning, in all
//! items that wait for its call. The way of an inner item ends there, because the waiting item is in the link
//! over which it was entered.

use std::cmp::Reverse;

use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_parser_backend::{Fuel, StepError};

use grammask_fsm::Options;

use super::ids::{GroupId, ItemId, LinkId, Position};
use super::parse::{Derivations, Origin};
use crate::tables::ids::{index, units};

/// A rule that a reading of the text holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// The name that the grammar gives it.
    pub name: Box<str>,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, without the bytes that are not handed out.
    pub end: usize,
}

/// Which captures are told of a rule that was read from one place in several ways. Iterations of a long repeat that read
/// nothing are not told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureEnds {
    /// The longest.
    #[default]
    Longest,
    /// All.
    All,
}

/// Work for each link that is followed.
const LINK_WORK: u64 = 10;

/// How an item belongs to a reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ItemRole {
    /// Its call has not ended.
    Open,
    /// Its call has ended.
    Inner,
}

impl Derivations {
    /// The rules with a name that have ended in some reading of the text which can go on or is whole; by where they end,
    /// inner ones first. Where the text has ended, no reading goes on.
    ///
    /// # Errors
    ///
    /// Where the fuel does not suffice.
    pub fn captures(
        &self,
        ends: CaptureEnds,
        has_ended: bool,
        fuel: &mut Fuel,
    ) -> Result<Vec<Captured>, StepError> {
        let position = self.last_position();
        let mut walk = LinkWalk::default();
        for id in self.set(position).map(ItemId::new) {
            if !has_ended && self.reads(self.items[id.index()]) {
                walk.push(id, ItemRole::Open);
            }
        }
        if self.is_complete() {
            self.enter_ended(&mut walk, GroupId::new(0), position, fuel)?;
        }
        // Below a closed group nothing can go on.
        let items = self.items_of(position).filter(|item| self.reads(**item));
        let alive = self.alive_groups(items.map(|item| item.call.group));
        while let Some((id, role)) = walk.stack.pop() {
            fuel.burn(1)?;
            let item = self.items[id.index()];
            let mut next = item.links;
            while next != LinkId::NONE {
                let link = self.links[next.index()];
                next = link.next;
                // Up to three look-ups in large tables.
                fuel.burn(LINK_WORK)?;
                match link.origin {
                    Origin::From(before) => walk.push(before, role),
                    Origin::Returns { waiting, ended } => {
                        walk.push(waiting, role);
                        walk.push(ended, ItemRole::Inner);
                        let group = self.items[ended.index()].call.group;
                        walk.found.insert((group, self.position_of(ended)));
                    }
                    Origin::Skips { waiting, group } => {
                        walk.push(waiting, role);
                        self.enter_ended(&mut walk, group, self.position_of(waiting), fuel)?;
                    }
                    Origin::Begins if role == ItemRole::Open => {
                        for waiting in self.waiting(item.call.group) {
                            fuel.burn(1)?;
                            if alive.contains(&waiting.call.group) {
                                walk.push(waiting.item, ItemRole::Open);
                            }
                        }
                    }
                    Origin::Begins => {}
                }
            }
        }
        Ok(self.named(walk.found, ends))
    }

    /// Marks the ends of a group at a position.
    fn enter_ended(
        &self,
        walk: &mut LinkWalk,
        group: GroupId,
        position: Position,
        fuel: &mut Fuel,
    ) -> Result<(), StepError> {
        walk.found.insert((group, position));
        // Many groups may end at one position, so its items are sorted by group once.
        if !walk.ends.contains_key(&position) {
            fuel.burn(units(self.set(position).len()))?;
            let ends = self.set(position).map(ItemId::new).filter_map(|id| {
                let item = self.items[id.index()];
                self.program.state(item.state).is_final.then_some((item.call.group, id))
            });
            let mut ends: Vec<(GroupId, ItemId)> = ends.collect();
            ends.sort_unstable();
            walk.ends.insert(position, ends);
        }
        let ends = walk.ends.get(&position).map_or(&[][..], Vec::as_slice);
        let first = ends.partition_point(|end| end.0 < group);
        let own: Vec<ItemId> =
            ends[first..].iter().take_while(|end| end.0 == group).map(|end| end.1).collect();
        fuel.burn(units(own.len()))?;
        own.into_iter().for_each(|id| walk.push(id, ItemRole::Inner));
        Ok(())
    }

    /// The groups that have names, with their places in the text.
    fn named(&self, found: HashSet<(GroupId, Position)>, ends: CaptureEnds) -> Vec<Captured> {
        let mut last: HashMap<GroupId, Position> = HashMap::default();
        for &(group, end) in &found {
            let last = last.entry(group).or_insert(end);
            *last = end.max(*last);
        }
        let mut named: Vec<(Position, Reverse<Position>, Reverse<GroupId>)> = Vec::new();
        for (group, end) in found {
            let group_at = &self.groups[group.index()];
            let is_told = ends == CaptureEnds::All || last.get(&group) == Some(&end);
            let has_name = |options: &Options| options.capture.is_some() || options.end_capture.is_some();
            if is_told && self.options(group_at.fragment).is_some_and(has_name) {
                // Of those that begin and end alike, inner ones were called later.
                named.push((end, Reverse(group_at.begin), Reverse(group)));
            }
        }
        named.sort_unstable();
        let captured = named.into_iter().flat_map(|(end, _, Reverse(group))| {
            let group = &self.groups[group.index()];
            let options = self.options(group.fragment);
            let offset = |position: Position| index(self.sets[position.index()].offset);
            let (start, end) = (offset(group.begin), offset(end));
            let before_end = |bytes: u32| end.saturating_sub(index(bytes)).max(start);
            let text = options.and_then(|options| options.capture.as_ref());
            let text =
                text.map(|(name, hidden)| Captured { name: name.clone(), start, end: before_end(*hidden) });
            let last = options.and_then(|options| options.end_capture.as_ref());
            let last =
                last.map(|(name, bytes)| Captured { name: name.clone(), start: before_end(*bytes), end });
            // The end is a part of the rule.
            last.into_iter().chain(text)
        });
        captured.collect()
    }

    /// The temperature of the innermost rule that has one, for the next token. If there are several ways to
    /// read on, the greatest.
    pub fn temperature(&self) -> Option<f32> {
        let mut visited = HashSet::<GroupId>::default();
        let items = self.items_of(self.last_position()).filter(|item| self.reads(**item));
        let mut stack: Vec<GroupId> = items.map(|item| item.call.group).collect();
        let mut highest: Option<f32> = None;
        while let Some(id) = stack.pop() {
            let group = &self.groups[id.index()];
            if !visited.insert(id) || group.closed_at != Position::NEVER {
                continue;
            }
            match self.options(group.fragment).and_then(|options| options.temperature) {
                Some(bits) => {
                    let temperature = f32::from_bits(bits);
                    highest = Some(highest.map_or(temperature, |known| known.max(temperature)));
                }
                // Outwards only from rules without a temperature, so the innermost one decides.
                None => {
                    let open = self.waiting(id).filter(|&waiting| self.is_open(waiting));
                    stack.extend(open.map(|waiting| waiting.call.group));
                }
            }
        }
        highest
    }

    fn position_of(&self, item: ItemId) -> Position {
        Position::new(self.sets.partition_point(|set| set.first_item <= item) - 1)
    }
}

/// A walk back over links.
#[derive(Default)]
struct LinkWalk {
    visited: HashSet<(ItemId, ItemRole)>,
    stack: Vec<(ItemId, ItemRole)>,
    /// Groups that have ended, and where.
    found: HashSet<(GroupId, Position)>,
    /// The items in which a call may end, sorted by group, of each position that was asked about.
    ends: HashMap<Position, Vec<(GroupId, ItemId)>>,
}

impl LinkWalk {
    fn push(&mut self, item: ItemId, role: ItemRole) {
        if self.visited.insert((item, role)) {
            self.stack.push((item, role));
        }
    }
}
