//! The faults in a grammar's text, and their messages.

use grammask_grammar_ir::Span;

use super::options::Dialect;
use crate::diagnostic::Diagnostic;

/// A mistake and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) span: Span,
    pub(super) mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    BadEscape,
    BadHexEscape,
    ClassEscape,
    ClassRangeSwapped,
    DoubleQuantifier,
    EmptyAlternative,
    IntegerTooLarge,
    LookaheadChoice,
    LookaheadInGbnf,
    LookaheadNotLast,
    MacroArguments,
    MissingAssign,
    NameNotFirst,
    NameStartsWithDigit,
    NoMinimum,
    NoSuchCharacter,
    NothingToComplement,
    NothingToRepeat,
    NotARange,
    NotAsciiInBytes,
    OptionTwice,
    OptionUnknown,
    OptionValue,
    OptionsInBody,
    OutsideRule,
    RangeSwapped,
    RuleEndsAtLine,
    RuleOptions,
    TokenTerminal,
    UnclosedClass,
    UnclosedGroup,
    UnclosedString,
    UnknownCharacters,
    Unexpected,
    UnmatchedClose,
    WrongQuotes,
}

impl Fault {
    pub(super) fn new(span: Span, mistake: Mistake) -> Self {
        Self { span, mistake }
    }

    pub(super) fn at(start: usize, end: usize, mistake: Mistake) -> Self {
        Self::new(Span::new(start, end), mistake)
    }

    pub(super) fn to_diagnostic(self, source: &str, dialect: Dialect) -> Diagnostic {
        let written = shorten(source.get(self.span.range()).unwrap_or_default());
        let (code, message, hint) = self.mistake.explain(&written, dialect);
        Diagnostic::error(code, message).with_hint(hint).with_label(source, self.span, "")
    }
}

/// A token for a message: its first characters, on one line.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}

