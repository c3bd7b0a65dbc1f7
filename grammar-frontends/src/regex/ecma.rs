//! ECMA-262 patterns in the syntax that `regex-syntax` reads.
//!
//! The two syntaxes share groups, repeats and alternatives; they differ in escapes, in what a class may hold,
//! and in what counts as a literal. So a pattern is rewritten token by token, and each byte of the result
//! remembers the byte of the pattern from which it came. Errors of the parser are reported at their place in
//! the original pattern. Only characters written as `\x{..}`, classes of such, and the shared operators are
//! emitted: nothing that has a meaning of its own in `regex-syntax` (`&&`, `[:alpha:]`, `\A`) gets through.
//!
//! The grammar is that of ECMA-262 in Unicode mode (section 22.2.1), as JSON Schema asks for. Of Annex B it
//! has those additions whose meaning is the one that the author meant. Other readings of Annex B, which
//! authors do not mean (`\A` is the letter A there, `\1` without groups is a control character), are refused.

use grammask_grammar_ir::Span;
use grammask_grammar_ir::hash::HashMap;
use regex_syntax::hir::{Class, ClassUnicodeRange, HirKind};

use super::look_around::{AHEAD, BEHIND, NOT_AHEAD, NOT_BEHIND};
use super::options::{Groups, LetterCase};
use super::refusal::{BACK_REFERENCE, FOLDED_BOUNDARY};
use super::translated::Translated;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Rewrites an ECMA-262 pattern.
pub(super) fn translate<'p>(
    pattern: &'p str,
    groups: Groups,
    letter_case: LetterCase,
    complements: &'p mut HashMap<Box<str>, Option<String>>,
) -> Result<Translated, Diagnostics> {
    let mut translator = Translator {
        pattern,
        position: 0,
        token: 0,
        text: String::with_capacity(pattern.len() + pattern.len() / 2),
        origins: Vec::with_capacity(pattern.len() + pattern.len() / 2),
        modes: vec![Modes { dot_all: false, ignores_case: letter_case == LetterCase::Ignored }],
        previous: Previous::Nothing,
        look_around: None,
        look_behind: None,
        look_around_groups: 0,
        groups,
        complements,
    };
    while translator.position < pattern.len() {
        translator.token = translator.position;
        translator.term().map_err(|diagnostic| Diagnostics::from(*diagnostic))?;
    }
    let Translator { text, origins, look_around, look_behind, .. } = translator;
    Ok(Translated { text, origins, pattern_len: pattern.len(), look_around, look_behind })
}

/// The flags that hold in a group.
#[derive(Clone, Copy, Default)]
struct Modes {
    /// Whether `.` takes line ends too (the flag `s`).
    dot_all: bool,
    /// The flag `i`.
    ignores_case: bool,
}

/// The construct before the current token: a repeat needs something to repeat.
#[derive(Clone, Copy, PartialEq)]
enum Previous {
    Nothing,
    Atom,
    Quantifier,
    LazyQuantifier,
}

/// The members of a class escape, as the inside of a class.
const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
/// ECMA-262 `WhiteSpace` and `LineTerminator`: Unicode's space separators, the byte order mark, five controls
/// and the two separators.
const SPACE: &str =
    "\\x09-\\x0D\\x20\\xA0\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const ANY: &str = "[\\x00-\\x{10FFFF}]";
/// The general category of surrogates, under all its names.
const SURROGATES: [&str; 6] =
    ["Cs", "Surrogate", "gc=Cs", "gc=Surrogate", "General_Category=Cs", "General_Category=Surrogate"];
const NEVER: &str = "[^\\x00-\\x{10FFFF}]";
/// Most properties of one source whose complements are folded: each takes a walk over up to 1.1 million characters.
const MAX_COMPLEMENTS: usize = 32;
/// Longest text in which complements are written out.
const MAX_TEXT: usize = 1 << 20;
const NOT_LINE_END: &str = "[^\\x0A\\x0D\\x{2028}\\x{2029}]";

