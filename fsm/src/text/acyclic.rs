//! Minimal automata of finite languages, and of others without long loops.
//!
//! If no text leads back to a state, states can be taken after all those that they lead to. Then two are
//! equivalent if and only if both are final or neither, and their arcs are equal once targets are replaced by
//! their classes. That is one look-up a state (Revuz 1992), where the general way refines a partition round
//! by round. Patterns under a bound on their length are such languages, with tens of thousands of states.
//!
//! A state may lead to itself: the complement of a finite language has a state that accepts everything. Such an arc has a
//! mark in place of a class. A state may then also be equivalent to a class that it leads to. It is if the arcs are equal
//! once those to that class have the mark, too. All other classes that it leads to are older than that one, so that only
//! the youngest has to be tried.

use super::dfa::RangeDfa;
use super::ids::{BlockId, TextStateId};
use super::meter::Meter;
use crate::error::Failure;
use crate::ids::{Id, IdVec, halves};

/// The class of every live state that the start reaches, [`Id::NONE`] for the others; or `None` if a loop of more than one
/// state is met on the way. Which states are live is found on the way, too.
pub(crate) fn classes(
    dfa: &RangeDfa,
    meter: &mut Meter,
) -> Result<Option<IdVec<TextStateId, BlockId>>, Failure> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnPath,
        Done,
    }
    meter.spend(dfa.arc_count() + dfa.state_count())?;
    let mut seen: IdVec<TextStateId, Seen> = IdVec::of(Seen::Not, dfa.state_count());
    let mut classes: Option<Classes> = None;
    // The path from the start, with how many arcs were followed.
    let mut path: Vec<(TextStateId, usize)> = vec![(TextStateId::FIRST, 0)];
    seen[TextStateId::FIRST] = Seen::OnPath;
    while let Some((state, followed)) = path.last_mut() {
        let Some(arc) = dfa.arcs(*state).get(*followed) else {
            seen[*state] = Seen::Done;
            // Most loops are met before the first state is done.
            classes.get_or_insert_with(|| Classes::new(dfa.state_count())).add(dfa, *state);
            path.pop();
            continue;
        };
        *followed += 1;
        match seen[arc.to] {
            Seen::OnPath if arc.to == *state => {}
            // A longer loop: the general way.
            Seen::OnPath => return Ok(None),
            Seen::Not => {
                seen[arc.to] = Seen::OnPath;
                path.push((arc.to, 0));
            }
            Seen::Done => {}
        }
    }
    Ok(classes.map(|classes| classes.class_of))
}

/// Classes of states by how they go on.
struct Classes {
    class_of: IdVec<TextStateId, BlockId>,
    /// Hash and class, with open addressing. Never full: there are twice as many slots as states.
    slots: Vec<(u32, BlockId)>,
    /// Of each class: whether it is final, and where its arcs end; they begin where the last one's end.
    known: IdVec<BlockId, (bool, usize)>,
    /// With [`ITSELF`] for the class that they belong to.
    arcs: Vec<ClassArc>,
}

/// Least and greatest letter, and a class.
type ClassArc = (u32, u32, BlockId);

/// The class of a state that leads to itself. Dead states have no class, and no arc leads to them here.
const ITSELF: BlockId = BlockId::NONE;

impl Classes {
    fn new(states: usize) -> Self {
        let slots = vec![(0, BlockId::NONE); (2 * states + 1).next_power_of_two()];
        Self { class_of: IdVec::of(BlockId::NONE, states), slots, known: IdVec::default(), arcs: Vec::new() }
    }

    fn add(&mut self, dfa: &RangeDfa, state: TextStateId) {
        let start = self.arcs.len();
        let mut youngest: Option<BlockId> = None;
        for arc in dfa.arcs(state) {
            let class = if arc.to == state { ITSELF } else { self.class_of[arc.to] };
            if arc.to != state {
                // The target is dead, so the arc is, too.
                if class == BlockId::NONE {
                    continue;
                }
                youngest = youngest.max(Some(class));
            }
            push(&mut self.arcs, start, (arc.lo, arc.hi, class));
        }
        let is_final = dfa.is_final(state);
        // No text is accepted from here: a dead state has no class.
        if !is_final && youngest.is_none() {
            self.arcs.truncate(start);
            return;
        }
        if let Some(class) = youngest.filter(|&class| self.is_entered_again(class, is_final, start)) {
            self.class_of[state] = class;
            self.arcs.truncate(start);
            return;
        }
        let mask = self.slots.len() - 1;
        let hash = hash(is_final, &self.arcs[start..]);
        let (high, low) = halves(hash);
        let mut slot = high & mask;
        loop {
            let (other_hash, class) = self.slots[slot];
            if class == BlockId::NONE {
                let class = self.known.push((is_final, self.arcs.len()));
                self.slots[slot] = (low, class);
                self.class_of[state] = class;
                return;
            }
            if other_hash == low && self.is_same(class, is_final, start) {
                self.class_of[state] = class;
                self.arcs.truncate(start);
                return;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Whether a class has the arcs from `start` on.
    fn is_same(&self, class: BlockId, is_final: bool, start: usize) -> bool {
        self.known[class].0 == is_final && self.arcs_of(class) == &self.arcs[start..]
    }

    /// Whether a class has the arcs from `start` on, once those that lead to it have the mark.
    fn is_entered_again(&mut self, class: BlockId, is_final: bool, start: usize) -> bool {
        if self.known[class].0 != is_final || self.arcs_of(class).iter().all(|arc| arc.2 != ITSELF) {
            return false;
        }
        let end = self.arcs.len();
        for at in start..end {
            let (lo, hi, to) = self.arcs[at];
            push(&mut self.arcs, end, (lo, hi, if to == class { ITSELF } else { to }));
        }
        let is_same = self.arcs_of(class) == &self.arcs[end..];
        self.arcs.truncate(end);
        is_same
    }

    fn arcs_of(&self, class: BlockId) -> &[ClassArc] {
        let first = if class == BlockId::FIRST { 0 } else { self.known[class.minus(1)].1 };
        &self.arcs[first..self.known[class].1]
    }
}

/// Adds an arc to those from `start` on, joining it to the one before if the two touch.
fn push(arcs: &mut Vec<ClassArc>, start: usize, (lo, hi, class): ClassArc) {
    match arcs[start..].last_mut() {
        Some((_, last, to)) if *to == class && *last + 1 == lo => *last = hi,
        _ => arcs.push((lo, hi, class)),
    }
}

fn hash(is_final: bool, arcs: &[ClassArc]) -> u64 {
    let mut sum = u64::from(is_final);
    for &(lo, hi, class) in arcs {
        for word in [lo, hi, class.raw()] {
            // Multiplying by an odd number and folding the high bits down, as FxHash and its like do.
            sum = (sum ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            sum ^= sum >> 29;
        }
    }
    sum
}
