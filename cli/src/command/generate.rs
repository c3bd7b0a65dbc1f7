//! `grammask generate`

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::arguments::{
    EngineArguments, Global, SchemaArguments, StructureArguments, Syntax, VocabularyArguments,
};
use crate::engine::{Structure, Vocabulary};
use crate::escape::{quoted, shortened};
use crate::output;
use crate::style;
use crate::table::{self, Column};
use crate::verdict::captures_as_json;
use crate::writer::{Writer, Writing};

#[derive(clap::Args)]
pub(crate) struct GenerateArguments {
    #[command(flatten)]
    structure: StructureArguments,
    #[command(flatten)]
    schema: SchemaArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    vocabulary: VocabularyArguments,
    /// Equal seeds give equal texts
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// After this many tokens the text is steered to its shortest ending
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    max_tokens: usize,
    /// This many texts, with seeds that count up, one on a line
    #[arg(long, short = 'n', default_value_t = 1, value_name = "COUNT")]
    count: u64,
    /// Shows every step on standard error: token, number of allowed tokens, forced text, microseconds
    #[arg(long)]
    trace: bool,
}

pub(crate) fn run(global: &Global, arguments: &GenerateArguments) -> Result<ExitCode> {
    let text = arguments.structure.read()?;
    let mut vocabulary = Vocabulary::load(&arguments.vocabulary)?;
    let compile =
        |vocabulary: &Vocabulary| Structure::compile(&text, &arguments.schema, &arguments.engine, vocabulary);
    // Marks that are special tokens are written as text, unless the tag asks for the tokens.
    let mut structure = None;
    if text.syntax == Syntax::StructuralTag {
        let of_text = vocabulary.of_text()?;
        structure = compile(&of_text).ok();
        if structure.is_some() {
            vocabulary = of_text;
        }
    }
    let structure = structure.map_or_else(|| compile(&vocabulary), Ok)?;
    let writer = Writer::new(&vocabulary);
    for number in 0..arguments.count {
        let seed = arguments.seed.wrapping_add(number);
        let writing = writer.write(&structure, seed, arguments.max_tokens)?;
        if arguments.trace {
            trace(&vocabulary, &writing)?;
        }
        if global.json {
            output::line(as_json(&vocabulary, &writing, seed))?;
        } else {
            // The text is data: it goes out byte by byte as it is, whatever it holds.
            let mut out = std::io::stdout().lock();
            out.write_all(&writing.bytes)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn trace(vocabulary: &Vocabulary, writing: &Writing) -> Result<()> {
    let columns = [
        Column::right("step"),
        Column::right("id"),
        Column::left("token", style::TEXT),
        Column::right("allowed"),
        Column::right("us"),
        Column::left("forced text", style::FORCED),
    ];
    let rows: Vec<Vec<String>> = writing
        .steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            vec![
                (number + 1).to_string(),
                step.token.get().to_string(),
                shortened(&quoted(vocabulary.label(step.token)), 32),
                step.allowed.to_string(),
                format!("{:.1}", step.microseconds),
                if step.forced.is_empty() { String::new() } else { shortened(&quoted(&step.forced), 40) },
            ]
        })
        .collect();
    let mut out = anstream::stderr().lock();
    table::write(&mut out, &columns, &rows)?;
    let faint = style::FAINT;
    // The sum of nothing is -0.
    let total = writing.steps.iter().fold(0.0, |sum, step| sum + step.microseconds);
    writeln!(
        out,
        "{faint}{} tokens, {} bytes, {total:.0} us; ending: {}{faint:#}",
        writing.steps.len(),
        writing.bytes.len(),
        writing.ending.name(),
    )?;
    for capture in &writing.captures {
        writeln!(out, "{} at byte {}: {}", capture.name, capture.range.start, quoted(&capture.bytes))?;
    }
    Ok(())
}

fn as_json(vocabulary: &Vocabulary, writing: &Writing, seed: u64) -> Value {
    let steps: Vec<Value> = writing
        .steps
        .iter()
        .map(|step| {
            json!({
                "id": step.token.get(),
                "token": String::from_utf8_lossy(vocabulary.label(step.token)),
                "allowed": step.allowed,
                "forced": String::from_utf8_lossy(&step.forced),
                "microseconds": (step.microseconds * 10.0).round() / 10.0,
            })
        })
        .collect();
    let mut value = json!({
        "text": String::from_utf8_lossy(&writing.bytes),
        "seed": seed,
        "ending": writing.ending.name(),
        "steps": steps,
    });
    if !writing.captures.is_empty() {
        value["captures"] = captures_as_json(&writing.captures);
    }
    value
}
