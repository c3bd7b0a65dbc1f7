//! Removes fragments and states that derive nothing.
//!
//! A fragment is *productive* if its body derives some text. Naively one repeats "mark a fragment whose final
//! state is reached over marked calls" until nothing changes, which is quadratic for a chain of rules. Here
//! the states that can be reached over productive calls are marked once each. A call of a fragment that is
//! not known to be productive waits in that fragment's list. Afterwards edges are kept only between states
//! that are reached and lead to a final state.

use grammask_grammar_ir::RuleId;

use crate::draft::automata::{Draft, DraftPermutation, DraftRole, Label};
use crate::draft::ids::{DraftEdgeId, DraftFragmentId, DraftStateId};
use crate::ids::{Id, IdVec, Rows};
use crate::pace::Pace;
use crate::passes::ids::{EntryId, WholeId};
use crate::passes::left_recursion::on_cycles;
use crate::program::missing_parts::MissingParts;

/// Facts by state and by fragment.
type States = IdVec<DraftStateId, bool>;
type Fragments = IdVec<DraftFragmentId, bool>;

/// The root derives no text: the rule that is to blame, if it has one.
#[derive(Debug)]
pub(crate) struct EmptyLanguage(pub(crate) Option<RuleId>);

/// Deletes every edge that lies on no path from its fragment's start to a final state.
pub(crate) fn prune(draft: &mut Draft, pace: &mut Pace<'_>) -> Result<(), EmptyLanguage> {
    // Built parts lead to their ends, so without dead parts and dead calls there is nothing to remove.
    if draft.dead_parts.is_empty()
        && mark_reached(draft, Search::UntilProductive, pace).1.iter().all(|&is| is)
    {
        return Ok(());
    }
    let (reached, productive) = mark_reached(draft, Search::All, pace);
    if !productive[DraftFragmentId::FIRST] {
        return Err(EmptyLanguage(rule_to_blame(draft, &reached, &productive)));
    }
    // Two directions: reached from a start over productive calls, and leading to an end over them. A state
    // with both lies on a path that can be read.
    let live = mark_live(draft, &reached, &productive, pace);
    for state in draft.states.ids() {
        if !pace.goes_on_at(state) {
            break;
        }
        let mut next = draft.states[state].head;
        while let Some(edge) = draft.edges.get_mut(next) {
            let callable = match edge.label.as_call() {
                // A repeat that may occur zero times, and whose body derives nothing, reads nothing.
                Some(fragment) if !productive[fragment] => {
                    edge.label = Label::EPSILON;
                    draft.fragments[fragment].may_occur_zero_times()
                }
                _ => true,
            };
            if !(callable && reached[state] && live[state] && live[edge.to]) {
                edge.label = Label::DEAD;
            }
            next = edge.next;
        }
    }
    Ok(())
}

/// How far states are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    All,
    /// No further in a fragment that is known to be productive.
    UntilProductive,
}

/// The states that are reached, all of them if all are looked for, and the fragments that are productive.
fn mark_reached(draft: &Draft, search: Search, pace: &mut Pace<'_>) -> (States, Fragments) {
    let mut reached: States = IdVec::of(false, draft.states.len());
    let finished = draft.fragments.iter().map(|fragment| fragment.prebuilt.is_some());
    let mut productive: Fragments = finished.collect();
    // Per fragment a list of the states after its calls: (state, next).
    let mut waiting: IdVec<DraftFragmentId, EntryId> = IdVec::of(EntryId::NONE, draft.fragments.len());
    let mut entries: IdVec<EntryId, (DraftStateId, EntryId)> = IdVec::with_capacity(64);
    let mut wholes = Wholes::new(draft);
    let mut stack: Vec<DraftStateId> = Vec::with_capacity(256);
    for start in draft.starts() {
        reached[start] = true;
        stack.push(start);
    }
    while let Some(id) = stack.pop().filter(|&id| pace.goes_on_at(id)) {
        let state = draft.states[id];
        let owner = state.fragment();
        let mut known = None;
        if state.is_final()
            && !productive[owner]
            && !matches!(draft.fragments[owner].role, DraftRole::Permutation(_))
        {
            known = Some(owner);
        }
        while let Some(fragment) = known.take() {
            productive[fragment] = true;
            let mut next = std::mem::replace(&mut waiting[fragment], EntryId::NONE);
            while let Some(&(target, following)) = entries.get(next) {
                if !std::mem::replace(&mut reached[target], true) {
                    stack.push(target);
                }
                next = following;
            }
            // A part may be the one that its whole was missing.
            known = wholes.learn(draft, fragment).filter(|&whole| !productive[whole]);
        }
        // Enough to prove that every fragment derives something, which is the usual case.
        if search == Search::UntilProductive && productive[owner] {
            continue;
        }
        for edge in draft.edges(id) {
            if reached[edge.to] {
                continue;
            }
            if let Some(callee) = edge.label.as_call() {
                let optional = draft.fragments[callee].may_occur_zero_times();
                // The search goes on after the call as soon as its fragment is known to be productive.
                if !productive[callee] && !optional {
                    waiting[callee] = entries.push((edge.to, waiting[callee]));
                    continue;
                }
            }
            reached[edge.to] = true;
            stack.push(edge.to);
        }
    }
    (reached, productive)
}

/// The parts that permutations still lack to derive something.
struct Wholes {
    /// For each fragment that is a part or a separator, its whole's place among those that lack something; none where
    /// nothing lacks anything.
    whole_of: Option<IdVec<DraftFragmentId, WholeId>>,
    /// The wholes, and the parts that each of them misses.
    wholes: IdVec<WholeId, (DraftFragmentId, MissingParts)>,
}

