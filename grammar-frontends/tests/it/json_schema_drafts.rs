//! The meaning of each draft's own words, and references of every kind.

use grammask_grammar_frontends::json::JsonValue;
use grammask_grammar_frontends::json_schema::{
    Formats, JsonSchemaOptions, Retriever, Spelling, Treatment, compile, compile_value,
};
use serde_json::{Value, json};

use crate::schema_texts;

const DRAFT_4: &str = "http://json-schema.org/draft-04/schema#";
const DRAFT_6: &str = "http://json-schema.org/draft-06/schema#";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
const DRAFT_2019: &str = "https://json-schema.org/draft/2019-09/schema";
const DRAFT_2020: &str = "https://json-schema.org/draft/2020-12/schema";

/// Compiles a schema under a draft; the grammar must have the first texts and lack the others.
#[track_caller]
fn check(draft: &str, schema: Value, accepted: &[&str], rejected: &[&str]) {
    check_with(draft, schema, accepted, rejected, &JsonSchemaOptions::default());
}

#[track_caller]
fn check_with(
    draft: &str,
    mut schema: Value,
    accepted: &[&str],
    rejected: &[&str],
    options: &JsonSchemaOptions,
) {
    schema["$schema"] = json!(draft);
    schema_texts::check(&schema, options, accepted, rejected);
}

