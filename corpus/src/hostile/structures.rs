//! Structural tags and requests with tools.

use super::shape::{Shape, Syntax};

/// The inside of a tag.
const CONTENTS: [(&str, &str); 9] = [
    (
        "schema",
        r#"{"type":"json_schema","json_schema":{"type":"object","properties":{"a§":{"type":"string","maxLength":§}}}}"#,
    ),
    ("small schema", r#"{"type":"json_schema","json_schema":{"maxLength":§}}"#),
    (
        "equal schema",
        r#"{"type":"json_schema","json_schema":{"type":"object","properties":{"a":{"enum":["b","c"]}}}}"#,
    ),
    (
        "conditions",
        r#"{"type":"json_schema","json_schema":{"type":"object","dependentRequired":{"a§":["b§"],"c§":["d§"],"e§":["f§"],"g§":["h§"],"i§":["j§"],"k§":["l§"],"m§":["n§"],"o§":["p§"],"q§":["r§"]}}}"#,
    ),
    (
        "patterns",
        r#"{"type":"json_schema","json_schema":{"type":"string","pattern":"^[ab]*a[ab]{9}§$","not":{"pattern":"a.*§b"}}}"#,
    ),
    ("text", r#"{"type":"any_text","excludes":["x§"]}"#),
    ("grammar", r#"{"type":"grammar","grammar":"root ::= \"a§\" root? [a-z]"}"#),
    ("constant", r#"{"type":"const_string","value":"text §"}"#),
    ("repeat", r#"{"type":"repeat","min":1,"max":9,"content":{"type":"regex","pattern":"[a-z]{§}"}}"#),
];

/// The places for many tags, at `@`; the content is put at `%`.
const HOLDERS: [(&str, &str); 7] = [
    (
        "triggered tags",
        r#"{"format":{"type":"triggered_tags","triggers":["<tag"],"tags":[«{"begin":"<tag§>","content":%,"end":"</tag§>"}‖,»]}}"#,
    ),
    (
        "triggers",
        r#"{"format":{"type":"triggered_tags","triggers":[«"<tag§>"‖,»],"tags":[«{"begin":"<tag§>","content":%,"end":"</tag§>"}‖,»],"at_least_one":true}}"#,
    ),
    (
        "choice",
        r#"{"format":{"type":"or","elements":[«{"type":"tag","begin":"<tag§>","content":%,"end":"</tag>"}‖,»]}}"#,
    ),
    (
        "sequence",
        r#"{"format":{"type":"sequence","elements":[«{"type":"tag","begin":"<tag§>","content":%,"end":"</tag>"}‖,»]}}"#,
    ),
    (
        "separated tags",
        r#"{"format":{"type":"tags_with_separator","separator":",","tags":[«{"begin":"<tag§>","content":%,"end":"</tag>"}‖,»]}}"#,
    ),
    ("dispatch", r#"{"format":{"type":"dispatch","rules":[«["<tag§>",%]‖,»]}}"#),
    ("token tags", r#"{"format":{"type":"token_dispatch","rules":[«[§,%]‖,»]}}"#),
];

const TEXTS: [usize; 3] = [1_000, 40_000, 1_000_000];

const SINGLE: [(&str, [usize; 3], &str); 30] = [
    (
        "random texts excluded",
        [1_000, 10_000, 100_000],
        r#"{"format":{"type":"any_text","excludes":[«"λλλλλλλλλλλλ"‖,»]}}"#,
    ),
    (
        "random ends",
        [100, 1_000, 10_000],
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"any_text"},"end":[«"λλλλλλλλλλλλ"‖,»]}}"#,
    ),
    (
        "tags of several ends",
        [3, 30, 100],
        r#"{"format":{"type":"triggered_tags","triggers":["<"],"tags":[«{"begin":"<<a§","content":{"type":"any_text","max_chars":10},"end":[⟨"λλλλλλλλλλλλ"¦,⟩]}‖,»]}}"#,
    ),
    (
        "tags of classes",
        [10, 100, 1_000],
        r#"{"format":{"type":"triggered_tags","triggers":["<"],"tags":[«{"begin":"<<a§","content":{"type":"regex","pattern":"⟨\\p{L}k¦⟩§"},"end":"</a>"}‖,»]}}"#,
    ),
    (
        "long begin",
        TEXTS,
        r#"{"format":{"type":"tag","begin":"«a»","content":{"type":"any_text"},"end":"</a>"}}"#,
    ),
    (
        "long end",
        TEXTS,
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"any_text"},"end":"«ab»c"}}"#,
    ),
    (
        "long ends",
        [30, 300, 3_000],
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"any_text"},"end":[«"a§bbbbb"‖,»]}}"#,
    ),
    (
        "long trigger",
        TEXTS,
        r#"{"format":{"type":"triggered_tags","triggers":["«a»"],"tags":[{"begin":"«a»b","content":{"type":"any_text"},"end":"</a>"}]}}"#,
    ),
    (
        "triggers that end others",
        [30, 300, 1_500],
        r#"{"format":{"type":"dispatch","rules":[«["⟨a¦⟨b",{"type":"const_string","value":"x"}]‖,»]}}"#,
    ),
    ("long excluded text", TEXTS, r#"{"format":{"type":"any_text","excludes":["«a»"]}}"#),
    ("long texts excluded", [30, 100, 1_000], r#"{"format":{"type":"any_text","excludes":[«"§⟨a¦⟩"‖,»]}}"#),
    (
        "excludes of a schema",
        [1_000, 10_000, 100_000],
        r#"{"format":{"type":"json_schema","json_schema":{"type":"string"},"excludes":["«a»"]}}"#,
    ),
    (
        "excludes of names",
        [100, 1_000, 10_000],
        r#"{"format":{"type":"json_schema","json_schema":{"type":"object","properties":{«"k§":{}‖,»}},"excludes":["ab"]}}"#,
    ),
    // Objects are closed in structural tags, and schemas for one object together.
    (
        "closed parts",
        [100, 1_000, 20_000],
        r#"{"format":{"type":"json_schema","json_schema":{"type":"object","allOf":[«{"properties":{"k§":{}}}‖,»]}}}"#,
    ),
    (
        "closed patterns",
        [10, 1_000, 20_000],
        r#"{"format":{"type":"json_schema","json_schema":{"type":"object","allOf":[«{"patternProperties":{"^k§_":{}}}‖,»]}}}"#,
    ),
    (
        "closed alternatives",
        [30, 300, 20_000],
        r#"{"format":{"type":"json_schema","json_schema":{"type":"object","properties":{"k":{}},"oneOf":[«{"properties":{"t":{"const":§},"k§":{}},"required":["t"]}‖,»]}}}"#,
    ),
    (
        "closed chain",
        [10, 1_000, 20_000],
        r##"{"format":{"type":"json_schema","json_schema":{"$ref":"#/$defs/d0","$defs":{«"d§":{"properties":{"k§":{}},"$ref":"#/$defs/d¶"},»"end":{}}}}}"##,
    ),
    (
        "many excluded texts",
        [100, 1_000, 10_000],
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"any_text","excludes":[«"a¤b§"‖,»]},"end":"</a>"}}"#,
    ),
    (
        "repeated parts before an end",
        [100, 1_000, 10_000],
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"plus","content":{"type":"or","elements":[«{"type":"sequence","elements":[{"type":"const_string","value":"b§"},{"type":"any_text"},{"type":"optional","content":{"type":"const_string","value":"c"}}]}‖,»]}},"end":"</a>"}}"#,
    ),
    (
        "bounded text",
        [1_000, 100_000, 10_000_000],
        r#"{"format":{"type":"tag","begin":"<a>","content":{"type":"any_text","max_chars":§},"end":"</a>"}}"#,
    ),
    ("long constant", [10_000, 100_000, 4_000_000], r#"{"format":{"type":"const_string","value":"«a»"}}"#),
    (
        "long grammar",
        [100, 1_000, 10_000],
        r#"{"format":{"type":"grammar","grammar":"root ::= «\"a§\"‖ | »"}}"#,
    ),
    (
        "nested tags",
        [10, 99, 10_000],
        r#"{"format":«{"type":"tag","begin":"<a§>","end":"</a>","content":»{"type":"any_text"}«}»}"#,
    ),
    (
        "nested triggers",
        [5, 20, 40],
        r#"{"format":«{"type":"triggered_tags","triggers":["<a§>"],"tags":[{"begin":"<a§>","end":"</a§>","content":»{"type":"any_text"}«}]}»}"#,
    ),
    (
        "nested repeats",
        [4, 12, 40],
        r#"{"format":«{"type":"repeat","min":2,"max":9,"content":»{"type":"const_string","value":"a"}«}»}"#,
    ),
    (
        "nested plus",
        [10, 90, 10_000],
        r#"{"format":«{"type":"plus","content":»{"type":"regex","pattern":"a*"}«}»}"#,
    ),
    (
        "large repeat",
        [1_000, 1_000_000, 1_000_000_000],
        r#"{"format":{"type":"repeat","min":§,"max":-1,"content":{"type":"regex","pattern":"[a-z]{0,9}"}}}"#,
    ),
    ("tokens", [100, 1_000, 10_000], r#"{"format":{"type":"any_tokens","exclude_tokens":[«§‖,»]}}"#),
    (
        "sequence of texts",
        [10, 100, 1_000],
        r#"{"format":{"type":"sequence","elements":[«{"type":"any_text","excludes":["a§"]}‖,»]}}"#,
    ),
    (
        "properties as tags",
        [100, 1_000, 10_000],
        r#"{"format":{"type":"qwen_xml_parameter","json_schema":{"type":"object","properties":{«"k§":{"type":"string"}‖,»}}}}"#,
    ),
];

/// The families differ in how they arrange calls, and in how they write arguments.
const FAMILIES: [&str; 14] = [
    "llama_3",
    "qwen_3",
    "qwen_3_coder",
    "deepseek_v3",
    "deepseek_v3_2",
    "kimi",
    "glm_4_5",
    "mistral",
    "minimax",
    "harmony",
    "hermes",
    "longcat",
    "cohere_command_a",
    "gemma_4",
];

/// Requests with tools.
const REQUESTS: [(&str, &str); 5] = [
    (
        "tools",
        r#"{"tools":[«{"type":"function","function":{"name":"tool§","parameters":{"type":"object","properties":{"a§":{"type":"string"},"n":{"type":"integer"}},"required":["a§"]}}}‖,»]}"#,
    ),
    (
        "wide tool",
        r#"{"tools":[{"type":"function","function":{"name":"tool","parameters":{"type":"object","properties":{«"a§":{"type":["string","integer"]}‖,»}}}}],"tool_choice":"required"}"#,
    ),
    (
        "tool of constants",
        r#"{"tools":[{"type":"function","function":{"name":"tool","parameters":{"type":"object","properties":{"a":{"anyOf":[«{"const":"w§"}‖,»]}},"required":["a"]}}}]}"#,
    ),
    (
        "long name",
        r#"{"tools":[{"type":"function","function":{"name":"«a»","parameters":{"type":"object"}}}]}"#,
    ),
    (
        "tools of equal names",
        r#"{"tools":[«{"type":"function","function":{"name":"tool"}}‖,»],"parallel_tool_calls":false}"#,
    ),
];

pub(super) fn shapes() -> Vec<Shape> {
    let text = "text <tag0>{\"a0\": \"ab";
    let mut shapes = Vec::new();
    for (holder, around) in HOLDERS {
        for (kind, content) in CONTENTS {
            let name = format!("tag/{holder} of {kind}");
            // More are parts of automata that are larger than their limits.
            let sizes = [100, 2_000, 50_000];
            shapes.push(Shape::new(name, Syntax::Tag, sizes, &around.replace('%', content)).text(text));
        }
    }
    // 8 MB of them.
    let (name, sizes) = ("tag/100,000 tags", [1_000, 10_000, 100_000]);
    let source = HOLDERS[0].1.replace('%', r#"{"type":"json_schema","json_schema":true}"#);
    shapes.push(Shape::new(name, Syntax::Tag, sizes, &source).text(text));
    for (name, sizes, source) in SINGLE {
        shapes.push(Shape::new(format!("tag/{name}"), Syntax::Tag, sizes, source).text(text));
    }
    for (at, family) in FAMILIES.into_iter().enumerate() {
        for (kind, request) in REQUESTS {
            // Requests of all kinds for the first families, which differ most.
            if at < 4 || kind == "tools" || kind == "wide tool" {
                let name = format!("tools/{family}: {kind}");
                shapes.push(Shape::new(name, Syntax::Tools(family), [30, 300, 3_000], request).text(text));
            }
        }
    }
    shapes
}
