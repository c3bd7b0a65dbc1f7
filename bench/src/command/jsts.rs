//! `jsts`: a folder in the layout of the JSON Schema Test Suite, every instance read byte by byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use grammask::json_schema::{Formats, JsonSchemaOptions, Retriever, Spelling};
use grammask::{CompileError, Compiler, Matcher, Vocabulary, VocabularyOptions};
use serde_json::Value;

use crate::judge::documents;
use crate::report::table::Table;
use crate::run::suite::{self, Group, Optional, SuiteFile, Test};

/// Arguments of `jsts`.
#[derive(Debug, Args)]
pub(crate) struct JstsArgs {
    /// The suite: the folder that holds a folder for each draft, and `remotes`.
    #[arg(long)]
    suite: PathBuf,
    /// The draft whose tests are run.
    #[arg(long, default_value = "2020-12")]
    draft: String,
    /// Run the tests of the folder `optional` too.
    #[arg(long)]
    optional: bool,
    /// Only files whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
    /// File for every group that is refused and every test that went wrong.
    #[arg(long)]
    failures: Option<PathBuf>,
}

/// The outcome for a group's schema.
enum Verdict {
    Refused(String),
    /// Nothing satisfies it, says the frontend.
    Unsatisfiable,
    Compiled,
}

/// The outcome of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Right,
    WronglyAccepted,
    WronglyRejected,
    /// Taken with its members in another order.
    OrderOnly,
}

/// A group with what became of it.
struct Judged<'g> {
    file: &'g str,
    group: &'g Group,
    verdict: Verdict,
    /// One for each test; none where the schema is refused.
    answers: Vec<Answer>,
}

/// Runs the suite and prints its tables; fails if an invalid instance is accepted.
pub(crate) fn run(args: &JstsArgs) -> Result<()> {
    let optional = if args.optional { Optional::Included } else { Optional::LeftOut };
    let mut files = suite::read(&args.suite, &args.draft, optional)?;
    files.retain(|file| file.name.contains(&args.only));
    let tokens = (0..=255u8).map(|byte| Some(vec![byte]));
    let compiler =
        Compiler::builder(Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([]))?)
            .build();
    let remotes = suite::remotes(&args.suite)?;
    let mut judged = Vec::new();
    for file in &files {
        let options = options_of(&remotes, &file.name);
        judged.extend(file.groups.iter().map(|group| judge(&compiler, &options, file, group)));
    }
    print_tables(args, &judged);
    if let Some(path) = &args.failures {
        let text = failures(&judged);
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let wrong = judged.iter().flat_map(|group| &group.answers);
    let wrong = wrong.filter(|&&answer| answer == Answer::WronglyAccepted).count();
    anyhow::ensure!(wrong == 0, "{wrong} invalid instances are accepted; --failures lists them");
    Ok(())
}

/// Files that ask for what a caller has to give: documents from elsewhere, formats as annotations.
fn is_not_required(file: &str) -> bool {
    matches!(file, "refRemote" | "format") || file.starts_with("optional")
}

/// The suite serves its remote documents to every test, and takes formats for annotations where it asks of
/// nothing else.
fn options_of(remotes: &Retriever, file: &str) -> JsonSchemaOptions {
    let options = JsonSchemaOptions::default().retriever(remotes.clone());
    if file == "format" { options.formats(Formats::Annotation) } else { options }
}

fn judge<'g>(
    compiler: &Compiler,
    options: &JsonSchemaOptions,
    file: &'g SuiteFile,
    group: &'g Group,
) -> Judged<'g> {
    let schema = group.schema.to_string();
    let compile = |options: &JsonSchemaOptions| compiler.json_schema(&schema, options);
    let any = || compile(&options.clone().spelling(Spelling::Any));
    let both = compile(options).and_then(|printed| Ok([printed.matcher(), any()?.matcher()]));
    let (verdict, answers) = match both {
        Ok(both) => (Verdict::Compiled, group.tests.iter().map(|test| answer(&both, test)).collect()),
        Err(error) => match finding(&error) {
            (code, _) if code == "json-schema/unsatisfiable" => {
                let answers = group.tests.iter().map(|test| match test.valid {
                    true => Answer::WronglyRejected,
                    false => Answer::Right,
                });
                (Verdict::Unsatisfiable, answers.collect())
            }
            (_, reason) => (Verdict::Refused(reason), Vec::new()),
        },
    };
    Judged { file: &file.name, group, verdict, answers }
}

/// The code and the message of the first finding.
fn finding(error: &CompileError) -> (String, String) {
    match error.diagnostics().and_then(|findings| findings.iter().next()) {
        Some(first) => {
            let place = first.pointer().map_or_else(String::new, |place| format!(" | at {place}"));
            (first.code().to_owned(), format!("{}{place}", first.message()))
        }
        None => (String::new(), error.to_string()),
    }
}

