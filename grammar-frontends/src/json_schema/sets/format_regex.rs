//! The format `regex` as a pattern over patterns.
//!
//! Patterns nest, so that no pattern describes all of them. The parts of an error in a pattern may be far
//! apart (a name given twice, a group referred to that is not there). The set here holds patterns only, and
//! leaves out what [`NARROWED`] lists.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use super::whole_patterns::part;

/// The patterns that are left out, for the documentation.
pub(crate) const NARROWED: &str = "groups more than six deep; look-around below the top; more than one named group, or one below \
    the top; names of groups beyond ASCII; references below the top or before their group, by a name other than a small \
    letter, to a group below the top or beyond the third, or in patterns with other groups; beside a named group or a \
    reference, repeats by numbers, groups in groups and most ranges in classes; beside a reference by a name, classes and \
    most escapes; elsewhere ranges that begin with `-` or `^`, or of which an end is written as an escape or is not a \
    printable character of ASCII; repeats from a hundred times to some other number, or of a thousand times; properties \
    of Unicode but for general categories by short names; flags of groups; spellings that only Annex B of ECMA-262 takes, \
    but for escaped punctuation";

/// How deep groups nest.
const MAX_DEPTH: u32 = 6;

/// Escapes that stand for a character or a class anywhere, but for `\0`, which no digit may follow.
const ESCAPE: &str = concat!(
    r"\\(?:[dDsSwWtnvfr!-/:;=?@\[-`{-~]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}",
    r"|u\{0*(?:[0-9A-Fa-f]{1,4}|[1-9A-Fa-f][0-9A-Fa-f]{4}|10[0-9A-Fa-f]{4})\}",
    r"|[pP]\{(?:L[ulmtoC]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfons]?)\})",
);
/// Characters but digits that stand for themselves outside of classes.
const PLAIN: &str = r"[^0-9\^$\\.*+?()\[\]{}|]";

/// The names that groups may have. Other letters have to be escaped.
const NAME: &str = "[A-Za-z_$][A-Za-z0-9_$]*";

/// Repeats by a sign.
const SIGN: &str = r"[*+?]\??";

/// Signs that stand between characters.
const ANCHORS: &str = r"[\^$|]|\\[bB]";

/// The texts that are patterns. Written as one pattern they would be 16 times as long, because each part would stand there
/// wherever it may occur.
pub(crate) fn regex(builder: &mut GrammarBuilder) -> Option<ExprId> {
    let mut parts = Parts {
        open: builder.literal("("),
        close: builder.literal(")"),
        anchors: part(builder, ANCHORS)?,
        digit: part(builder, "[0-9]")?,
        zero: builder.literal("\\0"),
        sign: part(builder, SIGN)?,
        builder,
    };
    let digits = ranges('0'..='9');
    let others = ranges((' '..='~').filter(|start| !matches!(start, '0'..='9' | '-' | '^' | '\\' | ']')));
    let atom = part(parts.builder, &atoms(&digits, &others))?;
    let plain_atom = part(parts.builder, &atoms("0-9", "a-z|A-Z"))?;
    let quantifier = part(parts.builder, &quantifier())?;
    let many = parts.body(MAX_DEPTH, atom, quantifier)?;
    let others = [parts.with_name(plain_atom)?, parts.with_numbers(plain_atom)?, parts.with_reference()?];
    Some(builder.choice([many].into_iter().chain(others)))
}

/// Texts that all patterns share.
struct Parts<'b> {
    builder: &'b mut GrammarBuilder,
    open: ExprId,
    close: ExprId,
    anchors: ExprId,
    digit: ExprId,
    zero: ExprId,
    sign: ExprId,
}

