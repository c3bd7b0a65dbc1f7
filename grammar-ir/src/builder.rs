//! Building grammars with checks.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use smallvec::SmallVec;

use crate::char_class::CharRange;
use crate::char_class::{complement_ranges, is_normalized, normalize_ranges};
use crate::dispatch::DispatchData;
use crate::dispatch::{AfterDispatch, DispatchEnd, Pattern, TagDispatch};
use crate::equality::{Rules, counterparts};
use crate::error::GrammarError;
use crate::error::GrammarErrorKind;
use crate::expr::{Expr, Node, Pools, Slice};
use crate::grammar::{Grammar, Rule};
use crate::hash::{HashMap, hash_of};
use crate::ids::{ExprId, RuleId};
use crate::interrupt::{Interrupt, Interrupted};
use crate::json_escapes::JsonEscapes;
use crate::permutation::Counts;
use crate::permutation::Occurrence;
use crate::rule_options::RuleOptions;
use crate::span::Span;
use crate::token::TokenRef;

/// Builds a [`Grammar`].
///
/// Rules are declared first and defined later, so that they can refer to one another. Expression constructors
/// keep a few normal forms: no empty literal, no sequence or choice of fewer than two parts, no sequence
/// directly inside a sequence. So a grammar that is printed and parsed back is the same grammar.
#[derive(Clone, Debug, Default)]
pub struct GrammarBuilder {
    rules: Vec<PendingRule>,
    /// The rules by their names; the names themselves are kept in `rules` alone.
    names: HashTable<RuleId>,
    pools: Pools,
    /// The first limit or bound that an expression broke; reported by `finish`, so that expression
    /// constructors need not return a `Result` each.
    failure: Option<GrammarErrorKind>,
    common: Vec<RuleId>,
    /// Repeats whose bounds are swapped, with the bounds.
    swapped: HashMap<ExprId, (u32, u32)>,
    interrupt: Interrupt,
}

#[derive(Clone, Debug)]
struct PendingRule {
    name: Box<str>,
    body: Option<ExprId>,
    lookahead: Option<ExprId>,
    options: RuleOptions,
    span: Option<Span>,
}

/// Most expressions, rules, literal bytes or ranges that one grammar may hold.
const LIMIT: usize = u32::MAX as usize - 1;

/// Most operands of sequences, choices and intersections taken together. Splicing a shared sequence copies
/// its parts, so a few dozen calls could otherwise ask for any amount of memory.
const OPERAND_LIMIT: usize = 1 << 24;

/// Expressions between two looks at the interrupt.
const BETWEEN_CHECKS: usize = 1024;

/// The most common rules of grammars that were copied into one: each further grammar is compared with them.
const MAX_COMMON: usize = 64;

/// The most expressions of such a rule that are compared.
const MAX_COMMON_EXPRESSIONS: usize = 1 << 14;

impl Rules for GrammarBuilder {
    fn pools(&self) -> &Pools {
        &self.pools
    }

    fn plain_body(&self, rule: RuleId) -> Option<ExprId> {
        let rule = &self.rules[rule.index()];
        rule.body.filter(|_| rule.lookahead.is_none() && rule.options.is_empty())
    }
}

impl GrammarBuilder {
    /// A builder without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder without rules, with room for about this number of expressions. Growing from nothing is a
    /// good part of the work for a small grammar.
    pub fn with_capacity(expressions: usize) -> Self {
        Self {
            rules: Vec::with_capacity(expressions / 8),
            names: HashTable::with_capacity(expressions / 8),
            pools: Pools::with_capacity(expressions),
            ..Self::default()
        }
    }

