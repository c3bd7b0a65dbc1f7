//! From normal forms to rules.
//!
//! Every goal, array shape and object shape that the root reaches gets one rule, made when it is first
//! referred to and given its body later, from a list of tasks: depth of nesting and recursion cost nothing.
//! Equal shapes share a rule.

use std::rc::Rc;

use grammask_grammar_ir::hash::{HashMap, Hashing};
use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder, GrammarError, RuleId, analysis};
use smallvec::SmallVec;

use super::array_shape::ArrayShape;
use super::comparing::{Comparing, Comparison};
use super::document::{Document, NodeId};
use super::goal::{Atom, GOALS, GoalId};
use super::keywords::{Fallible, Normalizer, limit_error};
use super::markup::Markup;
use super::norm::Norm;
use super::notation::Notation;
use super::object_shape::ObjectShape;
use super::options::Whitespace;
use super::pen::Pen;
use super::punctuation::{self, Punctuation};
use super::string_shape::StringShape;
use super::text_tests::{Side, TestId};
use crate::Diagnostic;

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    /// As JSON.
    Json,
    /// Members between marks.
    Marked(&'static Markup),
    /// Arguments in another notation.
    Noted(&'static Notation),
}

pub(super) enum Task<'s> {
    MarkedArray(RuleId, ArrayShape, NodeId, &'static Markup),
    MarkedObject(RuleId, ObjectShape<'s>, NodeId, &'static Markup),
    Value(RuleId, Rc<Norm<'s>>, NodeId),
    Array(RuleId, Rc<ArrayShape>, NodeId),
    Object(RuleId, Rc<ObjectShape<'s>>, NodeId),
}

impl Task<'_> {
    fn rule(&self) -> RuleId {
        let (Self::MarkedArray(rule, ..)
        | Self::MarkedObject(rule, ..)
        | Self::Value(rule, ..)
        | Self::Array(rule, ..)
        | Self::Object(rule, ..)) = self;
        *rule
    }

    fn node(&self) -> NodeId {
        let (Self::MarkedArray(_, _, node, _)
        | Self::MarkedObject(_, _, node, _)
        | Self::Value(_, _, node)
        | Self::Array(_, _, node)
        | Self::Object(_, _, node)) = self;
        *node
    }
}

/// What values share that stand at the same depth. Where lines are not indented, all do.
struct Level<'s> {
    values: HashMap<GoalId, Option<ExprId>>,
    norms: HashMap<Rc<Norm<'s>>, ExprId>,
    arrays: HashMap<Rc<ArrayShape>, RuleId>,
    objects: HashMap<Rc<ObjectShape<'s>>, RuleId>,
}

impl Level<'_> {
    /// A level with room for what a schema of the median size has: keys are large, and to move them is to hash them.
    fn new() -> Self {
        Self {
            values: HashMap::with_capacity_and_hasher(GOALS, Hashing),
            norms: HashMap::with_capacity_and_hasher(GOALS, Hashing),
            arrays: HashMap::with_capacity_and_hasher(GOALS / 4, Hashing),
            objects: HashMap::with_capacity_and_hasher(GOALS / 4, Hashing),
        }
    }
}

/// What is shared by the whole grammar.
pub(super) struct Lowering<'s> {
    pub(super) normalizer: Box<Normalizer<'s>>,
    pub(super) builder: GrammarBuilder,
    /// How values are spelled, where that is not JSON.
    pub(super) notation: Option<&'static Notation>,
    /// The texts that a string may be, as it is written, where some are excluded.
    without: Option<ExprId>,
    /// That of the array or object that is being written.
    pub(super) punctuation: Punctuation,
    /// By depth; one where lines are not indented.
    punctuations: Vec<Punctuation>,
    levels: Vec<Level<'s>>,
    /// At which level a value is written.
    depth: usize,
    pub(super) strings: HashMap<Vec<StringShape<'s>>, Option<ExprId>>,
    pub(super) patterns: HashMap<(TestId, Side), ExprId>,
    pub(super) shared: HashMap<&'static str, RuleId>,
    /// Texts with the escapes that the caller wants, where these are not all.
    pub(super) spelled: HashMap<ExprId, ExprId>,
    /// Arrays and objects whose items and members stand between marks.
    pub(super) marked_arrays: HashMap<ArrayShape, RuleId>,
    pub(super) marked_objects: HashMap<ObjectShape<'s>, RuleId>,
    /// With the level of each.
    tasks: Vec<(usize, Task<'s>)>,
    pub(super) comparing: Comparing,
}

