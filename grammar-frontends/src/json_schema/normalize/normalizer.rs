//! The normaliser: normal forms of goals and of their atoms, each computed once; errors, limits and the report.

use std::cell::Cell;
use std::rc::Rc;

use grammask_grammar_ir::hash::{HashMap, HashSet, Hashing};
use grammask_grammar_ir::shorten;
use smallvec::SmallVec;

use super::evaluated::EvaluationCase;
use super::members_beside::Closings;
use super::rule_origins::RuleOrigins;
use crate::diagnostic::{Diagnostic, Result};
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::nodes::{Document, PathStep};
use crate::json_schema::document::{equality, keyword_table};
use crate::json_schema::error::limit_error;
use crate::json_schema::options::{EXPECTED_GOALS, JsonSchemaLimits, JsonSchemaOptions, Unsupported};
use crate::json_schema::report::{Report, ReportEntry, Treatment};
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{Algebra, NormalForm, TooManyAlternatives};

/// Alternatives that are taken beyond the default of the limit, where a schema writes them down.
const MAX_WRITTEN: usize = 2_048;

/// A keyword of a schema, with the members beside it.
#[derive(Clone, Copy)]
pub(crate) struct KeywordAt<'s> {
    pub(crate) node: NodeId,
    pub(crate) members: &'s Members<'s>,
    pub(crate) keyword: &'static str,
    pub(crate) value: &'s Value<'s>,
}

/// Reads schemas into normal forms, each once.
pub(crate) struct Normalizer<'s> {
    pub(crate) document: Document<'s>,
    pub(crate) algebra: Algebra<'s>,
    pub(crate) options: JsonSchemaOptions,
    /// The treatment of the keywords, where the caller wants to know.
    pub(crate) report: Report,
    pub(crate) wishes: Rc<Cell<Wishes>>,
    /// Parts that nothing satisfies, with their places, for the message about an unsatisfiable schema.
    pub(crate) conflicts: Vec<(String, String)>,
    atoms: HashMap<Atom, Rc<NormalForm<'s>>>,
    /// Complements of goals, where they are written out.
    pub(crate) complements: HashMap<GoalId, Option<Rc<NormalForm<'s>>>>,
    /// Goals with complements, and goals of the same values without them.
    pub(super) shorter_goals: HashMap<GoalId, GoalId>,
    /// By goal.
    norms: Vec<Option<Rc<NormalForm<'s>>>>,
    /// Atoms that are being read: one that is met again refers to itself.
    pub(crate) open: HashSet<Atom>,
    /// Proofs that wait for a normal form which is being made.
    pub(super) waiting_proofs: u32,
    /// The cases of schemas by what they evaluate, where `unevaluated*` asks for them.
    pub(crate) cases: HashMap<NodeId, Rc<Vec<EvaluationCase<'s>>>>,
    pub(crate) evaluating: HashSet<NodeId>,
    pub(super) closings: Closings<'s>,
    pub(super) reported: HashSet<NodeId>,
    /// The atom that is read at present, for messages.
    pub(super) at: Option<Atom>,
    /// Where places are asked for.
    pub(crate) rule_origins: Option<RuleOrigins>,
}

/// Ways in which a schema would be served better.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wishes {
    /// There would be more orders of members, or fewer refusals, if no free name repeated.
    pub(crate) unique_names: bool,
    /// There would be fewer refusals if arrays of free items told of repeated ones.
    pub(crate) told_repeats: bool,
}

/// Parts of schemas that are met between two looks at the interrupt.
const BETWEEN_CHECKS: usize = 1_024;

/// Conflicts kept for the message.
const MAX_CONFLICTS: usize = 16;

impl<'s> Normalizer<'s> {
    pub(crate) fn new(
        document: Document<'s>,
        algebra: Algebra<'s>,
        options: JsonSchemaOptions,
        report: Report,
    ) -> Self {
        Self {
            document,
            algebra,
            options,
            report,
            wishes: Rc::default(),
            conflicts: Vec::new(),
            atoms: HashMap::with_capacity_and_hasher(EXPECTED_GOALS, Hashing),
            complements: HashMap::default(),
            shorter_goals: HashMap::default(),
            norms: Vec::with_capacity(EXPECTED_GOALS),
            open: HashSet::with_capacity_and_hasher(EXPECTED_GOALS / 4, Hashing),
            waiting_proofs: 0,
            cases: HashMap::default(),
            evaluating: HashSet::default(),
            closings: Closings::default(),
            reported: HashSet::default(),
            at: None,
            rule_origins: None,
        }
    }

