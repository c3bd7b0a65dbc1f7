//! Rules of a large grammar that are compiled when they are first read.
//!
//! A schema of thousands of expressions describes far more than one text says: of the objects that it allows, an
//! instance holds a few. Naively all of its automata are built before the first mask. Here rules that can stand apart
//! are taken out before, as [units](crate::units), and what is left is built around references to them. A unit is made
//! of everything that its rule reaches. What several of them reach is in each of them, so that none needs another one;
//! they share the grammar, which they are roots of.
//!
//! Which rules these are is found in passes over the grammar that look at each expression about twice: what can be
//! [foreseen](crate::foresight), how much each rule reaches, and a walk from the root that takes the first rules it
//! meets that are neither large, which would make the text wait where it comes to them, nor small. They begin with a
//! literal, as objects do: who has come to one is likely to read it.

use std::sync::Arc;

use grammask_grammar_ir::{Expr, ExprId, Grammar, Interrupt, RuleId};

use crate::foresight::Look;
use crate::graph::components;
use crate::lazy::{DeferredProgram, Room};
use crate::plan::Graph;
use crate::{CompileOptions, Toggle};

/// A unit is written in at most so many states, some 0.1 ms of work.
const MAX_STATES: u32 = 1 << 13;

/// A grammar that is cut is written in so many times the states of the smallest unit, which is half a millisecond of work.
/// Of smaller ones a text reads more, and waits for it about as long as it had to wait for the whole.
const LARGE: u64 = 48;

/// Expressions are written in about forty states each.
const MIN_EXPRESSIONS: usize = 2;

/// Of more alternatives none is a unit: who comes to one comes to all.
const MAX_ALTERNATIVES: usize = 4;

/// SubPrograms may hold what others hold too: taken together they have at most so many times the states of the whole.
const COPIES: u64 = 4;

/// What is compiled later, and how the rest is compiled.
pub(crate) struct Apart {
    /// Rules and what they become.
    pub(crate) units: Vec<(RuleId, Arc<DeferredProgram>)>,
    /// Whether the rest reaches the common part.
    pub(crate) has_common: bool,
}

/// Looks for rules to be compiled late. `None` where there are none.
pub(crate) fn cut(
    grammar: &Grammar,
    options: &CompileOptions,
    share: impl FnOnce(&Grammar) -> Arc<Grammar>,
) -> Option<Apart> {
    let least = (options.deferred_min_states as usize).saturating_mul(MIN_EXPRESSIONS);
    if options.deferred_programs == Toggle::Off || grammar.expr_count() < least {
        return None;
    }
    let look = Look::new(grammar, options)?;
    let is_large = look.total >= LARGE * u64::from(options.deferred_min_states);
    // The limits on automata are for the whole. What could come near them is compiled at once.
    let most = options.max_states.min(options.max_edges / 2) as u64;
    // Tags and tokens are for those who put them together.
    if !is_large || look.total > most || look.names_tokens {
        return None;
    }
    let reach = Reach::new(grammar, &look, options.deferred_min_states);
    let chosen = reach.choose(grammar, &look, options.deferred_min_states);
    if chosen.rules.is_empty() {
        return None;
    }
    let shared = share(grammar);
    let classes = look.bytes.classes();
    let late = Arc::new(CompileOptions { interrupt: Interrupt::never(), ..options.clone() });
    let unit = |&rule: &RuleId| {
        let row = &reach.rules[rule.index()];
        let room = Room::of_part(row.states + reach.common_states, classes.clone());
        let unit = DeferredProgram::part_of(&shared, (rule, row.has_common), room, &late);
        (rule, Arc::new(unit))
    };
    Some(Apart { units: chosen.rules.iter().map(unit).collect(), has_common: chosen.has_common })
}

/// What each rule reaches.
struct Reach {
    graph: Graph,
    rules: Vec<Reached>,
    /// The states of the common part.
    common_states: u32,
}

#[derive(Clone, Copy, Default)]
struct Reached {
    /// In at most so many states all of it is written, the common part apart.
    states: u32,
    has_common: bool,
    is_in_common: bool,
    /// It may not stand apart.
    is_bound: bool,
}

struct Chosen {
    rules: Vec<RuleId>,
    has_common: bool,
}

