//! From expressions to automata.
//!
//! Thompson's construction (1968) gives every expression a start and an end of its own and joins them by
//! edges that read nothing, two for each operator. Here an expression is written *between two given states*.
//! A sequence needs a state between its parts and nothing else, the alternatives of a choice share both ends,
//! and a literal is a chain. That is exact as long as an expression adds no edge into its start and none out
//! of its end. Every case below keeps this; loops get a state of their own.
//!
//! The order of construction does not matter, so expressions that are still to be written lie on an explicit
//! stack, and deep grammars do not overflow.

use grammask_grammar_ir::hash::{HashMap, Hashing};
use grammask_grammar_ir::{CharRange, Dispatch, Expr, ExprId, Grammar, JsonEscapes, RuleId, TokenRef};
use smallvec::SmallVec;

use self::joined::Joined;
use crate::build::dispatch::{DispatchBuilder, DispatchFrame};
use crate::build::ids::RuleNumber;
use crate::build::plan::{Copies, Plan};
use crate::build::shared_rules::SharedMatch;
use crate::draft::automata::{Draft, DraftFragment, DraftRole, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId, NameId};
use crate::draft::names::{Names, name_edge};
use crate::draft::prebuilt::{PrebuiltFragment, PrebuiltStates};
use crate::encoding::escapes::{AnyEscape, Escapes, add_name};
use crate::encoding::literals::Literals;
use crate::encoding::long_text::is_long_text;
use crate::encoding::name_complement::NameComplement;
use crate::encoding::text_fragment::Classes;
use crate::encoding::utf8_encoder::{Utf8Cache, Utf8Encoder};
use crate::error::AutomataError;
use crate::error::Failure;
use crate::ids::{Id, IdVec, PartId, low_byte};
use crate::link::scope::{Parts, Scope};
use crate::options::{CompileOptions, PartSize};
use crate::program::tables::{BuildCost, Count, TokenSide};
use crate::text::chars::CharArc;
use crate::text::evaluate::Evaluator;
use crate::text::json_encoder::JsonEncoder;
use crate::text::spelling::{MAX_JSON_LEVELS, Spelling};
use grammask_grammar_ir::Toggle;

mod automata;
mod joined;
mod repeats;

/// Builds the automata of all rules that the root reaches.
pub(crate) fn build(
    grammar: &Grammar,
    options: &CompileOptions,
    Scope { root, parts, .. }: Scope<'_>,
    find_shared: &mut dyn FnMut(RuleId) -> Option<SharedMatch>,
) -> Result<(Draft, Places), AutomataError> {
    let mut shared: Vec<SharedMatch> = Vec::new();
    let plan = Plan::new(grammar, options, parts, root, |rule| {
        if shared.iter().any(|known| known.has(rule)) {
            return true;
        }
        let found = if grammar.common().contains(&rule) { find_shared(rule) } else { None };
        let is_known = found.is_some();
        shared.extend(found);
        is_known
    });
    let mut builder = Builder {
        grammar,
        options,
        parts,
        plain_rules: IdVec::of(DraftFragmentId::NONE, plan.rule_count()),
        plan,
        draft: Draft::with_capacity(if root == grammar.root() { grammar.expr_count() } else { SMALL_ROOM }),
        utf8: Utf8Cache::default(),
        escapes: Escapes::default(),
        json: JsonEncoder::default(),
        evaluator: Evaluator::new(grammar, options.text, options.interrupt.clone()),
        escaped_rules: HashMap::default(),
        counted: HashMap::default(),
        large_classes: HashMap::default(),
        texts: HashMap::default(),
        strings: HashMap::default(),
        permutation: HashMap::default(),
        classes: Classes::default(),
        operators: HashMap::default(),
        others: HashMap::default(),
        dispatches: HashMap::default(),
        body_fragments: HashMap::default(),
        names: HashMap::with_capacity_and_hasher(NAMES, Hashing),
        jobs: Vec::with_capacity(64),
        stack: Vec::with_capacity(64),
        literals: Literals::default(),
        arcs: Vec::new(),
        whole: None,
        is_counted_text: false,
        joined: None,
        joined_starts: IdVec::default(),
        work: 0,
    };
    // The root's fragment is the first of the draft. Shared rules follow before any job runs, so that jobs
    // find their copies.
    builder.rule_fragment(root, Place { rule: root, spelling: Spelling::PLAIN, copies: Copies::One });
    for rule in &shared {
        builder.copy_shared_rules(rule);
    }
    let mut next = 0;
    // A list of jobs instead of recursion: grammars may refer to rules in any depth. Jobs add further ones,
    // each fragment once.
    while let Some(&job) = builder.jobs.get(next) {
        builder.fragment(job).map_err(|failure| failure.in_rule(grammar.rule(job.rule).name()))?;
        next += 1;
    }
    let Builder { mut draft, plain_rules, counted, escapes, evaluator, .. } = builder;
    draft.cost = BuildCost {
        text_steps: evaluator.spent(),
        states: draft.states.len() + draft.prebuilt.next_state().index(),
    };
    Ok((draft, Places { rules: plain_rules, counted, any_escape: escapes.known_any() }))
}

