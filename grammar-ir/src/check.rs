//! Properties that every finished grammar has.
//!
//! Expressions may be shared, so both walks remember where they have been and look at each expression once.

use crate::analysis::nullable;
use crate::error::GrammarError;
use crate::error::GrammarErrorKind;
use crate::expr::{Expr, Node};
use crate::grammar::{Grammar, Rule};
use crate::hash::HashMap;
use crate::ids::{ExprId, RuleId};

/// Checks repeats' bounds and the operands of regular operators, over all rules and written lookaheads.
pub(crate) fn check(grammar: &Grammar, swapped: &HashMap<ExprId, (u32, u32)>) -> Result<(), GrammarError> {
    if swapped.is_empty() && is_all_right(grammar) {
        return Ok(());
    }
    let mut operators: Vec<(RuleId, ExprId, &'static str)> = Vec::with_capacity(64);
    let mut permutation: Vec<(RuleId, ExprId)> = Vec::new();
    let mut is_met = vec![false; grammar.expr_count()];
    let mut stack = Vec::with_capacity(64);
    for rule_id in grammar.rule_ids() {
        let rule = grammar.rule(rule_id);
        stack.extend(rule.lookahead());
        stack.push(rule.body());
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut is_met[id.index()], true) {
                continue;
            }
            if let Some(&(min, max)) = swapped.get(&id) {
                let kind = GrammarErrorKind::RepeatBoundsSwapped { name: rule.name().into(), min, max };
                return Err(GrammarError::new(kind, rule.span()));
            }
            match grammar.pools.nodes[id.index()] {
                Node::Intersection(_) => {
                    operators.push((rule_id, id, "an intersection (`&`, or a bound on characters)"))
                }
                Node::Complement(_) => operators.push((rule_id, id, "a complement")),
                // Most escaped expressions are names and constants.
                Node::JsonEscaped(operand, _) if is_plain_text(grammar, operand) => {}
                Node::JsonEscaped(..) => operators.push((rule_id, id, "JSON escaping")),
                Node::Permutation(..) => permutation.push((rule_id, id)),
                _ => {}
            }
            stack.extend_from_slice(grammar.operands(id));
        }
    }
    let mut marks = Marks::default();
    for (rule_id, operator, word) in operators {
        check_operand(grammar, grammar.rule(rule_id), operator, word, &mut marks)?;
    }
    check_parts(grammar, &permutation)
}

/// Whether every expression is free of faults, reachable or not; most grammars need no other check. A fault
/// in an expression that no rule reaches is allowed, so on `false` a check from the rules decides.
fn is_all_right(grammar: &Grammar) -> bool {
    let mut marks = Marks::default();
    let some_rule = grammar.rule(grammar.root());
    grammar.pools.nodes.iter().enumerate().all(|(index, node)| {
        let operand_is_right = match *node {
            Node::Permutation(..) => match ExprId::new(index).map(|id| grammar.expr(id)) {
                Some(Expr::Permutation(permutation)) => {
                    return permutation.parts().iter().all(|&part| surely_reads(grammar, part));
                }
                _ => return false,
            },
            Node::JsonEscaped(operand, _) => match grammar.expr(operand) {
                Expr::Sequence(parts) | Expr::Choice(parts) => {
                    parts.iter().all(|&part| is_plain_text(grammar, part))
                }
                Expr::Repeat { body, .. } => is_plain_text(grammar, body),
                _ => is_plain_text(grammar, operand),
            },
            Node::Complement(operand) => match grammar.expr(operand) {
                Expr::Choice(names) => names.iter().all(|&name| is_plain_text(grammar, name)),
                _ => is_plain_text(grammar, operand),
            },
            Node::Intersection(_) => false,
            _ => true,
        };
        operand_is_right
            || ExprId::new(index)
                .is_some_and(|id| check_operand(grammar, some_rule, id, "an operator", &mut marks).is_ok())
    })
}

/// Whether an operand needs no walk.
fn is_plain_text(grammar: &Grammar, operand: ExprId) -> bool {
    match grammar.expr(operand) {
        Expr::Empty | Expr::Class(_) => true,
        Expr::Bytes(bytes) => std::str::from_utf8(bytes).is_ok(),
        _ => false,
    }
}

/// Whether one look says that an expression derives no empty text. Members of objects begin with a quote.
fn surely_reads(grammar: &Grammar, id: ExprId) -> bool {
    let reads = |id: ExprId| match grammar.expr(id) {
        Expr::Bytes(bytes) => !bytes.is_empty(),
        Expr::Class(_) => true,
        _ => false,
    };
    match grammar.expr(id) {
        Expr::Sequence(parts) => parts.iter().any(|&part| reads(part)),
        _ => reads(id),
    }
}

