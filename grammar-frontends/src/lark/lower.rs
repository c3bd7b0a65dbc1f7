//! From what was written to the grammar.

use std::collections::{HashMap, HashSet};

use grammask_grammar_ir::{ExprId, GrammarBuilder, RuleId, RuleOptions, Span, TokenRef, passes};
use indexmap::IndexSet;

use super::attributes::{Attributes, CapturedName};
use super::commit::{Leaf, LeafKind};
use super::common_terminals;
use super::fault::Fault;
use super::numbered::{Carried, Instances};
use super::options::{LarkOptions, NamedGrammar};
use super::syntax::{File, RuleSyntax, Syntax, is_terminal};
use crate::diagnostic::{closest, did_you_mean};
use crate::json::JsonValue;
use crate::json_schema::value_syntax::ValueSyntax;
use crate::json_schema::{self, SharedWork};
use crate::language::{at_most, shortest, substring};
use crate::regex::{self, PatternBudget, RegexOptions};

/// The state that all sources of one grammar share.
pub(super) struct Shared<'o> {
    pub(super) builder: GrammarBuilder,
    pub(super) options: &'o LarkOptions,
    /// The start rules of grammars with names, so far as they were named.
    pub(super) named: HashMap<&'o str, RuleId>,
    /// Grammars with names that are written in Lark and were named, but not read yet.
    pub(super) unread: Vec<(&'o str, &'o str, RuleId)>,
    /// The costly parts that patterns may still have.
    pub(super) pattern_budget: PatternBudget,
    pub(super) schema_work: SharedWork,
    /// How many ends of rules were written out, and the steps that are left for that.
    pub(super) ends: (usize, usize),
    /// How many parts of rules that carry a number were written out.
    pub(super) written_out: usize,
    /// The warnings of schemas with their lines, each once.
    pub(super) warnings: IndexSet<String>,
    /// Those of the source that is being read, with their places.
    pub(super) unplaced_warnings: Vec<(u32, String)>,
    /// Whether places in the source are places in the text that the caller gave.
    pub(super) origin: SourceOrigin,
    /// Every terminal, literal and structure of a rule, if rules commit: what they derive is decided last.
    pub(super) leaves: Option<Vec<Leaf>>,
    /// Terminals that commit.
    pub(super) lazy_terminals: HashSet<RuleId>,
    /// Rules with their bodies under a bound on their characters: they are defined last, because tokens do not count.
    pub(super) bounded: Vec<(RuleId, ExprId, u32)>,
    /// Whether lazy rules end with special tokens. Then all tokens with names are special: one that is text could hold what
    /// comes before the end of such a rule.
    pub(super) are_names_special: bool,
}

/// Which text is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceOrigin {
    /// The one that was given.
    Main,
    /// A grammar with a name.
    Named,
}

/// Where the text of `%ignore` may come.
#[derive(Clone, Copy, Default)]
struct Skipping {
    /// Whether it may come before everything else.
    initially: bool,
    /// How often in a row, `None` for any number.
    most: Option<u32>,
}

/// Whether skipped text may come between the parts of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpressionLevel {
    /// In a rule: it may, after each terminal and literal.
    Rule,
    /// In a terminal: it may not.
    Terminal,
}

/// A terminal or literal as an expression.
#[derive(Clone, Copy)]
pub(super) struct Lexeme {
    body: ExprId,
    kind: LeafKind,
    span: Option<Span>,
}

/// The texts of a terminal, and a language of which they are the shortest ones, if they are those of a lazy rule.
#[derive(Clone, Copy)]
pub(super) struct Languages {
    pub(super) texts: ExprId,
    pub(super) loose: ExprId,
}

impl Languages {
    fn of(texts: ExprId) -> Self {
        Self { texts, loose: texts }
    }
}

/// A name that is defined.
#[derive(Clone, Copy)]
pub(super) enum Definition<'a> {
    Rule(RuleId),
    /// A rule that carries a number.
    Numbered(&'a RuleSyntax),
    /// Its error was reported already; mentions of it are no mistakes of their own.
    Broken,
}

