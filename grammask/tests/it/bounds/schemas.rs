//! JSON Schemas that are large, deep, or multiply.

use super::{Syntax, attempt, follow, is_full, numbered, sized, survive};

#[test]
fn large_schemas() {
    let padding = "x".repeat(20 << 20);
    attempt(Syntax::Schema, &format!(r#"{{"description":"{padding}"}}"#)).unwrap_err();
    let padding = "x".repeat(15 << 20);
    survive(Syntax::Schema, &format!(r#"{{"description":"{padding}"}}"#), b"{}");
    // Automata grow with a schema, but not without end.
    let constant = "x".repeat(5 << 20);
    let refused = attempt(Syntax::Schema, &format!(r#"{{"const":"{constant}"}}"#)).unwrap_err();
    assert!(refused.contains("states"), "{refused}");
    // Definitions without a reference cost nothing but their parsing.
    let count = sized(50_000);
    let definition = r##""d#":{"type":"object","description":"An ordinary definition with some text that says what it is for.","properties":{"id":{"type":"string"},"next":{"$ref":"#/$defs/d0"}},"required":["id"]}"##;
    let definitions: Vec<String> =
        (0..count).map(|number| definition.replacen("d#", &format!("d{number}"), 1)).collect();
    let used: Vec<String> = (0..10)
        .map(|number| format!(r##""p{number}":{{"$ref":"#/$defs/d{}"}}"##, number * (count / 10)))
        .collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{{}}},"$defs":{{{}}}}}"#,
        used.join(","),
        definitions.join(",")
    );
    let grammar = attempt(Syntax::Schema, &schema).unwrap();
    follow("50,000 definitions", &grammar, br#"{"p0": {"id": "a", "next": {"id": "b"}}, "p9": {"id": ""}}"#);
    let properties = numbered(sized(16_000), r#""property #":{"type":"string"}"#);
    survive(Syntax::Schema, &format!(r#"{{"properties":{{{properties}}}}}"#), b"{");
    survive(
        Syntax::Schema,
        &format!(r#"{{"properties":{{{properties}}},"additionalProperties":false,"minProperties":3}}"#),
        b"{",
    );
    survive(
        Syntax::Schema,
        &format!(r#"{{"properties":{{{properties}}},"patternProperties":{{"^p":{{"minLength":3}}}}}}"#),
        b"{",
    );
    let required = numbered(sized(16_000), r#""property #""#);
    survive(Syntax::Schema, &format!(r#"{{"properties":{{{properties}}},"required":[{required}]}}"#), b"{");
    survive(Syntax::Schema, &format!(r#"{{"required":[{required}]}}"#), b"{");
    let strings = numbered(sized(20_000), r#""a long enough string number #""#);
    survive(Syntax::Schema, &format!(r#"{{"enum":[{strings}]}}"#), b"\"a long");
    survive(
        Syntax::Schema,
        &format!(r#"{{"properties":{{"a":{{"enum":[{strings}]}}}},"required":["a"]}}"#),
        b"{\"a\": \"a long",
    );
    survive(Syntax::Schema, &format!(r#"{{"not":{{"enum":[{strings}]}}}}"#), b"\"a long");
    survive(Syntax::Schema, &format!(r#"{{"type":"string","not":{{"enum":[{strings}]}}}}"#), b"\"a long");
    survive(Syntax::Schema, &format!(r#"{{"type":"object","propertyNames":{{"enum":[{strings}]}}}}"#), b"{");
    let numbers = numbered(sized(20_000), "#.5");
    survive(Syntax::Schema, &format!(r#"{{"enum":[{numbers}]}}"#), b"12");
    survive(Syntax::Schema, &format!(r#"{{"type":"number","not":{{"enum":[{numbers}]}}}}"#), b"12");
    let items = numbered(sized(20_000), r#"{"const":#}"#);
    survive(Syntax::Schema, &format!(r#"{{"type":"array","prefixItems":[{items}]}}"#), b"[0");
    survive(Syntax::Schema, &format!(r#"{{"const":[{numbers}]}}"#), b"[0.5");
}

/// Constants that are listed as schemas of their own are no more work than an enumeration.
#[test]
fn constants_as_schemas() {
    let count = sized(100_000);
    for one in [
        r#"{"const":"value #"}"#,
        r##"{"const":#}"##,
        r##"{"type":"integer","title":"one of many","const":#}"##,
        r##"{"enum":["value #",#]}"##,
    ] {
        let schema = format!(r#"{{"anyOf":[{}]}}"#, numbered(count, one));
        follow(one, &attempt(Syntax::Schema, &schema).unwrap(), b"1");
    }
    let references: Vec<String> =
        (0..count).map(|number| format!(r##"{{"$ref":"#/$defs/c{number}"}}"##)).collect();
    let constants = numbered(count, r##""c#":{"const":#}"##);
    let schema = format!(r#"{{"anyOf":[{}],"$defs":{{{constants}}}}}"#, references.join(","));
    follow("references to constants", &attempt(Syntax::Schema, &schema).unwrap(), b"1");
    let excluded = numbered(sized(20_000), r#"{"not":{"const":"value #"}}"#);
    let schema = format!(r#"{{"allOf":[{excluded}]}}"#);
    follow("excluded constants", &attempt(Syntax::Schema, &schema).unwrap(), b"\"value 1");
}

/// Alternatives that multiply are refused as soon as the limit on work is passed, wherever the work is done.
#[test]
fn alternatives_that_are_compared() {
    let chain: Vec<String> = (0..500).map(|number| format!(r#""a{number}":["a{}"]"#, number + 1)).collect();
    survive(Syntax::Schema, &format!(r#"{{"dependentRequired":{{{}}}}}"#, chain.join(",")), b"{");
    let open = numbered(400, r#"{"type":"object","properties":{"k#":{"type":"string"}}}"#);
    survive(Syntax::Schema, &format!(r#"{{"oneOf":[{open}]}}"#), b"{");
    let listed = numbered(300, r##"{"enum":["a#","b#","c#","d#","e#","f#","g#","h#"]}"##);
    survive(Syntax::Schema, &format!(r#"{{"oneOf":[{listed}]}}"#), b"\"a");
    let names = numbered(500, r##"{"propertyNames":{"pattern":"a#"}}"##);
    survive(Syntax::Schema, &format!(r#"{{"allOf":[{names}]}}"#), b"{");
    let kinds = numbered(500, r##"{"if":{"properties":{"k":{"const":#}}},"then":{"required":["t#"]}}"##);
    survive(Syntax::Schema, &format!(r#"{{"allOf":[{kinds}]}}"#), b"{");
    let members: Vec<String> =
        (0..200).map(|number| format!(r#""p@_{number}":{{"type":"string"}}"#)).collect();
    let large: Vec<String> = (0..300)
        .map(|number| {
            format!(r#"{{"properties":{{{}}}}}"#, members.join(",").replace('@', &number.to_string()))
        })
        .collect();
    let (properties, references) = (
        numbered(5_000, r##""q#":{"$ref":"~/$defs/r#"}"##).replace('~', "#"),
        numbered(5_000, r##""r#":{"$ref":"~/$defs/large"}"##).replace('~', "#"),
    );
    survive(
        Syntax::Schema,
        &format!(
            r#"{{"properties":{{{properties}}},"$defs":{{"large":{{"anyOf":[{}]}},{references}}}}}"#,
            large.join(",")
        ),
        b"{",
    );
}

/// A long text is put to a pattern, and a long identifier before references.
#[test]
fn long_texts_in_schemas() {
    let text = "a".repeat(sized(1_000_000));
    survive(Syntax::Schema, &format!(r#"{{"const":"{text}","pattern":"^a*$"}}"#), b"\"a");
    survive(Syntax::Schema, &format!(r#"{{"const":"{text}","pattern":"^(a|aa)*b$"}}"#), b"\"a");
    let references = numbered(3_000, r##""q#":{"$ref":"d#"}"##);
    let definitions = numbered(3_000, r##""d#":{"$id":"d#","minimum":#}"##);
    survive(
        Syntax::Schema,
        &format!(
            r#"{{"$id":"http://example.com/{text}","properties":{{{references}}},"$defs":{{{definitions}}}}}"#
        ),
        b"{",
    );
}

#[test]
fn definitions_that_are_all_used() {
    let count = sized(50_000);
    let definitions: Vec<String> = (0..count)
        .map(|number| {
            format!(
                r##""d{number}":{{"type":"object","description":"One of many definitions, and what it is there for.","properties":{{"p{number}":{{"type":"string"}},"next":{{"$ref":"#/$defs/d{}"}}}},"required":["p{number}"]}}"##,
                (number + 1) % count
            )
        })
        .collect();
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##, definitions.join(","));
    let grammar = attempt(Syntax::Schema, &schema).unwrap();
    follow("definitions in a row", &grammar, br#"{"p0": "", "next": {"p1": "", "next": {"p2": "a"}}}"#);
}

/// Whatever it costs to tell members apart, it is not the square of their number.
#[test]
fn members_by_the_thousand() {
    let count = sized(50_000);
    let definitions = numbered(
        count,
        r#""d#":{"type":"object","description":"One of many definitions, and what it is there for, in a text that is long enough for ten megabytes of them.","properties":{"v":{"type":"integer"}}}"#,
    );
    let properties: Vec<String> =
        (0..count).map(|number| format!(r##""p{number}":{{"$ref":"#/$defs/d{number}"}}"##)).collect();
    let properties = properties.join(",");
    let required = numbered(count, r#""p#""#);
    for required in [format!(r#""required":[{required}],"#), String::new()] {
        let schema = format!(
            r#"{{"type":"object",{required}"properties":{{{properties}}},"$defs":{{{definitions}}}}}"#
        );
        let grammar = attempt(Syntax::Schema, &schema).unwrap();
        let text = br#"{"p0": {"v": 1}, "p1": {}, "#;
        follow("members of a root", &grammar, text);
        grammar.matcher().accept_bytes(text).unwrap();
    }
    let optional = numbered(count, r#""p#":{"type":"integer"}"#);
    for rest in ["true", "false"] {
        let schema =
            format!(r#"{{"type":"object","properties":{{{optional}}},"additionalProperties":{rest}}}"#);
        let grammar = attempt(Syntax::Schema, &schema).unwrap();
        let text = br#"{"p7": 1, "p19": 2, "#;
        follow("optional members", &grammar, text);
        grammar.matcher().accept_bytes(text).unwrap();
    }
}

/// A schema that refers to itself through each keyword that holds schemas.
#[test]
fn recursion_through_every_keyword() {
    for keyword in ["items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"]
    {
        survive(Syntax::Schema, &format!(r##"{{"{keyword}":{{"$ref":"#"}}}}"##), b"{\"a\": [");
        survive(Syntax::Schema, &format!(r##"{{"not":{{"{keyword}":{{"$ref":"#"}}}}}}"##), b"{\"a\": [");
    }
    for (keyword, inside) in [
        ("prefixItems", r##"[{"$ref":"#"}]"##),
        ("properties", r##"{"a":{"$ref":"#"}}"##),
        ("patternProperties", r##"{"^a":{"$ref":"#"}}"##),
        ("propertyNames", r##"{"$ref":"#"}"##),
        ("dependentSchemas", r##"{"a":{"properties":{"b":{"$ref":"#"}}}}"##),
        ("not", r##"{"items":{"$ref":"#"}}"##),
        ("if", r##"{"items":{"$ref":"#"}}"##),
        ("allOf", r##"[{"items":{"$ref":"#"}},{"properties":{"a":{"$ref":"#"}}}]"##),
        ("anyOf", r##"[{"items":{"$ref":"#"}},{"properties":{"a":{"$ref":"#"}}}]"##),
        ("oneOf", r##"[{"items":{"$ref":"#"}},{"properties":{"a":{"$ref":"#"}}}]"##),
    ] {
        survive(Syntax::Schema, &format!(r#"{{"{keyword}":{inside}}}"#), b"{\"a\": [");
        survive(Syntax::Schema, &format!(r#"{{"not":{{"{keyword}":{inside}}}}}"#), b"{\"a\": [");
    }
}

#[test]
fn references() {
    let count = sized(100_000);
    for link in [
        r##"{"$ref":"#/$defs/d@"}"##,
        r##"{"items":{"$ref":"#/$defs/d@"}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/d@"}},"required":["a"]}"##,
        r##"{"anyOf":[{"$ref":"#/$defs/d@"},{"type":"null"}]}"##,
        r##"{"allOf":[{"$ref":"#/$defs/d@"},{"type":["null","array"]}]}"##,
        r##"{"not":{"$ref":"#/$defs/d@"}}"##,
    ] {
        for (count, last) in
            [(count, "true"), (count, r##"{"$ref":"#/$defs/d0"}"##), (3, r##"{"$ref":"#/$defs/d0"}"##)]
        {
            let definitions: Vec<String> = (0..count)
                .map(|number| format!(r#""d{number}":{}"#, link.replace('@', &(number + 1).to_string())))
                .collect();
            let schema = format!(
                r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{count}":{last}}}}}"##,
                definitions.join(",")
            );
            survive(Syntax::Schema, &schema, b"{\"a\": ");
        }
    }
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"properties":{"a":{"$ref":"#"}},"required":["a"]}"##,
        r##"{"type":"array","items":{"$ref":"#"},"minItems":1}"##,
        r##"{"type":"array","items":{"$ref":"#/$defs/b"},"minItems":1,"$defs":{"b":{"type":"object","required":["x"],"properties":{"x":{"$ref":"#"}}}}}"##,
        r##"{"if":{"$ref":"#"},"then":false}"##,
        r##"{"oneOf":[{"$ref":"#"},{"$ref":"#"}]}"##,
        r##"{"patternProperties":{"a":{"$ref":"#"},"b":{"not":{"$ref":"#"}}}}"##,
    ] {
        survive(Syntax::Schema, schema, b"[");
    }
}

#[test]
fn combinations() {
    let size = |full: usize| if is_full() { full } else { full / 4 };
    let ways = |count: usize, part: usize| -> String {
        numbered(count, &format!(r#"{{"required":["k{part}_#"]}}"#))
    };
    for combinator in ["anyOf", "oneOf"] {
        for (parts, count) in [(2, 20), (5, 6), (10, 2), (20, 2), (40, 3), (3, size(50)), (2, size(500))] {
            let all: Vec<String> =
                (0..parts).map(|part| format!(r#"{{"{combinator}":[{}]}}"#, ways(count, part))).collect();
            survive(Syntax::Schema, &format!(r#"{{"allOf":[{}]}}"#, all.join(",")), b"{");
        }
        let objects = numbered(
            size(500),
            r##"{"type":"object","properties":{"kind":{"const":"k#"},"value":{"type":"string"}},"required":["kind"]}"##,
        );
        survive(Syntax::Schema, &format!(r#"{{"{combinator}":[{objects}]}}"#), b"{\"kind\": ");
        let objects = numbered(
            size(500),
            r##"{"type":"object","properties":{"v#":{"type":"string"},"w":{"minLength":#}}}"##,
        );
        survive(Syntax::Schema, &format!(r#"{{"{combinator}":[{objects}]}}"#), b"{\"w\": ");
        let patterns = numbered(size(100), r#"{"pattern":"a#.*b"}"#);
        survive(Syntax::Schema, &format!(r#"{{"type":"string","{combinator}":[{patterns}]}}"#), b"\"a");
        let nested = |depth: usize| {
            let mut schema = r#"{"type":"string"}"#.to_owned();
            for level in 0..depth {
                schema = format!(
                    r#"{{"{combinator}":[{{"properties":{{"p{level}":{schema}}}}},{{"required":["q{level}"]}},{{"minProperties":{level}}}]}}"#
                );
            }
            schema
        };
        survive(Syntax::Schema, &nested(20), b"{");
        // Each level applies the level below twice to the same value.
        let mut doubled = String::new();
        for level in 0..30 {
            doubled += &format!(
                r##""d{level}":{{"{combinator}":[{{"$ref":"#/$defs/d{n}"}},{{"allOf":[{{"$ref":"#/$defs/d{n}"}},{{"required":["r{level}"]}}]}}]}},"##,
                n = level + 1
            );
        }
        survive(
            Syntax::Schema,
            &format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{doubled}"d30":{{"type":"object"}}}}}}"##),
            b"{",
        );
    }
    // Many of them side by side must not multiply the time.
    for combinator in ["anyOf", "oneOf"] {
        let all = |name: usize| -> String {
            let parts: Vec<String> = (0..2)
                .map(|part| format!(r#"{{"{combinator}":[{}]}}"#, ways(100, 10 * name + part)))
                .collect();
            format!(r#""p{name}":{{"allOf":[{}]}}"#, parts.join(","))
        };
        let properties: Vec<String> = (0..size(500)).map(all).collect();
        survive(Syntax::Schema, &format!(r#"{{"properties":{{{}}}}}"#, properties.join(",")), b"{");
    }
    let mut doubled = String::new();
    for level in 0..60 {
        doubled += &format!(
            r##""d{level}":{{"allOf":[{{"$ref":"#/$defs/d{n}"}},{{"$ref":"#/$defs/d{n}"}}]}},"##,
            n = level + 1
        );
    }
    survive(
        Syntax::Schema,
        &format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{doubled}"d60":{{"type":"object"}}}}}}"##),
        b"{",
    );
    let patterns = numbered(size(50), r##""^a.*#":{"minimum":#}"##);
    survive(Syntax::Schema, &format!(r#"{{"patternProperties":{{{patterns}}}}}"#), b"{\"a");
    let patterns = numbered(14, r##""a#":{"minimum":#}"##);
    survive(Syntax::Schema, &format!(r#"{{"type":"object","patternProperties":{{{patterns}}}}}"#), b"{\"a");
    let conditions = numbered(
        size(40),
        r#"{"if":{"properties":{"k#":{"const":1}}},"then":{"required":["t#"]},"else":{"required":["e#"]}}"#,
    );
    survive(Syntax::Schema, &format!(r#"{{"allOf":[{conditions}]}}"#), b"{");
    let dependent = numbered(size(40), r#""k#":["t#"]"#);
    survive(Syntax::Schema, &format!(r#"{{"dependentRequired":{{{dependent}}}}}"#), b"{");
    let dependent = numbered(size(40), r##""k#":{"minProperties":#}"##);
    survive(Syntax::Schema, &format!(r#"{{"dependentSchemas":{{{dependent}}}}}"#), b"{");
    let patterns = numbered(size(50), r#"{"pattern":"a.{#}b"}"#);
    survive(Syntax::Schema, &format!(r#"{{"type":"string","allOf":[{patterns}]}}"#), b"\"a");
    let lengths = numbered(size(50), r##"{"multipleOf":#1}"##);
    survive(Syntax::Schema, &format!(r#"{{"type":"integer","allOf":[{lengths}]}}"#), b"1");
    let contains = numbered(size(50), r##"{"contains":{"const":#}}"##);
    survive(Syntax::Schema, &format!(r#"{{"type":"array","allOf":[{contains}]}}"#), b"[");
}

#[test]
fn extreme_numbers() {
    let digits = "9".repeat(sized(10_000));
    for bound in [
        "1e1000000",
        "-1e1000000",
        "1e-1000000",
        "1e99999999999999999999",
        "1e-400",
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "-1",
        "0",
        "1.5",
        "1e400",
        "0.1e-399",
        "123456789012345678901234567890.5",
        &digits,
        &format!("0.{digits}"),
        &format!("{digits}e{digits}"),
        &format!("1e{digits}"),
        &format!("-{digits}.{digits}"),
    ] {
        for keyword in [
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "const",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minContains",
            "maxContains",
        ] {
            for rest in
                ["", r#","type":["integer"]"#, r#","pattern":"^a*b"#, r#","contains":{"type":"null"}"#]
            {
                let rest = if rest.ends_with('b') { format!("{rest}\"") } else { rest.to_owned() };
                survive(Syntax::Schema, &format!(r#"{{"{keyword}":{bound}{rest}}}"#), b"1");
            }
        }
        survive(Syntax::Schema, &format!(r#"{{"enum":[{bound},1]}}"#), b"1");
        survive(Syntax::Schema, &format!(r#"{{"minimum":-{bound},"maximum":{bound}}}"#), b"1");
        survive(Syntax::Schema, &format!(r#"{{"minimum":{bound},"multipleOf":0.007}}"#), b"1");
        survive(
            Syntax::Schema,
            &format!(r#"{{"minLength":{bound},"maxLength":{bound},"type":"string"}}"#),
            b"\"a",
        );
        survive(Syntax::Schema, &format!(r#"{{"not":{{"multipleOf":{bound}}},"type":"number"}}"#), b"1");
    }
    survive(Syntax::Schema, r#"{"type":"integer","multipleOf":1000000007}"#, b"1");
    survive(Syntax::Schema, r#"{"type":"integer","multipleOf":10007,"minimum":12345678901234567890}"#, b"1");
    survive(
        Syntax::Schema,
        r#"{"type":"integer","allOf":[{"multipleOf":97},{"multipleOf":89},{"multipleOf":83}]}"#,
        b"1",
    );
}
