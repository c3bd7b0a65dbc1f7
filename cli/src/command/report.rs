//! `grammask report`

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::arguments::{Global, SchemaArguments, StructureArguments, Syntax};
use crate::engine;
use crate::output;
use crate::style;
use crate::table::{self, Column};

#[derive(clap::Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    structure: StructureArguments,
    #[command(flatten)]
    schema: SchemaArguments,
}

pub(crate) fn run(global: &Global, arguments: &ReportArguments) -> Result<ExitCode> {
    let text = arguments.structure.read()?;
    if text.syntax != Syntax::JsonSchema {
        bail!("only a JSON Schema has keywords to report; give --schema or --schema-text");
    }
    let (rows, is_refused, json) = engine::schema_report(&text, &arguments.schema)?;
    if global.json {
        output::line(json)?;
    } else {
        let columns = [
            Column::left("place", style::FAINT),
            Column::left("keyword", style::TEXT),
            Column::left("treatment", style::HEAD),
            Column::left("note", style::FAINT),
        ];
        let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
        table::write(&mut anstream::stdout().lock(), &columns, &rows)?;
    }
    Ok(if is_refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
