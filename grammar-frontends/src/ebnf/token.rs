//! The lexer, for both dialects.
//!
//! Strings and classes are cut out whole, with their escapes still in them; [`escape`](super::escape) reads
//! those. The dialects differ little at this level. They differ in the characters of a name (a `.` in a name
//! is a token of its own in GBNF), and in whether strings may run over line ends.

use grammask_grammar_ir::{JsonEscapes, Occurrence, Span};
use logos::{Lexer, Logos};

use super::fault::{Continue, Fault, Mistake};
use super::options::Dialect;

/// A token. Names and literals are found in the source by their spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
#[logos(extras = Dialect)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip("#[^\r\n]*", allow_greedy = true))]
pub(super) enum Token {
    #[token("::=")]
    Assign,
    #[token("|")]
    Bar,
    #[token("(")]
    OpenGroup,
    #[token("(=")]
    OpenLookahead,
    #[token(")")]
    CloseGroup,
    #[token("{")]
    OpenRange,
    #[token("}")]
    CloseRange,
    #[token(",")]
    Comma,
    #[token("=")]
    Equals,
    /// In EBNF.
    #[token("&")]
    Ampersand,
    /// In EBNF.
    #[token("~")]
    Tilde,
    #[token("?")]
    Question,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    /// Digits; `None` past 2^32 - 1. Made from [`Token::Name`] by [`lex`].
    Integer(Option<u32>),
    /// The name of a rule.
    #[regex("[A-Za-z0-9_-]+", extend_name)]
    Name,
    /// Any character, in GBNF; the start of a name in EBNF.
    #[token(".", extend_name)]
    Dot,
    /// A string with its quotes.
    #[token("\"", string)]
    String,
    /// A character class with its brackets.
    #[token("[", class)]
    Class,
    /// A macro's name before a `(`. Made from [`Token::Name`] by [`lex`].
    Macro(Macro),
    /// A string or class that is not closed, which is reported already and stands for anything.
    Broken,
}

/// The macros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Macro {
    Intersection,
    Complement,
    JsonEscaped(JsonEscapes),
    Permutation,
    Part(Occurrence),
    Bytes,
    TagDispatch,
    TagText,
    Token,
    SpecialToken,
    ExcludeToken,
    TokenTagDispatch,
    Regex,
    Substring,
}

impl Macro {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "Intersection" => Macro::Intersection,
            "Complement" => Macro::Complement,
            "JsonEscaped" => Macro::JsonEscaped(JsonEscapes::Any),
            "JsonPrinted" => Macro::JsonEscaped(JsonEscapes::Printed),
            "JsonNeeded" => Macro::JsonEscaped(JsonEscapes::Needed),
            "JsonAscii" => Macro::JsonEscaped(JsonEscapes::Ascii),
            "Permutation" => Macro::Permutation,
            "Required" => Macro::Part(Occurrence::Required),
            "Optional" => Macro::Part(Occurrence::Optional),
            "Repeatable" => Macro::Part(Occurrence::Repeatable),
            "Bytes" => Macro::Bytes,
            "TagDispatch" => Macro::TagDispatch,
            "TagText" => Macro::TagText,
            "Token" => Macro::Token,
            "SpecialToken" => Macro::SpecialToken,
            "ExcludeToken" => Macro::ExcludeToken,
            "TokenTagDispatch" => Macro::TokenTagDispatch,
            "Regex" => Macro::Regex,
            "Substring" => Macro::Substring,
            _ => return None,
        })
    }
}

pub(super) type Spanned = (Token, Span);

/// In EBNF names also hold dots.
fn extend_name(lexer: &mut Lexer<'_, Token>) {
    if lexer.extras == Dialect::Ebnf {
        let more = lexer
            .remainder()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        lexer.bump(more.count());
    }
}

fn string(lexer: &mut Lexer<'_, Token>) -> Token {
    delimited(lexer, b'"', Token::String)
}

fn class(lexer: &mut Lexer<'_, Token>) -> Token {
    delimited(lexer, b']', Token::Class)
}

