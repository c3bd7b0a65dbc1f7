//! Answers fit their structures, whatever the model writes.

use std::ops::ControlFlow;

use anyhow::{Context, Result, ensure};
use grammask::{
    CompiledGrammar, Compiler, JsonSchemaOptions, StructuralTagOptions, ToolFormat, ToolRequest,
    tool_formats::Reasoning,
};
use grammask_candle::{Answer, Ending, Llama, Settings, Text, generate};
use serde_json::{Value, json};

fn answer(
    model: &Llama,
    text: &Text,
    grammar: Option<&CompiledGrammar>,
    settings: &Settings,
) -> Result<Answer> {
    let messages = json!([{"role": "user", "content": "Give me an example."}]);
    let prompt = text.prompt(&messages, None)?;
    let mut shown = Vec::new();
    let answer = generate(model, text, &prompt, grammar.map(CompiledGrammar::matcher), settings, |piece| {
        shown.extend_from_slice(piece);
        ControlFlow::Continue(())
    })?;
    ensure!(shown == answer.text, "the pieces are not the text");
    Ok(answer)
}

fn schema_of(name: &str) -> Result<String> {
    let path = format!("{}/../schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).with_context(|| path)
}

/// Answers to a schema with several seeds; each is checked by a validator that knows nothing of grammask.
fn check(name: &str, settings: Settings) -> Result<Vec<Answer>> {
    let schema = schema_of(name)?;
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema)?)?;
    let mut answers = Vec::new();
    for seed in 0..8 {
        let (model, text) = grammask_candle::random(seed)?;
        let grammar =
            Compiler::new(text.vocabulary().clone()).json_schema(&schema, &JsonSchemaOptions::default())?;
        let answer = answer(&model, &text, Some(&grammar), &Settings { seed, ..settings })?;
        let value: Value = serde_json::from_slice(&answer.text)?;
        ensure!(validator.is_valid(&value), "{name}, seed {seed}: {value}");
        answers.push(answer);
    }
    Ok(answers)
}

#[test]
fn documents_fit_their_schemas() -> Result<()> {
    for name in ["person", "invoice", "matrix", "linked_list", "mixed_enum"] {
        check(name, Settings::default())?;
    }
    Ok(())
}

#[test]
fn cut_documents_fit_their_schemas() -> Result<()> {
    let answers = check("person", Settings { max_tokens: 10, ..Settings::default() })?;
    assert!(answers.iter().any(|answer| answer.ending == Ending::Length));
    Ok(())
}

#[test]
fn forced_text_is_not_asked_for() -> Result<()> {
    for answer in check("person", Settings { draft: 0, ..Settings::default() })? {
        assert!(answer.forced > 0);
        assert_eq!(answer.passes, answer.tokens - answer.forced);
    }
    Ok(())
}

#[test]
fn guesses_save_passes_and_change_no_answer() -> Result<()> {
    let (mut guessed, mut right) = (0, 0);
    for temperature in [0.0, 0.3] {
        let settings = Settings { temperature, draft: 4, ..Settings::default() };
        let with = check("matrix", settings)?;
        let without = check("matrix", Settings { draft: 0, ..settings })?;
        for (with, without) in with.iter().zip(&without) {
            assert_eq!(with.text, without.text);
            // Of forced tokens some were guessed before they were known to be forced.
            assert_eq!(with.passes + with.guessed_right + with.forced, with.tokens);
            assert!(with.passes <= without.passes);
            guessed += with.guessed;
            right += with.guessed_right;
        }
    }
    // Both happen: guesses that hold, and guesses that are taken back.
    assert!(0 < right && right < guessed, "{right} of {guessed}");
    Ok(())
}

#[test]
fn calls_of_tools_fit_their_schemas() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/weather.json");
    let tools: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let choice = json!({"type": "function", "function": {"name": "get_weather"}});
    let request = ToolRequest::from_value(&json!({"tools": tools, "tool_choice": choice}).into())?;
    let structure = ToolFormat::named("hermes")?.structure(&request.reasoning(Reasoning::Disabled))?;
    let parameters = tools.pointer("/0/function/parameters").context("the first tool has parameters")?;
    let validator = jsonschema::validator_for(parameters)?;
    for seed in 0..4 {
        let (model, text) = grammask_candle::random(seed)?;
        let grammar =
            Compiler::new(text.vocabulary().clone()).tag(&structure, &StructuralTagOptions::default())?;
        let answer = answer(&model, &text, Some(&grammar), &Settings { seed, ..Settings::default() })?;
        let call = String::from_utf8(answer.text)?;
        let call = call.trim_start_matches("<tool_call>").trim_end_matches("</tool_call>");
        let call: Value = serde_json::from_str(call.trim())?;
        assert_eq!(call["name"], "get_weather");
        assert!(validator.is_valid(&call["arguments"]), "{call}");
    }
    Ok(())
}

#[test]
fn models_without_masks_write_what_they_like() -> Result<()> {
    let (model, text) = grammask_candle::random(0)?;
    let answer = answer(&model, &text, None, &Settings { max_tokens: 40, ..Settings::default() })?;
    assert!(answer.tokens >= 40 || answer.ending == Ending::Stop);
    assert_eq!(answer.forced, 0);
    Ok(())
}

#[test]
fn readers_may_leave() -> Result<()> {
    let (model, text) = grammask_candle::random(0)?;
    let answer = generate(&model, &text, &[1, 2, 3], None, &Settings::default(), |_| ControlFlow::Break(()))?;
    assert_eq!(answer.ending, Ending::Left);
    Ok(())
}

/// Reading at once, one by one, and again after taking back are the same.
#[test]
fn caches_change_no_logits() -> Result<()> {
    let (model, _) = grammask_candle::random(3)?;
    let tokens: Vec<u32> = (0..24).map(|place| place * 7 % 251).collect();
    let width = model.tokens();
    let whole = model.forward(&tokens, tokens.len(), &mut model.cache())?;
    let mut cache = model.cache();
    for (place, token) in tokens.iter().enumerate() {
        let mut wrong = cache.clone();
        model.forward(&[5, 6, 7], 1, &mut wrong)?;
        wrong.truncate(place)?;
        cache = wrong;
        let logits = model.forward(&[*token], 1, &mut cache)?;
        let expected = &whole[place * width..][..width];
        let difference = logits.iter().zip(expected).map(|(one, other)| (one - other).abs());
        assert!(difference.fold(0.0, f32::max) < 1e-4, "place {place}");
    }
    Ok(())
}
