//! The parser of one rule's body.
//!
//! ```text
//! body     = choices lookahead?
//! choices  = operands ("|" operands)*
//! operands = sequence ("&" sequence)*
//! sequence = ("~"* atom quantifier?)*
//! atom     = string | class | name | "." | "(" choices? ")" | macro "(" arguments ")"
//! ```
//!
//! Every mistake that people make has a reading besides. A stray token is an element, a second quantifier is read and
//! reported, an open group may end with the rule. So a body always parses, to its end and in one pass, and every mistake in
//! it is reported at its place. No token is looked at twice, which keeps hostile input linear.
//!
//! All that is open stands in a list of [`Frame`]s, so nesting costs no stack.

use grammask_grammar_ir::{JsonEscapes, Occurrence, Span};

use super::fault::{Fault, Mistake};
use super::options::Dialect;
use super::token::{Macro, Spanned, Token};

/// An expression as written. Literals are decoded later, from their places in the source.
#[derive(Clone, Debug)]
pub(super) enum Syntax {
    Empty,
    String(Span),
    Bytes(Span),
    Class(Span),
    AnyCharacter,
    Name(Span),
    Sequence(Vec<Syntax>),
    Choice(Vec<Syntax>),
    /// Alternatives in parentheses.
    Group(Box<Syntax>),
    Repeat {
        body: Box<Syntax>,
        min: u32,
        max: Option<u32>,
    },
    Intersection(Vec<Syntax>),
    Complement(Box<Syntax>),
    JsonEscaped(Box<Syntax>, JsonEscapes),
    /// The separator, parts, and bounds as a repeat of the empty string.
    Permutation(Vec<Syntax>, Span),
    /// A part of the one above.
    Part(Occurrence, Box<Syntax>, Span),
    /// A number, which only macros take.
    Integer(u32),
    /// A macro for tokens or tags, with the place of its name.
    Macro {
        name: Macro,
        span: Span,
        arguments: Vec<Argument>,
    },
}

/// An argument of a macro.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) name: Option<Span>,
    pub(super) value: ArgumentValue,
}

/// The kinds of arguments.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValue {
    One(Syntax),
    Tuple(Vec<Syntax>),
}

/// A rule's right side.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) expression: Syntax,
    pub(super) lookahead: Option<Syntax>,
}

#[derive(Clone, Copy, Debug)]
struct Quantifier {
    min: u32,
    max: Option<u32>,
}

/// An open parenthesis and its beginning.
enum Open {
    /// The rule's body, or what follows a mistake after it.
    Body,
    Group(Span),
    Lookahead(Span),
    /// A macro over expressions: its name, both places, and the operands before the current one.
    Operator {
        name: Macro,
        span: Span,
        open: Span,
        operands: Vec<Syntax>,
    },
    /// A macro over arguments, with those before the current one, and the name of the current one.
    Call {
        name: Macro,
        span: Span,
        open: Span,
        arguments: Vec<Argument>,
        argument: Option<Span>,
    },
    /// An argument of several items.
    Tuple(Span, Vec<Syntax>),
}

/// How far an item of a macro's arguments or of a tuple has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    /// Nothing of it: it may be a number or a tuple, and there may be none.
    Next,
    /// A part of an expression, or as in all other frames.
    Expression,
    /// All of it; a comma or the end follows.
    Done,
}

/// An expression that is being read.
struct Frame {
    open: Open,
    item: Item,
    /// The alternatives before the current one, the operands of `&` in it before the current one, and its parts.
    alternatives: Vec<Syntax>,
    operands: Vec<Syntax>,
    parts: Vec<Syntax>,
    /// The number of `~` before the next part, and the last of them.
    tildes: Option<(usize, Span)>,
}

impl Frame {
    fn new(open: Open) -> Self {
        let item = Self::first_item(&open);
        Self { open, item, alternatives: Vec::new(), operands: Vec::new(), parts: Vec::new(), tildes: None }
    }

    fn first_item(open: &Open) -> Item {
        if matches!(open, Open::Call { .. } | Open::Tuple(..)) { Item::Next } else { Item::Expression }
    }

