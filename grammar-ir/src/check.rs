//! What every finished grammar guarantees.

use std::collections::HashMap;

use crate::error::GrammarErrorKind;
use crate::{Expr, ExprId, Grammar, GrammarError, RuleId};

/// Checks repeats' bounds and the operands of regular operators, over all rules.
pub(crate) fn check(grammar: &Grammar, swapped: &HashMap<ExprId, (u32, u32)>) -> Result<(), GrammarError> {
    let mut operators: Vec<(RuleId, ExprId, &'static str)> = Vec::new();
    let mut stack = Vec::new();
    for rule_id in grammar.rule_ids() {
        let rule = grammar.rule(rule_id);
        stack.push(rule.body());
        while let Some(id) = stack.pop() {
            if let Some(&(min, max)) = swapped.get(&id) {
                let kind = GrammarErrorKind::RepeatBoundsSwapped { name: rule.name().into(), min, max };
                return Err(GrammarError::new(kind, rule.span()));
            }
            match grammar.expr(id) {
                Expr::Intersection(_) => operators.push((rule_id, id, "an intersection")),
                Expr::Complement(_) => operators.push((rule_id, id, "a complement")),
                Expr::JsonEscaped(_) => operators.push((rule_id, id, "JSON escaping")),
                _ => stack.extend_from_slice(grammar.operands(id)),
            }
        }
    }
    check_operands(grammar, swapped, &operators)
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Walks the rules below regular operators, depth-first with an explicit stack: a rule met again while it is
/// open is recursive.
fn check_operands(
    grammar: &Grammar,
    swapped: &HashMap<ExprId, (u32, u32)>,
    operators: &[(RuleId, ExprId, &'static str)],
) -> Result<(), GrammarError> {
    enum Step {
        Visit(ExprId),
        Close(RuleId),
    }
    let mut marks = vec![Mark::New; grammar.rule_count()];
    let mut stack: Vec<Step> = Vec::new();
    for &(rule_id, operator, word) in operators {
        stack.push(Step::Visit(operator));
        while let Some(step) = stack.pop() {
            let id = match step {
                Step::Close(rule) => {
                    marks[rule.index()] = Mark::Done;
                    continue;
                }
                Step::Visit(id) => id,
            };
            let rule = grammar.rule(rule_id);
            if let Some(&(min, max)) = swapped.get(&id) {
                let kind = GrammarErrorKind::RepeatBoundsSwapped { name: rule.name().into(), min, max };
                return Err(GrammarError::new(kind, rule.span()));
            }
            let Expr::Rule(through) = grammar.expr(id) else {
                stack.extend(grammar.operands(id).iter().map(|&operand| Step::Visit(operand)));
                continue;
            };
            match marks[through.index()] {
                Mark::Done => {}
                Mark::Open => {
                    let kind = GrammarErrorKind::RecursiveOperand {
                        name: rule.name().into(),
                        operator: word,
                        through: grammar.rule(through).name().into(),
                    };
                    return Err(GrammarError::new(kind, rule.span()));
                }
                Mark::New => {
                    marks[through.index()] = Mark::Open;
                    stack.push(Step::Close(through));
                    stack.push(Step::Visit(grammar.rule(through).body()));
                }
            }
        }
    }
    Ok(())
}