/// Takes everything up to a closing delimiter that is not escaped; up to the end of the line if there is none.
fn delimited(lexer: &mut Lexer<'_, Token>, close: u8, token: Token) -> Token {
    let rest = lexer.remainder().as_bytes();
    let over_lines = lexer.extras == Dialect::Gbnf;
    let mut position = 0;
    while let Some(&byte) = rest.get(position) {
        match byte {
            b'\\' if rest.get(position + 1).is_some_and(|&next| next != b'\n') => position += 1,
            b'\n' if !over_lines => break,
            _ if byte == close => {
                lexer.bump(position + 1);
                return token;
            }
            _ => {}
        }
        position += 1;
        // An escaped character may be several bytes long; its later bytes are no delimiters.
    }
    let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    lexer.bump(line);
    Token::Broken
}

/// The tokens of `source`; more than `limit` of them if there are more, but not many more. Faults go to `report`, which says whether to go on.
pub(super) fn lex(
    source: &str,
    dialect: Dialect,
    limit: usize,
    mut report: impl FnMut(Fault) -> Continue,
) -> Vec<Spanned> {
    let mut tokens: Vec<Spanned> = Vec::new();
    let mut lexer = Token::lexer_with_extras(source, dialect);
    while let Some(result) = lexer.next()
        && tokens.len() <= limit
    {
        let range = lexer.span();
        let span = Span::new(range.start, range.end);
        let fault = match result {
            Ok(Token::Broken) => {
                tokens.push((Token::Broken, span));
                let start = Span::new(range.start, range.start + 1);
                let string = source[range].starts_with('"');
                Fault::new(start, if string { Mistake::UnclosedString } else { Mistake::UnclosedClass })
            }
            Ok(Token::Ampersand | Token::Tilde) if dialect == Dialect::Gbnf => {
                unknown(source, dialect, &mut lexer)
            }
            Ok(Token::Dot) if dialect == Dialect::Ebnf => {
                tokens.push((Token::Name, span));
                continue;
            }
            Ok(Token::Name) if source[range.clone()].bytes().all(|byte| byte.is_ascii_digit()) => {
                tokens.push((Token::Integer(source[range].parse().ok()), span));
                continue;
            }
            Ok(Token::Name)
                if dialect == Dialect::Ebnf
                    && source[range.clone()].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                tokens.push((Token::Name, span));
                Fault::new(span, Mistake::NameStartsWithDigit)
            }
            Ok(token) => {
                make_macro(source, dialect, &mut tokens, token);
                tokens.push((token, span));
                continue;
            }
            Err(()) => {
                let fault = unknown(source, dialect, &mut lexer);
                if fault.mistake != Mistake::UnknownCharacters {
                    // It was meant to be something, and is no reason for further reports.
                    tokens.push((Token::Broken, fault.span));
                }
                fault
            }
        };
        if report(fault) == Continue::No {
            break;
        }
    }
    tokens
}

/// One fault for a run of characters that mean nothing.
fn unknown(source: &str, dialect: Dialect, lexer: &mut Lexer<'_, Token>) -> Fault {
    let start = lexer.span().start;
    let rest = lexer.remainder();
    let token_terminal =
        dialect == Dialect::Gbnf && ["<", "!<"].iter().any(|sign| source[start..].starts_with(sign));
    let line = rest.lines().next().unwrap_or_default();
    if token_terminal && let Some(close) = line.find('>') {
        lexer.bump(close + 1);
        return Fault::at(start, lexer.span().end, Mistake::TokenTerminal);
    }
    let quoted = source[start..].chars().next().filter(|quote| "'`".contains(*quote));
    if let Some(close) = quoted.and_then(|quote| line.find(quote)) {
        lexer.bump(close + 1);
        return Fault::at(start, lexer.span().end, Mistake::WrongQuotes);
    }
    let known = |c: char| {
        c.is_ascii() && (c.is_ascii_whitespace() || c.is_ascii_alphanumeric() || "\"[]()|".contains(c))
    };
    lexer.bump(rest.find(known).unwrap_or(rest.len()));
    Fault::at(start, lexer.span().end, Mistake::UnknownCharacters)
}

/// A macro's name is one if a parenthesis follows.
fn make_macro(source: &str, dialect: Dialect, tokens: &mut [Spanned], token: Token) {
    if token == Token::OpenGroup
        && dialect == Dialect::Ebnf
        && let Some((previous @ Token::Name, previous_span)) = tokens.last_mut()
        && let Some(name) = Macro::from_name(&source[previous_span.range()])
    {
        *previous = Token::Macro(name);
    }
}