    /// Puts a part behind the others, with the `~` before it.
    fn end_part(&mut self, part: Syntax) {
        // Pairs cancel out over text.
        let is_complement = self.tildes.take().is_some_and(|(count, _)| count % 2 == 1);
        self.parts.push(if is_complement { Syntax::Complement(Box::new(part)) } else { part });
    }

    /// Puts an item to the others of what is open. The only one of a group is its expression.
    fn end_item(&mut self, value: ArgumentValue) {
        self.item = Item::Done;
        match (&mut self.open, value) {
            (Open::Call { arguments, argument, .. }, value) => {
                arguments.push(Argument { name: argument.take(), value });
            }
            (Open::Operator { operands: items, .. } | Open::Tuple(_, items), ArgumentValue::One(item)) => {
                items.push(item)
            }
            (_, ArgumentValue::One(item)) => self.alternatives.push(item),
            (_, ArgumentValue::Tuple(_)) => {}
        }
    }
}

/// The body of a rule. `end` is the place behind its last token, and mistakes go to `report`.
pub(super) fn parse(
    source: &str,
    dialect: Dialect,
    tokens: &[Spanned],
    end: usize,
    report: &mut impl FnMut(Fault),
) -> Body {
    let mut parser = BodyParser { source, dialect, tokens, end, position: 0, frames: Vec::new(), report };
    let expression = parser.choices(Open::Body);
    let mut body = Body { expression, lookahead: None };
    while let Some((token, span)) = parser.next() {
        match token {
            Token::OpenLookahead if body.lookahead.is_none() => {
                body.lookahead = Some(parser.choices(Open::Lookahead(span)));
            }
            _ if body.lookahead.is_some() => {
                parser.fault(span, Mistake::LookaheadNotLast);
                break;
            }
            // A token that ends alternatives ends nothing here: a parenthesis too many, a comma. Go on after it.
            wrong => {
                let is_close = wrong == Token::CloseGroup;
                parser.fault(span, if is_close { Mistake::UnmatchedClose } else { Mistake::Unexpected });
                if parser.peek().is_some_and(|token| !ends_choices(token)) {
                    parser.choices(Open::Body);
                }
            }
        }
    }
    body
}

/// Whether a token ends alternatives, and what they are in has to say what it means.
fn ends_choices(token: Token) -> bool {
    matches!(token, Token::CloseGroup | Token::Comma | Token::OpenLookahead)
}

struct BodyParser<'t, R> {
    source: &'t str,
    dialect: Dialect,
    tokens: &'t [Spanned],
    end: usize,
    /// The next token.
    position: usize,
    frames: Vec<Frame>,
    report: &'t mut R,
}

