//! The source as a tree, and the parser that makes it.
//!
//! The tokens are split into statements first: a statement ends where a line begins outside of all brackets with
//! anything but `|`, `&`, `->` or `%if`. A mistake in one statement does not reach the next.

use std::collections::HashMap;
use std::ops::Range;

use grammask_grammar_ir::Span;

use super::fault::Fault;
use super::number::{Argument, Condition, NumberReader};
use super::token::{LarkToken, Sort};

/// A source, or the inside of a nested grammar.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) rules: Vec<RuleSyntax>,
    pub(super) ignored: Vec<Syntax>,
    pub(super) imports: Vec<Import>,
    /// Values of `%grammar_options` and `%llguidance`, by their places among the JSON values.
    pub(super) options: Vec<(u32, Span)>,
    /// Names of rules in which something is wrong. They count as defined, so that one mistake is told once.
    pub(super) broken: Vec<Span>,
    /// Whether something is wrong in a statement of which nobody knows what it would have defined.
    pub(super) has_nameless: bool,
}

#[derive(Debug)]
pub(super) struct RuleSyntax {
    pub(super) name: Span,
    /// Whether it carries a number: `name::_`.
    pub(super) is_numbered: bool,
    pub(super) attributes: Vec<Attribute>,
    pub(super) body: Syntax,
}

/// `name` or `name=value` in the brackets after a rule's name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute {
    pub(super) name: Span,
    pub(super) value: Option<(Sort, Span)>,
}

/// One name of an `%import`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Import {
    pub(super) name: Span,
    /// Its name here.
    pub(super) alias: Span,
}

/// An expression.
#[derive(Debug)]
pub(super) enum Syntax {
    Empty,
    String(Span),
    Regex(Span),
    /// `"a".."z"`.
    Range(Span, Span),
    /// A rule or a terminal.
    Name(Span),
    /// A rule, and the number that it carries here.
    Numbered(Span, Argument),
    /// An alternative that exists where a condition holds.
    If {
        condition: Condition,
        /// The place of `%if`.
        span: Span,
        /// How many tokens the condition has.
        length: usize,
        body: Box<Syntax>,
    },
    /// `<name>`, `<[ids]>`.
    Special(Span),
    /// `@name`.
    Named(Span),
    /// `%json`, by the place of its value.
    Json(u32, Span),
    /// `%regex`, by the place of its value.
    Substring(u32, Span),
    /// `%lark { ... }`.
    Nested(Box<File>, Span),
    Sequence(Vec<Syntax>),
    Choice(Vec<Syntax>),
    Intersection(Vec<Syntax>),
    Complement(Box<Syntax>),
    Repeat {
        body: Box<Syntax>,
        min: u32,
        max: Option<u32>,
    },
}

/// A name whose first letter is in upper case.
pub(super) fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// Reads all tokens. Faults go to `report`.
pub(super) fn parse(
    source: &str,
    tokens: &[LarkToken],
    nesting: usize,
    report: &mut impl FnMut(Fault),
) -> File {
    let mut file = File::default();
    let reader = TokenCursor { source, tokens, nesting };
    reader.file(0..tokens.len(), 0, &mut file, report);
    file
}

/// Everything that stays the same while a source is read.
#[derive(Clone, Copy)]
struct TokenCursor<'a> {
    source: &'a str,
    tokens: &'a [LarkToken],
    nesting: usize,
}

impl<'a> TokenCursor<'a> {
    /// Reads statements. Recurses through nested grammars as deep as brackets may nest.
    fn file(self, range: Range<usize>, depth: usize, file: &mut File, report: &mut impl FnMut(Fault)) {
        for statement in self.statements(range) {
            let (position, end) = (statement.start, statement.end);
            let mut parser = Parser { reader: self, position, end, depth, name: None };
            if let Err(fault) = parser.statement(file) {
                let names = parser.name.into_iter().chain(self.announced(statement));
                let known = file.broken.len();
                file.broken.extend(names);
                file.has_nameless |= file.broken.len() == known;
                report(fault);
            }
        }
        self.replace_named_ends(file);
    }

