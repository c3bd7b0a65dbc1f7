//! From what was written to the grammar.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use grammask_grammar_ir::{ExprId, GrammarBuilder, RuleId, RuleOptions, Span, TokenRef, passes};

use super::attributes::{Attributes, CapturedName};
use super::commit::{Leaf, LeafKind};
use super::common_terminals;
use super::fault::Fault;
use super::options::{LarkOptions, NamedGrammar};
use super::syntax::{File, RuleSyntax, Syntax};
use crate::diagnostic::closest;
use crate::json::JsonValue;
use crate::json_schema;
use crate::json_schema::value_syntax::ValueSyntax;
use crate::language::{at_most, shortest, substring};
use crate::regex::{self, ClassesLeft, LetterCase, RegexOptions};

/// Most ids that one special token expression may list, ranges written out.
const MAX_IDS: usize = 1 << 20;

/// The state that all sources of one grammar share.
pub(super) struct Shared<'o> {
    pub(super) builder: GrammarBuilder,
    pub(super) options: &'o LarkOptions,
    /// The start rules of grammars with names, so far as they were named.
    pub(super) named: HashMap<&'o str, RuleId>,
    /// Grammars with names that are written in Lark and were named, but not read yet.
    pub(super) unread: Vec<(&'o str, &'o str, RuleId)>,
    /// Large classes that patterns may still have.
    pub(super) classes_left: ClassesLeft,
    /// How many ends of rules were written out.
    pub(super) ends: usize,
    /// Whether places in the source are places in the text that the caller gave.
    pub(super) origin: SourceOrigin,
    /// Every terminal, literal and structure of a rule, if rules commit: what they derive is decided last.
    pub(super) leaves: Option<Vec<Leaf>>,
    /// Terminals that commit.
    pub(super) lazy_terminals: HashSet<RuleId>,
}

/// Which text is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceOrigin {
    /// The one that was given.
    Main,
    /// A grammar with a name.
    Named,
}

/// Whether skipped text may come between the parts of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpressionLevel {
    /// In a rule: it may, after each terminal and literal.
    Rule,
    /// In a terminal: it may not.
    Terminal,
}

/// Makes the rules of one source, or of one nested grammar.
pub(super) struct Scope<'a, 'o> {
    pub(super) shared: &'a mut Shared<'o>,
    source: &'a str,
    values: &'a [JsonValue],
    names: HashMap<&'a str, RuleId>,
    /// The text that may follow every terminal, if there is any.
    skipped: Option<RuleId>,
}

/// Makes the rules of a file and hands out its start rule. Recurses as deep as brackets nest.
pub(super) fn lower<'o>(
    shared: &mut Shared<'o>,
    source: &str,
    values: &[JsonValue],
    file: &File,
    report: &mut dyn FnMut(Fault),
) -> Option<RuleId> {
    let mut scope = Scope { shared, source, values, names: HashMap::new(), skipped: None };
    scope.file(file, report)
}

