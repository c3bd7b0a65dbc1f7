//! Whether a pattern matches a text: the naive way, with sets of positions, so that it needs no automaton and cannot blow
//! up.
//!
//! A set of positions is a sorted list: in a long text most sets have one position. A repeat looks at each position once
//! past its minimum, because a position that was reached before leads nowhere new.
//!
//! Look-ahead nests expressions as often as its repeats have rounds, so that the stack is a list of frames. Its alternatives
//! share what follows them: the ends of an alternative are kept, and are not looked for again.

use std::cell::RefCell;

use crate::json_schema::work::Work;
use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_grammar_ir::{Expr, ExprId, Grammar};
use smallvec::SmallVec;

/// Places between the characters of a text, in order.
type Positions = SmallVec<[usize; 8]>;

/// Whether the root of a grammar without rule references matches a text. Once the work is spent, the answer means nothing.
pub(crate) fn matches_whole(grammar: &Grammar, text: &str, work: &Work) -> bool {
    let text: SmallVec<[char; 64]> = text.chars().collect();
    work.charge(1 + text.len() / 4);
    let search = Search { grammar, text: &text, work, known: RefCell::default() };
    let ends = search.ends(grammar.rule(grammar.root()).body());
    ends.last() == Some(&text.len())
}

/// Expressions nest less deep without look-ahead, as a rule. No ends are kept there.
const USUAL_DEPTH: usize = 8;
/// Most sets of ends that are kept.
const MAX_KNOWN: usize = 1 << 14;
/// Most positions that such a set begins at.
const MAX_KNOWN_STARTS: usize = 8;

/// A pattern and a text.
struct Search<'a> {
    grammar: &'a Grammar,
    text: &'a [char],
    work: &'a Work,
    /// The ends of expressions with alternatives, by where they begin.
    known: RefCell<HashMap<(ExprId, Positions), Positions>>,
}

/// An expression whose operands are looked at, one after the other.
enum Frame<'a> {
    /// The parts that are left, and where the first one begins.
    Sequence {
        left: &'a [ExprId],
        from: Positions,
    },
    /// The alternatives that are left, and the ends of the others.
    Choice {
        id: ExprId,
        left: &'a [ExprId],
        from: Positions,
        ends: Vec<usize>,
    },
    Repeat(Rounds),
    /// By each start alone: two operands may end at one position and have begun at different ones.
    Intersection {
        id: ExprId,
        parts: &'a [ExprId],
        part: usize,
        from: Positions,
        at: usize,
        common: Positions,
        ends: Vec<usize>,
    },
    Complement {
        id: ExprId,
        body: ExprId,
        from: Positions,
        at: usize,
        ends: Vec<usize>,
    },
}

/// A repeat, after some rounds.
struct Rounds {
    body: ExprId,
    min: u32,
    max: Option<u32>,
    count: u32,
    now: Positions,
    /// Up to the minimum: the rounds after which the positions were these.
    seen: HashMap<Positions, u32>,
    /// From there on: every position that was reached.
    met: Option<HashSet<usize>>,
    ends: Vec<usize>,
}

enum Task {
    Find(ExprId, Positions),
    Found(Positions),
}

impl<'a> Search<'a> {
    /// The positions at which a match that begins at the start of the text can end.
    fn ends(&self, root: ExprId) -> Positions {
        let mut frames: SmallVec<[Frame<'a>; USUAL_DEPTH]> = SmallVec::new();
        let mut task = Task::Find(root, Positions::from_slice(&[0]));
        loop {
            let found = match task {
                Task::Found(ends) => Some(ends),
                Task::Find(id, from) => match self.known_ends(id, &from) {
                    Some(ends) => Some(ends),
                    None => {
                        frames.extend(self.open(id, from));
                        None
                    }
                },
            };
            match frames.last_mut() {
                Some(frame) => task = self.step(frame, found),
                None => return found.unwrap_or_default(),
            }
            if let Task::Found(ends) = &task
                && let Some(frame) = frames.pop()
                && frames.len() >= USUAL_DEPTH
            {
                self.keep(frame, ends);
            }
        }
    }

    /// The ends of an expression without operands, and of others where they are known.
    fn known_ends(&self, id: ExprId, from: &Positions) -> Option<Positions> {
        self.work.charge(1 + from.len());
        if from.is_empty() || self.work.is_spent() {
            return Some(Positions::new());
        }
        let mut result = Positions::new();
        match self.grammar.expr(id) {
            Expr::Empty => result.extend_from_slice(from),
            // The positions stay sorted and distinct, since all move by one.
            Expr::Class(ranges) => {
                let is_in = |next: &char| {
                    let after = ranges.partition_point(|(start, _)| start <= next);
                    after > 0 && *next <= ranges[after - 1].1
                };
                let matched = from.iter().filter(|&&at| self.text.get(at).is_some_and(is_in));
                result.extend(matched.map(|at| at + 1));
            }
            Expr::Bytes(bytes) => {
                let literal = String::from_utf8_lossy(bytes);
                self.work.charge(from.len().saturating_mul(literal.len()) / 8);
                for &at in from {
                    let mut rest = self.text[at..].iter();
                    if literal.chars().all(|character| rest.next() == Some(&character)) {
                        result.push(self.text.len() - rest.len());
                    }
                }
            }
            Expr::Sequence(_) | Expr::Repeat { .. } => return None,
            Expr::Choice(_) | Expr::Intersection(_) | Expr::Complement(_) => {
                if from.len() > MAX_KNOWN_STARTS {
                    return None;
                }
                return self.known.borrow().get(&(id, from.clone())).cloned();
            }
            _ => {}
        }
        Some(result)
    }

    fn open(&self, id: ExprId, from: Positions) -> Option<Frame<'a>> {
        Some(match self.grammar.expr(id) {
            Expr::Sequence(left) => Frame::Sequence { left, from },
            Expr::Choice(left) => Frame::Choice { id, left, from, ends: Vec::new() },
            Expr::Repeat { body, min, max } => {
                let (seen, met, ends) = (HashMap::default(), None, Vec::new());
                Frame::Repeat(Rounds { body, min, max, count: 0, now: from, seen, met, ends })
            }
            Expr::Intersection(parts) => {
                let (common, ends) = (Positions::new(), Vec::new());
                Frame::Intersection { id, parts, part: 0, from, at: 0, common, ends }
            }
            Expr::Complement(body) => Frame::Complement { id, body, from, at: 0, ends: Vec::new() },
            _ => return None,
        })
    }

