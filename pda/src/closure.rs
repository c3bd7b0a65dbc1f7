//! From the stacks that a byte led to, to those that can read the next byte.
//!
//! The naive way follows every edge that reads nothing: a call pushes the caller's return state and goes on in
//! the callee, a final state pops. Four things differ here.
//!
//! * The top of a stack changes with every byte, so it is kept beside the pointer to the node below it
//!   ([`Stack`]). So a step inside a rule makes no node at all.
//! * A call that returns to a state without a way on pushes nothing: the node that waits for the caller waits for the
//!   callee. Right recursion runs in constant depth.
//! * A stack whose top has not read anything since its rule began does not pop. The automaton knows that a
//!   call may read nothing, and the caller continues without a push ([`Phase`]; Aycock and Horspool 2002 do
//!   the same for Earley's algorithm). An iteration of a repeat that reads nothing is then never counted.
//! * Where a caller may end as it goes on, the same caller below it is skipped. A state over a stack of such callers reads
//!   all that it reads over fewer of them. So the text `aaaa` over `r ::= "a" r ("b" | "c")?` has three stacks and not one
//!   for each `a`.
//!
//! Pushing without reading a byte comes to an end because no rule begins with itself
//! ([`left_recursion`](crate::left_recursion)).

use grammask_fsm::{Program, Role, StateId};
use grammask_grammar_ir::hash::HashSet;
use grammask_parser_backend::StepError;

use crate::callers::Rules;
use crate::stacks::{Acceptance, Stack};
use crate::tree::{Node, NodeId, Tree, units};

/// Whether the rule at the top of a stack has read something since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Fresh,
    Read,
}

/// Bounds on one closure.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) max_stacks: usize,
    /// Units of work left to the call.
    pub(crate) max_work: u64,
}

/// Scratch space and results of one closure. Kept and reused.
#[derive(Default)]
pub(crate) struct Closure {
    todo: Vec<(Stack, Phase)>,
    read: KeySet,
    fresh: KeySet,
    popped: KeySet,
    work: u64,
    /// Result: stacks that can read a byte, sorted, each once.
    pub(crate) stacks: Vec<Stack>,
    /// Result: whether the text or the rule of a local part may end.
    pub(crate) acceptance: Acceptance,
}

type KeySet = HashSet<u64>;

/// A stack is looked for and put into tables that are larger than the processor's caches.
const WORK_OF_A_STACK: u64 = 3;

/// So is a node that is popped,
const WORK_OF_A_POP: u64 = 2;

/// and a new node, whose table also grows.
const WORK_OF_A_NODE: u64 = 8;

/// Byte edges that are read in the time of a unit of work.
const BYTE_EDGES_READ: usize = 16;

/// Scratch sets of more elements than this are not kept: clearing one costs as much as its capacity.
const MAX_KEPT: usize = 1 << 12;

impl Closure {
    /// Begins a closure. Stacks follow by [`add`](Self::add) and [`pop`](Self::pop).
    pub(crate) fn begin(&mut self) {
        self.todo.clear();
        for seen in [&mut self.read, &mut self.fresh, &mut self.popped] {
            if seen.capacity() > MAX_KEPT {
                *seen = KeySet::default();
            }
            seen.clear();
        }
        self.work = 0;
        self.stacks.clear();
        self.acceptance = Acceptance::default();
    }

