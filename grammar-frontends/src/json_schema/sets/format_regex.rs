//! The format `regex` as a pattern over patterns.
//!
//! Patterns nest, so that no pattern describes all of them. The parts of an error in a pattern may be far
//! apart (a name given twice, a group referred to that is not there). The set here holds patterns only, and
//! leaves out what [`NARROWED`] lists.

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

pub(crate) fn regex() -> String {
    let atom = format!("{PLAIN}|\\.|{ESCAPE}|{}", class());
    let many = body(MAX_DEPTH, &atom, &quantifier());
    format!("(?:{many}|{}|{}|{})", with_name(), with_numbers(), with_reference())
}

/// A pattern with groups of some depth and, at the top, look-around.
fn body(most: u32, atom: &str, quantifier: &str) -> String {
    let mut body = String::new();
    let mut groups = String::new();
    for depth in 0..=most {
        let look_around = if depth == most { format!("|\\(\\?<?[=!]{body}\\)") } else { String::new() };
        let term = format!("(?:{atom}{groups}){quantifier}");
        body = format!("(?:{term}|[\\^$|]|\\\\[bB]{look_around})*");
        groups = format!("|\\((?:\\?:)?{body}\\)");
    }
    body
}

/// Repeats by a sign.
const REPEATED: &str = "(?:[*+?]\\??)?";

/// As [`class`], with few ranges.
fn plain_class() -> String {
    format!(r"\[\^?-?(?:[^\\\]\[\^&~-]|{ESCAPE}|a-z|A-Z|0-9)*-?\]")
}

/// A pattern without repeats by numbers and with groups one in another at most.
fn plain_body() -> String {
    body(1, &format!("{PLAIN}|\\.|{ESCAPE}|{}", plain_class()), REPEATED)
}

/// A pattern with one named group.
fn with_name() -> String {
    let beside = plain_body();
    format!("{beside}\\(\\?<{NAME}>{beside}\\){REPEATED}{beside}")
}

/// A pattern with groups at its top, and after each of them references to those before it by their numbers.
fn with_numbers() -> String {
    let atom = format!("\\.|{ESCAPE}|{}", plain_class());
    let plain = body(0, &format!("{PLAIN}|{atom}"), REPEATED);
    let mut pattern = String::new();
    for groups in (1..=3).rev() {
        let reference = format!("\\\\[1-{groups}]");
        let references = format!("(?:{reference}{REPEATED})*{reference}");
        // No digit follows: it would be one of the number.
        let other = format!("(?:[^0-9\\^$\\\\.*+?()\\[\\]{{}}|]|{atom}){REPEATED}|[\\^$|]|\\\\[bB]");
        let segment = format!("(?:[0-9]{REPEATED}|{other}|{references}(?:[*+?]\\??|{other}))*");
        pattern = format!("\\({plain}\\){REPEATED}{segment}(?:(?:{references})?|{pattern})");
    }
    format!("{plain}{pattern}")
}

/// A pattern with one named group and references to it. The name occurs in several places, so there is a copy of
/// everything for each.
fn with_reference() -> String {
    let plain = format!("(?:(?:{PLAIN}|\\.|\\\\[dDsSwW]){REPEATED}|[\\^$|]|\\\\[bB])*");
    let ways = ('a'..='z')
        .map(|name| format!("{name}>{plain}\\){REPEATED}{plain}(?:\\\\k<{name}>{REPEATED}{plain})+"));
    format!("{plain}\\(\\?<(?:{})", ways.collect::<Vec<_>>().join("|"))
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

#[cfg(test)]
mod tests {
    use crate::regex::{RegexOptions, parse};

    #[test]
    fn it_is_a_pattern_itself() {
        let mut options = RegexOptions::json_schema();
        options.limits.pattern_bytes = usize::MAX;
        let refused = parse(&super::regex(), &options).err();
        assert!(refused.is_none(), "{}", refused.map(|error| error.to_string()).unwrap_or_default());
    }
}
