//! The look-around of a pattern, and the parts that it concerns.
//!
//! `(?=a)` and `(?<=a)` may concern all of the text after and before them. But where the parts next to them read at least
//! as many characters as they look at, they concern these parts alone. `(?!-)[a-z-]{1,63}(?<!-)` is one language, whatever
//! is around it, and may stand in any repeat. We call such a part *local*.

use std::cell::OnceCell;
use std::ops::Range;

use grammask_grammar_ir::ExprId;
use regex_syntax::hir::{Hir, HirKind};

/// Names of the groups that stand for look-around begin so. No other group of a translated pattern has a name.
pub(super) const AHEAD: &str = "ahead_";
pub(super) const NOT_AHEAD: &str = "not_ahead_";
pub(super) const BEHIND: &str = "behind_";
pub(super) const NOT_BEHIND: &str = "not_behind_";

/// The text that look-around speaks of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ahead,
    Behind,
}

/// The demand of look-around.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    Matches,
    DoesNotMatch,
}

/// The demand of a group that stands for look-around.
fn look_of(hir: &Hir) -> Option<(Side, Polarity)> {
    let HirKind::Capture(group) = hir.kind() else { return None };
    let name = group.name.as_deref()?;
    let kinds = [
        (AHEAD, (Side::Ahead, Polarity::Matches)),
        (NOT_AHEAD, (Side::Ahead, Polarity::DoesNotMatch)),
        (BEHIND, (Side::Behind, Polarity::Matches)),
        (NOT_BEHIND, (Side::Behind, Polarity::DoesNotMatch)),
    ];
    kinds.into_iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, look)| look)
}

/// A part of a pattern, with facts on it that are found once, from the bottom up.
pub(super) struct PatternPart<'h> {
    pub(super) hir: &'h Hir,
    /// The parts directly inside of it; none where it is plain.
    pub(super) inner: Vec<PatternPart<'h>>,
    /// The demand, if it is look-around and reads nothing.
    pub(super) look: Option<(Side, Polarity)>,
    /// Whether it has look-around inside, or is look-around.
    pub(super) holds_look_around: bool,
    /// Whether it is one language, whatever is around it.
    pub(super) is_local: bool,
    /// Whether it has the empty text, for a local part and for look-around.
    pub(super) can_be_empty: bool,
    /// The least number of characters that it reads, and the greatest.
    pub(super) least: u64,
    most: Option<u64>,
    /// The language of a local part, or the one that look-around demands of the run beside it, once it is written. A
    /// repeat that is written out asks for it in each round.
    pub(super) written: OnceCell<ExprId>,
}

impl<'h> PatternPart<'h> {
    /// Nesting is bounded by the parser.
    pub(super) fn new(hir: &'h Hir) -> Self {
        let inner: Vec<Self> = hir.kind().subs().iter().map(Self::new).collect();
        let look = look_of(hir);
        let holds_look_around = look.is_some() || inner.iter().any(|node| node.holds_look_around);
        let (least, most) = lengths(hir, &inner);
        let has_anchors = !hir.properties().look_set().is_empty();
        let mut node = Self {
            hir,
            inner,
            look,
            holds_look_around,
            is_local: !has_anchors && !holds_look_around,
            can_be_empty: false,
            least: if look.is_some() { 0 } else { least },
            most: if look.is_some() { Some(0) } else { most },
            written: OnceCell::new(),
        };
        // `regex-syntax` knows no length of a part that holds an empty class, even where the class can be left out.
        node.can_be_empty = match hir.kind() {
            _ if look.is_some() => true,
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(_) | HirKind::Class(_) => false,
            HirKind::Capture(_) | HirKind::Concat(_) => node.inner.iter().all(|inner| inner.can_be_empty),
            HirKind::Repetition(repetition) => {
                repetition.min == 0 || node.inner.iter().all(|inner| inner.can_be_empty)
            }
            HirKind::Alternation(_) => node.inner.iter().any(|inner| inner.can_be_empty),
        };
        if node.is_local {
            node.inner = Vec::new();
        } else if holds_look_around && look.is_none() {
            node.is_local = match hir.kind() {
                HirKind::Concat(_) => node.is_local_sequence(),
                _ => node.inner.iter().all(|inner| inner.is_local),
            };
        }
        node
    }

    /// Whether it reads one character.
    pub(super) fn is_one_character(&self) -> bool {
        (self.least, self.most) == (1, Some(1))
    }

