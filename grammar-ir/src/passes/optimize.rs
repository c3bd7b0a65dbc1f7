//! All passes, composed.

use super::drop_unreachable::{DropUnreachableError, drop_unreachable};
use super::inline::{InlineError, InlineOptions, inline};
use super::simplify::{SimplifyError, simplify};
use crate::grammar::Grammar;

/// Which passes [`optimize`] runs. By default all.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassOptions {
    /// Whether to run [`simplify`], before and after inlining. Default true.
    pub simplify: bool,
    /// How to run [`inline`]; `None` switches it off. Default `Some`, with the default options.
    pub inline: Option<InlineOptions>,
    /// Whether to run [`drop_unreachable`]. Default true.
    pub drop_unreachable: bool,
}

impl Default for PassOptions {
    fn default() -> Self {
        Self { simplify: true, inline: Some(InlineOptions::default()), drop_unreachable: true }
    }
}

impl PassOptions {
    /// No pass at all.
    pub fn none() -> Self {
        Self { simplify: false, inline: None, drop_unreachable: false }
    }
}

/// A pass that could not be finished. `Display` says which limit it met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct PassError(#[from] PassErrorKind);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PassErrorKind {
    #[error(transparent)]
    Simplify(#[from] SimplifyError),
    #[error(transparent)]
    Inline(#[from] InlineError),
    #[error(transparent)]
    DropUnreachable(#[from] DropUnreachableError),
}

/// Runs the passes that are switched on.
pub fn optimize(grammar: &Grammar, options: &PassOptions) -> Result<Grammar, PassError> {
    run(grammar, options).map_err(PassError)
}

fn run(grammar: &Grammar, options: &PassOptions) -> Result<Grammar, PassErrorKind> {
    let mut grammar = grammar.clone();
    if options.simplify {
        // Inlining weighs rules by their size, so they are made small first.
        grammar = simplify(&grammar)?;
    }
    if let Some(inline_options) = &options.inline {
        grammar = inline(&grammar, inline_options)?;
        if options.simplify {
            grammar = simplify(&grammar)?;
        }
    }
    if options.drop_unreachable {
        grammar = drop_unreachable(&grammar)?;
    }
    Ok(grammar)
}
