//! The faults in a grammar's text, and their messages.

use grammask_grammar_ir::Span;

use super::options::Dialect;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// A mistake and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) span: Span,
    pub(super) mistake: Mistake,
}

/// Whether more faults are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Continue {
    Yes,
    No,
}

/// Everything that was found wrong so far.
pub(super) struct Reports<'s> {
    source: &'s str,
    pub(super) dialect: Dialect,
    found: Vec<Diagnostic>,
    limit: usize,
}

impl<'s> Reports<'s> {
    pub(super) fn new(source: &'s str, dialect: Dialect, limit: usize) -> Self {
        Self { source, dialect, found: Vec::new(), limit: limit.max(1) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    pub(super) fn fault(&mut self, fault: Fault) -> Continue {
        let (source, dialect) = (self.source, self.dialect);
        self.push(|| fault.to_diagnostic(source, dialect))
    }

    /// Adds a report where there is room. It is not written where there is none: finding line and column takes a walk over
    /// the source, which thousands of faults cannot afford.
    pub(super) fn push(&mut self, report: impl FnOnce() -> Diagnostic) -> Continue {
        if !self.is_full() {
            self.found.push(report());
        }
        if self.is_full() { Continue::No } else { Continue::Yes }
    }

    pub(super) fn into_error(mut self) -> Option<Diagnostics> {
        self.found.sort_by_key(|diagnostic| diagnostic.span().map(|span| (span.start, span.end)));
        // The end of one rule may be met as the beginning of another.
        self.found.dedup();
        Diagnostics::from_vec(self.found)
    }
}

/// Defines the mistakes with their codes, messages and hints. A `$` is the text at the place.
macro_rules! mistakes {
    ($($mistake:ident: $code:literal, $message:literal, $hint:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Mistake {
            $($mistake,)*
        }

        impl Mistake {
            fn texts(self) -> [&'static str; 3] {
                match self {
                    $(Self::$mistake => [$code, $message, $hint],)*
                }
            }
        }
    };
}

mistakes! {
    BadEscape: "ebnf/escape", "there is no escape `$`",
        r#"the escapes are \" \' \? \\ \/ \a \b \f \n \r \t \v \0 \e \xH... \uHHHH \UHHHHHHHH"#;
    BadHexEscape: "ebnf/escape", "the escape `$` lacks hexadecimal digits",
        r"write \xHH, \uHHHH (four digits) or \UHHHHHHHH (eight digits)";
    ClassEscape: "ebnf/class", "the class escape `$` is not supported in this dialect",
        "write the characters, such as `0-9` for \\d and `0-9A-Za-z_` for \\w";
    ClassRangeSwapped: "ebnf/class", "the range `$` starts after its end",
        "swap the two characters, or put `-` first or last for a dash";
    DoubleQuantifier: "ebnf/quantifier", "the repeat `$` stands directly after a repeat",
        "put what is before it in parentheses: `(a+)*`";
    EmptyAlternative: "ebnf/empty-alternative", "there is nothing here to match",
        "write `\"\"` for the empty text";
    GbnfEscape: "ebnf/escape", "there is no escape `$`",
        r#"the escapes are \" \\ \[ \] \- \n \r \t \xHH \uHHHH \UHHHHHHHH"#;
    IntegerTooLarge: "ebnf/quantifier", "the number $ is too large",
        "write at most 4294967295, or leave the bound out: `{n,}`";
    LookaheadChoice: "ebnf/lookahead", "alternatives in a lookahead are not supported",
        "put them in parentheses: `(=(\"a\" | \"b\"))`";
    LookaheadInGbnf: "ebnf/lookahead", "GBNF has no lookahead `(=...)`",
        "leave it out; it is computed anyway";
    LookaheadNotLast: "ebnf/lookahead", "a lookahead `(=...)` stands only once, at the end of a rule",
        "move it to the end of the rule, or leave it out; it is computed anyway";
    MacroArguments: "ebnf/macro", "these are not the arguments of this macro", "";
    MissingAssign: "ebnf/rule", "`$` is not how a rule's name and body are joined",
        "write `name ::= body`";
    NameNotFirst: "ebnf/rule", "the rule `$` does not start on a line of its own",
        "put a line break before it";
    NameStartsWithDigit: "ebnf/name", "the name `$` starts with a digit",
        "start it with a letter or `_`";
    NoMinimum: "ebnf/quantifier", "this repeat has no least number",
        "write it out: `{0,m}` for at most m times";
    NoSuchCharacter: "ebnf/escape", "the escape `$` names no character",
        "characters are 0 to D7FF and E000 to 10FFFF; write \\U0001F600 in place of a surrogate pair";
    NothingToComplement: "ebnf/syntax", "nothing follows this `~`",
        "write `~\"text\"` or `~(...)`";
    NothingToRepeat: "ebnf/quantifier", "there is nothing before the repeat `$`",
        "put it after what it repeats, or write `\"$\"` for the characters";
    NotARange: "ebnf/quantifier", "this is not a number of repeats",
        "write `{n}`, `{n,}` or `{n,m}`";
    NotAsciiInBytes: "ebnf/escape", "`$` does not stand for one byte",
        "write each byte as itself (ASCII) or as `\\xHH`, two digits";
    OptionTwice: "ebnf/rule-options", "the option `$` stands there twice",
        "leave one out";
    OptionUnknown: "ebnf/rule-options", "there is no option `$`",
        "the options are max_tokens, max_chars, lazy, capture, stop_capture, temperature and distinct, with commas between";
    OptionValue: "ebnf/rule-options", "this option has another kind of value",
        "write `max_tokens=100` (from 1 on), `max_chars=100`, `lazy`, `capture`, `capture=\"name\"`, `stop_capture=\"name\", stop_capture_bytes=8`, `temperature=0.7`, `distinct=items` or `distinct=names`";
    OptionsInBody: "ebnf/rule-options", "`$` reads as options, which a rule has where it is defined",
        "write `name$ ::= ...` there; for a class, write its characters in another order";
    OutsideRule: "ebnf/rule", "`$` stands before the first rule",
        "start with a rule: `root ::= ...`";
    RangeSwapped: "ebnf/quantifier", "the repeat `$` has a least number greater than its greatest",
        "swap the two numbers";
    RuleEndsAtLine: "gbnf/line", "the rule ended with its line, and `$` starts no new one",
        "continue a rule inside parentheses or after `|`, or write `name ::=`";
    RuleOptions: "ebnf/rule-options", "rule options are not supported in this dialect",
        "leave out `$`";
    TokenTerminal: "gbnf/token", "token terminals such as `$` are not supported in this dialect",
        "write the token's text as a string";
    UnclosedClass: "ebnf/unclosed-class", "this character class is not closed",
        "add a `]` on the same line, or write `\"[\"` for the character";
    UnclosedGroup: "ebnf/group", "this parenthesis is not closed",
        "add a `)` before the next rule";
    UnclosedString: "ebnf/string", "this string is not closed",
        "add a `\"`; line breaks inside are written `\\n`";
    UnknownCharacters: "ebnf/character", "`$` means nothing here", "";
    Unexpected: "ebnf/unexpected", "`$` cannot stand here",
        "expected a string, a character class, a rule's name, a group or `|`";
    UnmatchedClose: "ebnf/group", "this `)` closes nothing",
        "leave it out, or add a `(` before it";
    WrongQuotes: "ebnf/string", "`$` stands in quotes of another language",
        "strings stand in double quotes: `\"text\"`";
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
        let mistake = match self.mistake {
            Mistake::BadEscape if dialect == Dialect::Gbnf => Mistake::GbnfEscape,
            other => other,
        };
        let [code, message, hint] = mistake.texts();
        let hint = match mistake {
            Mistake::MacroArguments => argument_hint(&written).to_owned(),
            Mistake::UnknownCharacters => character_hint(&written, dialect).to_owned(),
            _ => hint.replace('$', &written),
        };
        let message = message.replace('$', &written);
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

fn argument_hint(name: &str) -> &'static str {
    match name {
        "TagDispatch" => {
            "write `TagDispatch((\"tag\", e), loop_after_dispatch=true, excludes=(\"s\",))`; tags are not empty"
        }
        "TagText" => "write `TagText(\"..\")`",
        "Token" | "ExcludeToken" => "write `Token(5, \"<name>\")`: ids and names of tokens",
        "SpecialToken" => "write `Token(SpecialToken(\"<name>\"))`",
        "TokenTagDispatch" => {
            "write `TokenTagDispatch((5, e), loop_after_dispatch=true, excludes=(6,))`; no trigger is excluded"
        }
        "Regex" => {
            "write `Regex(\"pattern\", flags=\"is\", json_string=true)`; the flags are i (case), s (`.` is any character) and u"
        }
        "Permutation" | "Required" | "Optional" | "Repeatable" => {
            "write `Permutation(separator, Required(e), Optional(e), Repeatable(e))`, with a part or more"
        }
        "Substring" => "write `Substring(\"chunk\", \"chunk\")`: strings",
        _ => {
            "write `Intersection(e, e)`, `Complement(e)`, `JsonEscaped(e)`, `JsonPrinted(e)`, `JsonNeeded(e)`, `JsonAscii(e)` or `Bytes(\"..\")`"
        }
    }
}

fn character_hint(written: &str, dialect: Dialect) -> &'static str {
    match written.chars().next() {
        Some('\'' | '`' | '\u{2018}'..='\u{201F}') => "strings stand in double quotes: `\"text\"`",
        Some('/') if dialect == Dialect::Ebnf => "a regular expression is written `Regex(\"pattern\")`",
        Some(':') => "a rule is written `name ::= body`",
        Some(';') => "leave it out; rules end where the next one starts",
        Some('<') => "rule names stand without angle brackets: `name`",
        Some(']') => "write `\"]\"` for the character",
        _ => "write it in double quotes if it is text",
    }
}
