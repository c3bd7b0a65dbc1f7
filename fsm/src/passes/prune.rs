//! Removes what derives nothing.
//!
//! A fragment is *productive* if its body derives some text. Naively one repeats "mark a fragment whose final
//! state is reached over marked calls" until nothing changes, which is quadratic for a chain of rules. Here
//! the states that can be reached over productive calls are marked once each, and a call of a fragment that
//! is not known to be productive waits in that fragment's list. Afterwards edges are kept only between states
//! that are reached and lead to a final state.

use crate::draft::automata::{Draft, DraftRole, Label};
use crate::ids::NONE;

/// The root's body derives no text.
#[derive(Debug)]
pub(crate) struct EmptyLanguage;

/// Deletes every edge that lies on no path from its fragment's start to a final state.
pub(crate) fn prune(draft: &mut Draft) -> Result<(), EmptyLanguage> {
    // Built parts lead to their ends, so without dead parts and dead calls there is nothing to remove.
    if !draft.has_dead_parts && mark_reached(draft, Search::UntilProductive).1.iter().all(|&is| is) {
        return Ok(());
    }
    let (reached, productive) = mark_reached(draft, Search::All);
    if !productive[0] {
        return Err(EmptyLanguage);
    }
    let live = mark_live(draft, &reached, &productive);
    for state in 0..draft.states.len() {
        let mut next = draft.states[state].head;
        while let Some(edge) = draft.edges.get_mut(next as usize) {
            let callable = match edge.label.as_call() {
                // A repeat of at least no time of what derives nothing reads nothing.
                Some(fragment) if !productive[fragment as usize] => {
                    edge.label = Label::EPSILON;
                    draft.fragments[fragment as usize].count.is_some_and(|count| count.min == 0)
                }
                _ => true,
            };
            if !(callable && reached[state] && live[state] && live[edge.to as usize]) {
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
fn mark_reached(draft: &Draft, search: Search) -> (Vec<bool>, Vec<bool>) {
    let mut reached = vec![false; draft.states.len()];
    let finished = draft.fragments.iter().map(|fragment| fragment.prebuilt.is_some());
    let mut productive: Vec<bool> = finished.collect();
    // Per fragment a list of the states behind its calls: (state, next).
    let mut waiting = vec![NONE; draft.fragments.len()];
    let mut entries: Vec<(u32, u32)> = Vec::with_capacity(64);
    let mut missing_parts = MissingParts::new(draft);
    let mut stack: Vec<u32> = Vec::with_capacity(256);
    for start in draft.starts() {
        reached[start as usize] = true;
        stack.push(start);
    }
    while let Some(id) = stack.pop() {
        let state = draft.states[id as usize];
        let owner = state.fragment as usize;
        let mut known = None;
        if state.is_final
            && !productive[owner]
            && !matches!(draft.fragments[owner].role, DraftRole::Permutation(_))
        {
            known = Some(owner);
        }
        while let Some(fragment) = known.take() {
            productive[fragment] = true;
            let mut next = std::mem::replace(&mut waiting[fragment], NONE);
            while let Some(&(target, following)) = entries.get(next as usize) {
                if !std::mem::replace(&mut reached[target as usize], true) {
                    stack.push(target);
                }
                next = following;
            }
            // A part may be what its whole has been lacking.
            known = missing_parts.learn(draft, fragment).filter(|&whole| !productive[whole]);
        }
        if search == Search::UntilProductive && productive[owner] {
            continue;
        }
        for edge in draft.edges(id) {
            if reached[edge.to as usize] {
                continue;
            }
            if let Some(callee) = edge.label.as_call() {
                let callee = callee as usize;
                let optional = draft.fragments[callee].count.is_some_and(|count| count.min == 0);
                if !productive[callee] && !optional {
                    entries.push((edge.to, waiting[callee]));
                    waiting[callee] = entries.len() as u32 - 1;
                    continue;
                }
            }
            reached[edge.to as usize] = true;
            stack.push(edge.to);
        }
    }
    (reached, productive)
}

/// What the parts of a permutation lack to derive something.
struct MissingParts {
    /// For each fragment that is a part or a separator, its whole's place among those that lack something. Empty where
    /// there is none.
    whole_of: Vec<u32>,
    /// The wholes, and what each of them lacks.
    wholes: Vec<(u32, Missing)>,
}

struct Missing {
    /// Required parts of which nothing is known.
    required: u32,
    /// Parts that are still needed to reach the minimum.
    parts: u32,
    /// Whether a separator is needed, and not known.
    separator: bool,
}

impl MissingParts {
    fn new(draft: &Draft) -> Self {
        let mut missing_parts = Self { whole_of: Vec::new(), wholes: Vec::new() };
        for (whole, fragment) in (0..).zip(&draft.fragments) {
            if let DraftRole::Permutation(permutation) = &fragment.role {
                missing_parts.whole_of.resize(draft.fragments.len(), NONE);
                for &inside in permutation.parts.iter().chain([&permutation.separator]) {
                    missing_parts.whole_of[inside as usize] = missing_parts.wholes.len() as u32;
                }
                let (required, parts) = (permutation.required, permutation.min);
                missing_parts
                    .wholes
                    .push((whole, Missing { required, parts, separator: permutation.min > 1 }));
            }
        }
        missing_parts
    }

    /// Notes that a fragment derives something. Returns its whole if that lacks nothing now.
    fn learn(&mut self, draft: &Draft, fragment: usize) -> Option<usize> {
        let &place = self.whole_of.get(fragment)?;
        let (whole, missing) = self.wholes.get_mut(place as usize)?;
        let whole = *whole as usize;
        let DraftRole::Permutation(permutation) = &draft.fragments[whole].role else { return None };
        match draft.fragments[fragment].role {
            DraftRole::Part(part) if part >= permutation.once => missing.parts = 0,
            DraftRole::Part(part) => {
                missing.parts = missing.parts.saturating_sub(1);
                missing.required -= u32::from(part < permutation.required);
            }
            _ => missing.separator = false,
        }
        (missing.required == 0 && missing.parts == 0 && !missing.separator).then_some(whole)
    }
}

/// The states from which a final state is reached over productive calls.
fn mark_live(draft: &Draft, reached: &[bool], productive: &[bool]) -> Vec<bool> {
    let usable = |label: Label| {
        label.as_call().is_none_or(|fragment| {
            productive[fragment as usize]
                || draft.fragments[fragment as usize].count.is_some_and(|count| count.min == 0)
        })
    };
    let count = draft.states.len();
    // The sources of each state's entering edges, as lists: (source, next) an edge.
    let mut entering = vec![NONE; count];
    let mut sources = vec![(NONE, NONE); draft.edges.len()];
    for from in (0..count as u32).filter(|&state| reached[state as usize]) {
        for id in draft.edge_ids(from) {
            let edge = draft.edges[id as usize];
            if edge.label != Label::DEAD && usable(edge.label) {
                let next = std::mem::replace(&mut entering[edge.to as usize], id);
                sources[id as usize] = (from, next);
            }
        }
    }
    let mut live: Vec<bool> = draft.states.iter().map(|state| state.is_final).collect();
    let mut stack: Vec<u32> = (0..count as u32).filter(|&state| live[state as usize]).collect();
    while let Some(state) = stack.pop() {
        let mut next = entering[state as usize];
        while let Some(&(from, following)) = sources.get(next as usize) {
            if !std::mem::replace(&mut live[from as usize], true) {
                stack.push(from);
            }
            next = following;
        }
    }
    live
}
