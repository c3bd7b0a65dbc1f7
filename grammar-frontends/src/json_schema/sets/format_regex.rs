//! The format `regex` as a pattern over patterns.
//!
//! Patterns nest, so that no pattern describes all of them. The parts of an error in a pattern may be far
//! apart (a name given twice, a group referred to that is not there). The set here holds patterns only, and
//! leaves out what [`NARROWED`] lists.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use super::whole_patterns::part;

/// The patterns that are left out, for the documentation.
pub(crate) const NARROWED: &str = "groups more than six deep; look-around below the top; more than one named group, or one below \
    the top; references by a name other than a small letter, to a group below the top or beyond the third, or in \
    patterns with other groups; beside a named group or a reference, repeats by numbers, groups in groups and most ranges in \
    classes; elsewhere ranges between characters of which one is written as an escape or is not ASCII; repeats \
    from a hundred times to some other number, or of a thousand times; spellings that only Annex B of ECMA-262 \
    takes, but for escaped punctuation";

/// How deep groups nest.
const MAX_DEPTH: u32 = 6;

/// Escapes that stand for a character or a class anywhere.
const ESCAPE: &str = concat!(
    r"\\(?:[dDsSwWtnvfr!-/:;=?@\[-`{-~]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}",
    r"|u\{0{0,4}(?:[0-9A-Fa-f]{1,4}|[1-9A-Fa-f][0-9A-Fa-f]{4}|10[0-9A-Fa-f]{4})\}",
    r"|[pP]\{(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfon]?)\})",
);
/// Characters that stand for themselves outside of classes.
const PLAIN: &str = r"[^\^$\\.*+?()\[\]{}|]";

/// The names that groups may have. Other letters have to be escaped.
const NAME: &str = "[A-Za-z_$][A-Za-z0-9_$]*";

/// Repeats by a sign.
const REPEATED: &str = r"(?:[*+?]\??)?";

/// Signs that stand between characters.
const ANCHORS: &str = r"[\^$|]|\\[bB]";

/// The texts that are patterns. Written as one pattern they would be 16 times as long, because each part would stand there
/// wherever it may occur.
pub(crate) fn regex(builder: &mut GrammarBuilder) -> Option<ExprId> {
    let mut parts = Parts {
        open: builder.literal("("),
        close: builder.literal(")"),
        anchors: part(builder, ANCHORS)?,
        repeated: part(builder, REPEATED)?,
        builder,
    };
    let atom = part(parts.builder, &format!("{PLAIN}|\\.|{ESCAPE}|{}", class()))?;
    let quantifier = part(parts.builder, &quantifier())?;
    let many = parts.body(MAX_DEPTH, atom, quantifier)?;
    let others = [parts.with_name()?, parts.with_numbers()?, parts.with_reference()?];
    Some(builder.choice([many].into_iter().chain(others)))
}

/// As [`class`], with few ranges.
fn plain_class() -> String {
    format!(r"\[\^?-?(?:[^\\\]\[\^&~-]|{ESCAPE}|a-z|A-Z|0-9)*-?\]")
}

