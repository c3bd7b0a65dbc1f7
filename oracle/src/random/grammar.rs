//! Random grammars with every construct of the IR.

use grammask_grammar_ir::{
    AfterDispatch, DispatchEnd, ExprId, Grammar, GrammarBuilder, GrammarError, JsonEscapes, Occurrence,
    Pattern, PatternPart, RuleId, TagDispatch, TokenRef,
};

use super::Rng;
use crate::recogniser::Recogniser;

/// Knobs of [`grammar`]. Fields named `..._weight` say how often a construct is chosen, relative to the others;
/// 0 switches it off.
#[derive(Clone, Debug)]
pub struct GrammarOptions {
    /// Most rules. Default 5.
    pub rules: usize,
    /// Most expressions above a leaf in one rule, at most 32. Default 4.
    pub depth: u32,
    /// Most parts of a sequence, choice or intersection. Default 3.
    pub parts: usize,
    /// Greatest bound of a counted repeat. Default 5.
    pub count: u32,
    /// Literals and classes with characters beyond ASCII, in percent. Default 15.
    pub unicode_percent: u32,
    /// Literals that are not UTF-8, in percent. Default 4.
    pub raw_bytes_percent: u32,
    /// Rules that get an alternative which begins with the rule itself, in percent. Default 15.
    pub left_recursion_percent: u32,
    /// Rules that get an alternative of twice the rule itself, in percent. Default 5.
    pub doubling_percent: u32,
    /// Repetitions and choices that contain an empty alternative, in percent. Default 15.
    pub nullable_percent: u32,
    /// Literals. Default 30.
    pub literal_weight: u32,
    /// Character classes. Default 15.
    pub class_weight: u32,
    /// Sequences. Default 25.
    pub sequence_weight: u32,
    /// Choices. Default 20.
    pub choice_weight: u32,
    /// `?`, `*` and `+`. Default 12.
    pub repeat_weight: u32,
    /// Repeats with other bounds. Default 6.
    pub counted_weight: u32,
    /// References to rules. Default 22.
    pub rule_weight: u32,
    /// The empty string. Default 2.
    pub empty_weight: u32,
    /// The weight of expressions that match nothing. Default 1.
    pub never_weight: u32,
    /// Intersections. Default 2.
    pub intersection_weight: u32,
    /// Intersections with a bound on the length, in percent. Default 0.
    pub bounded_percent: u32,
    /// Complements. Default 1.
    pub complement_weight: u32,
    /// JSON escaping. Default 2.
    pub json_weight: u32,
    /// Free text with tags. Default 0: tests of text alone have none.
    pub tag_weight: u32,
    /// Tokens that are taken as a whole. Default 0.
    pub token_weight: u32,
    /// Ids that token expressions may name are below this. Default 8.
    pub token_ids: u32,
    /// Parts in any order. Default 0: a naive test need not know them.
    pub permutation_weight: u32,
}

impl Default for GrammarOptions {
    fn default() -> Self {
        Self {
            rules: 5,
            depth: 4,
            parts: 3,
            count: 5,
            unicode_percent: 15,
            raw_bytes_percent: 4,
            left_recursion_percent: 15,
            doubling_percent: 5,
            nullable_percent: 15,
            literal_weight: 30,
            class_weight: 15,
            sequence_weight: 25,
            choice_weight: 20,
            repeat_weight: 12,
            counted_weight: 6,
            rule_weight: 22,
            empty_weight: 2,
            never_weight: 1,
            intersection_weight: 2,
            bounded_percent: 0,
            complement_weight: 1,
            json_weight: 2,
            tag_weight: 0,
            token_weight: 0,
            token_ids: 8,
            permutation_weight: 0,
        }
    }
}

impl GrammarOptions {
    /// Without regular operators: rules, and what context-free grammars are made of.
    pub fn context_free() -> Self {
        Self { intersection_weight: 0, complement_weight: 0, json_weight: 0, ..Self::default() }
    }

    /// With free text in which tags start structures.
    pub fn with_tags() -> Self {
        Self { tag_weight: 20, ..Self::default() }
    }

    /// With tags, and with tokens that are taken as a whole, of ids below this many.
    pub fn with_tokens(token_ids: u32) -> Self {
        Self { token_weight: 15, token_ids, ..Self::with_tags() }
    }

    /// With parts in any order.
    pub fn permutation() -> Self {
        Self { permutation_weight: 25, ..Self::default() }
    }

    /// With bounds on the length of texts that obey other conditions, too.
    pub fn bounded() -> Self {
        Self {
            rules: 2,
            intersection_weight: 80,
            repeat_weight: 80,
            never_weight: 0,
            bounded_percent: 90,
            complement_weight: 3,
            json_weight: 8,
            raw_bytes_percent: 0,
            left_recursion_percent: 0,
            ..Self::default()
        }
    }

