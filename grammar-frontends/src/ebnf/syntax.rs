//! The parser of one rule's body, made of chumsky combinators.
//!
//! Besides the grammar's own productions there is one for every mistake that people make. A stray token is an
//! element, a second quantifier is read and reported, an open group may end with the rule. So a body always
//! parses, to its end and in one pass, and every mistake in it is reported at its place. No token is looked
//! at twice, which keeps hostile input linear.
//!
//! Nesting is bounded before the parser runs, and chumsky grows its stack on the heap where it recurses.

use chumsky::input::MappedInput;
use chumsky::prelude::*;
use grammask_grammar_ir::{JsonEscapes, Occurrence};

use super::fault::{Fault, Mistake};
use super::options::Dialect;
use super::token::{Macro, Spanned, Token};

pub(super) type TokenInput<'t> = MappedInput<'t, Token, SimpleSpan, &'t [Spanned]>;
type Extra = extra::Err<Fault>;

/// An expression as written. Literals are decoded later, from their places in the source.
#[derive(Clone, Debug)]
pub(super) enum Syntax {
    Empty,
    String(SimpleSpan),
    Bytes(SimpleSpan),
    Class(SimpleSpan),
    AnyCharacter,
    Name(SimpleSpan),
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
    Permutation(Vec<Syntax>, SimpleSpan),
    /// A part of the one above.
    Part(Occurrence, Box<Syntax>, SimpleSpan),
    /// A number, which only macros take.
    Integer(u32),
    /// A macro for tokens or tags, with the place of its name.
    Macro {
        name: Macro,
        span: SimpleSpan,
        arguments: Vec<Argument>,
    },
}

/// An argument of a macro.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) name: Option<SimpleSpan>,
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
    span: SimpleSpan,
}

/// The parser of a rule's body; `source` is the text that the tokens were cut from.
pub(super) fn body<'t>(source: &'t str, dialect: Dialect) -> impl Parser<'t, TokenInput<'t>, Body, Extra> {
    let choices = choices(source, dialect).boxed();
    let lookahead = lookahead(choices.clone(), dialect).boxed();
    // A token that ends alternatives ends nothing here: a parenthesis too many, a comma. Go on after it.
    let wrong_end = select! {
        Token::CloseGroup = extra => Fault::new(extra.span(), Mistake::UnmatchedClose),
        Token::Comma = extra => Fault::new(extra.span(), Mistake::Unexpected),
    }
    .validate(|fault, _, emitter| emitter.emit(fault));
    let starts =
        any().filter(|token| !matches!(token, Token::CloseGroup | Token::Comma | Token::OpenLookahead));
    let rest = wrong_end.then(starts.rewind().ignore_then(choices.clone()).or_not());
    let misplaced = any()
        .validate(|_, extra, emitter| emitter.emit(Fault::new(extra.span(), Mistake::LookaheadNotLast)))
        .then(any().repeated());
    choices
        .then_ignore(rest.repeated())
        .then(lookahead.then_ignore(misplaced.or_not()).or_not())
        .map(|(expression, lookahead)| Body { expression, lookahead })
}

/// `operands ('|' operands)*`, with `sequence ('&' sequence)*` for operands.
fn choices<'t>(source: &'t str, dialect: Dialect) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    recursive(|choices| {
        let element = element(choices, source, dialect);
        let sequence = element.repeated().collect::<Vec<Syntax>>().validate(move |parts, extra, emitter| {
            if parts.is_empty() && dialect == Dialect::Ebnf {
                emitter.emit(Fault::new(extra.span(), Mistake::EmptyAlternative));
            }
            one_or(parts, Syntax::Sequence)
        });
        let operands = sequence.separated_by(just(Token::Ampersand)).at_least(1).collect::<Vec<Syntax>>();
        operands
            .map(|operands| one_or(operands, Syntax::Intersection))
            .separated_by(just(Token::Bar))
            .at_least(1)
            .collect::<Vec<Syntax>>()
            .map(|alternatives| one_or(alternatives, Syntax::Choice))
    })
}

