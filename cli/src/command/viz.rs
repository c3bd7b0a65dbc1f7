//! `grammask viz`

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;

use crate::arguments::{Global, SchemaArguments, StructureArguments};
use crate::engine::{self, Drawing};
use crate::output;

#[derive(clap::Args)]
pub(crate) struct VizArguments {
    #[command(flatten)]
    structure: StructureArguments,
    #[command(flatten)]
    schema: SchemaArguments,
    /// Draws the automaton of this rule alone
    #[arg(long)]
    rule: Option<String>,
    /// The form of the drawing; by default that of the file's ending, else SVG
    #[arg(long)]
    format: Option<Drawing>,
    /// The file to write; `-` or nothing for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(global: &Global, arguments: &VizArguments) -> Result<ExitCode> {
    let grammar = engine::parse(&arguments.structure.read()?, &arguments.schema)?;
    let drawing = engine::draw(&grammar, arguments.rule.as_deref(), arguments.form())?;
    match arguments.output.as_ref().filter(|file| file.as_os_str() != "-") {
        Some(file) => {
            fs::write(file, drawing).with_context(|| format!("cannot write `{}`", file.display()))?;
            if global.json {
                output::line(json!({ "file": file.display().to_string() }))?;
            }
        }
        None if global.json => output::line(json!({ "drawing": drawing }))?,
        None => output::line(drawing.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

impl VizArguments {
    fn form(&self) -> Drawing {
        let ending = self.output.as_ref().and_then(|file| file.extension());
        let is_dot = ending.is_some_and(|ending| ending == "dot" || ending == "gv");
        self.format.unwrap_or(if is_dot { Drawing::Dot } else { Drawing::Svg })
    }
}