#[test]
fn siblings_of_a_reference() {
    let schema = json!({
        "properties": {"size": {"$ref": "#/definitions/count", "maximum": 9}},
        "definitions": {"count": {"type": "integer"}}
    });
    for old in [DRAFT_4, DRAFT_6, DRAFT_7] {
        check(old, schema.clone(), &[r#"{"size":12}"#], &[r#"{"size":"12"}"#]);
    }
    for new in [DRAFT_2019, DRAFT_2020] {
        check(new, schema.clone(), &[r#"{"size":9}"#], &[r#"{"size":12}"#, r#"{"size":true}"#]);
    }
}

#[test]
fn an_id_beside_an_old_reference_is_hidden() {
    let schema = json!({
        "$id": "http://shop.example/base/",
        "properties": {"item": {"$id": "http://shop.example/other/", "$ref": "item.json"}},
        "definitions": {
            "right": {"$id": "item.json", "type": "string"},
            "wrong": {"$id": "http://shop.example/other/item.json", "type": "null"}
        }
    });
    check(DRAFT_7, schema.clone(), &[r#"{"item":"a"}"#], &[r#"{"item":null}"#]);
    check(DRAFT_2019, schema, &[r#"{"item":null}"#], &[r#"{"item":"a"}"#]);
}

#[test]
fn draft_4_has_exclusive_flags_ids_and_stricter_integers() {
    let schema = json!({"type": "integer", "minimum": 3, "exclusiveMinimum": true, "maximum": 7});
    check(DRAFT_4, schema, &["4", "7"], &["3", "8", "4.0"]);
    let schema = json!({
        "id": "http://shop.example/root",
        "properties": {"a": {"$ref": "part"}, "b": {"$ref": "#named"}},
        "definitions": {
            "x": {"id": "part", "enum": [1]},
            "y": {"id": "#named", "enum": [2]}
        }
    });
    check(DRAFT_4, schema, &[r#"{"a":1,"b":2}"#], &[r#"{"a":2}"#, r#"{"b":1}"#]);
    // Words of later drafts say nothing yet.
    let schema = json!({"const": 1, "contains": false, "propertyNames": false});
    check(DRAFT_4, schema, &["2", "[3]", r#"{"a":1}"#], &[]);
}

#[test]
fn draft_4_spells_listed_integers_without_a_fraction() {
    let any = JsonSchemaOptions::default().spelling(Spelling::Any);
    let listed = json!({"type": "integer", "enum": [1, 400]});
    check(DRAFT_4, listed.clone(), &["1", "400"], &["1.0", "400.0"]);
    check_with(DRAFT_4, listed.clone(), &["1", "400"], &["1.0", "400.0"], &any);
    check_with(DRAFT_6, listed.clone(), &["1", "400.0"], &["2"], &any);
    let number = json!({"type": "number", "enum": [1, 400]});
    check(DRAFT_4, number.clone(), &["1.0", "400"], &["1.1"]);
    check(DRAFT_4, json!({"anyOf": [listed.clone(), {"enum": [2]}]}), &["1", "2", "2.0"], &["1.0"]);
    check(DRAFT_4, json!({"allOf": [{"type": "integer"}, number]}), &["1"], &["1.0"]);
    check(DRAFT_4, json!({"items": listed, "uniqueItems": true}), &["[1,400]"], &["[1.0]", "[1,1]"]);
}

#[test]
fn draft_6_brings_const_contains_and_names() {
    check(DRAFT_6, json!({"const": [1]}), &["[1]"], &["[2]", "1"]);
    check(DRAFT_6, json!({"type": "array", "contains": {"const": 5}}), &["[1,5]"], &["[]", "[1]"]);
    check(
        DRAFT_6,
        json!({"type": "object", "propertyNames": {"maxLength": 1}}),
        &[r#"{"a":1}"#],
        &[r#"{"ab":1}"#],
    );
    check(DRAFT_6, json!({"type": "integer", "exclusiveMaximum": 3, "minimum": 1}), &["1", "2"], &["3", "0"]);
    check(DRAFT_6, json!({"if": {"type": "null"}, "then": false}), &["null"], &[]);
}

#[test]
fn lists_of_items_and_what_follows_them() {
    let schema =
        json!({"items": [{"type": "null"}, {"type": "boolean"}], "additionalItems": {"type": "string"}});
    for old in [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019] {
        let accepted = ["[]", "[null]", r#"[null,true,"x"]"#];
        check(old, schema.clone(), &accepted, &["[true]", "[null,true,null]"]);
    }
    let schema = json!({"items": {"type": "null"}, "additionalItems": false});
    check(DRAFT_7, schema, &["[null,null]"], &["[1]"]);
    let schema = json!({"prefixItems": [{"type": "null"}], "items": false});
    check(DRAFT_2020, schema, &["[]", "[null]"], &["[1]", "[null,null]"]);
}

#[test]
fn dependencies_in_one_keyword_and_in_two() {
    let old = json!({
        "type": "object",
        "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}},
        "additionalProperties": false,
        "dependencies": {"a": ["b"], "c": {"required": ["a"]}}
    });
    let accepted = ["{}", r#"{"b":2}"#, r#"{"a":1,"b":2,"c":3}"#];
    let rejected = [r#"{"a":1}"#, r#"{"c":3}"#, r#"{"a":1,"c":3}"#];
    check(DRAFT_7, old.clone(), &accepted, &rejected);
    let mut new = old;
    let members = new.as_object_mut().unwrap();
    members.remove("dependencies");
    members.insert("dependentRequired".to_owned(), json!({"a": ["b"]}));
    members.insert("dependentSchemas".to_owned(), json!({"c": {"required": ["a"]}}));
    check(DRAFT_2019, new.clone(), &accepted, &rejected);
    check(DRAFT_2020, new, &accepted, &rejected);
}

#[test]
fn anchors_name_schemas_of_their_resource() {
    let schema = json!({
        "$id": "https://shop.example/root",
        "properties": {"a": {"$ref": "#n"}, "b": {"$ref": "inner#n"}},
        "$defs": {
            "outer": {"$anchor": "n", "type": "null"},
            "inner": {"$id": "inner", "$defs": {"n": {"$anchor": "n", "type": "boolean"}}}
        }
    });
    check(DRAFT_2020, schema, &[r#"{"a":null,"b":true}"#], &[r#"{"a":true}"#, r#"{"b":null}"#]);
}

/// A list whose items anyone who refers to it may choose.
/// The table of RFC 3986, section 5.4, in part.
#[test]
fn references_resolve_as_the_standard_says() {
    let standard = "http://a/b/c/d;p?q";
    for (base, reference, expected) in [
        (standard, "g:h", "g:h"),
        (standard, "g", "http://a/b/c/g"),
        (standard, "./g/", "http://a/b/c/g/"),
        (standard, "/g", "http://a/g"),
        (standard, "//g", "http://g"),
        (standard, "?y", "http://a/b/c/d;p?y"),
        (standard, "#s", "http://a/b/c/d;p?q#s"),
        (standard, "..", "http://a/b/"),
        (standard, "../../g", "http://a/g"),
        (standard, "../../../g", "http://a/g"),
        ("", "item.json", "item.json"),
        ("urn:uuid:1", "#a", "urn:uuid:1#a"),
    ] {
        let named = match expected.split_once('#') {
            Some((_, anchor)) => json!({"$anchor": anchor, "const": 1}),
            None => json!({"$id": expected, "const": 1}),
        };
        let mut schema = json!({"$ref": reference, "$defs": {"named": named}});
        if !base.is_empty() {
            schema["$id"] = json!(base);
        }
        check(DRAFT_2020, schema, &["1"], &["2"]);
    }
}

fn generic_list() -> Value {
    json!({
        "$id": "list",
        "type": "array",
        "items": {"$dynamicRef": "#item"},
        "$defs": {"free": {"$dynamicAnchor": "item"}}
    })
}

#[test]
fn dynamic_references_mean_the_outermost_anchor() {
    let schema = json!({
        "$id": "https://shop.example/words",
        "$ref": "list",
        "$defs": {"words": {"$dynamicAnchor": "item", "type": "string"}, "list": generic_list()}
    });
    check(DRAFT_2020, schema, &["[]", r#"["a"]"#], &["[1]", "1"]);
    // The same list twice, with other items each time.
    let of = |kind: &str| json!({"$id": kind, "$ref": "list", "$defs": {"i": {"$dynamicAnchor": "item", "type": kind}}});
    let schema = json!({
        "$id": "https://shop.example/both",
        "properties": {"s": {"$ref": "string"}, "n": {"$ref": "null"}, "x": {"$ref": "list"}},
        "$defs": {"a": of("string"), "b": of("null"), "list": generic_list()}
    });
    let rejected = [r#"{"s":[null]}"#, r#"{"n":["a"]}"#];
    check(DRAFT_2020, schema, &[r#"{"s":["a"],"n":[null],"x":[1]}"#], &rejected);
    // An anchor that is not dynamic where the reference leads first makes it a plain reference.
    let mut plain = generic_list();
    plain["$defs"]["free"] = json!({"$anchor": "item", "type": "boolean"});
    let schema = json!({
        "$id": "https://shop.example/plain",
        "$ref": "list",
        "$defs": {"words": {"$dynamicAnchor": "item", "type": "string"}, "list": plain}
    });
    check(DRAFT_2020, schema, &["[true]"], &[r#"["a"]"#]);
}

#[test]
fn recursive_references_extend_a_tree() {
    let tree = json!({
        "$id": "tree",
        "$recursiveAnchor": true,
        "type": "object",
        "properties": {"value": true, "next": {"$recursiveRef": "#"}}
    });
    let closed = |anchor: bool| {
        json!({
            "$id": "https://shop.example/closed",
            "$recursiveAnchor": anchor,
            "$ref": "tree",
            "required": ["value"],
            "$defs": {"tree": tree.clone()}
        })
    };
    let (whole, part) = (r#"{"value":1,"next":{"value":2}}"#, r#"{"value":1,"next":{}}"#);
    check(DRAFT_2019, closed(true), &[whole], &[part]);
    check(DRAFT_2019, closed(false), &[whole, part], &["{}"]);
}

#[test]
fn a_resource_may_speak_another_draft() {
    let schema = json!({
        "$id": "https://shop.example/new",
        "properties": {"old": {"$ref": "old"}},
        "$defs": {
            "old": {
                "$id": "old",
                "$schema": DRAFT_7,
                "properties": {"n": {"$ref": "#/definitions/number", "maximum": 1}},
                "definitions": {"number": {"type": "integer"}}
            }
        }
    });
    check(DRAFT_2020, schema, &[r#"{"old":{"n":5}}"#], &[r#"{"old":{"n":null}}"#]);
}

fn catalogue() -> JsonSchemaOptions {
    JsonSchemaOptions::default().retriever(Retriever::new(|uri| match uri {
        "https://shop.example/price" => Ok(JsonValue::from(json!({
            "$defs": {"cents": {"type": "integer", "minimum": 0}},
            "properties": {"net": {"$ref": "#/$defs/cents"}, "gross": {"$ref": "tax"}}
        }))),
        "https://shop.example/tax" => Ok(json!({"$anchor": "rate", "enum": [7, 19]}).into()),
        "https://shop.example/old" => Ok(
            json!({"$schema": DRAFT_7, "$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}})
                .into(),
        ),
        _ => Err("unknown article".to_owned()),
    }))
}

#[test]
fn documents_come_from_the_retriever() {
    let schema = json!({"$ref": "https://shop.example/price"});
    let rejected = [r#"{"net":-1}"#, r#"{"gross":8}"#];
    check_with(DRAFT_2020, schema, &[r#"{"net":3,"gross":7}"#], &rejected, &catalogue());
    let schema = json!({"$ref": "https://shop.example/tax#rate"});
    check_with(DRAFT_2020, schema, &["19"], &["20"], &catalogue());
    let schema = json!({"$ref": "https://shop.example/price#/$defs/cents"});
    check_with(DRAFT_2020, schema, &["0"], &["-2"], &catalogue());
    let schema = json!({"$ref": "https://shop.example/old"});
    check_with(DRAFT_2020, schema, &["true"], &[], &catalogue());
}

#[test]
fn what_the_retriever_lacks_is_refused() {
    let refusal = |schema: Value, options: &JsonSchemaOptions| {
        compile(&schema.to_string(), options).unwrap_err().to_string()
    };
    let missing = json!({"items": {"$ref": "https://shop.example/nothing"}});
    let text = refusal(missing, &catalogue());
    assert!(text.contains("unknown article") && text.contains("/items/$ref"), "{text}");
    let pointer = json!({"$ref": "https://shop.example/price#/$defs/euros"});
    assert!(refusal(pointer, &catalogue()).contains("leads to nothing"));
    let mut few = catalogue();
    few.limits.documents = 1;
    let text = refusal(json!({"$ref": "https://shop.example/price"}), &few);
    assert!(text.contains("`documents`"), "{text}");
    let text = refusal(json!({"$ref": "https://shop.example/price"}), &JsonSchemaOptions::default());
    assert!(text.contains("no retriever was given"), "{text}");
}

#[test]
fn formats_may_be_annotations() {
    let schema = json!({"type": "string", "format": "ipv4"});
    check(DRAFT_2020, schema.clone(), &[r#""1.2.3.4""#], &[r#""a""#]);
    let options = JsonSchemaOptions::default().formats(Formats::Annotation);
    check_with(DRAFT_2020, schema.clone(), &[r#""1.2.3.4""#, r#""a""#], &["1"], &options);
    let report = compile_value(&schema.into(), &options).unwrap().report;
    let entry = report.entries().iter().find(|entry| entry.keyword == "format").unwrap();
    assert_eq!(entry.treatment, Treatment::Annotation);
}
