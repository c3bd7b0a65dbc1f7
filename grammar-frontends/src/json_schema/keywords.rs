//! From a schema to a normal form: which keyword means what.

use std::cell::Cell;
use std::rc::Rc;

use grammask_grammar_ir::Interrupted;
use grammask_grammar_ir::hash::{HashMap, HashSet, Hashing};
use smallvec::SmallVec;

use super::decimal::Decimal;
use super::document::{Document, Draft, NodeId, RefError, Step, member};
use super::goal::{Atom, GOALS, GoalId};
use super::json::{Members, Value};
use super::locate::Places;
use super::norm::{Algebra, Norm, TooManyAlternatives};
use super::number_shape::NumberShape;
use super::options::{JsonSchemaOptions, Unsupported};
use super::report::{Report, ReportEntry, Treatment};
use super::same;
use super::string_shape::StringShape;
use super::types::PLAIN_TYPES;
use super::unevaluated::{self, Case};
use super::{array_keywords, number_keywords, object_keywords, string_keywords, vocabulary};
use crate::Diagnostic;

pub(super) type Fallible<T> = Result<T, Box<Diagnostic>>;

/// Reads schemas into normal forms, each once.
pub(super) struct Normalizer<'s> {
    pub(super) document: Document<'s>,
    pub(super) algebra: Algebra<'s>,
    pub(super) options: JsonSchemaOptions,
    /// What became of the keywords, where the caller wants to know.
    pub(super) report: Option<Report>,
    /// Parts that nothing satisfies, with their places: what an unsatisfiable schema is blamed on.
    pub(super) conflicts: Vec<(String, String)>,
    atoms: HashMap<Atom, Rc<Norm<'s>>>,
    /// Complements of goals, where they are written out.
    pub(super) opposites: HashMap<GoalId, Option<Rc<Norm<'s>>>>,
    /// By goal.
    norms: Vec<Option<Rc<Norm<'s>>>>,
    /// Atoms that are being read: one that is met again refers to itself.
    pub(super) open: HashSet<Atom>,
    /// What schemas say by what they evaluate, where something asks for that.
    pub(super) cases: HashMap<NodeId, Rc<Vec<Case<'s>>>>,
    pub(super) evaluating: HashSet<NodeId>,
    reported: HashSet<NodeId>,
    /// What is read at present, for messages.
    at: Option<Atom>,
    /// The normal forms of the schemas that name a type and say nothing else.
    plain: [Option<Rc<Norm<'s>>>; PLAIN_TYPES.len()],
    /// Where places are asked for.
    pub(super) places: Option<Places>,
    /// That somebody wanted the work to end. A proof that meets it gives up and goes on; nothing else does.
    interrupted: Cell<Option<Interrupted>>,
}

/// Conflicts kept for the message.
const MAX_CONFLICTS: usize = 16;

impl<'s> Normalizer<'s> {
    pub(super) fn new(
        document: Document<'s>,
        algebra: Algebra<'s>,
        options: JsonSchemaOptions,
        report: Option<Report>,
    ) -> Self {
        Self {
            document,
            algebra,
            options,
            report,
            conflicts: Vec::new(),
            atoms: HashMap::with_capacity_and_hasher(GOALS, Hashing),
            opposites: HashMap::default(),
            norms: Vec::with_capacity(GOALS),
            open: HashSet::with_capacity_and_hasher(GOALS / 4, Hashing),
            cases: HashMap::default(),
            evaluating: HashSet::default(),
            reported: HashSet::default(),
            at: None,
            plain: [const { None }; PLAIN_TYPES.len()],
            places: None,
            interrupted: Cell::new(None),
        }
    }

