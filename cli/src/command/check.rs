//! `grammask check`

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::arguments::{EngineArguments, Global, SchemaArguments, StructureArguments, Syntax, read_bytes};
use crate::engine::{self, Structure, Vocabulary};
use crate::verdict::{LineBreaks, report};

#[derive(clap::Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    structure: StructureArguments,
    #[command(flatten)]
    schema: SchemaArguments,
    #[command(flatten)]
    engine: EngineArguments,
    /// The file with the text; `-` or nothing for standard input
    #[arg(default_value = "-")]
    file: String,
    /// The text itself
    #[arg(long, conflicts_with = "file", allow_hyphen_values = true)]
    text: Option<String>,
    /// Takes line breaks at the end of the text as part of it, even where the structure allows none
    #[arg(long)]
    keep_newline: bool,
}

pub(crate) fn run(global: &Global, arguments: &CheckArguments) -> Result<ExitCode> {
    let structure = arguments.structure.read()?;
    let text = match &arguments.text {
        Some(text) => text.clone().into_bytes(),
        None => read_bytes(&arguments.file)?,
    };
    let line_breaks = match arguments.keep_newline || arguments.text.is_some() {
        true => LineBreaks::Kept,
        false => LineBreaks::Optional,
    };
    // Whether bytes are allowed depends on no vocabulary: the smallest does.
    let is_schema = structure.syntax == Syntax::JsonSchema;
    let compiled =
        Structure::compile(&structure, &arguments.schema, &arguments.engine, &Vocabulary::of_bytes()?);
    let names_tokens = match &compiled {
        Ok(structure) => structure.names_tokens(),
        Err(error) => engine::is_missing_token(error),
    };
    if names_tokens {
        bail!(
            "the structure names tokens, and which text they stand for depends on a vocabulary; see `grammask mask`"
        );
    }
    let structure = compiled?;
    let code = report(global, &structure, &text, line_breaks)?;
    if is_schema && code != ExitCode::SUCCESS && !global.json && arguments.schema.narrows_texts() {
        anstream::eprintln!(
            "Members have the order of the schema, and values are spelled as serialisers print them; `--key-order any` and \
             `--spelling any` take others."
        );
    }
    Ok(code)
}