impl Parts<'_> {
    fn any_number(&mut self, ways: impl IntoIterator<Item = ExprId>) -> ExprId {
        let one = self.builder.choice(ways);
        self.builder.repeat(one, 0, None)
    }

    /// A pattern with groups of some depth and, at the top, look-around.
    fn body(&mut self, most: u32, atom: ExprId, quantifier: ExprId) -> Option<ExprId> {
        let (open, close, anchors) = (self.open, self.close, self.anchors);
        let uncounted = part(self.builder, r"(?:\?:)?")?;
        let looks = part(self.builder, r"\?<?[=!]")?;
        let repeated = self.builder.optional(quantifier);
        let digit = self.builder.sequence([self.digit, repeated]);
        let zeros = self.any_number([self.zero]);
        let repeated_zero = self.builder.sequence([self.zero, quantifier]);
        let mut inside = self.builder.empty();
        for depth in 0..=most {
            let group = (depth > 0).then(|| self.builder.sequence([open, uncounted, inside, close]));
            let look_around = (depth == most).then(|| self.builder.sequence([open, looks, inside, close]));
            let single = self.builder.choice([atom].into_iter().chain(group));
            let term = self.builder.sequence([single, repeated]);
            let other = self.builder.choice([term, repeated_zero, anchors].into_iter().chain(look_around));
            let other = self.builder.sequence([zeros, other]);
            let terms = self.any_number([digit, other]);
            inside = self.builder.sequence([terms, zeros]);
        }
        Some(inside)
    }

    /// A pattern with one named group, without repeats by numbers and with groups one in another at most.
    fn with_name(&mut self, atom: ExprId) -> Option<ExprId> {
        let beside = self.body(1, atom, self.sign)?;
        let name = part(self.builder, &format!(r"\(\?<{NAME}>"))?;
        let repeated = self.builder.optional(self.sign);
        Some(self.builder.sequence([beside, name, beside, self.close, repeated, beside]))
    }

    /// A pattern with groups at its top, and after each of them references to those before it by their numbers.
    fn with_numbers(&mut self, atom: ExprId) -> Option<ExprId> {
        let plain = self.body(0, atom, self.sign)?;
        let repeated = self.builder.optional(self.sign);
        let digit = self.builder.sequence([self.digit, repeated]);
        let other = self.builder.sequence([atom, repeated]);
        let other = self.builder.choice([other, self.anchors]);
        let mut pattern = self.builder.empty();
        for groups in (1..=3).rev() {
            // No digit follows a reference: it would be one of the number. The same holds for `\0`.
            let reference = part(self.builder, &format!(r"\\[0-{groups}]"))?;
            let repeated_reference = self.builder.sequence([reference, repeated]);
            let before = self.any_number([repeated_reference]);
            let references = self.builder.sequence([before, reference]);
            let after = self.builder.choice([self.sign, other]);
            let both = self.builder.sequence([references, after]);
            let segment = self.any_number([digit, other, both]);
            let last = self.builder.optional(references);
            let end = self.builder.choice([last, pattern]);
            let parts = [self.open, plain, self.close, repeated, segment, end];
            pattern = self.builder.sequence(parts);
        }
        Some(self.builder.sequence([plain, pattern]))
    }

    /// A pattern with one named group and references to it. The name occurs in several places, so there is a copy of
    /// everything for each.
    fn with_reference(&mut self) -> Option<ExprId> {
        let plain = format!(r"(?:(?:{PLAIN}|[0-9]|\.|\\[dDsSwW])(?:{SIGN})?|{ANCHORS})*");
        let plain = part(self.builder, &plain)?;
        let repeated = self.builder.optional(self.sign);
        let mut ways = Vec::new();
        for name in 'a'..='z' {
            let (named, reference) =
                (self.builder.literal(&format!("{name}>")), self.builder.literal(&format!("\\k<{name}>")));
            let reference = self.builder.sequence([reference, repeated, plain]);
            let references = self.builder.repeat(reference, 1, None);
            ways.push(self.builder.sequence([named, plain, self.close, repeated, plain, references]));
        }
        let (begin, ways) = (self.builder.literal("(?<"), self.builder.choice(ways));
        Some(self.builder.sequence([plain, begin, ways]))
    }
}

/// Repeats by a sign or by numbers.
fn quantifier() -> String {
    let mut bounds = vec!["[0-9]{1,3},?".to_owned()];
    for low in 0..=9 {
        bounds.push(format!("{low},0*[{low}-9]"));
        bounds.push(format!("{low},0*[1-9][0-9]{{1,2}}"));
    }
    for tens in 1..=9 {
        for ones in 0..=9 {
            let higher = if tens < 9 { format!("|[{}-9][0-9]", tens + 1) } else { String::new() };
            bounds.push(format!("{tens}{ones},0*(?:{tens}[{ones}-9]{higher}|[1-9][0-9]{{2}})"));
        }
    }
    format!("(?:[*+?]|\\{{0*(?:{})\\}})\\??", bounds.join("|"))
}

/// Single characters and classes, but for digits and `\0`. The ranges of the classes are given: those that begin with a
/// digit, and others.
fn atoms(digits: &str, others: &str) -> String {
    format!("{PLAIN}|\\.|{ESCAPE}|{}", class(digits, others))
}

/// A class. A hyphen that is no range comes first, last or after a range. No `\0` precedes a digit.
fn class(digits: &str, others: &str) -> String {
    let zeros = r"(?:\\0)*";
    let other = format!(r"[^0-9\\\]-]|{ESCAPE}|\\b|(?:{others})-?");
    format!(r"\[\^?-?(?:[0-9]|(?:{digits})-?|{zeros}(?:{other}))*{zeros}-?\]")
}

/// The ranges from some characters to printable ones that need no escape.
fn ranges(starts: impl Iterator<Item = char>) -> String {
    let range = |start| {
        let ends = if start < '\\' { r"-\[\^-~" } else { "-~" };
        format!("{0}-[{0}{ends}]", escaped(start))
    };
    starts.map(range).collect::<Vec<_>>().join("|")
}

/// A sign of a pattern, inside a class or outside.
fn escaped(sign: char) -> String {
    if sign.is_ascii_alphanumeric() || sign == ' ' {
        sign.to_string()
    } else {
        format!("\\x{:02x}", sign as u32)
    }
}