/// Room for the states of a part of a grammar.
const SMALL_ROOM: usize = 1 << 10;

/// The places of grammar parts in the draft.
pub(crate) struct Places {
    /// The unchanged fragment of every rule.
    pub(crate) rules: IdVec<RuleNumber, DraftFragmentId>,
    /// The fragments of repeats: of a body, in a spelling.
    pub(crate) counted: HashMap<(ExprId, Spelling, Count), DraftFragmentId>,
    pub(crate) any_escape: AnyEscape<DraftFragmentId>,
}

/// Names for which there is room at first: the number that a schema of the median size declares.
const NAMES: usize = 28;

/// The surroundings of an expression.
#[derive(Clone, Copy)]
struct Place {
    /// The rule that contains it, which may have been written into another.
    rule: RuleId,
    /// How the text is spelled as JSON.
    spelling: Spelling,
    copies: Copies,
}

/// A fragment whose body is to be written.
#[derive(Clone, Copy)]
struct Job<'g> {
    fragment: DraftFragmentId,
    rule: RuleId,
    body: Body<'g>,
    spelling: Spelling,
}

/// An expression that is to be written between two states.
#[derive(Clone, Copy)]
struct Item<'g> {
    what: Body<'g>,
    from: DraftStateId,
    to: DraftStateId,
    place: Place,
}

#[derive(Clone, Copy)]
enum Body<'g> {
    One(ExprId),
    /// All of them, one after the other.
    All(&'g [ExprId]),
    /// All of them, which are a string with its quotes.
    String(&'g [ExprId]),
}

/// Ranges of a class that takes hundreds of states, such as all letters.
const LARGE_CLASS: usize = 64;

/// Copies of one large class; past them all others call one fragment.
const MAX_LARGE_COPIES: u32 = 32;

/// A class of characters, and how they are spelled.
type SpelledClass<'g> = (&'g [CharRange], Spelling);

/// Expressions written between two looks at the interrupt, some 0.1 ms.
const WORK_BETWEEN_CHECKS: usize = 1 << 10;

/// Expressions written between two looks at the size of the draft.
const WORK_BETWEEN_SIZES: usize = 1 << 3;

/// Counts a unit of work, and checks the limits on the size of the draft now and then.
fn check_limits(draft: &Draft, options: &CompileOptions, work: &mut usize) -> Result<(), Failure> {
    *work += 1;
    if !work.is_multiple_of(WORK_BETWEEN_SIZES) {
        return Ok(());
    }
    if work.is_multiple_of(WORK_BETWEEN_CHECKS) {
        options.interrupt.check()?;
    }
    check_size(draft, options, *work)
}

/// Checks the limits on the size of the draft.
fn check_size(draft: &Draft, options: &CompileOptions, work: usize) -> Result<(), Failure> {
    let states = draft.states.len() + draft.names.states + draft.prebuilt.next_state().index();
    let edges = draft.edges.len() + draft.names.edges + draft.prebuilt.edge_count();
    options.check_size(PartSize { states, edges: edges.max(work) })
}

