//! From derivations to a state of the engine.

use grammask_fsm::{Program, Role, StateId};
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Configuration, Fuel, OpenCall, OpenGroup, Progress, StepError};

use super::Derivations;
use crate::closure::Item;
use crate::context::{ContextId, Contexts, CountKind, Counter, Entry, INSIDE, Open, ROOT, TAIL};
use crate::engine::{Builder, Engine, State};
use crate::permutation::Read;
use crate::sets::Ends;
use crate::slots::SLOTS;

impl Derivations {
    /// The place at which the text ends.
    pub fn configuration(&self) -> Configuration {
        let mut groups: HashMap<u32, u32> = HashMap::default();
        let mut calls: HashMap<u32, u32> = HashMap::default();
        let mut order = Vec::new();
        let mut number = |call: u32, order: &mut Vec<u32>| {
            let next = calls.len() as u32;
            *calls.entry(call).or_insert_with(|| {
                order.push(call);
                next
            })
        };
        let mut made = Configuration { is_complete: self.is_complete(), ..Configuration::default() };
        for id in self.set(self.position()) {
            let item = self.items[id as usize];
            if self.reads(item) {
                made.items.push((item.state.raw(), number(item.call, &mut order)));
            }
        }
        let mut next = 0;
        while let Some(&call) = order.get(next) {
            next += 1;
            let call = self.calls[call as usize];
            let group = match groups.get(&call.group) {
                Some(&known) => known,
                None => {
                    let new = made.groups.len() as u32;
                    groups.insert(call.group, new);
                    let group = &self.groups[call.group as usize];
                    let open = group.waiting.iter().filter(|&&waiting| self.is_open(waiting));
                    let waiting = open
                        .map(|waiting| (waiting.target.raw(), number(waiting.call, &mut order)))
                        .collect();
                    let is_text = group.begin == 0 && group.fragment == self.program.root();
                    made.groups.push(OpenGroup { fragment: group.fragment.raw(), waiting, is_text });
                    new
                }
            };
            let fragment = self.program.fragment(self.groups[call.group as usize].fragment);
            let progress = match (&fragment.role, fragment.count) {
                (Role::Permutation(_), _) => self.reads[call.progress as usize].to_progress(),
                (_, Some(_)) => Progress::Iterations(call.progress),
                (_, None) => Progress::None,
            };
            made.calls.push(OpenCall { group, progress });
        }
        made
    }
}

/// The state that a configuration describes.
pub(crate) fn assemble(
    engine: &Engine,
    configuration: &Configuration,
    fuel: &mut Fuel,
) -> Result<Option<State>, StepError> {
    let Configuration { items, calls, groups, is_complete } = configuration;
    let waiting = groups.iter().map(|group| group.waiting.len()).sum::<usize>();
    fuel.burn((items.len() + calls.len() + waiting) as u64)?;
    let mut builder = engine.lock();
    let builder = &mut *builder;
    let Some(contexts) = Assembly::new(&engine.program, calls, groups).contexts(builder) else {
        return Ok(None);
    };
    let mut made = Vec::with_capacity(items.len());
    for &(state, call) in items {
        let Some(state) = state_id(&engine.program, state) else { return Ok(None) };
        let Some(&context) = contexts.get(call as usize) else { return Ok(None) };
        made.push(Item { state, context });
    }
    made.sort_unstable();
    made.dedup();
    engine.check_items(made.len())?;
    let ends = Ends { complete: *is_complete, leaves: false };
    let set = engine.intern(builder, &made, ends)?;
    Ok(Some(State { set, counts: [0; SLOTS] }))
}

fn state_id(program: &Program, state: u32) -> Option<StateId> {
    StateId::new(state as usize).filter(|id| id.index() < program.state_count())
}

struct Assembly<'c> {
    program: &'c Program,
    calls: &'c [OpenCall],
    groups: &'c [OpenGroup],
    /// For each group those of its callers.
    callers: Vec<Vec<u32>>,
}

