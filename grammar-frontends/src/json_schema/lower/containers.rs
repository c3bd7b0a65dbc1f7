//! Arrays and objects, from the expressions of their items and members.
//!
//! Members in the order in which they are declared: the naive way writes down every subset of the optional ones. Here a
//! state is *which property comes next*: `K(i)` derives everything after a name's opening quote, given that the names
//! before the `i`th are done with. It reads property `i` and goes on with `K(i + 1)`, or leaves it out and is
//! `K(i + 1)`. Linear in the number of properties; runs of required ones are one sequence without rules in between.
//! Bounds on the number of members add a count to the state.

use grammask_grammar_ir::{ExprId, GrammarBuilder, Occurrence, RuleId};
use smallvec::SmallVec;

use super::punctuation::Punctuation;
use crate::diagnostic::Result;
use crate::json_schema::error::grammar_error;
use crate::json_schema::sets::object_shape::Presence;

/// Arrays of more items are counted, not written out.
const MAX_UNROLLED_ITEMS: u32 = 32;

/// A property that may occur.
pub(crate) struct MemberText {
    /// The name without quotes, the colon and the value.
    pub(crate) text: ExprId,
    pub(crate) presence: Presence,
}

/// The members with undeclared names, without opening quotes.
pub(crate) struct FreeMembers {
    /// Any of them.
    pub(crate) any: ExprId,
    /// The ways to meet all obligations; one without witnesses where there are none.
    pub(crate) ways: Vec<WitnessPlacement>,
}

/// Witnesses that together meet all obligations, and where they are placed.
#[derive(Default)]
pub(crate) struct WitnessPlacement {
    /// Witnesses at any place.
    pub(crate) anywhere: Vec<ExprId>,
    /// The number of witnesses at the end, and their text.
    pub(crate) last: Option<(u32, ExprId)>,
}

impl WitnessPlacement {
    /// How many members it takes.
    pub(crate) fn members(&self) -> u32 {
        u32::try_from(self.anywhere.len()).unwrap_or(u32::MAX) + self.last.map_or(0, |last| last.0)
    }
}

/// Bounds on the number of members.
#[derive(Clone, Copy)]
pub(crate) struct MemberCounts {
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

impl MemberCounts {
    /// No bounds, so that members are not counted.
    pub(crate) const ANY: Self = Self { min: 0, max: None };

    /// Counts from here on are not told apart.
    pub(crate) fn cap(self) -> u32 {
        self.max.unwrap_or(0).max(self.min)
    }
}

/// Writes arrays and objects.
pub(crate) struct ContainerWriter<'b> {
    pub(crate) builder: &'b mut GrammarBuilder,
    pub(crate) punctuation: Punctuation,
}

