//! From formats to a grammar.
//!
//! Every format becomes an expression. The end of a tag needs care: free text stops at the first place where
//! an end is complete. So free text at the end of a tag is lowered *together with* the end
//! ([`FormatLowering::terminated`]), as stop strings of one dispatch. Text and end in a sequence would be the
//! same language, read in two ways at every byte with which an end may begin.

use std::borrow::Cow;
use std::sync::Arc;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{
    AfterDispatch, ExprId, Grammar, GrammarBuilder, Interrupt, Pattern, RuleId, TagDispatch, TokenRef, passes,
};

use super::embedded_schema::{EmbeddedSchema, GrammarSkeleton, SchemaContent};
use super::ends::{LastParts, first_before_end};
use super::format::{
    AfterMatch, AnyTokens, Begin, Dispatch, End, Format, JsonSchemaFormat, Minimum, Tag, TagsWithSeparator,
    TriggeredTags,
};
use super::options::StructuralTagOptions;
use super::place::{Place, embedded, grammar_error, unsupported};
use super::tag_parts::{TagExtent, TagTemplate};
use super::text_search::Prefixes;
use crate::diagnostic::Diagnostics;
use crate::diagnostic::Result;
use crate::ebnf;
use crate::json_schema::{Compiled, SharedWork};
use crate::regex::{self, Dialect, PatternBudget, RegexLimits, RegexOptions};

/// The grammar of a format, and the warnings of its schemas.
pub(super) fn lower(
    format: &Format,
    options: &StructuralTagOptions,
) -> Result<(Grammar, Vec<String>), Diagnostics> {
    let mut lowering = FormatLowering::new(options, SchemaPlacement::Inlined);
    let grammar = lowering.run(format).map_err(|error| Diagnostics::from(*error))?;
    Ok((grammar, lowering.warnings))
}

/// The grammar of a format, with rules that stand for its schemas.
pub(super) fn skeleton(
    format: &Format,
    options: &StructuralTagOptions,
) -> Result<GrammarSkeleton, Diagnostics> {
    let mut lowering = FormatLowering::new(options, SchemaPlacement::Separate);
    let grammar = lowering.run(format).map_err(|error| Diagnostics::from(*error))?;
    Ok(lowering.skeleton(grammar))
}

/// The grammar of a format with a rule instead of its tags, of which there is one list. `None` where the list
/// is not of one trigger or with a separator, or there are schemas beside it.
pub(super) fn template(format: &Format, options: &StructuralTagOptions) -> Option<TagTemplate> {
    let mut lowering =
        FormatLowering { gap: Gap::Expected, ..FormatLowering::new(options, SchemaPlacement::Separate) };
    let grammar = lowering.run(format).ok()?;
    match lowering.gap {
        Gap::Placed { rule: gap, extent } if lowering.separate.is_empty() => {
            Some(TagTemplate { grammar, gap, extent })
        }
        _ => None,
    }
}

/// The schema that a format is, where nothing speaks against it.
pub(super) fn lone_schema(format: &Format) -> Option<EmbeddedSchema> {
    let Format::JsonSchema(it) = format else { return None };
    let is_supported = it.excludes.is_empty() || it.style.written().notation().is_none();
    let none = RuleId::new(0).filter(|_| is_supported)?;
    Some(SchemaContent::new(it).at(none, "".into()))
}

/// The content and the end of a tag.
pub(super) fn content_and_end(tag: &Tag, options: &StructuralTagOptions) -> Result<GrammarSkeleton> {
    let mut lowering = FormatLowering::new(options, SchemaPlacement::Separate);
    let place = Place::root("", usize::MAX);
    let grammar = lowering.rooted(&place, |this| this.terminated(&tag.content, &tag.end, &place))?;
    Ok(lowering.skeleton(grammar))
}

/// The rule that stands for the tags of a frame.
#[derive(Clone, Debug)]
enum Gap {
    /// There is no frame.
    None,
    /// No tags were met.
    Expected,
    /// It is placed.
    Placed { rule: RuleId, extent: TagExtent },
}

/// Whether the grammars of schemas join the whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPlacement {
    /// They do.
    Inlined,
    /// A rule stands for each.
    Separate,
}

