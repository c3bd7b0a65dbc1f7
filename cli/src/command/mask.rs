//! `grammask mask`

use std::io::Write;
use std::process::ExitCode;

use crate::engine::TokenId;
use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::arguments::{
    EngineArguments, Global, SchemaArguments, StructureArguments, VocabularyArguments, read_bytes,
};
use crate::engine::{Structure, Vocabulary};
use crate::escape::{byte_set, quoted, shortened};
use crate::output;
use crate::place::Place;
use crate::style;
use crate::table::{self, Column};

#[derive(clap::Args)]
pub(crate) struct MaskArguments {
    #[command(flatten)]
    structure: StructureArguments,
    #[command(flatten)]
    schema: SchemaArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    vocabulary: VocabularyArguments,
    /// The text so far
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    prefix: String,
    /// A file with the text so far, or `-` for standard input. Line breaks at its end are left out where the structure allows
    /// none
    #[arg(long, value_name = "FILE", conflicts_with = "prefix")]
    prefix_file: Option<String>,
    /// Shows at most this many tokens
    #[arg(long, default_value_t = 40, value_name = "COUNT")]
    limit: usize,
}

pub(crate) fn run(global: &Global, arguments: &MaskArguments) -> Result<ExitCode> {
    let text = arguments.structure.read()?;
    let prefix = match &arguments.prefix_file {
        Some(file) => read_bytes(file)?,
        None => arguments.prefix.clone().into_bytes(),
    };
    let vocabulary = Vocabulary::load(&arguments.vocabulary)?;
    let structure = Structure::compile(&text, &arguments.schema, &arguments.engine, &vocabulary)?;
    let mut cursor = structure.cursor();
    let read = cursor.read(&prefix)?;
    let is_end_of_file =
        arguments.prefix_file.is_some() && prefix[read..].iter().all(|byte| b"\r\n".contains(byte));
    if read < prefix.len() && !is_end_of_file {
        let place = Place::of(&prefix, read);
        bail!(
            "the prefix leaves the structure at line {}, column {} (byte {}); see `grammask check`",
            place.line,
            place.column,
            place.byte,
        );
    }
    let (complete, next, forced) = (cursor.is_complete(), byte_set(cursor.next_bytes()), cursor.forced()?);
    let allowed: Vec<TokenId> = cursor.allowed()?.iter().collect();
    let shown = &allowed[..allowed.len().min(arguments.limit)];
    if global.json {
        let tokens: Vec<Value> = shown.iter().map(|&id| super::vocab::describe(&vocabulary, id)).collect();
        let value = json!({
            "allowed": allowed.len(),
            "complete": complete,
            "forced": String::from_utf8_lossy(&forced),
            "next": next,
            "tokens": tokens,
        });
        output::line(value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (head, style) = (style::HEAD, style::FORCED);
    let mut out = anstream::stdout().lock();
    writeln!(out, "{head}allowed{head:#}   {} of {} tokens", allowed.len(), vocabulary.len())?;
    writeln!(out, "{head}complete{head:#}  {}", if complete { "yes: the text may end here" } else { "no" })?;
    if !forced.is_empty() {
        writeln!(out, "{head}forced{head:#}    {style}{}{style:#}", shortened(&quoted(&forced), 80))?;
    }
    writeln!(out, "{head}next{head:#}      {}\n", next.join(", "))?;
    let columns =
        [Column::right("id"), Column::left("token", style::TEXT), Column::left("kind", style::FAINT)];
    let rows: Vec<Vec<String>> = shown.iter().map(|&id| super::vocab::row(&vocabulary, id)).collect();
    table::write(&mut out, &columns, &rows)?;
    if shown.len() < allowed.len() {
        let faint = style::FAINT;
        writeln!(out, "{faint}and {} more; see --limit{faint:#}", allowed.len() - shown.len())?;
    }
    Ok(ExitCode::SUCCESS)
}
