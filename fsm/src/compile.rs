//! The composition of all passes, on one page.

use grammask_grammar_ir::{Grammar, RuleId};

use crate::error::Failure;
use crate::link::{Part, Parts};
use crate::passes::determinize::determinize;
use crate::passes::emit::emit;
use crate::passes::epsilon::remove_epsilons;
use crate::passes::left_recursion::lower_left_recursive_counts;
use crate::passes::nullable::nullable;
use crate::passes::prefix::merge_prefixes;
use crate::passes::prune::prune;
use crate::passes::suffix::merge_suffixes;
use crate::{BuildError, CompileOptions, Pass, Program, build};

/// Compiles a grammar to byte automata.
///
/// Takes time about linear in the size of the grammar, except below intersections and complements, which are
/// bounded by [`TextLimits`](crate::TextLimits).
///
/// Fails if the language is empty, if parts in any order can begin with themselves, if a literal below a regular operator is not UTF-8, or if a limit is
/// reached; [`BuildError::cause`] tells which.
pub fn compile(grammar: &Grammar, options: &CompileOptions) -> Result<Program, BuildError> {
    compile_all(grammar, options, &Parts::none())
}

/// Compiles a grammar some of whose rules were compiled before; see [`Part`]. Accepts what the whole would accept
/// with the parts' grammars in it. The parts take time in proportion to the size of their tables, some nanoseconds a
/// state.
///
/// Fails as [`compile`] does, and where a part stands below an intersection, a complement or JSON escaping.
pub fn compile_with(
    grammar: &Grammar,
    options: &CompileOptions,
    parts: &[Part<'_>],
) -> Result<Program, BuildError> {
    compile_all(grammar, options, &Parts::new(parts, grammar, options)?)
}

fn compile_all(
    grammar: &Grammar,
    options: &CompileOptions,
    parts: &Parts<'_>,
) -> Result<Program, BuildError> {
    let go_on = || options.interrupt.check().map_err(|reason| Failure::from(reason).alone());
    go_on()?;
    let mut draft = build::build(grammar, options, parts)?;
    go_on()?;
    prune(&mut draft).map_err(|_| BuildError::empty_language(grammar.rule(grammar.root()).name()))?;
    let left_calls = nullable(&mut draft);
    if let Some(rule) = lower_left_recursive_counts(&mut draft, left_calls) {
        let name = RuleId::new(rule as usize).map_or("", |rule| grammar.rule(rule).name());
        return Err(BuildError::left_recursive_parts(name));
    }
    if options.epsilon_removal == Pass::On {
        go_on()?;
        remove_epsilons(&mut draft);
    }
    if options.prefix_merging == Pass::On {
        go_on()?;
        merge_prefixes(&mut draft);
    }
    if options.suffix_merging == Pass::On {
        go_on()?;
        merge_suffixes(&mut draft);
    }
    if options.determinization == Pass::On {
        go_on()?;
        determinize(&mut draft, options);
    }
    go_on()?;
    Ok(emit(draft, grammar, parts))
}