    /// The normal form of a goal.
    pub(super) fn norm(&mut self, goal: GoalId) -> Fallible<Rc<Norm<'s>>> {
        if let Some(Some(known)) = self.norms.get(goal.index()) {
            return Ok(Rc::clone(known));
        }
        if goal == GoalId::NEVER {
            return Ok(Rc::new(Norm::never()));
        }
        self.at = self.algebra.goals.atoms(goal).first().copied();
        let limit = self.options.limits.goals;
        if self.algebra.goals.len() > limit || self.document.len() > limit {
            return Err(self.limit_here("goals", limit));
        }
        self.check_work()?;
        let mut norm = self.joined(goal)?;
        if norm.objects.iter().any(|shape| !shape.owed.is_empty())
            && let Some(&first) = self.algebra.goals.atoms(goal).first()
        {
            norm = Rc::new(self.with_owed_split(&norm, first)?);
        }
        if self.norms.len() <= goal.index() {
            self.norms.resize(self.algebra.goals.len(), None);
        }
        self.norms[goal.index()] = Some(Rc::clone(&norm));
        Ok(norm)
    }

    /// The conjunction of the atoms of a goal, in their order. What is the opposite of something is taken away from what
    /// the other atoms leave, where in their order there are too many alternatives.
    fn joined(&mut self, goal: GoalId) -> Fallible<Rc<Norm<'s>>> {
        let atoms: SmallVec<[Atom; 4]> = SmallVec::from_slice(self.algebra.goals.atoms(goal));
        let mut joined: Option<Rc<Norm<'s>>> = None;
        let mut opposites = Vec::new();
        for &atom in &atoms {
            let part = match atom {
                Atom::Not(inner) if atoms.len() > 1 => match self.opposite(inner)? {
                    Some(part) => part,
                    None => {
                        opposites.push(inner);
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
                (Err(TooManyAlternatives), Atom::Not(inner)) => opposites.push(inner),
                (Err(TooManyAlternatives), _) => {
                    let node = self.atom_node(atom);
                    self.too_many(node, None)?;
                }
            }
        }
        let mut joined = joined.unwrap_or_else(|| Rc::new(Norm::any()));
        for inner in opposites {
            match self.without(&joined, inner)? {
                Ok(norm) => joined = Rc::new(norm),
                Err(TooManyAlternatives) => {
                    let node = self.goal_node(inner);
                    self.too_many(node, Some("not"))?;
                }
            }
        }
        Ok(joined)
    }

    pub(super) fn check_work(&self) -> Fallible<()> {
        if self.interrupted.get().is_none() {
            self.interrupted.set(self.options.interrupt.check().err());
        }
        if let Some(reason) = self.interrupted.get() {
            return Err(Box::new(Diagnostic::interrupted(reason)));
        }
        let limit = self.options.limits.work;
        if self.algebra.work > limit as u64 {
            return Err(self.limit_here("work", limit));
        }
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

    /// A limit that was reached while a schema was read; the keyword that combines schemas there is the likeliest to
    /// have taken the work.
    fn limit_here(&self, name: &str, limit: usize) -> Box<Diagnostic> {
        let node = self.at.map_or(Document::ROOT, |atom| self.atom_node(atom));
        let members = self.document.value(node).as_object();
        let combines = |members: &Members<'_>| {
            COMBINATORS.iter().map(|&(keyword, ..)| keyword).find(|keyword| members.contains_key(keyword))
        };
        let keyword = members.and_then(combines).filter(|_| name == "work");
        let pointer = self.document.pointer(node);
        let pointer = keyword.map_or(pointer.clone(), |keyword| format!("{pointer}/{keyword}"));
        Box::new(limit_error(name, limit).with_pointer(pointer))
    }

    fn with_owed_split(&mut self, norm: &Norm<'s>, atom: Atom) -> Fallible<Norm<'s>> {
        let mut result = Norm { objects: Vec::new(), ..norm.clone() };
        let budget = self.options.limits.alternatives;
        for shape in &norm.objects {
            let Algebra { goals, tests, .. } = &mut self.algebra;
            match shape.split_owed(goals, tests, budget) {
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
    pub(super) fn atom_node(&self, atom: Atom) -> NodeId {
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
    pub(super) fn goal_node(&self, goal: GoalId) -> NodeId {
        let atom = self.algebra.goals.atoms(goal).first();
        atom.map_or(Document::ROOT, |&atom| self.atom_node(atom))
    }

    fn atom_norm(&mut self, atom: Atom) -> Fallible<Rc<Norm<'s>>> {
        if let Some(known) = self.atoms.get(&atom) {
            return Ok(Rc::clone(known));
        }
        let node = self.atom_node(atom);
        if self.open.len() >= self.options.limits.depth {
            let error = limit_error("depth", self.options.limits.depth);
            return Err(Box::new(error.with_pointer(self.document.pointer(node))));
        }
        let plain = self.plain_type(atom);
        if let Some(known) = plain.and_then(|plain| self.plain[plain].as_ref()) {
            return Ok(Rc::clone(known));
        }
        if !self.open.insert(atom) {
            let message = "this schema refers to itself without a step into an item or a property, so it says \
                           nothing";
            return Err(Box::new(
                Diagnostic::error("json-schema/reference", message)
                    .with_pointer(self.document.pointer(node))
                    .with_hint("remove the reference that leads back here"),
            ));
        }
        let norm = match atom {
            Atom::Schema(node) => self.schema_norm(node),
            Atom::Const(node) => self.const_norm(node),
            Atom::Not(goal) => self.negation(goal, node),
        };
        self.open.remove(&atom);
        let norm = Rc::new(norm?);
        self.atoms.insert(atom, Rc::clone(&norm));
        if let Some(plain) = plain {
            self.plain[plain] = Some(Rc::clone(&norm));
        }
        Ok(norm)
    }

    fn negation(&mut self, goal: GoalId, node: NodeId) -> Fallible<Norm<'s>> {
        if let Some(opposite) = self.opposite(goal)? {
            return Ok((*opposite).clone());
        }
        match self.without(&Norm::any(), goal)? {
            Ok(norm) => Ok(norm),
            Err(TooManyAlternatives) => {
                self.too_many(node, Some("not"))?;
                Ok(Norm::any())
            }
        }
    }

    /// Refuses, or says in the report that it did not.
    pub(super) fn unsupported(
        &mut self,
        node: NodeId,
        keyword: &str,
        reason: impl Into<String>,
        hint: &str,
    ) -> Fallible<()> {
        debug_assert!(
            vocabulary::find(keyword).is_some_and(|keyword| !keyword.refused.is_empty()),
            "the table of keywords does not say that `{keyword}` may be refused",
        );
        let reason = reason.into();
        let mut pointer = self.document.pointer(node);
        // Where several schemas make the trouble together, the one to name need not have the keyword.
        if self.document.value(node).as_object().is_some_and(|members| members.contains_key(keyword)) {
            pointer = format!("{pointer}/{keyword}");
        }
        match self.options.unsupported {
            Unsupported::Refuse => Err(Box::new(
                Diagnostic::error("json-schema/unsupported", format!("`{keyword}`: {reason}"))
                    .with_pointer(pointer)
                    .with_hint(hint),
            )),
            Unsupported::Ignore => {
                if let Some(report) = &mut self.report {
                    let keyword = keyword.to_owned();
                    let note = Some(reason);
                    report.push(ReportEntry { pointer, keyword, treatment: Treatment::Ignored, note });
                }
                Ok(())
            }
        }
    }

    pub(super) fn too_many(&mut self, node: NodeId, keyword: Option<&str>) -> Fallible<()> {
        // What was given up on for an interrupt may be why there are so many.
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

    pub(super) fn malformed(&self, node: NodeId, keyword: &str, expected: &str) -> Box<Diagnostic> {
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
    pub(super) fn subschema(
        &mut self,
        node: NodeId,
        step: Step<'s>,
        value: &'s Value<'s>,
    ) -> Fallible<GoalId> {
        match value {
            Value::Bool(true) => Ok(GoalId::ANY),
            Value::Bool(false) => Ok(GoalId::NEVER),
            Value::Object(members) if members.is_empty() => Ok(GoalId::ANY),
            Value::Object(members) => {
                // A report has an entry for every place, and so has an index of places.
                let child = match self.report.is_none() && self.places.is_none() {
                    true if same::says_nothing(members) => return Ok(GoalId::ANY),
                    true => self.document.schema(node, step, value, members),
                    false => self.document.child(node, step, value),
                };
                Ok(self.algebra.goals.atom(Atom::Schema(child)))
            }
            _ => {
                let child = self.document.child(node, step, value);
                Err(self.malformed(child, "", "a schema: an object, `true` or `false`"))
            }
        }
    }

    fn schema_norm(&mut self, node: NodeId) -> Fallible<Norm<'s>> {
        let members = match self.document.value(node) {
            Value::Bool(true) => return Ok(Norm::any()),
            Value::Bool(false) => return Ok(Norm::never()),
            Value::Object(members) => members,
            _ => return Err(self.malformed(node, "", "a schema: an object, `true` or `false`")),
        };
        self.report_keywords(node, members);
        if let Some(reference) = member(members, "$ref")
            && self.document.draft(node).ref_hides_siblings()
        {
            let goal = self.reference(node, "$ref", reference)?;
            return Ok((*self.norm(goal)?).clone());
        }
        if unevaluated::is_in(members, self.document.draft(node)) {
            return unevaluated::schema_norm(self, node);
        }
        let mut norm = self.typed_keywords(node, members)?;
        for &(keyword, since, read) in COMBINATORS {
            let Some(value) = member(members, keyword) else { continue };
            if self.document.draft(node) < since {
                continue;
            }
            if norm.is_never() {
                break;
            }
            if keyword == "oneOf" {
                norm = self.one_of(node, value, &norm)?;
            } else if keyword == "not" {
                let goal = self.subschema(node, Step::Keyword("not"), value)?;
                match self.without(&norm, goal)? {
                    Ok(left) => norm = left,
                    Err(TooManyAlternatives) => self.too_many(node, Some(keyword))?,
                }
            } else {
                let part = read(self, node, members, value)?;
                match self.conjoin(&norm, &part) {
                    Ok(both) => norm = both,
                    Err(TooManyAlternatives) => self.too_many(node, Some(keyword))?,
                }
            }
            if norm.is_never() {
                self.conflict(node, &format!("nothing satisfies `{keyword}` and the keywords beside it"));
            }
        }
        Ok(norm)
    }

    pub(super) fn conflict(&mut self, node: NodeId, message: &str) {
        if self.conflicts.len() < MAX_CONFLICTS {
            self.conflicts.push((self.document.pointer(node), message.to_owned()));
        }
    }

    /// No value of one type satisfies the schema's keywords on that type.
    fn conflict_of(&mut self, node: NodeId, members: &Members<'_>, kind: &str) {
        let keywords = vocabulary::on_type(members, kind);
        self.conflict(node, &format!("no {kind} satisfies {keywords} together"));
    }

    /// The normal form of `type` and of all keywords that speak about one type.
    pub(super) fn typed_keywords(&mut self, node: NodeId, members: &'s Members<'s>) -> Fallible<Norm<'s>> {
        let mut norm = match member(members, "type") {
            Some(value) => self.types(node, value)?,
            None => Norm::any(),
        };
        if !norm.numbers.is_empty() {
            let shape = number_keywords::read(self, node, members)?;
            let numbers = norm.numbers.iter().map(|kind| kind.and(&shape));
            let digits = self.options.limits.digits;
            norm.numbers = numbers.filter(|shape| !shape.is_empty(digits)).collect();
            if norm.numbers.is_empty() {
                self.conflict_of(node, members, "number");
            }
        }
        if !norm.strings.is_empty() {
            let shape = string_keywords::read(self, node, members)?;
            norm.strings = if shape.is_empty(&self.algebra.tests) { Vec::new() } else { vec![shape] };
            if norm.strings.is_empty() {
                self.conflict_of(node, members, "string");
            }
        }
        if !norm.arrays.is_empty() {
            let shape = array_keywords::read(self, node, members)?;
            norm.arrays = if shape.is_empty() { Vec::new() } else { vec![shape] };
            if norm.arrays.is_empty() {
                self.conflict_of(node, members, "array");
            }
        }
        if !norm.objects.is_empty() {
            let shape = object_keywords::read(self, node, members)?;
            norm.objects = if shape.is_empty() { Vec::new() } else { vec![shape] };
            if norm.objects.is_empty() {
                self.conflict_of(node, members, "object");
            }
        }
        Ok(norm)
    }

    /// What a reference means.
    pub(super) fn reference(&mut self, node: NodeId, keyword: &str, value: &Value<'_>) -> Fallible<GoalId> {
        let Some(reference) = value.as_str() else {
            return Err(self.malformed(node, keyword, "a string"));
        };
        let target = match keyword {
            "$ref" => self.document.resolve(node, reference),
            _ => self.document.resolve_dynamic(node, keyword, reference),
        };
        match target {
            Ok(target) => Ok(match self.document.value(target) {
                Value::Bool(true) => GoalId::ANY,
                Value::Bool(false) => GoalId::NEVER,
                _ => self.algebra.goals.atom(Atom::Schema(target)),
            }),
            Err(error) => {
                let (message, hint) = match error {
                    RefError::Missing => (
                        format!("`{reference}` leads to nothing in this document"),
                        "correct the reference or add what it names",
                    ),
                    RefError::Remote => (
                        format!("`{reference}` leads to another document, and no retriever was given"),
                        "copy the schema under `$defs` and refer to it there, or give a retriever",
                    ),
                    RefError::Retrieval(reason) => (
                        format!("`{reference}` leads to another document, and the retriever says: {reason}"),
                        "correct the reference, or give the document",
                    ),
                    RefError::TooMany(limit) => (
                        format!("references lead to more than {limit} other documents"),
                        "join documents, or raise the limit `documents`",
                    ),
                };
                Err(Box::new(
                    Diagnostic::error("json-schema/reference", message)
                        .with_pointer(format!("{}/{keyword}", self.document.pointer(node)))
                        .with_hint(hint),
                ))
            }
        }
    }

    fn const_norm(&mut self, node: NodeId) -> Fallible<Norm<'s>> {
        let mut norm = Norm::never();
        match self.document.value(node) {
            Value::Null => norm.null = true,
            Value::Bool(value) => norm.booleans[usize::from(*value)] = true,
            Value::Number(number) => {
                let value = Decimal::parse(number);
                let value = value.ok_or_else(|| self.malformed(node, "", "a number of a sensible size"))?;
                norm.numbers.push(NumberShape::finite(vec![value]));
            }
            Value::String(text) => norm.strings.push(StringShape::finite(vec![text])),
            Value::Array(items) => norm.arrays.push(array_keywords::constant(self, node, items)),
            Value::Object(members) => norm.objects.push(object_keywords::constant(self, node, members)),
        }
        Ok(norm)
    }

    fn union(&mut self, node: NodeId, keyword: &'static str, parts: &[GoalId]) -> Fallible<Norm<'s>> {
        let mut norm = Norm::never();
        for &part in parts {
            let part = self.norm(part)?;
            match norm.or(&part, &mut self.algebra) {
                Ok(()) => {}
                Err(TooManyAlternatives) => {
                    self.too_many(node, Some(keyword))?;
                    return Ok(Norm::any());
                }
            }
        }
        Ok(norm)
    }

    pub(super) fn branches(
        &mut self,
        node: NodeId,
        keyword: &'static str,
        value: &'s Value<'s>,
    ) -> Fallible<Vec<GoalId>> {
        let Value::Array(items) = value else {
            return Err(self.malformed(node, keyword, "a list of schemas"));
        };
        let steps = items.iter().enumerate();
        steps.map(|(index, item)| self.subschema(node, Step::Index(keyword, index), item)).collect()
    }

    pub(super) fn report_keywords(&mut self, node: NodeId, members: &Members<'_>) {
        let Some(report) = &mut self.report else { return };
        if !self.reported.insert(self.document.place(node)) {
            return;
        }
        let base = self.document.pointer(node);
        let draft = self.document.draft(node);
        let hidden = draft.ref_hides_siblings() && member(members, "$ref").is_some();
        for keyword in members.keys() {
            let (treatment, note) = if hidden && keyword != "$ref" {
                (Treatment::Annotation, Some("hidden by `$ref` in this draft"))
            } else {
                match vocabulary::classify(keyword, draft) {
                    vocabulary::Class::Assertion => (Treatment::Enforced, None),
                    vocabulary::Class::Annotation => (Treatment::Annotation, None),
                    vocabulary::Class::OtherDraft => {
                        (Treatment::Annotation, Some("not a keyword of this draft"))
                    }
                    vocabulary::Class::Unknown => {
                        (Treatment::Annotation, Some("not a keyword of JSON Schema"))
                    }
                    // These report themselves.
                    vocabulary::Class::Special => continue,
                }
            };
            report.push(ReportEntry {
                pointer: format!("{base}/{}", super::document::escape(keyword)),
                keyword: keyword.to_owned(),
                treatment,
                note: note.map(str::to_owned),
            });
        }
    }
}

type Reader =
    for<'n, 's> fn(&'n mut Normalizer<'s>, NodeId, &'s Members<'s>, &'s Value<'s>) -> Fallible<Norm<'s>>;

/// Keywords that apply to every type, in the order in which they are conjoined: what narrows most comes
/// first. With each the first draft that has it.
pub(super) const COMBINATORS: &[(&str, Draft, Reader)] = &[
    ("enum", Draft::Draft4, enumeration),
    ("const", Draft::Draft6, constant),
    ("$ref", Draft::Draft4, referenced),
    ("allOf", Draft::Draft4, all_of),
    ("anyOf", Draft::Draft4, any_of),
    ("oneOf", Draft::Draft4, one_of),
    ("not", Draft::Draft4, not),
    ("if", Draft::Draft7, conditional),
    ("dependencies", Draft::Draft4, object_keywords::dependencies),
    ("dependentRequired", Draft::Draft2019, object_keywords::dependent_required),
    ("dependentSchemas", Draft::Draft2019, object_keywords::dependent_schemas),
    ("$dynamicRef", Draft::Draft2020, dynamic_reference),
    ("$recursiveRef", Draft::Draft2019, recursive_reference),
];

fn enumeration<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let Value::Array(items) = value else {
        return Err(n.malformed(node, "enum", "a list of values"));
    };
    let (mut norm, mut numbers, mut strings) = (Norm::never(), Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match item {
            Value::String(text) => strings.push(&**text),
            Value::Number(number) => {
                let value = Decimal::parse(number);
                numbers.push(value.ok_or_else(|| n.malformed(node, "enum", "numbers of a sensible size"))?);
            }
            _ => {
                let child = n.document.child(node, Step::Index("enum", index), item);
                let part = n.const_norm(child)?;
                if norm.or(&part, &mut n.algebra).is_err() {
                    n.too_many(node, Some("enum"))?;
                    return Ok(Norm::any());
                }
            }
        }
    }
    if !numbers.is_empty() {
        norm.numbers.push(NumberShape::finite(numbers));
    }
    if !strings.is_empty() {
        norm.strings.push(StringShape::finite(strings));
    }
    Ok(norm)
}

fn constant<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let child = n.document.child(node, Step::Keyword("const"), value);
    n.const_norm(child)
}

fn referenced<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let goal = n.reference(node, "$ref", value)?;
    Ok((*n.norm(goal)?).clone())
}