impl<'a> Scope<'a, '_> {
    fn file(&mut self, file: &File, report: &mut dyn FnMut(Fault)) -> Option<RuleId> {
        let mut rules = Vec::with_capacity(file.rules.len());
        for rule in &file.rules {
            match self.declare(rule.name) {
                Ok(id) => {
                    // Wrong attributes are reported later, when the rule is read.
                    let attributes = Attributes::read(self.source, &rule.attributes);
                    if is_terminal(self.text(rule.name)) && attributes.is_ok_and(|it| it.commits()) {
                        self.shared.lazy_terminals.insert(id);
                    }
                    rules.push((rule, id));
                }
                Err(fault) => report(fault),
            }
        }
        for import in &file.imports {
            if let Err(fault) = self.import(import.name, import.alias) {
                report(fault);
            }
        }
        for &name in &file.broken {
            // Its error was reported already; here it only keeps mentions of it from being called undefined.
            if !self.names.contains_key(self.text(name)) {
                _ = self.declare(name);
            }
        }
        let initial_skip = self.options(file, report);
        if let Err(fault) = self.ignored(&file.ignored) {
            report(fault);
        }
        for (rule, id) in rules {
            if self.shared.origin == SourceOrigin::Main {
                self.shared.builder.set_span(id, rule.name);
            }
            let body = match self.rule(rule, id) {
                Ok(body) => body,
                Err(fault) => {
                    report(fault);
                    self.shared.builder.never()
                }
            };
            if let Err(error) = self.shared.builder.define(id, body) {
                report(Fault::limit(error.to_string(), "make the grammar smaller"));
            }
        }
        let Some(&start) = self.names.get(&*self.shared.options.start) else {
            let start = &self.shared.options.start;
            let place = file.rules.first().map_or(Span::new(0, self.source.len()), |rule| rule.name);
            let hint = format!("name the rule that the text begins with `{start}`");
            report(Fault::new("lark/start", format!("there is no rule `{start}`"), hint, place));
            return None;
        };
        match (initial_skip, self.skipped) {
            (true, Some(skipped)) => self.after_skipped(skipped, start).map_err(&mut *report).ok(),
            _ => Some(start),
        }
    }

    /// A rule for skipped text and the start rule.
    fn after_skipped(&mut self, skipped: RuleId, start: RuleId) -> Result<RuleId, Fault> {
        let skipped = self.shared.builder.rule(skipped);
        let skipped = self.leaf("ignored", skipped, skipped, LeafKind::Text, None)?;
        let builder = &mut self.shared.builder;
        let parts = [skipped, builder.rule(start)];
        let body = builder.sequence(parts);
        self.fresh("start", body)
    }

    fn declare(&mut self, name: Span) -> Result<RuleId, Fault> {
        let text = self.text(name);
        if self.names.contains_key(text) {
            let message = format!("`{text}` is defined twice");
            let hint = "join the definitions with `|`, or rename one";
            return Err(Fault::new("lark/defined-twice", message, hint, name));
        }
        let rule = self.shared.builder.declare_fresh(text).map_err(|error| no_room(&error, name))?;
        self.names.insert(text, rule);
        Ok(rule)
    }

    fn import(&mut self, name: Span, alias: Span) -> Result<(), Fault> {
        let text = self.text(name);
        let Some(pattern) = common_terminals::pattern(text) else {
            // Mentions of it are no mistakes of their own.
            _ = self.declare(alias);
            let message = format!("the library `common` has no `{text}`");
            return Err(Fault::new("lark/import", message, "define the terminal in the grammar", name));
        };
        if self.names.contains_key(self.text(alias)) {
            let message = format!("`{}` is defined in the grammar already", self.text(alias));
            let hint =
                format!("leave one out, or import it under another name: `%import common.{text} -> OTHER`");
            return Err(Fault::new("lark/defined-twice", message, hint, alias));
        }
        let rule = self.declare(alias)?;
        let options = RegexOptions::default();
        let body = regex::compile_into(&mut self.shared.builder, pattern, &options)
            .map_err(|refused| Fault::limit(refused.to_string(), "make the grammar smaller").or_at(name))?;
        self.shared.builder.define(rule, body).map_err(|error| no_room(&error, name))
    }

    /// Reads the options, and says whether skipped text may come before everything else.
    fn options(&mut self, file: &File, report: &mut dyn FnMut(Fault)) -> bool {
        let mut initial_skip = false;
        for &(value, at) in &file.options {
            let Some(JsonValue::Object(options)) = self.values.get(value as usize) else {
                report(Fault::new(
                    "lark/options",
                    "options are a JSON object",
                    "write `{\"allow_initial_skip\": true}`",
                    at,
                ));
                continue;
            };
            for (name, value) in options.iter() {
                match (name, value) {
                    ("allow_initial_skip", &JsonValue::Bool(allowed)) => initial_skip = allowed,
                    // Masks are never narrowed to forced tokens, whatever is chosen.
                    ("no_forcing", JsonValue::Bool(_)) => {}
                    ("allow_invalid_utf8" | "ignore_once", JsonValue::Bool(false)) => {}
                    _ => report(Fault::unsupported(
                        format!("the option `{name}` with this value is not supported"),
                        "the options are `allow_initial_skip` and `no_forcing`, true or false",
                        at,
                    )),
                }
            }
        }
        initial_skip
    }

    fn ignored(&mut self, ignored: &[Syntax]) -> Result<(), Fault> {
        if ignored.is_empty() {
            return Ok(());
        }
        let mut alternatives = Vec::with_capacity(ignored.len());
        for syntax in ignored {
            alternatives.push(self.expression(syntax, ExpressionLevel::Terminal)?);
        }
        let builder = &mut self.shared.builder;
        let one = builder.choice(alternatives);
        let body = builder.repeat(one, 0, None);
        self.skipped = Some(self.fresh("ignored", body)?);
        Ok(())
    }

    fn rule(&mut self, rule: &RuleSyntax, id: RuleId) -> Result<ExprId, Fault> {
        let attributes = Attributes::read(self.source, &rule.attributes)?;
        let is_terminal = is_terminal(self.text(rule.name));
        if !attributes.need_regular_body() {
            let options = self.rule_options(rule, &attributes, 0)?;
            self.shared.builder.set_options(id, options);
            return self.expression(
                &rule.body,
                if is_terminal { ExpressionLevel::Terminal } else { ExpressionLevel::Rule },
            );
        }
        let body = self.expression(&rule.body, ExpressionLevel::Terminal)?;
        let builder = &mut self.shared.builder;
        let (language, texts, options) = match attributes.end {
            None => {
                let shortest = if attributes.lazy { shortest(builder, body) } else { body };
                let texts = attributes.max_chars.map_or(shortest, |most| at_most(builder, shortest, most));
                (texts, texts, self.rule_options(rule, &attributes, 0)?)
            }
            Some(end) => self.terminated(rule, &attributes, body, end)?,
        };
        if is_terminal {
            self.shared.builder.set_options(id, options);
            return Ok(texts);
        }
        let kind = if attributes.commits() { LeafKind::Lazy } else { LeafKind::Text };
        let texts = self.leaf(self.text(rule.name), texts, language, kind, Some(rule.name))?;
        // A rule of this kind stands for one terminal. The skipped text after it is no part of it, so the
        // terminal becomes a rule of its own.
        match self.skipped {
            Some(_) => {
                let terminal = self.fresh(self.text(rule.name), texts)?;
                self.shared.builder.set_options(terminal, options);
                let terminal = self.shared.builder.rule(terminal);
                self.skipping(terminal)
            }
            None => {
                self.shared.builder.set_options(id, options);
                Ok(texts)
            }
        }
    }

    /// The options for a rule's attributes, if its end has this number of bytes.
    pub(super) fn rule_options(
        &self,
        rule: &RuleSyntax,
        attributes: &Attributes,
        end: u32,
    ) -> Result<RuleOptions, Fault> {
        let name = |name: Option<CapturedName>| match name {
            None => Ok(None),
            Some(CapturedName { written: Some(span), .. }) => self.decoded(span).map(|(text, _)| Some(text)),
            Some(CapturedName { written: None, .. }) => Ok(Some(self.text(rule.name).to_owned())),
        };
        let (text, last) = (name(attributes.capture)?, name(attributes.end_capture)?);
        let mut options = attributes.options(text.as_deref(), last.as_deref(), end);
        // Beside an end the rule for the text before it has the bound.
        options.max_tokens = options.max_tokens.filter(|_| attributes.end.is_none());
        Ok(options)
    }

    fn expression(&mut self, syntax: &Syntax, level: ExpressionLevel) -> Result<ExprId, Fault> {
        let (lexeme, kind, span) = match syntax {
            Syntax::Empty => return Ok(self.shared.builder.empty()),
            &Syntax::String(span) => (self.string(span)?, LeafKind::Text, Some(span)),
            &Syntax::Regex(span) => (self.regex(span)?, LeafKind::Text, Some(span)),
            &Syntax::Range(first, last) => (self.range(first, last)?, LeafKind::Text, Some(first)),
            &Syntax::Name(span) => return self.name(span, level),
            Syntax::Sequence(parts) => {
                let parts = self.all(parts, level)?;
                return Ok(self.shared.builder.sequence(parts));
            }
            Syntax::Choice(parts) => {
                let parts = self.all(parts, level)?;
                return Ok(self.shared.builder.choice(parts));
            }
            Syntax::Repeat { body, min, max } => {
                let body = self.expression(body, level)?;
                return Ok(self.shared.builder.repeat(body, *min, *max));
            }
            Syntax::Intersection(parts) => {
                let parts = self.all(parts, ExpressionLevel::Terminal)?;
                (self.shared.builder.intersection(parts), LeafKind::Text, None)
            }
            Syntax::Complement(body) => {
                let body = self.expression(body, ExpressionLevel::Terminal)?;
                (self.shared.builder.complement(body), LeafKind::Text, None)
            }
            &Syntax::Special(span) if level == ExpressionLevel::Rule => {
                (self.special(span)?, LeafKind::Token, Some(span))
            }
            &Syntax::Named(span) if level == ExpressionLevel::Rule => return self.named(span),
            &Syntax::Json(value, span) if level == ExpressionLevel::Rule => {
                (self.json(value, span)?, LeafKind::Json, Some(span))
            }
            &Syntax::Substring(value, span) => (self.substring(value, span)?, LeafKind::Text, Some(span)),
            Syntax::Nested(file, span) if level == ExpressionLevel::Rule => {
                let nested = self.nested(file, *span)?;
                return self.skipping(nested);
            }
            &Syntax::Special(span)
            | &Syntax::Named(span)
            | &Syntax::Json(_, span)
            | &Syntax::Nested(_, span) => {
                return Err(Fault::new(
                    "lark/terminal",
                    "this can stand in a rule, but not in a terminal",
                    "use it in a rule, whose name is in lower case and has no attributes",
                    span,
                ));
            }
        };
        match level {
            ExpressionLevel::Rule => self.lexeme("literal", lexeme, kind, span),
            ExpressionLevel::Terminal => Ok(lexeme),
        }
    }

    fn all(&mut self, parts: &[Syntax], level: ExpressionLevel) -> Result<Vec<ExprId>, Fault> {
        parts.iter().map(|part| self.expression(part, level)).collect()
    }

    /// A terminal in a rule, and the text that may be skipped after it.
    fn lexeme(
        &mut self,
        name: &str,
        lexeme: ExprId,
        kind: LeafKind,
        span: Option<Span>,
    ) -> Result<ExprId, Fault> {
        let leaf = self.leaf(name, lexeme, lexeme, kind, span)?;
        self.skipping(leaf)
    }

    /// An expression, and the text that may be skipped after it.
    fn skipping(&mut self, expr: ExprId) -> Result<ExprId, Fault> {
        let Some(skipped) = self.skipped else { return Ok(expr) };
        let skipped = self.shared.builder.rule(skipped);
        let skipped = self.leaf("ignored", skipped, skipped, LeafKind::Text, None)?;
        Ok(self.shared.builder.sequence([expr, skipped]))
    }

    /// Something that a rule reads as a whole. Where rules commit, it becomes a rule of its own.
    fn leaf(
        &mut self,
        name: &str,
        body: ExprId,
        texts: ExprId,
        kind: LeafKind,
        span: Option<Span>,
    ) -> Result<ExprId, Fault> {
        let Shared { builder, leaves: Some(leaves), origin, .. } = &mut *self.shared else { return Ok(body) };
        let rule = builder
            .declare_fresh(name)
            .map_err(|error| Fault::limit(error.to_string(), "make the grammar smaller"))?;
        let span = span.filter(|_| *origin == SourceOrigin::Main);
        leaves.push(Leaf { rule, body, texts, kind, span });
        Ok(builder.rule(rule))
    }

    fn name(&mut self, span: Span, level: ExpressionLevel) -> Result<ExprId, Fault> {
        let name = self.text(span);
        let Some(&rule) = self.names.get(name) else { return Err(self.undefined(span)) };
        let expr = self.shared.builder.rule(rule);
        match (is_terminal(name), level) {
            (true, ExpressionLevel::Rule) => {
                let is_lazy = self.shared.lazy_terminals.contains(&rule);
                let kind = if is_lazy { LeafKind::Lazy } else { LeafKind::Text };
                self.lexeme(name, expr, kind, Some(span))
            }
            (true, ExpressionLevel::Terminal) | (false, ExpressionLevel::Rule) => Ok(expr),
            (false, ExpressionLevel::Terminal) => Err(Fault::new(
                "lark/terminal",
                format!("the rule `{name}` cannot stand in a terminal"),
                "make it a terminal (a name in upper case), or this a rule",
                span,
            )),
        }
    }

    fn undefined(&self, span: Span) -> Fault {
        let name = self.text(span);
        let mut known: Vec<&str> = self.names.keys().copied().collect();
        known.sort_unstable();
        let hint = match closest(name, &known) {
            _ if common_terminals::pattern(name).is_some() => {
                format!("write `%import common.{name}` on a line of its own")
            }
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("define it (`{name}: ...`), or put it in double quotes if it is text"),
        };
        Fault::new("lark/undefined", format!("`{name}` is not defined"), hint, span)
    }

    /// The text of a string, and whether it is read without regard to case.
    pub(super) fn decoded(&self, span: Span) -> Result<(String, LetterCase), Fault> {
        let written = self.text(span);
        let (quoted, case) = match written.strip_suffix('i') {
            Some(quoted) => (quoted, LetterCase::Ignored),
            None => (written, LetterCase::Exact),
        };
        match serde_json::from_str(&without_short_escapes(quoted)) {
            Ok(text) => Ok((text, case)),
            Err(_) => Err(Fault::new(
                "lark/escape",
                "the string is not written as JSON writes strings",
                r#"the escapes are \" \\ \/ \b \f \n \r \t \xHH \uHHHH"#,
                broken_escape(quoted, span).unwrap_or(span),
            )),
        }
    }

    pub(super) fn string(&mut self, span: Span) -> Result<ExprId, Fault> {
        let (text, case) = self.decoded(span)?;
        let builder = &mut self.shared.builder;
        if case == LetterCase::Exact || !text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return Ok(builder.literal(&text));
        }
        let mut parts = Vec::with_capacity(text.len());
        for character in text.chars() {
            let (lower, upper) = (character.to_ascii_lowercase(), character.to_ascii_uppercase());
            parts.push(builder.class([(lower, lower), (upper, upper)]));
        }
        Ok(builder.sequence(parts))
    }

    fn range(&mut self, first: Span, last: Span) -> Result<ExprId, Fault> {
        let mut ends = ['\0'; 2];
        for (end, span) in ends.iter_mut().zip([first, last]) {
            let (text, case) = self.decoded(span)?;
            let mut characters = text.chars();
            *end = match (characters.next(), characters.next(), case) {
                (Some(character), None, LetterCase::Exact) => character,
                _ => {
                    return Err(Fault::new(
                        "lark/range",
                        "an end of a range is one character",
                        "write `\"a\"..\"z\"`",
                        span,
                    ));
                }
            };
        }
        if ends[0] > ends[1] {
            return Err(Fault::new("lark/range", "the range ends before it begins", "swap the ends", first));
        }
        Ok(self.shared.builder.class([(ends[0], ends[1])]))
    }

    pub(super) fn regex(&mut self, span: Span) -> Result<ExprId, Fault> {
        let (pattern, case) = self.flagged(span)?;
        let options = self.regex_options(case);
        let Shared { builder, classes_left, .. } = &mut *self.shared;
        regex::compile_next(builder, &pattern, &options, classes_left).map_err(|diagnostics| {
            let first = diagnostics.iter().next();
            let message = first.map_or("", |first| first.message());
            let hint = first.and_then(|first| first.hint()).unwrap_or("correct the pattern");
            // After the slash; a flag before the pattern is not written there.
            let written = span.end as usize - span.start as usize;
            let added = pattern.len() - self.text(span).rfind('/').map_or(0, |close| close.saturating_sub(1));
            let inside = |place: u32| (place as usize).checked_sub(added).map(|place| place + 1);
            let place = first.and_then(|first| first.span()).and_then(|place| {
                let (start, end) = (inside(place.start)?, inside(place.end)?);
                let start_at = span.start as usize;
                (start < end && end <= written).then(|| Span::new(start_at + start, start_at + end))
            });
            let message = format!("the regular expression is refused: {message}");
            Fault::new("lark/regex", message, hint, place.unwrap_or(span))
        })
    }

    /// A pattern with its flags.
    pub(super) fn flagged(&self, span: Span) -> Result<(String, LetterCase), Fault> {
        let written = self.text(span);
        let close = written.rfind('/').unwrap_or(0);
        let mut case = LetterCase::Exact;
        let mut dot_is_any = false;
        for (place, flag) in written.char_indices().skip_while(|(place, _)| *place <= close) {
            match flag {
                'i' => case = LetterCase::Ignored,
                's' => dot_is_any = true,
                // Patterns are over characters already.
                'u' => {}
                other => {
                    let start = span.start as usize + place;
                    return Err(Fault::unsupported(
                        format!("the flag `{other}` is not supported"),
                        "the flags are i (case), s (`.` is any character) and u",
                        Span::new(start, start + other.len_utf8()),
                    ));
                }
            }
        }
        let flags = if dot_is_any { "(?s)" } else { "" };
        Ok((format!("{flags}{}", &written[1..close]), case))
    }

    pub(super) fn regex_options(&self, letter_case: LetterCase) -> RegexOptions {
        RegexOptions { letter_case, limits: self.shared.options.regex, ..RegexOptions::default() }
    }

    /// `<name>`, `<[1,5-9]>`, `<[^1]>` or `<[*]>`.
    fn special(&mut self, span: Span) -> Result<ExprId, Fault> {
        let written = self.text(span);
        let Some(list) = written.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")) else {
            return Ok(self.shared.builder.token([TokenRef::from(written)]));
        };
        if list.trim() == "*" {
            return Ok(self.shared.builder.exclude_token(Vec::<u32>::new()));
        }
        let (others, list) = match list.strip_prefix('^') {
            Some(list) => (true, list),
            None => (false, list),
        };
        let mut ids = Vec::new();
        for part in list.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let bounds = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
            let Some((first, last)) = bounds.filter(|(first, last)| first <= last) else {
                let hint = "write `<[5]>`, `<[5,7-9]>`, `<[^5]>` or `<[*]>`";
                return Err(Fault::new("lark/token", "this is no list of token ids", hint, span));
            };
            if ids.len() + (last - first) as usize >= MAX_IDS {
                let message = format!("more than {MAX_IDS} token ids");
                return Err(Fault::new("lark/limit", message, "name fewer, or all others: `<[^...]>`", span));
            }
            ids.extend(first..=last);
        }
        Ok(match others {
            true => self.shared.builder.exclude_token(ids),
            false => self.shared.builder.token(ids),
        })
    }

    /// `@name`.
    fn named(&mut self, span: Span) -> Result<ExprId, Fault> {
        let name = &self.text(span)[1..];
        let options = self.shared.options;
        let Some((name, grammar)) = options.named.get_key_value(name) else {
            let known: Vec<&str> = options.named.keys().map(String::as_str).collect();
            let hint = match closest(name, &known) {
                Some(similar) => format!("did you mean `@{similar}`?"),
                None => "give the grammar with the options, under this name".to_owned(),
            };
            return Err(Fault::new("lark/named", format!("no grammar is named `{name}`"), hint, span));
        };
        let rule = match (self.shared.named.get(name.as_str()), grammar) {
            (Some(&rule), _) => rule,
            (None, NamedGrammar::Grammar(grammar)) => {
                passes::append(&mut self.shared.builder, grammar).map_err(|error| no_room(&error, span))?
            }
            (None, NamedGrammar::Lark(source)) => {
                let rule = self.shared.builder.declare_fresh(name).map_err(|error| no_room(&error, span))?;
                self.shared.unread.push((name, source, rule));
                rule
            }
        };
        self.shared.named.insert(name, rule);
        let rule = self.shared.builder.rule(rule);
        match grammar {
            NamedGrammar::Grammar(_) => self.lexeme(name, rule, LeafKind::Foreign, Some(span)),
            NamedGrammar::Lark(_) => self.skipping(rule),
        }
    }

    fn json(&mut self, value: u32, span: Span) -> Result<ExprId, Fault> {
        let schema = &self.values[value as usize];
        let compiled =
            json_schema::compile_within(schema, &self.shared.options.json_schema, ValueSyntax::Json, &[])
                .map_err(|diagnostics| {
                    let first = diagnostics.iter().next();
                    let place = first.and_then(|first| first.pointer()).filter(|pointer| !pointer.is_empty());
                    let message = match (first, place) {
                        (Some(first), Some(place)) => {
                            format!("the schema is refused at `{place}`: {}", first.message())
                        }
                        (Some(first), None) => format!("the schema is refused: {}", first.message()),
                        (None, _) => "the schema is refused".to_owned(),
                    };
                    let hint = first.and_then(|first| first.hint()).unwrap_or("change the schema").to_owned();
                    Fault::new("lark/json-schema", message, hint, span)
                })?;
        let rule =
            passes::append(&mut self.shared.builder, &compiled).map_err(|error| no_room(&error, span))?;
        Ok(self.shared.builder.rule(rule))
    }

    /// `%regex {"substring_chars": "..."}`, `{"substring_words": "..."}` or `{"substring_chunks": ["...", ...]}`.
    fn substring(&mut self, value: u32, span: Span) -> Result<ExprId, Fault> {
        let shape = || {
            Fault::new(
                "lark/regex",
                "this directive takes chunks, words or characters",
                "write `%regex {\"substring_chunks\": [\"...\", \"...\"]}`, or a text for `substring_words` or `substring_chars`",
                span,
            )
        };
        let Some(JsonValue::Object(object)) = self.values.get(value as usize) else { return Err(shape()) };
        let mut entries = object.iter();
        let (Some((kind, content)), None) = (entries.next(), entries.next()) else { return Err(shape()) };
        let chunks: Vec<&str> = match (kind, content) {
            ("substring_words", JsonValue::String(text)) => words(text),
            ("substring_chars", JsonValue::String(text)) => characters(text),
            ("substring_chunks", JsonValue::Array(chunks)) => {
                chunks.iter().map(JsonValue::as_str).collect::<Option<_>>().ok_or_else(shape)?
            }
            _ => return Err(shape()),
        };
        let limit = self.shared.options.limits.chunks;
        if chunks.len() > limit {
            let message = format!("the text has {} chunks, more than {limit}", chunks.len());
            return Err(Fault::new(
                "lark/limit",
                message,
                "give larger chunks or raise the limit `chunks`",
                span,
            ));
        }
        substring(&mut self.shared.builder, chunks).map_err(|error| no_room(&error, span))
    }

    fn nested(&mut self, file: &File, span: Span) -> Result<ExprId, Fault> {
        let mut first = None;
        let start = lower(self.shared, self.source, self.values, file, &mut |fault| {
            first.get_or_insert(fault);
        });
        match (first, start) {
            (Some(fault), _) => Err(fault.or_at(span)),
            (None, Some(start)) => Ok(self.shared.builder.rule(start)),
            (None, None) => {
                Err(Fault::new("lark/start", "the nested grammar has no start", "define `start`", span))
            }
        }
    }

    pub(super) fn fresh(&mut self, hint: &str, body: ExprId) -> Result<RuleId, Fault> {
        let room = |error: &grammask_grammar_ir::GrammarError| {
            Fault::limit(error.to_string(), "make the grammar smaller")
        };
        let rule = self.shared.builder.declare_fresh(hint).map_err(|error| room(&error))?;
        self.shared.builder.define(rule, body).map_err(|error| room(&error))?;
        Ok(rule)
    }

    pub(super) fn text(&self, span: Span) -> &'a str {
        &self.source[span.start as usize..span.end as usize]
    }
}

