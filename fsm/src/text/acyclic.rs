//! Minimal automata of finite languages.
//!
//! Where no text leads back to a state, states can be taken after all those that they lead to. Then two are
//! equivalent if and only if both are final or neither, and their arcs are equal once targets are replaced by
//! their classes: one look-up a state (Revuz 1992), where the general way refines a partition round by round.
//! Patterns under a bound on their length are such languages, with tens of thousands of states.

use super::dfa::RangeDfa;
use super::meter::Meter;
use crate::error::Failure;
use crate::ids::NONE;

/// The class of every live state that the start reaches, `NONE` for the others; or `None` if a loop is met on the way.
/// Which states are live is found on the way, too.
pub(crate) fn classes(dfa: &RangeDfa, meter: &mut Meter) -> Result<Option<Vec<u32>>, Failure> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnPath,
        Done,
    }
    meter.spend(dfa.arc_count() + dfa.state_count())?;
    let mut seen = vec![Seen::Not; dfa.state_count()];
    let mut classes: Option<Classes> = None;
    // The path from the start, with how many arcs were followed.
    let mut path: Vec<(u32, u32)> = vec![(0, 0)];
    seen[0] = Seen::OnPath;
    while let Some((state, followed)) = path.last_mut() {
        let Some(arc) = dfa.arcs(*state).get(*followed as usize) else {
            seen[*state as usize] = Seen::Done;
            // Most loops are met before the first state is done.
            classes.get_or_insert_with(|| Classes::new(dfa.state_count())).add(dfa, *state);
            path.pop();
            continue;
        };
        *followed += 1;
        match seen[arc.to as usize] {
            Seen::OnPath => return Ok(None),
            Seen::Not => {
                seen[arc.to as usize] = Seen::OnPath;
                path.push((arc.to, 0));
            }
            Seen::Done => {}
        }
    }
    Ok(classes.map(|classes| classes.class_of))
}

/// Classes of states by how they go on.
struct Classes {
    class_of: Vec<u32>,
    /// Hash and class, with open addressing. Never full: there are twice as many slots as states.
    slots: Vec<(u32, u32)>,
    /// Of each class: whether it is final, and where its arcs end; they begin where the last one's end.
    known: Vec<(bool, usize)>,
    arcs: Vec<(u32, u32, u32)>,
}

impl Classes {
    fn new(states: usize) -> Self {
        let slots = vec![(0, NONE); (2 * states + 1).next_power_of_two()];
        Self { class_of: vec![NONE; states], slots, known: Vec::new(), arcs: Vec::new() }
    }

    fn add(&mut self, dfa: &RangeDfa, state: u32) {
        let start = self.arcs.len();
        for arc in dfa.arcs(state) {
            let class = self.class_of[arc.to as usize];
            if class == NONE {
                continue;
            }
            match self.arcs[start..].last_mut() {
                Some((_, hi, to)) if *to == class && *hi + 1 == arc.lo => *hi = arc.hi,
                _ => self.arcs.push((arc.lo, arc.hi, class)),
            }
        }
        let is_final = dfa.is_final(state);
        if !is_final && self.arcs.len() == start {
            return;
        }
        let mask = self.slots.len() - 1;
        let hash = hash(is_final, &self.arcs[start..]);
        let mut slot = (hash >> 32) as usize & mask;
        loop {
            let (other_hash, class) = self.slots[slot];
            if class == NONE {
                self.slots[slot] = (hash as u32, self.known.len() as u32);
                self.class_of[state as usize] = self.known.len() as u32;
                self.known.push((is_final, self.arcs.len()));
                return;
            }
            if other_hash == hash as u32 && self.is_same(class as usize, is_final, start) {
                self.class_of[state as usize] = class;
                self.arcs.truncate(start);
                return;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Whether a class has the arcs from `start` on.
    fn is_same(&self, class: usize, is_final: bool, start: usize) -> bool {
        let first = if class == 0 { 0 } else { self.known[class - 1].1 };
        let (known_final, end) = self.known[class];
        known_final == is_final && self.arcs[first..end] == self.arcs[start..]
    }
}

fn hash(is_final: bool, arcs: &[(u32, u32, u32)]) -> u64 {
    let mut sum = u64::from(is_final);
    for &(lo, hi, class) in arcs {
        for word in [lo, hi, class] {
            // Multiplying by an odd number and folding the high bits down, as FxHash and its like do.
            sum = (sum ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            sum ^= sum >> 29;
        }
    }
    sum
}
