//! Rules that begin with themselves.
//!
//! A rule that may call itself before it has read a byte would push for ever. The graph of calls that read
//! nothing has an edge `f -> g` where a call of `g` can be reached from the start of `f`. The way leads over
//! edges that read nothing and calls that may read nothing. So left recursion that is hidden behind a
//! nullable rule shows. This engine declines a cycle of that graph ([`LeftCorners`](grammask_fsm::LeftCorners)).

use grammask_fsm::{Fragment, Program, Role};
use grammask_grammar_ir::shorten;
use grammask_parser_backend::BuildError;

/// Names in one message.
const MAX_NAMES: usize = 8;

/// Fails if parts may be in any order: a stack has no place to keep which of them were read.
pub(crate) fn decline_permutation(program: &Program) -> Result<(), BuildError> {
    let is_permuted = |fragment: &&Fragment| !matches!(fragment.role, Role::None | Role::Measured(_));
    match program.fragments().find(is_permuted) {
        None => Ok(()),
        Some(fragment) => Err(BuildError::new(format!(
            "parts in any order: rule `{}` has some, which the backend `pda` does not serve; give them an order, or \
             use the backend `earley`",
            shorten(&fragment.name)
        ))),
    }
}

/// Fails where a rule can begin with itself, naming the rules of one such cycle.
pub(crate) fn decline_left_recursion(program: &Program) -> Result<(), BuildError> {
    let corners = program.left_corners();
    let component = |id| program.left_corner_component(id);
    let recursive = program.fragments_with_ids().filter(|&(id, _)| corners.is_left_recursive(id));
    // The cycle that no other one calls last.
    let Some(cycle) = recursive.clone().map(|(id, _)| component(id)).max() else { return Ok(()) };
    let members = recursive.filter(|&(id, _)| component(id) == cycle);
    let mut names: Vec<&str> = members.map(|(_, fragment)| &*fragment.name).collect();
    names.sort_unstable();
    names.dedup();
    let more = if names.len() > MAX_NAMES { ", ..." } else { "" };
    names.truncate(MAX_NAMES);
    let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (subject, verb) =
        if named.len() == 1 { ("rule", "begins with itself") } else { ("rules", "begin with each other") };
    Err(BuildError::new(format!(
        "left recursion: {subject} {}{more} {verb}, which the backend `pda` does not serve; write it as a \
         repetition (`a ::= b (c b)*`), or use the backend `earley`",
        shorten(&named.join(", "))
    )))
}
