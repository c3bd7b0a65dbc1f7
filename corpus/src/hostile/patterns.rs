//! Regular expressions, alone and in the sources that hold them.

use super::shape::{Shape, Syntax};

const PATTERNS: [(&str, [usize; 3], &str); 37] = [
    ("literal", [600, 6_000, 60_000], "«a»"),
    ("choice", [100, 1_000, 10_000], "«a§‖|»"),
    ("optional, then all", [30, 300, 3_000], "«a?»«a»"),
    ("any, then a letter", [50, 500, 5_000], "«.*a»"),
    ("starred classes", [80, 800, 8_000], "«[a-z]*»"),
    ("words", [50, 500, 5_000], r"«\w+\s*»"),
    ("suffix", [8, 12, 200], "(a|b)*a(a|b){§}"),
    ("suffixes", [3, 10, 100], "«.*a.{§}b»"),
    ("choice of counts", [20, 200, 2_000], "(«a{§}b‖|»)*"),
    ("choice of cycles", [5, 20, 100], "(«(a{¶})*‖|»)"),
    ("overlapping words", [100, 1_000, 10_000], "(«(a|b|ab)*c»)"),
    ("large count", [1_000, 1_000_000, 1_000_000_000], "a{§}"),
    ("nested counts", [10, 100, 1_000], "((a{0,§}b){0,§}c){0,§}"),
    ("optional counts", [10, 1_000, 1_000_000], "(a{0,§}){§}b"),
    ("counted class", [1_000, 1_000_000, 1_000_000_000], r"(\pL{0,§}\s){0,§}"),
    ("groups", [10, 100, 249], "«(»a«)*»"),
    ("deep groups", [1_000, 5_000, 30_000], "«(»a«)»"),
    ("classes", [200, 2_000, 20_000], "«[a-f0-9]»"),
    ("large classes", [100, 1_000, 10_000], r"«\pL»"),
    ("large classes without case", [30, 300, 3_000], r"(?i)«\p{Greek}k§»"),
    ("words without case", [50, 500, 5_000], "(?i)«straße»"),
    ("nested classes", [10, 100, 10_000], "«[a»b«]»"),
    ("intersected classes", [100, 1_000, 10_000], r"«[^\D]»"),
    ("open groups", [600, 6_000, 60_000], "«(»"),
    ("escapes", [100, 1_000, 6_000], r"«\x{1F600}»"),
    ("lines", [50, 500, 5_000], "«^a$|»b"),
    ("boundaries", [50, 500, 5_000], r"«\b[ab]+\b ?»"),
    ("boundaries in counts", [3, 30, 300], r"([a-]{0,§}\b){§}"),
    ("choice of boundaries", [20, 200, 2_000], r"(«a\b-|b\Ba§‖|»){3}"),
    ("looks ahead", [20, 200, 2_000], "«(?=.*a§)».*"),
    ("looks ahead in counts", [4, 40, 400], "(((?=a)a?|-){§}){§}"),
    ("words that are excluded ahead", [20, 200, 2_000], "(?!«word§‖|»)[a-z0-9]*"),
    ("excluded ahead in counts", [20, 200, 2_000], "((?!b)a?|-){§}"),
    ("looks behind", [50, 500, 5_000], "«[ab]{1,3}(?<!b)»"),
    ("words that are excluded behind", [20, 200, 2_000], "[a-z0-9]*(?<!«word§‖|»)"),
    ("words excluded behind in counts", [10, 100, 1_000], "((a?(?<!«word§‖|»)){64}){64}"),
    ("groups that look around", [10, 100, 249], "«(?:(?!b)»[ab]«(?<!b))+»"),
];

/// The pattern replaces `@`.
const HOLDERS: [(&str, Syntax, &str); 6] = [
    ("regex/whole", Syntax::Regex, "@"),
    ("schema/pattern", Syntax::Schema, r#"{"type":"string","pattern":"@"}"#),
    ("schema/pattern of a length", Syntax::Schema, r#"{"type":"string","pattern":"@","maxLength":1000}"#),
    ("schema/excluded pattern", Syntax::Schema, r#"{"type":"string","not":{"pattern":"@"}}"#),
    ("schema/pattern of names", Syntax::Schema, r#"{"type":"object","patternProperties":{"@":false}}"#),
    (
        "tag/regex",
        Syntax::Tag,
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"regex","pattern":"@"},"end":"</a>"}}"#,
    ),
];

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (holder, syntax, around) in HOLDERS {
        for (name, sizes, pattern) in PATTERNS {
            let pattern = match syntax {
                Syntax::Regex => pattern.to_owned(),
                _ => pattern.replace('\\', r"\\"),
            };
            let text = if syntax == Syntax::Regex { "ab".repeat(500) } else { "\"aabab".to_owned() };
            let name = format!("{holder}: {name}");
            shapes.push(Shape::new(name, syntax.clone(), sizes, &around.replace('@', &pattern)).text(&text));
        }
    }
    shapes
}
