//! `grammask tools`

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::arguments::{
    ArgumentOrder, Global, Reasoning, StructureText, Syntax, VocabularyArguments, read_bytes, read_text,
};
use crate::engine::{JsonValue, Structure, Vocabulary, model_families, tool_request, tool_tag};
use crate::output;
use crate::style;
use crate::table::{self, Column};
use crate::verdict::{LineBreaks, report};
use crate::writer::Writer;

#[derive(clap::Args)]
pub(crate) struct ToolsArguments {
    /// The model family, such as `qwen_3` or `harmony`; see `--list`
    #[arg(long, value_name = "FAMILY", required_unless_present = "list")]
    model: Option<String>,
    /// A list of tools, or a request with `tools`, in OpenAI's shape: a file, or `-` for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    tools: Option<String>,
    /// `auto`, `none`, `required`, the name of a function, or a JSON object in OpenAI's shape
    #[arg(long, value_name = "CHOICE")]
    tool_choice: Option<String>,
    /// At most one call
    #[arg(long)]
    no_parallel: bool,
    /// Whether the model thinks first
    #[arg(long, value_name = "WHEN", default_value = "enabled")]
    reasoning: Reasoning,
    /// The order of the members of arguments: as their schemas declare them, or any
    #[arg(long, value_name = "ORDER", default_value = "declared")]
    key_order: ArgumentOrder,
    /// Writes this many random answers instead of the structure
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1", conflicts_with = "check")]
    sample: Option<u64>,
    /// Equal seeds give equal answers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// After this many tokens an answer is steered to its shortest ending
    #[arg(long, default_value_t = 64, value_name = "COUNT")]
    max_tokens: usize,
    #[command(flatten)]
    vocabulary: VocabularyArguments,
    /// Says whether the answer in a file (`-` for standard input) obeys the structure, as `check` does
    #[arg(long, value_name = "FILE")]
    check: Option<String>,
    /// Lists the model families
    #[arg(long, conflicts_with_all = ["model", "tools", "sample", "check"])]
    list: bool,
}

pub(crate) fn run(global: &Global, arguments: &ToolsArguments) -> Result<ExitCode> {
    let (Some(model), Some(tools)) = (&arguments.model, &arguments.tools) else {
        list(global)?;
        return Ok(ExitCode::SUCCESS);
    };
    let request = request(tools, arguments)?;
    let tag = tool_tag(model, &request, arguments.reasoning, arguments.key_order)?;
    if let Some(file) = &arguments.check {
        let answer = read_bytes(file)?;
        let structure = Structure::of_tag(&tag, &request, &Vocabulary::of_bytes()?)?;
        return report(global, &structure, &answer, LineBreaks::Optional);
    }
    let Some(count) = arguments.sample else {
        output::line(format_args!("{:#}", tag.to_value()))?;
        return Ok(ExitCode::SUCCESS);
    };
    // Marks that are special tokens have no bytes to show: the sample is of text tokens alone.
    let vocabulary = Vocabulary::load(&arguments.vocabulary)?.of_text()?;
    let structure = Structure::of_tag(&tag, &request, &vocabulary)?;
    let writer = Writer::new(&vocabulary);
    for number in 0..count {
        let writing = writer.write(&structure, arguments.seed.wrapping_add(number), arguments.max_tokens)?;
        if global.json {
            output::line(json!({ "text": String::from_utf8_lossy(&writing.bytes) }))?;
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(&writing.bytes)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The request as text: what the file holds, with the options of the command line put in.
fn request(tools: &str, arguments: &ToolsArguments) -> Result<StructureText> {
    let text = read_text(tools)?;
    let origin = if tools == "-" { "standard input".to_owned() } else { tools.to_owned() };
    let as_is = StructureText { syntax: Syntax::Tools, text, origin };
    // Faults of the file are shown in the file; all that is found later comes of the options.
    tool_request(&as_is)?;
    let value: JsonValue = as_is.text.parse().with_context(|| format!("`{}` is not JSON", as_is.origin))?;
    if value.get("tools").is_none() && value.get("response_format").is_none() && value.as_array().is_none() {
        bail!("`{}` has no `tools`; write a list of tools, or a request with `tools`", as_is.origin);
    }
    if arguments.tool_choice.is_none() && !arguments.no_parallel {
        return Ok(as_is);
    }
    let mut request = match value {
        tools @ JsonValue::Array(_) => JsonValue::object([("tools", tools)]),
        request => request,
    };
    if arguments.no_parallel {
        request.insert("parallel_tool_calls", false);
    }
    if let Some(choice) = &arguments.tool_choice {
        let choice = match choice.as_str() {
            "auto" | "none" | "required" => JsonValue::from(choice.as_str()),
            object if object.starts_with('{') => object.parse().context("`--tool-choice` is not JSON")?,
            name => JsonValue::object([
                ("type", "function".into()),
                ("function", JsonValue::object([("name", name.into())])),
            ]),
        };
        request.insert("tool_choice", choice);
    }
    let origin = format!("{} with the options of the command line", as_is.origin);
    Ok(StructureText { text: format!("{request:#}"), origin, ..as_is })
}

fn list(global: &Global) -> Result<()> {
    let families = model_families();
    if global.json {
        let families: Vec<Value> = families
            .iter()
            .map(|[name, aliases, models]| json!({"name": name, "aliases": aliases, "models": models}))
            .collect();
        output::line(Value::Array(families))?;
        return Ok(());
    }
    let columns = [
        Column::left("family", style::TEXT),
        Column::left("also", style::FAINT),
        Column::left("models", style::FAINT),
    ];
    let rows: Vec<Vec<String>> = families.into_iter().map(Vec::from).collect();
    table::write(&mut anstream::stdout().lock(), &columns, &rows)?;
    Ok(())
}
