//! Dropping rules that the root does not mention.

use super::rewrite::{Rewrite, rewrite};
use crate::analysis::reachable;
use crate::{Grammar, GrammarError};

/// The grammar with fewer rules passes a limit of the builder, which only a grammar made with higher limits can
/// cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dropping unreachable rules: {0}")]
pub struct DropUnreachableError(GrammarError);

/// Drops rules that the root does not mention, directly or through other rules, and expressions that no rule
/// mentions.
pub fn drop_unreachable(grammar: &Grammar) -> Result<Grammar, DropUnreachableError> {
    let is_reachable = reachable(grammar);
    rewrite(grammar, |rule| is_reachable[rule.index()], &mut Copy).map_err(DropUnreachableError)
}

struct Copy;

impl Rewrite for Copy {}