/// Makes the rules of one source, or of one nested grammar.
pub(super) struct Scope<'a, 'o> {
    pub(super) shared: &'a mut Shared<'o>,
    pub(super) source: &'a str,
    values: &'a [JsonValue],
    pub(super) names: HashMap<&'a str, Definition<'a>>,
    /// The text that may follow every terminal, if there is any.
    skipped: Option<RuleId>,
    /// The number of the rule that is being read.
    pub(super) carried: Carried,
    pub(super) instances: Instances<'a>,
}

/// Makes the rules of a file and hands out its start rule. Recurses as deep as brackets nest.
pub(super) fn lower(
    shared: &mut Shared<'_>,
    source: &str,
    values: &[JsonValue],
    file: &File,
    report: &mut dyn FnMut(Fault),
) -> Option<RuleId> {
    let (carried, instances) = (Carried::Nothing, Instances::default());
    let mut scope =
        Scope { shared, source, values, names: HashMap::new(), skipped: None, carried, instances };
    scope.file(file, report)
}

impl<'a> Scope<'a, '_> {
    fn file(&mut self, file: &'a File, report: &mut dyn FnMut(Fault)) -> Option<RuleId> {
        self.shared.are_names_special |= file.rules.iter().any(|rule| self.is_ended_by_token(rule));
        let mut rules = Vec::with_capacity(file.rules.len());
        for rule in &file.rules {
            if rule.is_numbered {
                self.declare_numbered(rule).unwrap_or_else(&mut *report);
                continue;
            }
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
            self.names.entry(self.text(name)).or_insert(Definition::Broken);
        }
        let skipping = self.options(file, report);
        if let Err(fault) = self.ignored(&file.ignored, skipping.most) {
            report(fault);
        }
        self.read_numbered(&file.rules, report);
        for (rule, id) in rules {
            self.defined_rule(rule, id).unwrap_or_else(&mut *report);
            if self.shared.builder.interrupted().is_some() {
                return None;
            }
        }
        self.write_instances().unwrap_or_else(&mut *report);
        let start = match self.names.get(&*self.shared.options.start) {
            Some(&Definition::Rule(start)) => start,
            Some(Definition::Numbered(rule)) => {
                let message =
                    "the text begins with this rule, and nothing gives it the number that it carries";
                let hint = "begin with a rule that does: `start: item::0x0`";
                report(Fault::new("lark/start", message, hint, rule.name));
                return None;
            }
            Some(Definition::Broken) => return None,
            // It may be what the mistake that was told is about.
            None if file.has_nameless => return None,
            None => {
                let start = &self.shared.options.start;
                let place = file.rules.first().map_or(Span::new(0, self.source.len()), |rule| rule.name);
                let hint = format!("name the rule that the text begins with `{start}`");
                report(Fault::new("lark/start", format!("there is no rule `{start}`"), hint, place));
                return None;
            }
        };
        match (skipping.initially, self.skipped) {
            (true, Some(skipped)) => self.after_skipped(skipped, start).map_err(&mut *report).ok(),
            _ => Some(start),
        }
    }

    /// A rule for skipped text and the start rule.
    fn after_skipped(&mut self, skipped: RuleId, start: RuleId) -> Result<RuleId, Fault> {
        let skipped = self.shared.builder.rule(skipped);
        let skipped = self.leaf("ignored", skipped, Languages::of(skipped), LeafKind::Text, None)?;
        let builder = &mut self.shared.builder;
        let parts = [skipped, builder.rule(start)];
        let body = builder.sequence(parts);
        self.fresh("start", body)
    }

    fn declare(&mut self, name: Span) -> Result<RuleId, Fault> {
        self.is_new(name)?;
        let text = self.text(name);
        let rule = self.shared.builder.declare_fresh(text).map_err(Fault::no_room_at(name))?;
        self.names.insert(text, Definition::Rule(rule));
        Ok(rule)
    }

    pub(super) fn is_new(&self, name: Span) -> Result<(), Fault> {
        let text = self.text(name);
        if !self.names.contains_key(text) {
            return Ok(());
        }
        let message = format!("`{text}` is defined twice");
        let hint = "join the definitions with `|`, or rename one";
        Err(Fault::new("lark/defined-twice", message, hint, name))
    }

    fn import(&mut self, name: Span, alias: Span) -> Result<(), Fault> {
        let text = self.text(name);
        let Some(pattern) = common_terminals::pattern(text) else {
            self.names.entry(self.text(alias)).or_insert(Definition::Broken);
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
            .map_err(Fault::no_room_at(name))?;
        self.shared.builder.define(rule, body).map_err(Fault::no_room_at(name))
    }

    /// Reads the options, which say where skipped text may come.
    fn options(&mut self, file: &File, report: &mut dyn FnMut(Fault)) -> Skipping {
        let mut skipping = Skipping::default();
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
                    ("allow_initial_skip", &JsonValue::Bool(allowed)) => skipping.initially = allowed,
                    ("ignore_once", &JsonValue::Bool(once)) => skipping.most = once.then_some(1),
                    // Masks are never narrowed to forced tokens, whatever is chosen.
                    ("no_forcing", JsonValue::Bool(_)) => {}
                    // Nothing is done with it: patterns that match invalid UTF-8 are refused where they stand.
                    ("allow_invalid_utf8", JsonValue::Bool(_)) => {}
                    _ => report(Fault::unsupported(
                        format!("the option `{name}` with this value is not supported"),
                        "the options are `allow_initial_skip`, `ignore_once`, `no_forcing` and `allow_invalid_utf8`, true or false",
                        at,
                    )),
                }
            }
        }
        skipping
    }

    fn ignored(&mut self, ignored: &[Syntax], most: Option<u32>) -> Result<(), Fault> {
        if ignored.is_empty() {
            return Ok(());
        }
        let mut alternatives = Vec::with_capacity(ignored.len());
        for syntax in ignored {
            alternatives.push(self.expression(syntax, ExpressionLevel::Terminal)?);
        }
        let builder = &mut self.shared.builder;
        let one = builder.choice(alternatives);
        let body = builder.repeat(one, 0, most);
        self.skipped = Some(self.fresh("ignored", body)?);
        Ok(())
    }

    /// Reads a rule that was declared.
    pub(super) fn defined_rule(&mut self, rule: &RuleSyntax, id: RuleId) -> Result<(), Fault> {
        if self.shared.origin == SourceOrigin::Main {
            self.shared.builder.set_span(id, rule.name);
        }
        let (body, read) = match self.rule(rule, id) {
            Ok(Some(body)) => (body, Ok(())),
            Ok(None) => return Ok(()),
            Err(fault) => (self.shared.builder.never(), Err(fault)),
        };
        let defined = self.shared.builder.define(id, body);
        read.and(defined.map_err(Fault::no_room))
    }

    /// The body of a rule; `None` if it is under a bound, and will be defined last.
    fn rule(&mut self, rule: &RuleSyntax, id: RuleId) -> Result<Option<ExprId>, Fault> {
        let attributes = Attributes::read(self.source, &rule.attributes)?;
        let is_terminal = is_terminal(self.text(rule.name));
        if !attributes.need_regular_body() {
            let options = self.rule_options(rule, &attributes, 0)?;
            self.shared.builder.set_options(id, options);
            let level = if is_terminal { ExpressionLevel::Terminal } else { ExpressionLevel::Rule };
            return self.expression(&rule.body, level).map(Some);
        }
        if let Some(most) = attributes.max_chars.filter(|_| !is_terminal && !attributes.commits())
            && let Some(part) = self.part_of_rules(&rule.body)
        {
            self.bounded(rule, id, (&attributes, most), part)?;
            return Ok(None);
        }
        if !is_terminal
            && attributes.is_lazy_without_end()
            && let Some((text, token)) = ended_by_token(&rule.body)
        {
            let texts = self.head(rule, &attributes, text, token)?;
            let options = self.rule_options(rule, &attributes, 0)?;
            return self.skipping_after(rule, id, texts, options).map(Some);
        }
        let body = self.expression(&rule.body, ExpressionLevel::Terminal)?;
        let builder = &mut self.shared.builder;
        let (languages, texts, options) = match attributes.end {
            None => {
                let shortest = if attributes.lazy { shortest(builder, body) } else { body };
                let texts = attributes.max_chars.map_or(shortest, |most| at_most(builder, shortest, most));
                let loose = if attributes.max_chars.is_none() { body } else { texts };
                (Languages { texts, loose }, texts, self.rule_options(rule, &attributes, 0)?)
            }
            Some(end) => self.terminated(rule, &attributes, body, end)?,
        };
        if is_terminal {
            self.shared.builder.set_options(id, options);
            return Ok(Some(texts));
        }
        let kind = if attributes.commits() { LeafKind::Lazy } else { LeafKind::Text };
        let texts = self.leaf(self.text(rule.name), texts, languages, kind, Some(rule.name))?;
        self.skipping_after(rule, id, texts, options).map(Some)
    }

    fn is_ended_by_token(&self, rule: &RuleSyntax) -> bool {
        let attributes = Attributes::read(self.source, &rule.attributes);
        attributes.is_ok_and(|it| it.is_lazy_without_end()) && ended_by_token(&rule.body).is_some()
    }

    /// The text of a lazy rule that ends with a special token, and that token: two leaves, one after the other.
    fn head(
        &mut self,
        rule: &RuleSyntax,
        attributes: &Attributes,
        text: &[Syntax],
        token: Span,
    ) -> Result<ExprId, Fault> {
        let name = self.text(token);
        if name.starts_with("<[") {
            return Err(Fault::unsupported(
                "a lazy rule ends with a special token that has a name, and this is a list of ids",
                "write the token by its name: `TEXT <tool_call>`",
                token,
            ));
        }
        let text = self.all(text, ExpressionLevel::Terminal)?;
        let builder = &mut self.shared.builder;
        let text = builder.sequence(text);
        let text = attributes.max_chars.map_or(text, |most| at_most(builder, text, most));
        let token_body = self.shared.builder.token([TokenRef::Special(name.into())]);
        let first =
            self.leaf(self.text(rule.name), text, Languages::of(text), LeafKind::Head, Some(rule.name))?;
        let last =
            self.leaf("literal", token_body, Languages::of(token_body), LeafKind::Token, Some(token))?;
        Ok(self.shared.builder.sequence([first, last]))
    }

    /// The body of a rule that stands for one terminal, with its options.
    fn skipping_after(
        &mut self,
        rule: &RuleSyntax,
        id: RuleId,
        texts: ExprId,
        options: RuleOptions,
    ) -> Result<ExprId, Fault> {
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

    /// Reads a rule under a bound on its characters, if it refers to rules: `part` is one that stands in rules alone.
    /// Skipped text inside of it counts.
    fn bounded(
        &mut self,
        rule: &RuleSyntax,
        id: RuleId,
        (attributes, most): (&Attributes, u32),
        part: Span,
    ) -> Result<(), Fault> {
        // Where rules commit, terminals lose texts, and below the bound nobody would look for them.
        if self.shared.leaves.is_some() {
            return Err(Fault::unsupported(
                "`max_chars` bounds a rule made of rules, and others are lazy or have an end",
                "bound a terminal, or count tokens: `max_tokens`",
                part,
            ));
        }
        let options = self.rule_options(rule, attributes, 0)?;
        self.shared.builder.set_options(id, options);
        let body = self.expression(&rule.body, ExpressionLevel::Rule)?;
        self.shared.bounded.push((id, body, most));
        Ok(())
    }

    /// A part that may stand in a rule, but not in a terminal.
    fn part_of_rules(&self, syntax: &Syntax) -> Option<Span> {
        match syntax {
            &Syntax::Name(span) => Some(span).filter(|&span| !is_terminal(self.text(span))),
            &(Syntax::Numbered(span, _)
            | Syntax::If { span, .. }
            | Syntax::Special(span)
            | Syntax::Named(span)
            | Syntax::Json(_, span)
            | Syntax::Nested(_, span)) => Some(span),
            Syntax::Sequence(parts) | Syntax::Choice(parts) => {
                parts.iter().find_map(|part| self.part_of_rules(part))
            }
            Syntax::Repeat { body, .. } => self.part_of_rules(body),
            // Operands are terminals in any case.
            _ => None,
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

    pub(super) fn expression(&mut self, syntax: &Syntax, level: ExpressionLevel) -> Result<ExprId, Fault> {
        self.count(1)?;
        match syntax {
            Syntax::Empty => return Ok(self.shared.builder.empty()),
            &Syntax::Name(span) => return self.name(span, level),
            &Syntax::Numbered(span, argument) => return self.numbered(span, argument, level),
            Syntax::If { condition, span, length, body } if level == ExpressionLevel::Rule => {
                self.count(*length)?;
                return match self.holds(condition, *span)? {
                    true => self.expression(body, level),
                    false => Ok(self.shared.builder.never()),
                };
            }
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
            &Syntax::Named(span) if level == ExpressionLevel::Rule => return self.named(span),
            _ => {}
        }
        let Lexeme { body, kind, span } = self.read_once(syntax, level)?;
        match (level, syntax) {
            (ExpressionLevel::Rule, Syntax::Nested(..)) => self.skipping(body),
            (ExpressionLevel::Rule, _) => self.lexeme("literal", body, kind, span),
            (ExpressionLevel::Terminal, _) => Ok(body),
        }
    }

    /// A part of a rule that is the same whatever number the rule carries.
    pub(super) fn fixed_part(&mut self, syntax: &Syntax, level: ExpressionLevel) -> Result<Lexeme, Fault> {
        let (body, kind, span) = match syntax {
            &Syntax::String(span) => (self.string(span)?, LeafKind::Text, Some(span)),
            &Syntax::Regex(span) => (self.regex(span)?, LeafKind::Text, Some(span)),
            &Syntax::Range(first, last) => (self.range(first, last)?, LeafKind::Text, Some(first)),
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
            &Syntax::Json(value, span) if level == ExpressionLevel::Rule => {
                (self.json(value, span)?, LeafKind::Json, Some(span))
            }
            &Syntax::Substring(value, span) => (self.substring(value, span)?, LeafKind::Text, Some(span)),
            Syntax::Nested(file, span) if level == ExpressionLevel::Rule => {
                (self.nested(file, *span)?, LeafKind::Foreign, Some(*span))
            }
            &(Syntax::Special(span)
            | Syntax::Named(span)
            | Syntax::Json(_, span)
            | Syntax::Nested(_, span)
            | Syntax::If { span, .. }) => {
                return Err(Fault::new(
                    "lark/terminal",
                    "this can stand in a rule, but not in a terminal",
                    "use it in a rule, whose name is in lower case and has no attributes",
                    span,
                ));
            }
            // The caller has read all others.
            _ => (self.shared.builder.never(), LeafKind::Text, None),
        };
        Ok(Lexeme { body, kind, span })
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
        let leaf = self.leaf(name, lexeme, Languages::of(lexeme), kind, span)?;
        self.skipping(leaf)
    }

    /// An expression, and the text that may be skipped after it.
    fn skipping(&mut self, expr: ExprId) -> Result<ExprId, Fault> {
        let Some(skipped) = self.skipped else { return Ok(expr) };
        let skipped = self.shared.builder.rule(skipped);
        let skipped = self.leaf("ignored", skipped, Languages::of(skipped), LeafKind::Text, None)?;
        Ok(self.shared.builder.sequence([expr, skipped]))
    }

    /// Something that a rule reads as a whole. Where rules commit, it becomes a rule of its own.
    fn leaf(
        &mut self,
        name: &str,
        body: ExprId,
        Languages { texts, loose }: Languages,
        kind: LeafKind,
        span: Option<Span>,
    ) -> Result<ExprId, Fault> {
        let Shared { builder, leaves: Some(leaves), origin, .. } = &mut *self.shared else { return Ok(body) };
        if self.carried == Carried::Any {
            return Ok(body);
        }
        let rule = builder.declare_fresh(name).map_err(Fault::no_room)?;
        let span = span.filter(|_| *origin == SourceOrigin::Main);
        leaves.push(Leaf { rule, body, texts, loose, kind, span });
        Ok(builder.rule(rule))
    }

    fn name(&mut self, span: Span, level: ExpressionLevel) -> Result<ExprId, Fault> {
        let name = self.text(span);
        let rule = match self.names.get(name) {
            Some(&Definition::Rule(rule)) => rule,
            Some(Definition::Numbered(_)) => {
                let message = format!("the rule `{name}` carries a number, and this does not say which");
                let hint = format!("write `{name}::0x0`, or `{name}::_` in a rule that carries the same one");
                return Err(Fault::new("lark/number", message, hint, span));
            }
            Some(Definition::Broken) => return Ok(self.shared.builder.never()),
            None => return Err(self.undefined(span)),
        };
        let expr = self.shared.builder.rule(rule);
        match (is_terminal(name), level) {
            (true, ExpressionLevel::Rule) => {
                let is_lazy = self.shared.lazy_terminals.contains(&rule);
                let kind = if is_lazy { LeafKind::Lazy } else { LeafKind::Text };
                self.lexeme(name, expr, kind, Some(span))
            }
            (true, ExpressionLevel::Terminal) | (false, ExpressionLevel::Rule) => Ok(expr),
            (false, ExpressionLevel::Terminal) => Err(self.rule_in_terminal(span)),
        }
    }

    pub(super) fn rule_in_terminal(&self, span: Span) -> Fault {
        let message = format!("the rule `{}` cannot stand in a terminal", self.text(span));
        let hint = "make it a terminal (a name in upper case), or this a rule";
        Fault::new("lark/terminal", message, hint, span)
    }

    pub(super) fn undefined(&self, span: Span) -> Fault {
        let name = self.text(span);
        let mut known: Vec<&str> = self.names.keys().copied().collect();
        known.sort_unstable();
        let hint = match common_terminals::pattern(name) {
            Some(_) => format!("write `%import common.{name}` on a line of its own"),
            None => did_you_mean(name, &known, || {
                format!("define it (`{name}: ...`), or put it in double quotes if it is text")
            }),
        };
        Fault::new("lark/undefined", format!("`{name}` is not defined"), hint, span)
    }

    /// `@name`.
    fn named(&mut self, span: Span) -> Result<ExprId, Fault> {
        let name = &self.text(span)[1..];
        let options = self.shared.options;
        let Some((name, grammar)) = options.named.get_key_value(name) else {
            let known: Vec<&str> = options.named.keys().map(String::as_str).collect();
            let hint = match closest(name, &known) {
                Some(similar) if similar.starts_with('@') => {
                    format!("give the grammar the name `{name}`, without the `@`")
                }
                Some(similar) => format!("did you mean `@{similar}`?"),
                None => "give the grammar with the options, under this name".to_owned(),
            };
            return Err(Fault::new("lark/named", format!("no grammar is named `{name}`"), hint, span));
        };
        let rule = match (self.shared.named.get(name.as_str()), grammar) {
            (Some(&rule), _) => rule,
            (None, NamedGrammar::Grammar(grammar)) => {
                passes::append(&mut self.shared.builder, grammar).map_err(Fault::no_room_at(span))?
            }
            (None, NamedGrammar::Lark(source)) => {
                let rule = self.shared.builder.declare_fresh(name).map_err(Fault::no_room_at(span))?;
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
        if self.shared.schema_work.is_spent() {
            // The schema that took the last of it was reported.
            return Ok(self.shared.builder.never());
        }
        let schema = &self.values[value as usize];
        let options = &self.shared.options.json_schema;
        let mut spent = 0;
        let compiled = json_schema::compile_within(schema, options, ValueSyntax::Json, &[], &mut spent);
        let taken = self.shared.schema_work.take(spent, 0);
        let compiled = compiled.map_err(|diagnostics| Fault::in_schema(&diagnostics.into_first(), span))?;
        taken.map_err(|error| Fault::in_schema(&error, span))?;
        let warnings = compiled.report.warnings().map(|warning| (span.start, warning));
        self.shared.unplaced_warnings.extend(warnings);
        let rule =
            passes::append(&mut self.shared.builder, &compiled.grammar).map_err(Fault::no_room_at(span))?;
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
        substring(&mut self.shared.builder, chunks).map_err(Fault::no_room_at(span))
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
        let rule = self.shared.builder.declare_fresh(hint).map_err(Fault::no_room)?;
        self.shared.builder.define(rule, body).map_err(Fault::no_room)?;
        Ok(rule)
    }

    pub(super) fn text(&self, span: Span) -> &'a str {
        &self.source[span.start as usize..span.end as usize]
    }
}

/// The parts of a body before a special token that ends it, and the token.
fn ended_by_token(body: &Syntax) -> Option<(&[Syntax], Span)> {
    let parts = match body {
        Syntax::Sequence(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    match parts.split_last()? {
        (&Syntax::Special(token), text) => Some((text, token)),
        _ => None,
    }
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
