//! Every text that is written under the example schemas is valid by an independent validator.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arguments::{
    EngineArguments, KeyOrder, SchemaArguments, Spelling, StructureText, Syntax, VocabularyArguments,
};
use crate::engine::{Structure, Vocabulary};
use crate::writer::{Ending, Writer};

/// Of each schema. Unoptimised code takes fewer, and `cargo xtask full` takes all.
const SEEDS: u64 = if cfg!(debug_assertions) { 20 } else { 200 };

fn schemas() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/schemas");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .expect("the example is a JSON Schema")
}

/// Writes `SEEDS` texts for every schema, and says how many were steered to their end.
fn check(vocabulary: &Vocabulary, max_tokens: usize, compact: bool) -> (usize, usize) {
    let writer = Writer::new(vocabulary);
    let options = SchemaArguments {
        spelling: Spelling::Printed,
        compact,
        around_root: 0,
        closed: false,
        key_order: KeyOrder::Declared,
        escapes: None,
        numbers: None,
        max_digits: 64,
    };
    let (mut texts, mut steered) = (0, 0);
    for file in schemas() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let validator = validator(&serde_json::from_str(&text).expect("the example is JSON"));
        let text = StructureText { syntax: Syntax::JsonSchema, text, origin: name.clone() };
        let structure = Structure::compile(&text, &options, &EngineArguments::default(), vocabulary)
            .unwrap_or_else(|error| panic!("{name}: {error:#}"));
        for seed in 0..SEEDS {
            let writing = writer
                .write(&structure, seed, max_tokens)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error:#}"));
            let text = String::from_utf8(writing.bytes).expect("JSON is UTF-8");
            let value: Value = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error} in {text}"));
            if let Err(error) = validator.validate(&value) {
                panic!("{name}, seed {seed}: {error} in {text}");
            }
            texts += 1;
            steered += usize::from(writing.ending == Ending::Steered);
        }
    }
    (texts, steered)
}

#[test]
fn written_texts_are_valid() {
    let vocabulary = Vocabulary::load(&VocabularyArguments { tokenizer: None }).unwrap();
    let (texts, steered) = check(&vocabulary, 256, false);
    assert!(texts >= 24 * SEEDS as usize, "{texts} texts");
    assert!(steered < texts / 4, "{steered} of {texts} texts did not come to an end by themselves");
}

#[test]
fn steered_texts_are_valid() {
    let vocabulary = Vocabulary::of_bytes().unwrap();
    let (texts, steered) = check(&vocabulary, 10, true);
    assert!(steered > texts / 2, "{steered} of {texts} texts were steered");
}
