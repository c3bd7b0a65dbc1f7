//! A model writes JSON under masks, one token after the other.

use grammask::{Compiler, JsonSchemaOptions, TokenMask, Vocabulary, VocabularyOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Once a process. Here every byte is a token, and id 256 ends the text; the vocabulary of a real model
    // comes from the file of its tokenizer, with `grammask::vocabularies::load`.
    let tokens = (0..=255_u8).map(|byte| Some(vec![byte])).chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256]))?;
    let compiler = Compiler::new(vocabulary);

    // Once a structure. A compiled grammar serves any number of texts, on any number of threads.
    let schema = r#"{"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}},
                     "required": ["answer"], "additionalProperties": false}"#;
    let grammar = compiler.json_schema(schema, &JsonSchemaOptions::default())?;

    // Once a text.
    let mut matcher = grammar.matcher();
    let mut mask = TokenMask::new(compiler.vocabulary().len());
    let mut text = Vec::new();
    while !matcher.is_terminated() {
        matcher.fill_mask(&mut mask)?;
        // A model takes the likeliest token that the mask allows; here it is the one with the greatest id.
        let token = mask.iter().last().ok_or("no token is allowed")?;
        matcher.accept_token(token)?;
        text.extend_from_slice(compiler.vocabulary().token_bytes(token));
    }
    assert_eq!(text, br#"{"answer":"yes"}"#);
    Ok(())
}
