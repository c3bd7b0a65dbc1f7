//! Makes a failing grammar and text smaller.
//!
//! The naive way, a search over all smaller grammars, is hopeless. Greedy steps do well enough. Take out one
//! expression (put one of its operands, or the empty string, in its place) or one byte of the text. Keep the
//! result if it still fails, and begin again until no step helps.

use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder, GrammarError, analysis};

/// Most grammars that are tried; a failing test should say something within seconds.
const TRIES: usize = 3_000;

/// A smaller grammar and a shorter text on which `fails` still holds.
pub fn minimise(
    grammar: &Grammar,
    text: &[u8],
    fails: impl Fn(&Grammar, &[u8]) -> bool,
) -> (Grammar, Vec<u8>) {
    let (mut grammar, mut text) = (grammar.clone(), text.to_vec());
    let mut tries = TRIES;
    loop {
        let before = tries;
        let mut has_changed = false;
        for at in (0..text.len()).rev() {
            let shorter: Vec<u8> =
                text.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, b)| *b).collect();
            if fails(&grammar, &shorter) {
                text = shorter;
                has_changed = true;
            }
        }
        if let Some(smaller) = smaller_grammar(&grammar, &mut tries, |candidate| fails(candidate, &text)) {
            grammar = smaller;
            has_changed = true;
        }
        if !has_changed || tries == 0 || before == 0 {
            return (grammar, text);
        }
    }
}

/// The replacement of an expression.
#[derive(Clone, Copy)]
enum Instead {
    Operand(ExprId),
    Empty,
    /// A repeat with other bounds.
    Bounds(u32, Option<u32>),
    /// A choice or a sequence without one of its operands.
    Without(usize),
}

fn smaller_grammar(
    grammar: &Grammar,
    tries: &mut usize,
    fails: impl Fn(&Grammar) -> bool,
) -> Option<Grammar> {
    for (id, instead) in steps(grammar) {
        if *tries == 0 {
            return None;
        }
        *tries -= 1;
        // A step may make an operand of a regular operator recursive, or leave nothing out at all.
        let Ok(candidate) = rebuild(grammar, Some((id, instead))) else { continue };
        if weight(&candidate) < weight(grammar) && fails(&candidate) {
            return Some(candidate);
        }
    }
    None
}

/// Expressions and counts that rules reach, so that every step that is kept makes progress.
fn weight(grammar: &Grammar) -> usize {
    let count = |id| match grammar.expr(id) {
        Expr::Repeat { min, max, .. } => 2 + (min + max.unwrap_or(0)) as usize,
        Expr::Bytes(bytes) => 1 + bytes.len(),
        Expr::Empty => 1,
        _ => 2,
    };
    reachable(grammar).into_iter().map(count).sum::<usize>() + grammar.rule_count()
}

/// Expressions that the root reaches, the outermost first.
fn reachable(grammar: &Grammar) -> Vec<ExprId> {
    let mut seen_rules = vec![false; grammar.rule_count()];
    let mut order = Vec::new();
    seen_rules[grammar.root().index()] = true;
    let mut stack = vec![grammar.rule(grammar.root()).body()];
    while let Some(id) = stack.pop() {
        order.push(id);
        stack.extend_from_slice(grammar.operands(id));
        if let Expr::Rule(rule) = grammar.expr(id)
            && !std::mem::replace(&mut seen_rules[rule.index()], true)
        {
            stack.push(grammar.rule(rule).body());
        }
    }
    order
}

fn steps(grammar: &Grammar) -> Vec<(ExprId, Instead)> {
    let mut steps = Vec::new();
    for id in reachable(grammar) {
        let expr = grammar.expr(id);
        if expr != Expr::Empty {
            steps.push((id, Instead::Empty));
        }
        let operands = grammar.operands(id);
        steps.extend(operands.iter().map(|&operand| (id, Instead::Operand(operand))));
        match expr {
            Expr::Rule(rule) => steps.push((id, Instead::Operand(grammar.rule(rule).body()))),
            Expr::Choice(_) | Expr::Sequence(_) | Expr::Intersection(_) => {
                steps.extend((0..operands.len()).map(|at| (id, Instead::Without(at))));
            }
            Expr::Permutation(_) => {
                steps.extend((1..operands.len()).map(|at| (id, Instead::Without(at))));
            }
            Expr::Repeat { min, max: Some(max), .. } => {
                steps.push((id, Instead::Bounds(min / 2, Some(max / 2))));
                steps.push((id, Instead::Bounds(min, Some(max.saturating_sub(1).max(min)))));
                steps.push((id, Instead::Bounds(min.saturating_sub(1), Some(max.saturating_sub(1)))));
                steps.push((id, Instead::Bounds(min.saturating_sub(1), Some(max))));
            }
            Expr::Repeat { min, max: None, .. } if min > 0 => {
                steps.push((id, Instead::Bounds(min / 2, None)));
                steps.push((id, Instead::Bounds(min - 1, None)));
            }
            _ => {}
        }
    }
    steps
}

/// A copy of the rules that are reached, with one expression replaced.
fn rebuild(grammar: &Grammar, step: Option<(ExprId, Instead)>) -> Result<Grammar, GrammarError> {
    let copied = copy(grammar, step)?;
    // The step may have cut rules off; copying again leaves them out.
    let is_whole = analysis::reachable(&copied).into_iter().all(|is_used| is_used);
    if is_whole { Ok(copied) } else { copy(&copied, None) }
}

