//! Chat with a llama, under masks.

use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use grammask::json_schema::Whitespace;
use grammask::tool_formats::Reasoning;
use grammask::{CompiledGrammar, Compiler, JsonSchemaOptions, StructuralTagOptions, ToolFormat, ToolRequest};
use grammask_candle::{Answer, Ending, Llama, Settings, Text, generate};
use jsonschema::Validator;
use serde_json::{Value, json};

/// A chat whose answers fit a schema, or call tools.
#[derive(Parser)]
struct Arguments {
    /// A llama in GGUF; a tiny one with random weights by default
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Answers are values of a JSON Schema
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Answers may call these tools (in OpenAI's shape)
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    tools: Option<PathBuf>,
    /// How the model spells calls; `grammask tools --list` has all families
    #[arg(long, default_value = "hermes", value_name = "NAME")]
    family: String,
    /// `auto`, `required`, or the name of a tool
    #[arg(long, default_value = "required", value_name = "CHOICE")]
    tool_choice: String,
    /// The prompt; `-` reads lines from standard input and answers each
    #[arg(long, default_value = "Give me an example.")]
    prompt: String,
    /// Shows beside each answer what the model writes without masks
    #[arg(long)]
    free: bool,
    /// After so many tokens an answer is brought to its shortest ending
    #[arg(long, default_value_t = 256)]
    max_tokens: usize,
    /// 0 takes the best token
    #[arg(long, default_value_t = 0.8)]
    temperature: f32,
    /// The share of the probability that is sampled from
    #[arg(long, default_value_t = 0.95)]
    top_p: f32,
    /// Equal seeds give equal answers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Most tokens that are guessed ahead and checked at once
    #[arg(long, default_value_t = 4)]
    draft: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (model, text) = match &arguments.model {
        Some(path) => grammask_candle::load(path)?,
        None => grammask_candle::random(arguments.seed)?,
    };
    let compiler = Compiler::new(text.vocabulary().clone());
    let tools = arguments.tools.as_deref().map(read_json).transpose()?;
    let grammar = compile(&compiler, &arguments, tools.as_ref())?;
    let schema = arguments.schema.as_deref().map(read_json).transpose()?;
    let validator = schema.as_ref().map(jsonschema::validator_for).transpose().context("the schema")?;
    let settings = Settings {
        max_tokens: arguments.max_tokens,
        temperature: arguments.temperature,
        top_p: arguments.top_p,
        seed: arguments.seed,
        draft: arguments.draft,
    };
    let chat =
        Chat { model: &model, text: &text, tools: tools.as_ref(), validator: validator.as_ref(), settings };
    let mut messages = Vec::new();
    if arguments.prompt != "-" {
        return chat.turn(&mut messages, &arguments.prompt, grammar.as_ref(), arguments.free);
    }
    for line in std::io::stdin().lock().lines() {
        chat.turn(&mut messages, &line?, grammar.as_ref(), arguments.free)?;
    }
    Ok(())
}

fn read_json(path: &std::path::Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is no JSON", path.display()))
}

/// The structure of answers, if there is one.
fn compile(
    compiler: &Compiler,
    arguments: &Arguments,
    tools: Option<&Value>,
) -> Result<Option<CompiledGrammar>> {
    // The fewer spellings, the more of a text is forced; and small models like to write line feeds without end.
    let separators = Whitespace::Fixed { item_separator: ", ".to_owned(), key_separator: ": ".to_owned() };
    let options = JsonSchemaOptions::default().whitespace(separators);
    if let Some(path) = &arguments.schema {
        let schema =
            std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let grammar = compiler.json_schema(&schema, &options);
        return Ok(Some(grammar.with_context(|| format!("cannot use `{}`", path.display()))?));
    }
    let Some(tools) = tools else { return Ok(None) };
    let choice = match arguments.tool_choice.as_str() {
        mode @ ("auto" | "required") => json!(mode),
        name => json!({"type": "function", "function": {"name": name}}),
    };
    let request = ToolRequest::from_value(&json!({"tools": tools, "tool_choice": choice}).into())?;
    let structure =
        ToolFormat::named(&arguments.family)?.structure(&request.reasoning(Reasoning::Disabled))?;
    let options = StructuralTagOptions::default().json_schema(options);
    Ok(Some(compiler.tag(&structure, &options)?))
}

struct Chat<'a> {
    model: &'a Llama,
    text: &'a Text,
    tools: Option<&'a Value>,
    /// Says whether an answer fits the schema; it knows nothing of grammask.
    validator: Option<&'a Validator>,
    settings: Settings,
}

impl Chat<'_> {
    /// Answers what the user says, and writes both down.
    fn turn(
        &self,
        messages: &mut Vec<Value>,
        said: &str,
        grammar: Option<&CompiledGrammar>,
        free: bool,
    ) -> Result<()> {
        messages.push(json!({"role": "user", "content": said}));
        let prompt = self.text.prompt(&Value::Array(messages.clone()), self.tools)?;
        if free && grammar.is_some() {
            let answer = self.answer(&prompt, None)?;
            eprintln!("without masks: {}", self.described(&answer));
        }
        let answer = self.answer(&prompt, grammar)?;
        eprintln!("{}", self.described(&answer));
        messages.push(json!({"role": "assistant", "content": String::from_utf8_lossy(&answer.text)}));
        Ok(())
    }

    /// An answer, shown while it is written.
    fn answer(&self, prompt: &[u32], grammar: Option<&CompiledGrammar>) -> Result<Answer> {
        let mut out = std::io::stdout().lock();
        let mut failed = Ok(());
        let matcher = grammar.map(CompiledGrammar::matcher);
        let answer = generate(self.model, self.text, prompt, matcher, &self.settings, |piece| {
            failed = out.write_all(piece).and_then(|()| out.flush());
            if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        failed?;
        writeln!(out)?;
        Ok(answer)
    }

    fn described(&self, answer: &Answer) -> String {
        let Answer { tokens, forced, guessed, guessed_right, passes, .. } = answer;
        let ending = match answer.ending {
            Ending::Stop => "ended by the model",
            Ending::Length => "ended at --max-tokens",
            Ending::Left => "not read to the end",
        };
        let fits = |validator: &Validator| {
            serde_json::from_slice(&answer.text).is_ok_and(|value| validator.is_valid(&value))
        };
        let fits = match self.validator.map(fits) {
            None => "",
            Some(true) => "; fits the schema",
            Some(false) => "; does not fit the schema",
        };
        format!(
            "{tokens} tokens in {passes} passes, {:.1} tokens a second, masks {:.1}% of the time; {forced} forced, \
             {guessed_right} of {guessed} guesses right; {ending}{fits}",
            answer.speed(),
            answer.mask_share() * 100.0,
        )
    }
}
