//! `cargo xtask templates`: compares the turns in `corpus/tool_turns` with what the vendors' chat templates render.
//!
//! It is run by hand, because it fetches a Python package, and the templates are files of others. The comparison itself is
//! `corpus/tool_turns/render.py`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::python;
use crate::shell::run as run_command;
use crate::workspace::Workspace;

const REQUIREMENTS: [&str; 1] = ["jinja2>=3.1"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of templates, as `models/templates` in the sources of llama.cpp.
    folder: Option<PathBuf>,
    /// Writes the turns anew. The places where spoilt ones die are kept, where the turn is the same.
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let Some(folder) = &arguments.folder else {
        println!("templates: skipped: no folder of templates was given");
        return Ok(());
    };
    let environment = python::environment(workspace, "templates-environment", &REQUIREMENTS)?;
    let mut render = Command::new(environment.join("bin/python"));
    render.arg(workspace.root().join("corpus/tool_turns/render.py")).arg(folder);
    if arguments.write {
        render.arg("--write");
    }
    run_command(&mut render)
}
