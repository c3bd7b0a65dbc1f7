//! The `grammask` program: structured generation from the command line.
//!
//! Everything that the program knows about grammars and masks comes from the `grammask` crate, through the
//! module `engine`. The other modules are arguments, output and a sampler instead of a model.

#[cfg(test)]
mod agreement;
mod arguments;
mod command;
mod engine;
mod escape;
mod output;
mod place;
mod progress;
mod sampler;
mod style;
mod table;
mod token_class;
mod verdict;
mod writer;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::arguments::Global;
use crate::engine::Rejected;

/// Grammars and their tables are thousands of small pieces that come and go together. The system's allocator joins each
/// with its neighbours when it goes; this one does not, and keeps what lives together in the same pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EXIT_CODES: &str = "\
Exit status:
  0  done; for `check`: the text obeys the structure
  1  `check`: the text does not obey the structure; `report`: the schema is refused
  2  wrong arguments, an unreadable file, or a structure that cannot be compiled
  3  a limit on work or memory was reached, so that nothing can be said

Colours follow the terminal; NO_COLOR and --color switch them off.";

/// Exact token masks for language models, from the command line.
#[derive(Parser)]
#[command(name = "grammask", version, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes a random text that obeys a structure, token by token, as a model would under masks
    Generate(command::generate::GenerateArguments),
    /// Says whether a text obeys a structure, and if not, where and why it stops to do so
    Check(command::check::CheckArguments),
    /// Shows the tokens that may follow a text
    Mask(command::mask::MaskArguments),
    /// Prints a structure as EBNF
    Convert(command::convert::ConvertArguments),
    /// Draws the automaton of a structure
    Viz(command::viz::VizArguments),
    /// Shows what a model may answer to a request with tools, writes such an answer, or checks one
    Tools(command::tools::ToolsArguments),
    /// Shows the treatment of every keyword of a JSON Schema
    Report(command::report::ReportArguments),
    /// Describes a vocabulary, or some of its tokens
    Vocab(command::vocab::VocabArguments),
}

fn main() -> ExitCode {
    let CommandLine { global, command } = match parsed() {
        Ok(command_line) => command_line,
        Err(error) => return refuse(&error),
    };
    global.color.write_global();
    let result = match &command {
        Command::Generate(arguments) => command::generate::run(&global, arguments),
        Command::Check(arguments) => command::check::run(&global, arguments),
        Command::Mask(arguments) => command::mask::run(&global, arguments),
        Command::Convert(arguments) => command::convert::run(&global, arguments),
        Command::Viz(arguments) => command::viz::run(&global, arguments),
        Command::Tools(arguments) => command::tools::run(&global, arguments),
        Command::Report(arguments) => command::report::run(&global, arguments),
        Command::Vocab(arguments) => command::vocab::run(&global, arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => report(&global, &error),
    }
}

/// The arguments of the process. The help of every command ends with the exit statuses.
fn parsed() -> Result<CommandLine, clap::Error> {
    let command = CommandLine::command().mut_subcommands(|command| command.after_help(EXIT_CODES));
    CommandLine::from_arg_matches(&command.try_get_matches()?)
}

/// Help, or what is wrong with the arguments. They could not be read, so `--json` is looked for among them.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    let shown = escape::visible(&text, true);
    // Where it cannot be told, the status says it.
    let _ = match shown == text {
        true => error.print(),
        false => write!(std::io::stderr(), "{shown}"),
    };
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        // The first paragraph; those after it say how to go on.
        let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let message = lines.join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let _ = output::line(serde_json::json!({ "error": message }));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn report(global: &Global, error: &anyhow::Error) -> ExitCode {
    let code = if engine::is_limit(error) { 3 } else { 2 };
    let mut value = serde_json::json!({ "error": format!("{error:#}") });
    if let Some(rejected) = error.downcast_ref::<Rejected>() {
        let _ = write!(anstream::stderr(), "{}", rejected.rendered);
        value["findings"] = serde_json::json!(rejected.findings);
    } else {
        let error_style = style::ERROR;
        let message = escape::visible(&format!("{error:#}"), true);
        let _ = writeln!(anstream::stderr(), "{error_style}error{error_style:#}: {message}");
    }
    // Where it cannot be told, the status says it.
    if global.json {
        let _ = output::line(value);
    }
    ExitCode::from(code)
}

/// `grammask ... | head` is no mistake.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