/// A name whose first letter is in upper case.
fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// A string with `\u00HH` for each `\xHH`, which JSON does not have.
fn without_short_escapes(quoted: &str) -> Cow<'_, str> {
    if !quoted.contains("\\x") {
        return Cow::Borrowed(quoted);
    }
    let mut text = String::with_capacity(quoted.len() + 16);
    let mut rest = quoted;
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        rest = &rest[place..];
        let (length, escape) = match rest.as_bytes() {
            [_, b'x', one, other, ..] if one.is_ascii_hexdigit() && other.is_ascii_hexdigit() => (2, "\\u00"),
            // Both backslashes, so that the second one begins no escape.
            [_, b'\\', ..] => (2, "\\\\"),
            _ => (1, "\\"),
        };
        text.push_str(escape);
        rest = &rest[length..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The first escape of a string that is none.
fn broken_escape(quoted: &str, span: Span) -> Option<Span> {
    let mut rest = quoted.char_indices();
    while let Some((place, character)) = rest.next() {
        if character != '\\' {
            continue;
        }
        let (_, kind) = rest.next()?;
        let digits = quoted.as_bytes().get(place + 2..place + 6);
        let is_known = match kind {
            'u' => digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
            'x' => {
                let digits = quoted.as_bytes().get(place + 2..place + 4);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            kind => "\"\\/bfnrt".contains(kind),
        };
        if !is_known {
            let start = span.start as usize + place;
            return Some(Span::new(start, start + 1 + kind.len_utf8()));
        }
    }
    None
}

fn characters(text: &str) -> Vec<&str> {
    text.char_indices().map(|(start, character)| &text[start..start + character.len_utf8()]).collect()
}

/// Runs of letters, digits and `_`, runs of white space, and runs of all else.
fn words(text: &str) -> Vec<&str> {
    let kind = |character: char| match character {
        '_' => 0,
        _ if character.is_alphanumeric() => 0,
        _ if character.is_whitespace() => 1,
        _ => 2,
    };
    let characters = characters(text);
    let first_kind = |piece: &str| piece.chars().next().map(kind);
    let mut start = 0;
    let runs = characters.chunk_by(|left, right| first_kind(left) == first_kind(right));
    runs.map(|run| {
        let end = start + run.iter().map(|piece| piece.len()).sum::<usize>();
        let word = &text[start..end];
        start = end;
        word
    })
    .collect()
}

fn no_room(error: &grammask_grammar_ir::GrammarError, at: Span) -> Fault {
    Fault::limit(error.to_string(), "make the grammar smaller").or_at(at)
}
