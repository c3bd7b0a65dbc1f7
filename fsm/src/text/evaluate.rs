//! From expressions to automata over characters, and over tokens that are taken as a whole.
//!
//! An expression without regular operators becomes a nondeterministic automaton, in the manner of `build`:
//! between two given states, with an explicit stack. Rules are written in place and repeats are unrolled; the
//! limit on states bounds both. Operators need deterministic operands. They are collected bottom-up first,
//! through rules, and evaluated in that order; where an expression contains one, its automaton is copied in.

use std::rc::Rc;

use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_grammar_ir::{CharRange, Expr, ExprId, Grammar, Interrupt, JsonEscapes, RuleId, TokenRef};

use super::alphabet::{CompressedAlphabet, intersection, is_large, lettered_intersection};
use super::dfa::RangeDfa;
use super::emptiness::{MAX_NONDETERMINISTIC, MAX_OPERANDS, Operand, intersection_is_nonempty};
use super::ids::NfaStateId;
use super::measured::Measured;
use super::meter::Meter;
use super::minimize::minimize;
use super::nfa::Nfa;
use super::product::{SMALL_OPERAND, product, repeats_its_parts};
use super::scalars::{code_point, other_token_letters, scalar, token_letters};
use crate::error::Failure;
use crate::ids::Id;
use crate::options::TextLimits;
use crate::text::chars::CharArc;
use crate::text::json_encoder::JsonEncoder;
use crate::text::spelling::Spelling;

/// Evaluates expressions of one grammar and remembers the operators.
pub(crate) struct Evaluator<'g> {
    grammar: &'g Grammar,
    limits: TextLimits,
    interrupt: Interrupt,
    operators: HashMap<ExprId, Rc<RangeDfa>>,
    /// Steps of work spent so far.
    spent: usize,
    /// Arcs of the operators that are remembered.
    kept: usize,
    /// Products of patterns whose lengths are counted beside them, by their operands.
    patterns: HashMap<Vec<Counted<'g>>, CompressedAlphabet>,
    /// The first expression met of each shape, and the representative of every expression.
    shapes: HashMap<Shape<'g>, ExprId>,
    representatives: HashMap<ExprId, ExprId>,
}