/// Texts that all patterns share.
struct Parts<'b> {
    builder: &'b mut GrammarBuilder,
    open: ExprId,
    close: ExprId,
    anchors: ExprId,
    repeated: ExprId,
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
        let mut inside = self.builder.empty();
        for depth in 0..=most {
            let group = (depth > 0).then(|| self.builder.sequence([open, uncounted, inside, close]));
            let look_around = (depth == most).then(|| self.builder.sequence([open, looks, inside, close]));
            let single = self.builder.choice([atom].into_iter().chain(group));
            let term = self.builder.sequence([single, quantifier]);
            inside = self.any_number([term, anchors].into_iter().chain(look_around));
        }
        Some(inside)
    }

    /// A pattern with one named group, without repeats by numbers and with groups one in another at most.
    fn with_name(&mut self) -> Option<ExprId> {
        let atom = part(self.builder, &format!("{PLAIN}|\\.|{ESCAPE}|{}", plain_class()))?;
        let beside = self.body(1, atom, self.repeated)?;
        let name = part(self.builder, &format!(r"\(\?<{NAME}>"))?;
        Some(self.builder.sequence([beside, name, beside, self.close, self.repeated, beside]))
    }

    /// A pattern with groups at its top, and after each of them references to those before it by their numbers.
    fn with_numbers(&mut self) -> Option<ExprId> {
        let atom = format!("\\.|{ESCAPE}|{}", plain_class());
        let all = part(self.builder, &format!("{PLAIN}|{atom}"))?;
        let plain = self.body(0, all, self.repeated)?;
        let digit = part(self.builder, &format!("[0-9]{REPEATED}"))?;
        let sign = part(self.builder, r"[*+?]\??")?;
        // No digit follows a reference: it would be one of the number.
        let other =
            part(self.builder, &format!(r"(?:[^0-9\^$\\.*+?()\[\]{{}}|]|{atom}){REPEATED}|{ANCHORS}"))?;
        let mut pattern = self.builder.empty();
        for groups in (1..=3).rev() {
            let reference = part(self.builder, &format!(r"\\[1-{groups}]"))?;
            let repeated = self.builder.sequence([reference, self.repeated]);
            let before = self.any_number([repeated]);
            let references = self.builder.sequence([before, reference]);
            let after = self.builder.choice([sign, other]);
            let both = self.builder.sequence([references, after]);
            let segment = self.any_number([digit, other, both]);
            let last = self.builder.optional(references);
            let end = self.builder.choice([last, pattern]);
            let parts = [self.open, plain, self.close, self.repeated, segment, end];
            pattern = self.builder.sequence(parts);
        }
        Some(self.builder.sequence([plain, pattern]))
    }

    /// A pattern with one named group and references to it. The name occurs in several places, so there is a copy of
    /// everything for each.
    fn with_reference(&mut self) -> Option<ExprId> {
        let plain = format!(r"(?:(?:{PLAIN}|\.|\\[dDsSwW]){REPEATED}|{ANCHORS})*");
        let plain = part(self.builder, &plain)?;
        let mut ways = Vec::new();
        for name in 'a'..='z' {
            let (named, reference) =
                (self.builder.literal(&format!("{name}>")), self.builder.literal(&format!("\\k<{name}>")));
            let reference = self.builder.sequence([reference, self.repeated, plain]);
            let references = self.builder.repeat(reference, 1, None);
            ways.push(self.builder.sequence([named, plain, self.close, self.repeated, plain, references]));
        }
        let (begin, ways) = (self.builder.literal("(?<"), self.builder.choice(ways));
        Some(self.builder.sequence([plain, begin, ways]))
    }
}

fn quantifier() -> String {
    let mut bounds = vec!["[0-9]{1,3},?".to_owned()];
    for low in 0..=9 {
        bounds.push(format!("{low},[{low}-9]"));
        bounds.push(format!("{low},[1-9][0-9]{{1,2}}"));
    }
    for tens in 1..=9 {
        for ones in 0..=9 {
            let higher = if tens < 9 { format!("|[{}-9][0-9]", tens + 1) } else { String::new() };
            bounds.push(format!("{tens}{ones},(?:{tens}[{ones}-9]{higher}|[1-9][0-9]{{2}})"));
        }
    }
    format!("(?:(?:[*+?]|\\{{(?:{})\\}})\\??)?", bounds.join("|"))
}

/// A class. A hyphen that is no range comes first or last, and signs that other dialects read
/// as operators inside classes are escaped.
fn class() -> String {
    let member = r"[^\\\]\[\^&~-]";
    let mut ranges = Vec::new();
    // The signs that may begin or end a range. Those between two runs are left out.
    const RUNS: [(char, char); 5] = [(' ', '%'), ('\'', ','), ('.', 'Z'), ('_', '}'), ('~', '~')];
    for start in (' '..='}').filter(|&sign| RUNS.iter().any(|&(first, last)| (first..=last).contains(&sign)))
    {
        let ends: String = RUNS
            .iter()
            .filter(|&&(_, last)| last >= start)
            .map(|&(first, last)| format!("{}-{}", escaped(first.max(start)), escaped(last)))
            .collect();
        ranges.push(format!("{}-[{ends}]", escaped(start)));
    }
    let member = format!("(?:{member}|{ESCAPE}|\\\\b|{})", ranges.join("|"));
    format!("\\[\\^?(?:-?{member}+-?|-)?\\]")
}

/// A sign of a pattern, inside a class or outside.
fn escaped(sign: char) -> String {
    if sign.is_ascii_alphanumeric() || sign == ' ' {
        sign.to_string()
    } else {
        format!("\\x{:02x}", sign as u32)
    }
}
