//! Rules of a large grammar that are compiled when they are first read.
//!
//! A schema of thousands of expressions describes far more than one text contains: of the objects that it
//! allows, an instance holds a few. Naively all of its automata are built before the first mask. Here rules
//! that can be compiled separately are extracted first, as [sub-programs](crate::program::sub_programs), and
//! the rest is built around references to them. A sub-program is made of everything that its rule reaches.
//! Rules that several of them reach are in each of them, so that none needs another one; they share the
//! grammar, of which they are roots.
//!
//! Passes over the grammar, which look at each expression about twice, find these rules. They collect the
//! parts that can be [estimated](crate::deferred::size_estimate) and the size of the part that each rule
//! reaches. A walk from the root then takes the first rules that are neither large nor small; a large one
//! would make the text wait when it is reached. They begin with a literal, as objects do: a text that reaches
//! one almost always goes on to parse it.

use std::sync::Arc;

use grammask_grammar_ir::{Expr, Grammar, RuleId, Toggle};

use crate::build::ids::{RuleNumber, RuleNumbers};
use crate::build::rule_graph::Graph;
use crate::build::shared_rules::SharedMatch;
use crate::compile::find_shared_rules::find_all_shared_rules;
use crate::compile::pipeline::{compile, compile_around_shared};
use crate::deferred::constructors::uninterrupted;
use crate::deferred::size_estimate::{MERGED, Survey};
use crate::error::AutomataError;
use crate::graph::components_of;
use crate::ids::{Id, IdVec};
use crate::link::scope::Parts;
use crate::options::CompileOptions;
use crate::pace::Pace;
use crate::program::deferred::{DeferredProgram, Footprint};
use crate::program::tables::Program;

/// The most states in which a sub-program is written, by the estimate: some 0.1 ms of work.
const MAX_STATES: u32 = 1 << 12;

/// The least size of a grammar whose rules are extracted, in multiples of the states of the smallest
/// sub-program: half a millisecond of work. A text reads more of a smaller grammar, and waits for the parts
/// about as long as for the whole.
const LARGE: u64 = 48;

/// Expressions are written in about twenty states each, by the estimate.
const MIN_EXPRESSIONS: usize = 4;

/// The most alternatives with sub-programs: a text that reaches one of more alternatives reaches all.
const MAX_ALTERNATIVES: usize = 4;

/// Sub-programs may hold equal parts. Taken together they have at most this multiple of the states of the
/// whole.
const COPIES: u64 = 4;

/// Sub-programs are written in at most this multiple of the states that a grammar may have. A call that reads all parts,
/// such as the search for an ending, has to compile all that wait. That takes three times as long as if they had been
/// compiled with the whole: 0.8 s for ten thousand parts.
const WAITING: u64 = 2;

/// As [`compile`]; rules of a large grammar that can be compiled apart are compiled when a text first comes to them
/// ([`CompileOptions::deferred_min_states`]). They keep the grammar: `share` is called where there are any.
///
/// # Errors
///
/// As for [`compile`], and not later.
pub fn compile_deferred(
    grammar: &Grammar,
    options: &CompileOptions,
    share: impl FnOnce(&Grammar) -> Arc<Grammar>,
) -> Result<Program, AutomataError> {
    let least =
        usize::try_from(options.deferred_min_states).unwrap_or(usize::MAX).saturating_mul(MIN_EXPRESSIONS);
    if options.deferred_programs == Toggle::Off || grammar.expr_count() < least {
        return compile(grammar, options);
    }
    // No sub-program contains a rule that is reached only through common rules, and those are compiled already.
    let found: Arc<[SharedMatch]> = find_all_shared_rules(grammar, options).into();
    let known: usize = found.iter().map(|common| common.shared.grammar.expr_count()).sum();
    let mut pace = Pace::new(&options.interrupt);
    let extracted = match grammar.expr_count().saturating_sub(known) < least {
        true => Vec::new(),
        false => extract_deferred_rules(grammar, options, share, &found, &mut pace).unwrap_or_default(),
    };
    pace.check()?;
    compile_around_shared(grammar, options, &Parts::extracted(&extracted), &found)
}