/// The shape of an expression, with operands replaced by their representatives.
#[derive(PartialEq, Eq, Hash)]
enum Shape<'g> {
    Bytes(&'g [u8]),
    Class(&'g [CharRange]),
    Repeat(ExprId, u32, Option<u32>),
    Rule(RuleId),
    Token(&'g [TokenRef]),
    ExcludeToken(&'g [TokenRef]),
    /// Any other operator, by its kind.
    Other(std::mem::Discriminant<Expr<'g>>, Option<JsonEscapes>, Vec<ExprId>),
}

/// An operand of an intersection with a bound on the length.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Counted<'g> {
    /// Characters of a class, at least so many. How many at most is counted.
    Length(&'g [CharRange], u32),
    Text(ExprId),
}

/// Arcs that are remembered; past them they are forgotten, and made anew where they are needed again.
const MAX_KEPT: usize = 2_000_000;

/// The greatest lower bound on a length for which an upper one is counted beside the automaton, as
/// [`min_counted_pairs`](crate::CompileOptions::min_counted_pairs) says. The automaton itself takes care of the lower one.
pub const MAX_COUNTED_MIN: u32 = 64;

/// An automaton over characters or over letters.
pub(crate) enum Value {
    Characters(Rc<RangeDfa>),
    Letters(CompressedAlphabet),
    /// Over letters, with a count.
    Measured(Measured),
    /// Over characters, as it is written.
    Nondeterministic(Nfa),
}

enum Step {
    Enter(ExprId),
    Leave(ExprId),
}

impl<'g> Evaluator<'g> {
    pub(crate) fn new(grammar: &'g Grammar, limits: TextLimits, interrupt: Interrupt) -> Self {
        let (operators, patterns, shapes, representatives) = Default::default();
        Self { grammar, limits, interrupt, operators, spent: 0, kept: 0, patterns, shapes, representatives }
    }

    /// The steps of work so far.
    pub(crate) fn spent(&self) -> usize {
        self.spent
    }

    /// The texts of an expression. Deterministic, not always minimal.
    pub(crate) fn evaluate(&mut self, expr: ExprId) -> Result<Rc<RangeDfa>, Failure> {
        if self.kept > MAX_KEPT {
            // Forgetting costs time only. The work of making them anew counts against the limit like any
            // other.
            self.operators.clear();
            self.patterns.clear();
            self.kept = 0;
        }
        let mut meter = Meter::after(self.spent, self.limits, &self.interrupt);
        self.operators_of(expr, &mut meter)?;
        let value = self.value(expr, &mut meter);
        self.spent = meter.total();
        value
    }

    /// Whether an expression matches any text; `None` where only its automaton tells.
    pub(crate) fn has_text(&mut self, expr: ExprId) -> Result<Option<bool>, Failure> {
        let alone = [expr];
        let operands = match self.grammar.expr(expr) {
            Expr::Intersection(operands) => operands,
            _ => &alone,
        };
        if operands.len() > MAX_OPERANDS {
            return Ok(None);
        }
        let mut meter = Meter::after(self.spent, self.limits, &self.interrupt);
        let mut values = Vec::with_capacity(operands.len());
        for &operand in operands {
            let (inside, is_complement) = match self.grammar.expr(operand) {
                Expr::Complement(inside) => (inside, true),
                _ => (operand, false),
            };
            self.operators_of(inside, &mut meter)?;
            // Complements need a deterministic automaton. Where operands are few, others stay as they are written.
            values.push(match (is_complement, self.literals(inside)) {
                (true, Some(literals)) => RangeDfa::from_literals(literals.into_iter())?.complement().into(),
                (true, None) => self.nfa(inside, &mut meter)?.determinize(&mut meter)?.complement().into(),
                (false, _) if operands.len() > MAX_NONDETERMINISTIC => {
                    self.nfa(inside, &mut meter)?.determinize(&mut meter)?.into()
                }
                (false, _) => Operand::from(self.nfa(inside, &mut meter)?),
            });
        }
        self.spent = meter.total();
        Ok(intersection_is_nonempty(&mut values))
    }

    /// The texts of a regular operator: over characters if the automaton has at most `most` states, and over
    /// letters otherwise. With a count where a bound on the length makes `counted_from` pairs of a state and a
    /// length or more.
    pub(crate) fn evaluate_operator(
        &mut self,
        expr: ExprId,
        most: usize,
        counted_from: Option<u32>,
    ) -> Result<Value, Failure> {
        if let Some(counted_from) = counted_from
            && let Expr::Intersection(operands) = self.grammar.expr(expr)
            && let Some(measured) = self.measured(operands, counted_from)?
        {
            return Ok(Value::Measured(measured));
        }
        if let Expr::Intersection(operands) = self.grammar.expr(expr)
            && let Some(product) = self.product(operands)?
        {
            return Ok(Value::Nondeterministic(product));
        }
        let lettered = match self.grammar.expr(expr) {
            Expr::Intersection(operands) if !self.operators.contains_key(&expr) => {
                let values = operands.iter().map(|&operand| self.operand(operand));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                // A large product is taken over letters from the beginning, and its result may stay there.
                if is_large(&values) {
                    Some(self.metered(|meter| lettered_intersection(&values, meter))?)
                } else {
                    let value = self.metered(|meter| intersection(&values, meter))?;
                    self.keep(expr, Rc::new(value));
                    None
                }
            }
            _ => None,
        };
        match lettered {
            Some(lettered) if lettered.dfa.state_count() > most => return Ok(Value::Letters(lettered)),
            Some(lettered) => self.keep(expr, Rc::new(lettered.over_characters())),
            None => {}
        }
        let value = self.evaluate(expr)?;
        if value.state_count() <= most {
            return Ok(Value::Characters(value));
        }
        self.metered(|meter| CompressedAlphabet::new(&value, meter)).map(Value::Letters)
    }

    /// The texts that all operands accept, with their characters counted. `None` if no operand is a bound on the length,
    /// or if the product with the bound is small.
    fn measured(&mut self, operands: &[ExprId], from: u32) -> Result<Option<Measured>, Failure> {
        let grammar = self.grammar;
        let bound = |operand: ExprId| match grammar.expr(operand) {
            Expr::Repeat { body, min, max: Some(max) } if min <= MAX_COUNTED_MIN => {
                match grammar.expr(body) {
                    Expr::Class(class) => Some((class, min, max)),
                    _ => None,
                }
            }
            _ => None,
        };
        let flat = self.flat(operands);
        let maxima = flat.iter().filter_map(|&operand| bound(operand)).map(|(.., max)| max);
        let Some(max) = maxima.min() else { return Ok(None) };
        let mut key = Vec::with_capacity(flat.len());
        for operand in flat {
            key.push(match bound(operand) {
                Some((class, min, _)) => Counted::Length(class, min),
                None => Counted::Text(self.representative(operand)),
            });
        }
        let fits = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let is_small = |states: usize| states.saturating_mul(fits(max)) < fits(from);
        let pattern = match self.patterns.remove(&key) {
            Some(known) => known,
            None => {
                let mut values = Vec::with_capacity(key.len());
                for &operand in &key {
                    values.push(match operand {
                        Counted::Length(class, min) => Rc::new(RangeDfa::at_least(class, min)),
                        Counted::Text(operand) => self.operand(operand)?,
                    });
                }
                let states = values.iter().map(|value| value.state_count());
                if is_small(states.fold(1, usize::saturating_mul))
                    || values.iter().any(|value| value.reads_tokens())
                {
                    return Ok(None);
                }
                let pattern = self.metered(|meter| lettered_intersection(&values, meter))?;
                self.kept += pattern.dfa.arc_count() + pattern.dfa.state_count();
                pattern
            }
        };
        let is_counted = !is_small(pattern.dfa.state_count()) && !pattern.dfa.is_empty();
        let measured =
            if is_counted { self.metered(|meter| Measured::new(&pattern, max, meter))? } else { None };
        self.patterns.insert(key, pattern);
        Ok(measured)
    }

    /// The operands of an intersection and of those inside of it.
    fn flat(&self, operands: &[ExprId]) -> Vec<ExprId> {
        let (mut open, mut flat) = (operands.to_vec(), Vec::with_capacity(operands.len()));
        while let Some(operand) = open.pop() {
            match self.grammar.expr(operand) {
                Expr::Intersection(operands) => open.extend(operands),
                _ => flat.push(operand),
            }
        }
        flat
    }

    /// The texts that all operands accept, if one of them [repeats its parts](repeats_its_parts) and the others are small.
    fn product(&mut self, operands: &[ExprId]) -> Result<Option<Nfa>, Failure> {
        let grammar = self.grammar;
        let (large, others): (Vec<_>, Vec<_>) =
            self.flat(operands).into_iter().partition(|&operand| repeats_its_parts(grammar, operand));
        let [large] = large[..] else { return Ok(None) };
        let others = others.into_iter().map(|other| self.operand(other)).collect::<Result<Vec<_>, _>>()?;
        let mut meter = Meter::after(self.spent, self.limits, &self.interrupt);
        let others = intersection(&others, &mut meter)?;
        let is_small = others.state_count() <= SMALL_OPERAND && !others.reads_tokens();
        let result = if is_small {
            self.operators_of(large, &mut meter)?;
            product(self.nfa(large, &mut meter)?, &others, &mut meter)?
        } else {
            None
        };
        self.spent = meter.total();
        Ok(result)
    }

    /// The texts of an operand, remembered: one pattern often occurs under several bounds.
    fn operand(&mut self, expr: ExprId) -> Result<Rc<RangeDfa>, Failure> {
        let expr = self.representative(expr);
        let value = self.evaluate(expr)?;
        if !self.operators.contains_key(&expr) {
            self.keep(expr, value.clone());
        }
        Ok(value)
    }

    /// Counts work that was done on a text.
    pub(crate) fn pay(&mut self, steps: usize) -> Result<(), Failure> {
        self.metered(|meter| meter.spend(steps))
    }

    /// Does work that counts for the whole grammar.
    fn metered<T>(&mut self, work: impl FnOnce(&mut Meter) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut meter = Meter::after(self.spent, self.limits, &self.interrupt);
        let value = work(&mut meter);
        self.spent = meter.total();
        value
    }

    fn keep(&mut self, operator: ExprId, value: Rc<RangeDfa>) {
        self.kept += value.arc_count() + value.state_count();
        self.operators.insert(operator, value);
    }

    /// The first expression met with the same meaning: expressions are often written again and again. Linear
    /// in the expressions that are met for the first time.
    pub(crate) fn representative(&mut self, expr: ExprId) -> ExprId {
        let mut stack = vec![Step::Enter(expr)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(id) if self.representatives.contains_key(&id) => {}
                Step::Enter(id) => {
                    stack.push(Step::Leave(id));
                    stack.extend(self.grammar.operands(id).iter().map(|&operand| Step::Enter(operand)));
                }
                // Operands have their representatives by now, so equal expressions have equal shapes.
                Step::Leave(id) => {
                    let shape = self.shape(id);
                    let first = *self.shapes.entry(shape).or_insert(id);
                    self.representatives.insert(id, first);
                }
            }
        }
        self.known_representative(expr)
    }

    fn known_representative(&self, id: ExprId) -> ExprId {
        self.representatives.get(&id).copied().unwrap_or(id)
    }

    fn shape(&self, id: ExprId) -> Shape<'g> {
        match self.grammar.expr(id) {
            Expr::Bytes(bytes) => Shape::Bytes(bytes),
            Expr::Class(ranges) => Shape::Class(ranges),
            Expr::Repeat { body, min, max } => Shape::Repeat(self.known_representative(body), min, max),
            Expr::Rule(rule) => Shape::Rule(rule),
            Expr::Token(tokens) => Shape::Token(tokens),
            Expr::ExcludeToken(tokens) => Shape::ExcludeToken(tokens),
            other => {
                let operands = self.grammar.operands(id).iter();
                let operands = operands.map(|&operand| self.known_representative(operand));
                let escapes = match other {
                    Expr::JsonEscaped(_, escapes) => Some(escapes),
                    _ => None,
                };
                Shape::Other(std::mem::discriminant(&other), escapes, operands.collect())
            }
        }
    }

    /// Evaluates the operators in an expression.
    fn operators_of(&mut self, expr: ExprId, meter: &mut Meter) -> Result<(), Failure> {
        for operator in self.operators_below(expr) {
            let value = self.operator(operator, meter)?;
            self.keep(operator, value);
        }
        Ok(())
    }

    /// The operators in an expression that are not evaluated yet, operands before operators.
    fn operators_below(&self, expr: ExprId) -> Vec<ExprId> {
        let mut order = Vec::new();
        let mut met = HashSet::default();
        let mut stack = vec![Step::Enter(expr)];
        while let Some(step) = stack.pop() {
            let id = match step {
                Step::Leave(id) => {
                    order.push(id);
                    continue;
                }
                Step::Enter(id) => id,
            };
            let body;
            let operands = match self.grammar.expr(id) {
                Expr::Empty | Expr::Bytes(_) | Expr::Class(_) => continue,
                Expr::Rule(rule) => {
                    body = [self.grammar.rule(rule).body()];
                    &body[..]
                }
                _ => self.grammar.operands(id),
            };
            if !met.insert(id) || self.operators.contains_key(&id) {
                continue;
            }
            if is_operator(self.grammar.expr(id)) {
                // Left after its operands, so the list is in the order in which the operators can be
                // evaluated.
                stack.push(Step::Leave(id));
            }
            stack.extend(operands.iter().map(|&operand| Step::Enter(operand)));
        }
        order
    }

    fn operator(&self, id: ExprId, meter: &mut Meter) -> Result<Rc<RangeDfa>, Failure> {
        match self.grammar.expr(id) {
            Expr::Intersection(operands) => {
                let values = operands.iter().map(|&operand| self.value(operand, meter));
                Ok(Rc::new(intersection(&values.collect::<Result<Vec<_>, _>>()?, meter)?))
            }
            Expr::Complement(operand) => {
                // A state from which every text is accepted becomes a dead end, and minimising removes it. A
                // finite language has no such state, so the most common case is done with its trie.
                if let Some(literals) = self.literals(operand) {
                    return Ok(Rc::new(RangeDfa::from_literals(literals.into_iter())?.complement()));
                }
                Ok(Rc::new(minimize(&self.value(operand, meter)?.complement(), meter)?))
            }
            Expr::JsonEscaped(operand, escapes) => {
                let value = self.value(operand, meter)?;
                let mut nfa = Nfa::new();
                let mut speller = JsonEncoder::default();
                // Each arc becomes its spellings, between the same two states. Different characters have
                // different spellings, so the result is exact.
                embed(&value, &mut nfa, Nfa::START, Nfa::END, meter, |nfa, from, arcs| {
                    speller.spell(nfa, from, arcs, Spelling::PLAIN.inside(escapes));
                })?;
                self.finish(nfa, meter)
            }
            _ => self.value(id, meter),
        }
    }

    fn value(&self, expr: ExprId, meter: &mut Meter) -> Result<Rc<RangeDfa>, Failure> {
        if let Some(value) = self.operators.get(&expr) {
            return Ok(value.clone());
        }
        if let Some(literals) = self.literals(expr) {
            return Ok(Rc::new(RangeDfa::from_literals(literals.into_iter())?));
        }
        self.finish(self.nfa(expr, meter)?, meter)
    }

    /// An expression whose operators were evaluated.
    fn nfa(&self, expr: ExprId, meter: &mut Meter) -> Result<Nfa, Failure> {
        let mut nfa = Nfa::new();
        let mut stack = vec![(expr, Nfa::START, Nfa::END)];
        while let Some((id, from, to)) = stack.pop() {
            meter.spend(1)?;
            meter.nondeterministic_states(nfa.state_count())?;
            self.write(&mut nfa, id, from, to, &mut stack, meter)?;
        }
        Ok(nfa)
    }

    fn finish(&self, nfa: Nfa, meter: &mut Meter) -> Result<Rc<RangeDfa>, Failure> {
        Ok(Rc::new(minimize(&nfa.determinize(meter)?, meter)?))
    }

    /// The alternatives of a choice of nothing but literals, the most common operand of a complement.
    pub(crate) fn literals(&self, expr: ExprId) -> Option<Vec<&'g [u8]>> {
        let bytes = |&id: &ExprId| match self.grammar.expr(id) {
            Expr::Bytes(bytes) => Some(bytes),
            Expr::Empty => Some(&[][..]),
            _ => None,
        };
        match self.grammar.expr(expr) {
            Expr::Choice(alternatives) => alternatives.iter().map(bytes).collect(),
            _ => bytes(&expr).map(|literal| vec![literal]),
        }
    }

    fn write(
        &self,
        nfa: &mut Nfa,
        id: ExprId,
        mut from: NfaStateId,
        to: NfaStateId,
        stack: &mut Vec<(ExprId, NfaStateId, NfaStateId)>,
        meter: &mut Meter,
    ) -> Result<(), Failure> {
        if let Some(value) = self.operators.get(&id) {
            return embed(value, nfa, from, to, meter, |nfa, from, arcs| {
                crate::text::chars::CharOutput::arcs(nfa, from, arcs);
            });
        }
        match self.grammar.expr(id) {
            Expr::Empty => nfa.epsilon(from, to),
            Expr::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| Failure::not_text(bytes))?;
                let mut characters = text.chars().peekable();
                while let Some(character) = characters.next() {
                    let next = if characters.peek().is_some() { nfa.state() } else { to };
                    nfa.arc(from, scalar(character), scalar(character), next);
                    from = next;
                }
            }
            Expr::Class(ranges) => {
                meter.spend(ranges.len())?;
                for &(lo, hi) in ranges {
                    nfa.arc(from, scalar(lo), scalar(hi), to);
                }
            }
            Expr::Token(tokens) => {
                meter.spend(tokens.len())?;
                token_letters(tokens)?.into_iter().for_each(|letter| nfa.arc(from, letter, letter, to));
            }
            Expr::ExcludeToken(tokens) => {
                meter.spend(tokens.len())?;
                let letters = token_letters(tokens)?;
                other_token_letters(&letters).for_each(|(lo, hi)| nfa.arc(from, lo, hi, to));
            }
            Expr::Sequence(parts) => {
                for (index, &part) in parts.iter().enumerate() {
                    let next = if index + 1 < parts.len() { nfa.state() } else { to };
                    stack.push((part, from, next));
                    from = next;
                }
            }
            Expr::Choice(alternatives) => {
                stack.extend(alternatives.iter().map(|&alternative| (alternative, from, to)));
            }
            Expr::Repeat { body, min, max } => repeat(nfa, (body, min, max), from, to, stack, meter)?,
            Expr::Rule(rule) => stack.push((self.grammar.rule(rule).body(), from, to)),
            // Every operator was evaluated beforehand.
            _ => {}
        }
        Ok(())
    }
}