struct Builder<'g> {
    grammar: &'g Grammar,
    options: &'g CompileOptions,
    parts: &'g Parts<'g>,
    plan: Plan,
    draft: Draft,
    utf8: Utf8Cache,
    escapes: Escapes,
    json: JsonEncoder<DraftStateId>,
    evaluator: Evaluator<'g>,
    /// The unchanged fragment of every rule.
    plain_rules: IdVec<RuleNumber, DraftFragmentId>,
    /// The fragments of rules spelled as JSON, by rule and spelling.
    escaped_rules: HashMap<(RuleId, Spelling), DraftFragmentId>,
    /// The fragments of repeats.
    counted: HashMap<(ExprId, Spelling, Count), DraftFragmentId>,
    /// Copies of large classes, and the fragments of those of which there are many.
    large_classes: HashMap<SpelledClass<'g>, (u32, Option<DraftFragmentId>)>,
    /// The fragments of texts of any length in JSON strings.
    texts: HashMap<ExprId, DraftFragmentId>,
    /// The fragments of long strings, by their parts.
    strings: HashMap<&'g [ExprId], DraftFragmentId>,
    /// The fragments of parts in any order.
    permutation: HashMap<ExprId, DraftFragmentId>,
    /// The fragments of regular operators in JSON strings and outside of them, and those of complements of names by the
    /// names.
    operators: HashMap<(ExprId, Option<JsonEscapes>), DraftFragmentId>,
    others: HashMap<JsonEscapes, HashMap<Vec<&'g [u8]>, DraftFragmentId>>,
    /// The fragments of tag dispatches, and of those of their bodies that are no rules.
    dispatches: HashMap<ExprId, DraftFragmentId>,
    body_fragments: HashMap<ExprId, DraftFragmentId>,
    /// The texts that are one edge each.
    names: HashMap<&'g [u8], NameId>,
    classes: Classes,
    /// The fragments met so far, in order.
    jobs: Vec<Job<'g>>,
    stack: Vec<Item<'g>>,
    literals: Literals<'g>,
    arcs: Vec<CharArc<DraftStateId>>,
    /// The expression that the current fragment reads.
    whole: Option<ExprId>,
    /// Whether it is counted, and nothing but text inside a JSON string.
    is_counted_text: bool,
    /// The rules that are joined in the current fragment.
    joined: Option<Joined>,
    /// For rules that are joined the fragment in which they were last, and the state in which they begin there.
    joined_starts: IdVec<RuleNumber, (DraftFragmentId, DraftStateId)>,
    /// Expressions written so far: bounds the copies of shared parts.
    work: usize,
}

impl<'g> Builder<'g> {
    /// Copies the rules that the grammar shares with others.
    fn copy_shared_rules(&mut self, shared: &SharedMatch) {
        let copied = shared.copy(&mut self.draft);
        for (rule, fragment) in copied.rules {
            // Rules that no others refer to have no number.
            if let Some(known) = self.plain_rules.get_mut(self.plan.numbers.of(rule)) {
                *known = fragment;
            }
        }
        for (body, count, fragment) in copied.counted {
            self.counted.insert((body, Spelling::PLAIN, count), fragment);
        }
        self.escapes.keep_any(copied.any_escape);
    }

    /// Whether a reference to the rule is to be replaced by its body.
    fn inlines(&self, rule: RuleId, place: Place) -> bool {
        let has_fragment = place.spelling.is_plain() && self.plain_rule(rule).is_some();
        !has_fragment && self.plan.inlines(rule, place.copies)
    }

    /// The unchanged fragment of a rule that has one.
    fn plain_rule(&self, rule: RuleId) -> Option<DraftFragmentId> {
        let known = self.plain_rules.get(self.plan.numbers.of(rule)).copied();
        known.filter(|&fragment| fragment != DraftFragmentId::NONE)
    }