impl<R: FnMut(Fault)> BodyParser<'_, R> {
    fn fault(&mut self, span: Span, mistake: Mistake) {
        (self.report)(Fault::new(span, mistake));
    }

    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.position).map(|&(token, _)| token)
    }

    fn next(&mut self) -> Option<Spanned> {
        let next = self.tokens.get(self.position).copied();
        self.position += usize::from(next.is_some());
        next
    }

    /// The next token, if it is this one.
    fn next_if(&mut self, wanted: Token) -> Option<Span> {
        if self.peek() == Some(wanted) { self.next().map(|(_, span)| span) } else { None }
    }

    /// Alternatives up to the end of what is open: a parenthesis, or for a body what cannot go on.
    fn choices(&mut self, open: Open) -> Syntax {
        let mut frame = Frame::new(open);
        loop {
            let next = self.peek().filter(|&token| !ends_choices(token) && frame.item != Item::Done);
            match next {
                Some(Token::Bar) => self.end_alternative(&mut frame),
                Some(Token::Ampersand) => self.end_operand(&mut frame),
                Some(_) => {
                    if let Some(opened) = self.element(&mut frame) {
                        self.frames.push(std::mem::replace(&mut frame, Frame::new(opened)));
                    }
                    continue;
                }
                None if matches!(frame.open, Open::Body) => return self.expression(&mut frame),
                None if self.peek() == Some(Token::Comma) && self.goes_on(&mut frame) => {}
                None => {
                    let value = self.closed(frame);
                    match (self.frames.pop(), value) {
                        (Some(outer), value) => {
                            frame = outer;
                            match value {
                                ArgumentValue::One(made) => self.deliver(&mut frame, made),
                                tuple => frame.end_item(tuple),
                            }
                            continue;
                        }
                        (None, ArgumentValue::One(made)) => return made,
                        (None, ArgumentValue::Tuple(_)) => return Syntax::Empty,
                    }
                }
            }
            self.position += 1;
        }
    }

    /// Reads a token of an expression and what belongs to it; or what it opens, which has to be read first.
    fn element(&mut self, frame: &mut Frame) -> Option<Open> {
        let (token, span) = self.next()?;
        if frame.item == Item::Next {
            if let Token::Integer(Some(number)) = token {
                frame.end_item(ArgumentValue::One(Syntax::Integer(number)));
                return None;
            }
            if let Open::Call { argument, .. } = &mut frame.open {
                if token == Token::OpenGroup {
                    return Some(Open::Tuple(span, Vec::new()));
                }
                if token == Token::Name && argument.is_none() && self.next_if(Token::Equals).is_some() {
                    *argument = Some(span);
                    return None;
                }
            }
            frame.item = Item::Expression;
        }
        let atom = match token {
            Token::String => Syntax::String(span),
            Token::Class => Syntax::Class(span),
            Token::Name => Syntax::Name(span),
            // Names in GBNF may be made of digits.
            Token::Integer(_) if self.dialect == Dialect::Gbnf => Syntax::Name(span),
            Token::Dot => Syntax::AnyCharacter,
            Token::Broken => Syntax::Empty,
            Token::OpenGroup if self.next_if(Token::CloseGroup).is_some() => Syntax::Empty,
            Token::OpenGroup => return Some(Open::Group(span)),
            Token::Macro(Macro::Bytes) => self.bytes(span),
            Token::Macro(name) => return Some(self.called(name, span)),
            Token::Tilde => {
                frame.tildes = Some((frame.tildes.map_or(0, |(count, _)| count) + 1, span));
                return None;
            }
            Token::Question | Token::Star | Token::Plus | Token::OpenRange => {
                // With nothing before it.
                if let Some((_, span)) = self.quantifier((token, span)) {
                    self.fault(span, Mistake::NothingToRepeat);
                }
                frame.end_part(Syntax::Empty);
                return None;
            }
            Token::Equals => {
                self.fault(span, Mistake::MissingAssign);
                Syntax::Empty
            }
            Token::Assign
            | Token::Integer(_)
            | Token::CloseRange
            | Token::Bar
            | Token::Ampersand
            | Token::Comma
            | Token::CloseGroup
            | Token::OpenLookahead => {
                self.fault(span, Mistake::Unexpected);
                Syntax::Empty
            }
        };
        self.deliver(frame, atom);
        None
    }

    /// The frame that a macro and its parenthesis open.
    fn called(&mut self, name: Macro, span: Span) -> Open {
        let open = self.next_if(Token::OpenGroup).unwrap_or(span);
        match name {
            Macro::Intersection
            | Macro::Complement
            | Macro::JsonEscaped(_)
            | Macro::Permutation
            | Macro::Part(_)
            | Macro::Bytes => Open::Operator { name, span, open, operands: Vec::new() },
            Macro::TagDispatch
            | Macro::TagText
            | Macro::Token
            | Macro::SpecialToken
            | Macro::ExcludeToken
            | Macro::TokenTagDispatch
            | Macro::Regex
            | Macro::Substring => Open::Call { name, span, open, arguments: Vec::new(), argument: None },
        }
    }

    /// The string of `Bytes`.
    fn bytes(&mut self, name: Span) -> Syntax {
        let open = self.next_if(Token::OpenGroup).unwrap_or(name);
        let string = self.next_if(Token::String);
        self.close(open);
        match string {
            Some(span) => Syntax::Bytes(span),
            None => {
                self.fault(name, Mistake::MacroArguments);
                Syntax::Empty
            }
        }
    }

    /// Puts what was read, with the quantifiers after it, behind the parts of an expression; or makes it an argument.
    fn deliver(&mut self, frame: &mut Frame, made: Syntax) {
        let mut quantifier = None;
        let mut is_first = true;
        while let Some(next) = self.tokens.get(self.position).copied()
            && matches!(next.0, Token::Question | Token::Star | Token::Plus | Token::OpenRange)
        {
            self.position += 1;
            let read = self.quantifier(next);
            if is_first {
                quantifier = read;
            } else if let Some((_, span)) = read {
                self.fault(span, Mistake::DoubleQuantifier);
            }
            is_first = false;
        }
        let made = match quantifier {
            None => made,
            Some((Quantifier { min, max }, _)) => Syntax::Repeat { body: Box::new(made), min, max },
        };
        frame.end_part(made);
    }

    /// The end of an operand of `&`.
    fn end_operand(&mut self, frame: &mut Frame) {
        frame.item = Item::Expression;
        if let Some((_, span)) = frame.tildes.take() {
            self.fault(span, Mistake::NothingToComplement);
            frame.parts.push(Syntax::Empty);
        }
        let parts = std::mem::take(&mut frame.parts);
        if parts.is_empty() && self.dialect == Dialect::Ebnf {
            // The place where it should end.
            let place = self.tokens.get(self.position).map_or(self.end, |(_, span)| span.range().start);
            self.fault(Span::new(place, place), Mistake::EmptyAlternative);
        }
        frame.operands.push(one_or(parts, Syntax::Sequence));
    }

    /// The end of an alternative.
    fn end_alternative(&mut self, frame: &mut Frame) {
        self.end_operand(frame);
        let operands = std::mem::take(&mut frame.operands);
        frame.alternatives.push(one_or(operands, Syntax::Intersection));
    }

    /// The expression of a frame.
    fn expression(&mut self, frame: &mut Frame) -> Syntax {
        self.end_alternative(frame);
        one_or(std::mem::take(&mut frame.alternatives), Syntax::Choice)
    }

    /// At a comma: whether another operand, argument or item can follow.
    fn goes_on(&mut self, frame: &mut Frame) -> bool {
        if frame.item == Item::Expression {
            if !matches!(frame.open, Open::Operator { .. } | Open::Call { .. } | Open::Tuple(..)) {
                return false;
            }
            let expression = self.expression(frame);
            frame.end_item(ArgumentValue::One(expression));
        }
        if frame.item == Item::Done {
            frame.item = Frame::first_item(&frame.open);
            return true;
        }
        false
    }

    /// The meaning of a frame that ends here.
    fn closed(&mut self, mut frame: Frame) -> ArgumentValue {
        if frame.item == Item::Expression {
            let expression = self.expression(&mut frame);
            frame.end_item(ArgumentValue::One(expression));
        }
        let made = match frame.open {
            Open::Body => frame.alternatives.pop().unwrap_or(Syntax::Empty),
            Open::Group(open) => {
                self.close(open);
                let inner = frame.alternatives.pop().unwrap_or(Syntax::Empty);
                if matches!(inner, Syntax::Choice(_)) { Syntax::Group(Box::new(inner)) } else { inner }
            }
            Open::Lookahead(open) => {
                self.close(open);
                let inner = frame.alternatives.pop().unwrap_or(Syntax::Empty);
                if self.dialect == Dialect::Gbnf {
                    self.fault(open, Mistake::LookaheadInGbnf);
                } else if matches!(inner, Syntax::Choice(_)) {
                    self.fault(open, Mistake::LookaheadChoice);
                }
                inner
            }
            Open::Operator { name, span, open, operands } => {
                self.close(open);
                self.operator(name, span, operands)
            }
            Open::Call { name, span, open, arguments, argument } => {
                if let Some(argument) = argument {
                    self.fault(argument, Mistake::Unexpected);
                }
                self.close(open);
                Syntax::Macro { name, span, arguments }
            }
            Open::Tuple(open, items) => {
                self.close(open);
                return ArgumentValue::Tuple(items);
            }
        };
        ArgumentValue::One(made)
    }

    fn operator(&mut self, name: Macro, span: Span, mut operands: Vec<Syntax>) -> Syntax {
        match name {
            Macro::Intersection => return Syntax::Intersection(operands),
            Macro::Permutation => return Syntax::Permutation(operands, span),
            _ => {}
        }
        if operands.len() != 1 {
            self.fault(span, Mistake::MacroArguments);
        }
        operands.truncate(1);
        let operand = Box::new(operands.pop().unwrap_or(Syntax::Empty));
        match name {
            Macro::Part(occurrence) => Syntax::Part(occurrence, operand, span),
            Macro::JsonEscaped(escapes) => Syntax::JsonEscaped(operand, escapes),
            _ => Syntax::Complement(operand),
        }
    }

    /// Reads on to the parenthesis that closes, over what cannot be inside.
    fn close(&mut self, open: Span) {
        let mut skipped = None;
        loop {
            match self.tokens.get(self.position) {
                Some((Token::CloseGroup, _)) => {
                    self.position += 1;
                    // One report for the whole run.
                    if let Some(first) = skipped {
                        self.fault(first, Mistake::Unexpected);
                    }
                    return;
                }
                None | Some((Token::OpenGroup, _)) => return self.fault(open, Mistake::UnclosedGroup),
                Some(&(_, span)) => {
                    skipped.get_or_insert(span);
                    self.position += 1;
                }
            }
        }
    }

    /// A quantifier from its first token on, with its place; `None` for one in braces that is wrong in itself and reported.
    fn quantifier(&mut self, (token, first): Spanned) -> Option<(Quantifier, Span)> {
        let sign = |min, max| Some((Quantifier { min, max }, first));
        match token {
            Token::Question => return sign(0, Some(1)),
            Token::Star => return sign(0, None),
            Token::Plus => return sign(1, None),
            _ => {}
        }
        let start = self.position;
        while self.peek().is_some_and(|token| matches!(token, Token::Integer(_) | Token::Comma | Token::Name))
        {
            self.position += 1;
        }
        let content = &self.tokens[start..self.position];
        let close = self.next_if(Token::CloseRange);
        let last = close.or(content.last().map(|&(_, span)| span)).unwrap_or(first);
        let span = Span { start: first.start, end: last.end };
        let bounds = match close {
            Some(_) => bounds(self.source, content, span),
            None => Err(Fault::new(span, Mistake::NotARange)),
        };
        match bounds {
            Ok((min, max)) => Some((Quantifier { min, max }, span)),
            Err(fault) => {
                (self.report)(fault);
                None
            }
        }
    }
}