/// Parts in any order must not be empty: an empty one could be said to have been read anywhere.
fn check_parts(grammar: &Grammar, permutation: &[(RuleId, ExprId)]) -> Result<(), GrammarError> {
    let may_be_empty = |&(_, id): &(RuleId, ExprId)| match grammar.expr(id) {
        Expr::Permutation(permutation) => {
            permutation.parts().iter().any(|&part| !surely_reads(grammar, part))
        }
        _ => false,
    };
    if !permutation.iter().any(may_be_empty) {
        return Ok(());
    }
    let nullable = nullable(grammar);
    for &(rule_id, id) in permutation {
        let Expr::Permutation(permutation) = grammar.expr(id) else { continue };
        if permutation.parts().iter().any(|&part| nullable.expr(part)) {
            let rule = grammar.rule(rule_id);
            return Err(GrammarError::new(
                GrammarErrorKind::PartMayBeEmpty { name: rule.name().into() },
                rule.span(),
            ));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Where the walks below have been.
#[derive(Default)]
struct Marks {
    /// Below intersections, which may hold tokens.
    letters: Vec<Mark>,
    /// Below the other operators, which are about texts alone.
    texts: Vec<Mark>,
}

/// Walks everything below a regular operator, rules entered, depth-first with an explicit stack. An
/// expression that is met again while it is open is part of a cycle.
fn check_operand(
    grammar: &Grammar,
    rule: &Rule,
    operator: ExprId,
    word: &'static str,
    marks: &mut Marks,
) -> Result<(), GrammarError> {
    enum Visit {
        Open(ExprId),
        Close(ExprId),
    }
    let takes_tokens = matches!(grammar.expr(operator), Expr::Intersection(_));
    let marks = if takes_tokens { &mut marks.letters } else { &mut marks.texts };
    marks.resize(grammar.expr_count(), Mark::New);
    let mut open_rules: Vec<RuleId> = Vec::new();
    let mut stack = vec![Visit::Open(operator)];
    while let Some(step) = stack.pop() {
        let id = match step {
            Visit::Open(id) => id,
            Visit::Close(id) => {
                marks[id.index()] = Mark::Done;
                if let Expr::Rule(_) = grammar.expr(id) {
                    open_rules.pop();
                }
                continue;
            }
        };
        match marks[id.index()] {
            Mark::Done => continue,
            Mark::Open => {
                // Operands alone cannot form a cycle. So a rule was entered since the expression was opened,
                // and the last such rule is part of the cycle.
                let through = open_rules.last().map_or(rule, |&open| grammar.rule(open));
                let kind = GrammarErrorKind::RecursiveOperand {
                    name: rule.name().into(),
                    operator: word,
                    through: through.name().into(),
                };
                return Err(GrammarError::new(kind, rule.span()));
            }
            Mark::New => {}
        }
        marks[id.index()] = Mark::Open;
        stack.push(Visit::Close(id));
        match grammar.expr(id) {
            Expr::Rule(through) if !grammar.rule(through).options().is_empty() => {
                let kind = GrammarErrorKind::OperandHasOptions {
                    name: rule.name().into(),
                    operator: word,
                    with_options: grammar.rule(through).name().into(),
                };
                return Err(GrammarError::new(kind, rule.span()));
            }
            Expr::Rule(through) => {
                open_rules.push(through);
                stack.push(Visit::Open(grammar.rule(through).body()));
            }
            Expr::Bytes(bytes) if std::str::from_utf8(bytes).is_err() => {
                let kind = GrammarErrorKind::OperandNotText {
                    name: rule.name().into(),
                    operator: word,
                    literal: bytes.escape_ascii().to_string(),
                };
                return Err(GrammarError::new(kind, rule.span()));
            }
            // Complements and escaped texts below look at their operands themselves.
            Expr::Token(_) | Expr::ExcludeToken(_) if takes_tokens => {}
            expr @ (Expr::Token(_) | Expr::ExcludeToken(_) | Expr::TagText(_) | Expr::TagDispatch(_)) => {
                let what = match expr {
                    Expr::TagText(_) => "a tag's text, in which names of special tokens stand for tokens",
                    Expr::TagDispatch(_) => "a tag dispatch",
                    _ => "a token",
                };
                let kind =
                    GrammarErrorKind::OperandHoldsTokens { name: rule.name().into(), operator: word, what };
                return Err(GrammarError::new(kind, rule.span()));
            }
            Expr::Permutation(_) => {
                let kind = GrammarErrorKind::PermutationOperand { name: rule.name().into(), operator: word };
                return Err(GrammarError::new(kind, rule.span()));
            }
            _ => stack.extend(grammar.operands(id).iter().map(|&operand| Visit::Open(operand))),
        }
    }
    Ok(())
}
