//! A reading of programs that is obviously right, and what every program guarantees.

use std::collections::BTreeSet;

use grammask_fsm::{ByteClasses, Count, FragmentId, Program, StateId};
use grammask_grammar_ir::hash::{HashMap, HashSet};

/// Whether the program accepts the text.
pub(crate) fn accepts(program: &Program, text: &[u8]) -> bool {
    let mut known = HashMap::default();
    loop {
        let mut round = Round { program, text, before: &known, now: HashMap::default() };
        let found = round.body(program.root(), 0).contains(&text.len());
        let now = round.now;
        if now == known {
            return found;
        }
        known = now;
    }
}

type Ends = BTreeSet<usize>;

struct Round<'r> {
    program: &'r Program,
    text: &'r [u8],
    before: &'r HashMap<(FragmentId, usize), Ends>,
    now: HashMap<(FragmentId, usize), Ends>,
}

impl Round<'_> {
    /// Where one reading of the body may end.
    fn body(&mut self, fragment: FragmentId, start: usize) -> Ends {
        let key = (fragment, start);
        if let Some(ends) = self.now.get(&key) {
            return ends.clone();
        }
        self.now.insert(key, self.before.get(&key).cloned().unwrap_or_default());
        let mut ends = Ends::new();
        let mut seen = HashSet::default();
        let mut stack = vec![(self.program.fragment(fragment).start, start)];
        while let Some((state, at)) = stack.pop() {
            if !seen.insert((state, at)) {
                continue;
            }
            let edges = self.program.state(state);
            if edges.is_final {
                ends.insert(at);
            }
            stack.extend(edges.epsilons.iter().map(|&target| (target, at)));
            if let Some(&byte) = self.text.get(at) {
                let fitting = edges.bytes.iter().filter(|edge| (edge.start..=edge.end).contains(&byte));
                stack.extend(fitting.map(|edge| (edge.target, at + 1)));
            }
            for call in edges.calls {
                stack.extend(self.call(call.fragment, at).into_iter().map(|end| (call.target, end)));
            }
        }
        self.now.insert(key, ends.clone());
        ends
    }

    /// Where a call may end.
    fn call(&mut self, fragment: FragmentId, start: usize) -> Ends {
        let Some(Count { min, max }) = self.program.fragment(fragment).count else {
            return self.body(fragment, start);
        };
        let mut from = Ends::from([start]);
        let mut all = Ends::new();
        for done in 0..=self.text.len() as u32 + 1 {
            if done >= min {
                all.extend(&from);
            }
            if max.is_some_and(|max| done >= max) {
                break;
            }
            // Iterations that read nothing are not counted.
            let step = |&at: &usize| self.body(fragment, at).into_iter().filter(move |&end| end > at);
            from = from.iter().flat_map(step).collect();
        }
        all
    }
}

/// Checks what the documentation of `Program` promises.
pub(crate) fn check_invariants(program: &Program) {
    assert!(program.fragment(program.root()).count.is_none(), "the root is not counted");
    for fragment in program.fragments() {
        if let Some(count) = fragment.count {
            assert!(!fragment.nullable || count.min == 0, "repeats of nullable bodies have no minimum");
        }
        assert_eq!(fragment.nullable, is_nullable(program, fragment.start), "{}", fragment.name);
    }
    // No dead ends: every state is reached inside its fragment, and leads to a final state.
    let states = || (0..program.state_count()).map(|index| StateId::new(index).expect("small"));
    let successors = |state: StateId| {
        let edges = program.state(state);
        let bytes = edges.bytes.iter().map(|edge| edge.target);
        bytes
            .chain(edges.epsilons.iter().copied())
            .chain(edges.calls.iter().map(|call| call.target))
            .chain(edges.tokens.iter().map(|edge| edge.target))
    };
    let mut reached: HashSet<StateId> = HashSet::default();
    let mut stack: Vec<StateId> = program.fragments().map(|fragment| fragment.start).collect();
    while let Some(state) = stack.pop() {
        if reached.insert(state) {
            stack.extend(successors(state));
        }
    }
    assert_eq!(reached.len(), program.state_count(), "every state is reached");
    let mut predecessors: HashMap<StateId, Vec<StateId>> = HashMap::default();
    for state in states() {
        successors(state).for_each(|to| predecessors.entry(to).or_default().push(state));
    }
    let mut live: HashSet<StateId> = states().filter(|&state| program.state(state).is_final).collect();
    let mut stack: Vec<StateId> = live.iter().copied().collect();
    while let Some(state) = stack.pop() {
        let found = predecessors.get(&state).into_iter().flatten();
        stack.extend(found.copied().filter(|&state| live.insert(state)));
    }
    assert_eq!(live.len(), program.state_count(), "every state leads to a final one");
    for state in states() {
        let edges = program.state(state);
        assert!(edges.bytes.is_sorted(), "byte edges are sorted");
        assert!(edges.bytes.iter().all(|edge| edge.start <= edge.end));
    }
    let edges = states().flat_map(|state| program.state(state).bytes).map(|edge| (edge.start, edge.end));
    assert_eq!(*program.byte_classes(), ByteClasses::from_ranges(edges), "classes are what edges tell apart");
    let mut productive: HashSet<FragmentId> = HashSet::default();
    loop {
        let before = productive.len();
        for (index, fragment) in program.fragments().enumerate() {
            if derives(program, fragment.start, &productive) {
                productive.insert(FragmentId::new(index).expect("small"));
            }
        }
        if productive.len() == before {
            break;
        }
    }
    assert_eq!(productive.len(), program.fragment_count(), "every fragment derives something");
}

/// Whether a final state is reached over calls of productive fragments.
fn derives(program: &Program, start: StateId, productive: &HashSet<FragmentId>) -> bool {
    let callable = |fragment| productive.contains(&fragment) || program.fragment(fragment).call_is_nullable();
    walk(program, start, |program, state| {
        let edges = program.state(state);
        let calls = edges.calls.iter().filter(|call| callable(call.fragment)).map(|call| call.target);
        let tokens = edges.tokens.iter().map(|edge| edge.target);
        calls.chain(edges.bytes.iter().map(|edge| edge.target)).chain(tokens).collect()
    })
}

/// Whether a final state is reached without reading, trusting the flags of other fragments.
fn is_nullable(program: &Program, start: StateId) -> bool {
    walk(program, start, |program, state| {
        let calls = program.state(state).calls.iter();
        calls
            .filter(|call| program.fragment(call.fragment).call_is_nullable())
            .map(|call| call.target)
            .collect()
    })
}

fn walk(program: &Program, start: StateId, next: impl Fn(&Program, StateId) -> Vec<StateId>) -> bool {
    let mut seen = HashSet::default();
    let mut stack = vec![start];
    while let Some(state) = stack.pop() {
        if seen.insert(state) {
            if program.state(state).is_final {
                return true;
            }
            stack.extend(next(program, state));
            stack.extend(program.state(state).epsilons);
        }
    }
    false
}
