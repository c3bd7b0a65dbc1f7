//! Whole numbers under conditions on what divides them.

use grammask_grammar_ir::ExprId;

use super::digits::signs;
use super::lowering::SchemaLowering;
use super::remainders::{Between, DigitAutomaton, DigitState, Multiples, Residues};
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::error::grammar_error;
use crate::json_schema::sets::decimal::{Decimal, Divisor};
use crate::json_schema::sets::number_shape::{Bound, Edge, NumberKind, NumberShape};

/// Whole numbers that are multiples of a step and of none of some others, or of any such kind.
pub(super) struct WholeNumbers {
    /// A common multiple of all steps.
    modulus: u64,
    kinds: Vec<Multiples>,
}

impl WholeNumbers {
    /// The conditions of a shape whose numbers are whole; `None` for another one, and where the steps are too large.
    /// A whole number is a multiple of a step if and only if it is one of the least whole multiple of the step.
    pub(super) fn of(shape: &NumberShape) -> Option<Self> {
        let (one, are_listed) = (Divisor::ONE, shape.values.is_some());
        if are_listed || shape.steps.is_empty() && shape.not_steps.is_empty() {
            return None;
        }
        let mut steps = shape.steps.iter().copied();
        let first = match shape.kind {
            NumberKind::Integer => one,
            NumberKind::Any => steps.next()?,
            NumberKind::Fractional => return None,
        };
        let step = steps.try_fold(first, Divisor::least_common_multiple)?;
        if step.places > 0 {
            return None;
        }
        let excluded: Vec<Divisor> =
            shape.not_steps.iter().map(|&step| one.least_common_multiple(step)).collect::<Option<_>>()?;
        let common = excluded.iter().try_fold(step, |common, &next| common.least_common_multiple(next))?;
        let excluded = excluded.iter().map(|step| step.units).collect();
        Some(Self { modulus: common.units, kinds: vec![Multiples { step: step.units, excluded }] })
    }

    /// Whether one modulus is a multiple of the other.
    pub(super) fn fits(&self, other: &Self) -> bool {
        self.modulus.max(other.modulus).is_multiple_of(self.modulus.min(other.modulus))
    }

    /// Adds the numbers of another one that fits.
    pub(super) fn join(&mut self, other: &Self) {
        self.modulus = self.modulus.max(other.modulus);
        self.kinds.extend_from_slice(&other.kinds);
    }
}

/// The class of the digits from one to another one, once it is written.
type DigitClasses = [[Option<ExprId>; 10]; 10];