/// `'~'* atom quantifier?`.
fn element<'t>(
    choices: impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone + 't,
    source: &'t str,
    dialect: Dialect,
) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    let atom = choice((
        select! {
            Token::String = extra => Syntax::String(extra.span()),
            Token::Class = extra => Syntax::Class(extra.span()),
            Token::Name = extra => Syntax::Name(extra.span()),
            Token::Dot => Syntax::AnyCharacter,
            Token::Broken => Syntax::Empty,
        },
        group(choices.clone()),
        operator(choices),
        stray(dialect),
    ));
    let quantifier = quantifier(source).boxed();
    // A quantifier with nothing before it is an element of its own, and a mistake.
    let dangling = quantifier.clone().validate(|quantifier, _, emitter| {
        if let Some(quantifier) = quantifier {
            emitter.emit(Fault::new(quantifier.span, Mistake::NothingToRepeat));
        }
        Syntax::Empty
    });
    let quantified = atom.then(quantifier.clone().or_not()).then(quantifier.repeated().collect::<Vec<_>>());
    let repeated = quantified
        .validate(|((body, quantifier), more), _, emitter| {
            for second in more.into_iter().flatten() {
                emitter.emit(Fault::new(second.span, Mistake::DoubleQuantifier));
            }
            match quantifier.flatten() {
                None => body,
                Some(Quantifier { min, max, .. }) => Syntax::Repeat { body: Box::new(body), min, max },
            }
        })
        .or(dangling)
        .boxed();
    let tildes =
        just(Token::Tilde).map_with(|_, extra| extra.span()).repeated().at_least(1).collect::<Vec<_>>();
    let complement =
        tildes.then(repeated.clone().or_not()).validate(|(tildes, operand), _, emitter| match operand {
            // Pairs cancel out over text.
            Some(operand) if tildes.len() % 2 == 1 => Syntax::Complement(Box::new(operand)),
            Some(operand) => operand,
            None => {
                let last: Option<&SimpleSpan> = tildes.last();
                last.into_iter()
                    .for_each(|&span| emitter.emit(Fault::new(span, Mistake::NothingToComplement)));
                Syntax::Empty
            }
        });
    complement.or(repeated)
}

/// `'(' choices? ')'`.
fn group<'t>(
    choices: impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone,
) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    let empty = just([Token::OpenGroup, Token::CloseGroup]).to(Syntax::Empty);
    let open = just(Token::OpenGroup).map_with(|_, extra| extra.span());
    let full = open.then(choices).then(close()).validate(|((open, inner), closed), _, emitter| {
        report_unclosed(open, closed, emitter);
        if matches!(inner, Syntax::Choice(_)) { Syntax::Group(Box::new(inner)) } else { inner }
    });
    empty.or(full)
}

/// Whether the parenthesis is there; reading on to it over what cannot be inside.
fn close<'t>() -> impl Parser<'t, TokenInput<'t>, Closed, Extra> + Clone {
    let skipped = any()
        .filter(|token| !matches!(token, Token::CloseGroup | Token::OpenGroup))
        .map_with(|_, extra| Fault::new(extra.span(), Mistake::Unexpected))
        .repeated()
        .collect::<Vec<Fault>>();
    skipped.then(just(Token::CloseGroup).to(Closed::Yes).or(empty().to(Closed::No))).validate(
        |(skipped, closed), _, emitter| {
            if closed == Closed::Yes {
                // One report for the whole run.
                skipped.into_iter().take(1).for_each(|fault| emitter.emit(fault));
            }
            closed
        },
    )
}

#[derive(Clone, Copy, PartialEq)]
enum Closed {
    Yes,
    No,
}

fn report_unclosed(open: SimpleSpan, closed: Closed, emitter: &mut chumsky::input::Emitter<Fault>) {
    if closed == Closed::No {
        emitter.emit(Fault::new(open, Mistake::UnclosedGroup));
    }
}

/// The macros.
fn operator<'t>(
    choices: impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone,
) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    let named = |name: Macro| just(Token::Macro(name)).map_with(|_, extra| extra.span());
    let open = || just(Token::OpenGroup).map_with(|_, extra| extra.span());
    let tagged = tagged(choices.clone());
    let operands = choices.separated_by(just(Token::Comma)).at_least(1).collect::<Vec<Syntax>>();
    let regular = select! { Token::Macro(name @ (Macro::Intersection | Macro::Complement | Macro::JsonEscaped(_) | Macro::Permutation | Macro::Part(_))) => name }
        .map_with(|name, extra| (name, extra.span()))
        .then(open())
        .then(operands)
        .then(close())
        .validate(|((((name, span), open), mut operands), closed), _, emitter| {
            report_unclosed(open, closed, emitter);
            if name == Macro::Intersection {
                return Syntax::Intersection(operands);
            }
            if name == Macro::Permutation {
                return Syntax::Permutation(operands, span);
            }
            let operand = Box::new(operands.swap_remove(0));
            if !operands.is_empty() {
                emitter.emit(Fault::new(span, Mistake::MacroArguments));
            }
            match name {
                Macro::Part(occurrence) => Syntax::Part(occurrence, operand, span),
                Macro::JsonEscaped(escapes) => Syntax::JsonEscaped(operand, escapes),
                _ => Syntax::Complement(operand),
            }
        });
    let string = select! { Token::String = extra => Syntax::Bytes(extra.span()) };
    let bytes = named(Macro::Bytes).then(open()).then(string.or_not()).then(close()).validate(
        |(((name, open), string), closed), _, emitter| {
            report_unclosed(open, closed, emitter);
            string.unwrap_or_else(|| {
                emitter.emit(Fault::new(name, Mistake::MacroArguments));
                Syntax::Empty
            })
        },
    );
    choice((regular, bytes, tagged))
}

