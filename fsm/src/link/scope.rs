//! Automata that were compiled before, put into those of another grammar.
//!
//! The tools that a model may call change from request to request, and most of them were compiled before.
//! Compiling the whole again repeats known work; here a rule of a grammar may have its automata already.
//! While the grammar is compiled, such a rule is one fragment without states, and all that is known of it is
//! whether it may read nothing. At the very end its tables are copied after the others, with their numbers
//! moved. If nothing prevents it, they become a [sub-program](crate::program::sub_programs) instead, and
//! nothing is copied.

use std::borrow::Cow;
use std::sync::Arc;

use ahash::AHashMap;
use grammask_grammar_ir::{Expr, ExprId, Grammar, RuleId};

use crate::error::{AutomataError, Failure};
use crate::ids::{IdVec, PartId, ids};
use crate::options::{CompileOptions, PartSize};
use crate::program::deferred::DeferredProgram;
use crate::program::tables::Program;

/// A rule of a grammar whose automata were compiled before: the rule stands for the sentences of the program. The
/// body that the rule has in the grammar is not read. Token ids are those of the grammar's vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct LinkedProgram<'p> {
    rule: RuleId,
    program: Linking<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Linking<'p> {
    Copy(&'p Program),
    Refer(&'p Arc<DeferredProgram>),
}

/// How a part is linked, as it was decided.
enum Decided<'p> {
    /// All tables are its own.
    Copy(Box<Cow<'p, Program>>),
    Refer(&'p Arc<DeferredProgram>),
}

impl<'p> LinkedProgram<'p> {
    /// A rule whose automata are copied.
    pub fn copied(rule: RuleId, program: &'p Program) -> Self {
        Self { rule, program: Linking::Copy(program) }
    }

    /// A rule whose automata are referred to, and compiled when they are first read. They are compiled now
    /// and copied if the rule is the root or has options. They are also copied if they may read nothing,
    /// begin with themselves or refer to others.
    pub fn referred(rule: RuleId, program: &'p Arc<DeferredProgram>) -> Self {
        Self { rule, program: Linking::Refer(program) }
    }
}

impl<'p> Decided<'p> {
    fn copy(program: Cow<'p, Program>) -> Self {
        Self::Copy(Box::new(program))
    }
}

/// The part of a grammar that is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'p> {
    /// The rule whose texts are accepted.
    pub(crate) root: RuleId,
    /// Whether common rules are what they look like: no part hides the rules below them.
    pub(crate) may_share: bool,
    pub(crate) parts: &'p Parts<'p>,
}

/// The parts by their rules.
pub(crate) struct Parts<'p> {
    list: IdVec<PartId, Decided<'p>>,
    of_rule: AHashMap<RuleId, PartId>,
    /// Whether the bodies that rules of parts have in the grammar are those of the parts.
    are_extracted: bool,
}

impl<'p> Parts<'p> {
    /// Fails if the parts are larger than the limits allow, or if one is below a regular operator or is to be
    /// spelled as JSON. Automata are taken apart there, and these are whole.
    pub(crate) fn new(
        list: &[LinkedProgram<'p>],
        grammar: &Grammar,
        options: &CompileOptions,
    ) -> Result<Self, AutomataError> {
        let numbered = list.iter().zip(ids(list.len()));
        let of_rule: AHashMap<RuleId, PartId> = numbered.map(|(part, at)| (part.rule, at)).collect();
        let decide = |part: &LinkedProgram<'p>| match part.program {
            Linking::Refer(program)
                if program.can_be_referred_to()
                    && part.rule != grammar.root()
                    && grammar.rule(part.rule).options().is_empty() =>
            {
                Ok(Decided::Refer(program))
            }
            // A root with options, or a program that may read nothing, changes facts of the whole that are
            // found before sub-programs have numbers. Those parts are copied.
            Linking::Refer(program) => Ok(Decided::copy(program.program().map_err(Clone::clone)?.whole()?)),
            Linking::Copy(program) => Ok(Decided::copy(program.whole()?)),
        };
        let list: IdVec<PartId, Decided<'p>> =
            list.iter().map(decide).collect::<Result<_, AutomataError>>()?;
        let size = |part: &Decided<'_>| match part {
            Decided::Copy(program) => PartSize::of(program),
            Decided::Refer(program) => program.size(),
        };
        options.check_size(list.iter().map(size).sum()).map_err(Failure::alone)?;
        let parts = Self { list, of_rule, are_extracted: false };
        // Found here and not by the build, because the body that the rule has in the grammar is never read.
        match parts.below_operator(grammar) {
            Some(rule) => Err(Failure::PartBelowOperator.in_rule(grammar.rule(rule).name())),
            None => Ok(parts),
        }
    }

    pub(crate) fn none() -> Self {
        Self { list: IdVec::default(), of_rule: AHashMap::new(), are_extracted: false }
    }

    /// Rules of the grammar itself that are compiled later.
    pub(crate) fn extracted(rules: &'p [(RuleId, Arc<DeferredProgram>)]) -> Self {
        Self {
            list: rules.iter().map(|(_, program)| Decided::Refer(program)).collect(),
            of_rule: rules.iter().zip(ids(rules.len())).map(|((rule, _), at)| (*rule, at)).collect(),
            are_extracted: true,
        }
    }

    /// Whether no rule that a rule refers to is compiled now.
    pub(crate) fn hides(&self, rule: RuleId) -> bool {
        self.are_extracted && self.of_rule.contains_key(&rule)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of the part that a rule is.
    pub(crate) fn of(&self, rule: RuleId) -> Option<PartId> {
        self.of_rule.get(&rule).copied()
    }

    /// Whether a part may read nothing.
    pub(crate) fn is_nullable(&self, number: PartId) -> bool {
        match &self.list[number] {
            Decided::Copy(program) => program.fragment(program.root).nullable,
            // A program that may read nothing is never referred to.
            Decided::Refer(_) => false,
        }
    }

    /// The automata of a part that is to be copied.
    pub(crate) fn copied(&self, number: PartId) -> Option<&Program> {
        match &self.list[number] {
            Decided::Copy(program) => Some(program),
            Decided::Refer(_) => None,
        }
    }

    /// A part that is to be referred to.
    pub(crate) fn referred(&self, number: PartId) -> Option<&'p Arc<DeferredProgram>> {
        match self.list[number] {
            Decided::Copy(_) => None,
            Decided::Refer(program) => Some(program),
        }
    }

    /// A part below an intersection, a complement or JSON escaping.
    fn below_operator(&self, grammar: &Grammar) -> Option<RuleId> {
        if self.list.is_empty() {
            return None;
        }
        let operators = (0..grammar.expr_count()).filter_map(ExprId::new).filter(|&id| {
            matches!(grammar.expr(id), Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..))
        });
        let mut rules = grammar.expressions_below(operators).filter_map(|id| grammar.as_rule(id));
        rules.find(|rule| self.of_rule.contains_key(rule))
    }
}
