//! Which expressions derive anything at all.

use super::facts::Facts;
use super::horn::{Need, least_facts, need_of_parts};
use crate::dispatch::DispatchEnd;
use crate::expr::Expr;
use crate::grammar::Grammar;

/// Whether an expression may derive anything at all. *No* is certain. *Yes* is exact except for regular
/// operators, because an automaton has to decide whether an intersection or a complement matches anything.
/// Here an intersection may if its operands may, and a complement always may. Parts in any order of which
/// none is required may derive something if one of them may, whatever their number and their separator.
pub fn productive(grammar: &Grammar) -> Facts {
    let holds = least_facts(grammar, |_, expr| match expr {
        Expr::Empty | Expr::Bytes(_) | Expr::Repeat { min: 0, .. } | Expr::Complement(_) => Need::Nothing,
        Expr::Class([]) => Need::Impossible,
        Expr::Token(_) | Expr::ExcludeToken(_) | Expr::TagText(_) => Need::Nothing,
        Expr::TagDispatch(dispatch) => match dispatch.end {
            DispatchEnd::Anywhere => Need::Nothing,
            DispatchEnd::AtStop if !dispatch.stops.is_empty() => Need::Nothing,
            DispatchEnd::AtStop | DispatchEnd::AfterDispatch => Need::Any,
        },
        Expr::Class(_) => Need::Nothing,
        Expr::Choice(_) => Need::Any,
        Expr::Permutation(permutation) => need_of_parts(permutation),
        _ => Need::All,
    });
    Facts::new(grammar, holds)
}
