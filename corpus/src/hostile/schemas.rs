//! JSON Schemas: what holds schemas times what is held, chains of references, and long texts and numbers.

use super::shape::{Shape, Syntax};

/// The places for many schemas, at `@`.
const HOLDERS: [(&str, &str); 14] = [
    ("anyOf", r#"{"anyOf":[«@‖,»]}"#),
    ("oneOf", r#"{"oneOf":[«@‖,»]}"#),
    ("allOf", r#"{"allOf":[«@‖,»]}"#),
    ("none of", r#"{"not":{"anyOf":[«@‖,»]}}"#),
    ("not all of", r#"{"not":{"allOf":[«@‖,»]}}"#),
    ("all not", r#"{"allOf":[«{"not":@}‖,»]}"#),
    ("anyOf $ref", r##"{"anyOf":[«{"$ref":"#/$defs/d§"}‖,»],"$defs":{«"d§":@‖,»}}"##),
    ("items anyOf", r#"{"type":"array","items":{"anyOf":[«@‖,»]}}"#),
    ("prefixItems", r#"{"type":"array","prefixItems":[«@‖,»],"items":false}"#),
    ("properties", r#"{"type":"object","properties":{«"k§":@‖,»}}"#),
    ("patternProperties", r#"{"type":"object","patternProperties":{«"^k§":@‖,»}}"#),
    ("dependentSchemas", r#"{"type":"object","dependentSchemas":{«"k§":@‖,»}}"#),
    ("if", r#"{"allOf":[«{"if":{"properties":{"k":{"const":§}}},"then":@}‖,»]}"#),
    ("contains", r#"{"type":"array","allOf":[«{"contains":@}‖,»]}"#),
];

/// The part at that place, and the size of a step.
const HELD: [(&str, &str); 17] = [
    ("string", r#"{"const":"word§ and more"}"#),
    ("integer", r#"{"const":§}"#),
    ("enum", r#"{"enum":["a§",§,null,[§]]}"#),
    (
        "closed object",
        r#"{"type":"object","properties":{"kind":{"const":"k§"},"p§":{"type":"string"}},"required":["kind"],"additionalProperties":false}"#,
    ),
    ("open object", r#"{"type":"object","properties":{"p§":{"type":"string"},"w":{"minLength":§}}}"#),
    ("required", r#"{"required":["p§"]}"#),
    ("pattern", r#"{"pattern":"^a§.*b"}"#),
    ("suffix", r#"{"type":"string","pattern":"[ab]*a[ab]{3}§$"}"#),
    ("length", r#"{"type":"string","minLength":§,"maxLength":1§}"#),
    ("multiple", r#"{"type":"integer","multipleOf":1§}"#),
    ("few multiples", r#"{"type":"integer","multipleOf":123456789,"minimum":§,"maximum":490000000000}"#),
    ("minimum", r#"{"type":"number","minimum":§,"exclusiveMaximum":9§.5}"#),
    ("format", r#"{"type":["string","null"],"format":"date-time","maxLength":10§}"#),
    ("array", r#"{"type":"array","items":{"const":§},"minItems":§}"#),
    ("counted members", r#"{"type":"object","minProperties":§,"propertyNames":{"maxLength":1§}}"#),
    ("dependent", r#"{"dependentRequired":{"p§":["p¶"]}}"#),
    (
        "conditions",
        r#"{"type":"object","dependentRequired":{"a§":["b§"],"c§":["d§"],"e§":["f§"],"g§":["h§"],"i§":["j§"],"k§":["l§"],"m§":["n§"],"o§":["p§"],"q§":["r§"]}}"#,
    ),
];

/// Which sizes a holder has for ordinary members, and for those that combine with one another.
const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// A chain of definitions: each link refers to the next one, `d¶`.
const LINKS: [(&str, &str); 12] = [
    ("$ref", r##"{"$ref":"#/$defs/d¶"}"##),
    ("items", r##"{"type":"array","items":{"$ref":"#/$defs/d¶"}}"##),
    ("property", r##"{"type":"object","properties":{"a§":{"$ref":"#/$defs/d¶"}},"required":["a§"]}"##),
    ("anyOf", r##"{"anyOf":[{"$ref":"#/$defs/d¶"},{"type":"null"}]}"##),
    (
        "anyOf twice",
        r##"{"anyOf":[{"$ref":"#/$defs/d¶"},{"allOf":[{"$ref":"#/$defs/d¶"},{"required":["r§"]}]}]}"##,
    ),
    (
        "oneOf twice",
        r##"{"oneOf":[{"$ref":"#/$defs/d¶"},{"allOf":[{"$ref":"#/$defs/d¶"},{"required":["r§"]}]}]}"##,
    ),
    ("allOf", r##"{"allOf":[{"$ref":"#/$defs/d¶"},{"properties":{"p§":{"type":"integer"}}}]}"##),
    ("not", r##"{"not":{"$ref":"#/$defs/d¶"}}"##),
    ("if", r##"{"if":{"$ref":"#/$defs/d¶"},"then":{"required":["t§"]},"else":{"maxProperties":§}}"##),
    (
        "two ways",
        r##"{"type":"object","properties":{"l":{"$ref":"#/$defs/d½"},"r§":{"$ref":"#/$defs/d¶"}}}"##,
    ),
    (
        "random",
        r##"{"anyOf":[{"type":"object","properties":{"l":{"$ref":"#/$defs/d¤"},"r§":{"$ref":"#/$defs/d¤"}}},{"$ref":"#/$defs/d¶"}]}"##,
    ),
    (
        "unevaluated",
        r##"{"allOf":[{"$ref":"#/$defs/d¶"}],"properties":{"p§":{"type":"null"}},"unevaluatedProperties":false}"##,
    ),
];

/// One schema that grows in one place.
const SINGLE: [(&str, [usize; 3], &str); 60] = [
    ("100,000 strings", [1_000, 10_000, 100_000], r#"{"anyOf":[«{"const":"w§"}‖,»]}"#),
    ("100,000 integers", [1_000, 10_000, 100_000], r#"{"anyOf":[«{"const":§}‖,»]}"#),
    (
        "100,000 integers of a property",
        [1_000, 10_000, 100_000],
        r#"{"properties":{"a":{"oneOf":[«{"const":§}‖,»]}},"required":["a"]}"#,
    ),
    ("100,000 of an enum", [1_000, 10_000, 100_000], r#"{"enum":[«"w§"‖,»]}"#),
    ("100,000 excluded", [1_000, 10_000, 100_000], r#"{"allOf":[«{"not":{"const":"w§"}}‖,»]}"#),
    ("100,000 enum objects", [1_000, 10_000, 100_000], r#"{"enum":[«{"k":§,"l":["w§"]}‖,»]}"#),
    ("100,000 excluded by an enum", [1_000, 10_000, 100_000], r#"{"not":{"enum":[«"w§"‖,»]}}"#),
    (
        "100,000 names excluded",
        [1_000, 10_000, 100_000],
        r#"{"type":"object","propertyNames":{"not":{"enum":[«"w§"‖,»]}}}"#,
    ),
    (
        "keywords of other drafts below a long name",
        [300, 3_000, 30_000],
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"«w‖»":{"properties":{«"p§":{"minLength":§,"unevaluatedItems":false}‖,»}}}}"#,
    ),
    (
        "itself below oneOf",
        [3, 30, 300],
        r##"{"additionalProperties":{"oneOf":[«{"properties":{"a§":{"$ref":"#"}}}‖,»,{"required":["a"]}]},"maxProperties":3}"##,
    ),
    (
        "not a wide object",
        [50, 500, 5_000],
        r#"{"type":"object","not":{"properties":{«"p§":{"type":"string"}‖,»},"required":["p0"]}}"#,
    ),
    (
        "oneOf of wide objects",
        [50, 500, 5_000],
        r#"{"oneOf":[{"type":"object","properties":{«"p§":{"type":"string"}‖,»}},{"type":"object","properties":{"x":{"type":"null"}}}]}"#,
    ),
    (
        "chain of dependentRequired",
        [50, 500, 5_000],
        r#"{"type":"object","dependentRequired":{«"k§":["k¶"]‖,»}}"#,
    ),
    (
        "dense dependentRequired",
        [10, 30, 100],
        r#"{"type":"object","dependentRequired":{«"k§":[⟨"k†"¦,⟩]‖,»}}"#,
    ),
    (
        "oneOf of open objects",
        [40, 400, 4_000],
        r#"{"oneOf":[«{"type":"object","properties":{"a§":{"type":"string"}}}‖,»]}"#,
    ),
    (
        "few objects that differ",
        [6, 60, 600],
        r#"{"uniqueItems":true,"items":{"anyOf":[«{"type":"object","properties":{"k":{"enum":[[§],{"a":§}]}},"required":["k"],"additionalProperties":false}‖,»]}}"#,
    ),
    (
        "oneOf by patterns",
        [20, 100, 500],
        r#"{"oneOf":[«{"type":"object","properties":{"t":{"pattern":"^[a-z]§-[0-9]+$"}},"required":["t"]}‖,»]}"#,
    ),
    ("anyOf of pairs", [10, 30, 100], r#"{"allOf":[«{"anyOf":[⟨{"required":["k§_†"]}¦,⟩]}‖,»]}"#),
    ("oneOf of pairs", [10, 30, 100], r#"{"allOf":[«{"oneOf":[⟨{"required":["k§_†"]}¦,⟩]}‖,»]}"#),
    ("enum of the same names", [10, 100, 1_000], r#"{"properties":{«"k§":{"enum":[⟨"w†"¦,⟩]}‖,»}}"#),
    ("required", [1_000, 10_000, 100_000], r#"{"required":[«"name§"‖,»]}"#),
    (
        "required and described",
        [300, 3_000, 30_000],
        r#"{"type":"object","properties":{«"p§":{"type":"integer"}‖,»},"required":[«"p§"‖,»]}"#,
    ),
    (
        "required and referred to",
        SIZES,
        r##"{"type":"object","properties":{«"p§":{"$ref":"#/$defs/d§"}‖,»},"required":[«"p§"‖,»],"$defs":{«"d§":{"type":"object","properties":{"a":{"type":"integer","minimum":§}}}‖,»}}"##,
    ),
    (
        "closed object",
        [300, 3_000, 30_000],
        r#"{"type":"object","properties":{«"p§":{"type":"integer"}‖,»},"additionalProperties":false,"minProperties":3}"#,
    ),
    (
        "names and patterns",
        [300, 3_000, 30_000],
        r#"{"type":"object","properties":{«"p§":{"type":"integer"}‖,»},"patternProperties":{"^p":{"minimum":1}}}"#,
    ),
    ("long constant", [10_000, 100_000, 4_000_000], r#"{"const":"«a»"}"#),
    ("long constant of escapes", [10_000, 100_000, 1_000_000], r#"{"const":"«\u0000é»"}"#),
    (
        "long name",
        [10_000, 100_000, 1_000_000],
        r#"{"type":"object","properties":{"«a»":{}},"required":["«a»"]}"#,
    ),
    (
        "folded classes",
        [3, 30, 100],
        r#"{"type":"object","properties":{«"p§":{"pattern":"(?i:⟨[Ā-\\u{10FFFF}]¦⟩)§"}‖,»}}"#,
    ),
    (
        "folded complements",
        [10, 100, 1_000],
        r#"{"type":"object","properties":{«"p§":{"pattern":"(?i:\\P{Lu}§)"}‖,»}}"#,
    ),
    (
        "classes in patterns",
        [10, 100, 1_000],
        r#"{"type":"object","properties":{«"p§":{"pattern":"⟨\\p{L}k¦⟩§"}‖,»}}"#,
    ),
    (
        "steps with a fraction",
        [10, 100, 1_000],
        r#"{"type":"object","properties":{«"p§":{"type":"number","multipleOf":¶.5}‖,»}}"#,
    ),
    (
        "steps beside long bounds",
        [3, 30, 300],
        r#"{"type":"object","properties":{«"p§":{"multipleOf":19,"minimum":¶e30,"maximum":¶e380}‖,»}}"#,
    ),
    ("long pattern", [1_000, 10_000, 60_000], r#"{"pattern":"«a»"}"#),
    (
        "long pattern of a length",
        [100, 1_000, 10_000],
        r#"{"type":"string","pattern":"«a?b»","maxLength":§}"#,
    ),
    (
        "long end of a long text",
        [100, 1_000, 10_000],
        r#"{"type":"string","pattern":"^.*«a»$","maxLength":9§}"#,
    ),
    (
        "many texts of a length",
        [10, 100, 1_000],
        r#"{"type":"object","properties":{«"p§":{"type":"string","pattern":"^[^x]*§[^y]*$","maxLength":9§}‖,»}}"#,
    ),
    (
        "addresses of many patterns",
        [3, 30, 300],
        r#"{"type":"object","properties":{«"p§":{"type":"string","format":"uri","pattern":"^https?://§","maxLength":300}‖,»}}"#,
    ),
    (
        "mailboxes of many patterns",
        [10, 100, 1_000],
        r#"{"type":"object","properties":{«"p§":{"type":"string","format":"email","pattern":"^[a-z]{§}"}‖,»}}"#,
    ),
    ("long title", [100_000, 1_000_000, 10_000_000], r#"{"title":"«a»"}"#),
    ("long format", [10_000, 100_000, 1_000_000], r#"{"format":"«a»"}"#),
    ("long reference", [1_000, 10_000, 100_000], r##"{"$ref":"#«/a»"}"##),
    ("long $id", [1_000, 10_000, 100_000], r#"{"$id":"«../»","$ref":"a"}"#),
    ("long type", [1_000, 10_000, 100_000], r#"{"type":["string"«,"null"»]}"#),
    ("long number", [100, 1_000, 100_000], r#"{"const":«9»}"#),
    ("long bounds", [40, 400, 4_000], r#"{"minimum":1«3»,"maximum":4«7».«1»}"#),
    ("long multiple", [10, 100, 390], r#"{"multipleOf":1«3»,"minimum":5}"#),
    (
        "multiple of a number",
        [97, 997, 9_973],
        r#"{"type":"integer","multipleOf":§,"minimum":12345678901234567890}"#,
    ),
    ("length of a pattern", [100, 1_000, 10_000], r#"{"type":"string","pattern":"^[a-z]*a[a-z]{§}$"}"#),
    (
        "counts of names",
        [100, 1_000, 10_000],
        r#"{"type":"object","minProperties":§,"maxProperties":9§,"patternProperties":{"^a":{"type":"null"}}}"#,
    ),
    (
        "counts of contained",
        [10, 100, 1_000],
        r#"{"type":"array","contains":{"type":"null"},"minContains":§,"maxContains":2§}"#,
    ),
    (
        "unique items",
        [100, 1_000, 10_000],
        r#"{"type":"array","uniqueItems":true,"items":{"enum":[«"w§"‖,»]}}"#,
    ),
    ("nested arrays", [10, 100, 10_000], r#"«{"items":»true«}»"#),
    ("nested objects", [10, 60, 10_000], r#"«{"properties":{"a§":»true«}}»"#),
    ("nested not", [10, 100, 10_000], r#"«{"not":»{"const":1}«}»"#),
    ("nested anyOf", [5, 30, 60], r#"«{"anyOf":[{"required":["q§"]},{"properties":{"p§":»true«}}]}»"#),
    ("nested constant", [10, 100, 100_000], r#"{"const":«[»«]»}"#),
    (
        "definitions that nobody uses",
        [300, 3_000, 30_000],
        r#"{"$defs":{«"d§":{"type":"object","properties":{"a":{"type":"string","maxLength":§}}}‖,»}}"#,
    ),
    ("equal names", [1_000, 10_000, 100_000], r#"{«"a":{"const":§}‖,»}"#),
    ("unknown keywords", [1_000, 10_000, 100_000], r#"{«"x§":{"const":§}‖,»}"#),
];

pub(super) fn shapes() -> Vec<Shape> {
    let text = r#"{"p0":"a","k1":[1,"ab","#;
    let mut shapes = Vec::new();
    for (holder, around) in HOLDERS {
        for (held, part) in HELD {
            let source = around.replace('@', part);
            let name = format!("schema/{holder} of {held}");
            shapes.push(Shape::new(name, Syntax::Schema, SIZES, &source).text(text));
        }
    }
    for (name, link) in LINKS {
        for (kind, last) in [("chain", r#"{"type":"object"}"#), ("ring", r##"{"$ref":"#/$defs/d0"}"##)] {
            let source = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{«"d§":{link},»"d§":{last}}}}}"##);
            let name = format!("schema/{kind} of {name}");
            shapes.push(Shape::new(name, Syntax::Schema, [100, 1_000, 10_000], &source).text(text));
        }
    }
    for (name, sizes, source) in SINGLE {
        let name = format!("schema/{name}");
        shapes.push(Shape::new(name, Syntax::Schema, sizes, source).text(text));
    }
    // Members in any order are another mechanism.
    let any_order: Vec<Shape> = shapes.iter().filter_map(Shape::in_any_order).collect();
    shapes.extend(any_order);
    shapes
}
