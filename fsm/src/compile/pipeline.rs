//! The composition of all passes, on one page.

use grammask_grammar_ir::{ExprId, Grammar, RuleId, Toggle};

use crate::build::expressions::{self, Places};
use crate::build::ids::RuleNumber;
use crate::build::shared_rules::SharedMatch;
use crate::compile::find_shared_rules::{find_all_shared_rules, find_shared_rules, reaches_no_common};
use crate::draft::ids::DraftFragmentId;
use crate::draft::names::write_out_forks;
use crate::draft::prebuilt::PrebuiltStates;
use crate::encoding::escapes::AnyEscape;
use crate::error::AutomataError;
use crate::ids::IdVec;
use crate::link::scope::{LinkedProgram, Parts, Scope};
use crate::options::CompileOptions;
use crate::pace::Pace;
use crate::passes::determinize::determinize;
use crate::passes::emit::{FragmentNumbers, emit};
use crate::passes::epsilon::remove_epsilons;
use crate::passes::left_recursion::{LeftRecursiveParts, lower_left_recursive_counts};
use crate::passes::nullable::nullable;
use crate::passes::prefix::merge_prefixes;
use crate::passes::prune::{EmptyLanguage, prune};
use crate::passes::suffix::merge_suffixes;
use crate::program::tables::{Count, FragmentId, Program};

/// Compiles a grammar to byte automata.
///
/// Takes time about linear in the size of the grammar, except below intersections and complements, which are
/// bounded by [`TextLimits`](crate::TextLimits).
///
/// Fails if the language is empty, if parts in any order can begin with themselves, or if a literal below a
/// regular operator is not UTF-8. It also fails if a limit is reached; [`AutomataError::cause`] gives the
/// reason.
pub fn compile(grammar: &Grammar, options: &CompileOptions) -> Result<Program, AutomataError> {
    run_passes(grammar, options, whole(grammar, &Parts::none())).map(|(program, ..)| program)
}

/// As [`compile`], for a rule of a grammar with all that it reaches, with the automata of common rules that were found
/// before. Takes no longer where the grammar is larger.
pub(crate) fn compile_rule(
    grammar: &Grammar,
    root: RuleId,
    options: &CompileOptions,
    found: &[SharedMatch],
) -> Result<Program, AutomataError> {
    let scope = Scope { root, may_share: true, parts: &Parts::none() };
    compile_found(grammar, options, scope, found).map(|(program, ..)| program)
}

/// As [`compile`], with parts, and with the automata of common rules that were found before.
pub(crate) fn compile_around_shared(
    grammar: &Grammar,
    options: &CompileOptions,
    parts: &Parts<'_>,
    found: &[SharedMatch],
) -> Result<Program, AutomataError> {
    let scope = Scope { root: grammar.root(), may_share: true, parts };
    compile_found(grammar, options, scope, found).map(|(program, ..)| program)
}

fn whole<'p>(grammar: &Grammar, parts: &'p Parts<'p>) -> Scope<'p> {
    // Below a rule that was compiled before, the grammar is not what it looks like.
    Scope { root: grammar.root(), may_share: parts.is_empty(), parts }
}