/// Expressions of a schema of about the median size.
const EXPRESSIONS: usize = 1 << 10;

/// The grammar of the root schema, and the normalizer for its report.
pub(super) fn lower<'s>(
    normalizer: Box<Normalizer<'s>>,
    root: GoalId,
    (written, comparison): (Written, Comparison),
    excludes: &[Box<str>],
) -> Fallible<(Grammar, Box<Normalizer<'s>>)> {
    let mut builder = GrammarBuilder::with_capacity(EXPRESSIONS);
    let root_rule = builder.declare("root").map_err(grammar_error)?;
    let whitespace = &normalizer.options.whitespace;
    let (arguments, punctuations) = match written {
        Written::Noted(notation) => {
            let (arguments, values) = punctuation::noted(&mut builder, whitespace, notation)?;
            (arguments, vec![values])
        }
        Written::Json | Written::Marked(_) => {
            let punctuations = punctuation::of(&mut builder, whitespace)?;
            (punctuations[0], punctuations)
        }
    };
    let without = (!excludes.is_empty()).then(|| {
        let any = builder.any_char();
        let around = builder.repeat(any, 0, None);
        let excluded: Vec<ExprId> = excludes.iter().map(|text| builder.literal(text)).collect();
        let excluded = builder.choice(excluded);
        let holding = builder.sequence([around, excluded, around]);
        builder.complement(holding)
    });
    let mut lowering = Lowering {
        normalizer,
        builder,
        without,
        notation: match written {
            Written::Noted(notation) => Some(notation),
            Written::Json | Written::Marked(_) => None,
        },
        punctuation: punctuations[0],
        levels: punctuations.iter().map(|_| Level::new()).collect(),
        punctuations,
        depth: 0,
        strings: HashMap::with_capacity_and_hasher(GOALS / 4, Hashing),
        patterns: HashMap::default(),
        shared: HashMap::with_capacity_and_hasher(GOALS / 4, Hashing),
        spelled: HashMap::default(),
        marked_arrays: HashMap::default(),
        marked_objects: HashMap::default(),
        tasks: Vec::new(),
        comparing: Comparing::new(comparison, written),
    };
    let body = match written {
        Written::Json => lowering.value(root)?,
        Written::Marked(markup) => lowering.marked_root(root, markup)?,
        Written::Noted(_) => lowering.noted_root(root, arguments)?,
    };
    lowering.normalizer.check_work()?;
    let Some(body) = body else { return Err(unsatisfiable(&lowering.normalizer)) };
    lowering.builder.define(root_rule, body).map_err(grammar_error)?;
    let limit = lowering.normalizer.options.limits.expressions;
    while let Some((depth, task)) = lowering.tasks.pop() {
        let node = task.node();
        lowering.run(depth, task)?;
        let last = lowering.builder.empty();
        if last.index() > limit {
            let error = limit_error("expressions", limit);
            return Err(Box::new(error.with_pointer(lowering.normalizer.document.pointer(node))));
        }
    }
    lowering.refuse_unclear_comparisons()?;
    let Lowering { normalizer, builder, .. } = lowering;
    normalizer.check_work()?;
    let grammar = builder.finish(root_rule).map_err(grammar_error)?;
    if !derives_something(&grammar) {
        return Err(unsatisfiable(&normalizer));
    }
    Ok((grammar, normalizer))
}

impl<'s> Lowering<'s> {
    /// The expression of a goal; `None` where nothing satisfies it.
    pub(super) fn value(&mut self, goal: GoalId) -> Fallible<Option<ExprId>> {
        if let Some(&known) = self.levels[self.depth].values.get(&goal) {
            return Ok(known);
        }
        let norm = self.normalizer.norm(goal)?;
        let expr = self.norm_value(goal, &norm)?;
        self.levels[self.depth].values.insert(goal, expr);
        Ok(expr)
    }