    /// The same builder, which fails once the interrupt has come: where the next rule is declared or defined, and at the
    /// end.
    #[must_use]
    pub fn interrupted_by(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Why the building was stopped from outside, if it was.
    pub fn interrupted(&self) -> Option<Interrupted> {
        match self.failure {
            Some(GrammarErrorKind::Interrupted(reason)) => Some(reason),
            _ => None,
        }
    }

    /// Declares a rule that [`define`](Self::define) gives a body later. Fails if the name is taken.
    pub fn declare(&mut self, name: &str) -> Result<RuleId, GrammarError> {
        match self.try_declare(name)? {
            Some(id) => Ok(id),
            None => {
                let kind = GrammarErrorKind::RuleDefinedTwice { name: name.to_owned() };
                Err(GrammarError::new(kind, None))
            }
        }
    }

    /// Declares a rule, unless the name is taken.
    fn try_declare(&mut self, name: &str) -> Result<Option<RuleId>, GrammarError> {
        self.check_interrupt()?;
        let Self { rules, names, .. } = self;
        // The table has numbers only; the names themselves are in the rules, once.
        let entry = names.entry(
            hash_of(name),
            |&id: &RuleId| &*rules[id.index()].name == name,
            |&id| hash_of(&*rules[id.index()].name),
        );
        let Entry::Vacant(place) = entry else { return Ok(None) };
        let id = RuleId::new(rules.len()).ok_or_else(|| {
            GrammarError::new(GrammarErrorKind::TooLarge { what: "rules", limit: LIMIT }, None)
        })?;
        place.insert(id);
        rules.push(PendingRule {
            name: name.into(),
            body: None,
            lookahead: None,
            options: RuleOptions::default(),
            span: None,
        });
        Ok(Some(id))
    }

    /// Declares a rule named `hint`, or `hint_1`, `hint_2`, ... if that name is taken.
    pub fn declare_fresh(&mut self, hint: &str) -> Result<RuleId, GrammarError> {
        if let Some(id) = self.try_declare(hint)? {
            return Ok(id);
        }
        let mut number = self.rules.len();
        let mut name: SmallVec<[u8; 64]> = SmallVec::new();
        loop {
            name.clear();
            name.extend_from_slice(hint.as_bytes());
            name.push(b'_');
            push_decimal(&mut name, number);
            if let Some(id) =
                self.try_declare(std::str::from_utf8(&name).expect("a text, a sign and digits"))?
            {
                return Ok(id);
            }
            number += 1;
        }
    }

    /// Gives a declared rule its body. Fails if it has one.
    pub fn define(&mut self, rule: RuleId, body: ExprId) -> Result<(), GrammarError> {
        self.check_interrupt()?;
        let pending = &mut self.rules[rule.index()];
        if pending.body.is_some() {
            let kind = GrammarErrorKind::RuleDefinedTwice { name: pending.name.to_string() };
            return Err(GrammarError::new(kind, pending.span));
        }
        pending.body = Some(body);
        Ok(())
    }

    /// Declares and defines a rule in one go.
    pub fn add_rule(&mut self, name: &str, body: ExprId) -> Result<RuleId, GrammarError> {
        let rule = self.declare(name)?;
        self.define(rule, body)?;
        Ok(rule)
    }

    /// Records a written lookahead. It is printed and has no effect on the language.
    pub fn set_lookahead(&mut self, rule: RuleId, lookahead: ExprId) {
        self.rules[rule.index()].lookahead = Some(lookahead);
    }

    /// Gives a declared rule its options, instead of those it had.
    pub fn set_options(&mut self, rule: RuleId, options: RuleOptions) {
        self.rules[rule.index()].options = options;
    }

    /// Records the place of a rule in its source.
    pub fn set_span(&mut self, rule: RuleId, span: Span) {
        self.rules[rule.index()].span = Some(span);
    }

    /// Marks a rule, with all that it refers to, as one that other grammars are likely to have too. Its
    /// compiled form may be kept and used again; the meaning of the grammar does not change. A whole is best marked before
    /// its parts, which are then not looked for.
    pub fn add_common(&mut self, rule: RuleId) {
        self.common.push(rule);
    }

    /// The declared rule of that name.
    pub fn rule_by_name(&self, name: &str) -> Option<RuleId> {
        let is_it = |&id: &RuleId| &*self.rules[id.index()].name == name;
        self.names.find(hash_of(name), is_it).copied()
    }

    /// An expression made so far.
    pub fn expr(&self, id: ExprId) -> Expr<'_> {
        self.pools.view(id)
    }

    /// Whether an expression made so far reads a token as a whole.
    pub fn reads_tokens(&self) -> bool {
        self.pools.nodes.iter().any(|node| matches!(node, Node::Token(_) | Node::ExcludeToken(_)))
    }

    /// The body of a rule; `None` while the rule is only declared.
    pub fn body(&self, rule: RuleId) -> Option<ExprId> {
        self.rules[rule.index()].body
    }

