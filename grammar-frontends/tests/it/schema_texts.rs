//! Which texts the grammar of a schema has, as the naive recogniser says.

use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, compile_value};
use grammask_oracle::Recogniser;
use serde_json::Value;

/// The grammar of a schema has the first texts and lacks the others.
#[track_caller]
pub(crate) fn check(schema: &Value, options: &JsonSchemaOptions, accepted: &[&str], rejected: &[&str]) {
    let compiled = match compile_value(&schema.clone().into(), options) {
        Ok(compiled) => compiled,
        Err(error) => panic!("{schema}\n{error}"),
    };
    let recogniser = Recogniser::new(&compiled.grammar);
    let has = |text: &str| {
        let mut chart = recogniser.begin();
        text.bytes().all(|byte| chart.push(byte)) && chart.is_complete()
    };
    let order = options.key_order;
    for text in accepted {
        assert!(has(text), "{order:?}: the grammar lacks {text}\n{schema}");
    }
    for text in rejected {
        assert!(!has(text), "{order:?}: the grammar has {text}\n{schema}");
    }
}
