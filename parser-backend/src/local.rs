//! Local parts: states cut at a rule.

use crate::error::StepError;
use crate::fuel::Fuel;
use crate::not_offered::NotOffered;

/// A state taken apart at a rule that is open in it: the part before the end of the rule, and the part after
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Split<S> {
    /// The state without everything that follows the rule. It can be stepped like any other; the end of the
    /// rule shows in [`LocalParts::may_complete`].
    pub local: S,
    /// The state as it would be if the rule had just ended.
    pub continuation: S,
    /// Whether it may just have ended.
    pub ended: Ended,
}

/// Whether the rule of a local part may have ended in the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It goes on, or its end is part of the local state.
    No,
    /// It may have: texts of the continuation can be read too.
    Maybe,
}

/// States cut at a rule that is open in them: an optional part of a [`Backend`](crate::Backend).
///
/// Saves: states of different places, or of different callers, share the walk of their local part. The inside of a string
/// is the same for every property of that type, and with [`canonical_form`](Self::canonical_form) for every grammar.
///
/// Without it: each such state is walked by itself. The masks are the same.
pub trait LocalParts<S> {
    /// Takes a state apart, if one rule holds all that can be read next. `None` is always a correct answer.
    ///
    /// A text can be read from the state if and only if one of two things holds. The local part reads it; or
    /// the local part reads a beginning of it after which the rule may have ended, and the continuation reads
    /// the rest. The empty beginning counts where the split says so ([`Split::ended`]).
    fn split(&self, state: S, fuel: &mut Fuel) -> Result<Option<Split<S>>, StepError>;

    /// For states that a local part leads to: whether the rule may have ended here.
    fn may_complete(&self, state: S) -> bool;

    /// A description of a local part without the numbers of its grammar. Two local states with equal
    /// descriptions, of this engine or another one of the same kind, read the same texts and leave at the
    /// same places. `None` where there is no short description.
    fn canonical_form(&self, local: S) -> Option<Vec<u32>> {
        let _ = local;
        None
    }

    /// Which of some sorted texts can be read after the rule of a local part, in any of the places where the
    /// grammar calls it. This is context expansion (XGrammar, section 3.2, algorithm 2). `true` is always a
    /// correct answer; `false` says that no place does. Never fails: it does what the fuel allows.
    fn may_follow(&self, local: S, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
        let _ = (local, fuel);
        vec![true; texts.len()]
    }
}

impl<S> LocalParts<S> for NotOffered {
    fn split(&self, _: S, _: &mut Fuel) -> Result<Option<Split<S>>, StepError> {
        Ok(None)
    }

    fn may_complete(&self, _: S) -> bool {
        false
    }
}