    /// The empty string.
    pub fn empty(&mut self) -> ExprId {
        self.push(Node::Empty)
    }

    /// Nothing at all: a class without characters.
    pub fn never(&mut self) -> ExprId {
        self.class([])
    }

    /// A literal text.
    pub fn literal(&mut self, text: &str) -> ExprId {
        self.bytes(text.as_bytes())
    }

    /// A literal byte string, which need not be UTF-8.
    pub fn bytes(&mut self, bytes: &[u8]) -> ExprId {
        if bytes.is_empty() {
            return self.empty();
        }
        let slice = self.slice(self.pools.bytes.len(), bytes.len());
        self.pools.bytes.extend_from_slice(bytes);
        self.push(Node::Bytes(slice))
    }

    /// One character out of inclusive ranges, in any order.
    pub fn class(&mut self, ranges: impl IntoIterator<Item = CharRange>) -> ExprId {
        let ranges: SmallVec<[CharRange; 8]> = ranges.into_iter().collect();
        match is_normalized(&ranges) {
            true => self.push_class(&ranges),
            false => self.push_class(&normalize_ranges(ranges)),
        }
    }

    /// One character outside inclusive ranges.
    pub fn negated_class(&mut self, ranges: impl IntoIterator<Item = CharRange>) -> ExprId {
        let ranges = complement_ranges(&normalize_ranges(ranges));
        self.push_class(&ranges)
    }

    /// Any one character.
    pub fn any_char(&mut self) -> ExprId {
        self.push_class(&[('\0', char::MAX)])
    }

    /// All parts, one after the other. Sequences among the parts are spliced in, empty strings are dropped.
    pub fn sequence(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        // The sequence that all begins with, if it does; the other parts.
        let mut first: Option<(ExprId, Slice)> = None;
        let mut flat: SmallVec<[ExprId; 8]> = SmallVec::new();
        for part in parts {
            match self.pools.nodes[part.index()] {
                Node::Empty => {}
                Node::Sequence(slice) if flat.is_empty() && first.is_none() => first = Some((part, slice)),
                Node::Sequence(slice) => {
                    if flat.len() + slice.len as usize > OPERAND_LIMIT {
                        self.fail_with("operands", OPERAND_LIMIT);
                        return part;
                    }
                    flat.extend_from_slice(&self.pools.children[slice.range()]);
                }
                _ => flat.push(part),
            }
        }
        match (first, flat.as_slice()) {
            (None, []) => self.empty(),
            (None, [only]) => *only,
            (Some((only, _)), []) => only,
            (first, _) => {
                let slice = self.extend_children(first.map(|(_, slice)| slice), &flat);
                self.push(Node::Sequence(slice))
            }
        }
    }

    /// Any of the alternatives; none at all matches nothing.
    pub fn choice(&mut self, alternatives: impl IntoIterator<Item = ExprId>) -> ExprId {
        let alternatives: SmallVec<[ExprId; 8]> = alternatives.into_iter().collect();
        match alternatives.as_slice() {
            [] => self.never(),
            [only] => *only,
            _ => {
                let slice = self.push_children(&alternatives);
                self.push(Node::Choice(slice))
            }
        }
    }

    /// The body, or the empty string.
    pub fn optional(&mut self, body: ExprId) -> ExprId {
        self.repeat(body, 0, Some(1))
    }

    /// The body `min` to `max` times, `None` for any number from `min` on.
    pub fn repeat(&mut self, body: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if (min, max) == (1, Some(1)) {
            return body;
        }
        if max == Some(0) && min == 0 {
            return self.empty();
        }
        let id = self.push(Node::Repeat { body, min, max });
        if let Some(max) = max
            && max < min
        {
            self.swapped.insert(id, (min, max));
        }
        id
    }

    /// A reference to a rule.
    pub fn rule(&mut self, rule: RuleId) -> ExprId {
        self.push(Node::Rule(rule))
    }

    /// The texts that all operands match. See [`Expr::Intersection`](crate::Expr::Intersection).
    pub fn intersection(&mut self, operands: impl IntoIterator<Item = ExprId>) -> ExprId {
        let operands: Vec<ExprId> = operands.into_iter().collect();
        match operands.as_slice() {
            [] => {
                let any = self.any_char();
                self.repeat(any, 0, None)
            }
            [only] => *only,
            _ => {
                let slice = self.push_children(&operands);
                self.push(Node::Intersection(slice))
            }
        }
    }

