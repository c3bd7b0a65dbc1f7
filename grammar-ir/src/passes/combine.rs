//! Several grammars as one.

use std::ptr;

use crate::builder::GrammarBuilder;
use crate::error::GrammarError;
use crate::expr::Node;
use crate::grammar::Grammar;
use crate::hash::HashMap;
use crate::ids::{ExprId, RuleId};

use super::rewrite::{Copy, copy_expr, copy_rules};

/// The grammar of a text of the first grammar, followed by one of the second, and so on; of the empty text if
/// there are none. The root is `root`; rules whose names clash get a number.
///
/// # Errors
///
/// Where the grammars together have more rules or expressions than ids can number.
pub fn concat(grammars: &[&Grammar]) -> Result<Grammar, GrammarError> {
    combine(grammars, |builder, roots| builder.sequence(roots))
}

/// The grammar of the texts of any of the grammars; of no text at all if there are none. Names as in [`concat()`].
///
/// # Errors
///
/// As for [`concat()`].
pub fn union(grammars: &[&Grammar]) -> Result<Grammar, GrammarError> {
    combine(grammars, |builder, roots| builder.choice(roots))
}

fn combine(
    grammars: &[&Grammar],
    join: impl FnOnce(&mut GrammarBuilder, Vec<ExprId>) -> ExprId,
) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root")?;
    let mut roots = Vec::with_capacity(grammars.len());
    // A grammar that is given twice is copied once: doubling one time after time makes no large grammar.
    let mut copied: HashMap<*const Grammar, RuleId> = HashMap::default();
    for &grammar in grammars {
        let start = match copied.get(&ptr::from_ref(grammar)) {
            Some(&start) => start,
            None => append(&mut builder, grammar)?,
        };
        copied.insert(ptr::from_ref(grammar), start);
        roots.push(builder.rule(start));
    }
    let body = join(&mut builder, roots);
    builder.define(root, body)?;
    builder.finish(root)
}

/// Copies all rules of a grammar into a builder, and returns its root there. Names as in [`concat()`]. A
/// [common](Grammar::common) rule that another grammar brought is there already, and is not copied again.
///
/// # Errors
///
/// As for [`concat()`].
pub fn append(builder: &mut GrammarBuilder, grammar: &Grammar) -> Result<RuleId, GrammarError> {
    let known = builder.common_with(grammar);
    let root = grammar.root().index();
    if known.iter().all(Option::is_none) {
        return builder.append(grammar);
    }
    if let Some(root) = known[root] {
        return Ok(root);
    }
    let copied: Vec<RuleId> = grammar.rule_ids().filter(|rule| known[rule.index()].is_none()).collect();
    let mut rules = known;
    for &rule in &copied {
        rules[rule.index()] = Some(builder.declare_fresh(grammar.rule(rule).name())?);
    }
    copy_rules(builder, grammar, &copied, &rules, &mut Copy)?;
    let is_copied = |rule: &RuleId| copied.binary_search(rule).is_ok();
    builder.add_common_of(grammar, |rule| rules[rule.index()].filter(|_| is_copied(&rule)));
    Ok(rules[root].expect("each rule is known or copied"))
}

/// Copies the body of a grammar's root into a builder; `None` where it refers to rules.
pub fn append_body(builder: &mut GrammarBuilder, grammar: &Grammar) -> Option<ExprId> {
    if grammar.pools.nodes.iter().any(|node| matches!(node, Node::Rule(_))) {
        return None;
    }
    Some(copy_expr(builder, grammar, grammar.rule(grammar.root()).body()))
}