    /// Whether it has neither anchors nor look-around.
    pub(super) fn is_plain(&self) -> bool {
        self.is_local && !self.holds_look_around
    }

    /// Whether look-around looks at no more characters than parts beside it read at least.
    pub(super) fn fits(&self, least: u64) -> bool {
        self.inner
            .iter()
            .all(|inner| inner.is_plain() && inner.most.is_some_and(|most| (1..=least).contains(&most)))
    }

    /// Whether look-behind allows that nothing is before it.
    pub(super) fn allows_the_empty_text(&self) -> bool {
        let matches = self.inner.iter().all(|inner| inner.can_be_empty);
        self.look.is_some_and(|(_, polarity)| matches == (polarity == Polarity::Matches))
    }

    fn is_local_sequence(&self) -> bool {
        let stretches = stretches(&self.inner);
        let fit = |at: usize, side, least| {
            self.look_around(stretches.get(at), side).all(|look: &PatternPart<'_>| look.fits(least))
        };
        stretches.iter().enumerate().all(|(at, stretch)| {
            let before = at.checked_sub(1).and_then(|at| stretches.get(at));
            !matches!(stretch, Stretch::Other(_))
                && fit(at, Side::Behind, least_of(before))
                && fit(at, Side::Ahead, least_of(stretches.get(at + 1)))
        })
    }

    /// The look-around of a concatenation in a stretch of it, if there is such a stretch and it is look-around.
    pub(super) fn look_around(
        &self,
        stretch: Option<&Stretch>,
        side: Side,
    ) -> impl Iterator<Item = &PatternPart<'h>> {
        let range = match stretch {
            Some(Stretch::LookAround(range)) => range.clone(),
            _ => 0..0,
        };
        self.inner[range].iter().filter(move |node| node.look.is_some_and(|(other, _)| other == side))
    }
}

/// The least number of characters that a part reads, and the greatest, by those of the parts inside of it.
fn lengths(hir: &Hir, inner: &[PatternPart<'_>]) -> (u64, Option<u64>) {
    let mut all = inner.iter().map(|node| (node.least, node.most));
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (0, Some(0)),
        HirKind::Literal(literal) => {
            let characters = String::from_utf8_lossy(&literal.0).chars().fold(0, |count, _| count + 1);
            (characters, Some(characters))
        }
        HirKind::Class(_) => (1, Some(1)),
        HirKind::Repetition(repetition) => all.next().map_or((0, Some(0)), |(least, most)| {
            let times = |most: u64| most.checked_mul(u64::from(repetition.max?));
            let most = if most == Some(0) { most } else { most.and_then(times) };
            (least.saturating_mul(u64::from(repetition.min)), most)
        }),
        HirKind::Capture(_) | HirKind::Concat(_) => {
            all.fold((0, Some(0)), |(least, most), (more, greatest)| {
                (least.saturating_add(more), most.and_then(|most| most.checked_add(greatest?)))
            })
        }
        HirKind::Alternation(_) => {
            let both = |(least, most): (u64, Option<u64>), (other, greatest): (u64, Option<u64>)| {
                (least.min(other), most.and_then(|most| Some(most.max(greatest?))))
            };
            all.reduce(both).unwrap_or((0, Some(0)))
        }
    }
}

/// Stretches of a concatenation, one after the other.
pub(super) enum Stretch {
    /// Local parts, and how many characters they read at least.
    Run(Range<usize>, u64),
    /// Look-around at one place. Since it reads nothing its order does not matter.
    LookAround(Range<usize>),
    /// Another part.
    Other(usize),
}

/// The stretches of a concatenation. No run follows a run, and no look-around follows look-around.
pub(super) fn stretches(parts: &[PatternPart<'_>]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let next = index + 1;
        if part.look.is_some() {
            match stretches.last_mut() {
                Some(Stretch::LookAround(range)) => range.end = next,
                _ => stretches.push(Stretch::LookAround(index..next)),
            }
        } else if part.is_local {
            match stretches.last_mut() {
                Some(Stretch::Run(range, least)) => {
                    range.end = next;
                    *least = least.saturating_add(part.least);
                }
                _ => stretches.push(Stretch::Run(index..next, part.least)),
            }
        } else {
            stretches.push(Stretch::Other(index));
        }
    }
    stretches
}

/// How many characters a run reads at least; none if the stretch is not one.
pub(super) fn least_of(stretch: Option<&Stretch>) -> u64 {
    match stretch {
        Some(Stretch::Run(_, least)) => *least,
        _ => 0,
    }
}