impl<'c> Assembly<'c> {
    fn new(program: &'c Program, calls: &'c [OpenCall], groups: &'c [OpenGroup]) -> Self {
        let group_of = |call: u32| calls.get(call as usize).map(|call| call.group);
        let callers = groups.iter().map(|group| {
            let known = |caller: &u32| (*caller as usize) < groups.len();
            group.waiting.iter().filter_map(|&(_, call)| group_of(call)).filter(known).collect()
        });
        Self { program, calls, groups, callers: callers.collect() }
    }

    /// The context of each call. Groups come in the order of who waits for whom, those that wait for one another as a
    /// block.
    fn contexts(&self, builder: &mut Builder) -> Option<Vec<ContextId>> {
        let mut components: Vec<Vec<u32>> = Vec::new();
        let count = self.groups.len();
        let successors = |group: u32| self.callers[group as usize].as_slice();
        grammask_fsm::graph::components(count, 0..count as u32, successors, |members| {
            components.push(members.to_vec());
        });
        let contexts = &mut builder.contexts;
        // The context of each group, and what is counted in it left to its calls.
        let mut parents: Vec<Option<ContextId>> = vec![None; count];
        for members in components {
            let is_cycle = members.len() > 1 || self.callers[members[0] as usize].contains(&members[0]);
            if !is_cycle {
                let entries = self.entries(contexts, &parents, members[0], &[])?;
                parents[members[0] as usize] = Some(contexts.list(&entries));
                continue;
            }
            let lists: Option<Vec<Vec<Entry>>> =
                members.iter().map(|&member| self.entries(contexts, &parents, member, &members)).collect();
            let first = contexts.block(&lists?);
            for (place, &member) in (0..).zip(&members) {
                parents[member as usize] = Some(ContextId(first.0 + place));
            }
        }
        let parent = |group: u32| parents.get(group as usize).copied().flatten();
        self.calls.iter().map(|call| self.context(contexts, call, parent(call.group)?)).collect()
    }

    /// Those who wait for a group, which may be one of a block.
    fn entries(
        &self,
        contexts: &mut Contexts,
        parents: &[Option<ContextId>],
        group: u32,
        block: &[u32],
    ) -> Option<Vec<Entry>> {
        let OpenGroup { waiting, is_text, .. } = &self.groups[group as usize];
        let mut entries = Vec::with_capacity(waiting.len() + 1);
        if *is_text {
            entries.push(Entry { state: TAIL, context: ROOT });
        }
        for &(target, call) in waiting {
            let call = self.calls.get(call as usize)?;
            let target = state_id(self.program, target)?;
            let state = if self.program.state(target).is_pure_final() { TAIL } else { target.raw() };
            let context = match block.iter().position(|&member| member == call.group) {
                Some(place) if call.progress == Progress::None => ContextId(INSIDE | place as u32),
                Some(_) => return None,
                None => self.context(contexts, call, (*parents.get(call.group as usize)?)?)?,
            };
            entries.push(Entry { state, context });
        }
        entries.sort_unstable();
        entries.dedup();
        Some(entries)
    }

    /// The context of a call, in front of those who wait for its group.
    fn context(&self, contexts: &mut Contexts, call: &OpenCall, parent: ContextId) -> Option<ContextId> {
        let fragment_id =
            grammask_fsm::FragmentId::new(self.groups.get(call.group as usize)?.fragment as usize)?;
        if fragment_id.index() >= self.program.fragment_count() {
            return None;
        }
        let fragment = self.program.fragment(fragment_id);
        match (&call.progress, fragment.count, &fragment.role) {
            (Progress::None, None, Role::Permutation(_)) => None,
            (Progress::None, None, _) => Some(parent),
            (Progress::Iterations(done), Some(count), _) => {
                let is_met = count.max.is_none() && *done >= count.min;
                let count = if is_met { CountKind::Met } else { CountKind::Exact(*done) };
                Some(contexts.counter(Counter { fragment: fragment_id, count, parent }))
            }
            (Progress::Parts { once, count }, None, Role::Permutation(permutation)) => {
                let read = contexts.read_id(Read::from_parts(permutation, once, *count)?);
                Some(contexts.open(Open { fragment: fragment_id, read, parent }))
            }
            _ => None,
        }
    }
}
