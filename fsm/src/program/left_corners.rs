//! Which fragments can begin with which: the order of prediction.
//!
//! Predicting a fragment predicts the fragments that it calls before it has read a byte. A fragment's context
//! is the merge of *all* its callers in a set, so callers must be predicted first. Fragments are ordered
//! topologically along the *left-corner graph*, with an edge f -> g where a call of g is reachable from f's
//! start without reading. Cycles of that graph are the left-recursive components; their contexts name one
//! another and are interned together.

use crate::graph::components_of;
use crate::ids::{Id, IdVec, Rows, ids};
use crate::program::ids::ComponentId;
use crate::program::tables::{FragmentId, Program, StateId};

/// The left-corner graph's components, of the fragments in a program's own tables. Programs that it shares with
/// others are called by it and never call it, and none of them is left-recursive.
#[derive(Clone, Debug)]
pub struct LeftCorners {
    /// The component of each fragment; callers have smaller numbers than the fragments with which they begin.
    component: IdVec<FragmentId, ComponentId>,
    /// The cycle of each component, if it is one. Empty where no component is.
    cycles: IdVec<ComponentId, Option<Cycle>>,
    /// The component of the fragment that each state belongs to. Empty where no component is a cycle: few grammars
    /// are left-recursive, and finding it visits every state.
    component_of_state: IdVec<StateId, ComponentId>,
}

/// A left-recursive component.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Calls among its own fragments that happen before a byte is read.
    pub calls: Vec<CornerCall>,
}

/// Fragment `caller`, before it has read a byte, calls `callee` and goes on at `target`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CornerCall {
    /// The caller.
    pub caller: FragmentId,
    /// The fragment that is called.
    pub callee: FragmentId,
    /// Where the caller goes on.
    pub target: StateId,
}

impl LeftCorners {
    pub(crate) fn new(program: &Program) -> Self {
        let count = program.fragments.len();
        let mut walk = Walk::new(program);
        let mut calls = Vec::with_capacity(64);
        // The calls of each fragment.
        let mut rows: Rows<FragmentId> = Rows::with_capacity(count);
        for caller in ids(count) {
            walk.corner_calls(caller, &mut calls);
            rows.push(calls.len());
        }
        let callees: Vec<FragmentId> = calls.iter().map(|call| call.callee).collect();
        let successors = |caller: FragmentId| &callees[rows.of(caller)];
        let mut component: IdVec<FragmentId, ComponentId> = IdVec::of(ComponentId::FIRST, count);
        let mut end = ComponentId::FIRST;
        // Components come callees first.
        components_of(count, ids(count), successors, |members| {
            for &member in members {
                component[member] = end;
            }
            end = end.plus(1);
        });
        // Turned round: callers get smaller numbers than their callees, as prediction needs them.
        for number in component.iter_mut() {
            *number = ComponentId::from_index(end.since(number.plus(1)));
        }
        let mut cycles: IdVec<ComponentId, Option<Cycle>> = IdVec::default();
        for call in calls {
            let number = component[call.caller];
            if component[call.callee] == number {
                if cycles.is_empty() {
                    cycles = IdVec::of(None, end.index());
                }
                let cycle = cycles[number].get_or_insert_with(|| Cycle { calls: Vec::new() });
                cycle.calls.push(call);
            }
        }
        // Only programs with cycles are asked for the component of a state.
        let owners = if cycles.is_empty() { IdVec::default() } else { program.owners() };
        let of_state = |owner: &FragmentId| owner.known().map_or(ComponentId::FIRST, |id| component[id]);
        let component_of_state = owners.iter().map(of_state).collect();
        Self { component, cycles, component_of_state }
    }

    /// The component of a fragment of the program's own.
    #[inline]
    pub(crate) fn own_component(&self, fragment: FragmentId) -> Option<ComponentId> {
        self.component.get(fragment).copied()
    }

    /// Whether any fragment can begin with itself.
    pub fn has_cycles(&self) -> bool {
        !self.cycles.is_empty()
    }

    /// The calls of a component whose fragments can begin with themselves.
    pub fn cycle(&self, component: u32) -> Option<&Cycle> {
        self.own_cycle(ComponentId::from_raw(component))
    }

    fn own_cycle(&self, component: ComponentId) -> Option<&Cycle> {
        self.cycles.get(component)?.as_ref()
    }

    /// Whether a state's fragment and another one can begin with each other.
    pub fn same_cycle(&self, state: StateId, fragment: FragmentId) -> bool {
        let Some(&component) = self.component_of_state.get(state) else { return false };
        self.own_component(fragment) == Some(component) && self.own_cycle(component).is_some()
    }

    /// Whether a fragment can begin with itself.
    pub fn is_left_recursive(&self, fragment: FragmentId) -> bool {
        self.own_component(fragment).is_some_and(|component| self.own_cycle(component).is_some())
    }
}

/// Depth-first walks over a program's states with one set of marks.
struct Walk<'p> {
    program: &'p Program,
    /// Made when a walk leaves its first state: few do, and there may be many states.
    marks: Vec<u32>,
    stamp: u32,
    stack: Vec<StateId>,
}

impl<'p> Walk<'p> {
    fn new(program: &'p Program) -> Self {
        Self { program, marks: Vec::new(), stamp: 0, stack: Vec::with_capacity(64) }
    }

    fn visit(&mut self, state: StateId) {
        if self.marks.is_empty() {
            self.marks.resize(self.program.own_state_count(), 0);
        }
        let mark = &mut self.marks[state.index()];
        if *mark != self.stamp {
            *mark = self.stamp;
            self.stack.push(state);
        }
    }

    /// The calls that a fragment makes before it reads a byte.
    fn corner_calls(&mut self, caller: FragmentId, calls: &mut Vec<CornerCall>) {
        // The first state is known by itself. Mostly it reads bytes and nothing else.
        let first = self.program.fragment(caller).start;
        if self.program.only_reads(first) {
            return;
        }
        self.stamp += 1;
        self.stack.push(first);
        while let Some(id) = self.stack.pop() {
            let state = self.program.state(id);
            for &target in state.epsilons.iter().filter(|&&target| target != first) {
                self.visit(target);
            }
            for call in state.calls {
                // Sub-programs come after everything of the program's own, and derive something.
                if call.fragment.index() >= self.program.fragments.len() {
                    continue;
                }
                calls.push(CornerCall { caller, callee: call.fragment, target: call.target });
                // A call that may read nothing is skipped, so what comes after it is at the beginning, too.
                if call.target != first && self.program.fragment(call.fragment).call_is_nullable() {
                    self.visit(call.target);
                }
            }
        }
    }
}
