//! `grammask check`

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::{EngineArguments, Global, SchemaArguments, StructureArguments, read_bytes};
use crate::engine::{Structure, Vocabulary};
use crate::verdict::{report, trim};

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
    #[arg(long, conflicts_with = "file")]
    text: Option<String>,
    /// Takes line feeds at the end of the text as part of it
    #[arg(long)]
    keep_newline: bool,
}

pub(crate) fn run(global: &Global, arguments: &CheckArguments) -> Result<ExitCode> {
    let structure = arguments.structure.read()?;
    let mut text = match &arguments.text {
        Some(text) => text.clone().into_bytes(),
        None => read_bytes(&arguments.file)?,
    };
    if !arguments.keep_newline && arguments.text.is_none() {
        trim(&mut text);
    }
    // Whether bytes are allowed depends on no vocabulary: the smallest does.
    let structure =
        Structure::compile(&structure, &arguments.schema, &arguments.engine, &Vocabulary::of_bytes()?)?;
    report(global, &structure, &text)
}