/// Compiles a grammar, some of whose rules were compiled before; see [`LinkedProgram`]. The result accepts
/// the same texts as the whole grammar with the parts' grammars in it. Copied parts take time in proportion
/// to the size of their tables, some nanoseconds a state; referred parts take next to none.
///
/// Fails as [`compile`] does, and if a part is below an intersection, a complement or JSON escaping.
pub fn compile_with(
    grammar: &Grammar,
    options: &CompileOptions,
    parts: &[LinkedProgram<'_>],
) -> Result<Program, AutomataError> {
    let parts = Parts::new(parts, grammar, options)?;
    run_passes(grammar, options, whole(grammar, &parts)).map(|(program, ..)| program)
}

/// As [`compile_with`] for one part, and the fragment that it became, if it is reached.
pub(crate) fn compile_around(
    grammar: &Grammar,
    options: &CompileOptions,
    part: LinkedProgram<'_>,
) -> Result<(Program, Option<FragmentId>), AutomataError> {
    let parts = Parts::new(&[part], grammar, options)?;
    let (program, _, numbers) = run_passes(grammar, options, whole(grammar, &parts))?;
    Ok((program, numbers.parts.first().copied()))
}

/// The places of a compiled grammar, in ids of the draft except for `ranges`.
pub(crate) struct CompiledPlaces {
    pub(crate) rules: IdVec<RuleNumber, DraftFragmentId>,
    /// Repeated bodies outside of JSON strings.
    pub(crate) counted: Vec<(ExprId, Count, DraftFragmentId)>,
    pub(crate) any_escape: AnyEscape<DraftFragmentId>,
    /// The states of each fragment of the program.
    pub(crate) ranges: IdVec<FragmentId, PrebuiltStates>,
    /// The fragment in the program of each of the draft.
    pub(crate) numbers: IdVec<DraftFragmentId, FragmentId>,
}

/// As [`compile`]; says where things are, too.
pub(crate) fn compile_with_places(
    grammar: &Grammar,
    options: &CompileOptions,
) -> Result<(Program, CompiledPlaces), AutomataError> {
    // Only parts that have no common parts themselves, so that this is not called below itself without end.
    let mut find =
        |rule| reaches_no_common(grammar, rule).then(|| find_shared_rules(grammar, rule, options)).flatten();
    let (program, Places { rules, counted, any_escape }, numbers) =
        run_passes_around(grammar, options, whole(grammar, &Parts::none()), &mut find)?;
    let counted = counted.into_iter().filter(|((_, spelling, _), _)| spelling.is_plain());
    let counted = counted.map(|((body, _, count), fragment)| (body, count, fragment)).collect();
    let FragmentNumbers { ranges, numbers, .. } = numbers;
    Ok((program, CompiledPlaces { rules, counted, any_escape, ranges, numbers }))
}

fn run_passes(
    grammar: &Grammar,
    options: &CompileOptions,
    scope: Scope<'_>,
) -> Result<(Program, Places, FragmentNumbers), AutomataError> {
    let found = if scope.may_share { find_all_shared_rules(grammar, options) } else { Vec::new() };
    compile_found(grammar, options, scope, &found)
}

/// As [`run_passes`], with the automata of the common rules that were found before.
fn compile_found(
    grammar: &Grammar,
    options: &CompileOptions,
    scope: Scope<'_>,
    found: &[SharedMatch],
) -> Result<(Program, Places, FragmentNumbers), AutomataError> {
    let mut find = |rule| found.iter().find(|shared| shared.has(rule)).cloned();
    run_passes_around(grammar, options, scope, &mut find)
}

/// As [`run_passes`], with the automata of the common rules that are found.
fn run_passes_around(
    grammar: &Grammar,
    options: &CompileOptions,
    scope: Scope<'_>,
    find: &mut dyn FnMut(RuleId) -> Option<SharedMatch>,
) -> Result<(Program, Places, FragmentNumbers), AutomataError> {
    let mut pace = Pace::new(&options.interrupt);
    pace.check()?;
    let (mut draft, places) = expressions::build(grammar, options, scope, find)?;
    draft.shrink();
    pace.check()?;
    // The order of the passes. Pruning comes first, because every later pass may rely on it that each
    // state lies on a path to the end.
    let pruned = prune(&mut draft, &mut pace);
    pace.check()?;
    pruned.map_err(|EmptyLanguage(rule)| {
        AutomataError::empty_language(grammar.rule(rule.unwrap_or(scope.root)).name())
    })?;
    // Left recursion depends on which calls may read nothing, so this fact is found before repeats are
    // written out.
    let left_calls = nullable(&mut draft, &mut pace);
    pace.check()?;
    lower_left_recursive_counts(&mut draft, left_calls).map_err(|LeftRecursiveParts(rule)| {
        AutomataError::left_recursive_parts(rule.map_or("", |rule| grammar.rule(rule).name()))
    })?;
    // Empty edges go before states are compared: two states with equal edges may differ in their empty
    // ones alone.
    if options.epsilon_removal == Toggle::On {
        remove_epsilons(&mut draft, &mut pace);
        pace.check()?;
    }
    // Names that fork are written out first, because an edge for a whole text has no beginning to merge.
    if options.prefix_merging == Toggle::On {
        write_out_forks(&mut draft);
        merge_prefixes(&mut draft, &mut pace);
        pace.check()?;
    }
    if options.suffix_merging == Toggle::On {
        merge_suffixes(&mut draft, &mut pace);
        pace.check()?;
    }
    // Last, on automata that are small already.
    if options.determinization == Toggle::On {
        determinize(&mut draft, options);
    }
    let (program, numbers) = emit(draft, grammar, scope.parts, &mut pace)?;
    program.check_distinct()?;
    Ok((program, places, numbers))
}