type Outcome<T> = Result<T, Box<Diagnostic>>;

struct Translator<'p> {
    pattern: &'p str,
    position: usize,
    /// Where the current token starts.
    token: usize,
    text: String,
    origins: Vec<(u32, u32)>,
    /// Of each group that is open, and of the pattern before them.
    modes: Vec<Modes>,
    previous: Previous,
    look_around: Option<Span>,
    look_behind: Option<Span>,
    /// Groups that stand for look-around; their names have to differ.
    look_around_groups: u32,
    /// Whether groups keep their names.
    groups: Groups,
    /// By the names of properties: see [`complement`].
    complements: &'p mut HashMap<Box<str>, Option<String>>,
}

/// The meaning of an escape.
enum Escape {
    /// A code point; lone surrogates included.
    Point(u32),
    /// A class, as the inside of a class.
    Set(&'static str),
    /// A complemented class.
    NegatedSet(&'static str),
    /// A Unicode property, as written for `regex-syntax`.
    Property(String),
}

impl<'p> Translator<'p> {
    fn modes(&self) -> Modes {
        self.modes.last().copied().unwrap_or_default()
    }

    fn rest(&self) -> &'p str {
        &self.pattern[self.position..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.position += text.len();
        }
        found
    }

    fn emit(&mut self, text: &str) {
        let origin = Span::new(self.token, self.position);
        self.text.push_str(text);
        self.origins.resize(self.text.len(), (origin.start, origin.end));
    }

    fn emit_point(&mut self, point: u32) {
        match char::from_u32(point) {
            Some(character) if character.is_ascii_alphanumeric() => {
                self.emit(character.encode_utf8(&mut [0; 4]))
            }
            _ => self.emit(&format!("\\x{{{point:X}}}")),
        }
    }

    fn atom(&mut self, text: &str) {
        self.emit(text);
        self.previous = Previous::Atom;
    }

    fn refuse<T>(
        &self,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Outcome<T> {
        self.refuse_at(self.token, self.position, code, message, hint)
    }

    fn refuse_at<T>(
        &self,
        start: usize,
        end: usize,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Outcome<T> {
        let diagnostic = Diagnostic::error(code, message).with_hint(hint);
        Err(Box::new(diagnostic.with_label(self.pattern, Span::new(start, end), "")))
    }

    fn refuse_named<T>(&self, (code, message, hint): (&'static str, &str, &str)) -> Outcome<T> {
        self.refuse(code, message, hint)
    }

    /// One token outside of classes.
    fn term(&mut self) -> Outcome<()> {
        let Some(character) = self.next() else { return Ok(()) };
        match character {
            '(' => self.group()?,
            ')' => {
                if self.modes.len() > 1 {
                    self.modes.pop();
                }
                self.atom(")");
            }
            '|' => {
                self.emit("|");
                self.previous = Previous::Nothing;
            }
            '^' | '$' => self.atom(character.encode_utf8(&mut [0; 4])),
            '.' => {
                self.atom(if self.modes().dot_all { ANY } else { NOT_LINE_END });
            }
            '*' | '+' | '?' => self.quantifier()?,
            '{' => self.brace()?,
            '[' => self.class()?,
            '\\' if matches!(self.peek(), Some('b' | 'B')) => self.word_boundary()?,
            '\\' => match self.escape()? {
                Escape::Point(point) if char::from_u32(point).is_some() => {
                    self.emit_point(point);
                    self.previous = Previous::Atom;
                }
                Escape::Point(_) => self.atom(NEVER),
                Escape::Set(set) => self.atom(&format!("[{set}]")),
                Escape::NegatedSet(set) => self.atom(&format!("[^{set}]")),
                Escape::Property(property) => self.atom(&property),
            },
            _ => {
                self.emit_point(character as u32);
                self.previous = Previous::Atom;
            }
        }
        Ok(())
    }

    /// A `*`, `+` or `?`, which has been read.
    fn quantifier(&mut self) -> Outcome<()> {
        let written = &self.pattern[self.token..self.position];
        match self.previous {
            Previous::Nothing => self.refuse(
                "regex/syntax",
                "there is nothing before this repeat",
                format!("put it after what it repeats, or write `\\{written}`"),
            ),
            Previous::Quantifier if written == "?" => {
                self.emit("?");
                self.previous = Previous::LazyQuantifier;
                Ok(())
            }
            Previous::Quantifier | Previous::LazyQuantifier => self.refuse(
                "regex/syntax",
                "a repeat directly after a repeat",
                "put the first one in a group, `(?:...)`; possessive repeats are not supported",
            ),
            Previous::Atom => {
                self.emit(written);
                self.previous = Previous::Quantifier;
                Ok(())
            }
        }
    }

    /// A `{`, which has been read: a repeat, or the character.
    fn brace(&mut self) -> Outcome<()> {
        let rest = self.rest();
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let low = digits(rest);
        let after = &rest[low..];
        let length = match after.strip_prefix(',') {
            _ if after.starts_with('}') => low + 1,
            Some(high) if high[digits(high)..].starts_with('}') => low + 1 + digits(high) + 1,
            _ => 0,
        };
        if length == 0 || length == 1 {
            // Not the form of a repeat: Annex B takes the character as it is.
            self.atom("\\{");
            return Ok(());
        }
        self.position += length;
        if low == 0 {
            return self.refuse(
                "regex/syntax",
                "this repeat has no least number (ECMA-262 would read it as plain characters)",
                format!("write `{{0{}`, or `\\{{` for the character", &rest[..length]),
            );
        }
        self.quantifier()
    }

    /// A `(`, which has been read.
    fn group(&mut self) -> Outcome<()> {
        let mut modes = self.modes();
        if !self.eat("?") {
            self.emit("(");
        } else if self.eat("=") {
            self.look_around(AHEAD);
        } else if self.eat("!") {
            self.look_around(NOT_AHEAD);
        } else if self.eat("<=") {
            self.look_around(BEHIND);
        } else if self.eat("<!") {
            self.look_around(NOT_BEHIND);
        } else if self.eat("P=") {
            return self.refuse_named(BACK_REFERENCE);
        } else if self.eat("<") || self.eat("P<") {
            let name = self.group_name()?;
            match self.groups {
                Groups::Plain => self.emit("(?:"),
                Groups::Captured => self.emit(&format!("(?P<{name}>")),
            }
        } else {
            match self.flags(modes)? {
                (flags, inner, GroupEnd::Colon) => {
                    modes = inner;
                    self.emit(&format!("(?{flags}:"));
                }
                (flags, inner, GroupEnd::Parenthesis) => {
                    // For the rest of the group around it.
                    if let Some(current) = self.modes.last_mut() {
                        *current = inner;
                    }
                    if !flags.is_empty() {
                        self.emit(&format!("(?{flags})"));
                    }
                    return Ok(());
                }
            }
        }
        self.modes.push(modes);
        self.previous = Previous::Nothing;
        Ok(())
    }

    /// After a backslash: a `b` or `B`, outside of classes. Words are of ASCII letters here.
    fn word_boundary(&mut self) -> Outcome<()> {
        let written = if self.next() == Some('b') { r"(?-u:\b)" } else { r"(?-u:\B)" };
        // Two more letters would belong to words: those that fold to `k` and `s`.
        if self.modes().ignores_case {
            return self.refuse_named(FOLDED_BOUNDARY);
        }
        self.atom(written);
        Ok(())
    }

    fn look_around(&mut self, name: &str) {
        let place = Span::new(self.token, self.position);
        self.look_around.get_or_insert(place);
        if matches!(name, BEHIND | NOT_BEHIND) {
            self.look_behind.get_or_insert(place);
        }
        self.look_around_groups += 1;
        self.emit(&format!("(?P<{name}{}>", self.look_around_groups));
    }

    fn group_name(&mut self) -> Outcome<&'p str> {
        let length = self.rest().find('>').unwrap_or(0);
        let name = &self.rest()[..length];
        let valid = |(index, character): (usize, char)| {
            character == '_'
                || character == '$'
                || if index == 0 { character.is_alphabetic() } else { character.is_alphanumeric() }
        };
        if name.is_empty() || !name.char_indices().all(valid) {
            return self.refuse(
                "regex/syntax",
                "this group name is not valid",
                "write `(?<name>...)` with letters, digits and `_`",
            );
        }
        self.position += length + 1;
        Ok(name)
    }

    /// The flags after `(?`, without `s`, which is kept here.
    fn flags(&mut self, mut modes: Modes) -> Outcome<(String, Modes, GroupEnd)> {
        let mut flags = String::new();
        let mut value = true;
        loop {
            match self.next() {
                Some(':') => return Ok((trim_dash(flags), modes, GroupEnd::Colon)),
                Some(')') if self.position - self.token > "(?)".len() => {
                    return Ok((trim_dash(flags), modes, GroupEnd::Parenthesis));
                }
                Some('s') => modes.dot_all = value,
                Some('-') if value => {
                    value = false;
                    flags.push('-');
                }
                Some(flag @ ('i' | 'm')) if !flags.contains(flag) => {
                    modes.ignores_case = if flag == 'i' { value } else { modes.ignores_case };
                    flags.push(flag);
                }
                _ => {
                    return self.refuse(
                        "regex/syntax",
                        "this group is not understood",
                        "groups are `(...)`, `(?:...)`, `(?<name>...)` and `(?flags:...)` with the flags i and s",
                    );
                }
            }
        }
    }

    /// An escape whose backslash has been read, outside of classes or where both agree.
    fn escape(&mut self) -> Outcome<Escape> {
        let Some(character) = self.next() else {
            return self.refuse(
                "regex/syntax",
                "the pattern ends in the middle of an escape",
                "write `\\\\` for a backslash",
            );
        };
        Ok(match character {
            'd' => Escape::Set(DIGIT),
            'D' => Escape::NegatedSet(DIGIT),
            'w' => Escape::Set(WORD),
            'W' => Escape::NegatedSet(WORD),
            's' => Escape::Set(SPACE),
            'S' => Escape::NegatedSet(SPACE),
            't' => Escape::Point(0x09),
            'n' => Escape::Point(0x0A),
            'v' => Escape::Point(0x0B),
            'f' => Escape::Point(0x0C),
            'r' => Escape::Point(0x0D),
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => Escape::Point(0),
            '0' => {
                return self.refuse("regex/syntax", "octal escapes are not supported", "write `\\xHH`");
            }
            '1'..='9' => return self.refuse_named(BACK_REFERENCE),
            'k' => return self.refuse_named(BACK_REFERENCE),
            'B' => {
                let hint = "put it outside of the class, or write `B` for the character";
                return self.refuse("regex/syntax", "a class holds no word boundary", hint);
            }
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => Escape::Point(letter as u32 % 32),
                _ => {
                    return self.refuse(
                        "regex/syntax",
                        "`\\c` needs a letter",
                        "write `\\cA` to `\\cZ`, or `\\xHH`",
                    );
                }
            },
            'x' => Escape::Point(self.hex(2, "write two hexadecimal digits, `\\xHH`")?),
            'u' => Escape::Point(self.unicode_escape()?),
            'p' | 'P' => Escape::Property(self.property(character)?),
            'A' | 'z' | 'Z' | 'G' => {
                return self.refuse(
                    "regex/syntax",
                    format!("ECMA-262 has no anchor `\\{character}`"),
                    "write `^` for the start of the text and `$` for its end",
                );
            }
            _ if character.is_alphanumeric() => {
                return self.refuse(
                    "regex/syntax",
                    format!("ECMA-262 has no escape `\\{character}`"),
                    format!("write `{character}` for the character"),
                );
            }
            _ => Escape::Point(character as u32),
        })
    }

    fn hex(&mut self, length: usize, hint: &str) -> Outcome<u32> {
        match self.try_hex(length) {
            Some(point) => Ok(point),
            None => self.refuse("regex/syntax", "this escape does not name a character", hint),
        }
    }

    fn try_hex(&mut self, length: usize) -> Option<u32> {
        let digits = self.rest().get(..length)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        self.position += length;
        u32::from_str_radix(digits, 16).ok()
    }

    /// The rest after `\u`.
    fn unicode_escape(&mut self) -> Outcome<u32> {
        const HINT: &str = "write `\\uHHHH`, or `\\u{H...}` up to 10FFFF";
        if self.eat("{") {
            let length = self.rest().find('}').unwrap_or(0);
            let digits = &self.rest()[..length];
            let point = match digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                true => u32::from_str_radix(digits, 16).ok().filter(|&point| point <= 0x10_FFFF),
                false => None,
            };
            return match point {
                Some(point) => {
                    self.position += length + 1;
                    Ok(point)
                }
                None => self.refuse("regex/syntax", "this escape does not name a character", HINT),
            };
        }
        let first = self.hex(4, HINT)?;
        if (0xD800..0xDC00).contains(&first) {
            let back = self.position;
            if self.eat("\\u")
                && let Some(second) = self.try_hex(4)
                && (0xDC00..0xE000).contains(&second)
            {
                return Ok(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            self.position = back;
        }
        Ok(first)
    }

    /// The rest after `\p` or `\P`.
    fn property(&mut self, letter: char) -> Outcome<String> {
        const HINT: &str = "write `\\p{L}`, `\\p{Script=Greek}` or another Unicode property in braces";
        if !self.eat("{") {
            return self.refuse("regex/syntax", "a Unicode property needs braces", HINT);
        }
        let length = self.rest().find('}').unwrap_or(0);
        let name = &self.rest()[..length];
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'=');
        if name.is_empty() || !name.bytes().all(plain) {
            return self.refuse("regex/unicode-property", "this Unicode property is not complete", HINT);
        }
        self.position += length + 1;
        // No text holds a surrogate.
        if SURROGATES.contains(&name) {
            return Ok(if letter == 'p' { NEVER } else { ANY }.to_owned());
        }
        if letter == 'P' && self.modes().ignores_case {
            let known = self.complements.len();
            let set = self.complements.entry(name.into()).or_insert_with(|| complement(name)).clone();
            if known == MAX_COMPLEMENTS && self.complements.len() > known
                || set.as_ref().is_some_and(|set| self.text.len() + set.len() > MAX_TEXT)
            {
                let message = "case is ignored in too many complements of properties";
                return self.refuse("regex/limit", message, "name the property that is meant: `\\p{..}`");
            }
            if let Some(set) = set {
                return Ok(set);
            }
        }
        Ok(format!("\\{letter}{{{name}}}"))
    }

    /// A `[`, which has been read.
    fn class(&mut self) -> Outcome<()> {
        let start = self.token;
        let negated = self.eat("^");
        // An empty class matches nothing, an empty negated one anything; whether it is empty is only known at
        // its end, so the members are collected first.
        let (text_start, mut empty) = (self.text.len(), true);
        self.emit(if negated { "[^" } else { "[" });
        loop {
            self.token = self.position;
            let Some(low) = self.class_atom()? else {
                if self.position == self.pattern.len() {
                    return self.refuse_at(
                        start,
                        start + 1,
                        "regex/syntax",
                        "this character class is not closed",
                        "add a `]`, or write `\\[`",
                    );
                }
                self.position += 1;
                break;
            };
            let range_follows = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            match low {
                Escape::Point(low) if range_follows && self.rest().len() > 1 => {
                    let dash = self.position;
                    self.position += 1;
                    match self.class_atom()? {
                        Some(Escape::Point(high)) => empty &= !self.class_range(low, high)?,
                        _ => {
                            // Annex B: a dash next to a class is itself. Read the class again on its own.
                            self.position = dash;
                            empty &= !self.class_range(low, low)?;
                        }
                    }
                }
                Escape::Point(point) => empty &= !self.class_range(point, point)?,
                Escape::Set(set) => {
                    self.emit(set);
                    empty = false;
                    self.class_dash()?;
                }
                Escape::NegatedSet(set) => {
                    self.emit(&format!("[^{set}]"));
                    empty = false;
                    self.class_dash()?;
                }
                Escape::Property(property) => {
                    self.emit(&property);
                    empty = false;
                    self.class_dash()?;
                }
            }
        }
        self.token = start;
        if empty {
            self.text.truncate(text_start);
            self.origins.truncate(text_start);
            self.atom(if negated { ANY } else { NEVER });
        } else {
            self.atom("]");
        }
        Ok(())
    }

    /// Annex B: between a class and what follows it, a dash is itself, and what follows starts no range.
    fn class_dash(&mut self) -> Outcome<()> {
        if !self.rest().starts_with('-') || self.rest().starts_with("-]") {
            return Ok(());
        }
        self.position += 1;
        self.emit_point('-' as u32);
        self.token = self.position;
        match self.class_atom()? {
            Some(Escape::Point(point)) => self.class_range(point, point).map(drop),
            Some(Escape::Set(set)) => {
                self.emit(set);
                Ok(())
            }
            Some(Escape::NegatedSet(set)) => {
                self.emit(&format!("[^{set}]"));
                Ok(())
            }
            Some(Escape::Property(property)) => {
                self.emit(&property);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// One member of a class; `None` at its end, which is not read.
    fn class_atom(&mut self) -> Outcome<Option<Escape>> {
        match self.peek() {
            None | Some(']') => Ok(None),
            Some('\\') => {
                self.position += 1;
                if self.eat("b") {
                    return Ok(Some(Escape::Point(0x08)));
                }
                self.escape().map(Some)
            }
            Some(character) => {
                self.position += character.len_utf8();
                Ok(Some(Escape::Point(character as u32)))
            }
        }
    }

    /// A range of code points. Returns whether there is a character in it: surrogates are not text.
    fn class_range(&mut self, low: u32, high: u32) -> Outcome<bool> {
        if low > high {
            return self.refuse(
                "regex/syntax",
                "the first character of this range comes after the last",
                "swap the two, or write `\\-` for a dash",
            );
        }
        let low = if (0xD800..0xE000).contains(&low) { 0xE000 } else { low };
        let high = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
        if low > high {
            return Ok(false);
        }
        self.emit_point(low);
        if low < high {
            self.emit("-");
            self.emit_point(high);
        }
        Ok(true)
    }
}

enum GroupEnd {
    Colon,
    Parenthesis,
}

/// The complement of a property as a class, if it needs one where case is ignored: ECMA-262 takes the complement first and
/// `regex-syntax` folds first. That is the same where all cases of a character have the property or none.
fn complement(name: &str) -> Option<String> {
    let parsed = regex_syntax::parse(&format!("\\P{{{name}}}")).ok()?;
    let HirKind::Class(Class::Unicode(complement)) = parsed.kind() else { return None };
    let mut folded = complement.clone();
    folded.try_case_fold_simple().ok()?;
    if folded == *complement {
        return None;
    }
    let range = |range: &ClassUnicodeRange| {
        format!("\\x{{{:X}}}-\\x{{{:X}}}", u32::from(range.start()), u32::from(range.end()))
    };
    Some(format!("[{}]", complement.iter().map(range).collect::<String>()))
}

/// A dash that no flag follows, because `s` was taken out.
fn trim_dash(mut flags: String) -> String {
    if flags.ends_with('-') {
        flags.pop();
    }
    flags
}
