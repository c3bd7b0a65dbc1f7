//! From normal forms to rules.
//!
//! Every goal, array shape and object shape that the root reaches gets one rule, which is made when it is
//! first referred to. Its body comes later, from a list of tasks, so depth of nesting and recursion cost
//! nothing. Equal shapes share a rule.

use std::rc::Rc;

use grammask_grammar_ir::hash::{HashMap, Hashing};
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, GrammarError, RuleId};
use smallvec::SmallVec;

use super::containers::ContainerWriter;
use super::distinct_marks::DistinctItems;
use super::productive::derives_something;
use super::punctuation;
use super::punctuation::Punctuation;
use super::remainders::{DigitAutomaton, Residues};
use crate::diagnostic::{Diagnostic, Result};
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::nodes::Document;
use crate::json_schema::error::{grammar_error, limit_error};
use crate::json_schema::normalize::normalizer::Normalizer;
use crate::json_schema::options::{EXPECTED_GOALS, Whitespace};
use crate::json_schema::sets::array_shape::{ArrayShape, Repetition};
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::sets::object_shape::ObjectShape;
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{Approximation, Lengths, TestId};
use crate::json_schema::value_syntax::{
    ItemComparison, Markup, NameSyntax, NestedValues, Notation, ValueSyntax,
};

/// A rule whose body is written later.
struct RuleTask<'s> {
    rule: RuleId,
    content: RuleContent<'s>,
    node: NodeId,
}

/// The values of a rule.
enum RuleContent<'s> {
    Any(Rc<NormalForm<'s>>),
    Array(Rc<ArrayShape>),
    Object(Rc<ObjectShape<'s>>),
}

/// Rules and expressions that values at the same depth share; all values, where lines are not indented.
struct DepthLevel<'s> {
    values: HashMap<GoalId, Option<ExprId>>,
    norms: HashMap<Rc<NormalForm<'s>>, ExprId>,
    arrays: HashMap<Rc<ArrayShape>, RuleId>,
    objects: HashMap<Rc<ObjectShape<'s>>, RuleId>,
}

impl DepthLevel<'_> {
    /// A level with room for what a schema of the median size has: keys are large, and to move them is to hash them.
    fn new() -> Self {
        Self {
            values: HashMap::with_capacity_and_hasher(EXPECTED_GOALS, Hashing),
            norms: HashMap::with_capacity_and_hasher(EXPECTED_GOALS, Hashing),
            arrays: HashMap::with_capacity_and_hasher(EXPECTED_GOALS / 4, Hashing),
            objects: HashMap::with_capacity_and_hasher(EXPECTED_GOALS / 4, Hashing),
        }
    }
}

/// The state of lowering: the grammar under construction, and what its parts share.
pub(super) struct SchemaLowering<'s> {
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
    levels: Vec<DepthLevel<'s>>,
    /// At which level a value is written.
    depth: usize,
    pub(super) strings: HashMap<Vec<StringShape<'s>>, Option<ExprId>>,
    pub(super) patterns: HashMap<(TestId, Approximation, Lengths), ExprId>,
    /// How many products of texts with a length may still be measured.
    pub(super) measures_left: u32,
    pub(super) shared: HashMap<&'static str, RuleId>,
    /// Automata of whole numbers, with the rules of their states.
    pub(super) residues: HashMap<Residues, (DigitAutomaton, Vec<ExprId>)>,
    /// The marks between which items of arrays and members of objects are, where they are not JSON.
    marked: Option<&'static Markup>,
    /// With the level of each.
    tasks: Vec<(usize, RuleTask<'s>)>,
    /// The number of expressions that were paid for.
    written: usize,
    pub(super) distinct: DistinctItems<'s>,
}

/// Products of texts with a length that are measured, where their estimates are too large; 2 ms each.
const MAX_MEASURES: u32 = 32;

/// The work of an expression, half of it that of its automaton.
const EXPRESSION: usize = 8;

/// Expressions of a schema of about the median size.
const EXPECTED_EXPRESSIONS: usize = 1 << 10;

