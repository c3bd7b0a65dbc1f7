//! The least number of bytes with which a text can be finished.
//!
//! How far a state is from the end of its rule is known of the automata alone
//! ([`grammask_fsm::Distances`]). For an item that distance and the cost of its context add up.

use grammask_fsm::{Program, Role, StateId};
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Fuel, StepError};

use crate::context::{Context, ContextId, Contexts, CountKind, Entry, Open, TAIL};
use crate::rebuild::post_order;
use crate::sets::Set;
use crate::slots::SLOTS;

/// Costs of contexts: the least number of bytes from the end of the rule to the end of the text.
pub(crate) type Costs = HashMap<ContextId, u64>;

/// Finds endings of sets.
pub(crate) struct Endings {
    distances: grammask_fsm::Distances,
}

impl Endings {
    pub(crate) fn new(program: &Program) -> Self {
        Self { distances: grammask_fsm::Distances::new(program) }
    }

    fn state(&self, state: StateId) -> u64 {
        self.distances.to_end(state)
    }

    /// The least number of bytes after which a set is complete. `costs` keeps what does not depend on counts,
    /// so that a deep nesting is not walked again for every byte.
    pub(crate) fn of_set(
        &self,
        program: &Program,
        contexts: &Contexts,
        set: &Set,
        counts: &[u32; SLOTS],
        costs: &mut Costs,
        fuel: &mut Fuel,
    ) -> Result<u64, StepError> {
        if set.complete || set.leaves {
            return Ok(0);
        }
        let mut known = Costs::default();
        let mut least = u64::MAX;
        for item in &set.items {
            let known = if contexts.slots(item.context).is_empty() { &mut *costs } else { &mut known };
            let before = known.len();
            self.learn(program, contexts, item.context, counts, known);
            fuel.burn(1 + 4 * (known.len() - before) as u64)?;
            let cost = known.get(&item.context).copied().unwrap_or(u64::MAX);
            least = least.min(self.state(item.state).saturating_add(cost));
        }
        Ok(least)
    }

    /// Computes the cost of a context and of all that it leads to.
    fn learn(
        &self,
        program: &Program,
        contexts: &Contexts,
        context: ContextId,
        counts: &[u32; SLOTS],
        known: &mut Costs,
    ) {
        for id in post_order(contexts, context, |id| known.contains_key(&id)) {
            let cost_of = |entry: &Entry| {
                let context = known.get(&entry.context).copied().unwrap_or(u64::MAX);
                let way = match (StateId::new(entry.state as usize), contexts.get(entry.context)) {
                    // Behind a separator a part must follow, and what is owed behind that one.
                    (Some(state), Context::Open(open)) if state == program.fragment(open.fragment).start => {
                        let rest = self.owed(program, contexts, open, Place::BeforePart);
                        let parent = known.get(&open.parent).copied().unwrap_or(u64::MAX);
                        return rest.saturating_add(parent);
                    }
                    (Some(state), _) if entry.state != TAIL => self.state(state),
                    _ => 0,
                };
                way.saturating_add(context)
            };
            match contexts.get(id) {
                Context::Root | Context::Local => {
                    known.insert(id, 0);
                }
                Context::List(range) => {
                    let cost = contexts.entries(range).iter().map(cost_of).min().unwrap_or(u64::MAX);
                    known.insert(id, cost);
                }
                Context::Counter(counter) => {
                    let done = match counter.count {
                        CountKind::Slot(slot) => counts[usize::from(slot)].saturating_add(1),
                        CountKind::Exact(done) => done.saturating_add(1),
                        CountKind::Met => u32::MAX,
                    };
                    let min = program.fragment(counter.fragment).count.map_or(0, |count| count.min);
                    let owed = u64::from(min.saturating_sub(done));
                    let iterations = owed.saturating_mul(self.distances.body(program, counter.fragment));
                    let parent = known.get(&counter.parent).copied().unwrap_or(u64::MAX);
                    known.insert(id, iterations.saturating_add(parent));
                }
                Context::Open(open) => {
                    let rest = self.owed(program, contexts, open, Place::AfterPart);
                    let parent = known.get(&open.parent).copied().unwrap_or(u64::MAX);
                    known.insert(id, rest.saturating_add(parent));
                }
                Context::Block { first, .. } => self.learn_block(contexts, first, known),
            }
        }
    }

    /// The least number of bytes that complete parts in any order of which some were read.
    fn owed(&self, program: &Program, contexts: &Contexts, open: Open, place: Place) -> u64 {
        let Role::Permutation(permutation) = &program.fragment(open.fragment).role else { return 0 };
        let read = contexts.read(open.read);
        let least = read.least(permutation);
        let numbers = match place {
            Place::BeforePart => (least.max(1), least.max(1) - 1),
            Place::AfterPart => (least, least),
        };
        self.distances.parts(program, permutation, numbers, |part| !read.contains(part))
    }

    /// Costs of contexts that name one another, by relaxation: a block has few members.
    fn learn_block(&self, contexts: &Contexts, first: ContextId, known: &mut Costs) {
        loop {
            let mut changed = false;
            for place in 0..contexts.block_len(first) as u32 {
                let id = ContextId(first.0 + place);
                let Context::Block { entries, .. } = contexts.get(id) else { continue };
                let cost = contexts.entries(entries).iter().map(|entry| {
                    let way = match StateId::new(entry.state as usize) {
                        Some(state) if entry.state != TAIL => self.state(state),
                        _ => 0,
                    };
                    way.saturating_add(known.get(&entry.context).copied().unwrap_or(u64::MAX))
                });
                let cost = cost.min().unwrap_or(u64::MAX);
                if known.insert(id, cost) != Some(cost) {
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// Whether the next thing is a part or a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforePart,
    AfterPart,
}
