//! Whether a pattern matches a text: the naive way, with sets of positions, so that it needs no automaton and cannot blow
//! up.
//!
//! A set of positions is a sorted list: in a long text most sets have one position. A repeat looks at each position once
//! past its minimum, because a position that was reached before leads nowhere new.

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
    let ends = Search { grammar, text: &text, work }.ends(grammar.rule(grammar.root()).body(), &[0]);
    ends.last() == Some(&text.len())
}

/// A pattern and a text.
struct Search<'a> {
    grammar: &'a Grammar,
    text: &'a [char],
    work: &'a Work,
}

impl Search<'_> {
    /// The positions at which a match that began at one of `from` can end. Nesting is bounded by the regex
    /// frontend.
    fn ends(&self, id: ExprId, from: &[usize]) -> Positions {
        self.work.charge(1 + from.len());
        if from.is_empty() || self.work.is_spent() {
            return Positions::new();
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
            Expr::Sequence(parts) => {
                result.extend_from_slice(from);
                for &part in parts {
                    result = self.ends(part, &result);
                    if result.is_empty() {
                        break;
                    }
                }
            }
            Expr::Choice(alternatives) => {
                result = self.union(alternatives.iter().map(|&alternative| self.ends(alternative, from)));
            }
            Expr::Repeat { body, min, max } => return self.repeat_ends(body, (min, max), from),
            // By each start alone: two operands may end at one position and have begun at different ones.
            Expr::Intersection(parts) => {
                result = self.union(from.iter().map(|&start| self.common_ends(parts, start)));
            }
            Expr::Complement(body) => {
                result = self.union(from.iter().map(|&start| self.other_ends(body, start)));
            }
            _ => {}
        }
        result
    }

    fn union(&self, sets: impl Iterator<Item = Positions>) -> Positions {
        let mut all: Vec<usize> = Vec::new();
        for set in sets {
            all.extend_from_slice(&set);
            // There are no more positions than these.
            if all.len() > 4 * self.text.len() + 64 {
                all = self.sorted(all).into_vec();
            }
        }
        self.sorted(all)
    }

    fn sorted(&self, mut positions: Vec<usize>) -> Positions {
        self.work.charge(positions.len() / 4);
        positions.sort_unstable();
        positions.dedup();
        positions.into()
    }

    /// Where all parts end that began at a position.
    fn common_ends(&self, parts: &[ExprId], start: usize) -> Positions {
        let mut all: Option<Positions> = None;
        for &part in parts {
            let mut ends = self.ends(part, &[start]);
            if let Some(all) = &all {
                ends.retain(|end| all.binary_search(end).is_ok());
            }
            all = Some(ends);
        }
        all.unwrap_or_default()
    }

    /// Where an expression that began at a position does not end.
    fn other_ends(&self, body: ExprId, start: usize) -> Positions {
        let matched = self.ends(body, &[start]);
        self.work.charge((self.text.len() - start) / 4);
        (start..=self.text.len()).filter(|end| matched.binary_search(end).is_err()).collect()
    }

    fn repeat_ends(&self, body: ExprId, (min, max): (u32, Option<u32>), from: &[usize]) -> Positions {
        let mut now = Positions::from_slice(from);
        let mut seen: HashMap<Positions, u32> = HashMap::default();
        let mut count = 0;
        while count < min && !now.is_empty() {
            self.work.charge(4);
            if let Some(first) = seen.insert(now.clone(), count) {
                // The sets repeat themselves: skip whole periods up to the minimum.
                let period = count - first;
                count += (min - count) / period * period;
                seen.clear();
                if count == min {
                    break;
                }
            }
            now = self.ends(body, &now);
            count += 1;
        }
        self.work.charge(4 + now.len());
        let mut met: HashSet<usize> = now.iter().copied().collect();
        let mut result: Vec<usize> = now.to_vec();
        while max.is_none_or(|max| count < max) && !now.is_empty() {
            self.work.charge(2);
            now = self.ends(body, &now);
            now.retain(|end| met.insert(*end));
            result.extend_from_slice(&now);
            count += 1;
        }
        self.sorted(result)
    }
}