    pub(super) fn norm_value(&mut self, goal: GoalId, norm: &Rc<Norm<'s>>) -> Fallible<Option<ExprId>> {
        if norm.is_never() {
            return Ok(None);
        }
        if let Some(&known) = self.levels[self.depth].norms.get(norm) {
            return Ok(Some(known));
        }
        let node = self.blame(goal);
        let expr = if norm.is_any() {
            let rule = self.builder.declare_fresh("json_value").map_err(grammar_error)?;
            self.builder.set_common(rule);
            self.later(Task::Value(rule, Rc::clone(norm), node));
            self.builder.rule(rule)
        } else {
            let scalars = usize::from(norm.null) + usize::from(norm.booleans != [false, false]);
            let kinds = scalars
                + usize::from(!norm.numbers.is_empty())
                + usize::from(!norm.strings.is_empty())
                + norm.arrays.len()
                + norm.objects.len();
            if kinds == 1 {
                match self.alternatives(norm, node)?.first() {
                    Some(&only) => only,
                    None => return Ok(None),
                }
            } else {
                let rule = self.builder.declare_fresh("value").map_err(grammar_error)?;
                self.later(Task::Value(rule, Rc::clone(norm), node));
                self.builder.rule(rule)
            }
        };
        self.levels[self.depth].norms.insert(Rc::clone(norm), expr);
        Ok(Some(expr))
    }

    /// A string or name as it is written, without what is excluded.
    pub(super) fn kept(&mut self, text: ExprId) -> ExprId {
        match self.without {
            Some(without) => self.builder.intersection([text, without]),
            None => text,
        }
    }

    pub(super) fn excludes_texts(&self) -> bool {
        self.without.is_some()
    }

    /// The schema to name when a goal makes trouble.
    pub(super) fn blame(&self, goal: GoalId) -> NodeId {
        let atoms = self.normalizer.algebra.goals.atoms(goal);
        let atom = atoms.iter().find(|atom| matches!(atom, Atom::Schema(_))).or(atoms.first());
        atom.map_or(Document::ROOT, |&atom| self.normalizer.atom_node(atom))
    }

    /// A rule whose body is written later, at this depth.
    pub(super) fn later(&mut self, task: Task<'s>) {
        if let Some(places) = &mut self.normalizer.places {
            places.rule(task.rule(), task.node());
        }
        self.tasks.push((self.depth, task));
    }

    fn is_indented(&self) -> bool {
        matches!(self.normalizer.options.whitespace, Whitespace::Indented { .. })
    }

    /// Whether arrays and objects may stand at this depth: the last level has scalars only.
    fn may_nest(&self) -> bool {
        !self.is_indented() || self.depth + 1 < self.levels.len()
    }

    fn run(&mut self, depth: usize, task: Task<'s>) -> Fallible<()> {
        let is_nested = self.is_indented() && matches!(task, Task::Array(..) | Task::Object(..));
        self.punctuation = self.punctuations[depth];
        self.depth = depth + usize::from(is_nested);
        let (rule, body) = match task {
            Task::Value(rule, norm, node) => {
                let alternatives = self.alternatives(&norm, node)?;
                (rule, Some(self.builder.choice(alternatives)))
            }
            Task::MarkedArray(rule, shape, node, markup) => (rule, self.marked_array(&shape, node, markup)?),
            Task::MarkedObject(rule, shape, node, markup) => {
                (rule, self.marked_object(&shape, node, markup)?)
            }
            Task::Array(rule, shape, node) => {
                if !shape.owed.is_empty() {
                    self.comparing.holds_several(rule);
                }
                (rule, self.array(&shape, node)?)
            }
            Task::Object(rule, shape, node) => {
                if !shape.owed.is_empty() {
                    self.comparing.holds_several(rule);
                }
                (rule, self.object(&shape, node)?)
            }
        };
        let body = match body {
            Some(body) => body,
            None => self.builder.never(),
        };
        self.builder.define(rule, body).map_err(grammar_error)
    }

