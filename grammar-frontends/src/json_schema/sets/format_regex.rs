//! The format `regex` as a pattern over patterns.
//!
//! Patterns nest, so that no pattern describes all of them; and what is wrong with a pattern may lie far apart (a
//! name given twice, a group referred to that is not there). The set here holds patterns only, and leaves out:
//! groups more than [`MAX_DEPTH`] deep and look-ahead below the top, look-behind, names of groups and references to
//! them, ranges between characters of which one is written as an escape or is not ASCII, repeats from a hundred
//! times to some other number, or of a thousand times, and spellings that only Annex B of ECMA-262 takes, other than
//! escaped punctuation.

/// How deep groups nest.
const MAX_DEPTH: u32 = 4;

/// Escapes that stand for a character or a class anywhere.
const ESCAPE: &str = concat!(
    r"\\(?:[dDsSwWtnvfr!-/:;=?@\[-`{-~]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}",
    r"|u\{0{0,4}(?:[0-9A-Fa-f]{1,4}|[1-9A-Fa-f][0-9A-Fa-f]{4}|10[0-9A-Fa-f]{4})\}",
    r"|[pP]\{(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfon]?)\})",
);
/// Characters that stand for themselves outside of classes.
const PLAIN: &str = r"[^\^$\\.*+?()\[\]{}|]";

pub(crate) fn regex() -> String {
    let quantifier = quantifier();
    let atom = format!("{PLAIN}|\\.|{ESCAPE}|{}", class());
    let mut body = String::new();
    let mut groups = String::new();
    for depth in 0..=MAX_DEPTH {
        let look_ahead = if depth == MAX_DEPTH { format!("|\\(\\?[=!]{body}\\)") } else { String::new() };
        let term = format!("(?:{atom}{groups}){quantifier}");
        body = format!("(?:{term}|[\\^$|]|\\\\[bB]{look_ahead})*");
        groups = format!("|\\((?:\\?:)?{body}\\)");
    }
    body
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

/// A class that is not empty. A hyphen that is no range stands first or last, and signs that other dialects read
/// as operators inside classes are escaped.
fn class() -> String {
    let member = r"[^\\\]\[\^&~-]";
    let mut ranges = Vec::new();
    // Where the signs that are left out lie between two that are not.
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
    format!("\\[\\^?(?:-?{member}+-?|-)\\]")
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
        let refused = parse(&super::regex(), &RegexOptions::json_schema()).err();
        assert!(refused.is_none(), "{}", refused.map(|error| error.to_string()).unwrap_or_default());
    }
}
