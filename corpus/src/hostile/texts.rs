//! Texts: grammars that make long texts dear, times what is done along a text.

use super::shape::{Calls, Shape, Syntax};

/// A grammar, and a text of it that grows.
const GRAMMARS: [(&str, Syntax, &str, &str); 26] = [
    (
        "palindromes",
        Syntax::Ebnf,
        r#"root ::= "a" root "a" | "b" root "b" | "c" root "c" | "d" root "d" | "e" root "e" | "f" root "f" | "g" root "g" | "h" root "h" | "i" root "i" | "j" root "j" | "k" root "k" | "l" root "l" | "m" root "m" | "n" root "n" | "o" root "o" | "p" root "p" | "q" root "q" | "r" root "r" | "s" root "s" | "t" root "t" | "u" root "u" | "v" root "v" | "w" root "w" | "x" root "x" | "y" root "y" | "z" root "z" | [a-z] | """#,
        "«λ»",
    ),
    ("suffix", Syntax::Schema, r#"{"type":"string","pattern":"^[a-z]*a[a-z]{3000}$"}"#, "\"«λaλλ»"),
    ("squares", Syntax::Ebnf, r#"root ::= root root | "a""#, "«a»"),
    ("cubes", Syntax::Ebnf, r#"root ::= root root root | "a" | """#, "«a»"),
    ("all ways", Syntax::Ebnf, r#"root ::= "a" root "a" | "a" root | root "a" | "a" | """#, "«a»"),
    ("open ends", Syntax::Ebnf, r#"root ::= "a" root | "a" root "b" | "a" root "c" | """#, "«a»"),
    ("stars", Syntax::Ebnf, r#"root ::= "a"* "a"* "a"* "a"* "a"* "a"* root?"#, "«a»"),
    ("counts", Syntax::Ebnf, r#"root ::= ("a" root?){1,1000} ("a" root?){2,500}"#, "«a»"),
    ("counts in counts", Syntax::Ebnf, r#"root ::= ("a"{1,300} | "aa"{1,400} | root{1,20}){1,900}"#, "«a»"),
    ("brackets", Syntax::Ebnf, r#"root ::= "" | "(" root ")" | "[" root "]" | root root"#, "«([»"),
    ("brackets that close", Syntax::Ebnf, r#"root ::= "[" root* "]""#, "«[»«]»"),
    ("arrays", Syntax::Schema, "true", "«[1,»"),
    ("objects", Syntax::Schema, "true", "«{\"a\":»"),
    (
        "strings",
        Syntax::Schema,
        r#"{"type":"array","items":{"type":"string","minLength":1}}"#,
        "[«\"ab é\",»",
    ),
    (
        "different items",
        Syntax::Schema,
        r#"{"type":"array","uniqueItems":true,"items":{"type":"integer"}}"#,
        "[«§,»",
    ),
    (
        "different names",
        Syntax::Schema,
        r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
        "{«\"k§\":1,»",
    ),
    (
        "counted items",
        Syntax::Schema,
        r#"{"type":"array","items":{"type":"array","maxItems":100000},"maxItems":100000,"minItems":3}"#,
        "[«[1,2],»",
    ),
    ("counted text", Syntax::Schema, r#"{"type":"string","maxLength":100000000}"#, "\"«ab»"),
    (
        "measured text",
        Syntax::Schema,
        r#"{"type":"string","format":"uri-reference","maxLength":100000000}"#,
        "\"«/a%20»",
    ),
    ("counted words", Syntax::Regex, "(?:[a-z]{2,20}-){3,}[0-9]{4}", "«abcde-»"),
    ("digits", Syntax::Schema, r#"{"type":"integer","multipleOf":997}"#, "«1»"),
    (
        "text with tags",
        Syntax::Tag,
        r#"{"format":{"type":"triggered_tags","triggers":["<a","<b"],"tags":[{"begin":"<a>","content":{"type":"any_text"},"end":"</a>"},{"begin":"<b>","content":{"type":"json_schema","json_schema":true},"end":"</b>"}]}}"#,
        "«<a>ab</a> <b>[1]</b>»",
    ),
    (
        "almost tags",
        Syntax::Ebnf,
        r#"root ::= TagDispatch(("aaaaaaaaab", "c"), ("aaab", root), excludes=("aaaaaaaaaaaaaac",))"#,
        "«aaaaaaaaaad»",
    ),
    ("captures", Syntax::Lark, "start: (item \";\")*\nitem[capture]: /[a-z]*/ | \"(\" item \")\"", "«ab;»"),
    ("captures in captures", Syntax::Lark, "start: r\nr[capture]: r \"a\" | \"a\"", "«a»"),
    ("budgets", Syntax::Ebnf, "root ::= item*\nitem[max_tokens=50] ::= \"<\" [a-z<>]* \">\"", "«<ab>»"),
];

/// The calls along a text, and its sizes.
const DONE: [(Calls, [usize; 3]); 7] = [
    (Calls::Visit, [1_000, 10_000, 100_000]),
    (Calls::Read, [100, 1_000, 4_000]),
    (Calls::Walk, [50, 500, 5_000]),
    (Calls::Seesaw, [30, 300, 3_000]),
    (Calls::Fork, [100, 1_000, 10_000]),
    (Calls::Ask, [100, 1_000, 10_000]),
    (Calls::Batch, [10, 50, 200]),
];

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (name, syntax, source, text) in GRAMMARS {
        for (calls, sizes) in DONE {
            let name = format!("text/{calls:?} of {name}");
            shapes.push(Shape::new(name, syntax.clone(), sizes, source).text(text).calls(calls));
        }
    }
    shapes
}