impl Wholes {
    fn new(draft: &Draft) -> Self {
        let mut wholes = Self { whole_of: None, wholes: IdVec::default() };
        for (whole, fragment) in draft.fragments.entries() {
            if let DraftRole::Permutation(permutation) = &fragment.role {
                let none = || IdVec::of(WholeId::NONE, draft.fragments.len());
                let whole_of = wholes.whole_of.get_or_insert_with(none);
                for &inside in permutation.parts.iter().chain([&permutation.separator]) {
                    whole_of[inside] = wholes.wholes.next_id();
                }
                let DraftPermutation { required, once, min, .. } = *permutation;
                wholes.wholes.push((whole, MissingParts::of(required, once, min)));
            }
        }
        wholes
    }

    /// Notes that a fragment derives something. Returns its whole if that lacks nothing now.
    fn learn(&mut self, draft: &Draft, fragment: DraftFragmentId) -> Option<DraftFragmentId> {
        let place = self.whole_of.as_ref()?[fragment];
        let (whole, missing) = self.wholes.get_mut(place)?;
        let part = match draft.fragments[fragment].role {
            DraftRole::Part(index) => Some(index),
            _ => None,
        };
        missing.take(part).then_some(*whole)
    }
}

/// The rule that has to change for the root to derive something. It is the nearest one that derives nothing although
/// it waits for no other. If there is none, it is the nearest one that waits for itself.
fn rule_to_blame(draft: &Draft, reached: &States, productive: &Fragments) -> Option<RuleId> {
    let waits = unproductive_calls(draft, reached, productive);
    let rows: Rows<DraftFragmentId> = Rows::count(draft.fragments.len(), waits.iter().map(|wait| wait.0));
    let on_cycle = on_cycles(draft.fragments.len(), waits.clone());
    let mut is_queued: Fragments = IdVec::of(false, draft.fragments.len());
    let mut queue = vec![DraftFragmentId::FIRST];
    let mut endless = None;
    let mut next = 0;
    while let Some(&fragment) = queue.get(next) {
        next += 1;
        let callees = waits[rows.of(fragment)].iter().map(|wait| wait.1);
        if callees.len() == 0 {
            let is_inside = |at: DraftStateId| reached[at] && draft.states[at].fragment() == fragment;
            let inside = draft.dead_parts.iter().find(|part| is_inside(part.0));
            return inside.and_then(|part| part.1).or(draft.fragments[fragment].rule);
        }
        if on_cycle[fragment] && endless.is_none() {
            endless = draft.fragments[fragment].rule;
        }
        queue.extend(callees.filter(|&callee| !std::mem::replace(&mut is_queued[callee], true)));
    }
    endless
}

/// Each fragment that derives nothing, with those that it waits for; sorted.
fn unproductive_calls(
    draft: &Draft,
    reached: &States,
    productive: &Fragments,
) -> Vec<(DraftFragmentId, DraftFragmentId)> {
    let is_dead = |&fragment: &DraftFragmentId| {
        !productive[fragment] && !draft.fragments[fragment].may_occur_zero_times()
    };
    let mut waits = Vec::new();
    for id in draft.states.ids().filter(|&id| reached[id] && !productive[draft.states[id].fragment()]) {
        let callees = draft.edges(id).filter_map(|edge| edge.label.as_call()).filter(is_dead);
        waits.extend(callees.map(|callee| (draft.states[id].fragment(), callee)));
    }
    for (whole, fragment) in draft.fragments.entries().filter(|&(whole, _)| !productive[whole]) {
        let DraftRole::Permutation(permutation) = &fragment.role else { continue };
        let is_required = |part: DraftFragmentId| matches!(draft.fragments[part].role, DraftRole::Part(part) if part < permutation.required);
        let parts = permutation.parts.iter().chain([&permutation.separator]).copied().filter(is_dead);
        // The others do not matter as long as a required one is missing.
        let lacks_required = parts.clone().any(is_required);
        waits.extend(parts.filter(|&part| !lacks_required || is_required(part)).map(|part| (whole, part)));
    }
    waits.sort_unstable();
    waits
}

/// The states from which a final state is reached over productive calls.
fn mark_live(draft: &Draft, reached: &States, productive: &Fragments, pace: &mut Pace<'_>) -> States {
    let usable = |label: Label| {
        label
            .as_call()
            .is_none_or(|fragment| productive[fragment] || draft.fragments[fragment].may_occur_zero_times())
    };
    let count = draft.states.len();
    // The sources of each state's entering edges, as lists: (source, next) an edge.
    let mut entering: IdVec<DraftStateId, DraftEdgeId> = IdVec::of(DraftEdgeId::NONE, count);
    let mut sources: IdVec<DraftEdgeId, (DraftStateId, DraftEdgeId)> =
        IdVec::of((DraftStateId::NONE, DraftEdgeId::NONE), draft.edges.len());
    for from in draft.states.ids().take_while(|&state| pace.goes_on_at(state)).filter(|&state| reached[state])
    {
        for id in draft.edge_ids(from) {
            let edge = draft.edges[id];
            if edge.label != Label::DEAD && usable(edge.label) {
                let next = std::mem::replace(&mut entering[edge.to], id);
                sources[id] = (from, next);
            }
        }
    }
    let mut live: States = draft.states.iter().map(|state| state.is_final()).collect();
    // Backwards from the final states of all fragments at once: edges do not leave a fragment, except for
    // calls, which are edges inside the caller.
    let mut stack: Vec<DraftStateId> = draft.states.ids().filter(|&state| live[state]).collect();
    while let Some(state) = stack.pop().filter(|&state| pace.goes_on_at(state)) {
        let mut next = entering[state];
        while let Some(&(from, following)) = sources.get(next) {
            if !std::mem::replace(&mut live[from], true) {
                stack.push(from);
            }
            next = following;
        }
    }
    live
}
