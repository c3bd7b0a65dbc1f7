//! Rules that carry a number, written out: one rule for each number that a reference gives.
//!
//! Everything in such a rule but its conditions and the numbers of its references is the same for all numbers. So it
//! is read once for any number, which finds all mistakes, and then once for each number that is reached.

use std::collections::HashMap;
use std::ptr;

use grammask_grammar_ir::{ExprId, RuleId, Span};

use super::attributes::Attributes;
use super::fault::Fault;
use super::lower::{Definition, ExpressionLevel, Lexeme, Scope};
use super::number::{Argument, Condition};
use super::syntax::{RuleSyntax, Syntax, is_terminal};

/// The number of the rule that is being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Carried {
    /// It carries none.
    #[default]
    Nothing,
    /// Any: the rule is read for its mistakes.
    Any,
    Number(u64),
}

/// The rules that are written out.
#[derive(Default)]
pub(super) struct Instances<'a> {
    rules: HashMap<(*const RuleSyntax, u64), RuleId>,
    /// Those that have no body yet, and the references that asked for them first.
    unread: Vec<Instance<'a>>,
    /// The parts that are the same in all of them.
    parts: HashMap<*const Syntax, Lexeme>,
    /// Whether a mistake was found, so that nothing is written out.
    are_broken: bool,
}

struct Instance<'a> {
    rule: &'a RuleSyntax,
    number: u64,
    id: RuleId,
    reference: Span,
}

impl<'a> Scope<'a, '_> {
    pub(super) fn declare_numbered(&mut self, rule: &'a RuleSyntax) -> Result<(), Fault> {
        self.is_new(rule.name)?;
        let name = self.text(rule.name);
        self.names.insert(name, Definition::Numbered(rule));
        if is_terminal(name) {
            let hint = "write its name in lower case";
            return Err(Fault::new("lark/number", "only a rule can carry a number", hint, rule.name));
        }
        Ok(())
    }

    /// Finds the mistakes in rules that carry a number.
    pub(super) fn read_numbered(&mut self, rules: &[RuleSyntax], report: &mut dyn FnMut(Fault)) {
        for rule in rules.iter().filter(|rule| rule.is_numbered) {
            self.carried = Carried::Any;
            if let Err(fault) = self.read_for_any(rule) {
                self.instances.are_broken = true;
                report(fault);
            }
            self.carried = Carried::Nothing;
        }
    }

    fn read_for_any(&mut self, rule: &RuleSyntax) -> Result<ExprId, Fault> {
        if Attributes::read(self.source, &rule.attributes)?.need_regular_body() {
            let message = "a rule with `lazy`, `suffix`, `stop` or `max_chars` is one terminal, which carries no number";
            let hint = "leave `::_` out, or give the text a rule of its own";
            return Err(Fault::new("lark/number", message, hint, rule.name));
        }
        self.expression(&rule.body, ExpressionLevel::Rule)
    }

    /// A reference with a number.
    pub(super) fn numbered(
        &mut self,
        span: Span,
        argument: Argument,
        level: ExpressionLevel,
    ) -> Result<ExprId, Fault> {
        let name = self.text(span);
        let rule = match self.names.get(name) {
            Some(&Definition::Numbered(rule)) => rule,
            Some(Definition::Rule(_)) => {
                let message = format!("`{name}` carries no number");
                let hint = format!("leave `::` out here, or define it as `{name}::_: ...`");
                return Err(Fault::new("lark/number", message, hint, span));
            }
            Some(Definition::Broken) => return Ok(self.shared.builder.never()),
            None => return Err(self.undefined(span)),
        };
        if level == ExpressionLevel::Terminal {
            return Err(self.rule_in_terminal(span));
        }
        let number = match self.carried {
            Carried::Any => return Ok(self.shared.builder.empty()),
            Carried::Nothing if argument.reads_number() => return Err(nothing_carried(span)),
            Carried::Nothing => argument.value(0),
            Carried::Number(number) => argument.value(number),
        };
        if self.instances.are_broken {
            return Ok(self.shared.builder.never());
        }
        let id = match self.instances.rules.get(&(ptr::from_ref(rule), number)) {
            Some(&id) => id,
            None => {
                let id = self.shared.builder.declare_fresh(name).map_err(Fault::no_room_at(span))?;
                self.instances.rules.insert((ptr::from_ref(rule), number), id);
                self.instances.unread.push(Instance { rule, number, id, reference: span });
                id
            }
        };
        Ok(self.shared.builder.rule(id))
    }

    /// Reads the rules for all numbers that are reached.
    pub(super) fn write_instances(&mut self) -> Result<(), Fault> {
        while let Some(Instance { rule, number, id, reference }) = self.instances.unread.pop() {
            self.carried = Carried::Number(number);
            let written = self.defined_rule(rule, id);
            self.carried = Carried::Nothing;
            written.map_err(|fault| fault.or_at(reference))?;
        }
        Ok(())
    }

    /// Whether an alternative exists. Where it is not known yet, or does not matter, it is read for its mistakes.
    pub(super) fn holds(&self, condition: &Condition, span: Span) -> Result<bool, Fault> {
        match self.carried {
            Carried::Any => Ok(true),
            Carried::Nothing if condition.reads_number() => Err(nothing_carried(span)),
            Carried::Nothing => Ok(condition.holds(0)),
            Carried::Number(number) => Ok(condition.holds(number)),
        }
    }

    /// Reads a part of a rule that is the same for all numbers, unless that was done.
    pub(super) fn read_once(&mut self, syntax: &Syntax, level: ExpressionLevel) -> Result<Lexeme, Fault> {
        if self.carried == Carried::Nothing {
            return self.fixed_part(syntax, level);
        }
        if let Some(&part) = self.instances.parts.get(&ptr::from_ref(syntax)) {
            return Ok(part);
        }
        let part = self.fixed_part(syntax, level)?;
        self.instances.parts.insert(ptr::from_ref(syntax), part);
        Ok(part)
    }

    /// Counts parts that are written out for a number.
    pub(super) fn count(&mut self, parts: usize) -> Result<(), Fault> {
        if !matches!(self.carried, Carried::Number(_)) {
            return Ok(());
        }
        self.shared.written_out += parts;
        let limit = self.shared.options.limits.tokens;
        if self.shared.written_out > limit {
            return Err(Fault::limit(
                format!(
                    "rules that carry a number are written out for each number, with more than {limit} parts"
                ),
                "let fewer numbers be reached, with a condition on this reference, or raise the limit `tokens`",
            ));
        }
        Ok(())
    }
}

fn nothing_carried(at: Span) -> Fault {
    let hint = "write a number, as in `item::0x0`, or let the rule carry one: `name::_: ...`";
    Fault::new("lark/number", "this depends on a number, and the rule carries none", hint, at)
}