fn copy(grammar: &Grammar, step: Option<(ExprId, Instead)>) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let is_used = analysis::reachable(grammar);
    let mut rules = vec![None; grammar.rule_count()];
    for rule in grammar.rule_ids().filter(|rule| is_used[rule.index()]) {
        rules[rule.index()] = Some(builder.declare(grammar.rule(rule).name())?);
    }
    let mut copies = vec![None; grammar.expr_count()];
    for rule in grammar.rule_ids() {
        let Some(new_rule) = rules[rule.index()] else { continue };
        let body = grammar.rule(rule).body();
        copy_expr(grammar, body, step, &rules, &mut copies, &mut builder);
        let body = copies[body.index()].expect("the body was copied by the line above");
        builder.define(new_rule, body)?;
    }
    let root = rules[grammar.root().index()].expect("the root is marked as used");
    builder.finish(root)
}

/// Copies an expression and what is below it, operands first.
fn copy_expr(
    grammar: &Grammar,
    top: ExprId,
    step: Option<(ExprId, Instead)>,
    rules: &[Option<grammask_grammar_ir::RuleId>],
    copies: &mut [Option<ExprId>],
    builder: &mut GrammarBuilder,
) {
    let mut stack = vec![top];
    while let Some(&id) = stack.last() {
        if copies[id.index()].is_some() {
            stack.pop();
            continue;
        }
        let instead = step.filter(|(place, _)| *place == id).map(|(_, instead)| instead);
        let needed: &[ExprId] = match &instead {
            Some(Instead::Operand(operand)) => std::slice::from_ref(operand),
            Some(Instead::Empty) => &[],
            _ => grammar.operands(id),
        };
        let missing: Vec<ExprId> =
            needed.iter().copied().filter(|operand| copies[operand.index()].is_none()).collect();
        // A rule's body may not replace a reference inside that very body: that would be without end.
        if missing.iter().any(|operand| stack.contains(operand)) {
            copies[id.index()] = Some(builder.never());
            stack.pop();
            continue;
        }
        if !missing.is_empty() {
            stack.extend(missing);
            continue;
        }
        let operands: Vec<ExprId> = needed.iter().filter_map(|operand| copies[operand.index()]).collect();
        copies[id.index()] = Some(copy_node(grammar, id, instead, operands, rules, builder));
        stack.pop();
    }
}

fn copy_node(
    grammar: &Grammar,
    id: ExprId,
    instead: Option<Instead>,
    mut operands: Vec<ExprId>,
    rules: &[Option<grammask_grammar_ir::RuleId>],
    builder: &mut GrammarBuilder,
) -> ExprId {
    let mut bounds = None;
    match instead {
        Some(Instead::Operand(_)) => return operands[0],
        Some(Instead::Empty) => return builder.empty(),
        Some(Instead::Without(at)) => {
            operands.remove(at);
        }
        Some(Instead::Bounds(min, max)) => bounds = Some((min, max)),
        None => {}
    }
    match grammar.expr(id) {
        Expr::Empty => builder.empty(),
        Expr::Bytes(bytes) => builder.bytes(bytes),
        Expr::Class(ranges) => builder.class(ranges.iter().copied()),
        Expr::Sequence(_) => builder.sequence(operands),
        Expr::Choice(_) => builder.choice(operands),
        Expr::Repeat { min, max, .. } => {
            let (min, max) = bounds.unwrap_or((min, max));
            builder.repeat(operands[0], min, max)
        }
        Expr::Rule(rule) => match rules[rule.index()] {
            Some(rule) => builder.rule(rule),
            None => builder.never(),
        },
        Expr::Intersection(_) => builder.intersection(operands),
        Expr::Complement(_) => builder.complement(operands[0]),
        Expr::JsonEscaped(_, escapes) => builder.json_escaped_as(operands[0], escapes),
        Expr::Permutation(permutation) => {
            let without = match instead {
                Some(Instead::Without(at)) => at.saturating_sub(1),
                _ => usize::MAX,
            };
            let kept = (0..permutation.parts().len()).filter(|&index| index != without);
            let parts: Vec<_> = kept.map(|index| permutation.occurrence(index)).collect();
            let parts = operands[1..].iter().copied().zip(parts);
            builder.permutation(operands[0], parts, permutation.min(), permutation.max())
        }
        // A kind of expression that this copier does not know yet makes the step useless, not wrong.
        _ => builder.never(),
    }
}

#[cfg(test)]
mod tests {
    use grammask_oracle::Recogniser;

    use super::*;

    #[test]
    fn keeps_what_matters() {
        let source = r#"
            root ::= "x" list{2,9} | unused | Intersection([a-z]+, Complement("no"))
            list ::= list "," item | item
            item ::= "a" | "b" "c"? | unused
            unused ::= "u"*
        "#;
        let options = grammask_grammar_frontends::ebnf::EbnfOptions::default();
        let grammar = grammask_grammar_frontends::ebnf::parse(source, &options).expect("a grammar");
        let fails = |grammar: &Grammar, text: &[u8]| {
            Recogniser::new(grammar).accepts(b"xa,aa") && text.contains(&b'!')
        };
        let (smaller, text) = minimise(&grammar, b"ab!c!", fails);
        assert_eq!(text, b"!");
        assert!(Recogniser::new(&smaller).accepts(b"xa,aa"));
        assert!(weight(&smaller) * 2 < weight(&grammar), "{smaller}");
    }
}