    /// Puts the text or pattern of a terminal in the place of its name, where the name says what ends a rule.
    fn replace_named_ends(self, file: &mut File) {
        let is_end = |name: &str| matches!(name, "suffix" | "stop");
        let mut terminals: Option<HashMap<&str, (Sort, Span)>> = None;
        for at in 0..file.rules.len() {
            for place in 0..file.rules[at].attributes.len() {
                let attribute = file.rules[at].attributes[place];
                if let Some((Sort::Name, name)) = attribute.value
                    && is_end(self.text(attribute.name))
                {
                    let known = terminals.get_or_insert_with(|| self.terminals_of_one_literal(file));
                    if let Some(&literal) = known.get(self.text(name)) {
                        file.rules[at].attributes[place].value = Some(literal);
                    }
                }
            }
        }
    }

    /// The terminals that are a text or a pattern and nothing else.
    fn terminals_of_one_literal(self, file: &File) -> HashMap<&'a str, (Sort, Span)> {
        let plain = file.rules.iter().filter(|rule| rule.attributes.is_empty() && !rule.is_numbered);
        let literals = plain.filter_map(|rule| match rule.body {
            Syntax::String(span) => Some((self.text(rule.name), (Sort::String, span))),
            Syntax::Regex(span) => Some((self.text(rule.name), (Sort::Regex, span))),
            _ => None,
        });
        literals.filter(|(name, _)| is_terminal(name)).collect()
    }

    /// The tokens of each statement.
    fn statements(self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut statements = Vec::new();
        let mut start = range.start;
        let mut open = 0_usize;
        for index in range.clone() {
            let token = self.tokens[index];
            let goes_on = matches!(token.sort, Sort::Bar | Sort::And | Sort::Arrow) || self.is_if(token);
            if open == 0 && token.starts_line && !goes_on && index > start {
                statements.push(start..index);
                start = index;
            }
            match token.sort {
                Sort::OpenGroup | Sort::OpenOption | Sort::OpenRange => open += 1,
                Sort::CloseGroup | Sort::CloseOption | Sort::CloseRange => open = open.saturating_sub(1),
                _ => {}
            }
        }
        if start < range.end {
            statements.push(start..range.end);
        }
        statements
    }

    /// The names that a directive of this kind brings, or would bring.
    fn announced(self, statement: Range<usize>) -> impl Iterator<Item = Span> {
        let tokens = &self.tokens[statement];
        let most = match tokens.first().map(|first| self.text(first.span)) {
            Some("%import" | "%declare") => usize::MAX,
            Some("%extend" | "%override") => 1,
            _ => 0,
        };
        let names = tokens.iter().filter(|token| token.sort == Sort::Name);
        names.map(|token| token.span).take(most)
    }

    fn is_if(self, token: LarkToken) -> bool {
        token.sort == Sort::Directive && self.text(token.span) == "%if"
    }

    fn text(self, span: Span) -> &'a str {
        &self.source[span.start as usize..span.end as usize]
    }
}

/// Reads one statement.
struct Parser<'a> {
    reader: TokenCursor<'a>,
    position: usize,
    end: usize,
    /// How many brackets are open.
    depth: usize,
    /// The name that the statement defines, once that is known.
    name: Option<Span>,
}