impl Reach {
    fn new(grammar: &Grammar, look: &Look<'_>, least: u32) -> Self {
        let graph = Graph::of(grammar);
        let mut rules = vec![Reached::default(); grammar.rule_count()];
        let mut common_states = 0_u32;
        let common = grammar.common().filter(|&rule| rule != grammar.root());
        if let Some(common) = common {
            let mut stack = vec![common.index() as u32];
            while let Some(rule) = stack.pop() {
                let row = &mut rules[rule as usize];
                if std::mem::replace(&mut row.is_in_common, true) {
                    continue;
                }
                row.is_bound = true;
                common_states = common_states.saturating_add(own_states(look, rule));
                stack.extend_from_slice(graph.targets(rule));
            }
        }
        bind_rules(grammar, look, least, &mut rules);
        // The rule for whose sake a row was added last, plus one.
        let mut counted = vec![0_u32; grammar.rule_count()];
        let root = grammar.root().index() as u32;
        components(
            grammar.rule_count(),
            [root],
            |rule| graph.targets(rule),
            |members| {
                let stamp = members[0] + 1;
                members.iter().for_each(|&member| counted[member as usize] = stamp);
                let mut states = 0_u32;
                let mut has_common = common.is_some_and(|rule| members.contains(&(rule.index() as u32)));
                for &member in members {
                    states = states.saturating_add(own_states(look, member));
                    for &target in graph.targets(member) {
                        let row = rules[target as usize];
                        has_common |= row.has_common;
                        if std::mem::replace(&mut counted[target as usize], stamp) != stamp {
                            states = states.saturating_add(row.states);
                        }
                    }
                }
                let has_root = members.contains(&root);
                for &member in members {
                    let row = &mut rules[member as usize];
                    row.has_common = has_common;
                    row.is_bound |= has_root;
                    row.states = if row.is_in_common { 0 } else { states };
                }
            },
        );
        Self { graph, rules, common_states }
    }

    /// The first rules on the ways from the root that can stand apart.
    fn choose(&self, grammar: &Grammar, look: &Look<'_>, least: u32) -> Chosen {
        let mut chosen = Chosen { rules: Vec::new(), has_common: false };
        let mut spare = look.total.saturating_mul(COPIES);
        let mut met = vec![false; grammar.rule_count()];
        met[grammar.root().index()] = true;
        let mut stack = vec![grammar.root().index() as u32];
        let common = grammar.common();
        while let Some(rule) = stack.pop() {
            for &target in self.graph.targets(rule) {
                if std::mem::replace(&mut met[target as usize], true) {
                    continue;
                }
                let Some(id) = RuleId::new(target as usize) else { continue };
                if common == Some(id) {
                    chosen.has_common = true;
                    continue;
                }
                let Reached { states, is_bound, .. } = self.rules[target as usize];

                let fits = (least..=MAX_STATES).contains(&states) && u64::from(states) <= spare;
                let is_clear = !is_bound && look.is_clear(id);
                if fits && is_clear && (least == 0 || begins_with_literal(grammar, id)) {
                    spare -= u64::from(states);
                    chosen.rules.push(id);
                } else {
                    stack.push(target);
                }
            }
        }
        chosen
    }
}

fn own_states(look: &Look<'_>, rule: u32) -> u32 {
    RuleId::new(rule as usize).map_or(0, |rule| look.states_of(rule).0)
}

/// Rules of many alternatives are read together. Automata below regular operators, and inside of JSON strings, are taken
/// apart. None of them is a unit.
fn bind_rules(grammar: &Grammar, look: &Look<'_>, least: u32, rules: &mut [Reached]) {
    for rule in grammar.rule_ids() {
        let is_inside_string = look.states_of(rule).1;
        rules[rule.index()].is_bound |= is_inside_string || !grammar.rule(rule).options().is_empty();
        if let Expr::Choice(ways) = grammar.expr(grammar.rule(rule).body()) {
            let ways = || ways.iter().filter_map(|&way| grammar.as_rule(way));
            let are_many = least > 0 && ways().nth(MAX_ALTERNATIVES).is_some();
            ways().filter(|_| are_many).for_each(|way| rules[way.index()].is_bound = true);
        }
    }
    let mut stack: Vec<ExprId> = look.operators.clone();
    let mut met = vec![false; if stack.is_empty() { 0 } else { grammar.expr_count() }];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut met[id.index()], true) {
            continue;
        }
        match grammar.as_rule(id) {
            Some(rule) => {
                rules[rule.index()].is_bound = true;
                stack.push(grammar.rule(rule).body());
            }
            None => stack.extend_from_slice(grammar.operands(id)),
        }
    }
}

fn begins_with_literal(grammar: &Grammar, rule: RuleId) -> bool {
    match grammar.expr(grammar.rule(rule).body()) {
        Expr::Sequence([first, ..]) => matches!(grammar.expr(*first), Expr::Bytes(_)),
        _ => false,
    }
}