/// Looks for rules to be compiled late, and returns their programs. `None` if there are none.
fn extract_deferred_rules(
    grammar: &Grammar,
    options: &CompileOptions,
    share: impl FnOnce(&Grammar) -> Arc<Grammar>,
    found: &Arc<[SharedMatch]>,
    pace: &mut Pace<'_>,
) -> Option<Vec<(RuleId, Arc<DeferredProgram>)>> {
    let least = options.deferred_min_states;
    let may_any_wait =
        grammar.rule_ids().any(|rule| rule != grammar.root() && may_wait(grammar, rule, least));
    if !may_any_wait {
        return None;
    }
    // The limits on automata apply to the whole. A grammar that comes near them, by the estimate, is compiled at once.
    let limit = u64::try_from(options.max_states.min(options.max_edges / 2)).unwrap_or(u64::MAX);
    let most = limit.saturating_mul(MERGED.into());
    let survey = Survey::new(grammar, options, most, pace)?;
    let is_large = survey.total >= LARGE * u64::from(least);
    // Tags and tokens are left to the callers that link them.
    if !is_large || survey.total > most || survey.names_tokens {
        return None;
    }
    let mut reach = Reach::new(grammar, &survey, least);
    // Where not all can wait, those do that a text may leave out.
    if survey.total > limit {
        bind_rules_of_each_text(grammar, &mut reach.rules);
    }
    let chosen = reach.choose(grammar, &survey, least, limit.saturating_mul(WAITING));
    if chosen.is_empty() {
        return None;
    }
    let shared = share(grammar);
    let classes = survey.bytes.classes();
    // The interrupt belongs to this call, and the programs are compiled long after it.
    let late = uninterrupted(options);
    let unit = |&rule: &RuleId| {
        let row = &reach.rules[rule.into()];
        let footprint = Footprint::of_part(row.states + reach.common_states, classes.clone());
        let unit = DeferredProgram::of_rule(&shared, rule, footprint, &late, found);
        (rule, Arc::new(unit))
    };
    Some(chosen.iter().map(unit).collect())
}

/// The part of the grammar that each rule reaches.
struct Reach {
    graph: Graph,
    rules: IdVec<RuleNumber, Reached>,
    /// The states of the part that the common rules reach.
    common_states: u32,
}

#[derive(Clone, Copy, Default)]
struct Reached {
    /// The most states in which all of it is written, common rules not counted.
    states: u32,
    is_in_common: bool,
    /// It must not be compiled separately.
    is_bound: bool,
}

impl Reach {
    fn new(grammar: &Grammar, survey: &Survey<'_>, least: u32) -> Self {
        let graph = Graph::of(grammar);
        let mut rules: IdVec<RuleNumber, Reached> = IdVec::of(Reached::default(), grammar.rule_count());
        let mut common_states = 0_u32;
        for &common in grammar.common().iter().filter(|&&rule| rule != grammar.root()) {
            let mut stack = vec![RuleNumber::from(common)];
            while let Some(rule) = stack.pop() {
                let row = &mut rules[rule];
                if std::mem::replace(&mut row.is_in_common, true) {
                    continue;
                }
                row.is_bound = true;
                common_states = common_states.saturating_add(own_states(survey, rule));
                stack.extend_from_slice(graph.targets(rule));
            }
        }
        bind_rules(grammar, survey, least, &mut rules);
        // The rule for which a row was added last.
        let mut counted = IdVec::of(RuleNumber::NONE, grammar.rule_count());
        let root = RuleNumber::from(grammar.root());
        // Components come callees first, so the sizes of all targets are known. Rules of a component reach
        // the same rules.
        components_of(
            grammar.rule_count(),
            [root],
            |rule| graph.targets(rule),
            |members| {
                let stamp = members[0];
                members.iter().for_each(|&member| counted[member] = stamp);
                let mut states = 0_u32;
                for &member in members {
                    states = states.saturating_add(own_states(survey, member));
                    for &target in graph.targets(member) {
                        let row = rules[target];
                        // Each target is added once for a component. Parts that two targets share count
                        // twice, so this is an upper bound.
                        if std::mem::replace(&mut counted[target], stamp) != stamp {
                            states = states.saturating_add(row.states);
                        }
                    }
                }
                let has_root = members.contains(&root);
                for &member in members {
                    let row = &mut rules[member];
                    row.is_bound |= has_root;
                    row.states = if row.is_in_common { 0 } else { states };
                }
            },
        );
        Self { graph, rules, common_states }
    }