    fn fragment(&mut self, job: Job<'g>) -> Result<(), Failure> {
        self.draft.current = job.fragment;
        self.whole = match job.body {
            Body::One(body) => Some(body),
            Body::All(_) | Body::String(_) => None,
        };
        let counted = self.draft.fragments[job.fragment].count;
        self.is_counted_text = match job.body {
            Body::One(body) if counted.is_some() => is_long_text(self.grammar, &[body]),
            _ => false,
        };
        let from = self.draft.fragments[job.fragment].start;
        let to = self.draft.state();
        self.draft.states[to].make_final();
        let place = Place { rule: job.rule, spelling: job.spelling, copies: Copies::One };
        self.stack.push(Item { what: job.body, from, to, place });
        self.joined = None;
        if !self.plan.joined.is_empty() {
            self.join_rules(job, (from, to));
        }
        // An explicit stack: expressions nest as deep as the grammar's source.
        while let Some(item) = self.stack.pop() {
            self.check_limits()?;
            match item.what {
                Body::One(id) => self.expression(id, item)?,
                Body::All(parts) => self.sequence(parts, item),
                Body::String(parts) => self.chain(parts, item),
            }
        }
        check_size(&self.draft, self.options, self.work)
    }

    fn check_limits(&mut self) -> Result<(), Failure> {
        check_limits(&self.draft, self.options, &mut self.work)
    }

    fn expression(&mut self, id: ExprId, item: Item<'g>) -> Result<(), Failure> {
        let Item { from, to, place, .. } = item;
        match self.grammar.expr(id) {
            Expr::Empty => self.draft.epsilon(from, to),
            Expr::Bytes(bytes) => self.literal(bytes, item)?,
            Expr::Class(ranges) => self.class(id, ranges, item),
            Expr::Sequence(parts) => self.sequence(parts, item),
            Expr::Choice(alternatives) => self.choice(alternatives, item)?,
            // Special cases come before the general ones of the same kind. Each accepts the same texts in
            // fewer states, or in a fragment that others share.
            Expr::Repeat { body, min: 0 | 1, max: None } if self.is_text(id, body, item) => {
                self.text_call(id, item);
            }
            Expr::Repeat { body, min, max } => self.repeat(body, min, max, item),
            Expr::Permutation(permutation) => self.permutation(id, permutation, item),
            Expr::Rule(rule) if self.inlines(rule, place) => {
                let what = Body::One(self.grammar.rule(rule).body());
                self.stack.push(Item { what, place: Place { rule, ..place }, ..item });
            }
            Expr::Rule(rule) => self.reference(rule, item),
            Expr::JsonEscaped(operand, JsonEscapes::Any)
                if place.spelling.is_plain() && self.name(operand, from, to) => {}
            Expr::JsonEscaped(operand, escapes) => {
                if place.spelling.levels() == MAX_JSON_LEVELS {
                    let what = "levels of JSON strings inside one another";
                    let limit = usize::try_from(MAX_JSON_LEVELS).unwrap_or(usize::MAX);
                    return Err(Failure::Limit { what, limit, knob: None });
                }
                let place = Place { spelling: place.spelling.inside(escapes), ..place };
                self.stack.push(Item { what: Body::One(operand), place, ..item });
            }
            Expr::Complement(operand) if self.other_names(id, operand, item) => {}
            Expr::TagText(text) => self.literal(text.as_bytes(), item)?,
            Expr::Token(tokens) => self.token(tokens, TokenSide::Inside, item)?,
            Expr::ExcludeToken(tokens) => self.token(tokens, TokenSide::Outside, item)?,
            Expr::TagDispatch(dispatch) => {
                let fragment = self.dispatch_fragment(id, &dispatch, place)?;
                self.draft.edge(from, Label::call(fragment), to);
            }
            // Intersections and complements, and regular operators to come.
            _ => self.operator(id, item)?,
        }
        Ok(())
    }

