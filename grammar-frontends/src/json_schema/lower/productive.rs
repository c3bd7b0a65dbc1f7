//! Whether a grammar derives anything.

use grammask_grammar_ir::{Expr, ExprId, Grammar, RuleId, analysis};

/// How often expressions are looked at, in multiples of their number, before all are looked at in another way.
const MAX_LOOKS: usize = 6;

/// Whether the root derives any text. Regular operators count as if they did: what they leave of strings was
/// decided before.
pub(super) fn derives_something(grammar: &Grammar) -> bool {
    // A rule is looked at again when one that it waits for turns out productive.
    let mut known = ProductiveFacts {
        rules: vec![false; grammar.rule_count()],
        expressions: vec![false; grammar.expr_count()],
        missing: Vec::with_capacity(16),
        looks: 0,
    };
    // Any numbers, any strings, any values.
    grammar.common().iter().for_each(|rule| known.rules[rule.index()] = true);
    let mut waiting: Vec<Vec<RuleId>> = vec![Vec::new(); grammar.rule_count()];
    // From the first one on: most rules refer to rules that were declared before. The others come before those that wait
    // for them.
    let mut work: Vec<RuleId> = grammar.rule_ids().collect();
    work.reverse();
    let mut is_met = vec![false; grammar.rule_count()];
    while let Some(rule) = work.pop() {
        if known.rules[rule.index()] {
            continue;
        }
        // An object with thousands of required members is looked at as often, which the other way is not. It takes
        // longer for schemas of everyday size.
        if known.looks > MAX_LOOKS * grammar.expr_count() {
            return analysis::productive(grammar).expr(grammar.rule(grammar.root()).body());
        }
        known.missing.clear();
        is_met[rule.index()] = true;
        if is_productive(grammar, grammar.rule(rule).body(), &mut known) {
            known.rules[rule.index()] = true;
            work.append(&mut waiting[rule.index()]);
        } else {
            for &other in &known.missing {
                waiting[other.index()].push(rule);
                if !std::mem::replace(&mut is_met[other.index()], true) {
                    work.push(other);
                }
            }
        }
    }
    known.rules[grammar.root().index()]
}

/// Rules and expressions that derive something for certain: expressions are shared, and rules are looked at again.
struct ProductiveFacts {
    rules: Vec<bool>,
    expressions: Vec<bool>,
    /// The rules that the one at hand waits for.
    missing: Vec<RuleId>,
    looks: usize,
}

/// Expressions nest only as deep as this frontend and the regex frontend nest them.
fn is_productive(grammar: &Grammar, id: ExprId, known: &mut ProductiveFacts) -> bool {
    known.looks += 1;
    if known.expressions[id.index()] {
        return true;
    }
    let is = match grammar.expr(id) {
        Expr::Class(ranges) => !ranges.is_empty(),
        Expr::Sequence(parts) => parts.iter().all(|&part| is_productive(grammar, part, known)),
        Expr::Choice(parts) => parts.iter().any(|&part| is_productive(grammar, part, known)),
        Expr::Permutation(permutation) => {
            let mut derives = |part: &ExprId| is_productive(grammar, *part, known);
            let (once, repeatable) = permutation.parts().split_at(permutation.once());
            let (required, optional) = once.split_at(permutation.required());
            // A part that repeats is as many as are wanted.
            required.iter().all(&mut derives) && {
                let wanted = permutation.min() as usize;
                required.len() >= wanted
                    || repeatable.iter().any(&mut derives)
                    || required.len() + optional.iter().filter(|part| derives(part)).count() >= wanted
            }
        }
        Expr::Repeat { min: 0, .. } => true,
        Expr::Repeat { body, .. } => is_productive(grammar, body, known),
        Expr::Rule(rule) => {
            let is = known.rules[rule.index()];
            known.missing.extend((!is).then_some(rule));
            is
        }
        _ => true,
    };
    known.expressions[id.index()] = is;
    is
}
