//! The messages for people whose input is broken: the place, the error, and the text to write instead.
//!
//! Every case is one mistake as people make it; the reports are read as a user would read them.

mod grammars;
mod patterns;
mod schema_keywords;
mod schema_meaning;
mod tokenizers;

use grammask::ebnf::EbnfOptions;
use grammask::json_schema::JsonSchemaOptions;
use grammask::regex::RegexOptions;
use grammask::{Color, CompileError, CompiledGrammar, Vocabulary, VocabularyOptions};

use crate::common::compiler;

fn report(source: &str, name: &str, result: Result<CompiledGrammar, CompileError>) -> String {
    let Err(error) = result else { panic!("taken: {source}") };
    match error.diagnostics() {
        Some(diagnostics) => diagnostics.render(source, name, Color::Never),
        None => error.to_string(),
    }
}

pub(crate) fn ebnf(source: &str) -> String {
    report(source, "grammar.ebnf", compiler().ebnf(source, &EbnfOptions::default()))
}

pub(crate) fn gbnf(source: &str) -> String {
    report(source, "grammar.gbnf", compiler().gbnf(source, &EbnfOptions::default()))
}

pub(crate) fn regex(pattern: &str) -> String {
    report(pattern, "pattern", compiler().regex(pattern, &RegexOptions::default()))
}

pub(crate) fn schema(source: &str) -> String {
    report(source, "schema.json", compiler().json_schema(source, &JsonSchemaOptions::default()))
}

pub(crate) fn tokenizer(json: impl AsRef<[u8]>) -> String {
    Vocabulary::from_tokenizer_json(json.as_ref(), &VocabularyOptions::default())
        .map_or_else(|error| error.to_string(), |_| panic!("taken"))
}
