//! Parts in any order: what was read of them, packed into a word.
//!
//! Bit `i` says that part `i` was read, which limits the oracle to parts that fit. The number of parts read
//! is above the bits, and at the top is whether a part must come next.

use grammask_grammar_ir::{ExprId, Occurrence, Permutation};

/// Most parts of one expression.
const MAX_PARTS: usize = 20;
/// Greatest number that is told from greater ones.
const MAX_COUNT: u32 = 1 << 10;

/// The parts that were read, unpacked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) seen: u32,
    pub(crate) count: u32,
    /// A part was read, and no separator after it.
    pub(crate) after_part: bool,
}

impl Progress {
    pub(crate) fn pack(self) -> u32 {
        self.seen | self.count << MAX_PARTS | u32::from(self.after_part) << 31
    }

    pub(crate) fn unpack(word: u32) -> Self {
        Self {
            seen: word & ((1 << MAX_PARTS) - 1),
            count: word >> MAX_PARTS & (MAX_COUNT - 1),
            after_part: word >> 31 == 1,
        }
    }

    /// The progress once a part has been read too.
    pub(crate) fn with(self, permutation: Permutation<'_>, part: usize) -> Self {
        let seen = match permutation.occurrence(part) {
            Occurrence::Repeatable => self.seen,
            _ => self.seen | 1 << part,
        };
        let cap = permutation.max().unwrap_or(0).max(permutation.min()).max(1);
        Self { seen, count: (self.count + 1).min(cap), after_part: true }
    }
}

/// Whether the parts read make a whole.
pub(crate) fn is_whole(permutation: Permutation<'_>, progress: Progress) -> bool {
    let required = (1 << permutation.required()) - 1;
    progress.seen & required == required && progress.count >= permutation.min()
}

/// Whether a part may be read now: it was not read before, and the rest fits in after it.
pub(crate) fn may_read(
    permutation: Permutation<'_>,
    progress: Progress,
    part: usize,
    is_productive: &dyn Fn(ExprId) -> bool,
) -> bool {
    let after = progress.with(permutation, part);
    progress.seen >> part & 1 == 0
        && is_productive(permutation.parts()[part])
        && most_parts(permutation, is_productive).is_none_or(|max| progress.count < max)
        && can_finish(permutation, after.seen, after.count, is_productive)
}

/// Whether some parts, or none, can be added to those that were read so that they make a whole.
pub(crate) fn can_finish(
    permutation: Permutation<'_>,
    seen: u32,
    count: u32,
    is_productive: &dyn Fn(ExprId) -> bool,
) -> bool {
    let parts = permutation.parts();
    assert!(parts.len() <= MAX_PARTS, "the oracle keeps track of at most {MAX_PARTS} parts in any order");
    assert!(
        permutation.max().unwrap_or(0).max(permutation.min()) < MAX_COUNT,
        "the oracle counts to {MAX_COUNT}"
    );
    let missing = |wanted: Occurrence| {
        (0..parts.len()).filter(move |&at| seen >> at & 1 == 0 && permutation.occurrence(at) == wanted)
    };
    if missing(Occurrence::Required).any(|at| !is_productive(parts[at])) {
        return false;
    }
    let owed = missing(Occurrence::Required).count() as u32;
    let optional = missing(Occurrence::Optional).filter(|&at| is_productive(parts[at])).count() as u32;
    let endless = missing(Occurrence::Repeatable).any(|at| is_productive(parts[at]));
    let least = owed.max(permutation.min().saturating_sub(count));
    let most = if endless { u32::MAX } else { owed + optional };
    least <= most && most_parts(permutation, is_productive).is_none_or(|max| count + least <= max)
}

/// The greatest number of parts: one, if nothing can stand between two.
fn most_parts(permutation: Permutation<'_>, is_productive: &dyn Fn(ExprId) -> bool) -> Option<u32> {
    if is_productive(permutation.separator()) { permutation.max() } else { Some(1) }
}