    /// One rule, no references: a regular expression, with regular operators.
    pub fn regular() -> Self {
        Self {
            rules: 1,
            rule_weight: 0,
            raw_bytes_percent: 0,
            left_recursion_percent: 0,
            doubling_percent: 0,
            ..Self::default()
        }
    }
}

/// A grammar whose language is not empty.
pub fn grammar(rng: &mut Rng, options: &GrammarOptions) -> Grammar {
    loop {
        let grammar = any_grammar(rng, options);
        if !Recogniser::new(&grammar).is_language_empty() {
            return grammar;
        }
    }
}

/// A grammar, whose language may be empty.
pub fn any_grammar(rng: &mut Rng, options: &GrammarOptions) -> Grammar {
    build(rng, options).expect("names are fresh, rules are defined, and operands refer to later rules only")
}

fn build(rng: &mut Rng, options: &GrammarOptions) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let count = rng.between(1, options.rules.max(1));
    let mut rules = Vec::with_capacity(count);
    for index in 0..count {
        rules.push(builder.declare(&if index == 0 { "root".to_owned() } else { format!("r{index}") })?);
    }
    // The last rules are plain text without recursion, fit for the operands of regular operators.
    let first_text_rule = count - rng.below(count.div_ceil(2));
    for (index, &rule) in rules.iter().enumerate() {
        let place = match index < first_text_rule {
            true => Place::Anywhere,
            false => Place::Text { first_rule: index + 1, content: Content::Characters },
        };
        let mut writer =
            Writer { rng: &mut *rng, options, builder: &mut builder, rules: &rules, first_text_rule };
        let mut body = writer.expr(options.depth.min(32), place);
        if place == Place::Anywhere {
            body = writer.make_recursive(rule, body);
        }
        builder.define(rule, body)?;
    }
    // The marks come from a copy of the source, so that a seed makes the same grammar with or without them.
    let mut marks = rng.clone();
    if marks.percent(25) {
        rules.iter().filter(|_| marks.percent(40)).for_each(|&rule| builder.add_common(rule));
    }
    builder.finish(rules[0])
}

/// The expressions that a place may contain.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Anything.
    Anywhere,
    /// Operands of regular operators: references to rules from this one on only.
    Text { first_rule: usize, content: Content },
}

/// The letters of regular operators' operands.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    Characters,
    /// Characters, and tokens that are taken as a whole.
    Letters,
}

impl Place {
    fn takes_tokens(self) -> bool {
        matches!(self, Self::Anywhere | Self::Text { content: Content::Letters, .. })
    }
}

const KINDS: usize = 15;

struct Writer<'w> {
    rng: &'w mut Rng,
    options: &'w GrammarOptions,
    builder: &'w mut GrammarBuilder,
    rules: &'w [RuleId],
    first_text_rule: usize,
}

