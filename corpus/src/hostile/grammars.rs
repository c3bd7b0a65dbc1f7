//! Grammars: how rules refer to one another times what their bodies are, in three notations; and single rules that grow.

use super::shape::{Shape, Syntax};

/// The rule that a rule goes on with, in place of `@`, and the body of the last rule.
const TOPOLOGIES: [(&str, &str, &str); 6] = [
    ("chain", "r¶", "\"a\""),
    ("ring", "r¶", "\"a\" | r0 \"b\""),
    ("tree", "r½", "\"a\""),
    ("random", "r¤", "\"a\""),
    ("chain and random", "(r¶ | r¤)", "\"a\""),
    ("self", "r§ r¶", "\"a\""),
];

/// A rule's body, with the next rule in place of `@`.
const BODIES: [(&str, &str); 12] = [
    ("right recursion", r#""a" @ | "b""#),
    ("left recursion", r#"r§ "a" | @"#),
    ("left call", r#"@ "a" | "b§""#),
    ("nested", r#""a" @ "b" | """#),
    ("nullable", r#""a"? @?"#),
    ("nullable cube", r#"@ @ @ | "a" | """#),
    ("nullable square", r#"@ "a"? @ | """#),
    ("ambiguous", r#""a" @ "a" | "a" @ | @ "a" | "a""#),
    ("repeat", r#"("a" @?){1,9} "b""#),
    ("counted", r#"("a" | "b" @){2,1000}"#),
    ("star", r#"(@* "a")* | "b""#),
    ("class", r#"[a-z]+ @ | [^a]{2,5}"#),
];

/// Grammars of EBNF and GBNF whose only rule, or whose rules in a way of their own, grow.
const SINGLE: [(&str, [usize; 3], &str); 41] = [
    ("random literals", [3_000, 30_000, 300_000], "root ::= «\"λλλλλλλλλλλλλλλλλλλλλλλλλλλλλλ\"‖ | »"),
    ("cubes of cubes", [30, 300, 3_000], "root ::= r0\n«r§ ::= \"\" | \"a\" | r¤ r¤ r¤\n»"),
    (
        "right-linear",
        [100, 1_000, 10_000],
        "root ::= \"<\" r0 \">\"\n«r§ ::= \"a\" r¤ | \"a\" r¤ | [b-y] r¤ | \"\"\n»",
    ),
    ("dense pairs", [20, 60, 200], "root ::= r0\n«r§ ::= \"a\" | ⟨r† r¤¦ | ⟩\n»"),
    ("choice of left recursion", [1_000, 10_000, 100_000], "root ::= «root \"x§\"‖ | » | \"a\""),
    ("300,000 literals", [3_000, 30_000, 300_000], "root ::= «\"a long literal with number §\"‖ | »"),
    ("sequence of literals", [1_000, 10_000, 100_000], "root ::= «\"literal §\"‖ »"),
    ("optional literals", [100, 1_000, 10_000], "root ::= «\"a§\"?‖ »"),
    ("classes", [1_000, 10_000, 100_000], "root ::= «[a-y]‖ »"),
    ("optional classes", [100, 1_000, 10_000], "root ::= «[a-z]?‖ »"),
    ("starred classes", [100, 1_000, 10_000], "root ::= «[a-z]*‖ »"),
    ("choice of stars", [300, 3_000, 30_000], "root ::= («[^]*‖ | »)*"),
    ("choice of starred literals", [300, 3_000, 30_000], "root ::= («\"a§\"*‖ | »)*"),
    ("choice of repeats", [30, 300, 3_000], "root ::= («\"a\"{1,9§} \"b\"‖ | »)*"),
    ("choice of prefixes", [100, 1_000, 10_000], "root ::= «\"a\"{§} \"b§\"‖ | »"),
    ("empty literals", [10_000, 100_000, 1_000_000], "root ::= «\"\" »\"a\""),
    ("blanks", [10_000, 100_000, 10_000_000], "root ::= « »\"a\""),
    ("comments", [10_000, 100_000, 4_000_000], "root ::= \"a\"«\n#»"),
    ("long literal", [10_000, 100_000, 4_000_000], "root ::= \"«a»\""),
    ("long class", [1_000, 10_000, 1_000_000], "root ::= [«a-z»]"),
    ("groups", [100, 999, 100_000], "root ::= «(»\"a\"«)»"),
    ("starred groups", [100, 999, 100_000], "root ::= «(»\"a\"«)*»"),
    ("counted groups", [4, 30, 900], "root ::= «(»\"a\"«){1,9}»"),
    ("undefined rules", [1_000, 10_000, 100_000], "root ::= «undefined§‖ | »"),
    ("rules defined twice", [1_000, 10_000, 100_000], "root ::= \"a\"\n«a ::= \"§\"\n»"),
    ("unused rules", [1_000, 10_000, 100_000], "root ::= \"a\"\n«r§ ::= \"b\" r§ | \"c\"\n»"),
    ("unproductive rules", [1_000, 10_000, 100_000], "root ::= r0\n«r§ ::= r¶ \"a\"\n»r§ ::= r0"),
    ("dense nonterminals", [20, 60, 200], "root ::= r0\n«r§ ::= ⟨r†¦ | ⟩ | \"a§\"\n»"),
    ("dense left recursion", [20, 60, 200], "root ::= r0\n«r§ ::= ⟨r† \"a†\"¦ | ⟩ | \"b\"\n»"),
    ("dense sequences", [20, 60, 200], "root ::= r0\n«r§ ::= \"a\"? ⟨r†?¦ ⟩\n»"),
    ("nullable rules", [500, 5_000, 50_000], "root ::= «r§‖ »\n«r§ ::= \"a§\" | \"\"\n»"),
    ("nullable choice", [500, 5_000, 50_000], "root ::= («r§‖ | »)*\n«r§ ::= \"a§\" | \"\"\n»"),
    ("nullable cubes", [30, 300, 3_000], "root ::= «r§‖ »\n«r§ ::= r§ r§ r§ | \"a\" | \"\"\n»"),
    (
        "choice of cubes",
        [30, 300, 3_000],
        "root ::= («r§‖ | »)+\n«r§ ::= r§ r§ r§ | \"a\" | \"b§\" | \"\"\n»",
    ),
    ("dead choices", [1_000, 10_000, 100_000], "root ::= «r§ \"a\"‖ | » | \"b\"\n«r§ ::= r§ \"c\"\n»"),
    ("palindromes", [4, 13, 26], "root ::= «\"a§\" root \"a§\"‖ | » | [a-z] | \"\""),
    ("long names", [1_000, 10_000, 1_000_000], "root ::= «a»\n«a» ::= \"b\""),
    ("mistakes", [1_000, 10_000, 1_000_000], "root ::= «) »"),
    ("open brackets", [1_000, 10_000, 1_000_000], "root ::= «(»"),
    ("lost quotes", [1_000, 10_000, 1_000_000], "root ::= «\"\n»"),
    ("large counts", [1_000, 1_000_000, 1_000_000_000], "root ::= (\"a\"{0,§} \"b\"?){1,§}"),
];

/// Operators that our EBNF alone has.
const OPERATORS: [(&str, [usize; 3], &str); 30] = [
    (
        "random excluded texts",
        [1_000, 10_000, 100_000],
        "root ::= TagDispatch((\"<a>\", \"b\"), excludes=(«\"λλλλλλλλλλλλ\"‖, »,))",
    ),
    (
        "random stop texts",
        [1_000, 10_000, 100_000],
        "root ::= TagDispatch(«(\"λλλλλλλλλλλλ\", \"b\")‖, », stop_str=(«\"λλλλλλλλλλλλ\"‖, »,))",
    ),
    ("long tag", [1_000, 40_000, 1_000_000], "root ::= TagDispatch((\"«ab»\", \"b\"))"),
    (
        "long excluded text",
        [1_000, 40_000, 1_000_000],
        "root ::= TagDispatch((\"<a>\", \"b\"), excludes=(\"«a»\",))",
    ),
    (
        "long stop text",
        [1_000, 40_000, 1_000_000],
        "root ::= TagDispatch((\"<a>\", \"b\"), stop_str=(\"«ab»c\",), stop_eos=false)",
    ),
    ("many tags", [1_000, 10_000, 100_000], "root ::= TagDispatch(«(\"<tag§>\", \"b§\")‖, »)"),
    (
        "many excluded texts",
        [1_000, 10_000, 100_000],
        "root ::= TagDispatch((\"<a>\", \"b\"), excludes=(«\"x§y\"‖, »,))",
    ),
    (
        "tags of one letter",
        [100, 1_000, 3_000],
        "root ::= TagDispatch((\"«a»b\", \"c\"), (\"«aa»c\", \"d\"), excludes=(\"«a»d\",))",
    ),
    ("token tags", [100, 1_000, 10_000], "root ::= TokenTagDispatch(«(§, \"b§\")‖, »)"),
    ("tokens", [1_000, 10_000, 100_000], "root ::= Token(«§‖, ») \"a\"*"),
    ("token choices", [100, 1_000, 10_000], "root ::= (« ExcludeToken(§) \"a\"‖ | »)*"),
    ("tokens under a bound", [20, 200, 2_000], "root[max_chars=50] ::= ([ab] | Token(«§0‖, »))*"),
    (
        "intersected tokens",
        [10, 100, 1_000],
        "root ::= («\"a\" Token(§, ¶)‖ | »)* & ([ab] | ExcludeToken(3))*",
    ),
    ("permutation", [5, 12, 100], "root ::= Permutation(\",\", «Required(\"a§\")‖, »)"),
    ("optional permutation", [5, 12, 100], "root ::= Permutation(\",\", «Optional(\"a§\")‖, »)"),
    (
        "parts that begin alike",
        [80, 800, 8_000],
        "root ::= Permutation(\",\", «Optional(\"a\" | \"a§;\")‖, »)",
    ),
    ("repeatable permutation", [100, 1_000, 10_000], "root ::= Permutation(\",\", «Repeatable(\"a§\")‖, »)"),
    ("intersection", [10, 100, 1_000], "root ::= Intersection(«[ab]{§,} ‖, »)"),
    ("intersection of cycles", [3, 8, 30], "root ::= Intersection(«([ab]{¶})*‖, »)"),
    ("complements", [20, 200, 2_000], "root ::= «Complement([ab]{§})‖ | »"),
    ("sequence of complements", [20, 200, 2_000], "root ::= «Complement([ab]{§})‖ »"),
    ("complement of a suffix", [6, 9, 20], "root ::= Complement([ab]* \"a\" [ab]{§})"),
    (
        "rules of hard operators",
        [40, 400, 4_000],
        "root ::= «r§‖ | »\n«r§ ::= Intersection([ab]* \"a\" [ab]{11}, \"ab§\" | [ab]{20})\n»",
    ),
    ("nested complements", [10, 50, 900], "root ::= «Complement([ab] | »\"a\"«)»"),
    ("nested escapes", [2, 6, 30], "root ::= «JsonEscaped(»[ab]*«)»"),
    ("substring", [100, 1_000, 30_000], "root ::= Substring(«\"a¤ \"‖, »)"),
    ("substring of one letter", [100, 1_000, 30_000], "root ::= Substring(«\"a\"‖, »)"),
    ("regexes", [100, 1_000, 10_000], "root ::= «Regex(\"[a-f]§+\\\\d\", flags=\"i\")‖ | »"),
    ("repeat of free texts", [6, 60, 600], "root ::= («TagDispatch(excludes=(\"λλλ\",))‖ | »){0,100}"),
    (
        "budgets",
        [100, 1_000, 10_000],
        "root ::= «r§‖ | »\n«r§[max_tokens=9, capture] ::= \"a\" [a-z]* \"b§\"\n»",
    ),
];

/// Constructs that Lark's notation alone has.
const LARK: [(&str, [usize; 3], &str); 29] = [
    ("random literals", [3_000, 30_000, 300_000], "start: «\"λλλλλλλλλλλλλλλλλλλλλλλλλλλλλλ\"‖ | »"),
    ("terminals", [300, 3_000, 30_000], "start: («T§‖ | »)+\n«T§: /[a-z]+§/\n»"),
    ("ignored terminals", [30, 300, 3_000], "start: («T§‖ | »)+\n«T§: \"a§\"\n»«%ignore T§\n»"),
    ("intersected terminals", [30, 300, 3_000], "start: «T§‖ | »\n«T§: /[a-z]+/ & ~/.*a§.*/\n»"),
    ("chain of terminals", [100, 1_000, 10_000], "start: T0\n«T§: \"a\" T¶?\n»T§: \"b\""),
    ("doubled terminals", [5, 20, 100], "start: T0\n«T§: T¶ T¶\n»T§: \"a\"?"),
    ("stop patterns", [10, 100, 1_000], "start: «x§‖ | »\n«x§[stop=/[ab]*a[ab]{11}§c/, capture]: /[^<]*/\n»"),
    ("captures of nothing", [400, 4_000, 40_000], "start: «r§‖ »\n«r§[capture]: /[a-z]*/\n»"),
    ("nested groups", [20, 199, 10_000], "start: «(»\"a\"«)*»"),
    ("nested options", [20, 199, 10_000], "start: «[\"a\" »\"b\"«]»"),
    (
        "schemas of conditions",
        [10, 100, 10_000],
        "start: «r§‖ | »\n«r§: %json {\"type\":\"object\",\"dependentRequired\":{\"a§\":[\"b§\"],\"c§\":[\"d§\"],\"e§\":[\"f§\"],\"g§\":[\"h§\"],\"i§\":[\"j§\"],\"k§\":[\"l§\"],\"m§\":[\"n§\"],\"o§\":[\"p§\"],\"q§\":[\"r§\"]}}\n»",
    ),
    (
        "schemas of patterns",
        [10, 100, 10_000],
        "start: «r§‖ | »\n«r§: %json {\"type\":\"string\",\"pattern\":\"^[ab]*a[ab]{9}§$\",\"not\":{\"pattern\":\"a.*§b\"}}\n»",
    ),
    (
        "schemas of dates",
        [10, 100, 10_000],
        "start: «r§‖ | »\n«r§: %json {\"properties\":{\"d§\":{\"format\":\"date-time\"}}}\n»",
    ),
    (
        "schemas",
        [100, 1_000, 30_000],
        "start: «r§‖ | »\n«r§: %json {\"type\":\"object\",\"properties\":{\"a§\":{\"type\":\"string\"}}}\n»",
    ),
    ("grammars", [5, 50, 190], "start: «%lark { start: \"a\" »\"b\"«}»"),
    ("chunks", [100, 1_000, 60_000], "start: %regex {\"substring_chunks\": [«\"a¤ \"‖,»]}"),
    ("characters", [1_000, 10_000, 1_000_000], "start: %regex {\"substring_chars\": \"«ab»\"}"),
    ("lazy rules", [10, 100, 1_000], "start: («r§‖ | »)*\n«r§[lazy]: /[a-z]*b§/\n»"),
    (
        "marks after free text",
        [10, 100, 1_000],
        "start: («c§‖ | »)* TEXT\nTEXT: /(.|\\n)*/\n«c§: h§ \"x\"\nh§[lazy]: TEXT \"<f§>\"\n»%ignore / +/",
    ),
    (
        "special tokens after free text",
        [10, 100, 1_000],
        "start: («c§‖ | »)* TEXT\nTEXT: /(.|\\n)*/\n«c§: h§ \"x\"\nh§[lazy]: TEXT <f§>\n»%ignore / +/",
    ),
    ("optional text before a lazy rule", [10, 100, 1_000], "start: «\"a\"? » x\nx[lazy]: /b+c/"),
    (
        "optional words before lazy rules",
        [10, 100, 1_000],
        "start: «r§? »\n«r§: \"a§\" | x§\nx§[lazy]: /[a-z]+§/\n»",
    ),
    ("suffixes", [10, 100, 1_000], "start: «r§‖ »\n«r§[suffix=\"ab§\"]: /[a-z0-9]*/\n»"),
    ("long suffix", [100, 1_000, 100_000], "start: r\nr[suffix=\"«a»b\"]: /(.|\\n)*/"),
    ("long stop", [10, 100, 1_000], "start: r\nr[stop=/«a?»b/]: /(.|\\n)*/"),
    (
        "parts in any order",
        [4, 10, 63],
        "start: p0::0\np0::_: «\"a§\" p0::set_bit(§) %if bit_clear(§)‖ | » | \"b\" %if is_ones([0:4])",
    ),
    (
        "numbers",
        [10, 100, 1_000],
        "start: r0::0\n«r§::_: \"a\" r¶::incr([0:9]) | \"b\" r¤::set_bit(9)\n»r§::_: \"c\"",
    ),
    (
        "conditions",
        [20, 199, 10_000],
        "start: p0::0\np0::_: \"a\" p0::incr([0:9]) %if «not(»bit_set(9)«)» | \"b\" p0::incr(_) %if lt(_, 999) | \"\"",
    ),
    ("ranges", [300, 3_000, 30_000], "start: («\"a\"..\"z\"‖ | »)~1..9"),
];

pub(super) fn shapes() -> Vec<Shape> {
    let text = "aabaababbaaaaaba";
    let mut shapes = Vec::new();
    for (topology, next, last) in TOPOLOGIES {
        for (kind, body) in BODIES {
            let rules = format!("«r§ ::= {}\n»r§ ::= {last}", body.replace('@', next));
            let source = format!("root ::= r0 | \"x\"\n{rules}");
            let name = format!("{topology} of {kind}");
            let sizes = if ["chain", "ring"].contains(&topology) {
                [1_000, 10_000, 100_000]
            } else {
                [100, 1_000, 10_000]
            };
            shapes.push(Shape::new(format!("ebnf/{name}"), Syntax::Ebnf, sizes, &source).text(text));
            if topology != "chain" && topology != "random" {
                continue;
            }
            shapes.push(Shape::new(format!("gbnf/{name}"), Syntax::Gbnf, sizes, &source).text(text));
            // Classes are spelled otherwise.
            if !body.contains('[') {
                let source = source.replace("root ::=", "start:").replace(" ::=", ":");
                shapes.push(Shape::new(format!("lark/{name}"), Syntax::Lark, sizes, &source).text(text));
            }
        }
    }
    for (name, sizes, source) in SINGLE {
        shapes.push(Shape::new(format!("ebnf/{name}"), Syntax::Ebnf, sizes, source).text(text));
        shapes.push(Shape::new(format!("gbnf/{name}"), Syntax::Gbnf, sizes, source).text(text));
    }
    for (name, sizes, source) in OPERATORS {
        let shape = Shape::new(format!("ebnf/{name}"), Syntax::Ebnf, sizes, source).text(text);
        let has_counts = name == "sequence of complements";
        shapes.push(if has_counts { shape.counted_operands() } else { shape });
    }
    for (name, sizes, source) in LARK {
        shapes.push(Shape::new(format!("lark/{name}"), Syntax::Lark, sizes, source).text(text));
    }
    shapes
}
