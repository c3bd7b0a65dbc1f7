//! Scopes in which something must not occur twice.

use crate::not_offered::NotOffered;

/// The scope that a byte opens in which something must not occur twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DistinctScope {
    /// Nothing.
    Nothing,
    /// An array of JSON whose items must differ, or an object whose names must.
    Distinct,
    /// Such a one in some derivations of the text, but not in all. The others may read a token of its own after a value
    /// that has occurred twice: see `TokenRef::REPEATED` of the crate of grammars.
    Ambiguous,
}

impl DistinctScope {
    /// The scope of a byte of which some readings open one, and others do not.
    pub fn of((distinct, others): (bool, bool)) -> Self {
        match (distinct, others) {
            (false, _) => DistinctScope::Nothing,
            (true, false) => DistinctScope::Distinct,
            (true, true) => DistinctScope::Ambiguous,
        }
    }
}

/// The places where items or names must differ: an optional part of a [`Backend`](crate::Backend).
///
/// Serves: rules with the option `distinct`. No context-free grammar says that items differ, so the caller keeps what has
/// occurred, and takes tokens out of the mask.
///
/// Without it: a compiler declines grammars with such rules. Masks of all others are the same.
pub trait DistinctScopes<S> {
    /// The scope that a byte, which can be read from the state, opens.
    fn distinct_scope_at(&self, state: S, byte: u8) -> DistinctScope;
}

impl<S> DistinctScopes<S> for NotOffered {
    fn distinct_scope_at(&self, _: S, _: u8) -> DistinctScope {
        DistinctScope::Nothing
    }
}