impl SchemaLowering<'_> {
    /// Whole numbers between the bounds of a shape, spelled as its kind is.
    pub(super) fn whole_numbers(
        &mut self,
        numbers: WholeNumbers,
        shape: &NumberShape,
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        let bounds = shape.whole_bounds();
        if numbers.kinds.iter().any(|kind| kind.step == 1 && kind.excluded.is_empty()) {
            return Ok(self.whole_interval(shape.kind, bounds.0.as_ref(), bounds.1.as_ref()));
        }
        let residues = Residues::any_of(numbers.modulus, numbers.kinds);
        self.whole_multiples(&residues, shape.kind, bounds, node)
    }

    /// Whole numbers of some residues between whole bounds.
    fn whole_multiples(
        &mut self,
        residues: &Residues,
        kind: NumberKind,
        (lower, upper): (Option<Decimal>, Option<Decimal>),
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        let bound = |value: Decimal| Bound { value, edge: Edge::Inclusive };
        let (lower, upper) = (lower.map(bound), upper.map(bound));
        let has_negative_zero = self.digit_form(kind).has_negative_zero;
        // Digits of negative numbers grow as the numbers fall, so both signs are intervals of digits, the
        // negative one turned round.
        let (negative, positive) = signs(lower.as_ref(), upper.as_ref(), has_negative_zero);
        let whole = |bound: Bound| match bound.edge {
            Edge::Inclusive => bound.value,
            Edge::Exclusive => bound.value.plus_one(),
        };
        let mut alternatives = Vec::new();
        if let Some((least, most)) = negative {
            let (least, most) = (whole(least), most.map(|most| most.value));
            if let Some(texts) = self.multiples_between(residues, &least, most.as_ref(), node)? {
                let minus = self.builder.literal("-");
                alternatives.push(self.builder.sequence([minus, texts]));
            }
        }
        if let Some((least, most)) = positive {
            let (least, most) = (whole(least), most.map(|most| most.value));
            alternatives.extend(self.multiples_between(residues, &least, most.as_ref(), node)?);
        }
        if alternatives.is_empty() {
            return Ok(None);
        }
        let whole = self.builder.choice(alternatives);
        let end = self.digits(kind).zero_fraction();
        Ok(Some(self.builder.sequence([whole, end])))
    }

    /// Multiples between bounds that are not negative, as right-linear rules: one for each state of their automaton.
    pub(super) fn multiples_between(
        &mut self,
        residues: &Residues,
        low: &Decimal,
        high: Option<&Decimal>,
        node: NodeId,
    ) -> Result<Option<ExprId>> {
        let written = |value: &Decimal| {
            let mut digits = value.whole_digits();
            if digits.is_empty() {
                digits.push(0);
            }
            digits
        };
        let (from, to) = (written(low), high.map(written));
        let longest = to.as_ref().map_or(from.len() + 1, |to| to.len()) as u64;
        let limit = self.normalizer.options.limits.states;
        let modulus = residues.modulus;
        // Where a state for each remainder and each place along the bounds is within the limit, no state is counted.
        let most = (modulus.saturating_mul(longest) > limit as u64).then_some(limit);
        let work = &self.normalizer.algebra.work;
        // It comes back when it is known to be of use.
        let (mut automaton, mut references) = self
            .residues
            .remove(residues)
            .unwrap_or_else(|| (DigitAutomaton::new(residues.clone()), Vec::new()));
        let between = automaton.add_between((&from, to.as_deref()), most, work);
        self.normalizer.check_work()?;
        let Some(Between { starts, added }) = between else {
            let reason = format!("telling the multiples of {modulus} takes more than {limit} states");
            let hint = "use a smaller step, or raise the limit `states`";
            self.normalizer.unsupported(node, "multipleOf", reason, hint)?;
            return Ok(self.digits(NumberKind::Integer).whole_between(Some(low), high));
        };
        let mut declared = Vec::with_capacity(added.len());
        for _ in &added {
            let rule = self.builder.declare_fresh("multiple").map_err(grammar_error)?;
            declared.push(rule);
            references.push(self.builder.rule(rule));
        }
        let mut alternatives = Vec::new();
        let mut classes = DigitClasses::default();
        for start in &starts {
            alternatives.extend(self.digit_ways(start, &references, &mut classes));
        }
        for (state, rule) in added.iter().zip(declared) {
            let ways = self.digit_ways(state, &references, &mut classes);
            let body = self.builder.choice(ways);
            self.builder.define(rule, body).map_err(grammar_error)?;
        }
        self.residues.insert(residues.clone(), (automaton, references));
        if alternatives.is_empty() {
            return Ok(None);
        }
        // A rule, so that those of the states stand at ends only: they are one automaton then.
        let whole = self.builder.choice(alternatives);
        let rule = self.builder.declare_fresh("multiples").map_err(grammar_error)?;
        self.builder.define(rule, whole).map_err(grammar_error)?;
        Ok(Some(self.builder.rule(rule)))
    }

    fn digit_ways(
        &mut self,
        state: &DigitState,
        references: &[ExprId],
        classes: &mut DigitClasses,
    ) -> Vec<ExprId> {
        let mut ways = Vec::with_capacity(state.arcs.len() + 1);
        if state.may_end {
            ways.push(self.builder.empty());
        }
        for &(first, last, next) in &state.arcs {
            let class = &mut classes[usize::from(first)][usize::from(last)];
            let digit = *class.get_or_insert_with(|| self.digits(NumberKind::Integer).digit(first, last));
            ways.push(self.builder.sequence([digit, references[next]]));
        }
        ways
    }
}
