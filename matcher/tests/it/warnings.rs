//! Every way to a compiled grammar says which keywords of its JSON Schemas mean nothing.

use std::sync::Arc;

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, Unsupported};
use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_mask_cache::{Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler};
use serde_json::{Value, json};

/// Of draft 7, with a keyword of a later one.
const OLD: &str = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"type": "string"}}, "unevaluatedProperties": false}"#;

fn compiler() -> Compiler {
    let bytes = (0..=255_u8).map(|byte| Some(vec![byte])).chain([None]);
    let options = VocabularyOptions::default().stop_ids([256]);
    Compiler::new(Arc::new(Vocabulary::from_tokens(bytes, &options).unwrap()))
}

fn old(place: &str) -> String {
    format!(
        "`unevaluatedProperties` at `{place}/unevaluatedProperties` asserts nothing: not a keyword of this draft"
    )
}

fn content(schema: &Value) -> Value {
    json!({"type": "json_schema", "json_schema": schema})
}

/// Tags in a list, which are put together by reference where none has a warning.
fn list(schemas: &[&Value]) -> String {
    let tag = |(number, schema): (usize, &&Value)| json!({"begin": format!("<f{number}>"), "content": content(schema), "end": "</f>"});
    let tags: Vec<Value> = schemas.iter().enumerate().map(tag).collect();
    json!({"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<f"], "tags": tags}})
        .to_string()
}

#[test]
fn a_schema() {
    let compiler = compiler();
    let options = JsonSchemaOptions::default();
    // The second is one that was kept.
    for _ in 0..2 {
        assert_eq!(compiler.json_schema(OLD, &options).unwrap().warnings(), [old("")]);
    }
    let (compiled, report) = compiler.json_schema_with_report(OLD, &options).unwrap();
    assert_eq!(compiled.warnings(), report.warnings().collect::<Vec<_>>());
    assert!(compiler.json_schema("{}", &options).unwrap().warnings().is_empty());
}

#[test]
fn schemas_of_a_structural_tag() {
    let compiler = compiler();
    let options = StructuralTagOptions::default();
    let (old_schema, plain) = (serde_json::from_str(OLD).unwrap(), json!({"type": "integer"}));
    let warnings = |document: &str| {
        let compiled: CompiledGrammar = compiler.structural_tag(document, &options).unwrap();
        let (_, alone) =
            StructuralTag::parse(document, &options).unwrap().grammar_with_warnings(&options).unwrap();
        assert_eq!(compiled.warnings(), alone, "{document}");
        alone
    };
    let place = |number| format!("/format/tags/{number}/content/json_schema");
    for _ in 0..2 {
        assert_eq!(warnings(&list(&[&plain, &old_schema])), [old(&place(1))]);
        // A schema that is known has its place in the new document.
        assert_eq!(warnings(&list(&[&old_schema, &plain, &plain])), [old(&place(0))]);
        assert!(warnings(&list(&[&plain, &plain])).is_empty());
        let alone = json!({"type": "structural_tag", "format": content(&old_schema)}).to_string();
        assert_eq!(warnings(&alone), [old("/format/json_schema")]);
    }
}

#[test]
fn a_keyword_that_is_ignored_by_request() {
    let unique =
        json!({"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": true});
    let document = list(&[&unique]);
    let compiler = compiler();
    let strict = StructuralTagOptions::default();
    let refused = compiler.structural_tag(&document, &strict).unwrap_err();
    assert!(refused.to_string().contains("uniqueItems"), "{refused}");
    let lenient = strict.json_schema(JsonSchemaOptions::default().unsupported(Unsupported::Ignore));
    let compiled = compiler.structural_tag(&document, &lenient).unwrap();
    let [warning] = compiled.warnings() else { panic!("{:?}", compiled.warnings()) };
    assert!(
        warning.starts_with("`uniqueItems` at `/format/tags/0/content/json_schema/uniqueItems` is ignored: "),
        "{warning}"
    );
}

#[test]
fn schemas_in_lark() {
    let source = format!("start: a | a b | c\na: %json {OLD}\nb[lazy]: /x+/\n\nc: \"c\" %json {OLD}\n");
    let compiled = compiler().lark(&source, &LarkOptions::default()).unwrap();
    assert_eq!(compiled.warnings(), [2, 5].map(|line| format!("line {line}: {}", old(""))));
}

/// They are not part of what is written.
#[cfg(feature = "store")]
#[test]
fn a_store() {
    let folder = std::env::temp_dir().join(format!("grammask-warnings-{}", std::process::id()));
    for _ in 0..2 {
        let directory = grammask_matcher::StoreDirectory::open(&folder, 1 << 20).unwrap();
        let compiler = compiler();
        let compile = || compiler.json_schema(OLD, &JsonSchemaOptions::default());
        assert_eq!(directory.get_or_compile(&compiler, "old", compile).unwrap().warnings(), [old("")]);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
