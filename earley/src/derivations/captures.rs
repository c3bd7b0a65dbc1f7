//! What rules have read, and which are open.
//!
//! The items that are alive at the end of the text each stand for derivations that can go on. Their links lead back over
//! everything that such a reading consists of: *open* items, whose call has not ended yet, and *inner* ones, of calls that
//! have. Where an inner call of a rule with a name was entered by its end, the reading holds that rule from where the
//! call began to where it ended. An open item's way goes on at its beginning, in all that wait for its call; an inner
//! one's ends there, since the one that waited is in the link over which it was entered.

use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_parser_backend::{Fuel, StepError};

use grammask_fsm::Options;

use super::{Derivations, Item, NONE, Origin};

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

/// Which ends are told of a rule that began at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaptureEnds {
    /// The last one.
    Longest,
    /// All.
    All,
}

/// How an item belongs to a reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// Its call has not ended.
    Open,
    /// Its call has ended.
    Inner,
}

impl Derivations {
    /// The rules with a name that have ended in some reading of the text which can go on or is whole; by where they end,
    /// inner ones first.
    ///
    /// # Errors
    ///
    /// Where the fuel does not suffice.
    pub fn captures(&self, ends: CaptureEnds, fuel: &mut Fuel) -> Result<Vec<Captured>, StepError> {
        let position = self.position();
        let mut walk = Walk { met: HashSet::default(), stack: Vec::new(), found: HashSet::default() };
        let set = self.set(position);
        for id in set.clone() {
            if self.reads(self.items[id as usize]) {
                walk.push(id, Part::Open);
            }
        }
        if self.is_complete() {
            self.enter_ended(&mut walk, 0, position);
        }
        // Below a closed group nothing can go on.
        let group_of = |item: &Item| self.calls[item.call as usize].group;
        let items = &self.items[set.start as usize..set.end as usize];
        let alive = self.alive_groups(items.iter().filter(|item| self.reads(**item)).map(group_of));
        while let Some((id, part)) = walk.stack.pop() {
            fuel.burn(1)?;
            let item = self.items[id as usize];
            let mut next = item.links;
            while next != NONE {
                let link = self.links[next as usize];
                next = link.next;
                match link.origin {
                    Origin::From(before) => walk.push(before, part),
                    Origin::Returns { waiting, ended } => {
                        walk.push(waiting, part);
                        walk.push(ended, Part::Inner);
                        let group = group_of(&self.items[ended as usize]);
                        walk.found.insert((group, self.position_of(ended)));
                    }
                    Origin::Skips { waiting, group } => {
                        walk.push(waiting, part);
                        self.enter_ended(&mut walk, group, self.position_of(waiting));
                    }
                    Origin::Begins if part == Part::Open => {
                        let group = &self.groups[group_of(&item) as usize];
                        fuel.burn(group.waiting.len() as u64)?;
                        for waiting in &group.waiting {
                            if alive.contains(&self.calls[waiting.call as usize].group) {
                                walk.push(waiting.item, Part::Open);
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
    fn enter_ended(&self, walk: &mut Walk, group: u32, position: u32) {
        walk.found.insert((group, position));
        for id in self.set(position) {
            let item = self.items[id as usize];
            if self.calls[item.call as usize].group == group && self.program.state(item.state).is_final {
                walk.push(id, Part::Inner);
            }
        }
    }

    /// The groups that have names, with their places in the text.
    fn named(&self, found: HashSet<(u32, u32)>, ends: CaptureEnds) -> Vec<Captured> {
        let mut last: HashMap<u32, u32> = HashMap::default();
        for &(group, end) in &found {
            let last = last.entry(group).or_insert(end);
            *last = end.max(*last);
        }
        let mut named: Vec<(u32, u32, u32)> = Vec::new();
        for (group, end) in found {
            let group_at = &self.groups[group as usize];
            let is_told = ends == CaptureEnds::All || last.get(&group) == Some(&end);
            let has_name = |options: &Options| options.capture.is_some() || options.end_capture.is_some();
            if is_told && self.options(group_at.fragment).is_some_and(has_name) {
                // Of those that begin and end alike, inner ones were called later.
                named.push((end, u32::MAX - group_at.begin, u32::MAX - group));
            }
        }
        named.sort_unstable();
        let captured = named.into_iter().flat_map(|(end, _, group)| {
            let group = &self.groups[(u32::MAX - group) as usize];
            let options = self.options(group.fragment);
            let offset = |position: u32| self.sets[position as usize].offset as usize;
            let (start, end) = (offset(group.begin), offset(end));
            let before_end = |bytes: u32| end.saturating_sub(bytes as usize).max(start);
            let text = options.and_then(|options| options.capture.as_ref());
            let text =
                text.map(|(name, hidden)| Captured { name: name.clone(), start, end: before_end(*hidden) });
            let last = options.and_then(|options| options.end_capture.as_ref());
            let last =
                last.map(|(name, bytes)| Captured { name: name.clone(), start: before_end(*bytes), end });
            text.into_iter().chain(last)
        });
        captured.collect()
    }

    /// The temperature of the innermost rule that has one, around what is read next. Where there are several ways to
    /// read on, the greatest.
    pub fn temperature(&self) -> Option<f32> {
        let mut met = HashSet::<u32>::default();
        let group_of = |call: u32| self.calls[call as usize].group;
        let items = self.set(self.position()).map(|id| self.items[id as usize]);
        let mut stack: Vec<u32> =
            items.filter(|item| self.reads(*item)).map(|item| group_of(item.call)).collect();
        let mut greatest: Option<f32> = None;
        while let Some(id) = stack.pop() {
            let group = &self.groups[id as usize];
            if !met.insert(id) || group.closed_at != NONE {
                continue;
            }
            match self.options(group.fragment).and_then(|options| options.temperature) {
                Some(bits) => {
                    let temperature = f32::from_bits(bits);
                    greatest = Some(greatest.map_or(temperature, |known| known.max(temperature)));
                }
                None => {
                    let open = group.waiting.iter().filter(|&&waiting| self.is_open(waiting));
                    stack.extend(open.map(|waiting| group_of(waiting.call)));
                }
            }
        }
        greatest
    }

    fn position_of(&self, item: u32) -> u32 {
        self.sets.partition_point(|set| set.first_item <= item) as u32 - 1
    }
}

/// A walk back over links.
struct Walk {
    met: HashSet<(u32, Part)>,
    stack: Vec<(u32, Part)>,
    /// Groups that have ended, and where.
    found: HashSet<(u32, u32)>,
}

impl Walk {
    fn push(&mut self, item: u32, part: Part) {
        if self.met.insert((item, part)) {
            self.stack.push((item, part));
        }
    }
}
