//! Arguments that several commands share: the structure, the vocabulary, colours.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::ColorChoice;
use anyhow::{Context, Result, anyhow, bail};

use crate::escape::shortened;

/// Options of every command.
#[derive(clap::Args)]
pub(crate) struct Global {
    /// Prints JSON on standard output, for other programs: one value, or one on a line for each text that is asked for
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Decides for the whole process.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// A concrete syntax of structures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Syntax {
    JsonSchema,
    Ebnf,
    Gbnf,
    Lark,
    Regex,
    StructuralTag,
    /// A request with tools.
    Tools,
}

impl Syntax {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "JSON Schema",
            Self::Ebnf => "EBNF",
            Self::Gbnf => "GBNF",
            Self::Lark => "Lark grammar",
            Self::Regex => "regular expression",
            Self::StructuralTag => "structural tag",
            Self::Tools => "request",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Reasoning {
    Enabled,
    Disabled,
    Auto,
    /// The reasoning is there and empty
    Empty,
}

/// The structure that texts shall obey: exactly one of these.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct StructureArguments {
    /// A JSON Schema: a file, `-` for standard input, or the schema itself where it begins with `{`
    #[arg(long, value_name = "FILE", help_heading = "Structure (exactly one)")]
    schema: Option<String>,
    /// A JSON Schema, as text
    #[arg(long, allow_hyphen_values = true, value_name = "JSON", help_heading = "Structure (exactly one)")]
    schema_text: Option<String>,
    /// A grammar in EBNF: a file, or `-` for standard input
    #[arg(long, value_name = "FILE", help_heading = "Structure (exactly one)")]
    ebnf: Option<String>,
    /// A grammar in EBNF, as text
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "GRAMMAR",
        help_heading = "Structure (exactly one)"
    )]
    ebnf_text: Option<String>,
    /// A grammar in GBNF: a file, or `-` for standard input
    #[arg(long, value_name = "FILE", help_heading = "Structure (exactly one)")]
    gbnf: Option<String>,
    /// A grammar in GBNF, as text
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "GRAMMAR",
        help_heading = "Structure (exactly one)"
    )]
    gbnf_text: Option<String>,
    /// A grammar in Lark's notation: a file, or `-` for standard input
    #[arg(long, value_name = "FILE", help_heading = "Structure (exactly one)")]
    lark: Option<String>,
    /// A grammar in Lark's notation, as text
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "GRAMMAR",
        help_heading = "Structure (exactly one)"
    )]
    lark_text: Option<String>,
    /// A file that holds a regular expression (Perl's syntax with Unicode classes), or `-` for standard input
    #[arg(long, value_name = "FILE", help_heading = "Structure (exactly one)")]
    regex: Option<String>,
    /// A regular expression (Perl's syntax with Unicode classes), which the whole text must match
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "PATTERN",
        help_heading = "Structure (exactly one)"
    )]
    regex_text: Option<String>,
    /// A structural tag: a file, or `-` for standard input
    #[arg(long, value_name = "FILE", help_heading = "Structure (exactly one)")]
    tag: Option<String>,
    /// A structural tag, as text
    #[arg(long, allow_hyphen_values = true, value_name = "JSON", help_heading = "Structure (exactly one)")]
    tag_text: Option<String>,
}

/// A structure as it was read.
pub(crate) struct StructureText {
    pub(crate) syntax: Syntax,
    pub(crate) text: String,
    /// A file's name, for messages.
    pub(crate) origin: String,
}

impl StructureArguments {
    pub(crate) fn read(&self) -> Result<StructureText> {
        use Syntax::{Ebnf, Gbnf, JsonSchema, Lark, Regex, StructuralTag};
        let inline = [
            (JsonSchema, &self.schema_text, "--schema-text"),
            (Ebnf, &self.ebnf_text, "--ebnf-text"),
            (Gbnf, &self.gbnf_text, "--gbnf-text"),
            (Lark, &self.lark_text, "--lark-text"),
            (Regex, &self.regex_text, "--regex-text"),
            (StructuralTag, &self.tag_text, "--tag-text"),
        ];
        for (syntax, text, option) in inline {
            if let Some(text) = text {
                return Ok(StructureText { syntax, text: text.clone(), origin: option.to_owned() });
            }
        }
        let files = [
            (JsonSchema, &self.schema, "--schema-text"),
            (Ebnf, &self.ebnf, "--ebnf-text"),
            (Gbnf, &self.gbnf, "--gbnf-text"),
            (Lark, &self.lark, "--lark-text"),
            (Regex, &self.regex, "--regex-text"),
            (StructuralTag, &self.tag, "--tag-text"),
        ];
        for (syntax, name, inline) in files {
            let Some(name) = name else { continue };
            if syntax == JsonSchema && name.trim_start().starts_with('{') {
                return Ok(StructureText { syntax, text: name.clone(), origin: "--schema".to_owned() });
            }
            let mut text =
                read_text(name).map_err(|error| match Path::new(name).exists() || name == "-" {
                    true => error,
                    false => anyhow!("{error:#}; to pass the {} itself, use {inline}", syntax.name()),
                })?;
            if syntax == Regex {
                // Editors end files with a line feed, which is hardly ever meant.
                text.truncate(text.trim_end_matches(['\n', '\r']).len());
            }
            let origin = if name == "-" { "standard input".to_owned() } else { name.clone() };
            return Ok(StructureText { syntax, text, origin });
        }
        bail!("no structure was given; see --help")
    }
}

