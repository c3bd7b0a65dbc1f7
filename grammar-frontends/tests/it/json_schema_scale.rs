//! Large schemas compile in time that grows with what the root reaches, and deep ones do not overflow.

use std::fmt::Write as _;

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder, compile, compile_grammar};

fn rules(schema: &str) -> usize {
    compile(schema, &JsonSchemaOptions::default()).unwrap().grammar.rule_count()
}

#[test]
fn optional_properties_are_linear() {
    let schema = |count: usize| {
        let mut properties = String::new();
        for number in 0..count {
            let comma = if number == 0 { "" } else { "," };
            write!(properties, r#"{comma}"property{number}":{{"type":"string"}}"#).unwrap();
        }
        format!(r#"{{"type":"object","properties":{{{properties}}}}}"#)
    };
    assert!(rules(&schema(16_000)) < 16_100);
    let closed = schema(16_000).replacen('{', r#"{"additionalProperties":false,"#, 1);
    assert!(rules(&closed) < 16_100);
}

#[test]
fn only_what_the_root_reaches_is_lowered() {
    let mut definitions = String::new();
    for number in 0..50_000 {
        let next = (number + 1) % 50_000;
        let comma = if number == 0 { "" } else { "," };
        let padding = "x".repeat(100);
        write!(
            definitions,
            r##"{comma}"d{number}":{{"description":"{padding}","uniqueItems":true,"items":{{"$ref":"#/$defs/d{next}"}}}}"##
        )
        .unwrap();
    }
    let schema =
        format!(r##"{{"$ref":"#/$defs/root","$defs":{{"root":{{"type":"string"}},{definitions}}}}}"##);
    assert!(rules(&schema) < 10);
}

#[test]
fn equal_schemas_are_read_once() {
    let schema = |count: usize, inside: &dyn Fn(usize) -> String| {
        let properties: Vec<String> =
            (0..count).map(|number| format!(r#""p{number}":{}"#, inside(number))).collect();
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))
    };
    let rules = |inside: &dyn Fn(usize) -> String| {
        let options = JsonSchemaOptions::default();
        compile_grammar(&schema(200, inside), &options).unwrap().rule_count()
    };
    let object = |about: &str, keyword: &str| {
        format!(r#"{{{about}"properties":{{"a":{{"items":{{"minLength":1}}}},"title":{{}}}}{keyword}}}"#)
    };
    // What describes a schema does not tell it from others, wherever it stands.
    assert!(rules(&|_| object("", "")) < 250);
    assert!(rules(&|number| object(&format!(r#""title":"{number}","x-order":{number},"#), "")) < 250);
    // What it says does.
    assert!(rules(&|number| object("", &format!(r#","required":["b{number}"]"#))) > 400);
    assert!(rules(&|number| object("", &format!(r#","const":{{"title":{number}}}"#))) > 400);
    let named = |number| format!(r#"{{"properties":{{"title":{{"const":{{"title":{number}}}}}}}}}"#);
    assert!(rules(&named) > 400);
}

#[test]
fn long_chains_of_references() {
    let chain = |count: usize, through: &str| {
        let mut definitions = String::new();
        for number in 0..count {
            let body = through.replace("NEXT", &format!(r##"{{"$ref":"#/$defs/d{}"}}"##, number + 1));
            write!(definitions, r#""d{number}":{body},"#).unwrap();
        }
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions}"d{count}":{{"type":"null"}}}}}}"##)
    };
    assert!(rules(&chain(5_000, r#"{"items":NEXT}"#)) > 5_000);
    assert!(rules(&chain(5_000, r#"{"properties":{"a":NEXT}}"#)) > 5_000);
    // Applied to one and the same value, references nest; that is bounded.
    let error = compile(&chain(5_000, r#"{"allOf":[NEXT]}"#), &JsonSchemaOptions::default()).unwrap_err();
    assert_eq!(error.iter().next().unwrap().code(), "json-schema/limit");
}

#[test]
fn long_tuples_and_constants() {
    let numbers: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    let list = numbers.join(",");
    assert!(rules(&format!(r#"{{"const":[{list}]}}"#)) < 20);
    assert!(rules(&format!(r#"{{"enum":[{list}]}}"#)) < 20);
    let places = vec!["{}"; 20_000].join(",");
    assert!(rules(&format!(r#"{{"type":"array","prefixItems":[{places}],"items":false}}"#)) > 1_000);
    assert!(rules(r#"{"type":"array","maxItems":4000000000,"minItems":3}"#) < 20);
    assert!(rules(r#"{"type":"string","maxLength":4000000000}"#) < 20);
}

#[test]
fn limits_are_errors() {
    let code = |schema: &str| {
        let error = compile(schema, &JsonSchemaOptions::default()).unwrap_err();
        error.iter().next().unwrap().code()
    };
    let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(17 << 20));
    assert_eq!(code(&large), "json-schema/limit");
    let properties: Vec<String> = (0..10_001).map(|number| format!(r#""p{number}":{{}}"#)).collect();
    let wide = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let any_order = JsonSchemaOptions::default().key_order(KeyOrder::Any);
    let error = compile(&wide, &any_order).unwrap_err();
    assert_eq!(error.iter().next().unwrap().code(), "json-schema/unsupported");
    assert!(compile(&wide, &JsonSchemaOptions::default()).is_ok());
    let deep = format!("{}{}", r#"{"items":"#.repeat(200), "}".repeat(200));
    assert_eq!(code(&deep), "json-schema/syntax");
    // Six alternatives in each of five conjuncts.
    let names = ["a", "b", "c", "d", "e", "f"];
    let any: Vec<String> = (0..5)
        .map(|part| {
            let ways = names.map(|name| format!(r#"{{"required":["{name}{part}"]}}"#));
            format!(r#"{{"anyOf":[{}]}}"#, ways.join(","))
        })
        .collect();
    assert_eq!(code(&format!(r#"{{"allOf":[{}]}}"#, any.join(","))), "json-schema/unsupported");
}