    /// Takes the ends of the operand that was asked for, and asks for the next one.
    fn step(&self, frame: &mut Frame<'a>, found: Option<Positions>) -> Task {
        match frame {
            Frame::Sequence { left, from } => {
                let from = found.unwrap_or_else(|| std::mem::take(from));
                match left.split_first() {
                    Some((&next, rest)) if !from.is_empty() => {
                        *left = rest;
                        Task::Find(next, from)
                    }
                    _ => Task::Found(from),
                }
            }
            Frame::Choice { left, from, ends, .. } => {
                self.gather(ends, found.unwrap_or_default());
                match left.split_first() {
                    Some((&next, rest)) => {
                        *left = rest;
                        Task::Find(next, from.clone())
                    }
                    None => Task::Found(self.sorted(std::mem::take(ends))),
                }
            }
            Frame::Repeat(rounds) => self.round(rounds, found),
            Frame::Intersection { parts, part, from, at, common, ends, .. } => {
                if let Some(mut found) = found {
                    if *part > 0 {
                        found.retain(|end| common.binary_search(end).is_ok());
                    }
                    *common = found;
                    *part += 1;
                }
                if *part == parts.len() {
                    self.gather(ends, std::mem::take(common));
                    (*part, *at) = (0, *at + 1);
                }
                match (from.get(*at), parts.get(*part)) {
                    (Some(&start), Some(&next)) => Task::Find(next, Positions::from_slice(&[start])),
                    _ => Task::Found(self.sorted(std::mem::take(ends))),
                }
            }
            Frame::Complement { body, from, at, ends, .. } => {
                if let (Some(found), Some(&start)) = (found, from.get(*at)) {
                    self.work.charge((self.text.len() - start) / 4);
                    let others = (start..=self.text.len()).filter(|end| found.binary_search(end).is_err());
                    self.gather(ends, others.collect());
                    *at += 1;
                }
                match from.get(*at) {
                    Some(&start) => Task::Find(*body, Positions::from_slice(&[start])),
                    None => Task::Found(self.sorted(std::mem::take(ends))),
                }
            }
        }
    }

    fn round(&self, rounds: &mut Rounds, found: Option<Positions>) -> Task {
        let Rounds { body, min, max, count, now, seen, met, ends } = rounds;
        if let Some(found) = found {
            *now = found;
            *count += 1;
            if let Some(met) = met {
                now.retain(|end| met.insert(*end));
                ends.extend_from_slice(now);
            }
        }
        if met.is_none() {
            if *count < *min && !now.is_empty() {
                self.work.charge(4);
                if let Some(first) = seen.insert(now.clone(), *count) {
                    // The sets repeat themselves: skip whole periods up to the minimum.
                    let period = *count - first;
                    *count += (*min - *count) / period * period;
                    seen.clear();
                }
                if *count < *min {
                    return Task::Find(*body, now.clone());
                }
            }
            self.work.charge(4 + now.len());
            *met = Some(now.iter().copied().collect());
            *ends = now.to_vec();
        }
        if max.is_none_or(|max| *count < max) && !now.is_empty() {
            self.work.charge(2);
            return Task::Find(*body, now.clone());
        }
        Task::Found(self.sorted(std::mem::take(ends)))
    }

    /// Keeps the ends of an expression with alternatives.
    fn keep(&self, frame: Frame<'a>, ends: &Positions) {
        let (Frame::Choice { id, from, .. }
        | Frame::Intersection { id, from, .. }
        | Frame::Complement { id, from, .. }) = frame
        else {
            return;
        };
        let mut known = self.known.borrow_mut();
        // Ends that were looked for without work left are none.
        if from.len() <= MAX_KNOWN_STARTS && known.len() < MAX_KNOWN && !self.work.is_spent() {
            known.insert((id, from), ends.clone());
        }
    }

    /// Adds the ends of one more operand.
    fn gather(&self, all: &mut Vec<usize>, ends: Positions) {
        all.extend_from_slice(&ends);
        // There are no more positions than these.
        if all.len() > 4 * self.text.len() + 64 {
            *all = self.sorted(std::mem::take(all)).into_vec();
        }
    }

    fn sorted(&self, mut positions: Vec<usize>) -> Positions {
        self.work.charge(positions.len() / 4);
        positions.sort_unstable();
        positions.dedup();
        positions.into()
    }
}