    /// One expression for each kind of value.
    fn alternatives(&mut self, norm: &Norm<'s>, node: NodeId) -> Fallible<SmallVec<[ExprId; 4]>> {
        let mut alternatives = SmallVec::new();
        let words = [("null", norm.null), ("false", norm.booleans[0]), ("true", norm.booleans[1])];
        let words: SmallVec<[ExprId; 3]> =
            words.into_iter().filter(|(_, allowed)| *allowed).map(|(word, _)| self.word(word)).collect();
        if !words.is_empty() {
            alternatives.push(self.builder.choice(words));
        }
        alternatives.extend(self.numbers(&norm.numbers, node)?);
        alternatives.extend(self.string_value(&norm.strings, node)?);
        if !self.may_nest() {
            return Ok(alternatives);
        }
        for shape in &norm.arrays {
            let rule = self.array_rule(shape, node)?;
            alternatives.push(self.builder.rule(rule));
            if norm.arrays.len() > 1 {
                self.comparing.stands_beside(rule);
            }
        }
        for shape in &norm.objects {
            let rule = self.object_rule(shape, node)?;
            alternatives.push(self.builder.rule(rule));
            if norm.objects.len() > 1 {
                self.comparing.stands_beside(rule);
            }
        }
        Ok(alternatives)
    }

    fn array_rule(&mut self, shape: &ArrayShape, node: NodeId) -> Fallible<RuleId> {
        if let Some(&known) = self.levels[self.depth].arrays.get(shape) {
            return Ok(known);
        }
        let rule = self.builder.declare_fresh("array").map_err(grammar_error)?;
        let shape = Rc::new(shape.clone());
        self.levels[self.depth].arrays.insert(Rc::clone(&shape), rule);
        self.later(Task::Array(rule, shape, node));
        Ok(rule)
    }

    fn object_rule(&mut self, shape: &ObjectShape<'s>, node: NodeId) -> Fallible<RuleId> {
        if let Some(&known) = self.levels[self.depth].objects.get(shape) {
            return Ok(known);
        }
        let rule = self.builder.declare_fresh("object").map_err(grammar_error)?;
        let shape = Rc::new(shape.clone());
        self.levels[self.depth].objects.insert(Rc::clone(&shape), rule);
        self.later(Task::Object(rule, shape, node));
        Ok(rule)
    }

    pub(super) fn array(&mut self, shape: &ArrayShape, node: NodeId) -> Fallible<Option<ExprId>> {
        if let Some(body) = self.unique_array(shape, node)? {
            return Ok(body);
        }
        let compared = self.compared_items(shape)?;
        if !shape.owed.is_empty() {
            return self.counted_array(shape, node, compared);
        }
        let mut max = shape.max.unwrap_or(u64::MAX);
        let mut prefix = Vec::with_capacity(shape.prefix.len());
        for (index, &goal) in shape.prefix.iter().enumerate() {
            match self.value(goal)? {
                Some(item) => prefix.push(item),
                None => {
                    max = max.min(index as u64);
                    break;
                }
            }
        }
        let mut rest = None;
        if max > prefix.len() as u64 {
            rest = self.value(shape.rest)?;
            if rest.is_none() {
                max = max.min(prefix.len() as u64);
            }
        }
        prefix.truncate(usize::try_from(max).unwrap_or(usize::MAX));
        if shape.min > max {
            return Ok(None);
        }
        let min = match u32::try_from(shape.min) {
            Ok(min) => min,
            Err(_) => {
                let reason = "no array is that long";
                self.normalizer.unsupported(node, "minItems", reason, "use a smaller number")?;
                0
            }
        };
        let max = u32::try_from(max).ok();
        let inside = self.pen().array_text(&prefix, rest, min, max)?;
        let open = self.builder.literal("[");
        self.opened(open, inside, compared).map(Some)
    }