/// An instance is put to both matchers compactly and with spaces and line feeds. Under the spelling of serialisers numbers
/// are as `JSON.stringify` prints them, under any spelling as the file has them. All must be judged alike.
fn answer([printed_only, any]: &[Matcher; 2], test: &Test) -> Answer {
    let printed = printed(&test.data);
    let texts = [(printed_only, &printed), (any, &test.data)];
    let takes = |(fresh, data): (&Matcher, &Value)| {
        [data.to_string(), format!("{data:#}")].map(|text| accepts(fresh, &text))
    };
    match (test.valid, texts.map(takes).as_flattened()) {
        (true, [true, true, true, true]) | (false, [false, false, false, false]) => Answer::Right,
        (false, _) => Answer::WronglyAccepted,
        (true, [false, false, false, false])
            if texts.iter().all(|(fresh, data)| documents::accepts_some_order(fresh, data)) =>
        {
            Answer::OrderOnly
        }
        (true, _) => Answer::WronglyRejected,
    }
}

/// The same value with its fractions as `JSON.stringify` prints them: `300` instead of `300.00`. Recursion is bounded by
/// that of the parser.
fn printed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(printed).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), printed(value))).collect()
        }
        Value::Number(number) => {
            let text = number.to_string();
            let shorter = match text.split_once('.') {
                Some((whole, fraction)) if !fraction.contains(['e', 'E']) => {
                    let fraction = fraction.trim_end_matches('0');
                    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
                }
                _ => text,
            };
            shorter.parse().map_or_else(|_| value.clone(), Value::Number)
        }
        other => other.clone(),
    }
}

fn accepts(fresh: &Matcher, text: &str) -> bool {
    let mut matcher = fresh.fork();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_completed()
}

/// Counts of one row.
#[derive(Default)]
struct Counts {
    groups: usize,
    refused: usize,
    unsatisfiable: usize,
    tests: usize,
    right: usize,
    accepted: usize,
    rejected: usize,
    order: usize,
}

impl Counts {
    fn add(&mut self, judged: &Judged<'_>) {
        let of = |wanted| judged.answers.iter().filter(|&&answer| answer == wanted).count();
        self.groups += 1;
        self.refused += usize::from(matches!(judged.verdict, Verdict::Refused(_)));
        self.unsatisfiable += usize::from(matches!(judged.verdict, Verdict::Unsatisfiable));
        self.tests += judged.group.tests.len();
        self.right += of(Answer::Right);
        self.accepted += of(Answer::WronglyAccepted);
        self.rejected += of(Answer::WronglyRejected);
        self.order += of(Answer::OrderOnly);
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let Counts { groups, refused, unsatisfiable, tests, right, accepted, rejected, order } = self;
        let cell = |count: &usize| if *count == 0 { "-".to_owned() } else { count.to_string() };
        let counts = [groups, refused, unsatisfiable, tests, right, accepted, rejected, order];
        std::iter::once(name.to_owned()).chain(counts.map(cell)).collect()
    }
}

fn print_tables(args: &JstsArgs, judged: &[Judged<'_>]) {
    let mut files: BTreeMap<&str, Counts> = BTreeMap::new();
    let (mut required, mut not_required) = (Counts::default(), Counts::default());
    for group in judged {
        files.entry(group.file).or_default().add(group);
        if is_not_required(group.file) { not_required.add(group) } else { required.add(group) }
    }
    let head = [
        "file",
        "groups",
        "refused",
        "unsatisfiable",
        "tests",
        "right",
        "wrongly accepted",
        "wrongly rejected",
        "other order",
    ];
    let mut table = Table::new(head);
    for (file, counts) in &files {
        table.row(counts.cells(file));
    }
    table.row(required.cells("required"));
    table.row(not_required.cells("apart: remote, format, optional"));
    println!(
        "JSON Schema Test Suite, draft {}; instances as serialisers print them, under the default spelling, and as the \
         files have them, under any\n\n{}",
        args.draft,
        table.render()
    );
    let satisfiable = required.groups - required.unsatisfiable;
    println!(
        "{} of {satisfiable} required groups that something satisfies are refused: {:.1}%\n",
        required.refused,
        100.0 * required.refused as f64 / satisfiable.max(1) as f64
    );
    let mut reasons: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for group in judged {
        let Verdict::Refused(reason) = &group.verdict else { continue };
        let reason = reason.split(" | at ").next().unwrap_or(reason);
        let example = format!("{}: {}", group.file, group.group.description);
        reasons.entry(reason).or_insert((0, example)).0 += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (reason, (count, example)) in reasons {
        println!("{count:>5}  {reason}\n       {example}");
    }
}

fn failures(judged: &[Judged<'_>]) -> String {
    let mut text = String::new();
    for group in judged {
        let Judged { file, group, verdict, answers } = group;
        let place = format!("{file}: {}", group.description);
        if let Verdict::Refused(reason) = verdict {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "refused\t{place}\t{reason}");
        }
        for (test, answer) in group.tests.iter().zip(answers) {
            let kind = match answer {
                Answer::Right => continue,
                Answer::WronglyAccepted => "wrongly accepted",
                Answer::WronglyRejected => "wrongly rejected",
                Answer::OrderOnly => "other order",
            };
            let Test { description, data, .. } = test;
            let _ = writeln!(text, "{kind}\t{place}\t{description}\t{data}\t{}", group.schema);
        }
    }
    text
}