/// The grammar of the root schema, and the normalizer for its report.
pub(crate) fn lower<'s>(
    normalizer: Box<Normalizer<'s>>,
    root: GoalId,
    (syntax, comparison): (ValueSyntax, ItemComparison),
    excludes: &[Box<str>],
) -> Result<(Grammar, Box<Normalizer<'s>>)> {
    let interrupt = normalizer.options.interrupt.clone();
    let mut builder = GrammarBuilder::with_capacity(EXPECTED_EXPRESSIONS).interrupted_by(interrupt);
    // Declared first, so that the root has the first number and no other rule takes its name.
    let root_rule = builder.declare("root").map_err(grammar_error)?;
    let whitespace = &normalizer.options.whitespace;
    let (arguments, punctuations) = match syntax {
        ValueSyntax::Notation(notation) => {
            let (arguments, values) = punctuation::notation(&mut builder, whitespace, notation)?;
            (arguments, vec![values])
        }
        ValueSyntax::Json | ValueSyntax::Markup(_) => {
            let names = syntax.notation().map_or(NameSyntax::Json, |notation| notation.names);
            let punctuations = punctuation::json(&mut builder, whitespace, names)?;
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
    let mut lowering = SchemaLowering {
        normalizer,
        builder,
        without,
        notation: syntax.notation(),
        punctuation: arguments,
        levels: punctuations.iter().map(|_| DepthLevel::new()).collect(),
        punctuations,
        depth: 0,
        strings: HashMap::with_capacity_and_hasher(EXPECTED_GOALS / 4, Hashing),
        measures_left: MAX_MEASURES,
        patterns: HashMap::default(),
        shared: HashMap::with_capacity_and_hasher(EXPECTED_GOALS / 4, Hashing),
        residues: HashMap::default(),
        marked: match syntax {
            ValueSyntax::Markup(markup) if markup.inside == NestedValues::Marked => Some(markup),
            _ => None,
        },
        tasks: Vec::new(),
        written: 0,
        distinct: DistinctItems::new(comparison, syntax),
    };
    lowering.written = lowering.builder.empty().index();
    let body = match syntax {
        ValueSyntax::Json => lowering.value(root)?,
        ValueSyntax::Markup(markup) => lowering.arguments(root, Some(markup))?,
        ValueSyntax::Notation(_) => lowering.arguments(root, None)?,
    };
    lowering.normalizer.check_work()?;
    let Some(mut body) = body else { return Err(unsatisfiable(&lowering.normalizer)) };
    let around = lowering.normalizer.options.around_root;
    if around > 0 && comparison != ItemComparison::Impossible {
        let blanks = punctuation::blanks(&mut lowering.builder, Some(around));
        body = lowering.builder.sequence([blanks, body, blanks]);
    }
    lowering.builder.define(root_rule, body).map_err(grammar_error)?;
    // A body adds tasks for the arrays and objects inside. Each is added once, with its rule, so recursion in
    // the schema ends here.
    while let Some((depth, task)) = lowering.tasks.pop() {
        let node = task.node;
        lowering.run(depth, task)?;
        lowering.pay_for_expressions(node)?;
    }
    // Last, because which values are read side by side is known only when all rules are written.
    lowering.refuse_ambiguous_marks()?;
    let SchemaLowering { normalizer, mut builder, shared, .. } = lowering;
    normalizer.check_work()?;
    // The rules of any value were marked when they were declared. Those of numbers and strings are their parts, and are
    // marked after them.
    let mut parts: Vec<RuleId> = shared.into_values().collect();
    parts.sort_unstable();
    parts.into_iter().for_each(|rule| builder.add_common(rule));
    let grammar = builder.finish(root_rule).map_err(grammar_error)?;
    if !derives_something(&grammar) {
        return Err(unsatisfiable(&normalizer));
    }
    normalizer.check_work()?;
    Ok((grammar, normalizer))
}

impl<'s> SchemaLowering<'s> {
    /// Charges the expressions that were written since the last call.
    fn pay_for_expressions(&mut self, node: NodeId) -> Result<()> {
        let last = self.builder.empty().index();
        self.normalizer.algebra.work.charge(EXPRESSION * last.saturating_sub(self.written));
        self.written = last;
        let limits = &self.normalizer.options.limits;
        let reached = if self.normalizer.algebra.work.is_spent() {
            Some(("work", limits.work))
        } else {
            (last > limits.expressions).then_some(("expressions", limits.expressions))
        };
        let Some((name, limit)) = reached else { return Ok(()) };
        Err(Box::new(limit_error(name, limit).with_pointer(self.normalizer.document.pointer(node))))
    }

    /// The expression of a goal; `None` where nothing satisfies it.
    pub(super) fn value(&mut self, goal: GoalId) -> Result<Option<ExprId>> {
        if let Some(&known) = self.levels[self.depth].values.get(&goal) {
            return Ok(known);
        }
        let norm = self.normalizer.norm(goal)?;
        let expr = self.norm_value(goal, &norm)?;
        // The steps of one number may take a hundred thousand.
        if !norm.numbers.is_empty() {
            self.pay_for_expressions(self.blame(goal))?;
        }
        // Levels differ in their indentation, so each has expressions of its own.
        self.levels[self.depth].values.insert(goal, expr);
        Ok(expr)
    }

    pub(super) fn norm_value(&mut self, goal: GoalId, norm: &Rc<NormalForm<'s>>) -> Result<Option<ExprId>> {
        if norm.is_never() {
            return Ok(None);
        }
        self.normalizer.algebra.work.charge(norm.size() / 4);
        if let Some(&known) = self.levels[self.depth].norms.get(norm) {
            return Ok(Some(known));
        }
        let node = self.blame(goal);
        let expr = if norm.is_any() {
            let rule = self.builder.declare_fresh("json_value").map_err(grammar_error)?;
            self.builder.add_common(rule);
            self.push_task(rule, RuleContent::Any(Rc::clone(norm)), node);
            self.builder.rule(rule)
        } else {
            let scalars = usize::from(norm.null) + usize::from(norm.booleans != [false, false]);
            // One kind of value is written where it is used. Several are a rule, so that callers do not copy
            // the alternatives.
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
                self.push_task(rule, RuleContent::Any(Rc::clone(norm)), node);
                self.builder.rule(rule)
            }
        };
        self.levels[self.depth].norms.insert(Rc::clone(norm), expr);
        Ok(Some(expr))
    }

    /// A string or name as it is written, without the excluded texts.
    pub(super) fn without_excluded(&mut self, text: ExprId) -> ExprId {
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
    fn push_task(&mut self, rule: RuleId, content: RuleContent<'s>, node: NodeId) {
        if let Some(places) = &mut self.normalizer.rule_origins {
            places.rule(rule, node);
        }
        self.tasks.push((self.depth, RuleTask { rule, content, node }));
    }

    fn is_indented(&self) -> bool {
        matches!(self.normalizer.options.whitespace, Whitespace::Indented { .. })
    }

    /// Whether arrays and objects may occur at this depth: the last level has scalars only.
    fn may_nest(&self) -> bool {
        !self.is_indented() || self.depth + 1 < self.levels.len()
    }

    fn run(&mut self, depth: usize, task: RuleTask<'s>) -> Result<()> {
        let RuleTask { rule, content, node } = task;
        let is_nested =
            self.is_indented() && self.marked.is_none() && !matches!(content, RuleContent::Any(_));
        self.punctuation = self.punctuations[depth];
        self.depth = depth + usize::from(is_nested);
        let body = match (content, self.marked) {
            (RuleContent::Any(norm), _) => {
                let alternatives = self.alternatives(&norm, node)?;
                Some(self.builder.choice(alternatives))
            }
            (RuleContent::Array(shape), Some(markup)) => self.markup_array(&shape, node, markup)?,
            (RuleContent::Object(shape), Some(markup)) => self.markup_object(&shape, node, markup)?,
            (RuleContent::Array(shape), None) => {
                if !shape.obligations.is_empty() {
                    self.distinct.add_ambiguous(rule);
                }
                self.array(&shape, node)?
            }
            (RuleContent::Object(shape), None) => {
                if !shape.obligations.is_empty() {
                    self.distinct.add_ambiguous(rule);
                }
                self.object(&shape, node)?
            }
        };
        let body = match body {
            Some(body) => body,
            None => self.builder.never(),
        };
        self.builder.define(rule, body).map_err(grammar_error)
    }

    /// One expression for each kind of value.
    fn alternatives(&mut self, norm: &Rc<NormalForm<'s>>, node: NodeId) -> Result<SmallVec<[ExprId; 4]>> {
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
        let mut beside_others = Vec::new();
        let empty = self.empty_array_beside(&norm.arrays)?;
        for shape in &norm.arrays {
            let rule = self.array_rule(shape, empty.as_ref(), node)?;
            alternatives.push(self.builder.rule(rule));
            if norm.arrays.len() > 1 {
                beside_others.push(rule);
            }
        }
        for shape in &norm.objects {
            let rule = self.object_rule(shape, node)?;
            alternatives.push(self.builder.rule(rule));
            if norm.objects.len() > 1 {
                beside_others.push(rule);
            }
        }
        if !beside_others.is_empty() {
            self.distinct.add_alternatives(norm, beside_others);
        }
        Ok(alternatives)
    }

    /// The rule of an array that is written.
    pub(super) fn written_array(&self, shape: &ArrayShape) -> Option<RuleId> {
        self.levels.iter().find_map(|level| level.arrays.get(shape)).copied()
    }

    /// The rule of an object that is written.
    pub(super) fn written_object(&self, shape: &ObjectShape<'s>) -> Option<RuleId> {
        self.levels.iter().find_map(|level| level.objects.get(shape)).copied()
    }

    /// The rule of an array. If it has no items, it is written as the empty array that is given.
    pub(super) fn array_rule(
        &mut self,
        shape: &ArrayShape,
        empty: Option<&ArrayShape>,
        node: NodeId,
    ) -> Result<RuleId> {
        if let Some(&known) = self.levels[self.depth].arrays.get(shape) {
            return Ok(known);
        }
        let name = if self.marked.is_some() { "items" } else { "array" };
        let rule = self.builder.declare_fresh(name).map_err(grammar_error)?;
        let shape = Rc::new(shape.clone());
        self.levels[self.depth].arrays.insert(Rc::clone(&shape), rule);
        let written = match empty {
            Some(empty) if shape.repetition == Repetition::Free && shape.is_met_by_nothing() => {
                Rc::new(empty.clone())
            }
            _ => shape,
        };
        self.push_task(rule, RuleContent::Array(written), node);
        Ok(rule)
    }

    pub(super) fn object_rule(&mut self, shape: &ObjectShape<'s>, node: NodeId) -> Result<RuleId> {
        if let Some(&known) = self.levels[self.depth].objects.get(shape) {
            return Ok(known);
        }
        let name = if self.marked.is_some() { "members" } else { "object" };
        let rule = self.builder.declare_fresh(name).map_err(grammar_error)?;
        let shape = Rc::new(shape.clone());
        self.levels[self.depth].objects.insert(Rc::clone(&shape), rule);
        self.push_task(rule, RuleContent::Object(shape), node);
        Ok(rule)
    }

    pub(super) fn array(&mut self, shape: &ArrayShape, node: NodeId) -> Result<Option<ExprId>> {
        if let Some(body) = self.unique_array(shape, node)? {
            return Ok(body);
        }
        let shape = &*self.within_values(shape)?;
        let compared = self.distinct_items_mark(shape)?;
        if compared.is_none() {
            self.refuse_short_names(shape, node)?;
        }
        if !shape.obligations.is_empty() {
            return self.counted_array(shape, node, compared);
        }
        let mut max = shape.max.unwrap_or(u64::MAX);
        let mut prefix = Vec::with_capacity(shape.prefix.len());
        for (index, &goal) in shape.prefix.iter().enumerate() {
            match self.value(goal)? {
                Some(item) => prefix.push(self.told_item(item, compared)),
                None => {
                    max = max.min(index as u64);
                    break;
                }
            }
        }
        let mut rest = None;
        if max > prefix.len() as u64 {
            rest = self.value(shape.rest)?.map(|item| self.told_item(item, compared));
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
        let inside = self.container_writer().array_text(&prefix, rest, min, max)?;
        let open = self.builder.literal("[");
        self.enclosed(open, inside, compared).map(Some)
    }

    /// The writer of arrays and objects at this depth.
    pub(super) fn container_writer(&mut self) -> ContainerWriter<'_> {
        ContainerWriter { builder: &mut self.builder, punctuation: self.punctuation }
    }

    /// A rule that is built once for the whole grammar.
    pub(super) fn shared(
        &mut self,
        name: &'static str,
        body: impl FnOnce(&mut GrammarBuilder) -> ExprId,
    ) -> Result<ExprId> {
        self.shared_rule(name, |builder| {
            let body = body(builder);
            let rule = builder.declare_fresh(name)?;
            builder.define(rule, body)?;
            Ok(rule)
        })
    }

    /// As [`shared`](Self::shared), with a rule that is written whole.
    pub(super) fn shared_rule(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut GrammarBuilder) -> std::result::Result<RuleId, GrammarError>,
    ) -> Result<ExprId> {
        if let Some(&known) = self.shared.get(name) {
            return Ok(self.builder.rule(known));
        }
        let rule = write(&mut self.builder).map_err(grammar_error)?;
        self.shared.insert(name, rule);
        Ok(self.builder.rule(rule))
    }
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