impl Mistake {
    /// Code, message and hint. `written` is the text at the place.
    fn explain(self, written: &str, dialect: Dialect) -> (&'static str, String, String) {
        let gbnf = dialect == Dialect::Gbnf;
        let own = |code: &'static str, message: &str, hint: &str| (code, message.to_owned(), hint.to_owned());
        match self {
            Mistake::BadEscape if gbnf => (
                "ebnf/escape",
                format!("there is no escape `{written}`"),
                r#"the escapes are \" \\ \[ \] \- \n \r \t \xHH \uHHHH \UHHHHHHHH"#.to_owned(),
            ),
            Mistake::BadEscape => (
                "ebnf/escape",
                format!("there is no escape `{written}`"),
                r#"the escapes are \" \' \? \\ \/ \a \b \f \n \r \t \v \0 \e \xH... \uHHHH \UHHHHHHHH"#
                    .to_owned(),
            ),
            Mistake::BadHexEscape => (
                "ebnf/escape",
                format!("the escape `{written}` lacks hexadecimal digits"),
                r"write \xHH, \uHHHH (four digits) or \UHHHHHHHH (eight digits)".to_owned(),
            ),
            Mistake::ClassEscape => (
                "ebnf/class",
                format!("the class escape `{written}` is not supported in this dialect"),
                "write the characters, such as `0-9` for \\d and `0-9A-Za-z_` for \\w".to_owned(),
            ),
            Mistake::ClassRangeSwapped => (
                "ebnf/class",
                format!("the range `{written}` starts after its end"),
                "swap the two characters, or put `-` first or last for a dash".to_owned(),
            ),
            Mistake::DoubleQuantifier => (
                "ebnf/quantifier",
                format!("the repeat `{written}` stands directly after a repeat"),
                "put what is before it in parentheses: `(a+)*`".to_owned(),
            ),
            Mistake::EmptyAlternative => own(
                "ebnf/empty-alternative",
                "there is nothing here to match",
                "write `\"\"` for the empty text",
            ),
            Mistake::MacroArguments => {
                own("ebnf/macro", "these are not the arguments of this macro", argument_hint(written))
            }
            Mistake::IntegerTooLarge => (
                "ebnf/quantifier",
                format!("the number {written} is too large"),
                "write at most 4294967295, or leave the bound out: `{n,}`".to_owned(),
            ),
            Mistake::LookaheadChoice => own(
                "ebnf/lookahead",
                "alternatives in a lookahead are not supported",
                "put them in parentheses: `(=(\"a\" | \"b\"))`",
            ),
            Mistake::LookaheadInGbnf => {
                own("ebnf/lookahead", "GBNF has no lookahead `(=...)`", "leave it out; it is computed anyway")
            }
            Mistake::LookaheadNotLast => own(
                "ebnf/lookahead",
                "a lookahead `(=...)` stands only once, at the end of a rule",
                "move it to the end of the rule, or leave it out; it is computed anyway",
            ),
            Mistake::MissingAssign => (
                "ebnf/rule",
                format!("`{written}` is not how a rule's name and body are joined"),
                "write `name ::= body`".to_owned(),
            ),
            Mistake::NameNotFirst => (
                "ebnf/rule",
                format!("the rule `{written}` does not start on a line of its own"),
                "put a line break before it".to_owned(),
            ),
            Mistake::NameStartsWithDigit => (
                "ebnf/name",
                format!("the name `{written}` starts with a digit"),
                "start it with a letter or `_`".to_owned(),
            ),
            Mistake::NoMinimum => own(
                "ebnf/quantifier",
                "this repeat has no least number",
                "write it out: `{0,m}` for at most m times",
            ),
            Mistake::NoSuchCharacter => (
                "ebnf/escape",
                format!("the escape `{written}` names no character"),
                "characters are 0 to D7FF and E000 to 10FFFF; write \\U0001F600 in place of a surrogate pair"
                    .to_owned(),
            ),
            Mistake::NothingToComplement => {
                own("ebnf/syntax", "nothing follows this `~`", "write `~\"text\"` or `~(...)`")
            }
            Mistake::NothingToRepeat => (
                "ebnf/quantifier",
                format!("there is nothing before the repeat `{written}`"),
                format!("put it after what it repeats, or write `\"{written}\"` for the characters"),
            ),
            Mistake::NotARange => {
                own("ebnf/quantifier", "this is not a number of repeats", "write `{n}`, `{n,}` or `{n,m}`")
            }
            Mistake::NotAsciiInBytes => (
                "ebnf/escape",
                format!("`{written}` does not stand for one byte"),
                "write each byte as itself (ASCII) or as `\\xHH`, two digits".to_owned(),
            ),
            Mistake::OutsideRule => (
                "ebnf/rule",
                format!("`{written}` stands before the first rule"),
                "start with a rule: `root ::= ...`".to_owned(),
            ),
            Mistake::RangeSwapped => (
                "ebnf/quantifier",
                format!("the repeat `{written}` has a least number greater than its greatest"),
                "swap the two numbers".to_owned(),
            ),
            Mistake::RuleEndsAtLine => (
                "gbnf/line",
                format!("the rule ended with its line, and `{written}` starts no new one"),
                "continue a rule inside parentheses or after `|`, or write `name ::=`".to_owned(),
            ),
            Mistake::OptionTwice => (
                "ebnf/rule-options",
                format!("the option `{written}` stands there twice"),
                "leave one out".to_owned(),
            ),
            Mistake::OptionUnknown => (
                "ebnf/rule-options",
                format!("there is no option `{written}`"),
                "the options are max_tokens, max_chars, lazy, capture, stop_capture, temperature and distinct, with commas between"
                    .to_owned(),
            ),
            Mistake::OptionValue => own(
                "ebnf/rule-options",
                "this option has another kind of value",
                "write `max_tokens=100` (from 1 on), `max_chars=100`, `lazy`, `capture`, `capture=\"name\"`, `stop_capture=\"name\", stop_capture_bytes=8`, `temperature=0.7`, `distinct=items` or `distinct=names`",
            ),
            Mistake::OptionsInBody => (
                "ebnf/rule-options",
                format!("`{written}` reads as options, which a rule has where it is defined"),
                format!("write `name{written} ::= ...` there; for a class, write its characters in another order"),
            ),
            Mistake::RuleOptions => (
                "ebnf/rule-options",
                "rule options are not supported in this dialect".to_owned(),
                format!("leave out `{written}`"),
            ),
            Mistake::TokenTerminal => (
                "gbnf/token",
                format!("token terminals such as `{written}` are not supported in this dialect"),
                "write the token's text as a string".to_owned(),
            ),
            Mistake::UnclosedClass => own(
                "ebnf/class",
                "this character class is not closed",
                "add a `]` on the same line, or write `\"[\"` for the character",
            ),
            Mistake::UnclosedGroup => {
                own("ebnf/group", "this parenthesis is not closed", "add a `)` before the next rule")
            }
            Mistake::UnclosedString => own(
                "ebnf/string",
                "this string is not closed",
                "add a `\"`; line breaks inside are written `\\n`",
            ),
            Mistake::UnknownCharacters => (
                "ebnf/character",
                format!("`{written}` means nothing here"),
                character_hint(written).to_owned(),
            ),
            Mistake::Unexpected => (
                "ebnf/unexpected",
                format!("`{written}` cannot stand here"),
                "expected a string, a character class, a rule's name, a group or `|`".to_owned(),
            ),
            Mistake::WrongQuotes => (
                "ebnf/string",
                format!("`{written}` stands in quotes of another language"),
                "strings stand in double quotes: `\"text\"`".to_owned(),
            ),
            Mistake::UnmatchedClose => {
                own("ebnf/group", "this `)` closes nothing", "leave it out, or add a `(` before it")
            }
        }
    }
}

fn argument_hint(name: &str) -> &'static str {
    match name {
        "TagDispatch" => {
            "write `TagDispatch((\"tag\", e), loop_after_dispatch=true, excludes=(\"s\",))`; tags are not empty"
        }
        "TagText" => "write `TagText(\"..\")`",
        "Token" | "ExcludeToken" => "write `Token(5, \"<name>\")`: ids and names of tokens",
        "TokenTagDispatch" => {
            "write `TokenTagDispatch((5, e), loop_after_dispatch=true, excludes=(6,))`; no trigger is excluded"
        }
        "Regex" => {
            "write `Regex(\"pattern\", flags=\"is\", json_string=true)`; the flags are i (case), s (`.` is any character) and u"
        }
        "Substring" => "write `Substring(\"chunk\", \"chunk\")`: strings",
        _ => {
            "write `Intersection(e, e)`, `Complement(e)`, `JsonEscaped(e)`, `JsonPrinted(e)` or `Bytes(\"..\")`"
        }
    }
}

fn character_hint(written: &str) -> &'static str {
    match written.chars().next() {
        Some('\'' | '`' | '\u{2018}'..='\u{201F}') => "strings stand in double quotes: `\"text\"`",
        Some('/') => "a regular expression is written `Regex(\"pattern\")`",
        Some(':') => "a rule is written `name ::= body`",
        Some(';') => "leave it out; rules end where the next one starts",
        Some('<') => "rule names stand without angle brackets: `name`",
        Some(']') => "write `\"]\"` for the character",
        _ => "write it in double quotes if it is text",
    }
}