fn is_operator(expr: Expr<'_>) -> bool {
    matches!(expr, Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..))
}

fn repeat(
    nfa: &mut Nfa,
    (body, min, max): (ExprId, u32, Option<u32>),
    mut from: NfaStateId,
    to: NfaStateId,
    stack: &mut Vec<(ExprId, NfaStateId, NfaStateId)>,
    meter: &mut Meter,
) -> Result<(), Failure> {
    for done in 0..max.unwrap_or(min) {
        meter.nondeterministic_states(nfa.state_count())?;
        if done >= min {
            nfa.epsilon(from, to);
        }
        let next = nfa.state();
        stack.push((body, from, next));
        from = next;
    }
    if max.is_none() {
        // A loop at a state of its own: `from` may have other ways on.
        let middle = nfa.state();
        nfa.epsilon(from, middle);
        stack.push((body, middle, middle));
        from = middle;
    }
    nfa.epsilon(from, to);
    Ok(())
}

/// Copies an automaton in between two states; `write` adds a state's arcs.
fn embed(
    value: &RangeDfa,
    nfa: &mut Nfa,
    from: NfaStateId,
    to: NfaStateId,
    meter: &mut Meter,
    mut write: impl FnMut(&mut Nfa, NfaStateId, &[CharArc<NfaStateId>]),
) -> Result<(), Failure> {
    // The copies are consecutive, so a target is its number plus `base`.
    let base = NfaStateId::from_index(nfa.state_count());
    for _ in 0..value.state_count() {
        nfa.state();
    }
    // The start of a copy may be entered again from inside. An edge that reads nothing keeps these loops away
    // from `from`.
    nfa.epsilon(from, base);
    let mut arcs = Vec::new();
    for state in value.states() {
        // Charged at each state: a repeat copies the same automaton many times.
        meter.spend(value.arcs(state).len() + 1)?;
        meter.nondeterministic_states(nfa.state_count())?;
        arcs.clear();
        arcs.extend(value.arcs(state).iter().map(|arc| CharArc {
            lo: code_point(arc.lo),
            hi: code_point(arc.hi),
            to: base.plus(arc.to.index()),
        }));
        let copy = base.plus(state.index());
        write(nfa, copy, &arcs);
        if value.is_final(state) {
            nfa.epsilon(copy, to);
        }
    }
    Ok(())
}
