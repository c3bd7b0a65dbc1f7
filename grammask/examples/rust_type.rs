//! A Rust type as the structure: what the model writes can always be read into the type.

use grammask::{Compiler, JsonSchemaOptions, TokenMask, Vocabulary, VocabularyOptions};

/// An order at a counter.
#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// The drink that is ordered.
    drink: Drink,
    #[schemars(range(min = 1, max = 4))]
    cups: u8,
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Drink {
    Coffee,
    Tea,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Every byte is a token here, and id 256 ends the text; a model's vocabulary comes from its tokenizer.json.
    let tokens = (0..=255_u8).map(|byte| Some(vec![byte])).chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256]))?;
    let compiler = Compiler::new(vocabulary);

    let grammar = compiler.json_type::<Order>(&JsonSchemaOptions::default())?;

    let mut matcher = grammar.grammar().matcher();
    let mut mask = TokenMask::new(compiler.vocabulary().len());
    let mut text = Vec::new();
    while !matcher.is_terminated() {
        matcher.fill_mask(&mut mask)?;
        // A model takes the likeliest token that the mask allows; here it is the one with the greatest id.
        let token = mask.iter().last().ok_or("no token is allowed")?;
        matcher.accept_token(token)?;
        text.extend_from_slice(compiler.vocabulary().token_bytes(token));
    }
    let order = grammar.read(&text)?;
    assert_eq!(order.drink, Drink::Tea);
    Ok(())
}