    /// What writes the array or object at hand.
    pub(super) fn pen(&mut self) -> Pen<'_> {
        Pen { builder: &mut self.builder, punctuation: self.punctuation }
    }

    /// A rule that is built once for the whole grammar.
    pub(super) fn shared(
        &mut self,
        name: &'static str,
        body: impl FnOnce(&mut GrammarBuilder) -> ExprId,
    ) -> Fallible<ExprId> {
        if let Some(&known) = self.shared.get(name) {
            return Ok(self.builder.rule(known));
        }
        let body = body(&mut self.builder);
        let rule = self.builder.declare_fresh(name).map_err(grammar_error)?;
        self.builder.define(rule, body).map_err(grammar_error)?;
        self.shared.insert(name, rule);
        Ok(self.builder.rule(rule))
    }
}

pub(super) fn grammar_error(error: GrammarError) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("json-schema/grammar", error.to_string()).with_hint("make the schema smaller"))
}

/// Names the parts that contradict themselves, if any was met.
fn unsatisfiable(normalizer: &Normalizer<'_>) -> Box<Diagnostic> {
    let error = match normalizer.conflicts.last() {
        Some((pointer, message)) => Diagnostic::error(
            "json-schema/unsatisfiable",
            format!("no JSON text satisfies the schema: {message}"),
        )
        .with_pointer(pointer.clone()),
        None => {
            let message = "no JSON text satisfies the schema: what it requires is excluded, or never ends";
            Diagnostic::error("json-schema/unsatisfiable", message).with_pointer("")
        }
    };
    Box::new(error.with_hint("relax one of the keywords that contradict each other"))
}

/// How often rules are looked at again before all are looked at in another way.
const LOOKS: usize = 2_000;

/// Whether the root derives any text. Regular operators count as if they did: what they leave of strings was
/// decided before.
fn derives_something(grammar: &Grammar) -> bool {
    // A rule is looked at again when one that it waits for turns out productive.
    let mut known = Known {
        rules: vec![false; grammar.rule_count()],
        expressions: vec![false; grammar.expr_count()],
        missing: Vec::with_capacity(16),
    };
    let mut waiting: Vec<Vec<RuleId>> = vec![Vec::new(); grammar.rule_count()];
    let mut work: Vec<RuleId> = grammar.rule_ids().collect();
    let mut looks = grammar.rule_count() + LOOKS;
    while let Some(rule) = work.pop() {
        if known.rules[rule.index()] {
            continue;
        }
        // An object with thousands of required members is looked at as often, which the other way is not. It takes
        // longer for schemas of everyday size.
        let Some(left) = looks.checked_sub(1) else {
            return analysis::productive(grammar).expr(grammar.rule(grammar.root()).body());
        };
        looks = left;
        known.missing.clear();
        if is_productive(grammar, grammar.rule(rule).body(), &mut known) {
            known.rules[rule.index()] = true;
            work.append(&mut waiting[rule.index()]);
        } else {
            for &other in &known.missing {
                waiting[other.index()].push(rule);
            }
        }
    }
    known.rules[grammar.root().index()]
}

/// What derives something for certain: expressions are shared, and rules are looked at again.
struct Known {
    rules: Vec<bool>,
    expressions: Vec<bool>,
    /// The rules that the one at hand waits for.
    missing: Vec<RuleId>,
}

/// Expressions nest only as deep as this frontend and the regex frontend nest them.
fn is_productive(grammar: &Grammar, id: ExprId, known: &mut Known) -> bool {
    if known.expressions[id.index()] {
        return true;
    }
    let is = match grammar.expr(id) {
        Expr::Class(ranges) => !ranges.is_empty(),
        Expr::Sequence(parts) => parts.iter().all(|&part| is_productive(grammar, part, known)),
        Expr::Choice(parts) => parts.iter().any(|&part| is_productive(grammar, part, known)),
        Expr::Permutation(permutation) => {
            let mut derives = |part: &ExprId| is_productive(grammar, *part, known);
            let (required, others) = permutation.parts().split_at(permutation.required());
            required.iter().all(&mut derives) && (!required.is_empty() || others.iter().any(derives))
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