    /// The texts that the operand does not match. See [`Expr::Complement`](crate::Expr::Complement).
    pub fn complement(&mut self, operand: ExprId) -> ExprId {
        self.push(Node::Complement(operand))
    }

    /// The texts of the operand, spelled inside a JSON string in every way. See
    /// [`Expr::JsonEscaped`](crate::Expr::JsonEscaped).
    pub fn json_escaped(&mut self, operand: ExprId) -> ExprId {
        self.json_escaped_as(operand, JsonEscapes::Any)
    }

    /// The texts of the operand, spelled inside a JSON string with some escapes.
    pub fn json_escaped_as(&mut self, operand: ExprId, escapes: JsonEscapes) -> ExprId {
        self.push(Node::JsonEscaped(operand, escapes))
    }

    /// One token out of a set, taken as a whole. No tokens: matches nothing.
    pub fn token(&mut self, tokens: impl IntoIterator<Item = impl Into<TokenRef>>) -> ExprId {
        let tokens = sorted(tokens);
        if tokens.is_empty() {
            return self.never();
        }
        let slice = self.push_tokens(tokens);
        self.push(Node::Token(slice))
    }

    /// One token outside a set. See [`Expr::ExcludeToken`](crate::Expr::ExcludeToken).
    pub fn exclude_token(&mut self, tokens: impl IntoIterator<Item = impl Into<TokenRef>>) -> ExprId {
        let slice = self.push_tokens(sorted(tokens));
        self.push(Node::ExcludeToken(slice))
    }

    /// A literal in which the names of special tokens stand for those tokens. See
    /// [`Expr::TagText`](crate::Expr::TagText).
    pub fn tag_text(&mut self, text: &str) -> ExprId {
        if text.is_empty() {
            return self.empty();
        }
        let slice = self.slice(self.pools.bytes.len(), text.len());
        self.pools.bytes.extend_from_slice(text.as_bytes());
        self.push(Node::TagText(slice))
    }

    /// Free text in which tags start structures.
    pub fn tag_dispatch(&mut self, dispatch: TagDispatch) -> ExprId {
        let TagDispatch { triggers, stops, excludes, after, end, least } = dispatch;
        let (triggers, bodies): (Vec<Pattern>, Vec<ExprId>) = triggers.into_iter().unzip();
        let data = DispatchData {
            triggers: triggers.into(),
            stops: stops.into(),
            excludes: excludes.into(),
            after,
            end,
        };
        match (least, after) {
            (0, _) => self.push_dispatch(data, &bodies),
            (1, AfterDispatch::End) => {
                self.push_dispatch(DispatchData { end: DispatchEnd::AfterDispatch, ..data }, &bodies)
            }
            (_, AfterDispatch::End) => {
                self.failure.get_or_insert(GrammarErrorKind::DispatchTooFew { least });
                self.never()
            }
            // The first tags one by one, each with the free text before it, and then any number. The copies
            // share the triggers' bodies.
            (_, AfterDispatch::Loop) => {
                let (after, end) = (AfterDispatch::End, DispatchEnd::AfterDispatch);
                let one = self.push_dispatch(DispatchData { after, end, ..data.clone() }, &bodies);
                let owed = self.repeat(one, least, Some(least));
                let others = self.push_dispatch(data, &bodies);
                self.sequence([owed, others])
            }
        }
    }

    /// Tokens in which some, the triggers, start structures: any tokens but the triggers and the excluded ones,
    /// and after a trigger its body. It may end everywhere between tokens, or with [`AfterDispatch::End`] there
    /// and after the first body. Written with token expressions, a repeat and a choice.
    pub fn token_tag_dispatch(
        &mut self,
        triggers: &[(TokenRef, ExprId)],
        excludes: &[TokenRef],
        after: AfterDispatch,
    ) -> ExprId {
        let others = triggers.iter().map(|(token, _)| token).chain(excludes);
        let other = self.exclude_token(others.cloned());
        let mut tags = Vec::with_capacity(triggers.len() + 1);
        for (token, body) in triggers {
            let token = self.token([token.clone()]);
            tags.push(self.sequence([token, *body]));
        }
        match after {
            AfterDispatch::Loop => {
                tags.push(other);
                let one = self.choice(tags);
                self.repeat(one, 0, None)
            }
            AfterDispatch::End => {
                let free = self.repeat(other, 0, None);
                let tag = self.choice(tags);
                let tag = self.optional(tag);
                self.sequence([free, tag])
            }
        }
    }