/// The bounds between the braces.
fn bounds(source: &str, content: &[Spanned], span: Span) -> Result<(u32, Option<u32>), Fault> {
    if let Some((_, large)) = content.iter().find(|(token, _)| *token == Token::Integer(None)) {
        return Err(Fault::new(*large, Mistake::IntegerTooLarge));
    }
    let tokens: Vec<Token> = content.iter().map(|(token, _)| *token).collect();
    match tokens.as_slice() {
        &[Token::Integer(Some(count))] => Ok((count, Some(count))),
        &[Token::Integer(Some(min)), Token::Comma] => Ok((min, None)),
        &[Token::Integer(Some(min)), Token::Comma, Token::Integer(Some(max))] if min <= max => {
            Ok((min, Some(max)))
        }
        &[Token::Integer(_), Token::Comma, Token::Integer(_)] => Err(Fault::new(span, Mistake::RangeSwapped)),
        // The other way to write that there is no upper bound.
        &[Token::Integer(Some(min)), Token::Comma, Token::Name] if &source[content[2].1.range()] == "-1" => {
            Ok((min, None))
        }
        [Token::Comma, Token::Integer(_)] => Err(Fault::new(span, Mistake::NoMinimum)),
        _ => Err(Fault::new(span, Mistake::NotARange)),
    }
}

fn one_or(mut parts: Vec<Syntax>, many: fn(Vec<Syntax>) -> Syntax) -> Syntax {
    match parts.len() {
        0 => Syntax::Empty,
        1 => parts.swap_remove(0),
        _ => many(parts),
    }
}
