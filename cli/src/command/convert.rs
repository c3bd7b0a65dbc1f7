//! `grammask convert`

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::arguments::{Global, SchemaArguments, StructureArguments};
use crate::engine;
use crate::output;

#[derive(clap::Args)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    structure: StructureArguments,
    #[command(flatten)]
    schema: SchemaArguments,
}

pub(crate) fn run(global: &Global, arguments: &ConvertArguments) -> Result<ExitCode> {
    let grammar = engine::parse(&arguments.structure.read()?, &arguments.schema)?;
    let ebnf = engine::to_ebnf(&grammar);
    if global.json {
        output::line(json!({ "ebnf": ebnf, "rules": engine::rule_names(&grammar) }))?;
    } else {
        output::line(ebnf.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}
