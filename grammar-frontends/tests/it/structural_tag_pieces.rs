//! Structural tags in pieces: which documents are cut, and where.

use std::sync::Arc;

use grammask_grammar_frontends::structural_tag::{
    SchemaValue, SplitTags, StructuralTag, StructuralTagOptions, TagArm, TagContent, TagExtent, TagTemplate,
    TagText,
};

fn check(document: &'static str, expected: Option<(&'static str, &[&'static str], &'static str)>) {
    let expected = expected.map(|(head, tags, tail)| (head, tags.to_vec(), tail));
    let pieces = |pieces: SplitTags<'static>| (pieces.head, pieces.tags, pieces.tail);
    assert_eq!(SplitTags::cut(document, |_| None).map(pieces), expected, "{document}");
    // The first tag is known.
    let first = expected.as_ref().map(|(_, tags, _)| tags[0]);
    let known = |text: &str| first.filter(|first| text.starts_with(first)).map(str::len);
    assert_eq!(SplitTags::cut(document, known).map(pieces), expected, "{document}");
}

#[test]
fn tags_are_cut_out() {
    check(
        r#"{"a": "tags", "tags" : [ {"a": "]\"", "tags": [{}]} , {}], "b": 1}"#,
        Some((r#"{"a": "tags", "tags" : ["#, &[r#"{"a": "]\"", "tags": [{}]}"#, "{}"], r#"], "b": 1}"#)),
    );
}

#[test]
fn what_is_not_plain_has_no_pieces() {
    for document in [
        "",
        r#"{"tags": []}"#,
        r#"{"tags": {}}"#,
        r#"{"tags": [{}"#,
        r#"{"tags": [{} {}]}"#,
        r#"{"tags": [1]}"#,
        r#"{"tags": [{}], "tags": [{}]}"#,
        r#"{"tags": [{}], "t\u0061gs": [{}]}"#,
        r#"{"t\u0061gs": [{}]}"#,
        r#"[[[[[[[[[[[[[[[{"tags": [{}]}]]]]]]]]]]]]]]]"#,
    ] {
        check(document, None);
    }
}

/// Reads a document. It is as it is when it was parsed before, and these schemas are cut out of it.
fn check_schemas(document: &str, expected: &[&str]) {
    let (mut schemas, options) = (Vec::new(), StructuralTagOptions::default());
    let read = |schema: &str| {
        schemas.push(schema.to_owned());
        SchemaValue::read(schema)
    };
    let tag = StructuralTag::parse_with(document, &options, read);
    assert_eq!(schemas, expected, "{document}");
    let parsed = document.parse().ok();
    let parsed = parsed.and_then(|value| StructuralTag::from_value(&value, &options).ok());
    assert_eq!(tag.ok(), parsed, "{document}");
}

#[test]
fn schemas_are_cut_out() {
    check_schemas(
        r#"{"a": "json_schema", "json_schema" : {"schema": ["}", {"x\"}": 1}]}, "schema":{}}"#,
        &[r#"{"schema": ["}", {"x\"}": 1}]}"#, "{}"],
    );
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
    let format =
        |more: &str| format!(r#"{{"format": {{"type": "json_schema", "json_schema": {schema}{more}}}}}"#);
    check_schemas(&format(""), &[schema]);
    check_schemas(&format(r#", "style": "qwen_xml""#), &[schema]);
    let structure = format!(r#"{{"begin": "<a>", "schema": {schema}, "end": "<b>"}}"#);
    check_schemas(&format!(r#"{{"structures": [{structure}], "triggers": ["<a"]}}"#), &[schema]);
    check_schemas(r#"{"format": {"json_schema": {"a": {}}}}"#, &[r#"{"a": {}}"#]);
    let document = format!(r#"{{"format": {{"json_schema": {schema}}}, "schema": {{}}}}"#);
    check_schemas(&document, &[schema, "{}"]);
    let two =
        r#"{"format": {"type": "sequence", "elements": [{"json_schema": {"a": {}}}, {"json_schema": B}]}}"#;
    check_schemas(&two.replace('B', r#"{"b": 1}"#), &[r#"{"a": {}}"#, r#"{"b": 1}"#]);
    check_schemas(&two.replace('B', "0"), &[]);
    check_schemas(r#"{"format": {"json_schema": {"a": tru}}}"#, &[r#"{"a": tru}"#]);
    check_schemas(r#"{"format": {"type": "or", "elements": ["schema", "{"]}}"#, &[]);
    for document in [
        r#"{"format": {"json_schema": 0}}"#,
        r#"{"format": {"json_schema": true}}"#,
        r#"{"format": {"json\u005fschema": 0}, "schema": {}}"#,
        r#"{"format": {"json_schema": {"a": 1"#,
        r#"{"format": {"json_schema"#,
        r#"{"format": {"json_schema": "#,
    ] {
        check_schemas(document, &[]);
    }
}

#[test]
fn space_between_the_parts_of_a_schema_is_nothing() {
    let options = StructuralTagOptions::default();
    for (schema, text, is_simple) in [
        (r#"{"a": [1, 2.50, "x y"]}"#, r#"{"a":[1,2.50,"x y"]}"#, false),
        (
            "{ \"a \\\" b\" :\t[ 1 , true ],\r\n\"\\u0061\": \" é\" }",
            r#"{"a \" b":[1,true],"\u0061":" é"}"#,
            false,
        ),
        (r#"{"anyOf": [ ]}"#, r#"{"anyOf":[]}"#, false),
        (
            r#"{"type": "object", "properties": {"a b": {"type": "string"}}}"#,
            r#"{"type":"object","properties":{"a b":{"type":"string"}}}"#,
            true,
        ),
    ] {
        let document = format!(r#"{{"format": {{"json_schema": {schema}}}}}"#);
        let skeleton = StructuralTag::parse(&document, &options).unwrap().skeleton(&options).unwrap();
        let [embedded] = &skeleton.schemas[..] else { panic!("{schema}") };
        assert!(embedded.key().ends_with(&format!(" {text}")), "{}", embedded.key());
        assert_eq!(embedded.simple_schema(&options).is_some(), is_simple, "{schema}");
        let value = SchemaValue::from(Arc::new(schema.parse().unwrap()));
        assert_eq!(SchemaValue::read(schema), Some(value));
    }
    assert_eq!(SchemaValue::read(r#"{"a": tru}"#), None);
}

const TAG: &str =
    r#"{"begin": "<f=a>", "content": {"type": "json_schema", "json_schema": true}, "end": "</f>"}"#;

fn frame(head: &str, tail: &str) -> Option<TagExtent> {
    TagTemplate::new(head, TAG, tail, &StructuralTagOptions::default()).map(|frame| frame.extent)
}

#[test]
fn frames_are_of_one_trigger_or_of_a_separator() {
    let after = Some(TagExtent::AfterTrigger("<f=".into()));
    assert_eq!(
        frame(r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#, "]}}"),
        after
    );
    let written = Some(TagExtent::AfterWrittenTrigger("<f=".into()));
    let first =
        r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "at_least_one": true, "tags": ["#;
    assert_eq!(frame(first, "]}}"), written);
    let inside = r#"{"format": {"type": "sequence", "elements": [{"type": "any_text"},
        {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#;
    assert_eq!(frame(inside, "]}]}}"), after);
    let separated = r#"{"format": {"type": "tags_with_separator", "separator": ",", "tags": ["#;
    assert_eq!(frame(separated, "]}}"), Some(TagExtent::Whole));
    for (head, tail) in [
        (r#"{"format": {"type": "triggered_tags", "triggers": ["<f=", "<g="], "tags": ["#, "]}}"),
        (r#"{"format": {"type": "triggered_tags", "triggers": ["<g="], "tags": ["#, "]}}"),
        (r#"{"format": {"type": "json_schema", "json_schema": {"enum": [{"tags": ["#, "]}]}}}"),
        (r#"{"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": ["#, "]}"),
    ] {
        assert_eq!(frame(head, tail), None, "{head}");
    }
}

#[test]
fn pieces_hold_no_formats() {
    let options = StructuralTagOptions::default();
    let extent = TagExtent::AfterTrigger("<f=".into());
    let piece = TagArm::new(TAG, &extent, &options).unwrap();
    assert_eq!((piece.begin, piece.end), (TagText::Text("a>".into()), TagText::Text("</f>".into())));
    assert!(matches!(piece.content, TagContent::Schema(_)));
    let two = TAG.replace(r#""</f>""#, r#"["</f>", "!"]"#);
    let TagContent::Grammar(rest) = TagArm::new(&two, &extent, &options).unwrap().content else { panic!() };
    assert_eq!(rest.schemas.len(), 1);
    for tag in [
        r#"{"begin": "<g=", "content": {"type": "any_text"}, "end": "</f>"}"#,
        r#"{"begin": "<f=", "content": {"type": "sequence", "elements": [{"type": "any_text"}]}, "end": "</f>"}"#,
        r#"{"begin": "<f=", "content": {"type": "any_text"}, "end": ""}"#,
        r#"{"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>", "more": 1}"#,
        r#"{"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>"}, 1"#,
        r#"1, {"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>"}"#,
        r#""{"begin": "<f=", "content": {"type": "any_text"}, "end": "</f>"}"#,
    ] {
        assert!(TagArm::new(tag, &extent, &options).is_none(), "{tag}");
    }
}

#[test]
fn a_deep_tag_is_read_with_its_document() {
    let extent = TagExtent::AfterTrigger("<f=".into());
    // A name with an escape keeps the schema from being cut out.
    let piece = |depth: usize| {
        let schema = [&"{\"not\": ".repeat(depth), "true", &"}".repeat(depth)].concat();
        let content = format!(r#"{{"type": "json_schema", "json\u005fschema": {schema}}}"#);
        let tag = format!(r#"{{"begin": "<f=a", "content": {content}, "end": "b"}}"#);
        TagArm::new(&tag, &extent, &StructuralTagOptions::default())
    };
    assert!(piece(98).is_some());
    assert!(piece(99).is_none());
}