pub(super) struct FormatLowering<'o> {
    pub(super) builder: GrammarBuilder,
    options: &'o StructuralTagOptions,
    placement: SchemaPlacement,
    /// SchemaPlacement that were met, by their text and how they are written.
    schemas: HashMap<Arc<str>, ExprId>,
    /// Those that are left out.
    separate: Vec<EmbeddedSchema>,
    /// The warnings of those that are not left out.
    warnings: Vec<String>,
    schema_work: SharedWork,
    /// Grammars in EBNF that were lowered.
    grammars: HashMap<Box<str>, ExprId>,
    /// Patterns that were lowered; the number of a call is one for every tool.
    patterns: HashMap<Box<str>, ExprId>,
    gap: Gap,
    /// The costly parts that patterns may still have.
    pattern_budget: PatternBudget,
}

impl<'o> FormatLowering<'o> {
    fn new(options: &'o StructuralTagOptions, placement: SchemaPlacement) -> Self {
        Self {
            builder: GrammarBuilder::new().interrupted_by(options.json_schema.interrupt.clone()),
            options,
            placement,
            schemas: HashMap::default(),
            separate: Vec::new(),
            warnings: Vec::new(),
            schema_work: SharedWork::new(&options.json_schema.limits, 0),
            grammars: HashMap::default(),
            patterns: HashMap::default(),
            gap: Gap::None,
            pattern_budget: PatternBudget::new(&RegexLimits::default()),
        }
    }

    fn run(&mut self, format: &Format) -> Result<Grammar> {
        let place = Place::root("/format", usize::MAX);
        self.rooted(&place, |this| this.format(format, &place))
    }

    /// The grammar whose root has this body.
    fn rooted(
        &mut self,
        place: &Place<'_>,
        body: impl FnOnce(&mut Self) -> Result<ExprId>,
    ) -> Result<Grammar> {
        let root = self.builder.declare("root").map_err(|error| grammar_error(place, &error))?;
        let body = body(self)?;
        self.builder.define(root, body).map_err(|error| grammar_error(place, &error))?;
        std::mem::take(&mut self.builder).finish(root).map_err(|error| grammar_error(place, &error))
    }

    /// A grammar with rules that stand for the schemas that were met.
    fn skeleton(self, grammar: Grammar) -> GrammarSkeleton {
        GrammarSkeleton { grammar, schemas: self.separate, work: self.pattern_budget.work() }
    }

    /// The expression of a format with nothing around it.
    fn format(&mut self, format: &Format, place: &Place<'_>) -> Result<ExprId> {
        match format {
            Format::AnyText(text) => self.any_text(text, &[], place),
            Format::TriggeredTags(tags) => self.triggered_tags(tags, &[], place),
            Format::TokenTriggeredTags(tags) => self.token_triggered_tags(tags, None, place),
            Format::AnyTokens(tokens) => Ok(self.any_tokens(tokens, None)),
            Format::ExcludeToken(excluded) => Ok(self.builder.exclude_token(excluded.iter().cloned())),
            Format::Sequence(elements) => {
                let parts = self.each(elements, &place.key("elements"), Self::format)?;
                Ok(self.builder.sequence(parts))
            }
            Format::Or(elements) => {
                let parts = self.each(elements, &place.key("elements"), Self::format)?;
                Ok(self.builder.choice(parts))
            }
            Format::Optional(content) => {
                let content = self.format(content, &place.key("content"))?;
                Ok(self.builder.optional(content))
            }
            Format::Plus(content) => {
                let content = self.format(content, &place.key("content"))?;
                Ok(self.builder.repeat(content, 1, None))
            }
            Format::Star(content) => {
                let content = self.format(content, &place.key("content"))?;
                Ok(self.builder.repeat(content, 0, None))
            }
            Format::Repeat(repeat) => {
                let content = self.format(&repeat.content, &place.key("content"))?;
                Ok(self.builder.repeat(content, repeat.min, repeat.max))
            }
            Format::ConstString(text) => Ok(self.literal(text)),
            Format::JsonSchema(schema) => self.json_schema(schema, place),
            Format::Grammar(source) => self.grammar(source, place),
            Format::Regex(pattern) => self.regex(pattern, place),
            Format::Tag(tag) => self.tag(tag, place),
            Format::TagsWithSeparator(tags) => self.tags_with_separator(tags, place),
            Format::Dispatch(dispatch) => self.dispatch(dispatch, place),
            Format::TokenDispatch(dispatch) => self.token_dispatch(dispatch, place),
            Format::Token(token) => Ok(self.token(token)),
        }
    }

