//! Dropping rules that the root does not mention.

use super::rewrite::{Copy, rewrite};
use crate::analysis::reachable;
use crate::error::GrammarError;
use crate::grammar::Grammar;
use crate::ids::RuleId;

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

/// The grammar of one rule. Only the rules that it mentions, directly or through other rules, are kept.
pub fn below(grammar: &Grammar, rule: RuleId) -> Result<Grammar, DropUnreachableError> {
    drop_unreachable(&Grammar { root: rule, ..grammar.clone() })
}
