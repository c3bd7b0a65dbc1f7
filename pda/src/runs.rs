//! The behaviour of stacks on texts over a class of characters.
//!
//! The inside of a JSON string allows nearly every token, and a walk over the vocabulary would visit nearly
//! all of it. The computation of masks keeps the tokens of some classes ready, and asks whether *every* text
//! over the class may follow. The answer is found by reading one character after the other, all characters of
//! the class at once, and looking at the lists of stacks that they lead to. If each of them reads every
//! character of the class and no new list is met, every text passes. If from some length on no character is
//! read any more, texts up to that length pass. Anything else is left to the walk.
//!
//! Under `maxLength: 65536` each character makes a new list, and no list is met twice. But a character that
//! only counts one further in one node does so again until the count reaches a bound, since nothing else
//! looks at counts. So the search jumps to a few characters before the bound.

use grammask_parser_backend::{CharClass, Fuel, Run};

use crate::automaton::Automaton;
use crate::stacks::{Stack, State};
use crate::tree::{Node, NodeId};

/// Lists that are reached by texts of one length; more are not worth it.
const MAX_WIDTH: usize = 16;

/// Characters that are read one by one.
const MAX_CHARACTERS: usize = 96;

/// Iterations of a repeat that one character may finish: it has at most four bytes.
const MAX_ITERATIONS: u32 = 4;

/// The behaviour of a state on texts over a class.
pub(crate) fn run_over(automaton: &Automaton, state: State, class: &CharClass, fuel: &mut Fuel) -> Run {
    Search { automaton, class, starts: class.start_bytes(), fuel }.run(state).unwrap_or(Run::Unknown)
}

struct Search<'e> {
    automaton: &'e Automaton,
    class: &'e CharClass,
    starts: [u64; 4],
    fuel: &'e mut Fuel,
}

impl Search<'_> {
    /// `None`: nothing can be said.
    fn run(mut self, state: State) -> Option<Run> {
        let mut visited: Vec<State> = Vec::new();
        let mut lists = vec![state];
        let mut read: u32 = 0;
        for _ in 0..MAX_CHARACTERS {
            // All lists were read from before, and no character was refused: it goes on so without end.
            if lists.iter().all(|list| visited.contains(list)) {
                return Some(Run::Unbounded);
            }
            match self.reads(&lists)? {
                Reads::None => return Some(Run::AtMost(read)),
                Reads::All => {}
            }
            visited.extend(lists.iter().filter(|&list| !visited.contains(list)).copied().collect::<Vec<_>>());
            let mut next = Vec::new();
            for &list in &lists {
                self.read_each(list, &mut next)?;
            }
            read = read.checked_add(1)?;
            if let ([from], [to]) = (&*lists, &*next)
                && let Some((far, more)) = self.jump(*from, *to)
            {
                read = read.checked_add(more)?;
                next = vec![far];
            }
            lists = next;
        }
        None
    }

    /// The behaviour of the lists on the first byte of a character. `None` where they do not all do the same.
    fn reads(&self, lists: &[State]) -> Option<Reads> {
        let reads = |list: &State| {
            let next = self.automaton.list(*list).next_bytes;
            if (0..4).all(|word| self.starts[word] & !next[word] == 0) {
                Some(Reads::All)
            } else if (0..4).all(|word| self.starts[word] & next[word] == 0) {
                Some(Reads::None)
            } else {
                None
            }
        };
        let first = reads(lists.first()?)?;
        lists.iter().all(|list| reads(list) == Some(first)).then_some(first)
    }

    /// A jump, if a character leads from `from` to `to` and the two differ by one finished iteration of one
    /// repeat. The answer is the list in which that repeat is shortly before its next bound, and the number
    /// of iterations between `to` and that list.
    fn jump(&mut self, from: State, to: State) -> Option<(State, u32)> {
        let automaton = self.automaton;
        let (from, to) = (automaton.list(from), automaton.list(to));
        if from.acceptance != to.acceptance
            || from.stacks.len() != to.stacks.len()
            || from.stacks == to.stacks
        {
            return None;
        }
        let mut builder = automaton.lock();
        let builder = &mut *builder;
        let program = &automaton.program;
        let changed = from.stacks.iter().find(|stack| to.stacks.binary_search(stack).is_err())?.below;
        let Node::Repeat { fragment, done, below } = builder.tree.get(changed) else { return None };
        let count = program.fragment(fragment).counting()?;
        let mut counted = |done: u32| {
            let node = builder.tree.push(program, Node::Repeat { fragment, done, below });
            replaced(&from.stacks, changed, node)
        };
        // The one difference is the count, in all stacks that have the node. So the next character differs in
        // the same way, as long as no bound is near.
        if *counted(done + 1) != *to.stacks {
            return None;
        }
        // The greatest count that gets the same answers when an iteration ends.
        let after = done + 1;
        let last = match count.max {
            _ if after < count.min => count.min - 2,
            Some(max) if after < max => max - 2,
            _ => return None,
        };
        let far = last.checked_sub(MAX_ITERATIONS).filter(|&far| far > after)?;
        let stacks = counted(far);
        let list = automaton.intern(builder, &stacks, from.acceptance).ok()?;
        Some((State(list), far - after))
    }

    /// Adds the lists after each character of the class. `None` where one of them is refused.
    fn read_each(&mut self, list: State, after: &mut Vec<State>) -> Option<()> {
        let Self { automaton, class, fuel, .. } = self;
        let ascii = (0..128).filter(|&byte| class.contains_ascii(byte));
        let step = |list, byte| automaton.step(list, byte, fuel).ok()?;
        let classes = automaton.program.byte_classes();
        classes.after_each_character(list, ascii, class.non_ascii, MAX_WIDTH, after, step)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    All,
    None,
}

/// The stacks with one node directly below a top replaced.
fn replaced(stacks: &[Stack], old: NodeId, new: NodeId) -> Vec<Stack> {
    let replace =
        |stack: &Stack| Stack { below: if stack.below == old { new } else { stack.below }, ..*stack };
    let mut replaced: Vec<Stack> = stacks.iter().map(replace).collect();
    replaced.sort_unstable();
    replaced
}