fn all_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let mut norm = Norm::any();
    for branch in n.branches(node, "allOf", value)? {
        let part = n.norm(branch)?;
        match n.conjoin(&norm, &part) {
            Ok(both) => norm = both,
            Err(TooManyAlternatives) => n.too_many(node, Some("allOf"))?,
        }
    }
    Ok(norm)
}

fn any_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let branches = n.branches(node, "anyOf", value)?;
    n.union(node, "anyOf", &branches)
}

/// Without a context; [`schema_norm`](Normalizer::schema_norm) gives one.
fn one_of<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    n.one_of(node, value, &Norm::any())
}

fn not<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let goal = n.subschema(node, Step::Keyword("not"), value)?;
    let goal = n.algebra.goals.not(goal);
    Ok((*n.norm(goal)?).clone())
}

fn conditional<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let mut branch = |keyword: &'static str| match member(members, keyword) {
        Some(value) => n.subschema(node, Step::Keyword(keyword), value),
        None => Ok(GoalId::ANY),
    };
    let (then, otherwise) = (branch("then")?, branch("else")?);
    if (then, otherwise) == (GoalId::ANY, GoalId::ANY) {
        return Ok(Norm::any());
    }
    let condition = n.subschema(node, Step::Keyword("if"), value)?;
    let goals = &mut n.algebra.goals;
    let fails = goals.not(condition);
    let parts = [goals.and(condition, then), goals.and(fails, otherwise)];
    n.union(node, "if", &parts)
}

fn dynamic_reference<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    let goal = n.reference(node, "$dynamicRef", value)?;
    Ok((*n.norm(goal)?).clone())
}

fn recursive_reference<'s>(
    n: &mut Normalizer<'s>,
    node: NodeId,
    _members: &'s Members<'s>,
    value: &'s Value<'s>,
) -> Fallible<Norm<'s>> {
    // Draft 2020-12 has `$dynamicRef` in its place.
    if n.document.draft(node) != Draft::Draft2019 {
        return Ok(Norm::any());
    }
    let goal = n.reference(node, "$recursiveRef", value)?;
    Ok((*n.norm(goal)?).clone())
}

pub(super) fn limit_error(name: &str, limit: usize) -> Diagnostic {
    Diagnostic::error("json-schema/limit", format!("the schema needs more than {limit} `{name}`"))
        .with_hint(format!("make it smaller or raise the limit `{name}`"))
}