    /// The expression of each item of a list.
    fn each<T>(
        &mut self,
        items: &[T],
        list: &Place<'_>,
        mut lower: impl FnMut(&mut Self, &T, &Place<'_>) -> Result<ExprId>,
    ) -> Result<Vec<ExprId>> {
        items.iter().enumerate().map(|(index, item)| lower(self, item, &list.index(index))).collect()
    }

    /// The content of a tag and its end.
    fn terminated(&mut self, format: &Format, end: &End, place: &Place<'_>) -> Result<ExprId> {
        if let (Some(text), End::Texts(ends)) = (format.repeated_text(), end)
            && end.texts().next().is_some()
        {
            return self.any_text(text, ends, place);
        }
        match (format, end) {
            // The text ends at an excluded string at the latest.
            (Format::AnyText(_) | Format::TriggeredTags(_), End::Texts(ends))
                if ends.iter().all(|end| end.is_empty()) =>
            {
                self.format(format, place)
            }
            (Format::AnyText(text), End::Texts(ends)) => self.any_text(text, ends, place),
            (Format::TriggeredTags(tags), End::Texts(ends)) => self.triggered_tags(tags, ends, place),
            (Format::AnyTokens(tokens), End::Token(end)) => Ok(self.any_tokens(tokens, Some(end))),
            (Format::TokenTriggeredTags(tags), End::Token(end)) => {
                self.token_triggered_tags(tags, Some(end), place)
            }
            (Format::Sequence(elements), _) if Format::only_last_meets(elements, end) => {
                let at = place.key("elements");
                let others = elements.len().saturating_sub(1);
                let mut parts = self.each(&elements[..others], &at, Self::format)?;
                if let Some(last) = elements.last() {
                    parts.push(self.terminated(last, end, &at.index(others))?);
                }
                Ok(self.builder.sequence(parts))
            }
            (Format::Or(elements), _) if format.is_unlimited() => {
                let at = place.key("elements");
                let parts =
                    self.each(elements, &at, |this, element, place| this.terminated(element, end, place))?;
                Ok(self.builder.choice(parts))
            }
            // Nothing or text that ends: written out, so that the text is read with its end.
            (Format::Optional(content), _) if content.is_unlimited() => {
                let content = self.terminated(content, end, &place.key("content"))?;
                let end = self.end(end);
                Ok(self.builder.choice([content, end]))
            }
            _ => {
                if let Format::Sequence(elements) = format
                    && let Some(ways) = Format::last_parts(elements, end)
                {
                    return self.ways_to_end(elements, &ways, end, &place.key("elements"));
                }
                let content = self.format(&format.before_end(end), place)?;
                let end = self.end(end);
                Ok(self.builder.sequence([content, end]))
            }
        }
    }

    /// A sequence and its end, each way by itself.
    fn ways_to_end(
        &mut self,
        elements: &[Format],
        ways: &[LastParts],
        end: &End,
        list: &Place<'_>,
    ) -> Result<ExprId> {
        let most = ways.iter().map(|way| way.before).max().unwrap_or(0);
        let first = first_before_end(elements);
        // Each part as it is, and its content, which is lowered once.
        let mut before = Vec::with_capacity(most);
        let mut contents = Vec::with_capacity(most);
        for (index, element) in elements[..most].iter().enumerate() {
            let (at, is_text) = (list.index(index), element.repeated_text().is_some());
            let content = if index < first || is_text { element } else { element.once() };
            // A text that the end may follow in another way holds no end in this one either.
            let part = if index < first { Cow::Borrowed(content) } else { content.before_end(end) };
            let is_inside = !std::ptr::eq(content, element);
            let inside = at.key("content");
            let content = self.format(&part, if is_inside { &inside } else { &at })?;
            contents.push(content);
            before.push(match element {
                Format::Optional(_) if is_inside => self.builder.optional(content),
                Format::Star(_) if is_inside => self.builder.repeat(content, 0, None),
                _ => content,
            });
        }
        let mut all = Vec::with_capacity(ways.len());
        for &LastParts { before: count, last, text } in ways {
            let mut parts = before[..count].to_vec();
            if let Some(index) = last {
                let element = &elements[index];
                let at = list.index(index);
                let inside = at.key("content");
                let place = if std::ptr::eq(element.once(), element) { &at } else { &inside };
                let meets_end = text.is_none() && element.once().may_run_into(end);
                if meets_end {
                    parts.push(self.terminated(element.once(), end, place)?);
                } else {
                    let content = match contents.get(index) {
                        Some(&content) => content,
                        None => self.format(element.once(), place)?,
                    };
                    parts.push(match element {
                        Format::Star(_) => self.builder.repeat(content, 1, None),
                        _ => content,
                    });
                    if text.is_none() {
                        parts.push(self.end(end));
                    }
                }
            }
            match (last, text) {
                (_, Some(text)) => parts.push(self.terminated(&elements[text], end, &list.index(text))?),
                (None, None) => parts.push(self.end(end)),
                (Some(_), None) => {}
            }
            all.push(self.builder.sequence(parts));
        }
        Ok(self.builder.choice(all))
    }

    fn end(&mut self, end: &End) -> ExprId {
        match end {
            End::Texts(texts) => self.one_of(texts),
            End::Token(token) => self.token(token),
        }
    }

    pub(super) fn one_of(&mut self, texts: &[Box<str>]) -> ExprId {
        let texts: Vec<ExprId> = texts.iter().map(|text| self.literal(text)).collect();
        self.builder.choice(texts)
    }

    /// A literal, in which the names of special tokens are those tokens.
    pub(super) fn literal(&mut self, text: &str) -> ExprId {
        self.builder.tag_text(text)
    }

    fn token(&mut self, token: &TokenRef) -> ExprId {
        self.builder.token([token.clone()])
    }

    /// Beginning, content and end.
    fn tag(&mut self, tag: &Tag, place: &Place<'_>) -> Result<ExprId> {
        let begin = match &tag.begin {
            Begin::Text(text) => self.literal(text),
            Begin::Token(token) => self.token(token),
        };
        let rest = self.terminated(&tag.content, &tag.end, &place.key("content"))?;
        Ok(self.builder.sequence([begin, rest]))
    }

    fn tags(&mut self, tags: &[Tag], place: &Place<'_>) -> Result<Vec<ExprId>> {
        self.each(tags, &place.key("tags"), Self::tag)
    }

    fn triggered_tags(&mut self, it: &TriggeredTags, ends: &[Box<str>], place: &Place<'_>) -> Result<ExprId> {
        // In a frame, a rule stands for all tags of the one trigger.
        let mut gap = None;
        if let [trigger] = &*it.triggers {
            let extent = match it.minimum {
                Minimum::Zero => TagExtent::AfterTrigger(trigger.clone()),
                Minimum::One => TagExtent::AfterWrittenTrigger(trigger.clone()),
            };
            gap = self.gap(&extent, place)?.map(|tag| (trigger, tag));
        }
        let first = match it.minimum {
            Minimum::Zero => None,
            Minimum::One => {
                let one = match gap {
                    Some((trigger, tag)) => {
                        let trigger = self.literal(trigger);
                        self.builder.sequence([trigger, tag])
                    }
                    None => {
                        let tags = self.tags(&it.tags, place)?;
                        self.builder.choice(tags)
                    }
                };
                if it.after_match == AfterMatch::Stop {
                    return Ok(self.with_end(one, ends));
                }
                Some(if gap.is_none() { self.as_rule("tags", one, place)? } else { one })
            }
        };
        let mut dispatch = TagDispatch::new().after(after(it.after_match));
        match gap {
            Some((trigger, tag)) => dispatch.triggers.push((Pattern::from(&**trigger), tag)),
            None => self.add_triggers(&mut dispatch, it, place)?,
        }
        let rest = self.dispatched(dispatch, &it.excludes, ends, place)?;
        Ok(match first {
            Some(first) => self.builder.sequence([first, rest]),
            None => rest,
        })
    }

    /// The triggers, with the tags that begin with them.
    fn add_triggers(
        &mut self,
        dispatch: &mut TagDispatch,
        it: &TriggeredTags,
        place: &Place<'_>,
    ) -> Result<()> {
        let at = place.key("tags");
        // The tags of each trigger, and what comes after it.
        let mut tags: Vec<Vec<(usize, &Tag, &str)>> = vec![Vec::new(); it.triggers.len()];
        let prefixes = Prefixes::new(&it.triggers);
        for (index, tag) in it.tags.iter().enumerate() {
            let Begin::Text(begin) = &tag.begin else { continue };
            for trigger in prefixes.of(begin) {
                tags[trigger].push((index, tag, &begin[it.triggers[trigger].len()..]));
            }
        }
        for (trigger, tags) in it.triggers.iter().zip(tags) {
            let mut bodies = Vec::with_capacity(tags.len());
            for (index, tag, rest) in tags {
                let rest = self.literal(rest);
                let at_tag = at.index(index);
                let content = self.terminated(&tag.content, &tag.end, &at_tag.key("content"))?;
                bodies.push(self.builder.sequence([rest, content]));
            }
            // A trigger without tags stays text.
            if !bodies.is_empty() {
                let body = self.builder.choice(bodies);
                dispatch.triggers.push((Pattern::from(&**trigger), body));
            }
        }
        Ok(())
    }

    fn token_triggered_tags(
        &mut self,
        it: &TriggeredTags<TokenRef>,
        end: Option<&TokenRef>,
        place: &Place<'_>,
    ) -> Result<ExprId> {
        let tags = self.tags(&it.tags, place)?;
        let one = self.builder.choice(tags.iter().copied());
        let mut excludes = it.excludes.clone();
        excludes.extend(end.cloned());
        excludes.extend(it.triggers.iter().cloned());
        let other = self.builder.exclude_token(excludes);
        let body = match (it.minimum, it.after_match) {
            (Minimum::One, AfterMatch::Stop) => one,
            (Minimum::Zero, AfterMatch::Stop) => {
                let free = self.builder.repeat(other, 0, None);
                let tag = self.builder.optional(one);
                self.builder.sequence([free, tag])
            }
            (minimum, AfterMatch::Continue) => {
                let any = self.builder.choice([other, one]);
                let rest = self.builder.repeat(any, 0, None);
                match minimum {
                    Minimum::One => self.builder.sequence([one, rest]),
                    Minimum::Zero => rest,
                }
            }
        };
        Ok(self.with_token(body, end))
    }

    fn any_tokens(&mut self, it: &AnyTokens, end: Option<&TokenRef>) -> ExprId {
        let one = self.builder.exclude_token(it.excludes.iter().chain(end).cloned());
        // Every token is one of the loop's, so that counting its turns counts tokens.
        let body = self.builder.repeat(one, 0, it.max_tokens);
        self.with_token(body, end)
    }

    fn with_token(&mut self, body: ExprId, end: Option<&TokenRef>) -> ExprId {
        match end {
            Some(end) => {
                let end = self.token(end);
                self.builder.sequence([body, end])
            }
            None => body,
        }
    }

    fn tags_with_separator(&mut self, it: &TagsWithSeparator, place: &Place<'_>) -> Result<ExprId> {
        let one = match self.gap(&TagExtent::Whole, place)? {
            Some(tag) => tag,
            None => {
                let tags = self.tags(&it.tags, place)?;
                self.builder.choice(tags)
            }
        };
        let some = match it.after_match {
            AfterMatch::Stop => one,
            AfterMatch::Continue => {
                let one = self.as_rule("tags", one, place)?;
                let separator = self.literal(&it.separator);
                let more = self.builder.sequence([separator, one]);
                let more = self.builder.repeat(more, 0, None);
                self.builder.sequence([one, more])
            }
        };
        Ok(match it.minimum {
            Minimum::One => some,
            Minimum::Zero => self.builder.optional(some),
        })
    }

    fn dispatch(&mut self, it: &Dispatch, place: &Place<'_>) -> Result<ExprId> {
        let mut dispatch = TagDispatch::new().after(after(it.after_match));
        let rules = self.rules(&it.rules, place)?;
        dispatch.triggers.extend(rules.into_iter().map(|(trigger, body)| (Pattern::from(&*trigger), body)));
        self.dispatched(dispatch, &it.excludes, &[], place)
    }

    fn token_dispatch(&mut self, it: &Dispatch<TokenRef>, place: &Place<'_>) -> Result<ExprId> {
        let rules = self.rules(&it.rules, place)?;
        Ok(self.builder.token_tag_dispatch(&rules, &it.excludes, after(it.after_match)))
    }

    fn rules<T: Clone>(&mut self, all: &[(T, Format)], place: &Place<'_>) -> Result<Vec<(T, ExprId)>> {
        let bodies = self.each(all, &place.key("rules"), |this, (_, content), place| {
            this.format(content, &place.index(1))
        })?;
        Ok(all.iter().map(|(trigger, _)| trigger.clone()).zip(bodies).collect())
    }

    /// The rule that stands for the tags, where a frame is made.
    fn gap(&mut self, extent: &TagExtent, place: &Place<'_>) -> Result<Option<ExprId>> {
        let rule = match &self.gap {
            Gap::None => return Ok(None),
            Gap::Placed { rule, extent: placed } if placed == extent => *rule,
            Gap::Placed { .. } => {
                return Err(unsupported(place, "a second list of tags", "write one"));
            }
            Gap::Expected => {
                let body = self.builder.literal("tags");
                let rule = self.fresh("tags", body, place)?;
                self.gap = Gap::Placed { rule, extent: extent.clone() };
                rule
            }
        };
        Ok(Some(self.builder.rule(rule)))
    }

    /// A reference to a new rule with the body, for what is mentioned twice.
    fn as_rule(&mut self, name: &str, body: ExprId, place: &Place<'_>) -> Result<ExprId> {
        let rule = self.fresh(name, body, place)?;
        Ok(self.builder.rule(rule))
    }

    /// A new rule with the body.
    pub(super) fn fresh(&mut self, name: &str, body: ExprId, place: &Place<'_>) -> Result<RuleId> {
        let rule = self.builder.declare_fresh(name).map_err(|error| grammar_error(place, &error))?;
        self.builder.define(rule, body).map_err(|error| grammar_error(place, &error))?;
        Ok(rule)
    }

    fn json_schema(&mut self, it: &JsonSchemaFormat, place: &Place<'_>) -> Result<ExprId> {
        let content = SchemaContent::new(it);
        if let Some(&expr) = self.schemas.get(content.key()) {
            return Ok(expr);
        }
        if !it.excludes.is_empty() && it.style.written().notation().is_some() {
            let place = place.key("excludes");
            let message = "`excludes`: strings in this style cannot be kept from holding others";
            return Err(unsupported(&place, message, "leave it out, or use the style `json`"));
        }
        let prefix = match &it.origin {
            Some(origin) => origin.to_string(),
            None => place.key("json_schema").pointer(),
        };
        let key = Arc::clone(content.key());
        let expr = match self.placement {
            SchemaPlacement::Inlined => {
                let Compiled { grammar, report, work } =
                    content.compile(self.options, &prefix).map_err(Diagnostics::into_first)?;
                self.schema_work
                    .take(work, content.key().len())
                    .map_err(|error| Box::new((*error).with_pointer(&*prefix)))?;
                self.warnings.extend(report.warnings_at(&prefix));
                self.append(&grammar, place)?
            }
            SchemaPlacement::Separate => {
                let body = self.builder.literal("schema");
                let rule = self.fresh("schema", body, place)?;
                self.separate.push(content.at(rule, prefix.into()));
                self.builder.rule(rule)
            }
        };
        self.schemas.insert(key, expr);
        Ok(expr)
    }

    fn grammar(&mut self, source: &str, place: &Place<'_>) -> Result<ExprId> {
        if let Some(&expr) = self.grammars.get(source) {
            return Ok(expr);
        }
        let mut options = self.options.ebnf.clone();
        if self.options.json_schema.interrupt != Interrupt::never() {
            options.interrupt = self.options.json_schema.interrupt.clone();
        }
        let grammar = ebnf::parse_part(source, ebnf::Dialect::Ebnf, &options, &mut self.pattern_budget)
            .map_err(|errors| embedded(errors, &place.key("grammar"), "the grammar"))?;
        let expr = self.append(&grammar, place)?;
        self.grammars.insert(source.into(), expr);
        Ok(expr)
    }

    fn regex(&mut self, pattern: &str, place: &Place<'_>) -> Result<ExprId> {
        if let Some(&expr) = self.patterns.get(pattern) {
            return Ok(expr);
        }
        let options = RegexOptions { dialect: Dialect::Ecma, ..RegexOptions::default() };
        let expr = regex::compile_next(&mut self.builder, pattern, &options, &mut self.pattern_budget)
            .map_err(|errors| embedded(errors, &place.key("pattern"), "the pattern"))?;
        self.patterns.insert(pattern.into(), expr);
        Ok(expr)
    }

    /// A reference to the root of another grammar, whose rules join this one's.
    fn append(&mut self, grammar: &Grammar, place: &Place<'_>) -> Result<ExprId> {
        let root =
            passes::append(&mut self.builder, grammar).map_err(|error| grammar_error(place, &error))?;
        Ok(self.builder.rule(root))
    }
}

fn after(after_match: AfterMatch) -> AfterDispatch {
    match after_match {
        AfterMatch::Continue => AfterDispatch::Loop,
        AfterMatch::Stop => AfterDispatch::End,
    }
}