/// The macros for tokens, tags, patterns and chunks: arguments with or without a name, each one expression or number, or a tuple.
fn tagged<'t>(
    choices: impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone,
) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    let is_tagged = |name: &Macro| {
        matches!(
            name,
            Macro::TagDispatch
                | Macro::TagText
                | Macro::Token
                | Macro::ExcludeToken
                | Macro::TokenTagDispatch
                | Macro::Regex
                | Macro::Substring
        )
    };
    let open = || just(Token::OpenGroup).map_with(|_, extra| extra.span());
    // A comma at the end is no empty expression.
    let starts = any().filter(|token| !matches!(token, Token::CloseGroup | Token::Comma));
    let number = select! { Token::Integer(Some(number)) => Syntax::Integer(number) };
    let one = number.or(starts.rewind().ignore_then(choices));
    let items = one.clone().separated_by(just(Token::Comma)).allow_trailing().collect::<Vec<Syntax>>();
    let tuple = open().then(items).then(close()).validate(|((open, items), closed), _, emitter| {
        report_unclosed(open, closed, emitter);
        ArgumentValue::Tuple(items)
    });
    let value = tuple.or(one.map(ArgumentValue::One));
    let name = just(Token::Name).map_with(|_, extra| extra.span()).then_ignore(just(Token::Equals));
    let argument = name.or_not().then(value).map(|(name, value)| Argument { name, value });
    let arguments = argument.separated_by(just(Token::Comma)).allow_trailing().collect::<Vec<Argument>>();
    select! { Token::Macro(name) if is_tagged(&name) => name }
        .map_with(|name, extra| (name, extra.span()))
        .then(open())
        .then(arguments)
        .then(close())
        .validate(|((((name, span), open), arguments), closed), _, emitter| {
            report_unclosed(open, closed, emitter);
            Syntax::Macro { name, span, arguments }
        })
}

/// A token that begins nothing.
fn stray<'t>(dialect: Dialect) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    select! {
        // Names in GBNF may be made of digits.
        Token::Integer(_) = extra if dialect == Dialect::Gbnf => (Syntax::Name(extra.span()), None),
        token @ (Token::Integer(_) | Token::CloseRange | Token::Equals | Token::Assign) = extra => {
            let mistake = if token == Token::Equals { Mistake::MissingAssign } else { Mistake::Unexpected };
            (Syntax::Empty, Some(Fault::new(extra.span(), mistake)))
        },
    }
    .validate(|(syntax, fault), _, emitter| {
        if let Some(fault) = fault {
            emitter.emit(fault);
        }
        syntax
    })
}

/// A quantifier; `None` for one in braces that is wrong in itself and reported.
fn quantifier<'t>(source: &'t str) -> impl Parser<'t, TokenInput<'t>, Option<Quantifier>, Extra> + Clone {
    let sign = select! {
        Token::Question => (0, Some(1)),
        Token::Star => (0, None),
        Token::Plus => (1, None),
    }
    .map_with(|(min, max), extra| Some(Quantifier { min, max, span: extra.span() }));
    let content = any()
        .filter(|token| matches!(token, Token::Integer(_) | Token::Comma | Token::Name))
        .map_with(|token, extra| (token, extra.span()))
        .repeated()
        .collect::<Vec<(Token, SimpleSpan)>>();
    let range = just(Token::OpenRange).ignore_then(content).then(just(Token::CloseRange).or_not()).validate(
        move |(content, close), extra, emitter| {
            let span = extra.span();
            let bounds = match close {
                Some(_) => bounds(source, &content, span),
                None => Err(Fault::new(span, Mistake::NotARange)),
            };
            match bounds {
                Ok((min, max)) => Some(Quantifier { min, max, span }),
                Err(fault) => {
                    emitter.emit(fault);
                    None
                }
            }
        },
    );
    sign.or(range)
}

/// The bounds between the braces.
fn bounds(source: &str, content: &[Spanned], span: SimpleSpan) -> Result<(u32, Option<u32>), Fault> {
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
        &[Token::Integer(Some(min)), Token::Comma, Token::Name]
            if &source[content[2].1.into_range()] == "-1" =>
        {
            Ok((min, None))
        }
        [Token::Comma, Token::Integer(_)] => Err(Fault::new(span, Mistake::NoMinimum)),
        _ => Err(Fault::new(span, Mistake::NotARange)),
    }
}

/// `'(=' sequence ')'`.
fn lookahead<'t>(
    choices: impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone,
    dialect: Dialect,
) -> impl Parser<'t, TokenInput<'t>, Syntax, Extra> + Clone {
    just(Token::OpenLookahead).map_with(|_, extra| extra.span()).then(choices).then(close()).validate(
        move |((open, inner), closed), _, emitter| {
            report_unclosed(open, closed, emitter);
            if dialect == Dialect::Gbnf {
                emitter.emit(Fault::new(open, Mistake::LookaheadInGbnf));
            } else if matches!(inner, Syntax::Choice(_)) {
                emitter.emit(Fault::new(open, Mistake::LookaheadChoice));
            }
            inner
        },
    )
}

fn one_or(mut parts: Vec<Syntax>, many: fn(Vec<Syntax>) -> Syntax) -> Syntax {
    match parts.len() {
        0 => Syntax::Empty,
        1 => parts.swap_remove(0),
        _ => many(parts),
    }
}