impl ContainerWriter<'_> {
    /// At least one item and `]`, for bounds that are large: every item but the last ends with its comma.
    ///
    /// Commas before items, as in [`array_text`](Self::array_text), leave it open after `1` whether the item
    /// continues or the next one begins, and so the number of items. A parser has to keep both counts at
    /// once. After a comma there is one.
    fn long_array_text(&mut self, item: ExprId, min: u32, max: Option<u32>) -> ExprId {
        let Punctuation { space, before_first, after_last, bare_comma, after_comma, .. } = self.punctuation;
        let close = self.builder.literal("]");
        let with_comma = self.builder.sequence([after_comma, item, space, bare_comma]);
        let least = min.saturating_sub(1);
        let before = self.builder.repeat(with_comma, least, max.map(|max| max.saturating_sub(1)));
        let items =
            self.builder.sequence([before_first, before, after_comma, item, space, after_last, close]);
        match min {
            0 => {
                let nothing = self.builder.sequence([space, close]);
                self.builder.choice([nothing, items])
            }
            _ => items,
        }
    }

    /// The items and `]`. The places after `min` may be left out from the back.
    pub(crate) fn array_text(
        &mut self,
        prefix: &[ExprId],
        rest: Option<ExprId>,
        min: u32,
        max: Option<u32>,
    ) -> Result<ExprId> {
        let Punctuation { space, before_first, after_last, comma, .. } = self.punctuation;
        let close = self.builder.literal("]");
        if max == Some(0) {
            return Ok(self.builder.sequence([space, close]));
        }
        if let (Some(item), []) = (rest, prefix)
            && max.unwrap_or(min) > MAX_UNROLLED_ITEMS
        {
            return Ok(self.long_array_text(item, min, max));
        }
        let last = self.builder.sequence([after_last, close]);
        let end = self.builder.sequence([space, last]);
        let separator = self.builder.sequence([space, comma]);
        // The rest once all places of the prefix are read (at least one item is).
        let read = u32::try_from(prefix.len()).unwrap_or(u32::MAX).max(1);
        let mut tail = end;
        if let Some(rest) = rest {
            let more = self.builder.sequence([separator, rest]);
            let most = max.map(|max| max.saturating_sub(read));
            let more = self.builder.repeat(more, min.saturating_sub(read), most);
            tail = self.builder.sequence([more, end]);
        }
        let first = [rest.unwrap_or(end)];
        let prefix = if prefix.is_empty() { &first[..] } else { prefix };
        let forced = (min as usize).clamp(1, prefix.len());
        for (depth, &item) in prefix[forced..].iter().rev().enumerate() {
            let more = self.builder.sequence([comma, item, tail]);
            let choice = self.builder.choice([more, last]);
            tail = self.builder.sequence([space, choice]);
            // Deep expressions are cut into rules, so that nothing has to nest with the schema's size.
            if depth % 16 == 15 {
                let rule = self.builder.declare_fresh("items").map_err(grammar_error)?;
                self.builder.define(rule, tail).map_err(grammar_error)?;
                tail = self.builder.rule(rule);
            }
        }
        let mut parts = Vec::with_capacity(2 * forced + 2);
        parts.push(before_first);
        for (index, &item) in prefix[..forced].iter().enumerate() {
            if index > 0 {
                parts.push(separator);
            }
            parts.push(item);
        }
        parts.push(tail);
        let items = self.builder.sequence(parts);
        let inside = if min == 0 { self.builder.choice([close, items]) } else { items };
        Ok(self.builder.sequence([space, inside]))
    }

    /// The members and the closing brace.
    pub(crate) fn object_text(
        &mut self,
        members: &[MemberText],
        free: Option<&FreeMembers>,
        counts: MemberCounts,
    ) -> Result<Option<ExprId>> {
        let chain = Chain {
            members,
            free,
            counts,
            last_required: members.iter().rposition(|member| member.presence == Presence::Required),
        };
        let Punctuation { space, before_first, quote, close, .. } = self.punctuation;
        let first = chain.build(self)?;
        let mut inside = Vec::new();
        if let Some(first) = first {
            inside.push(self.builder.sequence([before_first, quote, first]));
        }
        if chain.may_end(0, 0) {
            inside.push(close);
        }
        if inside.is_empty() {
            return Ok(None);
        }
        let inside = self.builder.choice(inside);
        Ok(Some(self.builder.sequence([space, inside])))
    }
}

/// By the number of members that were read; mostly they are not counted.
type ChainRow = SmallVec<[Option<ExprId>; 2]>;

/// The chain of one object.
struct Chain<'c> {
    members: &'c [MemberText],
    free: Option<&'c FreeMembers>,
    counts: MemberCounts,
    last_required: Option<usize>,
}