    /// Calls the fragment of all texts but a few, if the operand of a complement is such a set of names.
    fn other_names(&mut self, id: ExprId, operand: ExprId, item: Item<'g>) -> bool {
        let Some(escapes) = item.place.spelling.only() else { return false };
        let fragment = match self.operators.get(&(id, Some(escapes))) {
            Some(&fragment) => fragment,
            None => {
                let names = self.evaluator.literals(operand);
                let Some(names) = names.and_then(|names| NameComplement::new(names, escapes)) else {
                    return false;
                };
                // Different expressions may list the same names, so fragments are found by the names, too.
                let others = self.others.entry(escapes).or_default();
                let fragment = match others.get(names.sorted()) {
                    Some(&fragment) => fragment,
                    None => {
                        let rule = item.place.rule;
                        let mut output = Utf8Encoder {
                            draft: &mut self.draft,
                            cache: &mut self.utf8,
                            escapes: &mut self.escapes,
                        };
                        let all = (escapes, &[(0, u32::from(char::MAX))][..]);
                        let any_escape = output.json_class_escapes(&mut self.json, all);
                        let escapes = (&mut self.escapes, escapes);
                        let fragment = names.write_others(&mut self.draft, escapes, any_escape, rule);
                        others.insert(names.into_sorted(), fragment);
                        fragment
                    }
                };
                self.operators.insert((id, Some(escapes)), fragment);
                fragment
            }
        };
        self.draft.edge(item.from, Label::call(fragment), item.to);
        true
    }

    fn token(&mut self, tokens: &[TokenRef], side: TokenSide, item: Item<'g>) -> Result<(), Failure> {
        let label = self.draft.labels.of(tokens, side)?;
        self.draft.edge(item.from, Label::token(label), item.to);
        Ok(())
    }

    /// The fragment of a tag dispatch; its bodies are fragments of their own, so that tags are calls.
    fn dispatch_fragment(
        &mut self,
        id: ExprId,
        dispatch: &Dispatch<'g>,
        place: Place,
    ) -> Result<DraftFragmentId, Failure> {
        if let Some(&fragment) = self.dispatches.get(&id) {
            return Ok(fragment);
        }
        let mut bodies = IdVec::with_capacity(dispatch.bodies.len());
        for &body in dispatch.bodies {
            self.check_limits()?;
            bodies.push(match (self.grammar.expr(body), self.body_fragments.get(&body)) {
                (Expr::Rule(rule), _) => self.rule_fragment(rule, place),
                (_, Some(&fragment)) => fragment,
                _ => {
                    let fragment = self.add_fragment(place.rule, Body::One(body), place.spelling, None);
                    self.body_fragments.insert(body, fragment);
                    fragment
                }
            });
        }
        let current = self.draft.current;
        let fragment = self.draft.fragment(Some(place.rule), None);
        // Before the bodies are written, because a tag may contain the dispatch that it belongs to.
        self.dispatches.insert(id, fragment);
        let from = self.draft.fragments[fragment].start;
        let builder = DispatchBuilder::new(dispatch, &mut self.draft.labels, self.options)?;
        let options = self.options;
        let mut work = self.work;
        let mut check = |draft: &Draft| check_limits(draft, options, &mut work);
        builder.write(&mut self.draft, &mut DispatchFrame { bodies: &bodies, from, check: &mut check })?;
        self.work = work;
        self.draft.current = current;
        Ok(fragment)
    }

    /// Adds an edge that reads a text in a JSON string, if the operand is one.
    fn name(&mut self, operand: ExprId, from: DraftStateId, to: DraftStateId) -> bool {
        let Expr::Bytes(text) = self.grammar.expr(operand) else { return false };
        if !Names::may_hold(text) {
            return false;
        }
        let name = match self.names.get(text) {
            Some(&name) => name,
            None => {
                let name = add_name(&mut self.draft, &mut self.escapes, text);
                self.names.insert(text, name);
                name
            }
        };
        name_edge(&mut self.draft, from, name, to);
        true
    }

