//! What stacks do with texts over a class of characters.
//!
//! The inside of a JSON string allows nearly every token, and a walk over the vocabulary would visit nearly all of
//! it. Whoever computes masks keeps the tokens of some classes ready, and asks whether *every* text over the class
//! may follow. The answer is found by reading one character after the other, all characters of the class at once,
//! and looking at the lists of stacks that they lead to: if each of them reads every character of the class and no
//! new list is met, every text passes; if after so many characters none is read any more, texts up to that length
//! do; anything else is left to the walk.
//!
//! Under `maxLength: 65536` each character makes a new list, and no list is met twice. But where a character does
//! nothing to a list except to count one further in one node, it goes on doing so until the count comes to a
//! bound, since nothing else looks at counts: the search jumps to a few characters before the bound.

use grammask_fsm::utf8::SEQUENCES;
use grammask_parser_backend::{Backend, CharClass, Fuel, Run};

use crate::closure::Stack;
use crate::engine::{Engine, State};
use crate::tree::{Node, NodeId};

/// Lists that are reached by texts of one length; more are not worth it.
const MAX_WIDTH: usize = 16;

/// Characters that are read one by one.
const MAX_CHARACTERS: usize = 96;

/// Iterations of a repeat that one character may finish: it has at most four bytes.
const MARGIN: u32 = 4;

/// See [`Backend::run_over`].
pub(crate) fn run_over(engine: &Engine, state: State, class: &CharClass, fuel: &mut Fuel) -> Run {
    Search { engine, class, starts: start_bytes(class), fuel }.run(state).unwrap_or(Run::Unknown)
}

/// The bytes that characters of the class begin with.
fn start_bytes(class: &CharClass) -> [u64; 4] {
    let mut bits = [class.ascii as u64, (class.ascii >> 64) as u64, 0, 0];
    if class.non_ascii {
        for pattern in SEQUENCES {
            for byte in pattern[0].0..=pattern[0].1 {
                bits[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
        }
    }
    bits
}

struct Search<'e> {
    engine: &'e Engine,
    class: &'e CharClass,
    starts: [u64; 4],
    fuel: &'e mut Fuel,
}

impl Search<'_> {
    /// `None`: nothing can be said.
    fn run(mut self, state: State) -> Option<Run> {
        let mut met: Vec<State> = Vec::new();
        let mut lists = vec![state];
        let mut read: u32 = 0;
        for _ in 0..MAX_CHARACTERS {
            if lists.iter().all(|list| met.contains(list)) {
                return Some(Run::Unbounded);
            }
            match self.reads(&lists)? {
                Reads::None => return Some(Run::AtMost(read)),
                Reads::All => {}
            }
            met.extend(lists.iter().filter(|&list| !met.contains(list)).copied().collect::<Vec<_>>());
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

    /// What the lists do with the first byte of a character. `None` where they do not all do the same.
    fn reads(&self, lists: &[State]) -> Option<Reads> {
        let reads = |list: &State| {
            let next = self.engine.next_bytes(*list);
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

    /// If a character leads from `from` to `to`, and that differs by one finished iteration of one repeat: the list
    /// in which that repeat stands shortly before its next bound, and how many iterations after `to` that is.
    fn jump(&mut self, from: State, to: State) -> Option<(State, u32)> {
        let engine = self.engine;
        let (from, to) = (engine.list(from), engine.list(to));
        if from.ends != to.ends || from.stacks.len() != to.stacks.len() || from.stacks == to.stacks {
            return None;
        }
        let mut builder = engine.lock();
        let builder = &mut *builder;
        let program = engine.program();
        let changed = from.stacks.iter().find(|stack| to.stacks.binary_search(stack).is_err())?.below;
        let Node::Repeat { fragment, done, below } = builder.tree.get(changed) else { return None };
        let count = program.fragment(fragment).count?;
        let mut counted = |done: u32| {
            let node = builder.tree.push(program, Node::Repeat { fragment, done, below });
            replaced(&from.stacks, changed, node)
        };
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
        let far = last.checked_sub(MARGIN).filter(|&far| far > after)?;
        let stacks = counted(far);
        let list = engine.intern(builder, &stacks, from.ends).ok()?;
        Some((State(list), far - after))
    }

    /// Adds the lists after each character of the class. `None` where one of them is refused.
    fn read_each(&mut self, list: State, after: &mut Vec<State>) -> Option<()> {
        let ascii = (0..128).filter(|&byte| self.class.contains_ascii(byte));
        self.step_all(&[list], ascii.collect::<Vec<u8>>(), after)?;
        if !self.class.non_ascii {
            return Some(());
        }
        for pattern in SEQUENCES {
            let mut lists = vec![list];
            for &(start, end) in *pattern {
                let mut next = Vec::new();
                self.step_all(&lists, start..=end, &mut next)?;
                lists = next;
            }
            for list in lists {
                push_new(after, list)?;
            }
        }
        Some(())
    }

    /// Steps each list by each byte; every step must lead on.
    fn step_all(
        &mut self,
        lists: &[State],
        bytes: impl IntoIterator<Item = u8>,
        after: &mut Vec<State>,
    ) -> Option<()> {
        let classes = self.engine.program().byte_classes();
        let mut tried = [false; 256];
        for byte in bytes {
            if std::mem::replace(&mut tried[usize::from(classes.class(byte))], true) {
                continue;
            }
            for &list in lists {
                push_new(after, self.engine.step(list, byte, self.fuel).ok()??)?;
            }
        }
        Some(())
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

fn push_new(lists: &mut Vec<State>, list: State) -> Option<()> {
    if !lists.contains(&list) {
        if lists.len() == MAX_WIDTH {
            return None;
        }
        lists.push(list);
    }
    Some(())
}