    /// The first rules on the paths from the root that can be compiled separately.
    fn choose(&self, grammar: &Grammar, survey: &Survey<'_>, least: u32, most: u64) -> Vec<RuleId> {
        let mut chosen = Vec::new();
        // Sub-programs may share rules, which then exist several times. This bounds the sum.
        let mut spare = survey.total.saturating_mul(COPIES).min(most);
        let mut met: IdVec<RuleNumber, bool> = IdVec::of(false, grammar.rule_count());
        met[grammar.root().into()] = true;
        let mut stack = vec![RuleNumber::from(grammar.root())];
        while let Some(rule) = stack.pop() {
            for &target in self.graph.targets(rule) {
                if std::mem::replace(&mut met[target], true) {
                    continue;
                }
                let Some(id) = RuleNumbers::All.rule(target) else { continue };
                if grammar.common().contains(&id) {
                    continue;
                }
                let Reached { states, is_bound, .. } = self.rules[target];

                let fits = (least..=MAX_STATES).contains(&states) && u64::from(states) <= spare;
                let is_clear = !is_bound && survey.is_clear(id);
                if fits && is_clear && may_wait(grammar, id, least) {
                    spare -= u64::from(states);
                    chosen.push(id);
                } else {
                    // Not below a chosen rule: sub-programs contain everything that they reach.
                    stack.push(target);
                }
            }
        }
        chosen
    }
}

fn own_states(survey: &Survey<'_>, rule: RuleNumber) -> u32 {
    RuleNumbers::All.rule(rule).map_or(0, |rule| survey.states_of(rule).0)
}

/// Rules of many alternatives are read together. Automata below regular operators, and inside of JSON strings, are taken
/// apart. None of them is a sub-program.
fn bind_rules(grammar: &Grammar, survey: &Survey<'_>, least: u32, rules: &mut IdVec<RuleNumber, Reached>) {
    for rule in grammar.rule_ids() {
        let is_inside_string = survey.states_of(rule).1;
        rules[rule.into()].is_bound |= is_inside_string || !grammar.rule(rule).options().is_empty();
        if let Expr::Choice(ways) = grammar.expr(grammar.rule(rule).body()) {
            let ways = || ways.iter().filter_map(|&way| grammar.as_rule(way));
            // A text that may go on in any of many sub-programs would have all of them compiled.
            let are_many = least > 0 && ways().nth(MAX_ALTERNATIVES).is_some();
            ways().filter(|_| are_many).for_each(|way| rules[way.into()].is_bound = true);
        }
    }
    // An operator needs the whole automaton of each operand, so nothing below it can wait.
    let below = grammar.expressions_below(survey.operators.iter().copied());
    below.filter_map(|id| grammar.as_rule(id)).for_each(|rule| rules[rule.into()].is_bound = true);
}

/// A rule that each text reads is compiled sooner or later, and with the rest that takes a third of the time.
fn bind_rules_of_each_text(grammar: &Grammar, rules: &mut IdVec<RuleNumber, Reached>) {
    let mut met = vec![false; grammar.expr_count()];
    let mut stack = vec![grammar.rule(grammar.root()).body()];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut met[id.index()], true) {
            continue;
        }
        match grammar.expr(id) {
            Expr::Rule(rule) => {
                rules[rule.into()].is_bound = true;
                stack.push(grammar.rule(rule).body());
            }
            Expr::Sequence(parts) => stack.extend_from_slice(parts),
            Expr::Repeat { body, min, .. } if min > 0 => stack.push(body),
            Expr::Permutation(permutation) => {
                stack.extend_from_slice(&permutation.parts()[..permutation.required()]);
            }
            _ => {}
        }
    }
}

/// Whether a rule begins with a literal, or need not.
fn may_wait(grammar: &Grammar, rule: RuleId, least: u32) -> bool {
    let begins_with_literal = match grammar.expr(grammar.rule(rule).body()) {
        Expr::Sequence([first, ..]) => matches!(grammar.expr(*first), Expr::Bytes(_)),
        _ => false,
    };
    least == 0 || begins_with_literal
}