    fn literal(&mut self, bytes: &[u8], Item { mut from, to, place, .. }: Item<'g>) -> Result<(), Failure> {
        if place.spelling.is_plain() {
            let (&last, others) = bytes.split_last().unwrap_or((&0, &[]));
            for &byte in others {
                self.check_limits()?;
                let next = self.draft.state();
                self.draft.bytes(from, byte, byte, next);
                from = next;
            }
            self.draft.bytes(from, last, last, to);
            return Ok(());
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Failure::not_text(bytes))?;
        // Inside a string each character is itself or an escape, so it is spelled as a class of one
        // character.
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            self.check_limits()?;
            let next = if characters.peek().is_some() { self.draft.state() } else { to };
            let code = u32::from(character);
            self.spell(from, &[CharArc { lo: code, hi: code, to: next }], place.spelling);
            from = next;
        }
        Ok(())
    }

    fn class(&mut self, id: ExprId, ranges: &'g [CharRange], Item { from, to, place, .. }: Item<'g>) {
        if ranges.is_empty() {
            self.draft.dead_parts.push((from, Some(place.rule)));
        }
        if let Some(fragment) = self.large_class(id, ranges, place) {
            self.draft.edge(from, Label::call(fragment), to);
            return;
        }
        let mut arcs = std::mem::take(&mut self.arcs);
        arcs.clear();
        arcs.extend(ranges.iter().map(|&(lo, hi)| CharArc { lo: u32::from(lo), hi: u32::from(hi), to }));
        self.spell(from, &arcs, place.spelling);
        self.arcs = arcs;
    }

    /// The fragment of a large class, where it was written often.
    fn large_class(&mut self, id: ExprId, ranges: &'g [CharRange], place: Place) -> Option<DraftFragmentId> {
        if ranges.len() < LARGE_CLASS || self.whole == Some(id) {
            return None;
        }
        let key = (ranges, place.spelling);
        let (copies, known) = self.large_classes.get(&key).copied().unwrap_or_default();
        if copies < MAX_LARGE_COPIES {
            self.large_classes.insert(key, (copies + 1, None));
            return None;
        }
        if known.is_none() {
            let fragment = self.add_fragment(place.rule, Body::One(id), place.spelling, None);
            self.large_classes.insert(key, (copies, Some(fragment)));
            return Some(fragment);
        }
        known
    }

    fn spell(&mut self, from: DraftStateId, arcs: &[CharArc<DraftStateId>], spelling: Spelling) {
        let is_ascii = || arcs.iter().all(|arc| arc.lo == arc.hi && arc.hi < 0x80);
        if spelling.only() == Some(JsonEscapes::Any) && !arcs.is_empty() && is_ascii() {
            return self.spell_ascii(from, arcs);
        }
        let mut output =
            Utf8Encoder { draft: &mut self.draft, cache: &mut self.utf8, escapes: &mut self.escapes };
        self.json.spell(&mut output, from, arcs, spelling);
    }

    /// Single ASCII characters inside a JSON string, the material of names and constants.
    fn spell_ascii(&mut self, from: DraftStateId, arcs: &[CharArc<DraftStateId>]) {
        let escape = self.draft.state();
        for arc in arcs {
            let byte = low_byte(arc.lo);
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                self.draft.bytes(from, byte, byte, arc.to);
            }
            let fragment = self.escapes.of(&mut self.draft, char::from(byte));
            self.draft.edge(escape, Label::call(fragment), arc.to);
        }
        self.draft.bytes(from, b'\\', b'\\', escape);
    }

    /// The parts, which are some, one after the other.
    fn chain(&mut self, parts: &'g [ExprId], Item { mut from, to, place, .. }: Item<'g>) {
        for (at, &part) in parts.iter().enumerate() {
            let next = if at + 1 == parts.len() { to } else { self.draft.state() };
            self.stack.push(Item { what: Body::One(part), from, to: next, place });
            from = next;
        }
    }

    /// The parts, one after the other; long strings among them are calls.
    fn sequence(&mut self, mut parts: &'g [ExprId], item: Item<'g>) {
        let Item { mut from, to, place, .. } = item;
        if parts.is_empty() {
            return self.draft.epsilon(from, to);
        }
        while let [first, rest @ ..] = parts {
            let string = if place.spelling.is_plain() { self.string_in(parts) } else { None };
            let (what, mut rest) = match string {
                Some(string) => (Body::String(string), &parts[string.len()..]),
                None => (Body::One(*first), rest),
            };
            let next = match rest {
                [] => to,
                _ if self.joined.is_some() => self.state_before(&mut rest, to, place),
                _ => self.draft.state(),
            };
            match what {
                Body::String(string) => self.string_call(string, from, next, place),
                what => self.stack.push(Item { what, from, to: next, place }),
            }
            (parts, from) = (rest, next);
        }
    }

    /// The string with which some parts begin, quotes included, if it may be long and the current fragment
    /// holds more. Its inside is the same in all places, and masks of fragments are shared, also between
    /// grammars.
    fn string_in(&self, parts: &'g [ExprId]) -> Option<&'g [ExprId]> {
        let is_quote = |id: &ExprId| matches!(self.grammar.expr(*id), Expr::Bytes(b"\""));
        let [first, others @ ..] = parts else { return None };
        if !is_quote(first) {
            return None;
        }
        let middle = &others[..others.iter().position(is_quote)?];
        let string = &parts[..middle.len() + 2];
        let is_cut = match middle {
            // A repeat is a fragment already, with or without bounds.
            [part] => !matches!(self.grammar.expr(*part), Expr::Repeat { .. }),
            _ => true,
        };
        let whole = self.whole.map(|whole| self.grammar.expr(whole));
        let is_whole = || matches!(whole, Some(Expr::Sequence(whole)) if whole == string);
        (is_cut && is_long_text(self.grammar, middle) && !is_whole()).then_some(string)
    }

    /// Calls the fragment of a string.
    fn string_call(&mut self, string: &'g [ExprId], from: DraftStateId, to: DraftStateId, place: Place) {
        let fragment = match self.strings.get(string) {
            Some(&fragment) => fragment,
            None => {
                let fragment = self.add_fragment(place.rule, Body::String(string), place.spelling, None);
                self.strings.insert(string, fragment);
                fragment
            }
        };
        self.draft.edge(from, Label::call(fragment), to);
    }

    /// Alternatives that begin with a literal are gathered in a trie, the others are written side by side.
    fn choice(&mut self, alternatives: &'g [ExprId], item: Item<'g>) -> Result<(), Failure> {
        let Item { from, to, place, .. } = item;
        if self.options.literal_tries == Toggle::Off {
            self.stack.extend(alternatives.iter().map(|&id| Item { what: Body::One(id), ..item }));
            return Ok(());
        }
        let mut literals = std::mem::take(&mut self.literals);
        literals.clear();
        let mut pending: SmallVec<[(ExprId, Place); 8]> =
            alternatives.iter().map(|&id| (id, place)).collect();
        while let Some((id, place)) = pending.pop() {
            self.check_limits()?;
            let other = Item { what: Body::One(id), place, ..item };
            match self.grammar.expr(id) {
                Expr::Choice(nested) => pending.extend(nested.iter().map(|&id| (id, place))),
                Expr::Rule(rule) if self.inlines(rule, place) => {
                    pending.push((self.grammar.rule(rule).body(), Place { rule, ..place }));
                }
                Expr::Bytes(bytes) => literals.push(bytes, &[], place.rule),
                Expr::Sequence(parts @ [first, rest @ ..]) if place.spelling.is_plain() => {
                    match self.grammar.expr(*first) {
                        // The string would be cut in its first byte.
                        Expr::Bytes(_) if self.string_in(parts).is_some() => self.stack.push(other),
                        Expr::Bytes(bytes) => literals.push(bytes, rest, place.rule),
                        _ => self.stack.push(other),
                    }
                }
                _ => self.stack.push(other),
            }
        }
        if place.spelling.is_plain() {
            let (stack, options, work) = (&mut self.stack, self.options, &mut self.work);
            let push = |tail, rule, from| {
                let place = Place { rule, ..place };
                stack.push(Item { what: Body::All(tail), from, to, place });
            };
            let check = |draft: &Draft| check_limits(draft, options, work);
            literals.write_trie(&mut self.draft, (from, to), push, check)?;
        } else if let Some(automaton) = literals.text_trie()? {
            self.embed(&automaton, item)?;
        }
        self.literals = literals;
        Ok(())
    }

    /// Whether a repeat is text of any length inside a JSON string, within a fragment that holds more than
    /// the string. The texts inside of it are the same in all places, and masks of fragments are shared, also
    /// between grammars. But this holds only if a fragment ends with the text, or with the quote after it.
    fn is_text(&self, id: ExprId, body: ExprId, item: Item<'g>) -> bool {
        let is_class = |id| match self.grammar.expr(id) {
            Expr::Class(ranges) => ranges.len() > 1 || ranges.iter().any(|(first, last)| first != last),
            _ => false,
        };
        let is_quote = |id: &ExprId| matches!(self.grammar.expr(*id), Expr::Bytes(b"\""));
        let holds_more = || match self.whole.map(|whole| self.grammar.expr(whole)) {
            Some(Expr::Sequence([first, middle @ .., last])) => {
                !(middle.contains(&id) && is_quote(first) && is_quote(last))
            }
            _ => self.whole != Some(id),
        };
        // Where an iteration ends in the middle of a string, the engine has to see what follows.
        !self.is_counted_text
            && item.place.spelling.is_plain()
            && matches!(self.grammar.expr(body), Expr::JsonEscaped(class, _) if is_class(class))
            && holds_more()
    }

    /// Calls the fragment of a text of any length.
    fn text_call(&mut self, id: ExprId, Item { from, to, place, .. }: Item<'g>) {
        let fragment = match self.texts.get(&id) {
            Some(&fragment) => fragment,
            None => {
                let fragment = self.add_fragment(place.rule, Body::One(id), place.spelling, None);
                self.texts.insert(id, fragment);
                fragment
            }
        };
        self.draft.edge(from, Label::call(fragment), to);
    }

    fn rule_fragment(&mut self, rule: RuleId, place: Place) -> DraftFragmentId {
        let known = if place.spelling.is_plain() {
            self.plain_rule(rule)
        } else {
            self.escaped_rules.get(&(rule, place.spelling)).copied()
        };
        if let Some(fragment) = known {
            return fragment;
        }
        let fragment = match self.parts.of(rule) {
            // Not below JSON escaping: that was found out before.
            Some(number) => self.linked_fragment(rule, number),
            None => self.add_fragment(rule, Body::One(self.grammar.rule(rule).body()), place.spelling, None),
        };
        if place.spelling.is_plain() {
            // A rule that is written was met, so it has a number. Those below known rules alone are not written.
            self.plain_rules[self.plan.numbers.of(rule)] = fragment;
            self.draft.fragments[fragment].stands_for_rule = true;
        } else {
            self.escaped_rules.insert((rule, place.spelling), fragment);
        }
        fragment
    }

    /// Adds the fragment for automata that were compiled before.
    fn linked_fragment(&mut self, rule: RuleId, number: PartId) -> DraftFragmentId {
        let at = self.draft.prebuilt.next_state();
        let states = PrebuiltStates { first: at, end: at };
        self.draft.fragments.push(DraftFragment {
            rule: Some(rule),
            name: None,
            prebuilt: Some(PrebuiltFragment { states, start: at }),
            linked: Some(number),
            start: DraftStateId::NONE,
            count: None,
            nullable: self.parts.is_nullable(number),
            role: DraftRole::None,
            stands_for_rule: true,
        })
    }

    /// Adds a fragment without leaving the current one.
    fn add_fragment(
        &mut self,
        rule: RuleId,
        body: Body<'g>,
        spelling: Spelling,
        count: Option<Count>,
    ) -> DraftFragmentId {
        let current = self.draft.current;
        let fragment = self.draft.fragment(Some(rule), count);
        self.draft.current = current;
        self.jobs.push(Job { fragment, rule, body, spelling });
        fragment
    }
}
