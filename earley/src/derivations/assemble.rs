//! From derivations to a state of the automaton.

use grammask_fsm::{Program, Role, StateId};
use grammask_parser_backend::{Configuration, Fuel, OpenCall, OpenGroup, Progress, StepError};

use crate::automaton::lazy::{Automaton, Builder};
use crate::tables::contexts::{Contexts, CountKind, Counter, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, ROOT, ReturnState, SLOTS, TAIL, index, number, units};
use crate::tables::items::{Acceptance, Item};
use crate::tables::part_subset::PartSubset;
use crate::tables::state::State;

/// The state that a configuration describes.
pub(crate) fn assemble(
    automaton: &Automaton,
    configuration: &Configuration,
    fuel: &mut Fuel,
) -> Result<Option<State>, StepError> {
    let Configuration { items, calls, groups, is_complete } = configuration;
    let waiting = groups.iter().map(|group| group.waiting.len()).sum::<usize>();
    fuel.burn(units(items.len() + calls.len() + waiting))?;
    let mut builder = automaton.lock();
    let builder = &mut *builder;
    // A configuration comes from outside. Numbers that this program does not have, and shapes that it cannot
    // have, are answered by `None`.
    let Some(contexts) = Assembly::new(&automaton.program, calls, groups).contexts(builder) else {
        return Ok(None);
    };
    let mut assembled = Vec::with_capacity(items.len());
    for &(state, call) in items {
        let Some(state) = state_id(&automaton.program, state) else { return Ok(None) };
        let Some(&context) = contexts.get(index(call)) else { return Ok(None) };
        assembled.push(Item { state, context });
    }
    assembled.sort_unstable();
    assembled.dedup();
    automaton.check_items(assembled.len())?;
    let acceptance = Acceptance { complete: *is_complete, local_complete: false };
    // Counts are in the contexts, not in slots, and the state may differ in its number from the one that
    // stepping leads to. It accepts the same texts.
    let set = automaton.intern(builder, &assembled, acceptance)?;
    Ok(Some(State { set, counts: [0; SLOTS] }))
}

fn state_id(program: &Program, state: u32) -> Option<StateId> {
    StateId::new(index(state)).filter(|id| id.index() < program.state_count())
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
        let group_of = |call: u32| calls.get(index(call)).map(|call| call.group);
        let callers = groups.iter().map(|group| {
            let known = |caller: &u32| index(*caller) < groups.len();
            group.waiting.iter().filter_map(|&(_, call)| group_of(call)).filter(known).collect()
        });
        Self { program, calls, groups, callers: callers.collect() }
    }

    /// The context of each call. A group comes before the groups that its callers wait in; groups that wait
    /// for one another come as a block.
    fn contexts(&self, builder: &mut Builder) -> Option<Vec<ContextId>> {
        let mut components: Vec<Vec<u32>> = Vec::new();
        let count = self.groups.len();
        let successors = |group: u32| self.callers[index(group)].as_slice();
        // Components come in an order in which a component follows those that it leads to, so parents are
        // known when they are needed.
        grammask_fsm::graph::components(count, 0..number(count), successors, |members| {
            components.push(members.to_vec());
        });
        let contexts = &mut builder.contexts;
        // The context of each group, without the counts of its calls.
        let mut parents: Vec<Option<ContextId>> = vec![None; count];
        for members in components {
            let is_cycle = members.len() > 1 || self.callers[index(members[0])].contains(&members[0]);
            if !is_cycle {
                let entries = self.entries(contexts, &parents, members[0], &[])?;
                parents[index(members[0])] = Some(contexts.list(&entries));
                continue;
            }
            let lists: Option<Vec<Vec<Entry>>> =
                members.iter().map(|&member| self.entries(contexts, &parents, member, &members)).collect();
            let first = contexts.block(&lists?);
            for (place, &member) in members.iter().enumerate() {
                parents[index(member)] = Some(first.member(place));
            }
        }
        let parent = |group: u32| parents.get(index(group)).copied().flatten();
        self.calls.iter().map(|call| self.context(contexts, call, parent(call.group)?)).collect()
    }

    /// The callers that wait for a group, which may belong to a block.
    fn entries(
        &self,
        contexts: &mut Contexts,
        parents: &[Option<ContextId>],
        group: u32,
        block: &[u32],
    ) -> Option<Vec<Entry>> {
        let OpenGroup { waiting, is_text, .. } = &self.groups[index(group)];
        let mut entries = Vec::with_capacity(waiting.len() + 1);
        if *is_text {
            entries.push(Entry { state: TAIL, context: ROOT });
        }
        for &(target, call) in waiting {
            let call = self.calls.get(index(call))?;
            let target = state_id(self.program, target)?;
            let state =
                if self.program.state(target).is_pure_final() { TAIL } else { ReturnState::new(target) };
            let context = match block.iter().position(|&member| member == call.group) {
                Some(place) if call.progress == Progress::None => ContextId::in_block(place),
                // Members of a block have no counts: on the way round a circle a count would differ with each
                // round.
                Some(_) => return None,
                None => self.context(contexts, call, (*parents.get(index(call.group))?)?)?,
            };
            entries.push(Entry { state, context });
        }
        entries.sort_unstable();
        entries.dedup();
        Some(entries)
    }

    /// The context of a call, in front of the callers that wait for its group.
    fn context(&self, contexts: &mut Contexts, call: &OpenCall, parent: ContextId) -> Option<ContextId> {
        let fragment_id = grammask_fsm::FragmentId::new(index(self.groups.get(index(call.group))?.fragment))?;
        if fragment_id.index() >= self.program.fragment_count() {
            return None;
        }
        let fragment = self.program.fragment(fragment_id);
        match (&call.progress, fragment.counting(), &fragment.role) {
            (Progress::None, None, Role::Permutation(_)) => None,
            (Progress::None, None, _) => Some(parent),
            (Progress::Iterations(done), Some(count), _) => {
                let is_met = count.max.is_none() && *done >= count.min;
                let count = if is_met { CountKind::Met } else { CountKind::Exact(*done) };
                Some(contexts.counter(Counter { fragment: fragment_id, count, parent }))
            }
            (Progress::Parts { once, count }, None, Role::Permutation(permutation)) => {
                let subset = contexts.subset_id(PartSubset::from_parts(permutation, once, *count)?);
                Some(contexts.permutation(OpenPermutation { fragment: fragment_id, subset, parent }))
            }
            _ => None,
        }
    }
}
