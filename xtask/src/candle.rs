//! `cargo xtask candle`: the model and the server of `examples/candle` and `examples/serve`.
//!
//! They are a workspace of their own, whose crates take minutes to build, so that continuous integration leaves them
//! out.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::python;
use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

/// The packages that the check of the server needs.
const REQUIREMENTS: [&str; 3] = ["jsonschema>=4,<5", "openai>=2,<3", "pydantic>=2,<3"];

#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// A llama in GGUF, to chat with and to serve in addition.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = workspace.root().join("examples/candle");
    let examples = |verb: &[&str]| {
        let mut command = cargo(workspace, verb);
        command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
        command
    };
    run_command(&mut examples(&["fmt", "--all", "--check"]))?;
    let clippy = ["clippy", "--release", "--locked", "--workspace", "--all-targets", "--quiet"];
    run_command(examples(&clippy).args(["--", "-D", "warnings"]))?;
    run_command(&mut examples(&["test", "--release", "--locked", "--workspace", "--quiet"]))?;
    run_command(&mut examples(&["build", "--release", "--locked", "--workspace", "--quiet"]))?;

    let programs = Workspace::load_at(&folder)?.target().join("release");
    let models = std::iter::once(None).chain(arguments.model.as_ref().map(Some));
    for model in models {
        let with_model = |command: &mut Command| {
            if let Some(model) = model {
                command.arg("--model").arg(model);
            }
        };
        for structure in
            [["--schema", "examples/schemas/person.json"], ["--tools", "examples/tools/weather.json"]]
        {
            let mut chat = Command::new(programs.join("grammask-candle"));
            with_model(chat.args(structure).current_dir(workspace.root()));
            run_command(&mut chat)?;
        }
        if !python::is_possible() {
            eprintln!("skipped OpenAI's client: there is no Python 3.11");
            continue;
        }
        let environment = python::environment(workspace, "candle/python", &REQUIREMENTS)?;
        let mut client = Command::new(environment.join("bin/python"));
        client.arg(workspace.root().join("examples/serve/tests/openai_client.py"));
        with_model(client.arg(programs.join("grammask-serve")));
        run_command(&mut client)?;
    }
    Ok(())
}