    /// Stacks and edges met.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    pub(crate) fn add(&mut self, stack: Stack, phase: Phase) {
        let key = u64::from(stack.state.raw()) << 32 | u64::from(stack.below.raw());
        // A stack that has read nothing does only a part of the work.
        let is_new = match phase {
            Phase::Read => self.read.insert(key),
            Phase::Fresh => !self.read.contains(&key) && self.fresh.insert(key),
        };
        if is_new {
            self.todo.push((stack, phase));
        }
    }

    /// The caller or the repeat that waits in `node` goes on.
    pub(crate) fn pop(&mut self, rules: Rules<'_>, tree: &mut Tree, mut node: NodeId) {
        let program = rules.program;
        // Stacks that end together have one node below. It goes on once, for all of them.
        while self.popped.insert(u64::from(node.raw())) {
            self.work += WORK_OF_A_POP;
            match tree.get(node) {
                Node::Bottom => self.acceptance.complete = true,
                Node::Local => self.acceptance.local_complete = true,
                Node::Return { caller, below } => {
                    let mut may_end = false;
                    for state in rules.callers.states(caller) {
                        may_end |= program.state(state).is_final;
                        // A call that is popped has read something, and so has its caller.
                        self.add(Stack { state, below }, Phase::Read);
                    }
                    let after = tree.after_callers(below, caller);
                    if may_end && after != below {
                        self.popped.insert(u64::from(below.raw()));
                        node = after;
                        continue;
                    }
                }
                Node::Repeat { fragment, done, below } => {
                    let body = program.fragment(fragment);
                    let Some(count) = body.count else {
                        // Measured text may end wherever its automaton does.
                        node = below;
                        continue;
                    };
                    let done = done.saturating_add(1);
                    if count.max.is_none_or(|max| done < max) {
                        // Past the minimum of a repeat without a maximum there is nothing left to count.
                        let done = if count.max.is_none() { done.min(count.min) } else { done };
                        let below = tree.push(program, Node::Repeat { fragment, done, below });
                        self.add(Stack { state: body.start, below }, Phase::Fresh);
                    }
                    // The repeat may end here, too. The next node is popped in the same loop, since right
                    // recursion through repeats nests as deep as the text.
                    if done >= count.min {
                        node = below;
                        continue;
                    }
                }
            }
            return;
        }
    }

    /// A character of measured text has ended: one of the edges is followed, by the count.
    fn count_character(&mut self, program: &Program, tree: &mut Tree, stack: Stack, edges: &[StateId]) {
        let Node::Repeat { fragment, done, below } = tree.get(stack.below) else { return };
        let Role::Measured(limit) = program.fragment(fragment).role else { return };
        let done = done.saturating_add(1);
        match *edges {
            [_, rest] if done >= limit => self.add(Stack { state: rest, below }, Phase::Read),
            [next, ..] => {
                let below = tree.push(program, Node::Repeat { fragment, done, below });
                self.add(Stack { state: next, below }, Phase::Read);
            }
            [] => {}
        }
    }

    /// Runs the closure to its end.
    pub(crate) fn run(&mut self, rules: Rules<'_>, tree: &mut Tree, bounds: Bounds) -> Result<(), StepError> {
        let program = rules.program;
        let Bounds { max_stacks, max_work } = bounds;
        while let Some((stack, phase)) = self.todo.pop() {
            let nodes = tree.len();
            let state = program.state(stack.state);
            let edges = state.bytes.len() / BYTE_EDGES_READ + state.epsilons.len() + 2 * state.calls.len();
            self.work += WORK_OF_A_STACK + units(edges);
            if !state.bytes.is_empty() {
                self.stacks.push(stack);
            }
            if state.counts {
                self.count_character(program, tree, stack, state.epsilons);
            } else {
                for &target in state.epsilons {
                    self.add(Stack { state: target, ..stack }, phase);
                }
            }
            for call in state.calls {
                let callee = program.fragment(call.fragment);
                // The caller continues at once, in its own phase: the call may have read nothing. A callee
                // that reads something comes back by a pop.
                if callee.call_is_nullable() {
                    self.add(Stack { state: call.target, ..stack }, phase);
                }
                // No iteration is allowed, so the call only reads nothing.
                if callee.count.is_some_and(|count| count.max == Some(0)) {
                    continue;
                }
                let mut below = stack.below;
                let caller = rules.callers.of_call(stack.state, call.fragment, call.target);
                if !rules.callers.states(caller).all(|state| program.state(state).is_pure_final()) {
                    below = tree.push(program, Node::Return { caller, below });
                }
                if callee.counting().is_some() {
                    below = tree.push(program, Node::Repeat { fragment: call.fragment, done: 0, below });
                }
                self.add(Stack { state: callee.start, below }, Phase::Fresh);
            }
            if state.is_final && phase == Phase::Read {
                self.pop(rules, tree, stack.below);
            }
            self.work += WORK_OF_A_NODE * units(tree.len() - nodes);
            // Duplicates are removed at the end only, so the limits in between have some room.
            if self.stacks.len() > 2 * max_stacks || self.todo.len() > 4 * max_stacks {
                return Err(StepError::TooManyItems {
                    items: self.stacks.len().max(max_stacks + 1),
                    limit: max_stacks,
                });
            }
            if self.work > max_work {
                // The caller burns the work done, which empties the tank and makes the error.
                return Ok(());
            }
        }
        self.stacks.sort_unstable();
        self.stacks.dedup();
        match self.stacks.len() {
            items if items > max_stacks => Err(StepError::TooManyItems { items, limit: max_stacks }),
            _ => Ok(()),
        }
    }
}