impl Writer<'_> {
    /// An expression of at most `depth` expressions above its leaves; `depth` bounds the recursion.
    fn expr(&mut self, depth: u32, place: Place) -> ExprId {
        let options = self.options;
        let below = |weight: u32| if depth == 0 { 0 } else { weight };
        let first_rule = match place {
            Place::Anywhere => 0,
            Place::Text { first_rule, .. } => first_rule,
        };
        let weights: [u32; KINDS] = [
            options.literal_weight,
            options.class_weight,
            options.empty_weight,
            options.never_weight,
            if first_rule < self.rules.len() { options.rule_weight } else { 0 },
            below(options.sequence_weight),
            below(options.choice_weight),
            below(options.repeat_weight),
            below(options.counted_weight),
            below(options.intersection_weight),
            below(options.complement_weight),
            below(options.json_weight),
            if place == Place::Anywhere { below(options.tag_weight) } else { 0 },
            if place.takes_tokens() { options.token_weight } else { 0 },
            if place == Place::Anywhere { below(options.permutation_weight) } else { 0 },
        ];
        // The operands of an intersection hold tokens wherever it may stand among them.
        let letters = match place {
            Place::Anywhere => Place::Text { first_rule: self.first_text_rule, content: Content::Letters },
            Place::Text { .. } => place,
        };
        let text = match letters {
            Place::Text { first_rule, .. } => Place::Text { first_rule, content: Content::Characters },
            Place::Anywhere => place,
        };
        match self.rng.weighted(&weights) {
            Some(1) => self.class(),
            Some(2) => self.builder.empty(),
            Some(3) => self.builder.never(),
            Some(4) => {
                let rule = self.rules[self.rng.between(first_rule, self.rules.len() - 1)];
                self.builder.rule(rule)
            }
            Some(5) => {
                let parts = self.exprs(depth - 1, place);
                self.builder.sequence(parts)
            }
            Some(6) => {
                let mut parts = self.exprs(depth - 1, place);
                if self.rng.percent(self.options.nullable_percent) {
                    parts.push(self.builder.empty());
                }
                self.builder.choice(parts)
            }
            Some(kind @ (7 | 8)) => {
                let mut body = self.expr(depth - 1, place);
                if self.rng.percent(self.options.nullable_percent) {
                    body = self.builder.optional(body);
                }
                let (min, max) = if kind == 7 { self.plain_bounds() } else { self.counted_bounds() };
                self.builder.repeat(body, min, max)
            }
            Some(9) => {
                let mut parts = self.exprs(depth - 1, letters);
                // Asked only where it is an option, so that a seed makes the same grammar without it.
                if options.bounded_percent > 0 && self.rng.percent(options.bounded_percent) {
                    // Several random operands mostly have no text in common.
                    if self.rng.percent(70) {
                        parts.truncate(1);
                    }
                    parts.push(self.length_bound());
                }
                self.builder.intersection(parts)
            }
            Some(10) => {
                let operand = self.expr(depth - 1, text);
                self.builder.complement(operand)
            }
            Some(11) => {
                let operand = self.expr(depth - 1, text);
                let escapes = JsonEscapes::ALL[self.rng.below(JsonEscapes::ALL.len())];
                self.builder.json_escaped_as(operand, escapes)
            }
            Some(12) => self.tag_dispatch(depth - 1),
            Some(13) => self.token(),
            Some(14) => self.permutation(depth - 1),
            _ => self.literal(place),
        }
    }

    /// A number of characters, mostly of any.
    fn length_bound(&mut self) -> ExprId {
        let class = if self.rng.percent(80) { self.builder.any_char() } else { self.class() };
        let min = if self.rng.percent(70) { 0 } else { self.rng.between(1, 3) };
        let max = self.rng.between(8, 40);
        self.builder.repeat(class, min as u32, Some(max as u32))
    }

    /// Free text with up to three tags, some of which are parts of others; those that can never be completed are
    /// left out.
    fn tag_dispatch(&mut self, depth: u32) -> ExprId {
        let mut dispatch = TagDispatch::new();
        for _ in 0..self.rng.below(4) {
            let (tag, body) = (self.pattern(), self.expr(depth, Place::Anywhere));
            dispatch.triggers.push((tag, body));
        }
        let stops = if self.rng.percent(40) { self.rng.between(1, 2) } else { 0 };
        let excludes = if self.rng.percent(40) { self.rng.between(1, 2) } else { 0 };
        dispatch.stops = (0..stops).map(|_| self.pattern()).collect();
        dispatch.excludes = (0..excludes).map(|_| self.pattern()).collect();
        if self.rng.percent(30) {
            dispatch.after = AfterDispatch::End;
        }
        if self.rng.percent(50) && stops > 0 {
            dispatch.end = DispatchEnd::AtStop;
        }
        if self.rng.percent(25) && !dispatch.triggers.is_empty() {
            dispatch.least = match dispatch.after {
                AfterDispatch::End => 1,
                AfterDispatch::Loop => self.rng.between(1, 2) as u32,
            };
        }
        match is_refused(&dispatch) {
            true => {
                let first = dispatch.triggers.into_iter().take(1);
                self.builder.tag_dispatch(TagDispatch { triggers: first.collect(), ..TagDispatch::new() })
            }
            false => self.builder.tag_dispatch(dispatch),
        }
    }

    fn pattern(&mut self) -> Pattern {
        let letters: &[char] = match self.rng.percent(self.options.unicode_percent) {
            true => &['é', 'è', '€', '😀', 'a'],
            false => &['a', 'a', 'b', 'b', 'c', '0'],
        };
        let count = self.rng.between(1, 3);
        let mut parts = Vec::new();
        for _ in 0..count {
            if self.options.token_weight > 0 && self.rng.percent(20) {
                parts.push(PatternPart::Token(TokenRef::Id(self.token_id())));
            } else {
                let letter = self.rng.pick(letters).copied().unwrap_or('a');
                parts.push(PatternPart::Text(letter.to_string().into()));
            }
        }
        parts.into_iter().collect()
    }

    fn token(&mut self) -> ExprId {
        let ids: Vec<u32> = (0..self.rng.between(1, 3)).map(|_| self.token_id()).collect();
        match self.rng.percent(30) {
            true => self.builder.exclude_token(ids),
            false => self.builder.token(ids),
        }
    }

    fn token_id(&mut self) -> u32 {
        self.rng.below(self.options.token_ids as usize) as u32
    }

    fn text_without_rules(&self) -> Place {
        Place::Text { first_rule: self.rules.len(), content: Content::Characters }
    }

    fn exprs(&mut self, depth: u32, place: Place) -> Vec<ExprId> {
        (0..self.rng.between(2, self.options.parts)).map(|_| self.expr(depth, place)).collect()
    }

    /// Parts in any order. Each begins with a literal: it must not be empty, nor begin with the expression
    /// that contains it.
    fn permutation(&mut self, depth: u32) -> ExprId {
        let count = self.rng.between(1, self.options.parts + 2);
        let mut parts = Vec::with_capacity(count);
        for _ in 0..count {
            let name = self.literal(self.text_without_rules());
            let value = self.expr(depth, Place::Anywhere);
            let part = if self.rng.percent(40) { name } else { self.builder.sequence([name, value]) };
            let occurrences = [Occurrence::Required, Occurrence::Optional, Occurrence::Repeatable];
            let occurrence = self.rng.pick(&occurrences).copied().unwrap_or(Occurrence::Optional);
            parts.push((part, occurrence));
        }
        let separator = match self.rng.percent(60) {
            true => self.builder.literal(","),
            false => self.expr(depth, self.text_without_rules()),
        };
        let (min, max) = match self.rng.percent(30) {
            true => self.counted_bounds(),
            false => (0, None),
        };
        self.builder.permutation(separator, parts, min, max)
    }

    fn plain_bounds(&mut self) -> (u32, Option<u32>) {
        *self.rng.pick(&[(0, Some(1)), (0, None), (1, None)]).unwrap_or(&(0, None))
    }

    fn counted_bounds(&mut self) -> (u32, Option<u32>) {
        let min = self.rng.below(self.options.count as usize + 1) as u32;
        let max = self.rng.between(min as usize, (self.options.count.max(min)) as usize) as u32;
        (min, self.rng.percent(75).then_some(max))
    }

    fn literal(&mut self, place: Place) -> ExprId {
        if place == Place::Anywhere && self.rng.percent(self.options.raw_bytes_percent) {
            let bytes: &[&[u8]] = &[b"\xFF", b"\xC3", b"\xA9", b"a\x80", b"\xE2\x82", b"\xF0\x9F"];
            let bytes = self.rng.pick(bytes).map_or(&[][..], |bytes| bytes);
            return self.builder.bytes(bytes);
        }
        let letters: &[char] = match self.rng.percent(self.options.unicode_percent) {
            true => &['é', 'è', '€', '\u{7FF}', '\u{D7FF}', '\u{E000}', '😀', '😁', '\u{10FFFF}', '\u{80}'],
            false => &['a', 'a', 'b', 'b', 'c', '0', '1', '"', '\\', '\n', '/', 'u', '\0'],
        };
        let text: String =
            (0..self.rng.between(1, 3)).filter_map(|_| self.rng.pick(letters).copied()).collect();
        self.builder.literal(&text)
    }

    fn class(&mut self) -> ExprId {
        let plain: &[(char, char)] =
            &[('a', 'b'), ('b', 'c'), ('a', 'z'), ('0', '9'), ('\0', '~'), ('"', '"'), ('\\', '\\')];
        let wide: &[(char, char)] = &[
            ('é', 'ê'),
            ('\u{80}', '\u{7FF}'),
            ('\u{700}', '\u{900}'),
            ('€', '\u{E010}'),
            ('😀', '😏'),
            ('\u{F000}', '\u{10400}'),
            ('\u{3F}', '\u{10FFFF}'),
        ];
        let from = if self.rng.percent(self.options.unicode_percent) { wide } else { plain };
        let ranges: Vec<_> =
            (0..self.rng.between(1, 2)).filter_map(|_| self.rng.pick(from).copied()).collect();
        match self.rng.percent(10) {
            true => self.builder.negated_class(ranges),
            false => self.builder.class(ranges),
        }
    }

    /// Maybe adds `rule x` and `rule rule` to the alternatives of a rule.
    fn make_recursive(&mut self, rule: RuleId, body: ExprId) -> ExprId {
        let mut alternatives = vec![body];
        if self.rng.percent(self.options.left_recursion_percent) {
            let (this, rest) = (self.builder.rule(rule), self.expr(1, Place::Anywhere));
            alternatives.push(self.builder.sequence([this, rest]));
        }
        if self.rng.percent(self.options.doubling_percent) {
            let this = self.builder.rule(rule);
            alternatives.push(self.builder.sequence([this, this]));
        }
        self.builder.choice(alternatives)
    }
}

/// Whether no grammar may hold the dispatch.
fn is_refused(dispatch: &TagDispatch) -> bool {
    let mut builder = GrammarBuilder::new();
    let body = builder.empty();
    let triggers = dispatch.triggers.iter().map(|(tag, _)| (tag.clone(), body)).collect();
    let expr = builder.tag_dispatch(TagDispatch { triggers, ..dispatch.clone() });
    builder.add_rule("root", expr).and_then(|root| builder.finish(root)).is_err()
}