impl Parser<'_> {
    fn statement(&mut self, file: &mut File) -> Result<(), Fault> {
        let Some(first) = self.peek() else { return Ok(()) };
        let before = self.position.checked_sub(1).map(|before| self.reader.tokens[before].sort);
        if before == Some(Sort::Colon) && !self.begins_statement() {
            return Err(Fault::new(
                "lark/syntax",
                "the body of a rule begins on the line of its name",
                "write `name: ...` on one line; lines that begin with `|` may follow",
                first.span,
            ));
        }
        if first.sort == Sort::Directive {
            self.position += 1;
            return self.directive(first.span, file);
        }
        // How a parse tree would be shaped, of which there is none.
        while self.take(Sort::Question).is_some() || self.take(Sort::Bang).is_some() {}
        let Some(name) = self.take(Sort::Name) else {
            return Err(Fault::new(
                "lark/syntax",
                "a statement begins with the name of a rule or terminal, or with a directive",
                "write `name: ...`; a line that goes on with the statement before begins with `|`",
                self.here(),
            ));
        };
        self.name = Some(name);
        if let Some(dot) = self.take(Sort::Dot) {
            return Err(Fault::unsupported(
                "priorities are not supported: they choose among the terminals of a lexer, and here there is none; \
                 every way to read a text counts",
                "leave the number out, and write `NAME: /[a-z]+/ & ~KEYWORD` where a terminal must not be another one",
                self.take(Sort::Integer).unwrap_or(dot),
            ));
        }
        if let Some(open) = self.take(Sort::OpenRange) {
            return Err(template(open));
        }
        let is_numbered = match self.take(Sort::Colons) {
            Some(colons) => self.carries_number(colons)?,
            None => false,
        };
        let attributes = match self.take(Sort::OpenOption) {
            Some(open) => self.attributes(open)?,
            None => Vec::new(),
        };
        let colon = self.take(Sort::Colon);
        if colon.is_none() {
            let hint = "write `name: ...`; a line that goes on with the statement before begins with `|`";
            return Err(Fault::new(
                "lark/syntax",
                "a `:` is missing behind the name",
                hint,
                self.here_or(name),
            ));
        }
        let body = self.choices()?;
        self.nothing_left()?;
        file.rules.push(RuleSyntax { name, is_numbered, attributes, body });
        Ok(())
    }

    /// Reads `_` after `::` in front of a rule's body.
    fn carries_number(&mut self, colons: Span) -> Result<bool, Fault> {
        match self.take(Sort::Name).map(|name| self.reader.text(name)) {
            Some("_") => Ok(true),
            _ if self.take(Sort::Equals).is_some() => {
                let message = "a rule has one `:` behind its name; `::=` is EBNF";
                Err(Fault::new("lark/syntax", message, "write `name: ...`", colons))
            }
            _ => {
                let hint = "write `name::_: ...`; references say which number it is: `name::0x0`";
                Err(Fault::new("lark/syntax", "the number that a rule carries is named `_`", hint, colons))
            }
        }
    }

    /// Whether a name and the text that follows names of rules comes next, or a directive.
    fn begins_statement(&self) -> bool {
        let tokens = &self.reader.tokens[self.position..self.end];
        let is_shape = |token: &LarkToken| matches!(token.sort, Sort::Question | Sort::Bang);
        let mut tokens = tokens.iter().skip_while(|token| is_shape(token)).map(|token| token.sort);
        match tokens.next() {
            Some(Sort::Directive) => true,
            Some(Sort::Name) => {
                let next = tokens.next();
                matches!(
                    next,
                    Some(Sort::Colon | Sort::Colons | Sort::OpenOption | Sort::OpenRange | Sort::Dot)
                )
            }
            _ => false,
        }
    }

    /// The rest after a directive's word.
    fn directive(&mut self, span: Span, file: &mut File) -> Result<(), Fault> {
        match self.reader.text(span) {
            "%ignore" => {
                let ignored = self.choices()?;
                self.nothing_left()?;
                file.ignored.push(ignored);
                Ok(())
            }
            "%import" => self.import(span, file),
            "%grammar_options" | "%llguidance" => match self.peek().map(|token| (token.sort, token.span)) {
                Some((Sort::Json(value), at)) => {
                    self.position += 1;
                    file.options.push((value, at));
                    self.nothing_left()
                }
                _ => Err(Fault::new(
                    "lark/syntax",
                    "a JSON object is missing",
                    "write `%grammar_options {...}`",
                    span,
                )),
            },
            "%declare" => Err(Fault::unsupported(
                "`%declare` names terminals that only a program knows",
                "define the terminal, or name a special token: `<name>`",
                span,
            )),
            "%extend" | "%override" => Err(Fault::unsupported(
                "imported definitions cannot be changed",
                "define a rule of your own",
                span,
            )),
            "%json" | "%regex" | "%lark" => Err(Fault::new(
                "lark/syntax",
                "this directive is an expression, not a statement",
                "write `name: %json {...}`",
                span,
            )),
            other => Err(Fault::unsupported(
                format!("there is no directive `{other}`"),
                "the directives are %ignore, %import, %llguidance (also %grammar_options), and inside rules %json, %regex and %lark",
                span,
            )),
        }
    }

    /// `common.A`, `common.A -> B` or `common (A, B)`.
    fn import(&mut self, span: Span, file: &mut File) -> Result<(), Fault> {
        let shape = |at| {
            let hint =
                "write `%import common.NAME`, `%import common.NAME -> OTHER` or `%import common (A, B)`";
            Fault::new("lark/syntax", "this is no import", hint, at)
        };
        let library = self.take(Sort::Name).ok_or_else(|| shape(span))?;
        if self.reader.text(library) != "common" {
            let message = "only the library `common` can be imported from";
            return Err(Fault::unsupported(message, "copy the definitions into the grammar", library));
        }
        if self.take(Sort::Dot).is_some() {
            let name = self.take(Sort::Name).ok_or_else(|| shape(self.here_or(library)))?;
            let alias = match self.take(Sort::Arrow) {
                Some(arrow) => self.take(Sort::Name).ok_or_else(|| shape(arrow))?,
                None => name,
            };
            file.imports.push(Import { name, alias });
            return self.nothing_left();
        }
        self.take(Sort::OpenGroup).ok_or_else(|| shape(self.here_or(library)))?;
        while let Some(name) = self.take(Sort::Name) {
            file.imports.push(Import { name, alias: name });
            if self.take(Sort::Comma).is_none() {
                break;
            }
        }
        self.take(Sort::CloseGroup).ok_or_else(|| shape(self.here_or(library)))?;
        self.nothing_left()
    }

    fn attributes(&mut self, open: Span) -> Result<Vec<Attribute>, Fault> {
        let mut attributes = Vec::new();
        while let Some(name) = self.take(Sort::Name) {
            let value = match self.take(Sort::Equals) {
                None => None,
                Some(equals) => match self.peek() {
                    Some(LarkToken { sort, span, .. })
                        if matches!(
                            sort,
                            Sort::String | Sort::Regex | Sort::Integer | Sort::Decimal | Sort::Name
                        ) =>
                    {
                        self.position += 1;
                        Some((sort, span))
                    }
                    _ => {
                        return Err(Fault::new(
                            "lark/syntax",
                            "a value is missing",
                            "write `name=value`",
                            equals,
                        ));
                    }
                },
            };
            attributes.push(Attribute { name, value });
            if self.take(Sort::Comma).is_none() {
                break;
            }
        }
        match (self.take(Sort::CloseOption), self.peek()) {
            (Some(_), _) => Ok(attributes),
            (None, Some(other)) => Err(Fault::new(
                "lark/syntax",
                "this is no attribute",
                "write `name` or `name=value`, with commas between",
                other.span,
            )),
            (None, None) => {
                Err(Fault::new("lark/unclosed", "this `[` is not closed", "close it with `]`", open))
            }
        }
    }

    /// Alternatives.
    fn choices(&mut self) -> Result<Syntax, Fault> {
        let mut alternatives = vec![self.conjunction()?];
        while self.take(Sort::Bar).is_some() {
            alternatives.push(self.conjunction()?);
        }
        Ok(one_or(alternatives, Syntax::Choice))
    }

    /// Sequences that all have to match, the name that a parse tree would give them, and a condition.
    fn conjunction(&mut self) -> Result<Syntax, Fault> {
        let mut parts = vec![self.sequence()?];
        while self.take(Sort::And).is_some() {
            parts.push(self.sequence()?);
        }
        if let Some(arrow) = self.take(Sort::Arrow)
            && self.take(Sort::Name).is_none()
        {
            return Err(Fault::new(
                "lark/syntax",
                "a name is missing",
                "write `-> name`, or leave it out",
                arrow,
            ));
        }
        let body = one_or(parts, Syntax::Intersection);
        let Some(span) = self.peek().filter(|&token| self.reader.is_if(token)).map(|token| token.span) else {
            return Ok(body);
        };
        self.position += 1;
        let (condition, length) = self.number(|numbers| numbers.condition(span))?;
        Ok(Syntax::If { condition, span, length, body: Box::new(body) })
    }

    /// Reads an argument or a condition, and says how many tokens it has.
    fn number<T>(
        &mut self,
        read: impl FnOnce(&mut NumberReader<'_>) -> Result<T, Fault>,
    ) -> Result<(T, usize), Fault> {
        let mut numbers = NumberReader {
            source: self.reader.source,
            tokens: &self.reader.tokens[self.position..self.end],
            read: 0,
            nesting: self.reader.nesting - self.depth,
        };
        let result = read(&mut numbers)?;
        let length = numbers.read;
        self.position += length;
        Ok((result, length))
    }

    fn sequence(&mut self) -> Result<Syntax, Fault> {
        let mut parts = Vec::new();
        while let Some(part) = self.repeated()? {
            parts.push(part);
        }
        Ok(match parts.is_empty() {
            true => Syntax::Empty,
            false => one_or(parts, Syntax::Sequence),
        })
    }

    /// An atom, perhaps its complement, and how often that comes: `~A*` is `(~A)*`.
    fn repeated(&mut self) -> Result<Option<Syntax>, Fault> {
        let mut complements = Vec::new();
        while let Some(tilde) = self.take(Sort::Tilde) {
            complements.push(tilde);
        }
        let Some(mut syntax) = self.atom()? else {
            return match complements.last() {
                Some(&tilde) if self.peek().is_some_and(|next| next.sort == Sort::Integer) => {
                    Err(nothing_to_repeat(tilde))
                }
                Some(&tilde) => {
                    Err(Fault::new("lark/syntax", "nothing follows this `~`", "write `~TERMINAL`", tilde))
                }
                None => Ok(None),
            };
        };
        // Pairs cancel out over text, and a tree as deep as the source is long must not arise.
        if complements.len() % 2 == 1 {
            syntax = Syntax::Complement(Box::new(syntax));
        }
        if let Some((min, max)) = self.quantifier()? {
            syntax = Syntax::Repeat { body: Box::new(syntax), min, max };
        }
        Ok(Some(syntax))
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, Fault> {
        if self.take(Sort::Question).is_some() {
            return Ok(Some((0, Some(1))));
        }
        if self.take(Sort::Star).is_some() {
            return Ok(Some((0, None)));
        }
        if self.take(Sort::Plus).is_some() {
            return Ok(Some((1, None)));
        }
        let is_count = self.reader.tokens[..self.end]
            .get(self.position + 1)
            .is_some_and(|next| next.sort == Sort::Integer);
        if is_count && self.take(Sort::Tilde).is_some() {
            let min = self.integer()?.unwrap_or(0);
            let max = match self.take(Sort::Dots) {
                Some(dots) => self.integer()?.ok_or_else(|| not_a_range(dots))?,
                None => min,
            };
            return Ok(Some((min, Some(max))));
        }
        let Some(open) = self.take(Sort::OpenRange) else { return Ok(None) };
        let min = self.integer()?;
        let bounds = match (min, self.take(Sort::Comma)) {
            (Some(count), None) => (count, Some(count)),
            (None, None) => {
                let is_argument =
                    |token: LarkToken| matches!(token.sort, Sort::Name | Sort::String | Sort::Regex);
                let has_argument = self.peek().is_some_and(is_argument);
                return Err(if has_argument { template(open) } else { not_a_range(open) });
            }
            (min, Some(_)) => {
                let max = self.integer()?;
                if min.is_none() && max.is_none() {
                    return Err(not_a_range(open));
                }
                (min.unwrap_or(0), max)
            }
        };
        self.take(Sort::CloseRange).ok_or_else(|| not_a_range(open))?;
        Ok(Some(bounds))
    }

    fn integer(&mut self) -> Result<Option<u32>, Fault> {
        let Some(span) = self.take(Sort::Integer) else { return Ok(None) };
        let number = self.reader.text(span).parse().map_err(|_| {
            Fault::new("lark/limit", "this count is too large", "counts go up to 4294967295", span)
        })?;
        Ok(Some(number))
    }

    fn atom(&mut self) -> Result<Option<Syntax>, Fault> {
        let Some(token) = self.peek() else { return Ok(None) };
        let span = token.span;
        let syntax = match token.sort {
            Sort::String => {
                self.position += 1;
                let Some(dots) = self.take(Sort::Dots) else { return Ok(Some(Syntax::String(span))) };
                let Some(last) = self.take(Sort::String) else {
                    return Err(Fault::new(
                        "lark/syntax",
                        "the end of the range is missing",
                        "write `\"a\"..\"z\"`",
                        dots,
                    ));
                };
                return Ok(Some(Syntax::Range(span, last)));
            }
            Sort::Regex => Syntax::Regex(span),
            Sort::Name => {
                self.position += 1;
                let Some(colons) = self.take(Sort::Colons) else { return Ok(Some(Syntax::Name(span))) };
                let (argument, _) = self.number(|numbers| numbers.argument(colons))?;
                return Ok(Some(Syntax::Numbered(span, argument)));
            }
            Sort::Special => Syntax::Special(span),
            Sort::Named => Syntax::Named(span),
            Sort::OpenGroup => return self.group(span, Sort::CloseGroup).map(Some),
            Sort::OpenOption => {
                let body = Box::new(self.group(span, Sort::CloseOption)?);
                return Ok(Some(Syntax::Repeat { body, min: 0, max: Some(1) }));
            }
            Sort::Directive if self.reader.is_if(token) => return Ok(None),
            Sort::Directive => return self.directive_atom(span).map(Some),
            _ => return Ok(None),
        };
        self.position += 1;
        Ok(Some(syntax))
    }

    /// `( ... )` or `[ ... ]`.
    fn group(&mut self, open: Span, close: Sort) -> Result<Syntax, Fault> {
        self.position += 1;
        self.enter(open)?;
        let inner = self.choices()?;
        self.depth -= 1;
        if self.take(close).is_some() {
            return Ok(inner);
        }
        // A token that is wrong here is the better place for the error, if there is one.
        match self.peek() {
            Some(_) => self.nothing_left().map(|()| inner),
            None => {
                let close = if close == Sort::CloseGroup { ")" } else { "]" };
                let message = format!("this `{}` is not closed", self.reader.text(open));
                Err(Fault::new("lark/unclosed", message, format!("close it with `{close}`"), open))
            }
        }
    }

    fn enter(&mut self, open: Span) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > self.reader.nesting {
            let message = format!("brackets nest more than {} levels deep", self.reader.nesting);
            return Err(Fault::new("lark/limit", message, "give inner parts a rule of their own", open));
        }
        Ok(())
    }

    /// A directive inside a rule.
    fn directive_atom(&mut self, span: Span) -> Result<Syntax, Fault> {
        self.position += 1;
        let word = self.reader.text(span);
        match (word, self.peek().map(|token| (token.sort, token.span))) {
            ("%json", Some((Sort::Json(value), at))) => {
                self.position += 1;
                Ok(Syntax::Json(value, at))
            }
            ("%regex", Some((Sort::Json(value), at))) => {
                self.position += 1;
                Ok(Syntax::Substring(value, at))
            }
            ("%lark", Some((Sort::OpenRange, open))) => self.nested(open),
            ("%json" | "%regex", _) => Err(Fault::new(
                "lark/syntax",
                format!("a JSON value is missing behind `{word}`"),
                "write `{...}`",
                span,
            )),
            ("%lark", _) => Err(Fault::new(
                "lark/syntax",
                "a grammar in braces is missing behind `%lark`",
                "write `%lark { start: ... }`",
                span,
            )),
            _ => Err(Fault::unsupported(
                format!("`{word}` cannot stand inside a rule"),
                "inside rules there are %json, %regex and %lark; statements begin on lines of their own",
                span,
            )),
        }
    }

    /// The statements between braces.
    fn nested(&mut self, open: Span) -> Result<Syntax, Fault> {
        self.position += 1;
        self.enter(open)?;
        let start = self.position;
        let mut inside = 1_usize;
        while let Some(token) = self.peek() {
            match token.sort {
                Sort::OpenRange => inside += 1,
                Sort::CloseRange => inside -= 1,
                _ => {}
            }
            self.position += 1;
            if inside == 0 {
                let mut file = File::default();
                let mut first = None;
                let mut report = |fault| {
                    first.get_or_insert(fault);
                };
                // Through a trait object, so that nesting does not multiply the types of closures.
                let report: &mut dyn FnMut(Fault) = &mut report;
                self.reader.file(start..self.position - 1, self.depth, &mut file, &mut |fault| report(fault));
                self.depth -= 1;
                return match first {
                    Some(fault) => Err(fault),
                    None => Ok(Syntax::Nested(Box::new(file), open)),
                };
            }
        }
        Err(Fault::new("lark/unclosed", "this `{` is not closed", "close it with `}`", open))
    }

    fn nothing_left(&self) -> Result<(), Fault> {
        let Some(token) = self.peek() else { return Ok(()) };
        let (message, hint) = match token.sort {
            Sort::Directive if self.reader.is_if(token) => {
                ("an alternative has one condition", "join them: `%if and(bit_set(0), bit_clear(1))`")
            }
            Sort::CloseGroup | Sort::CloseOption | Sort::CloseRange => {
                ("nothing is open that this closes", "remove it")
            }
            Sort::Question | Sort::Star | Sort::Plus | Sort::OpenRange => {
                return Err(nothing_to_repeat(token.span));
            }
            Sort::Colon | Sort::Colons => {
                ("a second `:` in one statement", "begin each rule on a line of its own")
            }
            Sort::Equals => ("`=` does not belong here", "a rule is written `name: ...`"),
            _ => ("this does not belong here", "remove it, or put it in quotes if it is text"),
        };
        Err(Fault::new("lark/syntax", message, hint, token.span))
    }

    fn peek(&self) -> Option<LarkToken> {
        (self.position < self.end).then(|| self.reader.tokens[self.position])
    }

    fn take(&mut self, sort: Sort) -> Option<Span> {
        let token = self.peek().filter(|token| token.sort == sort)?;
        self.position += 1;
        Some(token.span)
    }

    /// The place of the next token, or the place after the last one.
    fn here(&self) -> Span {
        match (self.peek(), self.position.checked_sub(1)) {
            (Some(token), _) => token.span,
            (None, Some(last)) => self.reader.tokens[last].span,
            (None, None) => Span::new(0, 0),
        }
    }

    fn here_or(&self, other: Span) -> Span {
        self.peek().map_or(other, |token| token.span)
    }
}

fn nothing_to_repeat(at: Span) -> Fault {
    let hint = "put a name, a literal or a group in parentheses before it";
    Fault::new("lark/syntax", "there is nothing before this to repeat", hint, at)
}

fn template(at: Span) -> Fault {
    Fault::unsupported("templates are not supported", "write the rule out for each argument", at)
}

fn not_a_range(at: Span) -> Fault {
    Fault::new("lark/syntax", "this is no count", "write `{n}`, `{n,}`, `{,m}`, `{n,m}`, `~n` or `~n..m`", at)
}

fn one_or(mut parts: Vec<Syntax>, many: impl FnOnce(Vec<Syntax>) -> Syntax) -> Syntax {
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => many(parts),
    }
}