impl Chain<'_> {
    /// Whether the object may end where the members before `next` are done with and `count` were read.
    fn may_end(&self, next: usize, count: u32) -> bool {
        self.last_required.is_none_or(|last| last < next)
            && count >= self.counts.min
            && self.free.is_none_or(|free| free.ways.iter().any(|way| way.members() == 0))
    }

    fn may_go_on(&self, count: u32) -> bool {
        self.counts.max.is_none_or(|max| count < max)
    }

    /// `K(0)`: from the first name, after its opening quote, to the closing brace; `None` where no member can
    /// follow.
    fn build(&self, writer: &mut ContainerWriter<'_>) -> Result<Option<ExprId>> {
        let cap = self.counts.cap();
        // Before the `i`th member there were at most `i`.
        let counts = |before: usize| 0..=u32::try_from(before).unwrap_or(u32::MAX).min(cap);
        let mut next = self.members.len();
        // `K(i)` for every count, from the last `i` to the first.
        let mut row: ChainRow = counts(next).map(|count| self.tail(writer, count)).collect();
        while next > 0 {
            let is_required = |at: usize| self.members[at].presence == Presence::Required;
            let mut start = next - 1;
            while is_required(next - 1) && start > 0 && is_required(start - 1) {
                start -= 1;
            }
            let mut before = ChainRow::with_capacity(row.len());
            for count in counts(start) {
                let state = self.state(writer, start..next, count, &row)?;
                before.push(match state {
                    // A state that two places refer to is a rule; one that only the member before refers to
                    // is not.
                    Some(state) if start > 0 && !is_required(start - 1) || cap > 0 => {
                        let rule: RuleId = writer.builder.declare_fresh("members").map_err(grammar_error)?;
                        writer.builder.define(rule, state).map_err(grammar_error)?;
                        Some(writer.builder.rule(rule))
                    }
                    state => state,
                });
            }
            row = before;
            next = start;
        }
        Ok(row[0])
    }

    /// `K(run.start)` at a count, given `K(run.end)` at every count. The run is one optional member, or
    /// required members in a row.
    fn state(
        &self,
        writer: &mut ContainerWriter<'_>,
        run: std::ops::Range<usize>,
        count: u32,
        after: &[Option<ExprId>],
    ) -> Result<Option<ExprId>> {
        let Punctuation { space, comma, quote, .. } = writer.punctuation;
        let skipped = match self.members[run.start].presence {
            Presence::Optional => after[count as usize],
            Presence::Required => None,
        };
        let length = u32::try_from(run.len()).unwrap_or(u32::MAX);
        let fits = self.counts.max.is_none_or(|max| count.saturating_add(length) <= max);
        let mut read = None;
        if fits {
            // Beyond the cap all counts are alike.
            let then = count.saturating_add(length).min(self.counts.cap());
            if let Some(end) = self.after(writer, run.end, then, after[then as usize]) {
                let mut parts: SmallVec<[ExprId; 32]> = SmallVec::with_capacity(4 * run.len() + 1);
                for at in run.clone() {
                    if at > run.start {
                        parts.extend([space, comma, quote]);
                    }
                    parts.push(self.members[at].text);
                }
                parts.push(end);
                read = Some(writer.builder.sequence(parts));
            }
        }
        Ok(match (read, skipped) {
            (Some(read), Some(skipped)) => Some(writer.builder.choice([read, skipped])),
            (read, skipped) => read.or(skipped),
        })
    }

    /// The text after a member's value: another member, or the end.
    fn after(
        &self,
        writer: &mut ContainerWriter<'_>,
        next: usize,
        count: u32,
        state: Option<ExprId>,
    ) -> Option<ExprId> {
        let Punctuation { space, after_last, comma, quote, close, .. } = writer.punctuation;
        let mut ways: SmallVec<[ExprId; 2]> = SmallVec::new();
        if let Some(state) = state.filter(|_| self.may_go_on(count)) {
            ways.push(writer.builder.sequence([comma, quote, state]));
        }
        if self.may_end(next, count) {
            ways.push(writer.builder.sequence([after_last, close]));
        }
        if ways.is_empty() {
            return None;
        }
        let ways = writer.builder.choice(ways);
        Some(writer.builder.sequence([space, ways]))
    }

    /// The members with free names, at least one of them, and the end.
    fn tail(&self, writer: &mut ContainerWriter<'_>, count: u32) -> Option<ExprId> {
        let free = self.free?;
        if !self.may_go_on(count) {
            return None;
        }
        let most = self.counts.max.map(|max| max - count);
        let least = self.counts.min.saturating_sub(count).max(1);
        let ways: Vec<ExprId> =
            free.ways.iter().filter_map(|way| free_tail(writer, free.any, way, (least, most))).collect();
        let Punctuation { space, after_last, close, .. } = writer.punctuation;
        (!ways.is_empty()).then(|| {
            let ways = writer.builder.choice(ways);
            writer.builder.sequence([ways, space, after_last, close])
        })
    }
}

/// Members with free names, at least `least` and at most `most` of them, with the witnesses of one way; `None` where
/// there is no room.
fn free_tail(
    writer: &mut ContainerWriter<'_>,
    any: ExprId,
    way: &WitnessPlacement,
    (least, most): (u32, Option<u32>),
) -> Option<ExprId> {
    let Punctuation { space, comma, quote, .. } = writer.punctuation;
    let builder = &mut *writer.builder;
    let separator = builder.sequence([space, comma, quote]);
    let others = match most {
        Some(most) => Some(most.checked_sub(way.members())?),
        None => None,
    };
    let more = builder.sequence([separator, any]);
    match (way.anywhere.as_slice(), way.last) {
        // The cases that a repeat can say come first. A permutation says them all, and costs the parser a set
        // of the parts that were read.
        ([], None) => {
            let more = builder.repeat(more, least - 1, others.map(|others| others - 1));
            Some(builder.sequence([any, more]))
        }
        ([], Some((count, last))) => {
            let before = builder.sequence([any, separator]);
            let before = builder.repeat(before, least.saturating_sub(count), others);
            Some(builder.sequence([before, last]))
        }
        ([only], None) if least == 1 && most.is_none() => {
            let before = builder.sequence([any, separator]);
            let before = builder.repeat(before, 0, None);
            let more = builder.repeat(more, 0, None);
            Some(builder.sequence([before, *only, more]))
        }
        (anywhere, last) => {
            let count = last.map_or(0, |last| last.0);
            let witnesses = anywhere.iter().map(|&witness| (witness, Occurrence::Required));
            let parts = witnesses.chain([(any, Occurrence::Repeatable)]);
            let most = most.map(|most| most - count);
            let before = builder.permutation(separator, parts, least.saturating_sub(count), most);
            Some(match last {
                Some((_, last)) => builder.sequence([before, separator, last]),
                None => before,
            })
        }
    }
}
