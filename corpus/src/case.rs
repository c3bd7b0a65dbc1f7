//! Cases and the files that they live in.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::escape::unescape;

/// The concrete syntax of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// EBNF.
    Ebnf,
    /// The notation of llama.cpp.
    Gbnf,
    /// Lark's notation.
    Lark,
    /// A regular expression.
    Regex,
    /// A JSON Schema.
    JsonSchema,
    /// A model family, whose answers to `tool_turns/request.json` the texts are.
    Tools,
}

/// How a source is read where the frontend leaves a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrontendOption {
    /// JSON Schema: every spelling that JSON allows; before the other options.
    AnySpelling,
    /// JSON Schema: no whitespace.
    Compact,
    /// JSON Schema: any amount of whitespace.
    AnyWhitespace,
    /// JSON Schema: a space after each comma and colon, none elsewhere.
    Spaced,
    /// JSON Schema: objects are closed unless the schema opens them.
    Closed,
    /// JSON Schema: members in any order.
    AnyOrder,
    /// Regex: ECMA-262 instead of the `regex` crate's syntax.
    Ecma,
    /// Regex: the pattern may match anywhere in the text.
    Search,
    /// Regex: upper and lower case are the same.
    IgnoreCase,
    /// Tools: the model thinks before it answers.
    Reasoning,
}

/// A text that is no sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The whole text.
    pub text: Vec<u8>,
    /// Offset of the first byte that cannot go on; `None` where every byte can and the end comes too soon.
    pub dies_at: Option<usize>,
}

/// Text that is forced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    /// The text that has been read.
    pub after: Vec<u8>,
    /// The longest text that every sentence goes on with.
    pub text: Vec<u8>,
}

/// The demand of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The grammar can be built and tells texts apart.
    Texts {
        /// Sentences.
        accepted: Vec<Vec<u8>>,
        /// Other texts.
        rejected: Vec<Rejected>,
        /// Forced text.
        forced: Vec<Forced>,
    },
    /// The grammar is refused with a message that contains this.
    Refusal(String),
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) source: String,
    pub(crate) options: Vec<FrontendOption>,
    pub(crate) expectation: Expectation,
}

impl Case {
    /// Its name, unique in the corpus: the file's stem, a slash, the name in the file.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The concrete syntax.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The grammar's source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How the source is read.
    pub fn options(&self) -> &[FrontendOption] {
        &self.options
    }

    /// The demand of the case.
    pub fn expectation(&self) -> &Expectation {
        &self.expectation
    }
}

/// A file of the corpus that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct CorpusError {
    place: String,
    problem: String,
}

impl CorpusError {
    pub(crate) fn new(place: impl Into<String>, problem: impl ToString) -> Self {
        Self { place: place.into(), problem: problem.to_string() }
    }
}

/// A case as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    name: String,
    kind: Kind,
    source: Option<String>,
    file: Option<String>,
    error: Option<String>,
    #[serde(default)]
    options: Vec<FrontendOption>,
    #[serde(default)]
    unescape: bool,
    #[serde(default)]
    accepted: Vec<String>,
    #[serde(default)]
    rejected: Vec<(String, String)>,
    #[serde(default)]
    incomplete: Vec<String>,
    #[serde(default)]
    forced: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    case: Vec<WrittenCase>,
}

/// All cases that every backend runs, by file and then in its order.
pub fn cases() -> Result<Vec<Case>, CorpusError> {
    cases_in("cases")
}

/// Turns of models with tools, as the vendors' templates write them. Their grammars are large, so tests follow each turn
/// once.
pub fn tool_turns() -> Result<Vec<Case>, CorpusError> {
    cases_in("tool_turns")
}

fn cases_in(folder: &str) -> Result<Vec<Case>, CorpusError> {
    let entries =
        std::fs::read_dir(corpus_folder().join(folder)).map_err(|error| CorpusError::new(folder, error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| CorpusError::new(folder, error))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut cases = Vec::new();
    let mut ids = HashSet::new();
    for path in paths {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let file: WrittenFile = read_toml(&path, &stem)?;
        for written in file.case {
            let case = written.finish(&stem)?;
            if !ids.insert(case.id.clone()) {
                return Err(CorpusError::new(case.id, "two cases have this name; rename one"));
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

pub(crate) fn corpus_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read_toml<T: serde::de::DeserializeOwned>(path: &Path, place: &str) -> Result<T, CorpusError> {
    let text = std::fs::read_to_string(path).map_err(|error| CorpusError::new(place, error))?;
    toml::from_str(&text).map_err(|error| CorpusError::new(place, error))
}

impl WrittenCase {
    fn finish(self, stem: &str) -> Result<Case, CorpusError> {
        let id = format!("{stem}/{}", self.name);
        let source = match (&self.source, &self.file) {
            (Some(source), None) => source.clone(),
            (None, Some(file)) => {
                let path = corpus_folder().join("../examples/grammars").join(file);
                std::fs::read_to_string(path)
                    .map_err(|error| CorpusError::new(format!("{id}: {file}"), error))?
            }
            _ => return Err(CorpusError::new(id, "give either `source` or `file`")),
        };
        let expectation = self.expectation(&id)?;
        Ok(Case { id, kind: self.kind, source, options: self.options, expectation })
    }

    fn expectation(&self, id: &str) -> Result<Expectation, CorpusError> {
        let texts = self.accepted.len() + self.rejected.len() + self.incomplete.len() + self.forced.len();
        match (&self.error, texts) {
            (Some(message), 0) => return Ok(Expectation::Refusal(message.clone())),
            (None, 1..) => {}
            _ => return Err(CorpusError::new(id, "give either `error` or some texts")),
        }
        let read = |text: &String| match self.unescape {
            true => unescape(text).map_err(|error| CorpusError::new(id, error)),
            false => Ok(text.clone().into_bytes()),
        };
        let accepted = self.accepted.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut rejected = Vec::new();
        for (prefix, rest) in &self.rejected {
            let (mut text, rest) = (read(prefix)?, read(rest)?);
            if rest.is_empty() {
                return Err(CorpusError::new(
                    id,
                    "the second part of a rejected text begins with the byte that is refused",
                ));
            }
            let dies_at = Some(text.len());
            text.extend(rest);
            rejected.push(Rejected { text, dies_at });
        }
        for text in &self.incomplete {
            rejected.push(Rejected { text: read(text)?, dies_at: None });
        }
        let mut forced = Vec::new();
        for (after, text) in &self.forced {
            forced.push(Forced { after: read(after)?, text: read(text)? });
        }
        Ok(Expectation::Texts { accepted, rejected, forced })
    }
}