/// Reads a text file, or standard input for `-`.
pub(crate) fn read_text(name: &str) -> Result<String> {
    let bytes = read_bytes(name)?;
    let mut text = String::from_utf8(bytes).with_context(|| match name {
        "-" => "standard input is not UTF-8".to_owned(),
        name => format!("`{}` is not UTF-8", shortened(name, LONGEST_NAME)),
    })?;
    // Some editors begin files with a mark of the order of bytes.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Characters of the name of a file in messages.
const LONGEST_NAME: usize = 200;

/// No structure may be so long, and no text is meant to be.
const MAX_BYTES: u64 = 128 << 20;

/// Reads a file, or standard input for `-`. Devices and pipes that never end are refused, as long files are.
pub(crate) fn read_bytes(name: &str) -> Result<Vec<u8>> {
    /// Whether standard input was read.
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if name == "-" {
        if IS_READ.swap(true, Ordering::Relaxed) {
            bail!("standard input can be read once; name a file for one of the two");
        }
        return read_within(MAX_BYTES, std::io::stdin()).context("cannot read standard input");
    }
    let read = || read_within(MAX_BYTES, File::open(name)?);
    read().with_context(|| format!("cannot read `{}`", shortened(name, LONGEST_NAME)))
}

/// All bytes of a source, if there are at most so many.
fn read_within(limit: u64, source: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit tells a source that is too long.
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        bail!("it has more than {} MiB", limit >> 20);
    }
    Ok(bytes)
}

/// How a JSON Schema is read, alone or in a structural tag; other structures are not affected.
#[derive(clap::Args)]
pub(crate) struct SchemaArguments {
    /// Which texts stand for a value: those that serialisers print, all that JSON allows, those printed without whitespace,
    /// or one alone
    #[arg(long, value_enum, default_value_t = Spelling::Printed, help_heading = "JSON Schema")]
    pub(crate) spelling: Spelling,
    /// No whitespace outside strings
    #[arg(long, help_heading = "JSON Schema")]
    pub(crate) compact: bool,
    /// Most characters of whitespace before the root value, and after it
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "JSON Schema")]
    pub(crate) around_root: u32,
    /// Objects have no members but those that the schema declares
    #[arg(long, help_heading = "JSON Schema")]
    pub(crate) closed: bool,
    /// The order of an object's members: as declared, required ones first, or any
    #[arg(long, value_enum, default_value_t = KeyOrder::Declared, help_heading = "JSON Schema")]
    pub(crate) key_order: KeyOrder,
    /// The escapes in strings and names, instead of those of the spelling: those that serialisers print, any,
    /// those that are needed, or those and all but printable ASCII
    #[arg(long, value_enum, help_heading = "JSON Schema")]
    pub(crate) escapes: Option<Escapes>,
    /// The spellings of a number, instead of those of the spelling: those that serialisers print, any, or one (no
    /// exponent, no zeros at the end of a fraction)
    #[arg(long, value_enum, help_heading = "JSON Schema")]
    pub(crate) numbers: Option<Numbers>,
    /// Most digits before the point, and after it, of numbers that are printed
    #[arg(long, value_name = "COUNT", default_value_t = 64, help_heading = "JSON Schema")]
    pub(crate) max_digits: u32,
}

impl SchemaArguments {
    /// Whether a text of a value that obeys the schema may be refused for its order or its spelling.
    pub(crate) fn narrows_texts(&self) -> bool {
        self.key_order != KeyOrder::Any || self.spelling != Spelling::Any
    }
}

/// Which texts stand for a value.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Spelling {
    Printed,
    Any,
    Compact,
    Canonical,
}

/// How the characters of strings and names are spelled.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Escapes {
    Printed,
    Any,
    Needed,
    Ascii,
}

/// How numbers are spelled.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Numbers {
    Printed,
    Any,
    Canonical,
}

/// The order of an object's members.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum KeyOrder {
    Declared,
    RequiredFirst,
    Any,
}

/// The order of the members of a call's arguments.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ArgumentOrder {
    Declared,
    Any,
}

/// How structures are compiled and followed. None of it changes a mask.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct EngineArguments {
    /// The parser below the masks; their answers are the same
    #[arg(long, value_name = "BACKEND", default_value = "earley", help_heading = "Engine")]
    pub(crate) backend: Backend,
    /// Keeps compiled structures in a directory, up to 256 MiB, and reads them from there. The directory may
    /// be deleted at any time. Only those who may change the program should be able to write to it
    #[arg(long, value_name = "DIR", help_heading = "Engine")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum Backend {
    /// Earley's algorithm: serves every grammar
    #[default]
    Earley,
    /// Parallel stacks: declines left recursion
    Pda,
}

/// Where the vocabulary comes from.
#[derive(clap::Args)]
pub(crate) struct VocabularyArguments {
    /// A `tokenizer.json`, `tekken.json`, GGUF file, SentencePiece model or rank file of tiktoken; without it the
    /// embedded o200k_harmony vocabulary is used
    #[arg(long, value_name = "FILE")]
    pub(crate) tokenizer: Option<PathBuf>,
}
