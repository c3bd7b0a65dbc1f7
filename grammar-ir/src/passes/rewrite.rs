//! Shared by the passes: copying a grammar into a new arena, bottom up, each expression once.

use crate::builder::GrammarBuilder;
use crate::dispatch::TagDispatch;
use crate::error::GrammarError;
use crate::expr::Expr;
use crate::grammar::Grammar;
use crate::ids::{ExprId, RuleId};

/// How a pass changes expressions on their way.
pub(super) trait Rewrite {
    /// Makes the new expression. `expr` is the old one, except that a reference names the new rule;
    /// `operands` are the copies of its operands.
    fn make(&mut self, builder: &mut GrammarBuilder, expr: Expr<'_>, operands: &[ExprId]) -> ExprId {
        copy(builder, expr, operands)
    }
}

/// Changes nothing.
pub(super) struct Copy;

impl Rewrite for Copy {}

/// Copies the rules to keep. The root must be one of them, and so must all rules that they go on to mention.
pub(super) fn rewrite(
    grammar: &Grammar,
    keep: impl Fn(RuleId) -> bool,
    pass: &mut impl Rewrite,
) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let kept: Vec<RuleId> = grammar.rule_ids().filter(|&id| keep(id)).collect();
    let mut rules = vec![None; grammar.rule_count()];
    for &id in &kept {
        rules[id.index()] = Some(builder.declare(grammar.rule(id).name())?);
    }
    copy_rules(&mut builder, grammar, &kept, &rules, pass)?;
    for id in kept {
        if let (Some(new), Some(span)) = (rules[id.index()], grammar.rule(id).span()) {
            builder.set_span(new, span);
        }
    }
    for common in grammar.common().iter().filter_map(|&rule| rules[rule.index()]) {
        builder.add_common(common);
    }
    builder.finish(rules[grammar.root().index()].expect("passes keep the root"))
}

/// Copies the bodies of some rules of a grammar, which `rules` declares. All that they mention is declared there.
pub(super) fn copy_rules(
    builder: &mut GrammarBuilder,
    grammar: &Grammar,
    kept: &[RuleId],
    rules: &[Option<RuleId>],
    pass: &mut impl Rewrite,
) -> Result<(), GrammarError> {
    let mut copier = Copier { grammar, builder, rules, exprs: vec![None; grammar.expr_count()] };
    for &old in kept {
        let Some(new) = rules[old.index()] else { continue };
        let rule = grammar.rule(old);
        let body = copier.copy(rule.body(), pass);
        copier.builder.define(new, body)?;
        if let Some(lookahead) = rule.lookahead() {
            let lookahead = copier.copy(lookahead, pass);
            copier.builder.set_lookahead(new, lookahead);
        }
        copier.builder.set_options(new, rule.options().clone());
    }
    Ok(())
}

/// Copies an expression that refers to no rules.
pub(super) fn copy_expr(builder: &mut GrammarBuilder, grammar: &Grammar, root: ExprId) -> ExprId {
    Copier { grammar, builder, rules: &[], exprs: vec![None; grammar.expr_count()] }.copy(root, &mut Copy)
}

/// The same expression in another arena.
pub(super) fn copy(builder: &mut GrammarBuilder, expr: Expr<'_>, operands: &[ExprId]) -> ExprId {
    match expr {
        Expr::Empty => builder.empty(),
        Expr::Bytes(bytes) => builder.bytes(bytes),
        Expr::Class(ranges) => builder.class(ranges.iter().copied()),
        Expr::Sequence(_) => builder.sequence(operands.iter().copied()),
        Expr::Choice(_) => builder.choice(operands.iter().copied()),
        Expr::Repeat { min, max, .. } => builder.repeat(operands[0], min, max),
        Expr::Rule(rule) => builder.rule(rule),
        Expr::Intersection(_) => builder.intersection(operands.iter().copied()),
        Expr::Complement(_) => builder.complement(operands[0]),
        Expr::JsonEscaped(_, escapes) => builder.json_escaped_as(operands[0], escapes),
        Expr::Token(tokens) => builder.token(tokens.iter().cloned()),
        Expr::ExcludeToken(tokens) => builder.exclude_token(tokens.iter().cloned()),
        Expr::TagText(text) => builder.tag_text(text),
        Expr::TagDispatch(dispatch) => builder.tag_dispatch(TagDispatch {
            triggers: dispatch.triggers.iter().cloned().zip(operands.iter().copied()).collect(),
            stops: dispatch.stops.to_vec(),
            excludes: dispatch.excludes.to_vec(),
            after: dispatch.after,
            end: dispatch.end,
            least: 0,
        }),
        Expr::Permutation(permutation) => {
            let parts = operands[1..].iter().enumerate();
            let parts = parts.map(|(index, &part)| (part, permutation.occurrence(index)));
            builder.permutation(operands[0], parts, permutation.min(), permutation.max())
        }
    }
}

struct Copier<'g> {
    grammar: &'g Grammar,
    builder: &'g mut GrammarBuilder,
    rules: &'g [Option<RuleId>],
    exprs: Vec<Option<ExprId>>,
}

impl Copier<'_> {
    fn copy(&mut self, root: ExprId, pass: &mut impl Rewrite) -> ExprId {
        enum CopyStep {
            Enter(ExprId),
            Leave(ExprId),
        }
        let mut stack = vec![CopyStep::Enter(root)];
        let mut operands: Vec<ExprId> = Vec::new();
        while let Some(step) = stack.pop() {
            match step {
                CopyStep::Enter(id) if self.exprs[id.index()].is_some() => {}
                CopyStep::Enter(id) => {
                    stack.push(CopyStep::Leave(id));
                    let operands = self.grammar.operands(id).iter().rev();
                    stack.extend(operands.map(|&operand| CopyStep::Enter(operand)));
                }
                CopyStep::Leave(id) => {
                    operands.clear();
                    let copied = |old: &ExprId| self.exprs[old.index()].expect("operands are made first");
                    operands.extend(self.grammar.operands(id).iter().map(copied));
                    let new = self.make(id, &operands, pass);
                    self.exprs[id.index()] = Some(new);
                }
            }
        }
        self.exprs[root.index()].expect("it was left last")
    }

    fn make(&mut self, id: ExprId, operands: &[ExprId], pass: &mut impl Rewrite) -> ExprId {
        let expr = match self.grammar.expr(id) {
            Expr::Rule(rule) => {
                Expr::Rule(self.rules[rule.index()].expect("passes keep the rules that are mentioned"))
            }
            expr => expr,
        };
        pass.make(self.builder, expr, operands)
    }
}
