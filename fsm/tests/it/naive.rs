//! A reading of grammars that is obviously right: where can an expression end that begins here?

use std::collections::BTreeSet;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{Expr, ExprId, Grammar, JsonEscapes};

/// Whether the root derives the text.
pub(crate) fn accepts(grammar: &Grammar, text: &[u8]) -> bool {
    matches(grammar, grammar.rule(grammar.root()).body(), text)
}

/// Whether an expression derives the text.
pub(crate) fn matches(grammar: &Grammar, expr: ExprId, text: &[u8]) -> bool {
    // Recursive rules: begin with nothing and repeat until nothing is added.
    let mut known = HashMap::default();
    loop {
        let mut round = Round { grammar, text, before: &known, now: HashMap::default() };
        let found = round.ends(expr, 0).contains(&text.len());
        let now = round.now;
        if now == known {
            return found;
        }
        known = now;
    }
}

type Ends = BTreeSet<usize>;

struct Round<'r> {
    grammar: &'r Grammar,
    text: &'r [u8],
    before: &'r HashMap<(ExprId, usize), Ends>,
    now: HashMap<(ExprId, usize), Ends>,
}

impl Round<'_> {
    fn ends(&mut self, id: ExprId, start: usize) -> Ends {
        let key = (id, start);
        if let Some(ends) = self.now.get(&key) {
            return ends.clone();
        }
        self.now.insert(key, self.before.get(&key).cloned().unwrap_or_default());
        let ends = self.compute(id, start);
        self.now.insert(key, ends.clone());
        ends
    }

    fn compute(&mut self, id: ExprId, start: usize) -> Ends {
        let rest = &self.text[start..];
        match self.grammar.expr(id) {
            Expr::Empty => Ends::from([start]),
            Expr::Bytes(bytes) if rest.starts_with(bytes) => Ends::from([start + bytes.len()]),
            Expr::Bytes(_) => Ends::new(),
            Expr::Class(ranges) => {
                let length =
                    (1..=rest.len().min(4)).find(|&length| std::str::from_utf8(&rest[..length]).is_ok());
                let character =
                    length.and_then(|length| std::str::from_utf8(&rest[..length]).ok()?.chars().next());
                match character {
                    Some(c) if ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&c)) => {
                        Ends::from([start + c.len_utf8()])
                    }
                    _ => Ends::new(),
                }
            }
            Expr::Sequence(parts) => {
                parts.iter().fold(Ends::from([start]), |from, &part| self.after(part, &from))
            }
            Expr::Choice(alternatives) => {
                alternatives.iter().flat_map(|&alternative| self.ends(alternative, start)).collect()
            }
            Expr::Repeat { body, min, max } => self.repeat(body, min, max, start),
            Expr::Rule(rule) => self.ends(self.grammar.rule(rule).body(), start),
            Expr::Intersection(operands) => {
                let all: Vec<Ends> = operands.iter().map(|&operand| self.ends(operand, start)).collect();
                all[0].iter().copied().filter(|end| all.iter().all(|ends| ends.contains(end))).collect()
            }
            Expr::Complement(operand) => {
                let ends = self.ends(operand, start);
                (start..=self.text.len())
                    .filter(|end| std::str::from_utf8(&self.text[start..*end]).is_ok() && !ends.contains(end))
                    .collect()
            }
            Expr::JsonEscaped(operand, escapes) => (start..=self.text.len())
                .filter(|&end| {
                    let inside = &self.text[start..end];
                    let is_spelled = match escapes {
                        JsonEscapes::Any => true,
                        JsonEscapes::Printed => is_printed(inside),
                        JsonEscapes::Needed => is_dumped(inside, false),
                        JsonEscapes::Ascii => is_dumped(inside, true),
                    };
                    decode(inside)
                        .filter(|_| is_spelled)
                        .is_some_and(|decoded| matches(self.grammar, operand, decoded.as_bytes()))
                })
                .collect(),
            other => unreachable!("a new kind of expression: {other:?}"),
        }
    }

    fn after(&mut self, part: ExprId, from: &Ends) -> Ends {
        from.iter().flat_map(|&start| self.ends(part, start)).collect()
    }

    fn repeat(&mut self, body: ExprId, min: u32, max: Option<u32>, start: usize) -> Ends {
        let mut from = Ends::from([start]);
        let mut done = 0;
        // After this many iterations nothing changes any more: each one moves on, or may stay where it is.
        let enough = self.text.len() as u32 + 2;
        while done < min.min(enough) {
            from = self.after(body, &from);
            done += 1;
        }
        let mut all = from.clone();
        for _ in 0..max.map_or(enough, |max| max - min).min(enough) {
            from = self.after(body, &from);
            all.extend(&from);
        }
        all
    }
}

/// Whether serialisers print all escapes of the inside of a JSON string.
fn is_printed(inside: &[u8]) -> bool {
    let mut rest = inside;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        let digits = rest.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_right = match (rest.get(at + 1), digits) {
            (Some(b'u'), Some(digits)) => {
                let code = u32::from_str_radix(digits, 16).unwrap_or(0x41);
                matches!(code, 0..=8 | 0xB | 0xC | 0xE..=0x1F | 0x26 | 0x3C | 0x3E | 0x7F..)
            }
            (letter, _) => letter != Some(&b'/'),
        };
        if !is_right {
            return false;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    true
}

/// Whether Python's encoder writes the inside of a JSON string so, in ASCII or not.
fn is_dumped(inside: &[u8], in_ascii: bool) -> bool {
    let Some(text) = decode(inside) else { return false };
    let mut written = serde_json::to_string(&text).expect("a text");
    if in_ascii {
        let escaped = |character: char| match character {
            ' '..='~' => character.to_string(),
            _ => character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        };
        written = written.chars().map(escaped).collect();
    }
    written.as_bytes()[1..written.len() - 1] == *inside
}

/// The text that the inside of a JSON string stands for.
pub(crate) fn decode(inside: &[u8]) -> Option<String> {
    let quoted = [b"\"", inside, b"\""].concat();
    serde_json::from_slice(&quoted).ok()
}
