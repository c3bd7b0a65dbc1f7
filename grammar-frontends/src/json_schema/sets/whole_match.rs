//! Whether a pattern matches a text: the naive way, with sets of positions, so that it needs no automaton and cannot blow
//! up.

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{Expr, ExprId, Grammar};
use smallvec::SmallVec;

/// Places between the characters of a text, a bit each. Those of short texts take no memory of their own.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Positions(SmallVec<[u64; 2]>);

impl Positions {
    /// No place in a text of this length.
    fn none(characters: usize) -> Self {
        Self(SmallVec::from_elem(0, characters / 64 + 1))
    }

    fn only(place: usize, characters: usize) -> Self {
        let mut positions = Self::none(characters);
        positions.add(place);
        positions
    }

    /// A place and all places after it.
    fn from(place: usize, characters: usize) -> Self {
        let mut positions = Self::none(characters);
        (place..=characters).for_each(|place| positions.add(place));
        positions
    }

    fn add(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 != 0
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// In order.
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let rest = |&word: &u64| Some(word & word.wrapping_sub(1));
            let words = std::iter::successors(Some(word), rest).take_while(|&word| word != 0);
            words.map(move |word| 64 * at + word.trailing_zeros() as usize)
        })
    }
}

/// Whether the root of a grammar without rule references matches a text.
pub(crate) fn matches_whole(grammar: &Grammar, text: &str) -> bool {
    let text: SmallVec<[char; 64]> = text.chars().collect();
    let from = Positions::only(0, text.len());
    ends(grammar, grammar.rule(grammar.root()).body(), &text, &from).has(text.len())
}

/// The positions at which a match that began at one of `from` can end. Nesting is bounded by the regex
/// frontend.
fn ends(grammar: &Grammar, id: ExprId, text: &[char], from: &Positions) -> Positions {
    let mut result = Positions::none(text.len());
    match grammar.expr(id) {
        Expr::Empty => return from.clone(),
        Expr::Class(ranges) => {
            for at in from.iter() {
                let is_in = |next: &char| ranges.iter().any(|(start, end)| (start..=end).contains(&next));
                if text.get(at).is_some_and(is_in) {
                    result.add(at + 1);
                }
            }
        }
        Expr::Bytes(bytes) => {
            let literal = String::from_utf8_lossy(bytes);
            for at in from.iter() {
                let mut rest = text[at..].iter();
                if literal.chars().all(|character| rest.next() == Some(&character)) {
                    result.add(text.len() - rest.len());
                }
            }
        }
        Expr::Sequence(parts) => {
            let mut now = from.clone();
            for &part in parts {
                if now.is_empty() {
                    break;
                }
                now = ends(grammar, part, text, &now);
            }
            return now;
        }
        Expr::Choice(alternatives) => {
            for &alternative in alternatives {
                result.join(&ends(grammar, alternative, text, from));
            }
        }
        Expr::Repeat { body, min, max } => return repeat_ends(grammar, body, (min, max), text, from),
        Expr::Intersection(parts) => {
            for start in from.iter() {
                let alone = Positions::only(start, text.len());
                let mut all = Positions::from(start, text.len());
                for &part in parts {
                    all.intersect(&ends(grammar, part, text, &alone));
                }
                result.join(&all);
            }
        }
        Expr::Complement(body) => {
            for start in from.iter() {
                let matched = ends(grammar, body, text, &Positions::only(start, text.len()));
                (start..=text.len()).filter(|&end| !matched.has(end)).for_each(|end| result.add(end));
            }
        }
        _ => {}
    }
    result
}

fn repeat_ends(
    grammar: &Grammar,
    body: ExprId,
    (min, max): (u32, Option<u32>),
    text: &[char],
    from: &Positions,
) -> Positions {
    let mut now = from.clone();
    let mut result = Positions::none(text.len());
    let mut seen: HashMap<Positions, u32> = HashMap::default();
    let mut count = 0;
    loop {
        if count >= min {
            let before = result.clone();
            result.join(&now);
            // Past the minimum, a round that adds nothing is the last one that can.
            let grows = result != before || count == min;
            if !grows || max == Some(count) {
                return result;
            }
        } else if let Some(first) = seen.insert(now.clone(), count) {
            // The sets repeat themselves: skip whole periods up to the minimum.
            let period = count - first;
            count += (min - count) / period * period;
            seen.clear();
            if count >= min {
                continue;
            }
        }
        if now.is_empty() {
            return result;
        }
        now = ends(grammar, body, text, &now);
        count += 1;
    }
}