    /// Parts in any order with a separator between any two, `min` (at least 1) to `max` of them. See
    /// [`Expr::Permutation`](crate::Expr::Permutation). Matches nothing where the bounds leave no room for the
    /// required parts, or ask for more parts than there are.
    pub fn permutation(
        &mut self,
        separator: ExprId,
        parts: impl IntoIterator<Item = (ExprId, Occurrence)>,
        min: u32,
        max: Option<u32>,
    ) -> ExprId {
        let mut parts: Vec<(ExprId, Occurrence)> = parts.into_iter().collect();
        // Required, optional, repeatable: then counts say where each kind begins. The sort is stable, so
        // parts of a kind keep their order.
        parts.sort_by_key(|part| part.1);
        let count = |wanted: Occurrence| {
            let count = parts.iter().filter(|part| part.1 == wanted).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let (required, optional) = (count(Occurrence::Required), count(Occurrence::Optional));
        let most =
            if count(Occurrence::Repeatable) > 0 { u32::MAX } else { required.saturating_add(optional) };
        // Bounds that follow from the parts are normalised, so that equal expressions are equal.
        let min = min.max(required).max(1);
        let max = max.filter(|&max| max < most);
        if min > max.unwrap_or(most) {
            return self.never();
        }
        let operands: Vec<ExprId> =
            [separator].into_iter().chain(parts.into_iter().map(|part| part.0)).collect();
        let slice = self.push_children(&operands);
        let place = u32::try_from(self.pools.counts.len()).unwrap_or(u32::MAX);
        self.pools.counts.push(Counts { required, optional, min, max });
        self.push(Node::Permutation(slice, place))
    }

    /// Checks the grammar and hands it out.
    ///
    /// Fails if a rule has no body, if a repeat's bounds are swapped, or if the grammar is larger than the
    /// limits named in the crate's documentation. An operand of a regular operator must not be recursive. It
    /// must not hold a token, a tag dispatch, parts in any order, a rule with options or a literal that is
    /// not UTF-8. None of several parts in any order may be empty. No pattern of a tag dispatch may be empty
    /// or impossible to complete, and each tag dispatch needs a way to end.
    pub fn finish(self, root: RuleId) -> Result<Grammar, GrammarError> {
        if let Some(kind) = self.failure {
            return Err(GrammarError::new(kind, None));
        }
        let mut rules = Vec::with_capacity(self.rules.len());
        for pending in self.rules {
            let Some(body) = pending.body else {
                let kind = GrammarErrorKind::RuleNotDefined { name: pending.name.into() };
                return Err(GrammarError::new(kind, pending.span));
            };
            let PendingRule { name, lookahead, options, span, .. } = pending;
            rules.push(Rule { name, body, lookahead, options, span });
        }
        let grammar = Grammar { rules, pools: self.pools, root, common: self.common };
        crate::check::check(&grammar, &self.swapped)?;
        crate::check_dispatch::check(&grammar)?;
        Ok(grammar)
    }

    /// For each rule of a grammar the one that is here already, because it belongs to a common rule of both.
    pub(crate) fn common_with(&self, grammar: &Grammar) -> Vec<Option<RuleId>> {
        let mut known = vec![None; grammar.rule_count()];
        for &rule in grammar.common() {
            if known[rule.index()].is_some() {
                continue;
            }
            // Names that were taken have a number.
            let name = grammar.rule(rule).name();
            let namesakes = self.common.iter().filter(|ours| self.rules[ours.index()].name.starts_with(name));
            let found = namesakes
                .filter_map(|&ours| counterparts((self, ours), (grammar, rule), MAX_COMMON_EXPRESSIONS))
                .next();
            let found = found.into_iter().flat_map(|found| found.rules);
            known.iter_mut().zip(found).for_each(|(known, found)| *known = known.or(found));
        }
        known
    }

    /// Marks the common rules of a grammar that was copied; `new` are its rules here, where they were copied.
    pub(crate) fn add_common_of(&mut self, grammar: &Grammar, new: impl Fn(RuleId) -> Option<RuleId>) {
        let room = MAX_COMMON.saturating_sub(self.common.len());
        self.common.extend(grammar.common().iter().filter_map(|&rule| new(rule)).take(room));
    }

    /// Copies all rules and expressions of a grammar, and returns its root here. Names that are taken get a number.
    ///
    /// A finished grammar has its normal forms, so its pools are copied as they are, with their numbers moved.
    pub(crate) fn append(&mut self, grammar: &Grammar) -> Result<RuleId, GrammarError> {
        let (ours, theirs) = (&self.pools, &grammar.pools);
        self.has_room("expressions", (ours.nodes.len(), theirs.nodes.len()), LIMIT)?;
        self.has_room("operands", (ours.children.len(), theirs.children.len()), OPERAND_LIMIT)?;
        self.has_room("bytes", (ours.bytes.len(), theirs.bytes.len()), LIMIT)?;
        self.has_room("ranges", (ours.ranges.len(), theirs.ranges.len()), LIMIT)?;
        self.has_room("tokens", (ours.tokens.len(), theirs.tokens.len()), LIMIT)?;
        let (first, first_rule) = (ours.nodes.len(), self.rules.len());
        self.has_room("rules", (first_rule, grammar.rules.len()), LIMIT)?;
        let expr = |id: ExprId| ExprId::new(first + id.index()).expect("there is room");
        let rule = |id: RuleId| RuleId::new(first_rule + id.index()).expect("there is room");
        let ours = &mut self.pools;
        let moved = |pool: usize, Slice { start, len }: Slice| Slice { start: start + pool as u32, len };
        let children = |slice: Slice| moved(ours.children.len(), slice);
        let numbered = |pool: usize, place: u32| place + pool as u32;
        ours.nodes.extend(theirs.nodes.iter().map(|&node| match node {
            Node::Empty => node,
            Node::Bytes(slice) => Node::Bytes(moved(ours.bytes.len(), slice)),
            Node::TagText(slice) => Node::TagText(moved(ours.bytes.len(), slice)),
            Node::Class(slice) => Node::Class(moved(ours.ranges.len(), slice)),
            Node::Token(slice) => Node::Token(moved(ours.tokens.len(), slice)),
            Node::ExcludeToken(slice) => Node::ExcludeToken(moved(ours.tokens.len(), slice)),
            Node::Sequence(slice) => Node::Sequence(children(slice)),
            Node::Choice(slice) => Node::Choice(children(slice)),
            Node::Intersection(slice) => Node::Intersection(children(slice)),
            Node::Repeat { body, min, max } => Node::Repeat { body: expr(body), min, max },
            Node::Rule(id) => Node::Rule(rule(id)),
            Node::Complement(operand) => Node::Complement(expr(operand)),
            Node::JsonEscaped(operand, escapes) => Node::JsonEscaped(expr(operand), escapes),
            Node::TagDispatch(slice, place) => {
                Node::TagDispatch(children(slice), numbered(ours.dispatches.len(), place))
            }
            Node::Permutation(slice, place) => {
                Node::Permutation(children(slice), numbered(ours.counts.len(), place))
            }
        }));
        ours.children.extend(theirs.children.iter().map(|&id| expr(id)));
        ours.bytes.extend_from_slice(&theirs.bytes);
        ours.ranges.extend_from_slice(&theirs.ranges);
        ours.tokens.extend_from_slice(&theirs.tokens);
        ours.dispatches.extend_from_slice(&theirs.dispatches);
        ours.counts.extend_from_slice(&theirs.counts);
        for other in &grammar.rules {
            let id = self.declare_fresh(&other.name)?;
            let pending = &mut self.rules[id.index()];
            (pending.body, pending.lookahead) = (Some(expr(other.body)), other.lookahead.map(expr));
            pending.options = other.options.clone();
        }
        self.add_common_of(grammar, |common| Some(rule(common)));
        Ok(rule(grammar.root))
    }

    fn has_room(
        &self,
        what: &'static str,
        (present, more): (usize, usize),
        limit: usize,
    ) -> Result<(), GrammarError> {
        match present.saturating_add(more) <= limit {
            true => Ok(()),
            false => Err(GrammarError::new(GrammarErrorKind::TooLarge { what, limit }, None)),
        }
    }

    fn push_dispatch(&mut self, data: DispatchData, bodies: &[ExprId]) -> ExprId {
        let bodies = self.push_children(bodies);
        let Ok(index) = u32::try_from(self.pools.dispatches.len()) else {
            self.fail("tag dispatches");
            return self.never();
        };
        self.pools.dispatches.push(data);
        self.push(Node::TagDispatch(bodies, index))
    }

    fn push_tokens(&mut self, tokens: Vec<TokenRef>) -> Slice {
        let slice = self.slice(self.pools.tokens.len(), tokens.len());
        self.pools.tokens.extend(tokens);
        slice
    }

    fn check_interrupt(&self) -> Result<(), GrammarError> {
        let error = |reason| GrammarError::new(GrammarErrorKind::Interrupted(reason), None);
        self.interrupted().map_or(Ok(()), |reason| Err(error(reason)))
    }

    fn push(&mut self, node: Node) -> ExprId {
        if self.pools.nodes.len().is_multiple_of(BETWEEN_CHECKS) && self.failure.is_none() {
            self.failure = self.interrupt.check().err().map(GrammarErrorKind::Interrupted);
        }
        match ExprId::new(self.pools.nodes.len()) {
            Some(id) => {
                self.pools.nodes.push(node);
                id
            }
            None => {
                self.fail("expressions");
                // The builder has failed for good; `finish` reports it, and no id of it is read again.
                ExprId::new(0).expect("0 is an index")
            }
        }
    }

    fn push_class(&mut self, ranges: &[CharRange]) -> ExprId {
        let slice = self.slice(self.pools.ranges.len(), ranges.len());
        self.pools.ranges.extend_from_slice(ranges);
        self.push(Node::Class(slice))
    }

    fn push_children(&mut self, children: &[ExprId]) -> Slice {
        if self.pools.children.len() + children.len() > OPERAND_LIMIT {
            self.fail_with("operands", OPERAND_LIMIT);
            return Slice { start: 0, len: 0 };
        }
        let slice = self.slice(self.pools.children.len(), children.len());
        self.pools.children.extend_from_slice(children);
        slice
    }

    /// `first`, if any, and then the children. If `first` is last in the pool, the two share it, so that
    /// appending to a sequence again and again takes linear time.
    fn extend_children(&mut self, first: Option<Slice>, children: &[ExprId]) -> Slice {
        let Some(first) = first else {
            return self.push_children(children);
        };
        let first_range = first.range();
        if first_range.end != self.pools.children.len() {
            if self.pools.children.len() + first_range.len() > OPERAND_LIMIT {
                self.fail_with("operands", OPERAND_LIMIT);
                return first;
            }
            self.pools.children.extend_from_within(first_range);
        }
        let added = self.push_children(children);
        Slice { start: added.start.saturating_sub(first.len), len: first.len + added.len }
    }

    fn slice(&mut self, start: usize, len: usize) -> Slice {
        match (u32::try_from(start), u32::try_from(start + len), u32::try_from(len)) {
            (Ok(start), Ok(_), Ok(len)) => Slice { start, len },
            _ => {
                self.fail("bytes or ranges");
                Slice { start: 0, len: 0 }
            }
        }
    }

    fn fail(&mut self, what: &'static str) {
        self.fail_with(what, LIMIT);
    }

    fn fail_with(&mut self, what: &'static str, limit: usize) {
        self.failure.get_or_insert(GrammarErrorKind::TooLarge { what, limit });
    }
}

fn sorted(tokens: impl IntoIterator<Item = impl Into<TokenRef>>) -> Vec<TokenRef> {
    let mut tokens: Vec<TokenRef> = tokens.into_iter().map(Into::into).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

/// Writes a number: a large schema numbers hundreds of rules, and to format one takes longer than to declare it.
fn push_decimal(text: &mut SmallVec<[u8; 64]>, number: usize) {
    let start = text.len();
    let mut rest = number;
    loop {
        text.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text[start..].reverse();
}