    /// The normal form of a goal.
    pub(crate) fn norm(&mut self, goal: GoalId) -> Result<Rc<NormalForm<'s>>> {
        if let Some(Some(known)) = self.norms.get(goal.index()) {
            return Ok(Rc::clone(known));
        }
        if goal == GoalId::NEVER {
            return Ok(Rc::new(NormalForm::never()));
        }
        self.at = self.algebra.goals.atoms(goal).first().copied();
        self.check_goals()?;
        self.check_work()?;
        let mut norm = self.joined(goal)?;
        if norm.objects.iter().any(|shape| !shape.obligations.is_empty())
            && let Some(&first) = self.algebra.goals.atoms(goal).first()
        {
            norm = Rc::new(self.with_split_obligations(&norm, first)?);
        }
        if self.norms.len() <= goal.index() {
            self.norms.resize(self.algebra.goals.len(), None);
        }
        self.norms[goal.index()] = Some(Rc::clone(&norm));
        Ok(norm)
    }

    /// The conjunction of the atoms of a goal, in their order. A complement is subtracted from the set that
    /// the other atoms leave, where in their order there are too many alternatives.
    fn joined(&mut self, goal: GoalId) -> Result<Rc<NormalForm<'s>>> {
        let atoms: SmallVec<[Atom; 4]> = SmallVec::from_slice(self.algebra.goals.atoms(goal));
        let mut joined: Option<Rc<NormalForm<'s>>> = None;
        let mut complements = Vec::new();
        for &atom in &atoms {
            let part = match atom {
                // A single complement has nothing that it could be subtracted from.
                Atom::Not(inner) if atoms.len() > 1 => match self.complement_of(inner)? {
                    Some(part) => part,
                    None => {
                        complements.push(inner);
                        continue;
                    }
                },
                _ => self.atom_norm(atom)?,
            };
            let Some(norm) = &joined else {
                joined = Some(part);
                continue;
            };
            match (norm.and(&part, &mut self.algebra), atom) {
                (Ok(both), _) => joined = Some(Rc::new(both)),
                (Err(TooManyAlternatives), Atom::Not(inner)) => complements.push(inner),
                (Err(TooManyAlternatives), _) => {
                    let node = self.atom_node(atom);
                    self.too_many(node, None)?;
                }
            }
        }
        let mut joined = joined.unwrap_or_else(|| Rc::new(NormalForm::any()));
        // The set is smallest now, and so is what a complement leaves of it.
        for inner in complements {
            match self.subtract_goal(&joined, inner)? {
                Ok(norm) => joined = Rc::new(norm),
                Err(TooManyAlternatives) => {
                    let node = self.goal_node(inner);
                    self.too_many(node, Some("not"))?;
                }
            }
        }
        Ok(joined)
    }

    /// Whether there are no more goals than there may be.
    pub(crate) fn check_goals(&self) -> Result<()> {
        let limit = self.options.limits.goals;
        match self.algebra.goals.len() > limit || self.document.len() > limit {
            true => Err(self.limit_here("goals", limit)),
            false => Ok(()),
        }
    }

    pub(crate) fn check_work(&self) -> Result<()> {
        self.options.interrupt.check().map_err(|reason| Box::new(Diagnostic::interrupted(reason)))?;
        self.check_spent()?;
        if let Some((test, node)) = self.algebra.tests.undecided() {
            let name = self.algebra.tests.name(test);
            let message =
                format!("`format`: of a name or a constant it is not certain whether it obeys {name}");
            return Err(Box::new(
                Diagnostic::error("json-schema/unsupported", message)
                    .with_pointer(format!("{}/format", self.document.pointer(node)))
                    .with_hint("leave out the format, or the constant"),
            ));
        }
        Ok(())
    }

    /// Whether there is work left, without a look at the interrupt.
    pub(crate) fn check_spent(&self) -> Result<()> {
        match self.algebra.work.is_spent() {
            true => Err(self.limit_here("work", self.options.limits.work)),
            false => Ok(()),
        }
    }

    fn with_split_obligations(&mut self, norm: &NormalForm<'s>, atom: Atom) -> Result<NormalForm<'s>> {
        let mut result = NormalForm { objects: Vec::new(), ..norm.clone() };
        let budget = self.options.limits.alternatives;
        for shape in &norm.objects {
            let Algebra { goals, tests, .. } = &mut self.algebra;
            match shape.split_obligations(goals, tests, budget) {
                Some(cases) => result.objects.extend(cases),
                None => {
                    let node = self.atom_node(atom);
                    self.too_many(node, None)?;
                    result.objects.push(shape.clone());
                }
            }
        }
        Ok(result)
    }

    /// A node to blame an atom's trouble on.
    pub(crate) fn atom_node(&self, atom: Atom) -> NodeId {
        let mut atom = atom;
        loop {
            match atom {
                Atom::Schema(node) | Atom::Const(node) => return node,
                Atom::Not(goal) => match self.algebra.goals.atoms(goal).first() {
                    Some(&inner) => atom = inner,
                    None => return Document::ROOT,
                },
            }
        }
    }

    /// A node to blame a goal's trouble on.
    pub(crate) fn goal_node(&self, goal: GoalId) -> NodeId {
        let atom = self.algebra.goals.atoms(goal).first();
        atom.map_or(Document::ROOT, |&atom| self.atom_node(atom))
    }

    fn atom_norm(&mut self, atom: Atom) -> Result<Rc<NormalForm<'s>>> {
        if let Some(known) = self.atoms.get(&atom) {
            return Ok(Rc::clone(known));
        }
        let node = self.atom_node(atom);
        let norm = self.opened(atom, |this| match atom {
            Atom::Schema(node) => match this.only_reference(node)? {
                Some(target) => this.norm(target),
                None => this.schema_norm(node).map(Rc::new),
            },
            Atom::Const(node) => this.const_norm(node).map(Rc::new),
            Atom::Not(goal) => this.negation(goal, node).map(Rc::new),
        })?;
        self.atoms.insert(atom, Rc::clone(&norm));
        Ok(norm)
    }

    /// Reads what an atom stands for. Reading a schema reads those that it refers to or applies in place. The nesting of these
    /// calls is bounded here.
    pub(super) fn opened<T>(&mut self, atom: Atom, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let node = self.atom_node(atom);
        if self.open.len() >= self.options.limits.depth {
            let error = limit_error("depth", self.options.limits.depth);
            return Err(Box::new(error.with_pointer(self.document.pointer(node))));
        }
        // The schema is being read further out, and no item or member lies between: it is defined by itself.
        if !self.open.insert(atom) {
            return Err(self.refers_to_itself(node));
        }
        let read = read(self);
        self.open.remove(&atom);
        read
    }

    pub(super) fn refers_to_itself(&self, node: NodeId) -> Box<Diagnostic> {
        let message = "this schema refers to itself without a step into an item or the value of a property";
        let error = Diagnostic::error("json-schema/reference", message);
        let error = error.with_pointer(self.document.pointer(node));
        Box::new(error.with_hint("remove the reference that leads back here"))
    }

    fn negation(&mut self, goal: GoalId, node: NodeId) -> Result<NormalForm<'s>> {
        if let Some(complement_of) = self.complement_of(goal)? {
            return Ok((*complement_of).clone());
        }
        match self.subtract_goal(&NormalForm::any(), goal)? {
            Ok(norm) => Ok(norm),
            Err(TooManyAlternatives) => {
                self.too_many(node, Some("not"))?;
                Ok(NormalForm::any())
            }
        }
    }

    /// Whether a schema has a keyword.
    pub(crate) fn has_keyword(&self, node: NodeId, keyword: &str) -> bool {
        self.document.value(node).as_object().is_some_and(|members| members.contains_key(keyword))
    }

    /// Refuses a keyword, or notes in the report that it is ignored.
    pub(crate) fn unsupported(
        &mut self,
        node: NodeId,
        keyword: &str,
        reason: impl Into<String>,
        hint: &str,
    ) -> Result<()> {
        debug_assert!(
            keyword_table::find(keyword).is_some_and(|keyword| !keyword.refused.is_empty()),
            "the table of keywords does not say that `{keyword}` may be refused",
        );
        // Past the limit, what is in the way may be none.
        self.check_work()?;
        let reason = reason.into();
        // Where several schemas make the trouble together, the one to name need not have the keyword.
        let has_keyword = self.has_keyword(node, keyword);
        let at = |pointer: String| if has_keyword { format!("{pointer}/{keyword}") } else { pointer };
        match self.options.unsupported {
            Unsupported::Refuse => Err(Box::new(
                Diagnostic::error("json-schema/unsupported", format!("`{keyword}`: {reason}"))
                    .with_pointer(at(self.document.pointer(node)))
                    .with_hint(hint),
            )),
            Unsupported::Ignore => {
                self.report.push(Treatment::Ignored, || ReportEntry {
                    pointer: at(self.document.short_pointer(node)),
                    keyword: keyword.to_owned(),
                    treatment: Treatment::Ignored,
                    note: Some(shorten(&reason).into_owned()),
                });
                Ok(())
            }
        }
    }

    /// Allows as many alternatives as a schema writes down, if the caller has not asked for a smaller limit.
    /// The text bounds them, and [`MAX_WRITTEN`] bounds the work on their pairs.
    pub(crate) fn allow_written_alternatives(&mut self, count: usize) {
        if self.options.limits.alternatives >= JsonSchemaLimits::default().alternatives {
            let limits = [&mut self.options.limits, &mut self.algebra.limits];
            let count = count.min(MAX_WRITTEN);
            limits.into_iter().for_each(|limits| limits.alternatives = limits.alternatives.max(count));
        }
    }

    pub(crate) fn too_many(&mut self, node: NodeId, keyword: Option<&str>) -> Result<()> {
        // An interrupt that made proofs give up may be the reason why there are very many of them.
        self.check_work()?;
        let limit = self.options.limits.alternatives;
        let reason = format!("written out as alternatives, the combination has more than {limit} of them");
        let hint = "use fewer or smaller alternatives, or raise the limit `alternatives`";
        match keyword {
            Some(keyword) => self.unsupported(node, keyword, reason, hint),
            None => {
                let error = Diagnostic::error("json-schema/unsupported", reason).with_hint(hint);
                Err(Box::new(error.with_pointer(self.document.pointer(node))))
            }
        }
    }

    pub(crate) fn malformed(&self, node: NodeId, keyword: &str, expected: &str) -> Box<Diagnostic> {
        let pointer = match keyword {
            "" => self.document.pointer(node),
            _ => format!("{}/{keyword}", self.document.pointer(node)),
        };
        let (subject, hint) = match keyword {
            "" => ("this".to_owned(), "write such a value here"),
            _ => (format!("`{keyword}`"), "write such a value, or leave the keyword out"),
        };
        Box::new(
            Diagnostic::error("json-schema/malformed", format!("{subject} must be {expected}"))
                .with_pointer(pointer)
                .with_hint(hint),
        )
    }

    /// The goal of a sub-schema.
    pub(crate) fn subschema(
        &mut self,
        node: NodeId,
        step: PathStep<'s>,
        value: &'s Value<'s>,
    ) -> Result<GoalId> {
        match value {
            Value::Bool(true) => Ok(GoalId::ANY),
            Value::Bool(false) => Ok(GoalId::NEVER),
            Value::Object(members) if members.is_empty() => Ok(GoalId::ANY),
            Value::Object(members) => {
                let closing = self.closing_below(node, &step, value)?;
                // A whole report has an entry for every place, and so has an index of places.
                let child = match !self.report.is_whole() && self.rule_origins.is_none() {
                    true if equality::asserts_nothing(members) => return Ok(GoalId::ANY),
                    true => self.document.schema(node, step, value, members),
                    false => self.document.child(node, step, value),
                };
                let child = self.closed(child, closing);
                // One schema may have very many parts.
                if self.document.len().is_multiple_of(BETWEEN_CHECKS) {
                    self.check_work()?;
                }
                Ok(self.algebra.goals.atom(Atom::Schema(child)))
            }
            _ => {
                let child = self.document.child(node, step, value);
                Err(self.malformed(child, "", "a schema: an object, `true` or `false`"))
            }
        }
    }

    pub(crate) fn conflict(&mut self, node: NodeId, message: &str) {
        if self.conflicts.len() < MAX_CONFLICTS {
            self.conflicts.push((self.document.pointer(node), message.to_owned()));
        }
    }
}
