//! Parts that many grammars have in common, compiled once for the options of a caller.
//!
//! Nearly every JSON schema leaves some value open, and then its grammar holds the rules of any JSON value.
//! For a schema of the median size they are a third of the states. Naively each grammar has them built, and
//! every pass looks at them. A frontend can name such a rule ([`Grammar::common`]). It is compiled by itself,
//! once, and its tables are copied into each grammar with an equal rule, as finished fragments that no pass
//! looks at.
//!
//! Whether a grammar says the same is not guessed: its rules are compared with those that the tables were made of.
//! The result does not depend on earlier compilations: a part that is not kept yet is compiled
//! first, and copied then.

use std::sync::Arc;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{Grammar, RuleId, Toggle, passes};

use crate::build::shared_rules::{SharedMatch, SharedRules};
use crate::compile::pipeline::{CompiledPlaces, compile_with_places};
use crate::draft::ids::DraftFragmentId;
use crate::ids::{Id, IdVec};
use crate::options::CompileOptions;
use crate::program::tables::{Count, FragmentId, Program, Role};

/// The most expressions of a part. Larger ones are written in place. The rules of a host name have some ten thousand.
const MAX_EXPRESSIONS: usize = 1 << 14;

/// Finds the automata of all common rules. Those that are a part of one that was found before are among its automata, and
/// are not looked for.
pub(crate) fn find_all_shared_rules(grammar: &Grammar, options: &CompileOptions) -> Vec<SharedMatch> {
    let mut found: Vec<SharedMatch> = Vec::new();
    for &rule in grammar.common().iter().filter(|&&rule| rule != grammar.root()) {
        if !found.iter().any(|whole| whole.has(rule)) {
            found.extend(find_shared_rules(grammar, rule, options));
        }
    }
    found
}

/// Finds the automata of a common rule.
pub(crate) fn find_shared_rules(
    grammar: &Grammar,
    rule: RuleId,
    options: &CompileOptions,
) -> Option<SharedMatch> {
    if options.shared_rules == Toggle::Off {
        return None;
    }
    let same = |common: &Arc<SharedRules>| {
        let is_equivalent = common.options.is_equivalent(options);
        is_equivalent.then(|| grammar.counterparts(rule, &common.grammar, MAX_EXPRESSIONS)).flatten()
    };
    let known = |common: &Arc<SharedRules>| {
        Some(SharedMatch { counterparts: same(common)?, shared: Arc::clone(common) })
    };
    options.find_kept(known).or_else(|| {
        let found = known(&Arc::new(compile_shared_rules(grammar, rule, options)?))?;
        options.keep(Arc::clone(&found.shared));
        Some(found)
    })
}

/// Whether no rule that a rule refers to, directly or through others, is common.
pub(crate) fn reaches_no_common(grammar: &Grammar, rule: RuleId) -> bool {
    let mut below = grammar.expressions_below([grammar.rule(rule).body()]);
    !below.any(|id| grammar.as_rule(id).is_some_and(|other| grammar.common().contains(&other)))
}

fn compile_shared_rules(grammar: &Grammar, rule: RuleId, options: &CompileOptions) -> Option<SharedRules> {
    let grammar = passes::below(grammar, rule).ok()?;
    if grammar.expr_count() > MAX_EXPRESSIONS {
        return None;
    }
    // Since this is small, an interrupt can wait: it must not decide what is kept.
    let options = options.alone();
    let (program, made) = compile_with_places(&grammar, &options).ok()?;
    let is_plain = program.token_edges.is_empty()
        && program.labels.is_empty()
        && program.fragments.iter().all(|fragment| fragment.role == Role::None && fragment.options.is_none());
    if !is_plain {
        return None;
    }
    let CompiledPlaces { rules, counted, any_escape, ranges, numbers } = made;
    let place = |old: DraftFragmentId| numbers.get(old).copied().and_then(Id::known);
    // A repeat whose body may read nothing has got another minimum, and one that began with itself has no
    // count any more.
    let counts_so = |new: FragmentId, count: Count| program.fragments[new.index()].count == Some(count);
    let named = rules_of_fragments(&grammar, &program);
    Some(SharedRules {
        options,
        ranges,
        named,
        rules: grammar.rule_ids().map(|rule| place(rules[rule.into()])).collect(),
        counted: counted
            .into_iter()
            .filter_map(|(body, count, old)| Some((body, count, place(old)?)))
            .filter(|&(_, count, new)| counts_so(new, count))
            .collect(),
        any_escape: any_escape.map(place),
        program,
        grammar,
    })
}

/// The rule that each fragment is called after.
fn rules_of_fragments(grammar: &Grammar, program: &Program) -> IdVec<FragmentId, Option<RuleId>> {
    let by_name: HashMap<&str, RuleId> =
        grammar.rule_ids().map(|rule| (grammar.rule(rule).name(), rule)).collect();
    program.fragments.iter().map(|fragment| by_name.get(&*fragment.name).copied()).collect()
}
